//! Annotations written as strings.
//!
//! `"Account | None"` and `"dict[str, models.Account]"` are read by a small
//! parser of their own: dotted names, brackets, unions. Anything else is
//! unknown.

use crate::facts::{Builder, Term, TermId};

const MAX_DEPTH: u32 = 16;

/// The type that a quoted annotation stands for, as seen from byte `at`.
pub(super) fn read(b: &mut Builder<'_>, text: &str, at: u32) -> TermId {
    let mut parser = Reader { rest: text, at };
    parser.union(b, 0)
}

struct Reader<'t> {
    rest: &'t str,
    at: u32,
}

impl Reader<'_> {
    fn union(&mut self, b: &mut Builder<'_>, depth: u32) -> TermId {
        let first = self.single(b, depth);
        let mut all = vec![first];
        while self.eat('|') {
            all.push(self.single(b, depth));
        }
        if all.len() == 1 {
            return first;
        }
        let list = b.list(&all);
        b.term(Term::Either(list))
    }

    fn single(&mut self, b: &mut Builder<'_>, depth: u32) -> TermId {
        if depth > MAX_DEPTH {
            self.rest = "";
            return TermId::UNKNOWN;
        }
        self.rest = self.rest.trim_start_matches([' ', '\n', '\t', '"', '\'']);
        let mut term = TermId::UNKNOWN;
        let mut first = true;
        loop {
            let end = self
                .rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(self.rest.len());
            if end == 0 {
                break;
            }
            let word = &self.rest[..end];
            self.rest = &self.rest[end..];
            let name = b.owned_name(word);
            term = if !first {
                b.term(Term::Member(term, name))
            } else if word == "None" {
                let none = b.owned_name("None");
                b.term(Term::Builtin(none))
            } else {
                b.term(Term::Name(name, self.at))
            };
            first = false;
            if !self.rest.starts_with('.') {
                break;
            }
            self.rest = &self.rest[1..];
        }
        self.rest = self.rest.trim_start_matches(['"', '\'', ' ']);
        if self.eat('[') {
            let mut args = Vec::new();
            while !self.rest.is_empty() && !self.eat(']') {
                let before = self.rest.len();
                args.push(self.union(b, depth + 1));
                if !self.eat(',') && self.rest.len() == before {
                    // Something this parser does not know: give up quietly.
                    self.rest = "";
                }
            }
            args.truncate(8);
            let list = b.list(&args);
            term = b.term(Term::Apply(term, list));
        }
        term
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\t', '"', '\'']);
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}
