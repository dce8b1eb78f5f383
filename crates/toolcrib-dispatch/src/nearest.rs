//! Names near a name that no tool has.

/// Longest part of an unknown name that is compared or repeated.
pub(crate) const NAME_LEN: usize = 64;

/// At most `limit` of `names` that resemble `wanted`, nearest first, then by name.
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let wanted = fold(wanted);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut ranked: Vec<(usize, &str)> = names
        .filter_map(|name| score(&wanted, &fold(name)).map(|score| (score, name)))
        .collect();
    ranked.sort_unstable();
    // The same name but for case and separators leaves no doubt.
    if ranked.first().is_some_and(|(score, _)| *score == 0) {
        ranked.retain(|(score, _)| *score == 0);
    }
    ranked.truncate(limit);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// Smaller is nearer; `None` is too far to be meant.
fn score(wanted: &[char], name: &[char]) -> Option<usize> {
    let distance = strsim::generic_damerau_levenshtein(wanted, name);
    let close = distance <= (wanted.len().max(name.len()) / 3).max(1);
    if close {
        return Some(distance);
    }
    // `read` for `read_file`: one name inside the other, ranked after real slips.
    let (short, long) = if wanted.len() < name.len() {
        (wanted, name)
    } else {
        (name, wanted)
    };
    let inside = short.len() >= 3 && long.windows(short.len()).any(|part| part == short);
    inside.then_some(NAME_LEN + distance)
}

/// Lower case, separators dropped: `webFetch`, `web-fetch` and `web_fetch` are one.
fn fold(name: &str) -> Vec<char> {
    name.chars()
        .take(NAME_LEN)
        .filter(|c| !matches!(c, '_' | '-' | '.' | ' ' | '/' | ':'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, names: &[&str], expected: &[&str]) {
        assert_eq!(nearest(wanted, names.iter().copied(), 3), expected);
    }

    #[test]
    fn slips_separators_and_parts_of_names_are_recognised() {
        check(
            "weather_lokup",
            &["forecast", "weather_lookup"],
            &["weather_lookup"],
        );
        check("webFetch", &["web_fetch", "web_search"], &["web_fetch"]);
        check("raed", &["read", "write"], &["read"]);
        check("read", &["git_log", "read_file"], &["read_file"]);
        check("functions.read_file", &["read_file"], &["read_file"]);
    }

    #[test]
    fn nothing_near_gives_nothing_and_ties_go_by_name() {
        check("zzz", &["read", "write"], &[]);
        check("", &["read"], &[]);
        check("-_.", &["read"], &[]);
        check(
            "tool_x",
            &["tool_c", "tool_b", "tool_a", "tool_d"],
            &["tool_a", "tool_b", "tool_c"],
        );
    }
}
