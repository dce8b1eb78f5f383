//! Sizes, heads of modules, who prints, and where tests live.

use std::collections::BTreeMap;

use super::Report;
use super::rust::{code_only, is_test, lines_without_tests, without_tests};
use crate::repo::Repo;

const FILE_WARNS: usize = 600;
const FILE_FAILS: usize = 800;
const CRATE_WARNS: usize = 6_000;

/// Crates whose job it is to print.
const PRINTS: [&str; 5] = [
    "bench/",
    "crates/toolcrib-cli/",
    // Its fake server is a process of its own and speaks over its pipes.
    "crates/toolcrib-testkit/src/fake_mcp.rs",
    "xtask/gate/",
    "xtask/",
];

const PRINTING: [&str; 7] = [
    "println!",
    "print!",
    "eprintln!",
    "eprint!",
    "dbg!",
    "stdout()",
    "stderr()",
];

/// Checks all Rust sources.
pub(crate) fn check(repo: &Repo, report: &mut Report) {
    let mut crates: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, text) in repo.files().filter(|(path, _)| path.ends_with(".rs")) {
        integration_tests(path, report);
        let Some((package, _)) = path.split_once("/src/") else {
            continue;
        };
        if is_test(path) {
            continue;
        }
        let lines = lines_without_tests(text);
        *crates.entry(package).or_default() += lines;
        if lines > FILE_FAILS {
            report.error(
                path,
                format!("{lines} lines besides tests; split it (at most {FILE_FAILS})"),
            );
        } else if lines > FILE_WARNS {
            report.warn(
                path,
                format!("{lines} lines besides tests; consider splitting it"),
            );
        }
        if !text.trim_start().starts_with("//!") {
            report.error(
                path,
                "begin with a `//!` head: what it is, why this way, what it is not for",
            );
        }
        if !PRINTS.iter().any(|prefix| path.starts_with(prefix)) {
            prints(path, text, report);
        }
    }
    for (package, lines) in crates {
        if lines > CRATE_WARNS {
            report.warn(
                package,
                format!("{lines} lines besides tests; consider splitting the crate"),
            );
        }
    }
}

fn prints(path: &str, text: &str, report: &mut Report) {
    let code = without_tests(&code_only(text));
    for (number, line) in code.lines().enumerate() {
        for word in PRINTING {
            let own = line.match_indices(word).any(|(at, _)| {
                !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.')
            });
            if own {
                let place = format!("{path}:{}", number + 1);
                report.error(&place, format!("`{word}`: only the command line prints"));
            }
        }
    }
}

/// One binary a crate: each costs a link and shares nothing with the others.
fn integration_tests(path: &str, report: &mut Report) {
    let Some((package, inside)) = path.split_once("/tests/") else {
        return;
    };
    if package.contains("/src") || package.contains("/tests") {
        return;
    }
    if !inside.contains('/') {
        report.error(
            path,
            "integration tests are one binary: move it to tests/it/ as a module",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> (String, String) {
        let mut report = Report::default();
        check(&Repo::from([(path, text)]), &mut report);
        (report.errors.join("\n"), report.warnings.join("\n"))
    }

    fn long(lines: usize) -> String {
        format!("//! Head.\n{}", "fn a() {}\n".repeat(lines - 1))
    }

    #[test]
    fn long_files_warn_and_then_fail() {
        let path = "crates/a/src/b.rs";
        assert_eq!(found(path, &long(600)), Default::default());
        assert!(found(path, &long(601)).1.contains("601 lines"));
        assert!(found(path, &long(801)).0.contains("801 lines"));
        let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", long(600), long(300));
        assert_eq!(found(path, &tested), Default::default());
        assert_eq!(
            found("crates/a/src/b/tests.rs", &long(900)),
            Default::default()
        );
    }

    #[test]
    fn a_large_crate_warns() {
        let text = long(500);
        let files: Vec<_> = (0..13)
            .map(|n| format!("crates/a/src/m{n:02}.rs"))
            .collect();
        let repo: [(&str, &str); 13] = std::array::from_fn(|n| (&*files[n], &*text));
        let mut report = Report::default();
        check(&Repo::from(repo), &mut report);
        assert_eq!(
            report.warnings,
            ["crates/a: 6500 lines besides tests; consider splitting the crate"]
        );
    }

    #[test]
    fn modules_have_a_head() {
        assert!(
            found("crates/a/src/b.rs", "use a;\n")
                .0
                .contains("begin with a `//!` head")
        );
        assert_eq!(
            found("crates/a/src/b/tests.rs", "use a;\n"),
            Default::default()
        );
        assert_eq!(
            found("crates/a/tests/it/b.rs", "use a;\n"),
            Default::default()
        );
    }

    #[test]
    fn only_the_command_line_prints() {
        for (line, word) in [
            ("fn a() { println!(\"b\") }", "`println!`"),
            ("fn a() { std::io::stdout().lock(); }", "`stdout()`"),
            ("fn a() { dbg!(1); }", "`dbg!`"),
        ] {
            let text = format!("//! Head.\n{line}\n");
            let errors = found("crates/toolcrib-core/src/a.rs", &text).0;
            assert!(
                errors.contains(word) && errors.contains("a.rs:2"),
                "{errors}"
            );
            assert_eq!(found("crates/toolcrib-cli/src/a.rs", &text).0, "");
        }
        let quiet = "//! Head.\n/// println!(\"a\")\nfn a() { b.stdout(); \"println!\"; }\n#[cfg(test)]\nmod tests { fn c() { println!() } }\n";
        assert_eq!(found("crates/toolcrib-core/src/a.rs", quiet).0, "");
    }

    #[test]
    fn integration_tests_are_one_binary() {
        assert!(found("crates/a/tests/b.rs", "").0.contains("one binary"));
        assert_eq!(found("crates/a/tests/it/main.rs", "").0, "");
    }
}
