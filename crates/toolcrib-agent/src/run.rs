//! The machine: says what to do next, takes back what came of it, never waits.
//!
//! It holds everything a run is (transcript, counters, protocol of the answer)
//! as plain data, so a run can be stored between any two steps and continued by
//! another process. It does no I/O, has no clock and knows neither tools nor
//! models: a driver sends requests, runs calls, parses answers and reports back.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcrib_core::{
    AssistantMessage, Block, Content, FinalRound, Finish, History, HistoryItem, Message,
    ModelError, ModelErrorKind, Reply, Str, ToolChoice,
};

use toolcrib_surface::SurfaceState;

use crate::ids::Ids;
use crate::{
    Budget, BudgetError, End, Event, Limit, ModelCall, Rejection, Step, Tally, Unanswered, words,
};

mod batch;
pub(crate) mod compact;
mod guard;
#[cfg(test)]
mod tests;
mod transcript;
mod verdict;

use batch::Batch;
use compact::Size;
use guard::Guard;

pub use compact::Compaction;
pub use guard::CallResult;
pub(crate) use guard::STOP;

/// Version of the serialised form.
const VERSION: u32 = 1;

/// What a run must know of its surroundings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Whether requests carry tools. Calls are taken only then.
    pub tools: bool,
    /// How the tool-free last round is asked for.
    pub final_round: FinalRound,
    /// The wanted form of the answer; plain text when absent.
    pub format: Option<Str>,
    /// Bytes that every request carries before the transcript, for the estimate of
    /// its tokens where the provider counts none.
    pub prefix_bytes: u64,
    /// Tokens that a request may take, if known: the model's window, or its limit of
    /// the input where that is less. The transcript is made shorter before it is full.
    pub window: Option<u64>,
}

/// A run as plain data. See the module's head.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    #[serde(with = "transcript")]
    history: History,
    /// How many messages were handed out for the log.
    taken: usize,
    /// Size of the transcript, for the estimate of its tokens.
    bytes: u64,
    budget: Budget,
    rules: Rules,
    tally: Tally,
    elapsed: Duration,
    ids: Ids,
    phase: Phase,
    /// What makes the next round the last one before the rounds are spent.
    hurry: Option<Limit>,
    /// The tool-free last round has begun.
    finale: bool,
    /// The other way of asking for the last round was tried.
    swapped: bool,
    /// The request under way is the second one for its reply.
    #[serde(default)]
    reasked: bool,
    silent: u8,
    /// Answers in a row that were cut off.
    #[serde(default)]
    cut: u8,
    rejection: Option<Rejection>,
    finish: Option<Finish>,
    events: Vec<Event>,
    /// What the session loaded of its tools; the machine only keeps it.
    #[serde(default)]
    surface: SurfaceState,
    /// Notices circles.
    #[serde(default)]
    guard: Guard,
    /// How large the transcript is.
    #[serde(default)]
    size: Size,
    /// What this run was asked; it outlives a summary.
    #[serde(default)]
    question: Vec<Content>,
    /// Where it stands in the transcript.
    #[serde(default)]
    question_at: usize,
    /// The circle that ends the run with the batch under way.
    #[serde(skip)]
    stuck: Option<Unanswered>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// The model is to be asked, budget permitting.
    Ready,
    /// The model was asked.
    Asked,
    /// The model wants calls.
    Calls(Batch),
    /// A text may be the answer.
    Check(Str),
    /// The transcript is to be made shorter.
    Compact(Compaction),
    Over(End),
}

/// The driver reported something that was not asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was told `{told}`, but its next step is {step}")]
pub struct OutOfTurn {
    told: &'static str,
    step: &'static str,
}

impl Run {
    /// A run that asks `question` after what was said in `history`.
    ///
    /// # Errors
    /// [`BudgetError`] when the budget allows nothing.
    pub fn new(
        history: History,
        question: Message,
        budget: Budget,
        rules: Rules,
    ) -> Result<Run, BudgetError> {
        budget.check()?;
        Ok(Run::of_checked(history, question, budget, rules))
    }

