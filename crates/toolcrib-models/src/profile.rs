//! What is known of providers and models, as data.
//!
//! A table ships with the program; a user's file of the same form adds to it and
//! wins over it. A new model is a line there, not a release. What a wire does is code
//! and no part of the table.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use toolcrib_core::{FinalRound, LoadRoute, Price};

use crate::chat::Vendor;

/// Which wire a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WireName {
    /// OpenAI chat completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini `generateContent`.
    Gemini,
}

impl WireName {
    /// Its word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            WireName::Chat => "chat",
            WireName::Responses => "responses",
            WireName::Messages => "messages",
            WireName::Gemini => "gemini",
        }
    }
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Calls {
    /// As the wire has it.
    #[default]
    Native,
    /// Written into its text.
    Text,
    /// As the wire has it, unless the server says that it cannot.
    Detect,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    input: f64,
    cached: Option<f64>,
    output: f64,
}

/// What may be said of a provider or of some models. Absent is not known, or as the
/// wire has it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// The wire.
    pub wire: Option<WireName>,
    /// Whose habits a chat server has.
    pub habits: Option<Vendor>,
    /// Tokens that prompt and reply share.
    pub window: Option<u64>,
    /// Most tokens of one prompt, where that is less than the window.
    pub input_limit: Option<u64>,
    /// Most tokens of one reply.
    pub output_limit: Option<u64>,
    /// Most tools of one request.
    pub max_tools: Option<usize>,
    /// How it calls tools.
    pub tools: Option<Calls>,
    /// How definitions that are loaded on the way reach it.
    pub load_route: Option<LoadRoute>,
    /// Whether the last round still lists the tools.
    pub final_round: Option<FinalRound>,
    /// Whether images in results are sent on, where the wire leaves a choice.
    pub images: Option<bool>,
    /// Whether it takes a tool choice that forces a call.
    pub forced_calls: Option<bool>,
    /// Whether its thinking is tied to all that came before it.
    pub bound_thinking: Option<bool>,
    price: Option<PriceEntry>,
    /// When and where limits and prices were looked up.
    pub checked: Option<String>,
    /// Longest time without a byte of an answer, in seconds.
    pub idle_seconds: Option<u64>,
    /// Further members of every request.
    pub extra: BTreeMap<String, serde_json::Value>,
}

impl Settings {
    /// These settings with `over`'s where it has them.
    fn overlay(&mut self, over: &Settings) {
        fn take<T: Clone>(old: &mut Option<T>, new: &Option<T>) {
            if new.is_some() {
                old.clone_from(new);
            }
        }
        take(&mut self.wire, &over.wire);
        take(&mut self.habits, &over.habits);
        take(&mut self.window, &over.window);
        take(&mut self.input_limit, &over.input_limit);
        take(&mut self.output_limit, &over.output_limit);
        take(&mut self.max_tools, &over.max_tools);
        take(&mut self.tools, &over.tools);
        take(&mut self.load_route, &over.load_route);
        take(&mut self.final_round, &over.final_round);
        take(&mut self.images, &over.images);
        take(&mut self.forced_calls, &over.forced_calls);
        take(&mut self.bound_thinking, &over.bound_thinking);
        take(&mut self.price, &over.price);
        take(&mut self.checked, &over.checked);
        take(&mut self.idle_seconds, &over.idle_seconds);
        self.extra.extend(over.extra.clone());
    }

    /// For estimates where no cost is reported. Cached tokens cost what others do
    /// unless the table says less.
    pub fn price(&self) -> Option<Price> {
        self.price.map(|price| Price {
            input: price.input,
            cached: price.cached.unwrap_or(price.input),
            output: price.output,
        })
    }
}

/// Where a provider is reached.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Provider {
    /// Its own address.
    pub base_url: String,
    /// Environment variable that names another address.
    pub url_variable: Option<String>,
    /// Environment variable that holds the key.
    pub key_variable: Option<String>,
    /// Whether nothing works without a key at its own address.
    pub needs_key: bool,
    settings: Settings,
    elsewhere: Settings,
}

/// A table that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
#[non_exhaustive]
pub struct ProfileError {
    /// The file.
    pub place: String,
    /// Which key, and what is wrong with it.
    pub what: String,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles {
    providers: BTreeMap<String, Provider>,
    models: Vec<(String, Settings)>,
}

const SHIPPED: &str = include_str!("../profiles.toml");

impl Profiles {
    /// The table that ships with the program.
    pub fn shipped() -> &'static Profiles {
        static TABLE: OnceLock<Profiles> = OnceLock::new();
        // A test reads it; an unreadable one would leave every provider unknown.
        TABLE.get_or_init(|| {
            Profiles::default()
                .with(SHIPPED, "profiles.toml")
                .unwrap_or_default()
        })
    }

