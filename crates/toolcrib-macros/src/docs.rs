//! What of a doc comment the model reads.
//!
//! Only the choice of lines is made here; folding them into paragraphs happens at
//! run time, since a doc attribute may be any expression, such as `include_str!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Sections that speak to readers of the code, not to a caller.
const FOR_PROGRAMMERS: [&str; 5] = ["Errors", "Panics", "Safety", "Examples", "Example"];

/// The lines of a doc comment.
pub(crate) struct Docs(Vec<Line>);

enum Line {
    Text(String),
    Computed(Expr),
}

impl Docs {
    /// The doc comment among `attributes`.
    pub(crate) fn of(attributes: &[Attribute]) -> Docs {
        let values = attributes
            .iter()
            .filter_map(|attribute| match &attribute.meta {
                Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
                _ => None,
            });
        Docs(values.flat_map(lines).collect())
    }

    /// The same without the sections that speak to programmers.
    pub(crate) fn for_callers(mut self) -> Docs {
        let section = |line: &Line| match line {
            Line::Text(text) => text
                .strip_prefix('#')
                .is_some_and(|rest| FOR_PROGRAMMERS.contains(&rest.trim_matches(['#', ' ']))),
            Line::Computed(_) => false,
        };
        if let Some(end) = self.0.iter().position(section) {
            self.0.truncate(end);
        }
        self
    }

    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0
            .iter()
            .all(|line| matches!(line, Line::Text(text) if text.trim().is_empty()))
    }

    /// A constant expression of type `&'static str`.
    pub(crate) fn text(&self) -> TokenStream {
        let lines = self.0.iter().map(|line| match line {
            Line::Text(text) => quote!(#text, "\n"),
            Line::Computed(value) => quote!(#value, "\n"),
        });
        quote!(::core::concat!(#(#lines),*))
    }
}

fn lines(value: &Expr) -> Vec<Line> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => text
            .value()
            .split('\n')
            .map(|line| Line::Text(line.strip_prefix(' ').unwrap_or(line).to_owned()))
            .collect(),
        other => vec![Line::Computed(other.clone())],
    }
}
