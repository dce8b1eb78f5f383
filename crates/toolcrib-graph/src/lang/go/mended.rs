//! Brackets that a function leaves open.
//!
//! A parser takes what follows a bracket without its pair for the inside of it, so
//! one that is forgotten costs every function below. No function with a name can
//! begin inside of another, so brackets that are open at one have no pair: they are
//! blanked, or closed where the body has no end at all. Not for texts that parse: a closure at the left edge of a line has no
//! name.

/// The text, of the same length and lines, without the brackets that are open where
/// a function begins or where the text ends; `None` where there are none.
pub(super) fn mended(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut edits: Vec<(usize, u8)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    // What the last brace at the left edge closed: where an inner one was forgotten,
    // that is the pair of the outermost.
    let mut closed_last = None;
    let mut at = 0;
    while at < bytes.len() {
        let at_edge = at == 0 || bytes[at - 1] == b'\n';
        if at_edge && begins_function(&bytes[at..]) {
            unpaired(bytes, at, &mut open, closed_last.take(), &mut edits);
        }
        match bytes[at] {
            b'"' | b'\'' => at = quoted(bytes, at),
            b'`' => at = at + 1 + find(&bytes[at + 1..], b"`"),
            b'/' if bytes[at..].starts_with(b"//") => at += find(&bytes[at..], b"\n"),
            b'/' if bytes[at..].starts_with(b"/*") => at = at + 3 + find(&bytes[at + 2..], b"*/"),
            b'(' | b'[' | b'{' => open.push(at),
            close @ (b')' | b']' | b'}') => {
                let pair = match close {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                // A brace closes what is open inside of its pair; another bracket
                // without a pair closes nothing.
                let from = open.iter().rposition(|o| bytes[*o] == pair);
                if let Some(from) = from
                    && (close == b'}' || from + 1 == open.len())
                {
                    edits.extend(open.drain(from + 1..).map(|at| (at, b' ')));
                    let pair = open.pop();
                    if at_edge && close == b'}' {
                        closed_last = pair;
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    unpaired(bytes, bytes.len(), &mut open, closed_last, &mut edits);
    if edits.is_empty() {
        return None;
    }
    let mut out = bytes.to_vec();
    for (at, byte) in edits {
        if out[at] != b'\n' {
            out[at] = byte;
        }
    }
    String::from_utf8(out).ok()
}

/// Mends what is open where a function begins, or the text ends. What the last brace
/// at the edge closed was the inside of a body whose own brace it is; where there is
/// none, the last line of the body gives its place to one.
fn unpaired(
    bytes: &[u8],
    end: usize,
    open: &mut Vec<usize>,
    closed_last: Option<usize>,
    edits: &mut Vec<(usize, u8)>,
) {
    let Some(outermost) = open.first().copied() else {
        return;
    };
    let inner = closed_last.filter(|inner| *inner > outermost);
    edits.extend(open.drain(..).skip(1).chain(inner).map(|at| (at, b' ')));
    if inner.is_some() {
        return;
    }
    if bytes[outermost] != b'{' {
        edits.push((outermost, b' '));
        return;
    }
    let (mut from, mut until) = (outermost + 1, end);
    let mut line_end = end;
    while line_end > outermost {
        let start = bytes[..line_end]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let line = &bytes[start..line_end];
        if !line.trim_ascii().is_empty() && !line.starts_with(b"//") {
            (from, until) = (start.max(from), line_end);
            break;
        }
        line_end = start.saturating_sub(1);
    }
    edits.extend((from..until).map(|at| (at, b' ')));
    edits.push((from.min(until.saturating_sub(1)), b'}'));
}

/// `func name(` or `func (receiver) …` with a name: no closure begins so.
fn begins_function(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"func ") else {
        return false;
    };
    let is_name = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    match rest.first() {
        Some(b'(') => {
            let after = &rest[find(rest, b")").min(rest.len())..];
            let after = after.strip_prefix(b") ").unwrap_or_default();
            let name = after
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
                .count();
            is_name(after.first()) && after.get(name) == Some(&b'(')
        }
        first => is_name(first),
    }
}

/// Where a string that is not raw ends, at the latest with its line.
fn quoted(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == bytes[from] => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// How far away something is, or how much there is without it.
fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes
        .windows(what.len())
        .position(|window| window == what)
        .unwrap_or(bytes.len())
}
