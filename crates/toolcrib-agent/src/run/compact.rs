//! When a transcript has grown too large, and what is left of it.
//!
//! The machine says that it is time; a driver makes the shorter transcript out of the
//! parts here, since only it can ask a model for a summary and keep whole results.
//! What was loaded, the plan and the question stay in any case.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toolcrib_core::{Content, History, Message, Str, ToolCall, ToolResult};

use super::{OutOfTurn, Phase, Run, transcript};
use crate::{End, words};

/// Share of the window from which on the transcript is made shorter.
const FULL: f64 = 0.7;
/// Share of the window that a shorter transcript should take.
const WANTED: f64 = 0.5;
/// Share of the window by which it must have grown before it is looked at again.
const GROWTH: f64 = 0.1;
/// The last messages that always stay.
const TAIL: usize = 6;
/// Results up to this many bytes are not worth a replacement.
const SMALL: u64 = 400;
/// Stands in for a tokenizer.
const BYTES_PER_TOKEN: u64 = 4;

/// Why a transcript is to be made shorter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Compaction {
    /// It takes most of the window.
    Full,
    /// The provider refused it as too long; the error, and how many tokens it takes, if
    /// it said so.
    Overflow {
        /// One line for people.
        error: Str,
        /// Tokens allowed.
        allowed: Option<u64>,
    },
}

/// What the machine remembers of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Size {
    /// Tokens that the provider counted for a request, and its bytes.
    measured: Option<(u64, u64)>,
    /// Bytes after the last time.
    compacted: Option<u64>,
    /// The request under way was made shorter already.
    overflowed: bool,
}

impl Run {
    /// Takes the provider's count of a request.
    pub(super) fn measure(&mut self, tokens: Option<u64>, bytes: u64) {
        self.size.overflowed = false;
        if let Some(tokens) = tokens {
            self.size.measured = Some((tokens, bytes));
        }
    }

