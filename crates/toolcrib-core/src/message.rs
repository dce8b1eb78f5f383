//! The transcript in no provider's dialect.
//!
//! What a provider sent is kept as it came: argument text, and blocks that this
//! crate does not know, survive byte for byte, because providers check signatures
//! over them and cache prompts by prefix.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Content, Str, ToolName};

/// JSON text kept as received and never written anew. Stored as a string, so
/// that any container can hold it without touching it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(pub Str);

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One entry of a transcript. The system prompt is not among them; it is part of
/// the [`crate::TurnPlan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// From the person or program that asks.
    User(Vec<Content>),
    /// From the model.
    Assistant(AssistantMessage),
    /// The one result of one tool call.
    Tool(ToolResult),
}

impl Message {
    /// A user message of plain text.
    pub fn user(text: impl Into<Str>) -> Message {
        Message::User(vec![Content::text(text)])
    }
}

/// One reply of a model, its blocks in the order received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Text, calls, reasoning and blocks of other kinds.
    pub blocks: Vec<Block>,
    /// The profile id of the model that wrote it; reasoning and opaque blocks go
    /// back only to that one.
    pub model: Str,
}

/// One block of an assistant message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text shown to the user.
    Text(Str),
    /// A request to run a tool.
    Call(ToolCall),
    /// Reasoning in clear text; `raw` is the provider's own block when it must be
    /// sent back unchanged.
    Reasoning {
        /// What can be read of it.
        text: Str,
        /// The provider's block, signature included.
        raw: Option<RawJson>,
    },
    /// A block this crate does not know, sent back unchanged.
    Opaque(RawJson),
}

/// A model's request to run one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the session; its result carries the same.
    pub id: Str,
    /// The name as the model wrote it, known or not.
    pub name: Str,
    /// The argument text as received. It need not be valid JSON.
    pub arguments: Str,
    /// Fields of the call that must go back to the provider, such as a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<RawJson>,
}

/// The one result of one tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: Str,
    /// The name as the model wrote it.
    pub name: Str,
    /// What the model reads, already capped.
    pub content: Vec<Content>,
    /// Whether it reports a failure.
    #[serde(default)]
    pub is_error: bool,
    /// Tools that it loaded, for wires that show a definition where it was loaded
    /// and not in the tool array.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<ToolName>,
}

impl AssistantMessage {
    /// All text blocks, joined.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            if let Block::Text(piece) = block {
                text.push_str(piece);
            }
        }
        text
    }

    /// The tool calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }
}

impl ToolResult {
    /// A result of plain text.
    pub fn text(call: &ToolCall, text: impl Into<Str>, is_error: bool) -> ToolResult {
        ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: vec![Content::text(text)],
            is_error,
            loaded: Vec::new(),
        }
    }
}
