//! What building the index and asking it cost at the scale of thousands of tools,
//! beside textbook BM25 over the same texts in the same run.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::OnceLock;

use divan::Bencher;
use toolcrib_surface::{Search, ToolDoc, ToolIndex, stemmed_words};

fn main() {
    divan::main();
}

const TOOLS: usize = 5_181;

/// A small generator of numbers, so that every run measures the same texts.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    /// Small numbers far more often than large ones, as words are in texts.
    fn rank(&mut self, most: usize) -> usize {
        let u = (self.roll(1_000_000) + 1) as f64 / 1e6;
        ((most as f64).powf(u) - 1.0) as usize
    }
}

/// Pronounceable words, distinct by number.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ta", "re", "mi", "lo", "su", "ne", "ka", "vi", "do", "pe", "ri", "sa", "to", "lu", "me",
        "fa",
    ];
    let mut rest = number;
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(SYLLABLES[rest % 16]);
        rest /= 16;
    }
    word
}

fn docs() -> &'static [ToolDoc] {
    static DOCS: OnceLock<Vec<ToolDoc>> = OnceLock::new();
    DOCS.get_or_init(|| {
        let mut dice = Dice(42);
        let text = |dice: &mut Dice, words: usize| {
            let words: Vec<_> = (0..words).map(|_| word(dice.rank(20_000))).collect();
            words.join(" ")
        };
        (0..TOOLS)
            .map(|at| {
                let name = format!(
                    "s{}__{}_{at}",
                    at % 748,
                    text(&mut dice, 2).replace(' ', "_")
                );
                let length = 8 + dice.roll(70);
                let mut doc =
                    ToolDoc::new(name, text(&mut dice, length)).source(format!("s{}", at % 748));
                doc.arguments = text(&mut dice, 20).replace(' ', "\n").into();
                doc
            })
            .collect()
    })
}

fn index() -> &'static ToolIndex {
    static INDEX: OnceLock<ToolIndex> = OnceLock::new();
    INDEX.get_or_init(|| ToolIndex::build(docs()))
}

fn query(words: usize) -> String {
    let mut dice = Dice(7);
    let words: Vec<_> = (0..words).map(|_| word(dice.rank(3_000))).collect();
    words.join(" ")
}

/// Textbook BM25: what a ratio is taken against.
struct Plain {
    lengths: Vec<f32>,
    postings: HashMap<String, Vec<(u32, u32)>>,
}

impl Plain {
    fn build(docs: &[ToolDoc]) -> Plain {
        let mut plain = Plain {
            lengths: Vec::new(),
            postings: HashMap::new(),
        };
        for (at, doc) in docs.iter().enumerate() {
            let mut words = stemmed_words(&doc.name);
            words.extend(stemmed_words(&doc.description));
            words.extend(stemmed_words(&doc.arguments));
            plain.lengths.push(words.len() as f32);
            for word in words {
                let list = plain.postings.entry(word).or_default();
                match list.last_mut() {
                    Some((doc, count)) if *doc == at as u32 => *count += 1,
                    _ => list.push((at as u32, 1)),
                }
            }
        }
        plain
    }

    fn rank(&self, query: &str) -> Vec<(f32, u32)> {
        let mean = self.lengths.iter().sum::<f32>() / self.lengths.len() as f32;
        let mut scores = vec![0f32; self.lengths.len()];
        for word in stemmed_words(query) {
            let Some(list) = self.postings.get(&word) else {
                continue;
            };
            let df = list.len() as f32;
            let idf = (1.0 + (self.lengths.len() as f32 - df + 0.5) / (df + 0.5)).ln();
            for (doc, count) in list {
                let tf = *count as f32;
                let long = 0.25 + 0.75 * self.lengths[*doc as usize] / mean;
                scores[*doc as usize] += idf * tf * 2.2 / (tf + 1.2 * long);
            }
        }
        let mut all: Vec<_> = scores
            .into_iter()
            .zip(0..)
            .filter(|(s, _)| *s > 0.0)
            .collect();
        all.sort_by(|a: &(f32, u32), b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.truncate(10);
        all
    }
}

#[divan::bench]
fn build(bencher: Bencher<'_, '_>) {
    bencher.bench(|| ToolIndex::build(black_box(docs())));
}

#[divan::bench]
fn build_plain_bm25(bencher: Bencher<'_, '_>) {
    bencher.bench(|| Plain::build(black_box(docs())));
}

#[divan::bench(args = [3, 8, 40])]
fn search(bencher: Bencher<'_, '_>, words: usize) {
    let (index, query) = (index(), query(words));
    bencher.bench(|| index.search(black_box(&query), &Search::default()));
}

#[divan::bench(args = [3, 8, 40])]
fn search_plain_bm25(bencher: Bencher<'_, '_>, words: usize) {
    let (plain, query) = (Plain::build(docs()), query(words));
    bencher.bench(|| plain.rank(black_box(&query)));
}

#[divan::bench]
fn search_by_name(bencher: Bencher<'_, '_>) {
    let index = index();
    let name = docs()[TOOLS / 2].local_name().to_uppercase();
    bencher.bench(|| index.search(black_box(&name), &Search::default()));
}
