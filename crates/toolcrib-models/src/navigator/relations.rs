//! Who calls or uses a symbol, or what it calls.

use std::fmt::Write as _;

use super::answer::{SUBJECTS, cited, definitions, headline, line, shown, subjects};
use super::notes::{Edge, Neighborhood, Notes};
use super::question::{Intent, Question};
use super::rank::{Candidate, path_prior, plain};

/// Callers or callees listed; more are counted.
const LISTED: usize = 60;

/// Lists all relations of the subjects, the product's own before those of tests.
pub(super) fn write(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> String {
    if question.both {
        let half = |intent| Question {
            both: false,
            intent,
            ..question.clone()
        };
        return [Intent::Callers, Intent::Callees]
            .map(|intent| write(&half(intent), notes, found))
            .concat();
    }
    let incoming = question.intent == Intent::Callers;
    let mut text = String::new();
    let subjects = subjects(question, found);
    let mut all = definitions(question, &subjects);
    let has_any = |name: &str| {
        let around = notes.neighborhoods.get(name);
        around.is_some_and(|around| !edges(question, around).is_empty())
    };
    if question.inherits {
        // A type is implemented, not the functions of its name.
        all.sort_by_key(|(name, _)| !has_any(name));
    }
    let mut unused: Vec<String> = Vec::new();
    for (at, (name, symbol)) in all.iter().copied().take(SUBJECTS).enumerate() {
        let around = notes.neighborhoods.get(name);
        let is_idle = |around: &Neighborhood| {
            around.limits.is_none() && edges(question, around).is_empty() && around.left_out == 0
        };
        if at > 0 && around.is_some_and(is_idle) {
            unused.extend(cited(notes, name));
            continue;
        }
        let own = subjects.iter().find(|c| c.name == name);
        let _ = match own {
            Some(candidate) if candidate.twins.is_empty() => {
                writeln!(text, "{}", headline(candidate))
            }
            _ => writeln!(text, "{}", line(name, symbol)),
        };
        let Some(around) = around else {
            text.push_str("Its relations were not looked up.\n\n");
            continue;
        };
        let counted = incoming && !question.inherits && around.limits.is_none();
        if let (true, Some(tally)) = (counted, &around.tally) {
            let _ = writeln!(text, "{}.", tally.trim_end_matches('.'));
        }
        let mut edges = edges(question, around);
        edges.sort_by_key(|edge| path_prior(question, &edge.at.path, "") < 0.5);
        match (&around.limits, edges.is_empty()) {
            (Some(limits), _) => {
                let _ = writeln!(text, "{limits}, so who calls what cannot be told.");
            }
            (None, true) => {
                let what = match (question.inherits, incoming) {
                    (true, _) => "Nothing that implements, extends or overrides it",
                    (false, true) => "No use of it",
                    (false, false) => "Nothing that it uses",
                };
                let _ = writeln!(text, "{what} is proven in the code graph.");
            }
            (None, false) => {}
        }
        for edge in edges.iter().take(LISTED) {
            let _ = writeln!(
                text,
                "- {} `{}` {} {}{}",
                verb(edge, incoming),
                shown(&edge.name),
                if incoming && plain(&edge.name) == edge.name {
                    "at"
                } else {
                    "on"
                },
                edge.at.cite(),
                open(edge)
            );
        }
        let left = edges.len().saturating_sub(LISTED) + around.left_out;
        if left > 0 {
            let _ = writeln!(text, "- and {left} more");
        }
        text.push('\n');
    }
    if !unused.is_empty() {
        let what = match (question.inherits, incoming) {
            (true, _) => "implementation or extension of",
            (false, true) => "use of",
            (false, false) => "call in",
        };
        let _ = writeln!(
            text,
            "No {what} its namesakes is proven: {}.",
            unused.join(", ")
        );
    }
    let left: Vec<String> = all
        .iter()
        .skip(SUBJECTS)
        .map(|(name, _)| *name)
        .filter_map(|name| cited(notes, name))
        .collect();
    if !left.is_empty() {
        let named = left.iter().take(SUBJECTS).cloned().collect::<Vec<_>>();
        let _ = writeln!(
            text,
            "{} more of this name, not listed: {}{}.",
            left.len(),
            named.join(", "),
            if left.len() > SUBJECTS {
                " and others"
            } else {
                ""
            }
        );
    }
    text
}

fn edges<'n>(question: &Question, around: &'n Neighborhood) -> Vec<&'n Edge> {
    let incoming = question.intent == Intent::Callers;
    let inherits = |edge: &Edge| matches!(&*edge.kind, "implements" | "extends" | "overrides");
    let wanted = |edge: &&Edge| {
        edge.incoming == incoming
            && edge.kind != "contains"
            && (!question.inherits || inherits(edge))
    };
    let all = around.edges.iter().filter(wanted);
    all.filter(|edge| {
        // A test that calls is listed as a caller already.
        edge.kind != "tests"
            || !around.edges.iter().any(|other| {
                other.incoming == incoming && other.kind == "calls" && other.name == edge.name
            })
    })
    .collect()
}

/// What is not certain about a call.
fn open(edge: &Edge) -> String {
    match edge.ambiguous {
        Some(1) => " (whether another is meant is left open)".to_owned(),
        Some(count) => format!(" (which of {count} definitions is meant is left open)"),
        None if edge.dynamic => " (by dynamic dispatch)".to_owned(),
        None => String::new(),
    }
}

fn verb(edge: &Edge, incoming: bool) -> &'static str {
    match (&*edge.kind, incoming) {
        ("calls", true) if edge.ambiguous.is_some() || edge.dynamic => "may be called by",
        ("calls", false) if edge.ambiguous.is_some() || edge.dynamic => "may call",
        ("calls", true) => "called by",
        ("calls", false) => "calls",
        ("implements", true) => "implemented by",
        ("implements", false) => "implements",
        ("extends", true) => "extended by",
        ("extends", false) => "extends",
        ("overrides", true) => "overridden by",
        ("overrides", false) => "overrides",
        ("imports", true) => "imported by",
        ("imports", false) => "imports",
        ("tests", true) => "tested by",
        ("tests", false) => "tests",
        ("routes_to", true) => "routed to by",
        ("routes_to", false) => "routes to",
        (_, true) => "used by",
        (_, false) => "uses",
    }
}
