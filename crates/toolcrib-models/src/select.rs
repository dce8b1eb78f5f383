//! From `provider:name`, as written on a command line, to a model.
//!
//! The environment is a parameter, so that tests need none and nothing is read
//! behind a caller's back. Choosing a model opens no connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{LoadRoute, Model, ModelError, ModelErrorKind as Kind};

use crate::chat::{ChatModel, ChatOptions, Vendor};
use crate::http::Key;
use crate::navigator::Navigator;
use crate::profile::{Calls, Profiles, Provider, Settings, WireName};
use crate::remote::{RemoteModel, RemoteOptions, Wire};
use crate::script::ScriptModel;
use crate::text_tools::TextTools;

/// Looks up an environment variable.
pub type Env<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Which model is meant.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelSpec {
    /// `PROVIDER:NAME`, for a provider of the table.
    Named {
        /// Before the colon.
        provider: String,
        /// After it.
        name: String,
    },
    /// `http://host/v1#name`: any server of the chat wire.
    Endpoint {
        /// Up to `#`; may hold a password, so it is never shown whole.
        url: String,
        /// After `#`.
        name: String,
    },
    /// `acp:COMMAND`: an agent as a plain model.
    #[cfg(feature = "acp")]
    Acp(String),
    /// `script:FILE`.
    Script(String),
    /// `local:FILE`: weights for the model in process.
    #[cfg(feature = "local")]
    Local(String),
    /// `builtin:navigator`.
    Navigator,
}

/// Forms that are not those of a provider.
const OTHERS: &[(&str, &str)] = &[
    ("script", "script:FILE"),
    #[cfg(feature = "acp")]
    ("acp", "acp:COMMAND"),
    #[cfg(feature = "local")]
    ("local", "local:FILE"),
    ("builtin", "builtin:navigator"),
];

/// Providers of other wires, with a way to their models all the same.
const ELSEWHERE: &[(&str, &str)] = &[
    #[cfg(not(feature = "acp"))]
    ("acp", "reach the agent's model under its provider's name"),
    #[cfg(not(feature = "local"))]
    (
        "local",
        "serve the model with llama.cpp or Ollama and name it http://127.0.0.1:8080/v1#NAME or ollama:NAME",
    ),
];

fn form(provider: &str) -> String {
    match provider {
        "openrouter" => "openrouter:VENDOR/NAME".to_owned(),
        _ => format!("{provider}:NAME"),
    }
}

impl ModelSpec {
    /// Reads `provider:name` for a provider that ships with the program.
    ///
    /// # Errors
    /// [`Kind::Unsupported`], saying what can be written instead.
    pub fn parse(text: &str) -> Result<ModelSpec, ModelError> {
        ModelSpec::parse_with(text, Profiles::shipped())
    }

    /// Reads `provider:name` for a provider of this table.
    ///
    /// # Errors
    /// As [`ModelSpec::parse`].
    pub fn parse_with(text: &str, profiles: &Profiles) -> Result<ModelSpec, ModelError> {
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
        let known = profiles.provider(provider).is_some();
        if let Some((_, instead)) = ELSEWHERE
            .iter()
            .find(|(word, _)| *word == provider && !known)
        {
            return Err(unsupported(format!(
                "this build does not speak {provider}; {instead}"
            )));
        }
        let other = OTHERS.iter().find(|(word, _)| *word == provider);
        if !known && other.is_none() {
            return Err(unsupported(unknown(provider, profiles)));
        }
        if name.is_empty() {
            let form = other.map_or_else(|| form(provider), |(_, form)| (*form).to_owned());
            return Err(unsupported(format!("a name is missing: write {form}")));
        }
        let name = name.to_owned();
        match provider {
            _ if known => Ok(ModelSpec::Named {
                provider: provider.to_owned(),
                name,
            }),
            "script" => Ok(ModelSpec::Script(name)),
            #[cfg(feature = "acp")]
            "acp" => Ok(ModelSpec::Acp(name)),
            #[cfg(feature = "local")]
            "local" => Ok(ModelSpec::Local(name)),
            _ if name == "navigator" => Ok(ModelSpec::Navigator),
            _ => Err(unsupported(format!(
                "there is no builtin:{name}; the only one is builtin:navigator"
            ))),
        }
    }

    /// Where the model is reached and what is known of it; none for models without an
    /// endpoint.
    ///
    /// # Errors
    /// [`Kind::Auth`] when a key is needed and the environment holds none.
    pub fn target(&self, profiles: &Profiles, env: &Env<'_>) -> Result<Option<Target>, ModelError> {
        let target = match self {
            ModelSpec::Named { provider, name } => {
                let Some(target) = Target::named(profiles, provider, name, env) else {
                    return Err(unsupported(unknown(provider, profiles)));
                };
                target
            }
            ModelSpec::Endpoint { url, name } => Target::endpoint(url, name, env),
            _ => return Ok(None),
        };
        match target.missing_key() {
            Some(variable) => {
                let message = format!("{self} needs a key: set {variable} in the environment");
                Err(ModelError::new(Kind::Auth, message))
            }
            None => Ok(Some(target)),
        }
    }