    /// This table with what `text` adds to it; `place` is for messages.
    ///
    /// # Errors
    /// [`ProfileError`] that names the key at fault.
    pub fn with(&self, text: &str, place: &str) -> Result<Profiles, ProfileError> {
        let wrong = |what: String| ProfileError {
            place: place.to_owned(),
            what: what.replace('\n', " ").trim().to_owned(),
        };
        let mut table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| wrong(placed(&error, text)))?;
        let mut profiles = self.clone();
        if let Some(providers) = table.remove("providers") {
            let toml::Value::Table(providers) = providers else {
                return Err(wrong("`providers` must be a table".to_owned()));
            };
            for (name, entry) in providers {
                let at = format!("providers.{name}");
                let known = profiles.providers.entry(name.clone()).or_default();
                provider(known, entry).map_err(|what| wrong(format!("{at}: {what}")))?;
                let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                if name.is_empty() || !name.chars().all(fits) {
                    let what = "a provider's name has lower case letters, digits and - only";
                    return Err(wrong(format!("{at}: {what}")));
                }
                if known.base_url.is_empty() {
                    return Err(wrong(format!("{at}: `base_url` is missing")));
                }
            }
        }
        if let Some(models) = table.remove("models") {
            let toml::Value::Array(models) = models else {
                return Err(wrong(
                    "`models` must be a list: write [[models]]".to_owned(),
                ));
            };
            for (at, entry) in models.into_iter().enumerate() {
                let at = format!("models[{at}]");
                let entry = model(entry).map_err(|what| wrong(format!("{at}: {what}")))?;
                profiles.models.push(entry);
            }
        }
        match table.keys().next() {
            Some(key) => Err(wrong(format!(
                "unknown key `{key}`; expected `providers` or `models`"
            ))),
            None => Ok(profiles),
        }
    }

    /// All providers, in name order.
    pub fn providers(&self) -> impl Iterator<Item = (&str, &Provider)> {
        self.providers.iter().map(|(name, p)| (name.as_str(), p))
    }

    /// The provider of that name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.get(name)
    }

    /// What is known of one model; `own` says whether the provider is reached at its
    /// own address.
    pub fn settings(&self, provider: &str, model: &str, own: bool) -> Settings {
        let mut settings = Settings::default();
        let known = self.providers.get(provider);
        if let Some(known) = known {
            settings.overlay(&known.settings);
        }
        let id = format!("{provider}:{model}");
        for (pattern, entry) in &self.models {
            if matches(pattern, &id) {
                settings.overlay(entry);
            }
        }
        if let (Some(known), false) = (known, own) {
            settings.overlay(&known.elsewhere);
        }
        settings
    }

    /// The entries that say something of this model, for explanations.
    pub fn matching(&self, provider: &str, model: &str) -> Vec<&str> {
        let id = format!("{provider}:{model}");
        let entries = self.models.iter().map(|(pattern, _)| pattern.as_str());
        entries.filter(|pattern| matches(pattern, &id)).collect()
    }
}

