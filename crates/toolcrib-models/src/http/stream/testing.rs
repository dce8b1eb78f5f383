//! Reading recorded answers in tests of any wire.

use toolcrib_core::{
    History, Message, ModelProfile, Reply, ReplyEvent, Request, ToolChoice, TurnPlan,
};

use super::Decoder;
use crate::http::{Assemble, Fault};
use crate::sse::Flow;

/// Everything that was seen of an answer that came in these pieces. Pieces of text
/// are joined, since their borders are the one thing that splits may move.
pub(crate) fn decode_for<'a, A: Assemble>(
    request: &Request<'_>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(Reply, String), Fault> {
    let mut decoder = Decoder::default();
    let mut assembler = A::default();
    let mut events = String::new();
    let mut last = "";
    let mut on_event = |event: ReplyEvent<'_>| {
        let (kind, text) = match event {
            ReplyEvent::Text(text) => ("text", text),
            ReplyEvent::Reasoning(text) => ("reasoning", text),
            ReplyEvent::CallStarted(name) => ("call", name),
            _ => ("other", ""),
        };
        if kind != last || kind == "call" {
            events.push_str(&format!("\n{kind}: "));
        }
        events.push_str(text);
        last = kind;
    };
    let mut stopped = false;
    for piece in pieces {
        if decoder.push(piece, &mut assembler, &mut on_event)? == Flow::Stop {
            stopped = true;
            break;
        }
    }
    if !stopped {
        decoder.finish(&mut assembler, &mut on_event)?;
    }
    let profile = ModelProfile::new("test:m");
    let reply = assembler.finish(request, &profile, &mut on_event)?;
    Ok((reply, events.trim().to_owned()))
}

/// As [`decode_for`], for a request without tools.
pub(crate) fn decode<'a, A: Assemble>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(Reply, String), Fault> {
    let plan = TurnPlan::new("", Vec::new());
    let history: History = [Message::user("Hi")].into_iter().collect();
    let request = Request {
        plan: &plan,
        history: &history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: None,
    };
    decode_for::<A>(&request, pieces)
}

/// A stream of these data.
pub(crate) fn frames(frames: &[&str]) -> String {
    frames
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

/// Holds that every border in `stream` gives the same reply and events.
pub(crate) fn splits_do_not_matter<A: Assemble>(request: &Request<'_>, stream: &str) {
    let bytes = stream.as_bytes();
    let whole = decode_for::<A>(request, [bytes]).unwrap();
    for at in 0..=bytes.len() {
        let split = decode_for::<A>(request, [&bytes[..at], &bytes[at..]]).unwrap();
        assert_eq!(split, whole, "border at {at}");
    }
    let single = decode_for::<A>(request, bytes.chunks(1)).unwrap();
    assert_eq!(single, whole);
    assert!(!format!("{whole:?}").contains(char::REPLACEMENT_CHARACTER));
}
