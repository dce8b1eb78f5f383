//! Whether quoted words and numbers stand in the cited lines.
//!
//! Space, comment markers and line breaks do not count; `…` and `...` in a
//! quotation stand for anything. Numbers are compared by value, so that `8,000`
//! is `8_000`.

use super::parse::find_token;

/// Text made comparable: comment markers gone, runs of space made one.
pub(super) fn normal(text: &str, without_markers: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut line = line.trim();
        if without_markers {
            for marker in ["///", "//!", "//", "/**", "/*", "#", "*", "--"] {
                if let Some(rest) = line.strip_prefix(marker) {
                    line = rest;
                    break;
                }
            }
        }
        for word in line.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

/// Whether `quote` stands in `text`, both as written.
pub(super) fn occurs(quote: &str, text: &str) -> bool {
    let pieces: Vec<String> = quote
        .split('…')
        .flat_map(|p| p.split(" ... "))
        .map(|p| normal(p, false))
        .map(|p| {
            p.trim_start_matches("... ")
                .trim_end_matches(" ...")
                .to_owned()
        })
        .filter(|p| !p.is_empty())
        .collect();
    [false, true].iter().any(|&without_markers| {
        let text = normal(text, without_markers);
        in_order(&pieces, &text)
            // A full stop or comma may belong to the sentence around the quotation.
            || in_order(&trimmed(&pieces), &text)
    })
}

fn trimmed(pieces: &[String]) -> Vec<String> {
    pieces
        .iter()
        .map(|p| {
            p.trim_end_matches(['.', ',', ';', ':', '?', '!'])
                .to_owned()
        })
        .filter(|p| !p.is_empty())
        .collect()
}

fn in_order(pieces: &[String], text: &str) -> bool {
    let mut from = 0;
    !pieces.is_empty()
        && pieces.iter().all(|piece| {
            let found = find_token(&text[from..], piece);
            if let Some(at) = found {
                from += at + piece.len();
            }
            found.is_some()
        })
}

/// The first line of a fenced block that does not stand in `text`.
pub(super) fn missing_line<'a>(block: &'a str, text: &str) -> Option<&'a str> {
    let text = normal(text, false);
    block.lines().find(|line| {
        let bare = line.trim();
        let comment = bare.trim_start_matches(['/', '#', ' ', '*', '-']);
        let elided = comment.starts_with("...") || comment.starts_with('…');
        let wordless = !bare.chars().any(char::is_alphanumeric);
        !elided && !wordless && !line_occurs(bare, &text)
    })
}

fn line_occurs(line: &str, text: &str) -> bool {
    let unnumbered = line
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .trim_start_matches([':', '|', '.'])
        .trim_start();
    [line, unnumbered]
        .iter()
        .map(|l| normal(l, false))
        .any(|l| !l.is_empty() && text.contains(&l))
}

/// The value of a number as code or prose writes it, a unit or type behind it
/// left out; `None` when `text` is something else.
pub(super) fn number(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let digits: String = digits.chars().filter(|c| *c != '_').collect();
            let digits = digits.trim_end_matches(|c: char| !c.is_digit(radix));
            return u128::from_str_radix(digits, radix)
                .ok()
                .map(|n| n.to_string());
        }
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '_' | ',' | '.'))
        .unwrap_or(text.len());
    let unit = text[end..].trim_start_matches([' ', '_']);
    if unit.len() > 7 || !unit.chars().all(|c| c.is_ascii_alphanumeric() || c == '%') {
        return None;
    }
    let written = text[..end].trim_end_matches(['.', ',', '_']);
    let whole = written.split('.').next().unwrap_or(written);
    if whole.split(',').skip(1).any(|group| group.len() != 3) {
        return None;
    }
    let digits: String = written
        .chars()
        .filter(|c| !matches!(c, '_' | ','))
        .collect();
    if digits.matches('.').count() > 1 {
        return None;
    }
    let whole = digits.trim_start_matches('0');
    let value = match whole.contains('.') {
        true => whole.trim_end_matches('0').trim_end_matches('.'),
        false => whole,
    };
    Some(match value {
        "" => "0".to_owned(),
        v if v.starts_with('.') => format!("0{v}"),
        v => v.to_owned(),
    })
}

/// Whether a number of this value stands in `text`.
fn number_occurs(value: &str, text: &str) -> bool {
    let is = |token: &str| number(token).as_deref() == Some(value);
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ',' | '.'))
        .flat_map(|chunk| chunk.split(".."))
        .any(|token| is(token) || token.split(',').any(is))
}

/// A number as written or scaled by the unit behind it.
pub(super) fn any_scale(value: &str, written: &str, lines: &str) -> bool {
    if number_occurs(value, lines) {
        return true;
    }
    let unit = written.trim_start_matches(|c: char| !c.is_alphabetic());
    let factors: &[u128] = match unit.to_lowercase().as_str() {
        "k" | "kb" | "kib" => &[1_000, 1_024],
        "m" | "mb" | "mib" => &[1_000_000, 1_048_576],
        "g" | "gb" | "gib" => &[1_000_000_000, 1_073_741_824],
        "s" | "sec" | "second" | "seconds" => &[1_000],
        "min" | "minute" | "minutes" => &[60, 60_000],
        "h" | "hour" | "hours" => &[60, 3_600],
        _ => &[],
    };
    let Ok(value) = value.parse::<u128>() else {
        return false;
    };
    factors
        .iter()
        .filter_map(|f| value.checked_mul(*f))
        .any(|v| number_occurs(&v.to_string(), lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g15_numbers_are_compared_by_value() {
        for (written, value) in [
            ("8,000", Some("8000")),
            ("8_000usize", Some("8000")),
            ("0x20", Some("32")),
            ("1.50", Some("1.5")),
            ("007", Some("7")),
            ("200 ms", Some("200")),
            ("0", Some("0")),
            ("1.2.3", None),
            ("x1", None),
            ("12 monkeys jumped", None),
        ] {
            assert_eq!(number(written).as_deref(), value, "{written}");
        }
        let text = "const A: usize = 8_000; for i in 0..40 { f(3, 0x10) } v1.25 x7";
        for (value, there) in [
            ("8000", true),
            ("40", true),
            ("0", true),
            ("3", true),
            ("16", true),
            ("4", false),
            ("800", false),
            ("7", false),
        ] {
            assert_eq!(number_occurs(value, text), there, "{value}");
        }
    }

    #[test]
    fn g15_a_quotation_may_skip_and_cross_comment_lines() {
        let text = "/// Keeps the first characters of a text,\n/// never splitting one.\npub fn cap(text: &str) {\n    go()\n}";
        for (quote, there) in [
            (
                "Keeps the first characters of a text, never splitting one.",
                true,
            ),
            ("Keeps the first … splitting one", true),
            ("pub fn cap(text:   &str)", true),
            ("never … Keeps", false),
            ("fn cap(text: String)", false),
            ("aps the first", false),
        ] {
            assert_eq!(occurs(quote, text), there, "{quote}");
        }
        assert_eq!(
            missing_line("12\tpub fn cap(text: &str) {\n    // ...\n}\n", text),
            None
        );
        assert_eq!(
            missing_line("pub fn cap(text: &str) {\n    stop()\n", text),
            Some("    stop()")
        );
    }
}
