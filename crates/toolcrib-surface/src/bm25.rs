//! Words against words: BM25 over fields, as posting lists of finished weights.
//!
//! All that does not depend on the query is multiplied out when the index is
//! built, so that a query only adds. What a word is worth in a field is not the
//! caller's business: only [`crate::Weights`] knows.

use rustc_hash::FxHashMap;

use crate::spelling::Spellings;
use crate::stem::stem;
use crate::tokenize::{Piece, function_word, words};
use crate::{ToolDoc, Weights};

/// Number of fields.
pub(crate) const FIELDS: usize = 4;
/// Bit of a posting that says the word stands in the name.
const IN_NAME: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    doc: u32,
    /// What the word adds to the tool's score.
    pub(crate) worth: f32,
}

impl Posting {
    pub(crate) fn doc(self) -> u32 {
        self.doc & !IN_NAME
    }

    pub(crate) fn in_name(self) -> bool {
        self.doc & IN_NAME != 0
    }
}

#[derive(Debug, Default)]
pub(crate) struct Words {
    ids: FxHashMap<Box<str>, u32>,
    /// `postings[starts[t]..starts[t + 1]]` belong to word `t`, in document order.
    starts: Vec<u32>,
    postings: Vec<Posting>,
    idf: Vec<f32>,
    /// Sum of the rarities of each tool's name words.
    name_idf: Vec<f32>,
    /// Rarity of a word that no tool has.
    unknown_idf: f32,
    spellings: Spellings,
}

impl Words {
    pub(crate) fn build(docs: &[ToolDoc], weights: &Weights) -> Words {
        let mut reader = Reader::default();
        let mut lengths = Vec::with_capacity(docs.len());
        let mut sums = [0f64; FIELDS];
        let mut ends = Vec::with_capacity(docs.len());
        for doc in docs {
            let caps = [64, 64, weights.cap[0], weights.cap[1]];
            let texts = [
                doc.spoken_name(),
                &doc.title,
                &doc.description,
                &doc.arguments,
            ];
            let mut length = [0u32; FIELDS];
            for (field, text) in texts.into_iter().enumerate() {
                length[field] = reader.read(text, field, caps[field]);
                sums[field] += f64::from(length[field]);
            }
            lengths.push(length);
            ends.push(reader.found.len());
        }
        let count = docs.len().max(1) as f64;
        let mean = sums.map(|sum| (sum / count).max(1.0) as f32);
        reader.finish(&lengths, &ends, mean, weights)
    }

    /// The number of a word in lower case, after stemming; `None` if no tool has it.
    pub(crate) fn id(&self, word: &str, scratch: &mut String) -> Option<u32> {
        scratch.clear();
        scratch.push_str(word);
        stem(scratch);
        self.ids.get(scratch.as_str()).copied()
    }

    pub(crate) fn postings(&self, word: u32) -> &[Posting] {
        let at = word as usize;
        &self.postings[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Whether document `doc` has `word`.
    pub(crate) fn has(&self, word: u32, doc: u32) -> bool {
        self.postings(word)
            .binary_search_by_key(&doc, |posting| posting.doc())
            .is_ok()
    }

    pub(crate) fn idf(&self, word: u32) -> f32 {
        self.idf[word as usize]
    }

    /// Words as they are written, by which misspelt ones are mended.
    pub(crate) fn spellings(&self) -> &Spellings {
        &self.spellings
    }

    pub(crate) fn unknown_idf(&self) -> f32 {
        self.unknown_idf
    }

    pub(crate) fn name_idf(&self, doc: u32) -> f32 {
        self.name_idf[doc as usize]
    }

    /// Heap bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let keys: usize = self.ids.keys().map(|key| key.len() + 32).sum();
        keys + self.spellings.bytes()
            + 4 * (self.starts.len() + self.idf.len() + self.name_idf.len())
            + size_of::<Posting>() * self.postings.len()
    }
}

/// Turns texts into occurrences, remembering each spelling once.
#[derive(Default)]
struct Reader {
    spellings: FxHashMap<Box<str>, Option<u32>>,
    ids: FxHashMap<Box<str>, u32>,
    found: Vec<(u32, u8)>,
    scratch: String,
}

impl Reader {
    /// Adds the words of one field; returns how many, parts of compounds not counted.
    fn read(&mut self, text: &str, field: usize, cap: usize) -> u32 {
        let mut length = 0;
        words(text, |word, piece| {
            if length as usize >= cap {
                return;
            }
            let known = match self.spellings.get(word) {
                Some(known) => *known,
                None => {
                    let id = (!function_word(word)).then(|| self.number(word));
                    self.spellings.insert(word.into(), id);
                    id
                }
            };
            if let Some(id) = known {
                self.found.push((id, field as u8));
                length += u32::from(matches!(piece, Piece::Whole(_)));
            }
        });
        length
    }

    fn number(&mut self, word: &str) -> u32 {
        self.scratch.clear();
        self.scratch.push_str(word);
        stem(&mut self.scratch);
        match self.ids.get(self.scratch.as_str()) {
            Some(&id) => id,
            None => {
                let id = self.ids.len() as u32;
                self.ids.insert(self.scratch.as_str().into(), id);
                id
            }
        }
    }

    fn finish(
        mut self,
        lengths: &[[u32; FIELDS]],
        ends: &[usize],
        mean: [f32; FIELDS],
        weights: &Weights,
    ) -> Words {
        let mut rows: Vec<(u32, Posting)> = Vec::new();
        let mut start = 0;
        let mut frequency = vec![0u32; self.ids.len()];
        for (at, &end) in ends.iter().enumerate() {
            let found = &mut self.found[start..end];
            start = end;
            found.sort_unstable();
            let scale: [f32; FIELDS] = std::array::from_fn(|f| {
                let long = lengths[at][f] as f32 / mean[f];
                weights.field[f] / (1.0 - weights.length[f] + weights.length[f] * long)
            });
            for same in found.chunk_by(|a, b| a.0 == b.0) {
                let tf: f32 = same.iter().map(|(_, field)| scale[*field as usize]).sum();
                let name = if same[0].1 == 0 { IN_NAME } else { 0 };
                let worth = tf * (weights.k1 + 1.0) / (tf + weights.k1);
                frequency[same[0].0 as usize] += 1;
                rows.push((
                    same[0].0,
                    Posting {
                        doc: at as u32 | name,
                        worth,
                    },
                ));
            }
        }
        let count = lengths.len() as f32;
        let rarity = |df: f32| (1.0 + (count - df + 0.5) / (df + 0.5)).ln();
        let idf: Vec<f32> = frequency.iter().map(|&df| rarity(df as f32)).collect();
        let mut starts = Vec::with_capacity(idf.len() + 1);
        let mut total = 0;
        starts.push(0);
        for df in &frequency {
            total += df;
            starts.push(total);
        }
        let mut next = starts.clone();
        let mut postings = vec![Posting { doc: 0, worth: 0.0 }; rows.len()];
        let mut name_idf = vec![0.0; lengths.len()];
        for (word, mut posting) in rows {
            let at = word as usize;
            if posting.in_name() {
                name_idf[posting.doc() as usize] += idf[at];
            }
            posting.worth *= idf[at];
            postings[next[at] as usize] = posting;
            next[at] += 1;
        }
        let spelt = self.spellings.into_iter();
        let spelt = spelt.filter_map(|(word, id)| Some((word, frequency[id? as usize])));
        Words {
            spellings: Spellings::build(spelt),
            ids: self.ids,
            starts,
            postings,
            idf,
            name_idf,
            unknown_idf: rarity(0.0),
        }
    }
}
