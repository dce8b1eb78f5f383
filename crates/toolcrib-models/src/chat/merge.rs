//! Pieces of tool calls, put together again.
//!
//! The wire says that `index` tells calls apart and `id` comes first. Servers say
//! the same index for every call, none at all, one that grows with each piece, or
//! send the id late, twice or never. So an index is only a label: calls lie in a
//! dense list in order of appearance, and each label or id that is seen with a
//! call is learnt as an alias of it. No number from the wire sizes anything. A
//! piece that could belong to two calls is an error, never a guess that runs.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::wire::CallDelta;
use crate::joined::Joined;
use crate::json;

/// One call as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) id: Option<String>,
    pub(super) name: Joined,
    pub(super) arguments: Joined,
    pub(super) extra: Vec<(String, Box<RawValue>)>,
    /// Labels learnt from pieces that carried nothing else to go by.
    guessed: Vec<String>,
    /// The last chunk that touched it.
    chunk: u64,
    /// Its start was reported.
    pub(super) announced: bool,
}

impl Slot {
    fn complete(&self) -> bool {
        serde_json::from_str::<&RawValue>(self.arguments.as_str()).is_ok()
    }
}

/// Why pieces cannot be put together.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MergeError {
    /// More calls than any reply has.
    TooMany,
    /// A piece that could belong to two calls.
    Ambiguous,
}

/// Most calls of one reply.
const MOST: usize = 1024;

/// What of a piece tells calls apart.
struct Piece<'a> {
    index: Option<&'a str>,
    id: Option<&'a str>,
    name: Option<&'a [u8]>,
    /// Without arguments.
    bare: bool,
}

/// All calls of one reply, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    /// Labels with the call each last stood for.
    aliases: Vec<(String, usize)>,
    chunk: u64,
}

impl Calls {
    /// A new chunk begins: it holds at most one piece of each call.
    pub(super) fn next_chunk(&mut self) {
        self.chunk += 1;
    }

    /// Adds one piece and returns the call it belongs to.
    pub(super) fn push(&mut self, delta: &CallDelta<'_>) -> Result<&mut Slot, MergeError> {
        let index = json::label(delta.index);
        let id = json::label(delta.id);
        let name = json::text(delta.function.name).filter(|name| !name.is_empty());
        let bare = delta
            .function
            .arguments
            .is_none_or(|raw| raw.get() == r#""""#);
        let piece = Piece {
            index: index.as_deref(),
            id: id.as_deref(),
            name: name.as_deref(),
            bare,
        };
        let at = match self.find(&piece)? {
            Some(at) => at,
            None if self.slots.len() >= MOST => return Err(MergeError::TooMany),
            None => {
                self.slots.push(Slot::default());
                self.slots.len() - 1
            }
        };
        if let Some(index) = index {
            self.learn(index, at);
        }
        let chunk = self.chunk;
        let slot = &mut self.slots[at];
        slot.chunk = chunk;
        if slot.id.is_none() {
            slot.id = id.map(Cow::into_owned);
        }
        if let Some(name) = name {
            // Some servers repeat the whole name with each piece.
            if slot.name.as_str().as_bytes() != &*name {
                slot.name.push(&name);
            }
        }
        if let Some(raw) = delta.function.arguments {
            match json::string(raw.get()) {
                Some(text) => slot.arguments.push(&text),
                // An object where a string belongs is kept as it was written.
                None => slot.arguments.push(raw.get().as_bytes()),
            };
        }
        for (key, value) in &delta.extra {
            match slot.extra.iter_mut().find(|(known, _)| known == key) {
                Some((_, old)) => *old = (*value).to_owned(),
                None => slot.extra.push((key.to_string(), (*value).to_owned())),
            }
        }
        Ok(slot)
    }

    /// The call a piece belongs to; none for the first piece of a new one.
    fn find(&mut self, piece: &Piece<'_>) -> Result<Option<usize>, MergeError> {
        if let Some(id) = piece.id {
            let known = self
                .slots
                .iter()
                .rposition(|slot| slot.id.as_deref() == Some(id));
            if let Some(at) = known {
                return Ok((!self.opens(at, piece)).then_some(at));
            }
        }
        let Some(index) = piece.index else {
            let last = self.slots.len().checked_sub(1);
            return Ok(last.filter(|&at| self.continues(at, piece)));
        };
        let known = self.aliases.iter().find(|(label, _)| label == index);
        if let Some(&(_, at)) = known {
            let guessed = self.slots[at].guessed.iter().any(|label| label == index);
            if guessed && (piece.id.is_some() || piece.name.is_some()) {
                return Err(MergeError::Ambiguous);
            }
            return Ok(self.continues(at, piece).then_some(at));
        }
        // An unknown label with nothing else is one that grows with each piece,
        // unless the last call is complete.
        let last = self.slots.len().checked_sub(1).filter(|&at| {
            let nameless = piece.id.is_none() && piece.name.is_none();
            nameless && !self.touched(at) && !self.slots[at].complete()
        });
        if let Some(at) = last {
            self.slots[at].guessed.push(index.to_owned());
        }
        Ok(last)
    }

    /// Whether a piece that points to the call `at` is the next piece of it.
    fn continues(&self, at: usize, piece: &Piece<'_>) -> bool {
        let slot = &self.slots[at];
        match (piece.id, &slot.id) {
            // Another id: a new call, or a server that invents one for each piece.
            (Some(_), Some(_)) => piece.name.is_none() && !slot.complete(),
            _ => !self.opens(at, piece),
        }
    }

    /// Whether a piece that points to the call `at` begins another one.
    fn opens(&self, at: usize, piece: &Piece<'_>) -> bool {
        let slot = &self.slots[at];
        let Some(name) = piece.name else {
            return false;
        };
        if slot.name.is_empty() {
            return false;
        }
        let repeats = piece.bare && slot.name.as_str().as_bytes() == name;
        self.touched(at) || (!repeats && slot.complete())
    }

    fn touched(&self, at: usize) -> bool {
        self.slots[at].chunk == self.chunk
    }

    fn learn(&mut self, label: Cow<'_, str>, at: usize) {
        match self.aliases.iter_mut().find(|(known, _)| *known == label) {
            Some((_, slot)) => *slot = at,
            None => self.aliases.push((label.into_owned(), at)),
        }
    }

    /// The calls so far.
    pub(super) fn slots(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// The calls in order.
    pub(super) fn into_slots(self) -> Vec<Slot> {
        self.slots
    }
}

#[cfg(test)]
mod tests;
