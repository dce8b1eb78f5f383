//! Which files of a directory belong to the graph, and their text.
//!
//! The list follows git's own rules: what no ignore file names (nested ones,
//! negation), by way of the `ignore` crate, and what git tracks all the same, by
//! its index. It works without git. What is left out is counted by reason, and
//! what could not be read is said once, so that an answer can tell what it has not
//! seen. Links are never followed: what they lead to inside the root is listed at
//! its own place. Parsing is not done here.

mod classify;
mod disk;
mod list;
mod report;
#[cfg(test)]
mod tests;
mod text;
mod tracked;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::model::Str;

use disk::Contents;

pub(crate) use disk::{Disk, FileSystem};
pub use report::{Exclusion, Problem, ProblemKind, ScanReport};

/// Files above this size are left out unless the options say otherwise: 1 MiB.
pub const DEFAULT_MAX_FILE_SIZE: u64 = 1024 * 1024;

/// What a scan leaves out beyond the ignore files.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    /// Directories and files that are not the repository's own source, such as what
    /// a program writes, relative to the root or absolute; nothing of them is read.
    pub output_dirs: Vec<PathBuf>,
    /// Largest file that is read, in bytes.
    pub max_file_size: u64,
    /// Threads for reading and parsing; `None` uses one a core.
    pub threads: Option<usize>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions {
            output_dirs: Vec::new(),
            max_file_size: DEFAULT_MAX_FILE_SIZE,
            threads: None,
        }
    }
}

/// One file that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path relative to the root with `/` between parts.
    pub path: Str,
    /// Size on disk in bytes.
    pub size: u64,
    /// Its text, invalid UTF-8 replaced and a byte order mark removed.
    pub text: Str,
}

enum Outcome {
    Read(SourceFile, Option<ProblemKind>),
    Excluded(Str, Exclusion),
    Failed(Str, ProblemKind, String),
}

/// Reads the files under `root` in the order of their path's bytes.
///
/// The root itself must exist; anything below it that cannot be read becomes a
/// [`Problem`].
pub(crate) fn scan(
    root: &Path,
    options: &ScanOptions,
    disk: &dyn Disk,
) -> (Vec<SourceFile>, ScanReport) {
    let mut report = ScanReport::default();
    let paths = list::list(root, options, &mut report);
    let outcomes: Vec<Outcome> = paths
        .into_par_iter()
        .map(|(path, shown)| read(disk, &path, shown, options.max_file_size))
        .collect();
    let mut files = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        match outcome {
            Outcome::Read(file, problem) => {
                if let Some(kind) = problem {
                    report.problem(file.path.clone(), kind, String::new());
                }
                files.push(file);
            }
            Outcome::Excluded(path, reason) => report.exclude(path, reason),
            Outcome::Failed(path, kind, detail) => report.problem(path, kind, detail),
        }
    }
    // Replaced bytes can make two names equal; the first keeps its place.
    files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    let mut duplicates = Vec::new();
    files.dedup_by(|next, kept| {
        let same = next.path == kept.path;
        if same {
            duplicates.push(next.path.clone());
        }
        same
    });
    for path in duplicates {
        report.problem(path, ProblemKind::DuplicatePath, String::new());
    }
    for (path, other) in differ_by_case(&files) {
        report.problem(path, ProblemKind::DiffersByCase, other.to_string());
    }
    report.files = files.len();
    report.bytes = files.iter().map(|f| f.text.len() as u64).sum();
    report.sort();
    (files, report)
}

/// Paths that a file system without case would take for an earlier one, with it.
fn differ_by_case(files: &[SourceFile]) -> Vec<(Str, Str)> {
    let mut seen: HashMap<String, &Str> = HashMap::with_capacity(files.len());
    let mut found = Vec::new();
    for file in files {
        match seen.entry(file.path.to_lowercase()) {
            Entry::Vacant(slot) => {
                slot.insert(&file.path);
            }
            Entry::Occupied(first) => found.push((file.path.clone(), (*first.get()).clone())),
        }
    }
    found
}

fn read(disk: &dyn Disk, path: &Path, shown: Str, max: u64) -> Outcome {
    if let Some(reason) = classify::by_name(&shown) {
        return Outcome::Excluded(shown, reason);
    }
    let (bytes, still) = match disk::read(disk, path, max) {
        Ok(Contents::Whole(bytes, still)) => (bytes, still),
        Ok(Contents::TooLarge) => return Outcome::Excluded(shown, Exclusion::TooLarge),
        Ok(Contents::Special) => return Outcome::Excluded(shown, Exclusion::Special),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Outcome::Failed(shown, ProblemKind::Vanished, String::new());
        }
        Err(error) => {
            return Outcome::Failed(shown, ProblemKind::UnreadableFile, error.kind().to_string());
        }
    };
    let size = bytes.len() as u64;
    let Some(decoded) = text::decode(&shown, bytes) else {
        return Outcome::Excluded(shown, Exclusion::Binary);
    };
    if let Some(reason) = classify::by_text(&shown, &decoded.text) {
        return Outcome::Excluded(shown, reason);
    }
    let file = SourceFile {
        path: shown,
        size,
        text: decoded.text.into(),
    };
    let changed = (!still).then_some(ProblemKind::ChangedWhileRead);
    Outcome::Read(file, changed.or(decoded.problem))
}

/// A path as the graph writes it and as every lookup takes it: itself where it is
/// UTF-8 of one line, else with each odd byte as `\xFF` (`\n`, `\r` and `\t` by their
/// own names) and each backslash as two. Odd are bytes that are no UTF-8, control
/// characters, and the backtick, which would end a quoted path.
///
/// ```
/// assert_eq!(toolcrib_graph::path_text("src/a.c".as_ref()), "src/a.c");
/// assert_eq!(toolcrib_graph::path_text("a\nb.c".as_ref()), "a\\nb.c");
/// ```
pub fn path_text(path: &OsStr) -> String {
    let odd = |c: char| c.is_control() || c == '`';
    if let Some(text) = path.to_str()
        && !text.contains(odd)
    {
        return text.to_string();
    }
    let mut out = String::new();
    for chunk in path.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '\n' | '\r' | '\t' => out.extend(c.escape_default()),
                c if odd(c) => {
                    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                        out.push_str(&format!("\\x{byte:02X}"));
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02X}"));
        }
    }
    out
}
