//! What is at a line, in a file or in a directory: `what is at src/a.rs:5`.
//!
//! A path is known or it is not, so nothing is ranked: the area is listed, and the
//! answer is the definitions around the line, or the outline. A path that is not
//! there is said not to be, beside those most like it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::answer::{self, cited, line};
use super::notes::{Area, Notes, Place, Symbol};
use super::plan::Look;
use super::question::Question;
use super::rank::plain;
use super::words::{asks, each_word};

/// Definitions listed of a file, and files of a directory; more are counted.
const LISTED: usize = 40;
/// Definitions around a line that are named, innermost first.
const AROUND: usize = 4;
/// Lines shown before and after the line that is asked for.
const BESIDE: u32 = 3;
/// Most lines shown of a range.
const SHOWN: u32 = 24;
/// Lines of a file that are read for what it says of itself.
const HEAD: u32 = 12;
/// Paths named that are like one that is not there.
const NEAR: usize = 5;

/// The place that a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// As written, without what is before the root.
    pub(super) path: String,
    /// First and last line.
    pub(super) lines: Option<(u32, u32)>,
    /// Whether it cannot be prose, as `client/server` can.
    sure: bool,
}

/// Ends of the names of files that prose names without their directory.
const EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "cpp", "cs", "css", "cxx", "go", "h", "hh", "hpp", "html", "ini",
    "java", "js", "json", "jsx", "kt", "lock", "lua", "md", "mjs", "php", "proto", "py", "pyi",
    "rb", "rs", "rst", "scala", "sh", "sql", "swift", "toml", "ts", "tsx", "txt", "xml", "yaml",
    "yml",
];

/// Words around a path in a question that asks for no more than what is there.
const OUTLINES: &[&str] = &[
    "class",
    "classes",
    "code",
    "contain",
    "contained",
    "contains",
    "content",
    "contents",
    "declare",
    "declared",
    "declares",
    "define",
    "defined",
    "defines",
    "definitions",
    "describe",
    "dir",
    "directory",
    "explain",
    "file",
    "files",
    "folder",
    "function",
    "functions",
    "have",
    "inside",
    "live",
    "lives",
    "list",
    "methods",
    "module",
    "outline",
    "overview",
    "purpose",
    "s",
    "structure",
    "summarise",
    "summarize",
    "summary",
    "symbols",
    "types",
    "under",
];

/// The place that a question asks about; `None` when it asks something else, of which
/// a path may be a part.
pub(super) fn asked(text: &str) -> Option<Asked> {
    let ends = |c: char| c.is_whitespace() || "`\"',;?!()[]<>".contains(c);
    let mut rest: Vec<&str> = Vec::new();
    let mut asked: Option<Asked> = None;
    for token in text.split(ends).filter(|token| !token.is_empty()) {
        match read(token) {
            Some(found) if asked.is_none() => asked = Some(found),
            _ => rest.push(token),
        }
    }
    let Some(mut asked) = asked else {
        return directory_named(&rest);
    };
    if asked.lines.is_none() {
        asked.lines = lines_said(&rest);
    }
    let mut only = true;
    each_word(&rest.join(" "), |word| {
        only &= asks(word) || OUTLINES.contains(&word);
    });
    (asked.lines.is_some() || only).then_some(asked)
}

/// `the util directory`, `the folder db`: a single word beside one that says what it is.
fn directory_named(words: &[&str]) -> Option<Asked> {
    const KINDS: &[&str] = &["dir", "directory", "folder"];
    const OTHERS: &[&str] = &["how", "who", "why", "when", "whose"];
    let lower: Vec<String> = words
        .iter()
        .map(|word| word.trim_end_matches(['.', ':']).to_lowercase())
        .collect();
    let mut kinds = (0..words.len()).filter(|&at| KINDS.contains(&&*lower[at]));
    let (kind, None) = (kinds.next()?, kinds.next()) else {
        return None;
    };
    if lower.iter().any(|word| OTHERS.contains(&&**word)) {
        return None;
    }
    let mut names = (0..words.len()).filter(|&at| {
        let mut named = false;
        each_word(&lower[at], |word| {
            named |= !asks(word) && !OUTLINES.contains(&word);
        });
        named
    });
    let (name, None) = (names.next()?, names.next()) else {
        return None;
    };
    (name.abs_diff(kind) == 1).then(|| Asked {
        path: words[name].trim_end_matches(['.', ':']).to_owned(),
        lines: None,
        sure: false,
    })
}

