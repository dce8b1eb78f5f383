//! What a question asks, and the terms to look for.

use super::foreign::{Foreign, is_han};
use super::words::{asks, each_word, stem, weight};
use super::{places, routes};

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
    /// The file of something.
    File,
    /// By which calls one symbol leads to another.
    Way,
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
    /// As asked, up to a length.
    pub(super) text: String,
    pub(super) intent: Intent,
    /// Names as written in code, in order, such as `ToolCall` or `a::b`.
    pub(super) names: Vec<String>,
    /// Words to look for, the words of `names` included, in order.
    pub(super) terms: Vec<Term>,
    /// The one word that is asked about, as in `who calls grow`; not in `names`,
    /// since it may be a word of prose as well.
    pub(super) subject: Option<String>,
    /// Both ends of the way that is asked for.
    pub(super) ends: Option<(String, String)>,
    /// What it says of a route whose handler is asked for.
    pub(super) route: Option<routes::Asked>,
    /// The line, file or directory that it is about.
    pub(super) place: Option<places::Asked>,
    /// Whether it asks for what the subject calls as well as for its callers.
    pub(super) both: bool,
    /// Whether it asks for what implements, extends or overrides something.
    pub(super) inherits: bool,
    /// Whether it asks where something is decided.
    pub(super) decides: bool,
    /// Whether tests are what is asked about.
    pub(super) about_tests: bool,
}

impl Question {
    /// Takes a question apart.
    pub(super) fn read(text: &str) -> Question {
        let text: String = text.chars().take(MAX_READ).collect();
        let names = names(&text);
        let foreign = Foreign::read(&text);
        let small = |word: &str| match &foreign {
            Some(foreign) => foreign.asks(word),
            None => asks(word),
        };
        let mut terms: Vec<Term> = Vec::new();
        let mut about_tests = false;
        each_word(&text, |word| {
            let stem = stem(word);
            about_tests |= stem == "test";
            let known = terms.iter().any(|term| term.stem == stem);
            if !small(word) && !known && word.chars().any(char::is_alphabetic) {
                terms.push(Term {
                    weight: weight(word),
                    word: word.to_owned(),
                    stem,
                });
            }
        });
        // The end of `it's`, and half of `TRef`, tell nothing apart by themselves.
        if terms.iter().any(|term| term.word.chars().count() > 1) {
            terms.retain(|term| term.word.chars().count() > 1);
        }
        if terms
            .iter()
            .filter(|term| !only_leads(&text, &term.word))
            .count()
            > 1
        {
            terms.retain(|term| !only_leads(&text, &term.word));
        }
        // A long question names its subject more than once or early; weak words go first.
        if terms.len() > MAX_TERMS {
            let mut order: Vec<usize> = (0..terms.len()).collect();
            order.sort_by(|&a, &b| terms[b].weight.total_cmp(&terms[a].weight).then(a.cmp(&b)));
            order.truncate(MAX_TERMS);
            order.sort_unstable();
            terms = order.into_iter().map(|i| terms[i].clone()).collect();
        }
        let ends = ends(&text, &names);
        let intent = match foreign {
            _ if ends.is_some() => Intent::Way,
            Some(foreign) => foreign.intent,
            None => intent(&text),
        };
        let subject = match terms.is_empty() && names.is_empty() {
            true => last_word(&text),
            false => subject(asked_first(&text), intent),
        };
        Question {
            subject,
            both: intent == Intent::Callers && asked_first(&text) != text,
            route: routes::asked(&text),
            place: places::asked(&text),
            inherits: intent == Intent::Callers && inherits(&text),
            decides: decides(&text),
            text,
            intent,
            names,
            terms,
            ends,
            about_tests,
        }
    }
}

fn inherits(text: &str) -> bool {
    let mut inherits = false;
    each_word(text, |word| {
        let begins = |start: &&str| word.starts_with(start);
        const STARTS: [&str; 6] = [
            "implement",
            "extend",
            "overrid",
            "inherit",
            "subclass",
            "subtype",
        ];
        inherits |= STARTS.iter().any(begins);
    });
    inherits
}

fn decides(text: &str) -> bool {
    let mut decides = false;
    each_word(text, |word| {
        decides |= matches!(
            word,
            "whether"
                | "decide"
                | "decided"
                | "decides"
                | "determine"
                | "determined"
                | "know"
                | "knows"
                | "notice"
                | "notices"
                | "noticed"
        );
    });
    decides
}

