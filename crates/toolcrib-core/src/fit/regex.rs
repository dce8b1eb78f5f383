//! Whether a pattern is a regular expression to whoever may read it.
//!
//! An API refuses a whole request for one pattern that its own engine does not take, and
//! says not which engine that is: some are those of browsers, others that of Python. So
//! what one of the two refuses is no pattern here. Not for matching anything.

/// What a group was opened as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Captures,
    Plain,
    /// A look ahead or behind, which cannot be repeated.
    Looks,
}

/// Whether both read `pattern`. Takes time linear in its length.
pub(super) fn is_portable(pattern: &str) -> bool {
    Reader {
        rest: pattern,
        groups: Vec::new(),
        captured: 0,
    }
    .reads()
}

struct Reader<'a> {
    rest: &'a str,
    groups: Vec<Group>,
    /// Capturing groups that are closed.
    captured: u32,
}

impl Reader<'_> {
    fn reads(mut self) -> bool {
        // Whether there is something that a quantifier could repeat.
        let mut repeatable = false;
        while let Some(c) = self.next() {
            let read = match c {
                '\\' => self.escape(),
                '[' => self.class().then_some(true),
                '(' => self.open(),
                ')' => self.close(),
                '*' | '+' | '?' => self.repeat(repeatable),
                '{' => match self.counts() {
                    None => Some(true),
                    Some(ordered) => self.repeat(repeatable && ordered),
                },
                '|' | '^' | '$' => Some(false),
                _ => Some(true),
            };
            match read {
                Some(now) => repeatable = now,
                None => return false,
            }
        }
        self.groups.is_empty()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn repeat(&mut self, repeatable: bool) -> Option<bool> {
        self.eat("?");
        repeatable.then_some(false)
    }

    /// `2}`, `2,}` and `2,5}` after a brace, and whether they are in order; `None` for
    /// anything else, which stands for itself.
    fn counts(&mut self) -> Option<bool> {
        const LONGEST: usize = 24;
        let near = &self.rest[..self.rest.floor_char_boundary(LONGEST)];
        let (inside, _) = near.split_once('}')?;
        let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if least.is_empty() || !digits(least) || !digits(most) {
            return None;
        }
        self.rest = &self.rest[inside.len() + 1..];
        let number = |text: &str| text.parse::<u32>().ok();
        let most = match most {
            "" => Some(u32::MAX),
            most => number(most),
        };
        let ordered = number(least).zip(most);
        Some(ordered.is_some_and(|(least, most)| least <= most))
    }

    fn open(&mut self) -> Option<bool> {
        let group = if !self.eat("?") {
            Group::Captures
        } else if self.eat(":") {
            Group::Plain
        } else if ["=", "!", "<=", "<!"].iter().any(|look| self.eat(look)) {
            Group::Looks
        } else {
            // Names and flags are written differently.
            return None;
        };
        self.groups.push(group);
        Some(false)
    }

    fn close(&mut self) -> Option<bool> {
        let group = self.groups.pop()?;
        self.captured += u32::from(group == Group::Captures);
        Some(group != Group::Looks)
    }

    /// After a backslash outside of a class; whether it can be repeated.
    fn escape(&mut self) -> Option<bool> {
        let c = self.next()?;
        match c {
            'b' | 'B' => Some(false),
            '1'..='9' => (c.to_digit(10)? <= self.captured).then_some(true),
            _ => self.escaped(c).then_some(true),
        }
    }

    /// Whether `c` means something after a backslash, and takes the digits that it needs.
    fn escaped(&mut self, c: char) -> bool {
        let digits = match c {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'f' | 'n' | 'r' | 't' | 'v' | '0' => return true,
            'x' => 2,
            'u' => 4,
            _ => return !c.is_ascii_alphanumeric(),
        };
        let number = self.rest.get(..digits).unwrap_or("");
        self.rest = self.rest.get(digits..).unwrap_or("");
        number.len() == digits && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// The rest of a class; whether it is one.
    fn class(&mut self) -> bool {
        self.eat("^");
        if self.rest.starts_with(']') {
            // Nothing to some, a bracket to others.
            return false;
        }
        loop {
            let Some(low) = self.member() else {
                return false;
            };
            let Some(low) = low else {
                return true;
            };
            if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
                continue;
            }
            self.eat("-");
            match (low, self.member()) {
                (Some(low), Some(Some(Some(high)))) if low <= high => {}
                _ => return false,
            }
        }
    }

    /// One member of a class: `None` where the class is broken, then `None` at its end,
    /// then the character, or `None` for several.
    fn member(&mut self) -> Option<Option<Option<char>>> {
        match self.next()? {
            ']' => Some(None),
            '\\' => {
                let before = self.rest;
                let c = self.next()?;
                let known = c == 'b' || self.escaped(c);
                let digits = &before[c.len_utf8()..before.len() - self.rest.len()];
                let one = match c {
                    'd' | 'D' | 's' | 'S' | 'w' | 'W' => None,
                    'x' | 'u' => {
                        let number = u32::from_str_radix(digits, 16).ok();
                        Some(number.and_then(char::from_u32).unwrap_or(char::MAX))
                    }
                    'b' => Some('\u{8}'),
                    'f' => Some('\u{c}'),
                    'n' => Some('\n'),
                    'r' => Some('\r'),
                    't' => Some('\t'),
                    'v' => Some('\u{b}'),
                    '0' => Some('\0'),
                    c => Some(c),
                };
                known.then_some(Some(one))
            }
            c => Some(Some(Some(c))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_one_engine_refuses_is_no_pattern() {
        for pattern in [
            "",
            "^[a-z]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            "a|b",
            "(?:a|b)*?",
            r"(a)\1",
            "[^\\]]",
            "a{2,}?",
            "{}",
            "^{.*}$",
            "a{,3}",
            "(?=a)b",
            "(?<!a)b",
            r"[\w-]",
            r"[-\w]",
            "[a-]",
            r"\u00e9\x41",
            r"[\u0020-\u007e]",
            r"[\t-\r]",
            "天+",
            r"\/\-\.",
            "[[]",
            "]",
            "}",
        ] {
            assert!(is_portable(pattern), "{pattern}");
        }
        for pattern in [
            "[a-z",
            "(",
            ")",
            "a)",
            "(a",
            "*a",
            "+",
            "a**",
            "a{3,2}",
            "^*",
            r"\",
            r"[\",
            "[z-a]",
            "[]",
            "[]a]",
            r"[\w-.]",
            r"[a-\d]",
            r"\p{L}",
            "(?i)a",
            "(?P<n>a)",
            "(?<n>a)",
            "(?=a)*",
            "|*",
            "(*)",
            r"\1",
            r"\xg0",
            r"\u00",
            r"\z",
            "a{99999999999}",
            "(?",
            r"\b+",
        ] {
            assert!(!is_portable(pattern), "{pattern}");
        }
        assert!(!is_portable(&"(".repeat(1_000_000)));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(pattern in r"[\[\](){}?*+|^$\\a-z0-9,<=!:é-]{0,40}") {
            is_portable(&pattern);
        }
    }
}
