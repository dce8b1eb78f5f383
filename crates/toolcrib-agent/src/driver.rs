//! Does what a [`Run`] says: the only part of the loop that waits.

use std::future::pending;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use toolcrib_core::{
    CancellationToken, Content, Cost, Effect, ModelError, Price, Reply, ReplyEvent, Request, Str,
    ToolErrorKind, TurnPlan, Usage,
};
use toolcrib_dispatch::{CallOutcome, DispatchEvent, Dispatcher, Prepared, RunContext};
use toolcrib_session::Row;
use tracing::Instrument;

use crate::agent::prefix_bytes;
use crate::journal::Journal;
use crate::run::STOP;
use crate::{
    Agent, Answer, CallResult, Event, Limit, ModelCall, Outcome, PlannedCall, Run, RunError, Step,
};

mod compact;
mod finish;
mod loads;
mod shown;
mod spans;
mod watch;

use loads::{Direct, Loads};
use shown::Shown;
use watch::{millis, watched_call};

/// How long a request under way may go on after the time limit, so that the last
/// words of an answer are not lost: a twentieth of the limit, at most this.
const MOST_GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Driver<'a> {
    agent: &'a Agent,
    run: Run,
    cancel: CancellationToken,
    journal: Journal<'a>,
    began: Instant,
    /// Of the run when it was stored, if it was.
    before: Duration,
    /// Text of a reply that never ended.
    unfinished: String,
    /// Why the request under way was sent again, each time.
    retried: Vec<Str>,
    dispatcher: Dispatcher,
    plan: Arc<TurnPlan>,
    /// How tools are loaded, where any are deferred.
    loads: Option<Loads>,
}

