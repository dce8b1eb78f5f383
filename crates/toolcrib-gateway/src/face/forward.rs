//! A request on its way to a server, with progress, cancellation and questions.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use toolcrib_core::Str;
use toolcrib_mcp::{McpError, RequestContext, RpcError};

use super::call::{as_headers_say, refusal, unapproved};
use super::{Answer, Cx};
use crate::client::{Client, lock};
use crate::gateway::Gateway;
use crate::held::{Came, Cancel, HELD, Running};
use crate::relay::Site;
use crate::wire;

/// Rounds of questions that one call may ask.
const ROUNDS: usize = 16;

/// A failure of ours on the way to a server, or the server's own error.
pub(crate) enum Failure {
    /// The server's.
    Server(RpcError),
    /// Nobody waits any more.
    Cancelled,
    /// The server could not be reached or did not answer.
    Way(McpError),
}

impl Failure {
    /// For requests that are not calls.
    pub(crate) fn into_answer(self) -> Answer {
        match self {
            Failure::Server(error) => Err(error),
            Failure::Cancelled => Ok(None),
            Failure::Way(error) => Err(RpcError::new(wire::INTERNAL, error.to_string())),
        }
    }
}

/// Takes a call's lane off the client's list.
struct OnLane(Arc<Client>, u64);

impl Drop for OnLane {
    fn drop(&mut self) {
        lock(&self.0.lanes).retain(|(number, ..)| *number != self.1);
    }
}

impl Gateway {
    /// Everything of a client to the only server there is.
    pub(crate) async fn pass(
        self: &Arc<Self>,
        cx: &Cx,
        server: &Str,
        method: &str,
        params: &str,
    ) -> Answer {
        let mut expects = None;
        if method == "tools/call"
            && let Some(name) = wire::text(params, "name")
        {
            let catalog = cx.backend.catalog(&self.options);
            let manifest = cx.backend.manifest(server);
            let known = manifest.is_some_and(|manifest| manifest.tool(&name).is_some());
            if let Some(offered) = catalog.find(&name) {
                expects = self.expected(offered);
                let arguments = wire::get(params, "arguments").map_or("{}", RawValue::get);
                as_headers_say(cx, offered, arguments)?;
                match self.permitted(cx, offered, params).await? {
                    super::ask::Leave::Go => {}
                    super::ask::Leave::Answer(answer) => return Ok(Some(answer)),
                }
            } else if known || self.options.withholds() {
                // Held back, denied or left out; or nobody knows what it is.
                return Err(super::bad(format!("`{name}` is not offered here")));
            }
        }
        match method {
            "resources/subscribe" => {
                lock(&cx.client.watched).extend(wire::text(params, "uri"));
            }
            "resources/unsubscribe" => {
                if let Some(uri) = wire::text(params, "uri") {
                    lock(&cx.client.watched).remove(&uri);
                }
            }
            _ => {}
        }
        match self
            .forward(cx, server, method, params, false, expects)
            .await
        {
            Ok(result) => Ok(Some(result)),
            Err(Failure::Way(error @ McpError::ToolChanged { .. })) => {
                Ok(Some(refusal(&unapproved(server, &error))))
            }
            Err(failure) => failure.into_answer(),
        }
    }

