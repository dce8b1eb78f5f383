//! One line a record: how symbols, places and edges are written.
//!
//! The grammar is in the head of [`super`]; this is its only writer.

use super::Lookup;
use super::cap::{MAX_RECORD, clip, one_line};
use crate::model::{FileId, Node, NodeId, NodeKind, SymbolTier};

const MAX_SIGNATURE: usize = 160;
const MAX_DOC: usize = 140;
const MAX_NAME: usize = 300;

/// `path:12`, or `path:12-40` when the place has several lines.
pub(crate) fn place(path: &str, start: u32, end: u32) -> String {
    let path = shown_path(path);
    if end > start {
        format!("{path}:{start}-{end}")
    } else {
        format!("{path}:{start}")
    }
}

/// A path as printed: control characters are spelled out, so that one stays on
/// its line.
pub(crate) fn shown_path(path: &str) -> String {
    if !path.chars().any(char::is_control) {
        return path.to_owned();
    }
    path.chars()
        .flat_map(|c| -> Box<dyn Iterator<Item = char>> {
            if c.is_control() {
                Box::new(c.escape_default())
            } else {
                Box::new(std::iter::once(c))
            }
        })
        .collect()
}

/// The first sentence of a doc comment on one line, `None` when it has none.
pub(crate) fn first_sentence(doc: &str) -> Option<String> {
    let mut sentence = String::new();
    for line in doc.lines().map(str::trim) {
        if line.is_empty() {
            if sentence.is_empty() {
                continue;
            }
            break;
        }
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(line);
        if let Some(end) = sentence_end(&sentence) {
            sentence.truncate(end);
            break;
        }
    }
    let sentence = one_line(&sentence);
    (!sentence.is_empty()).then_some(sentence)
}

/// Where the first sentence of `text` ends: after a full stop that is followed
/// by a space and no lower-case letter, so that `e.g. this` goes on.
fn sentence_end(text: &str) -> Option<usize> {
    for (i, c) in text.char_indices() {
        if matches!(c, '。' | '！' | '？') {
            return Some(i + c.len_utf8());
        }
        if !matches!(c, '.' | '!' | '?') {
            continue;
        }
        let mut rest = text[i + c.len_utf8()..].chars();
        match (rest.next(), rest.next()) {
            (None, _) => return Some(i + 1),
            (Some(' '), Some(after)) if !after.is_lowercase() => return Some(i + 1),
            _ => {}
        }
    }
    None
}

impl Lookup {
    /// The place of a node's definition.
    pub(crate) fn place_of(&self, node: &Node) -> String {
        let path = &self.graph.file(node.file).path;
        place(path, node.span.start_line, node.span.end_line)
    }

    /// `kind qualified_name  path:start-end`.
    pub(crate) fn symbol_head(&self, id: NodeId) -> String {
        let node = self.graph.node(id);
        if node.kind == NodeKind::File {
            return format!("file {}", shown_path(&node.qualified_name));
        }
        let name = clip(&one_line(&node.qualified_name), MAX_NAME);
        format!("{} {name}  {}", node.kind, self.place_of(node))
    }

    /// [`Lookup::symbol_head`] and the signature.
    pub(crate) fn symbol_line(&self, id: NodeId) -> String {
        let node = self.graph.node(id);
        let mut line = self.symbol_head(id);
        if node.kind == NodeKind::File {
            let file = self.graph.file(node.file);
            line.push_str(&format!(
                "  {}, {} lines",
                file.language.map_or("unknown", |l| l.name),
                file.line_count()
            ));
        } else if let Some(signature) = node.signature.as_deref().filter(|s| !s.is_empty()) {
            line.push_str("  ");
            line.push_str(&clip(&one_line(signature), MAX_SIGNATURE));
        }
        clip(&line, MAX_RECORD)
    }

    /// [`Lookup::symbol_line`] and, indented below it, what the doc comment
    /// says first.
    pub(crate) fn symbol_lines(&self, id: NodeId) -> String {
        let mut lines = self.symbol_line(id);
        if let Some(sentence) = self.first_doc_sentence(id) {
            lines.push_str("\n    ");
            lines.push_str(&clip(&sentence, MAX_DOC));
        }
        lines
    }

    /// One line on files among `ids` whose language is read for definitions
    /// only, or not at all; empty when all are read in full.
    pub(crate) fn tier_note(&self, files: impl Iterator<Item = FileId>) -> String {
        let (mut partial, mut text) = (Vec::new(), 0usize);
        let mut files: Vec<FileId> = files.collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            match self.graph.file(file).language {
                Some(l) if l.tier == SymbolTier::Definitions => partial.push(l.name),
                Some(l) if l.tier == SymbolTier::Full => {}
                _ => text += 1,
            }
        }
        partial.sort_unstable();
        partial.dedup();
        let mut note = String::new();
        if !partial.is_empty() {
            note = format!(
                "note: {} is read for definitions only: its calls and references are not in the graph\n",
                partial.join(", ")
            );
        }
        if text > 0 {
            note.push_str(&format!(
                "note: {text} of these files are listed without symbols\n"
            ));
        }
        note
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_ends_at_a_stop_not_at_an_abbreviation() {
        for (doc, expected) in [
            ("Cuts a text. Never panics.", Some("Cuts a text.")),
            ("Cuts, e.g. this.\nMore.", Some("Cuts, e.g. this.")),
            (
                "Cuts a\ntext to size\n\nDetails.",
                Some("Cuts a text to size"),
            ),
            ("\n\n", None),
            (
                "Reads `a.b` and v1.2 files",
                Some("Reads `a.b` and v1.2 files"),
            ),
        ] {
            assert_eq!(first_sentence(doc).as_deref(), expected);
        }
    }

    #[test]
    fn a_newline_in_a_path_stays_on_its_line() {
        assert_eq!(place("a\nb.rs", 3, 3), "a\\nb.rs:3");
    }
}
