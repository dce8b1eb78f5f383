//! Comments as documentation: their markers off, tags of markup off.

/// The words of a comment in any of the usual notations.
pub(super) fn text(comment: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in comment.lines() {
        let mut line = line.trim();
        for end in ["*/", "--]]", "]]"] {
            line = line.strip_suffix(end).unwrap_or(line).trim_end();
        }
        if matches!(line, "=begin" | "=end") {
            continue;
        }
        let marks = ["/**", "/*", "///", "//", "--[[", "---", "--", "*", "#"];
        if let Some(rest) = marks.iter().find_map(|mark| line.strip_prefix(mark)) {
            line = rest.trim_start_matches(['!', '*']);
            line = line.strip_prefix(' ').unwrap_or(line);
        }
        let line = untagged(line.trim_end_matches('*').trim_end());
        if line.is_empty() && lines.last().is_none_or(String::is_empty) {
            continue;
        }
        lines.push(line);
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n")
}

/// Without the tags of XML documentation, whose references keep their name.
fn untagged(line: &str) -> String {
    const TAGS: [&str; 13] = [
        "summary",
        "remarks",
        "param",
        "returns",
        "see",
        "seealso",
        "paramref",
        "value",
        "para",
        "example",
        "exception",
        "typeparam",
        "inheritdoc",
    ];
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        out.push_str(before);
        let word = tag[1..].trim_start_matches('/');
        let is_tag = TAGS.iter().any(|known| {
            word.strip_prefix(known)
                .is_some_and(|after| after.starts_with(['>', ' ', '/']))
        });
        match tag.find('>').filter(|_| is_tag) {
            Some(end) => {
                if let Some((_, named)) = tag[..end].split_once("cref=\"") {
                    out.push_str(named.split('"').next().unwrap_or(""));
                }
                rest = &tag[end + 1..];
            }
            None => {
                out.push('<');
                rest = &tag[1..];
            }
        }
    }
    out.push_str(rest);
    out.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_and_tags_go_and_words_stay() {
        for (comment, expected) in [
            ("# Adds.\n#\n#   two\n", "Adds.\n\n  two"),
            (
                "/// <summary>Adds to <see cref=\"Sum\"/>.</summary>",
                "Adds to Sum.",
            ),
            ("/// <summary>\n/// Adds.\n/// </summary>", "Adds."),
            (
                "/**\n * Adds `a < b`.\n * @param a one\n */",
                "Adds `a < b`.\n@param a one",
            ),
            ("--- Adds.\n-- More.", "Adds.\nMore."),
            ("--[[ Adds. ]]", "Adds."),
            ("=begin\nAdds.\n=end", "Adds."),
            ("/** List<String> */", "List<String>"),
            ("//", ""),
        ] {
            assert_eq!(text(comment), expected);
        }
    }
}
