//! Just enough of Rust's lexical structure to count lines and find words.

/// The same text with the insides of comments and of string and character
/// literals blanked; line breaks and lengths stay.
pub(crate) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut blank = |from: usize, to: usize| {
        for byte in &mut out[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = at
            + match rest {
                [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => block_comment(rest),
                [b'"', ..] => string(rest),
                [b'r', b'"' | b'#', ..] if !within_word(bytes, at) => match raw_string(rest) {
                    0 => {
                        at += 1;
                        continue;
                    }
                    length => length,
                },
                [b'\'', ..] => match character(rest) {
                    0 => {
                        at += 1;
                        continue;
                    }
                    length => length,
                },
                _ => {
                    at += 1;
                    continue;
                }
            };
        blank(at, end);
        at = end;
    }
    String::from_utf8(out).unwrap_or_default()
}

fn within_word(bytes: &[u8], at: usize) -> bool {
    // `br"` begins one too.
    let before = |n: usize| at.checked_sub(n).map(|i| bytes[i]);
    let word = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    match before(1) {
        Some(b'b') => word(before(2)),
        other => word(other),
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a raw string, or 0 for a raw identifier.
fn raw_string(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|b| **b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = 2 + hashes;
    rest[body..]
        .windows(close.len())
        .position(|window| window == close)
        .map_or(rest.len(), |end| body + end + close.len())
}

/// The length of a character literal, or 0 for a lifetime.
fn character(rest: &[u8]) -> usize {
    match rest.get(1) {
        Some(b'\\') => rest[3.min(rest.len())..]
            .iter()
            .position(|b| *b == b'\'')
            .map_or(0, |end| end + 4),
        Some(first) => {
            let width = match first {
                0..=0x7f => 1,
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            if rest.get(1 + width) == Some(&b'\'') {
                width + 2
            } else {
                0
            }
        }
        None => 0,
    }
}

/// The same code with inline test modules blanked. `code` is the result of
/// [`code_only`].
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find("#[cfg(test)]") {
        let (before, test) = rest.split_at(start);
        out.push_str(before);
        let length = item_length(test);
        let (test, after) = test.split_at(length);
        out.extend(test.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The length of the item that begins here: to its `;` or its closing brace.
fn item_length(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Lines of the source, its inline test modules and blank lines not counted.
pub(crate) fn lines_without_tests(source: &str) -> usize {
    source
        .lines()
        .zip(tested_lines(source))
        .filter(|(line, tested)| !tested && !line.trim().is_empty())
        .count()
}

/// Whether the whole file is a test.
pub(crate) fn is_test(path: &str) -> bool {
    path.split('/')
        .any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"))
}

/// For each line, whether it lies in an inline test module.
pub(crate) fn tested_lines(source: &str) -> Vec<bool> {
    let code = code_only(source);
    let mut tested = vec![false; source.lines().count()];
    let mut from = 0;
    while let Some(start) = code[from..].find("#[cfg(test)]").map(|at| from + at) {
        let end = start + item_length(&code[start..]);
        let line = |at: usize| code[..at].matches('\n').count();
        for line in &mut tested[line(start)..=line(end.saturating_sub(1))] {
            *line = true;
        }
        from = end;
    }
    tested
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_blanked() {
        let source = "a(\"b { \\\" c\") // d\n/* e /* f */ g */ h('}', '\\'', 'x'); i::<'j>(r#\"k\"l\"#) r#type";
        let code = code_only(source);
        assert_eq!(code.len(), source.len());
        for gone in ["b", "d", "e", "f", "g", "x", "}", "k", "l"] {
            assert!(
                !code.contains(&format!("{gone} ")) || gone.len() > 1,
                "{gone} in {code}"
            );
        }
        assert!(!code.contains('}') && !code.contains('{'));
        assert!(code.contains("h(") && code.contains("i::<'j>(") && code.contains("r#type"));
    }

    #[test]
    fn inline_tests_are_not_counted() {
        let source = "//! Head.\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() { \"}\"; }\n}\nfn c() {}\n#[cfg(test)]\nmod more;\n";
        assert_eq!(lines_without_tests(source), 3);
        let code = without_tests(&code_only(source));
        assert!(code.contains("fn a") && code.contains("fn c") && !code.contains("fn b"));
    }
}
