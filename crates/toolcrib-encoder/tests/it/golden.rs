//! Beside the reference tokeniser and the model's published equations; see `../golden.py`.

use std::path::Path;

use serde::Deserialize;
use toolcrib_encoder::{Encoder, VectorCache, Wordpiece};

#[derive(Deserialize)]
struct Golden {
    pieces: Vec<String>,
    cases: Vec<Case>,
    vectors: Vec<Encoded>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    times: usize,
    count: usize,
    ids: Vec<u32>,
    last: Vec<u32>,
}

#[derive(Deserialize)]
struct Encoded {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden.json")).unwrap()
}

#[test]
fn texts_are_cut_as_the_reference_cuts_them() {
    let golden = golden();
    let tokens = Wordpiece::with_pieces(&golden.pieces).unwrap();
    for case in &golden.cases {
        let text = case.text.repeat(case.times);
        let ids = tokens.ids(&text, usize::MAX);
        let inner = &ids[1..ids.len() - 1];
        assert_eq!(inner.len(), case.count, "{:?}", case.text);
        assert_eq!(inner[..case.ids.len()], case.ids, "{:?}", case.text);
        assert!(inner.ends_with(&case.last), "{:?}", case.text);
        // Cut short, it is a beginning of the same, between the same ends.
        for most in [2, 3, 5, 128] {
            let cut = tokens.ids(&text, most);
            let inside = inner.len().min(most - 2);
            assert_eq!(cut.len(), inside + 2, "{:?} within {most}", case.text);
            assert_eq!(cut[..=inside], ids[..=inside]);
            assert_eq!(cut.last(), ids.last());
        }
    }
    assert!(golden.cases.len() > 150);
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
        products.sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Needs the weights: `TOOLCRIB_ENCODER=DIR cargo test -p toolcrib-encoder -- --ignored`.
#[test]
#[ignore = "needs the weights, named by TOOLCRIB_ENCODER"]
fn vectors_are_those_of_the_published_model() {
    let golden = golden();
    let directory = std::env::var("TOOLCRIB_ENCODER").expect("TOOLCRIB_ENCODER names the weights");
    let encoder = Encoder::open(Path::new(&directory)).unwrap();
    assert_eq!(encoder.dims(), 384);
    let texts: Vec<&str> = golden.vectors.iter().map(|case| &*case.text).collect();
    for case in &golden.vectors {
        assert_eq!(encoder.tokens().ids(&case.text, 128), case.ids);
    }
    let together = encoder.encode(&texts);
    for (case, vector) in golden.vectors.iter().zip(&together) {
        let near = cosine(vector, &case.vector);
        assert!(near > 0.999_999, "{:?}: {near}", case.text);
    }

    // Alone, in another order, on one thread: the same bits.
    let alone = texts.iter().map(|text| encoder.encode(&[text]).remove(0));
    assert_eq!(alone.collect::<Vec<_>>(), together);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let mut backwards: Vec<&str> = texts.iter().rev().copied().collect();
    backwards.extend(["another text", "and one more"]);
    let mut on_one = pool.install(|| encoder.encode(&backwards));
    on_one.truncate(texts.len());
    on_one.reverse();
    assert_eq!(on_one, together);

    // Kept and read again, a vector is what it was when made.
    let dir = tempfile::tempdir().unwrap();
    let cache = VectorCache::new(encoder, Some(dir.path()));
    let first = cache.encode(&texts);
    assert_eq!((cache.encoded(), cache.problem()), (texts.len(), None));
    for (kept, made) in first.iter().zip(&together) {
        assert!(cosine(kept, made) > 0.999_999);
    }
    let cache = VectorCache::new(
        Encoder::open(Path::new(&directory)).unwrap(),
        Some(dir.path()),
    );
    let more = [texts.as_slice(), &["a new text", "a new text"]].concat();
    let again = cache.encode(&more);
    assert_eq!(again[..texts.len()], first);
    assert_eq!(again[texts.len()], again[texts.len() + 1]);
    assert_eq!((cache.encoded(), cache.problem()), (1, None));
}
