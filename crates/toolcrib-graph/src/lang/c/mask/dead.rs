//! Branches that no build reads: under `#if 0`, and beside `#if 1`.
//!
//! Only what the condition itself says counts; macros are not followed. What is
//! never closed is left as it is, so that a file that is cut keeps its rest.

use super::{T, Token};

/// One `#if` that is open.
struct Group {
    /// A branch before is always read.
    taken: bool,
    /// The directive of the branch being read, if nothing ever reads it.
    dead: Option<usize>,
}

/// Takes dead branches out of the tokens; says which directives begin one.
pub(super) fn dead(text: &str, tokens: &mut [Token], gone: &mut Vec<(u32, u32)>) -> Vec<usize> {
    let mut groups: Vec<Group> = Vec::new();
    let mut found = Vec::new();
    for i in 0..tokens.len() {
        if tokens[i].kind != T::Directive {
            continue;
        }
        let line = &text[tokens[i].start as usize..tokens[i].end as usize];
        let (word, condition) = directive(line);
        match word {
            "if" | "ifdef" | "ifndef" => {
                let said = if word == "if" { says(condition) } else { None };
                groups.push(Group {
                    taken: said == Some(true),
                    dead: (said == Some(false)).then_some(i),
                });
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => {
                let Some(group) = groups.last_mut() else {
                    continue;
                };
                if let Some(begin) = group.dead.take() {
                    found.push(begin);
                    let (start, end) = (tokens[begin].end, tokens[i].start);
                    if start < end {
                        gone.push((start, end));
                    }
                    for token in &mut tokens[begin + 1..i] {
                        token.kind = T::Gone;
                    }
                }
                if word == "endif" {
                    groups.pop();
                    continue;
                }
                let said = match word {
                    "elif" => says(condition),
                    _ => None,
                };
                group.dead = (group.taken || said == Some(false)).then_some(i);
                group.taken |= said == Some(true);
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

/// The word of a directive and what follows it.
pub(super) fn directive(line: &str) -> (&str, &str) {
    let rest = line.strip_prefix('#').unwrap_or(line).trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    rest.split_at(end)
}

/// What a condition is whatever is defined.
fn says(condition: &str) -> Option<bool> {
    let end = condition
        .find("//")
        .into_iter()
        .chain(condition.find("/*"))
        .min();
    let mut condition = condition[..end.unwrap_or(condition.len())].trim();
    while let Some(inner) = condition
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .filter(|inner| !inner.contains(['(', ')']))
    {
        condition = inner.trim();
    }
    let (first, rest) = match condition.split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim_start()),
        None => (condition, ""),
    };
    let value = match first {
        "false" => false,
        "true" => true,
        number => number.parse::<u32>().ok()? != 0,
    };
    match value {
        _ if rest.is_empty() => Some(value),
        // Nothing behind it can change that, unless it is split further.
        false if rest.starts_with("&&") && !rest.contains("||") && !rest.contains('?') => {
            Some(false)
        }
        true if rest.starts_with("||") && !rest.contains('?') => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::says;

    #[test]
    fn conditions_that_say_it_themselves() {
        for (condition, expected) in [
            (" 0", Some(false)),
            (" (0)", Some(false)),
            (" 0 /* off */", Some(false)),
            (" false // off", Some(false)),
            (" 1", Some(true)),
            (" 0 && defined(A)", Some(false)),
            (" 1 || A", Some(true)),
            (" 0 && A || B", None),
            (" 0 || A", None),
            (" 1 && A", None),
            (" 1 > A", None),
            (" A", None),
            (" 0x1", None),
            ("", None),
        ] {
            assert_eq!(says(condition), expected, "{condition}");
        }
    }
}
