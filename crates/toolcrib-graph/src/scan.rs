//! Which files of a directory belong to the graph, and their text.
//!
//! The list follows git's own rules (tracked and not ignored, nested ignore
//! files, negation) by way of the `ignore` crate and works without git. What is
//! left out is counted by reason, and what could not be read is said once, so
//! that an answer can tell what it has not seen. Links are never followed: what
//! they lead to inside the root is listed at its own place. Parsing is not done
//! here.

mod classify;
mod disk;
mod report;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::WalkBuilder;
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
    let paths = list(root, options, &mut report);
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

/// Walks the tree in one thread, since a listing is cheap beside reading.
fn list(root: &Path, options: &ScanOptions, report: &mut ScanReport) -> Vec<(PathBuf, Str)> {
    let outputs: Vec<PathBuf> = options
        .output_dirs
        .iter()
        .map(|dir| normalise(&root.join(dir)))
        .collect();
    let skipped: Arc<Mutex<Vec<(PathBuf, Exclusion)>>> = Arc::default();
    let log = Arc::clone(&skipped);
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            let name = entry.file_name();
            if entry.depth() == 0 {
                return true;
            }
            if name == OsStr::new(".git") {
                return false;
            }
            let named = !outputs.is_empty() && outputs.contains(&normalise(entry.path()));
            if !named && !entry.file_type().is_some_and(|t| t.is_dir()) {
                return true;
            }
            let reason = if named || entry.path().join("CACHEDIR.TAG").is_file() {
                Exclusion::Output
            } else if classify::is_vendored_dir(entry.path()) {
                Exclusion::Vendored
            } else {
                return true;
            };
            if let Ok(mut log) = log.lock() {
                log.push((entry.path().to_path_buf(), reason));
            }
            false
        })
        .build();
    let mut paths = Vec::new();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let (path, detail) = walk_error(&error);
                let shown = relative(root, path.as_deref().unwrap_or(root));
                report.problem(shown.0, ProblemKind::UnreadableDirectory, detail);
                continue;
            }
        };
        let Some(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            continue;
        }
        let (shown, exact) = relative(root, entry.path());
        if !exact {
            report.problem(shown.clone(), ProblemKind::NonUtf8Path, String::new());
        }
        if kind.is_symlink() {
            link(root, entry.path(), shown, report);
        } else if kind.is_file() {
            paths.push((entry.into_path(), shown));
        } else {
            report.exclude(shown, Exclusion::Special);
        }
    }
    let skipped = skipped.lock().map(|log| log.clone()).unwrap_or_default();
    for (path, reason) in skipped {
        let shown = format!("{}/", relative(root, &path).0);
        report.exclude(shown.into(), reason);
    }
    paths
}

/// Says why a link is not followed.
fn link(root: &Path, path: &Path, shown: Str, report: &mut ScanReport) {
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let here = path
        .parent()
        .and_then(|parent| fs::canonicalize(parent).ok())
        .unwrap_or_default();
    match fs::canonicalize(path) {
        Ok(target) if !target.starts_with(&root) => {
            report.problem(shown, ProblemKind::LinkOutside, String::new());
        }
        Ok(target) if target.is_dir() && here.starts_with(&target) => {
            report.problem(shown, ProblemKind::LinkLoop, String::new());
        }
        Ok(_) => report.exclude(shown, Exclusion::Link),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            report.problem(shown, ProblemKind::DanglingLink, String::new());
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            report.problem(shown, ProblemKind::UnreadableFile, error.kind().to_string());
        }
        // The kind for a loop of links is not stable; nothing else is left.
        Err(_) => report.problem(shown, ProblemKind::LinkLoop, String::new()),
    }
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
    let Some(decoded) = text::decode(bytes) else {
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

/// The path below the root with `/`, and whether it was UTF-8.
fn relative(root: &Path, path: &Path) -> (Str, bool) {
    let below = path.strip_prefix(root).unwrap_or(path);
    let mut parts = OsString::new();
    for part in below.components() {
        let Component::Normal(part) = part else {
            continue;
        };
        if !parts.is_empty() {
            parts.push("/");
        }
        parts.push(part);
    }
    if parts.is_empty() {
        parts.push(".");
    }
    let exact = parts.to_str().is_some();
    let shown = path_text(&parts);
    (shown.into(), exact)
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

/// Removes `.` and resolves `..` by text alone.
fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn walk_error(error: &ignore::Error) -> (Option<PathBuf>, String) {
    match error {
        ignore::Error::WithPath { path, err } => {
            let (inner, detail) = walk_error(err);
            (inner.or_else(|| Some(path.clone())), detail)
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            walk_error(err)
        }
        ignore::Error::Io(error) => (None, error.kind().to_string()),
        other => (None, other.to_string()),
    }
}
