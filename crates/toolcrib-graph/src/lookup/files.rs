//! `list_files`: what the snapshot holds.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};
use serde::Serialize;

use super::cap::{MAX_CHARS, page};
use super::render::shown_path;
use super::resolve::{Place, checked};
use super::{Answer, ListFiles, Lookup, LookupCall, LookupError, LookupResult, Rest};
use crate::model::FileId;

/// Directories named in the overview of a listing that does not fit.
const MAX_DIRECTORIES: usize = 20;

/// Data of `list_files`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileList {
    /// How many files match in all.
    pub total: usize,
    /// How many come before those shown.
    pub offset: usize,
    /// Those shown, in path order.
    pub files: Vec<FileId>,
    /// What comes after them.
    pub rest: Option<Rest>,
}

impl Lookup {
    /// Lists files under a path that match a glob, with language and size.
    pub fn list_files(&self, args: &ListFiles) -> Result<Answer<FileList>, LookupError> {
        let path = args
            .path
            .as_deref()
            .map(str::trim)
            .filter(|p| !p.is_empty());
        let glob = args
            .glob
            .as_deref()
            .map(str::trim)
            .filter(|g| !g.is_empty());
        let (directory, mut files) = match path {
            None => (String::new(), self.files_under("")),
            Some(path) => self.files_at(checked("path", path, "a directory")?)?,
        };
        if let Some(glob) = glob {
            let matcher = glob_matcher(checked("glob", glob, "a glob")?)?;
            files.retain(|&f| glob_admits(&matcher, glob, &directory, &self.graph.file(f).path));
        }
        let total = files.len();
        let offset = args.offset.unwrap_or(0).min(total);
        let records: Vec<String> = files[offset..]
            .iter()
            .take(MAX_CHARS / 8)
            .map(|&f| self.file_record(f))
            .collect();
        let fits = records.len() == total - offset
            && records.iter().map(|r| r.chars().count() + 1).sum::<usize>() < MAX_CHARS - 600;
        let overview = match (fits, offset) {
            (false, 0) => self.directories(&directory, &files),
            _ => String::new(),
        };
        let notes = match (total, glob) {
            (0, Some(_)) => {
                "note: no file matches; a glob without `/` matches file names, one with `/` matches paths\n"
            }
            _ => "",
        };
        let under = match directory.as_str() {
            "" => String::new(),
            d => format!(" under {}", shown_path(d)),
        };
        let head = |shown: usize| match shown {
            0 => format!("{total} files{under}"),
            n if n == total => format!("{total} files{under}:"),
            n => format!(
                "{total} files{under}; {}-{} shown{overview}:",
                offset + 1,
                offset + n
            ),
        };
        let rest = |shown: usize, _: bool| {
            let left_out = total - offset - shown;
            (left_out > 0 && shown > 0).then(|| Rest {
                left_out,
                truncated: true,
                next: LookupCall::ListFiles(ListFiles {
                    offset: Some(offset + shown),
                    ..args.clone()
                }),
            })
        };
        let page = page(&self.voice, MAX_CHARS, &records, notes, head, rest);
        Ok(Answer {
            data: FileList {
                total,
                offset,
                files: files[offset..offset + page.shown].to_vec(),
                rest: page.rest,
            },
            text: page.text,
        })
    }

    /// A directory's files, else those whose path begins as given.
    fn files_at(&self, path: &str) -> LookupResult<(String, Vec<FileId>)> {
        match self.place_at(path) {
            Ok(Place::File(file)) => Ok((String::new(), vec![file])),
            Ok(Place::Directory(d)) => {
                let files = self.files_under(&d);
                Ok((d, files))
            }
            Err(unknown @ LookupError::UnknownPath { .. }) => {
                let files = self.files_beginning(&self.inside(path)?);
                match files.is_empty() {
                    true => Err(unknown),
                    false => Ok((String::new(), files)),
                }
            }
            Err(e) => Err(e),
        }
    }

    fn file_record(&self, id: FileId) -> String {
        let file = self.graph.file(id);
        format!(
            "{}  {}  {} bytes",
            shown_path(&file.path),
            file.language.map_or("unknown", |l| l.name),
            file.size
        )
    }

    /// `; by directory: src/ 12, tests/ 3`, the most filled first.
    fn directories(&self, directory: &str, files: &[FileId]) -> String {
        let skip = match directory {
            "" => 0,
            d => d.len() + 1,
        };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for &file in files {
            let path = self.graph.file(file).path.get(skip..).unwrap_or("");
            if let Some((first, _)) = path.split_once('/') {
                *counts.entry(first).or_default() += 1;
            }
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|&(name, n)| (std::cmp::Reverse(n), name));
        let named: Vec<String> = counts
            .iter()
            .take(MAX_DIRECTORIES)
            .map(|(name, n)| format!("{}/ {n}", shown_path(name)))
            .collect();
        match named.is_empty() {
            true => String::new(),
            false => format!("; by directory: {}", named.join(", ")),
        }
    }
}

/// A glob whose `*` does not cross `/`, though `**` does.
pub(crate) fn glob_matcher(glob: &str) -> LookupResult<GlobMatcher> {
    GlobBuilder::new(glob.trim_start_matches("./"))
        .literal_separator(true)
        .build()
        .map(|g| g.compile_matcher())
        .map_err(|e| LookupError::BadGlob {
            glob: glob.to_owned(),
            reason: e.kind().to_string(),
        })
}

/// A glob without `/` is about file names; one with `/` about paths from the
/// root or from the directory that is listed.
fn glob_admits(matcher: &GlobMatcher, glob: &str, directory: &str, path: &str) -> bool {
    if !glob.contains('/') {
        return matcher.is_match(path.rsplit('/').next().unwrap_or(path));
    }
    let inner = path
        .strip_prefix(directory)
        .and_then(|p| p.strip_prefix('/'));
    matcher.is_match(path) || inner.is_some_and(|p| matcher.is_match(p))
}
