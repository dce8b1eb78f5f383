//! The transcript as it grows: append-only, each entry with its rendered bytes.

use std::ops::Deref;
use std::sync::Arc;

use crate::{Message, RenderCache};

/// One entry of a [`History`] and what wires made of it.
#[derive(Debug, Clone)]
pub struct HistoryItem {
    message: Message,
    /// Bytes by wire; the message never changes, so they never do.
    pub rendered: RenderCache,
}

impl Deref for HistoryItem {
    type Target = Message;
    fn deref(&self) -> &Message {
        &self.message
    }
}

/// An append-only transcript, cheap to clone and to fork.
#[derive(Debug, Clone, Default)]
pub struct History {
    items: Vec<Arc<HistoryItem>>,
}

impl History {
    /// An empty transcript.
    pub fn new() -> History {
        History::default()
    }

    /// Appends one message.
    pub fn push(&mut self, message: Message) {
        self.items.push(Arc::new(HistoryItem {
            message,
            rendered: RenderCache::default(),
        }));
    }

    /// All entries, oldest first.
    pub fn items(&self) -> &[Arc<HistoryItem>] {
        &self.items
    }

    /// All messages, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.items.iter().map(|item| &item.message)
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl FromIterator<Message> for History {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> History {
        let mut history = History::new();
        messages
            .into_iter()
            .for_each(|message| history.push(message));
        history
    }
}