    /// [`Run::new`] with a budget that was checked before.
    pub(crate) fn of_checked(
        history: History,
        question: Message,
        budget: Budget,
        rules: Rules,
    ) -> Run {
        let mut run = Run {
            version: VERSION,
            bytes: history.messages().map(transcript::size).sum(),
            ids: Ids::of(&history),
            taken: history.len(),
            history,
            rules,
            tally: Tally::default(),
            elapsed: Duration::ZERO,
            phase: Phase::Ready,
            hurry: (budget.tool_calls == Some(0)).then_some(Limit::ToolCalls),
            budget,
            finale: false,
            swapped: false,
            reasked: false,
            silent: 0,
            cut: 0,
            rejection: None,
            finish: None,
            events: Vec::new(),
            surface: SurfaceState::default(),
            guard: Guard::default(),
            stuck: None,
            size: Size::default(),
            question: match &question {
                Message::User(content) => content.clone(),
                _ => Vec::new(),
            },
            question_at: 0,
        };
        run.question_at = run.history.len();
        run.push(question);
        run
    }

    /// The transcript so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The messages appended since the last time it was asked, for whoever keeps a
    /// log. The first ones are those after the history that the run began with.
    pub fn take_messages(&mut self) -> &[Arc<HistoryItem>] {
        let from = std::mem::replace(&mut self.taken, self.history.len());
        &self.history.items()[from..]
    }

    /// What was spent so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The limits.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What the session loaded of its tools so far, and how its prompts were read.
    pub fn surface(&self) -> &SurfaceState {
        &self.surface
    }

    /// The same, for the driver to change as tools are loaded.
    pub fn surface_mut(&mut self) -> &mut SurfaceState {
        &mut self.surface
    }

    /// Says how many bytes every request carries before the transcript from now on.
    pub(crate) fn prefix_is(&mut self, bytes: u64) {
        self.rules.prefix_bytes = bytes;
    }

    /// How long the run took, as told by [`Run::tick`].
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// How the last reply ended.
    pub fn finish(&self) -> Option<&Finish> {
        self.finish.as_ref()
    }

    /// Says how long the run has taken in all, since it has no clock.
    pub fn tick(&mut self, elapsed: Duration) {
        self.elapsed = elapsed;
    }

    /// What happened inside since the last time it was asked, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The next thing to do.
    pub fn step(&mut self) -> Step {
        if let Phase::Ready = self.phase {
            self.begin_round();
        }
        match &mut self.phase {
            Phase::Calls(batch) => {
                // A spent budget must not pay for tools any more.
                if let Some(limit) = self.tally.spent(&self.budget, self.elapsed) {
                    batch.refuse_all(&self.budget.describe(limit));
                }
                Step::RunCalls(batch.planned().to_vec())
            }
            Phase::Check(text) => Step::CheckAnswer(text.clone()),
            Phase::Compact(why) => Step::Compact(why.clone()),
            Phase::Over(end) => Step::Done(end.clone()),
            Phase::Ready | Phase::Asked => Step::CallModel(self.model_call()),
        }
    }

    fn begin_round(&mut self) {
        let spent_early = self.tally.spent(&self.budget, self.elapsed);
        self.phase = if let Some(limit) = spent_early {
            Phase::Over(End::Stopped(limit))
        } else if self.is_full() {
            Phase::Compact(Compaction::Full)
        } else if !self.finale {
            self.tally.rounds += 1;
            self.finale = self.hurry.is_some() || self.tally.rounds == self.budget.rounds;
            Phase::Asked
        } else if self.tally.extra_attempts == 0 {
            self.tally.extra_attempts = 1;
            Phase::Asked
        } else {
            self.out_of_attempts()
        };
    }

    fn model_call(&self) -> ModelCall {
        let tool_choice = match self.rules.final_round {
            _ if self.offers_tools() => ToolChoice::Auto,
            FinalRound::Keep if self.rules.tools => ToolChoice::None,
            _ => ToolChoice::Withhold,
        };
        ModelCall {
            tool_choice,
            round: self.tally.rounds,
            rounds: self.budget.rounds,
            final_round: self.finale,
            extra: self.tally.extra_attempts > 0,
        }
    }

    fn offers_tools(&self) -> bool {
        self.rules.tools && !self.finale
    }

