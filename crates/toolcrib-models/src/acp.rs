//! Agents of the Agent Client Protocol as plain models.
//!
//! An agent is a program of somebody else's that talks to its own model. Here it is
//! asked for text alone: it gets the instructions and the conversation as a prompt and
//! what it writes is the reply; calls are read out of it by [`crate::TextTools`]. It is
//! offered no files and no terminal, whatever it asks permission for is refused, and it
//! works in an empty directory. What tools it uses without asking is its own affair:
//! take one that can be configured to have none.
//!
//! A session is gone on with while the conversation only grew; else a new one begins
//! with the whole conversation. Chunks are shown as they come, but are a reply only
//! once the prompt has succeeded.

mod connection;
mod process;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Mutex, oneshot};
use toolcrib_core::{
    AssistantMessage, Block, BoxFuture, Content, Cost, Finish, Message, Model, ModelError,
    ModelErrorKind as Kind, ModelProfile, Reply, ReplyEvent, Request,
};

use connection::{Agent, Answer, Heard};
use process::Program;

/// Longest time without a sign of life during a turn.
const IDLE: Duration = Duration::from_secs(300);
/// How long an agent may take to give up a turn before it is ended.
const GIVE_UP: Duration = Duration::from_secs(2);
/// Most bytes that one reply may have.
const MOST_BYTES: usize = 64 << 20;

/// Told of the process group of each agent that was started (`true`) or has ended.
pub type OnGroup = Arc<dyn Fn(u32, bool) + Send + Sync>;

/// An agent as a model that writes text. Wrap it in [`crate::TextTools`] for tools. It
/// is started with the first request, answers one request at a time and ends with this
/// value.
pub struct AcpModel {
    profile: ModelProfile,
    program: Program,
    idle: Duration,
    on_group: Option<OnGroup>,
    state: Mutex<State>,
}

impl fmt::Debug for AcpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AcpModel").field(&self.profile.id).finish()
    }
}

#[derive(Default)]
struct State {
    agent: Option<Agent>,
    session: Option<Session>,
    /// The answer to a prompt that was cancelled.
    cancelled: Option<oneshot::Receiver<Answer>>,
}

/// A session and all that was said in it.
struct Session {
    id: String,
    system: String,
    said: Vec<Said>,
    /// US dollars.
    cost: Option<f64>,
}

#[derive(Clone, Debug)]
enum Said {
    User(Vec<Content>),
    Agent(String),
}

impl Said {
    fn is(&self, other: &Said) -> bool {
        match (self, other) {
            (Said::User(one), Said::User(other)) => one == other,
            // Calls come back laid out anew, so white space does not count.
            (Said::Agent(one), Said::Agent(other)) => one
                .split_whitespace()
                .flat_map(str::chars)
                .eq(other.split_whitespace().flat_map(str::chars)),
            _ => false,
        }
    }
}

impl AcpModel {
    /// An agent that this command starts: a program and its arguments, in quotes where
    /// they hold spaces. Starts nothing yet.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for an empty command or a quote that is not closed.
    pub fn new(command: &str) -> Result<AcpModel, ModelError> {
        let Some(program) = Program::parse(command) else {
            let message = "the command of an agent is empty or holds an open quote; write it like acp:opencode acp";
            return Err(ModelError::new(Kind::Unsupported, message));
        };
        let mut profile = ModelProfile::new(format!("acp:{command}"));
        profile.native_tools = false;
        Ok(AcpModel {
            profile,
            program,
            idle: IDLE,
            on_group: None,
            state: Mutex::default(),
        })
    }

    /// The same model with another longest time without a sign of life.
    pub fn idle(mut self, idle: Duration) -> AcpModel {
        self.idle = idle;
        self
    }

    /// The same model, telling of its agent's process group: dropping ends the group,
    /// but whoever is killed drops nothing.
    pub fn on_group(mut self, on_group: OnGroup) -> AcpModel {
        self.on_group = Some(on_group);
        self
    }

