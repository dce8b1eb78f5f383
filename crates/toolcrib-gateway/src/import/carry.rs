//! From a client's texts to the gateway's: its variables, and what must not be copied.
//!
//! A secret stays in the file where it is. The gateway's entry in that file carries it
//! in its environment, and the gateway's configuration names the variable. The same
//! goes for what only the client can fill in (`${input:token}`, `{file:...}`).

use std::collections::BTreeMap;

use super::client::Client;
use super::entry::Entry;
use super::secret::{by_flag, by_name, by_value, by_word, glued, inside, opaque};
use crate::settings::{ServerSettings, is_name};

/// A variable that the gateway's entry in the client's file must set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// As the gateway will know it.
    pub(crate) name: String,
    pub(crate) value: CarriedValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CarriedValue {
    /// A text as it stands in the client's file.
    Literal(String),
    /// A text that the client fills in.
    Template(String),
    /// The variable of the same name around the client.
    Environment,
}

/// Gives variables their names, each only once for one value.
pub(crate) trait Names {
    /// The name for `value`: `wanted`, or, where that is taken by another value, one
    /// that begins with the server's.
    fn name(&mut self, wanted: &str, server: &str, value: &CarriedValue) -> String;
}

/// The entry in the gateway's form, and what its file has to carry for it.
pub(crate) fn carry(
    client: Client,
    server: &str,
    entry: &Entry,
    names: &mut dyn Names,
) -> (ServerSettings, Vec<Carried>) {
    let mut mover = Mover {
        client,
        server,
        names,
        carried: Vec::new(),
    };
    let mut out = entry.server.clone();
    if let Some(command) = &mut out.command {
        // Some clients take a whole command line.
        let line = command.contains(" -");
        *command = mover.text(&made(server, "command"), command, line);
    }
    mover.args(&mut out.args, &out.env);
    for (name, value) in &mut out.env {
        // A name that says nothing of a secret may be one that steers programs.
        let own = match by_name(name) && !name.starts_with("TOOLCRIB_") {
            true => name.clone(),
            false => made(server, name),
        };
        *value = mover.text(&own, value, true);
    }
    for name in &entry.forwarded {
        let value = mover.environment(name);
        out.env.insert(name.clone(), value);
    }
    if let Some(url) = &mut out.url {
        *url = mover.text(&made(server, "url"), url, false);
    }
    for (name, value) in &mut out.headers {
        *value = mover.text(&made(server, name), value, true);
    }
    for (header, before, variable) in &entry.header_variables {
        let value = format!("{before}{}", mover.environment(variable));
        out.headers.insert(header.clone(), value);
    }
    for path in [&mut out.cwd, &mut out.env_file].into_iter().flatten() {
        *path = mover.text(&made(server, "path"), path, false);
    }
    (out, mover.carried)
}

/// The name of a variable for something of a server that has none of its own.
fn made(server: &str, what: &str) -> String {
    format!("{server}_{what}").to_ascii_uppercase()
}

struct Mover<'a> {
    client: Client,
    server: &'a str,
    names: &'a mut dyn Names,
    carried: Vec<Carried>,
}

