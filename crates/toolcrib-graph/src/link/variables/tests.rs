//! Circles of variables cost what their size is, however many paths they have.

use std::fmt::Write;

use super::MAX_FOLLOWED;
use crate::facts::FileFacts;
use crate::lang::rules_of_tree;
use crate::link::eval::{Eval, MAX_MOVES};
use crate::link::index::Index;
use crate::link::lookup::Lookup;
use crate::link::relations::Relations;
use crate::model::SiteState;
use crate::provider::extract;
use crate::scan::SourceFile;

/// The states of all call sites of a file, and the moves that each took.
fn decided(path: &str, text: &str) -> Vec<(String, SiteState, u32)> {
    let files = [SourceFile {
        path: path.into(),
        size: text.len() as u64,
        text: text.into(),
    }];
    let languages = rules_of_tree(&files);
    let facts: Vec<FileFacts> = files
        .iter()
        .zip(&languages)
        .map(|(file, language)| extract(&file.path, &file.text, *language))
        .collect();
    let index = Index::new(&files, &facts, languages);
    let lookup = Lookup::new(&index);
    let relations = Relations::new(&lookup);
    let mut eval = Eval::new(&lookup, &relations);
    facts[0]
        .calls
        .iter()
        .map(|call| {
            let state = eval.site_state(0, call).unwrap();
            (facts[0].name(call.name).to_string(), state, eval.moves)
        })
        .collect()
}

/// Variables that each hold the two after them, around in a circle.
fn circle(size: usize) -> String {
    let mut text = String::from("function made() {}\n");
    for i in 0..size {
        let (one, two) = ((i + 1) % size, (i + 2) % size);
        let end = if i == size / 2 { " || made" } else { "" };
        writeln!(text, "const v{i} = v{one} || v{two}{end};").unwrap();
    }
    text
}

#[test]
fn a_circle_of_variables_is_followed_once() {
    let size = 60;
    let text = circle(size) + "v0();\nv1();\n";
    let sites = decided("lib.js", &text);
    assert_eq!(sites.len(), 2);
    for (name, state, moves) in &sites {
        assert!(
            matches!(state, SiteState::Resolved { .. }),
            "{name}: {state:?}"
        );
        // Every variable is three terms, and then a value twice over.
        assert!(*moves < 12 * size as u32, "{name}: {moves} moves");
        assert!(*moves > size as u32, "{name}: {moves} moves");
    }
}

#[test]
fn a_compiled_class_that_is_two_variables_of_one_name_is_followed_once() {
    let text = "\
const Shape = exports.Shape = function () {
  function Shape(args) {}
  return Shape;
}();
new Shape(1);
Shape.of(2);
";
    let sites = decided("dist/shape.js", text);
    assert!(sites.len() >= 3, "{sites:?}");
    for (name, state, moves) in &sites {
        assert!(*moves < 60, "{name}: {moves} moves, {state:?}");
    }
}

#[test]
fn a_circle_beyond_the_bound_is_declined_once_and_remembered() {
    let text = circle(4 * MAX_FOLLOWED) + "v0();\nv0();\nmade();\n";
    let sites = decided("lib.js", &text);
    // What it holds stays open; what is called is the variable itself.
    assert!(matches!(sites[0].1, SiteState::Resolved { .. }));
    assert!(sites[0].2 > MAX_FOLLOWED as u32, "{sites:?}");
    assert!(sites[0].2 < 12 * MAX_FOLLOWED as u32, "{sites:?}");
    assert!(sites[0].2 < MAX_MOVES, "{sites:?}");
    assert_eq!(sites[1].1, sites[0].1);
    assert!(sites[1].2 < 10, "{sites:?}");
    assert!(matches!(sites[2].1, SiteState::Resolved { .. }));
    assert_ne!(sites[2].1, sites[0].1);
}
