//! Calls that need a yes: what is asked, who answers, what the answer is good for.
//!
//! The question shows what would happen, made by the tool from the arguments that
//! will run, so that nobody agrees to something else than what happens. Where that
//! cannot be shown, the answer is no. Calls are asked about one at a time, in call
//! order, before anything of their window starts.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use toolcrib_core::{
    Arguments, BoxFuture, Effect, Preview, Selector, ToolCall, ToolContext, ToolError,
    ToolErrorKind, ToolName, ToolSpec,
};

use crate::prepared::Ready;
use crate::supervise::panicked;
use crate::{DispatchEvent, Dispatcher, Prepared, RunContext};

/// How long a tool may take to show what it would do.
const PREVIEW: Duration = Duration::from_secs(10);

/// Somebody, or something, that says whether a call may run.
pub trait Approver: Send + Sync {
    /// Decides about one call. May take as long as it likes: the wait ends with the
    /// run, by dropping the future.
    fn decide<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Decision>;
}

/// What is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// The call as the transcript holds it.
    pub call: ToolCall,
    /// What is known of the tool that would run.
    pub spec: Arc<ToolSpec>,
    /// The arguments that would run.
    pub arguments: Arguments,
    /// What would happen.
    pub preview: Preview,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// This call runs.
    Once,
    /// This call and further ones of the tool run, as long as the dispatcher lives.
    Session,
    /// The same, and whoever answered remembers it beyond that.
    Always,
    /// It does not run; the model reads the reason, if there is one.
    Deny(Option<String>),
    /// It does not run, and the whole run ends.
    CancelRun,
}

/// Decides by lists and never waits: for pipes, services and tests.
#[derive(Clone, Debug, Default)]
pub struct PolicyApprover {
    allow: Vec<Selector>,
}

impl PolicyApprover {
    /// Allows what one of these means and denies all else.
    pub fn allowing(allow: impl IntoIterator<Item = Selector>) -> PolicyApprover {
        PolicyApprover {
            allow: allow.into_iter().collect(),
        }
    }

    /// Whether the tool is on the list.
    pub fn allows(&self, spec: &ToolSpec) -> bool {
        self.allow.iter().any(|selector| selector.matches(spec))
    }
}

impl Approver for PolicyApprover {
    fn decide<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Decision> {
        let decision = if self.allows(&question.spec) {
            Decision::Once
        } else {
            Decision::Deny(Some("the policy of this run does not allow it".to_owned()))
        };
        Box::pin(std::future::ready(decision))
    }
}

/// The tools that may run unasked from now on.
#[derive(Clone, Default)]
pub(crate) struct Grants(Arc<Mutex<HashSet<ToolName>>>);

impl Grants {
    fn has(&self, spec: &ToolSpec) -> bool {
        let granted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        granted.contains(&spec.name)
    }

    fn add(&self, spec: &ToolSpec) {
        let mut granted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        granted.insert(spec.name.clone());
    }
}

/// Gets a yes for a call, or the error that is its result.
pub(crate) async fn ask(
    dispatcher: &Dispatcher,
    (index, prepared): (usize, &Prepared),
    cx: &RunContext,
    on: &mut (dyn FnMut(DispatchEvent<'_>) + Send),
) -> Result<(), ToolError> {
    let Some(ready) = prepared.parts() else {
        return Ok(());
    };
    let spec = ready.tool.spec();
    if dispatcher.grants().has(spec) {
        return Ok(());
    }
    let Some(approver) = dispatcher.approver() else {
        return Err(nobody_to_ask(spec));
    };
    let call = &prepared.call;
    let preview = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return Err(unanswered(spec)),
        preview = preview(dispatcher, ready, call) => preview?,
    };
    let shown = redacted(dispatcher, preview.clone());
    on(DispatchEvent::ApprovalNeeded {
        index,
        call,
        preview: &shown,
    });
    let question = Question {
        call: call.clone(),
        spec: spec.clone(),
        arguments: ready.arguments.clone(),
        preview,
    };
    let decision = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return Err(unanswered(spec)),
        decision = AssertUnwindSafe(approver.decide(&question)).catch_unwind() => {
            decision.unwrap_or_else(|payload| {
                panicked(spec, payload.as_ref(), dispatcher.redactor());
                Decision::Deny(Some("the question could not be asked".to_owned()))
            })
        }
    };
    on(DispatchEvent::ApprovalGiven {
        index,
        call,
        decision: &decision,
    });
    match decision {
        Decision::Once => Ok(()),
        Decision::Session | Decision::Always => {
            dispatcher.grants().add(spec);
            Ok(())
        }
        Decision::Deny(reason) => Err(denied(spec, reason.as_deref())),
        Decision::CancelRun => {
            cx.abandon.cancel();
            cx.cancel.cancel();
            Err(ToolError::new(
                ToolErrorKind::Cancelled,
                format!("`{}` was not allowed and the run was ended.", spec.name),
            ))
        }
    }
}

