//! The spans of a run, by OpenTelemetry's conventions for generative AI.
//!
//! `invoke_agent {name}` holds a `chat {model}` for each request and an
//! `execute_tool {tool}` for each call that runs. They carry names, counts and the
//! class of a failure, and never what was said: content is for the session. These
//! are plain `tracing` spans; whoever wants them elsewhere exports them.

use toolcrib_core::{Finish, ModelErrorKind, ModelProfile, Reply, Usage};
use tracing::Span;
use tracing::field::Empty;

use crate::OutcomeKind;

/// A whole run.
pub(super) fn invoke_agent(name: Option<&str>, profile: &ModelProfile) -> Span {
    let span = tracing::info_span!(
        "invoke_agent",
        "otel.name" = Empty,
        "otel.kind" = "internal",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "invoke_agent",
        "gen_ai.provider.name" = profile.provider(),
        "gen_ai.agent.name" = Empty,
        "gen_ai.request.model" = profile.model(),
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "error.type" = Empty,
    );
    if let (Some(name), false) = (name, span.is_disabled()) {
        span.record("otel.name", format!("invoke_agent {name}"));
        span.record("gen_ai.agent.name", name);
    }
    span
}

/// One request, its retries included.
pub(super) fn chat(profile: &ModelProfile) -> Span {
    let span = tracing::info_span!(
        "chat",
        "otel.name" = Empty,
        "otel.kind" = "client",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = profile.provider(),
        "gen_ai.request.model" = profile.model(),
        "gen_ai.response.finish_reasons" = Empty,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "error.type" = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", format!("chat {}", profile.model()));
    }
    span
}

/// What a reply took and why it ended.
pub(super) fn record_reply(span: &Span, reply: &Reply) {
    record_usage(span, &reply.usage);
    span.record(
        "gen_ai.response.finish_reasons",
        finish_reason(&reply.finish),
    );
}

pub(super) fn record_usage(span: &Span, usage: &Usage) {
    // The conventions want whole numbers with a sign.
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    if let Some(tokens) = usage.input {
        span.record("gen_ai.usage.input_tokens", signed(tokens));
    }
    if let Some(tokens) = usage.output {
        span.record("gen_ai.usage.output_tokens", signed(tokens));
    }
}

/// Why a span failed, as one of a few words.
pub(super) fn record_error(span: &Span, class: &str) {
    span.record("error.type", class);
    span.record("otel.status_code", "ERROR");
}

/// The class of an ending without an answer.
pub(super) fn ending(kind: OutcomeKind) -> Option<&'static str> {
    match kind {
        OutcomeKind::Answered => None,
        OutcomeKind::Unanswered => Some("unanswered"),
        OutcomeKind::Stopped => Some("stopped"),
        OutcomeKind::Cancelled => Some("cancelled"),
        OutcomeKind::Failed => Some("failed"),
    }
}

pub(super) fn class(kind: &ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Connect => "connect",
        ModelErrorKind::Idle => "idle",
        ModelErrorKind::Auth => "auth",
        ModelErrorKind::Quota => "quota",
        ModelErrorKind::RateLimited => "rate_limited",
        ModelErrorKind::Unavailable => "unavailable",
        ModelErrorKind::BadRequest => "bad_request",
        ModelErrorKind::ContextOverflow { .. } => "context_overflow",
        ModelErrorKind::ModelFault => "model_fault",
        ModelErrorKind::Malformed => "malformed",
        ModelErrorKind::Interrupted => "interrupted",
        ModelErrorKind::Unsupported => "unsupported",
        ModelErrorKind::Script => "script",
        _ => "_OTHER",
    }
}

fn finish_reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::Refusal => "refusal",
        Finish::ContentFilter => "content_filter",
        Finish::Paused => "paused",
        Finish::Other(word) => word,
        _ => "unknown",
    }
}
