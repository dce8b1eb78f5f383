//! The written rules, held against the files.
//!
//! One rule a module; each takes the [`Repo`] and adds what it finds. A rule that
//! cannot be checked by the compiler, clippy or cargo-deny belongs here; taste
//! does not.

use crate::repo::Repo;

mod links;
mod manifests;
mod rust;
mod source;
mod texts;

/// What was found, in the order of rules and paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Fail the check.
    pub(crate) errors: Vec<String>,
    /// Are shown.
    pub(crate) warnings: Vec<String>,
}

impl Report {
    fn error(&mut self, place: &str, what: impl std::fmt::Display) {
        self.errors.push(format!("{place}: {what}"));
    }

    fn warn(&mut self, place: &str, what: impl std::fmt::Display) {
        self.warnings.push(format!("{place}: {what}"));
    }
}

/// Runs every rule.
pub(crate) fn check(repo: &Repo) -> Report {
    let mut report = Report::default();
    manifests::check(repo, &mut report);
    source::check(repo, &mut report);
    texts::check(repo, &mut report);
    links::check(repo, &mut report);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_tidy() {
        let repo = Repo::open(&crate::repo::root()).unwrap();
        let report = check(&repo);
        assert!(repo.files().count() > 50, "the listing of files is empty");
        assert!(report.errors.is_empty(), "\n{}", report.errors.join("\n"));
    }
}