fn provider(known: &mut Provider, entry: toml::Value) -> Result<(), String> {
    let toml::Value::Table(mut entry) = entry else {
        return Err("must be a table".to_owned());
    };
    let mut text = |key: &str| match entry.remove(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` must be a text, not {other}")),
    };
    if let Some(url) = text("base_url")? {
        known.base_url = url;
    }
    if let Some(variable) = text("url_variable")? {
        known.url_variable = Some(variable);
    }
    if let Some(variable) = text("key_variable")? {
        known.key_variable = Some(variable);
    }
    match entry.remove("needs_key") {
        None => {}
        Some(toml::Value::Boolean(needs)) => known.needs_key = needs,
        Some(other) => return Err(format!("`needs_key` must be true or false, not {other}")),
    }
    match entry.remove("elsewhere") {
        None => {}
        Some(toml::Value::Table(elsewhere)) => {
            let elsewhere = settings(elsewhere, "").map_err(|what| format!("elsewhere: {what}"))?;
            known.elsewhere.overlay(&elsewhere);
        }
        Some(other) => return Err(format!("`elsewhere` must be a table, not {other}")),
    }
    let own = "`base_url`, `url_variable`, `key_variable`, `needs_key`, `elsewhere`, ";
    known.settings.overlay(&settings(entry, own)?);
    Ok(())
}

/// What is wrong with the form of a table, and in which line.
fn placed(error: &toml::de::Error, text: &str) -> String {
    let start = error.span().map(|span| span.start);
    match start.and_then(|start| text.get(..start)) {
        Some(before) => format!(
            "line {}: {}",
            before.matches('\n').count() + 1,
            error.message()
        ),
        None => error.message().to_owned(),
    }
}

/// Reads what is left of an entry; `own` lists the keys that were taken out of it.
fn settings(entry: toml::Table, own: &str) -> Result<Settings, String> {
    let settings: Settings =
        toml::Value::Table(entry)
            .try_into()
            .map_err(|error: toml::de::Error| {
                let all = format!("expected one of {own}`wire`");
                error.message().replacen("expected one of `wire`", &all, 1)
            })?;
    let counts = [
        ("window", settings.window),
        ("input_limit", settings.input_limit),
        ("output_limit", settings.output_limit),
        ("idle_seconds", settings.idle_seconds),
    ];
    if let Some((key, _)) = counts.iter().find(|(_, count)| *count == Some(0)) {
        return Err(format!("`{key}` must be at least 1"));
    }
    // A price below nothing, or none at all, would lift every limit of cost.
    let sound = |amount: f64| amount.is_finite() && amount >= 0.0;
    match settings.price() {
        Some(price)
            if ![price.input, price.cached, price.output]
                .into_iter()
                .all(sound) =>
        {
            Err("`price` must be US dollars a million tokens, 0 or more".to_owned())
        }
        _ => Ok(settings),
    }
}

fn model(entry: toml::Value) -> Result<(String, Settings), String> {
    let toml::Value::Table(mut entry) = entry else {
        return Err("must be a table".to_owned());
    };
    let Some(toml::Value::String(pattern)) = entry.remove("match") else {
        return Err("`match` is missing: write PROVIDER:MODEL, where * stands for any text".into());
    };
    if !pattern.contains([':', '*']) {
        let what = "fits no model: write PROVIDER:MODEL, where * stands for any text";
        return Err(format!("`match` {what}"));
    }
    Ok((pattern, settings(entry, "`match`, ")?))
}

/// Whether `text` is what `pattern` describes; `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    let mut rest = rest;
    while let Some((part, more)) = rest.split_once('*') {
        let Some(at) = text.find(part) else {
            return false;
        };
        text = &text[at + part.len()..];
        rest = more;
    }
    text.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_reads_and_knows_the_usual_providers() {
        let table = Profiles::default().with(SHIPPED, "profiles.toml").unwrap();
        assert_eq!(&table, Profiles::shipped());
        let names: Vec<&str> = table.providers().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "anthropic",
                "gemini",
                "llamacpp",
                "lmstudio",
                "ollama",
                "openai",
                "openrouter",
                "vllm"
            ]
        );
        for (pattern, _) in &table.models {
            let provider = pattern.split(':').next().unwrap();
            assert!(table.provider(provider).is_some(), "{pattern}");
        }
        // What costs money, fits or is refused was looked up.
        for (pattern, entry) in &table.models {
            let told = entry.checked.as_deref().unwrap_or_default();
            let free = entry.price.is_none()
                && entry.window.or(entry.output_limit).is_none()
                && entry.forced_calls.or(entry.bound_thinking).is_none();
            assert!(free || told.starts_with("20"), "{pattern}");
        }
        for (name, _) in table.providers() {
            let settings = table.settings(name, "m", true);
            let chat = settings.wire == Some(WireName::Chat);
            assert!(!chat || settings.habits.is_some(), "{name}");
        }
    }

    #[test]
    fn settings_of_a_model_are_those_of_its_provider_and_of_all_entries_that_match() {
        let table = Profiles::shipped();
        let old = table.settings("anthropic", "claude-3-haiku-20240307", true);
        assert_eq!(old.output_limit, Some(4096));
        assert_eq!(old.load_route, Some(LoadRoute::Append));
        assert_eq!(old.window, Some(200_000));
        let new = table.settings("anthropic", "claude-sonnet-4-5", true);
        assert_eq!(new.load_route, Some(LoadRoute::Native));
        assert_eq!(new.price().unwrap().output, 15.0);
        let proxied = table.settings("anthropic", "claude-sonnet-4-5", false);
        assert_eq!(proxied.load_route, Some(LoadRoute::Append));
        for bound in ["opus-5-5", "sonnet-5-5", "fable-5-1"] {
            let bound = table.settings("anthropic", &format!("claude-{bound}"), true);
            assert_eq!(bound.forced_calls, Some(false));
            assert_eq!(bound.bound_thinking, Some(true));
        }
        let free = table.settings("anthropic", "claude-opus-5", true);
        assert_eq!((free.forced_calls, free.bound_thinking), (None, None));
        assert_eq!(free.price().unwrap().cached, 0.5);
        let limits = |provider, model| {
            let settings = table.settings(provider, model, true);
            (settings.window, settings.output_limit)
        };
        let both = |window, output| (Some(window), Some(output));
        assert_eq!(limits("openai", "gpt-5.2"), both(400_000, 128_000));
        assert_eq!(
            limits("openai", "gpt-5.2-chat-latest"),
            both(128_000, 16_384)
        );
        assert_eq!(limits("openai", "gpt-5.4"), both(1_050_000, 128_000));
        assert_eq!(limits("openai", "gpt-5.4-mini"), both(400_000, 128_000));
        // What a prompt may take is less than the window where the reply's share is its own.
        for (model, limit) in [
            ("gpt-5", Some(272_000)),
            ("gpt-5.3-chat-latest", Some(128_000)),
            ("gpt-5.4", Some(922_000)),
            ("gpt-5.4-mini", Some(272_000)),
            ("gpt-4o", None),
        ] {
            let settings = table.settings("openai", model, true);
            assert_eq!(settings.input_limit, limit, "{model}");
        }
        assert_eq!(limits("gemini", "gemini-2.5-pro"), both(1_048_576, 65_536));
        let openai = |own| table.settings("openai", "gpt-5.4", own);
        assert_eq!(openai(true).wire, Some(WireName::Responses));
        assert_eq!(openai(true).load_route, Some(LoadRoute::Native));
        assert_eq!(openai(false).wire, Some(WireName::Chat));
        assert_eq!(table.settings("openai", "unheard", true).window, None);
    }

    #[test]
    fn a_users_file_adds_and_wins_key_by_key() {
        let table = Profiles::shipped()
            .with(
                "[providers.mine]\nwire = 'chat'\nbase_url = 'http://h/v1'\nhabits = 'vllm'\n\
                 [providers.ollama]\nwindow = 8192\n\
                 [[models]]\nmatch = 'openai:gpt-5*'\nwindow = 1000\nextra = { reasoning = { effort = 'low' } }\n",
                "models.toml",
            )
            .unwrap();
        assert_eq!(table.provider("mine").unwrap().base_url, "http://h/v1");
        let ollama = table.settings("ollama", "m", true);
        assert_eq!(
            (ollama.window, ollama.habits),
            (Some(8192), Some(Vendor::Ollama))
        );
        let gpt = table.settings("openai", "gpt-5", true);
        assert_eq!((gpt.window, gpt.output_limit), (Some(1000), Some(128_000)));
        assert_eq!(gpt.extra["reasoning"]["effort"], "low");
    }

    #[test]
    fn each_mistake_names_file_and_key() {
        let check = |text: &str, expected: &str| {
            let error = Profiles::shipped().with(text, "models.toml").unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
            assert!(!error.to_string().contains('\n'));
        };
        check(
            "[[models]]\nmatch = 'a:b'\ninput_limit = 0",
            "models.toml: models[0]: `input_limit` must be at least 1",
        );
        check(
            "[provider.x]",
            "models.toml: unknown key `provider`; expected",
        );
        check(
            "[providers.x]\nwire = 'chat'",
            "models.toml: providers.x: `base_url` is missing",
        );
        check(
            "[providers.x]\nbase_url = 'b'\nwindw = 3",
            "models.toml: providers.x: unknown field `windw`, expected one of",
        );
        check(
            "[[models]]\nwindow = 3",
            "models.toml: models[0]: `match` is missing",
        );
        check(
            "[[models]]\nmatch = 'a:b'\nfinal_round = 'kep'",
            "models.toml: models[0]: unknown variant `kep`",
        );
        check(
            "[providers.X]\nbase_url = 'b'",
            "models.toml: providers.X: a provider's name",
        );
        check("models = 3", "models.toml: `models` must be a list");
        check("= 3", "models.toml: line 1: ");
        check("models = []\n\n[providers.x", "models.toml: line 3: ");
        check(
            "[providers.x]\nbase_ulr = 'b'",
            "models.toml: providers.x: unknown field `base_ulr`, expected one of `base_url`, ",
        );
        check(
            "[[models]]\nmatch = 'gpt-5'",
            "models.toml: models[0]: `match` fits no model",
        );
        for price in [
            "{ input = -1, output = 1 }",
            "{ input = 1, output = nan }",
            "{ input = 1, cached = inf, output = 1 }",
        ] {
            check(
                &format!("[[models]]\nmatch = 'a:b'\nprice = {price}"),
                "models.toml: models[0]: `price` must be",
            );
        }
        check(
            "[providers.x]\nbase_url = 'b'\nelsewhere = { window = 0 }",
            "models.toml: providers.x: elsewhere: `window` must be at least 1",
        );
    }

    #[test]
    fn patterns_have_any_number_of_stars() {
        for (pattern, text, expected) in [
            ("a:b", "a:b", true),
            ("a:b", "a:bc", false),
            ("a:*", "a:", true),
            ("a:*x*", "a:1x2", true),
            ("a:*x*y", "a:x", false),
            ("*:m-*-z", "p:m-1-z", true),
            ("a:*b", "a:b", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
