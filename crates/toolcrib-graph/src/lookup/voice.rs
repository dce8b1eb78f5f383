//! Who reads a text, and so how its hints and follow-ups are written.
//!
//! A model makes the calls of its tools, a person types commands. Both get the
//! same facts; only what to do next is in their own words.

use std::sync::Arc;

use super::{
    ExploreArea, ListFiles, Lookup, LookupCall, LookupError, ReadSource, SearchSymbols,
    SymbolNeighbors,
};

/// The words of hints and follow-ups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Voice {
    /// What every command begins with; `None` for calls of tools.
    command: Option<Arc<str>>,
}

impl Voice {
    /// A call to make, as its reader would make it.
    pub(crate) fn call(&self, call: &LookupCall) -> String {
        match &self.command {
            None => call.to_string(),
            Some(command) => call.to_command(command),
        }
    }

    /// The name of a lookup, as its reader would call it.
    pub(crate) fn name(&self, tool: &str) -> String {
        match &self.command {
            None => tool.to_owned(),
            Some(command) => format!("`{command} {}`", subcommand(tool)),
        }
    }
}

impl Lookup {
    /// The same lookups for people at a command line: follow-ups and hints are
    /// commands that begin with `command`, such as `toolcrib graph`.
    #[must_use]
    pub fn for_commands(&self, command: &str) -> Lookup {
        Lookup {
            graph: Arc::clone(&self.graph),
            index: Arc::clone(&self.index),
            voice: Voice {
                command: Some(command.into()),
            },
        }
    }
}

impl LookupError {
    /// What `Display` says, for a person whose commands begin with `command`.
    pub fn for_commands(&self, command: &str) -> String {
        let voice = Voice {
            command: Some(command.into()),
        };
        let text = self.to_string();
        match self {
            LookupError::UnknownSymbol { .. } => {
                named(&text, "use search_symbols first", "search_symbols", &voice)
            }
            LookupError::AmbiguousSymbol { .. } => {
                named(&text, "search_symbols lists them", "search_symbols", &voice)
            }
            LookupError::UnknownArea { .. } => {
                let text = named(&text, "explore_area takes", "explore_area", &voice);
                named(
                    &text,
                    "use search_symbols for words",
                    "search_symbols",
                    &voice,
                )
            }
            LookupError::IsDirectory { path, .. } => {
                let call = LookupCall::ListFiles(ListFiles {
                    path: Some(path.clone()),
                    ..ListFiles::default()
                });
                text.replacen(&call.to_string(), &format!("`{}`", voice.call(&call)), 1)
            }
            _ => text,
        }
    }
}

/// `text` with the last `phrase` naming a command in place of the tool in it.
fn named(text: &str, phrase: &str, tool: &str, voice: &Voice) -> String {
    let Some(at) = text.rfind(phrase) else {
        return text.to_owned();
    };
    let said = phrase.replacen(tool, &voice.name(tool), 1);
    format!("{}{said}{}", &text[..at], &text[at + phrase.len()..])
}

fn subcommand(tool: &str) -> &str {
    match tool {
        "search_symbols" => "search",
        "explore_area" => "explore",
        "read_source" => "source",
        "symbol_neighbors" => "neighbors",
        "list_files" => "files",
        other => other,
    }
}

impl LookupCall {
    /// The call as a command line for a POSIX shell, after `command`.
    pub fn to_command(&self, command: &str) -> String {
        let (name, words, options) = match self {
            LookupCall::SearchSymbols(SearchSymbols {
                query,
                kind,
                path,
                limit,
                offset,
            }) => (
                "search",
                vec![query.clone()],
                vec![
                    ("--kind", kind.clone()),
                    ("--path", path.clone()),
                    ("--limit", limit.map(|n| n.to_string())),
                    ("--offset", offset.map(|n| n.to_string())),
                ],
            ),
            LookupCall::ExploreArea(ExploreArea { query, offset }) => (
                "explore",
                vec![query.clone()],
                vec![("--offset", offset.map(|n| n.to_string()))],
            ),
            LookupCall::ReadSource(ReadSource { path, start, end }) => {
                let mut words = vec![path.clone()];
                if start.is_some() || end.is_some() {
                    words.push(start.unwrap_or(1).to_string());
                }
                words.extend(end.map(|n| n.to_string()));
                ("source", words, Vec::new())
            }
            LookupCall::SymbolNeighbors(SymbolNeighbors {
                name,
                direction,
                kinds,
                offset,
            }) => (
                "neighbors",
                vec![name.clone()],
                vec![
                    ("--direction", direction.clone()),
                    ("--kinds", kinds.as_ref().map(|kinds| kinds.join(","))),
                    ("--offset", offset.map(|n| n.to_string())),
                ],
            ),
            LookupCall::ListFiles(ListFiles { path, glob, offset }) => (
                "files",
                path.clone().into_iter().collect(),
                vec![
                    ("--glob", glob.clone()),
                    ("--offset", offset.map(|n| n.to_string())),
                ],
            ),
        };
        let mut line = format!("{command} {name}");
        for (option, value) in options {
            if let Some(value) = value {
                line.push_str(&format!(" {option} {}", quoted(&value)));
            }
        }
        if words.iter().any(|word| word.starts_with('-')) {
            line.push_str(" --");
        }
        for word in words {
            line.push(' ');
            line.push_str(&quoted(&word));
        }
        line
    }
}

/// A word as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_becomes_the_command_that_makes_it() {
        let search = LookupCall::SearchSymbols(SearchSymbols {
            query: "it's a name".into(),
            kind: Some("method".into()),
            limit: Some(3),
            offset: Some(6),
            ..SearchSymbols::default()
        });
        assert_eq!(
            search.to_command("toolcrib graph"),
            r"toolcrib graph search --kind method --limit 3 --offset 6 'it'\''s a name'"
        );
        let read = LookupCall::ReadSource(ReadSource {
            path: "-odd.rs".into(),
            start: None,
            end: Some(9),
        });
        assert_eq!(
            read.to_command("toolcrib graph"),
            "toolcrib graph source -- -odd.rs 1 9"
        );
        let around = LookupCall::SymbolNeighbors(SymbolNeighbors {
            name: "<A as B>::c".into(),
            kinds: Some(vec!["calls".into(), "guess".into()]),
            ..SymbolNeighbors::default()
        });
        assert_eq!(
            around.to_command("g"),
            "g neighbors --kinds calls,guess '<A as B>::c'"
        );
        let files = LookupCall::ListFiles(ListFiles::default());
        assert_eq!(files.to_command("g"), "g files");
    }
}
