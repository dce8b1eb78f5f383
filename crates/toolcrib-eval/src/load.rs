//! Tools and queries from files.
//!
//! Nothing is skipped in silence: a line that cannot be used is an error that names it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_surface::ToolDoc;

use crate::EvalError;
use crate::tool_file::tool_file;

/// One tool as described in a file.
#[derive(Clone, Debug)]
pub struct ToolEntry {
    /// Unique over all files read together.
    pub name: String,
    /// For people; may be empty.
    pub title: String,
    /// What a model reads; may be empty.
    pub description: String,
    /// Where it comes from; the file's stem for a `tools/list` answer.
    pub source: String,
    /// What its source as a whole does; may be empty.
    pub source_description: String,
    /// The JSON Schema of its arguments as written, if there is one.
    pub schema: Option<Box<RawValue>>,
    /// The program that runs it and its arguments, if one is named.
    pub command: Option<Vec<String>>,
    /// Its source says that it changes nothing.
    pub read_only: bool,
    /// Its source says that it may destroy something.
    pub destructive: bool,
}

impl ToolEntry {
    /// What the index reads of it.
    pub fn doc(&self) -> ToolDoc {
        let schema = self.schema.as_deref().map(RawValue::get);
        let schema = schema.and_then(|text| serde_json::from_str(text).ok());
        let mut doc = ToolDoc::new(&*self.name, &*self.description)
            .title(&*self.title)
            .source(&*self.source)
            .schema(&schema.unwrap_or(Value::Null));
        doc.source_description = (&*self.source_description).into();
        doc
    }
}

/// A need with the tools that meet it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Unique within its file.
    pub id: String,
    /// What is searched for.
    pub query: String,
    /// Each need as the places of the tools that meet it.
    pub needs: Vec<Vec<usize>>,
    /// Which half of the collection it belongs to, 0 or 1.
    pub half: u8,
}

#[derive(Deserialize)]
struct RawQuery {
    id: String,
    query: String,
    #[serde(default)]
    gold: Vec<String>,
    #[serde(default)]
    alternatives: Vec<Vec<String>>,
    task: Option<String>,
}

pub(crate) fn read(path: &Path) -> Result<String, EvalError> {
    let bytes = std::fs::read(path).map_err(|source| EvalError::Read {
        path: path.to_owned(),
        source,
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        bad(path, line, "not UTF-8; save the file in that encoding")
    })
}

pub(crate) fn bad(path: &Path, line: usize, problem: impl ToString) -> EvalError {
    EvalError::Line {
        path: path.to_owned(),
        line,
        problem: problem.to_string(),
    }
}

pub(crate) fn object<T: serde::de::DeserializeOwned>(
    path: &Path,
    line: usize,
    text: &str,
) -> Result<T, EvalError> {
    if !text.starts_with('{') {
        return Err(bad(path, line, "expected one JSON object a line"));
    }
    serde_json::from_str(text).map_err(|e| bad(path, line, e))
}

/// Lines that are not blank, numbered from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim_start_matches('\u{feff}').trim()))
        .filter(|(_, line)| !line.is_empty())
}

/// Tools of several files.
#[derive(Debug, Default)]
pub struct ToolFiles {
    /// All of them, in file order.
    pub tools: Vec<ToolEntry>,
    /// What is wrong with files that can be used all the same, a sentence each.
    pub warnings: Vec<String>,
}

