//! L10: which argument texts run, and what the transcript keeps of the others.

use toolcrib_core::{ToolCall, ToolErrorKind};
use toolcrib_dispatch::{Prepared, Repair};
use toolcrib_testkit::tools::FakeTool;

use crate::support::{call, dispatcher, run, text};

/// The call as settled, what reached the tool, and what the model reads.
fn ask(arguments: &str) -> (Prepared, Vec<String>, String) {
    let tool = FakeTool::echo("find");
    let record = tool.record();
    let dispatcher = dispatcher([tool]);
    let call = call("1", "find", arguments);
    let prepared = dispatcher.prepare(&call);
    let (outcomes, _) = run(&dispatcher, &[call]);
    assert_eq!(outcomes[0].repairs, prepared.repairs);
    (prepared, record.all(), text(&outcomes[0]))
}

#[track_caller]
fn runs(arguments: &str, ran: &str, repairs: &[Repair]) {
    let (prepared, record, text) = ask(arguments);
    assert_eq!(record, [ran]);
    assert_eq!(
        &*prepared.call.arguments, ran,
        "the transcript holds what ran"
    );
    assert_eq!(prepared.repairs, repairs);
    assert_eq!(text, ran);
}

#[track_caller]
fn refused(arguments: &str) -> String {
    let (prepared, record, text) = ask(arguments);
    assert_eq!(record, [""; 0], "the tool did not run");
    assert_eq!(
        &*prepared.call.arguments, "{}",
        "a stand-in that any server accepts"
    );
    assert!(
        text.starts_with("error: ") && text.contains("`find`"),
        "{text}"
    );
    text
}

#[test]
fn l10_valid_arguments_keep_their_bytes() {
    for same in [r#"{"q":"a"}"#, " { \"q\" : 1.0 }\n", r#"{"q":"}{"}"#, "{}"] {
        runs(same, same, &[]);
    }
}

#[test]
fn l10_empty_arguments_are_an_empty_object() {
    runs("", "{}", &[Repair::EmptyArguments]);
    runs(" \n\t", "{}", &[Repair::EmptyArguments]);
    runs(
        "\"\"",
        "{}",
        &[Repair::StringHeldObject, Repair::EmptyArguments],
    );
}