    /// Tokens that the next request takes, as far as can be said.
    pub(super) fn tokens(&self) -> u64 {
        let bytes = self.rules.prefix_bytes + self.bytes;
        match self.size.measured {
            Some((tokens, at)) => tokens + bytes.saturating_sub(at) / BYTES_PER_TOKEN,
            None => bytes / BYTES_PER_TOKEN,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        let Some(window) = self.rules.window else {
            return false;
        };
        let share = |part: f64| (window as f64 * part) as u64;
        let grown = self
            .size
            .compacted
            .is_none_or(|bytes| self.bytes > bytes + share(GROWTH) * BYTES_PER_TOKEN);
        grown && self.tokens() > share(FULL) && self.history.len() > TAIL
    }

    /// Whether the run goes on after an overflow, with a shorter transcript.
    pub(super) fn overflowed(&mut self, error: &str, allowed: Option<u64>) -> bool {
        if std::mem::replace(&mut self.size.overflowed, true) {
            return false;
        }
        self.phase = Phase::Compact(Compaction::Overflow {
            error: error.into(),
            allowed,
        });
        true
    }

    /// Bytes that a shorter transcript should have.
    pub(crate) fn wanted_bytes(&self, why: &Compaction) -> u64 {
        let allowed = match why {
            Compaction::Overflow { allowed, .. } => *allowed,
            Compaction::Full => None,
        };
        match allowed.or(self.rules.window) {
            Some(window) => {
                let bytes = (window as f64 * WANTED) as u64 * BYTES_PER_TOKEN;
                bytes.saturating_sub(self.rules.prefix_bytes)
            }
            None => self.bytes / 2,
        }
    }

    /// Takes the shorter transcript, or the news that there is none. One that is not
    /// shorter is not taken; after an overflow that ends the run. Says whether it was
    /// taken.
    ///
    /// # Errors
    /// [`OutOfTurn`] when the transcript was not to be made shorter; nothing changes then.
    pub fn compacted(&mut self, shorter: Option<History>) -> Result<bool, OutOfTurn> {
        let Phase::Compact(why) = &self.phase else {
            return Err(self.out_of_turn("compacted"));
        };
        let why = why.clone();
        let bytes = |history: &History| history.messages().map(transcript::size).sum::<u64>();
        let shorter = shorter.filter(|history| bytes(history) < self.bytes);
        let taken = shorter.is_some();
        if let Some(history) = shorter {
            self.bytes = bytes(&history);
            self.taken = history.len();
            self.question_at = self.question_in(&history);
            self.history = history;
            self.size.measured = None;
        }
        self.size.compacted = Some(self.bytes);
        self.phase = match why {
            Compaction::Full => Phase::Ready,
            Compaction::Overflow { .. } if taken => {
                // A summary may have taken what the request was to have.
                match self.tally.spent(&self.budget, self.elapsed) {
                    Some(limit) => Phase::Over(End::Stopped(limit)),
                    None => Phase::Asked,
                }
            }
            Compaction::Overflow { error, .. } => Phase::Over(End::Failed(error)),
        };
        Ok(taken)
    }

    /// Where the question stands in a shorter transcript.
    fn question_in(&self, history: &History) -> usize {
        let last = self.question.last();
        let found = history.messages().position(
            |message| matches!(message, Message::User(content) if content.last() == last),
        );
        found.unwrap_or(0)
    }

    /// The shorter transcript with a summary in the place of what came before the tail.
    pub(crate) fn summarised(&self, history: &History, cut: usize, summary: &str) -> History {
        let mut content = vec![Content::text(words::summary(summary))];
        if self.question_at < cut {
            content.extend(self.question.iter().cloned());
        }
        let mut shorter = History::new();
        shorter.push(Message::User(content));
        history
            .messages()
            .skip(cut)
            .for_each(|message| shorter.push(message.clone()));
        shorter
    }
}

pub(crate) fn bytes_of(history: &History) -> u64 {
    history.messages().map(transcript::size).sum()
}

/// Where the part begins that stays as it is: at a message of the user or the model,
/// so that no call is parted from its result.
pub(crate) fn tail(history: &History) -> usize {
    let items = history.items();
    let mut at = items.len().saturating_sub(TAIL);
    while at > 0 && matches!(**items[at], Message::Tool(_)) {
        at -= 1;
    }
    at
}

/// Leaves out results before the tail that a later result of the same call replaces.
pub(crate) fn without_superseded(history: &History) -> History {
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    let mut last: HashMap<(&str, &str), &str> = HashMap::new();
    for message in history.messages() {
        match message {
            Message::Assistant(message) => {
                calls.extend(message.calls().map(|call| (&*call.id, call)));
            }
            Message::Tool(result) if !result.is_error => {
                if let Some(call) = calls.get(&*result.call_id) {
                    last.insert((&call.name, &call.arguments), &result.call_id);
                }
            }
            _ => {}
        }
    }
    let superseded = |result: &ToolResult| {
        let call = calls.get(&*result.call_id)?;
        let later = last.get(&(&*call.name, &*call.arguments))?;
        (**later != *result.call_id).then(|| words::SUPERSEDED.to_owned())
    };
    replaced(history, superseded)
}

/// Leaves out all larger results before the tail; `keep` keeps the whole of each and
/// gives its handle.
pub(crate) fn without_bodies(history: &History, keep: &dyn Fn(&str) -> Option<Str>) -> History {
    replaced(history, |result| {
        let text: String = result
            .content
            .iter()
            .filter_map(|piece| match piece {
                Content::Text(text) => Some(&**text),
                _ => None,
            })
            .collect();
        Some(words::left_out(text.len(), keep(&text).as_deref()))
    })
}

fn replaced(history: &History, by: impl Fn(&ToolResult) -> Option<String>) -> History {
    let tail = tail(history);
    let mut shorter = History::new();
    for (at, message) in history.messages().enumerate() {
        let replacement = match message {
            Message::Tool(result) if at < tail && transcript::size(message) > SMALL => by(result)
                .map(|text| ToolResult {
                    content: vec![Content::text(text)],
                    ..result.clone()
                }),
            _ => None,
        };
        shorter.push(replacement.map_or_else(|| message.clone(), Message::Tool));
    }
    shorter
}

#[cfg(test)]
mod tests;
