//! A started agent: one process, one connection, any number of sessions.
//!
//! The protocol library keeps the requests apart; here is what is heard of a session
//! and the answer to whoever asks for permission, which is no.

use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, Implementation, InitializeRequest, InitializeResponse, NewSessionRequest,
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome,
};
use agent_client_protocol::{Client, Error, Lines, UntypedMessage};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toolcrib_core::{ModelError, ModelErrorKind as Kind};

use super::OnGroup;
use super::process::{Process, Program, incoming, outgoing};
use crate::http::excerpt;

/// Longest time until an agent is ready: some fetch what they need on the way.
const START: Duration = Duration::from_secs(60);
/// What an agent did that never came so far as to speak.
const REFUSED: &str = "refused to start";
/// What to do where asking again would change nothing.
const ITSELF: &str = "start it by itself to see why";
/// What an agent answers that wants a person to log in first.
const AUTH_REQUIRED: i32 = -32000;

/// What an agent said of a session.
#[derive(Debug)]
pub(super) enum Heard {
    Text(String),
    Thought(String),
    /// It asked to use a tool of its own, which was refused.
    Refused(String),
    /// What the session has cost so far, in US dollars.
    Cost(f64),
    /// Anything else: it is alive.
    Sign,
}

/// The answer to a prompt.
pub(super) type Answer = Result<Value, Error>;

/// A running agent.
pub(super) struct Agent {
    connection: ConnectionTo<agent_client_protocol::Agent>,
    /// What is heard, each with its session.
    pub(super) heard: mpsc::UnboundedReceiver<(String, Heard)>,
    driver: JoinHandle<()>,
    pub(super) process: Process,
    /// Whether it takes images.
    pub(super) images: bool,
    /// How it wants to be logged into.
    logins: Vec<String>,
    name: String,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Agent {
    /// Starts the program and agrees on the protocol.
    pub(super) async fn start(
        program: &Program,
        on_group: Option<OnGroup>,
    ) -> Result<Agent, ModelError> {
        let name = program.name().to_owned();
        let (process, (stdin, stdout)) = Process::start(program, on_group).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => "; is it installed and on the PATH?",
                _ => "",
            };
            let message = format!("the agent {name} cannot be started: {error}{hint}");
            ModelError::new(Kind::Connect, message).retryable(false)
        })?;
        let (tell, heard) = mpsc::unbounded_channel();
        let refused = tell.clone();
        let (made, connection) = oneshot::channel();
        let client = Client
            .v1()
            .on_receive_request(
                async move |asked: RequestPermissionRequest, responder, _connection| {
                    let what = asked.tool_call.fields.title.clone().unwrap_or_default();
                    let session = asked.session_id.to_string();
                    let _ = refused.send((session, Heard::Refused(what)));
                    responder.respond(RequestPermissionResponse::new(refusal(&asked.options)))
                },
                agent_client_protocol::on_receive_request!(),
            )
            .on_receive_notification(
                async move |notification: UntypedMessage, _connection| {
                    if let Some(heard) = hear(&notification) {
                        let _ = tell.send(heard);
                    }
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            );
        let lines = Lines::new(outgoing(stdin), incoming(stdout));
        let driver = tokio::spawn(async move {
            let served = client.connect_with(lines, async move |connection| {
                let closed = connection.clone();
                let _ = made.send(connection);
                // An agent that closes its output can answer nothing more.
                closed.incoming_closed().await;
                Ok(())
            });
            if let Err(error) = served.await {
                tracing::debug!(%error, "the connection to an agent ended");
            }
        });
        let Ok(connection) = connection.await else {
            let message = format!("the agent {name} cannot be spoken to");
            return Err(ModelError::new(Kind::Connect, message).retryable(false));
        };
        let mut agent = Agent {
            connection,
            heard,
            driver,
            process,
            images: false,
            logins: Vec::new(),
            name,
        };
        agent.initialize().await?;
        Ok(agent)
    }

    async fn initialize(&mut self) -> Result<(), ModelError> {
        let asked = InitializeRequest::new(ProtocolVersion::V1)
            .client_info(Implementation::new("toolcrib", env!("CARGO_PKG_VERSION")));
        let request = self.connection.send_request(asked).block_task();
        let answer: InitializeResponse = match tokio::time::timeout(START, request).await {
            Err(_) => return Err(self.silent()),
            // The library refuses every version but the one that was asked for.
            Ok(Err(error)) if words(&error).contains("protocol version") => {
                let message = format!(
                    "the agent {} cannot be spoken to: {}; use another version of it",
                    self.name,
                    words(&error)
                );
                return Err(ModelError::new(Kind::Unsupported, message));
            }
            Ok(Err(error)) => return Err(self.failed(REFUSED, &error, "").await),
            Ok(Ok(answer)) => answer,
        };
        self.images = answer.agent_capabilities.prompt_capabilities.image;
        let methods = answer.auth_methods.iter();
        self.logins = methods.map(|method| method.name().to_owned()).collect();
        Ok(())
    }

    /// Begins a session.
    pub(super) async fn session(&mut self) -> Result<String, ModelError> {
        let asked = NewSessionRequest::new(self.process.scratch());
        let request = self.connection.send_request(asked).block_task();
        match tokio::time::timeout(START, request).await {
            Err(_) => Err(self.silent()),
            Ok(Err(error)) => Err(self.failed("began no session", &error, "").await),
            Ok(Ok(answer)) => Ok(answer.session_id.to_string()),
        }
    }

    /// Sends a prompt; the answer comes when the turn is over.
    pub(super) fn prompt(
        &self,
        session: &str,
        prompt: &[Value],
    ) -> Result<oneshot::Receiver<Answer>, Error> {
        // Untyped, so that a reason to stop that is new is no broken answer.
        let params = json!({"sessionId": session, "prompt": prompt});
        let request = UntypedMessage::new("session/prompt", params)?;
        let (done, answer) = oneshot::channel();
        self.connection
            .send_request(request)
            .on_receiving_result(async move |result| {
                let _ = done.send(result);
                Ok(())
            })?;
        Ok(answer)
    }

    /// Asks the agent to end the turn of this session.
    pub(super) fn cancel(&self, session: &str) {
        let asked = CancelNotification::new(session.to_owned());
        let _ = self.connection.send_notification(asked);
    }

    /// Whether it can still be spoken to.
    pub(super) fn is_alive(&self) -> bool {
        !self.driver.is_finished() && self.connection.termination().is_none()
    }

    /// An error of the agent or of the connection to it; `said` is what it had told.
    pub(super) async fn failed(&mut self, what: &str, error: &Error, said: &str) -> ModelError {
        let gone = agent_client_protocol::is_incoming_transport_closed(error)
            || agent_client_protocol::is_connection_terminated(error);
        if gone || !self.is_alive() {
            let ending = self.process.ending().await;
            let next = match what {
                REFUSED => ITSELF,
                _ => "ask again",
            };
            let message = format!("the agent {} {what}: {ending}; {next}", self.name);
            return ModelError::new(Kind::Interrupted, message);
        }
        if i32::from(error.code) == AUTH_REQUIRED {
            let ways = match self.logins.as_slice() {
                [] => String::new(),
                ways => format!(" ({})", excerpt(&ways.join(", "))),
            };
            let message = format!(
                "the agent {} wants a login; start it by itself and log in{ways}, or set its key",
                self.name
            );
            return ModelError::new(Kind::Auth, message);
        }
        let report = serde_json::to_string(error).unwrap_or_default();
        let fault = crate::http::Fault::in_reply(&report);
        let mut cause = words(error);
        if !said.trim().is_empty() && !cause.contains(said.trim()) {
            cause = format!("{cause}: {said}");
        }
        let cause = self.process.redacted(&excerpt(&cause));
        let next = match &*fault.next {
            // It does not speak as an agent does, so waiting changes nothing.
            _ if what == REFUSED => ITSELF,
            "" => "ask again",
            next => next,
        };
        let message = format!("the agent {} {what}: {cause}; {next}", self.name);
        ModelError::new(fault.kind, message).retryable(false)
    }

    fn silent(&self) -> ModelError {
        let complaint = self.process.complaint();
        let complaint = complaint.map_or(String::new(), |line| format!(" ({line})"));
        let message = format!(
            "the agent {} was not ready after {} s{complaint}; {ITSELF}",
            self.name,
            START.as_secs()
        );
        ModelError::new(Kind::Idle, message)
    }
}

