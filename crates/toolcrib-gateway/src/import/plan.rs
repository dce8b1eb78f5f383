//! What an import would write.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::carry::{Carried, CarriedValue, Names, carry};
use super::client::{Client, Format, Scope};
use super::survey::{Found, ReadFile, Survey, read_text};
use super::variables::{carried_in, carried_variables};
use super::{ImportError, json_text};
use crate::settings::{McpSettings, ServerSettings};

/// The name of the gateway's entry in a client.
pub(crate) const ENTRY: &str = "toolcrib";

/// Longest name of a server, in characters: it prefixes the names of tools.
const NAME: usize = 32;

/// Where an import writes, and how clients start the gateway.
#[derive(Clone, Debug)]
pub struct Goal {
    /// For servers of the user.
    pub user_config: PathBuf,
    /// For servers of the project.
    pub project_config: PathBuf,
    /// The program in entries of the user's files.
    pub program: String,
    /// The program in entries of a project's files, which others share.
    pub shared_program: String,
}

/// One file as it was and as it would be.
#[derive(Clone, Debug)]
pub struct Write {
    /// The file, as it is called; a link is followed.
    pub path: PathBuf,
    /// `None` where there is no such file yet.
    pub before: Option<String>,
    /// What would stand in it.
    pub after: String,
    /// Whether it is a client's file, and not one of ours.
    pub is_client: bool,
}

/// One server as it would be served.
#[derive(Clone, Debug)]
pub struct PlannedServer {
    /// What its tools would be prefixed with.
    pub name: String,
    /// Its settings.
    pub settings: ServerSettings,
    /// Which of our configurations names it.
    pub scope: Scope,
    /// The clients and files that it was found in.
    pub from: Vec<(Client, PathBuf)>,
    /// Whether the configuration has it already.
    pub known: bool,
    /// Variables that must be set for it, as long as no client's entry carries them.
    pub needs: Vec<String>,
}

/// Everything that an import would write.
#[derive(Clone, Debug)]
pub struct Plan {
    /// By scope and name.
    pub servers: Vec<PlannedServer>,
    /// Files to write, our own first.
    pub writes: Vec<Write>,
}

impl Plan {
    /// The variables that the gateway would be started with by its clients, once
    /// their entries are replaced.
    pub fn carried(&self) -> BTreeMap<String, String> {
        let clients = self.writes.iter().filter(|write| write.is_client);
        clients
            .flat_map(|write| carried_in(&write.after, &write.path))
            .collect()
    }

    /// Plans the takeover of everything found.
    ///
    /// # Errors
    /// [`ImportError`] when a configuration of ours cannot be read or changed.
    pub fn new(survey: &Survey, goal: &Goal) -> Result<Plan, ImportError> {
        let mut names = Variables::default();
        // What is in the environment cannot be renamed, so it comes first.
        for found in &survey.found {
            names.reserving = true;
            carry(
                found.client,
                &server_name(&found.name),
                &found.entry,
                &mut names,
            );
        }
        names.reserving = false;
        let mut configs = [
            Config::read(&goal.user_config, Scope::User)?,
            Config::read(&goal.project_config, Scope::Project)?,
        ];
        // What earlier imports carry keeps its names too.
        for config in &configs {
            let root = config.path.parent().unwrap_or(Path::new(""));
            for path in &config.from {
                for (name, text) in carried_variables(&root.join(path)) {
                    let value = CarriedValue::Literal(text);
                    names.taken.entry(name).or_insert(value);
                }
            }
        }
        let mut servers = Vec::new();
        let mut takeovers: Vec<Takeover> = vec![Takeover::default(); survey.files.len()];
        for found in &survey.found {
            let name = server_name(&found.name);
            let (settings, carried) = carry(found.client, &name, &found.entry, &mut names);
            let config = &configs[usize::from(found.scope == Scope::Project)];
            add(&mut servers, config, found, &name, settings, &carried);
            let takeover = &mut takeovers[found.at];
            takeover.gone.push(found.name.clone());
            for carried in carried {
                if !takeover.carried.contains(&carried) {
                    takeover.carried.push(carried);
                }
            }
        }
        let mut clients: Vec<Write> = Vec::new();
        for (file, takeover) in survey.files.iter().zip(&takeovers) {
            if takeover.gone.is_empty() {
                continue;
            }
            if takeover.has_literals() {
                match file.source.scope {
                    Scope::User => configs[0].variables_from(&file.source.path),
                    Scope::Project => configs[1].variables_from_here(&file.source.path),
                }
            }
            // Claude Code keeps two places in one file.
            let known = clients.iter_mut().find(|w| w.path == file.source.path);
            match known {
                Some(write) => write.after = takeover.rewrite(file, &write.after, goal)?,
                None => clients.push(Write {
                    path: file.source.path.clone(),
                    before: Some(file.text.clone()),
                    after: takeover.rewrite(file, &file.text, goal)?,
                    is_client: true,
                }),
            }
        }
        servers.sort_by(|a, b| (a.scope, &a.name).cmp(&(b.scope, &b.name)));
        let mut writes = Vec::new();
        for config in configs {
            writes.extend(config.write(&servers));
        }
        writes.extend(clients);
        Ok(Plan { servers, writes })
    }
}

