//! What can be wrong with the files.

use std::path::PathBuf;

/// Why an evaluation cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line that is not what it should be.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A file without a single entry.
    #[error("{} holds no {what}; expected one JSON object a line", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// `tools` or `queries`.
        what: &'static str,
    },
    /// A ranker's name that is none.
    #[error("no ranker is called {0:?}; choose toolcrib, substring, bm25, bm25-stem or all")]
    UnknownRanker(String),
}