/// What a wait for the model came to.
enum Waited {
    Replied(Result<Reply, ModelError>),
    Cancelled,
    Late,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(agent: &'a Agent, mut run: Run, cancel: CancellationToken) -> Driver<'a> {
        let loads = Loads::of(agent, run.surface());
        let dispatcher = match &loads {
            Some(loads) => loads.dispatcher(agent),
            None => agent.dispatcher.clone(),
        };
        let plan = match &loads {
            Some(loads) => loads.plan(agent, run.surface()),
            None => agent.plan.clone(),
        };
        run.prefix_is(prefix_bytes(&plan));
        Driver {
            plan,
            dispatcher,
            loads,
            agent,
            journal: Journal::new(agent.session.as_ref(), agent.dispatcher.redactor()),
            began: Instant::now(),
            before: run.elapsed(),
            unfinished: String::new(),
            retried: Vec::new(),
            cancel,
            run,
        }
    }

    pub(crate) async fn drive<A>(mut self, answer: &Answer<A>) -> Outcome<A> {
        let agent = self.agent;
        let span = spans::invoke_agent(agent.name.as_deref(), agent.model.profile());
        let own = span.clone();
        async {
            let ended = self.all_steps(answer).await;
            let outcome = self.outcome(answer, ended).await;
            spans::record_usage(&own, &outcome.report().usage);
            if let Some(class) = spans::ending(outcome.kind()) {
                spans::record_error(&own, class);
            }
            outcome
        }
        .instrument(span)
        .await
    }

    /// The answer, if one was accepted on the way; an error if there can be no
    /// further step.
    async fn all_steps<A>(&mut self, answer: &Answer<A>) -> Result<Option<A>, RunError> {
        let agent = self.agent;
        self.emit(|run| Event::RunStarted {
            model: agent.model.profile().id.clone(),
            rounds: run.budget().rounds,
        });
        if !self.plan.tools().is_empty() {
            self.emit_surface("initial".to_owned());
        }
        self.announce_plan()?;
        self.journal_preloads()?;
        let mut accepted = None;
        loop {
            self.run.tick(self.elapsed());
            // An answer that is complete was paid for.
            if self.cancel.is_cancelled() && !self.run.is_checking() {
                self.run.cancelled();
            }
            self.take_queued();
            self.journal.messages(&mut self.run, &[])?;
            match self.run.step() {
                Step::CallModel(call) => {
                    // Tools that can no longer be called need not be shown.
                    if !call.final_round {
                        self.renew_plan()?;
                    }
                    // Whatever it was made of, no provider takes it out of order.
                    if self.run.repair() {
                        tracing::warn!("calls and results did not match and were put in order");
                    }
                    // What was said before is on disk before more is spent.
                    self.journal.sync().await?;
                    self.call_model(call).await?;
                }
                Step::Compact(why) => self.compact(why).await?,
                Step::RunCalls(calls) => self.run_calls(calls).await?,
                Step::CheckAnswer(text) => match answer.parse(&text) {
                    Ok(value) => {
                        accepted = Some(value);
                        self.run.answer_accepted()?;
                    }
                    Err(error) => self.run.answer_rejected(&error)?,
                },
                Step::Done(_) => {
                    self.journal.messages(&mut self.run, &[])?;
                    self.pass_on_events();
                    return Ok(accepted);
                }
            }
            self.pass_on_events();
        }
    }

    async fn call_model(&mut self, call: ModelCall) -> Result<(), RunError> {
        let agent = self.agent;
        self.emit(|_| Event::TurnStarted {
            round: call.round,
            rounds: call.rounds,
            final_round: call.final_round,
            extra: call.extra,
        });
        let began = Instant::now();
        let span = spans::chat(agent.model.profile());
        let waited = self.wait_for_model(&call).instrument(span.clone()).await;
        let ms = millis(began.elapsed());
        self.journal_retries(call.round)?;
        match waited {
            Waited::Cancelled => {
                spans::record_error(&span, "cancelled");
                self.run.cancelled();
            }
            Waited::Late => {
                spans::record_error(&span, "timeout");
                self.run.stopped(Limit::WallTime);
            }
            Waited::Replied(Err(mut error)) => {
                shown::clean_error(&mut error, agent.dispatcher.redactor());
                spans::record_error(&span, spans::class(&error.kind));
                tracing::info!(round = call.round, ms, error = %error, "model turn failed");
                if !self.unfinished.trim().is_empty() {
                    // Asked again it would say the same once more.
                    self.run.request_lost(&error);
                    self.run.failed(error.message.as_str());
                    return Err(RunError::Model(error));
                }
                self.run.model_failed(&error)?;
                let next = self.run.step();
                if let Step::Compact(_) = next {
                    // The same request again, once the transcript is shorter.
                } else if let Step::CallModel(again) = next {
                    let reason = format!("{error}; asked again with {:?}", again.tool_choice);
                    let reason = Str::from(reason);
                    self.retried.push(reason.clone());
                    self.journal_retries(call.round)?;
                    self.emit(|_| Event::Retrying {
                        attempt: 2,
                        wait_ms: 0,
                        reason,
                    });
                } else {
                    return Err(RunError::Model(error));
                }
            }
            Waited::Replied(Ok(mut reply)) => {
                self.unfinished.clear();
                shown::clean(&mut reply, agent.dispatcher.redactor());
                self.price(&mut reply);
                spans::record_reply(&span, &reply);
                let calls = reply.message.calls().count();
                let text_bytes = text_bytes(&reply);
                tracing::info!(
                    round = call.round,
                    rounds = call.rounds,
                    last = call.final_round,
                    calls,
                    answer_bytes = text_bytes,
                    ms,
                    "model turn"
                );
                self.emit(|_| Event::TurnFinished {
                    round: call.round,
                    calls: calls as u32,
                    text_bytes,
                    finish: reply.finish.clone(),
                    usage: Usage {
                        raw: None,
                        ..reply.usage.clone()
                    },
                    cost: reply.cost,
                    ms,
                });
                let (usage, cost) = (reply.usage.clone(), reply.cost);
                self.run.model_replied(reply)?;
                self.journal
                    .append(|| Row::usage(call.round, usage, cost, ms))?;
            }
        }
        Ok(())
    }

    /// Fills in by a price table what the provider did not report.
    fn price(&self, reply: &mut Reply) {
        if reply.cost.is_none() {
            let price = self.agent.model.profile().price;
            reply.cost = price.and_then(|price| estimate(price, &reply.usage));
        }
    }

    /// Takes messages that came while the run was busy.
    fn take_queued(&mut self) {
        let Some(inbox) = &self.agent.inbox else {
            return;
        };
        let redactor = self.agent.dispatcher.redactor();
        let clean = |text: &str| Str::from(&*redactor.text(text));
        while let Some(text) = inbox.take_if(|text| self.run.say(vec![Content::text(clean(&text))]))
        {
            let text = clean(&text);
            self.emit(|_| Event::MessageTaken { text });
        }
    }

    async fn wait_for_model(&mut self, call: &ModelCall) -> Waited {
        let agent = self.agent;
        self.unfinished.clear();
        let deadline = self.deadline();
        let request = Request {
            plan: &self.plan,
            history: self.run.history(),
            tool_choice: &call.tool_choice,
            max_output_tokens: agent.max_output_tokens,
        };
        let mut shown = Shown::new(agent.sink.as_deref(), agent.dispatcher.redactor());
        let mut on_event = |event: ReplyEvent<'_>| shown.take(event);
        let waited = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Waited::Cancelled,
            () = until(deadline) => Waited::Late,
            reply = agent.model.stream(request, &mut on_event) => Waited::Replied(reply),
        };
        shown.finish();
        self.unfinished = shown.so_far;
        self.retried = shown.retried;
        waited
    }

