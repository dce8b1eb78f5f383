//! Makes a transcript that every provider accepts.
//!
//! Providers refuse a call without its result and a result without its call. A
//! crash, an abort or a fork leaves both; this puts them right without changing
//! anything else, so that a transcript in order keeps its bytes.

use std::collections::{HashMap, VecDeque};

use toolcrib_core::{History, Message, Str, ToolCall, ToolResult};

/// A transcript that was put right.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// Every call followed by its one result, in call order.
    pub history: History,
    /// Ids of calls that got a stub, in order.
    pub stubbed: Vec<Str>,
    /// Ids of results that were dropped: without a call, or one too many.
    pub dropped: Vec<Str>,
}

/// What a model reads in place of a result that was never written.
const STUB: &str = "error: the run broke off before this call had a result. It may have done all, \
                    a part or none of its work; check before calling again.";

/// Puts calls and results in order: each call is followed by its one result, in
/// call order; a missing one becomes an error stub, one that came late moves up,
/// one without a call or one too many is dropped. `None` when nothing is to be
/// done.
pub fn repair(history: &History) -> Option<Repaired> {
    if in_order(history) {
        return None;
    }
    let messages: Vec<&Message> = history.messages().collect();
    let mut results: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        if let Message::Tool(result) = message {
            results.entry(&result.call_id).or_default().push_back(at);
        }
    }
    // Where each id is called again: an id may come once a turn with some models,
    // and a stub must not take the result of a later turn.
    let mut calls: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, call) in all_calls(&messages) {
        calls.entry(&call.id).or_default().push_back(at);
    }
    let mut used = vec![false; messages.len()];
    let mut repaired = Repaired {
        history: History::new(),
        stubbed: Vec::new(),
        dropped: Vec::new(),
    };
    for (at, message) in messages.iter().enumerate() {
        let Message::Assistant(assistant) = message else {
            if !matches!(message, Message::Tool(_)) {
                repaired.history.push((*message).clone());
            }
            continue;
        };
        repaired.history.push((*message).clone());
        for call in assistant.calls() {
            if let Some(places) = calls.get_mut(&*call.id) {
                while places.front().is_some_and(|&place| place <= at) {
                    places.pop_front();
                }
            }
            let next = calls.get(&*call.id).and_then(|places| places.front());
            let until = next.copied().unwrap_or(messages.len());
            let found = results.get_mut(&*call.id).and_then(|places| {
                while places.front().is_some_and(|&place| place < at) {
                    places.pop_front();
                }
                places.pop_front_if(|place| *place < until)
            });
            match found {
                Some(place) => {
                    used[place] = true;
                    repaired.history.push(messages[place].clone());
                }
                None => {
                    repaired.stubbed.push(call.id.clone());
                    let stub = ToolResult::text(call, STUB, true);
                    repaired.history.push(Message::Tool(stub));
                }
            }
        }
    }
    for (message, used) in messages.iter().zip(used) {
        if let (Message::Tool(result), false) = (message, used) {
            repaired.dropped.push(result.call_id.clone());
        }
    }
    Some(repaired)
}

fn all_calls<'a>(messages: &[&'a Message]) -> impl Iterator<Item = (usize, &'a ToolCall)> {
    messages.iter().enumerate().flat_map(|(at, message)| {
        let assistant = match message {
            Message::Assistant(assistant) => Some(assistant),
            _ => None,
        };
        assistant
            .into_iter()
            .flat_map(move |assistant| assistant.calls().map(move |call| (at, call)))
    })
}

fn in_order(history: &History) -> bool {
    let mut owed: VecDeque<&str> = VecDeque::new();
    for message in history.messages() {
        match message {
            Message::Tool(result) if owed.pop_front() == Some(&*result.call_id) => {}
            Message::Tool(_) => return false,
            _ if !owed.is_empty() => return false,
            Message::Assistant(assistant) => {
                owed.extend(assistant.calls().map(|call| &*call.id));
            }
            _ => {}
        }
    }
    owed.is_empty()
}

#[cfg(test)]
mod tests;
