//! Which of the symbols seen answer the question best.
//!
//! Every term counts by its rarity (the fewer results its own search had, the
//! more), and by the best field it occurs in: a symbol's name above its path,
//! its doc comment, its comments, its body. A symbol that has most of the terms
//! beats one that has one of them in its name.

use std::collections::{BTreeMap, BTreeSet};

use super::meaning::{Meaning, telling_words};
use super::notes::{Edge, Notes, Place, Symbol};
use super::question::{Intent, Question, Term};
use super::words::{alike, each_word, prefix, stem};

/// A symbol with its score.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'n> {
    pub(super) name: &'n str,
    pub(super) symbol: &'n Symbol,
    pub(super) score: f64,
    /// Share of the terms' weight that it has anywhere, 0 to 1.
    pub(super) coverage: f64,
    /// Where other files define the same name, the one most at home first.
    pub(super) copies: Vec<&'n Place>,
    /// Other definitions of the same qualified name: overloads, conditional ones and
    /// copies, by name.
    pub(super) twins: Vec<(&'n str, &'n Symbol)>,
}

/// A term and what it counts for in this repository.
#[derive(Clone, Debug)]
pub(super) struct Weighed<'q> {
    pub(super) term: &'q Term,
    pub(super) weight: f64,
}

/// How rare each term is here, by the number of results of its own search.
pub(super) fn weigh<'q>(question: &'q Question, notes: &Notes) -> Vec<Weighed<'q>> {
    let weighed = question.terms.iter().map(|term| {
        let total = notes.totals.get(prefix(&term.stem)).copied().unwrap_or(50);
        #[allow(clippy::cast_precision_loss)]
        let rarity = (1.0 / (1.0 + (1.0 + total as f64 / 8.0).ln())).powf(1.5);
        // What the repository never says tells nothing apart but by other words.
        let known = match total {
            // Beside a name, words of prose that nothing has say nothing.
            0 if !question.names.is_empty() => 0.0,
            0 => 0.4,
            _ => 1.0,
        };
        Weighed {
            term,
            weight: term.weight * rarity * known,
        }
    });
    weighed.collect()
}

/// All symbols seen, best first; ties by name. Of the copies of one name that
/// score the same the one with the shorter path stands for the others.
pub(super) fn candidates<'n>(question: &Question, notes: &'n Notes) -> Vec<Candidate<'n>> {
    let terms = weigh(question, notes);
    let mut meaning = Meaning::new(&question.text);
    let mut found: Vec<Candidate<'n>> = notes
        .symbols
        .iter()
        .map(|(name, symbol)| judge(question, &terms, &mut meaning, notes, name, symbol))
        .filter(|candidate| candidate.score > 0.0)
        .collect();
    lift(notes, &mut found);
    types_first(question, &mut found);
    found.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        let by_name = by_score.then_with(|| plain(a.name).cmp(plain(b.name)));
        let by_home = by_name.then_with(|| home(a.symbol).cmp(&home(b.symbol)));
        by_home.then_with(|| a.name.cmp(b.name))
    });
    // Overloads and conditional definitions are one place to a reader, and so are
    // copies in several source roots.
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept: Vec<Candidate<'n>> = Vec::new();
    for candidate in found {
        match at.get(plain(candidate.name)) {
            Some(&first) => {
                kept[first].mention(candidate.symbol);
                kept[first].twins.push((candidate.name, candidate.symbol));
            }
            None => {
                at.insert(plain(candidate.name), kept.len());
                kept.push(candidate);
            }
        }
    }
    for candidate in &mut kept {
        candidate.copies.sort_by_key(|place| distance(place));
        candidate.twins.retain(|(_, twin)| twin.place.is_some());
        candidate
            .twins
            .sort_by_key(|(name, twin)| (home(twin), *name));
    }
    kept
}

