use super::testing::{self, frames};
use super::*;
use crate::chat::reply::Assembler;
use proptest::prelude::*;
use toolcrib_core::{Block, Finish, Reply};

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<(Reply, String), Fault> {
    testing::decode::<Assembler>(pieces)
}

/// A recorded stream with all that splits can hurt: emoji, CJK, an emoji cut into
/// two escapes, comments, mixed line ends, a call in pieces, usage after the end.
fn recorded() -> String {
    let chunks = [
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"考える🤔"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"héllo 👩‍👩‍👧 世界 \ud83d"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"\ude00!"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":"{\"p\":\"語"}}]},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"🎉\"}"}}]},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#,
        "[DONE]",
    ];
    let ends = ["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"];
    let mut out = String::from("\u{feff}: PROCESSING\n\n");
    for (n, chunk) in chunks.iter().enumerate() {
        let space = if n % 2 == 0 { " " } else { "" };
        out.push_str(&format!("data:{space}{chunk}{}", ends[n % ends.len()]));
    }
    out
}

#[test]
fn p18_a_recorded_stream_reads_as_recorded() {
    let (reply, events) = decode([recorded().as_bytes()]).unwrap();
    assert_eq!(
        events,
        "reasoning: 考える🤔\ntext: héllo 👩‍👩‍👧 世界 😀!\ncall: read"
    );
    assert_eq!(reply.message.text(), "héllo 👩‍👩‍👧 世界 😀!");
    assert_eq!(
        &*reply.message.calls().next().unwrap().arguments,
        r#"{"p":"語🎉"}"#
    );
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.usage.output, Some(7));
}

#[test]
fn p18_every_offset_of_a_recorded_stream_can_be_a_border() {
    let stream = recorded();
    let bytes = stream.as_bytes();
    let whole = decode([bytes]).unwrap();
    for at in 0..=bytes.len() {
        let split = decode([&bytes[..at], &bytes[at..]]).unwrap();
        assert_eq!(split, whole, "border at {at}");
    }
    assert_eq!(decode(bytes.chunks(1)).unwrap(), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn p18_any_borders_give_the_same_reply(cuts in proptest::collection::vec(0usize..2000, 1..12)) {
        let stream = recorded();
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|border| &bytes[border[0]..border[1]]);
        prop_assert_eq!(decode(pieces).unwrap(), decode([bytes]).unwrap());
    }

    #[test]
    fn p18_no_bytes_at_all_can_panic(input in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode([&input[..]]);
    }

    #[test]
    fn p18_no_json_can_panic(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("{\"choices\":[{\"delta\":"), Just("{\"tool_calls\":["), Just("]}"), Just("}"),
                Just("{\"index\":0,"), Just("\"function\":{\"name\":\"a\"}"), Just("null"),
                Just("\"content\":[1]"), Just("{\"error\":null}"), Just("\n\ndata: "), Just("\\ud800"),
            ],
            0..12,
        )
    ) {
        let _ = decode([format!("data: {}", parts.concat()).as_bytes()]);
    }
}

#[test]
fn p18_the_last_frame_needs_neither_a_blank_line_nor_done() {
    let text = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    for stream in [
        format!("data: {text}\n\ndata: {end}\n\n"),
        format!("data: {text}\n\ndata: {end}\n"),
        format!("data: {text}\n\ndata: {end}"),
    ] {
        let (reply, _) = decode([stream.as_bytes()]).unwrap();
        assert_eq!(reply.message.text(), "a");
    }
}

#[test]
fn p18_a_frame_of_five_megabytes_arrives_and_one_of_twenty_is_an_error() {
    let stream = |bytes: usize| {
        let text = "x".repeat(bytes);
        frames(&[
            &format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#),
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ])
    };
    let five = stream(5 << 20);
    let (reply, _) = decode(five.as_bytes().chunks(8192)).unwrap();
    assert_eq!(reply.message.text().len(), 5 << 20);
    let twenty = stream(20 << 20);
    let fault = decode(twenty.as_bytes().chunks(8192)).unwrap_err();
    assert_eq!(fault.kind, ModelErrorKind::Malformed);
    assert_eq!(fault.what, "sent a frame of more than 16 MiB");
}

#[test]
fn whole_bodies_are_read_like_streams() {
    let body = r#" {"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":null,
        "tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":{"p": 1}}}]},
        "finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#;
    let (reply, events) = decode(body.as_bytes().chunks(7)).unwrap();
    assert_eq!(events, "call: read");
    assert_eq!(
        &*reply.message.calls().next().unwrap().arguments,
        r#"{"p": 1}"#
    );
    // The finish reason of servers that say stop though they call.
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.usage.input, Some(3));
}

#[test]
fn reasoning_and_signatures_are_kept_for_the_way_back() {
    let stream = frames(&[
        r#"{"choices":[{"delta":{"reasoning":"Let","reasoning_details":[{"type":"reasoning.text","text":"Let","index":0,"format":"f"}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":" me","reasoning_details":[{"type":"reasoning.text","text":" me","index":0,"signature":"s\"1"}]}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAA","index":1}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"},"extra_content":{"google": {"thought_signature":"sig"}}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
    ]);
    let (reply, _) = decode([stream.as_bytes()]).unwrap();
    let Block::Reasoning { text, raw } = &reply.message.blocks[0] else {
        panic!("{reply:?}");
    };
    assert_eq!(&**text, "Let me");
    assert_eq!(
        &*raw.as_ref().unwrap().0,
        r#"{"reasoning":"Let me","reasoning_details":[{"type":"reasoning.text","text":"Let me","index":0,"format":"f","signature":"s\"1"},{"type":"reasoning.encrypted","data":"AAA","index":1}]}"#
    );
    let call = reply.message.calls().next().unwrap();
    assert_eq!(
        &*call.extra.as_ref().unwrap().0,
        r#"{"extra_content":{"google": {"thought_signature":"sig"}}}"#
    );
}

