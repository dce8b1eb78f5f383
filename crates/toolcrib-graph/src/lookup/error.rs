//! Why a lookup could not be answered, in words that help to call it right.
//!
//! Every message is written for whoever made the call: it says what was wrong
//! with which argument and shows what would have worked. An empty result is not
//! an error.

use std::fmt;

use super::cap::{clip, one_line};

/// A lookup call that could not be answered as asked.
///
/// `Display` is the text to hand back to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// A required argument is empty.
    #[error("{argument} is empty: give {wanted}")]
    Empty {
        /// The argument's name.
        argument: &'static str,
        /// What it takes.
        wanted: &'static str,
    },
    /// An argument is longer than any name or path.
    #[error(
        "{argument} has {chars} characters; at most {max} are searched: give a name, a path or a few words"
    )]
    TooLong {
        /// The argument's name.
        argument: &'static str,
        /// How long it is.
        chars: usize,
        /// The limit.
        max: usize,
    },
    /// A word outside a closed list.
    #[error("unknown {argument} `{}`: use one of {}", show(word), allowed.join(", "))]
    UnknownWord {
        /// The argument's name.
        argument: &'static str,
        /// What was given.
        word: String,
        /// What it takes.
        allowed: Vec<&'static str>,
    },
    /// No symbol has this name.
    #[error(
        "no symbol is named `{}`: use search_symbols first{}",
        show(name),
        listed("nearest names", near)
    )]
    UnknownSymbol {
        /// What was given.
        name: String,
        /// Up to five symbol lines, nearest first.
        near: Vec<String>,
    },
    /// Several symbols have this name.
    #[error("`{}` names {total} symbols: call again with one of these qualified names{}{}", show(name), listed("candidates", candidates), left(*total, candidates.len()))]
    AmbiguousSymbol {
        /// What was given.
        name: String,
        /// How many symbols have it.
        total: usize,
        /// Up to ten symbol lines, in path order.
        candidates: Vec<String>,
    },
    /// Neither a symbol nor a path.
    #[error(
        "nothing is at `{}`: explore_area takes a qualified name, a file, a directory, or `A -> B`; use search_symbols for words{}{}",
        show(query),
        listed("nearest names", symbols),
        listed("near paths", paths)
    )]
    UnknownArea {
        /// What was given.
        query: String,
        /// Up to five symbol lines.
        symbols: Vec<String>,
        /// Up to five paths.
        paths: Vec<String>,
    },
    /// A path that leaves the repository or is absolute.
    #[error(
        "`{}` is outside the repository: paths are relative to its root, without a leading `/` or `..`{}",
        show(path),
        listed("near paths", near)
    )]
    OutsideRoot {
        /// What was given.
        path: String,
        /// Up to five paths.
        near: Vec<String>,
    },
    /// No such file or directory in the snapshot.
    #[error(
        "`{}` is not in the snapshot (no such path, or binary, ignored, generated or too large){}",
        show(path),
        listed("near paths", near)
    )]
    UnknownPath {
        /// What was given.
        path: String,
        /// Up to five paths.
        near: Vec<String>,
    },
    /// A directory where a file is needed.
    #[error(
        "`{}` is a directory: use list_files {{\"path\":\"{}\"}} to see its {files} files, then read one of them",
        show(path),
        show(path)
    )]
    IsDirectory {
        /// What was given.
        path: String,
        /// How many files are under it.
        files: usize,
    },
    /// A line range that the file does not have.
    #[error(
        "lines {start}-{end} are not in `{}`: it has {lines} lines, counted from 1, and start must not be after end",
        show(path)
    )]
    BadRange {
        /// The file.
        path: String,
        /// The first line asked for.
        start: u32,
        /// The last line asked for.
        end: u32,
        /// How many lines the file has.
        lines: u32,
    },
    /// A glob that cannot be read.
    #[error(
        "`{}` is not a glob: {reason}; write for example `*.rs` or `src/**/*.py`",
        show(glob)
    )]
    BadGlob {
        /// What was given.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
}

fn show(text: &str) -> String {
    clip(&one_line(text), 200)
}

fn listed(title: &'static str, lines: &[String]) -> impl fmt::Display {
    let mut text = String::new();
    if !lines.is_empty() {
        text = format!("\n{title}:");
        for line in lines {
            text.push_str("\n  ");
            text.push_str(line);
        }
    }
    text
}

fn left(total: usize, shown: usize) -> String {
    match total.saturating_sub(shown) {
        0 => String::new(),
        n => format!("\n  and {n} more: search_symbols lists them"),
    }
}
