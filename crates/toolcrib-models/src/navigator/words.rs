//! Words of questions, names and prose, made comparable.
//!
//! A light English stemmer and a short list of words that programmers use for
//! one another. Both only widen a search; what is shown is the source's own
//! wording.

/// Calls `each` with every lower-case word of a text: split at anything that is
/// not a letter or digit, and at the humps of `camelCase`.
pub(super) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut previous: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let hump = previous.is_some_and(|p| {
            c.is_uppercase()
                && (p.is_lowercase()
                    || p.is_numeric()
                    || (p.is_uppercase()
                        && chars.peek().is_some_and(|n| n.is_lowercase())
                        && !ends_plural(chars.clone())))
        });
        if (hump || !c.is_alphanumeric()) && !word.is_empty() {
            each(&word);
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        previous = Some(c);
    }
    if !word.is_empty() {
        each(&word);
    }
}

/// Whether what follows is the `s` of `URLs` and no more.
fn ends_plural(mut rest: impl Iterator<Item = char>) -> bool {
    rest.next() == Some('s') && !rest.next().is_some_and(char::is_lowercase)
}

/// The words of a text, in order.
#[cfg(test)]
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, |word| found.push(word.to_owned()));
    found
}

/// Forms that no suffix tells, sorted.
const IRREGULAR: &[(&str, &str)] = &[
    ("became", "become"),
    ("began", "begin"),
    ("begun", "begin"),
    ("bound", "bind"),
    ("broke", "break"),
    ("broken", "break"),
    ("built", "build"),
    ("caught", "catch"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("drawn", "draw"),
    ("driven", "drive"),
    ("fed", "feed"),
    ("forgotten", "forget"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("given", "give"),
    ("held", "hold"),
    ("hidden", "hide"),
    ("kept", "keep"),
    ("lost", "lose"),
    ("meant", "mean"),
    ("paid", "pay"),
    ("ran", "run"),
    ("sent", "send"),
    ("shrank", "shrink"),
    ("shrunk", "shrink"),
    ("spent", "spend"),
    ("spoken", "speak"),
    ("stolen", "steal"),
    ("stuck", "stick"),
    ("taken", "take"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("understood", "understand"),
    ("woken", "wake"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Brings the common inflections of an English word to one form, as in
/// `truncated`, `truncates`, `truncation` -> `truncat`.
pub(super) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() {
        return word.to_owned();
    }
    let word = match IRREGULAR.binary_search_by(|(form, _)| (*form).cmp(word)) {
        Ok(at) => IRREGULAR[at].1,
        Err(_) => word,
    };
    let mut stem = plural(word);
    for (suffix, least) in [("ingly", 3), ("edly", 3), ("ing", 3), ("ied", 2), ("ed", 3)] {
        if let Some(rest) = stem.strip_suffix(suffix)
            && rest.len() >= least
            && rest.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        {
            stem = if suffix == "ied" {
                format!("{rest}y")
            } else {
                undouble(rest)
            };
            break;
        }
    }
    american(&mut stem);
    // Nouns of their own, unlike `editor`; without their ends they would be `column`
    // and `state` too.
    if matches!(&*stem, "color" | "statement") {
        return stem;
    }
    for (suffix, least) in [
        ("ation", 3),
        ("ness", 4),
        ("ment", 4),
        ("able", 4),
        ("ible", 4),
        ("er", 3),
        ("or", 3),
        ("ly", 4),
    ] {
        if let Some(rest) = stem.strip_suffix(suffix)
            && rest.len() >= least
        {
            let ation = if suffix == "ation" { "at" } else { "" };
            stem = undouble(&format!("{rest}{ation}"));
            break;
        }
    }
    if stem.len() > 5 && (stem.ends_with("tion") || stem.ends_with("sion")) {
        stem.truncate(stem.len() - 3);
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    american(&mut stem);
    if stem.len() > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

/// `colour` -> `color`, `normalis` -> `normaliz`.
fn american(stem: &mut String) {
    if stem.len() > 5 && stem.ends_with("our") {
        stem.truncate(stem.len() - 2);
        stem.push('r');
    }
    let ends = ["alis", "imis", "oris", "anis", "onis", "gnis"];
    if stem.len() > 6 && ends.iter().any(|end| stem.ends_with(end)) {
        stem.pop();
        stem.push('z');
    }
}

fn plural(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies")
        && rest.len() > 1
    {
        return format!("{rest}y");
    }
    for (suffix, keep) in [("sses", 2), ("shes", 2), ("ches", 2), ("xes", 1)] {
        if word.ends_with(suffix) {
            return word[..word.len() - suffix.len() + keep].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// `cutt` -> `cut`, but `fall` and `pass` stay.
fn undouble(stem: &str) -> String {
    let bytes = stem.as_bytes();
    let n = bytes.len();
    let doubled = n > 3 && bytes[n - 1] == bytes[n - 2] && !b"lsz".contains(&bytes[n - 1]);
    stem[..n - usize::from(doubled)].to_owned()
}

/// What a stem's words begin with, for searches by prefix.
pub(super) fn prefix(stem: &str) -> &str {
    match stem.strip_suffix('i') {
        Some(rest) if rest.len() >= 3 => rest,
        _ => stem,
    }
}

/// Words that ask rather than say what about.
const ASKING: &[&str] = &[
    "a",
    "about",
    "all",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "between",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "done",
    "during",
    "each",
    "ever",
    "every",
    "exactly",
    "find",
    "for",
    "from",
    "get",
    "gets",
    "give",
    "go",
    "goes",
    "had",
    "happen",
    "happens",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "kind",
    "let",
    "made",
    "make",
    "me",
    "my",
    "of",
    "on",
    "one",
    "or",
    "our",
    "out",
    "place",
    "please",
    "project",
    "repo",
    "repository",
    "responsible",
    "should",
    "show",
    "so",
    "some",
    "sort",
    "take",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "up",
    "was",
    "way",
    "we",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "who",
    "why",
    "will",
    "with",
    "you",
];

/// Whether a word only asks.
pub(super) fn asks(word: &str) -> bool {
    ASKING.binary_search(&word).is_ok()
}

/// Words that only join others. They find names such as `run_after`, but that a
/// place has them is no evidence that it answers.
const JOINING: &[&str] = &[
    "after", "against", "among", "because", "before", "both", "but", "just", "like", "may", "must",
    "neither", "no", "nor", "not", "only", "over", "per", "several", "since", "still", "such",
    "under", "until", "upon", "very", "via", "were", "while", "whom", "whose", "within", "without",
    "would", "yet",
];

/// Whether a word only joins others.
pub(super) fn joins(word: &str) -> bool {
    JOINING.binary_search(&word).is_ok()
}

/// Words so common in talk about code that they hardly tell places apart.
const WEAK: &[&str] = &[
    "call",
    "called",
    "caller",
    "callers",
    "calls",
    "class",
    "code",
    "decide",
    "decided",
    "defined",
    "definition",
    "determined",
    "done",
    "file",
    "files",
    "function",
    "functions",
    "handled",
    "happening",
    "implementation",
    "implemented",
    "method",
    "methods",
    "module",
    "notice",
    "type",
    "use",
    "used",
    "uses",
    "work",
];

/// How much a word of a question counts beside its rarity.
pub(super) fn weight(word: &str) -> f64 {
    if WEAK.contains(&word) || word == "works" {
        0.3
    } else {
        1.0
    }
}

/// Words that programmers use for one another, as stems.
const ALIKE: &[&[&str]] = &[
    &["truncat", "cut", "cap", "clip", "trim", "shorten", "limit"],
    &[
        "delet", "remov", "drop", "eras", "purg", "discard", "strip", "clear", "clean",
    ],
    &["creat", "build", "construct", "new", "make", "generat"],
    &["fetch", "load", "retriev", "read", "download"],
    &["sav", "stor", "writ", "persist", "keep", "dump"],
    &["pars", "decod", "deserializ", "loads", "interpret"],
    &["serializ", "encod", "dump", "render"],
    &[
        "send", "emit", "dispatch", "post", "submit", "transmit", "deliver",
    ],
    &["start", "begin", "launch", "spawn", "boot", "init"],
    &[
        "stop", "shutdown", "clos", "terminat", "kill", "exit", "quit",
    ],
    &["check", "validat", "verifi", "ensur", "assert"],
    &["retri", "backoff", "reattempt", "again", "attempt"],
    &["fail", "err", "exception", "fault", "rais", "panic"],
    &[
        "config",
        "configur",
        "sett",
        "option",
        "configuration",
        "prefer",
    ],
    &["rout", "url", "endpoint"],
    &["path", "rout", "file"],
    &[
        "authenticat",
        "auth",
        "login",
        "credential",
        "password",
        "usernam",
        "sign",
    ],
    &["secret", "password", "credential", "sensitiv", "token"],
    &["compar", "diff", "equal"],
    &[
        "search", "lookup", "find", "match", "locat", "resolv", "detect", "discover",
    ],
    &["sort", "order", "rank"],
    &["merg", "combin", "join", "concat"],
    &["copi", "clon", "duplicat"],
    &["cach", "memoiz", "lru"],
    &["timeout", "deadlin", "expir", "wait", "delai"],
    &["cancel", "abort", "interrupt"],
    &["directori", "fold", "dir"],
    &["argument", "param", "arg", "paramet"],
    &["messag", "msg", "text"],
    &["connect", "conn", "socket"],
    &["convert", "transform", "cast", "coerc", "turn", "process"],
    &["regist", "add", "insert", "attach", "mount"],
    &["environment", "env", "environ", "envvar"],
    &["ignor", "exclud", "skip", "omit", "filt", "left"],
    &["print", "display", "output", "show", "echo", "writ"],
    &["execut", "run", "invok", "call"],
    &["lock", "mutex", "synchroniz"],
    &["compress", "gzip", "zip", "deflat"],
    &["unpack", "decompress", "decod", "extract"],
    &["hid", "obfuscat", "mask", "redact", "conceal", "hidden"],
    &[
        "mistyp",
        "typo",
        "suggest",
        "similar",
        "misspel",
        "suggestion",
        "possibil",
    ],
    &["large", "big", "siz", "max", "huge"],
    &["small", "tini", "min"],
    &["limit", "max", "most", "exceed", "limited"],
    &["nest", "depth", "recurs", "recursion", "level"],
    &["colour", "color"],
    &["wide", "width", "cell", "column"],
    &["narrow", "shrink", "collaps", "reduc"],
    &["break", "wrap", "split", "divid", "fold"],
    &["tag", "markup"],
    &["ask", "prompt", "question"],
    &["twic", "confirm", "confirmation", "repeat"],
    &["conflict", "exclusiv", "exclud", "incompat"],
    &["decid", "determin", "choos", "select", "pick"],
    &["guess", "detect", "infer", "sniff"],
    &["comput", "calculat", "measur"],
    &["shar", "steal", "balanc"],
    &["worker", "thread"],
    &["steal", "tak"],
    &["link", "symlink"],
    &["loop", "cycl", "circular"],
    &["idl", "park", "sleep", "unpark"],
    &["interval", "period", "tick"],
    &["broadcast", "publish"],
    &["slow", "lag", "lagg", "behind"],
    &["child", "subprocess", "process"],
    &["zombi", "orphan", "reap"],
    &["yield", "coop", "budget", "preempt"],
    &["charset", "encod"],
    &["host", "domain", "origin"],
    &["redirect", "follow"],
    &["certificat", "cert", "ssl", "tls"],
    &["upload", "file", "multipart"],
    &["form", "multipart", "body"],
    &["body", "content", "payload"],
    &["compil", "regex", "pattern"],
    &["catch", "handl", "handler"],
    &["debug", "trac", "log"],
    &["escap", "quot", "special"],
    &["indent", "pretti"],
    &["number", "integ", "num", "digit"],
    &["string", "str", "text"],
    &["list", "array", "vec", "sequenc"],
    &["map", "dict", "object", "hash"],
    &["hook", "callback", "event", "signal", "listen"],
    &["permission", "access", "author", "allow"],
    &["plugin", "extension", "addon"],
    &["schedul", "queue", "task"],
    &["job", "task"],
    &["memori", "alloc", "heap", "buff"],
    &["pool", "reus"],
    &["version", "releas"],
    &["user", "account"],
    &["translat", "local", "i18n", "l10n", "languag"],
    &["date", "time", "datetim"],
    &["upgrad", "migrat", "migration"],
    &["rollback", "undo", "revert"],
    &["transaction", "atomic", "commit"],
    &["email", "mail", "smtp"],
    &["templat", "render"],
    &["static", "asset"],
    &["field", "column", "attribut"],
    &["tabl", "model"],
    &["databas", "db", "sql"],
    &["session", "cooki"],
    &["request", "req"],
    &["respons", "resp", "repli", "answer"],
    &["head", "header"],
    &["proxi", "tunnel"],
    &["stream", "chunk"],
    &["position", "offset"],
    &["line", "row"],
    &["dependenc", "depend", "requir"],
    &["instal", "setup"],
    &["cli", "command"],
    &["flag", "option", "switch"],
    &["default", "fallback"],
    &["uniqu", "distinct", "dedup"],
    &["protect", "guard", "secur", "safe", "csrf"],
    &["count", "total", "num"],
    &["draw", "render", "paint"],
    &["mov", "renam"],
    &["watch", "monitor", "observ"],
    &["notifi", "signal", "wak"],
    &["lazi", "defer"],
    &["eager", "immediat"],
    &["wait", "block", "park"],
    &["allow", "permit", "enabl"],
    &["forbid", "den", "reject", "refus", "disallow"],
    &["replac", "substitut"],
    &["known", "suppor"],
    &["overflow", "exceed"],
    &["spell", "mistyp", "suggest"],
];

/// Stems that may stand for this one in code, each once.
pub(super) fn alike(stem: &str) -> impl Iterator<Item = &'static str> + '_ {
    let groups = move || ALIKE.iter().filter(move |group| group.contains(&stem));
    groups().enumerate().flat_map(move |(at, group)| {
        let earlier = move |other: &str| groups().take(at).any(|group| group.contains(&other));
        group
            .iter()
            .copied()
            .filter(move |other| *other != stem && !earlier(other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plural_of_a_word_in_capitals_is_one_word() {
        assert_eq!(
            words("What URLs of HTTPServer?"),
            ["what", "urls", "of", "http", "server"]
        );
        assert_eq!(
            words("URLsFor getIDs XMLStream"),
            ["urls", "for", "get", "ids", "xml", "stream"]
        );
    }

    #[test]
    fn inflections_of_a_word_meet() {
        for family in [
            &[
                "truncate",
                "truncated",
                "truncates",
                "truncating",
                "truncation",
            ][..],
            &["retry", "retries", "retried", "retrying"],
            &["parse", "parser", "parsing", "parsed", "parses"],
            &["cut", "cuts", "cutting"],
            &["handle", "handler", "handled", "handling"],
            &["match", "matches", "matching"],
            &["validate", "validation", "validator"],
            &["directory", "directories"],
            &["class", "classes"],
            &["shrink", "shrunk", "shrinks"],
            &["colour", "color", "colours"],
            &["normalise", "normalize", "normalised"],
        ] {
            let stems: Vec<_> = family.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|s| *s == stems[0]), "{stems:?}");
            // What is searched by finds the plain form at least.
            assert!(
                family
                    .iter()
                    .any(|word| word.starts_with(prefix(&stems[0])))
            );
        }
        assert_eq!(stem("status"), "status");
        assert_ne!(stem("statements"), stem("states"));
        assert_eq!(stem("größe"), "größe");
    }

    #[test]
    fn lists_are_in_the_form_they_are_searched_in() {
        assert!(ASKING.is_sorted() && JOINING.is_sorted() && IRREGULAR.is_sorted());
        for word in ALIKE.iter().flat_map(|group| group.iter()) {
            assert!(*word == word.to_lowercase());
        }
    }

    #[test]
    fn humps_and_separators_split() {
        assert_eq!(
            words("HTTPServer::read_to_end(x2)"),
            ["http", "server", "read", "to", "end", "x2"]
        );
    }
}
