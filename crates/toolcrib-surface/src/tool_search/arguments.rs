//! What a search asks for.

use serde_json::Value;
use toolcrib_core::ToolError;

use crate::policy::MOST_RESULTS;

/// Most queries of one call.
const MOST_QUERIES: usize = 5;

/// The arguments, once they are known to be right.
#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    /// Queries with anything in them.
    pub(super) queries: Vec<String>,
    /// The policy's when absent.
    pub(super) limit: Option<usize>,
}

impl Asked {
    /// # Errors
    /// `BadArgs` naming the argument and what it must be.
    pub(super) fn read(arguments: &Value) -> Result<Asked, ToolError> {
        Ok(Asked {
            queries: queries(arguments.get("query"))?,
            limit: limit(arguments.get("limit"))?,
        })
    }
}

fn queries(query: Option<&Value>) -> Result<Vec<String>, ToolError> {
    const WANTED: &str = "`query` must be a text that says what is needed, or up to 5 such texts";
    let wrong = |why: &str| Err(ToolError::bad_args(format!("{WANTED}; {why}")));
    let texts: Vec<&str> = match query {
        None | Some(Value::Null) => return wrong("it is missing"),
        Some(Value::String(text)) if text.is_empty() => return wrong("it is empty"),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) if items.is_empty() => return wrong("it is empty"),
        Some(Value::Array(items)) if items.len() > MOST_QUERIES => {
            return wrong(&format!("there are {}", items.len()));
        }
        Some(Value::Array(items)) => {
            let mut texts = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                match item {
                    Value::String(text) => texts.push(text.as_str()),
                    _ => return wrong(&format!("`query[{at}]` is no text")),
                }
            }
            texts
        }
        Some(_) => return wrong("it is neither"),
    };
    let asks = |text: &&str| !text.trim().is_empty();
    Ok(texts.into_iter().filter(asks).map(str::to_owned).collect())
}

fn limit(limit: Option<&Value>) -> Result<Option<usize>, ToolError> {
    let value = match limit {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value,
    };
    let whole = value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 1e9);
        number.map(|n| n as i64)
    });
    match whole.and_then(|n| usize::try_from(n).ok()) {
        Some(0) => Ok(None),
        Some(n) if n <= MOST_RESULTS => Ok(Some(n)),
        _ => Err(ToolError::bad_args(format!(
            "`limit` must be a whole number from 1 to {MOST_RESULTS}, not {}",
            crate::catalogue::plain(&value.to_string(), 40)
        ))),
    }
}
