//! Keeps secrets out of what models read and what is written down.
//!
//! Three kinds are known: values that were named (those of the usual key variables
//! of the environment among them), texts of the usual forms of keys, and whatever
//! matches a configured pattern. It looks at texts alone, and knows a key by its
//! form, not by where it stands; it is no substitute for keeping keys away from
//! tools.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde_json::Value;
use toolcrib_core::{Str, ToolCall};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Shortest value that is taken for a secret: a shorter one is found in too many texts.
const SHORTEST: usize = 8;

/// Variables whose values are keys.
const VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "TOGETHER_API_KEY",
    "FIREWORKS_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "HF_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITLAB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "NPM_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "SLACK_TOKEN",
    "SLACK_BOT_TOKEN",
];

/// The usual forms of keys. None of these holds white space but the last.
static FORMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms = [
        r"\bsk-[A-Za-z0-9_-]{20,}",
        r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
        r"\bgh[opsur]_[A-Za-z0-9]{30,}",
        r"\bgithub_pat_[A-Za-z0-9_]{30,}",
        r"\bglpat-[A-Za-z0-9_-]{20,}",
        r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
        r"\bAIza[A-Za-z0-9_-]{35}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\bhf_[A-Za-z0-9]{30,}",
        r"\bnpm_[A-Za-z0-9]{36}",
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ];
    let block = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\z)";
    Regex::new(&format!("(?-u:{})|{block}", forms.join("|"))).ok()
});

/// What every key of a usual form holds: without one of these the expression, which
/// takes its room, is not even made.
const HINTS: [&str; 18] = [
    "sk-",
    "k_live_",
    "k_test_",
    "gho_",
    "ghp_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xox",
    "AIza",
    "AKIA",
    "ASIA",
    "hf_",
    "npm_",
    "eyJ",
    "-----BEGIN",
];

/// Replaces secrets by `[redacted]`. Cheap to clone.
#[derive(Clone)]
pub struct Redactor {
    inner: Arc<Inner>,
}

