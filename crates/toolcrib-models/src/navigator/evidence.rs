//! Whether what was found answers a question at all.
//!
//! The best of what was found is not yet an answer: single words of a question fit
//! somewhere in any repository. The words of the question are held against each of
//! the places that an answer would name, every word by its rarity here: one that
//! nothing has counts most. Beside them stands how near the place is in meaning to
//! the question as a whole, since people ask in other words than programs use. A
//! short question says little, so more of it has to be there.

use std::collections::{BTreeMap, BTreeSet};

use super::meaning::{Meaning, telling_words};
use super::notes::Notes;
use super::question::{Question, Term};
use super::rank::{Candidate, bare, met, owner, plain, stems};
use super::words::{joins, prefix};

/// Places that an answer names first.
const JUDGED: usize = 3;
/// Where a word counts as itself, or as a longer one that begins with it.
const ITSELF: f64 = 0.8;
/// What a word counts that occurs in the body alone.
const IN_BODY: f64 = 0.5;
/// What a word counts that only the class or the file says of itself.
const AROUND: f64 = 0.4;
/// What a word counts for which another is used.
const ALIKE: f64 = 0.5;
/// The same where that word is not in the name, the signature or the texts.
const ALIKE_ASIDE: f64 = 0.3;
/// How far the whole meaning counts beside the words.
const MEANING: f64 = 0.5;
/// The least evidence of an answer to a question of [`LONG`] words or more; a word
/// that hardly tells places apart is half of one.
const LEAST: f64 = 0.44;
/// How much more is wanted for each word less.
const SHORTER: f64 = 0.08;
const LONG: f64 = 4.0;

/// Whether one of the best places has enough of what was asked.
pub(super) fn is_enough(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> bool {
    let words: f64 = terms(question)
        .map(|term| if term.weight < 1.0 { 0.5 } else { 1.0 })
        .sum();
    let least = LEAST + SHORTER * (LONG - words.max(1.0)).max(0.0);
    let mut meaning = Meaning::new(&question.text);
    let agent = asks_for_agent(&question.text);
    let mut best = found
        .iter()
        .take(JUDGED)
        .filter(|candidate| !agent || acts(&candidate.symbol.kind))
        .filter(|candidate| has_capitals(question, notes, candidate));
    best.any(|candidate| {
        has_all_in_name(question, candidate)
            || of(question, notes, &mut meaning, candidate) >= least
    })
}

/// Whether a question asks where something is that acts, as a server or a parser
/// does: no constant, field or line of text is one.
fn asks_for_agent(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_asked = words.starts_with(&["where".to_owned(), "is".to_owned(), "the".to_owned()]);
    let acts = |word: &String| {
        matches!(
            word.as_str(),
            "server"
                | "client"
                | "parser"
                | "resolver"
                | "compiler"
                | "scheduler"
                | "renderer"
                | "serializer"
                | "listener"
                | "dispatcher"
                | "interpreter"
                | "scanner"
                | "lexer"
        )
    };
    is_asked && words.len() <= 6 && words.last().is_some_and(acts)
}

fn acts(kind: &str) -> bool {
    !matches!(kind, "" | "constant" | "field" | "enum_member" | "variable")
}

/// Whether a place has each word that the question writes in capitals, as `REST` is,
/// itself and no longer or other word: in a name, or in capitals or a hump in a text.
fn has_capitals(question: &Question, notes: &Notes, candidate: &Candidate<'_>) -> bool {
    let (name, symbol) = (candidate.name, candidate.symbol);
    let place = symbol.place.as_ref();
    let path = place.map_or(symbol.text_path.as_str(), |place| &place.path);
    let named = stems(&format!("{} {path} {}", plain(name), symbol.signature));
    let mut said = symbol.doc.clone();
    for line in symbol.texts.values().map(String::as_str) {
        said.push('\n');
        said.push_str(line);
    }
    for (_, line) in place.into_iter().flat_map(|place| notes.lines_in(place)) {
        said.push('\n');
        said.push_str(line);
    }
    let words = stems(&said);
    capitals(&question.text).all(|word| {
        let Some(term) = terms(question).find(|term| term.word.eq_ignore_ascii_case(word)) else {
            return true;
        };
        let prose = PROSE_TOO.contains(&&*term.word);
        named.contains(&term.stem)
            || met_alike(term, &named)
            || (!prose && words.contains(&term.stem))
            || stands(&said, word)
    })
}

/// Words in capitals that are words of prose in small letters.
const PROSE_TOO: &[&str] = &["acid", "base", "get", "post", "put", "rest", "soap"];

/// Whether a word in capitals stands in a text, or as one hump of a name there.
fn stands(text: &str, word: &str) -> bool {
    let mut hump = word.to_lowercase();
    if let Some(first) = hump.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let ends = |at: usize| !text[at..].chars().next().is_some_and(char::is_lowercase);
    let whole = |at: usize| !text[..at].ends_with(char::is_uppercase);
    let humps = || {
        let found = text.match_indices(&hump);
        found
            .map(|(at, _)| (at, at + hump.len()))
            .any(|(at, end)| ends(end) && text[..at].ends_with(char::is_alphanumeric))
    };
    text.match_indices(word)
        .any(|(at, _)| whole(at) && ends(at + word.len()))
        || humps()
}

fn met_alike(term: &Term, field: &BTreeSet<String>) -> bool {
    super::words::alike(&term.stem).any(|other| field.contains(other))
}

/// The words in capitals of a question that is not all in capitals.
fn capitals(text: &str) -> impl Iterator<Item = &str> {
    let loud = !text.chars().any(char::is_lowercase);
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(move |word| {
            !loud && word.len() >= 3 && word.chars().all(|c| c.is_ascii_uppercase())
        })
}

/// Whether a name is made of all that tells the question apart, as when it asks for
/// a function by a name that is a word of prose as well.
fn has_all_in_name(question: &Question, candidate: &Candidate<'_>) -> bool {
    let name = format!("{} {}", owner(candidate.name), bare(candidate.name));
    let name = stems(&name);
    let mut strong = terms(question).filter(|term| term.weight >= 1.0);
    let some = terms(question).any(|term| term.weight >= 1.0);
    some && strong.all(|term| met(term, &name) >= ITSELF)
}

/// The words of a question that something has to have.
fn terms(question: &Question) -> impl Iterator<Item = &Term> {
    question.terms.iter().filter(|term| !joins(&term.word))
}

/// The words of a question that no search found anywhere, as asked.
pub(super) fn unheard<'q>(question: &'q Question, notes: &Notes) -> Vec<&'q str> {
    let none = |term: &&Term| notes.totals.get(prefix(&term.stem)) == Some(&0);
    let terms = question.terms.iter().filter(none);
    terms.map(|term| term.word.as_str()).collect()
}

