//! What a turn's prompt was taken to need.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toolcrib_core::{Str, ToolName};

/// The domains that a prompt was taken to be about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domains {
    /// No reading was made: nothing is held back on its account.
    #[default]
    All,
    /// These, in the form of [`domain_word`]; may be empty.
    Only(BTreeSet<Str>),
}

impl Domains {
    /// These words, whatever their case, separators and aliases.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Domains {
        let words = words.into_iter().map(domain_word);
        Domains::Only(words.filter(|word| !word.is_empty()).collect())
    }

    /// The words, in order; `None` where no reading was made.
    pub fn words(&self) -> Option<impl Iterator<Item = &Str>> {
        match self {
            Domains::All => None,
            Domains::Only(read) => Some(read.iter()),
        }
    }

    /// Whether a tool that declares `declared` is read for.
    pub(crate) fn meet(&self, declared: &[Str]) -> bool {
        match self {
            Domains::All => true,
            Domains::Only(read) => declared
                .iter()
                .any(|word| read.contains(&domain_word(word))),
        }
    }
}

/// What a turn's prompt was taken to need. The default holds nothing back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// What it is about.
    pub domains: Domains,
    /// Ways of presenting the answer that it asks for.
    pub cards: BTreeSet<ToolName>,
    /// Deferred tools that it will need, most certain first.
    pub tools: Vec<ToolName>,
}

impl Reading {
    /// Whether anything was predicted, so that it can have been wrong.
    pub(crate) fn predicts(&self) -> bool {
        self.domains != Domains::All || !self.tools.is_empty()
    }
}

/// The one form of a domain's name: lower case, `-` between words, aliases
/// resolved. A word that is none of the known ones stands for itself.
pub fn domain_word(word: &str) -> Str {
    let word: String = word
        .trim()
        .chars()
        .map(|c| if c == '_' || c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect();
    match word.as_str() {
        "fs" | "file-system" => "filesystem".into(),
        "exec" => "code-exec".into(),
        "docs" => "documents".into(),
        "git" => "vcs".into(),
        _ => word.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s64_domain_words_forgive_case_separators_and_aliases() {
        for (word, domain) in [
            ("FS", "filesystem"),
            ("fs", "filesystem"),
            ("file_system", "filesystem"),
            ("FileSystem", "filesystem"),
            ("Docs", "documents"),
            ("git", "vcs"),
            ("exec", "code-exec"),
            ("Live_Data", "live-data"),
            ("  web ", "web"),
        ] {
            assert_eq!(&*domain_word(word), domain);
        }
        let read = Domains::of(["Bee_Keeping"]);
        assert!(read.meet(&["bee-keeping".into()]));
        assert!(!read.meet(&["web".into()]) && !read.meet(&[]));
        assert!(!Domains::of([""]).meet(&["".into()]));
        assert!(Domains::All.meet(&[]));
    }
}
