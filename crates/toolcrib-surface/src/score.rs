//! One blended score a tool: words, meaning and the source's name.
//!
//! Words are divided by the best sum of the same query and similarities spread
//! between their mean and their best, so that the blend does not depend on a
//! query's length. A long query is also read clause by clause, since it tends to
//! hold several needs of which a tool meets one.

use toolcrib_vectors::Vector;

use crate::encoded::Encoded;
use crate::index::ToolIndex;
use crate::query::{Query, Terms, clauses, terms};

/// Tools whose clauses' meaning is compared; the rest are too far from the whole.
const CLAUSE_CANDIDATES: usize = 160;

/// Sums over the tools that have any of a query's words.
struct Sums {
    worth: Vec<f32>,
    cover: Vec<f32>,
    name: Vec<f32>,
    touched: Vec<u32>,
}

impl Sums {
    fn new(count: usize) -> Sums {
        Sums {
            worth: vec![0.0; count],
            cover: vec![0.0; count],
            name: vec![0.0; count],
            touched: Vec::new(),
        }
    }

    fn clear(&mut self) {
        for doc in self.touched.drain(..) {
            let doc = doc as usize;
            self.worth[doc] = 0.0;
            self.cover[doc] = 0.0;
            self.name[doc] = 0.0;
        }
    }
}

impl ToolIndex {
    /// The score of every tool, 0 where nothing speaks for it.
    pub(crate) fn score(&self, query: &Query) -> Vec<f32> {
        let weights = &self.weights;
        let count = self.docs.len();
        let whole = terms(query.words(), &self.words, weights.number);
        let long = whole.known.len() >= weights.long;
        let parts = if long {
            clauses(&query.text)
        } else {
            Vec::new()
        };

        let mut sums = Sums::new(count);
        let mut scores = vec![0f32; count];
        self.add_words(&whole, &mut sums);
        let (mut best, mut cover) = (0.0, 0.0);
        for &doc in &sums.touched {
            let doc = doc as usize;
            scores[doc] = sums.worth[doc];
            if sums.worth[doc] > best {
                best = sums.worth[doc];
                cover = sums.cover[doc];
            }
        }
        if !parts.is_empty() {
            let mut most = vec![0f32; count];
            for part in &parts {
                sums.clear();
                self.add_words(&terms(part, &self.words, weights.number), &mut sums);
                for &doc in &sums.touched {
                    let most = &mut most[doc as usize];
                    *most = most.max(sums.worth[doc as usize]);
                }
            }
            for (score, most) in scores.iter_mut().zip(most) {
                *score += weights.clause * most;
            }
        }
        let top = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let sure = if long {
            1.0
        } else {
            1.0 - weights.certainty * (1.0 - cover)
        };
        for score in &mut scores {
            *score *= sure / top;
        }
        self.add_meaning(query, &parts, &mut scores);
        self.add_source(&query.text, &mut scores);
        scores
    }

    /// Sums of words alone, with the raises for names and for having all words.
    fn add_words(&self, terms: &Terms, sums: &mut Sums) {
        let mut total = f32::MIN_POSITIVE;
        for &(word, weight) in &terms.known {
            let idf = self.words.idf(word);
            total += weight * idf;
            for posting in self.words.postings(word) {
                let doc = posting.doc() as usize;
                if sums.worth[doc] == 0.0 {
                    sums.touched.push(doc as u32);
                }
                sums.worth[doc] += weight * posting.worth;
                sums.cover[doc] += weight * idf;
                if posting.in_name() {
                    sums.name[doc] += idf;
                }
            }
        }
        let several = terms.known.len() > 1;
        for &doc in &sums.touched {
            let at = doc as usize;
            sums.cover[at] /= total;
            let of_name = sums.name[at] / self.words.name_idf(doc).max(f32::MIN_POSITIVE);
            sums.worth[at] *= 1.0 + self.weights.all_terms * sums.cover[at];
            sums.worth[at] += self.weights.name_cover * of_name * sums.name[at];
            if several && sums.cover[at] > 0.999 {
                sums.worth[at] += self.weights.every_term * total;
            }
        }
    }

