//! What a parser without a preprocessor stumbles over, as blanks.
//!
//! Sources are parsed before they are preprocessed. Where the branches of an
//! `#if` open or close braces that the branch does not close or open itself, its
//! directives become blanks and only the first branch keeps those braces; where
//! a macro stands for an attribute (`class API Name`, `API int f(void);`,
//! `int x GUARDED_BY(mu);`), it becomes blanks. So does what is under `#if 0` or
//! beside `#if 1`, which no build reads. Bytes keep their places, so what
//! is read from the tree is the text as it was written.

mod dead;

use memchr::memchr;

#[derive(Clone, Copy, PartialEq, Eq)]
enum T {
    Word,
    Sign(u8),
    Directive,
    Literal,
    Gone,
}

#[derive(Clone, Copy)]
struct Token {
    start: u32,
    end: u32,
    kind: T,
    /// First on its line.
    first: bool,
}

/// The text as it is parsed, of the same length; `None` when it is the same.
pub(in crate::lang) fn mask(text: &str) -> Option<String> {
    let mut tokens = tokens(text.as_bytes());
    let mut gone = Vec::new();
    let dead = dead::dead(text, &mut tokens, &mut gone);
    directives(text, &mut tokens, &mut gone, &dead);
    attributes(text, &mut tokens, &mut gone);
    if gone.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for (start, end) in gone {
        for byte in &mut bytes[start as usize..end as usize] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn tokens(text: &[u8]) -> Vec<Token> {
    let mut out = Vec::with_capacity(text.len() / 5);
    let mut at = 0;
    let mut first = true;
    while at < text.len() {
        let byte = text[at];
        let start = at;
        let kind = match byte {
            b'\n' => {
                first = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\\' => {
                at += 1;
                continue;
            }
            b'/' if text.get(at + 1) == Some(&b'/') => {
                at = line_end(text, at);
                continue;
            }
            b'/' if text.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at < text.len() && !(text[at] == b'*' && text.get(at + 1) == Some(&b'/')) {
                    at += 1;
                }
                at = (at + 2).min(text.len());
                continue;
            }
            b'#' if first => {
                at = directive_end(text, at);
                T::Directive
            }
            b'"' => {
                at = quoted(text, at);
                T::Literal
            }
            b'\'' => {
                at = quoted(text, at);
                T::Literal
            }
            b'R' if text.get(at + 1) == Some(&b'"') => {
                at = raw(text, at);
                T::Literal
            }
            b'0'..=b'9' => {
                while at < text.len()
                    && (text[at].is_ascii_alphanumeric() || matches!(text[at], b'.' | b'_' | b'\''))
                {
                    at += 1;
                }
                T::Literal
            }
            byte if is_word(byte) => {
                while at < text.len() && is_word(text[at]) {
                    at += 1;
                }
                T::Word
            }
            byte => {
                at += 1;
                T::Sign(byte)
            }
        };
        out.push(Token {
            start: start as u32,
            end: at as u32,
            kind,
            first,
        });
        first = false;
    }
    out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n)
}

