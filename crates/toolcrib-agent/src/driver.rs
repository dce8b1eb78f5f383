//! Does what a [`Run`] says: the only part of the loop that waits.

use std::future::pending;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use toolcrib_core::{Cost, ModelError, Price, Reply, ReplyEvent, Request, Str, Usage};
use toolcrib_dispatch::{DispatchEvent, Prepared, RunContext};
use toolcrib_session::Row;
use tracing::Instrument;
use tracing::field::Empty;

use crate::journal::Journal;
use crate::{
    Agent, Answer, End, Event, Limit, ModelCall, Outcome, OutcomeKind, PlannedCall, Report, Run,
    RunError, Step,
};

/// How long a request under way may go on after the time limit, so that an
/// answer half written is not lost: a quarter of the limit, at most this.
const MOST_GRACE: Duration = Duration::from_secs(30);

pub(crate) struct Driver<'a> {
    agent: &'a Agent,
    run: Run,
    journal: Journal<'a>,
    began: Instant,
    /// Of the run when it was stored, if it was.
    before: Duration,
    /// Text of a reply that never ended.
    unfinished: String,
}

/// What a wait for the model came to.
enum Waited {
    Replied(Result<Reply, ModelError>),
    Cancelled,
    Late,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(agent: &'a Agent, run: Run) -> Driver<'a> {
        Driver {
            agent,
            journal: Journal::new(agent.session.as_ref()),
            began: Instant::now(),
            before: run.elapsed(),
            unfinished: String::new(),
            run,
        }
    }

    pub(crate) async fn drive<A>(mut self, answer: &Answer<A>) -> Outcome<A> {
        let model = &self.agent.model.profile().id;
        let span = tracing::info_span!(
            "invoke_agent",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.request.model = %model,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            error.r#type = Empty,
        );
        async {
            let ended = self.to_the_end(answer).await;
            let outcome = self.outcome(answer, ended).await;
            let span = tracing::Span::current();
            let usage = &outcome.report().usage;
            record_usage(&span, usage);
            if outcome.kind() != OutcomeKind::Answered {
                span.record("error.type", tracing::field::debug(outcome.kind()));
            }
            outcome
        }
        .instrument(span)
        .await
    }

    /// The answer, if one was accepted on the way; an error if there can be no
    /// further step.
    async fn to_the_end<A>(&mut self, answer: &Answer<A>) -> Result<Option<A>, RunError> {
        let agent = self.agent;
        self.emit(|run| Event::RunStarted {
            model: agent.model.profile().id.clone(),
            rounds: run.budget().rounds,
        });
        if !agent.plan.tools().is_empty() {
            self.emit(|_| Event::SurfaceChanged {
                exposed: agent.plan.tools().iter().map(|t| t.name.clone()).collect(),
                fingerprint: agent.plan.fingerprint().clone(),
            });
        }
        if !agent.plan_logged.swap(true, Ordering::Relaxed) {
            let fingerprint = || agent.plan.fingerprint().clone();
            self.journal
                .append(|| Row::plan(fingerprint(), "initial"))?;
        }
        let mut accepted = None;
        loop {
            self.run.tick(self.elapsed());
            if agent.cancel.is_cancelled() {
                self.run.cancelled();
            }
            self.journal.messages(&mut self.run, &[])?;
            match self.run.step() {
                Step::CallModel(call) => {
                    // What was said before is on disk before more is spent.
                    self.journal.sync().await?;
                    self.call_model(call).await?;
                }
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
        let model = &agent.model.profile().id;
        let span = tracing::info_span!(
            "chat",
            otel.name = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.request.model = %model,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            error.r#type = Empty,
        );
        if !span.is_disabled() {
            span.record("otel.name", format!("chat {model}"));
        }
        let waited = self.wait_for_model(&call).instrument(span.clone()).await;
        let ms = millis(began.elapsed());
        match waited {
            Waited::Cancelled => self.run.cancelled(),
            Waited::Late => self.run.stopped(Limit::WallTime),
            Waited::Replied(Err(error)) => {
                if !span.is_disabled() {
                    span.record("error.type", tracing::field::debug(&error.kind));
                }
                tracing::info!(round = call.round, ms, error = %error, "model turn failed");
                self.run.model_failed(&error)?;
                if let Step::CallModel(again) = self.run.step() {
                    let reason = format!("{error}; asked again with {:?}", again.tool_choice);
                    self.emit(|_| Event::Retrying {
                        attempt: 2,
                        wait_ms: 0,
                        reason: reason.into(),
                    });
                } else {
                    return Err(RunError::Model(error));
                }
            }
            Waited::Replied(Ok(mut reply)) => {
                self.unfinished.clear();
                if reply.cost.is_none() {
                    let price = agent.model.profile().price;
                    reply.cost = price.and_then(|price| estimate(price, &reply.usage));
                }
                record_usage(&span, &reply.usage);
                if !span.is_disabled() {
                    span.record(
                        "gen_ai.response.finish_reasons",
                        tracing::field::debug(&reply.finish),
                    );
                }
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

    async fn wait_for_model(&mut self, call: &ModelCall) -> Waited {
        let agent = self.agent;
        self.unfinished.clear();
        let deadline = self.deadline();
        let request = Request {
            plan: &agent.plan,
            history: self.run.history(),
            tool_choice: &call.tool_choice,
            max_output_tokens: agent.max_output_tokens,
        };
        let shown = &mut self.unfinished;
        let mut on_event = |event: ReplyEvent<'_>| {
            if let ReplyEvent::Text(text) = event {
                shown.push_str(text);
            }
            if let Some(sink) = &agent.sink
                && let Some(event) = watched(event)
            {
                sink.emit(&event);
            }
        };
        tokio::select! {
            biased;
            () = agent.cancel.cancelled() => Waited::Cancelled,
            () = until(deadline) => Waited::Late,
            reply = agent.model.stream(request, &mut on_event) => Waited::Replied(reply),
        }
    }

    async fn run_calls(&mut self, planned: Vec<PlannedCall>) -> Result<(), RunError> {
        let agent = self.agent;
        let batch: Vec<Prepared> = planned
            .iter()
            .map(|planned| match &planned.refusal {
                Some(refusal) => Prepared::refused(&planned.call, refusal.to_error()),
                None => agent.dispatcher.prepare(&planned.call),
            })
            .collect();
        self.run
            .calls_prepared(batch.iter().map(|prepared| prepared.call.clone()))?;
        self.journal.messages(&mut self.run, &[])?;

        let cx = RunContext::new(agent.cancel.child_token());
        let mut on_event = |event: DispatchEvent<'_>| {
            if let Some(sink) = &agent.sink
                && let Some(event) = watched_call(event)
            {
                sink.emit(&event);
            }
        };
        let deadline = self.deadline();
        let mut outcomes = {
            let mut running = std::pin::pin!(agent.dispatcher.run(&batch, &cx, &mut on_event));
            tokio::select! {
                biased;
                outcomes = &mut running => outcomes,
                () = until(deadline) => {
                    cx.cancel.cancel();
                    running.await
                }
            }
        };
        let results = outcomes
            .iter_mut()
            .map(|outcome| outcome.result.clone())
            .collect();
        self.run.calls_done(results)?;
        self.journal.messages(&mut self.run, &outcomes)?;
        Ok(())
    }

    async fn outcome<A>(
        mut self,
        answer: &Answer<A>,
        ended: Result<Option<A>, RunError>,
    ) -> Outcome<A> {
        let (accepted, error) = match ended {
            Ok(accepted) => (accepted, None),
            Err(error) => {
                self.run.failed(error.to_string());
                (None, Some(error))
            }
        };
        self.run.tick(self.elapsed());
        let end = match self.run.step() {
            Step::Done(end) => end,
            _ => End::Failed("the run did not end".into()),
        };
        let mut report = self.report();
        if matches!(end, End::Answered(_)) {
            report.partial = None;
        }
        let text = match &end {
            End::Answered(text) => Some(text.clone()),
            _ => None,
        };
        let outcome = match end {
            End::Answered(text) => match accepted.map_or_else(|| answer.parse(&text), Ok) {
                Ok(answer) => Outcome::Answered { answer, report },
                Err(error) => Outcome::Failed {
                    error: RunError::Stored(error.into()),
                    report,
                },
            },
            End::Unanswered(reason) => Outcome::Unanswered { reason, report },
            End::Stopped(limit) => Outcome::Stopped { limit, report },
            End::Cancelled => Outcome::Cancelled { report },
            End::Failed(text) => Outcome::Failed {
                error: error.unwrap_or(RunError::Stored(text)),
                report,
            },
        };
        self.finish(&outcome, text).await;
        outcome
    }

    /// The last rows and the last event. A run that has its answer keeps it even
    /// when they cannot be written.
    async fn finish<A>(&mut self, outcome: &Outcome<A>, answer: Option<Str>) {
        let kind = outcome.kind();
        let reason = outcome.reason();
        let report = outcome.report();
        // After a failed write more of them would only fail again.
        let session_failed = matches!(
            outcome,
            Outcome::Failed {
                error: RunError::Session(_),
                ..
            }
        );
        if !session_failed {
            let row = || {
                let kind = format!("{kind:?}").to_lowercase();
                Row::finished(kind, reason.clone(), report.rounds)
            };
            let written = match self.journal.messages(&mut self.run, &[]) {
                Ok(()) => self.journal.append(row),
                Err(error) => Err(error),
            };
            let written = match written {
                Ok(()) => self.journal.sync().await,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                tracing::warn!(%error, "the end of the run is missing in its session");
            }
        }
        self.pass_on_events();
        self.emit(|_| Event::RunFinished {
            outcome: kind,
            answer,
            reason: reason.map(Str::from),
            limit: outcome.limit(),
            rounds: report.rounds,
            extra_attempts: report.extra_attempts,
            calls: report.calls,
            usage: report.usage.clone(),
            cost: report.cost,
            ms: millis(report.elapsed),
        });
    }

    fn report(&self) -> Report {
        let tally = self.run.tally();
        let unfinished = Some(self.unfinished.trim()).filter(|text| !text.is_empty());
        Report {
            rounds: tally.rounds,
            extra_attempts: tally.extra_attempts,
            calls: tally.calls,
            usage: tally.usage.clone(),
            cost: tally.cost,
            elapsed: self.run.elapsed(),
            finish: self.run.finish().cloned(),
            partial: unfinished.map(Str::from).or_else(|| self.run.last_text()),
            history: self.run.history().clone(),
            budget: self.run.budget().clone(),
        }
    }

    fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    /// When a wait under way is given up.
    fn deadline(&self) -> Option<Instant> {
        let limit = self.run.budget().wall_time?;
        let left = limit.saturating_sub(self.before);
        self.began.checked_add(left + MOST_GRACE.min(limit / 4))
    }

    fn emit(&self, event: impl FnOnce(&Run) -> Event) {
        if let Some(sink) = &self.agent.sink {
            sink.emit(&event(&self.run));
        }
    }

    fn pass_on_events(&mut self) {
        for event in self.run.take_events() {
            self.emit(|_| event);
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => pending().await,
    }
}

fn watched(event: ReplyEvent<'_>) -> Option<Event> {
    Some(match event {
        ReplyEvent::Text(text) => Event::Text { text: text.into() },
        ReplyEvent::Reasoning(text) => Event::Reasoning { text: text.into() },
        ReplyEvent::CallStarted(name) => Event::CallAnnounced { name: name.into() },
        ReplyEvent::Retrying {
            attempt,
            wait,
            reason,
        } => Event::Retrying {
            attempt,
            wait_ms: millis(wait),
            reason: reason.into(),
        },
        _ => return None,
    })
}

fn watched_call(event: DispatchEvent<'_>) -> Option<Event> {
    Some(match event {
        DispatchEvent::Started { call, .. } => Event::ToolCallStarted {
            call_id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        },
        DispatchEvent::Progress { call, text, .. } => Event::ToolProgress {
            call_id: call.id.clone(),
            text: text.into(),
        },
        DispatchEvent::Finished { call, outcome, .. } => Event::ToolCallFinished {
            call_id: call.id.clone(),
            name: call.name.clone(),
            is_error: outcome.result.is_error,
            error: outcome.kind,
            excerpt: crate::event::excerpt(&outcome.result.content).into(),
            bytes: outcome.bytes,
            truncated: outcome.cut.is_some(),
            details: outcome.details.clone(),
            ms: millis(outcome.elapsed),
        },
        _ => return None,
    })
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

fn record_usage(span: &tracing::Span, usage: &Usage) {
    if span.is_disabled() {
        return;
    }
    if let Some(tokens) = usage.input {
        span.record("gen_ai.usage.input_tokens", tokens);
    }
    if let Some(tokens) = usage.output {
        span.record("gen_ai.usage.output_tokens", tokens);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
