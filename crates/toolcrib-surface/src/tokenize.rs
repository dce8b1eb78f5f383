//! Words of tool texts and of queries.
//!
//! Both sides are cut the same way: at Unicode word boundaries, at separators
//! and at changes of case. A compound (`GitHub`, `oauth2`) is reported with its
//! parts, and the reader chooses: an index takes all of them, a query the whole
//! where the index knows it and the parts otherwise. Scripts written without
//! spaces become pairs of neighbouring characters.

use unicode_segmentation::UnicodeSegmentation;

/// Longest word in bytes; what is longer is data, not language.
const MAX_WORD: usize = 64;

/// How one reported word relates to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A word by itself; `true` when parts of it follow.
    Whole(bool),
    /// A part of the compound reported last.
    Part,
    /// Two neighbouring parts of that compound, joined.
    Joined,
}

/// Reports each word of `text` in lower case, in order.
pub(crate) fn words(text: &str, mut emit: impl FnMut(&str, Piece)) {
    let mut scratch = Scratch::default();
    if text.is_ascii() {
        for run in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '\'') {
            scratch.compound(run, &mut emit);
        }
        return;
    }
    let mut rest = text;
    while let Some(start) = rest.find(unspaced) {
        scratch.spaced(&rest[..start], &mut emit);
        let tail = &rest[start..];
        let end = tail.find(|c| !unspaced(c)).unwrap_or(tail.len());
        scratch.pairs(&tail[..end], &mut emit);
        rest = &tail[end..];
    }
    scratch.spaced(rest, &mut emit);
}

/// Ideographs, kana and Hangul: scripts where a run of letters is no single word.
fn unspaced(c: char) -> bool {
    matches!(c as u32,
        0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[derive(Default)]
struct Scratch {
    whole: String,
    part: String,
    cuts: Vec<usize>,
}

impl Scratch {
    fn spaced(&mut self, text: &str, emit: &mut impl FnMut(&str, Piece)) {
        for word in text.unicode_words() {
            let plain = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '\'';
            for run in word.split(plain) {
                self.compound(run, emit);
            }
        }
    }

    fn pairs(&mut self, run: &str, emit: &mut impl FnMut(&str, Piece)) {
        let ends: Vec<usize> = run.char_indices().map(|(i, c)| i + c.len_utf8()).collect();
        if ends.len() == 1 {
            emit(run, Piece::Whole(false));
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        for (start, end) in starts.zip(ends.iter().skip(1)) {
            emit(&run[start..*end], Piece::Whole(false));
        }
    }

    /// One run of letters and digits, perhaps with apostrophes and inner capitals.
    fn compound(&mut self, run: &str, emit: &mut impl FnMut(&str, Piece)) {
        let run = run.trim_matches(['\'', '\u{2019}']);
        let run = ["'s", "'S", "\u{2019}s"]
            .iter()
            .find_map(|s| run.strip_suffix(s))
            .unwrap_or(run);
        if run.is_empty() || run.len() > MAX_WORD {
            return;
        }
        // Most runs are a word as they stand.
        if run.bytes().all(|b| b.is_ascii_lowercase()) {
            return emit(run, Piece::Whole(false));
        }
        self.whole.clear();
        self.cuts.clear();
        self.cuts.push(0);
        let mut before = ' ';
        let mut letters = 0;
        let mut chars = run.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' || c == '\u{2019}' {
                continue;
            }
            let next_lower = chars.peek().is_some_and(|n| n.is_lowercase());
            let up = c.is_uppercase()
                && (before.is_lowercase()
                    || (next_lower && (before.is_uppercase() || before.is_numeric())));
            let digits = c.is_ascii_digit() && before.is_alphabetic() && letters >= 4;
            let at = self.whole.len();
            if (up || digits) && at > 0 {
                self.cuts.push(at);
            }
            letters = if c.is_alphabetic() && !up {
                letters + 1
            } else {
                usize::from(up)
            };
            self.whole.extend(c.to_lowercase());
            before = c;
        }
        if self.whole.is_empty() {
            return;
        }
        emit(&self.whole, Piece::Whole(self.cuts.len() > 1));
        if self.cuts.len() < 2 {
            return;
        }
        self.cuts.push(self.whole.len());
        for cut in self.cuts.windows(2) {
            self.part.clear();
            self.part.push_str(&self.whole[cut[0]..cut[1]]);
            emit(&self.part, Piece::Part);
        }
        if self.cuts.len() > 3 {
            for cut in self.cuts.windows(3) {
                self.part.clear();
                self.part.push_str(&self.whole[cut[0]..cut[2]]);
                emit(&self.part, Piece::Joined);
            }
        }
    }
}

/// Words that carry no meaning in a tool's text, sorted.
const FUNCTION_WORDS: [&str; 78] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "both", "but", "by", "did", "do", "does", "doing", "each", "etc",
    "for", "from", "had", "has", "have", "having", "how", "if", "in", "into", "is", "it", "its",
    "itself", "may", "more", "most", "must", "no", "nor", "not", "of", "on", "only", "or", "other",
    "our", "own", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "to", "too", "very", "was", "were", "which", "will",
    "with", "would", "your",
];

