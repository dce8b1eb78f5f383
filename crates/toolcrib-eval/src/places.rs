//! Questions about repositories with the places that answer them.
//!
//! Whoever asks is measured by what it cites first. Which program answers is
//! none of this module's business: it reads questions and ranks citations.

use std::path::Path;

use serde::Deserialize;

use crate::EvalError;
use crate::load::{bad, lines, object, read};

/// Lines of a file, both ends included, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Place {
    /// Relative to the repository, with `/`.
    pub path: String,
    /// The first line.
    pub start: u32,
    /// The last line.
    pub end: u32,
}

impl Place {
    fn meets(&self, other: &Place) -> bool {
        self.path == other.path && self.start <= other.end && other.start <= self.end
    }
}

/// A question about one repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The repository's folder among the others.
    pub repo: String,
    /// What sort of question it is, such as `where`; for the report only.
    #[serde(default)]
    pub kind: String,
    /// As a person would ask it.
    pub question: String,
    /// The places that answer it; one is enough. None when the repository has no
    /// answer, and the right one is to say so.
    pub places: Vec<Place>,
}

impl Question {
    /// Where among `cited` the first right place stands, from 1.
    pub fn rank(&self, cited: &[Place]) -> Option<usize> {
        let right = |cited: &Place| self.places.iter().any(|place| place.meets(cited));
        cited.iter().position(right).map(|at| at + 1)
    }
}

/// The questions of a file of JSON Lines.
///
/// # Errors
/// A file that cannot be read or is empty, a malformed line, a place that ends
/// before it starts.
pub fn load_questions(path: &Path) -> Result<Vec<Question>, EvalError> {
    let text = read(path)?;
    let mut questions = Vec::new();
    for (line, text) in lines(&text) {
        let question: Question = object(path, line, text)?;
        if let Some(place) = question.places.iter().find(|place| place.end < place.start) {
            let problem = format!(
                "the place {}:{}-{} ends before it starts",
                place.path, place.start, place.end
            );
            return Err(bad(path, line, problem));
        }
        questions.push(question);
    }
    if questions.is_empty() {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            what: "questions",
        });
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, start: u32, end: u32) -> Place {
        Place {
            path: path.into(),
            start,
            end,
        }
    }

    #[test]
    fn the_first_citation_that_overlaps_a_place_counts() {
        let question = Question {
            repo: "r".into(),
            kind: String::new(),
            question: "q".into(),
            places: vec![place("a.rs", 10, 20), place("b.rs", 1, 1)],
        };
        assert_eq!(question.rank(&[]), None);
        assert_eq!(question.rank(&[place("a.rs", 1, 9)]), None);
        assert_eq!(
            question.rank(&[place("b.rs", 2, 9), place("a.rs", 20, 30)]),
            Some(2)
        );
        assert_eq!(
            question.rank(&[place("b.rs", 1, 9), place("a.rs", 20, 30)]),
            Some(1)
        );
    }

    #[test]
    fn a_bad_line_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("questions.jsonl");
        let load = |text: &str| {
            std::fs::write(&path, text).expect("written");
            load_questions(&path).map_err(|error| {
                error
                    .to_string()
                    .replace(&*dir.path().to_string_lossy(), "DIR")
            })
        };
        let good = r#"{"repo":"r","question":"q","places":[{"path":"a","start":1,"end":2}]}"#;
        assert_eq!(load(good).map(|found| found.len()), Ok(1));
        let nothing = r#"{"repo":"r","question":"q","places":[]}"#;
        assert_eq!(load(nothing).map(|found| found.len()), Ok(1));
        let empty = load("\n").unwrap_err();
        assert!(empty.contains("holds no questions"), "{empty}");
        let backwards = good.replace("\"start\":1", "\"start\":3");
        let error = load(&format!("{good}\n{backwards}")).unwrap_err();
        assert!(
            error.contains("questions.jsonl:2: the place a:3-2 ends before"),
            "{error}"
        );
        let missing = load(r#"{"repo":"r","question":"q"}"#).unwrap_err();
        assert!(missing.contains("missing field `places`"), "{missing}");
        let unknown = load(r#"{"repo":"r","question":"q","place":[]}"#).unwrap_err();
        assert!(unknown.contains("unknown field `place`"), "{unknown}");
    }
}
