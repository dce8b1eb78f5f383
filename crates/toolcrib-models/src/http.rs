//! One request to a model server and its streamed answer, whatever the wire.
//!
//! A wire renders a body and assembles a reply out of frames; everything between
//! is here and the same for all: the connection, what is sent again and when, idle
//! limits, and errors without secrets. It knows no provider's words.

mod endpoint;
mod fault;
mod proxy;
mod secret;
mod stream;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::{Client, Response};
use toolcrib_core::{
    Finish, ModelError, ModelErrorKind, ModelProfile, Reply, ReplyEvent, Request, ToolChoice,
};

use crate::retry::{self, RetryPolicy};
use crate::sse::Flow;

pub(crate) use endpoint::{Auth, Endpoint, Route, shown_url};
pub(crate) use fault::{Fault, excerpt};
pub use proxy::{NO_PROXY_ADDRESS, is_proxy};
pub use secret::Key;
pub(crate) use stream::body;
#[cfg(test)]
pub(crate) use stream::testing;

/// Where pieces of a reply are reported.
pub(crate) type Events<'a> = dyn FnMut(ReplyEvent<'_>) + Send + 'a;

/// How a reply ends that did not call what it had to.
const NOT_ENFORCED: &str = "the server did not enforce the tool choice";
/// Most bytes that are read of an error's body.
const MOST_ERROR: usize = 64 << 10;
/// Most bytes that one reply may have.
const MOST_BYTES: usize = 64 << 20;

/// A reply as it grows out of the frames of one wire. Whole answers and streams go
/// through the same code.
pub(crate) trait Assemble: Default + Send {
    /// Takes the data of one frame, or a whole answer; [`Flow::Stop`] when nothing
    /// that matters can follow.
    fn push(&mut self, data: &[u8], on_event: &mut Events<'_>) -> Result<Flow, Fault>;

    /// Whether the end of the reply was seen.
    fn ended(&self) -> bool;

    /// Whether text or reasoning was reported, so that the request must not be sent
    /// again. The start of a call does not count: nothing of a half-streamed call
    /// was shown that a second reply could double.
    fn delivered(&self) -> bool;

    /// The complete reply; an error where its end was not seen, however much came
    /// before.
    fn finish(
        self,
        request: &Request<'_>,
        profile: &ModelProfile,
        on_event: &mut Events<'_>,
    ) -> Result<Reply, Fault>;
}

/// Refuses what no server could answer.
pub(crate) fn check(request: &Request<'_>, profile: &ModelProfile) -> Result<(), Fault> {
    let tools = request.plan.tools();
    if let Some(most) = profile.max_tools.filter(|most| tools.len() > *most) {
        let what = format!("takes at most {most} tools, {} are offered", tools.len());
        return Err(Fault::new(
            ModelErrorKind::Unsupported,
            what,
            "defer or filter some",
        ));
    }
    match request.tool_choice {
        ToolChoice::Named(name) if !tools.iter().any(|tool| tool.name == *name) => {
            let what = format!("was not asked: the tool {name} that it must call is not offered");
            Err(Fault::new(ModelErrorKind::BadRequest, what, ""))
        }
        _ => Ok(()),
    }
}

/// Says so where a server took a tool choice and did not hold the model to it.
pub(crate) fn enforced(request: &Request<'_>, mut reply: Reply) -> Reply {
    let held = match request.tool_choice {
        ToolChoice::Required => reply.message.calls().next().is_some(),
        ToolChoice::Named(name) => {
            let mut calls = reply.message.calls();
            calls.any(|call| *call.name == *name.as_str())
        }
        _ => true,
    };
    if !held && matches!(reply.finish, Finish::Stop | Finish::ToolCalls) {
        reply.finish = Finish::Other(NOT_ENFORCED.into());
    }
    reply
}

/// The head of every wire's assembler: counts what came, so that no reply can grow
/// without end, and reports what can be shown of it.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    bytes: usize,
    delivered: bool,
}

