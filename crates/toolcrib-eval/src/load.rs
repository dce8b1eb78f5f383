//! Tools and queries from files.
//!
//! Tools come as JSON lines or as the answer of a server's `tools/list`, bare or
//! in its JSON-RPC envelope. Nothing is skipped in silence: a line that cannot
//! be used is an error that names it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use toolcrib_surface::ToolDoc;

use crate::EvalError;

/// One tool as described in a file.
#[derive(Clone, Debug, PartialEq)]
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
    /// The JSON Schema of its arguments, or null.
    pub schema: Value,
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
        let mut doc = ToolDoc::new(&*self.name, &*self.description)
            .title(&*self.title)
            .source(&*self.source)
            .schema(&self.schema);
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
struct RawTool {
    name: String,
    title: Option<String>,
    description: Option<String>,
    #[serde(alias = "source")]
    server: Option<String>,
    server_description: Option<String>,
    #[serde(alias = "inputSchema", alias = "input_schema")]
    parameters: Option<Value>,
    command: Option<Vec<String>>,
    #[serde(default)]
    annotations: Annotations,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Annotations {
    read_only_hint: Option<bool>,
    destructive_hint: Option<bool>,
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
    std::fs::read_to_string(path).map_err(|source| EvalError::Read {
        path: path.to_owned(),
        source,
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

/// All tools of `paths`, in file order.
///
/// # Errors
/// A file that cannot be read or is empty, a malformed line, a name given twice.
pub fn load_tools<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<ToolEntry>, EvalError> {
    let mut tools = Vec::new();
    let mut seen: HashMap<String, String> = HashMap::new();
    for path in paths {
        let path = path.as_ref();
        let before = tools.len();
        for (line, tool) in raw_tools(path)? {
            let place = format!("{}:{line}", path.display());
            if tool.name.trim().is_empty() {
                return Err(bad(path, line, "a tool's \"name\" must not be empty"));
            }
            if let Some(first) = seen.insert(tool.name.clone(), place) {
                let problem = format!("tool {:?} was already given at {first}", tool.name);
                return Err(bad(path, line, problem));
            }
            tools.push(ToolEntry {
                name: tool.name,
                title: tool.title.unwrap_or_default(),
                description: tool.description.unwrap_or_default(),
                source: tool.server.unwrap_or_default(),
                source_description: tool.server_description.unwrap_or_default(),
                schema: tool.parameters.unwrap_or(Value::Null),
                command: tool.command,
                read_only: tool.annotations.read_only_hint == Some(true),
                destructive: tool.annotations.destructive_hint == Some(true),
            });
        }
        if tools.len() == before {
            return Err(EvalError::Empty {
                path: path.to_owned(),
                what: "tools",
            });
        }
    }
    Ok(tools)
}

fn raw_tools(path: &Path) -> Result<Vec<(usize, RawTool)>, EvalError> {
    let text = read(path)?;
    let mut tools = Vec::new();
    if let Some(list) = serde_json::from_str(&text).ok().and_then(listed) {
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        for (at, value) in list.into_iter().enumerate() {
            let mut tool: RawTool = serde_json::from_value(value)
                .map_err(|e| bad(path, 1, format!("tool {} of the list: {e}", at + 1)))?;
            tool.server = tool.server.or_else(|| stem.clone());
            tools.push((1, tool));
        }
        return Ok(tools);
    }
    for (line, text) in lines(&text) {
        let tool = object(path, line, text)?;
        tools.push((line, tool));
    }
    Ok(tools)
}

/// The tools of a `tools/list` answer; `None` for anything else.
fn listed(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(mut map) => match map.remove("tools") {
            Some(Value::Array(list)) => Some(list),
            _ => map
                .remove("result")
                .filter(Value::is_object)
                .and_then(listed),
        },
        _ => None,
    }
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