    fn journal_retries(&mut self, round: u32) -> Result<(), RunError> {
        for reason in std::mem::take(&mut self.retried) {
            self.journal.append(|| Row::retry(round, reason))?;
        }
        Ok(())
    }

    async fn run_calls(&mut self, planned: Vec<PlannedCall>) -> Result<(), RunError> {
        let agent = self.agent;
        let mut direct = Direct::default();
        let batch: Vec<Prepared> = planned
            .iter()
            .map(|planned| match &planned.refusal {
                Some(refusal) => Prepared::refused(&planned.call, refusal.to_error()),
                None => self.prepare(&planned.call, &mut direct),
            })
            .collect();
        self.run
            .calls_prepared(batch.iter().map(|prepared| prepared.call.clone()))?;
        self.journal.messages(&mut self.run, &[])?;

        let cx = RunContext::new(self.cancel.child_token());
        let mut circles = Circles::default();
        let halt = cx.halt.clone();
        let mut on_event = |event: DispatchEvent<'_>| {
            if let DispatchEvent::Finished { outcome, index, .. } = &event
                && planned[*index].refusal.is_none()
                && circles.closed_by(outcome)
            {
                halt.cancel();
            }
            if let Some(sink) = &agent.sink
                && let Some(event) = watched_call(event, agent.dispatcher.redactor())
            {
                sink.emit(&event);
            }
        };
        let deadline = self.deadline();
        let mut outcomes = {
            let mut running = std::pin::pin!(self.dispatcher.run(&batch, &cx, &mut on_event));
            tokio::select! {
                biased;
                outcomes = &mut running => outcomes,
                () = until(deadline) => {
                    cx.cancel.cancel();
                    running.await
                }
            }
        };
        self.take_loads(&direct, &mut outcomes);
        let results: Vec<CallResult> = batch
            .iter()
            .zip(&outcomes)
            .map(|(prepared, outcome)| call_result(prepared, outcome))
            .collect();
        self.run.calls_done(results)?;
        if cx.abandon.is_cancelled() {
            self.run.cancelled();
        }
        self.journal.messages(&mut self.run, &outcomes)?;
        self.journal_batch(&outcomes)
    }

    /// Says which tools are shown, and why, if the session does not know yet.
    fn announce_plan(&mut self) -> Result<(), RunError> {
        let fingerprint = self.plan.fingerprint().clone();
        let known = {
            let known = self.agent.plan_logged.lock();
            let mut known = known.unwrap_or_else(PoisonError::into_inner);
            known.replace(fingerprint.clone())
        };
        if known.as_ref() == Some(&fingerprint) {
            return Ok(());
        }
        let reason = fingerprint.reason(known.as_ref());
        self.journal.append(|| Row::plan(fingerprint, reason))?;
        Ok(())
    }

    fn emit_surface(&self, reason: String) {
        let plan = &self.plan;
        self.emit(|_| Event::SurfaceChanged {
            exposed: plan.tools().iter().map(|t| t.name.clone()).collect(),
            fingerprint: plan.fingerprint().clone(),
            reason: reason.into(),
        });
    }

    fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    /// When a wait under way is given up.
    fn deadline(&self) -> Option<Instant> {
        let limit = self.run.budget().wall_time?;
        let left = limit.saturating_sub(self.before);
        self.began.checked_add(left + MOST_GRACE.min(limit / 20))
    }

    fn emit(&self, event: impl FnOnce(&Run) -> Event) {
        if let Some(sink) = &self.agent.sink {
            sink.emit(&event(&self.run));
        }
    }

    fn pass_on_events(&mut self) {
        for mut event in self.run.take_events() {
            if let Event::CallsIgnored { names, .. } = &mut event {
                let redactor = self.agent.dispatcher.redactor();
                names
                    .iter_mut()
                    .for_each(|name| *name = redactor.shared(name));
            }
            self.emit(|_| event);
        }
    }
}

