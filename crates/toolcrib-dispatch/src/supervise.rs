//! Runs one call so that nothing it does can hurt the run.
//!
//! The call has a task of its own: a panic ends that task alone, and a call that
//! is late or cancelled can be dropped. It is first asked to stop and given a
//! moment, so that it can end its child processes and say how far it came.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{JoinError, JoinHandle};
use toolcrib_core::{
    CancellationToken, Content, Progress, Str, ToolContext, ToolError, ToolErrorKind, ToolOutput,
    ToolSpec,
};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::prepared::Ready;
use crate::{Dispatcher, Redactor};

/// How a call ended, before its result is made.
pub(crate) struct Ended {
    pub(crate) output: Result<ToolOutput, ToolError>,
    /// Set when the call was stopped but had something to say all the same.
    pub(crate) stopped: Option<ToolErrorKind>,
    pub(crate) elapsed: Duration,
}

impl Ended {
    pub(crate) fn not_run(error: ToolError) -> Ended {
        Ended {
            output: Err(error),
            stopped: None,
            elapsed: Duration::ZERO,
        }
    }
}

type Finished = Result<Result<ToolOutput, ToolError>, JoinError>;

/// A task that ends with its owner.
struct Task(JoinHandle<Result<ToolOutput, ToolError>>);

impl Future for Task {
    type Output = Finished;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Finished> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Why a call was stopped.
#[derive(Clone, Copy)]
enum Stop {
    Late(Duration),
    Cancelled,
}

/// Runs one call to its end, at most its timeout and the grace.
pub(crate) async fn supervise(
    ready: &Ready,
    call_id: Str,
    progress: Progress,
    dispatcher: &Dispatcher,
    run: &CancellationToken,
) -> Ended {
    let began = Instant::now();
    let spec = ready.tool.spec();
    let limits = dispatcher.limits();
    let span = tracing::info_span!(
        "execute_tool",
        "otel.name" = Empty,
        "otel.kind" = "internal",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = spec.name.as_str(),
        "gen_ai.tool.call.id" = &*call_id,
        "gen_ai.tool.type" = "function",
        "error.type" = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("execute_tool {}", spec.name));
    }
    let ended = |finished, stop| {
        let ended = ended(spec, finished, stop, began, dispatcher.redactor());
        record(&span, &ended);
        ended
    };
    let timeout = spec.timeout.unwrap_or(limits.default_timeout);
    let cancel = run.child_token();
    // Tells the call when the whole batch is dropped.
    let _guard = cancel.clone().drop_guard();
    let mut cx = ToolContext::detached(call_id.clone());
    cx.cancel = cancel.clone();
    cx.progress = progress;
    cx.deadline = began.checked_add(timeout);
    let (tool, arguments) = (ready.tool.clone(), ready.arguments.clone());
    let work = async move { tool.call(&arguments, &cx).await }.instrument(span.clone());
    let mut task = Task(tokio::spawn(work));
    let stop = tokio::select! {
        biased;
        finished = &mut task => {
            // It may have ended because it saw the cancellation first.
            let stop = run.is_cancelled().then_some(Stop::Cancelled);
            return ended(finished, stop);
        }
        () = run.cancelled() => Stop::Cancelled,
        () = tokio::time::sleep(timeout) => Stop::Late(timeout),
    };
    cancel.cancel();
    let finished = match tokio::time::timeout(limits.grace, &mut task).await {
        Ok(finished) => Some(finished),
        Err(_) => {
            task.0.abort();
            // The dropped call frees what it holds before the next one starts; one
            // that never yields is left behind.
            tokio::time::timeout(limits.grace, &mut task).await.ok()
        }
    };
    match finished {
        Some(finished) => ended(finished, Some(stop)),
        None => {
            let ended = Ended {
                output: Err(stop.error(spec)),
                stopped: None,
                elapsed: began.elapsed(),
            };
            record(&span, &ended);
            ended
        }
    }
}