/// An error on one line. The message is often no more than "internal error".
fn words(error: &Error) -> String {
    let details = error.data.as_ref().and_then(details);
    match details {
        Some(more) if !error.message.contains(&more) => {
            excerpt(&format!("{}: {more}", error.message))
        }
        _ => excerpt(&error.message),
    }
}

/// What an error's data says in words.
fn details(data: &Value) -> Option<String> {
    match data {
        Value::String(text) => Some(text.clone()),
        Value::Object(members) => ["details", "message", "error", "reason"]
            .iter()
            .find_map(|key| details(members.get(*key)?)),
        _ => None,
    }
}

/// No, in the mildest form on offer.
fn refusal(options: &[PermissionOption]) -> RequestPermissionOutcome {
    let kinds = [
        PermissionOptionKind::RejectOnce,
        PermissionOptionKind::RejectAlways,
    ];
    let no = kinds
        .iter()
        .find_map(|kind| options.iter().find(|option| option.kind == *kind));
    match no {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => RequestPermissionOutcome::Cancelled,
    }
}

/// What a notification says; none for one that is of no session.
fn hear(notification: &UntypedMessage) -> Option<(String, Heard)> {
    let params = notification.params();
    let session = params.get("sessionId")?.as_str()?.to_owned();
    let update = params.get("update").unwrap_or(&Value::Null);
    let text = || update["content"]["text"].as_str().map(str::to_owned);
    let heard = match update["sessionUpdate"].as_str() {
        Some("agent_message_chunk") => text().map(Heard::Text),
        Some("agent_thought_chunk") => text().map(Heard::Thought),
        Some("usage_update") if update["cost"]["currency"] == "USD" => {
            update["cost"]["amount"].as_f64().map(Heard::Cost)
        }
        _ => None,
    };
    Some((session, heard.unwrap_or(Heard::Sign)))
}
