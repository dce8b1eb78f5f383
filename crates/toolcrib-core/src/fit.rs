//! Input schemas rewritten for what an API accepts, and arguments mapped back.
//!
//! A tool's author owns its schema; an API that refuses one keyword of it refuses
//! the request with every other tool in it. So what the API does not take is
//! inlined, merged, renamed or dropped, what is lost with a note, and a call's
//! arguments are restored by [`Schema::restore`] and checked against the original.
//! A schema that needs nothing keeps its bytes.
//!
//! Not for checking arguments, and nothing is ever fetched: a reference out of the
//! schema accepts anything.

mod adapt;
mod closed;
mod keys;
mod mend;
mod merge;
mod open_api;
mod refs;
mod regex;
mod restore;
mod walk;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::Value;

use crate::{Schema, Str, ToolDialect};

type Node = serde_json::Map<String, Value>;

/// An input schema as an API accepts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedSchema {
    wire: Str,
    strict: bool,
    notes: Vec<SchemaNote>,
}

/// One thing that the API does not read as the tool's author wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SchemaNote {
    /// Where in the schema as sent, as a JSON pointer; empty for the root.
    pub at: String,
    /// What was done.
    pub what: String,
}

impl fmt::Display for SchemaNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() {
            "the root"
        } else {
            &self.at
        };
        write!(f, "{at}: {}", self.what)
    }
}

impl FittedSchema {
    /// The text to send.
    pub fn wire(&self) -> &str {
        &self.wire
    }

    /// The same text, shared.
    pub fn shared(&self) -> Str {
        self.wire.clone()
    }

    /// Whether it can be sent as strict, which only [`ToolDialect::OpenAiStrict`]
    /// asks for. Where a schema cannot be, it is fitted as for
    /// [`ToolDialect::OpenAi`] and a note says why.
    pub fn strict(&self) -> bool {
        self.strict
    }

    /// What was lost or renamed on the way, in the order of the text.
    pub fn notes(&self) -> &[SchemaNote] {
        &self.notes
    }
}

impl Schema {
    /// This schema as an API with these rules accepts it. [`crate::ToolSpec::fitted`]
    /// keeps the result.
    pub fn fit(&self, dialect: ToolDialect) -> FittedSchema {
        let as_it_is = |notes| FittedSchema {
            wire: self.wire_shared(),
            strict: false,
            notes,
        };
        if dialect == ToolDialect::Plain {
            return as_it_is(Vec::new());
        }
        let Ok(root) = serde_json::from_str::<Value>(self.wire()) else {
            return as_it_is(Vec::new());
        };
        let mut fitter = walk::Fitter::new(&root, dialect.limits());
        let fitted = Value::Object(fitter.root());
        let (mut notes, loose) = fitter.end();
        if let Some(why) = loose {
            let mut fitted = self.fit(ToolDialect::OpenAi);
            fitted.notes.insert(0, why);
            return fitted;
        }
        notes.shrink_to_fit();
        FittedSchema {
            wire: match fitted == root {
                true => self.wire_shared(),
                false => fitted.to_string().into(),
            },
            strict: dialect == ToolDialect::OpenAiStrict,
            notes,
        }
    }
}

/// Fitted schemas by dialect. A clone starts empty, because a clone is about to be
/// changed.
#[derive(Default)]
pub(crate) struct FitCache([OnceLock<Arc<FittedSchema>>; ToolDialect::ALL.len()]);

impl FitCache {
    pub(crate) fn get(&self, schema: &Schema, dialect: ToolDialect) -> &Arc<FittedSchema> {
        self.0[dialect as usize].get_or_init(|| Arc::new(schema.fit(dialect)))
    }
}

impl Clone for FitCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for FitCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FitCache")
    }
}

#[cfg(test)]
mod tests;
