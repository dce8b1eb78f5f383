//! Tools in order of how well they fit a query.
//!
//! Names first, then one blended score. The score of words is divided by the
//! best one of the same query, so that the blend does not depend on how long a
//! query is.

use crate::index::ToolIndex;
use crate::query::{Query, Terms, clauses, terms};

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
    /// Whether the best of them does not fit well enough to be offered.
    pub nothing_fits: bool,
}

/// Per-document sums of one query.
pub(crate) struct Scores {
    pub(crate) lexical: Vec<f32>,
    pub(crate) cover: Vec<f32>,
}

/// Maps similarities so that the mean becomes 0 and the best 1.
fn stretch(near: &mut [f32], w: &crate::Weights) {
    let mean = near.iter().sum::<f32>() / near.len().max(1) as f32;
    let best = near.iter().copied().fold(f32::MIN, f32::max);
    let var = near.iter().map(|n| (n - mean) * (n - mean)).sum::<f32>() / near.len().max(1) as f32;
    let mut span = (best - mean).max(f32::MIN_POSITIVE);
    if w.x[1] > 0.0 { span = w.x[1] * var.sqrt(); }
    if w.x[2] > 0.0 { span = w.x[2]; }
    if w.x[3] > 0.0 { span = w.x[3] * (best - mean) + (1.0 - w.x[3]) * 4.0 * var.sqrt(); }
    for near in near {
        *near = (*near - mean) / span;
    }
}

impl ToolIndex {
    /// The best `limit` tools for `query`, best first, equal ones by name.
    ///
    /// Neither refuses nor cuts: see [`ToolIndex::search`] for that.
    pub fn rank(&self, query: &str, limit: usize) -> Vec<Hit> {
        let query = Query::read(query, &self.names, &self.docs, &self.words);
        self.rank_read(&query, limit)
    }

    /// The same with a verdict on whether anything fits.
    pub fn judge(&self, query: &str, limit: usize) -> Ranking {
        let hits = self.rank(query, limit);
        Ranking { nothing_fits: hits.is_empty(), hits }
    }

    pub(crate) fn rank_read(&self, query: &Query, limit: usize) -> Vec<Hit> {
        let mut hits = self.named(query, limit);
        if query.select || hits.len() >= limit {
            return hits;
        }
        let scores = self.score(query);
        let mut rest: Vec<(f32, u32, usize)> = scores
            .iter()
            .enumerate()
            .filter(|&(doc, &score)| score > 0.0 && !hits.iter().any(|hit| hit.doc == doc))
            .map(|(doc, &score)| (score, self.place[doc], doc))
            .collect();
        let order = |a: &(f32, u32, usize), b: &(f32, u32, usize)| {
            b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
        };
        let room = limit - hits.len();
        if rest.len() > room {
            rest.select_nth_unstable_by(room, order);
            rest.truncate(room);
        }
        rest.sort_unstable_by(order);
        hits.extend(rest.into_iter().map(|(score, _, doc)| Hit { doc, score, named: false }));
        hits
    }

