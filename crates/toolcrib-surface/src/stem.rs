//! The English stemmer: Porter's second algorithm.
//!
//! Written here because it is small, never changes, and the packaged ones carry
//! a dozen languages or are no longer kept. Words with anything but lower-case
//! ASCII letters pass unchanged, but for those of Cyrillic letters, which lose their
//! endings; so do words of one or two letters.

use crate::endings::{cut_ending, cyrillic};

/// Words the rules would ruin, with the stem they get instead.
const IRREGULAR: [(&str, &str); 18] = [
    ("skis", "ski"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("idly", "idl"),
    ("gently", "gentl"),
    ("ugly", "ugli"),
    ("early", "earli"),
    ("only", "onli"),
    ("singly", "singl"),
    ("sky", "sky"),
    ("news", "news"),
    ("howe", "howe"),
    ("atlas", "atlas"),
    ("cosmos", "cosmos"),
    ("bias", "bias"),
    ("andes", "andes"),
];

/// Beginnings that the regions leave whole.
const FIXED_PREFIX: [&str; 9] = [
    "gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ", "inter",
];

/// Words that stop changing once a plural `s` is gone.
const FIXED_AFTER_PLURAL: [&str; 8] = [
    "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed",
];

const STEP_2: [(&str, &str); 23] = [
    ("ational", "ate"),
    ("fulness", "ful"),
    ("iveness", "ive"),
    ("ization", "ize"),
    ("ousness", "ous"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("tional", "tion"),
    ("ogist", "og"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ation", "ate"),
    ("entli", "ent"),
    ("fulli", "ful"),
    ("iviti", "ive"),
    ("ousli", "ous"),
    ("abli", "able"),
    ("alli", "al"),
    ("anci", "ance"),
    ("ator", "ate"),
    ("enci", "ence"),
    ("izer", "ize"),
    ("bli", "ble"),
];

const STEP_3: [(&str, &str); 8] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];

const STEP_4: [&str; 17] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic",
];

/// Replaces `word` by its stem.
pub(crate) fn stem(word: &mut String) {
    if word.len() <= 2 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        if !word.is_ascii() && cyrillic(word) {
            cut_ending(word);
        }
        return;
    }
    if let Some((_, stem)) = IRREGULAR.iter().find(|(from, _)| from == word) {
        word.clear();
        word.push_str(stem);
        return;
    }
    let mut bytes = std::mem::take(word).into_bytes();
    mark_consonant_y(&mut bytes);
    let (r1, r2) = regions(&bytes);
    plural(&mut bytes);
    if !FIXED_AFTER_PLURAL.iter().any(|w| w.as_bytes() == bytes) {
        past_and_gerund(&mut bytes, r1);
        final_y(&mut bytes);
        step_2(&mut bytes, r1);
        step_3(&mut bytes, r1, r2);
        step_4(&mut bytes, r2);
        step_5(&mut bytes, r1, r2);
    }
    word.extend(bytes.iter().map(|b| b.to_ascii_lowercase() as char));
}

