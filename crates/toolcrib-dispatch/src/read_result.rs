//! The tool that reads the rest of a result that was cut.
//!
//! It counts in bytes, since not every result has lines; a page ends at the end of a
//! line where there is one, and always between characters.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use toolcrib_core::{
    Arguments, BoxFuture, Effect, Exposure, Schema, SpillError, SpillStore, Tool, ToolContext,
    ToolError, ToolName, ToolOutput, ToolSpec,
};

/// Its name.
pub const READ_RESULT: &str = "read_result";

/// Bytes of a page where the call names none.
const PAGE: usize = 8 * 1024;
/// Most bytes of a page; below every cap, so that a page is never cut itself.
const MOST: usize = 24 * 1024;
/// Most lines that a search shows.
const HITS: usize = 50;
/// Most characters that are shown of a line, around what was found.
const WIDE: usize = 240;

const SCHEMA: &str = r#"{"type":"object","properties":{"id":{"type":"string","description":"As the cut result names it."},"offset":{"type":"integer","minimum":0,"description":"First byte to read; 0 when absent."},"limit":{"type":"integer","minimum":1,"maximum":24576,"description":"Most bytes to read; 8192 when absent."},"grep":{"type":"string","description":"Show only the lines that match this regular expression, from offset on, each with its offset."}},"required":["id"],"additionalProperties":false}"#;

/// Reads whole results out of a store. Belongs to the loop: it is never deferred.
pub struct ReadResult {
    spec: Arc<ToolSpec>,
    store: Arc<dyn SpillStore>,
}

#[derive(Deserialize)]
struct Wanted {
    id: String,
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
    grep: Option<String>,
}

impl ReadResult {
    /// Reads from this store; `None` only where its own definition cannot be read.
    pub fn new(store: Arc<dyn SpillStore>) -> Option<ReadResult> {
        let name = ToolName::parse(READ_RESULT).ok()?;
        let schema = Schema::parse(SCHEMA).ok()?;
        let description =
            "Reads more of a result that was cut, by the id that the cut result names.";
        let spec = ToolSpec::new(name, description, schema)
            .effect(Effect::ReadOnly)
            .exposure(Exposure::Always);
        Some(ReadResult {
            spec: Arc::new(spec),
            store,
        })
    }
}

impl Tool for ReadResult {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let wanted: Wanted = args.read()?;
            let text = self.store.get(&wanted.id).map_err(|error| match error {
                SpillError::Unknown(id) => ToolError::bad_args(format!(
                    "no cut result has the id `{}`; copy it from the result that was cut",
                    id.chars().take(40).collect::<String>()
                )),
                other => ToolError::failed("the result cannot be read any more")
                    .with_operator(other.to_string()),
            })?;
            let offset = usize::try_from(wanted.offset).unwrap_or(usize::MAX);
            if offset >= text.len() && offset > 0 {
                return Err(ToolError::bad_args(format!(
                    "`offset` must be less than {}, the size of the result",
                    text.len()
                )));
            }
            let offset = text.floor_char_boundary(offset);
            match &wanted.grep {
                Some(pattern) => search(&text, offset, pattern),
                None => {
                    let limit = wanted.limit.and_then(|limit| usize::try_from(limit).ok());
                    Ok(page(&text, offset, limit.unwrap_or(PAGE).clamp(1, MOST)))
                }
            }
        })
    }
}

fn page(text: &str, offset: usize, limit: usize) -> ToolOutput {
    let mut end = text.floor_char_boundary(offset.saturating_add(limit).min(text.len()));
    if end == offset {
        // One character may be larger than the limit.
        end = text.ceil_char_boundary((offset + 1).min(text.len()));
    }
    if end < text.len()
        && let Some(newline) = text[offset..end].rfind('\n')
        && newline + 1 >= (end - offset) / 2
    {
        end = offset + newline + 1;
    }
    let shown = &text[offset..end];
    let gap = if shown.ends_with('\n') { "" } else { "\n" };
    let total = text.len();
    let marker = if end < total {
        format!("[bytes {offset} to {end} of {total}; read on with offset {end}]")
    } else {
        format!("[bytes {offset} to {end} of {total}: the end]")
    };
    ToolOutput::text(format!("{shown}{gap}{marker}"))
}

fn search(text: &str, offset: usize, pattern: &str) -> Result<ToolOutput, ToolError> {
    let wanted = compiled(pattern)?;
    let mut out = String::new();
    let mut found = 0;
    let mut at = offset;
    for line in text[offset..].split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some(hit) = wanted.find(bare) {
            if found == HITS || out.len() + 2 * WIDE > MOST {
                out.push_str(&format!("[more matches; search on with offset {at}]"));
                return Ok(ToolOutput::text(out));
            }
            found += 1;
            let (from, part) = around(bare, hit.start());
            out.push_str(&format!("{}: {part}\n", at + from));
        }
        at += line.len();
    }
    if found == 0 {
        return Ok(ToolOutput::text("no line matches"));
    }
    let s = if found == 1 { "" } else { "es" };
    out.push_str(&format!("[{found} match{s}; each with its offset]"));
    Ok(ToolOutput::text(out))
}

fn compiled(pattern: &str) -> Result<Regex, ToolError> {
    const SIZE: usize = 1 << 20;
    let build = |pattern: &str| {
        RegexBuilder::new(pattern)
            .size_limit(SIZE)
            .dfa_size_limit(SIZE)
            .build()
    };
    // What is no expression is looked for as it stands.
    build(pattern)
        .or_else(|_| build(&regex::escape(pattern)))
        .map_err(|_| ToolError::bad_args("`grep` is too large an expression; use a shorter one"))
}

/// The part of a line around byte `hit`, and where it begins.
fn around(line: &str, hit: usize) -> (usize, String) {
    if line.chars().nth(WIDE).is_none() {
        return (0, line.to_owned());
    }
    let from = line.floor_char_boundary(hit.saturating_sub(WIDE / 4).min(line.len()));
    let part: String = line[from..].chars().take(WIDE).collect();
    let tail = if from + part.len() < line.len() {
        "…"
    } else {
        ""
    };
    (from, format!("{part}{tail}"))
}
