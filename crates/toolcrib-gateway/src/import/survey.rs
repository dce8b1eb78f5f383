//! What the clients on this machine are configured with.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::client::{Client, Format, Places, Scope, Source};
use super::entry::{Entry, Read, read_named};
use super::json_text::{self, Node};
use super::switched_off::{Off, SwitchedOff};

/// Largest configuration that is read. Claude Code keeps histories in its own.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// One entry of one client.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name it has there.
    pub name: String,
    /// Whose it is.
    pub client: Client,
    /// For whom it counts.
    pub scope: Scope,
    /// The file that names it, as the client finds it.
    pub file: PathBuf,
    pub(crate) entry: Entry,
    /// Which of the survey's files.
    pub(crate) at: usize,
}

/// Something that was left where it is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The keys that lead to it, with dots; empty for the file as a whole.
    pub key: String,
    /// What is wrong with it.
    pub why: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.why)
    }
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadFile {
    pub(crate) source: Source,
    pub(crate) text: String,
    /// The gateway's own entry in it, by name.
    pub(crate) gateway: Option<String>,
}

/// Everything that was found.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Entries that can be taken over, the user's first, then by client and name.
    pub found: Vec<Found>,
    /// What was left alone.
    pub problems: Vec<Problem>,
    pub(crate) files: Vec<ReadFile>,
    off: SwitchedOff,
}

impl Survey {
    /// Files whose servers are this gateway's already, with nothing else to take over.
    pub fn served(&self) -> Vec<&Path> {
        let all = self.files.iter().enumerate();
        all.filter(|(at, file)| {
            file.gateway.is_some() && !self.found.iter().any(|found| found.at == *at)
        })
        .map(|(_, file)| file.source.path.as_path())
        .collect()
    }
}

/// Reads the files of these clients. Absent files are passed over.
pub fn survey(places: &Places, clients: &[Client]) -> Survey {
    let mut survey = Survey::default();
    if clients.contains(&Client::ClaudeCode) {
        survey.off = SwitchedOff::read(places, &mut survey.problems);
    }
    let mut sources: Vec<Source> = clients
        .iter()
        .flat_map(|client| client.sources(places))
        .collect();
    sources.sort_by_key(|source| (source.scope, source.client));
    for source in sources {
        if let Err(why) = survey.file(&source) {
            survey.problems.push(Problem {
                file: source.path.clone(),
                key: String::new(),
                why,
            });
        }
    }
    survey
}

impl Survey {
    fn file(&mut self, source: &Source) -> Result<(), String> {
        let Some(text) = read_text(&source.path)? else {
            return Ok(());
        };
        if text.trim().is_empty() {
            return Ok(());
        }
        let mut source = source.clone();
        let servers = match source.format {
            Format::Json => {
                let root = json_text::parse(&text).map_err(|error| error.to_string())?;
                json_servers(&mut source, &root)
            }
            Format::Toml => toml_servers(&source, &text)?,
        };
        let Some(servers) = servers else {
            return Ok(());
        };
        let key = source.keys.join(".");
        let Value::Object(servers) = servers else {
            self.problems.push(Problem {
                file: source.path.clone(),
                key,
                why: "it is not an object of servers".to_owned(),
            });
            return Ok(());
        };
        self.entries(source, text, &servers);
        Ok(())
    }

    fn entries(&mut self, source: Source, text: String, servers: &Map<String, Value>) {
        let at = self.files.len();
        let mut gateway = None;
        let mut names: Vec<&String> = servers.keys().collect();
        names.sort();
        for name in names {
            let (key, why) = match read_named(source.client, name, &servers[name]) {
                Read::Gateway => {
                    gateway = Some(name.clone());
                    continue;
                }
                Read::Problem(key, why) => (key, why),
                Read::Server(mut entry) => match self.off.of(&source, name) {
                    Off::HereAlone(why) => (String::new(), why),
                    off => {
                        entry.server.disabled |= matches!(off, Off::Here);
                        self.found.push(Found {
                            name: name.clone(),
                            client: source.client,
                            scope: source.scope,
                            file: source.path.clone(),
                            entry: *entry,
                            at,
                        });
                        continue;
                    }
                },
            };
            let mut keys = source.keys.clone();
            keys.push(name.clone());
            if !key.is_empty() {
                keys.push(key);
            }
            self.problems.push(Problem {
                file: source.path.clone(),
                key: keys.join("."),
                why,
            });
        }
        self.files.push(ReadFile {
            source,
            text,
            gateway,
        });
    }
}

/// The object of servers; newer opencode nests it one deeper.
fn json_servers(source: &mut Source, root: &Node) -> Option<Value> {
    let node = root.at(&source.keys)?;
    if source.client == Client::Opencode
        && let Some(nested) = node.member("servers")
        && nested.value.member("command").is_none()
        && nested.value.member("url").is_none()
    {
        source.keys.push("servers".to_owned());
        return Some(nested.value.value());
    }
    Some(node.value())
}

fn toml_servers(source: &Source, text: &str) -> Result<Option<Value>, String> {
    let table: toml_edit::DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| error.message().replace('\n', " "))?;
    let item = source
        .keys
        .iter()
        .try_fold(table.as_item(), |item, key| item.get(key));
    Ok(item.map(toml_value))
}

/// A TOML item as JSON; dates become their texts.
pub(crate) fn toml_value(item: &toml_edit::Item) -> Value {
    use toml_edit::Item;
    match item {
        Item::None => Value::Null,
        Item::Value(value) => plain(value),
        Item::Table(table) => table
            .iter()
            .map(|(key, item)| (key.to_owned(), toml_value(item)))
            .collect::<Map<_, _>>()
            .into(),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| toml_value(&Item::Table(table.clone())))
            .collect(),
    }
}

fn plain(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Value::from(*number.value()),
        Toml::Boolean(flag) => Value::from(*flag.value()),
        Toml::Datetime(date) => Value::from(date.value().to_string()),
        Toml::Array(items) => items.iter().map(plain).collect(),
        Toml::InlineTable(table) => table
            .iter()
            .map(|(key, value)| (key.to_owned(), plain(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// The text of a regular file of a sane size; `None` when there is none.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, String> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let absent = |error: &std::io::Error| matches!(error.kind(), NotFound | NotADirectory);
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if absent(&error) => {
            return match std::fs::symlink_metadata(path) {
                Ok(_) => Err("it is a link that leads nowhere".to_owned()),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    if !meta.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if meta.len() > MOST_BYTES {
        return Err(format!("it is larger than {MOST_BYTES} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| "it is not UTF-8".to_owned())
}
