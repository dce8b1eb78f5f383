//! Comments, and which of them document what follows.

use tree_sitter::Node;

use super::items::Reader;
use super::{K, kind};
use crate::facts::span;
use crate::model::{Span, TextKind};

impl Reader<'_, '_> {
    pub(super) fn comment(&mut self, node: Node<'_>) {
        let place = span(node);
        let line = self.b.source[..place.start_byte as usize]
            .rsplit('\n')
            .next()
            .unwrap_or("");
        let trails = !line.trim().is_empty();
        let follows = self
            .comments
            .last()
            .is_some_and(|last| last.end_line + 1 == place.start_line);
        if !follows {
            self.flush_comments();
        }
        if trails {
            let scope = self.b.scope();
            self.b.words(scope, place, TextKind::Comment);
        } else {
            self.comments.push(place);
        }
    }

    /// Collected comments that document nothing.
    pub(super) fn flush_comments(&mut self) {
        let scope = self.b.scope();
        for place in std::mem::take(&mut self.comments) {
            self.b.words(scope, place, TextKind::Comment);
        }
    }

    /// Decides, at the node after them, what the collected comments are.
    pub(super) fn settle_comments(&mut self, node: Node<'_>, item: K) {
        let line = node.start_position().row as u32 + 1;
        let touches = self.comments.last().is_some_and(|c| c.end_line + 1 == line);
        let declares = matches!(
            item,
            K::Package
                | K::Function
                | K::Method
                | K::TypeDeclaration
                | K::TypeSpec
                | K::TypeAlias
                | K::ConstDeclaration
                | K::ConstSpec
                | K::VarDeclaration
                | K::VarSpec
        );
        if touches && declares {
            self.docs = std::mem::take(&mut self.comments);
        } else {
            self.flush_comments();
        }
    }

    /// The text of comments without their marks; `None` when there is none.
    pub(super) fn doc_text(&self, docs: &[Span]) -> Option<String> {
        let mut out = String::new();
        for place in docs {
            let text = &self.b.source[place.start_byte as usize..place.end_byte as usize];
            push_comment(&mut out, text);
        }
        let text = out.trim();
        (!text.is_empty()).then(|| text.to_string())
    }

    /// The comments right above a member of a list.
    pub(super) fn doc_above(&self, above: &[Node<'_>], line: usize) -> Option<String> {
        let mut next = line;
        let mut first = above.len();
        for (i, comment) in above.iter().enumerate().rev() {
            if comment.end_position().row + 1 != next {
                break;
            }
            next = comment.start_position().row;
            first = i;
        }
        let mut out = String::new();
        for comment in &above[first..] {
            push_comment(&mut out, self.b.text(*comment));
        }
        let text = out.trim();
        (!text.is_empty()).then(|| text.to_string())
    }
}

fn push_comment(out: &mut String, text: &str) {
    if let Some(block) = text.strip_prefix("/*") {
        out.push_str(block.strip_suffix("*/").unwrap_or(block).trim());
        out.push('\n');
        return;
    }
    let line = text.strip_prefix("//").unwrap_or(text);
    // Directives such as `//go:build` speak to tools.
    let is_directive = !line.starts_with([' ', '\t'])
        && line.split_once(':').is_some_and(|(tool, _)| {
            !tool.is_empty() && tool.bytes().all(|c| c.is_ascii_lowercase())
        });
    if !is_directive {
        out.push_str(line.strip_prefix(' ').unwrap_or(line).trim_end());
        out.push('\n');
    }
}

/// Whether a node is a comment.
pub(super) fn is_comment(node: Node<'_>) -> bool {
    kind(node) == K::Comment
}
