use super::*;
use crate::http::testing::{decode, decode_for, frames, splits_do_not_matter};
use crate::samples;
use toolcrib_core::{History, Message, ModelErrorKind as Kind, ToolChoice};

fn done(at: usize, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":{at},"item":{item}}}"#)
}

fn completed(status: &str, more: &str) -> String {
    format!(
        r#"{{"type":"response.{status}","response":{{"object":"response","status":"{status}","output":[],"usage":{{"input_tokens":95,"input_tokens_details":{{"cached_tokens":80}},"output_tokens":7,"output_tokens_details":{{"reasoning_tokens":3}}}}{more}}}}}"#
    )
}

const REASONING: &str = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"考える🤔"}],"encrypted_content":"gAAA=","odd": 1.0}"#;
const SAID: &str = r#"{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"héllo 世界","annotations":[]}]}"#;
const CALL: &str = r#"{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"read","namespace":"hub","arguments":"{\"p\": \"語🎉\"}"}"#;
const SEARCH: &str = r#"{"id":"ts_1","type":"tool_search_call","execution":"client","call_id":"s1","status":"completed","arguments":{"p": 1.0}}"#;

fn recorded() -> String {
    frames(&[
        r#"{"type":"response.created","response":{"object":"response","status":"in_progress"}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"考え"}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"る🤔"}"#,
        &done(0, REASONING),
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"héllo "}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"世界"}"#,
        &done(1, SAID),
        r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"read","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"p\":"}"#,
        r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"tool_search_call","call_id":"s1","execution":"client"}}"#,
        &done(3, SEARCH),
        &done(2, CALL),
        &completed("completed", ""),
    ])
}

#[test]
fn p26_p28_p31_a_recorded_stream_reads_as_recorded() {
    let plan = samples::plan();
    let history: History = [Message::user("Hi")].into_iter().collect();
    let request = samples::request(&plan, &history, &ToolChoice::Auto);
    let (reply, events) = decode_for::<Assembler>(&request, [recorded().as_bytes()]).unwrap();
    assert_eq!(
        events,
        "reasoning: 考える🤔\ntext: héllo 世界\ncall: read\ncall: tool_search"
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
fn whole_answers_are_read_like_streams() {
    let body = format!(r#"{{"object":"response","status":"completed","output":[{SAID},{CALL}]}}"#);
    let (reply, events) = decode::<Assembler>([body.as_bytes()]).unwrap();
    assert_eq!(events, "text: héllo 世界\ncall: read");
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.usage, toolcrib_core::Usage::default());
    // A stream whose items come with its end alone.
    let end = format!(
        r#"{{"type":"response.completed","response":{{"status":"completed","output":[{SAID}]}}}}"#
    );
    let (reply, _) = decode::<Assembler>([frames(&[&end]).as_bytes()]).unwrap();
    assert_eq!(reply.message.text(), "héllo 世界");
}

#[test]
fn p32_each_ending_is_told_apart() {
    let check = |status: &str, more: &str, item: &str, expected: Finish| {
        let stream = frames(&[&done(0, item), &completed(status, more)]);
        let (reply, _) = decode::<Assembler>([stream.as_bytes()]).unwrap();
        assert_eq!(reply.finish, expected);
    };
    check("completed", "", SAID, Finish::Stop);
    let details = |reason: &str| format!(r#","incomplete_details":{{"reason":"{reason}"}}"#);
    check(
        "incomplete",
        &details("max_output_tokens"),
        CALL,
        Finish::Length,
    );
    check(
        "incomplete",
        &details("content_filter"),
        SAID,
        Finish::ContentFilter,
    );
    check(
        "incomplete",
        &details("new"),
        SAID,
        Finish::Other("new".into()),
    );
    let no = r#"{"type":"message","content":[{"type":"refusal","refusal":"No."}]}"#;
    check("completed", "", no, Finish::Refusal);
}

#[test]
fn p20_only_a_seen_end_makes_a_reply() {
    let check = |data: &[&str], kind: Kind| {
        let fault = decode::<Assembler>([frames(data).as_bytes()]).unwrap_err();
        assert_eq!(fault.kind, kind, "{data:?}: {}", fault.what);
    };
    check(&[&done(0, SAID)], Kind::Interrupted);
    check(&["{}"], Kind::Malformed);
    let error = r#","error":{"code":"server_error","message":"Boom."}"#;
    check(
        &[&done(0, SAID), &completed("failed", error)],
        Kind::Unavailable,
    );
    let error = r#"{"type":"error","code":"rate_limit_exceeded","message":"Slow down."}"#;
    check(&[error], Kind::RateLimited);
    check(
        &[r#"{"error":{"message":"Bad key","code":401}}"#],
        Kind::Auth,
    );
}

#[test]
fn p20_what_was_shown_is_said_though_no_item_holds_it() {
    let stream = frames(&[
        r#"{"type":"response.output_text.delta","delta":"hé"}"#,
        r#"{"type":"response.output_text.delta","delta":"llo"}"#,
        &done(1, CALL),
        &completed("completed", ""),
    ]);
    let (reply, events) = decode::<Assembler>([stream.as_bytes()]).unwrap();
    assert!(events.starts_with("text: héllo"), "{events}");
    assert_eq!(reply.message.text(), "héllo");
    assert!(matches!(reply.message.blocks[0], Block::Text(_)));
    assert_eq!(reply.finish, Finish::ToolCalls);
}