#[derive(Clone, Default)]
struct Inner {
    /// Longest first: one may begin with another.
    secrets: Vec<Box<str>>,
    patterns: Vec<Regex>,
    forms: bool,
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{pattern}` is no usable pattern for secrets: {reason}")]
pub struct RedactError {
    pattern: String,
    reason: String,
}

impl Redactor {
    /// Knows no secrets.
    pub fn none() -> Redactor {
        Redactor {
            inner: Arc::default(),
        }
    }

    /// Knows the usual forms of keys and the values that the usual key variables of
    /// the environment have now.
    pub fn standard() -> Redactor {
        let inner = Inner {
            forms: true,
            ..Inner::default()
        };
        let redactor = Redactor {
            inner: Arc::new(inner),
        };
        let values = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
        values.fold(redactor, |redactor, value| redactor.with_secret(&value))
    }

    /// Knows this value too. One that is shorter than 8 bytes or holds white space is
    /// not taken.
    pub fn with_secret(mut self, secret: &str) -> Redactor {
        let secret = secret.trim();
        if secret.len() >= SHORTEST && !secret.contains(char::is_whitespace) {
            let inner = Arc::make_mut(&mut self.inner);
            if !inner.secrets.iter().any(|known| &**known == secret) {
                inner.secrets.push(secret.into());
                inner
                    .secrets
                    .sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
            }
        }
        self
    }

    /// Knows what matches this regular expression too.
    ///
    /// # Errors
    /// [`RedactError`] when it is no expression, or matches nothing at all, which
    /// would be found everywhere.
    pub fn with_pattern(mut self, pattern: &str) -> Result<Redactor, RedactError> {
        let refused = |reason: String| RedactError {
            pattern: pattern.to_owned(),
            reason,
        };
        let regex = Regex::new(pattern).map_err(|error| {
            let text = error.to_string();
            refused(text.lines().last().unwrap_or_default().trim().to_owned())
        })?;
        if regex.is_match("") {
            return Err(refused("it matches an empty text".to_owned()));
        }
        Arc::make_mut(&mut self.inner).patterns.push(regex);
        Ok(self)
    }

    /// The text without its secrets; the very text where there are none.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = self.named(text);
        if self.inner.forms
            && HINTS.iter().any(|hint| out.contains(hint))
            && let Some(forms) = &*FORMS
        {
            out = replaced(forms, out, looks_made);
        }
        for pattern in &self.inner.patterns {
            out = replaced(pattern, out, |_| true);
        }
        out
    }

    /// The text without the values that were named; keys known by their form stay.
    /// For what must run as it was written.
    pub fn named<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for secret in &self.inner.secrets {
            if out.contains(&**secret) {
                out = Cow::Owned(out.replace(&**secret, REDACTED));
            }
        }
        out
    }

    /// Removes secrets from all texts in a value.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.value(item)),
            _ => {}
        }
    }

    /// A call as it may be written down: without secrets in its name and arguments, which
    /// stay one JSON value if they were.
    pub fn call(&self, call: &ToolCall) -> ToolCall {
        ToolCall {
            name: self.shared(&call.name),
            arguments: self.arguments(&call.arguments),
            ..call.clone()
        }
    }

    /// The text without its secrets, shared where there are none.
    pub fn shared(&self, text: &Str) -> Str {
        match self.text(text) {
            Cow::Borrowed(_) => text.clone(),
            Cow::Owned(clean) => clean.into(),
        }
    }

    fn arguments(&self, text: &Str) -> Str {
        let mut out = text.clone();
        let read = serde_json::from_str::<Value>(text).ok();
        // By the values first: an escape before a key hides where it begins.
        if let Some(read) = &read {
            let mut clean = read.clone();
            self.value(&mut clean);
            if clean != *read {
                out = clean.to_string().into();
            }
        }
        match self.text(&out) {
            Cow::Borrowed(_) => out.clone(),
            Cow::Owned(flat) if read.is_some() && serde_json::from_str::<Value>(&flat).is_err() => {
                "{}".into()
            }
            Cow::Owned(flat) => flat.into(),
        }
    }

    /// The same for a text that arrives in pieces.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream {
            redactor: self.clone(),
            held: String::new(),
        }
    }
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor::standard()
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor")
            .field("secrets", &self.inner.secrets.len())
            .field("patterns", &self.inner.patterns.len())
            .finish_non_exhaustive()
    }
}

/// Keys hold digits; `sk-` and a few words joined by hyphens do not.
fn looks_made(found: &str) -> bool {
    found.starts_with("-----") || found.bytes().any(|b| b.is_ascii_digit())
}

fn replaced<'a>(regex: &Regex, text: Cow<'a, str>, secret: fn(&str) -> bool) -> Cow<'a, str> {
    if !regex.find_iter(&text).any(|found| secret(found.as_str())) {
        return text;
    }
    let replace = |found: &regex::Captures<'_>| {
        let found = found.get(0).map_or("", |found| found.as_str());
        if secret(found) { REDACTED } else { found }.to_owned()
    };
    Cow::Owned(regex.replace_all(&text, replace).into_owned())
}

/// See [`Redactor::stream`]. Holds a word back until it has ended, since a secret may
/// be cut by the border of two pieces. Secrets that hold white space are not found.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    held: String,
}

impl RedactedStream {
    /// Longest word that is held back.
    const LONGEST: usize = 8 * 1024;

    /// Takes a piece and gives what can be shown, which may be empty.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=');
        let end = match self.held.rfind(|c: char| !word(c)) {
            Some(at) => self.held.ceil_char_boundary(at + 1),
            None if self.held.len() > Self::LONGEST => self.held.len(),
            None => 0,
        };
        let rest = self.held.split_off(end);
        let whole = std::mem::replace(&mut self.held, rest);
        self.redactor.text(&whole).into_owned()
    }

    /// What was held back at the end.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.redactor.text(&held).into_owned()
    }
}

#[cfg(test)]
mod tests;