/// The least score that is worth naming beside the best. A type that a how-question
/// writes is at the top for its name alone, and what does the work is measured by what
/// comes after it.
pub(super) fn least(question: &Question, found: &[Candidate<'_>]) -> f64 {
    const NEAR: f64 = 0.3;
    let is_named_type = |c: &&Candidate<'_>| {
        let is_type = matches!(
            &*c.symbol.kind,
            "struct" | "class" | "enum" | "interface" | "type_alias" | "module"
        );
        question.intent == Intent::How && is_type && named(question, c.name) > 0.0
    };
    let measure = found.iter().find(|c| !is_named_type(c));
    measure.or(found.first()).map_or(0.0, |c| c.score * NEAR)
}

/// What something is, its type says before the functions of the same name do.
fn types_first(question: &Question, found: &mut [Candidate<'_>]) {
    let Some(subject) = question.subject.as_deref() else {
        return;
    };
    if question.intent != Intent::What {
        return;
    }
    let same = |c: &&mut Candidate<'_>| bare(c.name).eq_ignore_ascii_case(subject);
    let most = found
        .iter_mut()
        .filter(same)
        .map(|c| c.score)
        .fold(0.0, f64::max);
    for candidate in found.iter_mut().filter(same) {
        let path = candidate.symbol.place.as_ref().map_or("", |p| &p.path);
        let own = path_prior(question, path, "") > 0.5;
        let is_type = matches!(
            &*candidate.symbol.kind,
            "struct" | "class" | "enum" | "interface" | "type_alias"
        );
        if own && is_type && bare(candidate.name) != owner(candidate.name) {
            candidate.score += most;
        }
    }
}

impl<'n> Candidate<'n> {
    /// Takes note of a definition of the same name; one of each other file counts.
    fn mention(&mut self, other: &'n Symbol) {
        let (Some(own), Some(place)) = (&self.symbol.place, &other.place) else {
            return;
        };
        if own.path == place.path || self.symbol.kind != other.kind {
            return;
        }
        match self.copies.iter_mut().find(|copy| copy.path == place.path) {
            Some(copy) if place.start < copy.start => *copy = place,
            Some(_) => {}
            None => self.copies.push(place),
        }
    }
}

/// A qualified name without the number that tells repeated definitions apart.
pub(super) fn plain(name: &str) -> &str {
    match name.rsplit_once('~') {
        // A destructor has the mark before its name.
        Some((plain, number)) if number.parse::<u32>().is_ok() => plain,
        _ => name,
    }
}

/// What is nearer to the top of the tree is the main one of several copies:
/// fewer directories, then the shorter path, then by name. What was not found
/// itself comes last.
pub(super) fn home(symbol: &Symbol) -> (bool, Option<(usize, usize, &str, u32)>) {
    let place = symbol.place.as_ref();
    (place.is_none(), place.map(distance))
}

fn distance(place: &Place) -> (usize, usize, &str, u32) {
    let path = place.path.as_str();
    (path.matches('/').count(), path.len(), path, place.start)
}

/// Lifts what calls, or is called by, other good candidates: where several meet
/// is where the thing is done.
fn lift(notes: &Notes, found: &mut [Candidate<'_>]) {
    let scores: BTreeMap<&str, f64> = found.iter().map(|c| (c.name, c.score)).collect();
    let mut gains: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, around) in &notes.neighborhoods {
        let mut seen: BTreeSet<(&str, bool)> = BTreeSet::new();
        let proven = |edge: &&Edge| edge.kind == "calls" && edge.ambiguous.is_none();
        for edge in around.edges.iter().filter(proven) {
            let (Some(own), Some(other)) =
                (scores.get(name.as_str()), scores.get(edge.name.as_str()))
            else {
                continue;
            };
            if name == &edge.name || !seen.insert((&edge.name, edge.incoming)) {
                continue;
            }
            let (caller, called) = if edge.incoming {
                (other, own)
            } else {
                (own, other)
            };
            let (caller_name, called_name) = if edge.incoming {
                (edge.name.as_str(), name.as_str())
            } else {
                (name.as_str(), edge.name.as_str())
            };
            *gains.entry(caller_name).or_default() += CALLER_GAIN * called;
            *gains.entry(called_name).or_default() += CALLED_GAIN * caller;
        }
    }
    for candidate in found {
        let gain = gains.get(candidate.name).copied().unwrap_or(0.0);
        candidate.score += gain.min(candidate.score * MOST_GAIN) * candidate.coverage;
    }
}

/// Share of its score that a candidate gives to what calls it.
const CALLER_GAIN: f64 = 0.2;
/// Share of its score that a candidate gives to what it calls.
const CALLED_GAIN: f64 = 0.1;
/// Most that is gained so, as a share of the own score.
const MOST_GAIN: f64 = 0.8;

/// What a word near in meaning counts beside the word itself.
const NEAR: f64 = 0.9;
/// What a constructor counts beside its class when it is asked what something is.
const CONSTRUCTOR: f64 = 0.5;
/// What deciding counts for when that is asked.
const DECIDES: f64 = 1.3;

/// Whether a symbol says by its name or type that it decides something.
fn decides(name: &str, signature: &str) -> bool {
    let mut first = String::new();
    each_word(name, |word| {
        if first.is_empty() {
            first = word.to_owned();
        }
    });
    matches!(
        first.as_str(),
        "is" | "has" | "can" | "should" | "must" | "needs" | "will" | "may"
    ) || signature.contains("-> bool")
        || signature.ends_with(" bool")
        || signature.contains("boolean ")
}

/// Stems of one field.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_word(text, |word| {
        found.insert(stem(word));
    });
    found
}