    /// Blends similarity of meaning into `scores`, which are 0 to 1.
    fn add_meaning(&self, query: &Query, parts: &[&str], scores: &mut [f32]) {
        let views: Vec<View<'_>> = self
            .by_encoder(query, parts)
            .into_iter()
            .chain(self.by_table(query, parts))
            .collect();
        if views.is_empty() {
            return;
        }
        let meanings: f32 = views.iter().map(|view| view.share).sum();
        for score in &mut *scores {
            *score *= 1.0 - meanings;
        }
        let spreads: Vec<Spread> = views
            .iter()
            .map(|view| Spread::of(&view.near, view.spread))
            .collect();
        for (view, spread) in views.iter().zip(&spreads) {
            for (score, near) in scores.iter_mut().zip(&view.near) {
                *score += view.share * spread.apply(*near);
            }
        }
        let candidates = match views.iter().all(|view| view.parts.is_empty()) {
            true => Vec::new(),
            false => self.top(scores, CLAUSE_CANDIDATES),
        };
        for (view, spread) in views.iter().zip(spreads) {
            let moved = view.add_clauses(spread, &candidates, scores);
            if view.of_source > 0.0 {
                let mut fit: Vec<f32> = view.near.iter().map(|near| spread.apply(*near)).collect();
                for (&doc, moved) in candidates.iter().zip(moved) {
                    fit[doc] += moved;
                }
                self.add_fit_of_source(view.of_source, &fit, scores);
            }
        }
    }

    /// Raises the tools of sources whose tools fit on the whole.
    fn add_fit_of_source(&self, weight: f32, fit: &[f32], scores: &mut [f32]) {
        let mut sums = vec![(0f32, 0f32); self.sources.names.len()];
        for (fit, &source) in fit.iter().zip(&self.sources.of) {
            let (sum, count) = &mut sums[source as usize];
            *sum += fit;
            *count += 1.0;
        }
        for (score, &source) in scores.iter_mut().zip(&self.sources.of) {
            let (sum, count) = sums[source as usize];
            if *score > 0.0 {
                *score += weight * sum / count;
            }
        }
    }

    /// How near the tools are by the static table, unless it knows no word of the query.
    fn by_table<'a>(&'a self, query: &Query, parts: &[&str]) -> Option<View<'a>> {
        let meaning = self.meaning.as_ref()?;
        let whole = meaning.embed(query.words())?;
        let mut near = Vec::new();
        meaning.scores(&whole, &mut near);
        let parts = parts.iter().filter_map(|part| meaning.embed(part));
        let near_part =
            |part: Vector| -> NearPart<'a> { Box::new(move |doc| meaning.similarity(doc, &part)) };
        let weights = &self.weights;
        Some(View {
            share: match self.encoded {
                Some(_) => weights.encoded.table,
                None => 1.0 - weights.lexical,
            },
            of_source: 0.0,
            clause: weights.clause_meaning,
            spread: weights.spread,
            parts: parts.map(near_part).collect(),
            near,
        })
    }

    /// How near the tools are by the sentence encoder, if there is one.
    fn by_encoder<'a>(&'a self, query: &Query, parts: &[&str]) -> Option<View<'a>> {
        let encoded = self.encoded.as_ref()?;
        let vectors = self.encode(encoded, query, parts);
        let (whole, parts) = vectors.split_first()?;
        let near_part = |part: &Vec<f32>| -> NearPart<'a> {
            let part = part.clone();
            Box::new(move |doc| encoded.similarity(doc, &part))
        };
        let weights = &self.weights.encoded;
        Some(View {
            share: 1.0 - weights.lexical - weights.table,
            of_source: weights.fit_of_source,
            clause: weights.clause,
            spread: weights.spread,
            near: encoded.scores(whole),
            parts: parts.iter().map(near_part).collect(),
        })
    }

    /// The encoder's vectors of a query and its clauses, made once.
    fn encode<'q>(&self, encoded: &Encoded, query: &'q Query, parts: &[&str]) -> &'q [Vec<f32>] {
        query.encoded.get_or_init(|| {
            let texts: Vec<&str> = std::iter::once(&*query.text)
                .chain(parts.iter().copied())
                .collect();
            encoded.encode(&texts)
        })
    }

    fn add_source(&self, text: &str, scores: &mut [f32]) {
        let mentioned = self.sources.mentioned(text);
        if mentioned.iter().all(|share| *share == 0.0) {
            return;
        }
        let raise = match self.encoded {
            Some(_) => self.weights.encoded.source,
            None => self.weights.source,
        };
        for (score, &source) in scores.iter_mut().zip(&self.sources.of) {
            if *score > 0.0 {
                *score += raise * mentioned[source as usize];
            }
        }
    }

    /// The `count` best documents with a score, best first, equal ones by name.
    pub(crate) fn top(&self, scores: &[f32], count: usize) -> Vec<usize> {
        let mut all: Vec<(f32, u32, u32)> = scores
            .iter()
            .enumerate()
            .filter(|(_, score)| **score > 0.0)
            .map(|(doc, score)| (*score, self.place[doc], doc as u32))
            .collect();
        let order =
            |a: &(f32, u32, u32), b: &(f32, u32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if count < all.len() {
            all.select_nth_unstable_by(count, order);
            all.truncate(count);
        }
        all.sort_unstable_by(order);
        all.into_iter().map(|(_, _, doc)| doc as usize).collect()
    }
}

