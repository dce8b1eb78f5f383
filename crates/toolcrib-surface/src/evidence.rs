//! Whether anything fits at all.
//!
//! A blend always has a best tool, so its score cannot say that the best is bad.
//! What can: how near the best tools are in meaning, how much of the query they
//! have in words, how much of the query is known to any tool. With a sentence encoder it
//! is how far the nearest tool stands out that tells, not how near it is: everything is a
//! little near to a need that nothing serves. Beside it count the words that the best
//! tools have, whether the query names their source, and whether it names something
//! that no tool mentions.

use crate::bm25::Words;
use crate::index::ToolIndex;
use crate::query::{Query, any_unknown, terms};

/// The best tools that are looked at.
pub(crate) const DEPTH: usize = 5;

/// The tool, counted from the nearest, from which the nearest must stand out.
const STANDS_OUT: usize = 30;

/// How near that tool is at most where there are fewer: a common nearness of what has
/// nothing to do with a query.
const FAR: f32 = 0.25;

/// As many tools as the threshold of [`crate::Weights::refuse`] was fitted for at least.
const MANY: usize = 500;

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
    /// How much nearer the nearest tool is than the thirtieth nearest, by a sentence encoder.
    pub margin: f32,
    /// Whether the query has a name, known by its capitals, that no tool has; looked at
    /// with a sentence encoder alone.
    pub foreign: bool,
    /// Words of the query that any tool has.
    pub words: usize,
    /// Whether nothing tells the meaning of the query: the table of meanings knows no word
    /// of it, as with most other languages, and there is no sentence encoder.
    pub unread: bool,
}

impl Evidence {
    /// One number; see [`crate::Weights::refuse`].
    pub fn strength(&self, weights: &crate::Weights) -> f32 {
        let [cover, known] = weights.evidence;
        self.joint + cover * self.cover + known * self.known
    }

    /// The same by a sentence encoder; see [`crate::EncodedWeights::refuse`].
    pub fn strength_encoded(&self, weights: &crate::Weights) -> f32 {
        let [source, margin, foreign] = weights.encoded.evidence;
        let foreign = if self.foreign { foreign } else { 0.0 };
        self.cover + source * self.source + margin * self.margin + foreign
    }
}

/// Whether `text` has a word with a capital, other than those that begin a sentence, of
/// which `index` knows a part not at all. Capitals alone, as in shouting, tell nothing.
fn foreign(text: &str, index: &Words) -> bool {
    if !text.chars().any(char::is_lowercase) {
        return false;
    }
    let mut begins = true;
    text.split_whitespace().any(|word| {
        let begun = std::mem::replace(&mut begins, word.ends_with(['.', '?', '!', ':']));
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let word = word.strip_suffix("'s").unwrap_or(word);
        !begun && word.chars().any(char::is_uppercase) && any_unknown(word, index)
    })
}

/// From the greatest to the thirtieth greatest; of fewer to the least, or to what is far.
fn margin(mut near: Vec<f32>) -> f32 {
    if near.is_empty() {
        return 0.0;
    }
    let few = near.len() < STANDS_OUT;
    let last = STANDS_OUT.min(near.len()) - 1;
    let (before, &mut last, _) = near.select_nth_unstable_by(last, |a, b| b.total_cmp(a));
    let best = before.iter().copied().fold(last, f32::max);
    (best - if few { last.min(FAR) } else { last }).max(0.0)
}

/// The evidence below which nothing of so many tools fits. The nearest of many tools is
/// near by chance alone, the more so the more there are: by about a deviation times the
/// root of twice the logarithm of their number. What small collections have less of that
/// is taken off.
fn refuse(weights: &crate::Weights, tools: usize) -> f32 {
    let by_chance = |tools: usize| (2.0 * (tools.max(1) as f32).ln()).sqrt();
    let less = (by_chance(MANY) - by_chance(tools)).max(0.0);
    let least = weights.refuse_least.min(weights.refuse);
    (weights.refuse - weights.refuse_small * less).max(least)
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
            unread: encoded.is_none() && vector.is_none(),
            margin: encoded.map_or(0.0, |(encoded, whole)| margin(encoded.scores(whole))),
            foreign: encoded.is_some() && foreign(&query.text, &self.words),
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
        evidence.unread || evidence.strength(weights) >= refuse(weights, self.docs.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolDoc, Weights};

    #[test]
    fn the_margin_is_to_the_thirtieth_or_to_what_is_far() {
        let forty: Vec<f32> = (1..=40).map(|n| n as f32).collect();
        assert_eq!(margin(forty), 29.0);
        assert_eq!(margin(vec![0.5, 0.75, 0.125]), 0.625);
        assert_eq!(margin(vec![0.5, 0.75]), 0.5);
        assert_eq!(margin(vec![0.75]), 0.5);
        assert_eq!(margin(vec![0.125]), 0.0);
        assert_eq!(margin(Vec::new()), 0.0);
    }

    #[test]
    fn less_is_asked_of_small_collections_and_the_same_of_all_large_ones() {
        let weights = Weights::default();
        let thresholds = [1, 5, 30, 100, 499, 500, 5000].map(|tools| refuse(&weights, tools));
        assert!(thresholds.is_sorted(), "{thresholds:?}");
        assert_eq!(thresholds[0], weights.refuse_least);
        assert_eq!(thresholds[5..], [weights.refuse; 2]);
        let never = Weights {
            refuse: 0.0,
            ..Weights::default()
        };
        assert_eq!(refuse(&never, 5), 0.0);
    }

    #[test]
    fn a_foreign_name_speaks_against_the_best_and_all_else_for_them() {
        let weights = Weights::default();
        let strength = |evidence: Evidence| evidence.strength_encoded(&weights);
        let some = Evidence {
            cover: 0.5,
            source: 0.5,
            margin: 0.125,
            ..Evidence::default()
        };
        let more = |change: fn(&mut Evidence)| {
            let mut evidence = some;
            change(&mut evidence);
            strength(evidence) - strength(some)
        };
        assert!(more(|evidence| evidence.cover += 0.1) > 0.0);
        assert!(more(|evidence| evidence.source += 0.1) > 0.0);
        assert!(more(|evidence| evidence.margin += 0.1) > 0.0);
        assert!(more(|evidence| evidence.foreign = true) < 0.0);
    }

    #[test]
    fn a_name_that_no_tool_has_is_told_by_its_capitals() {
        let docs = [ToolDoc::new(
            "forge__post",
            "Post a message to a channel of GitHub.",
        )];
        let words = Words::build(&docs, &Weights::default());
        for (text, is) in [
            ("post it in our Discord server", true),
            ("post it on Zorbly's channel", true),
            ("post a message with DocuSign", true),
            ("post a message on GitHub", false),
            ("Announce this to a channel", false),
            ("post this. Announce it too", false),
            ("announce it where I am", false),
            ("POST IT ON DISCORD", false),
            ("", false),
        ] {
            assert_eq!(foreign(text, &words), is, "{text}");
        }
    }
}
