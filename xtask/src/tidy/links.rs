//! Relative links in Markdown lead somewhere, headings included.

use super::Report;
use crate::repo::Repo;

/// Checks all Markdown files.
pub(crate) fn check(repo: &Repo, report: &mut Report) {
    let documents = repo
        .files()
        .filter(|(path, _)| path.ends_with(".md") && !path.contains("/tests/"));
    for (path, text) in documents {
        for (number, target) in targets(text) {
            if let Some(problem) = problem(repo, path, text, target) {
                report.error(&format!("{path}:{number}"), problem);
            }
        }
    }
}

fn problem(repo: &Repo, path: &str, text: &str, target: &str) -> Option<String> {
    let foreign = target.contains("://") || target.starts_with("mailto:");
    if foreign || target.is_empty() {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let (file, text) = match file {
        "" => (path.to_owned(), Some(text)),
        _ => {
            let Some(file) = resolve(path, file) else {
                return Some(format!("the link to {target} leads out of the repository"));
            };
            if !repo.exists(&file) {
                return Some(format!("the link to {target} leads nowhere"));
            }
            let text = repo.text(&file);
            (file, text)
        }
    };
    let found = anchor.is_empty()
        || !file.ends_with(".md")
        || text.is_some_and(|text| headings(text).any(|heading| heading == anchor));
    (!found).then(|| format!("{file} has no heading for #{anchor}"))
}

/// A link's path from the root; `None` when it leads out.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = match link.starts_with('/') {
        true => Vec::new(),
        false => from
            .split('/')
            .rev()
            .skip(1)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect(),
    };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Link targets with the numbers of their lines; code is skipped.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // Backticks hide what is between them, so every second piece is code.
        for piece in line.split('`').step_by(2) {
            for (at, _) in piece.match_indices("](") {
                let rest = &piece[at + 2..];
                if let Some(end) = rest.find([')', ' ']) {
                    found.push((number, rest[..end].trim_matches(['<', '>'])));
                }
            }
        }
        let definition = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("]: "));
        if let Some((_, target)) = definition {
            found.push((number, target.split_whitespace().next().unwrap_or("")));
        }
    }
    found
}

/// Lines outside of fenced code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((number + 1, line))
    })
}

/// The anchors that headings get on the usual hosts.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter_map(|(_, line)| {
        let title = line.strip_prefix('#')?.trim_start_matches('#');
        let kept = title
            .trim()
            .to_lowercase()
            .replace(' ', "-")
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        Some(kept)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut report = Report::default();
        let files = [
            ("docs/a.md", text),
            (
                "docs/b.md",
                "# Two words, `code`\n```\n# not a heading\n```\n",
            ),
            ("src/lib.rs", ""),
        ];
        check(&Repo::from(files), &mut report);
        report.errors
    }

    #[test]
    fn good_links_pass() {
        let text = "# Top\n[a](b.md) [b](../src/lib.rs) [c](../src) [d](b.md#two-words-code) \
                    [e](#top) [f](https://example.org/x) `[g](gone.md)`\n```\n[h](gone.md)\n```\n\
                    [i]: b.md\n";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        for (link, why) in [
            ("gone.md", "leads nowhere"),
            ("../src/gone.rs", "leads nowhere"),
            ("../../x.md", "leads out of the repository"),
            (
                "b.md#not-a-heading",
                "docs/b.md has no heading for #not-a-heading",
            ),
            ("#gone", "docs/a.md has no heading for #gone"),
        ] {
            let errors = found(&format!("\n[a]({link})\n"));
            assert!(errors.len() == 1 && errors[0].contains(why), "{errors:?}");
            assert!(errors[0].starts_with("docs/a.md:2"), "{errors:?}");
        }
        assert_eq!(found("[a]: gone.md\n").len(), 1);
    }
}
