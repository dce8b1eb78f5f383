//! One tool's definition: the raw bytes, and what we read out of them.

use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use toolcrib_core::{Effect, Schema, Str};

use super::Quarantined;
use crate::{headers, raw};

/// Deepest nesting of a schema, and most objects in it. The deepest one seen in
/// the wild is 22, the largest has some thousand objects.
const MAX_DEPTH: usize = 100;
const MAX_NODES: usize = 50_000;
/// Largest definition in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// Longest name in characters; the protocol says 128.
const MAX_NAME: usize = 256;

/// A tool as a server defines it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ManifestTool {
    /// Its name on the server.
    pub name: Str,
    /// The whole definition as received, unknown keys included.
    pub raw: Box<RawValue>,
    /// Its title, from the definition or its annotations.
    pub title: Option<Str>,
    /// Its description; empty when it has none.
    pub description: Str,
    /// What its arguments must look like.
    pub input_schema: Schema,
    /// What its structured result looks like, where that is usable.
    pub output_schema: Option<Schema>,
    /// What it says it does to the world.
    pub annotations: Annotations,
    /// It refuses plain calls and wants to be run as a task.
    pub wants_task: bool,
    /// SHA-256 in hexadecimal over the definition's meaning.
    pub fingerprint: String,
    /// Arguments that travel as HTTP headers too: path and header name.
    pub(crate) headers: Vec<(Vec<String>, String)>,
}

/// What a server says of a tool's effect. Hints of a stranger: they loosen
/// nothing that a person did not allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotations {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

impl Annotations {
    fn read(value: Option<&Value>) -> Annotations {
        let hint = |key: &str| value?.get(key)?.as_bool();
        Annotations {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        }
    }

    /// The effect that follows. The protocol takes an unmarked tool for
    /// destructive; two of five tools are unmarked, and treating those as writes
    /// asks as often but does not cry wolf.
    pub fn effect(&self) -> Effect {
        match (self.read_only, self.destructive) {
            (Some(true), _) => Effect::ReadOnly,
            (_, Some(true)) => Effect::Destructive,
            _ => Effect::Write,
        }
    }

    /// Whether the same call twice does no more than once.
    pub fn repeatable(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }
}

impl ManifestTool {
    /// Arguments that travel as HTTP headers too: the path through `properties`, and
    /// the header's name behind `Mcp-Param-`.
    pub fn header_params(&self) -> &[(Vec<String>, String)] {
        &self.headers
    }

    /// Reads one definition.
    pub(crate) fn parse(raw: Box<RawValue>) -> Result<ManifestTool, Quarantined> {
        let name = raw::text(raw.get(), "name");
        let fail = |reason: String| Quarantined {
            name: name.clone().unwrap_or_else(|| "(no name)".to_owned()),
            reason,
            raw: raw.clone(),
        };
        if raw.get().len() > MAX_BYTES {
            return Err(fail(format!(
                "the definition is larger than {MAX_BYTES} bytes"
            )));
        }
        let value: Value = serde_json::from_str(raw.get())
            .map_err(|error| fail(format!("the definition cannot be read: {error}")))?;
        if !value.is_object() {
            return Err(fail("the definition is not a JSON object".to_owned()));
        }
        let Some(tool_name) = name.as_deref() else {
            return Err(fail("the definition has no `name`".to_owned()));
        };
        if tool_name.is_empty() || tool_name.chars().count() > MAX_NAME {
            return Err(fail(format!("a name has 1 to {MAX_NAME} characters")));
        }
        let input_schema = match value.get("inputSchema") {
            None | Some(Value::Null) => Schema::empty(),
            Some(schema) => {
                bounded(schema).map_err(|why| fail(format!("`inputSchema` {why}")))?;
                let text = raw::get(raw.get(), "inputSchema").map_or("{}", RawValue::get);
                Schema::parse(text).map_err(|error| fail(error.to_string()))?
            }
        };
        let headers = match value.get("inputSchema") {
            Some(schema) => headers::params(schema).map_err(fail)?,
            None => Vec::new(),
        };
        // An unusable output schema costs its promise, not the tool.
        let output_schema = value
            .get("outputSchema")
            .filter(|schema| bounded(schema).is_ok())
            .and_then(|_| Schema::parse(raw::get(raw.get(), "outputSchema")?.get()).ok());
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(Str::from);
        let annotations = value.get("annotations");
        let task = value.get("execution").and_then(|e| e.get("taskSupport"));
        Ok(ManifestTool {
            name: tool_name.into(),
            title: text(value.get("title"))
                .or_else(|| text(annotations.and_then(|a| a.get("title"))))
                .filter(|title| !title.trim().is_empty()),
            description: text(value.get("description")).unwrap_or_else(|| "".into()),
            input_schema,
            output_schema,
            annotations: Annotations::read(annotations),
            wants_task: task.and_then(Value::as_str) == Some("required"),
            fingerprint: hex(&Sha256::digest(canonical_value(&value))),
            headers,
            raw,
        })
    }
}

/// Whether a schema is small enough to be walked by everyone after us.
fn bounded(schema: &Value) -> Result<(), String> {
    let mut nodes = 0;
    let mut open = vec![(schema, 1)];
    while let Some((value, depth)) = open.pop() {
        nodes += 1;
        if depth > MAX_DEPTH {
            return Err(format!("is nested more than {MAX_DEPTH} deep"));
        }
        if nodes > MAX_NODES {
            return Err(format!("has more than {MAX_NODES} parts"));
        }
        match value {
            Value::Object(map) => open.extend(map.values().map(|value| (value, depth + 1))),
            Value::Array(items) => open.extend(items.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

/// The JSON text with sorted keys and no white space; the text itself when it is
/// not JSON.
pub(crate) fn canonical(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(value) => canonical_value(&value),
        Err(_) => json.to_owned(),
    }
}

fn canonical_value(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                let entries = entries.into_iter().map(|(k, v)| (k.clone(), sorted(v)));
                Value::Object(entries.collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