/// Adds what was found, as a server of its own or as another place of a known one.
fn add(
    servers: &mut Vec<PlannedServer>,
    config: &Config,
    found: &Found,
    name: &str,
    settings: ServerSettings,
    carried: &[Carried],
) {
    let place = (found.client, found.file.clone());
    let same = servers.iter_mut().find(|server| {
        server.scope == found.scope && server.settings == settings && like(&server.name, name)
    });
    if let Some(server) = same {
        server.from.push(place);
        return;
    }
    let taken = |name: &str| {
        let other = config.servers.get(name);
        other.is_some_and(|other| *other != settings)
            || servers
                .iter()
                .any(|server| server.scope == found.scope && server.name == name)
    };
    let candidates = std::iter::once(name.to_owned())
        .chain(std::iter::once(format!("{name}-{}", found.client.id())))
        .chain((2..).map(|n| format!("{name}-{}-{n}", found.client.id())));
    let free = candidates.into_iter().find(|name| !taken(name));
    let name = free.unwrap_or_else(|| name.to_owned());
    servers.push(PlannedServer {
        known: config.servers.get(&name) == Some(&settings),
        name,
        settings,
        scope: found.scope,
        from: vec![place],
        needs: carried.iter().map(|carried| carried.name.clone()).collect(),
    });
}

/// Whether a planned name came from this one.
fn like(planned: &str, name: &str) -> bool {
    planned == name
        || planned
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('-'))
}

/// A name that can prefix the names of tools: letters, digits, `-` and single `_`.
pub(crate) fn server_name(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        let c = match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => c,
            '_' if !out.ends_with('_') => '_',
            _ if out.ends_with(['-', '_']) => continue,
            _ => '-',
        };
        out.push(c);
    }
    let trimmed = out.trim_matches(['-', '_']);
    let cut: String = trimmed.chars().take(NAME).collect();
    match cut.trim_end_matches(['-', '_']) {
        "" => "server".to_owned(),
        name => name.to_owned(),
    }
}

#[derive(Default)]
struct Variables {
    /// Name to what it holds.
    taken: BTreeMap<String, CarriedValue>,
    /// Only names of the environment are noted.
    reserving: bool,
}

impl Names for Variables {
    fn name(&mut self, wanted: &str, server: &str, value: &CarriedValue) -> String {
        if *value == CarriedValue::Environment {
            self.taken.insert(wanted.to_owned(), value.clone());
            return wanted.to_owned();
        }
        if self.reserving {
            return wanted.to_owned();
        }
        let prefixed = super::carry::variable(&format!("{server}_{wanted}").to_ascii_uppercase());
        let candidates = [wanted.to_owned(), prefixed.clone()];
        let numbered = (2..).map(|n| format!("{prefixed}_{n}"));
        let free = candidates
            .into_iter()
            .chain(numbered)
            .find(|name| self.taken.get(name).is_none_or(|known| known == value));
        let name = free.unwrap_or(prefixed);
        self.taken.insert(name.clone(), value.clone());
        name
    }
}

/// What one place of a client's file gives up, and what it has to carry from then on.
#[derive(Clone, Default)]
struct Takeover {
    gone: Vec<String>,
    carried: Vec<Carried>,
}

impl Takeover {
    fn has_literals(&self) -> bool {
        let literal = |carried: &Carried| matches!(carried.value, CarriedValue::Literal(_));
        self.carried.iter().any(literal)
    }

    fn rewrite(&self, file: &ReadFile, text: &str, goal: &Goal) -> Result<String, ImportError> {
        let program = match file.source.scope {
            Scope::User => &goal.program,
            Scope::Project => &goal.shared_program,
        };
        let done = match file.source.format {
            Format::Json => self.rewrite_json(file, text, program),
            Format::Toml => self.rewrite_toml(file, text, program),
        };
        done.ok_or_else(|| ImportError::Config {
            path: file.source.path.clone(),
            why: format!(
                "`{}` cannot be edited as it stands",
                file.source.keys.join(".")
            ),
        })
    }

