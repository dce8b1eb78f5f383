//! A transcript as alternating turns, for the wires that want it so.
//!
//! Results and questions share the user's side. Neighbours of one side are merged
//! into one turn, so that neither an empty reply nor several results in a row put
//! two turns of one role beside each other, which strict servers refuse.

use std::sync::Arc;

use toolcrib_core::{HistoryItem, Message, Request};

/// What stands for a message in which there is nothing to send: servers refuse
/// empty text.
pub(crate) const EMPTY: &str = "(empty)";
/// What stands for a result without output.
pub(crate) const NO_OUTPUT: &str = "(no output)";

/// One turn: whose, and its messages rendered without what surrounds them.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The model's, or else the user's.
    pub(crate) model: bool,
    /// Each not empty.
    pub(crate) pieces: Vec<Arc<[u8]>>,
}

/// The turns of a request; the first is the user's.
pub(crate) fn turns(
    request: &Request<'_>,
    opening: &'static [u8],
    render: impl Fn(usize, &HistoryItem) -> Arc<[u8]>,
) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (at, item) in request.history.items().iter().enumerate() {
        let model = matches!(&***item, Message::Assistant(_));
        if turns.is_empty() && model {
            turns.push(Turn {
                model: false,
                pieces: vec![opening.into()],
            });
        }
        let piece = render(at, item);
        match turns.last_mut() {
            Some(last) if last.model == model => last.pieces.push(piece),
            _ => turns.push(Turn {
                model,
                pieces: vec![piece],
            }),
        }
    }
    turns
}

/// Rendered items with commas between them.
#[derive(Debug, Default)]
pub(crate) struct Items(pub(crate) Vec<u8>);

impl Items {
    pub(crate) fn push(&mut self, item: &[u8]) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        self.0.extend_from_slice(item);
    }

    /// An item that `write` appends.
    pub(crate) fn with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        write(&mut self.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