/// All tools of `paths`: a tool a line, or the answers of servers' `tools/list`, bare or
/// in their JSON-RPC envelopes, pages one after another or in an array.
///
/// # Errors
/// A file that cannot be read or is empty, a malformed line, a server's error in place of
/// its tools, a name given twice.
pub fn load_tools<P: AsRef<Path>>(paths: &[P]) -> Result<ToolFiles, EvalError> {
    let mut all = ToolFiles::default();
    let mut seen: HashMap<String, (&Path, usize)> = HashMap::new();
    for path in paths {
        let path = path.as_ref();
        let file = tool_file(path)?;
        if file.tools.is_empty() {
            return Err(EvalError::Empty {
                path: path.to_owned(),
                what: "tools",
            });
        }
        if let Some(cursor) = file.cursor {
            let cursor: String = cursor.chars().take(80).collect();
            all.warnings.push(format!(
                "{}: the list of tools is not whole: its last page has the nextCursor {cursor}",
                path.display()
            ));
        }
        for (line, tool) in file.tools {
            if tool.name.trim().is_empty() {
                return Err(bad(path, line, "a tool's \"name\" must not be empty"));
            }
            if let Some((first, at)) = seen.insert(tool.name.clone(), (path, line)) {
                let first = first.display();
                let problem = format!("tool {:?} was already given at {first}:{at}", tool.name);
                return Err(bad(path, line, problem));
            }
            all.tools.push(ToolEntry {
                name: tool.name,
                title: tool.title.unwrap_or_default(),
                description: tool.description.unwrap_or_default(),
                source: tool.source.unwrap_or_default(),
                source_description: tool.source_description.unwrap_or_default(),
                schema: tool.schema,
                command: tool.command,
                read_only: tool.annotations.read_only_hint == Some(true),
                destructive: tool.annotations.destructive_hint == Some(true),
            });
        }
    }
    Ok(all)
}

fn raw_queries(path: &Path) -> Result<Vec<(usize, RawQuery)>, EvalError> {
    let text = read(path)?;
    let mut queries: Vec<(usize, RawQuery)> = Vec::new();
    let mut seen = HashSet::new();
    for (line, text) in lines(&text) {
        let query: RawQuery = object(path, line, text)?;
        if !seen.insert(query.id.clone()) {
            return Err(bad(
                path,
                line,
                format!("query id {:?} is used twice", query.id),
            ));
        }
        queries.push((line, query));
    }
    if queries.is_empty() {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            what: "queries",
        });
    }
    Ok(queries)
}

fn half(query: &RawQuery) -> u8 {
    use sha1::{Digest, Sha1};
    let digest = Sha1::digest(query.task.as_ref().unwrap_or(&query.id));
    digest.last().copied().unwrap_or(0) % 2
}

/// The queries of a file, their needs as places in `tools`.
///
/// A substitute that is not among the tools can meet nothing and is left out.
///
/// # Errors
/// A file that cannot be read or is empty, a malformed line, an id used twice, a
/// query without gold or with a gold name that no tool has.
pub fn load_queries(path: &Path, tools: &[ToolEntry]) -> Result<Vec<Query>, EvalError> {
    let places: HashMap<&str, usize> = tools
        .iter()
        .enumerate()
        .map(|(at, tool)| (&*tool.name, at))
        .collect();
    let mut queries = Vec::new();
    for (line, raw) in raw_queries(path)? {
        if raw.gold.is_empty() {
            return Err(bad(path, line, "\"gold\" must name at least one tool"));
        }
        let half = half(&raw);
        let mut needs = Vec::new();
        for gold in &raw.gold {
            let Some(&place) = places.get(&**gold) else {
                return Err(bad(
                    path,
                    line,
                    format!("gold {gold:?} is not among the tools"),
                ));
            };
            // The last list of a gold name counts, as in a map built in order.
            let others = raw.alternatives.iter().rfind(|a| a.first() == Some(gold));
            let mut need = vec![place];
            need.extend(
                others
                    .into_iter()
                    .flatten()
                    .filter_map(|name| places.get(&**name).copied()),
            );
            needs.push(need);
        }
        queries.push(Query {
            id: raw.id,
            query: raw.query,
            needs,
            half,
        });
    }
    Ok(queries)
}

/// Requests that nothing should serve; their `gold` is ignored.
///
/// # Errors
/// A file that cannot be read or is empty, a malformed line, an id used twice.
pub fn load_negatives(path: &Path) -> Result<Vec<Query>, EvalError> {
    Ok(raw_queries(path)?
        .into_iter()
        .map(|(_, raw)| Query {
            half: half(&raw),
            id: raw.id,
            query: raw.query,
            needs: Vec::new(),
        })
        .collect())
}
