//! Which MCP servers count here: the user's own, and the repository's once trusted.
//!
//! A server is a program that starts, so a repository's files name one only after
//! `toolcrib trust` of exactly the bytes that are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcrib_core::Str;
use toolcrib_gateway::Loaded;
use toolcrib_mcp::{ServerConfig, entries_from_json, entries_from_toml};

use crate::args::PlaceArgs;
use crate::config::{Places, REPOSITORY_FILE, read_small};
use crate::exit::CliError;
use crate::place;
use crate::trust::TrustStore;

/// File of most MCP clients, at the repository's root.
pub(crate) const MCP_FILE: &str = ".mcp.json";

/// The servers of one place.
pub(crate) struct Servers {
    /// By name; of two of one name the more specific file's.
    pub(crate) usable: Vec<ServerConfig>,
    /// Files that name servers but are not trusted, with the servers' names.
    pub(crate) untrusted: Vec<(PathBuf, Vec<Str>)>,
    pub(crate) places: Places,
}

impl Servers {
    /// Reads `files` alone where there are any: who names a file on the command line
    /// means it. Otherwise the user's configuration, then the repository's.
    pub(crate) fn read(args: &PlaceArgs, files: &[PathBuf]) -> Result<Servers, CliError> {
        let places = Places::detect();
        let mut named = BTreeMap::new();
        let mut untrusted = Vec::new();
        let (root, _) = place::root(args)?;
        if !files.is_empty() {
            for file in files {
                let bytes = read_small(file).map_err(|error| {
                    CliError::usage(format!("cannot read {}: {error}", file.display()))
                })?;
                add(&mut named, load(file, &bytes, &root)?);
            }
        } else {
            if let Some(file) = &places.user_config
                && let Some(bytes) = read(file)?
            {
                add(&mut named, load(file, &bytes, &root)?);
            }
            let store = match &places.state {
                Some(state) => Some(TrustStore::read(state)?),
                None => None,
            };
            for name in [REPOSITORY_FILE, MCP_FILE] {
                let file = root.join(name);
                let Some(bytes) = read(&file)? else { continue };
                let trusted = store
                    .as_ref()
                    .is_some_and(|store| store.trusts(&file, &bytes));
                let servers = match parse(&file, &bytes) {
                    Err(_) if !trusted => continue,
                    servers => servers?,
                };
                if trusted {
                    add(&mut named, load(&file, &bytes, &root)?);
                } else if !servers.is_empty() {
                    let names = servers.into_iter().map(|server| server.name).collect();
                    untrusted.push((file, names));
                }
            }
        }
        Ok(Servers {
            usable: named.into_values().collect(),
            untrusted,
            places,
        })
    }

    /// One line for each file that is left aside.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |(file, names): &(PathBuf, Vec<Str>)| {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            let servers = match names.len() {
                1 => "an MCP server that starts".to_owned(),
                count => format!("{count} MCP servers that start"),
            };
            let names = names.join(", ");
            format!("{file} names {servers} only after `toolcrib trust`: {names}")
        };
        self.untrusted.iter().map(note).collect()
    }
}

fn add(named: &mut BTreeMap<Str, ServerConfig>, servers: Vec<ServerConfig>) {
    named.extend(
        servers
            .into_iter()
            .map(|server| (server.name.clone(), server)),
    );
}

/// The servers that a file names; its ending says which form it has.
pub(crate) fn parse(file: &Path, bytes: &[u8]) -> Result<Vec<ServerConfig>, CliError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| CliError::usage(format!("{} is not UTF-8", file.display())))?;
    let servers = match file.extension() {
        Some(ending) if ending == "toml" => entries_from_toml(text, file),
        _ => entries_from_json(text, file, false),
    };
    servers.map_err(CliError::usage)
}

/// Fails when one of the servers that a file names cannot be used: nobody should
/// trust what is not what they mean.
pub(crate) fn sound(file: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let servers = parse(file, bytes)?;
    match servers.into_iter().find_map(|server| server.broken) {
        Some(error) => Err(CliError::usage(error)),
        None => Ok(()),
    }
}

/// The same, ready to start: with what the gateway's own keys add to an entry. Only
/// for files that count, since other files are read for them.
fn load(file: &Path, bytes: &[u8], root: &Path) -> Result<Vec<ServerConfig>, CliError> {
    match (file.extension(), std::str::from_utf8(bytes)) {
        (Some(ending), Ok(text)) if ending == "toml" => Loaded::from_toml(text, file, root)
            .map(|loaded| loaded.servers)
            .map_err(CliError::usage),
        _ => parse(file, bytes),
    }
}

fn read(file: &Path) -> Result<Option<Vec<u8>>, CliError> {
    match read_small(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::usage(format!(
            "cannot read {}: {error}",
            file.display()
        ))),
    }
}
