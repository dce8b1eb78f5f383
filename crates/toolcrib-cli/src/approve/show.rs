//! What a person reads of what a call would do.

use similar::{ChangeTag, TextDiff};
use toolcrib_core::Preview;

use crate::terminal::{count, harmless};

/// Most lines shown of one preview.
const LINES: usize = 60;
/// Most characters shown of one line.
const WIDE: usize = 160;
/// Unchanged lines around a change.
const AROUND: usize = 2;

/// The preview, indented, bounded, and without anything that moves the cursor.
pub(super) fn preview(preview: &Preview) -> String {
    match preview {
        Preview::Text(text) => bounded(text.lines().map(str::to_owned)),
        Preview::Command { argv, cwd } => {
            let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
            bounded([format!("$ {}", words.join(" ")), format!("  in {cwd}")].into_iter())
        }
        Preview::Diff {
            path,
            before,
            after,
        } => {
            let kind = match (before, after) {
                (None, _) => " (new)",
                (_, None) => " (deleted)",
                _ => "",
            };
            let head = format!("{path}{kind}");
            let before = before.as_deref().unwrap_or_default();
            let after = after.as_deref().unwrap_or_default();
            bounded(std::iter::once(head).chain(diff(before, after)))
        }
        other => bounded(format!("{other:?}").lines().map(str::to_owned)),
    }
}

fn diff(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for (at, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 {
            lines.push("…".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let line = change.value().trim_end_matches(['\n', '\r']);
            lines.push(format!("{sign} {line}"));
        }
    }
    lines
}

fn bounded(lines: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = lines.collect();
    let mut shown: Vec<String> = all
        .iter()
        .take(LINES)
        .map(|text| format!("  {}", line(text)))
        .collect();
    if all.len() > LINES {
        let more = count(all.len() - LINES, "more line");
        shown.push(format!("  … {more}"));
    }
    shown.join("\n")
}

/// One line of foreign text.
pub(super) fn line(text: &str) -> String {
    within(text, WIDE)
}

/// One longer line of foreign text.
pub(super) fn long(text: &str) -> String {
    within(text, 8 * WIDE)
}

fn within(text: &str, most: usize) -> String {
    let text = harmless(text).replace('\t', "    ").replace('\n', "⏎");
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A word as a shell would need it, so that its borders are seen.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l12_a_diff_shows_what_changes_and_a_little_around() {
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let after = before
            .replace("line 3\n", "line three\n")
            .replace("line 17\n", "");
        let shown = preview(&Preview::Diff {
            path: "src/a.rs".into(),
            before: Some(before),
            after: Some(after),
        });
        insta::assert_snapshot!(shown, @r"
          src/a.rs
            line 1
            line 2
          - line 3
          + line three
            line 4
            line 5
          …
            line 15
            line 16
          - line 17
            line 18
            line 19
        ");
        let new = Preview::Diff {
            path: "b".into(),
            before: None,
            after: Some("x\n".into()),
        };
        assert_eq!(preview(&new), "  b (new)\n  + x");
    }

    #[test]
    fn l12_a_command_shows_its_words_and_nothing_moves_the_cursor() {
        let shown = preview(&Preview::Command {
            argv: vec![
                "rm".into(),
                "-rf".into(),
                "a b".into(),
                "it's".into(),
                "\u{1b}[2Jx".into(),
            ],
            cwd: "src".into(),
        });
        assert!(shown.starts_with(r"  $ rm -rf 'a b' 'it'\''s' "), "{shown}");
        assert!(shown.ends_with("\n    in src"), "{shown}");
        assert!(!shown.contains('\u{1b}'));
        let long = preview(&Preview::Text("x\n".repeat(1_000)));
        assert!(long.lines().count() == LINES + 1 && long.ends_with("… 940 more lines"));
        assert!(preview(&Preview::Text("y".repeat(10_000))).chars().count() < 200);
    }
}
