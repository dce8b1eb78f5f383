//! The reading end of a session.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolcrib_core::{History, Message, ToolName};

use crate::row::decode;
use crate::{FORMAT, Meta, Row, SessionError, repair};

/// One row as it was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Its line, counted from 1; unique within the session and never changing.
    pub line: u64,
    /// When it was written, in milliseconds since 1970.
    pub at: Option<u64>,
    /// What it says.
    pub row: Row,
    /// The line as it stands in the file, with fields that this version does not
    /// know; without its line break.
    pub raw: Box<str>,
}

/// A session read from its file.
#[derive(Clone, Debug)]
pub struct Session {
    path: PathBuf,
    meta: Meta,
    entries: Vec<Entry>,
    torn: u64,
}

impl Session {
    /// Reads all complete rows. The file is not touched: a row that was being
    /// written, or was left without its end by a crash, is not among them.
    ///
    /// # Errors
    /// [`SessionError::BadLine`] for a complete line that is no row,
    /// [`SessionError::Empty`] when there is no complete line,
    /// [`SessionError::NotASession`], [`SessionError::Newer`],
    /// [`SessionError::Io`].
    pub fn read(path: &Path) -> Result<Session, SessionError> {
        let failed = |action, source| SessionError::io(action, path, source);
        let file = File::open(path).map_err(|source| failed("open", source))?;
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut meta = None;
        loop {
            line.clear();
            let read = file.read_until(b'\n', &mut line);
            read.map_err(|source| failed("read", source))?;
            if meta.is_none() {
                meta = Some(first_row(path, &line)?);
            }
            let Some(text) = line.strip_suffix(b"\n") else {
                break;
            };
            let number = entries.len() as u64 + 1;
            entries.push(entry(path, number, text)?);
        }
        let Some(meta) = meta else {
            let path = path.to_owned();
            return Err(SessionError::Empty { path });
        };
        Ok(Session {
            path: path.to_owned(),
            meta,
            entries,
            torn: line.len() as u64,
        })
    }

    /// The file it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The first row.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// All rows in the order written, the first one included.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Bytes at the end that are not a complete row and were left out.
    pub fn torn_bytes(&self) -> u64 {
        self.torn
    }

    /// The transcript as it was last, made acceptable for any provider by [`repair()`].
    pub fn history(&self) -> History {
        let mut messages: Vec<Message> = Vec::new();
        for entry in &self.entries {
            match &entry.row {
                Row::Message(row) => messages.push(row.message.clone()),
                Row::ToolResult(row) => messages.push(Message::Tool(row.result.clone())),
                Row::Compaction(row) => messages.clone_from(&row.messages),
                _ => {}
            }
        }
        let history: History = messages.into_iter().collect();
        match repair(&history) {
            Some(repaired) => repaired.history,
            None => history,
        }
    }

    /// The tools loaded so far, in the order of loading, each once.
    pub fn activated(&self) -> Vec<ToolName> {
        let mut loaded = Vec::new();
        for entry in &self.entries {
            if let Row::Activation(row) = &entry.row {
                for tool in &row.tools {
                    if !loaded.contains(tool) {
                        loaded.push(tool.clone());
                    }
                }
            }
        }
        loaded
    }
}

fn text<'a>(path: &Path, number: u64, line: &'a [u8]) -> Result<&'a str, SessionError> {
    std::str::from_utf8(line).map_err(|error| bad(path, number, error))
}

fn bad(path: &Path, line: u64, reason: impl ToString) -> SessionError {
    SessionError::BadLine {
        path: path.to_owned(),
        line,
        reason: reason.to_string(),
    }
}

fn entry(path: &Path, number: u64, line: &[u8]) -> Result<Entry, SessionError> {
    let text = text(path, number, line)?;
    let (at, row) = decode(text).map_err(|error| bad(path, number, error))?;
    Ok(Entry {
        line: number,
        at,
        row,
        raw: text.into(),
    })
}

/// Reads the first line, line break included, as that of a session.
pub(crate) fn first_row(path: &Path, line: &[u8]) -> Result<Meta, SessionError> {
    #[derive(Deserialize)]
    struct Head {
        row: String,
        format: Option<u32>,
    }
    let owned = || path.to_owned();
    let Some(line) = line.strip_suffix(b"\n") else {
        return Err(SessionError::Empty { path: owned() });
    };
    let text = text(path, 1, line)?;
    let head: Head = serde_json::from_str(text).map_err(|error| bad(path, 1, error))?;
    match head.format {
        // Its fields may have another meaning, so they are not even read.
        Some(found) if head.row == "meta" && found > FORMAT => Err(SessionError::Newer {
            path: owned(),
            found,
        }),
        _ if head.row != "meta" => Err(SessionError::NotASession { path: owned() }),
        _ => serde_json::from_str(text).map_err(|error| bad(path, 1, error)),
    }
}
