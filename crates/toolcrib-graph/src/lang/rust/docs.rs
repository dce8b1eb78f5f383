//! Comments, documentation and attributes.

use tree_sitter::Node;

use super::items::Reader;
use crate::facts::{Builder, DefIx, span};
use crate::model::{Span, TextKind};

impl<'s> Reader<'_, 's> {
    pub(super) fn comment(&mut self, node: Node<'_>) {
        let text = self.b.text(node);
        let outer = (text.starts_with("///") && !text.starts_with("////"))
            || (text.starts_with("/**") && !text.starts_with("/***") && text.len() > 4);
        let inner = text.starts_with("//!") || text.starts_with("/*!");
        let mut place = span(node);
        let trimmed = text.trim_end().len() as u32;
        if place.end_byte != place.start_byte + trimmed {
            place.end_byte = place.start_byte + trimmed;
            let lines = text.trim_end().bytes().filter(|b| *b == b'\n').count() as u32;
            place.end_line = place.start_line + lines;
        }
        if outer {
            self.docs.push(place);
            return;
        }
        let scope = self.b.scope();
        if inner {
            let line = self.doc_text(place);
            append_doc(self.b, scope, &line);
            self.b.words(scope, place, TextKind::Doc);
        } else {
            self.b.words(scope, place, TextKind::Comment);
        }
    }

    /// Gives the collected documentation to a definition.
    pub(super) fn flush_docs(&mut self, def: DefIx) {
        let docs = std::mem::take(&mut self.docs);
        let is_file = def == DefIx::ROOT;
        for place in docs {
            if !is_file {
                let line = self.doc_text(place);
                append_doc(self.b, def, &line);
            }
            self.b.words(def, place, TextKind::Doc);
        }
    }

    pub(super) fn doc_text(&self, place: Span) -> String {
        let text = &self.b.source[place.start_byte as usize..place.end_byte as usize];
        if let Some(line) = text
            .strip_prefix("///")
            .or_else(|| text.strip_prefix("//!"))
        {
            return line
                .strip_prefix(' ')
                .unwrap_or(line)
                .trim_end()
                .to_string();
        }
        let inner = text
            .trim_start_matches(['/', '*', '!'])
            .trim_end_matches(['*', '/']);
        let lines: Vec<&str> = inner
            .lines()
            .map(|line| {
                let line = line.trim();
                let line = line.strip_prefix('*').unwrap_or(line);
                line.strip_prefix(' ').unwrap_or(line)
            })
            .collect();
        lines.join("\n").trim().to_string()
    }

    pub(super) fn attribute(&mut self, node: Node<'_>) {
        let text = self.b.text(node);
        let inner = text.trim_start_matches(['#', '!', '[', ' ']);
        let head: &str = inner
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
            .next()
            .unwrap_or("");
        let name = head.rsplit("::").next().unwrap_or(head);
        self.routes_attribute(node, name, inner);
        match name {
            "test" | "rstest" | "test_case" | "quickcheck" | "wasm_bindgen_test" => {
                self.attributes.test = true;
            }
            "path" => {
                self.attributes.path = inner.split('"').nth(1).map(str::to_string);
            }
            _ => {}
        }
    }
}

fn append_doc(b: &mut Builder<'_>, def: DefIx, line: &str) {
    let def = b.def_mut(def);
    let doc = match &def.doc {
        Some(doc) if doc.len() > 4_000 => return,
        Some(doc) => format!("{doc}\n{line}"),
        None => line.to_string(),
    };
    def.doc = Some(doc.into());
}
