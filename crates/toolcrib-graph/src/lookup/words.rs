//! Splitting names and prose into lower-case words.
//!
//! One splitter serves names, texts and queries, so that whatever a query is
//! split into can be found again.

/// Words that carry no meaning in a query of several words.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "do", "does", "for", "from", "how", "in", "is",
    "it", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where", "which",
    "who", "why", "with",
];

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Break,
    Lower,
    Upper,
    Digit,
}

fn class(c: char) -> Class {
    if c.is_numeric() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else if c.is_alphanumeric() {
        Class::Lower
    } else {
        Class::Break
    }
}

/// Calls `each` with every lower-case word of `text`: split at anything that is
/// not a letter or digit, at `aB`, before the last capital of `ABc`, and between
/// letters and digits.
pub(crate) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut flush = |word: &mut String| {
        if !word.is_empty() {
            each(word);
            word.clear();
        }
    };
    let mut previous = Class::Break;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let this = class(c);
        let next_is_lower = chars.peek().is_some_and(|&n| class(n) == Class::Lower);
        let splits = match (previous, this) {
            (_, Class::Break) => true,
            (Class::Lower, Class::Upper) => true,
            (Class::Upper, Class::Upper) => next_is_lower,
            (Class::Digit, Class::Digit) | (Class::Break, _) => false,
            (Class::Digit, _) | (_, Class::Digit) => true,
            _ => false,
        };
        if splits {
            flush(&mut word);
        }
        if this != Class::Break {
            word.extend(c.to_lowercase());
        }
        previous = this;
    }
    flush(&mut word);
}

/// The words of `text`, in order, repeats included.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, |w| found.push(w.to_owned()));
    found
}

/// The distinct words of a query that carry meaning, at most 32.
pub(crate) fn query_words(query: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    each_word(query, |w| {
        if !found.iter().any(|f| f == w) {
            found.push(w.to_owned());
        }
    });
    if found.iter().any(|w| !STOP_WORDS.contains(&w.as_str())) {
        found.retain(|w| !STOP_WORDS.contains(&w.as_str()));
    }
    found.truncate(32);
    found
}

/// A query word as the beginning of what it should match: its plural `s` gone.
pub(crate) fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.chars().count() >= 3 && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_split_at_case_underscore_and_digits() {
        for (name, expected) in [
            ("maxToolResult", "max tool result"),
            ("HTTPServerError", "http server error"),
            ("snake_case_name", "snake case name"),
            ("sha256Sum", "sha 256 sum"),
            ("crate::cut::Cut", "crate cut cut"),
            ("größenÄnderung", "größen änderung"),
            ("検索する", "検索する"),
            ("__init__", "init"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }
}
