//! Events of models and of dispatch as events of the run.

use std::time::Duration;

use toolcrib_core::{Preview, ReplyEvent};
use toolcrib_dispatch::{DispatchEvent, Redactor};

use crate::Event;
use crate::event::excerpt;

pub(super) fn watched(event: ReplyEvent<'_>) -> Option<Event> {
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

pub(super) fn watched_call(event: DispatchEvent<'_>, redactor: &Redactor) -> Option<Event> {
    Some(match event {
        DispatchEvent::ApprovalNeeded { call, preview, .. } => Event::ApprovalNeeded {
            call_id: call.id.clone(),
            name: redactor.shared(&call.name),
            preview: shown(preview, redactor),
        },
        DispatchEvent::ApprovalGiven { call, decision, .. } => Event::ApprovalGiven {
            call_id: call.id.clone(),
            name: redactor.shared(&call.name),
            decision: decision.clone(),
        },
        DispatchEvent::Started { call, .. } => Event::ToolCallStarted {
            call_id: call.id.clone(),
            name: redactor.shared(&call.name),
            arguments: redactor.call(call).arguments,
        },
        DispatchEvent::Progress { call, text, .. } => Event::ToolProgress {
            call_id: call.id.clone(),
            text: text.into(),
        },
        DispatchEvent::Finished { call, outcome, .. } => Event::ToolCallFinished {
            call_id: call.id.clone(),
            name: redactor.shared(&call.name),
            is_error: outcome.result.is_error,
            error: outcome.kind,
            excerpt: excerpt(&outcome.result.content).into(),
            bytes: outcome.bytes,
            truncated: outcome.cut.is_some(),
            details: outcome.details.clone(),
            ignored: outcome.ignored.clone(),
            repairs: outcome.repairs.clone(),
            ms: millis(outcome.elapsed),
        },
        _ => return None,
    })
}

/// What would happen, without secrets: whoever is asked sees them, who watches does not.
fn shown(preview: &Preview, redactor: &Redactor) -> Preview {
    let text = |text: &str| redactor.text(text).into_owned();
    match preview {
        Preview::Text(all) => Preview::Text(text(all)),
        Preview::Diff {
            path,
            before,
            after,
        } => Preview::Diff {
            path: text(path),
            before: before.as_deref().map(text),
            after: after.as_deref().map(text),
        },
        Preview::Command { argv, cwd } => Preview::Command {
            argv: argv.iter().map(|arg| text(arg)).collect(),
            cwd: text(cwd),
        },
        other => other.clone(),
    }
}

/// Whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