/// The nearness of a tool to one clause.
type NearPart<'a> = Box<dyn Fn(usize) -> f32 + 'a>;

/// What one kind of vectors says of a query.
struct View<'a> {
    /// Its share in the blend.
    share: f32,
    /// Weight of how well the tools of a source fit on the whole.
    of_source: f32,
    /// Weight of the best clause beside the whole.
    clause: f32,
    /// See [`crate::Weights::spread`].
    spread: f32,
    /// Every tool's nearness to the whole query.
    near: Vec<f32>,
    parts: Vec<NearPart<'a>>,
}

impl View<'_> {
    /// Moves the candidates' scores from the whole query's nearness towards that of their best clause, and tells
    /// how far their nearness moved.
    fn add_clauses(&self, spread: Spread, candidates: &[usize], scores: &mut [f32]) -> Vec<f32> {
        if self.parts.is_empty() {
            return Vec::new();
        }
        let mut most = vec![0f32; candidates.len()];
        let mut near = vec![0f32; candidates.len()];
        for part in &self.parts {
            for (near, &doc) in near.iter_mut().zip(candidates) {
                *near = part(doc);
            }
            // The whole's mean and deviation stand in for the clause's own.
            let best = near.iter().copied().fold(f32::MIN, f32::max);
            let spread = Spread { best, ..spread }.with(self.spread);
            for (most, near) in most.iter_mut().zip(&near) {
                *most = most.max(spread.apply(*near));
            }
        }
        let share = self.share * self.clause / (1.0 + self.clause);
        for (&doc, most) in candidates.iter().zip(&mut most) {
            *most -= spread.apply(self.near[doc]);
            scores[doc] += share * *most;
            *most *= self.clause / (1.0 + self.clause);
        }
        most
    }
}

/// How similarities of one query are spread.
#[derive(Clone, Copy)]
struct Spread {
    best: f32,
    mean: f32,
    deviation: f32,
    span: f32,
}

impl Spread {
    fn of(near: &[f32], by_best: f32) -> Spread {
        let count = near.len().max(1) as f32;
        let mean = near.iter().sum::<f32>() / count;
        let square = near.iter().map(|n| (n - mean) * (n - mean)).sum::<f32>() / count;
        Spread {
            best: near.iter().copied().fold(-1.0, f32::max),
            mean,
            deviation: square.sqrt().max(f32::MIN_POSITIVE),
            span: 1.0,
        }
        .with(by_best)
    }

    fn with(self, by_best: f32) -> Spread {
        let span = by_best * (self.best - self.mean) + (1.0 - by_best) * 4.0 * self.deviation;
        Spread {
            span: span.max(f32::MIN_POSITIVE),
            ..self
        }
    }

    fn apply(&self, near: f32) -> f32 {
        ((near - self.mean) / self.span).max(0.0)
    }
}
