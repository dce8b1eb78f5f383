//! What a model is answered with: a ranking that is cut where it stops fitting,
//! refused where nothing fits, and kept within a budget.

use std::fmt;

use toolcrib_core::Str;

use crate::index::ToolIndex;
use crate::language::other_language;
use crate::query::Query;
use crate::rank::{Admit, Hit, Ranking};

/// Most queries that are answered together.
const MAX_QUERIES: usize = 5;
/// Near matches named for a name that no tool has.
const NEAR_NAMES: usize = 3;
/// Most sources of a query that are looked for where nothing fits.
const UNKNOWN_SOURCES: usize = 8;
/// Nearest tools and sources named where nothing fits.
const NEAREST: usize = 5;
const NEAREST_SOURCES: usize = 3;

/// How a search is to be answered.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// Most tools in the answer.
    pub limit: usize,
    /// Whether a tool, by its place among the documents, may be shown at all.
    pub admit: &'a dyn Fn(usize) -> bool,
    /// What showing a tool costs, in tokens.
    pub cost: &'a dyn Fn(usize) -> usize,
    /// Most tokens that the answer's tools cost together; tools are left out whole.
    pub budget: usize,
}

impl Default for Search<'_> {
    /// Five tools, all admitted, at no cost.
    fn default() -> Self {
        Search {
            limit: 5,
            admit: &|_| true,
            cost: &|_| 0,
            budget: usize::MAX,
        }
    }
}

impl fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("limit", &self.limit)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

/// A listed name that no admitted tool has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The name as asked for.
    pub name: String,
    /// Tools with similar names, most similar first.
    pub near: Vec<usize>,
}

/// A name of a `select:` list that several tools have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedName {
    /// The name as asked for.
    pub name: String,
    /// The tools, by name; none of them is among the hits on account of this name.
    pub tools: Vec<usize>,
}

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Tools that fit, best first; empty when nothing does.
    pub hits: Vec<Hit>,
    /// Whether the words were understood but no tool fits them.
    pub nothing_fits: bool,
    /// Whether that is because no tool has any of the words, whatever was confined.
    pub no_words: bool,
    /// Whether nothing fits a query that seems to be in another language than the tools.
    pub other_language: bool,
    /// The nearest tools where nothing fits, best first.
    pub nearest: Vec<usize>,
    /// The nearest sources where nothing fits, best first.
    pub nearest_sources: Vec<Str>,
    /// Names of a `select:` list that no admitted tool has.
    pub unknown: Vec<UnknownName>,
    /// Names of a `select:` list that several admitted tools have equally.
    pub shared: Vec<SharedName>,
    /// Sources that were asked for, in lower case, where nothing fits and no admitted tool is
    /// of one so called.
    pub unknown_sources: Vec<String>,
    /// Admitted tools that are neither hits nor nearest.
    pub left_out: usize,
}

impl ToolIndex {
    /// Answers one query.
    pub fn search(&self, query: &str, how: &Search<'_>) -> Found {
        self.search_all(&[query], how)
    }

    /// Answers up to five queries at once: each one's best first, in turn, no tool
    /// twice.
    pub fn search_all(&self, queries: &[&str], how: &Search<'_>) -> Found {
        let mut found = Found::default();
        let mut lists: Vec<Vec<Hit>> = Vec::new();
        let mut missed: Vec<Ranking> = Vec::new();
        let mut of_sources: Vec<usize> = Vec::new();
        let mut confined = false;
        for query in queries.iter().take(MAX_QUERIES) {
            let query = self.read(query);
            if query.is_empty() {
                continue;
            }
            self.note_unknown(&query, how, &mut found.unknown);
            // A list of names is taken whole, whatever the limit.
            let limit = match (query.select, query.only_names) {
                (true, _) => query.named.len(),
                (_, true) => how.limit.max(query.named.len()),
                _ => how.limit,
            };
            if query.select {
                note_shared(&query, how, &mut found.shared);
            }
            let ranking = self.rank_read(&query, limit, how.admit);
            if query.select {
                lists.push(ranking.hits);
            } else if ranking.nothing_fits {
                self.note_unknown_sources(&query, how, &mut found.unknown_sources);
                if query.required.is_empty() {
                    of_sources.extend(self.alike_in_sources(&query, how.admit));
                }
                confined |= !query.sources.is_empty() || !query.required.is_empty();
                found.other_language |= other_language(&query.text, &self.words);
                missed.push(self.rank_read(&query, NEAREST, how.admit));
            } else {
                lists.push(self.cut(&query, ranking.hits));
            }
        }
        let selected = lists.iter().map(Vec::len).sum::<usize>();
        let room = if queries.len() == 1 {
            selected
        } else {
            how.limit.max(NEAREST)
        };
        let room = room.max(how.limit);
        found.hits = interleave(&lists, room);
        let mut spent = 0usize;
        found.hits.retain(|hit| {
            let cost = (how.cost)(hit.doc);
            let fits = spent.saturating_add(cost) <= how.budget;
            spent += if fits { cost } else { 0 };
            fits
        });
        found.nothing_fits = lists.is_empty() && !missed.is_empty();
        found.other_language &= found.nothing_fits;
        if found.nothing_fits {
            self.name_nearest(&missed, &of_sources, &mut found);
            found.no_words = found.nearest.is_empty() && !confined;
        }
        let admitted = (0..self.docs.len()).filter(|doc| (how.admit)(*doc)).count();
        found.left_out = admitted.saturating_sub(found.hits.len() + found.nearest.len());
        found
    }

