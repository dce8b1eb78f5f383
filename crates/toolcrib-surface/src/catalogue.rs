//! The list of deferred tools that a model reads.
//!
//! A function of the admitted tools alone: neither loads nor readings move a byte
//! of it, since it stands in the part of a request that providers cache. What does
//! not fit its budget is shortened by the same steps every time.

use std::collections::BTreeMap;
use std::fmt::Write;

use toolcrib_core::{Str, ToolSpec};

use crate::sentence::first_sentence;
use crate::tokens::text_tokens;

/// How far a catalogue had to be shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CatalogueStep {
    /// There is nothing to list.
    Empty,
    /// A line a tool, with its first sentence.
    Sentences,
    /// The names alone.
    Names,
    /// Each source with how many tools it has.
    Sources,
    /// The largest sources, and how many more sources and tools there are.
    LargestSources {
        /// Sources that are not named.
        sources_left: usize,
        /// Their tools.
        tools_left: usize,
    },
}

/// See the module's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// What the model reads; empty when there is nothing to list.
    pub text: Str,
    /// How far it was shortened.
    pub step: CatalogueStep,
    /// How many tools it stands for.
    pub tools: usize,
}

/// Longest part of a source's name that is repeated to a model, in characters.
const SOURCE: usize = 64;

const LINES: &str = "Tools to load:";
const NAMES: &str = "Names of tools to load: ";
const SOURCES: &str = "Sources of tools to load, with how many each has: ";

impl Catalogue {
    /// The catalogue of these tools, which come in name order.
    pub(crate) fn of<'a>(
        tools: impl Iterator<Item = &'a ToolSpec> + Clone,
        budget: usize,
    ) -> Catalogue {
        let count = tools.clone().count();
        let make = |step, text: String| Catalogue {
            text: text.into(),
            step,
            tools: count,
        };
        if count == 0 {
            return make(CatalogueStep::Empty, String::new());
        }
        if let Some(text) = within(budget, LINES, "", tools.clone().map(line)) {
            return make(CatalogueStep::Sentences, text);
        }
        let names = tools.clone().map(|spec| spec.name.to_string());
        if let Some(text) = within(budget, NAMES, ", ", names) {
            return make(CatalogueStep::Names, text);
        }
        let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
        for spec in tools {
            *sources.entry(&spec.source.0).or_default() += 1;
        }
        let mut sources: Vec<(String, usize)> = sources
            .into_iter()
            .map(|(name, tools)| (plain(name, SOURCE), tools))
            .collect();
        sources.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let entries = sources
            .iter()
            .map(|(name, tools)| format!("{name} {tools}"));
        if let Some(text) = within(budget, SOURCES, ", ", entries) {
            return make(CatalogueStep::Sources, text);
        }
        let (text, step) = largest(&sources, count, budget);
        make(step, text)
    }
}

fn line(spec: &ToolSpec) -> String {
    let sentence = plain(first_sentence(&spec.description), usize::MAX);
    let mut line = format!("\n- {}", spec.name);
    if !sentence.is_empty() {
        let _ = write!(line, " — {sentence}");
    }
    line
}

/// The whole list behind `head`, unless it takes more than `budget` tokens.
fn within(
    budget: usize,
    head: &str,
    between: &str,
    items: impl Iterator<Item = String>,
) -> Option<String> {
    let mut text = head.to_owned();
    let mut tokens = text_tokens(head);
    for (at, item) in items.enumerate() {
        if at > 0 {
            text.push_str(between);
            tokens += text_tokens(between);
        }
        text.push_str(&item);
        tokens += text_tokens(&item);
        if tokens > budget {
            return None;
        }
    }
    Some(text)
}

/// As many of the largest sources as fit beside the line that counts the rest.
fn largest(sources: &[(String, usize)], tools: usize, budget: usize) -> (String, CatalogueStep) {
    let rest =
        |sources: usize, tools: usize| format!("and {sources} more with {tools} tools in all");
    let mut tokens = text_tokens(SOURCES) + text_tokens(&rest(sources.len(), tools));
    let mut text = SOURCES.to_owned();
    let (mut named, mut counted) = (0, 0);
    for (name, count) in sources {
        let item = format!("{name} {count}, ");
        tokens += text_tokens(&item);
        if tokens > budget {
            break;
        }
        text.push_str(&item);
        named += 1;
        counted += count;
    }
    let (sources_left, tools_left) = (sources.len() - named, tools - counted);
    text.push_str(&rest(sources_left, tools_left));
    let step = CatalogueStep::LargestSources {
        sources_left,
        tools_left,
    };
    (text, step)
}

/// At most `characters` of a text from elsewhere, on one line.
pub(crate) fn plain(text: &str, characters: usize) -> String {
    let shown = text.chars().take(characters);
    let mut plain: String = shown
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(characters).is_some() {
        plain.push('…');
    }
    plain
}