    async fn ask(
        &self,
        request: Request<'_>,
        on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let mut guard = self.state.lock().await;
        let state = &mut *guard;
        if let Some(answer) = state.cancelled.take() {
            // One turn at a time: an agent that does not give up the last one is ended.
            if tokio::time::timeout(GIVE_UP, answer).await.is_err() {
                state.agent = None;
            }
        }
        if state.agent.as_ref().is_some_and(|agent| !agent.is_alive()) {
            state.agent = None;
        }
        if state.agent.is_none() {
            state.session = None;
            state.agent = Some(Agent::start(&self.program, self.on_group.clone()).await?);
        }
        let Some(agent) = state.agent.as_mut() else {
            return Err(self.error(Kind::Connect, "could not be started"));
        };
        let said = transcript(&request);
        let known = state
            .session
            .take()
            .and_then(|session| session.goes_on(request.plan.system(), &said));
        let (mut session, prompt) = match known {
            Some((session, new)) => (session, blocks(new, agent.images)),
            None => {
                let session = Session {
                    id: agent.session().await?,
                    system: request.plan.system().to_owned(),
                    said: Vec::new(),
                    cost: None,
                };
                (session, opening(request.plan.system(), &said, agent.images))
            }
        };
        session.said = said;
        let answer = match agent.prompt(&session.id, &prompt) {
            Ok(answer) => answer,
            Err(error) => return Err(agent.failed("took no prompt", &error, "").await),
        };
        let mut turn = Turn {
            agent,
            cancelled: &mut state.cancelled,
            session: &session.id,
            answer: Some(answer),
        };
        let mut reply = Growing::default();
        let answer = turn.run(&mut reply, self, on_event).await?;
        drop(turn);
        let reply = match answer {
            Ok(answer) => self.finish(reply, &answer, session.cost)?,
            Err(error) => {
                let what = "failed the prompt";
                return Err(agent.failed(what, &error, &reply.text).await);
            }
        };
        session.cost = reply.cost_so_far.or(session.cost);
        session.said.push(Said::Agent(reply.reply.message.text()));
        state.session = Some(session);
        Ok(reply.reply)
    }

    fn finish(
        &self,
        grown: Growing,
        answer: &Value,
        before: Option<f64>,
    ) -> Result<Finished, ModelError> {
        let finish = match answer.get("stopReason").and_then(Value::as_str) {
            Some("end_turn") => Finish::Stop,
            Some("max_tokens") => Finish::Length,
            Some("refusal") => Finish::Refusal,
            Some("cancelled") => {
                let what = "cancelled the turn by itself; ask again";
                return Err(self.error(Kind::Interrupted, what));
            }
            Some(other) => Finish::Other(other.into()),
            None => return Err(self.error(Kind::Malformed, "ended the turn without a reason")),
        };
        if let (Some(tool), true) = (&grown.refused, grown.text.trim().is_empty()) {
            let tool = match crate::http::excerpt(tool) {
                tool if tool.is_empty() => "a tool of its own".to_owned(),
                tool => format!("\"{tool}\""),
            };
            let what = format!(
                "wanted to use {tool}, which was refused, and said nothing; configure it without tools of its own"
            );
            return Err(self.error(Kind::ModelFault, &what));
        }
        let mut blocks = Vec::new();
        if !grown.thought.is_empty() {
            blocks.push(Block::Reasoning {
                text: grown.thought.into(),
                raw: None,
            });
        }
        if !grown.text.is_empty() {
            blocks.push(Block::Text(grown.text.into()));
        }
        // It tells what the session has cost; this turn's part is what came on top.
        let spent = grown.cost.map(|cost| cost - before.unwrap_or(0.0));
        Ok(Finished {
            cost_so_far: grown.cost,
            reply: Reply {
                message: AssistantMessage {
                    blocks,
                    model: self.profile.id.clone(),
                },
                finish,
                usage: Default::default(),
                cost: spent.filter(|cost| *cost >= 0.0).map(Cost::reported),
            },
        })
    }

    fn error(&self, kind: Kind, what: &str) -> ModelError {
        let message = format!("the agent {} {what}", self.program.name());
        ModelError::new(kind, message).retryable(false)
    }
}

impl Model for AcpModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.ask(request, on_event))
    }
}

struct Finished {
    reply: Reply,
    cost_so_far: Option<f64>,
}

/// A reply under way.
#[derive(Default)]
struct Growing {
    text: String,
    thought: String,
    refused: Option<String>,
    cost: Option<f64>,
}

/// A prompt that is being answered; dropping it before the answer cancels it.
struct Turn<'a> {
    agent: &'a mut Agent,
    cancelled: &'a mut Option<oneshot::Receiver<Answer>>,
    session: &'a str,
    answer: Option<oneshot::Receiver<Answer>>,
}

