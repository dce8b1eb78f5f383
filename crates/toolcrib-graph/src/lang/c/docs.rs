//! Comments above declarations.

use tree_sitter::Node;

use super::items::Reader;
use crate::facts::{DefIx, span};
use crate::model::{Span, TextKind};

/// Comments that follow each other without a gap.
pub(super) struct Pending {
    first: Span,
    last_line: u32,
    end_byte: u32,
    scope: DefIx,
}

impl<'s> Reader<'_, 's> {
    pub(super) fn comment(&mut self, node: Node<'_>) {
        let place = span(node);
        let scope = self.b.scope();
        if let Some(pending) = &mut self.pending
            && pending.scope == scope
            && pending.last_line + 1 == place.start_line
            && self.b.source.as_bytes()[pending.end_byte as usize..place.start_byte as usize]
                .iter()
                .all(u8::is_ascii_whitespace)
        {
            pending.last_line = place.end_line;
            pending.end_byte = place.end_byte;
            return;
        }
        self.flush_comment();
        self.pending = Some(Pending {
            first: place,
            last_line: place.end_line,
            end_byte: place.end_byte,
            scope,
        });
    }

    /// Records what documents nothing.
    pub(in crate::lang) fn flush_comment(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.b
                .words(pending.scope, whole(&pending), TextKind::Comment);
        }
    }

    /// The comment that ends on the line above a byte, with its place.
    pub(super) fn doc_above(&mut self, row: usize, byte: usize) -> Option<(String, Span)> {
        let line = row as u32 + 1;
        let fits = self.pending.as_ref().is_some_and(|p| {
            (p.last_line + 1 == line || p.last_line == line) && p.end_byte as usize <= byte
        });
        if !fits {
            self.flush_comment();
            return None;
        }
        let place = whole(&self.pending.take()?);
        let text = self
            .b
            .source
            .get(place.start_byte as usize..place.end_byte as usize)?;
        let text = plain(text);
        Some((text, place))
    }
}

fn whole(pending: &Pending) -> Span {
    Span {
        end_byte: pending.end_byte,
        end_line: pending.last_line,
        ..pending.first
    }
}

/// A comment without its marks.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim();
        let line = line
            .trim_start_matches(['/', '!', '*', '<'])
            .trim_end_matches("*/")
            .trim();
        let is_rule =
            line.len() > 3 && line.bytes().all(|c| matches!(c, b'-' | b'=' | b'*' | b'/'));
        if !is_rule {
            out.push_str(line);
        }
        out.push('\n');
    }
    out.trim().to_string()
}