/// How much a word counts: the rarer here the more.
fn importance(term: &Term, notes: &Notes) -> f64 {
    if term.weight < 1.0 {
        return term.weight * term.weight;
    }
    let total = notes.totals.get(prefix(&term.stem)).copied().unwrap_or(50);
    #[allow(clippy::cast_precision_loss)]
    let rarity = 1.0 / (1.0 + (1.0 + total as f64 / 8.0).ln()).sqrt();
    rarity
}

/// The evidence that a place gives, 0 to 1.
fn of(question: &Question, notes: &Notes, meaning: &mut Meaning, candidate: &Candidate<'_>) -> f64 {
    let fields = Fields::read(notes, candidate);
    let (mut has, mut all) = (0.0, 0.0);
    for term in terms(question) {
        let importance = importance(term, notes);
        all += importance;
        has += importance * fields.support(term, meaning);
    }
    let words = if all > 0.0 { has / all } else { 0.0 };
    words * (1.0 - MEANING) + meaning.near(&fields.said) * MEANING
}

/// What a place says, by where it says it.
struct Fields {
    /// Name, owner, path, signature, comments and strings, each apart.
    own: Vec<BTreeSet<String>>,
    body: BTreeSet<String>,
    /// The class's and the file's own words.
    around: Vec<BTreeSet<String>>,
    /// Words of name and doc comment, for those near in meaning.
    telling: Vec<String>,
    said: String,
}

impl Fields {
    fn read(notes: &Notes, candidate: &Candidate<'_>) -> Fields {
        let (name, symbol) = (candidate.name, candidate.symbol);
        let joined = |lines: &BTreeMap<u32, String>| {
            lines
                .values()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let place = symbol.place.as_ref();
        let path = place.map_or(symbol.text_path.as_str(), |place| &place.path);
        let texts = joined(&symbol.texts);
        let file = notes.symbols.get(path).filter(|_| path != name);
        let class = plain(name).strip_suffix(bare(name)).and_then(|class| {
            notes
                .symbols
                .get(class.trim_end_matches([':', '.', '/', '#']))
        });
        let body: Vec<&str> = place
            .into_iter()
            .flat_map(|place| notes.lines_in(place))
            .map(|(_, line)| line)
            .collect();
        let said = format!("{} {}. {} {texts}", owner(name), bare(name), symbol.doc);
        let mut telling = telling_words(bare(name));
        telling.extend(telling_words(owner(name)));
        telling.extend(telling_words(&symbol.doc));
        Fields {
            own: vec![
                stems(bare(name)),
                stems(&format!("{} {path}", plain(name))),
                stems(&symbol.signature),
                stems(&symbol.doc),
                stems(&texts),
            ],
            body: stems(&body.join("\n")),
            around: vec![
                stems(&file.map_or(String::new(), |file| joined(&file.texts))),
                stems(class.map_or("", |class| &class.doc)),
            ],
            telling,
            said,
        }
    }

    /// How far a word is there, 0 to 1.
    fn support(&self, term: &Term, meaning: &mut Meaning) -> f64 {
        let best = |fields: &[BTreeSet<String>]| {
            fields
                .iter()
                .map(|field| met(term, field))
                .fold(0.0, f64::max)
        };
        let (own, around) = (best(&self.own), best(&self.around));
        let body = met(term, &self.body);
        let itself = |value: f64| if value >= ITSELF { value } else { 0.0 };
        let written = itself(own)
            .max(IN_BODY * itself(body))
            .max(AROUND * itself(around));
        let alike = match own > 0.0 {
            true => ALIKE,
            false if body.max(around) > 0.0 => ALIKE_ASIDE,
            false => 0.0,
        };
        let near = meaning.nearest(&term.word, &self.telling);
        // From half alike, where likeness begins to mean something.
        written.max(alike).max((near - 0.5).max(0.0))
    }
}