impl Mover<'_> {
    fn keep(&mut self, wanted: &str, value: CarriedValue) -> String {
        let wanted = variable(wanted);
        let name = self.names.name(&wanted, self.server, &value);
        let text = format!("${{{name}}}");
        let carried = Carried { name, value };
        if !self.carried.contains(&carried) {
            self.carried.push(carried);
        }
        text
    }

    fn environment(&mut self, name: &str) -> String {
        match is_name(name) {
            true => self.keep(name, CarriedValue::Environment),
            false => String::new(),
        }
    }

    /// Whether the client hands the argument on as written and the server itself puts
    /// in a variable of its entry, as `mcp-remote` does: `--header X:${KEY}`.
    fn is_left_to_server(&self, arg: &str, env: &BTreeMap<String, String>) -> bool {
        if matches!(self.client, Client::ClaudeCode | Client::GeminiCli) {
            return false;
        }
        let variable = arg.split_once("${").and_then(|(before, behind)| {
            let (name, behind) = behind.split_once('}')?;
            Some((before, name, behind))
        });
        variable.is_some_and(|(before, name, behind)| {
            env.contains_key(name) && behind.is_empty() && is_label(before)
        })
    }

    /// A text for which `own` is a good variable; `secret` by where it stands.
    fn text(&mut self, own: &str, text: &str, secret: bool) -> String {
        let parts = split(self.client, text);
        let literal: String = parts.iter().filter_map(Part::literal).collect();
        let plain = parts.iter().all(|part| part.literal().is_some());
        if plain && !literal.is_empty() && (secret || by_value(&literal) || inside(&literal)) {
            return self.keep(own, CarriedValue::Literal(text.to_owned()));
        }
        // A secret beside variables: the client fills in the whole.
        let scheme = ["", "bearer", "basic", "token"]
            .contains(&literal.trim().to_ascii_lowercase().as_str());
        let defaults = parts.iter().any(|part| match part {
            Part::Default(_, text) => {
                !text.is_empty() && (secret || by_value(text) || inside(text))
            }
            _ => false,
        });
        let known = parts.iter().any(|part| matches!(part, Part::Known(_)));
        if !plain
            && (defaults
                || (!scheme
                    && (by_value(literal.trim()) || inside(&literal) || (secret && !known))))
        {
            return self.keep(own, CarriedValue::Template(text.to_owned()));
        }
        let mut out = String::new();
        for part in parts {
            match part {
                Part::Literal(text) => out.push_str(&text.replace("${", "$${")),
                Part::Known(ours) => out.push_str(ours),
                Part::Default(name, otherwise) => {
                    out.push_str(&format!("${{{name}:-{otherwise}}}"));
                }
                Part::Environment(name) => {
                    self.names
                        .name(name, self.server, &CarriedValue::Environment);
                    // It hands its whole environment on, and refuses the whole file
                    // where a variable that an entry names is not set.
                    let text = match self.client {
                        Client::ClaudeCode => format!("${{{name}}}"),
                        _ => self.keep(name, CarriedValue::Environment),
                    };
                    out.push_str(&text);
                }
                Part::Template(whole, id) => {
                    let template = CarriedValue::Template(whole.to_owned());
                    let text = self.keep(id, template);
                    out.push_str(&text);
                }
            }
        }
        out
    }

    fn args(&mut self, args: &mut [String], env: &BTreeMap<String, String>) {
        let mut flag: Option<String> = None;
        for at in 0..args.len() {
            let arg = args[at].clone();
            let before = flag.take();
            if self.is_left_to_server(&arg, env) {
                args[at] = arg.replace("${", "$${");
                continue;
            }
            args[at] = match (&before, split_pair(&arg)) {
                // A value may begin with a dash, and another flag is carried as well.
                (Some(name), _) if by_flag(name) => {
                    let named = made(self.server, name.trim_start_matches('-'));
                    self.text(&named, &arg, true)
                }
                _ if glued(&arg) => {
                    self.text(&made(self.server, &format!("arg_{}", at + 1)), &arg, true)
                }
                (_, Some((name, between, value))) => {
                    let named = made(self.server, name.trim_start_matches('-'));
                    let assigned = !name.starts_with('-')
                        && between == "="
                        && !name.bytes().any(|b| b.is_ascii_lowercase());
                    let paired = pairs(&before) || pairs(&Some(name.to_owned()));
                    let secret = by_flag(name) || assigned || paired || opaque(value);
                    let value = self.text(&named, value, secret);
                    format!("{}{between}{value}", name.replace("${", "$${"))
                }
                _ => {
                    let secret = !arg.starts_with('-') && opaque(&arg) && !is_place(&arg);
                    self.text(&made(self.server, &format!("arg_{}", at + 1)), &arg, secret)
                }
            };
            if (arg.starts_with('-') && !arg.contains('=')) || by_word(&arg) {
                flag = Some(arg);
            }
        }
    }
}

/// Whether nothing stands beside a variable but what it is for: `Authorization:Bearer `.
fn is_label(text: &str) -> bool {
    let text = text.strip_prefix("--header=").unwrap_or(text).trim_end();
    let (label, scheme) = match text.rfind(['=', ':']) {
        Some(at) => text.split_at(at + 1),
        None => ("", text),
    };
    let scheme = scheme.trim().to_ascii_lowercase();
    let name = label.trim_start_matches('-').trim_end_matches(['=', ':']);
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    ["", "bearer", "basic", "token"].contains(&scheme.as_str()) && name.bytes().all(fits)
}

/// Whether an argument names a file or a package rather than a key.
fn is_place(arg: &str) -> bool {
    arg.starts_with(['/', '.', '~', '@', '$']) || arg.contains(":\\")
}

