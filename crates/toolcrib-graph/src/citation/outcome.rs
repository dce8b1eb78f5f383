//! What a check of an answer found, and how to say it.
//!
//! Each finding explains itself in one line written for whoever wrote the
//! answer: what is wrong with which citation, and what would be right.

use std::ops::Range;

use serde::Serialize;

use super::{Citation, CitedPlace, Place};

/// What a citation in an answer was found to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
#[non_exhaustive]
pub enum CitedState {
    /// The place exists, and what is said beside it stands there.
    Verified,
    /// No such file; up to five near paths.
    UnknownPath {
        /// Nearest first.
        near: Vec<String>,
    },
    /// The file has fewer lines.
    OutOfRange {
        /// How many it has.
        lines: u32,
    },
    /// The symbol named right beside the citation is not at the cited lines.
    OtherSymbol {
        /// The name as written.
        claimed: String,
        /// Where that symbol is, when exactly one in the file, or in all, has the name.
        claimed_at: Option<Place>,
        /// Qualified name of the symbol that is there.
        there: Option<String>,
    },
    /// Quoted text is not in the cited lines.
    QuoteMissing {
        /// As written.
        quote: String,
        /// The one place in the snapshot where it stands.
        stands_at: Option<Place>,
    },
    /// A number said to be there is not.
    NumberMissing {
        /// As written.
        number: String,
    },
}

/// A citation of an answer and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedCitation {
    /// As written.
    pub cited: CitedPlace,
    /// What it was found to be.
    pub state: CitedState,
    /// The place bound to what stands there, whenever it exists.
    pub citation: Option<Citation>,
}

impl CheckedCitation {
    /// One line to send back to the writer.
    pub fn explain(&self) -> String {
        let place = &self.cited.place;
        let at = |p: &Option<Place>| {
            p.as_ref()
                .map_or(String::new(), |p| format!("; it is at {p}"))
        };
        match &self.state {
            CitedState::Verified => format!("{place}: verified"),
            CitedState::UnknownPath { near } if near.is_empty() => {
                format!("{place}: there is no such file")
            }
            CitedState::UnknownPath { near } => {
                format!("{place}: there is no such file; near: {}", near.join(", "))
            }
            CitedState::OutOfRange { lines } => {
                format!("{place}: the file has {lines} lines")
            }
            CitedState::OtherSymbol {
                claimed,
                claimed_at,
                there,
            } => {
                let there = there
                    .as_ref()
                    .map_or(String::new(), |t| format!("; these lines are in `{t}`"));
                format!("{place}: `{claimed}` is not there{}{there}", at(claimed_at))
            }
            CitedState::QuoteMissing { quote, stands_at } => {
                let quote = crate::lookup::clip(quote.trim(), 80);
                format!(
                    "{place}: these lines do not contain \"{quote}\"{}",
                    at(stands_at)
                )
            }
            CitedState::NumberMissing { number } => {
                format!("{place}: these lines do not contain the number {number}")
            }
        }
    }
}

/// A backticked name or path that the snapshot does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownName {
    /// As written.
    pub name: String,
    /// Its bytes in the text.
    pub at: Range<usize>,
    /// Up to five near names or paths.
    pub near: Vec<String>,
}

impl UnknownName {
    /// One line to send back to the writer.
    pub fn explain(&self) -> String {
        match self.near.is_empty() {
            true => format!("`{}`: nothing has this name", self.name),
            false => format!(
                "`{}`: nothing has this name; near: {}",
                self.name,
                self.near.join(", ")
            ),
        }
    }
}

/// What an answer cites and names, held against the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerCheck {
    /// Every citation, in order.
    pub citations: Vec<CheckedCitation>,
    /// Backticked names that are unknown, each once, in order.
    pub unknown: Vec<UnknownName>,
}

impl AnswerCheck {
    /// Whether nothing was found wrong. An answer without citations is clean.
    pub fn is_clean(&self) -> bool {
        self.unknown.is_empty() && self.faulty().next().is_none()
    }

    /// The citations that are not verified.
    pub fn faulty(&self) -> impl Iterator<Item = &CheckedCitation> {
        self.citations
            .iter()
            .filter(|c| c.state != CitedState::Verified)
    }

    /// One line for each fault, to send back to the writer; empty when clean.
    pub fn corrections(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let faults = self.faulty().map(CheckedCitation::explain);
        for line in faults.chain(self.unknown.iter().map(UnknownName::explain)) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}