    /// Whether the request after this one could still call tools.
    fn will_offer_tools(&self) -> bool {
        self.offers_tools() && self.hurry.is_none() && self.tally.rounds + 1 < self.budget.rounds
    }

    /// Takes the model's reply.
    ///
    /// # Errors
    /// [`OutOfTurn`] when the model was not to be asked; nothing changes then.
    pub fn model_replied(&mut self, reply: Reply) -> Result<(), OutOfTurn> {
        let Phase::Asked = self.phase else {
            return Err(self.out_of_turn("model_replied"));
        };
        let Reply {
            mut message,
            finish,
            usage,
            cost,
        } = reply;
        self.reasked = false;
        let sent = self.rules.prefix_bytes + self.bytes;
        let received = transcript::assistant_size(&message);
        self.tally.add(&usage, cost.as_ref(), sent, received);
        self.measure(usage.input, sent);
        message.blocks.retain(|block| !is_blank(block));
        self.finish = Some(finish.clone());

        let declined = matches!(finish, Finish::Refusal | Finish::ContentFilter);
        let calls = message.calls().next().is_some();
        if calls && self.offers_tools() && !declined {
            self.silent = 0;
            self.cut = 0;
            self.plan_calls(message, &finish);
            return Ok(());
        }
        if calls {
            self.ignore_calls(&mut message);
        }
        let text: Str = message.text().into();
        self.record(message);
        match finish {
            Finish::Refusal => self.over(End::Unanswered(Unanswered::Refused(text.trim().into()))),
            Finish::ContentFilter => self.over(End::Unanswered(Unanswered::Filtered)),
            Finish::Paused => self.paused(&text),
            finish => self.consider(text, &finish),
        }
        Ok(())
    }

    /// Takes the news that there will be no reply. A last round that was refused
    /// as a request is asked for once more the other way.
    ///
    /// # Errors
    /// [`OutOfTurn`] when the model was not to be asked; nothing changes then.
    pub fn model_failed(&mut self, error: &ModelError) -> Result<(), OutOfTurn> {
        let Phase::Asked = self.phase else {
            return Err(self.out_of_turn("model_failed"));
        };
        let swappable = self.finale && self.rules.tools && !self.swapped;
        if error.kind == ModelErrorKind::BadRequest && swappable {
            self.swapped = true;
            self.rules.final_round = match self.rules.final_round {
                FinalRound::Keep => FinalRound::Withhold,
                FinalRound::Withhold => FinalRound::Keep,
            };
            return Ok(());
        }
        if let ModelErrorKind::ContextOverflow { allowed, .. } = error.kind
            && self.overflowed(&error.message, allowed)
        {
            return Ok(());
        }
        self.request_lost(error);
        if self.asked_again(&error.kind) {
            return Ok(());
        }
        self.over(End::Failed(error.message.as_str().into()));
        Ok(())
    }

    /// Whether a reply that nobody saw is asked for once more: a stream that stalled or
    /// broke off, and, with a word on it, one that its own server could not use.
    fn asked_again(&mut self, kind: &ModelErrorKind) -> bool {
        if self.reasked {
            return false;
        }
        match kind {
            ModelErrorKind::Idle | ModelErrorKind::Interrupted => {}
            ModelErrorKind::ModelFault => {
                let told = words::unusable_reply(self.offers_tools());
                self.push(Message::user(told));
            }
            _ => return false,
        }
        self.reasked = true;
        true
    }

    /// Whether a limit is reached that allows no further request.
    pub(crate) fn is_spent(&self) -> bool {
        self.tally.spent(&self.budget, self.elapsed).is_some()
    }

    /// Counts what a summary took; it is no round.
    pub(crate) fn summary_cost(&mut self, reply: &Reply, sent: u64) {
        let sent = self.rules.prefix_bytes + sent;
        let received = transcript::assistant_size(&reply.message);
        self.tally
            .add(&reply.usage, reply.cost.as_ref(), sent, received);
    }

    /// Counts a request that gave no reply.
    pub(crate) fn request_lost(&mut self, error: &ModelError) {
        if !nothing_sent(&error.kind) {
            self.tally.add_unknown_cost();
        }
    }

