//! The options in `#[tool(..)]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitInt, LitStr, Path, Token, parenthesized, parse_quote};

const NAMES: &str = "`name`, `title`, `effect`, `permission`, `exposure`, `result`, \
                     `timeout_secs`, `source`, `domains`, `activates` and `crate`";

/// A word of a closed list and the variant it stands for.
type Words = [(&'static str, &'static str)];

const EFFECTS: &Words = &[
    ("read_only", "ReadOnly"),
    ("write", "Write"),
    ("destructive", "Destructive"),
];
const PERMISSIONS: &Words = &[("allow", "Allow"), ("ask", "Ask"), ("deny", "Deny")];
const EXPOSURES: &Words = &[
    ("direct", "Direct"),
    ("deferred", "Deferred"),
    ("presentation", "Presentation"),
    ("hidden", "Hidden"),
    ("always", "Always"),
];
const RESULTS: &Words = &[("lookup", "Lookup"), ("whole", "Whole")];

/// What the attribute says beyond the function.
pub(crate) struct Options {
    /// The tool's name, if it is not the function's.
    pub(crate) name: Option<LitStr>,
    /// Where the `toolcrib` crate is.
    pub(crate) root: Path,
    /// Method calls on the spec, in the order written.
    pub(crate) changes: Vec<TokenStream>,
}

impl Options {
    /// Reads the options. Every one that is wrong is reported.
    pub(crate) fn parse(tokens: TokenStream) -> (Options, Option<Error>) {
        let mut options = Options {
            name: None,
            root: parse_quote!(::toolcrib),
            changes: Vec::new(),
        };
        let mut seen: Vec<Ident> = Vec::new();
        let parser = syn::meta::parser(|meta| {
            let key = key(&meta)?;
            if seen.contains(&key) {
                return Err(meta.error(format!("`{key}` is given twice")));
            }
            options.option(&key.to_string(), &meta)?;
            seen.push(key);
            Ok(())
        });
        let error = parser.parse2(tokens).err();
        (options, error)
    }

    fn option(&mut self, key: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        match key {
            "name" => {
                let name: LitStr = meta.value()?.parse()?;
                check_name(&name.value(), name.span())?;
                self.name = Some(name);
            }
            "title" => self.text("title", meta)?,
            "source" => {
                let source: LitStr = meta.value()?.parse()?;
                self.changes
                    .push(quote!(.source(__private::SourceId::new(#source))));
            }
            "effect" => self.word("effect", "Effect", EFFECTS, meta)?,
            "permission" => self.word("permission", "Permission", PERMISSIONS, meta)?,
            "exposure" => self.word("exposure", "Exposure", EXPOSURES, meta)?,
            "result" => self.word("result_form", "ResultForm", RESULTS, meta)?,
            "timeout_secs" => {
                let seconds: LitInt = meta.value()?.parse()?;
                if seconds.base10_parse::<u64>()? == 0 {
                    return Err(Error::new(
                        seconds.span(),
                        "a timeout of 0 would cut off every call; leave `timeout_secs` out for \
                         the dispatcher's default",
                    ));
                }
                self.changes
                    .push(quote!(.timeout(::core::time::Duration::from_secs(#seconds))));
            }
            "domains" => {
                let list;
                parenthesized!(list in meta.input);
                let words = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?.into_iter();
                self.changes.push(quote!(.domains([#(#words),*])));
            }
            "activates" => self.changes.push(quote!(.activating())),
            "crate" => self.root = meta.value()?.parse()?,
            _ => {
                return Err(meta.error(format!(
                    "`#[tool]` has no option `{key}`; its options are {NAMES}"
                )));
            }
        }
        Ok(())
    }

    fn text(&mut self, method: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let text: LitStr = meta.value()?.parse()?;
        let method = format_ident!("{method}");
        self.changes.push(quote!(.#method(#text)));
        Ok(())
    }

    fn word(
        &mut self,
        method: &str,
        kind: &str,
        words: &Words,
        meta: &ParseNestedMeta<'_>,
    ) -> syn::Result<()> {
        let literal: LitStr = meta.value()?.parse()?;
        let value = literal.value();
        let Some((_, variant)) = words.iter().find(|(word, _)| *word == value) else {
            let known: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            return Err(Error::new(
                literal.span(),
                format!("{value:?} is not one of {}", known.join(", ")),
            ));
        };
        let method = format_ident!("{method}");
        let kind = format_ident!("{kind}");
        let variant = Ident::new(variant, literal.span());
        self.changes
            .push(quote!(.#method(__private::#kind::#variant)));
        Ok(())
    }
}

/// `crate` is a keyword, which `get_ident` accepts as well.
fn key(meta: &ParseNestedMeta<'_>) -> syn::Result<Ident> {
    meta.path
        .get_ident()
        .cloned()
        .ok_or_else(|| meta.error(format!("the options of `#[tool]` are {NAMES}")))
}

/// The rule that every model provider accepts, checked before the program runs.
pub(crate) fn check_name(name: &str, span: Span) -> syn::Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=64).contains(&name.len()) && name.chars().all(allowed) {
        return Ok(());
    }
    Err(Error::new(
        span,
        format!(
            "{name:?} cannot be a tool's name: model providers accept 1 to 64 of letters, digits, \
             `_` and `-`"
        ),
    ))
}
