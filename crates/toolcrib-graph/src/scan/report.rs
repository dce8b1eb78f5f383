//! What a scan left out and what it could not read.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::model::Str;

/// Why a path is not in the graph though nothing ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exclusion {
    /// A directory that a program writes: named by the caller, or tagged as a cache.
    Output,
    /// A directory of code that belongs to others.
    Vendored,
    /// Written by a tool; lock files count as such.
    Generated,
    /// Code squeezed into few long lines.
    Minified,
    /// Not text.
    Binary,
    /// Above the size limit.
    TooLarge,
    /// A link to a place inside the root, which is listed there.
    Link,
    /// A pipe, socket or device.
    Special,
}

impl Exclusion {
    /// The word used in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Exclusion::Output => "output",
            Exclusion::Vendored => "vendored",
            Exclusion::Generated => "generated",
            Exclusion::Minified => "minified",
            Exclusion::Binary => "binary",
            Exclusion::TooLarge => "too_large",
            Exclusion::Link => "link",
            Exclusion::Special => "special",
        }
    }
}

/// What went wrong with one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file could not be opened or read.
    UnreadableFile,
    /// The file was listed and gone when it was opened.
    Vanished,
    /// The file changed at every attempt to read it; the last text is kept.
    ChangedWhileRead,
    /// The directory could not be listed; what is in it is missing.
    UnreadableDirectory,
    /// The list of tracked files could not be read; those that ignore files name
    /// are missing.
    UnreadableIndex,
    /// A link to nothing.
    DanglingLink,
    /// A link to itself or to a directory above it.
    LinkLoop,
    /// A link that leaves the root.
    LinkOutside,
    /// Bytes that are not UTF-8 were replaced; the rest was read.
    ReplacedBytes,
    /// NUL bytes were read as blanks; the rest was read.
    NulBytes,
    /// The file is UTF-16 and was converted.
    Utf16,
    /// The path is not UTF-8 and is shown with `\xFF` for bytes.
    NonUtf8Path,
    /// Two paths look the same once shown; the second is left out.
    DuplicatePath,
    /// Two paths differ by upper and lower case alone; both were read.
    DiffersByCase,
    /// Parsing took too long; the file is listed without symbols.
    ParseGaveUp,
    /// Some lines could not be parsed; the rest of the file was.
    SyntaxErrors,
}

impl ProblemKind {
    /// One clause for a person.
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemKind::UnreadableFile => "could not be read",
            ProblemKind::Vanished => "was gone when it was opened",
            ProblemKind::ChangedWhileRead => "changed while it was read; the last text is kept",
            ProblemKind::UnreadableDirectory => "could not be listed",
            ProblemKind::UnreadableIndex => {
                "does not say what is tracked; files that are both ignored and tracked are missing"
            }
            ProblemKind::DanglingLink => "is a link to nothing",
            ProblemKind::LinkLoop => "is a link that leads back to itself",
            ProblemKind::LinkOutside => "is a link that leaves the directory",
            ProblemKind::ReplacedBytes => "is not UTF-8; the bad bytes were replaced",
            ProblemKind::NulBytes => "has NUL bytes, which were read as blanks",
            ProblemKind::Utf16 => "is UTF-16 and was converted",
            ProblemKind::NonUtf8Path => {
                "has a path that is not UTF-8; its bytes are written as \\xFF"
            }
            ProblemKind::DuplicatePath => "has the same shown path as another file",
            ProblemKind::DiffersByCase => "differs from another path by case alone",
            ProblemKind::ParseGaveUp => "took too long to parse and is listed without symbols",
            ProblemKind::SyntaxErrors => "has lines that could not be parsed",
        }
    }
}

/// One thing that went wrong, said once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Relative to the root.
    pub path: Str,
    /// What it is.
    pub kind: ProblemKind,
    /// The system's own words, often empty.
    pub detail: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.kind.as_str())?;
        if !self.detail.is_empty() {
            write!(f, " ({})", self.detail)?;
        }
        Ok(())
    }
}

/// What became of a scan.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ScanReport {
    /// Files read.
    pub files: usize,
    /// Bytes of text in them.
    pub bytes: u64,
    /// Paths left out by reason, in path order; a directory, which ends in `/`,
    /// counts once for all that is in it.
    pub excluded: BTreeMap<Exclusion, Vec<Str>>,
    /// In path order.
    pub problems: Vec<Problem>,
}

impl ScanReport {
    /// How many paths were left out for a reason.
    pub fn excluded_count(&self, reason: Exclusion) -> usize {
        self.excluded.get(&reason).map_or(0, Vec::len)
    }

    pub(crate) fn exclude(&mut self, path: Str, reason: Exclusion) {
        self.excluded.entry(reason).or_default().push(path);
    }

    pub(crate) fn problem(&mut self, path: Str, kind: ProblemKind, detail: String) {
        self.problems.push(Problem { path, kind, detail });
    }

    pub(crate) fn sort(&mut self) {
        for paths in self.excluded.values_mut() {
            paths.sort();
        }
        self.problems.sort();
        self.problems.dedup();
    }
}
