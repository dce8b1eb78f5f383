//! The tools that one file describes, whichever way it was written.
//!
//! A tool a line, the answer of a server's `tools/list`, bare or in its JSON-RPC
//! envelope, or several of these: pages one after another or in an array. A schema is
//! kept as its text, since with thousands of tools most are never looked at, and since
//! one that is nested beyond reason must not cost the others.

use std::path::Path;

use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

use crate::EvalError;
use crate::load::{bad, read};

/// One tool as written.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) source_description: Option<String>,
    pub(crate) schema: Option<Box<RawValue>>,
    pub(crate) command: Option<Vec<String>>,
    pub(crate) annotations: Annotations,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Annotations {
    pub(crate) read_only_hint: Option<bool>,
    pub(crate) destructive_hint: Option<bool>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct ToolFile {
    /// Its tools, each with the line that it, or the list it is in, begins on.
    pub(crate) tools: Vec<(usize, Described)>,
    /// Where the list goes on at the server, if the last page says so.
    pub(crate) cursor: Option<String>,
}

/// Any object of such a file: a tool, a page of tools, an answer with one or an error.
#[derive(Deserialize)]
struct Object<'a> {
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    #[serde(alias = "source")]
    server: Option<String>,
    server_description: Option<String>,
    #[serde(borrow, alias = "inputSchema", alias = "input_schema")]
    parameters: Option<&'a RawValue>,
    command: Option<Vec<String>>,
    annotations: Option<Annotations>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow, rename = "nextCursor")]
    next_cursor: Option<&'a RawValue>,
}

/// An object or a list, its entries unread.
enum Item<'a> {
    Object(Box<Object<'a>>),
    List(Vec<&'a RawValue>),
}

impl<'de> Deserialize<'de> for Item<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Item<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Item<'de>, A::Error> {
                let map = de::value::MapAccessDeserializer::new(map);
                Ok(Item::Object(Box::new(Object::deserialize(map)?)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Item<'de>, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = list.next_element()? {
                    all.push(entry);
                }
                Ok(Item::List(all))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Lists and envelopes within one another: pages in an array, each with its tools.
const DEEPEST: u8 = 4;

/// Reads a file.
///
/// # Errors
/// A file that cannot be read, and whatever in it is not a tool, by its line.
pub(crate) fn tool_file(path: &Path) -> Result<ToolFile, EvalError> {
    let text = read(path)?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into());
    let mut reader = Reader {
        stem,
        line: 1,
        file: ToolFile::default(),
    };
    let mut rest = &*text;
    loop {
        let begins = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        reader.line += newlines(&rest[..rest.len() - begins.len()]);
        if begins.is_empty() {
            return Ok(reader.file);
        }
        let (taken, item) =
            next(begins).map_err(|(down, problem)| bad(path, reader.line + down, problem))?;
        reader
            .take(item, 0)
            .map_err(|problem| bad(path, reader.line, problem))?;
        reader.line += newlines(&begins[..taken]);
        rest = &begins[taken..];
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The first value of `text` and how many bytes it takes. It may take several lines; one
/// that is cut where its line ends is looked at no further.
///
/// # Errors
/// What is wrong, and how many lines down.
fn next(text: &str) -> Result<(usize, Item<'_>), (usize, String)> {
    if !text.starts_with(['{', '[']) {
        return Err((0, "expected one JSON object a line".to_owned()));
    }
    let first = |text| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter();
        match values.next() {
            Some(Ok(item)) => Ok((values.byte_offset(), item)),
            Some(Err(error)) => Err(error),
            None => Err(serde_json::Error::custom("nothing is there")),
        }
    };
    let end = text.find('\n').unwrap_or(text.len());
    let cut = match first(&text[..end]) {
        Err(error) if error.is_eof() => error,
        read => return read.map_err(|error| (0, error.to_string())),
    };
    // A lone bracket begins a value that is written over several lines.
    let alone = text[..end].trim_end().len() == 1;
    match first(text) {
        Ok(read) => Ok(read),
        Err(_) if !alone && text[end..].trim_start().starts_with('{') => Err((0, cut.to_string())),
        Err(error) if error.is_eof() => Err((0, cut.to_string())),
        Err(error) => Err((error.line().saturating_sub(1), error.to_string())),
    }
}

struct Reader {
    /// The source of tools in lists that name none.
    stem: Option<String>,
    line: usize,
    file: ToolFile,
}

impl Reader {
    /// Takes the tools of an item that lies so deep in lists and envelopes.
    fn take(&mut self, item: Item<'_>, depth: u8) -> Result<(), String> {
        match item {
            _ if depth > DEEPEST => Err("lists lie too deep in lists".to_owned()),
            Item::Object(object) => self.object(*object, depth),
            Item::List(entries) => self.list(&entries, "entry", depth),
        }
    }

    fn list(&mut self, entries: &[&RawValue], what: &str, depth: u8) -> Result<(), String> {
        for (at, entry) in entries.iter().enumerate() {
            self.inner(entry, depth)
                .map_err(|problem| format!("{what} {} of the list: {problem}", at + 1))?;
        }
        Ok(())
    }

    fn inner(&mut self, raw: &RawValue, depth: u8) -> Result<(), String> {
        let item = serde_json::from_str(raw.get()).map_err(|error| {
            // The place is one within the entry, which nobody can look up.
            let text = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            text.strip_suffix(&place).unwrap_or(&text).to_owned()
        })?;
        self.take(item, depth + 1)
    }

    fn object(&mut self, object: Object<'_>, depth: u8) -> Result<(), String> {
        if let Some(name) = object.name {
            let tool = Described {
                name,
                title: object.title,
                description: object.description,
                source: object
                    .server
                    .or_else(|| self.stem.clone().filter(|_| depth > 0)),
                source_description: object.server_description,
                schema: object.parameters.map(ToOwned::to_owned),
                command: object.command,
                annotations: object.annotations.unwrap_or_default(),
            };
            self.file.tools.push((self.line, tool));
            return Ok(());
        }
        if let Some(tools) = object.tools {
            let entries: Vec<&RawValue> = serde_json::from_str(tools.get())
                .map_err(|_| "\"tools\" must be a list".to_owned())?;
            let cursor = object.next_cursor.map(RawValue::get);
            self.file.cursor = cursor.filter(|text| *text != "\"\"").map(str::to_owned);
            return self.list(&entries, "tool", depth);
        }
        if let Some(error) = object.error {
            return Err(format!(
                "it is a server's error and no list of tools: {}",
                said(error)
            ));
        }
        match object.result {
            Some(result) if result.get().starts_with('{') => self.inner(result, depth),
            _ => Err("missing field `name`".to_owned()),
        }
    }
}

/// What a JSON-RPC error says.
fn said(error: &RawValue) -> String {
    #[derive(Deserialize)]
    struct RpcError {
        code: Option<serde_json::Number>,
        message: String,
    }
    match serde_json::from_str(error.get()) {
        Ok(RpcError { code, message }) => {
            let code = code.map_or_else(String::new, |code| format!(" (code {code})"));
            format!("{message:?}{code}")
        }
        Err(_) => error.get().chars().take(200).collect(),
    }
}
