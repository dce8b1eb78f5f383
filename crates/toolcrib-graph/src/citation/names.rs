//! Whether what stands in backticks names something of the snapshot.
//!
//! Lenient on purpose: a name is known when a symbol has it, or when it stands
//! anywhere in the snapshot's text. Words of languages and shells are no names.
//! What is left is most likely invented, misspelt or from another version.

use super::parse::{find_token, is_word, looks_like_file};
use super::quote::number;
use crate::lookup::Lookup;
use crate::model::{NodeId, NodeKind};

/// What a code span is, judged by its form.
#[derive(Debug, PartialEq)]
pub(super) enum Written {
    /// An identifier or a path of them, without calls, references and generics.
    Name(String),
    /// A file or directory.
    Path(String),
    /// A number, by value.
    Number(String),
    /// A flag, variable, glob or shell line: nothing to look up.
    Nothing,
    /// A piece of code.
    Fragment,
}

const KEYWORDS: &[&str] = &[
    "abstract",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "bool",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "crate",
    "def",
    "default",
    "del",
    "do",
    "double",
    "dyn",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "extern",
    "false",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "global",
    "go",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "int",
    "interface",
    "is",
    "lambda",
    "let",
    "long",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "nil",
    "none",
    "not",
    "null",
    "object",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "return",
    "select",
    "self",
    "static",
    "str",
    "string",
    "struct",
    "super",
    "switch",
    "this",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "undefined",
    "union",
    "unsafe",
    "use",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "f32",
    "f64",
    "option",
    "result",
    "some",
    "ok",
    "err",
    "vec",
    "box",
    "arc",
    "rc",
    "list",
    "dict",
    "set",
    "tuple",
    "map",
    "any",
];

const COMMANDS: &[&str] = &[
    "apt", "awk", "bash", "brew", "bun", "cargo", "cat", "cd", "chmod", "clang", "cmake", "cp",
    "curl", "cut", "deno", "diff", "docker", "echo", "env", "export", "find", "gcc", "gh", "git",
    "go", "gradle", "grep", "head", "java", "javac", "jq", "just", "kill", "kubectl", "less", "ls",
    "make", "mkdir", "mv", "mvn", "nix", "node", "npm", "npx", "perl", "pip", "pipx", "pnpm",
    "podman", "poetry", "pytest", "python", "python3", "rg", "rm", "ruby", "rustc", "rustup",
    "sed", "sh", "ssh", "sudo", "tail", "tar", "tee", "toolcrib", "touch", "tox", "tsc", "uv",
    "wget", "xargs", "yarn", "zsh",
];

/// Roots of standard libraries, whose members need not be in the snapshot.
const STANDARD: &[&str] = &[
    "std", "core", "alloc", "builtins", "typing", "os", "sys", "re", "json",
];

/// Members that languages give to types without a line of source.
const GIVEN: &[&str] = &[
    "clone",
    "default",
    "eq",
    "ne",
    "cmp",
    "partial_cmp",
    "hash",
    "fmt",
    "to_string",
    "from",
    "into",
    "try_from",
    "try_into",
    "__init__",
    "__repr__",
    "__eq__",
    "constructor",
    "toString",
    "equals",
    "hashCode",
    "values",
    "valueOf",
];

/// What the inside of a code span is.
pub(super) fn classify(code: &str) -> Written {
    let code = code.trim();
    if code.is_empty() || code.starts_with('-') || code.starts_with('$') {
        return Written::Nothing;
    }
    if let Some(value) = number(code) {
        return Written::Number(value);
    }
    let first = code.split_whitespace().next().unwrap_or("");
    if first.len() < code.len() {
        return match name_of(code) {
            _ if COMMANDS.contains(&first) => Written::Nothing,
            Some(name) => Written::Name(name),
            None => Written::Fragment,
        };
    }
    let glob = code.contains("*.") || code.contains("**") || code.ends_with('*');
    if glob {
        return Written::Nothing;
    }
    if code.contains(['{', '}', '"', '\'', '=']) {
        return Written::Fragment;
    }
    let bare = code.trim_start_matches("./");
    if bare.contains('/') && !bare.contains("//") && !bare.contains('(') {
        return Written::Path(bare.trim_end_matches('/').to_owned());
    }
    if looks_like_file(bare) {
        return Written::Path(bare.to_owned());
    }
    match name_of(code) {
        Some(name) => Written::Name(name),
        None => Written::Fragment,
    }
}

/// Whether a name is a word of languages or shells before it is a symbol.
pub(super) fn is_common(name: &str) -> bool {
    KEYWORDS.contains(&name.to_lowercase().as_str()) || COMMANDS.contains(&name)
}