/// Reads `a/b.rs`, `b.rs`, `a/b/`, each with or without `:5`, `:5-9`, `:5:1`, `#L5`.
fn read(token: &str) -> Option<Asked> {
    let token = token.trim_end_matches(['.', ':']).trim_start_matches("./");
    let (path, lines) = match (token.split_once("#L"), token.split_once(':')) {
        (Some((path, lines)), _) => (path, Some(range(&lines.replace('L', ""))?)),
        (None, Some((path, lines))) => {
            let lines = lines.split(':').next().unwrap_or(lines);
            (path, Some(range(lines)?))
        }
        (None, None) => (token, None),
    };
    let written = path.trim_end_matches('/');
    let file = written.rsplit('/').next().unwrap_or(written);
    let is_word = |part: &str| {
        let mut letters = part.chars();
        !part.is_empty() && letters.all(|c| c.is_alphanumeric() || "_-.@+$~".contains(c))
    };
    if path.starts_with('/') || !written.split('/').all(is_word) {
        return None;
    }
    let (stem, end) = file.rsplit_once('.').unwrap_or((file, ""));
    let is_end = |end: &str| {
        let short = (1..=5).contains(&end.len()) && end.chars().all(char::is_alphanumeric);
        short && end.starts_with(char::is_alphabetic)
    };
    let is_file = !stem.is_empty() && is_end(end);
    let sure = match written.contains('/') {
        true => is_file || path.ends_with('/'),
        // `Node.js` is a product, and `config.rs` is a file.
        false => {
            let product = end == "js" && file.starts_with(char::is_uppercase);
            (is_file && EXTENSIONS.contains(&end) && !product)
                || (path.ends_with('/') && stem.len() > 1)
        }
    };
    (sure || written.contains('/')).then(|| Asked {
        path: written.to_owned(),
        lines,
        sure,
    })
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (start, end) = text.split_once(['-', '–']).unwrap_or((text, text));
    let (start, end) = (start.trim().parse().ok()?, end.trim().parse().ok()?);
    (start > 0 && start <= end).then_some((start, end))
}

/// `line 5`, `lines 5-9`, `lines 5 to 9`.
fn lines_said(words: &[&str]) -> Option<(u32, u32)> {
    let at = words
        .iter()
        .position(|word| ["line", "lines"].contains(&&*word.to_lowercase()))?;
    let first = range(words.get(at + 1)?.trim_end_matches(['.', ':']))?;
    match words.get(at + 2..at + 4) {
        Some([to, last]) if ["to", "and", "through"].contains(to) => {
            let last = range(last).filter(|last| last.0 >= first.1);
            Some((first.0, last.map_or(first.1, |last| last.1)))
        }
        _ => Some(first),
    }
}

