//! A sentence encoder beside words and table, by one whose vectors are written down.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use toolcrib_surface::{Search, SentenceEncoder, SharedEncoder, ToolIndex};

use crate::{names, tool};

/// Knows two subjects by their words; counts how often a query is encoded.
#[derive(Clone, Debug, Default)]
struct Subjects {
    queries: Arc<AtomicUsize>,
    tools: Arc<Mutex<Vec<String>>>,
}

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let mut vector = vec![
        f32::from(u8::from(has(&["blame", "who last touched"]))),
        f32::from(u8::from(has(&["forecast", "umbrella"]))),
        0.1,
        f32::from(u8::from(has(&["sonnet"]))),
    ];
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= length;
    }
    vector
}

impl SentenceEncoder for Subjects {
    fn encode_tools(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let mut seen = self.tools.lock().unwrap();
        seen.extend(texts.iter().map(|text| (*text).to_owned()));
        texts.iter().map(|text| vector(text)).collect()
    }

    fn encode_query(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.queries.fetch_add(1, Ordering::Relaxed);
        texts.iter().map(|text| vector(text)).collect()
    }
}

fn index(encoder: &Subjects) -> ToolIndex {
    let mut docs = [
        tool("git", "blame_file", "Annotate each line with its author."),
        tool("git", "push", "Send commits to a remote."),
        tool("sky", "forecast", "Weather for a town."),
        tool("sky", "moon", "Phase of the moon."),
    ];
    docs[2].source_description = "What hangs above. And more.".into();
    let shared = SharedEncoder::new(encoder.clone());
    ToolIndex::build_encoded(&docs, Some(&shared))
}

#[test]
fn an_encoder_finds_what_neither_words_nor_table_do() {
    let encoder = Subjects::default();
    let index = index(&encoder);
    let found = index.rank("who last touched line 40", 1);
    assert_eq!(names(&index, &found), ["git__blame_file"]);
    assert!(!found.nothing_fits);
    let found = index.rank("umbrella", 1);
    assert_eq!(names(&index, &found), ["sky__forecast"]);
    // Every tool is read as a short and a long text, and every source that is described.
    let seen = encoder.tools.lock().unwrap();
    assert_eq!(seen.len(), 2 * 4 + 1);
    assert_eq!(
        seen[0],
        "git blame file: Annotate each line with its author."
    );
    assert_eq!(seen[8], "sky: What hangs above.");
}

#[test]
fn of_equal_tools_the_one_whose_source_fits_is_first() {
    for (fits, other) in [("ada", "bob"), ("bob", "ada")] {
        let docs = [
            tool("ada", "read", "Reads a page."),
            tool("bob", "read", "Reads a page."),
            tool(fits, "forecast", "Weather for a town."),
            tool(other, "push", "Send commits to a remote."),
        ];
        let shared = SharedEncoder::new(Subjects::default());
        let index = ToolIndex::build_encoded(&docs, Some(&shared));
        let found = names(&index, &index.rank("read the umbrella page", 4));
        let place = |name: String| found.iter().position(|found| *found == name).unwrap();
        assert!(
            place(format!("{fits}__read")) < place(format!("{other}__read")),
            "{found:?}"
        );
    }
}

#[test]
fn what_is_near_is_offered_however_few_tools_there_are() {
    let docs = [
        tool("sky", "forecast", "Weather for a town."),
        tool("git", "push", "Send commits to a remote."),
    ];
    let shared = SharedEncoder::new(Subjects::default());
    let index = ToolIndex::build_encoded(&docs, Some(&shared));
    assert!(!index.rank("umbrella", 1).nothing_fits);
    assert!(index.rank("sonnets", 1).nothing_fits);
    let of_discord = index.rank("do I need an umbrella in Discord", 1);
    assert!(of_discord.evidence.foreign);
}

#[test]
fn a_query_is_encoded_once_and_one_of_names_never() {
    let encoder = Subjects::default();
    let index = index(&encoder);
    let how = Search::default();
    index.search(
        "who last touched line 40 and do I need an umbrella tomorrow?",
        &how,
    );
    assert_eq!(encoder.queries.load(Ordering::Relaxed), 1);
    // Refused: the nearest are named from the same vectors.
    let refused = index.search("sonnets", &how);
    assert!(refused.nothing_fits && !refused.nearest.is_empty());
    assert_eq!(encoder.queries.load(Ordering::Relaxed), 2);
    index.search("select:git__push", &how);
    assert_eq!(encoder.queries.load(Ordering::Relaxed), 2);
}

#[test]
fn an_encoder_that_answers_nothing_leaves_words_and_table() {
    #[derive(Debug)]
    struct Silent;
    impl SentenceEncoder for Silent {
        fn encode_tools(&self, _: &[&str]) -> Vec<Vec<f32>> {
            Vec::new()
        }
        fn encode_query(&self, _: &[&str]) -> Vec<Vec<f32>> {
            Vec::new()
        }
    }
    let docs = [
        tool("sky", "forecast", "Weather for a town."),
        tool("sky", "moon", "Phase of the moon."),
    ];
    let index = ToolIndex::build_encoded(&docs, Some(&SharedEncoder::new(Silent)));
    let plain = ToolIndex::build(&docs);
    let query = "weather of the town";
    assert_eq!(
        names(&index, &index.rank(query, 2)),
        names(&plain, &plain.rank(query, 2))
    );
    assert!(index.rank("forecast", 1).hits[0].named);
}