#[test]
fn l10_a_string_that_holds_an_object_is_unpacked() {
    runs(
        r#""{\"q\":\"a b\"}""#,
        r#"{"q":"a b"}"#,
        &[Repair::StringHeldObject],
    );
    refused(r#""{\"q\":""#);
    refused(r#""\"{}\"""#);
    refused(r#""read""#);
}

#[test]
fn l10_of_several_objects_the_first_runs() {
    use Repair::*;
    runs(r#"{"q":1}{"q":2}"#, r#"{"q":1}"#, &[FirstOfSeveralObjects]);
    runs(
        "{\"q\":1}\n{}\n{\"q\":3} ",
        r#"{"q":1}"#,
        &[FirstOfSeveralObjects],
    );
    runs(
        r#""{\"q\":1}{\"q\":2}""#,
        r#"{"q":1}"#,
        &[StringHeldObject, FirstOfSeveralObjects],
    );
}

#[test]
fn s46_trailing_garbage_and_cut_json_do_not_run() {
    insta::assert_snapshot!(refused(r#"{"x":1}zz"#), @r#"error: the arguments of `find` are not valid JSON: more text follows the value that ends at line 1 column 7; the tool did not run. Send one complete JSON object. Received: {"x":1}zz"#);
    insta::assert_snapshot!(refused("{\"x\":\n  1,"), @r#"
    error: the arguments of `find` are not valid JSON: EOF while parsing an object at line 2 column 4; the tool did not run. Send one complete JSON object. Received: {"x":
      1,
    "#);
    insta::assert_snapshot!(refused(r#"{"x": 1, y: 2}"#), @r#"error: the arguments of `find` are not valid JSON: key must be a string at line 1 column 10; the tool did not run. Send one complete JSON object. Received: {"x": 1, y: 2}"#);
    for damaged in [
        r#"{"x":1}{"#,
        r#"{"x":1}[]"#,
        r#"{"x":1}{"y":2}zz"#,
        r#"{"x":"a"#,
        "{\"x\":\"a\nb\"}",
        r#"{"x":"\ud800"}"#,
        r#"{"x":1e999}"#,
        "```json\n{}\n```",
        "{",
        "}",
        "\0",
    ] {
        refused(damaged);
    }
}

#[test]
fn l10_other_json_values_do_not_run() {
    insta::assert_snapshot!(refused("null"), @"error: the arguments of `find` must be one JSON object, not null; the tool did not run. Received: null");
    for (value, kind) in [
        ("[1]", "an array"),
        ("1", "a number"),
        ("true", "a boolean"),
        ("\"a\"", "a string"),
    ] {
        assert!(refused(value).contains(&format!("not {kind};")));
    }
}

#[test]
fn l10_nesting_beyond_what_can_be_read_is_an_error_and_no_crash() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refused(&deep).contains("recursion limit"));
}

#[test]
fn l10_the_echo_is_bounded_and_shows_the_place() {
    let broken = format!(
        "{{\"text\":\"{}\", oops: 1{}",
        "ü".repeat(50_000),
        " ".repeat(50_000)
    );
    let text = refused(&broken);
    let (_, echo) = text.split_once("Received: ").unwrap();
    assert!(
        echo.chars().count() <= 802,
        "{} characters",
        echo.chars().count()
    );
    assert!(echo.contains("oops"), "{echo}");
    let exact = format!("[{}]", " ".repeat(798));
    assert!(refused(&exact).ends_with(&exact));
}

#[test]
fn s46_what_was_refused_can_be_sent_back() {
    for arguments in [r#"{"x":1}zz"#, "", "null", "{\"a\":", r#"{"q":1}{"q":2}"#] {
        let (prepared, ..) = ask(arguments);
        let value: serde_json::Value = serde_json::from_str(&prepared.call.arguments).unwrap();
        assert!(value.is_object(), "{arguments}");
    }
}

#[test]
fn a_call_of_an_unknown_tool_keeps_readable_arguments() {
    let dispatcher = dispatcher([]);
    let prepared = |arguments| {
        dispatcher
            .prepare(&call("1", "nope", arguments))
            .call
            .arguments
    };
    assert_eq!(&*prepared(r#"{"q": 1}"#), r#"{"q": 1}"#);
    assert_eq!(&*prepared(r#"{"q": 1"#), "{}");
}

#[test]
fn l08_a_call_of_a_cut_reply_never_runs() {
    let tool = FakeTool::echo("find");
    let record = tool.record();
    let dispatcher = dispatcher([tool]);
    // It looks complete, but more may have been meant to follow.
    let whole = call("1", "find", r#"{"q":1}"#);
    let cut = Prepared::cut_off(&whole);
    assert_eq!(&*cut.call.arguments, r#"{"q":1}"#);
    assert_eq!(
        &*Prepared::cut_off(&call("1", "find", r#"{"q":"#))
            .call
            .arguments,
        "{}"
    );
    let outcomes = crate::support::on_paused_clock(async {
        dispatcher
            .run(&[cut], &Default::default(), &mut |_| {})
            .await
    });
    assert_eq!(record.all(), [""; 0]);
    insta::assert_snapshot!(text(&outcomes[0]), @"error: the reply was cut at the output limit while it wrote this call of `find`, so the tool did not run. Send the call again with shorter arguments, or split the work into several calls.");
    assert_eq!(outcomes[0].kind, Some(ToolErrorKind::BadJson));
}

#[test]
fn extra_fields_of_a_call_survive() {
    let dispatcher = dispatcher([FakeTool::echo("find")]);
    let signed = ToolCall {
        extra: Some(toolcrib_core::RawJson("{\"sig\":\"x\"}".into())),
        ..call("1", "find", "")
    };
    assert_eq!(dispatcher.prepare(&signed).call.extra, signed.extra);
    let unknown = ToolCall {
        name: "no such".into(),
        ..signed.clone()
    };
    assert_eq!(dispatcher.prepare(&unknown).call.extra, signed.extra);
}

#[test]
fn p29_a_tool_gets_arguments_in_its_own_words() {
    let schema = r#"{"type":"object","properties":{"StartTime<":{"type":"string"},"limit":{"type":"integer"},"cursor":{"type":["string","null"]}}}"#;
    let schema = toolcrib_core::Schema::parse(schema).unwrap();
    let sent = schema.fit(toolcrib_core::ToolDialect::Anthropic);
    let sent: serde_json::Value = serde_json::from_str(sent.wire()).unwrap();
    let name = sent["properties"].as_object().unwrap().keys().next();
    let name = name.unwrap().clone();
    let tool = FakeTool::echo("find").with_spec(|mut spec| {
        spec.input_schema = schema;
        spec
    });
    let record = tool.record();
    let dispatcher = dispatcher([tool]);
    let written = format!(r#"{{"{name}":"2026","limit":null,"cursor":null}}"#);
    let call = call("1", "find", &written);
    let (outcomes, _) = run(&dispatcher, std::slice::from_ref(&call));
    assert_eq!(text(&outcomes[0]), r#"{"StartTime<":"2026","cursor":null}"#);
    assert_eq!(record.all(), [r#"{"StartTime<":"2026","cursor":null}"#]);
    // The transcript keeps what the model wrote.
    assert_eq!(&*dispatcher.prepare(&call).call.arguments, written);
}
