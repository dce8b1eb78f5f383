//! What no text of the repository may hold: one machine's paths and the host
//! names of package registries, which differ from place to place.

use super::Report;
use super::rust::{is_test, tested_lines};
use crate::repo::Repo;

/// The words in two halves, so that this file does not hold them.
const HOSTS: &[(&str, &str)] = &[
    ("static.crates", ".io"),
    ("index.crates", ".io"),
    ("pypi", ".org"),
    ("pythonhosted", ".org"),
    ("registry.npmjs", ".org"),
    ("deb.debian", ".org"),
    ("proxy.golang", ".org"),
];

/// Where one machine keeps its things.
const FOLDERS: &[(&str, &str)] = &[("/ro", "ot/"), ("/wo", "rk/")];

/// Where people keep theirs. Tests may make some up.
const HOMES: &[(&str, &str)] = &[("/ho", "me/"), ("/Us", "ers/"), ("C:\\Us", "ers\\")];

/// Where cargo itself writes the registry's name.
const LOCKED: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks all texts.
pub(crate) fn check(repo: &Repo, report: &mut Report) {
    for (path, text) in repo.files() {
        if path.ends_with("Cargo.lock") {
            lock(path, text, report);
        } else {
            plain(path, text, report);
        }
    }
}

fn plain(path: &str, text: &str, report: &mut Report) {
    let tested = match path.ends_with(".rs") {
        true if is_test(path) => vec![true; text.lines().count()],
        true => tested_lines(text),
        false => vec![false; text.lines().count()],
    };
    for (number, (line, tested)) in text.lines().zip(tested).enumerate() {
        let place = || format!("{path}:{}", number + 1);
        for (a, b) in HOSTS {
            if line.contains(&format!("{a}{b}")) {
                report.error(
                    &place(),
                    "names the host of a package registry; name the registry",
                );
            }
        }
        let homes = if tested { &[] } else { HOMES };
        for (a, b) in FOLDERS.iter().chain(homes) {
            let folder = format!("{a}{b}");
            let absolute = line.match_indices(&folder).any(|(at, _)| {
                !line[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
            });
            if absolute {
                report.error(
                    &place(),
                    format!("holds a path under {folder}; make it relative"),
                );
            }
        }
    }
}

fn lock(path: &str, text: &str, report: &mut Report) {
    for (number, line) in text.lines().enumerate() {
        if let Some(source) = line.strip_prefix("source = ")
            && source.trim_matches('"') != LOCKED
        {
            let place = format!("{path}:{}", number + 1);
            report.error(
                &place,
                format!("locks to {source}; use released versions of the registry"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> String {
        let mut report = Report::default();
        check(&Repo::from([(path, text)]), &mut report);
        report.errors.join("\n")
    }

    #[test]
    fn hosts_and_paths_of_one_machine_are_found() {
        for (a, b) in HOSTS {
            let errors = found("README.md", &format!("fine\nsee https://{a}{b}/x\n"));
            assert!(
                errors.contains("README.md:2") && errors.contains("registry"),
                "{errors}"
            );
        }
        for (a, b) in FOLDERS.iter().chain(HOMES) {
            let errors = found("src/a.rs", &format!("open(\"{a}{b}x\")"));
            assert!(errors.contains("make it relative"), "{errors}");
        }
        assert_eq!(
            found("a.rs", "\"src/home/page\" \"./work/x\" \"~/.config\""),
            ""
        );
    }

    #[test]
    fn the_lock_file_names_released_versions() {
        let good = format!("source = \"{LOCKED}\"\n");
        assert_eq!(found("Cargo.lock", &good), "");
        let errors = found("Cargo.lock", "source = \"git+https://example.org/a#1\"\n");
        assert!(errors.contains("Cargo.lock:1"), "{errors}");
    }
}