/// Between both ends of a way.
const LEADS: &[&str] = &[
    " reach ",
    " reaches ",
    " call ",
    " get to ",
    " lead to ",
    " leads to ",
    " end up in ",
    " end up calling ",
    " arrive at ",
    " come to ",
];

/// Whether a word of a how-question only joins both ends of a way, as in `how does a
/// request reach a view`: no source says it of either.
fn only_leads(text: &str, word: &str) -> bool {
    let lower = text.to_lowercase();
    let is_one = |lead: &&&str| lead.split(' ').any(|part| part == word);
    let mut leads = LEADS.iter().filter(is_one);
    lower.starts_with("how ") && leads.any(|lead| lower.contains(lead))
}

/// Both ends in `how does A reach B`, `from A to B` and `A -> B`. At least one of
/// them has to be written as a name, since much else goes from one thing to another.
fn ends(text: &str, names: &[String]) -> Option<(String, String)> {
    let text = text.trim().trim_end_matches(['?', '.', '!']).trim_end();
    let lower = text.to_ascii_lowercase();
    let after = |part: &str| Some(lower.find(part)? + part.len());
    let split = |from: usize, part: &str| {
        let at = from + lower.get(from..)?.find(part)?;
        Some((&text[from..at], &text[at + part.len()..]))
    };
    let arrow = || split(0, "->").or_else(|| text.split_once('→'));
    let how = || {
        let from = lower
            .starts_with("how ")
            .then(|| after(" does ").or_else(|| after(" do ")))??;
        LEADS.iter().find_map(|part| split(from, part))
    };
    let from = || {
        let starts = lower.starts_with("from ").then_some("from ".len());
        split(starts.or_else(|| after(" from "))?, " to ")
    };
    let (a, b) = arrow().or_else(how).or_else(from)?;
    let (a, a_is_name) = end(a, names)?;
    let (b, b_is_name) = end(b, names)?;
    ((a_is_name || b_is_name) && a != b).then_some((a, b))
}

/// The name in a phrase, else its only word; and whether it is a name.
fn end(phrase: &str, names: &[String]) -> Option<(String, bool)> {
    let words: Vec<&str> = phrase
        .split_whitespace()
        .map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
                .trim_end_matches("()")
        })
        .filter(|word| !word.is_empty() && !asks(&word.to_lowercase()))
        .collect();
    let named = words.iter().find(|w| names.iter().any(|name| name == **w));
    match (named, words.as_slice()) {
        (Some(name), _) => Some(((*name).to_owned(), true)),
        (None, [word]) => Some(((*word).to_owned(), false)),
        _ => None,
    }
}

/// A question without its second half, as in `who calls X and what does it call?`.
fn asked_first(text: &str) -> &str {
    const SECOND: &[&str] = &[
        " and what does it call",
        " and what does it use",
        " and what it calls",
        " and what it uses",
        " and what are its callees",
        " and its callees",
    ];
    let lower = text.to_ascii_lowercase();
    let at = SECOND.iter().filter_map(|second| lower.find(second)).min();
    at.map_or(text, |at| &text[..at])
}

/// The one word after what asks, when there is but one.
fn subject(text: &str, intent: Intent) -> Option<String> {
    const BEFORE: &[&str] = &[
        "calls",
        "call",
        "uses",
        "use",
        "invokes",
        "invoke",
        "callers",
        "usages",
        "users",
        "is",
        "does",
        "implements",
        "implement",
        "extends",
        "extend",
        "overrides",
        "override",
        "inherits",
        "inherit",
        "subclasses",
        "subclass",
        "subtypes",
        "implementations",
        "implementors",
        "implementers",
    ];
    const BESIDE: &[&str] = &[
        "from",
        "the",
        "a",
        "an",
        "of",
        "do",
        "mean",
        "for",
        "function",
        "method",
        "class",
        "type",
        "struct",
        "called",
        "used",
        "good",
        "interface",
        "trait",
        "enum",
        "object",
    ];
    if !matches!(intent, Intent::Callers | Intent::Callees | Intent::What) {
        return None;
    }
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "?!,".contains(c) || is_han(c))
        .map(|word| word.trim_matches(['`', '.', '"', '\'', ')', '(']))
        .filter(|word| !word.is_empty())
        .collect();
    let lower = |word: &str| word.to_lowercase();
    let at = words.iter().position(|w| BEFORE.contains(&&*lower(w)))?;
    let others = || {
        let after = words[at + 1..].iter();
        after.filter(|w| !BEFORE.contains(&&*lower(w)))
    };
    let told: Vec<&&str> = others().filter(|w| !BESIDE.contains(w)).collect();
    match (told.as_slice(), intent) {
        ([only], _) => Some((**only).to_owned()),
        // Where nothing else is left, such a word is a name: `Who calls Do?`
        ([], Intent::Callers | Intent::Callees) => {
            let mut all = others();
            let only = all.next()?;
            all.next().is_none().then(|| (*only).to_owned())
        }
        _ => None,
    }
}

