//! Whether anything fits at all.
//!
//! A blend always has a best tool, so its score cannot say that the best is bad.
//! What can: how near the best tools are in meaning, how much of the query they
//! have in words, how much of the query is known to any tool. Where a sentence encoder
//! makes nearness worth more, also whether the query names their source, and how far
//! the nearest tool stands out: everything is a little near to a need that nothing
//! serves.

use crate::index::ToolIndex;
use crate::query::{Query, terms};

/// The best tools that are looked at.
pub(crate) const DEPTH: usize = 5;

/// The tool, counted from the nearest, from which the nearest must stand out.
const STANDS_OUT: usize = 10;

/// Known words from which on a query may hold a need beside those that fit.
const LONG: usize = 8;

/// What speaks for the best tools being what is wanted; each 0 to about 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Similarity of meaning and share of words of the tool with most of both; by a
    /// sentence encoder the similarity alone.
    pub joint: f32,
    /// Share of the query's words, by rarity, that one of the best tools has.
    pub cover: f32,
    /// Share of the query's words, by rarity, that any tool has.
    pub known: f32,
    /// How much of the name of one of the best tools' sources the query has; looked
    /// at with a sentence encoder alone.
    pub source: f32,
    /// How much nearer the nearest tool is than the tenth nearest, by a sentence encoder.
    pub margin: f32,
    /// Words of the query that any tool has.
    pub words: usize,
}

impl Evidence {
    /// One number; see [`crate::Weights::refuse`].
    pub fn strength(&self, weights: &crate::Weights) -> f32 {
        let [cover, known] = weights.evidence;
        self.joint + cover * self.cover + known * self.known
    }

    /// The same by a sentence encoder; see [`crate::EncodedWeights::refuse`].
    pub fn strength_encoded(&self, weights: &crate::Weights) -> f32 {
        let [cover, known, source, margin] = weights.encoded.evidence;
        self.joint
            + cover * self.cover
            + known * self.known
            + source * self.source
            + margin * self.margin
    }
}

/// From the greatest to the tenth greatest, or the least of fewer.
fn margin(mut near: Vec<f32>) -> f32 {
    if near.is_empty() {
        return 0.0;
    }
    let tenth = STANDS_OUT.min(near.len()) - 1;
    let (before, &mut tenth, _) = near.select_nth_unstable_by(tenth, |a, b| b.total_cmp(a));
    before.iter().copied().fold(tenth, f32::max) - tenth
}

impl ToolIndex {
    /// The evidence for `best`, the best tools of `query`.
    pub(crate) fn evidence(&self, query: &Query, best: &[usize]) -> Evidence {
        let terms = terms(&query.text, &self.words, self.weights.number);
        let idf = |known: &(u32, f32)| known.1 * self.words.idf(known.0);
        let known: f32 = terms.known.iter().map(idf).sum();
        let all = known + terms.unknown as f32 * self.words.unknown_idf();
        let all = all.max(f32::MIN_POSITIVE);
        let meaning = self.meaning.as_ref();
        let encoded = self.encoded.as_ref().zip(query.whole());
        let vector = meaning
            .filter(|_| encoded.is_none())
            .and_then(|meaning| meaning.embed(&query.text));
        let mentioned = match encoded {
            Some(_) => self.sources.mentioned(&query.text),
            None => Vec::new(),
        };
        let mut evidence = Evidence {
            known: known / all,
            words: terms.known.len(),
            margin: encoded.map_or(0.0, |(encoded, whole)| margin(encoded.scores(whole))),
            ..Evidence::default()
        };
        for &doc in best.iter().take(DEPTH) {
            let has = |known: &&(u32, f32)| self.words.has(known.0, doc as u32);
            let cover = terms.known.iter().filter(has).map(idf).sum::<f32>() / all;
            let joint = match (encoded, meaning, &vector) {
                (Some((encoded, whole)), _, _) => encoded.similarity(doc, whole),
                (None, Some(meaning), Some(vector)) => {
                    meaning.similarity(doc, vector) + 0.3 * cover
                }
                _ => 0.3 * cover,
            };
            evidence.joint = evidence.joint.max(joint);
            evidence.cover = evidence.cover.max(cover);
            let source = mentioned.get(self.sources.of[doc] as usize);
            evidence.source = evidence.source.max(source.copied().unwrap_or(0.0));
        }
        evidence
    }

    /// Whether the evidence is enough to offer anything. Without meanings the words
    /// alone cannot tell, and whatever matches is offered.
    pub(crate) fn fits(&self, evidence: &Evidence) -> bool {
        if evidence.words >= LONG {
            return true;
        }
        let weights = &self.weights;
        if self.encoded.is_some() {
            return evidence.strength_encoded(weights) >= weights.encoded.refuse;
        }
        self.meaning.is_none() || evidence.strength(weights) >= weights.refuse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_to_the_tenth_or_the_last() {
        let twelve: Vec<f32> = (1..=12).map(|n| n as f32).collect();
        assert_eq!(margin(twelve), 9.0);
        assert_eq!(margin(vec![0.5, 0.75, 0.25]), 0.5);
        assert_eq!(margin(vec![0.5]), 0.0);
        assert_eq!(margin(Vec::new()), 0.0);
    }
}
