//! `read_source`: numbered lines of one file.

use serde::Serialize;

use super::cap::{MAX_CHARS, MAX_RECORD, clip, page};
use super::render::place;
use super::resolve::{Place, checked};
use super::{Answer, Lookup, LookupCall, LookupError, LookupResult, ReadSource, Rest};
use crate::model::FileId;

const DEFAULT_SPAN: u32 = 40;
const MAX_LINES: u32 = 200;

/// Data of `read_source`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceLines {
    /// The file.
    pub file: FileId,
    /// The first line shown; 0 for an empty file.
    pub start: u32,
    /// The last line shown; 0 for an empty file.
    pub end: u32,
    /// How many lines the file has.
    pub lines: u32,
    /// What comes after those shown, of the whole file.
    pub rest: Option<Rest>,
}

impl Lookup {
    /// Reads lines `start` to `end` of a file; `end` is `start + 40` unless
    /// given, and never more than 200 lines come back.
    pub fn read_source(&self, args: &ReadSource) -> Result<Answer<SourceLines>, LookupError> {
        let path = checked("path", &args.path, "a file")?;
        let (path, from_path) = self.range_in_path(path);
        let (start, end) = match (args.start, args.end, from_path) {
            (None, None, Some((start, end))) => (Some(start), end),
            (start, end, _) => (start, end),
        };
        let id = self.file_at(path)?;
        let file = self.graph.file(id);
        let lines = file.line_count();
        let language = file.language.map_or("unknown language", |l| l.name);
        let first = start.unwrap_or(1);
        if lines == 0 && first <= 1 {
            return Ok(Answer {
                data: SourceLines {
                    file: id,
                    start: 0,
                    end: 0,
                    lines,
                    rest: None,
                },
                text: format!("{} is empty (0 lines, {language})\n", file.path),
            });
        }
        let wanted = end.unwrap_or_else(|| first.saturating_add(DEFAULT_SPAN));
        if first == 0 || first > lines || wanted < first {
            return Err(LookupError::BadRange {
                path: file.path.to_string(),
                start: first,
                end: wanted,
                lines,
            });
        }
        let last = wanted.min(lines).min(first.saturating_add(MAX_LINES - 1));
        let records: Vec<String> = file
            .lines(first, last)
            .map(|(n, line)| format!("{n}\t{}", source_line(line)))
            .collect();
        let end_of = |shown: usize| first + shown as u32 - u32::from(shown > 0);
        let head = |shown: usize| {
            format!(
                "{} of {lines} lines ({language})",
                place(&file.path, first, end_of(shown))
            )
        };
        let rest = |shown: usize, truncated: bool| {
            let next = first + shown as u32;
            // A requested end beyond what is shown stays the end of the follow-up.
            let end = (wanted < lines && next <= wanted && end.is_some()).then_some(wanted);
            (next <= lines && shown > 0).then(|| Rest {
                left_out: (lines - next + 1) as usize,
                truncated,
                next: LookupCall::ReadSource(ReadSource {
                    path: file.path.to_string(),
                    start: Some(next),
                    end,
                }),
            })
        };
        let page = page(&self.voice, MAX_CHARS, &records, "", head, rest);
        Ok(Answer {
            data: SourceLines {
                file: id,
                start: first,
                end: end_of(page.shown),
                lines,
                rest: page.rest,
            },
            text: page.text,
        })
    }

    /// `path:12-40` where a path is meant: the path and the range.
    fn range_in_path<'a>(&self, path: &'a str) -> (&'a str, Option<(u32, Option<u32>)>) {
        if self.graph.by_path(path).is_some() {
            return (path, None);
        }
        let parsed = path.rsplit_once(':').and_then(|(path, range)| {
            let (start, end) = match range.split_once('-') {
                Some((start, end)) => (start.parse().ok()?, Some(end.parse().ok()?)),
                None => (range.parse().ok()?, None),
            };
            Some((path, Some((start, end))))
        });
        parsed.unwrap_or((path, None))
    }

    fn file_at(&self, path: &str) -> LookupResult<FileId> {
        match self.place_at(path)? {
            Place::File(file) => Ok(file),
            Place::Directory(path) => Err(LookupError::IsDirectory {
                files: self.files_under(&path).len(),
                path: if path.is_empty() {
                    ".".to_owned()
                } else {
                    path
                },
            }),
        }
    }
}

/// A line as printed: without control characters but tabs, and not longer than
/// a record.
fn source_line(line: &str) -> String {
    let clean: String = line
        .chars()
        .take(MAX_RECORD)
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    let all = line.chars().count();
    if all <= MAX_RECORD - 200 {
        return clean;
    }
    let kept = MAX_RECORD - 200;
    format!("{} (+{} characters)", clip(&clean, kept), all - (kept - 1))
}
