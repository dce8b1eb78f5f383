//! The OpenAI chat wire against any base URL.
//!
//! It always streams; who does not care for the pieces ignores the events. It is
//! thin on purpose: the fields this project is about (cached prefixes, costs,
//! signatures, argument bytes) are the ones that client libraries hide. It does
//! not filter tools, cut results or repair transcripts: it receives finished plans.

mod body;
mod dialect;
mod endpoint;
mod fault;
mod merge;
mod raw;
mod reply;
mod secret;
mod stream;
mod text;
mod usage;
mod wire;

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::{Client, Response};
use toolcrib_core::{
    BoxFuture, FinalRound, LoadRoute, Model, ModelError, ModelErrorKind, ModelProfile, Price,
    Reply, ReplyEvent, Request, Str, ToolChoice,
};

use crate::retry::{self, RetryPolicy};
use body::Renderer;
use endpoint::Endpoint;
use fault::Fault;

pub use dialect::Vendor;
pub(crate) use endpoint::shown_url;
pub(crate) use fault::excerpt;
pub(crate) use reply::Ids;
pub use secret::Key;

/// How a chat endpoint is reached and what is known of its model.
#[derive(Clone)]
#[non_exhaustive]
pub struct ChatOptions {
    /// Whose habits the server has.
    pub vendor: Vendor,
    /// Up to and without `/chat/completions`; may hold a query.
    pub base_url: String,
    /// The model's name as the server knows it.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<Key>,
    /// The profile's id; `provider:name` unless given.
    pub id: Option<Str>,
    /// Context window in tokens, if known.
    pub window: Option<u64>,
    /// For estimates where the server reports no cost.
    pub price: Option<Price>,
    /// How the tool-free final round is asked for; the vendor's habit unless given.
    pub final_round: Option<FinalRound>,
    /// How the model gets the definitions of tools loaded on the way: appended to
    /// the array unless given. The positional route declares them in the transcript.
    pub load_route: LoadRoute,
    /// Whether images in tool results are sent on; the vendor's habit unless given.
    pub forward_images: Option<bool>,
    /// Further members of every body, such as `temperature`. Later ones of the same
    /// name win with most servers, so name none that this wire writes itself.
    pub extra: Vec<(String, serde_json::Value)>,
    /// When a request is sent again.
    pub retry: RetryPolicy,
    /// Longest time without a byte while an answer is awaited or under way.
    pub idle: Duration,
    /// Longest time until a connection stands.
    pub connect: Duration,
}

impl ChatOptions {
    /// The vendor's own address and habits; no key.
    pub fn new(vendor: Vendor, model: impl Into<String>) -> ChatOptions {
        ChatOptions {
            vendor,
            base_url: vendor.dialect().base_url.to_owned(),
            model: model.into(),
            key: None,
            id: None,
            window: None,
            price: None,
            final_round: None,
            load_route: LoadRoute::default(),
            forward_images: None,
            extra: Vec::new(),
            retry: RetryPolicy::default(),
            idle: Duration::from_secs(300),
            connect: Duration::from_secs(10),
        }
    }

    /// The same options with another address.
    pub fn base_url(mut self, url: impl Into<String>) -> ChatOptions {
        self.base_url = url.into();
        self
    }

    /// The same options with a key.
    pub fn key(mut self, key: Key) -> ChatOptions {
        self.key = Some(key);
        self
    }
}

/// Shows no key and none of the address but scheme, host, port and path.
impl fmt::Debug for ChatOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatOptions")
            .field("vendor", &self.vendor)
            .field("base_url", &shown_url(&self.base_url))
            .field("model", &self.model)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// A model behind a chat endpoint. Make one and share it: it keeps its connection.
pub struct ChatModel {
    profile: ModelProfile,
    endpoint: Endpoint,
    client: Client,
    renderer: Renderer,
    retry: RetryPolicy,
    idle: Duration,
}

