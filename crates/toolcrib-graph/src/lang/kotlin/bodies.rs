//! Class bodies that end on the line of their last member.
//!
//! The grammar wants a line's end or a semicolon behind every member, also the
//! last one, and takes `class A { fun f() {} }` for an error that swallows what
//! follows. The blank before such a closing brace becomes a semicolon for the
//! parser; where there is none, the body of the function before it is blanked for
//! one. `annotation class` behind an annotation, and an annotated constructor on a
//! line of its own, are read as expressions: their modifiers become blanks. Bytes
//! keep their places. No other part of the language is read here.

/// What a brace that is open belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Its members must be ended.
    Class,
    /// The same; braces before its first semicolon are classes' too.
    Entries,
    Other,
    /// An expression inside of a string.
    Template,
}

struct Open {
    body: Body,
    at: usize,
    /// Parentheses around, of this brace.
    parens: u32,
    /// A class without a body so far.
    class: Option<Head>,
}

/// The head of a class.
struct Head {
    /// Parentheses around.
    parens: u32,
    body: Body,
    /// The first modifier behind its name.
    modifiers: Option<usize>,
}

impl Open {
    /// A modifier begins.
    fn modified(&mut self, at: usize) {
        let parens = self.parens;
        if let Some(head) = self.class.as_mut().filter(|head| head.parens == parens) {
            head.modifiers.get_or_insert(at);
        }
    }
}

/// The text as it is parsed, of the same length; `None` when it is the same.
pub(super) fn mask(text: &str) -> Option<String> {
    let source = text.as_bytes();
    let mut out: Option<Vec<u8>> = None;
    let mut open = vec![Open {
        body: Body::Other,
        at: 0,
        parens: 0,
        class: None,
    }];
    // Strings around the templates that the walk is in: whether they are raw.
    let mut strings: Vec<bool> = Vec::new();
    // The last token: its first byte and where it ends.
    let mut last = (0u8, 0usize);
    // The braces that the token before closed, if it closed any.
    let mut closed: Option<(usize, Body)> = None;
    let mut at = 0;
    while at < source.len() {
        let byte = source[at];
        let start = at;
        let top = open.last_mut()?;
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
                at = comment_end(source, at);
                continue;
            }
            b'"' => {
                let raw = source[at..].starts_with(b"\"\"\"");
                at = string(
                    source,
                    at + if raw { 3 } else { 1 },
                    raw,
                    &mut strings,
                    &mut open,
                );
            }
            b'\'' => at = character(source, at),
            b'`' => {
                let line = memchr::memchr2(b'`', b'\n', &source[at + 1..]);
                at = line.map_or(source.len(), |n| at + n + 2);
            }
            b'(' | b'[' => {
                top.parens += 1;
                at += 1;
            }
            b')' | b']' => {
                top.parens = top.parens.saturating_sub(1);
                at += 1;
            }
            b'{' => {
                let entry = top.body == Body::Entries && top.parens == 0;
                let body = match &top.class {
                    Some(head) if head.parens == top.parens => {
                        let body = head.body;
                        top.class = None;
                        body
                    }
                    _ if entry => Body::Class,
                    _ => Body::Other,
                };
                open.push(Open {
                    body,
                    at,
                    parens: 0,
                    class: None,
                });
                at += 1;
            }
            b'}' => {
                at += 1;
                if open.len() > 1
                    && let Some(ended) = open.pop()
                {
                    let members = matches!(ended.body, Body::Class | Body::Entries);
                    let same_line = !source[last.1..start].contains(&b'\n');
                    if members && same_line && !matches!(last.0, b'{' | b';' | b',') {
                        end_member(source, &mut out, start, closed);
                    }
                    closed = Some((ended.at, ended.body));
                    last = (b'}', at);
                    if ended.body == Body::Template
                        && let Some(raw) = strings.pop()
                    {
                        at = string(source, at, raw, &mut strings, &mut open);
                        last = (b'"', at);
                        closed = None;
                    }
                    continue;
                }
            }
            b';' => {
                if top.body == Body::Entries {
                    top.body = Body::Class;
                }
                top.class = None;
                at += 1;
            }
            byte if is_word(byte) => {
                while at < source.len() && is_word(source[at]) {
                    at += 1;
                }
                match &source[start..at] {
                    b"class" | b"interface" | b"object"
                        if last.0 != b':' || !double(source, last) =>
                    {
                        let head = &source[start.saturating_sub(5)..start];
                        let body = if head.ends_with(b"enum ") {
                            Body::Entries
                        } else {
                            Body::Class
                        };
                        top.class = Some(Head {
                            parens: top.parens,
                            body,
                            modifiers: None,
                        });
                    }
                    b"annotation" if source[at..].starts_with(b" class") => {
                        blank(source, &mut out, start, at);
                    }
                    b"constructor" => {
                        let head = top.class.as_ref().filter(|head| head.parens == top.parens);
                        if let Some(from) = head.and_then(|head| head.modifiers) {
                            blank(source, &mut out, from, start);
                        }
                    }
                    b"public" | b"private" | b"internal" | b"protected" => top.modified(start),
                    b"fun" | b"val" | b"var" | b"init" | b"typealias" | b"import" => {
                        top.class = None;
                        if top.body == Body::Entries {
                            top.body = Body::Class;
                        }
                    }
                    _ => {}
                }
            }
            b'@' => {
                top.modified(start);
                at += 1;
            }
            _ => at += 1,
        }
        closed = None;
        last = (byte, at);
    }
    String::from_utf8(out?).ok()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether a colon is the second of two: `A::class` is no declaration.
