//! What is left of a file when only the lines that open and close definitions are
//! kept.
//!
//! For languages whose blocks braces do not tell: a statement that a grammar does
//! not know can cost all that follows it. A definition counts here when the line
//! that closes it is indented like the one that opens it, as written code is; what
//! is in a string, a comment or a here-document opens nothing. Bytes keep their
//! places.

use tree_sitter::Node;

/// How lines of one language open and close definitions.
pub(crate) struct Heads {
    /// What closes the definition that a line opens, nothing when the line does so
    /// itself; `None` for a line that opens none.
    pub(crate) closed_by: fn(&str) -> Option<&'static str>,
    /// A body of one byte.
    pub(crate) body: u8,
    /// What stands around a text that is no code, at the beginning of lines.
    pub(crate) aside: Option<(&'static str, &'static str)>,
}

/// Lines that a head may go over until its parentheses are closed.
const MAX_HEAD_LINES: usize = 40;
/// Heads that are open at once.
const MAX_OPEN: usize = 200;

struct Line {
    start: usize,
    indent: usize,
    end: usize,
}

struct Open {
    line: usize,
    last: usize,
    close: &'static str,
}

/// The text with blanks for whatever neither opens nor closes a definition; `root`
/// is the tree of the whole text, whose strings are believed until its first error.
pub(super) fn heads(text: &str, heads: &Heads, root: Node<'_>) -> String {
    let error = first_error(root);
    let lines = lines(text);
    let source = text.as_bytes();
    let mut kept = vec![b' '; source.len()];
    for at in memchr::memchr_iter(b'\n', source) {
        kept[at] = b'\n';
    }
    let mut bodies: Vec<(usize, usize)> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut until: Option<&str> = None;
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        let words = text[line.start + line.indent..line.end].trim_end();
        at += 1;
        if let Some(mark) = until {
            if words == mark || (mark.starts_with('=') && words.starts_with(mark)) {
                until = None;
            }
            continue;
        }
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        if let Some((from, to)) = heads.aside
            && words.starts_with(from)
            && line.indent == 0
        {
            until = Some(to);
            continue;
        }
        let indent = &text[line.start..line.start + line.indent];
        let same = |open: &Open| {
            let of = &lines[open.line];
            text[of.start..of.start + of.indent] == *indent && closes(words, open.close)
        };
        if let Some(place) = open.iter().rposition(same) {
            let head = open.swap_remove(place);
            open.truncate(place);
            let (from, to) = (lines[head.line].start, lines[head.last].end);
            kept[from..to].copy_from_slice(&source[from..to]);
            let close = line.start + line.indent;
            let end = close + head.close.len();
            kept[close..end].copy_from_slice(&source[close..end]);
            bodies.push((to, close));
        } else if let Some(close) = (heads.closed_by)(words)
            && !(line.start < error && is_text(root, line.start + line.indent))
        {
            if close.is_empty() {
                kept[line.start..line.end].copy_from_slice(&source[line.start..line.end]);
            } else if open.len() < MAX_OPEN {
                let last = head_end(text, &lines, at - 1, close);
                open.push(Open {
                    line: at - 1,
                    last,
                    close,
                });
                at = last + 1;
            }
        }
        until = here_document(words);
    }
    for (from, to) in bodies {
        let first = source[from..to]
            .iter()
            .position(|byte| !byte.is_ascii_whitespace());
        if let Some(first) = first.map(|n| from + n)
            && kept[first] == b' '
        {
            kept[first] = heads.body;
        }
    }
    // A kept line begins and ends where one of the text does.
    String::from_utf8(kept).unwrap_or_else(|_| text.to_string())
}

fn lines(text: &str) -> Vec<Line> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let from = start;
            start += line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            Line {
                start: from,
                indent: line.len() - line.trim_start_matches([' ', '\t']).len(),
                end: from + line.len(),
            }
        })
        .collect()
}

/// Whether a line begins with what closes.
fn closes(words: &str, close: &str) -> bool {
    words.strip_prefix(close).is_some_and(|rest| {
        !close.starts_with(char::is_alphabetic)
            || !rest
                .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '?' | '!' | ':'))
    })
}

/// The line where the head that begins at one ends.
fn head_end(text: &str, lines: &[Line], first: usize, close: &str) -> usize {
    let mut depth = 0i32;
    for (at, line) in lines.iter().enumerate().skip(first).take(MAX_HEAD_LINES) {
        for byte in text[line.start..line.end].bytes() {
            match byte {
                b'(' if close != ")" => depth += 1,
                b')' if close != ")" => depth -= 1,
                _ => {}
            }
        }
        if depth <= 0 {
            // The brace of a function may stand on a line of its own.
            let next = lines.get(at + 1).map(|l| text[l.start..l.end].trim());
            let opens = text[line.start..line.end].trim_end().ends_with(['{', '(']);
            let own = match close {
                "}" => !opens && next == Some("{"),
                ")" => !opens && next == Some("("),
                _ => false,
            };
            return at + usize::from(own);
        }
    }
    first
}

/// The word that ends the here-document which a line begins.
fn here_document(words: &str) -> Option<&str> {
    let (before, rest) = words.split_once("<<")?;
    let rest = rest.strip_prefix(['-', '~']).unwrap_or(rest);
    let is_apart = before.is_empty() || before.ends_with([' ', '(', '=', ',', '\t']);
    let rest = rest.trim_start_matches(['"', '\'', '\\', '`']);
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let word = &rest[..end];
    let is_word = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_apart && is_word).then_some(word)
}

/// Where the first error of a tree begins.
fn first_error(root: Node<'_>) -> usize {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return node.start_byte();
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return root.end_byte();
            }
        }
    }
}

/// Whether a byte is in a string or comment of the tree, outside of its errors.
fn is_text(root: Node<'_>, at: usize) -> bool {
    let mut node = root.descendant_for_byte_range(at, at + 1);
    while let Some(inner) = node {
        if inner.is_error() {
            return false;
        }
        let kind = inner.kind();
        let is_text = ["string", "heredoc", "comment"]
            .iter()
            .any(|text| kind.contains(text));
        if is_text {
            return true;
        }
        node = inner.parent();
    }
    false
}
