//! Tools in order of how well they fit a query: names first, then by score.

use crate::evidence::{DEPTH, Evidence};
use crate::index::ToolIndex;
use crate::query::Query;

/// One tool of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its place among the index's documents.
    pub doc: usize,
    /// How well it fits; comparable within one answer alone.
    pub score: f32,
    /// Whether the query called it by its name.
    pub named: bool,
}

/// An order of tools and whether the first of them is good enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Best first, equal ones by name.
    pub hits: Vec<Hit>,
    /// Whether not even the best fits well enough to be offered.
    pub nothing_fits: bool,
    /// What that verdict rests on; all zero where names decided.
    pub evidence: Evidence,
}

/// Which documents may be shown.
pub(crate) type Admit<'a> = &'a dyn Fn(usize) -> bool;

impl ToolIndex {
    /// The best `limit` tools for `query`, whole: neither refused nor cut.
    ///
    /// [`ToolIndex::search`] is what a model is answered with.
    pub fn rank(&self, query: &str, limit: usize) -> Ranking {
        self.rank_read(&self.read(query), limit, &|_| true)
    }

    pub(crate) fn read(&self, query: &str) -> Query {
        let mut query = Query::read(query, &self.names, &self.docs);
        if let Some(mended) = self.mended(&query.text) {
            query.text = mended;
        }
        query
    }

    pub(crate) fn rank_read(&self, query: &Query, limit: usize, admit: Admit<'_>) -> Ranking {
        let mut hits = self.named(query, limit, admit);
        if query.select || hits.len() >= limit {
            let nothing_fits = hits.is_empty();
            return Ranking {
                hits,
                nothing_fits,
                evidence: Evidence::default(),
            };
        }
        let mut scores = self.score(query);
        self.narrow(query, &mut scores);
        for (doc, score) in scores.iter_mut().enumerate() {
            if *score > 0.0 && !admit(doc) {
                *score = 0.0;
            }
        }
        let best = self.top(&scores, limit.max(DEPTH) + hits.len());
        let evidence = self.evidence(query, &best);
        // What has the words that are demanded is asked for, however little else fits.
        let demanded = !query.required.is_empty();
        let first = best.first().map_or(0.0, |doc| scores[*doc]);
        for doc in self.ended(query, &scores) {
            if hits.len() < limit && !hits.iter().any(|hit| hit.doc == doc) {
                hits.push(Hit {
                    doc,
                    score: first,
                    named: false,
                });
            }
        }
        let nothing_fits = hits.is_empty() && !demanded && !self.fits(&evidence);
        for doc in best {
            if hits.len() < limit && !hits.iter().any(|hit| hit.doc == doc) {
                hits.push(Hit {
                    doc,
                    score: scores[doc],
                    named: false,
                });
            }
        }
        Ranking {
            nothing_fits: nothing_fits || hits.is_empty(),
            hits,
            evidence,
        }
    }

    /// For each word that ends names of a source's tools the best of them, in the order of
    /// the words, none twice.
    fn ended(&self, query: &Query, scores: &[f32]) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        for docs in &query.endings {
            let left = docs.iter().map(|&doc| doc as usize);
            let left = left.filter(|doc| scores[*doc] > 0.0 && !chosen.contains(doc));
            let better = |a: &usize, b: &usize| {
                let by_name = self.place[*b].cmp(&self.place[*a]);
                scores[*a].total_cmp(&scores[*b]).then(by_name)
            };
            let best = left.max_by(better);
            chosen.extend(best);
        }
        chosen
    }

    /// Tools called by name: the closest of each listed name, then the second closest.
    fn named(&self, query: &Query, limit: usize, admit: Admit<'_>) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        let allowed: Option<Vec<bool>> = self.allowed_sources(query);
        let admitted: Vec<Vec<usize>> = query
            .named
            .iter()
            .map(|found| {
                let docs = found.docs.iter().map(|&doc| doc as usize);
                let from = |doc: &usize| {
                    allowed
                        .as_ref()
                        .is_none_or(|all| all[self.sources.of[*doc] as usize])
                };
                docs.filter(|doc| from(doc) && admit(*doc)).collect()
            })
            .collect();
        let ambiguous = |at: usize| query.select && query.named[at].admitted(admit).len() > 1;
        let deepest = if query.select { 1 } else { usize::MAX };
        let deepest = admitted
            .iter()
            .map(Vec::len)
            .max()
            .unwrap_or(0)
            .min(deepest);
        for depth in 0..deepest {
            for (at, found) in admitted.iter().enumerate() {
                if let Some(&doc) = found.get(depth)
                    && hits.len() < limit
                    && !ambiguous(at)
                    && !hits.iter().any(|hit| hit.doc == doc)
                {
                    hits.push(Hit {
                        doc,
                        score: 1.0,
                        named: true,
                    });
                }
            }
        }
        hits
    }

    /// Which sources a query confines the answer to; `None` for all.
    pub(crate) fn allowed_sources(&self, query: &Query) -> Option<Vec<bool>> {
        if query.sources.is_empty() {
            return None;
        }
        let mut allowed = vec![false; self.sources.names.len()];
        for wanted in &query.sources {
            let wanted = crate::names::squash(wanted);
            let mut any = false;
            for (allowed, (name, squashed)) in allowed.iter_mut().zip(self.sources.squashed()) {
                if squashed == wanted && !name.is_empty() {
                    *allowed = true;
                    any = true;
                }
            }
            if any {
                continue;
            }
            for (allowed, (_, squashed)) in allowed.iter_mut().zip(self.sources.squashed()) {
                *allowed |= squashed.contains(&wanted);
            }
        }
        Some(allowed)
    }

    /// Takes the score of what `source:` and `+word` exclude.
    fn narrow(&self, query: &Query, scores: &mut [f32]) {
        if let Some(allowed) = self.allowed_sources(query) {
            for (score, &source) in scores.iter_mut().zip(&self.sources.of) {
                if !allowed[source as usize] {
                    *score = 0.0;
                }
            }
        }
        let mut scratch = String::new();
        for word in &query.required {
            let mut has = vec![false; scores.len()];
            if let Some(word) = self.words.id(word, &mut scratch) {
                for posting in self.words.postings(word) {
                    has[posting.doc() as usize] = true;
                }
            }
            // A tool's source is part of its name.
            let of_source = &self.sources.words;
            if let Some(word) = of_source.id(word, &mut scratch) {
                for (has, &source) in has.iter_mut().zip(&self.sources.of) {
                    *has |= of_source.has(word, source);
                }
            }
            for (score, has) in scores.iter_mut().zip(has) {
                if !has {
                    *score = 0.0;
                }
            }
        }
    }
}