/// How well a term is met by a field's stems: itself, a longer word that begins
/// with it, or a word used for it.
pub(super) fn met(term: &Term, field: &BTreeSet<String>) -> f64 {
    if field.contains(&term.stem) {
        return 1.0;
    }
    let long = term.stem.len() >= 4;
    if long
        && field
            .range(term.stem.clone()..)
            .next()
            .is_some_and(|s| s.starts_with(&term.stem))
    {
        return 0.8;
    }
    if alike(&term.stem).any(|other| field.contains(other)) {
        return 0.5;
    }
    0.0
}

/// The share of the terms' weight that a field has.
pub(super) fn share(terms: &[Weighed<'_>], field: &BTreeSet<String>) -> f64 {
    let all: f64 = terms.iter().map(|t| t.weight).sum();
    let has: f64 = terms.iter().map(|t| t.weight * met(t.term, field)).sum();
    if all > 0.0 { has / all } else { 0.0 }
}

fn joined(lines: &BTreeMap<u32, String>) -> String {
    lines
        .values()
        .fold(String::new(), |all, line| all + line + "\n")
}

/// The last part of a qualified name, as the source writes it.
pub(super) fn bare(name: &str) -> &str {
    let name = plain(name);
    let after_colons = name.rsplit("::").next().unwrap_or(name);
    after_colons
        .rsplit(['.', '/'])
        .next()
        .unwrap_or(after_colons)
}

/// The part before the last of a qualified name.
pub(super) fn owner(name: &str) -> &str {
    let name = plain(name);
    let rest = &name[..name.len() - bare(name).len()];
    bare(rest.trim_end_matches([':', '.', '/']))
}

fn judge<'n>(
    question: &Question,
    terms: &[Weighed<'_>],
    meaning: &mut Meaning,
    notes: &Notes,
    name: &'n str,
    symbol: &'n Symbol,
) -> Candidate<'n> {
    let path = symbol
        .place
        .as_ref()
        .map_or(symbol.text_path.as_str(), |place| &place.path);
    let bare_name = bare(name);
    let own = stems(bare_name);
    let wide = stems(&format!("{} {path}", plain(name)));
    let signature = stems(&symbol.signature);
    let doc = stems(&symbol.doc);
    let texts = stems(&joined(&symbol.texts));
    // What a file says of itself at its head holds for what is in it.
    let head = notes.symbols.get(path).filter(|_| path != name);
    let head = stems(&head.map_or(String::new(), |file| joined(&file.texts)));
    let body = match &symbol.place {
        Some(place) => stems(
            &notes
                .lines_in(place)
                .fold(String::new(), |all, (_, line)| all + line + "\n"),
        ),
        None => BTreeSet::new(),
    };
    let lines = symbol.place.as_ref().map_or(1, |p| p.end - p.start + 1);
    // Among many lines any word occurs somewhere.
    let dense = (60.0 / f64::from(lines.max(60))).sqrt();
    let (mut sum, mut had, mut all) = (0.0, 0.0, 0.0);
    let name_words = telling_words(bare_name);
    let doc_words = telling_words(&symbol.doc);
    for Weighed { term, weight } in terms {
        let near_name = NEAR * meaning.nearest(&term.word, &name_words);
        let near_doc = NEAR * meaning.nearest(&term.word, &doc_words);
        let fields = [
            (3.0, &own),
            (1.5, &wide),
            (1.6, &doc),
            (1.3, &texts),
            (0.9, &signature),
            (0.8 * dense, &body),
            (0.7, &head),
        ];
        let mut values: Vec<f64> = fields
            .iter()
            .map(|(value, field)| value * met(term, field))
            .collect();
        values[0] = values[0].max(3.0 * near_name);
        values[2] = values[2].max(1.6 * near_doc);
        values.sort_by(|a, b| b.total_cmp(a));
        let best = values[0];
        sum += weight * (best + 0.25 * values[1..].iter().sum::<f64>());
        had += weight * best.min(1.0);
        all += weight;
    }
    let coverage = if all > 0.0 { had / all } else { 0.0 };
    // A name made of the asked words alone says more than one that has them among others.
    let asked = own
        .iter()
        .filter(|s| terms.iter().any(|t| t.term.stem == **s))
        .count();
    #[allow(clippy::cast_precision_loss)]
    let purity = if own.is_empty() {
        0.0
    } else {
        asked as f64 / own.len() as f64
    };
    // One sentence or name that has most of the question says it; words strewn
    // over a long body may not.
    let share = |field: &BTreeSet<String>| share(terms, field);
    let mut owned = own.clone();
    owned.extend(stems(owner(name)));
    let mut together = share(&owned).max(share(&doc));
    for line in symbol.texts.values() {
        together = together.max(0.9 * share(&stems(line)));
    }
    let mut score = sum * (0.5 + 0.5 * coverage) * (1.0 + 0.3 * purity) * (0.8 + 0.5 * together);
    if question.names.is_empty() && question.subject.is_none() {
        let said = format!(
            "{} {bare_name}. {} {}",
            owner(name),
            symbol.doc,
            joined(&symbol.texts)
        );
        score *= 1.0 + meaning.near(&said);
        if question.decides && decides(bare_name, &symbol.signature) {
            score *= DECIDES;
        }
    }
    score *= kind_prior(question, &symbol.kind) * path_prior(question, path, &symbol.kind);
    if question.intent == Intent::What && bare_name == owner(name) {
        score *= CONSTRUCTOR;
    }
    score *= length_prior(question, &symbol.kind, lines);
    score *= 1.0 + 0.12 * centrality(notes, name);
    // Of several of the name the product's own sources come first.
    let home = path_prior(question, path, &symbol.kind).sqrt();
    score += named(question, name) * 4.0 * home;
    Candidate {
        name,
        symbol,
        score,
        coverage,
        copies: Vec::new(),
        twins: Vec::new(),
    }
}

