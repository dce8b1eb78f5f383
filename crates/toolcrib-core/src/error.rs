//! Why a tool call did not give a result of its own.
//!
//! One error carries two texts: what an operator needs to find the cause, and
//! what the model needs to try again. Neither leaks into the other.

use std::fmt;

/// The class of a [`ToolError`], for guards, events and reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// No visible tool has that name.
    UnknownTool,
    /// The arguments are not JSON.
    BadJson,
    /// The arguments are JSON, but not what the schema wants.
    BadArgs,
    /// A filter, mode, approver or policy refused the call.
    Denied,
    /// The call outlived its deadline.
    Timeout,
    /// The run was cancelled while the call was waiting or running.
    Cancelled,
    /// The tool itself failed.
    Failed,
}

/// A failed tool call.
#[derive(Clone, Debug)]
pub struct ToolError {
    /// The class.
    pub kind: ToolErrorKind,
    /// Whether the same call can succeed later without any change.
    pub retryable: bool,
    /// For logs; may hold causes, paths and payloads.
    pub operator: String,
    /// For the model; says how to correct the call. Without the leading `error: `.
    pub model: String,
}

impl ToolError {
    /// An error whose two texts are the same.
    pub fn new(kind: ToolErrorKind, text: impl Into<String>) -> ToolError {
        let model = text.into();
        ToolError {
            kind,
            retryable: kind == ToolErrorKind::Timeout,
            operator: model.clone(),
            model,
        }
    }

    /// The tool itself failed; the model reads `text`.
    pub fn failed(text: impl Into<String>) -> ToolError {
        ToolError::new(ToolErrorKind::Failed, text)
    }

    /// The arguments are not what the tool wants; the model reads `text`.
    pub fn bad_args(text: impl Into<String>) -> ToolError {
        ToolError::new(ToolErrorKind::BadArgs, text)
    }

    /// The same error with a separate text for logs.
    pub fn with_operator(mut self, operator: impl Into<String>) -> ToolError {
        self.operator = operator.into();
        self
    }

    /// The result text a model reads: one line that begins with `error:`.
    pub fn for_model(&self) -> String {
        format!("error: {}", self.model)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operator)
    }
}

impl std::error::Error for ToolError {}

/// Trouble with files ends a tool call with `?`; its text goes to the model and the log.
impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> ToolError {
        ToolError::failed(error.to_string())
    }
}
