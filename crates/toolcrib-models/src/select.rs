//! From `provider:name`, as written on a command line, to a model.
//!
//! The environment is a parameter, so that tests need none and nothing is read
//! behind a caller's back. Choosing a model opens no connection.

use std::fmt;
use std::sync::Arc;

use toolcrib_core::{Model, ModelError, ModelErrorKind as Kind};

use crate::chat::{ChatModel, ChatOptions, Vendor};
use crate::http::Key;
use crate::navigator::Navigator;
use crate::script::ScriptModel;

/// Looks up an environment variable.
pub type Env<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Which model is meant.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelSpec {
    /// `openai:NAME`, `openrouter:NAME` or `ollama:NAME`.
    Vendor(Vendor, String),
    /// `http://host/v1#name`: any server of the chat wire.
    Endpoint {
        /// Up to `#`; may hold a password, so it is never shown whole.
        url: String,
        /// After `#`.
        name: String,
    },
    /// `script:FILE`.
    Script(String),
    /// `builtin:navigator`.
    Navigator,
}

/// Providers this build speaks, with what follows the colon.
const PROVIDERS: [(&str, &str); 5] = [
    ("openai", "openai:NAME"),
    ("openrouter", "openrouter:VENDOR/NAME"),
    ("ollama", "ollama:NAME"),
    ("script", "script:FILE"),
    ("builtin", "builtin:navigator"),
];

/// Providers of other wires, with a way to their models all the same.
const ELSEWHERE: [(&str, &str); 4] = [
    ("anthropic", "reach its models as openrouter:anthropic/NAME"),
    ("gemini", "reach its models as openrouter:google/NAME"),
    ("acp", "reach the agent's model as openrouter:VENDOR/NAME"),
    (
        "local",
        "serve the model with llama.cpp or Ollama and name it http://127.0.0.1:8080/v1#NAME or ollama:NAME",
    ),
];

/// Where a provider's key and address are looked up.
struct Variables {
    key: Option<&'static str>,
    url: Option<&'static str>,
}

fn variables(vendor: Vendor) -> Variables {
    let (key, url) = match vendor {
        Vendor::OpenAi => (Some("OPENAI_API_KEY"), Some("OPENAI_BASE_URL")),
        Vendor::OpenRouter => (Some("OPENROUTER_API_KEY"), None),
        Vendor::Ollama => (None, Some("OLLAMA_HOST")),
        Vendor::Generic => (Some("TOOLCRIB_API_KEY"), None),
    };
    Variables { key, url }
}

impl ModelSpec {
    /// Reads `provider:name`.
    ///
    /// # Errors
    /// [`Kind::Unsupported`], saying what can be written instead.
    pub fn parse(text: &str) -> Result<ModelSpec, ModelError> {
        let text = text.trim();
        if text.starts_with("http://") || text.starts_with("https://") {
            return match text.rsplit_once('#') {
                Some((url, name)) if !name.is_empty() => Ok(ModelSpec::Endpoint {
                    url: url.to_owned(),
                    name: name.to_owned(),
                }),
                // The address may hold a password, so it is not repeated.
                _ => Err(unsupported(
                    "the address of a model needs the model's name after #, as in http://127.0.0.1:8080/v1#name",
                )),
            };
        }
        let (provider, name) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        if let Some((_, instead)) = ELSEWHERE.iter().find(|(word, _)| *word == provider) {
            return Err(unsupported(format!(
                "this build speaks only OpenAI-style chat, not {provider}; {instead}"
            )));
        }
        let Some((_, form)) = PROVIDERS.iter().find(|(word, _)| *word == provider) else {
            return Err(unsupported(unknown(provider)));
        };
        if name.is_empty() {
            return Err(unsupported(format!("a name is missing: write {form}")));
        }
        let name = name.to_owned();
        match provider {
            "openai" => Ok(ModelSpec::Vendor(Vendor::OpenAi, name)),
            "openrouter" => Ok(ModelSpec::Vendor(Vendor::OpenRouter, name)),
            "ollama" => Ok(ModelSpec::Vendor(Vendor::Ollama, name)),
            "script" => Ok(ModelSpec::Script(name)),
            _ if name == "navigator" => Ok(ModelSpec::Navigator),
            _ => Err(unsupported(format!(
                "there is no builtin:{name}; the only one is builtin:navigator"
            ))),
        }
    }