/// Whether a name and a value follow this flag.
fn pairs(flag: &Option<String>) -> bool {
    let flag = flag.as_deref().unwrap_or("");
    ["-e", "--env", "-H", "--header"].contains(&flag)
}

/// `--name=value`, `NAME=value` and `Header: value`.
fn split_pair(arg: &str) -> Option<(&str, &str, &str)> {
    let at = arg.find(['=', ':'])?;
    let name = &arg[..at];
    let bare = name.trim_start_matches('-');
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if bare.is_empty() || !bare.bytes().all(fits) {
        return None;
    }
    let between = if arg[at..].starts_with('=') {
        "="
    } else if arg[at..].starts_with(": ") {
        ": "
    } else if arg[at..].starts_with("://") {
        return None;
    } else if arg[at..].starts_with(':') && !name.starts_with('-') && by_name(name) {
        ":"
    } else {
        return None;
    };
    Some((name, between, &arg[at + between.len()..]))
}

/// A piece of a client's text.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Literal(&'a str),
    /// What it is in the gateway's syntax, wherever it runs.
    Known(&'static str),
    /// A variable around the client.
    Environment(&'a str),
    /// A variable and what stands for it where it is not set.
    Default(&'a str, &'a str),
    /// What only the client can fill in, whole, and a name for it.
    Template(&'a str, &'a str),
}

impl<'a> Part<'a> {
    fn literal(&self) -> Option<&'a str> {
        match self {
            Part::Literal(text) => Some(text),
            _ => None,
        }
    }
}

/// Cuts a text by the client's own syntax of variables.
fn split(client: Client, text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < text.len() {
        let found = text
            .is_char_boundary(at)
            .then(|| template(client, &text[at..]));
        match found.flatten() {
            Some((part, length)) => {
                if from < at {
                    parts.push(Part::Literal(&text[from..at]));
                }
                parts.push(part);
                at += length;
                from = at;
            }
            None => at += 1,
        }
    }
    if from < text.len() || parts.is_empty() {
        parts.push(Part::Literal(&text[from..]));
    }
    parts
}

/// The variable at the beginning of a text, and its length.
fn template(client: Client, text: &str) -> Option<(Part<'_>, usize)> {
    let (open, braces) = match client {
        Client::ClaudeDesktop | Client::Codex | Client::Zed => return None,
        Client::Opencode => ("{", false),
        Client::GeminiCli if text.starts_with('$') && !text.starts_with("${") => {
            let rest = &text[1..];
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            return is_name(&rest[..end]).then(|| (Part::Environment(&rest[..end]), end + 1));
        }
        _ => ("${", true),
    };
    let inside = text.strip_prefix(open)?;
    let end = inside.find('}')?;
    let (whole, inside) = (&text[..open.len() + end + 1], &inside[..end]);
    let part = match (client, inside.split_once(':')) {
        (Client::Opencode, Some(("env", name))) if is_name(name) => Part::Environment(name),
        (Client::Opencode, Some(("file", path))) => Part::Template(whole, path),
        (Client::Opencode, _) => return None,
        (Client::ClaudeCode | Client::GeminiCli, _) => match inside.split_once(":-") {
            Some((name, otherwise)) if is_name(name) => Part::Default(name, otherwise),
            None if is_name(inside) => Part::Environment(inside),
            _ => return None,
        },
        (_, Some(("env", name))) if is_name(name) => Part::Environment(name),
        (Client::Windsurf, _) => return None,
        (_, Some(("input", id))) => Part::Template(whole, id),
        (_, None) if inside == "workspaceFolder" => Part::Known("${TOOLCRIB_ROOT}"),
        (_, None) if inside == "userHome" => Part::Known("${HOME}"),
        (_, None) if inside == "pathSeparator" || inside == "/" => {
            Part::Known(std::path::MAIN_SEPARATOR_STR)
        }
        _ => Part::Template(whole, inside),
    };
    debug_assert!(braces || open == "{");
    Some((part, whole.len()))
}

/// A name for a variable that is made of any text.
pub(crate) fn variable(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let c = match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => c.to_ascii_uppercase(),
            _ => '_',
        };
        if c != '_' || !name.ends_with('_') {
            name.push(c);
        }
    }
    let kept = name.trim_matches('_');
    // Names that are variables already keep their spelling.
    if is_name(text) {
        return text.to_owned();
    }
    match kept.bytes().next() {
        Some(b'0'..=b'9') | None => format!("TOOLCRIB_{kept}"),
        _ => kept.to_owned(),
    }
}