#[test]
fn p20_only_a_seen_end_makes_a_reply() {
    let text = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}"#;
    let check = |data: &[&str], kind: ModelErrorKind, what: &str| {
        let fault = decode([frames(data).as_bytes()]).unwrap_err();
        assert_eq!((fault.kind, fault.what.as_str()), (kind, what), "{data:?}");
    };
    use ModelErrorKind::*;
    let cut = "ended the stream before the reply was complete";
    check(&[text], Interrupted, cut);
    check(&[text, "[DONE]"], Interrupted, cut);
    check(&[r#"{"choices":[]}"#, "[DONE]"], Interrupted, cut);
    check(
        &[r#"{"choices":[],"usage":{"prompt_tokens":1}}"#],
        Interrupted,
        cut,
    );
    check(
        &[text, r#"{"choices":[{"delta":{},"finish_reason":""}]}"#],
        Interrupted,
        cut,
    );
    check(
        &[
            text,
            r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#,
        ],
        Interrupted,
        "gave up in the middle of the reply (finish reason \"error\")",
    );
    check(
        &[
            text,
            r#"{"error":{"code":502,"message":"Provider disconnected","metadata":{"provider_name":"x"}},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
        ],
        Unavailable,
        "reported an error inside its answer: Provider disconnected",
    );
    check(
        &[
            text,
            r#"{"choices":[{"delta":{},"finish_reason":"stop","error":{"code":429,"message":"slow down"}}]}"#,
        ],
        RateLimited,
        "reported an error inside its answer: slow down",
    );
    check(
        &[text, "not json", "[DONE]"],
        Malformed,
        "sent what is no reply of a model: not json",
    );
    let half = format!("data: {text}\n\ndata: {{\"choices\":[{{\"del");
    assert_eq!(decode([half.as_bytes()]).unwrap_err(), Fault::broken_off());
    let named = b"data: {\"choices\":[]}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let fault = decode([&named[..]]).unwrap_err();
    assert_eq!(fault.kind, Unavailable);
    assert_eq!(
        fault.what,
        "reported an error inside its answer: Overloaded"
    );
}

#[test]
fn p20_bodies_that_are_no_reply() {
    let check = |body: &str, kind: ModelErrorKind, what: &str| {
        let fault = decode([body.as_bytes()]).unwrap_err();
        assert_eq!((fault.kind, fault.what.as_str()), (kind, what), "{body:?}");
    };
    use ModelErrorKind::*;
    check("", Malformed, "sent an empty body");
    check(" \n", Malformed, "sent an empty body");
    check(
        "<!DOCTYPE html><html><head><title>Sign  in\n</title>",
        Malformed,
        "sent a web page titled \"Sign in\"",
    );
    check(
        "<html><body>hi",
        Malformed,
        "sent a web page instead of JSON: <html><body>hi",
    );
    check(
        "OK, running",
        Malformed,
        "sent what is no reply of a model: OK, running",
    );
    check(
        "[1,2]",
        Malformed,
        "sent what is no reply of a model: [1,2]",
    );
    check(
        "{\"ok\":true}",
        Malformed,
        "sent what is no reply of a model: {\"ok\":true}",
    );
    check(
        "{\"choices\":[]}",
        Malformed,
        "sent what is no reply of a model: {\"choices\":[]}",
    );
    check(
        r#"{"error":{"message":"Insufficient credits","code":402}}"#,
        Quota,
        "reported an error inside its answer: Insufficient credits",
    );
    check(
        r#"[{"error":{"message":"Bad key","code":401}}]"#,
        Auth,
        "reported an error inside its answer: Bad key",
    );
    check(
        r#"{"choices":[{"message":{"content":"half"},"finish_reason":null}]}"#,
        Malformed,
        r#"sent what is no reply of a model: {"choices":[{"message":{"content":"half"},"finish_reason":null}]}"#,
    );
}

#[test]
fn p18_signs_of_life_are_no_frames_of_the_reply() {
    let text = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let stream = format!(
        "event: ping\ndata: {{}}\n\nevent: heartbeat\ndata: tick\n\n: on\n\ndata: {text}\n\n"
    );
    assert_eq!(decode([stream.as_bytes()]).unwrap().0.message.text(), "a");
    let zipped = [0x1f, 0x8b, 8, 0, 0, 0];
    assert_eq!(
        decode([&zipped[..]]).unwrap_err().what,
        "sent a compressed body, which was not asked for"
    );
}

#[test]
fn p20_unknown_reasons_are_passed_on_by_name() {
    let check = |reason: &str, finish: Finish| {
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":"a"}},"finish_reason":"{reason}"}}]}}"#
        );
        assert_eq!(decode([body.as_bytes()]).unwrap().0.finish, finish);
    };
    check("stop", Finish::Stop);
    check("length", Finish::Length);
    check("content_filter", Finish::ContentFilter);
    check("tool_calls", Finish::Stop);
    check(
        "MALFORMED_FUNCTION_CALL",
        Finish::Other("MALFORMED_FUNCTION_CALL".into()),
    );
    let refusal =
        r#"{"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}"#;
    let (reply, _) = decode([refusal.as_bytes()]).unwrap();
    assert_eq!(
        (reply.message.text().as_str(), reply.finish),
        ("No.", Finish::Refusal)
    );
}