    /// Sends a request to a server and gives its result as received.
    pub(crate) async fn forward(
        self: &Arc<Self>,
        cx: &Cx,
        server: &Str,
        method: &str,
        params: &str,
        repeatable: bool,
        expects: Option<Str>,
    ) -> Result<Box<RawValue>, Failure> {
        if let Some(state) = wire::text(params, "requestState").filter(|s| s.starts_with(HELD)) {
            let running = self.take_up(&state, params).map_err(Failure::Server)?;
            return came(self.go_on(running).await);
        }
        let number = self.number();
        let tag: Str = format!("{}.{number}", cx.client.number).into();
        lock(&cx.client.lanes).push((number, server.clone(), cx.lane.clone()));
        let on_lane = OnLane(cx.client.clone(), number);
        let (questions, asked) = mpsc::unbounded_channel();
        let site = Site {
            client: cx.client.clone(),
            lane: cx.lane.clone(),
            questions: cx.modern.then_some(questions),
        };
        let open = cx.backend.relay.open(tag.clone(), site);
        let mut request = RequestContext {
            cancel: cx.cancel.child_token(),
            repeatable,
            capabilities: Some(cx.capabilities.clone()),
            tag: Some(tag),
            expects,
            ..RequestContext::default()
        };
        if let Some(token) = cx.progress.clone() {
            let lane = cx.lane.clone();
            request.progress = Some(Arc::new(move |params: &RawValue| {
                let params = wire::with(params.get(), &[("progressToken", &token)], &[]);
                lane.send(wire::notification(
                    "notifications/progress",
                    Some(params.get()),
                ));
            }));
        }
        if cx.modern {
            // The call may have to outlive this request: a question is its answer.
            let cancel = Cancel(request.cancel.clone());
            let fleet = cx.backend.fleet.clone();
            let (server, method) = (server.clone(), method.to_owned());
            let params = clean(params);
            let task = tokio::spawn(async move {
                fleet
                    .request(&server, &method, Some(params), &request)
                    .await
            });
            let running = Running {
                task,
                questions: asked,
                _guards: (cancel, open),
            };
            return came(self.go_on(running).await);
        }
        let mut params = clean(params);
        for _ in 0..ROUNDS {
            let sent = Some(params.clone());
            let result = cx
                .backend
                .fleet
                .request(server, method, sent, &request)
                .await;
            let result = result.map_err(failure)?;
            if wire::text(result.get(), "resultType").as_deref() != Some("input_required") {
                drop(on_lane);
                return Ok(result);
            }
            params = self.inputs(cx, server, &params, &result).await?;
        }
        let text = format!("{server} asked more than {ROUNDS} times for input");
        Err(Failure::Server(RpcError::new(wire::INTERNAL, text)))
    }

    /// Asks a client of an older revision what a server of the newest one wants to
    /// know, and gives the params to call again with.
    async fn inputs(
        &self,
        cx: &Cx,
        server: &str,
        params: &RawValue,
        result: &RawValue,
    ) -> Result<Box<RawValue>, Failure> {
        let mut answers = String::from("{");
        let requests = wire::get(result.get(), "inputRequests").map_or("{}", RawValue::get);
        for (key, request) in wire::entries(requests).unwrap_or_default() {
            let method = wire::text(request.get(), "method").unwrap_or_default();
            if !cx.client.answers(&method) {
                let text = format!(
                    "{server} wants an answer to `{method}`, which this client cannot give"
                );
                return Err(Failure::Server(RpcError::new(
                    wire::MISSING_CAPABILITY,
                    text,
                )));
            }
            let inner = wire::get(request.get(), "params").map(RawValue::get);
            let asked = cx.client.ask(&cx.lane, &method, inner).await;
            let answer = asked.map_err(Failure::Server)?;
            if answers.len() > 1 {
                answers.push(',');
            }
            answers.push_str(&format!("{}:{}", wire::quoted(&key), answer.get()));
        }
        answers.push('}');
        let mut set = vec![("inputResponses", answers.as_str())];
        if let Some(state) = wire::get(result.get(), "requestState") {
            set.push(("requestState", state.get()));
        }
        Ok(wire::with(
            params.get(),
            &set,
            &["inputResponses", "requestState"].map(|k| {
                match set.iter().any(|(name, _)| *name == k) {
                    true => "",
                    false => k,
                }
            }),
        ))
    }
}

/// Params without what belongs to the way between a client and us.
fn clean(params: &str) -> Box<RawValue> {
    let Some(meta) = wire::get(params, "_meta") else {
        return wire::raw(params.to_owned());
    };
    let ours = [
        super::VERSION_KEY,
        super::CAPABILITIES_KEY,
        "io.modelcontextprotocol/clientInfo",
        "progressToken",
    ];
    let meta = wire::with(meta.get(), &[], &ours);
    match meta.get() {
        "{}" => wire::with(params, &[], &["_meta"]),
        meta => wire::with(params, &[("_meta", meta)], &[]),
    }
}

fn came(came: Came) -> Result<Box<RawValue>, Failure> {
    match came {
        Came::Question(question) => Ok(question),
        Came::Done(result) => result.map_err(failure),
    }
}

fn failure(error: McpError) -> Failure {
    match error {
        McpError::Rpc(error) => Failure::Server(error),
        McpError::Cancelled => Failure::Cancelled,
        error => Failure::Way(error),
    }
}