/// Where the path that was asked for leads.
enum Led<'n> {
    /// An area of this path.
    To(&'n str, &'n Area),
    /// Not looked up yet.
    Maybe(&'n str),
    /// Nowhere, or to several: these are like it.
    Near(Vec<&'n str>),
}

fn led<'n>(asked: &'n Asked, notes: &'n Notes) -> Led<'n> {
    if let Some(area) = notes.areas.get(&asked.path) {
        return Led::To(&asked.path, area);
    }
    let near = notes.near_paths.get(&asked.path);
    let mut all: Vec<&str> = notes.files.iter().map(String::as_str).collect();
    all.extend(near.into_iter().flatten().map(String::as_str));
    let lower = |path: &str| path.to_lowercase();
    let asked_lower = lower(&asked.path);
    let ends = |path: &&str| {
        let path = lower(path);
        path == asked_lower || path.ends_with(&format!("/{asked_lower}"))
    };
    let mut same: Vec<&str> = all.iter().copied().filter(ends).collect();
    same.sort_unstable();
    same.dedup();
    match same.as_slice() {
        [] => {
            let mut seen = Vec::new();
            for path in near.into_iter().flatten() {
                if !seen.contains(&path.as_str()) {
                    seen.push(path);
                }
            }
            Led::Near(seen)
        }
        [one] => match notes.areas.get(*one) {
            Some(area) => Led::To(one, area),
            None => Led::Maybe(one),
        },
        _ => Led::Near(same),
    }
}

/// The lookups for a place; `None` when the question is about none.
pub(super) fn looks(question: &Question, notes: &Notes) -> Option<Vec<Look>> {
    let asked = question.place.as_ref()?;
    if notes.rounds == 0 {
        let mut looks = open(asked, &asked.path);
        looks.push(Look {
            tool: "list_files",
            arguments: json!({ "glob": format!("**/{}", asked.path) }),
        });
        return Some(looks);
    }
    let (path, area) = match led(asked, notes) {
        Led::To(path, area) => (path, area),
        Led::Maybe(path) => return Some(open(asked, path)),
        Led::Near(_) if asked.sure => return Some(Vec::new()),
        Led::Near(_) => return None,
    };
    let Some(lines) = asked.lines else {
        let room = area.names.len() < LISTED && area.files.len() == 1;
        let next = area.next.clone().filter(|_| room);
        return Some(next.map(more).into_iter().collect());
    };
    if let Some(next) = area.next.clone().filter(|_| !is_passed(notes, area, lines)) {
        return Some(vec![more(next)]);
    }
    let around = around(notes, path, lines);
    let innermost = around.first();
    Some(
        innermost
            .map(|(name, _)| Look {
                tool: "symbol_neighbors",
                arguments: json!({ "name": name, "direction": "both" }),
            })
            .into_iter()
            .collect(),
    )
}

fn more(arguments: Value) -> Look {
    Look {
        tool: "explore_area",
        arguments,
    }
}

fn open(asked: &Asked, path: &str) -> Vec<Look> {
    let (start, end) = match asked.lines {
        Some((start, end)) => (
            start.saturating_sub(BESIDE).max(1),
            end.min(start.saturating_add(SHOWN)).saturating_add(BESIDE),
        ),
        None => (1, HEAD),
    };
    let look = |tool, arguments: Value| Look { tool, arguments };
    vec![
        look("explore_area", json!({ "query": path })),
        look(
            "read_source",
            json!({ "path": path, "start": start, "end": end }),
        ),
    ]
}

/// Whether the listing has come beyond the lines.
fn is_passed(notes: &Notes, area: &Area, lines: (u32, u32)) -> bool {
    let last = area.names.last().and_then(|name| notes.symbols.get(name));
    let place = last.and_then(|symbol| symbol.place.as_ref());
    place.is_some_and(|place| place.start > lines.1)
}

/// The definitions that have any of the lines, those that have all of them first,
/// innermost first.
fn around<'n>(notes: &'n Notes, path: &str, lines: (u32, u32)) -> Vec<(&'n str, &'n Symbol)> {
    let (from, to) = lines;
    let mut all: Vec<(&Place, &str, &Symbol)> = notes
        .symbols
        .iter()
        .filter_map(|(name, symbol)| Some((symbol.place.as_ref()?, name.as_str(), symbol)))
        .filter(|(place, _, symbol)| {
            let within = place.path == path && place.start <= to && place.end >= from;
            within && symbol.kind != "import"
        })
        .collect();
    let apart = |place: &Place| place.start > from || place.end < to;
    all.sort_by_key(|(place, name, _)| {
        let length = place.end - place.start;
        match apart(place) {
            false => (false, length, place.start, *name),
            true => (true, 0, place.start, *name),
        }
    });
    let pairs = all.into_iter().map(|(_, name, symbol)| (name, symbol));
    pairs.collect()
}

