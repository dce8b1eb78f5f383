//! Models behind the wires of one provider each: Anthropic Messages, OpenAI
//! Responses and Gemini.
//!
//! One type for the three, since they differ in how a request is written and an
//! answer read and in nothing else; both are behind [`Assemble`] and a renderer.

use std::fmt;
use std::time::Duration;

use toolcrib_core::{
    BoxFuture, FinalRound, LoadRoute, Model, ModelError, ModelProfile, Price, Reply, ReplyEvent,
    Request, Str, ToolDialect,
};

use crate::http::{self, Auth, Endpoint, Key, Route, Sender};
use crate::reask::{self, Once};
use crate::retry::RetryPolicy;
use crate::{gemini, messages, responses};

/// A wire that is one provider's own, spoken by proxies and some local servers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wire {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses, without anything stored on the server.
    Responses,
    /// Gemini `generateContent`.
    Gemini,
}

impl Wire {
    /// The provider's word before the colon of a profile id.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Wire::Messages => "anthropic",
            Wire::Responses => "openai",
            Wire::Gemini => "gemini",
        }
    }

    /// What the provider accepts of names and schemas.
    fn tools(self) -> ToolDialect {
        match self {
            Wire::Messages => ToolDialect::Anthropic,
            Wire::Responses => ToolDialect::OpenAi,
            Wire::Gemini => ToolDialect::Gemini,
        }
    }

    fn base_url(self) -> &'static str {
        match self {
            Wire::Messages => "https://api.anthropic.com",
            Wire::Responses => "https://api.openai.com/v1",
            Wire::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    fn route(self, model: &str, loads: LoadRoute, bound: bool) -> Route {
        match self {
            Wire::Messages => Route {
                drops: &["/v1/messages", "/v1"],
                path: "/v1/messages".to_owned(),
                query: None,
                auth: Auth::Header("x-api-key"),
                headers: match (loads, bound) {
                    (LoadRoute::Positional, false) => &[
                        ("anthropic-version", "2023-06-01"),
                        ("anthropic-beta", "mid-conversation-tool-changes-2026-07-01"),
                    ],
                    (LoadRoute::Positional, true) => &[
                        ("anthropic-version", "2023-06-01"),
                        (
                            "anthropic-beta",
                            "mid-conversation-tool-changes-2026-07-01,thinking-binding-controls-2026-08-01",
                        ),
                    ],
                    (_, true) => &[
                        ("anthropic-version", "2023-06-01"),
                        ("anthropic-beta", "thinking-binding-controls-2026-08-01"),
                    ],
                    _ => &[("anthropic-version", "2023-06-01")],
                },
                example: "https://api.anthropic.com",
                advice: "check the base URL, to which /v1/messages is added",
            },
            Wire::Responses => Route {
                drops: &["/responses"],
                path: "/responses".to_owned(),
                query: None,
                auth: Auth::Bearer,
                headers: &[],
                example: "https://api.openai.com/v1",
                advice: "check the base URL, which usually ends in /v1",
            },
            Wire::Gemini => Route {
                drops: &["/v1beta/models", "/v1beta"],
                path: format!("/v1beta/models/{model}:streamGenerateContent"),
                query: Some(("alt", "sse")),
                auth: Auth::Header("x-goog-api-key"),
                headers: &[],
                example: "https://generativelanguage.googleapis.com",
                advice: "check the base URL, to which /v1beta is added",
            },
        }
    }
}

/// How a model is reached and what is known of it.
#[derive(Clone)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// How it is spoken to.
    pub wire: Wire,
    /// The provider's own address unless given; a proxy's or a local server's.
    pub base_url: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// Sent in the header that the wire names.
    pub key: Option<Key>,
    /// The profile's id; `provider:name` unless given.
    pub id: Option<Str>,
    /// Context window in tokens, if known.
    pub window: Option<u64>,
    /// Most tokens of one prompt, if known and less than the window.
    pub input_limit: Option<u64>,
    /// Most tokens of one reply, if known. Messages requests must name a limit and
    /// send 8,192 where none is known.
    pub output_limit: Option<u64>,
    /// For estimates: these providers report no cost.
    pub price: Option<Price>,
    /// How the tool-free final round is asked for.
    pub final_round: FinalRound,
    /// How the model gets the definitions of tools loaded on the way.
    pub load_route: LoadRoute,
    /// Most tools of one request.
    pub max_tools: Option<usize>,
    /// Whether the model takes a tool choice that forces a call. One that does not is
    /// asked for it in words, and the reply's end says where that did not help.
    pub forced_calls: bool,
    /// Whether the model's thinking is tied to all that came before it (Messages): the
    /// server is asked to drop thinking that no longer fits, as after the transcript
    /// was made shorter, instead of refusing the request.
    pub bound_thinking: bool,
    /// Further members of every body, such as `thinking`. Name none that the wire
    /// writes itself.
    pub extra: Vec<(String, serde_json::Value)>,
    /// When a request is sent again.
    pub retry: RetryPolicy,
    /// Longest time without a byte while an answer is awaited or under way.
    pub idle: Duration,
    /// Longest time until a connection stands.
    pub connect: Duration,
}