fn call_result(prepared: &Prepared, outcome: &CallOutcome) -> CallResult {
    let spec = prepared.tool().map(|tool| tool.spec());
    let mut ended = CallResult::from(outcome.result.clone());
    ended.kind = outcome.kind;
    ended.changed = spec.is_some_and(|spec| spec.effect != Effect::ReadOnly);
    if outcome.result.is_error {
        ended.wanted = prepared.wanted().into();
    }
    ended
}

/// Counts equal failures within one batch, to start no more of it once they would end
/// the run. What ends the run is decided by the machine, in call order.
#[derive(Default)]
struct Circles(Vec<(Str, Vec<Content>, u32)>);

impl Circles {
    fn closed_by(&mut self, outcome: &CallOutcome) -> bool {
        let (name, content) = (&outcome.result.name, &outcome.result.content);
        let last = self.0.iter_mut().find(|(tool, ..)| tool == name);
        if matches!(
            outcome.kind,
            Some(ToolErrorKind::Denied | ToolErrorKind::Cancelled)
        ) {
            return false;
        }
        match last {
            _ if !outcome.result.is_error => self.0.retain(|(tool, ..)| tool != name),
            Some((_, text, count)) if text == content => {
                *count += 1;
                return *count >= STOP;
            }
            Some((_, text, count)) => (*text, *count) = (content.clone(), 1),
            None => self.0.push((name.clone(), content.clone(), 1)),
        }
        false
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => pending().await,
    }
}

/// What the reply costs by a price table, when its tokens are known.
fn estimate(price: Price, usage: &Usage) -> Option<Cost> {
    const MILLION: f64 = 1e6;
    let (input, output) = (usage.input?, usage.output?);
    let cached = usage.cached.unwrap_or(0).min(input);
    let usd = (input - cached) as f64 * price.input
        + cached as f64 * price.cached
        + output as f64 * price.output;
    Some(Cost {
        usd: usd / MILLION,
        partial: false,
        estimated: true,
    })
}

fn text_bytes(reply: &Reply) -> u64 {
    let bytes = reply.message.blocks.iter().map(|block| match block {
        toolcrib_core::Block::Text(text) => text.len() as u64,
        _ => 0,
    });
    bytes.sum()
}