fn double(source: &[u8], last: (u8, usize)) -> bool {
    last.1 >= 2 && source[last.1 - 2] == b':'
}

fn blank(source: &[u8], out: &mut Option<Vec<u8>>, from: usize, to: usize) {
    for byte in &mut out.get_or_insert_with(|| source.to_vec())[from..to] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Puts a semicolon before the brace at a place.
fn end_member(
    source: &[u8],
    out: &mut Option<Vec<u8>>,
    brace: usize,
    closed: Option<(usize, Body)>,
) {
    let Some(before) = brace.checked_sub(1) else {
        return;
    };
    let bytes = out.get_or_insert_with(|| source.to_vec());
    if matches!(source[before], b' ' | b'\t') {
        bytes[before] = b';';
    } else if let Some((from, Body::Other)) = closed {
        for byte in &mut bytes[from..before] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        bytes[before] = b';';
    }
}

/// Comments nest.
fn comment_end(source: &[u8], at: usize) -> usize {
    let mut depth = 0u32;
    let mut at = at;
    while at < source.len() {
        if source[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if source[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    source.len()
}

fn character(source: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < source.len() {
        match source[at] {
            b'\\' => at += 2,
            b'\'' => return at + 1,
            b'\n' => return at,
            _ => at += 1,
        }
    }
    source.len()
}

/// The rest of a string, up to its end or into the next expression in it.
fn string(
    source: &[u8],
    at: usize,
    raw: bool,
    strings: &mut Vec<bool>,
    open: &mut Vec<Open>,
) -> usize {
    let mut at = at;
    while at < source.len() {
        match source[at] {
            b'\\' if !raw => at += 2,
            b'"' if raw => {
                if source[at..].starts_with(b"\"\"\"") {
                    at += 3;
                    // Quotes may stand before the closing ones.
                    while source.get(at) == Some(&b'"') {
                        at += 1;
                    }
                    return at;
                }
                at += 1;
            }
            b'"' => return at + 1,
            b'\n' if !raw => return at,
            b'$' if source.get(at + 1) == Some(&b'{') => {
                strings.push(raw);
                open.push(Open {
                    body: Body::Template,
                    at: at + 1,
                    parens: 0,
                    class: None,
                });
                return at + 2;
            }
            _ => at += 1,
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn members_are_ended_where_their_class_ends_on_their_line() {
        for (text, expected) in [
            ("class A { fun f() {} }", "class A { fun f() {};}"),
            ("class A { fun f() {}}", "class A { fun f() ;}"),
            ("class A { fun f() {}\n}", "class A { fun f() {}\n}"),
            ("class A { }", "class A { }"),
            ("fun f() { g() }", "fun f() { g() }"),
            (
                "class A { class B { val x = 1 } }",
                "class A { class B { val x = 1;};}",
            ),
            (
                "class A(val x: Int = run { 1 }) : B({ 2 }) { val y = 1 }",
                "class A(val x: Int = run { 1 }) : B({ 2 }) { val y = 1;}",
            ),
            (
                "enum class A { B { fun f() {} }, C }",
                "enum class A { B { fun f() {};}, C;}",
            ),
            (
                "val x = object : A { override fun f() { g { 1 } } }",
                "val x = object : A { override fun f() { g { 1 } };}",
            ),
            (
                "class A { val s = \"${b { \"}\" }} }\"; val c = '}' }",
                "class A { val s = \"${b { \"}\" }} }\"; val c = '}';}",
            ),
            (
                "class A { /* } /* */ */ val r = \"\"\"}\"\" \"\"\" }",
                "class A { /* } /* */ */ val r = \"\"\"}\"\" \"\"\";}",
            ),
            (
                "val a = B::class; fun f() { x }",
                "val a = B::class; fun f() { x }",
            ),
            ("class A\nfun f() { x }", "class A\nfun f() { x }"),
            ("@T\nannotation class X", "@T\n class X"),
            (
                "class A<T>\n@I(a)\npublic constructor(val x: Int)",
                "class A<T>\n\n constructor(val x: Int)",
            ),
        ] {
            let out = mask(text).unwrap_or_else(|| text.to_string());
            assert_eq!(out.len(), text.len());
            let squeezed = |text: &str| {
                let text = text.replace(';', " ; ");
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            };
            assert_eq!(squeezed(&out), squeezed(expected), "{text}");
        }
    }

    #[test]
    fn what_is_never_closed_ends() {
        for text in [
            "class A {",
            "}}}",
            "\"${",
            "\"\"\"",
            "/*",
            "'",
            "`",
            "class A { \"${ }",
            "\\",
        ] {
            let _ = mask(text);
        }
    }
}
