//! Holds the arguments of a call against the tool's input schema.
//!
//! A schema is compiled once per registration, at the first call. What is odd in
//! it (a reference into nowhere, a pattern that no engine reads, another draft) is
//! left out and the rest is checked: a schema that is only partly understood must
//! not cost the tool, which checks its arguments itself in the end. Nothing is ever
//! fetched.
//!
//! Few mistakes are mended, those whose meaning is beyond doubt; each is recorded.
//! Everything else is an error that tells every mistake at once.

use serde_json::Value;
use toolcrib_core::{Arguments, ToolError, ToolSpec};

use crate::Repair;

mod compile;
mod explain;
mod mend;
mod refs;
#[cfg(test)]
mod tests;

use compile::Compiled;

/// How often arguments are mended and looked at again: a text that held an array
/// may hold texts that hold numbers.
const PASSES: usize = 4;

/// Checks `arguments`, whose value is `value`, and mends them where that is safe.
/// `None` when nothing had to be mended.
///
/// # Errors
/// `BadArgs` that names each argument at fault, what was expected and what came.
pub(crate) fn check(
    spec: &ToolSpec,
    value: Value,
    repairs: &mut Vec<Repair>,
) -> Result<Option<Arguments>, ToolError> {
    let compiled = spec.compiled.get_or_make(|| Compiled::of(spec));
    let Some(validator) = compiled.validator() else {
        return Ok(None);
    };
    if validator.is_valid(&value) {
        return Ok(None);
    }
    let mut value = value;
    let mut mended = Vec::new();
    for _ in 0..PASSES {
        let mends = mend::mends(validator, &value);
        if !mend::apply(&mut value, mends, &mut mended) {
            break;
        }
        if validator.is_valid(&value) {
            break;
        }
    }
    mend::undo_needless(validator, &mut value, &mut mended);
    let mistakes = explain::mistakes(validator, &value);
    if !mistakes.is_empty() {
        return Err(explain::error(spec, &mistakes));
    }
    if mended.is_empty() {
        // A check that could not be made is no mistake.
        return Ok(None);
    }
    repairs.extend(mended.into_iter().map(|mended| mended.repair));
    Arguments::parse(value.to_string()).map(Some)
}

/// What an error says of the arguments that are wanted; empty where the schema says
/// nothing. A long schema is told by its argument names.
pub(crate) fn wanted(spec: &ToolSpec) -> String {
    const SCHEMA: usize = 4 * 1024;
    let schema = spec.input_schema.wire();
    let value: Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = value.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties
        .into_iter()
        .flat_map(|properties| properties.keys())
        .map(String::as_str)
        .collect();
    match (names.is_empty(), schema.len() <= SCHEMA) {
        (false, true) => format!("Its schema: {schema}"),
        (false, false) => {
            let quoted: Vec<_> = names.iter().take(64).map(|n| format!("`{n}`")).collect();
            format!("Its arguments: {}", quoted.join(", "))
        }
        (true, true) if compile::describes_otherwise(&value) => format!("Its schema: {schema}"),
        (true, _) => String::new(),
    }
}

/// The same error with what the tool wants at its end.
pub(crate) fn with_schema(error: ToolError, spec: &ToolSpec) -> ToolError {
    let wanted = wanted(spec);
    if wanted.is_empty() {
        return error;
    }
    ToolError {
        model: format!("{} {wanted}", error.model),
        ..error
    }
}