/// A last word that else only asks, where a question has no other: `Where is go?`
fn last_word(text: &str) -> Option<String> {
    const BEFORE: &[&str] = &["is", "are", "does", "find", "show", "the"];
    const POINTING: &[&str] = &[
        "here", "it", "me", "that", "there", "these", "they", "this", "those", "you",
    ];
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let [.., before, last] = words.as_slice() else {
        return None;
    };
    let is_one_of = |list: &[&str], word: &str| list.contains(&&*word.to_lowercase());
    let names = is_one_of(BEFORE, before)
        && !is_one_of(POINTING, last)
        && !is_one_of(BEFORE, last)
        && last.chars().any(char::is_alphabetic);
    names.then(|| (*last).to_owned())
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
        "implements",
        "implement",
        "extends",
        "extend",
        "overrides",
        "override",
        "inherits",
        "inherit",
        "subclass",
    ];
    // Nouns for those that do.
    let users = [
        "caller",
        "usages",
        "uses",
        "users",
        "subclasses",
        "subtypes",
        "implementations",
        "implementors",
        "implementers",
    ];
    let used = [
        "called",
        "used",
        "invoked",
        "referenced",
        "overridden",
        "extended",
    ];
    if follows(&["who", "what", "which"], &uses)
        || has("callers")
        || follows(&users, &["of"])
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
    let asks_file = follows(&["which", "what"], &["file", "files", "module"])
        || (has("where") && has("configuration") && has("of"));
    if asks_file {
        return Intent::File;
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
    for token in text.split(|c: char| c.is_whitespace() || "`\"',;?!".contains(c) || is_han(c)) {
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
            stems("How does a request reach a view?"),
            ["request", "view"]
        );
        assert_eq!(stems("How is the end of a file reached?").len(), 3);
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
            ("Who implements Appender?", Intent::Callers),
            ("Which classes extend Base?", Intent::Callers),
            ("What inherits from Base?", Intent::Callers),
            ("What are the subclasses of Base?", Intent::Callers),
            ("What does `run_batch` call?", Intent::Callees),
            ("What is a TurnPlan?", Intent::What),
            ("How are sessions resumed", Intent::How),
            ("session resume", Intent::Where),
            ("Which file has the default settings?", Intent::File),
            ("How does run_batch reach `cap`?", Intent::Way),
            ("from Registry::insert to parse", Intent::Way),
            ("How do bytes get from client to server?", Intent::How),
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
    fn ends_and_subjects_are_told() {
        let ends = |text| Question::read(text).ends;
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(
            ends("How does ExecuteC reach the preRun?"),
            pair("ExecuteC", "preRun")
        );
        assert_eq!(ends("way from `a::b` to park"), pair("a::b", "park"));
        assert_eq!(
            ends("Flask.wsgi_app -> make_response"),
            pair("Flask.wsgi_app", "make_response")
        );
        assert_eq!(ends("How does a task retry itself?"), None);
        let subject = |text| Question::read(text).subject;
        let twofold = Question::read("Who calls grow and what does it call?");
        assert!(twofold.both && twofold.intent == Intent::Callers);
        assert_eq!(twofold.subject.as_deref(), Some("grow"));
        let typed = Question::read("What is the Querier interface?").subject;
        assert_eq!(typed.as_deref(), Some("Querier"));
        assert_eq!(subject("Who calls grow?").as_deref(), Some("grow"));
        assert_eq!(subject("Who calls Do?").as_deref(), Some("Do"));
        assert_eq!(subject("Where is go?").as_deref(), Some("go"));
        assert_eq!(subject("Where is it?"), None);
        assert_eq!(
            subject("What are the subclasses of A?").as_deref(),
            Some("A")
        );
        assert_eq!(subject("What is a Context?").as_deref(), Some("Context"));
        assert_eq!(subject("What is a prepared request?"), None);
    }

    #[test]
    fn a_long_question_keeps_few_terms() {
        let text =
            "alpha beta gamma delta epsilon zeta eta theta iota kappa function code ".repeat(500);
        assert_eq!(Question::read(&text).terms.len(), MAX_TERMS);
    }
}