/// 1 when the question writes this very name, less for its last part alone.
pub(super) fn named(question: &Question, name: &str) -> f64 {
    let full = plain(name).replace("::", ".");
    let value = question.names.iter().map(|asked| {
        let asked = asked.replace("::", ".");
        if full == asked || full.ends_with(&format!(".{asked}")) {
            1.0
        } else if full
            .to_lowercase()
            .ends_with(&format!(".{}", asked.to_lowercase()))
        {
            0.8
        } else if bare(name) == bare(&asked) {
            0.4
        } else {
            0.0
        }
    });
    // A word alone may be prose, unless who calls it is asked.
    let whole = match question.intent {
        Intent::Callers | Intent::Callees => 1.0,
        _ => 0.3,
    };
    let subject = question.subject.as_ref().map_or(0.0, |subject| {
        if bare(name) == subject {
            whole
        } else if bare(name).eq_ignore_ascii_case(subject) {
            whole * 0.8
        } else {
            0.0
        }
    });
    value.fold(subject, f64::max)
}

fn kind_prior(question: &Question, kind: &str) -> f64 {
    let what = question.intent == Intent::What;
    match kind {
        "function" | "method" | "macro" => 1.0,
        "route" => 1.1,
        "struct" | "class" | "enum" | "interface" | "type_alias" => {
            if what {
                1.25
            } else {
                0.85
            }
        }
        "constant" => 0.9,
        "module" => 0.75,
        "enum_member" | "field" | "variable" => 0.6,
        "test" if question.about_tests => 1.0,
        "test" => 0.2,
        // A comment whose symbol has not been seen yet.
        _ => 0.8,
    }
}

