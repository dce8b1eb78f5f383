//! What a question asks, and the terms to look for.

use super::words::{asks, each_word, stem, weight};

/// Most terms of one question; the rest of a long text adds noise, not aim.
const MAX_TERMS: usize = 8;
/// Characters of a question that are read for terms.
const MAX_READ: usize = 4_000;

/// What kind of answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// The place of something.
    Where,
    /// What something is or does.
    What,
    /// How something comes about.
    How,
    /// Who calls or uses something.
    Callers,
    /// What something calls or uses.
    Callees,
}

/// One word to look for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    /// As asked, lower case.
    pub(super) word: String,
    /// Its stem.
    pub(super) stem: String,
    /// How much it counts beside its rarity, 0 to 1.
    pub(super) weight: f64,
}

/// A question, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) intent: Intent,
    /// Names as written in code, in order, such as `ToolCall` or `a::b`.
    pub(super) names: Vec<String>,
    /// Words to look for, the words of `names` included, in order.
    pub(super) terms: Vec<Term>,
    /// Whether tests are what is asked about.
    pub(super) about_tests: bool,
}

impl Question {
    /// Takes a question apart.
    pub(super) fn read(text: &str) -> Question {
        let text: String = text.chars().take(MAX_READ).collect();
        let names = names(&text);
        let mut terms: Vec<Term> = Vec::new();
        let mut about_tests = false;
        each_word(&text, |word| {
            let stem = stem(word);
            about_tests |= stem == "test";
            let known = terms.iter().any(|term| term.stem == stem);
            if !asks(word) && !known && word.chars().any(char::is_alphabetic) {
                terms.push(Term {
                    weight: weight(word),
                    word: word.to_owned(),
                    stem,
                });
            }
        });
        // A long question names its subject more than once or early; weak words go first.
        if terms.len() > MAX_TERMS {
            let mut order: Vec<usize> = (0..terms.len()).collect();
            order.sort_by(|&a, &b| terms[b].weight.total_cmp(&terms[a].weight).then(a.cmp(&b)));
            order.truncate(MAX_TERMS);
            order.sort_unstable();
            terms = order.into_iter().map(|i| terms[i].clone()).collect();
        }
        Question {
            intent: intent(&text),
            names,
            terms,
            about_tests,
        }
    }
}

fn intent(text: &str) -> Intent {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    let follows = |a: &[&str], b: &[&str]| {
        words
            .windows(2)
            .any(|pair| a.contains(&pair[0]) && b.contains(&pair[1]))
    };
    let uses = [
        "calls",
        "call",
        "uses",
        "use",
        "invokes",
        "references",
        "needs",
    ];
    let used = ["called", "used", "invoked", "referenced"];
    if follows(&["who", "what", "which"], &uses)
        || has("callers")
        || follows(&["caller", "usages", "uses", "users"], &["of"])
        || (first == "where" && used.iter().any(|word| has(word)))
        || (first == "which" && uses.iter().any(|word| has(word)))
    {
        return Intent::Callers;
    }
    if has("callees")
        || (first == "what" && follows(&["does"], &[]) && has("call"))
        || (first == "what"
            && words
                .last()
                .is_some_and(|word| ["call", "use"].contains(word)))
    {
        return Intent::Callees;
    }
    match first {
        "how" => Intent::How,
        "what" | "explain" | "describe" => Intent::What,
        _ if has("how") => Intent::How,
        _ => Intent::Where,
    }
}

/// Names as code writes them: in backticks, qualified, with underscores or humps,
/// or followed by `()`.
fn names(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = name
            .trim_end_matches("()")
            .trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if name.len() > 1 && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    };
    for (i, quoted) in text.split('`').enumerate() {
        if i % 2 == 1 && quoted.len() <= 200 && !quoted.contains(char::is_whitespace) {
            add(quoted);
        }
    }
    for token in text.split(|c: char| c.is_whitespace() || "`\"',;?!".contains(c)) {
        let called = token.ends_with("()");
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != ')');
        let inner_dot = token.trim_end_matches('.').contains('.') && !token.contains("..");
        let humps = token
            .chars()
            .zip(token.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        if token.len() <= 200
            && token.chars().any(char::is_alphabetic)
            && (called || token.contains("::") || token.contains('_') || inner_dot || humps)
        {
            add(token);
        }
    }
    found.truncate(4);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        Question::read(text)
            .terms
            .into_iter()
            .map(|term| term.stem)
            .collect()
    }

    #[test]
    fn terms_leave_out_what_only_asks() {
        assert_eq!(
            stems("Where are tool results truncated?"),
            ["tool", "result", "truncat"]
        );
        assert_eq!(
            stems("How does the retry logic work, and how are retries counted?"),
            ["retri", "logic", "work", "count"]
        );
    }

    #[test]
    fn intents_are_told_apart() {
        for (text, intent) in [
            ("Where are tool results truncated?", Intent::Where),
            ("Where is `cap` called?", Intent::Callers),
            ("who calls Registry::insert", Intent::Callers),
            ("Which functions use ToolName?", Intent::Callers),
            ("What does `run_batch` call?", Intent::Callees),
            ("What is a TurnPlan?", Intent::What),
            ("How are sessions resumed", Intent::How),
            ("session resume", Intent::Where),
        ] {
            assert_eq!(Question::read(text).intent, intent, "{text}");
        }
    }

    #[test]
    fn names_are_what_code_would_write() {
        let names = |text| Question::read(text).names;
        assert_eq!(
            names("Who calls `Registry::insert` and cut_off()?"),
            ["Registry::insert", "cut_off"]
        );
        assert_eq!(
            names("What is ToolName in core.name.parse?"),
            ["ToolName", "core.name.parse"]
        );
        assert_eq!(names("Where is it? Ends with a dot."), [""; 0]);
    }

    #[test]
    fn a_long_question_keeps_few_terms() {
        let text =
            "alpha beta gamma delta epsilon zeta eta theta iota kappa function code ".repeat(500);
        assert_eq!(Question::read(&text).terms.len(), MAX_TERMS);
    }
}