    /// Tools called by name: the closest of each listed name, then the second closest.
    fn named(&self, query: &Query, limit: usize) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        let deepest = query.named.iter().map(Vec::len).max().unwrap_or(0);
        for depth in 0..deepest {
            for found in &query.named {
                if let Some(&doc) = found.get(depth)
                    && hits.len() < limit
                    && !hits.iter().any(|hit| hit.doc == doc as usize)
                {
                    hits.push(Hit { doc: doc as usize, score: 1.0, named: true });
                }
            }
        }
        hits
    }

    fn score(&self, query: &Query) -> Vec<f32> {
        let weights = &self.weights;
        let whole = terms(&query.text, &self.words, weights.number);
        let Scores { mut lexical, cover } = self.lexical(&whole);
        let best_cover = lexical.iter().zip(&cover).max_by(|a, b| a.0.total_cmp(b.0)).map_or(0.0, |(_, c)| *c);
        if weights.clause > 0.0 && whole.known.len() >= weights.long {
            let mut best = vec![0f32; lexical.len()];
            for clause in clauses(&query.text) {
                let part = self.lexical(&terms(clause, &self.words, weights.number));
                for (best, score) in best.iter_mut().zip(part.lexical) {
                    *best = best.max(score);
                }
            }
            for (sum, best) in lexical.iter_mut().zip(best) {
                *sum += weights.clause * best;
            }
        }
        let top = lexical.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        for score in &mut lexical {
            *score /= top;
        }
        let sure = if whole.known.len() >= weights.long { 1.0 } else { (1.0 - weights.x[0]) + weights.x[0] * best_cover };
        for s in &mut lexical { *s *= sure; }
        self.add_meaning(query, whole.known.len() >= weights.long, &mut lexical);
        let mut mentioned = Vec::new();
        self.sources.mentioned(&query.text, &mut mentioned, weights.x[7]);
        for (doc, score) in lexical.iter_mut().enumerate() {
            if *score > 0.0 {
                *score += weights.source * mentioned[self.sources.of[doc] as usize];
            }
        }
        lexical
    }

    /// Blends similarity of meaning into `scores`, which are 0 to 1.
    fn add_meaning(&self, query: &Query, long: bool, scores: &mut [f32]) {
        let Some(meaning) = &self.meaning else { return };
        let weights = &self.weights;
        let mut near = Vec::new();
        let vector = meaning.embed(&query.text);
        if vector.is_zero() {
            return;
        }
        meaning.scores(&vector, weights.long_text, &mut near);
        stretch(&mut near, weights);
        if long && weights.clause_meaning > 0.0 {
            let mut best = vec![0f32; near.len()];
            let mut part = Vec::new();
            for clause in clauses(&query.text) {
                meaning.scores(&meaning.embed(clause), weights.long_text, &mut part);
                stretch(&mut part, weights);
                for (best, part) in best.iter_mut().zip(&part) {
                    *best = best.max(*part);
                }
            }
            for (near, best) in near.iter_mut().zip(best) {
                *near = (*near + weights.clause_meaning * best) / (1.0 + weights.clause_meaning);
            }
        }
        if weights.x[5] > 0.0 {
            let mut of_source = Vec::new();
            meaning.sources.scores(&vector, &mut of_source);
            stretch(&mut of_source, weights);
            for (doc, near) in near.iter_mut().enumerate() {
                *near += weights.x[5] * of_source[self.sources.of[doc] as usize].max(0.0);
            }
        }
        for (score, near) in scores.iter_mut().zip(near) {
            *score = weights.lexical * *score + (1.0 - weights.lexical) * near.max(0.0);
        }
    }

    /// Scores of words alone.
    pub(crate) fn lexical(&self, terms: &Terms) -> Scores {
        let count = self.docs.len();
        let mut lexical = vec![0f32; count];
        let mut cover = vec![0f32; count];
        let mut name = vec![0f32; count];
        let mut total = f32::MIN_POSITIVE;
        for &(word, weight) in &terms.known {
            let idf = self.words.idf(word);
            total += weight * idf;
            for posting in self.words.postings(word) {
                let doc = posting.doc() as usize;
                lexical[doc] += weight * posting.worth;
                cover[doc] += weight * idf;
                if posting.in_name() {
                    name[doc] += idf;
                }
            }
        }
        for doc in 0..count {
            if lexical[doc] > 0.0 {
                cover[doc] /= total;
                let of_name = name[doc] / self.words.name_idf(doc as u32).max(f32::MIN_POSITIVE);
                lexical[doc] *= 1.0 + self.weights.all_terms * cover[doc];
                lexical[doc] += self.weights.name_cover * of_name * name[doc];
            }
        }
        Scores { lexical, cover }
    }
}
