//! One changed request where a model wrote what its own server could not read, and
//! where it refuses to be told which tool to call.
//!
//! The same request would mostly get the same broken answer, since servers decode
//! greedily; one with a word on what went wrong need not. It is sent once, only where
//! nothing was shown, and the transcript keeps no trace of it.
//!
//! A model that thinks before it calls may refuse a forced call with an error. It is
//! asked for the call in words instead, and whether it obeyed is in the reply's end.

use std::time::Duration;

use toolcrib_core::{
    BoxFuture, Content, History, Message, ModelError, ModelErrorKind, Reply, ReplyEvent, Request,
    ToolChoice,
};

use crate::http;

/// What the model is told.
const NOTE: &str = "Your last answer could not be read: it was cut off or not in the form of an \
answer. Answer once more, either in plain text or with one complete and shorter tool call.";

/// A model that answers one request as it is.
pub(crate) trait Once: Sync {
    /// Whether it takes a tool choice that forces a call.
    fn takes_force(&self) -> bool;

    /// As [`toolcrib_core::Model::stream`].
    fn once<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// The transcript with a note at its end: in the last result where it ends with one,
/// since some templates take no question there.
fn noted(history: &History, note: &str) -> History {
    let mut messages: Vec<Message> = history.messages().cloned().collect();
    match messages.last_mut() {
        Some(Message::Tool(result)) => result.content.push(Content::text(format!("[{note}]"))),
        _ => messages.push(Message::user(note)),
    }
    messages.into_iter().collect()
}

/// What a tool choice says in words; none where it forces nothing.
pub(crate) fn in_words(choice: &ToolChoice) -> Option<String> {
    match choice {
        ToolChoice::Required => Some("Call a tool now.".to_owned()),
        ToolChoice::Named(name) => Some(format!("Call the tool {name} now.")),
        _ => None,
    }
}

/// Whether an error refuses the force of a tool choice rather than the request.
fn refuses_force(error: &ModelError) -> bool {
    let message = error.message.to_ascii_lowercase();
    let named = ["tool_choice", "tool choice", "forced tool use"];
    error.kind == ModelErrorKind::BadRequest && named.iter().any(|word| message.contains(word))
}

/// Asks; in words for a call that the model refuses to be forced to, and once more in
/// other words after a fault of the model.
pub(crate) async fn ask(
    model: &impl Once,
    request: Request<'_>,
    on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
) -> Result<Reply, ModelError> {
    let Some(words) = in_words(request.tool_choice) else {
        return ask_twice(model, request, on_event).await;
    };
    // A tool that is not offered is the caller's mistake and told by the request itself.
    let offered = match request.tool_choice {
        ToolChoice::Named(name) => request.plan.tools().iter().any(|tool| tool.name == *name),
        _ => true,
    };
    if model.takes_force() || !offered {
        match ask_twice(model, request, on_event).await {
            Err(error) if offered && refuses_force(&error) => on_event(ReplyEvent::Retrying {
                attempt: 2,
                wait: Duration::ZERO,
                reason: &error.message,
            }),
            other => return other,
        }
    }
    let history = noted(request.history, &words);
    let asked = Request {
        history: &history,
        tool_choice: &ToolChoice::Auto,
        ..request
    };
    let reply = ask_twice(model, asked, on_event).await?;
    Ok(http::enforced(&request, reply))
}

async fn ask_twice(
    model: &impl Once,
    request: Request<'_>,
    on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
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
    let history = noted(request.history, NOTE);
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
        let asked: Vec<Message> = noted(&question, NOTE).messages().cloned().collect();
        assert_eq!(asked, [Message::user("Hi."), Message::user(NOTE)]);
        let call = samples::call("c", "read", "{}", None);
        let mut history = question;
        history.push(Message::Tool(ToolResult::text(&call, "hello", false)));
        let noted = noted(&history, NOTE);
        assert_eq!(noted.messages().count(), 2);
        let Some(Message::Tool(result)) = noted.messages().last() else {
            panic!("the result is gone");
        };
        assert_eq!(result.content.len(), 2);
        assert_eq!(result.content[0], Content::text("hello"));
    }
}
