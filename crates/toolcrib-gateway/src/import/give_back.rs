//! Putting a client's entries back into a file that was changed since.
//!
//! Clients rewrite their files at every start, so bytes cannot be all that an undoing
//! goes by. What was taken is known by its keys; the gateway's entry marks the place.

use std::path::Path;

use serde_json::Value;

use super::entry::is_gateway_entry;
use super::json_text::{self, Kind, Member, Node};
use super::survey::toml_value;

/// The keys that lead to one entry, its name last.
pub(super) type Keys = Vec<String>;

/// Which entries of `before` gave way to the gateway's in `after`.
pub(super) fn taken(path: &Path, before: &str, after: &str) -> Vec<Keys> {
    let mut all = Vec::new();
    if is_toml(path) {
        if let (Some(before), Some(after)) = (toml_of(before), toml_of(after)) {
            missing(&before, &after, &mut Vec::new(), &mut all);
        }
    } else if let (Ok(before), Ok(after)) = (json_text::parse(before), json_text::parse(after)) {
        missing_nodes(&before, &after, &mut Vec::new(), &mut all);
    }
    all
}

/// `now` with those entries as `before` has them, and the keys for which there is no
/// gateway's entry any more; `None` when a text cannot be read.
pub(super) fn spliced(
    path: &Path,
    now: &str,
    before: &str,
    taken: &[Keys],
) -> Option<(String, Vec<Keys>)> {
    let mut parents: Vec<&[String]> = Vec::new();
    for keys in taken {
        let (_, parent) = keys.split_last()?;
        if !parents.contains(&parent) {
            parents.push(parent);
        }
    }
    let mut text = now.to_owned();
    let mut left = Vec::new();
    for parent in parents {
        let here = taken
            .iter()
            .filter(|keys| keys[..keys.len() - 1] == *parent);
        let names: Vec<&str> = here
            .clone()
            .filter_map(|keys| Some(keys.last()?.as_str()))
            .collect();
        let done = match is_toml(path) {
            true => in_toml(&text, before, parent, &names)?,
            false => in_json(&text, before, parent, &names)?,
        };
        match done {
            Some(done) => text = done,
            None => left.extend(here.cloned()),
        }
    }
    Some((text, left))
}

fn is_toml(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "toml")
}

fn toml_of(text: &str) -> Option<Value> {
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    Some(toml_value(document.as_item()))
}

fn missing(before: &Value, after: &Value, keys: &mut Keys, all: &mut Vec<Keys>) {
    let (Some(before), Some(after)) = (before.as_object(), after.as_object()) else {
        return;
    };
    let served = after
        .iter()
        .any(|(name, value)| is_gateway_entry(name, value));
    for (name, value) in before {
        keys.push(name.clone());
        match after.get(name) {
            None if served => all.push(keys.clone()),
            Some(after)
                if served && is_gateway_entry(name, after) && !is_gateway_entry(name, value) =>
            {
                all.push(keys.clone());
            }
            Some(after) if !served && keys.len() < 4 => missing(value, after, keys, all),
            _ => {}
        }
        keys.pop();
    }
}

/// The same of nodes: Claude Code's file is large.
fn missing_nodes(before: &Node, after: &Node, keys: &mut Keys, all: &mut Vec<Keys>) {
    let (Some(before), Some(members)) = (before.members(), after.members()) else {
        return;
    };
    let served = members.iter().any(serves);
    for member in before {
        keys.push(member.key.clone());
        match after.member(&member.key) {
            None if served => all.push(keys.clone()),
            Some(after) if served && serves(after) && !serves(member) => all.push(keys.clone()),
            Some(after) if !served && keys.len() < 5 => {
                missing_nodes(&member.value, &after.value, keys, all);
            }
            _ => {}
        }
        keys.pop();
    }
}

fn serves(member: &Member) -> bool {
    matches!(member.value.kind, Kind::Object(_))
        && member.value.member("command").is_some()
        && is_gateway_entry(&member.key, &member.value.value())
}

/// The inner `None` where no entry of the gateway's is left.
fn in_json(now: &str, before: &str, parent: &[String], names: &[&str]) -> Option<Option<String>> {
    let (root, old) = (json_text::parse(now).ok()?, json_text::parse(before).ok()?);
    let Some((object, members)) = root
        .at(parent)
        .and_then(|node| Some((node, node.members()?)))
    else {
        return Some(None);
    };
    let Some(at) = members.iter().position(serves) else {
        return Some(None);
    };
    let own = &members[at];
    let old_members = old.at(parent)?.members()?;
    let back: Vec<&Member> = old_members
        .iter()
        .filter(|member| {
            let there = object.member(&member.key).is_some() && member.key != own.key;
            !there && (names.contains(&member.key.as_str()) || serves(member))
        })
        .collect();
    let mut out = String::with_capacity(now.len() + before.len());
    if back.is_empty() {
        // All of them were written anew by hand: the gateway's entry goes with a comma.
        let end = own.comma.map_or(own.value.span.end, |comma| comma + 1);
        let previous = at.checked_sub(1).and_then(|at| members[at].comma);
        let start = match (own.comma, previous) {
            (None, Some(comma)) => comma,
            _ => own.key_span.start,
        };
        out.push_str(now.get(..start)?);
        out.push_str(now.get(end..)?);
        return Some(Some(out));
    }
    let first = old_members.first()?.key_span.start;
    let line = before.get(..first)?.rfind('\n').map_or(0, |at| at + 1);
    let lead = before.get(line..first)?;
    let between = match lead.trim().is_empty() && line > 0 {
        true if before.contains("\r\n") => format!(",\r\n{lead}"),
        true => format!(",\n{lead}"),
        false => ", ".to_owned(),
    };
    out.push_str(now.get(..own.key_span.start)?);
    for (at, member) in back.iter().enumerate() {
        if at > 0 {
            out.push_str(&between);
        }
        out.push_str(before.get(member.key_span.start..member.value.span.end)?);
    }
    out.push_str(now.get(own.value.span.end..)?);
    json_text::parse(&out).ok()?;
    Some(Some(out))
}

fn in_toml(now: &str, before: &str, parent: &[String], names: &[&str]) -> Option<Option<String>> {
    let mut document: toml_edit::DocumentMut = now.parse().ok()?;
    let old: toml_edit::DocumentMut = before.parse().ok()?;
    let old = parent
        .iter()
        .try_fold(old.as_item(), |item, key| item.get(key))?;
    let mut item = document.as_item_mut();
    for key in parent {
        item = match item.get_mut(key) {
            Some(item) => item,
            None => return Some(None),
        };
    }
    let Some(servers) = item.as_table_like_mut() else {
        return Some(None);
    };
    let own = servers
        .iter()
        .find(|(name, item)| is_gateway_entry(name, &toml_value(item)))
        .map(|(name, _)| name.to_owned());
    let Some(own) = own else {
        return Some(None);
    };
    let position = match servers.remove(&own) {
        Some(toml_edit::Item::Table(table)) => table.position(),
        _ => None,
    };
    for (name, item) in old.as_table_like()?.iter() {
        let ours = names.contains(&name) || is_gateway_entry(name, &toml_value(item));
        if ours && !servers.contains_key(name) {
            let mut item = item.clone();
            move_to(&mut item, position);
            servers.insert(name, item);
        }
    }
    Some(Some(document.to_string()))
}

/// Has all of its tables written at that place; of one place they keep their order.
fn move_to(item: &mut toml_edit::Item, position: Option<isize>) {
    if let toml_edit::Item::Table(table) = item {
        table.set_position(position);
        for (_, inner) in table.iter_mut() {
            move_to(inner, position);
        }
    }
}
