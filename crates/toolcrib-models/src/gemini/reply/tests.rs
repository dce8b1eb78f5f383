use super::*;
use crate::http::testing::{decode, decode_for, frames, splits_do_not_matter};
use crate::samples;
use toolcrib_core::{History, Message, ModelErrorKind as Kind, ToolChoice};

fn chunk(parts: &str, more: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0{more}}}],"usageMetadata":{{"promptTokenCount":95,"cachedContentTokenCount":80,"candidatesTokenCount":4,"thoughtsTokenCount":3}}}}"#
    )
}

const STOP: &str = r#","finishReason":"STOP""#;

fn recorded() -> String {
    frames(&[
        &chunk(r#"{"text":"考え","thought":true}"#, ""),
        &chunk(r#"{"text":"る🤔","thought":true}"#, ""),
        &chunk(
            r#"{"text":"Signed.","thought":true,"thoughtSignature":"T="}"#,
            "",
        ),
        &chunk(r#"{"text":"héllo "}"#, ""),
        &chunk(r#"{"text":"世"}"#, ""),
        &chunk(r#"{"text":"界","thoughtSignature":"A="}"#, ""),
        &chunk(
            r#"{"functionCall":{"name":"read","args":{"p": 1.0}},"thoughtSignature":"B="},{"functionCall":{"id":"g2","name":"list","args":{}}}"#,
            "",
        ),
        &chunk(r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#, ""),
        &chunk(r#"{"text":"","thoughtSignature":"C="}"#, STOP),
    ])
}

#[test]
fn p28_p31_a_recorded_stream_reads_as_recorded() {
    let plan = samples::plan();
    let history: History = [Message::user("Hi")].into_iter().collect();
    let request = samples::request(&plan, &history, &ToolChoice::Auto);
    let (reply, events) = decode_for::<Assembler>(&request, [recorded().as_bytes()]).unwrap();
    assert_eq!(
        events,
        "reasoning: 考える🤔Signed.\ntext: héllo 世界\ncall: read\ncall: list"
    );
    insta::assert_debug_snapshot!(reply.message.blocks);
    assert_eq!(reply.finish, Finish::ToolCalls);
    let usage = &reply.usage;
    assert_eq!(
        [
            usage.input,
            usage.cached,
            usage.cache_write,
            usage.output,
            usage.reasoning
        ],
        [Some(95), Some(80), None, Some(7), Some(3)]
    );
    splits_do_not_matter::<Assembler>(&request, &recorded());
}

#[test]
fn chunks_in_one_list_are_read_like_a_stream() {
    let body = format!(
        "[{},\n{}]",
        chunk(r#"{"text":"a"}"#, ""),
        chunk(r#"{"text":"b"}"#, STOP)
    );
    let (reply, events) = decode::<Assembler>([body.as_bytes()]).unwrap();
    assert_eq!(
        (reply.message.text().as_str(), events.as_str()),
        ("ab", "text: ab")
    );
}

#[test]
fn p32_each_finish_reason_ends_or_goes_on_as_designed() {
    let check = |reason: &str, expected: Finish| {
        let more = format!(r#","finishReason":"{reason}""#);
        let stream = frames(&[&chunk(r#"{"text":"a"}"#, &more)]);
        let (reply, _) = decode::<Assembler>([stream.as_bytes()]).unwrap();
        assert_eq!(reply.finish, expected);
    };
    check("STOP", Finish::Stop);
    check("FUNCTION_CALL", Finish::Stop);
    check("MAX_TOKENS", Finish::Length);
    check("SAFETY", Finish::ContentFilter);
    check("CONTINUATION", Finish::Paused);
    for word in [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
    ] {
        check(word, Finish::Other(word.into()));
    }
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#;
    let (reply, _) = decode::<Assembler>([frames(&[blocked]).as_bytes()]).unwrap();
    assert_eq!(reply.finish, Finish::ContentFilter);
}

#[test]
fn p20_only_a_seen_end_makes_a_reply() {
    let check = |data: &[&str], kind: Kind| {
        let fault = decode::<Assembler>([frames(data).as_bytes()]).unwrap_err();
        assert_eq!(fault.kind, kind, "{data:?}: {}", fault.what);
    };
    check(&[&chunk(r#"{"text":"a"}"#, "")], Kind::Interrupted);
    check(&["{}"], Kind::Malformed);
    check(
        &[r#"{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}"#],
        Kind::Unavailable,
    );
    check(
        &[r#"{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED"}}"#],
        Kind::RateLimited,
    );
}

#[test]
fn p20_a_chunk_that_says_nothing_ends_no_reply_that_has_begun() {
    let bare = r#"{"modelVersion":"m","responseId":"r"}"#;
    let good = [chunk(r#"{"text":"a"}"#, ""), chunk(r#"{"text":"b"}"#, STOP)];
    let stream = frames(&[&good[0], bare, &good[1]]);
    let (reply, _) = decode::<Assembler>([stream.as_bytes()]).unwrap();
    assert_eq!(reply.message.text(), "ab");
    let fault = decode::<Assembler>([bare.as_bytes()]).unwrap_err();
    assert_eq!(fault.kind, Kind::Malformed);
}
