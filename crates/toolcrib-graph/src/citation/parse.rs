//! Finding cited places in a text.
//!
//! Understood: `path:12`, `path:12-40`, `path#L12`, `path#L12-L40`, each bare,
//! in backticks, brackets or a link target; `repo://path#L…`; links to a file of
//! a code host (`…/blob/REF/path#L…`). A column after the line is ignored.
//! What only looks like a place (a time, a port, a version, a URL) is none: a
//! path has to be one of the graph's, or to end like a source file.

use std::ops::Range;

use serde::Serialize;

use super::Place;
use crate::graph::CodeGraph;

/// A place as it is written in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CitedPlace {
    /// The place, whether or not it exists.
    pub place: Place,
    /// Its bytes in the text.
    pub at: Range<usize>,
}

/// Endings that make an unknown name without a `/` a file.
const SOURCE_ENDINGS: &[&str] = &[
    "rs", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "go", "java", "kt", "kts", "c", "h",
    "cc", "cpp", "cxx", "hh", "hpp", "cs", "rb", "php", "scala", "swift", "sh", "bash", "lua",
    "toml", "yaml", "yml", "json", "md", "rst", "txt", "html", "css", "scss", "sql", "proto",
    "vue", "svelte", "zig", "ex", "exs", "erl", "hs", "ml", "mli", "dart", "jl", "r", "m", "mm",
    "pl", "cfg", "ini", "xml", "gradle", "cmake", "lock",
];

/// Every place that `text` cites, in order. The same place may occur twice.
pub fn cited_places(text: &str, graph: &CodeGraph) -> Vec<CitedPlace> {
    let mut found: Vec<CitedPlace> = Vec::new();
    let marks = text.char_indices().filter(|&(_, c)| c == ':' || c == '#');
    for (mark, c) in marks {
        if found.last().is_some_and(|f| mark < f.at.end) {
            continue;
        }
        let Some((start, end, after)) = range_after(text, mark, c) else {
            continue;
        };
        let Some((path, from)) = path_before(text, mark, graph) else {
            continue;
        };
        found.push(CitedPlace {
            place: Place { path, start, end },
            at: from..after,
        });
    }
    found
}

/// The lines after a `:` or `#`, and where they end.
fn range_after(text: &str, mark: usize, c: char) -> Option<(u32, u32, usize)> {
    let mut rest = &text[mark + 1..];
    match c {
        '#' => rest = rest.strip_prefix('L')?,
        _ => rest = rest.strip_prefix('L').unwrap_or(rest),
    }
    let (start, mut rest) = number(rest)?;
    let mut end = start;
    // `#L12C3-L20C5` has columns as well.
    if let Some((_, after)) = rest.strip_prefix('C').and_then(number) {
        rest = after;
    }
    let dash = rest.strip_prefix('-').or_else(|| rest.strip_prefix('–'));
    if let Some(after) = dash
        && let Some((last, after)) = number(after.strip_prefix('L').unwrap_or(after))
    {
        end = last;
        rest = after;
        if let Some((_, after)) = rest.strip_prefix('C').and_then(number) {
            rest = after;
        }
    } else if let Some((_, after)) = rest.strip_prefix(':').and_then(number) {
        rest = after;
    }
    let mut next = rest.chars();
    let goes_on = match next.next() {
        Some(c) if c.is_alphanumeric() || c == '_' => true,
        Some('.' | ',' | ':') => next.next().is_some_and(|c| c.is_ascii_digit()),
        _ => false,
    };
    (!goes_on).then_some((start, end, text.len() - rest.len()))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    // A number beyond any line is still a line that somebody claims.
    Some((text[..digits].parse().unwrap_or(u32::MAX), &text[digits..]))
}

/// The path that ends before `mark`, and where it begins in the text.
fn path_before(text: &str, mark: usize, graph: &CodeGraph) -> Option<(String, usize)> {
    let head = &text[..mark];
    let stops = |c: char| c.is_whitespace() || "()[]<>{}\"'`,;|*=“”".contains(c);
    let from = head
        .char_indices()
        .rev()
        .find(|&(_, c)| stops(c))
        .map_or(0, |(i, c)| i + c.len_utf8());
    let token = &head[from..];
    if let Some(at) = token.rfind("://") {
        let scheme = token[..at].rsplit(|c: char| !c.is_alphanumeric()).next()?;
        let begin = from + at - scheme.len();
        let target = &token[at + 3..];
        let path = match scheme {
            "repo" => target,
            "http" | "https" => hosted(target)?,
            _ => return None,
        };
        return Some((path.trim_start_matches('/').to_owned(), begin));
    }
    let colon = token.rfind(':').map_or(0, |i| i + 1);
    let (token, from) = (&token[colon..], from + colon);
    let path = token.trim_start_matches("./");
    if graph.by_path(path).is_some() {
        return Some((path.to_owned(), from));
    }
    // A path with spaces or brackets is only one when it is known and delimited.
    for open in ['`', '[', '(', '<', '"'] {
        if let Some(i) = head.rfind(open) {
            let whole = &head[i + 1..];
            if !whole.contains('\n') && graph.by_path(whole).is_some() {
                return Some((whole.to_owned(), i + 1));
            }
        }
    }
    // Nor does a path of the graph stop at its own spaces where it stands bare.
    let spaced = graph
        .files()
        .iter()
        .filter(|file| file.path.contains(|c| stops(c) || c == ':'));
    if let Some(file) = spaced
        .filter(|file| head.ends_with(&*file.path))
        .max_by_key(|file| file.path.len())
    {
        return Some((file.path.to_string(), mark - file.path.len()));
    }
    let leaves = path.starts_with("../") || path.starts_with('/');
    (looks_like_file(path) || (leaves && path.len() > 3)).then(|| (path.to_owned(), from))
}

/// The path in a link to a file of a code host, reference and owner left out.
fn hosted(target: &str) -> Option<&str> {
    let kinds = ["/-/blob/", "/blob/", "/-/raw/", "/raw/", "/src/branch/"];
    let (_, after) = kinds.iter().find_map(|k| target.split_once(k))?;
    after.split_once('/').map(|(_, path)| path)
}

/// Whether an unknown path was meant as a file.
pub(super) fn looks_like_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let sound = !ending.is_empty()
        && ending.len() <= 10
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    if !sound || path.starts_with("www.") || path.contains("//") {
        return false;
    }
    match path.contains('/') {
        true => path.chars().all(|c| !c.is_control()),
        false => !stem.is_empty() && SOURCE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str()),
    }
}

/// Whether `c` can be part of an identifier.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where `token` stands in `text` between characters that are no part of an
/// identifier.
pub(super) fn find_token(text: &str, token: &str) -> Option<usize> {
    if token.is_empty() {
        return None;
    }
    let finder = memchr::memmem::Finder::new(token);
    let mut from = 0;
    while let Some(at) = finder.find(&text.as_bytes()[from..]) {
        let at = from + at;
        let end = at + token.len();
        let first = token.chars().next().is_some_and(is_word);
        let last = token.chars().next_back().is_some_and(is_word);
        let before = first && text[..at].chars().next_back().is_some_and(is_word);
        let after = last && text[end..].chars().next().is_some_and(is_word);
        if !before && !after {
            return Some(at);
        }
        from = end;
    }
    None
}

/// `text` with every `old` that is a whole identifier replaced.
pub(super) fn replace_token(text: &str, old: &str, new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find_token(rest, old) {
        out.push_str(&rest[..at]);
        out.push_str(new);
        rest = &rest[at + old.len()..];
    }
    out.push_str(rest);
    out
}