/// A directive goes on where its line ends in a backslash or inside a comment.
fn directive_end(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while at < text.len() {
        match text[at] {
            b'\n' => return at,
            b'\\' if text.get(at + 1) == Some(&b'\n') => at += 2,
            b'\\' if text.get(at + 1) == Some(&b'\r') => at += 3,
            b'/' if text.get(at + 1) == Some(&b'/') => return line_end(text, at),
            b'/' if text.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at < text.len() && !(text[at] == b'*' && text.get(at + 1) == Some(&b'/')) {
                    at += 1;
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// A literal ends at its line's end at the latest.
fn quoted(text: &[u8], at: usize) -> usize {
    let quote = text[at];
    let mut at = at + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn raw(text: &[u8], at: usize) -> usize {
    let open = at + 2;
    let Some(paren) = text[open..].iter().take(17).position(|b| *b == b'(') else {
        return at + 2;
    };
    let mut end = Vec::with_capacity(paren + 2);
    end.push(b')');
    end.extend_from_slice(&text[open..open + paren]);
    end.push(b'"');
    memchr::memmem::find(&text[open..], &end).map_or(text.len(), |n| open + n + end.len())
}

/// Brackets of a branch that it neither opens nor closes itself.
struct Branch {
    directive: usize,
    open: Vec<usize>,
    is_dead: bool,
}

/// Blanks the directives of branches whose brackets are not their own.
fn directives(text: &str, tokens: &mut [Token], gone: &mut Vec<(u32, u32)>, dead: &[usize]) {
    let outer = Branch {
        directive: usize::MAX,
        open: Vec::new(),
        is_dead: false,
    };
    let mut groups: Vec<Vec<Branch>> = vec![vec![outer]];
    for i in 0..tokens.len() {
        match tokens[i].kind {
            T::Sign(sign @ (b'{' | b'}' | b'(' | b')')) => {
                if let Some(branch) = groups.last_mut().and_then(|g| g.last_mut()) {
                    settle(branch, i, sign, tokens);
                }
            }
            T::Directive => {
                let line = &text[tokens[i].start as usize..tokens[i].end as usize];
                let (word, _) = dead::directive(line);
                let branch = Branch {
                    directive: i,
                    open: Vec::new(),
                    is_dead: dead.binary_search(&i).is_ok(),
                };
                match word {
                    "if" | "ifdef" | "ifndef" => groups.push(vec![branch]),
                    "elif" | "elifdef" | "elifndef" | "else" if groups.len() > 1 => {
                        if let Some(group) = groups.last_mut() {
                            group.push(branch);
                        }
                    }
                    "endif" if groups.len() > 1 => {
                        if let Some(group) = groups.pop() {
                            close(group, i, &mut groups, tokens, gone);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn settle(branch: &mut Branch, i: usize, sign: u8, tokens: &[Token]) {
    let opening = match sign {
        b'}' => b'{',
        b')' => b'(',
        _ => {
            branch.open.push(i);
            return;
        }
    };
    let matches = branch
        .open
        .last()
        .is_some_and(|last| tokens[*last].kind == T::Sign(opening));
    if matches {
        branch.open.pop();
    } else {
        branch.open.push(i);
    }
}

fn close(
    group: Vec<Branch>,
    end: usize,
    groups: &mut [Vec<Branch>],
    tokens: &mut [Token],
    gone: &mut Vec<(u32, u32)>,
) {
    if group.iter().all(|branch| branch.open.is_empty()) {
        return;
    }
    let kept = group.iter().position(|branch| !branch.is_dead).unwrap_or(0);
    let mut blank = |i: usize, tokens: &mut [Token]| {
        gone.push((tokens[i].start, tokens[i].end));
        tokens[i].kind = T::Gone;
    };
    for (place, branch) in group.iter().enumerate() {
        blank(branch.directive, tokens);
        if place != kept {
            for bracket in &branch.open {
                blank(*bracket, tokens);
            }
        }
    }
    blank(end, tokens);
    if group[kept].is_dead {
        return;
    }
    if let Some(outer) = groups.last_mut().and_then(|g| g.last_mut()) {
        for &bracket in &group[kept].open {
            if let T::Sign(sign) = tokens[bracket].kind {
                settle(outer, bracket, sign, tokens);
            }
        }
    }
}

/// Words that begin or are a type, so that a macro before them is none.
const TYPE_WORDS: &[&str] = &[
    "auto",
    "bool",
    "char",
    "class",
    "const",
    "constexpr",
    "double",
    "enum",
    "explicit",
    "extern",
    "float",
    "inline",
    "int",
    "long",
    "register",
    "short",
    "signed",
    "static",
    "struct",
    "template",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "virtual",
    "void",
    "volatile",
];

/// Words that may stand before a macro at the head of a declaration.
const SPECIFIERS: &[&str] = &[
    "const",
    "constexpr",
    "explicit",
    "extern",
    "friend",
    "inline",
    "register",
    "static",
    "virtual",
    "volatile",
    "__inline",
    "__inline__",
];

const ATTRIBUTES: &[&str] = &[
    "ACQUIRE",
    "ALIGN",
    "API",
    "ATTR",
    "DEPRECATED",
    "EXPORT",
    "FALLTHROUGH",
    "FORMAT",
    "GUARDED",
    "INLINE",
    "LIFETIME",
    "LOCKS",
    "NODISCARD",
    "NORETURN",
    "NO_",
    "PACKED",
    "PRINTF",
    "PURE",
    "RELEASE",
    "REQUIRES",
    "SECTION",
    "UNUSED",
    "VISIB",
    "WARN",
];

struct Words<'t> {
    text: &'t str,
    tokens: &'t mut [Token],
    gone: &'t mut Vec<(u32, u32)>,
}

impl<'t> Words<'t> {
    fn word(&self, i: usize) -> Option<&'t str> {
        let token = self.tokens.get(i)?;
        (token.kind == T::Word).then(|| &self.text[token.start as usize..token.end as usize])
    }

    fn sign(&self, i: usize) -> u8 {
        match self.tokens.get(i).map(|t| t.kind) {
            Some(T::Sign(sign)) => sign,
            _ => 0,
        }
    }

    fn is_macro(&self, i: usize) -> bool {
        self.word(i).is_some_and(|word| {
            word.len() >= 3
                && word
                    .bytes()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
                && word.bytes().any(|c| c.is_ascii_uppercase())
        })
    }

    fn is_attribute(&self, i: usize) -> bool {
        self.is_macro(i)
            && self
                .word(i)
                .is_some_and(|word| ATTRIBUTES.iter().any(|part| word.contains(part)))
    }

    /// Behind a parenthesised list that may begin at a place.
    fn behind_list(&self, i: usize) -> Option<usize> {
        if self.sign(i) != b'(' {
            return Some(i);
        }
        let mut depth = 0;
        for at in i..(i + 64).min(self.tokens.len()) {
            match self.sign(at) {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn blank(&mut self, from: usize, to: usize) {
        for i in from..to.min(self.tokens.len()) {
            if self.tokens[i].kind != T::Gone {
                self.gone.push((self.tokens[i].start, self.tokens[i].end));
                self.tokens[i].kind = T::Gone;
            }
        }
    }

    /// Macros between the specifiers at the head of a declaration.
    fn head(&mut self, start: usize) {
        let mut i = start;
        for _ in 0..12 {
            let Some(word) = self.word(i) else { return };
            if SPECIFIERS.contains(&word) {
                i += 1;
                continue;
            }
            if !self.is_macro(i) {
                return;
            }
            let next = if self.is_attribute(i) {
                match self.behind_list(i + 1) {
                    Some(next) => next,
                    None => return,
                }
            } else {
                i + 1
            };
            let alone = self.tokens[i].first && self.tokens.get(next).is_none_or(|t| t.first);
            let stands_before = match self.word(next) {
                Some(word) if TYPE_WORDS.contains(&word) => true,
                Some(_) => {
                    self.word(next + 1).is_some()
                        || matches!(self.sign(next + 1), b'*' | b'&' | b'<')
                        || (self.sign(next + 1) == b':' && self.sign(next + 2) == b':')
                        || (alone && self.sign(next + 1) != b'(')
                        // A constructor has no type.
                        || (self.sign(next + 1) == b'('
                            && self.word(i).is_some_and(|word| {
                                word.ends_with("API") || word.ends_with("EXPORT")
                            }))
                }
                None => alone && next == i + 1 && !matches!(self.sign(next), b'(' | b'*' | b'['),
            };
            if !stands_before {
                return;
            }
            self.blank(i, next);
            i = next;
        }
    }

    /// `class API Name {`
    fn class(&mut self, i: usize) {
        let mut at = i + 1;
        if self.word(at) == Some("class") {
            at += 1;
        }
        for _ in 0..4 {
            if !self.is_macro(at) {
                return;
            }
            let Some(next) = self.behind_list(at + 1) else {
                return;
            };
            if self.word(next).is_none() {
                return;
            }
            let ends = matches!(self.sign(next + 1), b'{' | b':' | b';' | b'<')
                || self.word(next + 1) == Some("final")
                || self.is_macro(next);
            if !ends {
                return;
            }
            self.blank(at, next);
            at = next;
        }
    }

    /// `f() REQUIRES(mu);` and `int x GUARDED_BY(mu);`
    fn tail(&mut self, i: usize) {
        let before = self.sign(i.wrapping_sub(1));
        let after_list = before == b')'
            || matches!(
                self.word(i.wrapping_sub(1)),
                Some("const" | "override" | "noexcept" | "final")
            );
        let after_name = self.word(i.wrapping_sub(1)).is_some_and(|word| {
            !TYPE_WORDS.contains(&word) && !matches!(word, "return" | "else" | "case" | "goto")
        }) && self.is_attribute(i);
        if !after_list && !after_name {
            return;
        }
        let mut end = i;
        for _ in 0..6 {
            if !self.is_macro(end) {
                break;
            }
            match self.behind_list(end + 1) {
                Some(next) => end = next,
                None => return,
            }
        }
        let is_lists = after_list || self.sign(i + 1) == b'(';
        let ends = matches!(self.sign(end), b';' | b'{' | b'=');
        if ends && (is_lists || self.is_attribute(i)) {
            self.blank(i, end);
        }
    }
}

/// Blanks macros that stand for attributes, outside of functions.
fn attributes(text: &str, tokens: &mut [Token], gone: &mut Vec<(u32, u32)>) {
    let mut words = Words { text, tokens, gone };
    // Whether each open brace holds declarations.
    let mut holds: Vec<bool> = Vec::new();
    let mut is_head = true;
    let mut names_type = false;
    let mut has_list = false;
    for i in 0..words.tokens.len() {
        let declares = holds.last().copied().unwrap_or(true);
        match words.tokens[i].kind {
            T::Word => {
                if is_head && declares {
                    words.head(i);
                }
                let Some(word) = words.word(i) else {
                    continue;
                };
                if matches!(word, "class" | "struct" | "union" | "enum") {
                    words.class(i);
                    names_type = true;
                } else if matches!(word, "namespace" | "extern") {
                    names_type = true;
                } else if declares && !is_head && words.is_macro(i) {
                    words.tail(i);
                }
                is_head = false;
            }
            T::Sign(b'{') => {
                let declares_inside = declares && names_type && !has_list;
                holds.push(declares_inside);
                (is_head, names_type, has_list) = (true, false, false);
            }
            T::Sign(b'}') => {
                holds.pop();
                (is_head, names_type, has_list) = (true, false, false);
            }
            T::Sign(b';') => (is_head, names_type, has_list) = (true, false, false),
            T::Sign(b'(' | b'=') => {
                has_list = true;
                is_head = false;
            }
            // Behind `public:` and `template <…>` a declaration begins.
            T::Sign(b':') if words.sign(i + 1) != b':' && words.sign(i.wrapping_sub(1)) != b':' => {
                is_head = matches!(
                    words.word(i.wrapping_sub(1)),
                    Some("public" | "private" | "protected")
                );
            }
            T::Sign(b'>') => is_head = !has_list && !names_type,
            T::Sign(_) | T::Literal => is_head = is_head && words.tokens[i].kind == T::Literal,
            T::Directive | T::Gone => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mask;

    fn masked(text: &str) -> String {
        let out = mask(text).unwrap_or_else(|| text.to_string());
        assert_eq!(out.len(), text.len());
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn macros_that_stand_for_attributes_are_blank() {
        for (text, expected) in [
            ("class API Name : Base {};", "class Name : Base {};"),
            ("struct ALIGNED(8) a { int x; };", "struct a { int x; };"),
            ("ZLIB_API size_t f(void);", "size_t f(void);"),
            (
                "static FORCE_INLINE UNUSED int f(int a) { return A(a); }",
                "static int f(int a) { return A(a); }",
            ),
            ("int x GUARDED_BY(mu);", "int x ;"),
            ("void f() REQUIRES(mu) { g(); }", "void f() { g(); }"),
            ("Q_BEGIN\nint x;\n", "int x;"),
            (
                "class A {\n  Q_OBJECT\n public:\n  API A();\n};",
                "class A { public: A(); };",
            ),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn types_and_calls_in_capitals_stay() {
        for text in [
            "DWORD x;",
            "FILE *f;",
            "BOOL f(int a);",
            "BOOL\nf(int a);",
            "void f() { if (a) ASSERT(b); FOO(c); return BAR(d); }",
            "FOO(a)\nFOO(b)\n",
            "static const A_T table[] = { FOO(1), BAR };",
            "enum A { ONE, TWO };",
            "struct A x = { .a = ONE };",
            "int FOO(int a) { return a; }",
        ] {
            assert_eq!(mask(text), None, "{text}");
        }
    }

    #[test]
    fn branches_that_share_braces_are_read_one_after_the_other() {
        assert_eq!(
            masked("void f() {\n#ifdef A\n if (a) {\n#else\n if (b) {\n#endif\n c();\n }\n}\n"),
            "void f() { if (a) { if (b) c(); } }"
        );
        assert_eq!(
            masked(
                "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f();\n#ifdef __cplusplus\n}\n#endif\n"
            ),
            "extern \"C\" { int f(); }"
        );
        assert_eq!(mask("#if A\nint f() {}\n#else\nint f();\n#endif\n"), None);
    }

    #[test]
    fn branches_that_no_build_reads_are_blank() {
        for (text, expected) in [
            (
                "#if 0\n {\n#else\nint x;\n#endif\n",
                "#if 0 #else int x; #endif",
            ),
            (
                "#if 1\nint x;\n#else\nint y;\n#endif\n",
                "#if 1 int x; #else #endif",
            ),
            (
                "#if 0\n#ifdef A\nint a;\n#else\nit's\n#endif\n#elif B\nint b;\n#endif\n",
                "#if 0 #elif B int b; #endif",
            ),
            (
                "#ifdef A\nint a;\n#elif 0\nint b;\n#elif 1\nint c;\n#else\nint d;\n#endif\n",
                "#ifdef A int a; #elif 0 #elif 1 int c; #else #endif",
            ),
            (
                "#if 0\n if (a) {\n#else\n if (b) {\n#endif\n }\n",
                "if (b) { }",
            ),
            ("#if 0\nint x;\n", "#if 0 int x;"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn what_is_never_closed_ends() {
        for text in [
            "#if A\n{",
            "#endif\n}",
            "\"abc",
            "/* x",
            "R\"a(",
            "'",
            "#if 1\n#else",
            "\\",
        ] {
            let _ = mask(text);
        }
    }
}
