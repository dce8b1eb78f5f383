//! What others do: the rankings to beat.
//!
//! Written plainly and apart from the product's index, so that a mistake there
//! cannot flatter it.

use std::collections::HashMap;

use toolcrib_surface::stemmed_words;

use crate::ToolEntry;
use crate::ranker::{Answer, Ranker};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Lower-case runs of letters and digits.
fn plain_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The best `limit` of `scores` above zero, equal ones by name.
fn best(scores: &[f64], names: &[String], limit: usize) -> Answer {
    let mut order: Vec<usize> = (0..scores.len()).filter(|&at| scores[at] > 0.0).collect();
    order.sort_by(|&a, &b| {
        scores[b]
            .total_cmp(&scores[a])
            .then(names[a].cmp(&names[b]))
    });
    order.truncate(limit);
    Answer {
        refused: order.is_empty(),
        ranked: order,
    }
}

/// Counts the query's words that occur anywhere in a tool's name or description.
pub(crate) struct Substring {
    names: Vec<String>,
    texts: Vec<String>,
}

impl Substring {
    pub(crate) fn build(tools: &[ToolEntry]) -> Substring {
        Substring {
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
            texts: tools
                .iter()
                .map(|tool| format!("{}\n{}", tool.name, tool.description).to_lowercase())
                .collect(),
        }
    }
}

impl Ranker for Substring {
    fn rank(&self, query: &str, limit: usize) -> Answer {
        let mut words = plain_words(query);
        words.sort_unstable();
        words.dedup();
        let scores: Vec<f64> = self
            .texts
            .iter()
            .map(|text| words.iter().filter(|word| text.contains(&**word)).count() as f64)
            .collect();
        best(&scores, &self.names, limit)
    }

    fn index_bytes(&self) -> usize {
        self.names.iter().chain(&self.texts).map(String::len).sum()
    }
}

/// Textbook BM25 over one bag of words a tool.
pub(crate) struct Bm25 {
    stem: bool,
    names: Vec<String>,
    lengths: Vec<f64>,
    mean: f64,
    postings: HashMap<String, Vec<(u32, u32)>>,
}

impl Bm25 {
    pub(crate) fn build(tools: &[ToolEntry], stem: bool) -> Bm25 {
        let mut postings: HashMap<String, Vec<(u32, u32)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            let mut words = split(&tool.name, stem);
            words.extend(split(&tool.description, stem));
            if stem {
                words.extend(split(&tool.doc().arguments, stem));
            }
            lengths.push(words.len() as f64);
            for word in words {
                let list = postings.entry(word).or_default();
                match list.last_mut() {
                    Some((doc, count)) if *doc == at as u32 => *count += 1,
                    _ => list.push((at as u32, 1)),
                }
            }
        }
        Bm25 {
            stem,
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
            mean: lengths.iter().sum::<f64>().max(1.0) / tools.len().max(1) as f64,
            lengths,
            postings,
        }
    }
}

fn split(text: &str, stem: bool) -> Vec<String> {
    if stem {
        stemmed_words(text)
    } else {
        plain_words(text)
    }
}

impl Ranker for Bm25 {
    fn rank(&self, query: &str, limit: usize) -> Answer {
        let mut scores = vec![0.0; self.names.len()];
        for word in split(query, self.stem) {
            let Some(list) = self.postings.get(&word) else {
                continue;
            };
            let df = list.len() as f64;
            let idf = (1.0 + (self.names.len() as f64 - df + 0.5) / (df + 0.5)).ln();
            for &(doc, count) in list {
                let (doc, tf) = (doc as usize, f64::from(count));
                let long = 1.0 - B + B * self.lengths[doc] / self.mean;
                scores[doc] += idf * tf * (K1 + 1.0) / (tf + K1 * long);
            }
        }
        best(&scores, &self.names, limit)
    }

    fn index_bytes(&self) -> usize {
        let names: usize = self.names.iter().map(String::len).sum();
        let lists: usize = self
            .postings
            .iter()
            .map(|(word, list)| word.len() + 8 * list.len() + 48)
            .sum();
        names + 8 * self.lengths.len() + lists
    }
}
