//! What a reply shows while it is under way, and the reply itself, without secrets:
//! a server may echo the key that it was called with.

use toolcrib_core::{Block, Finish, ModelError, RawJson, Reply, ReplyEvent, Str};
use toolcrib_dispatch::{RedactedStream, Redactor};

use super::watch::watched;
use crate::Sink;

/// Passes the pieces of one reply on, each when no secret can be cut by its end.
pub(super) struct Shown<'a> {
    sink: Option<&'a dyn Sink>,
    redactor: &'a Redactor,
    text: RedactedStream,
    reasoning: RedactedStream,
    /// All visible text so far.
    pub(super) so_far: String,
    /// Why it was asked for again, each time.
    pub(super) retried: Vec<Str>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(sink: Option<&'a dyn Sink>, redactor: &'a Redactor) -> Shown<'a> {
        Shown {
            sink,
            redactor,
            text: redactor.stream(),
            reasoning: redactor.stream(),
            so_far: String::new(),
            retried: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, event: ReplyEvent<'_>) {
        match event {
            ReplyEvent::Text(piece) => {
                self.end_of_reasoning();
                let piece = self.text.push(piece);
                self.show_text(&piece);
            }
            ReplyEvent::Reasoning(piece) => {
                self.end_of_text();
                let piece = self.reasoning.push(piece);
                self.emit(ReplyEvent::Reasoning(&piece), &piece);
            }
            ReplyEvent::CallStarted(name) => {
                self.finish();
                let name = self.redactor.text(name);
                self.emit(ReplyEvent::CallStarted(&name), "-");
            }
            ReplyEvent::Retrying {
                attempt,
                wait,
                reason,
            } => {
                self.finish();
                let reason = &*self.redactor.text(reason);
                self.retried.push(reason.into());
                let event = ReplyEvent::Retrying {
                    attempt,
                    wait,
                    reason,
                };
                self.emit(event, "-");
            }
            other => {
                self.finish();
                self.emit(other, "-");
            }
        }
    }

    /// What was held back.
    pub(super) fn finish(&mut self) {
        self.end_of_reasoning();
        self.end_of_text();
    }

    fn end_of_text(&mut self) {
        let piece = self.text.finish();
        self.show_text(&piece);
    }

    fn end_of_reasoning(&mut self) {
        let piece = self.reasoning.finish();
        self.emit(ReplyEvent::Reasoning(&piece), &piece);
    }

    fn show_text(&mut self, piece: &str) {
        self.so_far.push_str(piece);
        self.emit(ReplyEvent::Text(piece), piece);
    }

    fn emit(&self, event: ReplyEvent<'_>, piece: &str) {
        if let (Some(sink), false) = (self.sink, piece.is_empty())
            && let Some(event) = watched(event)
        {
            sink.emit(&event);
        }
    }
}

/// Removes secrets from a reply. Calls and the provider's own blocks lose the values
/// that were named alone: they must work as they were written otherwise.
pub(super) fn clean(reply: &mut Reply, redactor: &Redactor) {
    use std::borrow::Cow;
    let whole = |text: &mut Str| {
        if let Cow::Owned(clean) = redactor.text(text) {
            *text = clean.into();
        }
    };
    let named = |text: &mut Str| {
        if let Cow::Owned(clean) = redactor.named(text) {
            *text = clean.into();
        }
    };
    let raw = |json: &mut Option<RawJson>| {
        if let Some(json) = json {
            named(&mut json.0);
        }
    };
    for block in &mut reply.message.blocks {
        match block {
            Block::Text(text) => whole(text),
            Block::Call(call) => {
                if let Cow::Owned(_) = redactor.text(&call.id) {
                    // An id only pairs a call with its result: without one it gets another.
                    call.id = Str::default();
                }
                named(&mut call.name);
                named(&mut call.arguments);
                raw(&mut call.extra);
            }
            Block::Reasoning { text, raw: own } => {
                whole(text);
                raw(own);
            }
            Block::Opaque(json) => named(&mut json.0),
            _ => {}
        }
    }
    if let Finish::Other(word) = &mut reply.finish {
        whole(word);
    }
}

/// Removes secrets from what a request failed with: providers repeat what they were sent.
pub(super) fn clean_error(error: &mut ModelError, redactor: &Redactor) {
    if let std::borrow::Cow::Owned(clean) = redactor.text(&error.message) {
        error.message = clean;
    }
}
