//! Events of models and of dispatch as events of the run.

use std::time::Duration;

use toolcrib_core::ReplyEvent;
use toolcrib_dispatch::DispatchEvent;

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

pub(super) fn watched_call(event: DispatchEvent<'_>) -> Option<Event> {
    Some(match event {
        DispatchEvent::ApprovalNeeded { call, preview, .. } => Event::ApprovalNeeded {
            call_id: call.id.clone(),
            name: call.name.clone(),
            preview: preview.clone(),
        },
        DispatchEvent::ApprovalGiven { call, decision, .. } => Event::ApprovalGiven {
            call_id: call.id.clone(),
            name: call.name.clone(),
            decision: decision.clone(),
        },
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

/// Whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