impl Turn<'_> {
    /// Listens until the answer.
    async fn run(
        &mut self,
        reply: &mut Growing,
        model: &AcpModel,
        on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> Result<Answer, ModelError> {
        let gone = || Err(agent_client_protocol::Error::internal_error());
        loop {
            let Some(answer) = self.answer.as_mut() else {
                return Ok(gone());
            };
            let step = async {
                tokio::select! {
                    biased;
                    heard = self.agent.heard.recv() => Step::Heard(heard),
                    answer = answer => Step::Answer(answer.unwrap_or_else(|_| gone())),
                }
            };
            match tokio::time::timeout(model.idle, step).await {
                Err(_) => {
                    let what = format!(
                        "gave no sign of life for {} s; ask again, or start it by itself to see why",
                        model.idle.as_secs_f64()
                    );
                    return Err(model.error(Kind::Idle, &what));
                }
                Ok(Step::Heard(Some((session, heard)))) if session == self.session => {
                    reply.hear(heard, on_event);
                    if reply.text.len() + reply.thought.len() > MOST_BYTES {
                        let what = "sent a reply of more than 64 MiB";
                        return Err(model.error(Kind::Malformed, what));
                    }
                }
                Ok(Step::Heard(Some(_))) => {}
                Ok(Step::Heard(None)) => {
                    self.answer = None;
                    return Ok(gone());
                }
                Ok(Step::Answer(answer)) => {
                    self.answer = None;
                    return Ok(answer);
                }
            }
        }
    }
}

enum Step {
    Heard(Option<(String, Heard)>),
    Answer(Answer),
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            self.agent.cancel(self.session);
            *self.cancelled = Some(answer);
        }
    }
}

impl Growing {
    fn hear(&mut self, heard: Heard, on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send)) {
        match heard {
            Heard::Text(text) if !text.is_empty() => {
                on_event(ReplyEvent::Text(&text));
                self.text.push_str(&text);
            }
            Heard::Thought(text) if !text.is_empty() => {
                on_event(ReplyEvent::Reasoning(&text));
                self.thought.push_str(&text);
            }
            Heard::Refused(tool) => self.refused = Some(tool),
            Heard::Cost(cost) => self.cost = Some(cost),
            _ => {}
        }
    }
}

impl Session {
    /// This session and what is new, where the conversation is the one that it knows
    /// and only questions or results were added.
    fn goes_on<'a>(self, system: &str, said: &'a [Said]) -> Option<(Session, &'a [Said])> {
        let (known, new) = said.split_at_checked(self.said.len())?;
        let same = known
            .iter()
            .zip(&self.said)
            .all(|(one, other)| one.is(other));
        let asked = !new.is_empty() && new.iter().all(|said| matches!(said, Said::User(_)));
        let fits = self.system == system && same && asked;
        fits.then_some((self, new))
    }
}

fn transcript(request: &Request<'_>) -> Vec<Said> {
    let messages = request
        .history
        .messages()
        .filter_map(|message| match message {
            Message::User(content) => Some(Said::User(content.clone())),
            Message::Assistant(message) => Some(Said::Agent(message.text())),
            _ => None,
        });
    messages.collect()
}

/// A piece of content as a block of a prompt.
fn block(piece: &Content, images: bool) -> Option<Value> {
    match piece {
        Content::Text(piece) if piece.trim().is_empty() => None,
        Content::Text(piece) => Some(text(piece)),
        Content::Image { media_type, data } if images => {
            Some(json!({"type": "image", "mimeType": &**media_type, "data": &**data}))
        }
        Content::Image { .. } => Some(text("(an image that this agent cannot be shown)")),
        _ => None,
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The prompt that goes on with a session.
fn blocks(said: &[Said], images: bool) -> Vec<Value> {
    let mut out = Vec::new();
    for said in said {
        if let Said::User(content) = said {
            out.extend(content.iter().filter_map(|piece| block(piece, images)));
        }
    }
    if out.is_empty() {
        out.push(text(crate::turns::EMPTY));
    }
    out
}

/// The prompt that begins a session, with all that was said elsewhere.
fn opening(system: &str, said: &[Said], images: bool) -> Vec<Value> {
    let mut out = Vec::new();
    if !system.trim().is_empty() {
        out.push(text(system));
    }
    let (earlier, last) = match said {
        [earlier @ .., last @ Said::User(_)] => (earlier, std::slice::from_ref(last)),
        _ => (said, &[][..]),
    };
    if !earlier.is_empty() {
        out.push(text("The conversation so far:"));
    }
    for said in earlier {
        match said {
            Said::User(_) => {
                out.push(text("The user wrote:"));
                out.extend(blocks(std::slice::from_ref(said), images));
            }
            Said::Agent(written) => out.push(text(&format!("You wrote:\n{written}"))),
        }
    }
    if !earlier.is_empty() {
        out.push(text("Now the user writes:"));
    }
    out.extend(blocks(last, images));
    out
}

#[cfg(test)]
mod tests;