    fn rewrite_json(&self, file: &ReadFile, text: &str, program: &str) -> Option<String> {
        let root = json_text::parse(text).ok()?;
        let object = root.at(&file.source.keys)?;
        let old = file.gateway.as_ref().and_then(|name| object.member(name));
        let mut gone: Vec<&str> = self.gone.iter().map(String::as_str).collect();
        gone.extend(file.gateway.as_deref());
        let key = self.key(file, &|key| object.member(key).is_some());
        let client = file.source.client;
        let old_entry = old.map(|member| member.value.value());
        let environment = if client == Client::Opencode {
            "environment"
        } else {
            "env"
        };
        let mut env = match old_entry.as_ref().and_then(|entry| entry.get(environment)) {
            Some(Value::Object(env)) => env.clone(),
            _ => Map::new(),
        };
        for carried in &self.carried {
            env.insert(carried.name.clone(), written(client, carried).into());
        }
        let mut entry = match client {
            Client::Opencode => {
                json!({"type": "local", "command": [program, "serve"], "enabled": true})
            }
            Client::VsCode | Client::ClaudeCode => {
                json!({"type": "stdio", "command": program, "args": ["serve"]})
            }
            Client::Zed => json!({"source": "custom", "command": program, "args": ["serve"]}),
            _ => json!({"command": program, "args": ["serve"]}),
        };
        // What was added to the entry by hand stays.
        if let (Some(entry), Some(Value::Object(old))) = (entry.as_object_mut(), old_entry) {
            entry.extend(old);
        }
        if !env.is_empty() {
            entry[environment] = Value::Object(env);
        }
        json_text::replace(text, object, &gone, &key, &entry)
    }

    /// A key that no other entry has.
    fn key(&self, file: &ReadFile, taken: &dyn Fn(&str) -> bool) -> String {
        match &file.gateway {
            Some(name) => name.clone(),
            None if taken(ENTRY) && !self.gone.iter().any(|gone| gone == ENTRY) => {
                format!("{ENTRY}-gateway")
            }
            None => ENTRY.to_owned(),
        }
    }

    fn rewrite_toml(&self, file: &ReadFile, text: &str, program: &str) -> Option<String> {
        let mut document: toml_edit::DocumentMut = text.parse().ok()?;
        let (last, path) = file.source.keys.split_last()?;
        let mut item = document.as_item_mut();
        for key in path {
            item = item.get_mut(key)?;
        }
        let servers = item.get_mut(last)?.as_table_like_mut()?;
        let key = self.key(file, &|key| servers.contains_key(key));
        let mut entry = match file.gateway.as_ref().and_then(|name| servers.remove(name)) {
            Some(toml_edit::Item::Table(table)) => table,
            _ => toml_edit::Table::new(),
        };
        let mut comments = String::new();
        let mut position = entry.position();
        for name in &self.gone {
            let Some(toml_edit::Item::Table(table)) = servers.remove(name) else {
                continue;
            };
            let before = table.decor().prefix().and_then(|prefix| prefix.as_str());
            comments.push_str(before.unwrap_or(""));
            position = match (position, table.position()) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        if !comments.is_empty() {
            let own = entry.decor().prefix().and_then(|prefix| prefix.as_str());
            let all = format!("{comments}{}", own.unwrap_or("").trim_start());
            entry.decor_mut().set_prefix(tidy(&all));
        }
        if let Some(position) = position {
            entry.set_position(Some(position));
        }
        entry["command"] = toml_edit::value(program);
        entry["args"] = toml_edit::value(toml_edit::Array::from_iter(["serve"]));
        for carried in &self.carried {
            match &carried.value {
                CarriedValue::Environment => {
                    if entry.get("env_vars").is_none() {
                        entry["env_vars"] = toml_edit::value(toml_edit::Array::new());
                    }
                    let list = entry["env_vars"].as_array_mut()?;
                    if !list.iter().any(|have| have.as_str() == Some(&carried.name)) {
                        list.push(carried.name.as_str());
                    }
                }
                CarriedValue::Literal(text) | CarriedValue::Template(text) => {
                    if entry.get("env").is_none() {
                        entry["env"] = toml_edit::value(toml_edit::InlineTable::new());
                    }
                    let env = entry["env"].as_table_like_mut()?;
                    env.insert(&carried.name, toml_edit::value(text.as_str()));
                }
            }
        }
        servers.insert(&key, toml_edit::Item::Table(entry));
        Some(document.to_string())
    }
}

/// Comments with at most one empty line between them.
fn tidy(comments: &str) -> String {
    let mut out = String::new();
    for line in comments.lines() {
        if !line.trim().is_empty() || !(out.is_empty() || out.ends_with("\n\n") || out == "\n") {
            out.push_str(line);
            out.push('\n');
        }
    }
    if comments.starts_with('\n') && !out.starts_with('\n') {
        out.insert(0, '\n');
    }
    out
}

/// The value of a carried variable, in the client's own syntax.
fn written(client: Client, carried: &Carried) -> String {
    let name = &carried.name;
    match &carried.value {
        CarriedValue::Literal(text) | CarriedValue::Template(text) => text.clone(),
        CarriedValue::Environment => match client {
            Client::GeminiCli => format!("${name}"),
            Client::Opencode => format!("{{env:{name}}}"),
            Client::ClaudeCode => format!("${{{name}}}"),
            _ => format!("${{env:{name}}}"),
        },
    }
}

/// A configuration of ours, as it stands.
struct Config {
    path: PathBuf,
    scope: Scope,
    before: Option<String>,
    document: toml_edit::DocumentMut,
    servers: BTreeMap<String, ServerSettings>,
    from: Vec<String>,
}

pub(super) const HEAD: &str = "\
# MCP servers behind the gateway. `${NAME}` is a variable of the gateway's environment;
# see `variables_from` for where else variables are looked up.
";

impl Config {
    fn read(path: &Path, scope: Scope) -> Result<Config, ImportError> {
        let wrong = |why: String| ImportError::Config {
            path: path.to_owned(),
            why,
        };
        let before = read_text(path).map_err(wrong)?;
        let document: toml_edit::DocumentMut = before
            .as_deref()
            .unwrap_or("")
            .parse()
            .map_err(|error: toml_edit::TomlError| wrong(error.message().replace('\n', " ")))?;
        let settings = McpSettings::from_toml(before.as_deref().unwrap_or(""))
            .map_err(|why| wrong(format!("`mcp`: {why}")))?;
        Ok(Config {
            path: path.to_owned(),
            scope,
            before,
            document,
            servers: settings.servers,
            from: settings.variables_from,
        })
    }

