use super::*;
use proptest::prelude::*;
use toolcrib_core::{AssistantMessage, Block};

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "t".into(),
        arguments: "{}".into(),
        extra: None,
    }
}

/// `u` a user message, `ab:` an assistant message that calls `a` and `b`, `a=x`
/// the result `x` of `a`.
fn history(script: &str) -> History {
    let message = |word: &str| {
        if word == "u" {
            Message::user("u")
        } else if let Some((id, text)) = word.split_once('=') {
            Message::Tool(ToolResult::text(&call(id), text, false))
        } else {
            let ids = word.trim_end_matches(':');
            let block = |id: char| Block::Call(call(&id.to_string()));
            let blocks = std::iter::once(Block::Text("t".into())).chain(ids.chars().map(block));
            Message::Assistant(AssistantMessage {
                blocks: blocks.collect(),
                model: "m".into(),
            })
        }
    };
    script.split_whitespace().map(message).collect()
}

fn script(history: &History) -> String {
    let word = |message: &Message| match message {
        Message::Assistant(assistant) => {
            let ids: String = assistant.calls().map(|call| &*call.id).collect();
            ids + ":"
        }
        Message::Tool(result) if result.is_error => format!("{}!", result.call_id),
        Message::Tool(result) => {
            let toolcrib_core::Content::Text(text) = &result.content[0] else {
                unreachable!()
            };
            format!("{}={text}", result.call_id)
        }
        _ => "u".to_owned(),
    };
    history.messages().map(word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(before: &str, after: &str, stubbed: &str, dropped: &str) {
    let repaired = repair(&history(before)).unwrap();
    assert_eq!(script(&repaired.history), after);
    assert_eq!(repaired.stubbed.concat(), stubbed);
    assert_eq!(repaired.dropped.concat(), dropped);
    assert!(repair(&repaired.history).is_none());
}

#[test]
fn l24_a_transcript_in_order_is_left_alone() {
    for fine in ["", "u", "u :", "u ab: a=1 b=2 a: a=3 :", "u aa: a=1 a=2"] {
        assert!(repair(&history(fine)).is_none(), "{fine}");
    }
}

#[test]
fn s57_a_call_without_a_result_gets_a_stub() {
    check("u a:", "u a: a!", "a", "");
    check("u ab: b=2 u", "u ab: a! b=2 u", "a", "");
    check("u a: u a: a=2", "u a: a! u a: a=2", "a", "");
    insta::assert_snapshot!(STUB, @"error: the run broke off before this call had a result. It may have done all, a part or none of its work; check before calling again.");
}

#[test]
fn l24_orphans_and_duplicates_are_dropped() {
    check("a=1 u", "u", "", "a");
    check("u a: a=1 a=2 u", "u a: a=1 u", "", "a");
    check("u a: a=1 z=1 u", "u a: a=1 u", "", "z");
    check("u a=0 a: a=1", "u a: a=1", "", "a");
}

#[test]
fn l24_results_move_to_their_calls_in_call_order() {
    check("u ab: b=2 a=1", "u ab: a=1 b=2", "", "");
    check("u a: u a=1 :", "u a: a=1 u :", "", "");
    check("u aa: a=1 u a=2", "u aa: a=1 a=2 u", "", "");
}

proptest! {
    #[test]
    fn l24_any_transcript_is_put_right_once_and_loses_no_message(
        words in proptest::collection::vec("u|[ab]{0,2}:|[abc]=[0-9]", 0..16)
    ) {
        let before = history(&words.join(" "));
        let after = repair(&before).map_or(before.clone(), |repaired| repaired.history);
        prop_assert!(in_order(&after));
        prop_assert!(repair(&after).is_none());
        let others = |history: &History| -> Vec<Message> {
            let is_result = |m: &&Message| !matches!(m, Message::Tool(_));
            history.messages().filter(is_result).cloned().collect()
        };
        prop_assert_eq!(others(&before), others(&after));
    }
}
