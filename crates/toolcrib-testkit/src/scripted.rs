//! A model that answers from a script in memory and remembers what it was asked.
//!
//! Requests are recorded as owned data, so a test can compare the tenth with the
//! first after the run is over. It is not a wire: nothing is rendered, and
//! nothing it is sent is refused.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolcrib_core::{
    AssistantMessage, Block, BoxFuture, Cost, Fingerprint, Finish, Message, Model, ModelError,
    ModelErrorKind, ModelProfile, Reply, ReplyEvent, Request, Str, ToolCall, ToolChoice, Usage,
};

/// What the model does with one request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Turn {
    /// Streams the reply's text and reasoning block by block, then returns it.
    Reply(Reply),
    /// Fails without showing anything.
    Fail(ModelError),
    /// Shows this text and then fails.
    Break(Str, ModelError),
    /// Shows the text, then never ends; only dropping the request ends it.
    Stall(Str),
}

/// One request as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The system prompt.
    pub system: Str,
    /// Names of the tools of the plan, in the order sent.
    pub tools: Vec<Str>,
    /// The plan's fingerprint.
    pub fingerprint: Fingerprint,
    /// Whether the plan is the very object of the request before; true for the
    /// first.
    pub same_plan: bool,
    /// The transcript.
    pub messages: Vec<Message>,
    /// Which tools could be called.
    pub tool_choice: ToolChoice,
    /// Limit of generated tokens.
    pub max_output_tokens: Option<u64>,
}

type Script = dyn FnMut(&Recorded) -> Turn + Send;

/// A [`Model`] whose turns are written beforehand or by a function.
pub struct ScriptedModel {
    profile: ModelProfile,
    script: Mutex<Box<Script>>,
    requests: Mutex<Vec<Recorded>>,
    last_plan: Mutex<usize>,
    dropped: Arc<Mutex<usize>>,
}

impl ScriptedModel {
    /// Answers with these turns in order; a request beyond them fails with
    /// [`ModelErrorKind::Script`].
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> ScriptedModel {
        let mut turns: VecDeque<Turn> = turns.into_iter().collect();
        ScriptedModel::from_fn(move |_| {
            turns.pop_front().unwrap_or_else(|| {
                Turn::Fail(ModelError::new(
                    ModelErrorKind::Script,
                    "the script has no more replies",
                ))
            })
        })
    }

    /// Answers with what the function makes of each request.
    pub fn from_fn(script: impl FnMut(&Recorded) -> Turn + Send + 'static) -> ScriptedModel {
        ScriptedModel {
            profile: ModelProfile::new("script:memory"),
            script: Mutex::new(Box::new(script)),
            requests: Mutex::default(),
            last_plan: Mutex::default(),
            dropped: Arc::default(),
        }
    }

    /// The same model with another profile.
    pub fn with_profile(mut self, profile: ModelProfile) -> ScriptedModel {
        self.profile = profile;
        self
    }

    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.requests).clone()
    }

    /// How many requests were dropped before their reply was complete.
    pub fn dropped(&self) -> usize {
        *lock(&self.dropped)
    }

    fn record(&self, request: Request<'_>) -> Recorded {
        let plan = std::ptr::from_ref(request.plan).addr();
        let mut last = lock(&self.last_plan);
        let same_plan = *last == 0 || *last == plan;
        *last = plan;
        Recorded {
            system: request.plan.system().into(),
            tools: request
                .plan
                .tools()
                .iter()
                .map(|spec| spec.name.as_str().into())
                .collect(),
            fingerprint: request.plan.fingerprint().clone(),
            same_plan,
            messages: request.history.messages().cloned().collect(),
            tool_choice: request.tool_choice.clone(),
            max_output_tokens: request.max_output_tokens,
        }
    }
}

impl Model for ScriptedModel {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let recorded = self.record(request);
            let turn = lock(&self.script)(&recorded);
            lock(&self.requests).push(recorded);
            let unfinished = Unfinished(&self.dropped);
            let result = match turn {
                Turn::Reply(reply) => {
                    for block in &reply.message.blocks {
                        // A reply takes time; whoever waits beside it gets a turn.
                        tokio::task::yield_now().await;
                        match block {
                            Block::Text(text) => on_event(ReplyEvent::Text(text)),
                            Block::Reasoning { text, .. } => on_event(ReplyEvent::Reasoning(text)),
                            Block::Call(call) => on_event(ReplyEvent::CallStarted(&call.name)),
                            _ => {}
                        }
                    }
                    Ok(reply)
                }
                Turn::Fail(error) => Err(error),
                Turn::Break(text, error) => {
                    on_event(ReplyEvent::Text(&text));
                    Err(error)
                }
                Turn::Stall(text) => {
                    on_event(ReplyEvent::Text(&text));
                    std::future::pending().await
                }
            };
            std::mem::forget(unfinished);
            result
        })
    }
}

struct Unfinished<'a>(&'a Mutex<usize>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        *lock(self.0) += 1;
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turn {
    /// A reply of text alone.
    pub fn text(text: impl Into<Str>) -> Turn {
        Turn::blocks([Block::Text(text.into())], Finish::Stop)
    }

    /// A reply of calls alone, as `(name, arguments)`; their ids are `c0`, `c1`…
    /// and so repeat from turn to turn.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Turn {
        let blocks = calls.into_iter().enumerate().map(|(i, (name, arguments))| {
            Block::Call(ToolCall {
                id: format!("c{i}").into(),
                name: name.into(),
                arguments: arguments.into(),
                extra: None,
            })
        });
        Turn::blocks(blocks, Finish::ToolCalls)
    }

    /// A reply of these blocks with this ending.
    pub fn blocks(blocks: impl IntoIterator<Item = Block>, finish: Finish) -> Turn {
        Turn::Reply(Reply {
            message: AssistantMessage {
                blocks: blocks.into_iter().collect(),
                model: "script:memory".into(),
            },
            finish,
            usage: Usage::default(),
            cost: None,
        })
    }

    /// A failure of this class.
    pub fn fail(kind: ModelErrorKind, message: &str) -> Turn {
        Turn::Fail(ModelError::new(kind, message))
    }

    /// The same reply with token counts and, if given, a cost in US dollars.
    /// Other turns stay as they are.
    pub fn using(mut self, input: u64, output: u64, usd: Option<f64>) -> Turn {
        if let Turn::Reply(reply) = &mut self {
            reply.usage = Usage {
                input: Some(input),
                output: Some(output),
                ..Usage::default()
            };
            reply.cost = usd.map(Cost::reported);
        }
        self
    }
}