    /// Drops what scores far below the best; named tools stay.
    fn cut(&self, query: &Query, mut hits: Vec<Hit>) -> Vec<Hit> {
        let best = hits
            .iter()
            .find(|hit| !hit.named)
            .map_or(0.0, |hit| hit.score);
        let named = hits.iter().filter(|hit| hit.named).count();
        if named > 0 && query.only_names {
            hits.truncate(named);
        }
        hits.retain(|hit| hit.named || hit.score >= self.weights.cut * best);
        hits
    }

    fn note_unknown(&self, query: &Query, how: &Search<'_>, unknown: &mut Vec<UnknownName>) {
        let hidden = query
            .named
            .iter()
            .filter(|named| query.select && !named.docs.iter().any(|&at| (how.admit)(at as usize)))
            .map(|named| &named.text);
        for name in query.unknown_names.iter().chain(hidden) {
            unknown.push(UnknownName {
                name: name.clone(),
                near: self.near_names(name, NEAR_NAMES, how.admit),
            });
        }
    }

    fn note_unknown_sources(&self, query: &Query, how: &Search<'_>, unknown: &mut Vec<String>) {
        for wanted in query.sources.iter().take(UNKNOWN_SOURCES) {
            let squashed = crate::names::squash(wanted);
            let known = self.docs.iter().enumerate().any(|(at, doc)| {
                (how.admit)(at) && crate::names::squash(&doc.source).contains(&squashed)
            });
            if !known && !unknown.contains(wanted) {
                unknown.push(wanted.clone());
            }
        }
    }

    /// Names the best of what was found too far, and then `of_sources`, which are tools of the
    /// sources that were asked for.
    fn name_nearest(&self, missed: &[Ranking], of_sources: &[usize], found: &mut Found) {
        let lists: Vec<Vec<Hit>> = missed.iter().map(|ranking| ranking.hits.clone()).collect();
        found.nearest = interleave(&lists, NEAREST)
            .iter()
            .map(|hit| hit.doc)
            .collect();
        for &doc in of_sources {
            if found.nearest.len() < NEAREST && !found.nearest.contains(&doc) {
                found.nearest.push(doc);
            }
        }
        for &doc in &found.nearest {
            let source = &self.docs[doc].source;
            if found.nearest_sources.len() < NEAREST_SOURCES
                && !source.is_empty()
                && !found.nearest_sources.contains(source)
            {
                found.nearest_sources.push(source.clone());
            }
        }
    }

    /// Admitted tools of the sources to which a query is confined, those first that its text
    /// is most alike in letters, equal ones by name.
    fn alike_in_sources(&self, query: &Query, admit: Admit<'_>) -> Vec<usize> {
        let Some(allowed) = self.allowed_sources(query) else {
            return Vec::new();
        };
        let wanted = pairs(&crate::names::squash(crate::query::head(&query.text, 256)));
        let mut tools: Vec<(f32, u32, usize)> = (0..self.docs.len())
            .filter(|doc| allowed[self.sources.of[*doc] as usize] && admit(*doc))
            .map(|doc| {
                let name = pairs(&crate::names::squash(self.docs[doc].local_name()));
                (alike(&wanted, &name), self.place[doc], doc)
            })
            .collect();
        tools.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        tools.truncate(NEAREST);
        tools.into_iter().map(|(_, _, doc)| doc).collect()
    }

    /// Admitted tools whose names share most pairs of letters with `name`, most
    /// similar first, equal ones by name; those with less than a third left out.
    pub fn near_names(
        &self,
        name: &str,
        limit: usize,
        admit: &dyn Fn(usize) -> bool,
    ) -> Vec<usize> {
        let wanted = pairs(&crate::names::squash(crate::query::head(name, 256)));
        let mut near: Vec<(f32, u32, usize)> = Vec::new();
        for (at, doc) in self.docs.iter().enumerate() {
            if !admit(at) {
                continue;
            }
            let alike = [&doc.name, doc.local_name(), doc.local_original()]
                .map(|name| alike(&wanted, &pairs(&crate::names::squash(name))))
                .into_iter()
                .fold(0.0, f32::max);
            if alike >= 1.0 / 3.0 {
                near.push((alike, self.place[at], at));
            }
        }
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        near.truncate(limit);
        near.into_iter().map(|(_, _, at)| at).collect()
    }
}

fn note_shared(query: &Query, how: &Search<'_>, shared: &mut Vec<SharedName>) {
    for named in &query.named {
        let tools = named.admitted(how.admit);
        if tools.len() > 1 && !shared.iter().any(|known| known.name == named.text) {
            shared.push(SharedName {
                name: named.text.clone(),
                tools,
            });
        }
    }
}

/// Takes the lists' entries in turn, best first, no tool twice.
fn interleave(lists: &[Vec<Hit>], limit: usize) -> Vec<Hit> {
    let mut all: Vec<Hit> = Vec::new();
    let deepest = lists.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 0..deepest {
        for list in lists {
            if let Some(hit) = list.get(depth)
                && all.len() < limit
                && !all.iter().any(|known| known.doc == hit.doc)
            {
                all.push(*hit);
            }
        }
    }
    all
}

/// The sorted neighbouring characters of a squashed name.
fn pairs(name: &str) -> Vec<(char, char)> {
    let mut pairs: Vec<_> = name.chars().zip(name.chars().skip(1)).collect();
    pairs.sort_unstable();
    pairs
}

/// Twice the shared pairs over all pairs, 0 to 1.
fn alike(a: &[(char, char)], b: &[(char, char)]) -> f32 {
    let (mut at, mut other, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(at), b.get(other)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => other += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                at += 1;
                other += 1;
            }
        }
    }
    2.0 * shared as f32 / (a.len() + b.len()).max(1) as f32
}
