//! What is left of a file when the bodies of its functions are blank.
//!
//! A statement that a grammar does not know can cost the class around it. What a
//! file defines is mostly said outside of bodies, so that a file with errors is
//! parsed a second time without them. Only braces, strings and comments are told
//! apart here, in the manner of all languages with braces; bytes keep their
//! places.

/// Words behind which a brace holds no definitions of the outer type.
const FUNCTIONS: &[&str] = &[
    "def", "fn", "fun", "func", "function", "init", "let", "operator", "val", "var",
];

/// The text with blanks for whatever is in braces that no type opens; `types` are
/// the words that declare one.
pub(super) fn skeleton(text: &str, types: &[&str]) -> String {
    let source = text.as_bytes();
    let mut bytes = source.to_vec();
    // Whether each open brace is a type's.
    let mut open: Vec<bool> = Vec::new();
    // The outermost body around, and where what is blank of it begins.
    let mut blank: Option<(usize, usize)> = None;
    let mut declares = false;
    let mut parens = 0u32;
    let mut before = b' ';
    let mut at = 0;
    while at < source.len() {
        let byte = source[at];
        let start = at;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'/' if source.get(at + 1) == Some(&b'/') => {
                at = memchr::memchr(b'\n', &source[at..]).map_or(source.len(), |n| at + n);
                continue;
            }
            b'/' if source.get(at + 1) == Some(&b'*') => {
                at = memchr::memmem::find(&source[at + 2..], b"*/")
                    .map_or(source.len(), |n| at + n + 4);
                continue;
            }
            b'"' | b'\'' => at = quoted(source, at),
            b'(' | b'[' => {
                parens += 1;
                at += 1;
            }
            b')' | b']' => {
                parens = parens.saturating_sub(1);
                at += 1;
            }
            b'{' => {
                at += 1;
                let is_type = declares && parens == 0 && blank.is_none();
                open.push(is_type);
                if !is_type && blank.is_none() {
                    blank = Some((open.len(), at));
                }
                if is_type {
                    declares = false;
                }
            }
            b'}' => {
                at += 1;
                if let Some((_, from)) = blank.filter(|(depth, _)| *depth == open.len()) {
                    for byte in &mut bytes[from..start] {
                        if *byte != b'\n' {
                            *byte = b' ';
                        }
                    }
                    blank = None;
                }
                open.pop();
                if blank.is_none() {
                    parens = 0;
                }
            }
            b';' => {
                declares = false;
                at += 1;
            }
            byte if is_word(byte) => {
                while at < source.len() && is_word(source[at]) {
                    at += 1;
                }
                let word = &text[start..at];
                if types.contains(&word) {
                    declares |= !matches!(before, b':' | b',' | b'.');
                } else if FUNCTIONS.contains(&word) {
                    declares = false;
                }
            }
            _ => at += 1,
        }
        before = byte;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_string())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A string of one line, or one between three quotes.
fn quoted(source: &[u8], at: usize) -> usize {
    let quote = source[at];
    if source[at..].starts_with(b"\"\"\"") {
        return memchr::memmem::find(&source[at + 3..], b"\"\"\"")
            .map_or(source.len(), |n| at + n + 6);
    }
    let mut at = at + 1;
    while at < source.len() {
        match source[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::skeleton;

    #[test]
    fn bodies_are_blank_and_types_are_not() {
        let types = ["class", "enum", "extension"];
        for (text, expected) in [
            (
                "class A { func f() { g { 1 } } var x = 1 }",
                "class A { func f() { } var x = 1 }",
            ),
            (
                "class A { class func f() { g() } }",
                "class A { class func f() { } }",
            ),
            (
                "func f() { class B {} }\nclass C { enum D { a } }",
                "func f() { } class C { enum D { a } }",
            ),
            (
                "void F<T>() where T : class { g(); }",
                "void F<T>() where T : class { }",
            ),
            (
                "class A { let s = \"}\" /* } */ // }\n func f() { \"{\" } }",
                "class A { let s = \"}\" /* } */ // } func f() { } }",
            ),
            ("class A(x: { 1 }) { f }", "class A(x: { }) { f }"),
            ("}} class A { f", "}} class A { f"),
        ] {
            let out = skeleton(text, &types);
            assert_eq!(out.len(), text.len());
            let out: Vec<&str> = out.split_whitespace().collect();
            assert_eq!(out.join(" "), expected, "{text}");
        }
    }
}
