use super::*;

fn check(status: u16, body: &str, kind: Kind, retryable: bool) {
    let fault = Fault::of_status(status, body.as_bytes());
    assert_eq!(
        (&fault.kind, fault.retryable),
        (&kind, retryable),
        "{status} {body}"
    );
    assert!(!fault.what.contains('\n'));
}

#[test]
fn statuses_and_codes_have_their_class() {
    let plain =
        |code: &str| format!(r#"{{"error":{{"message":"no","type":"{code}","code":"{code}"}}}}"#);
    check(401, &plain("invalid_api_key"), Kind::Auth, false);
    check(403, "{}", Kind::Auth, false);
    check(
        402,
        r#"{"error":{"code":402,"message":"Insufficient credits"}}"#,
        Kind::Quota,
        false,
    );
    check(429, &plain("insufficient_quota"), Kind::Quota, false);
    check(429, &plain("rate_limit_exceeded"), Kind::RateLimited, true);
    check(
        400,
        &plain("invalid_request_error"),
        Kind::BadRequest,
        false,
    );
    check(404, "404 page not found", Kind::BadRequest, false);
    check(
        422,
        r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#,
        Kind::BadRequest,
        false,
    );
    for status in [408, 500, 502, 503, 504, 529] {
        check(status, "", Kind::Unavailable, true);
    }
    check(
        503,
        r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
        Kind::Unavailable,
        true,
    );
    check(501, "", Kind::Unsupported, false);
    check(308, "", Kind::BadRequest, false);
}

#[test]
fn every_cause_comes_with_a_next_step() {
    let next = |status: u16, body: &str| Fault::of_status(status, body.as_bytes()).next;
    let says = |message: &str| format!(r#"{{"error":{{"message":"{message}"}}}}"#);
    let no_tools = says("registry.ollama.ai/library/x does not support tools");
    check(400, &no_tools, Kind::Unsupported, false);
    assert_eq!(next(400, &no_tools), NO_TOOLS);
    let routed = says("No endpoints found that support tool use.");
    assert_eq!(next(404, &routed), NO_TOOLS);
    for started in [
        "tools param requires --jinja flag",
        "auto tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        "`tool calling` is not supported with this model",
    ] {
        let body = says(started);
        for status in [400, 500] {
            check(status, &body, Kind::Unsupported, false);
            assert_eq!(next(status, &body), NO_TOOLS, "{started}");
        }
    }
    let memory = says("model requires more system memory (9.0 GiB) than is available (4.2 GiB)");
    check(500, &memory, Kind::Unavailable, false);
    assert!(next(500, &memory).contains("smaller model"));
    // A key that is refused with the status of any bad request.
    let key = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#;
    check(400, key, Kind::Auth, false);
    assert_eq!(next(400, key), CHECK_KEY);
    for status in (400..600).filter(|status| *status != 403) {
        for body in ["", "{}", "<html></html>", &says("no")] {
            assert!(!next(status, body).is_empty(), "{status} {body}");
        }
    }
}

#[test]
fn a_character_cut_apart_is_no_matter_of_the_address() {
    let fault = Fault::not_the_wire("sent", b"{\"choices\":[{\"text\":\"\xf0\x9f\"}]}");
    assert_eq!((fault.kind, &*fault.next), (Kind::Malformed, NO_UTF8));
    assert!(
        fault.what.starts_with("sent JSON that is no UTF-8: {"),
        "{}",
        fault.what
    );
    assert_eq!(Fault::not_the_wire("sent", b"\xff\xfe").next, CHECK_URL);
    assert_eq!(Fault::not_the_wire("sent", b"{]").next, CHECK_URL);
}

#[test]
fn a_wait_that_is_asked_for_is_said() {
    let busy = || Fault::of_status(429, b"{}");
    let next = |asked: u64| {
        let asked = Duration::from_secs(asked);
        busy().asks_to_wait(asked, Duration::from_secs(60)).next
    };
    assert_eq!(next(0), WAIT);
    assert_eq!(next(7), "wait 7 s and ask again");
    assert_eq!(
        next(3600),
        "it asks for a wait of 60 min, and at most 60 s are waited: ask again then"
    );
    assert_eq!(spoken(Duration::from_secs(86_400)), "24 h");
    assert_eq!(spoken(Duration::from_millis(150)), "1 s");
    let quota = Fault::of_status(402, b"{}");
    let kept = quota.next.clone();
    assert_eq!(
        quota
            .asks_to_wait(Duration::from_secs(9), Duration::ZERO)
            .next,
        kept
    );
}

#[test]
fn overflow_says_what_was_needed_and_what_is_allowed() {
    let overflow = |status: u16, body: &str, needed, allowed| {
        check(
            status,
            body,
            Kind::ContextOverflow { needed, allowed },
            false,
        );
    };
    overflow(
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":4096}}"#,
        Some(9001),
        Some(4096),
    );
    overflow(
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        Some(10000),
        Some(8192),
    );
    overflow(
        400,
        r#"{"object":"error","message":"This model's maximum context length is 4,096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).","type":"BadRequestError","code":400}"#,
        Some(5000),
        Some(4096),
    );
    overflow(
        400,
        r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        Some(210000),
        Some(200000),
    );
    overflow(
        400,
        r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
        Some(1_200_000),
        Some(1_048_576),
    );
    overflow(
        400,
        r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}"#,
        None,
        None,
    );
    for (message, needed, allowed) in [
        ("the input length exceeds the context length", None, None),
        (
            "The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
            Some(9000),
            Some(4096),
        ),
        (
            "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
            Some(5000),
            Some(4096),
        ),
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with maximum context length of 32768",
            Some(40000),
            Some(32768),
        ),
    ] {
        let body = format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        overflow(400, &body, needed, allowed);
    }
    overflow(
        413,
        r#"{"error":{"code":"context_length_exceeded"}}"#,
        None,
        None,
    );
}

