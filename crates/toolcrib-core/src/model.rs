//! Models as the loop sees them.
//!
//! A wire turns a [`Request`] into a provider's dialect and back into a
//! [`Reply`]. It receives a finished plan and never filters; streaming is the
//! only way, a caller that does not care ignores the events.

use std::time::Duration;

use crate::{
    BoxFuture, History, LoadRoute, Reply, ReplyEvent, Str, ToolDialect, ToolName, TurnPlan,
};

/// Something that answers a transcript.
pub trait Model: Send + Sync {
    /// What is known of it. The same at every call.
    fn profile(&self) -> &ModelProfile;

    /// Sends one request and returns the complete reply, reporting pieces to
    /// `on_event` as they come. Dropping the future cancels the request.
    ///
    /// # Errors
    /// [`ModelError`], after the retries that the implementation does itself. A
    /// reply is returned only if its end was seen.
    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// One request of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// System prompt and tools, shared by all requests of the turn.
    pub plan: &'a TurnPlan,
    /// The transcript so far. Its last message is from the model only where the
    /// provider paused and asks to be sent the turn back.
    pub history: &'a History,
    /// Which tools may be called now.
    pub tool_choice: &'a ToolChoice,
    /// Upper limit of generated tokens; the provider's default when absent.
    pub max_output_tokens: Option<u64>,
}

/// Which tools a reply may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    /// At least one.
    Required,
    /// This one.
    Named(ToolName),
    /// None; the tool array is sent all the same.
    None,
    /// None; the tool array is left out of the request.
    Withhold,
}

/// How the tool-free final round is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalRound {
    /// Leave the tool array out: some chat templates list tools even with choice
    /// none, and models then write their markup as text.
    #[default]
    Withhold,
    /// Keep the array with choice none: some providers refuse a history with calls
    /// and no tools, and leaving it out would break the cached prefix.
    Keep,
}

/// What differs between models.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelProfile {
    /// As written on a command line: `provider:name`.
    pub id: Str,
    /// Context window in tokens, if known.
    pub window: Option<u64>,
    /// Most tokens of one prompt, if known and less than the window.
    pub input_limit: Option<u64>,
    /// Most tokens of one reply, if known.
    pub output_limit: Option<u64>,
    /// Whether tool calls are part of its wire. Without them a run with tools
    /// fails at once.
    pub native_tools: bool,
    /// How the final round is asked for.
    pub final_round: FinalRound,
    /// Most tools a request may carry.
    pub max_tools: Option<usize>,
    /// How it gets the definitions of tools loaded on the way.
    pub load_route: LoadRoute,
    /// What its API accepts of names and input schemas.
    pub dialect: ToolDialect,
    /// Price per token, if configured.
    pub price: Option<Price>,
}

impl ModelProfile {
    /// A model with native tools about which nothing else is known.
    pub fn new(id: impl Into<Str>) -> ModelProfile {
        ModelProfile {
            id: id.into(),
            window: None,
            input_limit: None,
            output_limit: None,
            native_tools: true,
            final_round: FinalRound::default(),
            max_tools: None,
            load_route: LoadRoute::default(),
            dialect: ToolDialect::default(),
            price: None,
        }
    }

    /// Tokens that a prompt may take: of the window and the limit of the input the
    /// smaller one that is known.
    pub fn prompt_room(&self) -> Option<u64> {
        self.window.into_iter().chain(self.input_limit).min()
    }

    /// Who serves it, for telemetry: the word before the colon of its id, or
    /// `openai_compatible` where the id is an address.
    pub fn provider(&self) -> &str {
        match self.id.split_once(':') {
            Some((_, rest)) if rest.starts_with("//") => "openai_compatible",
            Some((provider, _)) => provider,
            None => "unknown",
        }
    }

    /// Its name at the one who serves it: what follows the provider, or the `#` of an
    /// address.
    pub fn model(&self) -> &str {
        match self.id.split_once(':') {
            Some((_, rest)) if rest.starts_with("//") => {
                rest.rsplit_once('#').map_or("unknown", |(_, name)| name)
            }
            Some((_, name)) => name,
            None => &self.id,
        }
    }
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Of prompt tokens that were not cached.
    pub input: f64,
    /// Of prompt tokens read from the cache.
    pub cached: f64,
    /// Of generated tokens.
    pub output: f64,
}

/// The class of a [`ModelError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// No connection: name, route, TLS or proxy.
    Connect,
    /// Nothing came for longer than the idle limit.
    Idle,
    /// The key is missing or wrong.
    Auth,
    /// Out of credit or quota; waiting does not help.
    Quota,
    /// Too many requests for now.
    RateLimited,
    /// The provider is overloaded or down for now.
    Unavailable,
    /// The request itself is refused.
    BadRequest,
    /// The transcript does not fit.
    ContextOverflow {
        /// Tokens needed, if said.
        needed: Option<u64>,
        /// Tokens allowed, if said.
        allowed: Option<u64>,
    },
    /// The model produced something its own server could not use.
    ModelFault,
    /// Not the wire expected: HTML, broken JSON, a wrong shape.
    Malformed,
    /// The reply broke off before its end.
    Interrupted,
    /// This model cannot do what was asked, such as calling tools.
    Unsupported,
    /// A script ran out of replies or cannot be read.
    Script,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// The class.
    pub kind: ModelErrorKind,
    /// Whether sending the same request again can help.
    pub retryable: bool,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// One line: which endpoint, what happened, what to do next. Never a key.
    pub message: String,
}

impl ModelError {
    /// An error of this class; connection trouble and passing server states count
    /// as retryable.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        let retryable = matches!(
            kind,
            ModelErrorKind::Connect | ModelErrorKind::RateLimited | ModelErrorKind::Unavailable
        );
        ModelError {
            kind,
            retryable,
            retry_after: None,
            message: message.into(),
        }
    }

    /// The same error with the wait the provider asked for.
    pub fn retry_after(mut self, wait: Option<Duration>) -> ModelError {
        self.retry_after = wait;
        self
    }

    /// The same error, retryable or not.
    pub fn retryable(mut self, retryable: bool) -> ModelError {
        self.retryable = retryable;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_provider_and_model() {
        for (id, provider, model) in [
            ("anthropic:claude", "anthropic", "claude"),
            (
                "openrouter:vendor/name:free",
                "openrouter",
                "vendor/name:free",
            ),
            ("http://127.0.0.1:80/v1#m", "openai_compatible", "m"),
            ("http://127.0.0.1:80/v1", "openai_compatible", "unknown"),
            ("mine", "unknown", "mine"),
        ] {
            let profile = ModelProfile::new(id);
            assert_eq!(
                (profile.provider(), profile.model()),
                (provider, model),
                "{id}"
            );
        }
    }
}
