//! The one sentence that stands for a description.

/// Abbreviations whose period ends no sentence.
const OPEN: [&str; 2] = ["e.g", "i.e"];

/// The first sentence of `text`: up to the first period before a space, or to the
/// end of the first line, whichever comes earlier.
pub(crate) fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or("").trim_end();
    line.match_indices(". ")
        .map(|(at, _)| at)
        .find(|&at| !OPEN.iter().any(|open| line[..at].ends_with(open)))
        .map_or(line, |at| &line[..=at])
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn s66_first_sentence() {
        for (text, expected) in [
            ("Does a. Then b", "Does a."),
            ("No stop\nSecond line. x", "No stop"),
            ("Use e.g. this. Then", "Use e.g. this."),
            ("", ""),
            ("\n\n  Indented.\n  More.", "Indented."),
            ("Version 1.2 is out", "Version 1.2 is out"),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }
}
