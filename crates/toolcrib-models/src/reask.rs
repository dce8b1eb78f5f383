//! One changed request where a model wrote what its own server could not read.
//!
//! The same request would mostly get the same broken answer, since servers decode
//! greedily; one with a word on what went wrong need not. It is sent once, only where
//! nothing was shown, and the transcript keeps no trace of it.

use std::time::Duration;

use toolcrib_core::{
    BoxFuture, Content, History, Message, ModelError, ModelErrorKind, Reply, ReplyEvent, Request,
};

/// What the model is told.
const NOTE: &str = "Your last answer could not be read: it was cut off or not in the form of an \
answer. Answer once more, either in plain text or with one complete and shorter tool call.";

/// A model that answers one request as it is.
pub(crate) trait Once: Sync {
    /// As [`toolcrib_core::Model::stream`].
    fn once<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// The transcript with the note at its end: in the last result where it ends with one,
/// since some templates take no question there.
fn noted(history: &History) -> History {
    let mut messages: Vec<Message> = history.messages().cloned().collect();
    match messages.last_mut() {
        Some(Message::Tool(result)) => result.content.push(Content::text(format!("[{NOTE}]"))),
        _ => messages.push(Message::user(NOTE)),
    }
    messages.into_iter().collect()
}

/// Asks, and once more in other words after a fault of the model.
pub(crate) async fn ask<'a>(
    model: &'a impl Once,
    request: Request<'a>,
    on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
) -> Result<Reply, ModelError> {
    let mut shown = false;
    let first = {
        let mut watch = |event: ReplyEvent<'_>| {
            shown |= matches!(event, ReplyEvent::Text(_) | ReplyEvent::Reasoning(_));
            on_event(event);
        };
        model.once(request, &mut watch).await
    };
    let error = match first {
        Err(error) if error.kind == ModelErrorKind::ModelFault && !shown => error,
        other => return other,
    };
    on_event(ReplyEvent::Retrying {
        attempt: 2,
        wait: Duration::ZERO,
        reason: &error.message,
    });
    let history = noted(request.history);
    let changed = Request {
        history: &history,
        ..request
    };
    let second = model.once(changed, on_event).await;
    match second {
        // Refusing what was added says nothing of what went wrong.
        Err(refused) if refused.kind == ModelErrorKind::BadRequest => Err(error),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use toolcrib_core::ToolResult;

    #[test]
    fn p33_the_note_stands_where_every_template_takes_it() {
        let question: History = [Message::user("Hi.")].into_iter().collect();
        let asked: Vec<Message> = noted(&question).messages().cloned().collect();
        assert_eq!(asked, [Message::user("Hi."), Message::user(NOTE)]);
        let call = samples::call("c", "read", "{}", None);
        let mut history = question;
        history.push(Message::Tool(ToolResult::text(&call, "hello", false)));
        let noted = noted(&history);
        assert_eq!(noted.messages().count(), 2);
        let Some(Message::Tool(result)) = noted.messages().last() else {
            panic!("the result is gone");
        };
        assert_eq!(result.content.len(), 2);
        assert_eq!(result.content[0], Content::text("hello"));
    }
}