    /// What is known of the endpoint before a model is made of it; none for models
    /// without one. A caller may change limits, prices or retries here.
    ///
    /// # Errors
    /// [`Kind::Auth`] when a key is needed and the environment holds none.
    pub fn options(&self, env: &Env<'_>) -> Result<Option<ChatOptions>, ModelError> {
        let lookup = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let (vendor, name) = match self {
            ModelSpec::Vendor(vendor, name) => (*vendor, name),
            ModelSpec::Endpoint { name, .. } => (Vendor::Generic, name),
            ModelSpec::Script(_) | ModelSpec::Navigator => return Ok(None),
        };
        let variables = variables(vendor);
        let mut options = ChatOptions::new(vendor, name.clone());
        if let ModelSpec::Endpoint { url, .. } = self {
            options.base_url.clone_from(url);
        } else if let Some(url) = variables.url.and_then(lookup) {
            options.base_url = match vendor {
                Vendor::Ollama => ollama_url(&url),
                _ => url,
            };
        }
        options.key = variables.key.and_then(lookup).map(Key::new);
        let needs_key = matches!(vendor, Vendor::OpenAi | Vendor::OpenRouter);
        let own_address = options.base_url == ChatOptions::new(vendor, "").base_url;
        match variables.key {
            Some(variable) if needs_key && own_address && options.key.is_none() => {
                let message = format!("{self} needs a key: set {variable} in the environment");
                Err(ModelError::new(Kind::Auth, message))
            }
            _ => Ok(Some(options)),
        }
    }

    /// Makes the model. Opens no connection.
    ///
    /// # Errors
    /// As [`ModelSpec::options`], [`ChatModel::new`] and [`ScriptModel::open`].
    pub fn build(&self, env: &Env<'_>) -> Result<Arc<dyn Model>, ModelError> {
        if let Some(options) = self.options(env)? {
            return Ok(Arc::new(ChatModel::new(options)?));
        }
        match self {
            ModelSpec::Script(file) => Ok(Arc::new(ScriptModel::open(file)?)),
            _ => Ok(Arc::new(Navigator::new())),
        }
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelSpec::Vendor(vendor, name) => write!(f, "{}:{name}", vendor.dialect().word),
            ModelSpec::Endpoint { url, name } => {
                write!(f, "{}#{name}", crate::http::shown_url(url))
            }
            ModelSpec::Script(file) => write!(f, "script:{file}"),
            ModelSpec::Navigator => f.write_str("builtin:navigator"),
        }
    }
}

impl fmt::Debug for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A provider that the environment seems ready for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The variable that was seen; its value is not kept.
    pub variable: &'static str,
    /// How a model of it is named.
    pub form: &'static str,
}

/// Which keys and servers the environment names. Looks at names only and opens no
/// connection.
pub fn hints(env: &Env<'_>) -> Vec<Hint> {
    let known = [
        ("OPENAI_API_KEY", "openai:NAME"),
        ("OPENROUTER_API_KEY", "openrouter:VENDOR/NAME"),
        ("ANTHROPIC_API_KEY", "openrouter:anthropic/NAME"),
        ("GEMINI_API_KEY", "openrouter:google/NAME"),
        ("OLLAMA_HOST", "ollama:NAME"),
        ("TOOLCRIB_API_KEY", "https://HOST/v1#NAME"),
    ];
    known
        .into_iter()
        .filter(|(variable, _)| env(variable).is_some_and(|value| !value.trim().is_empty()))
        .map(|(variable, form)| Hint { variable, form })
        .collect()
}

fn unsupported(message: impl Into<String>) -> ModelError {
    ModelError::new(Kind::Unsupported, message)
}

/// `OLLAMA_HOST` is a host, a host with a port, or an address without a path.
fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    // The server's own listening address is not one to connect to.
    let rest = match rest.strip_prefix("0.0.0.0") {
        Some(port) => format!("127.0.0.1{port}"),
        None => rest.to_owned(),
    };
    let after_host = rest.rsplit(']').next().unwrap_or(&rest);
    let port = if after_host.contains(':') || scheme == "https" {
        ""
    } else {
        ":11434"
    };
    if rest.ends_with("/v1") {
        return format!("{scheme}://{rest}");
    }
    format!("{scheme}://{rest}{port}/v1")
}

fn unknown(provider: &str) -> String {
    // A word this long is no slip of a provider's name, whatever it is.
    let distance = |word: &str, provider: &str| match provider.len() {
        0..=64 => strsim::levenshtein(word, provider),
        _ => usize::MAX,
    };
    let words = || PROVIDERS.iter().chain(&ELSEWHERE).map(|(word, _)| *word);
    let close = words().min_by_key(|word| distance(word, provider));
    let hint = match close.filter(|word| distance(word, provider) <= 3) {
        Some(word) => format!("did you mean {word}?"),
        None => format!(
            "write {} or http://HOST/v1#NAME",
            PROVIDERS.map(|(_, form)| form).join(", ")
        ),
    };
    let shown = crate::http::excerpt(provider);
    format!("there is no provider \"{shown}\"; {hint}")
}

#[cfg(test)]
mod tests;
