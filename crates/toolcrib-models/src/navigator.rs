//! The built-in offline model.
//!
//! It answers questions about a repository without a language model, and says
//! so. Like any model it sees tools as specs and results as text, over several
//! rounds: it derives search terms from the question, looks them up, ranks what
//! comes back, reads the best places, and quotes them. It never invents prose:
//! every sentence of an answer is a fixed phrase around a symbol's own words.
//!
//! It keeps no state: each reply is a function of the transcript, so a resumed
//! run goes on where it was and the same transcript gives the same bytes.

mod answer;
mod evidence;
mod files;
mod follow;
mod foreign;
mod meaning;
mod notes;
mod nothing;
mod places;
mod plan;
mod question;
mod rank;
mod relations;
mod routes;
mod ways;
mod words;

use std::sync::Arc;

use toolcrib_core::{
    AssistantMessage, Block, BoxFuture, Content, Finish, LoadRoute, Message, Model, ModelError,
    ModelProfile, Reply, ReplyEvent, Request, ToolCall, ToolChoice, Usage,
};

use notes::Notes;
use plan::Step;
use question::Question;

/// The model `builtin:navigator`. See the module documentation.
#[derive(Debug)]
pub struct Navigator {
    profile: ModelProfile,
}

impl Navigator {
    /// As written on a command line.
    pub const ID: &'static str = "builtin:navigator";

    /// A navigator.
    pub fn new() -> Navigator {
        let mut profile = ModelProfile::new(Navigator::ID);
        // It gets the plan itself, so nothing has to be predicted or loaded for it, and
        // no provider holds deferred tools whose schemas would have to be compared.
        profile.load_route = LoadRoute::Positional;
        Navigator { profile }
    }
}

impl Default for Navigator {
    fn default() -> Self {
        Navigator::new()
    }
}

impl Model for Navigator {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let reply = reply(&request, &self.profile);
            for block in &reply.message.blocks {
                match block {
                    Block::Text(text) => on_event(ReplyEvent::Text(text)),
                    Block::Call(call) => on_event(ReplyEvent::CallStarted(&call.name)),
                    _ => {}
                }
            }
            Ok(reply)
        })
    }
}

/// The lookups it knows how to read.
const LOOKUPS: [&str; 3] = ["search_symbols", "read_source", "symbol_neighbors"];

fn reply(request: &Request<'_>, profile: &ModelProfile) -> Reply {
    let messages: Vec<&Message> = request.history.messages().collect();
    let asked = asked(&messages);
    let (question, since) = match asked {
        Some(at) => (text_of(messages[at]), &messages[at + 1..]),
        None => (String::new(), &messages[..]),
    };
    let question = Question::read(&question);
    let mut notes = Notes::read(since);
    follow::add(&question, &mut notes);
    let faults = faults(since);
    let offered = |name: &str| {
        request
            .plan
            .tools()
            .iter()
            .any(|tool| tool.name.as_str() == name)
    };
    let may_call = matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::Required);
    let step = if LOOKUPS.iter().all(|name| offered(name)) {
        plan::next(&question, &notes, may_call, offered)
    } else {
        Step::Answer(answer::without_lookups())
    };
    let step = match step {
        Step::Answer(text) => Step::Answer(answer::held(&text, &faults)),
        look => look,
    };
    let (blocks, finish) = match step {
        Step::Answer(text) if text.is_empty() => (Vec::new(), Finish::Stop),
        Step::Answer(text) => (vec![Block::Text(text.into())], Finish::Stop),
        Step::Look(calls) => {
            let first = messages.iter().map(|m| calls_in(m)).sum::<usize>();
            let block = |(i, call): (usize, plan::Look)| {
                Block::Call(ToolCall {
                    id: format!("nav-{}", first + i + 1).into(),
                    name: call.tool.into(),
                    arguments: call.arguments.to_string().into(),
                    extra: None,
                })
            };
            (
                calls.into_iter().enumerate().map(block).collect(),
                Finish::ToolCalls,
            )
        }
    };
    Reply {
        message: AssistantMessage {
            blocks,
            model: Arc::clone(&profile.id),
        },
        finish,
        usage: Usage::default(),
        cost: None,
    }
}

/// The last message that asks; one that finds fault with an answer asks nothing
/// new.
fn asked(messages: &[&Message]) -> Option<usize> {
    (0..messages.len()).rev().find(|&at| {
        matches!(messages[at], Message::User(_))
            && faults_of(&messages[..at], messages[at]).is_none()
    })
}

/// The places and names that were said not to hold in answers to this question.
fn faults(since: &[&Message]) -> Vec<String> {
    let found = (1..since.len()).filter_map(|at| faults_of(&since[..at], since[at]));
    found.flatten().collect()
}

/// What a message finds fault with in the answer before it: lines that begin with
/// a place or a name in backticks of that answer, then a colon. `None` when it is
/// no such message.
fn faults_of(before: &[&Message], message: &Message) -> Option<Vec<String>> {
    let Some(Message::Assistant(last)) = before.last() else {
        return None;
    };
    if last.calls().next().is_some() || !matches!(message, Message::User(_)) {
        return None;
    }
    let (answer, text) = (last.text(), text_of(message));
    let named: Vec<String> = text
        .lines()
        .filter_map(|line| Some(line.split_once(": ")?.0.to_owned()))
        .filter(|named| {
            let place = notes::Place::read(named).is_some();
            (place || named.starts_with('`')) && answer.contains(named.as_str())
        })
        .collect();
    (!named.is_empty()).then_some(named)
}

fn calls_in(message: &Message) -> usize {
    match message {
        Message::Assistant(assistant) => assistant.calls().count(),
        _ => 0,
    }
}

fn text_of(message: &Message) -> String {
    let Message::User(content) = message else {
        return String::new();
    };
    let texts = content.iter().filter_map(|piece| match piece {
        Content::Text(text) => Some(&**text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
