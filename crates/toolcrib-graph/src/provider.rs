//! Where graphs come from.
//!
//! [`TreeSitterProvider`] is the embedded default: it parses every file whose
//! language has rules, in parallel and with a limit for each file, and links
//! the facts. Providers return parts, not a graph: ordering and indexing are the
//! same for all.

mod cached;
mod depth;
mod pack;

use std::cell::RefCell;
use std::ops::ControlFlow;

use rayon::prelude::*;
use tree_sitter::{ParseOptions, ParseState, Parser};

use crate::facts::{Builder, FileFacts};
use crate::graph::GraphParts;
use crate::lang::{RULES, rules_of_tree};
use crate::link::link;
use crate::scan::{Problem, ProblemKind, SourceFile};

pub use cached::CachedProvider;

/// Makes the parts of a graph from files.
pub trait GraphProvider: Send + Sync {
    /// What listings call it.
    fn name(&self) -> &'static str;

    /// Files come in path order. Every file must become a file node, also one
    /// that could not be understood; the same input must give the same parts.
    fn provide(&self, files: &[SourceFile]) -> Provided;
}

/// What a provider found, and what it could not make sense of.
#[derive(Default)]
pub struct Provided {
    /// Nodes, edges, call sites, texts.
    pub parts: GraphParts,
    /// Files that were understood in part or not at all.
    pub problems: Vec<Problem>,
}

/// Parses with the embedded grammars and resolves by what sources declare.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeSitterProvider;

impl GraphProvider for TreeSitterProvider {
    fn name(&self) -> &'static str {
        "tree-sitter"
    }

    fn provide(&self, files: &[SourceFile]) -> Provided {
        let languages = rules_of_tree(files);
        let facts: Vec<FileFacts> = files
            .par_iter()
            .zip(&languages)
            .map(|(file, language)| extract(&file.path, &file.text, *language))
            .collect();
        provided(files, facts, languages)
    }
}

/// Links what was read of each file, and says what could not be.
fn provided(
    files: &[SourceFile],
    facts: Vec<FileFacts>,
    languages: Vec<Option<usize>>,
) -> Provided {
    let mut problems = Vec::new();
    for (file, facts) in files.iter().zip(&facts) {
        let kind = match (facts.gave_up, facts.too_deep, facts.syntax_errors) {
            (true, _, _) => ProblemKind::ParseGaveUp,
            (_, true, _) => ProblemKind::TooDeep,
            (_, _, true) => ProblemKind::SyntaxErrors,
            _ => continue,
        };
        problems.push(Problem {
            path: file.path.clone(),
            kind,
            detail: String::new(),
        });
    }
    Provided {
        parts: link(files, &facts, languages),
        problems,
    }
}

/// Parser steps, about 100 operations each, that a file may take: far above
/// what the largest regular file needs, and independent of the machine.
const MAX_PROGRESS_CALLS: u32 = 400_000;

thread_local! {
    static PARSERS: RefCell<Vec<Option<Parser>>> = const { RefCell::new(Vec::new()) };
}

/// Parses a text unless it takes too long.
pub(crate) fn parse(parser: &mut Parser, bytes: &[u8]) -> Option<tree_sitter::Tree> {
    let mut calls = 0u32;
    let mut progress = |_: &ParseState| {
        calls += 1;
        if calls > MAX_PROGRESS_CALLS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let tree = parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or(&[]),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    );
    if tree.is_none() {
        parser.reset();
    }
    tree
}

/// What one file says; a function of its path, text and language alone.
pub(crate) fn extract(path: &str, text: &str, language: Option<usize>) -> FileFacts {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut builder = Builder::new(text, name);
    let Some(language) = language else {
        return builder.finish();
    };
    let rules = RULES[language];
    let tree = PARSERS.with_borrow_mut(|parsers| {
        parsers.resize_with(RULES.len(), || None);
        let parser = parsers[language].get_or_insert_with(Parser::new);
        parser.set_language(&rules.grammar(path)).ok()?;
        let parsed = rules.parsed_text(text);
        let parsed = parsed.as_deref().unwrap_or(text);
        let bounded = depth::bounded(parsed);
        builder.too_deep(bounded.is_some());
        let text = bounded.as_deref().unwrap_or(parsed);
        let tree = parse(parser, text.as_bytes())?;
        if !tree.root_node().has_error() {
            return Some((tree, false));
        }
        let again = rules.mended(text);
        let mended = again.and_then(|text| parse(parser, text.as_bytes()));
        Some((mended.unwrap_or(tree), true))
    });
    let Some((tree, errors)) = tree else {
        builder.gave_up();
        return builder.finish();
    };
    builder.syntax_errors(errors);
    rules.extract(tree.root_node(), path, &mut builder);
    builder.finish()
}