#[test]
fn p33_faults_of_the_model_are_told_from_those_of_the_server() {
    check(
        500,
        r#"{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}"#,
        Kind::ModelFault,
        false,
    );
    check(
        502,
        r#"{"error":{"message":"the call was cut","type":"server_error","code":"truncated"}}"#,
        Kind::ModelFault,
        false,
    );
    check(
        400,
        r#"{"error":{"message":"Failed to call a function.","code":"tool_use_failed"}}"#,
        Kind::ModelFault,
        false,
    );
    check(
        500,
        r#"{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]","type":"server_error"}}"#,
        Kind::BadRequest,
        false,
    );
    check(
        500,
        r#"{"error":{"code":500,"message":"boom","type":"server_error"}}"#,
        Kind::Unavailable,
        true,
    );
}

#[test]
fn what_servers_say_is_quoted_on_one_line_and_cut_at_a_character() {
    let what = |status, body: &str| Fault::of_status(status, body.as_bytes()).what;
    assert_eq!(what(500, ""), "answered HTTP 500: an empty body");
    assert_eq!(
        what(502, "<html><head><title>502 Bad Gateway</title></head>"),
        "answered HTTP 502: a web page titled \"502 Bad Gateway\""
    );
    assert_eq!(
        what(400, r#"{"error":{"message":"a\n\tb\u001b[31m c"}}"#),
        "answered HTTP 400: a b[31m c"
    );
    assert_eq!(
        what(400, r#"{"error":"plain"}"#),
        "answered HTTP 400: plain"
    );
    assert_eq!(what(400, r#"{"detail":"why"}"#), "answered HTTP 400: why");
    let routed = r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"no such tool\",\"code\":\"context_length_exceeded\"}}","provider_name":"Acme"}}}"#;
    assert_eq!(
        what(400, routed),
        "answered HTTP 400: Provider returned error (Acme: no such tool)"
    );
    let kind = Fault::of_status(400, routed.as_bytes()).kind;
    assert!(matches!(kind, Kind::ContextOverflow { .. }));
    let long = excerpt(&"語 ".repeat(500));
    assert_eq!(long.chars().count(), 200, "{long}");
    assert!(long.ends_with('…'));
    assert_eq!(excerpt(&"x".repeat(200)), "x".repeat(200));
}
