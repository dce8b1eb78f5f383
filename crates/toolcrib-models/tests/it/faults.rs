//! Endpoints that fail: each gives one clear line.

use std::time::Duration;

use toolcrib_core::ModelErrorKind as Kind;
use toolcrib_models::{ChatModel, ChatOptions, RetryPolicy, Vendor};
use toolcrib_testkit::{Answer, ByteServer};

use crate::support::*;

const ONCE: RetryPolicy = RetryPolicy {
    attempts: 1,
    connect_attempts: 1,
    base: Duration::ZERO,
    cap: Duration::ZERO,
    longest_asked: Duration::ZERO,
};

/// Class and message of one answer without retries, its address left out.
fn fault(answer: Answer) -> (Kind, String) {
    let server = ByteServer::start([answer]).unwrap();
    let mut options = options(&server);
    options.retry = ONCE;
    options.idle = Duration::from_millis(200);
    let seen = ask(&ChatModel::new(options).unwrap());
    let error = seen.error();
    let message = error.message.strip_prefix(&server.url("/v1 ")).unwrap();
    (error.kind.clone(), message.to_owned())
}

#[test]
fn p20_an_endpoint_that_is_down() {
    let address = ByteServer::unused_address().unwrap();
    let mut options =
        ChatOptions::new(Vendor::Generic, "m").base_url(format!("http://{address}/v1"));
    options.retry.base = Duration::from_millis(1);
    let seen = ask(&ChatModel::new(options).unwrap());
    let error = seen.error();
    assert_eq!(error.kind, Kind::Connect);
    assert_eq!(
        error.message,
        format!(
            "http://{address}/v1 cannot be reached: Connection refused (os error 111); is the server running?"
        )
    );
    // A server that is down is not asked as often as one that is busy.
    assert_eq!(seen.events, ["retrying 2", "retrying 3"]);
}

#[test]
fn p20_an_endpoint_that_answers_nothing() {
    let (kind, message) = fault(Answer::hang_up());
    assert_eq!(kind, Kind::Interrupted);
    assert!(
        message.starts_with("closed the connection without an answer: "),
        "{message}"
    );
    assert!(message.ends_with("; ask again"), "{message}");
    assert_eq!(
        fault(Answer::silence()),
        (
            Kind::Idle,
            "sent nothing for 0.2 s; ask again, or raise the idle limit for a slow model".into()
        )
    );
    let empty = "sent an empty body; check the base URL, which usually ends in /v1".to_owned();
    assert_eq!(
        fault(Answer::json(200, "")),
        (Kind::Malformed, empty.clone())
    );
    assert_eq!(
        fault(Answer::stream(200, "text/event-stream")),
        (Kind::Malformed, empty)
    );
}

#[test]
fn p20_an_endpoint_that_answers_html() {
    let page = "<!doctype html>\n<html><head><title>Welcome\n to nginx!</title></head></html>";
    assert_eq!(
        fault(Answer::whole(200, "text/html", page)),
        (
            Kind::Malformed,
            "sent a web page titled \"Welcome to nginx!\"; check the base URL, which usually ends in /v1".into()
        )
    );
    assert_eq!(
        fault(Answer::whole(404, "text/html", page)),
        (
            Kind::BadRequest,
            "answered HTTP 404: a web page titled \"Welcome to nginx!\"; check the model's name and the base URL, which usually ends in /v1".into()
        )
    );
}

#[test]
fn p20_an_endpoint_that_closes_mid_stream() {
    let (kind, message) = fault(Answer::sse([delta(r#"{"content":"half"}"#)]).close());
    assert_eq!(kind, Kind::Interrupted);
    assert!(
        message.starts_with("broke off before the reply was complete: "),
        "{message}"
    );
    let (kind, message) = fault(Answer::sse([delta(r#"{"content":"half"}"#)]));
    assert_eq!(kind, Kind::Interrupted);
    assert_eq!(
        message,
        "ended the stream before the reply was complete; ask again"
    );
    let (kind, _) = fault(Answer::sse([delta(r#"{"content":"half"}"#)]).done());
    assert_eq!(kind, Kind::Interrupted);
    let (kind, _) = fault(Answer::sse([delta(r#"{"content":"half"}"#)]).stall());
    assert_eq!(kind, Kind::Idle);
    let half_a_frame = Answer::stream(200, "text/event-stream").bytes("data: {\"choices\":[{\"de");
    assert_eq!(fault(half_a_frame).0, Kind::Interrupted);
}

#[test]
fn p20_errors_inside_a_success() {
    let error = r#"{"error":{"code":502,"message":"Provider is\nsad","metadata":{}}}"#;
    let said = "reported an error inside its answer: Provider is sad; wait a little and ask again";
    assert_eq!(
        fault(Answer::json(200, error)),
        (Kind::Unavailable, said.into())
    );
    assert_eq!(
        fault(Answer::sse([error])),
        (Kind::Unavailable, said.into())
    );
    let named =
        Answer::stream(200, "text/event-stream").bytes(format!("event: error\ndata: {error}\n\n"));
    assert_eq!(fault(named), (Kind::Unavailable, said.into()));
    assert_eq!(fault(Answer::sse([end(r#""error""#)])).0, Kind::Interrupted);
    assert_eq!(
        fault(Answer::sse([r#"{"choices":[]}"#])).0,
        Kind::Interrupted
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = ByteServer::start([good()]).unwrap();
    let answer = Answer::json(307, "").header("location", &elsewhere.url("/v1/chat/completions"));
    let (kind, message) = fault(answer);
    assert_eq!(kind, Kind::BadRequest);
    assert_eq!(
        message,
        "answered HTTP 307, a redirect; use the address it points to as base URL"
    );
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn p19_ambiguous_calls_are_malformed() {
    let chunk = |call: &str| delta(&format!(r#"{{"tool_calls":[{call}]}}"#));
    let answer = Answer::sse([
        chunk(r#"{"index":0,"id":"a","function":{"name":"read","arguments":""}}"#),
        chunk(r#"{"index":1,"function":{"arguments":"{}"}}"#),
        chunk(r#"{"index":1,"id":"b","function":{"name":"list"}}"#),
        end(r#""tool_calls""#),
    ]);
    let (kind, message) = fault(answer);
    assert_eq!(kind, Kind::Malformed);
    assert!(message.starts_with("sent pieces of tool calls that cannot be told apart"));
}

#[test]
fn p20_http_bytes_that_are_no_http() {
    let (kind, message) = fault(Answer::raw("SSH-2.0-OpenSSH_9.6\r\n"));
    assert_eq!(kind, Kind::Interrupted, "{message}");
}

#[test]
fn p20_an_endpoint_that_speaks_no_tls() {
    let server = ByteServer::start([Answer::json(400, "")]).unwrap();
    let url = server.url("/v1").replace("http:", "https:");
    let mut options = ChatOptions::new(Vendor::Generic, "m").base_url(url);
    options.retry = ONCE;
    options.connect = Duration::from_millis(300);
    // A machine without certificates is told so when the model is made.
    let error = match ChatModel::new(options) {
        Ok(model) => ask(&model).error().clone(),
        Err(error) => error,
    };
    assert_eq!(error.kind, Kind::Connect);
    assert!(error.message.contains(" cannot be reached: "), "{error}");
}