    /// Makes the model by the table that ships with the program. Opens no connection.
    ///
    /// # Errors
    /// As [`ModelSpec::target`], [`Target::build`] and [`ScriptModel::open`].
    pub fn build(&self, env: &Env<'_>) -> Result<Arc<dyn Model>, ModelError> {
        self.build_with(Profiles::shipped(), env)
    }

    /// Makes the model by this table. Opens no connection.
    ///
    /// # Errors
    /// As [`ModelSpec::build`].
    pub fn build_with(
        &self,
        profiles: &Profiles,
        env: &Env<'_>,
    ) -> Result<Arc<dyn Model>, ModelError> {
        if let Some(target) = self.target(profiles, env)? {
            return target.build();
        }
        match self {
            ModelSpec::Script(file) => Ok(Arc::new(ScriptModel::open(file)?)),
            #[cfg(feature = "acp")]
            ModelSpec::Acp(command) => {
                let agent = crate::acp::AcpModel::new(command)?;
                Ok(Arc::new(TextTools::new(Arc::new(agent))))
            }
            #[cfg(feature = "local")]
            ModelSpec::Local(file) => Ok(Arc::new(crate::local::LocalModel::open(file)?)),
            _ => Ok(Arc::new(Navigator::new())),
        }
    }
}

/// One model behind an endpoint, with its key and all that the table says of it.
#[derive(Clone, Debug)]
pub struct Target {
    id: String,
    name: String,
    base_url: String,
    key: Option<Key>,
    key_variable: Option<String>,
    needs_key: bool,
    own: bool,
    settings: Settings,
}

impl Target {
    /// A model of a provider in the table; none for a provider that is not in it.
    pub fn named(profiles: &Profiles, provider: &str, name: &str, env: &Env<'_>) -> Option<Target> {
        let known: &Provider = profiles.provider(provider)?;
        let lookup = |variable: &Option<String>| {
            let value = env(variable.as_deref()?)?;
            (!value.trim().is_empty()).then_some(value)
        };
        let elsewhere = lookup(&known.url_variable);
        let own = elsewhere.is_none();
        let settings = profiles.settings(provider, name, own);
        let base_url = match elsewhere {
            Some(url) if settings.habits == Some(Vendor::Ollama) => ollama_url(&url),
            Some(url) => url,
            None => known.base_url.clone(),
        };
        Some(Target {
            id: format!("{provider}:{name}"),
            name: name.to_owned(),
            base_url,
            key: lookup(&known.key_variable).map(Key::new),
            key_variable: known.key_variable.clone(),
            needs_key: known.needs_key,
            own,
            settings,
        })
    }

    fn endpoint(url: &str, name: &str, env: &Env<'_>) -> Target {
        const VARIABLE: &str = "TOOLCRIB_API_KEY";
        let key = env(VARIABLE).filter(|value| !value.trim().is_empty());
        let shown = crate::http::shown_url(url);
        let shown = shown.strip_suffix("/chat/completions").unwrap_or(&shown);
        let mut settings = Settings::default();
        settings.wire = Some(WireName::Chat);
        settings.habits = Some(Vendor::Generic);
        if is_local(url) {
            // Most servers on the same machine are llama.cpp or made of it.
            settings.tools = Some(Calls::Detect);
        }
        Target {
            id: format!("{shown}#{name}"),
            name: name.to_owned(),
            base_url: url.to_owned(),
            key: key.map(Key::new),
            key_variable: Some(VARIABLE.to_owned()),
            needs_key: false,
            own: true,
            settings,
        }
    }

    /// The profile's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The wire it speaks.
    pub fn wire(&self) -> WireName {
        self.settings.wire.unwrap_or(WireName::Chat)
    }

    /// What the table says of it.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its address without secrets.
    pub fn shown_url(&self) -> String {
        crate::http::shown_url(&self.base_url)
    }

    /// Whether it is reached on this machine.
    pub fn is_local(&self) -> bool {
        is_local(&self.base_url)
    }

    /// Whether it is reached at the provider's own address.
    pub fn is_own_address(&self) -> bool {
        self.own
    }

    /// Whether the environment holds a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The variable that its key is looked up in.
    pub fn key_variable(&self) -> Option<&str> {
        self.key_variable.as_deref()
    }

