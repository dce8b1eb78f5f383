//! L12, L13 through a whole run: what is asked, and what an answer does to the run.

use std::sync::Arc;

use toolcrib_agent::{Agent, Event, OutcomeKind};
use toolcrib_core::{BoxFuture, CancellationToken, Effect, Registry};
use toolcrib_dispatch::{Approver, Decision, Question};
use toolcrib_testkit::scripted::Turn;
use toolcrib_testkit::tools::{FakeTool, Record};

use crate::support::*;

/// Always says the same, or never anything.
pub(crate) struct Always(pub(crate) Option<Decision>);

impl Approver for Always {
    fn decide<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Decision> {
        let decision = self.0.clone();
        Box::pin(async move {
            match decision {
                Some(decision) => decision,
                None => std::future::pending().await,
            }
        })
    }
}

fn writing() -> (Registry, Record) {
    let tool = FakeTool::echo("write").with_effect(Effect::Write);
    let ran = tool.record();
    let mut registry = Registry::new();
    registry.insert(Arc::new(tool)).unwrap();
    (registry, ran)
}

fn two_writes() -> Turn {
    Turn::calls([("write", r#"{"n":1}"#), ("write", r#"{"n":2}"#)])
}

#[tokio::test]
async fn l12_s47_whoever_is_asked_can_end_the_run_and_every_call_has_its_result() {
    let (registry, ran) = writing();
    let model = model([two_writes(), Turn::text("never")]);
    let agent = Agent::builder(model.clone())
        .tools(registry)
        .approver(Arc::new(Always(Some(Decision::CancelRun))))
        .build()
        .unwrap();
    let outcome = agent.run("Write.").await;
    assert_eq!(outcome.kind(), OutcomeKind::Cancelled);
    assert_eq!((ran.all().len(), model.requests().len()), (0, 1));
    let said: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_paired(&said);
    assert_eq!(said.len(), 4);
}

#[tokio::test]
async fn l12_a_cancelled_run_releases_a_question_that_nobody_answers() {
    let (registry, ran) = writing();
    let model = model([two_writes(), Turn::text("never")]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let agent = Agent::builder(model.clone())
        .tools(registry)
        .approver(Arc::new(Always(None)))
        .cancel(cancel)
        .sink(Arc::new(move |event: &Event| {
            if matches!(event, Event::ApprovalNeeded { .. }) {
                stop.cancel();
            }
        }))
        .build()
        .unwrap();
    let outcome = agent.run("Write.").await;
    assert_eq!(outcome.kind(), OutcomeKind::Cancelled);
    assert!(ran.all().is_empty());
    let said: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_paired(&said);
}

#[tokio::test]
async fn l12_l13_a_yes_for_the_session_outlives_the_run_and_starts_come_after_it() {
    let (registry, ran) = writing();
    let model = model([two_writes(), Turn::text("a"), two_writes(), Turn::text("b")]);
    let kept = Kept::default();
    let agent = Agent::builder(model.clone())
        .tools(registry)
        .approver(Arc::new(Always(Some(Decision::Session))))
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    agent.run("Write.").await.into_answer().unwrap();
    agent.run("Again.").await.into_answer().unwrap();
    assert_eq!(ran.all().len(), 4);
    let events = kept.all();
    let at = |wanted: fn(&Event) -> bool| events.iter().position(wanted).unwrap();
    let asked = at(|event| matches!(event, Event::ApprovalNeeded { .. }));
    let answered = at(|event| matches!(event, Event::ApprovalGiven { .. }));
    let started = at(|event| matches!(event, Event::ToolCallStarted { .. }));
    assert!(asked < answered && answered < started);
    let questions = events
        .iter()
        .filter(|event| matches!(event, Event::ApprovalNeeded { .. }))
        .count();
    assert_eq!(questions, 1);
}
