//! The serialised form of a transcript, and its size.

use serde::{Deserialize, Deserializer, Serializer};
use toolcrib_core::{AssistantMessage, Block, Content, History, Message};

pub(super) fn serialize<S: Serializer>(
    history: &History,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(history.messages())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<History, D::Error> {
    let messages = Vec::<Message>::deserialize(deserializer)?;
    Ok(messages.into_iter().collect())
}

/// Bytes of what a model reads of a message. An image counts as a few hundred
/// tokens, whatever its encoding takes.
pub(super) fn size(message: &Message) -> u64 {
    match message {
        Message::User(content) => content.iter().map(content_size).sum(),
        Message::Assistant(message) => assistant_size(message),
        Message::Tool(result) => result.content.iter().map(content_size).sum(),
        _ => 0,
    }
}

pub(super) fn assistant_size(message: &AssistantMessage) -> u64 {
    let block = |block: &Block| match block {
        Block::Text(text) => text.len(),
        Block::Call(call) => call.name.len() + call.arguments.len(),
        Block::Reasoning { text, .. } => text.len(),
        Block::Opaque(raw) => raw.0.len(),
        _ => 0,
    };
    message.blocks.iter().map(block).sum::<usize>() as u64
}

fn content_size(content: &Content) -> u64 {
    const IMAGE: u64 = 4_000;
    match content {
        Content::Text(text) => text.len() as u64,
        _ => IMAGE,
    }
}