impl Meter {
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes += bytes;
        if self.bytes > MOST_BYTES {
            return Err(Fault::malformed("sent a reply of more than 64 MiB"));
        }
        Ok(())
    }

    /// Reports a piece of text.
    pub(crate) fn text(&mut self, piece: &str, on_event: &mut Events<'_>) {
        if !piece.is_empty() {
            self.delivered = true;
            on_event(ReplyEvent::Text(piece));
        }
    }

    /// Reports a piece of reasoning.
    pub(crate) fn reasoning(&mut self, piece: &str, on_event: &mut Events<'_>) {
        if !piece.is_empty() {
            self.delivered = true;
            on_event(ReplyEvent::Reasoning(piece));
        }
    }

    /// Whether anything was reported.
    pub(crate) fn delivered(&self) -> bool {
        self.delivered
    }
}

/// Refuses one more part where a reply has `most` already.
pub(crate) fn room(parts: usize, most: usize) -> Result<(), Fault> {
    if parts < most {
        return Ok(());
    }
    let what = format!("sent more than {most} parts in one reply");
    Err(Fault::malformed(what))
}

/// How requests are sent.
#[derive(Debug)]
pub(crate) struct Sender {
    endpoint: Endpoint,
    client: Client,
    retry: RetryPolicy,
    idle: Duration,
}

impl Sender {
    pub(crate) fn new(
        endpoint: Endpoint,
        connect: Duration,
        idle: Duration,
        retry: RetryPolicy,
    ) -> Result<Sender, ModelError> {
        Ok(Sender {
            client: endpoint.client(connect)?,
            endpoint,
            retry,
            idle,
        })
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends `body`, again where that can help, and returns the complete reply.
    pub(crate) async fn ask<A: Assemble>(
        &self,
        request: &Request<'_>,
        profile: &ModelProfile,
        body: Bytes,
        on_event: &mut Events<'_>,
    ) -> Result<Reply, ModelError> {
        if cfg!(debug_assertions)
            && let Some(finding) = crate::check::check_request(profile, &body).first()
        {
            let what =
                format!("was not asked: the request is one that it would refuse ({finding})");
            let fault = Fault::new(ModelErrorKind::BadRequest, what, "");
            return Err(self.endpoint.error(fault));
        }
        let mut attempt = 1;
        loop {
            let mut assembler = A::default();
            let fault = match self.attempt(body.clone(), &mut assembler, on_event).await {
                Ok(()) => {
                    let delivered = assembler.delivered();
                    match assembler.finish(request, profile, on_event) {
                        Ok(reply) => return Ok(enforced(request, reply)),
                        Err(fault) => fault.after(delivered),
                    }
                }
                Err(fault) => fault.after(assembler.delivered()),
            };
            let connecting = fault.kind == ModelErrorKind::Connect;
            let wait = if fault.retryable {
                let asked = fault.retry_after;
                self.retry.wait(attempt, connecting, asked, retry::chance())
            } else {
                None
            };
            let error = self.endpoint.error(fault);
            let Some(wait) = wait else {
                return Err(error);
            };
            attempt += 1;
            tracing::debug!(attempt, ?wait, kind = ?error.kind, "sending again");
            on_event(ReplyEvent::Retrying {
                attempt,
                wait,
                reason: &error.message,
            });
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt<A: Assemble>(
        &self,
        body: Bytes,
        assembler: &mut A,
        on_event: &mut Events<'_>,
    ) -> Result<(), Fault> {
        let response = self.send(body).await?;
        match stream::read(response, self.idle, assembler, on_event).await {
            Ok(()) => Ok(()),
            Err(stream::ReadError::Fault(fault)) => Err(fault),
            Err(stream::ReadError::Transport(error)) => Err(self.endpoint.transport(&error, true)),
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
        let body = stream::body(response, self.idle, MOST_ERROR).await;
        let mut fault = Fault::of_status(status, &body);
        if let Some(asked) = asked {
            fault = fault.asks_to_wait(asked, self.retry.longest_asked);
        }
        match told.as_deref() {
            Some("true") => fault.retryable = true,
            Some("false") => fault.retryable = false,
            _ => {}
        }
        Err(fault)
    }
}
