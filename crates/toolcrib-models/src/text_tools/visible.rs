//! Text of a reply as far as it can be shown while calls may still come.

use super::markup::OPENERS;

/// Holds back what may be the beginning of a call.
#[derive(Debug, Default)]
pub(super) struct Visible {
    held: String,
    shown: String,
    /// Something began that is not text.
    closed: bool,
}

impl Visible {
    /// Takes a piece and returns what is certain to be text.
    pub(super) fn push(&mut self, piece: &str) -> String {
        if self.closed {
            return String::new();
        }
        self.held.push_str(piece);
        // A reply that is all JSON, or begins with thoughts, is told apart at its end.
        let first = self.held.trim_start().chars().next();
        if self.shown.is_empty() && matches!(first, None | Some('{' | '[')) {
            return String::new();
        }
        let opened = OPENERS
            .iter()
            .filter_map(|opener| self.held.find(opener))
            .min();
        let upto = match opened {
            Some(at) => {
                self.closed = true;
                at
            }
            None => self.held.len() - self.undecided(),
        };
        let rest = self.held.split_off(upto);
        let safe = std::mem::replace(&mut self.held, rest);
        self.shown.push_str(&safe);
        safe
    }

    /// How many bytes at the end may be the beginning of an opener.
    fn undecided(&self) -> usize {
        let held = self.held.as_str();
        let starts = held.char_indices().map(|(at, _)| at);
        let tail = starts.filter(|at| held.len() - at < 24);
        tail.map(|at| &held[at..])
            .find(|end| OPENERS.iter().any(|opener| opener.starts_with(end)))
            .map_or(0, str::len)
    }

    /// What of the final text was not shown yet.
    pub(super) fn rest<'a>(&self, text: &'a str) -> &'a str {
        text.strip_prefix(self.shown.as_str()).unwrap_or_default()
    }
}
