//! Decides what of a batch runs side by side.
//!
//! Calls start in call order. A window of consecutive calls that change nothing
//! and share no resource runs together; every other call waits for all before
//! it and holds back all behind it. Windows depend on the batch alone, never on
//! how fast a call is.

use std::collections::HashSet;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc;
use toolcrib_core::{Str, ToolError, ToolErrorKind};

use crate::prepared::Ready;
use crate::supervise::{self, Ended, Reporter};
use crate::{CallOutcome, DispatchEvent, Dispatcher, Prepared, RunContext, Verdict, approve};

type On<'a> = dyn FnMut(DispatchEvent<'_>) + Send + 'a;

pub(crate) async fn run(
    dispatcher: &Dispatcher,
    batch: &[Prepared],
    cx: &RunContext,
    on: &mut On<'_>,
) -> Vec<CallOutcome> {
    let mut outcomes: Vec<CallOutcome> = Vec::with_capacity(batch.len());
    let mut start = 0;
    while start < batch.len() {
        let end = start + window(&batch[start..]);
        run_window(dispatcher, batch, start..end, cx, on, &mut outcomes).await;
        start = end;
    }
    outcomes
}

/// How many of the next calls make up one window; at least one.
fn window(batch: &[Prepared]) -> usize {
    let mut taken: HashSet<&Str> = HashSet::new();
    for (length, prepared) in batch.iter().enumerate() {
        // A refused call runs nothing and is no barrier.
        let Some(ready) = running(prepared) else {
            continue;
        };
        let footprint = &ready.footprint;
        let alone = !footprint.read_only || footprint.serial;
        let clash = footprint.resources.iter().any(|key| taken.contains(key));
        if alone {
            let first = batch[..length].iter().all(|p| running(p).is_none());
            return if first { length + 1 } else { length };
        }
        if clash {
            return length;
        }
        taken.extend(&footprint.resources);
    }
    batch.len()
}

fn running(prepared: &Prepared) -> Option<&Ready> {
    match prepared.verdict() {
        Verdict::Run | Verdict::Ask => prepared.parts(),
        Verdict::Refuse(_) => None,
    }
}

async fn run_window(
    dispatcher: &Dispatcher,
    batch: &[Prepared],
    range: std::ops::Range<usize>,
    cx: &RunContext,
    on: &mut On<'_>,
    outcomes: &mut Vec<CallOutcome>,
) {
    let mut refused: Vec<Option<ToolError>> = vec![None; range.len()];
    for index in range.clone() {
        let prepared = &batch[index];
        if matches!(prepared.verdict(), Verdict::Ask) && stopped_by(cx).is_none() {
            let asked = approve::ask(dispatcher, (index, prepared), cx, on).await;
            refused[index - range.start] = asked.err();
        }
    }
    let (reports, mut inbox) = mpsc::unbounded_channel();
    let reporter = Reporter::new(reports);
    let mut slots: Vec<Option<CallOutcome>> = vec![None; range.len()];
    let mut pending = range.clone();
    let mut under_way = FuturesUnordered::new();
    let finish = |index: usize, ended: Ended, on: &mut On<'_>| {
        let prepared = &batch[index];
        let outcome = CallOutcome::of(dispatcher, prepared, ended);
        let call = &prepared.call;
        on(DispatchEvent::Finished {
            index,
            call,
            outcome: &outcome,
        });
        outcome
    };
    loop {
        while under_way.len() < dispatcher.limits().max_parallel.max(1) {
            let Some(index) = pending.next() else { break };
            let prepared = &batch[index];
            let asked = refused[index - range.start].take();
            match asked.map_or_else(|| startable(prepared, cx), Err) {
                Ok(ready) => {
                    let call = &prepared.call;
                    on(DispatchEvent::Started { index, call });
                    let call_id = call.id.clone();
                    let progress = reporter.for_call(index);
                    under_way.push(async move {
                        let ended =
                            supervise::supervise(ready, call_id, progress, dispatcher, &cx.cancel);
                        (index, ended.await)
                    });
                }
                Err(error) => {
                    let ended = Ended::not_run(error);
                    slots[index - range.start] = Some(finish(index, ended, on));
                }
            }
        }
        if under_way.is_empty() {
            break;
        }
        tokio::select! {
            // Ends first: they are few, while partial texts may come without end.
            biased;
            Some((index, ended)) = under_way.next() => {
                // What the tool said before it ended is shown before its end.
                for _ in 0..inbox.len() {
                    let Ok(report) = inbox.try_recv() else { break };
                    show(dispatcher, batch, &reporter, report, &slots, range.start, on);
                }
                slots[index - range.start] = Some(finish(index, ended, on));
            }
            Some(report) = inbox.recv() => show(dispatcher, batch, &reporter, report, &slots, range.start, on),
        }
    }
    outcomes.extend(slots.into_iter().flatten());
}

/// Shows a partial text, unless its call already has its outcome.
#[allow(clippy::too_many_arguments)]
fn show(
    dispatcher: &Dispatcher,
    batch: &[Prepared],
    reporter: &Reporter,
    (index, text): (usize, String),
    slots: &[Option<CallOutcome>],
    start: usize,
    on: &mut On<'_>,
) {
    reporter.received(&text);
    if slots[index - start].is_none() {
        on(DispatchEvent::Progress {
            index,
            call: &batch[index].call,
            text: &dispatcher.redactor().text(&text),
        });
    }
}

fn startable<'a>(prepared: &'a Prepared, cx: &RunContext) -> Result<&'a Ready, ToolError> {
    let ready = match (prepared.verdict(), prepared.parts()) {
        (Verdict::Refuse(error), _) => return Err(error.clone()),
        (_, Some(ready)) => ready,
        (_, None) => return Err(stopped("the call was never settled")),
    };
    stopped_by(cx).map_or(Ok(ready), Err)
}

fn stopped_by(cx: &RunContext) -> Option<ToolError> {
    if cx.cancel.is_cancelled() {
        return Some(stopped("the run was cancelled before this call started"));
    }
    if cx.halt.is_cancelled() {
        return Some(stopped("the run was stopped before this call started"));
    }
    None
}

fn stopped(text: &str) -> ToolError {
    ToolError::new(ToolErrorKind::Cancelled, format!("{text}; it did not run."))
}
