//! The OpenAI chat wire against any base URL.
//!
//! It always streams; who does not care for the pieces ignores the events. It is
//! thin on purpose: the fields this project is about (cached prefixes, costs,
//! signatures, argument bytes) are the ones that client libraries hide. It does
//! not filter tools, cut results or repair transcripts: it receives finished plans.

mod body;
mod dialect;
mod merge;
pub(crate) mod reply;
mod usage;
mod wire;

use std::fmt;
use std::time::Duration;

use toolcrib_core::{
    BoxFuture, FinalRound, LoadRoute, Model, ModelError, ModelProfile, Price, Reply, ReplyEvent,
    Request, Str,
};

use crate::http::{self, Auth, Endpoint, Key, Route, Sender};
use crate::reask::{self, Once};
use crate::retry::RetryPolicy;
use body::Renderer;

pub use dialect::Vendor;
pub(crate) use reply::Ids;

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
    /// Most tokens of one prompt, if known and less than the window.
    pub input_limit: Option<u64>,
    /// Most tokens of one reply, if known.
    pub output_limit: Option<u64>,
    /// Most tools of one request; the vendor's limit unless given.
    pub max_tools: Option<usize>,
    /// For estimates where the server reports no cost.
    pub price: Option<Price>,
    /// How the tool-free final round is asked for; the vendor's habit unless given.
    pub final_round: Option<FinalRound>,
    /// How the model gets the definitions of tools loaded on the way: appended to
    /// the array unless given. The positional route declares them in the transcript;
    /// the native one leaves the search to a server that has one.
    pub load_route: LoadRoute,
    /// Whether images in tool results are sent on; the vendor's habit unless given.
    pub forward_images: Option<bool>,
    /// Whether the model takes a tool choice that forces a call. One that does not is
    /// asked for it in words, and the reply's end says where that did not help.
    pub forced_calls: bool,
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
            input_limit: None,
            output_limit: None,
            max_tools: None,
            price: None,
            final_round: None,
            load_route: LoadRoute::default(),
            forward_images: None,
            forced_calls: true,
            extra: Vec::new(),
            retry: RetryPolicy::default(),
            idle: Duration::from_secs(300),
            connect: Duration::from_secs(10),
        }
    }
}

crate::options::endpoint_options!(ChatOptions, vendor);

fn route() -> Route {
    Route {
        drops: &["/chat/completions"],
        path: "/chat/completions".to_owned(),
        query: None,
        auth: Auth::Bearer,
        headers: &[],
        example: "http://127.0.0.1:8080/v1",
        advice: "check the base URL, which usually ends in /v1",
    }
}

/// A model behind a chat endpoint. Make one and share it: it keeps its connection.
pub struct ChatModel {
    profile: ModelProfile,
    sender: Sender,
    renderer: Renderer,
    takes_force: bool,
}

impl fmt::Debug for ChatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatModel")
            .field("id", &self.profile.id)
            .field("endpoint", self.sender.endpoint())
            .finish_non_exhaustive()
    }
}

impl ChatModel {
    /// A model behind this endpoint; sends nothing yet.
    ///
    /// # Errors
    /// [`toolcrib_core::ModelErrorKind::Unsupported`] for an unusable address, `Auth` for an
    /// unusable key, `Connect` when no client can be made.
    pub fn new(options: ChatOptions) -> Result<ChatModel, ModelError> {
        let dialect = options.vendor.dialect();
        let endpoint = Endpoint::new(&options.base_url, options.key.as_ref(), &route())?;
        let id = options.id.unwrap_or_else(|| match dialect.word {
            "" => format!("{}#{}", endpoint.shown(), options.model).into(),
            word => format!("{word}:{}", options.model).into(),
        });
        let mut profile = ModelProfile::new(id.clone());
        profile.window = options.window;
        profile.input_limit = options.input_limit;
        profile.price = options.price;
        profile.load_route = options.load_route;
        profile.output_limit = options.output_limit;
        profile.max_tools = options.max_tools.or(dialect.max_tools);
        profile.dialect = dialect.tools;
        let keeps = |prefix: &&str| options.model.starts_with(*prefix);
        profile.final_round = options.final_round.unwrap_or_else(|| {
            if dialect.keeps_tools.iter().any(keeps) {
                FinalRound::Keep
            } else {
                dialect.final_round
            }
        });
        Ok(ChatModel {
            renderer: Renderer {
                dialect,
                head: body::head(dialect, &options.model, &options.extra),
                id,
                forwards_images: options.forward_images.unwrap_or(dialect.forwards_images),
                declares: options.load_route == LoadRoute::Positional,
                searches: dialect
                    .own_search
                    .filter(|_| options.load_route == LoadRoute::Native),
            },
            sender: Sender::new(endpoint, options.connect, options.idle, options.retry)?,
            takes_force: options.forced_calls,
            profile,
        })
    }
    /// Whether the server lists tools for its model; true unless it says that it
    /// does not.
    pub(crate) async fn lists_tools(&self) -> bool {
        let said = crate::reach::Reach::lists_tools(self.sender.endpoint()).await;
        said.unwrap_or(true)
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
        Box::pin(reask::ask(self, request, on_event))
    }
}

impl Once for ChatModel {
    fn takes_force(&self) -> bool {
        self.takes_force
    }

    fn once<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let fail = |fault| self.sender.endpoint().error(fault);
            http::check(&request, &self.profile).map_err(fail)?;
            let body = self.renderer.body(&request);
            let sent = body.len() as u64;
            let asked =
                self.sender
                    .ask::<reply::Assembler>(&request, &self.profile, body, on_event);
            let reply = asked.await?;
            // A quarter of the bytes is a usual count of tokens; a quarter of that is none.
            let read = reply.usage.input.unwrap_or(u64::MAX);
            if self.renderer.dialect.cuts_prompts && read < sent / 16 {
                tracing::warn!(
                    read,
                    sent,
                    "the server read only a part of the prompt; raise its context length"
                );
            }
            Ok(reply)
        })
    }
}