fn vowel(b: u8) -> bool {
    matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// A `y` at the beginning or after a vowel is a consonant, written `Y`.
fn mark_consonant_y(word: &mut [u8]) {
    for i in 0..word.len() {
        if word[i] == b'y' && (i == 0 || vowel(word[i - 1])) {
            word[i] = b'Y';
        }
    }
}

/// Where the regions begin in which suffixes may be cut.
fn regions(word: &[u8]) -> (usize, usize) {
    let after = |from: usize| {
        (from + 1..word.len())
            .find(|&i| vowel(word[i - 1]) && !vowel(word[i]))
            .map_or(word.len(), |i| i + 1)
    };
    let r1 = FIXED_PREFIX
        .iter()
        .find(|p| word.starts_with(p.as_bytes()))
        .map_or_else(|| after(0), |p| p.len());
    (
        r1,
        if r1 < word.len() {
            after(r1)
        } else {
            word.len()
        },
    )
}

fn ends(word: &[u8], suffix: &str) -> bool {
    word.ends_with(suffix.as_bytes())
}

fn cut(word: &mut Vec<u8>, n: usize) {
    word.truncate(word.len() - n);
}

fn has_vowel(word: &[u8]) -> bool {
    word.iter().any(|&b| vowel(b))
}

fn plural(word: &mut Vec<u8>) {
    if ends(word, "sses") {
        cut(word, 2);
    } else if ends(word, "ied") || ends(word, "ies") {
        let short = word.len() <= 4;
        cut(word, if short { 1 } else { 2 });
    } else if ends(word, "s") && !ends(word, "us") && !ends(word, "ss") {
        let stem = word.len().saturating_sub(2);
        if has_vowel(&word[..stem]) {
            cut(word, 1);
        }
    }
}

fn past_and_gerund(word: &mut Vec<u8>, r1: usize) {
    for suffix in ["eedly", "eed"] {
        if ends(word, suffix) {
            if word.len() - suffix.len() >= r1 {
                cut(word, suffix.len() - 2);
            }
            return;
        }
    }
    let Some(suffix) = ["ingly", "edly", "ing", "ed"]
        .iter()
        .find(|s| ends(word, s))
    else {
        return;
    };
    if !has_vowel(&word[..word.len() - suffix.len()]) {
        return;
    }
    cut(word, suffix.len());
    if ends(word, "at") || ends(word, "bl") || ends(word, "iz") {
        word.push(b'e');
    } else if ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"]
        .iter()
        .any(|d| ends(word, d))
    {
        // `add`, `egg` and `off` keep both.
        if !matches!(word[..], [b'a' | b'e' | b'o', _, _]) {
            cut(word, 1);
        }
    } else if r1 >= word.len() && short_syllable(word) {
        word.push(b'e');
    }
}

/// Whether the word ends in a short syllable.
fn short_syllable(word: &[u8]) -> bool {
    match word {
        b"past" => true,
        [a, b] => vowel(*a) && !vowel(*b),
        [.., a, b, c] => !vowel(*a) && vowel(*b) && !vowel(*c) && !matches!(c, b'w' | b'x' | b'Y'),
        _ => false,
    }
}

fn final_y(word: &mut [u8]) {
    if let [_, .., before, last @ (b'y' | b'Y')] = word
        && !vowel(*before)
    {
        *last = b'i';
    }
}

fn step_2(word: &mut Vec<u8>, r1: usize) {
    for (suffix, to) in STEP_2 {
        if ends(word, suffix) {
            if word.len() - suffix.len() >= r1 {
                cut(word, suffix.len());
                word.extend_from_slice(to.as_bytes());
            }
            return;
        }
    }
    let start = word.len().saturating_sub(3);
    if ends(word, "ogi") {
        if start >= r1 && start > 0 && word[start - 1] == b'l' {
            cut(word, 1);
        }
    } else if ends(word, "li") {
        let start = word.len() - 2;
        let valid = start > 0
            && matches!(
                word[start - 1],
                b'c' | b'd' | b'e' | b'g' | b'h' | b'k' | b'm' | b'n' | b'r' | b't'
            );
        if start >= r1 && valid {
            cut(word, 2);
        }
    }
}

fn step_3(word: &mut Vec<u8>, r1: usize, r2: usize) {
    for (suffix, to) in STEP_3 {
        if ends(word, suffix) {
            if word.len() - suffix.len() >= r1 {
                cut(word, suffix.len());
                word.extend_from_slice(to.as_bytes());
            }
            return;
        }
    }
    if ends(word, "ative") && word.len() - 5 >= r2 {
        cut(word, 5);
    }
}

fn step_4(word: &mut Vec<u8>, r2: usize) {
    for suffix in STEP_4 {
        if ends(word, suffix) {
            if word.len() - suffix.len() >= r2 {
                cut(word, suffix.len());
            }
            return;
        }
    }
    if ends(word, "ion") {
        let start = word.len() - 3;
        if start >= r2 && start > 0 && matches!(word[start - 1], b's' | b't') {
            cut(word, 3);
        }
    }
}

fn step_5(word: &mut Vec<u8>, r1: usize, r2: usize) {
    let Some((&last, stem)) = word.split_last() else {
        return;
    };
    let start = stem.len();
    let gone = match last {
        b'e' => start >= r2 || (start >= r1 && !short_syllable(stem)),
        b'l' => start >= r2 && stem.last() == Some(&b'l'),
        _ => false,
    };
    if gone {
        cut(word, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    fn check(pairs: &[(&str, &str)]) {
        for (word, expected) in pairs {
            let mut word = (*word).to_owned();
            stem(&mut word);
            assert_eq!(word, *expected);
        }
    }

    #[test]
    fn forms_of_one_word_meet() {
        check(&[
            ("repositories", "repositori"),
            ("repository", "repositori"),
            ("searching", "search"),
            ("searches", "search"),
            ("created", "creat"),
            ("create", "creat"),
            ("creating", "creat"),
            ("scheduled", "schedul"),
            ("flights", "flight"),
            ("charges", "charg"),
            ("hopping", "hop"),
            ("hoping", "hope"),
            ("ties", "tie"),
            ("cries", "cri"),
            ("weekly", "week"),
            ("happily", "happili"),
            ("sensational", "sensat"),
            ("generalization", "general"),
            ("conditional", "condit"),
            ("apologies", "apolog"),
            ("controlling", "control"),
            ("agreed", "agre"),
            ("feed", "feed"),
            ("says", "say"),
            ("boyish", "boyish"),
            ("news", "news"),
            ("exceeds", "exceed"),
            ("added", "add"),
            ("internal", "internal"),
            ("organizations", "organiz"),
            ("pasting", "paste"),
            ("psychologist", "psycholog"),
        ]);
    }

    #[test]
    fn words_without_a_rule_stay() {
        check(&[
            ("s3", "s3"),
            ("is", "is"),
            ("gas", "gas"),
            ("日本", "日本"),
            ("über", "über"),
            ("", ""),
        ]);
    }
}
