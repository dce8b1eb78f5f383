//! The tokeniser against the answers of the reference implementation (`distill/golden.py`).
use crate::table::bytes;
use serde::Deserialize;
use toolcrib_vectors::Table;

#[derive(Deserialize)]
struct Golden {
    vocabulary: Vec<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    times: usize,
    count: usize,
    pieces: Vec<Option<String>>,
    last: Vec<Option<String>>,
}

#[test]
fn texts_are_cut_as_the_reference_cuts_them() {
    let golden: Golden = serde_json::from_str(include_str!("golden.json")).unwrap();
    assert_eq!(golden.cases.len(), 200);
    let pieces: Vec<_> = golden
        .vocabulary
        .iter()
        .map(|piece| (piece.as_str(), 1))
        .collect();
    let table = Table::from_bytes(bytes(&pieces)).unwrap();
    let mut wrong = Vec::new();
    for case in &golden.cases {
        let found = table.pieces_of(&case.text.repeat(case.times));
        let head = &found[..found.len().min(60)];
        let tail = &found[found.len().saturating_sub(3)..];
        if found.len() != case.count || head != case.pieces || tail != case.last {
            wrong.push(format!(
                "{:?} x{}: {head:?}\n  expected {:?}",
                case.text, case.times, case.pieces
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of 200 differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