/// What the tool says it would do, on a task of its own: it may panic or hang.
async fn preview(
    dispatcher: &Dispatcher,
    ready: &Ready,
    call: &ToolCall,
) -> Result<Preview, ToolError> {
    let spec = ready.tool.spec();
    let (tool, arguments) = (ready.tool.clone(), ready.arguments.clone());
    let cx = ToolContext::detached(call.id.clone());
    let _guard = cx.cancel.clone().drop_guard();
    let mut task = Aborting(tokio::spawn(
        async move { tool.preview(&arguments, &cx).await },
    ));
    let why = match tokio::time::timeout(PREVIEW, &mut task.0).await {
        Ok(Ok(Ok(preview))) => return Ok(preview),
        Ok(Ok(Err(error))) => error.model,
        Ok(Err(error)) => match error.try_into_panic() {
            Ok(payload) => panicked(spec, payload.as_ref(), dispatcher.redactor()).model,
            Err(_) => "it was stopped".to_owned(),
        },
        Err(_) => format!("it took longer than {PREVIEW:?}"),
    };
    Err(ToolError::new(
        ToolErrorKind::Denied,
        format!(
            "`{}` did not run: what it would do cannot be shown, so nobody can allow it ({}).",
            spec.name,
            why.trim_end_matches('.')
        ),
    ))
}

/// A task that ends with its owner.
struct Aborting<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for Aborting<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn redacted(dispatcher: &Dispatcher, preview: Preview) -> Preview {
    let clean = |text: String| dispatcher.redactor().text(&text).into_owned();
    match preview {
        Preview::Text(text) => Preview::Text(clean(text)),
        Preview::Diff {
            path,
            before,
            after,
        } => Preview::Diff {
            path,
            before: before.map(clean),
            after: after.map(clean),
        },
        Preview::Command { argv, cwd } => Preview::Command {
            argv: argv.into_iter().map(clean).collect(),
            cwd,
        },
        other => other,
    }
}

fn denied(spec: &ToolSpec, reason: Option<&str>) -> ToolError {
    const SHOWN: usize = 500;
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    let reason = reason.map_or_else(String::new, |reason| {
        let reason: String = reason.chars().take(SHOWN).collect();
        format!(": {}", reason.trim_end_matches('.'))
    });
    ToolError::new(
        ToolErrorKind::Denied,
        format!(
            "`{}` was denied{reason}; it did not run. Do not try the same again; do without it or \
             say what should be done.",
            spec.name
        ),
    )
}

fn unanswered(spec: &ToolSpec) -> ToolError {
    ToolError::new(
        ToolErrorKind::Cancelled,
        format!(
            "the run was cancelled before `{}` was allowed; it did not run.",
            spec.name
        ),
    )
}

/// What the model reads of a call that needs a yes when there is nobody to ask.
fn nobody_to_ask(spec: &ToolSpec) -> ToolError {
    let what = match spec.effect {
        Effect::ReadOnly => "needs a confirmation",
        Effect::Destructive => "may destroy something and needs a confirmation",
        _ => "changes something and needs a confirmation",
    };
    ToolError::new(
        ToolErrorKind::Denied,
        format!(
            "`{}` {what}, and nobody can be asked in this run; it did not run. Do without it, \
             or say what should be done.",
            spec.name
        ),
    )
}
