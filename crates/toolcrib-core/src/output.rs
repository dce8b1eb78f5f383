//! What a tool gives back.

use serde::{Deserialize, Serialize};

use crate::{Str, ToolName};

/// One piece of a result or message that a model reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(Str),
    /// An image, for models that can see; others are told that one was left out.
    Image {
        /// Such as `image/png`.
        media_type: Str,
        /// Base64, standard alphabet, as received.
        data: Str,
    },
}

impl Content {
    /// A text piece.
    pub fn text(text: impl Into<Str>) -> Content {
        Content::Text(text.into())
    }
}

/// The result of one tool call that ran.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model reads.
    pub content: Vec<Content>,
    /// The tool ran and reports a failure of its own; the content says which.
    pub is_error: bool,
    /// Tools whose definitions the model should see from now on. Honoured only
    /// for tools whose spec says that they activate others.
    pub activate: Vec<ToolName>,
    /// For user interfaces and logs; never shown to a model.
    pub details: Option<serde_json::Value>,
}

impl ToolOutput {
    /// A successful text result.
    pub fn text(text: impl Into<Str>) -> ToolOutput {
        ToolOutput {
            content: vec![Content::text(text)],
            ..ToolOutput::default()
        }
    }

    /// A result that reports a failure to the model as text.
    pub fn error(text: impl Into<Str>) -> ToolOutput {
        ToolOutput {
            is_error: true,
            ..ToolOutput::text(text)
        }
    }

    /// The same result with details for user interfaces and logs.
    pub fn with_details(mut self, details: serde_json::Value) -> ToolOutput {
        self.details = Some(details);
        self
    }

    /// The same result, asking that `tools` be shown from now on.
    pub fn activating(mut self, tools: impl IntoIterator<Item = ToolName>) -> ToolOutput {
        self.activate.extend(tools);
        self
    }
}
