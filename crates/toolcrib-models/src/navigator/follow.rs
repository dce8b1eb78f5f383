//! Callees and members that a search did not show, for questions about how something
//! is done.
//!
//! A search lists what has the words best, and where one word is common it leaves out
//! what does the work. What the best places call or contain under a word of the question
//! is a candidate like any other, so that the next round reads it and asks what it calls
//! in turn.

use super::notes::{Notes, Symbol};
use super::question::{Intent, Question};
use super::rank::{bare, stems};

/// Takes note of what the symbols seen call or contain, where its name has a word of a
/// how-question.
pub(super) fn add(question: &Question, notes: &mut Notes) {
    if question.intent != Intent::How {
        return;
    }
    let asked = |name: &str| {
        let words = stems(bare(name));
        let mut terms = question.terms.iter().filter(|term| term.weight >= 1.0);
        terms.any(|term| words.contains(&term.stem))
    };
    let mut found: Vec<(String, Symbol)> = Vec::new();
    for edge in notes
        .neighborhoods
        .values()
        .flat_map(|around| &around.edges)
    {
        let leads = matches!(&*edge.kind, "calls" | "contains") && edge.ambiguous.is_none();
        let does = matches!(&*edge.other_kind, "function" | "method");
        let known = notes.symbols.contains_key(&edge.name);
        if edge.incoming || !leads || !does || known || !asked(&edge.name) {
            continue;
        }
        found.push((
            edge.name.clone(),
            Symbol {
                kind: edge.other_kind.clone(),
                place: edge.other.clone(),
                ..Symbol::default()
            },
        ));
    }
    notes.symbols.extend(found);
}
