//! Which comment documents which definition.
//!
//! A `/** … */` comment waits until the next node: a definition with nothing but
//! modifiers between takes it, anything else lets it be a plain comment.

use tree_sitter::Node;

use super::items::Reader;
use crate::facts::{DefIx, span};
use crate::model::{Span, TextKind};

/// Between a comment and what it documents stand at most this many bytes.
const MAX_GAP: usize = 400;

const MODIFIERS: &[&str] = &[
    "export",
    "default",
    "declare",
    "abstract",
    "async",
    "const",
    "let",
    "var",
    "public",
    "private",
    "protected",
    "static",
    "readonly",
    "override",
    "accessor",
    "module.exports",
    "exports",
];

/// A doc comment that nothing has taken yet.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    scope: DefIx,
    span: Span,
}

impl<'s> Reader<'_, 's> {
    pub(super) fn comment(&mut self, node: Node<'_>) {
        self.let_go();
        let scope = self.b.scope();
        let text = self.b.text(node);
        if text.starts_with("/**") && text.len() > 5 {
            self.waiting = Some(Waiting {
                scope,
                span: span(node),
            });
        } else {
            self.b.words(scope, span(node), TextKind::Comment);
        }
    }

    /// The comment that waits documents nothing.
    pub(super) fn let_go(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            self.b.words(waiting.scope, waiting.span, TextKind::Comment);
        }
    }

    /// The doc comment before a definition that begins at `start`.
    pub(super) fn doc_before(&mut self, start: usize) -> Option<(Span, String)> {
        let waiting = self.waiting?;
        let gap = self.b.source.get(waiting.span.end_byte as usize..start)?;
        let is_plain = gap.len() <= MAX_GAP
            && (gap.trim_start().starts_with('@')
                || gap
                    .split_whitespace()
                    .all(|word| MODIFIERS.contains(&word.trim_end_matches(['=', '.']))));
        if !is_plain {
            return None;
        }
        self.waiting = None;
        let text = self
            .b
            .source
            .get(waiting.span.start_byte as usize..waiting.span.end_byte as usize)?;
        Some((waiting.span, unmarked(text)))
    }
}

/// The text of a block comment without its markers.
fn unmarked(text: &str) -> String {
    let inner = text
        .strip_prefix("/**")
        .unwrap_or(text)
        .strip_suffix("*/")
        .unwrap_or(text);
    let mut out = String::new();
    for line in inner.lines() {
        let line = line.trim();
        let line = line
            .strip_prefix("* ")
            .or_else(|| line.strip_prefix('*'))
            .unwrap_or(line);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.trim().to_string()
}
