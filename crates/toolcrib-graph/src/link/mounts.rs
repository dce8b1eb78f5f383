//! The whole paths of routes that are stated in parts.
//!
//! From a route up: the router it is on, that router's own prefix, what the
//! router is mounted on and under which prefix. Where several mounts are stated,
//! or none can be followed, composing stops: a path is never longer than what
//! the source says.

use rustc_hash::FxHashMap;

use super::lookup::{Found, Lookup};
use crate::facts::{DefIx, Joins, Router, Term, joined};
use crate::model::{NodeId, Str};

/// Mounts above a route that are followed.
const MAX_MOUNTS: usize = 16;
/// Longest path that is composed, in bytes.
const MAX_PATH: usize = 400;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Node(NodeId),
    Local(u32, u32),
}

#[derive(Default)]
struct Said<'a> {
    own: Option<&'a str>,
    /// Parent, prefix, and whether it takes the place of its own.
    mounts: Vec<(Option<Key>, &'a str, bool)>,
    otherwise: Option<(Option<Key>, &'a str)>,
}

/// Titles of routes under a prefix, by their nodes.
pub(super) fn titles(lookup: &Lookup<'_>) -> FxHashMap<NodeId, Str> {
    let index = lookup.index;
    let mut said: FxHashMap<Key, Said<'_>> = FxHashMap::default();
    for (file, facts) in (0u32..).zip(index.facts) {
        for mount in &facts.mounts {
            let Some(what) = key(lookup, file, mount.what) else {
                continue;
            };
            let on = mount.on.and_then(|on| key(lookup, file, on));
            let entry = said.entry(what).or_default();
            let prefix = &*mount.prefix;
            match mount.joins {
                Joins::Own => entry.own = Some(prefix),
                Joins::Else => entry.otherwise = Some((on, prefix)),
                Joins::Mount => entry.mounts.push((on, prefix, false)),
                Joins::Instead => entry.mounts.push((on, prefix, true)),
            }
        }
    }
    let mut titles = FxHashMap::default();
    if said.is_empty() {
        return titles;
    }
    for (file, facts) in (0u32..).zip(index.facts) {
        for route in &facts.routes {
            let node = index.node(file, route.def);
            let title = facts.name(facts.def(route.def).name);
            let Some((verb, path)) = title.split_once(' ') else {
                continue;
            };
            let mut whole = path.to_string();
            let mut at = route.on.and_then(|on| key(lookup, file, on));
            for _ in 0..MAX_MOUNTS {
                let Some(said) = at.and_then(|at| said.get(&at)) else {
                    break;
                };
                let mut mounts = said.mounts.clone();
                mounts.dedup_by(|a, b| a == b);
                let (above, prefix, instead) = match (mounts.as_slice(), said.otherwise) {
                    ([one], _) => *one,
                    ([], Some((on, prefix))) => (on, prefix, false),
                    _ => (None, "", false),
                };
                if !instead {
                    whole = joined(said.own.unwrap_or(""), &whole);
                }
                whole = joined(prefix, &whole);
                if whole.len() > MAX_PATH {
                    break;
                }
                at = above;
            }
            if whole != path {
                let title = crate::facts::one_line(&format!("{verb} {whole}"), MAX_PATH);
                titles.insert(node, title.into());
            }
        }
    }
    titles
}

fn key(lookup: &Lookup<'_>, file: u32, router: Router) -> Option<Key> {
    match router {
        Router::Def(def) => Some(Key::Node(lookup.index.node(file, def))),
        Router::Local(number) => Some(Key::Local(file, number)),
        Router::Named(scope, term) => one(lookup, lookup.static_path(file, scope, term)),
        Router::Absolute(term) => {
            let index = lookup.index;
            let facts = &index.facts[file as usize];
            let mut names = Vec::new();
            let mut term = term;
            while let Term::Member(base, name) = facts.terms[term.0 as usize] {
                names.push(index.global_name(file, name));
                term = base;
            }
            let Term::Name(first, _) = facts.terms[term.0 as usize] else {
                return None;
            };
            let language = index.language[file as usize]?;
            let from = index.spaces.of_file[file as usize]?;
            let first = index.global_name(file, first);
            super::lookup::refill();
            let mut found = lookup.in_roots(language, from, first);
            while let Some(name) = names.pop() {
                found = found
                    .iter()
                    .flat_map(|from| lookup.member(*from, name, None, 0))
                    .collect();
            }
            one(lookup, found)
        }
    }
}

/// The only definition found; a module's file stands for it.
fn one(lookup: &Lookup<'_>, found: Vec<Found>) -> Option<Key> {
    let mut nodes = found.into_iter().filter_map(|found| match found {
        Found::Node(node) => Some(node),
        Found::Space(space) => {
            let file = *lookup.index.spaces.get(space).files.first()?;
            Some(lookup.index.node(file, DefIx::ROOT))
        }
        Found::Ext { .. } => None,
    });
    match (nodes.next(), nodes.next()) {
        (Some(node), None) => Some(Key::Node(node)),
        _ => None,
    }
}