/// The answer about a place; `None` when the question is about none.
pub(super) fn write(question: &Question, notes: &Notes) -> Option<String> {
    let asked = question.place.as_ref()?;
    let (path, area) = match led(asked, notes) {
        Led::To(path, area) => (path, area),
        Led::Near(near) if asked.sure => return Some(absent(asked, &near)),
        Led::Maybe(_) | Led::Near(_) => return None,
    };
    Some(match (asked.lines, area.files.as_slice()) {
        (Some(_), files) if files.len() != 1 || files[0].0 != path => {
            format!("Nothing found: {path} is a directory, and has no lines.\n")
        }
        (Some(lines), files) if lines.0 > files[0].1 => format!(
            "Nothing found: {path} has {}, so there is no line {}.\n",
            count(files[0].1, "line"),
            lines.0
        ),
        (Some(lines), files) => at_lines(notes, path, (lines.0, lines.1.min(files[0].1))),
        (None, [(file, lines)]) if file == path => outline(notes, path, *lines, area),
        (None, _) => directory(notes, path, area),
    })
}

fn count(n: u32, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn absent(asked: &Asked, near: &[&str]) -> String {
    let name = &asked.path;
    let lower = format!("/{}", name.to_lowercase());
    let same = near
        .iter()
        .all(|path| path.to_lowercase().ends_with(&lower));
    let listed = near
        .iter()
        .take(NEAR)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let left = near.len().saturating_sub(NEAR);
    match (near.is_empty(), same) {
        (true, _) => format!(
            "Nothing found: no file or directory is called {name}, and none has a path like it. It may be \
             ignored, generated, binary or too large.\n"
        ),
        (false, true) => format!(
            "Nothing found: {} files are called {name}: {listed}{}. Ask with the whole path of one.\n",
            near.len(),
            match left {
                0 => String::new(),
                left => format!(" and {left} more"),
            }
        ),
        (false, false) => format!(
            "Nothing found: no file or directory is called {name}. The nearest paths: {listed}.\n"
        ),
    }
}

fn at_lines(notes: &Notes, path: &str, lines: (u32, u32)) -> String {
    let asked = Place {
        path: path.to_owned(),
        start: lines.0,
        end: lines.1,
    };
    let around = around(notes, path, lines);
    let mut text = String::new();
    match around.first() {
        Some((_, first)) => {
            let whole = first.place.as_ref().is_some_and(|place| *place == asked);
            let how = if whole { "is" } else { "is in" };
            let _ = writeln!(text, "{} {how}:", asked.cite());
        }
        None => {
            let _ = writeln!(text, "{} is in no definition.", asked.cite());
        }
    }
    for (at, (name, symbol)) in around.iter().take(AROUND).enumerate() {
        let _ = writeln!(text, "{}. {}", at + 1, line(name, symbol));
    }
    let shown = Place {
        start: lines.0.saturating_sub(BESIDE).max(1),
        end: lines.1.saturating_add(BESIDE),
        path: path.to_owned(),
    };
    let read: Vec<u32> = notes.lines_in(&shown).map(|(number, _)| number).collect();
    if let (Some(&start), Some(&end)) = (read.first(), read.last()) {
        let shown = Place {
            start,
            end,
            ..shown
        };
        let _ = writeln!(text, "\n{}:\n```", shown.cite());
        answer::quoted_lines(notes, &shown, &mut text);
        text.push_str("```\n");
    }
    let Some((name, neighborhood)) = around
        .first()
        .and_then(|(name, _)| Some((*name, notes.neighborhoods.get(*name)?)))
    else {
        return text;
    };
    // What these lines do, before what the whole definition is used for.
    let here: Vec<String> = neighborhood
        .edges
        .iter()
        .filter(|edge| !edge.incoming && edge.kind != "contains" && edge.at.path == path)
        .filter(|edge| edge.at.start <= lines.1 && edge.at.end >= lines.0)
        .map(|edge| format!("`{}`", answer::shown(&edge.name)))
        .collect();
    if !here.is_empty() {
        let _ = writeln!(text, "Used on {}: {}.", asked.cite(), here.join(", "));
    }
    if let Some(limits) = &neighborhood.limits {
        let _ = writeln!(text, "{limits}.");
    } else if let Some(tally) = &neighborhood.tally {
        let _ = writeln!(
            text,
            "`{}`: {}.",
            answer::shown(name),
            tally.trim_end_matches('.')
        );
        answer::related("Called by", neighborhood, true, &["calls"], 4, &mut text);
    }
    text
}

fn outline(notes: &Notes, path: &str, lines: u32, area: &Area) -> String {
    if lines == 0 {
        return format!("Nothing found: {path} is empty.\n");
    }
    let whole = Place {
        path: path.to_owned(),
        start: 1,
        end: lines,
    };
    // Where there is room, fields and members of enums are part of an outline too.
    let is_small = |name: &&String| {
        let kind = notes.symbols.get(*name).map_or("", |symbol| &symbol.kind);
        matches!(kind, "field" | "enum_member" | "variable")
    };
    // A module that goes on here is defined where it begins.
    let is_elsewhere = |name: &&String| {
        notes.symbols.get(*name).is_some_and(|symbol| {
            let place = symbol.place.as_ref();
            symbol.kind == "module" && place.is_some_and(|place| place.path != path)
        })
    };
    let elsewhere = area.names.iter().filter(is_elsewhere).count();
    let mut listed: Vec<&String> = area.names.iter().filter(|n| !is_elsewhere(n)).collect();
    if listed.len() > LISTED {
        listed.retain(|name| !is_small(name));
    }
    let total = area.total.saturating_sub(1).max(area.names.len()) - elsewhere;
    let mut text = match total {
        0 => format!(
            "{} has no definition that the code graph reads.\n",
            whole.cite()
        ),
        1 => format!("{} has 1 definition:\n", whole.cite()),
        n => format!("{} has {n} definitions:\n", whole.cite()),
    };
    listed.truncate(LISTED);
    for (at, name) in listed.iter().enumerate() {
        if let Some(symbol) = notes.symbols.get(*name) {
            let _ = writeln!(text, "{}. {}", at + 1, line(name, symbol));
        }
    }
    let left = total.saturating_sub(listed.len());
    if left > 0 && total > 0 {
        let _ = writeln!(text, "and {left} more.");
    }
    head(notes, path, total == 0, &mut text);
    text
}

/// The comment a file begins with; its first lines where it has no definition.
fn head(notes: &Notes, path: &str, always: bool, text: &mut String) {
    const COMMENTS: [&str; 8] = ["//", "/*", "*", "#", "\"\"\"", "'''", "--", "<!--"];
    let place = Place {
        path: path.to_owned(),
        start: 1,
        end: HEAD,
    };
    let said = notes.lines_in(&place).take_while(|(_, line)| {
        let line = line.trim_start();
        always || COMMENTS.iter().any(|mark| line.starts_with(mark))
    });
    let Some(end) = said.map(|(number, _)| number).last() else {
        return;
    };
    let place = Place { end, ..place };
    let _ = writeln!(text, "\nIt begins, {}:\n```", place.cite());
    answer::quoted_lines(notes, &place, text);
    text.push_str("```\n");
}

fn directory(notes: &Notes, path: &str, area: &Area) -> String {
    let whole = format!("{path}/");
    let mut files: Vec<(&str, u32)> = area
        .files
        .iter()
        .map(|(file, lines)| (file.as_str(), *lines))
        .collect();
    // What the directory itself has, before what is further down.
    files.sort_by_key(|(file, _)| (file.matches('/').count(), *file));
    let mut text = format!(
        "{whole} has {} and {}; by file, with what each defines first:\n",
        count(u32::try_from(area.file_total).unwrap_or(u32::MAX), "file"),
        count(
            u32::try_from(area.total.saturating_sub(area.file_total)).unwrap_or(u32::MAX),
            "definition"
        ),
    );
    let mut listed = 0;
    for (file, lines) in files.iter().take(LISTED).filter(|(_, lines)| *lines > 0) {
        listed += 1;
        let first: Vec<String> = area
            .names
            .iter()
            .filter(|name| plain(name) == **name)
            .filter(|name| {
                let symbol = notes.symbols.get(*name);
                symbol.is_some_and(|symbol| {
                    let place = symbol.place.as_ref();
                    place.is_some_and(|place| place.path == *file)
                        && !matches!(&*symbol.kind, "field" | "enum_member" | "variable")
                })
            })
            .filter_map(|name| cited(notes, name))
            .take(3)
            .collect();
        let head = Place {
            path: (*file).to_owned(),
            start: 1,
            end: *lines,
        };
        let _ = write!(text, "{listed}. {}", head.cite());
        if !first.is_empty() {
            let _ = write!(text, ": {}", first.join(", "));
        }
        text.push('\n');
    }
    let left = area.file_total.saturating_sub(listed);
    if left > 0 {
        let _ = writeln!(text, "and {left} more; a longer path shows those below it.");
    }
    text
}

/// The lines in a listing of an area that name its files, as `file a/b.rs  Rust, 9 lines`.
pub(super) fn listed_file(line: &str) -> Option<(String, u32)> {
    let (path, about) = line.strip_prefix("file ")?.rsplit_once("  ")?;
    let count = about.rsplit(", ").next()?.split(' ').next()?;
    Some((path.to_owned(), count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_a_place_is_told_from_one_that_names_a_path() {
        for (text, path, lines) in [
            ("what is at a.rs:5?", "a.rs", Some((5, 5))),
            ("what is in py/n.py", "py/n.py", None),
            (
                "What does django/core/paginator.py contain?",
                "django/core/paginator.py",
                None,
            ),
            (
                "what does line 120 of src/x.rs do",
                "src/x.rs",
                Some((120, 120)),
            ),
            (
                "explain lines 3 to 9 of `./src/x.rs`.",
                "src/x.rs",
                Some((3, 9)),
            ),
            ("src/x.rs#L4-L8", "src/x.rs", Some((4, 8))),
            ("src/x.rs:4:17", "src/x.rs", Some((4, 4))),
            ("Which functions are in src/?", "src", None),
            (
                "who calls the function at src/x.rs:9?",
                "src/x.rs",
                Some((9, 9)),
            ),
            ("What is in the directory django/core", "django/core", None),
            ("what is in the table directory?", "table", None),
            ("what does the folder db contain?", "db", None),
        ] {
            let asked = asked(text);
            let found = asked.as_ref().map(|a| (a.path.as_str(), a.lines));
            assert_eq!(found, Some((path, lines)), "{text}");
        }
        for text in [
            "Where in src/x.rs is the cap computed?",
            "What does core.name.parse do?",
            "What is Node.js?",
            "What is a::b?",
            "What handles GET /items/a.json?",
            "Who imports src/x.rs?",
            "What is at https://example.org/a.html?",
            "What is 1.5?",
            "What is e.g. a Context?",
            "What is a directory?",
            "How does the directory cache work?",
            "What is in the directory of the lock file table?",
        ] {
            assert_eq!(asked(text), None, "{text}");
        }
    }
}