/// What is done is done in more than a few lines: accessors and setters have
/// the words, not the work.
fn length_prior(question: &Question, kind: &str, lines: u32) -> f64 {
    let does = matches!(kind, "function" | "method");
    if !does || !matches!(question.intent, Intent::Where | Intent::How) {
        return 1.0;
    }
    match lines {
        0..=3 => 0.9,
        _ => 1.0,
    }
}

/// Tests, examples and what is built count less than the product's sources.
pub(super) fn path_prior(question: &Question, path: &str, kind: &str) -> f64 {
    if question.about_tests || kind == "test" {
        return 1.0;
    }
    let aside = |part: &str| {
        matches!(
            part.trim_matches('_'),
            "test"
                | "tests"
                | "testing"
                | "testdata"
                | "spec"
                | "specs"
                | "example"
                | "examples"
                | "bench"
                | "benches"
                | "benchmarks"
                | "docs"
                | "fixtures"
                | "testkit"
                | "demo"
        ) || part.starts_with("test_")
    };
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let tests = stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || stem == "tests"
        || stem == "conftest"
        || file.contains(".test.")
        || file.contains(".spec.")
        || file.contains("-spec.");
    // What a package ships built stands beside its sources.
    let first = path.split('/').next().unwrap_or("");
    let built = matches!(first, "build" | "dist" | "out" | "t");
    if tests || built || path.split('/').any(aside) {
        0.25
    } else if file.ends_with(".d.ts") {
        0.7
    } else {
        1.0
    }
}

/// Grows slowly with the number of callers known.
fn centrality(notes: &Notes, name: &str) -> f64 {
    let tally = notes
        .neighborhoods
        .get(name)
        .and_then(|around| around.tally.as_ref());
    let callers = tally.and_then(|tally| tally.split(' ').next()?.parse::<f64>().ok());
    callers.map_or(0.0, |n| (1.0 + n).ln())
}

/// The few lines within a place that have the most of the question's terms, at
/// most `most` lines; `None` when no line was read or none has any.
pub(super) fn telling_lines(
    question: &Question,
    notes: &Notes,
    place: &Place,
    most: usize,
) -> Option<Place> {
    let terms = weigh(question, notes);
    let lines: Vec<(u32, BTreeSet<String>)> = notes
        .lines_in(place)
        .map(|(number, line)| (number, stems(line)))
        .collect();
    let mut best: Option<(f64, u32, u32)> = None;
    for from in 0..lines.len() {
        let mut seen = vec![0.0_f64; terms.len()];
        for to in from..lines.len().min(from + most) {
            if lines[to].0 - lines[from].0 != u32::try_from(to - from).unwrap_or(u32::MAX) {
                break;
            }
            for (slot, weighed) in seen.iter_mut().zip(&terms) {
                *slot = slot.max(weighed.weight * met(weighed.term, &lines[to].1));
            }
            #[allow(clippy::cast_precision_loss)]
            let value = seen.iter().sum::<f64>() - 0.004 * (to - from) as f64;
            if value > 0.02 && best.is_none_or(|(top, ..)| value > top + 1e-9) {
                best = Some((value, lines[from].0, lines[to].0));
            }
        }
    }
    best.map(|(_, start, end)| Place {
        path: place.path.clone(),
        start,
        end,
    })
}
