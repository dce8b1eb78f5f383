use super::*;
use crate::http::testing::{decode, decode_for, frames, splits_do_not_matter};
use crate::samples;
use toolcrib_core::{History, Message, ModelErrorKind as Kind, ToolChoice, TurnPlan};

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude","stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":80,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn end(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":{reason},"stop_sequence":null}},"usage":{{"output_tokens":42,"cache_read_input_tokens":80,"output_tokens_details":{{"thinking_tokens":7}}}}}}"#
    )
}

fn recorded() -> String {
    frames(&[
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"考え\n"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"る \u00fc🤔"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"+/=="}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"AAA="}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"héllo \ud83d"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"\ude00 世界"}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"srv","name":"web","input":{}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"q\": 1.0}"}}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{},"caller":{"type": "direct"}}}"#,
        r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"t2","name":"list","input":{}}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"p\": \"語"}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"🎉\"}"}}"#,
        &end("\"tool_use\""),
        STOP,
    ])
}

#[test]
fn p28_p31_a_recorded_stream_reads_as_recorded() {
    let (reply, events) = decode::<Assembler>([recorded().as_bytes()]).unwrap();
    assert_eq!(
        events,
        "reasoning: 考え\nる ü🤔\ntext: héllo 😀 世界\ncall: read\ncall: list"
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
        [Some(95), Some(80), Some(5), Some(42), Some(7)]
    );
}

#[test]
fn p18_every_border_of_a_stream_gives_the_same_reply() {
    let plan = TurnPlan::new("", Vec::new());
    let history: History = [Message::user("Hi")].into_iter().collect();
    let request = samples::request(&plan, &history, &ToolChoice::Auto);
    splits_do_not_matter::<Assembler>(&request, &recorded());
}

#[test]
fn whole_answers_are_read_like_streams() {
    let body = r#"{"id":"m","type":"message","role":"assistant","content":[
        {"type":"text","text":"Hi."},{"type":"tool_use","id":"t1","name":"read","input":{"p": 1.0}}],
        "stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}"#;
    let (reply, events) = decode::<Assembler>([body.as_bytes()]).unwrap();
    assert_eq!(events, "text: Hi.\ncall: read");
    assert_eq!(
        &*reply.message.calls().next().unwrap().arguments,
        r#"{"p": 1.0}"#
    );
    assert_eq!(reply.usage.input, Some(3));
}

#[test]
fn p32_each_stop_reason_ends_or_goes_on_as_designed() {
    let check = |reason: &str, expected: Finish| {
        let stream = frames(&[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#,
            &end(&format!("\"{reason}\"")),
            STOP,
        ]);
        let (reply, _) = decode::<Assembler>([stream.as_bytes()]).unwrap();
        assert_eq!(reply.finish, expected);
        assert_eq!(reply.message.text(), "a");
    };
    check("end_turn", Finish::Stop);
    check("stop_sequence", Finish::Stop);
    check("tool_use", Finish::Stop);
    check("max_tokens", Finish::Length);
    check("model_context_window_exceeded", Finish::Length);
    check("pause_turn", Finish::Paused);
    check("refusal", Finish::Refusal);
    check("brand_new", Finish::Other("brand_new".into()));
}

#[test]
fn p20_only_a_seen_end_makes_a_reply() {
    let text =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#;
    let check = |data: &[&str], kind: Kind| {
        let fault = decode::<Assembler>([frames(data).as_bytes()]).unwrap_err();
        assert_eq!(fault.kind, kind, "{data:?}: {}", fault.what);
    };
    check(&[START, text], Kind::Interrupted);
    check(&[START, text, &end("\"end_turn\"")], Kind::Interrupted);
    check(&[START, text, &end("null"), STOP], Kind::Interrupted);
    check(&[START, text, "not json", STOP], Kind::Malformed);
    check(&[r#"{"choices":[]}"#], Kind::Malformed);
    let stray =
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"b"}}"#;
    check(&[START, stray], Kind::Malformed);
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    check(&[START, text, overloaded], Kind::Unavailable);
    let named = format!("event: error\ndata: {overloaded}\n\n");
    let fault = decode::<Assembler>([named.as_bytes()]).unwrap_err();
    assert_eq!((fault.kind, fault.retryable), (Kind::Unavailable, true));
}

#[test]
fn p12_a_call_cut_at_the_limit_keeps_what_came_of_it() {
    let stream = frames(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"p\": \"a"}}"#,
        &end("\"max_tokens\""),
        STOP,
    ]);
    let (reply, _) = decode::<Assembler>([stream.as_bytes()]).unwrap();
    assert_eq!(reply.finish, Finish::Length);
    assert_eq!(
        &*reply.message.calls().next().unwrap().arguments,
        r#"{"p": "a"#
    );
}

#[test]
fn p19_repeated_ids_become_unique() {
    let plan = TurnPlan::new("", Vec::new());
    let native = samples::Native {
        reasoning: "{}",
        extra: None,
        search: None,
    };
    let history = samples::transcript("m", &native);
    let request = samples::request(&plan, &history, &ToolChoice::Auto);
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c2","name":"read"}}"#;
    let stream = frames(&[START, block, &end("\"tool_use\""), STOP]);
    let (reply, _) = decode_for::<Assembler>(&request, [stream.as_bytes()]).unwrap();
    let call = reply.message.calls().next().unwrap();
    assert_eq!((&*call.id, &*call.arguments), ("call00004", ""));
}

#[test]
fn p19_pieces_without_a_number_and_arguments_as_an_object_are_read() {
    let stream = frames(&[
        START,
        r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":{"p": 1.0}}}"#,
        &end(r#""tool_use""#),
        STOP,
    ]);
    let (reply, _) = decode::<Assembler>([stream.as_bytes()]).unwrap();
    assert_eq!(reply.message.text(), "a");
    let call = reply.message.calls().next().unwrap();
    assert_eq!(&*call.arguments, r#"{"p": 1.0}"#);
    let error = frames(&[
        START,
        r#"{"type":"error","message":"Overloaded","code":529}"#,
    ]);
    let fault = decode::<Assembler>([error.as_bytes()]).unwrap_err();
    assert_eq!(fault.kind, Kind::Unavailable);
}