/// Tells a span the class of a failure, and never its text.
fn record(span: &Span, ended: &Ended) {
    let kind = match &ended.output {
        Err(error) => Some(error.kind),
        Ok(output) => {
            let failed = output.is_error.then_some(ToolErrorKind::Failed);
            ended.stopped.or(failed)
        }
    };
    let Some(kind) = kind else { return };
    let class = match kind {
        ToolErrorKind::UnknownTool => "unknown_tool",
        ToolErrorKind::BadJson => "bad_json",
        ToolErrorKind::BadArgs => "bad_args",
        ToolErrorKind::Denied => "denied",
        ToolErrorKind::Timeout => "timeout",
        ToolErrorKind::Cancelled => "cancelled",
        ToolErrorKind::Failed => "failed",
        _ => "_OTHER",
    };
    span.record("error.type", class);
    span.record("otel.status_code", "ERROR");
}

fn ended(
    spec: &ToolSpec,
    finished: Finished,
    stop: Option<Stop>,
    began: Instant,
    redactor: &Redactor,
) -> Ended {
    let mut stopped = None;
    let output = match (finished, stop) {
        (Ok(output), None) => output,
        (Ok(Ok(output)), Some(stop)) => {
            stopped = Some(stop.kind());
            Ok(stop.partial(spec, output))
        }
        (Ok(Err(error)), Some(stop)) => Err(stop.error(spec).with_operator(error.operator)),
        (Err(error), stop) => match (error.try_into_panic(), stop) {
            (Ok(payload), _) => Err(panicked(spec, payload.as_ref(), redactor)),
            (Err(_), stop) => Err(stop.unwrap_or(Stop::Cancelled).error(spec)),
        },
    };
    Ended {
        output,
        stopped,
        elapsed: began.elapsed(),
    }
}

impl Stop {
    fn kind(self) -> ToolErrorKind {
        match self {
            Stop::Late(_) => ToolErrorKind::Timeout,
            Stop::Cancelled => ToolErrorKind::Cancelled,
        }
    }

    fn text(self, spec: &ToolSpec) -> String {
        match self {
            Stop::Late(after) => format!("`{}` was stopped after {after:?}", spec.name),
            Stop::Cancelled => format!("the run was cancelled while `{}` ran", spec.name),
        }
    }

    fn error(self, spec: &ToolSpec) -> ToolError {
        let advice = match self {
            Stop::Late(_) => "; ask for less at a time",
            Stop::Cancelled => "; it may have done a part of its work",
        };
        ToolError::new(self.kind(), self.text(spec) + advice)
    }

    /// What a stopped call still had to say, told as such.
    fn partial(self, spec: &ToolSpec, mut output: ToolOutput) -> ToolOutput {
        let text = format!("error: {}; what it gave:\n", self.text(spec));
        output.content.insert(0, Content::text(text));
        output.is_error = true;
        output
    }
}

/// The error of a call whose tool panicked. The payload goes to the log alone: it
/// may hold anything, and helps no model.
pub(crate) fn panicked(
    spec: &ToolSpec,
    payload: &(dyn Any + Send),
    redactor: &Redactor,
) -> ToolError {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a payload that is not text");
    tracing::error!(tool = %spec.name, panic = &*redactor.text(text), "a tool panicked");
    ToolError::failed(format!(
        "`{}` broke down. The fault is the tool's, not the call's; go another way.",
        spec.name
    ))
}

/// Most bytes of partial texts that wait to be shown; a tool that reports faster
/// than anybody watches loses texts instead of filling the memory.
const WAITING: usize = 4 * 1024 * 1024;

/// Hands out a [`Progress`] per call, all of which end in one inbox.
pub(crate) struct Reporter {
    reports: UnboundedSender<(usize, String)>,
    waiting: Arc<AtomicUsize>,
}

impl Reporter {
    pub(crate) fn new(reports: UnboundedSender<(usize, String)>) -> Reporter {
        Reporter {
            reports,
            waiting: Arc::default(),
        }
    }

    /// Never blocks the tool.
    pub(crate) fn for_call(&self, index: usize) -> Progress {
        let (reports, waiting) = (self.reports.clone(), self.waiting.clone());
        Progress::new(move |text| {
            let before = waiting.fetch_add(text.len(), Ordering::Relaxed);
            let fits = before.saturating_add(text.len()) <= WAITING;
            if !fits || reports.send((index, text.to_owned())).is_err() {
                waiting.fetch_sub(text.len(), Ordering::Relaxed);
            }
        })
    }

    pub(crate) fn received(&self, text: &str) {
        self.waiting.fetch_sub(text.len(), Ordering::Relaxed);
    }
}