    /// The variable to set before anything works; none when nothing is missing.
    pub fn missing_key(&self) -> Option<&str> {
        let missing = self.needs_key && self.own && self.key.is_none();
        self.key_variable.as_deref().filter(|_| missing)
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(crate) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// Makes the model. Opens no connection.
    ///
    /// # Errors
    /// As [`ChatModel::new`] and [`RemoteModel::new`].
    pub fn build(&self) -> Result<Arc<dyn Model>, ModelError> {
        let wire = match self.wire() {
            WireName::Chat => return self.chat(),
            WireName::Responses => Wire::Responses,
            WireName::Messages => Wire::Messages,
            WireName::Gemini => Wire::Gemini,
        };
        let settings = &self.settings;
        let mut options = RemoteOptions::new(wire, self.name.clone());
        options.base_url.clone_from(&self.base_url);
        options.key.clone_from(&self.key);
        options.id = Some(self.id.as_str().into());
        options.window = settings.window;
        options.input_limit = settings.input_limit;
        options.output_limit = settings.output_limit;
        options.price = settings.price();
        options.max_tools = settings.max_tools.or(options.max_tools);
        options.load_route = settings.load_route.unwrap_or(LoadRoute::Append);
        options.final_round = settings.final_round.unwrap_or(options.final_round);
        options.idle = idle(settings, options.idle);
        options.forced_calls = settings.forced_calls.unwrap_or(options.forced_calls);
        options.bound_thinking = settings.bound_thinking.unwrap_or_default();
        options.extra = settings.extra.clone().into_iter().collect();
        let model: Arc<dyn Model> = Arc::new(RemoteModel::new(options)?);
        Ok(match settings.tools {
            Some(Calls::Text) => Arc::new(TextTools::new(model)),
            _ => model,
        })
    }

    fn chat(&self) -> Result<Arc<dyn Model>, ModelError> {
        let settings = &self.settings;
        let vendor = settings.habits.unwrap_or(Vendor::Generic);
        let mut options = ChatOptions::new(vendor, self.name.clone());
        options.base_url.clone_from(&self.base_url);
        options.key.clone_from(&self.key);
        options.id = Some(self.id.as_str().into());
        options.window = settings.window;
        options.input_limit = settings.input_limit;
        options.output_limit = settings.output_limit;
        options.price = settings.price();
        options.max_tools = settings.max_tools;
        options.load_route = settings.load_route.unwrap_or(options.load_route);
        options.final_round = settings.final_round.or(options.final_round);
        options.forward_images = settings.images;
        options.idle = idle(settings, options.idle);
        options.forced_calls = settings.forced_calls.unwrap_or(options.forced_calls);
        options.extra = settings.extra.clone().into_iter().collect();
        let model = ChatModel::new(options)?;
        Ok(match settings.tools.unwrap_or_default() {
            Calls::Native => Arc::new(model),
            Calls::Text => Arc::new(TextTools::new(Arc::new(model))),
            Calls::Detect => Arc::new(TextTools::detecting(model)),
        })
    }
}

fn idle(settings: &Settings, default: Duration) -> Duration {
    settings.idle_seconds.map_or(default, Duration::from_secs)
}

fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let ip = host.parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelSpec::Named { provider, name } => write!(f, "{provider}:{name}"),
            ModelSpec::Endpoint { url, name } => {
                write!(f, "{}#{name}", crate::http::shown_url(url))
            }
            ModelSpec::Script(file) => write!(f, "script:{file}"),
            #[cfg(feature = "acp")]
            ModelSpec::Acp(command) => write!(f, "acp:{command}"),
            #[cfg(feature = "local")]
            ModelSpec::Local(file) => write!(f, "local:{file}"),
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
        ("ANTHROPIC_API_KEY", "anthropic:NAME"),
        ("GEMINI_API_KEY", "gemini:NAME"),
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

fn unknown(provider: &str, profiles: &Profiles) -> String {
    // A word this long is no slip of a provider's name, whatever it is.
    let distance = |word: &str, provider: &str| match provider.len() {
        0..=64 => strsim::levenshtein(word, provider),
        _ => usize::MAX,
    };
    let named = profiles.providers().map(|(name, _)| name);
    let others = OTHERS.iter().chain(ELSEWHERE).map(|(word, _)| *word);
    let close = named
        .chain(others)
        .min_by_key(|word| distance(word, provider));
    // Most of a short word would have to change to become another.
    let slips = 3.min(provider.len() / 2);
    let hint = match close.filter(|word| distance(word, provider) <= slips) {
        Some(word) => format!("did you mean {word}?"),
        None => {
            let forms = profiles.providers().map(|(name, _)| form(name));
            let others = OTHERS.iter().map(|(_, form)| (*form).to_owned());
            let forms: Vec<String> = forms.chain(others).collect();
            format!("write {} or http://HOST/v1#NAME", forms.join(", "))
        }
    };
    let shown = crate::http::excerpt(provider);
    format!("there is no provider \"{shown}\"; {hint}")
}

#[cfg(test)]
mod tests;