impl RemoteOptions {
    /// The provider's own address and habits; no key.
    pub fn new(wire: Wire, model: impl Into<String>) -> RemoteOptions {
        RemoteOptions {
            wire,
            base_url: wire.base_url().to_owned(),
            model: model.into(),
            key: None,
            id: None,
            window: None,
            input_limit: None,
            output_limit: None,
            price: None,
            final_round: FinalRound::Keep,
            load_route: match wire {
                Wire::Messages => LoadRoute::Native,
                Wire::Responses | Wire::Gemini => LoadRoute::Append,
            },
            max_tools: match wire {
                Wire::Messages | Wire::Gemini => None,
                Wire::Responses => Some(128),
            },
            forced_calls: true,
            bound_thinking: false,
            extra: Vec::new(),
            retry: RetryPolicy::default(),
            idle: Duration::from_secs(300),
            connect: Duration::from_secs(10),
        }
    }
}

crate::options::endpoint_options!(RemoteOptions, wire);

enum Renderer {
    Messages(messages::Renderer),
    Responses(responses::Renderer),
    Gemini(gemini::Renderer),
}

/// A model behind one of these wires. Make one and share it: it keeps its
/// connection.
pub struct RemoteModel {
    profile: ModelProfile,
    sender: Sender,
    renderer: Renderer,
    takes_force: bool,
}

impl fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteModel")
            .field("id", &self.profile.id)
            .field("endpoint", self.sender.endpoint())
            .finish_non_exhaustive()
    }
}

impl RemoteModel {
    /// A model behind this endpoint; sends nothing yet.
    ///
    /// # Errors
    /// [`toolcrib_core::ModelErrorKind::Unsupported`] for an unusable address,
    /// `Auth` for an unusable key, `Connect` when no client can be made.
    pub fn new(options: RemoteOptions) -> Result<RemoteModel, ModelError> {
        let wire = options.wire;
        let route = wire.route(&options.model, options.load_route, options.bound_thinking);
        let endpoint = Endpoint::new(&options.base_url, options.key.as_ref(), &route)?;
        let id = options
            .id
            .unwrap_or_else(|| format!("{}:{}", wire.word(), options.model).into());
        let mut profile = ModelProfile::new(id.clone());
        profile.window = options.window;
        profile.input_limit = options.input_limit;
        profile.output_limit = options.output_limit;
        profile.price = options.price;
        profile.load_route = options.load_route;
        profile.final_round = options.final_round;
        profile.max_tools = options.max_tools;
        profile.dialect = wire.tools();
        let additions = options.load_route == LoadRoute::Positional;
        let native = options.load_route == LoadRoute::Native;
        let (model, extra) = (&options.model, &options.extra);
        let renderer = match wire {
            Wire::Messages => Renderer::Messages(messages::Renderer {
                head: messages::head(model, extra, options.bound_thinking),
                id,
                native: native || additions,
                additions,
                output_limit: options.output_limit,
            }),
            Wire::Responses => Renderer::Responses(responses::Renderer {
                head: responses::head(model, extra),
                id,
                native,
                additions,
                whole_texts: options.base_url != wire.base_url(),
            }),
            Wire::Gemini => Renderer::Gemini(gemini::Renderer {
                head: gemini::head(extra),
                id,
            }),
        };
        Ok(RemoteModel {
            profile,
            sender: Sender::new(endpoint, options.connect, options.idle, options.retry)?,
            renderer,
            takes_force: options.forced_calls,
        })
    }
}

impl Model for RemoteModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(reask::ask(self, request, on_event))
    }
}

impl Once for RemoteModel {
    fn takes_force(&self) -> bool {
        self.takes_force
    }

    fn once<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let (sender, profile) = (&self.sender, &self.profile);
            http::check(&request, profile).map_err(|fault| sender.endpoint().error(fault))?;
            match &self.renderer {
                Renderer::Messages(renderer) => {
                    let body = renderer.body(&request);
                    let asked =
                        sender.ask::<messages::Assembler>(&request, profile, body, on_event);
                    asked.await
                }
                Renderer::Responses(renderer) => {
                    let body = renderer.body(&request);
                    let asked =
                        sender.ask::<responses::Assembler>(&request, profile, body, on_event);
                    asked.await
                }
                Renderer::Gemini(renderer) => {
                    let body = renderer.body(&request);
                    let asked = sender.ask::<gemini::Assembler>(&request, profile, body, on_event);
                    asked.await
                }
            }
        })
    }
}