    /// The same of a file of the project, which others have elsewhere.
    fn variables_from_here(&mut self, path: &Path) {
        let root = self.path.parent().unwrap_or(Path::new(""));
        let path = path.strip_prefix(root).unwrap_or(path).to_owned();
        self.variables_from(&path);
    }

    fn variables_from(&mut self, path: &Path) {
        let path = path.to_string_lossy().into_owned();
        if !self.from.contains(&path) {
            self.from.push(path);
            let list: toml_edit::Array = self.from.iter().map(String::as_str).collect();
            self.mcp()["variables_from"] = toml_edit::value(list);
        }
    }

    fn mcp(&mut self) -> &mut toml_edit::Item {
        let entry = self.document.entry("mcp");
        entry.or_insert_with(|| {
            let mut table = toml_edit::Table::new();
            table.set_implicit(true);
            toml_edit::Item::Table(table)
        })
    }

    fn write(mut self, servers: &[PlannedServer]) -> Option<Write> {
        let new: Vec<&PlannedServer> = servers
            .iter()
            .filter(|server| server.scope == self.scope && !server.known)
            .collect();
        for server in &new {
            let mcp = self.mcp();
            if mcp.get("servers").is_none() {
                let mut table = toml_edit::Table::new();
                table.set_implicit(true);
                mcp["servers"] = toml_edit::Item::Table(table);
            }
            mcp["servers"][&server.name] = toml_edit::Item::Table(table(&server.settings));
        }
        let mut after = self.document.to_string();
        if self.before.is_none() && !after.is_empty() {
            after.insert_str(0, HEAD);
        }
        let changed = self.before.as_deref().unwrap_or("") != after;
        changed.then_some(Write {
            path: self.path,
            before: self.before,
            after,
            is_client: false,
        })
    }
}

fn table(settings: &ServerSettings) -> toml_edit::Table {
    let mut table = toml_edit::Table::new();
    table.decor_mut().set_prefix("\n");
    let value = serde_json::to_value(settings).unwrap_or_default();
    for (key, value) in value.as_object().into_iter().flatten() {
        table[key] = toml_edit::Item::Value(toml_of(value));
    }
    table
}

fn toml_of(value: &Value) -> toml_edit::Value {
    match value {
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(toml_of).collect()),
        Value::Object(map) => {
            let mut table = toml_edit::InlineTable::new();
            for (key, value) in map {
                table.insert(key, toml_of(value));
            }
            toml_edit::Value::InlineTable(table)
        }
        Value::Bool(flag) => (*flag).into(),
        other => other.as_str().unwrap_or("").into(),
    }
}
