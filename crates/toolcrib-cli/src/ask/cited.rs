//! An answer and what its citations were found to be.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use toolcrib_agent::Answer;
use toolcrib_graph::{AnswerCheck, CitedState, Lookup};

use crate::terminal::{Dress, harmless};

/// A final answer held against the graph.
#[derive(Debug)]
pub(crate) struct Cited {
    pub(super) text: String,
    pub(super) check: AnswerCheck,
}

/// Accepts any text whose citations hold. The first answer with faults goes back
/// with what is wrong; a second one is taken, and its faults are marked: an
/// answer with a marked fault is worth more than none.
pub(crate) fn answer(lookup: Arc<Lookup>) -> Answer<Cited> {
    let returned = AtomicBool::new(false);
    Answer::checked(move |text| {
        if text.is_empty() {
            return Err("the answer is empty".to_owned());
        }
        let text = &harmless(text);
        let check = lookup.check_answer(text);
        if !check.is_clean() && !returned.swap(true, Ordering::Relaxed) {
            return Err(format!(
                "these citations or names do not hold:\n{}\nWrite the whole answer again with each of \
                 them corrected from what you have seen, or left out.",
                check.corrections().join("\n")
            ));
        }
        Ok(Cited {
            text: text.to_owned(),
            check,
        })
    })
}

/// What an answer begins with, in any language, when the repository has none.
const NOTHING_FOUND: &str = "Nothing found";

impl Cited {
    /// Whether the answer is one; `false` when it says that there is none.
    pub(crate) fn found(&self) -> bool {
        let text = self.text.trim_start_matches(['*', '_', '#', ' ', '\n']);
        !text
            .get(..NOTHING_FOUND.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(NOTHING_FOUND))
    }

    /// The text with its citations dressed and each fault marked where it stands.
    pub(super) fn dressed(&self, dress: &Dress) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut from = 0;
        for found in &self.check.citations {
            let at = &found.cited.at;
            let (Some(before), Some(cited)) =
                (self.text.get(from..at.start), self.text.get(at.clone()))
            else {
                continue;
            };
            out.push_str(before);
            if found.state == CitedState::Verified {
                out.push_str(&dress.citation(cited, &found.cited.place.path));
            } else {
                out.push_str(cited);
                out.push_str(&dress.warning(&format!(" (unverified: {})", found.explain())));
            }
            from = at.end;
        }
        out.push_str(self.text.get(from..).unwrap_or(""));
        for unknown in &self.check.unknown {
            out.push_str(&dress.warning(&format!("\n(unverified: {})", unknown.explain())));
        }
        out
    }

    /// What does not hold, one line each.
    pub(crate) fn faults(&self) -> impl Iterator<Item = String> {
        let citations = self.check.citations.iter();
        let citations = citations.filter(|found| found.state != CitedState::Verified);
        let unknown = self.check.unknown.iter();
        citations
            .map(|found| found.explain())
            .chain(unknown.map(|name| name.explain()))
    }

    /// The citations and unknown names as one JSON object.
    pub(super) fn json(&self) -> Value {
        let citations = self.check.citations.iter().map(|found| {
            let place = &found.cited.place;
            let bound = found.citation.as_ref();
            json!({
                "path": place.path,
                "start": place.start,
                "end": place.end,
                "verified": found.state == CitedState::Verified,
                "explanation": found.explain(),
                "symbol": bound.and_then(|citation| citation.symbol.clone()),
                "sha256": bound.map(|citation| citation.sha256.clone()),
            })
        });
        json!({
            "v": 1,
            "type": "citations",
            "found": self.found(),
            "citations": citations.collect::<Vec<_>>(),
            "unknown_names": self.check.unknown.iter().map(|name| &name.name).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_taken_out() {
        let text = harmless("a\u{1b}]52;c;x\u{7}b\u{202e}c\td\n");
        assert_eq!(text, "a\u{fffd}]52;c;x\u{fffd}b\u{fffd}c\td\n");
    }
}
