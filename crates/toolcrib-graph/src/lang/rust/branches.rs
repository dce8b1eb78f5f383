//! The branches of `select!` and its like: `pattern = future, if condition => handler`.
//!
//! No grammar of the language reads them whole, so each expression in them is read
//! again by itself, at its own place. Patterns bind nothing here: what a branch
//! receives has no type that a macro's tokens would tell.

use tree_sitter::{Node, Range};

use super::items::Reader;
use super::{K, kind};

/// Macros whose braces hold branches, sorted.
const BRANCH_MACROS: &[&str] = &["select", "select_biased"];
/// Branches of one macro that are read.
const MAX_BRANCHES: usize = 64;

/// What of a branch comes next.
enum Part {
    Pattern,
    Future,
    Handler,
}

/// Whether a macro of this name has branches.
pub(super) fn has_branches(name: &str) -> bool {
    BRANCH_MACROS.binary_search(&name).is_ok()
}

impl Reader<'_, '_> {
    /// Reads the expressions in the branches of a macro.
    pub(super) fn read_branches(&mut self, tokens: Node<'_>) {
        for range in expressions(tokens, |node| self.b.text(node)) {
            self.read_expression(range);
        }
    }
}

/// Where the futures, conditions and handlers of a macro's branches are.
fn expressions<'t>(tokens: Node<'_>, text: impl Fn(Node<'_>) -> &'t str) -> Vec<Range> {
    let count = tokens.child_count();
    // The braces around them are tokens as well.
    let inner = (1..count.saturating_sub(1)).filter_map(|i| tokens.child(i));
    let mut found: Vec<Range> = Vec::new();
    let mut open: Option<Range> = None;
    let mut part = Part::Pattern;
    for token in inner {
        let word = text(token);
        let ends = match (&part, word) {
            (Part::Pattern, "=") => Some(Part::Future),
            (Part::Pattern | Part::Future, "=>") => Some(Part::Handler),
            (Part::Handler, ",") => Some(Part::Pattern),
            // `biased;` before the first branch.
            (Part::Pattern, ";") => Some(Part::Pattern),
            // What follows is a condition.
            (Part::Future, ",") => Some(Part::Future),
            (Part::Future, "if") if open.is_none() => Some(Part::Future),
            _ => None,
        };
        if let Some(next) = ends {
            found.extend(open.take());
            part = next;
            continue;
        }
        if matches!(part, Part::Pattern) {
            continue;
        }
        let (start, end) = (token.range(), token.range());
        let whole = open.get_or_insert(start);
        whole.end_byte = end.end_byte;
        whole.end_point = end.end_point;
        // A block needs no comma after it, unless it is the start of more.
        let block = kind(token) == K::TokenTree && word.starts_with('{');
        let alone = whole.start_byte == token.start_byte();
        if matches!(part, Part::Handler) && block && alone {
            found.extend(open.take());
            part = Part::Pattern;
        }
    }
    found.extend(open);
    found.truncate(MAX_BRANCHES * 3);
    found
}
