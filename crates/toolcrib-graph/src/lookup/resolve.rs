//! From what a caller writes to what the graph holds: names and paths.

use super::error::LookupError;
use super::index::{ends_in_name, separators_unified, without_number};
use super::near::NEAR;
use super::{Lookup, LookupResult};
use crate::model::{FileId, NodeId};
use crate::scan::path_text;

/// The most characters of an argument; longer ones are refused, not searched.
pub(crate) const MAX_ARGUMENT: usize = 1_000;

/// Candidates an ambiguous name is answered with.
const MAX_CANDIDATES: usize = 10;

/// Refuses arguments that are no name, path or few words.
pub(crate) fn checked<'a>(
    argument: &'static str,
    value: &'a str,
    wanted: &'static str,
) -> LookupResult<&'a str> {
    let value = value.trim();
    let chars = value.chars().count();
    if value.is_empty() {
        return Err(LookupError::Empty { argument, wanted });
    }
    if chars > MAX_ARGUMENT {
        return Err(LookupError::TooLong {
            argument,
            chars,
            max: MAX_ARGUMENT,
        });
    }
    Ok(value)
}

/// What a path argument names.
pub(crate) enum Place {
    File(FileId),
    /// A directory, without a trailing `/`; the root is empty.
    Directory(String),
}

impl Lookup {
    /// Every symbol that `name` can mean, the strictest reading first: exact
    /// qualified name or identity, then those ignoring case, then the end of a
    /// qualified name or the bare name.
    pub(crate) fn matching(&self, name: &str) -> Vec<NodeId> {
        let name = name.trim().trim_matches('`');
        let name = name.strip_suffix("()").unwrap_or(name);
        let exact = self
            .graph
            .by_qualified_name(name)
            .or_else(|| self.graph.by_symbol(name));
        if let Some(id) = exact {
            return vec![id];
        }
        let unified = separators_unified(name);
        let bare = unified.rsplit('.').next().unwrap_or("");
        // What tells namesakes apart is not part of the name.
        let bare = bare.split('~').next().unwrap_or(bare);
        let mut tails: Vec<NodeId> = Vec::new();
        if unified.is_empty() {
            return tails;
        }
        for id in self.index.named(bare) {
            let node = self.graph.node(id);
            let theirs = separators_unified(&node.qualified_name);
            if theirs == unified || separators_unified(&node.symbol) == unified {
                return vec![id];
            }
            if bare == unified || ends_in_name(&theirs, &unified) {
                tails.push(id);
            }
        }
        if tails.is_empty() {
            // Names that hold separators themselves: routes.
            tails.extend(self.index.named(&name.to_lowercase()));
        }
        tails.sort_unstable();
        let cased: Vec<NodeId> = tails
            .iter()
            .copied()
            .filter(|&id| {
                let qualified = &*self.graph.node(id).qualified_name;
                qualified.ends_with(name) || without_number(qualified).ends_with(name)
            })
            .collect();
        if cased.is_empty() { tails } else { cased }
    }

    /// The one symbol that `name` means.
    pub(crate) fn resolve(&self, argument: &'static str, name: &str) -> LookupResult<NodeId> {
        let name = checked(argument, name, "a qualified name")?;
        if let Some(id) = self.symbol_at(name) {
            return Ok(id);
        }
        let found = self.matching(name);
        match found.as_slice() {
            [] => Err(LookupError::UnknownSymbol {
                name: name.to_owned(),
                near: self.heads(&self.near_symbols(name)),
            }),
            [one] => Ok(*one),
            many => Err(self.ambiguous(name, many)),
        }
    }

    pub(crate) fn ambiguous(&self, name: &str, many: &[NodeId]) -> LookupError {
        LookupError::AmbiguousSymbol {
            name: name.to_owned(),
            total: many.len(),
            candidates: self.heads(&many[..many.len().min(MAX_CANDIDATES)]),
        }
    }

    pub(crate) fn heads(&self, ids: &[NodeId]) -> Vec<String> {
        ids.iter().map(|&id| self.symbol_head(id)).collect()
    }

    /// The innermost symbol at `path:line`, when `text` is such a place.
    fn symbol_at(&self, text: &str) -> Option<NodeId> {
        let (path, range) = text.rsplit_once(':')?;
        let line = range.split('-').next()?.parse().ok()?;
        self.graph.innermost(self.graph.by_path(path)?, line, line)
    }

    /// A path argument relative to the root, with `.` and inner `..` resolved.
    pub(crate) fn inside(&self, path: &str) -> LookupResult<String> {
        let outside = || LookupError::OutsideRoot {
            path: path.to_owned(),
            near: self.near_paths(path),
        };
        let drive = path.as_bytes().get(1) == Some(&b':')
            && matches!(path.as_bytes().get(2), Some(b'\\' | b'/'));
        if path.starts_with(['/', '\\', '~']) || drive {
            return Err(outside());
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(outside)?;
                }
                part => parts.push(part),
            }
        }
        Ok(parts.join("/"))
    }

    /// The file or directory that a path argument names.
    pub(crate) fn place_at(&self, path: &str) -> LookupResult<Place> {
        let inside = self.inside(path)?;
        // The bytes themselves are taken too, where a path is printed with escapes.
        let printed = || self.graph.by_path(&path_text(inside.as_ref()));
        if let Some(file) = self.graph.by_path(&inside).or_else(printed) {
            return Ok(Place::File(file));
        }
        if inside.is_empty() || !self.files_under(&inside).is_empty() {
            return Ok(Place::Directory(inside));
        }
        let mut near = self.near_paths(&inside);
        near.truncate(NEAR);
        Err(LookupError::UnknownPath {
            path: path.to_owned(),
            near,
        })
    }

    /// The files under a directory, as a range of file numbers; everything for
    /// the empty path.
    pub(crate) fn files_under(&self, directory: &str) -> Vec<FileId> {
        let prefix = match directory {
            "" => String::new(),
            d => format!("{d}/"),
        };
        self.files_beginning(&prefix)
    }

    /// The files whose path begins with `prefix`, whole part or not.
    pub(crate) fn files_beginning(&self, prefix: &str) -> Vec<FileId> {
        self.graph
            .files()
            .iter()
            .zip((0u32..).map(FileId))
            .filter(|(f, _)| f.path.starts_with(prefix))
            .map(|(_, id)| id)
            .collect()
    }
}
