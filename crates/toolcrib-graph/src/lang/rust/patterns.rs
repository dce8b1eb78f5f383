//! Rust patterns: which names they bind and to what.

use tree_sitter::Node;

use super::terms::Terms;
use super::{K, kind};
use crate::facts::{Builder, Term, TermId};

/// Patterns nested deeper than this bind nothing.
const MAX_DEPTH: u32 = 32;

/// Where the names of a pattern are visible.
#[derive(Clone, Copy)]
pub(super) struct Visible {
    pub(super) at: u32,
    pub(super) until: u32,
}

/// Binds the names of a pattern against a value.
pub(super) fn bind<'s>(
    b: &mut Builder<'s>,
    terms: &mut Terms,
    pattern: Node<'_>,
    value: TermId,
    visible: Visible,
) {
    bind_at(b, terms, pattern, value, visible, 0);
}

fn bind_at<'s>(
    b: &mut Builder<'s>,
    terms: &mut Terms,
    pattern: Node<'_>,
    value: TermId,
    visible: Visible,
    depth: u32,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let mut inside = |b: &mut Builder<'s>, node: Node<'_>, value: TermId| {
        bind_at(b, terms, node, value, visible, depth + 1);
    };
    match kind(pattern) {
        K::Identifier | K::ShorthandField => {
            let text = b.text(pattern);
            if text.starts_with(char::is_uppercase) {
                let sym = b.name(text);
                let term = b.term(Term::Name(sym, pattern.start_byte() as u32));
                b.mention(term, pattern.start_position().row as u32 + 1);
            } else {
                let sym = b.name(text);
                b.local(sym, visible.at, visible.until, value);
            }
        }
        K::SelfValue => {}
        K::ScopedIdentifier => mention_path(b, terms, pattern),
        K::RefPattern | K::MutPattern | K::ReferencePattern | K::MatchPattern => {
            let mut cursor = pattern.walk();
            let inner = pattern
                .named_children(&mut cursor)
                .find(|n| n.kind() != "mutable_specifier");
            if let Some(inner) = inner {
                inside(b, inner, value);
            }
        }
        K::CapturedPattern | K::OrPattern => {
            let mut cursor = pattern.walk();
            for inner in pattern.named_children(&mut cursor) {
                inside(b, inner, value);
            }
        }
        K::TuplePattern => {
            for (place, inner) in placed(pattern) {
                let part = match place {
                    Some(place) => b.term(Term::Part(value, place)),
                    None => TermId::UNKNOWN,
                };
                inside(b, inner, part);
            }
        }
        K::SlicePattern => {
            let mut cursor = pattern.walk();
            for inner in pattern.named_children(&mut cursor) {
                let each = b.term(Term::Each(value));
                inside(b, inner, each);
            }
        }
        K::TupleStructPattern => {
            let Some(path) = pattern.child_by_field_name("type") else {
                return;
            };
            mention_path(b, terms, path);
            let constructor = terms.expr(b, path);
            for (place, inner) in placed(pattern) {
                let part = match place {
                    Some(place) => b.term(Term::Unpacked(constructor, value, place)),
                    None => TermId::UNKNOWN,
                };
                bind_at(b, terms, inner, part, visible, depth + 1);
            }
        }
        K::StructPattern => {
            let Some(path) = pattern.child_by_field_name("type") else {
                return;
            };
            // Read as a type first: a node means one thing.
            let ty = terms.ty(b, path);
            b.mention(ty, path.start_position().row as u32 + 1);
            let mut cursor = pattern.walk();
            for field in pattern.named_children(&mut cursor) {
                if kind(field) != K::FieldPattern {
                    continue;
                }
                let Some(name) = field.child_by_field_name("name") else {
                    continue;
                };
                let sym = b.node_name(name);
                let part = b.term(Term::UnpackedField(ty, sym));
                match field.child_by_field_name("pattern") {
                    Some(inner) => bind_at(b, terms, inner, part, visible, depth + 1),
                    None => b.local(sym, visible.at, visible.until, part),
                }
            }
        }
        _ => {}
    }
}

/// The patterns in a list, each with its place; behind `..` no place is known.
///
/// A `_` binds nothing and is no node of its own, but it takes a place.
pub(super) fn placed(list: Node<'_>) -> Vec<(Option<u8>, Node<'_>)> {
    let constructor = list.child_by_field_name("type").map(|path| path.id());
    let mut found = Vec::new();
    let mut next = Some(0_u8);
    let mut cursor = list.walk();
    for inner in list.children(&mut cursor) {
        let is_passed_over = constructor == Some(inner.id())
            || matches!(kind(inner), K::LineComment | K::BlockComment);
        if is_passed_over || (!inner.is_named() && inner.kind() != "_") {
            continue;
        }
        if inner.kind() == "remaining_field_pattern" {
            next = None;
            continue;
        }
        if inner.is_named() {
            found.push((next, inner));
        }
        next = next.map(|place| place.saturating_add(1));
    }
    found
}

fn mention_path<'s>(b: &mut Builder<'s>, terms: &mut Terms, path: Node<'_>) {
    let term = terms.expr(b, path);
    b.mention(term, path.start_position().row as u32 + 1);
}
