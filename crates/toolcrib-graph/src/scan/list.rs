//! The listing of a directory: what is the repository's own, and what is not.
//!
//! One thread walks, since a listing is cheap beside reading. What ignore files
//! name is passed by without a word; what git tracks in spite of them is added
//! afterwards.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::WalkBuilder;

use super::report::{Exclusion, ProblemKind, ScanReport};
use super::{ScanOptions, classify, path_text, tracked};
use crate::model::Str;

struct Listing<'a> {
    root: &'a Path,
    outputs: Vec<PathBuf>,
    /// Files to read, with the paths they are shown by.
    paths: Vec<(PathBuf, Str)>,
    /// Everything but directories that was come upon.
    seen: HashSet<PathBuf>,
    /// Directories and files that were passed by.
    skipped: Vec<(PathBuf, Exclusion)>,
    report: &'a mut ScanReport,
}

/// The files to read under `root`, with the paths they are shown by.
pub(super) fn list(
    root: &Path,
    options: &ScanOptions,
    report: &mut ScanReport,
) -> Vec<(PathBuf, Str)> {
    let outputs = options.output_dirs.iter();
    let mut listing = Listing {
        root,
        outputs: outputs.map(|dir| normalise(&root.join(dir))).collect(),
        paths: Vec::new(),
        seen: HashSet::new(),
        skipped: Vec::new(),
        report,
    };
    listing.walk();
    listing.add_tracked();
    for (path, reason) in std::mem::take(&mut listing.skipped) {
        let shown = format!("{}/", relative(root, &path).0);
        listing.report.exclude(shown.into(), reason);
    }
    listing.paths
}

impl Listing<'_> {
    fn walk(&mut self) {
        let skipped: Arc<Mutex<Vec<(PathBuf, Exclusion)>>> = Arc::default();
        let log = Arc::clone(&skipped);
        let outputs = self.outputs.clone();
        let walk = WalkBuilder::new(self.root)
            .hidden(false)
            .ignore(false)
            .require_git(false)
            .follow_links(false)
            .filter_entry(move |entry| {
                if entry.depth() == 0 {
                    return true;
                }
                if entry.file_name() == OsStr::new(".git") {
                    return false;
                }
                let is_dir = entry.file_type().is_some_and(|t| t.is_dir());
                let Some(reason) = left_out(entry.path(), is_dir, &outputs) else {
                    return true;
                };
                if let Ok(mut log) = log.lock() {
                    log.push((entry.path().to_path_buf(), reason));
                }
                false
            })
            .build();
        for entry in walk {
            match entry {
                Ok(entry) => {
                    if let Some(kind) = entry.file_type() {
                        self.take(entry.into_path(), kind);
                    }
                }
                Err(error) => {
                    let (path, detail) = walk_error(&error);
                    let shown = relative(self.root, path.as_deref().unwrap_or(self.root)).0;
                    self.report
                        .problem(shown, ProblemKind::UnreadableDirectory, detail);
                }
            }
        }
        if let Ok(mut log) = skipped.lock() {
            self.skipped = std::mem::take(&mut log);
        }
    }

    fn take(&mut self, path: PathBuf, kind: FileType) {
        if kind.is_dir() || !self.seen.insert(path.clone()) {
            return;
        }
        let (shown, exact) = relative(self.root, &path);
        if !exact {
            let kind = ProblemKind::NonUtf8Path;
            self.report.problem(shown.clone(), kind, String::new());
        }
        if kind.is_symlink() {
            link(self.root, &path, shown, self.report);
        } else if kind.is_file() {
            self.paths.push((path, shown));
        } else {
            self.report.exclude(shown, Exclusion::Special);
        }
    }

    /// Nothing is followed out of the root: a directory on the way to a tracked file
    /// that has become a link ends it.
    fn add_tracked(&mut self) {
        let tracked = tracked::tracked(self.root);
        for (path, reason) in tracked.unread {
            let (shown, _) = relative(Path::new(""), &path);
            let kind = ProblemKind::UnreadableIndex;
            self.report.problem(shown, kind, reason);
        }
        let mut dirs = HashMap::new();
        for below in tracked.files {
            let path = self.root.join(&below);
            if self.seen.contains(&path)
                || !self.is_own(&below, &mut dirs)
                || left_out(&path, false, &self.outputs).is_some()
            {
                continue;
            }
            if let Ok(meta) = fs::symlink_metadata(&path) {
                self.take(path, meta.file_type());
            }
        }
    }

    /// Whether every directory above a file is one that is read; `known` keeps what
    /// was found of each.
    fn is_own(&mut self, below: &Path, known: &mut HashMap<PathBuf, bool>) -> bool {
        let mut dir = self.root.to_path_buf();
        for part in below.parent().into_iter().flat_map(Path::components) {
            dir.push(part);
            let is_own = *known.entry(dir.clone()).or_insert_with(|| {
                if !fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_dir()) {
                    return false;
                }
                let reason = left_out(&dir, true, &self.outputs);
                if let Some(reason) = reason
                    && !self.skipped.iter().any(|(path, _)| *path == dir)
                {
                    self.skipped.push((dir.clone(), reason));
                }
                reason.is_none()
            });
            if !is_own {
                return false;
            }
        }
        true
    }
}

/// Why a path is not the repository's own source, by its name and marks.
fn left_out(path: &Path, is_dir: bool, outputs: &[PathBuf]) -> Option<Exclusion> {
    let named = !outputs.is_empty() && outputs.contains(&normalise(path));
    if named || (is_dir && path.join("CACHEDIR.TAG").is_file()) {
        return Some(Exclusion::Output);
    }
    (is_dir && classify::is_vendored_dir(path)).then_some(Exclusion::Vendored)
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