impl fmt::Debug for ChatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatModel")
            .field("id", &self.profile.id)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl ChatModel {
    /// A model behind this endpoint; sends nothing yet.
    ///
    /// # Errors
    /// [`ModelErrorKind::Unsupported`] for an unusable address, `Auth` for an
    /// unusable key, `Connect` when no client can be made.
    pub fn new(options: ChatOptions) -> Result<ChatModel, ModelError> {
        let dialect = options.vendor.dialect();
        let endpoint = Endpoint::new(&options.base_url, options.key.as_ref())?;
        let id = options.id.unwrap_or_else(|| match dialect.word {
            "" => format!("{}#{}", endpoint.shown(), options.model).into(),
            word => format!("{word}:{}", options.model).into(),
        });
        let mut profile = ModelProfile::new(id.clone());
        profile.window = options.window;
        profile.price = options.price;
        profile.load_route = options.load_route;
        profile.max_tools = dialect.max_tools;
        let keeps = |prefix: &&str| options.model.starts_with(*prefix);
        profile.final_round = options.final_round.unwrap_or_else(|| {
            if dialect.keeps_tools.iter().any(keeps) {
                FinalRound::Keep
            } else {
                dialect.final_round
            }
        });
        Ok(ChatModel {
            client: endpoint.client(options.connect)?,
            renderer: Renderer {
                dialect,
                head: body::head(dialect, &options.model, &options.extra),
                id,
                forwards_images: options.forward_images.unwrap_or(dialect.forwards_images),
                declares: options.load_route == LoadRoute::Positional,
            },
            endpoint,
            profile,
            retry: options.retry,
            idle: options.idle,
        })
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Fault> {
        let tools = request.plan.tools();
        if let Some(most) = self.profile.max_tools.filter(|most| tools.len() > *most) {
            let what = format!("takes at most {most} tools, {} are offered", tools.len());
            return Err(Fault::new(
                ModelErrorKind::Unsupported,
                what,
                "defer or filter some",
            ));
        }
        match request.tool_choice {
            ToolChoice::Named(name) if !tools.iter().any(|tool| tool.name == *name) => {
                let what =
                    format!("was not asked: the tool {name} that it must call is not offered");
                Err(Fault::new(ModelErrorKind::BadRequest, what, ""))
            }
            _ => Ok(()),
        }
    }

    async fn send(&self, body: Bytes) -> Result<Response, Fault> {
        let request = self.client.post(self.endpoint.url()).body(body).send();
        let response = match tokio::time::timeout(self.idle, request).await {
            Err(_) => return Err(Fault::idle(self.idle)),
            Ok(Err(error)) => return Err(self.endpoint.transport(&error, false)),
            Ok(Ok(response)) => response,
        };
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let asked = retry::asked_wait(header, SystemTime::now());
        let told = header("x-should-retry").map(str::to_ascii_lowercase);
        let body = stream::error_body(response, self.idle).await;
        let mut fault = Fault::of_status(status, &body);
        fault.retry_after = asked;
        match told.as_deref() {
            Some("true") => fault.retryable = true,
            Some("false") => fault.retryable = false,
            _ => {}
        }
        Err(fault)
    }

    async fn attempt(
        &self,
        request: &Request<'_>,
        body: Bytes,
        delivered: &mut bool,
        on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> Result<Reply, Fault> {
        let response = self.send(body).await?;
        let mut assembler = reply::Assembler::default();
        let read = stream::read(response, self.idle, &mut assembler, on_event).await;
        *delivered = assembler.delivered;
        match read {
            Ok(()) => {}
            Err(stream::ReadError::Fault(fault)) => return Err(fault),
            Err(stream::ReadError::Transport(error)) => {
                return Err(self.endpoint.transport(&error, true));
            }
        }
        assembler.finish(request.history, &self.profile, on_event)
    }
}

impl Model for ChatModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let fail = |fault| self.endpoint.error(fault);
            self.check(&request).map_err(fail)?;
            let body = self.renderer.body(&request);
            let mut attempt = 1;
            loop {
                let mut delivered = false;
                let tried = self.attempt(&request, body.clone(), &mut delivered, on_event);
                let mut fault = match tried.await {
                    Ok(reply) => return Ok(reply),
                    Err(fault) => fault,
                };
                // What was shown cannot be taken back: a second reply would double it.
                fault.retryable &= !delivered;
                let connecting = fault.kind == ModelErrorKind::Connect;
                let wait = if fault.retryable {
                    let asked = fault.retry_after;
                    self.retry.wait(attempt, connecting, asked, retry::chance())
                } else {
                    None
                };
                let error = fail(fault);
                let Some(wait) = wait else {
                    return Err(error);
                };
                attempt += 1;
                tracing::debug!(attempt, ?wait, reason = %error.message, "sending again");
                on_event(ReplyEvent::Retrying {
                    attempt,
                    wait,
                    reason: &error.message,
                });
                tokio::time::sleep(wait).await;
            }
        })
    }
}