    /// Takes a message that came while the run was busy, if one can be taken now: where
    /// the provider wants its own turn back as it is, none can. Says whether it was.
    pub fn say(&mut self, content: Vec<Content>) -> bool {
        let last = self.history.items().last();
        let paused = last.is_some_and(|last| matches!(***last, Message::Assistant(_)));
        if !matches!(self.phase, Phase::Ready) || paused {
            return false;
        }
        self.push(Message::User(content));
        true
    }

    /// Puts a transcript in order whose calls and results do not match; see
    /// [`toolcrib_session::repair`]. Says whether it was not.
    pub(crate) fn repair(&mut self) -> bool {
        let Some(repaired) = toolcrib_session::repair(&self.history) else {
            return false;
        };
        self.bytes = compact::bytes_of(&repaired.history);
        self.taken = repaired.history.len();
        self.history = repaired.history;
        true
    }

    /// Whether a complete reply waits to be read as the answer.
    pub(crate) fn is_checking(&self) -> bool {
        matches!(self.phase, Phase::Check(_))
    }

    /// Takes the news that the caller gave up. Calls without a result get one that
    /// says so; a run that is over stays as it is.
    pub fn cancelled(&mut self) {
        self.stop(End::Cancelled);
    }

    /// Ends the run at a limit that the driver enforces while a request is under
    /// way.
    pub fn stopped(&mut self, limit: Limit) {
        self.stop(End::Stopped(limit));
    }

    /// Ends the run because the driver cannot go on; `error` is one line for people.
    pub fn failed(&mut self, error: impl Into<Str>) {
        self.stop(End::Failed(error.into()));
    }

    fn stop(&mut self, end: End) {
        match std::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Over(end) => return self.over(end),
            Phase::Asked => self.tally.add_unknown_cost(),
            Phase::Calls(batch) => self.close_batch(batch, Vec::new(), words::CANCELLED),
            Phase::Ready | Phase::Check(_) | Phase::Compact(_) => {}
        }
        self.over(end);
    }

    fn over(&mut self, end: End) {
        self.phase = Phase::Over(end);
    }

    /// The last words of the model, if it had any.
    pub fn last_text(&self) -> Option<Str> {
        let texts = self
            .history
            .messages()
            .rev()
            .filter_map(|message| match message {
                Message::Assistant(message) => Some(message.text()),
                _ => None,
            });
        texts
            .into_iter()
            .find(|text| !text.trim().is_empty())
            .map(Str::from)
    }

    fn push(&mut self, message: Message) {
        self.bytes += transcript::size(&message);
        self.history.push(message);
    }

    /// Appends what the model said, unless there is nothing in it that a provider
    /// would take back.
    fn record(&mut self, message: AssistantMessage) {
        let substance = |block: &Block| !matches!(block, Block::Reasoning { .. });
        if message.blocks.iter().any(substance) {
            self.push(Message::Assistant(message));
        }
    }

    fn ignore_calls(&mut self, message: &mut AssistantMessage) {
        self.events.push(Event::CallsIgnored {
            round: self.tally.rounds,
            names: message.calls().map(|call| call.name.clone()).collect(),
        });
        message
            .blocks
            .retain(|block| !matches!(block, Block::Call(_)));
    }

    fn out_of_turn(&self, told: &'static str) -> OutOfTurn {
        let step = match &self.phase {
            Phase::Ready | Phase::Asked => "CallModel",
            Phase::Calls(_) => "RunCalls",
            Phase::Check(_) => "CheckAnswer",
            Phase::Compact(_) => "Compact",
            Phase::Over(_) => "Done",
        };
        OutOfTurn { told, step }
    }
}

/// Whether a failed request cannot have cost anything.
fn nothing_sent(kind: &ModelErrorKind) -> bool {
    matches!(
        kind,
        ModelErrorKind::Connect
            | ModelErrorKind::Auth
            | ModelErrorKind::Quota
            | ModelErrorKind::Script
            | ModelErrorKind::Unsupported
            | ModelErrorKind::ContextOverflow { .. }
    )
}

/// Providers refuse empty texts when they are sent back.
fn is_blank(block: &Block) -> bool {
    matches!(block, Block::Text(text) if text.trim().is_empty())
}

fn known_version<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(serde::de::Error::custom(format_args!(
            "the stored run has version {other}; this program reads version {VERSION}"
        ))),
    }
}