/// A name without what surrounds it: `&self.cut()?` is `self.cut`.
fn name_of(code: &str) -> Option<String> {
    let code = code.trim_start_matches(['&', '*', '@']);
    let code = code.trim_end_matches(['?', ';', '!', ',']);
    let code = match code.find('(') {
        Some(open) if closes_last(&code[open..]) => &code[..open],
        Some(_) => return None,
        None => code,
    };
    let code = code.trim_end_matches('!');
    let mut depth = 0usize;
    let mut name = String::new();
    for c in code.chars() {
        match c {
            '<' | '[' => depth += 1,
            '>' | ']' => depth = depth.checked_sub(1)?,
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    let name = name.trim_end_matches("::").trim_start_matches("::");
    let name = name.strip_prefix("self.").unwrap_or(name);
    let sound = !name.is_empty()
        && segments(name).iter().all(|s| {
            s.chars().all(is_word) && !s.is_empty() && !s.starts_with(|c: char| c.is_ascii_digit())
        });
    (sound && depth == 0).then(|| name.to_owned())
}

/// Whether the parenthesis that opens `text` is closed by its last character.
fn closes_last(text: &str) -> bool {
    let mut depth = 0usize;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i + 1 == text.len();
        }
    }
    false
}

/// The identifiers of a path of names.
pub(super) fn segments(name: &str) -> Vec<&str> {
    name.split("::").flat_map(|s| s.split(['.', '#'])).collect()
}

impl Lookup {
    /// The symbols that a name in a text can mean.
    pub(super) fn meant(&self, name: &str) -> Vec<NodeId> {
        match self.graph().by_qualified_name(name) {
            Some(id) => vec![id],
            None => self.matching(name),
        }
    }

    /// Whether a name is a symbol's or stands in the snapshot.
    pub(super) fn knows(&self, name: &str) -> bool {
        if is_common(name) || !self.meant(name).is_empty() || self.in_text(name) {
            return true;
        }
        let parts = segments(name);
        let Some((&last, qualifiers)) = parts.split_last() else {
            return true;
        };
        let Some(&qualifier) = qualifiers.last() else {
            return false;
        };
        // Other notations and shorter paths of the same member.
        for from in 0..qualifiers.len() {
            for separator in ["::", ".", "->", "#"] {
                let written = parts[from..].join(separator);
                if self.in_text(&written) || !self.meant(&written).is_empty() {
                    return true;
                }
            }
        }
        if STANDARD.contains(&parts[0]) || GIVEN.contains(&last) {
            return true;
        }
        let ours = self.meant(qualifier).iter().any(|&id| {
            !matches!(
                self.graph().node(id).kind,
                NodeKind::Variable | NodeKind::Field
            )
        });
        !ours && parts.iter().all(|p| self.in_text(p))
    }

    /// Whether a path in a text is a file or directory of the snapshot, whole or
    /// as the end of one, or stands in the snapshot.
    pub(super) fn knows_path(&self, path: &str) -> bool {
        let part = format!("/{path}/");
        let known = self
            .graph()
            .files()
            .iter()
            .any(|f| format!("/{}/", f.path).contains(&part));
        known || self.in_text(path)
    }

    pub(super) fn in_text(&self, token: &str) -> bool {
        self.graph()
            .files()
            .iter()
            .any(|f| find_token(&f.text, token).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g15_code_spans_are_judged_by_their_form() {
        let name = |n: &str| Written::Name(n.to_owned());
        for (code, expected) in [
            ("cap", name("cap")),
            ("crate::cut::Cut", name("crate::cut::Cut")),
            ("&self.cut()?", name("cut")),
            ("Vec<Option<T>>", name("Vec")),
            ("println!", name("println")),
            ("cap(text, 4)", name("cap")),
            ("Self", name("Self")),
            ("cargo test -p x", Written::Nothing),
            ("--model", Written::Nothing),
            ("$HOME", Written::Nothing),
            ("8_000", Written::Number("8000".to_owned())),
            ("src/cut.rs", Written::Path("src/cut.rs".to_owned())),
            ("Cargo.toml", Written::Path("Cargo.toml".to_owned())),
            ("*.rs", Written::Nothing),
            ("limit = 40", Written::Fragment),
            ("fn cap(text: &str)", Written::Fragment),
            ("a - b", Written::Fragment),
            ("", Written::Nothing),
        ] {
            assert_eq!(classify(code), expected, "{code}");
        }
    }
}