/// Words of talking to someone, ignored in a query alone, sorted.
const TALK_WORDS: [&str; 92] = [
    "actually",
    "additionally",
    "am",
    "anyone",
    "anything",
    "around",
    "asap",
    "assist",
    "can",
    "cant",
    "com",
    "could",
    "couldnt",
    "didnt",
    "doesnt",
    "dont",
    "everything",
    "furthermore",
    "give",
    "go",
    "going",
    "got",
    "he",
    "hello",
    "help",
    "helpful",
    "her",
    "here",
    "hey",
    "hi",
    "him",
    "his",
    "http",
    "https",
    "i",
    "id",
    "ill",
    "im",
    "interested",
    "isnt",
    "ive",
    "just",
    "kindly",
    "know",
    "let",
    "lets",
    "like",
    "looking",
    "make",
    "me",
    "moreover",
    "my",
    "myself",
    "need",
    "needs",
    "now",
    "ok",
    "okay",
    "out",
    "over",
    "please",
    "provide",
    "really",
    "she",
    "something",
    "sure",
    "tell",
    "thank",
    "thanks",
    "thing",
    "things",
    "tool",
    "tools",
    "try",
    "up",
    "us",
    "use",
    "using",
    "want",
    "wants",
    "we",
    "what",
    "whats",
    "when",
    "where",
    "who",
    "whose",
    "why",
    "wondering",
    "www",
    "yes",
    "you",
];

/// Whether a lower-case word says nothing about a tool.
pub(crate) fn function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// Whether a lower-case word of a query is talk rather than need.
pub(crate) fn talk_word(word: &str) -> bool {
    TALK_WORDS.binary_search(&word).is_ok()
}

/// The words of `text` as an index keeps them: lower case, stemmed, without
/// function words, compounds followed by their parts.
pub fn stemmed_words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    words(text, |word, piece| {
        if piece != Piece::Joined && !function_word(word) {
            let mut word = word.to_owned();
            crate::stem::stem(&mut word);
            all.push(word);
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        let mut all = Vec::new();
        words(text, |word, piece| {
            all.push(match piece {
                Piece::Whole(_) => word.to_owned(),
                Piece::Part => format!("/{word}"),
                Piece::Joined => format!("+{word}"),
            });
        });
        all.join(" ")
    }

    #[test]
    fn lists_are_sorted() {
        assert!(FUNCTION_WORDS.is_sorted());
        assert!(TALK_WORDS.is_sorted());
    }

    #[test]
    fn separators_case_and_digits() {
        insta::assert_snapshot!(cut("web_fetch fs.read a-b/c"), @"web fetch fs read a b c");
        insta::assert_snapshot!(cut("parseHTTPReply"), @"parsehttpreply /parse /http /reply +parsehttp +httpreply");
        insta::assert_snapshot!(cut("GitHub's issue"), @"github /git /hub issue");
        insta::assert_snapshot!(cut("S3 md5 oauth2 EC2Instance"), @"s3 md5 oauth2 /oauth /2 ec2instance /ec2 /instance");
        insta::assert_snapshot!(cut("don't 'quote'"), @"dont quote");
    }

    #[test]
    fn other_scripts() {
        insta::assert_snapshot!(cut("查询天气 now"), @"查询 询天 天气 now");
        insta::assert_snapshot!(cut("Straße naïve — ñ"), @"straße naïve ñ");
        insta::assert_snapshot!(cut("हिन्दी ok"), @"हिन्दी ok");
        insta::assert_snapshot!(cut("a火b"), @"a 火 b");
    }

    #[test]
    fn nothing_to_say() {
        for text in ["", "-", "--", ".", "_", "  \t", "'", "\u{0}\u{1b}"] {
            assert_eq!(cut(text), "");
        }
    }
}
