//! Reads the argument text of a call, accepting the few deviations whose
//! meaning is beyond doubt.
//!
//! Guessing further would run something the model did not ask for; everything
//! else is an error that the model can correct.

use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_core::{Arguments, Str, ToolError, ToolErrorKind};

/// A change made to a call before it ran. Those of one argument say which.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// No argument text at all was taken for `{}`.
    EmptyArguments,
    /// The arguments were a JSON string that holds an object.
    StringHeldObject,
    /// Several objects stood one after the other; the first one ran.
    FirstOfSeveralObjects,
    /// The name holds characters that providers refuse in a transcript, or is too
    /// long for them; the transcript carries a safe form.
    UnsafeName,
    /// A number stood in a text where a number is due.
    NumberInString(Str),
    /// An array or object stood in a text where one is due.
    JsonInString(Str),
    /// Null for something that may be left out was left out.
    NullLeftOut(Str),
}

impl Repair {
    /// Its name in JSON and in sessions.
    pub fn as_str(&self) -> &'static str {
        match self {
            Repair::EmptyArguments => "empty_arguments",
            Repair::StringHeldObject => "string_held_object",
            Repair::FirstOfSeveralObjects => "first_of_several_objects",
            Repair::UnsafeName => "unsafe_name",
            Repair::NumberInString(_) => "number_in_string",
            Repair::JsonInString(_) => "json_in_string",
            Repair::NullLeftOut(_) => "null_left_out",
        }
    }

    /// The argument that was changed, such as `files[2].name`.
    pub fn place(&self) -> Option<&str> {
        match self {
            Repair::NumberInString(at) | Repair::JsonInString(at) | Repair::NullLeftOut(at) => {
                Some(at)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        self.place().map_or(Ok(()), |at| write!(f, " {at}"))
    }
}

/// Most characters of a bad argument text that an error repeats.
const ECHO: usize = 800;

/// Arguments as they were read.
pub(crate) struct Read {
    pub(crate) arguments: Arguments,
    /// The same, parsed.
    pub(crate) value: Value,
    pub(crate) repairs: Vec<Repair>,
}

/// Reads `text` as the arguments of `tool`.
///
/// # Errors
/// `BadJson` with the place and a bounded echo, or `BadArgs` when the text is
/// JSON but not an object.
pub(crate) fn read(tool: &str, text: &str) -> Result<Read, ToolError> {
    let mut repairs = Vec::new();
    let (arguments, value) = object(tool, text, true, &mut repairs)?;
    Ok(Read {
        arguments,
        value,
        repairs,
    })
}

fn object(
    tool: &str,
    text: &str,
    unwrap_string: bool,
    repairs: &mut Vec<Repair>,
) -> Result<(Arguments, Value), ToolError> {
    let empty = || (Arguments::empty(), Value::Object(Default::default()));
    if text.trim().is_empty() {
        repairs.push(Repair::EmptyArguments);
        return Ok(empty());
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let first = match values.next() {
        Some(Ok(first)) => first.get(),
        Some(Err(error)) => return Err(bad_json(tool, text, &error, 0)),
        None => return Ok(empty()),
    };
    let end = values.byte_offset();
    let rest = &text[end..];
    if !rest.trim().is_empty() {
        // A stream of whole objects is a batch written into one call; anything
        // else behind the first value is damage of unknown extent.
        let objects = first.starts_with('{')
            && serde_json::Deserializer::from_str(rest)
                .into_iter::<&RawValue>()
                .all(|value| value.is_ok_and(|value| value.get().starts_with('{')));
        if !objects {
            return Err(trailing(tool, text, end));
        }
    }
    match serde_json::from_str::<Value>(first) {
        Err(error) => Err(bad_json(tool, text, &error, end - first.len())),
        Ok(value @ Value::Object(_)) => {
            let kept = if rest.trim().is_empty() {
                text
            } else {
                repairs.push(Repair::FirstOfSeveralObjects);
                first
            };
            Ok((Arguments::parse(kept)?, value))
        }
        Ok(Value::String(inner)) if unwrap_string => {
            let mut inner_repairs = vec![Repair::StringHeldObject];
            match object(tool, &inner, false, &mut inner_repairs) {
                Ok(arguments) => {
                    repairs.append(&mut inner_repairs);
                    Ok(arguments)
                }
                Err(_) => Err(not_an_object(tool, "a string", text)),
            }
        }
        Ok(other) => Err(not_an_object(tool, kind(&other), text)),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn not_an_object(tool: &str, kind: &str, text: &str) -> ToolError {
    ToolError::bad_args(format!(
        "the arguments of `{tool}` must be one JSON object, not {kind}; the tool did not run. \
         Received: {}",
        echo(text, 0)
    ))
}

fn trailing(tool: &str, text: &str, end: usize) -> ToolError {
    let (line, column) = line_and_column(text, end);
    ToolError::new(
        ToolErrorKind::BadJson,
        format!(
            "the arguments of `{tool}` are not valid JSON: more text follows the value that ends \
             at line {line} column {column}; the tool did not run. Send one complete JSON object. \
             Received: {}",
            echo(text, end)
        ),
    )
}

fn bad_json(tool: &str, text: &str, error: &serde_json::Error, offset: usize) -> ToolError {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text[offset..]
            .match_indices('\n')
            .nth(line - 2)
            .map_or(0, |(at, _)| at + 1),
    };
    let place = (offset + line_start + error.column()).min(text.len());
    ToolError::new(
        ToolErrorKind::BadJson,
        format!(
            "the arguments of `{tool}` are not valid JSON: {error}; the tool did not run. \
             Send one complete JSON object. Received: {}",
            echo(text, place)
        ),
    )
}

fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = before
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |newline| newline + 1);
    (line, at - start)
}

/// At most [`ECHO`] characters of `text` around the byte `place`.
fn echo(text: &str, place: usize) -> String {
    let total = text.chars().count();
    if total <= ECHO {
        return text.to_owned();
    }
    let place = text.floor_char_boundary(place);
    let before = text[..place].chars().count();
    // Most of the echo stands before the place: that is where the mistake is.
    let start = before.saturating_sub(ECHO * 3 / 4).min(total - ECHO);
    let shown: String = text.chars().skip(start).take(ECHO).collect();
    let head = if start > 0 { "…" } else { "" };
    let tail = if start + ECHO < total { "…" } else { "" };
    format!("{head}{shown}{tail}")
}

#[cfg(test)]
mod tests;
