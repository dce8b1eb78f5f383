//! What is sent again, and what never is.

use std::time::Duration;

use toolcrib_core::ModelErrorKind as Kind;
use toolcrib_models::ChatModel;
use toolcrib_testkit::{Answer, ByteServer};

use crate::support::*;

fn status(status: u16) -> Answer {
    Answer::json(status, r#"{"error":{"message":"no"}}"#)
}

#[test]
fn p21_passing_states_are_tried_again_until_one_answers() {
    for code in [408, 429, 500, 502, 503, 504, 529] {
        let (seen, server) = against([status(code), status(code), good()]);
        assert_eq!(seen.text(), "fine", "{code}");
        assert_eq!(seen.events, ["retrying 2", "retrying 3", "text fine"]);
        let bodies: Vec<_> = server.received().into_iter().map(|r| r.body).collect();
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    }
    let (seen, _server) = against([Answer::hang_up(), good()]);
    assert_eq!(seen.text(), "fine");
}

#[test]
fn p21_refusals_are_not_tried_again() {
    for code in [400, 401, 403, 404, 413, 422] {
        let (seen, server) = against([status(code), good()]);
        assert!(!seen.error().retryable);
        assert_eq!(
            (server.received().len(), seen.events.len()),
            (1, 0),
            "{code}"
        );
    }
    for body in [
        r#"{"error":{"code":"insufficient_quota","message":"no"}}"#,
        r#"{"error":{"message":"You exceeded your current quota."}}"#,
    ] {
        let (seen, server) = against([Answer::json(429, body), good()]);
        assert_eq!(seen.error().kind, Kind::Quota);
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn p21_attempts_end_and_the_last_error_is_told() {
    let (seen, server) = against((0..9).map(|_| status(503)));
    assert_eq!(seen.error().kind, Kind::Unavailable);
    assert_eq!(server.received().len(), 5);
    assert_eq!(
        seen.events,
        ["retrying 2", "retrying 3", "retrying 4", "retrying 5"]
    );
}

#[test]
fn p21_the_server_decides_where_it_says_so() {
    let (seen, server) = against([status(503).header("x-should-retry", "false"), good()]);
    assert_eq!(seen.error().kind, Kind::Unavailable);
    assert_eq!(server.received().len(), 1);
    let (seen, _server) = against([status(409).header("x-should-retry", "true"), good()]);
    assert_eq!(seen.text(), "fine");
    let (seen, server) = against([status(429).header("retry-after", "61"), good()]);
    assert_eq!(seen.error().retry_after, Some(Duration::from_secs(61)));
    assert!(
        seen.error()
            .message
            .ends_with("; it asks for a wait of 61 s, and at most 60 s are waited: ask again then"),
        "{}",
        seen.error().message
    );
    assert_eq!(server.received().len(), 1);
    let asked = status(429)
        .header("retry-after", "600")
        .header("retry-after-ms", "3");
    let (seen, _server) = against([asked, good()]);
    assert_eq!(seen.text(), "fine");
}

#[test]
fn p22_nothing_is_sent_again_once_something_was_shown() {
    let shown = [r#"{"content":"half"}"#, r#"{"reasoning_content":"half"}"#];
    let error = r#"{"error":{"code":503,"message":"busy"}}"#;
    for piece in shown {
        for answer in [
            Answer::sse([delta(piece)]).close(),
            Answer::sse([delta(piece)]),
            Answer::sse([delta(piece)]).event(error),
            Answer::sse([delta(piece)]).event(end(r#""error""#)),
        ] {
            let (seen, server) = against([answer, good()]);
            assert!(!seen.error().retryable, "{piece}");
            assert_eq!(server.received().len(), 1, "{piece}");
            assert_eq!(seen.events.len(), 1, "{:?}", seen.events);
        }
    }
}

#[test]
fn p22_faults_before_anything_was_shown_are_tried_again() {
    let error = r#"{"error":{"code":503,"message":"busy"}}"#;
    let opening = delta(r#"{"role":"assistant","content":""}"#);
    for answer in [
        Answer::sse([&opening]).close(),
        Answer::sse([&opening]),
        Answer::sse([opening.as_str(), error]),
        Answer::json(200, error),
    ] {
        let (seen, server) = against([answer, good()]);
        assert_eq!(seen.text(), "fine");
        assert_eq!(seen.events, ["retrying 2", "text fine"]);
        assert_eq!(server.received().len(), 2);
    }
}

#[test]
fn p22_a_half_streamed_call_is_discarded_and_asked_for_again() {
    let half =
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}]}"#;
    for answer in [
        Answer::sse([delta(half)]).close(),
        Answer::sse([delta(half)]),
        Answer::sse([delta(half)]).event("{\"choices\": [{\"del"),
    ] {
        let (seen, _server) = against([answer, good()]);
        assert_eq!(seen.text(), "fine");
        assert_eq!(seen.reply().message.calls().count(), 0);
        assert_eq!(seen.events, ["call read", "retrying 2", "text fine"]);
    }
}

#[test]
fn s19_a_stall_before_anything_was_shown_is_asked_again_with_the_same_list_and_after_it_is_not() {
    let half =
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}]}"#;
    let opening = r#"{"role":"assistant","content":""}"#;
    let thought = r#"{"reasoning_content":"hm "}"#;
    let said = r#"{"content":"It is"}"#;
    // A thought was shown: it is for the caller to ask again, and the loop does.
    let shown = [(thought, "reasoning hm "), (said, "text It is")];
    let of_shown = |delta_of| shown.iter().find(|(shown, _)| *shown == delta_of);
    for delta_of in [half, opening, thought, said] {
        let stalled = Answer::sse([delta(delta_of)]).stall();
        let server = ByteServer::start([stalled, good()]).unwrap();
        let mut options = options(&server);
        options.idle = Duration::from_millis(150);
        let seen = ask(&ChatModel::new(options).unwrap());
        let bodies: Vec<Vec<u8>> = server.received().into_iter().map(|r| r.body).collect();
        if let Some((_, events)) = of_shown(delta_of) {
            assert_eq!(seen.error().kind, Kind::Idle);
            assert_eq!(bodies.len(), 1, "{delta_of}");
            assert_eq!(seen.events, [*events]);
        } else {
            assert_eq!(seen.text(), "fine", "{delta_of}");
            assert_eq!(bodies.len(), 2, "{delta_of}");
            assert_eq!(bodies[0], bodies[1]);
        }
    }
}

#[test]
fn p33_a_fault_of_the_model_is_asked_again_once_in_other_words() {
    let faults = [
        (
            500,
            r#"{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}"#,
        ),
        (502, r#"{"error":{"message":"cut","code":"truncated"}}"#),
    ];
    for (code, body) in faults {
        let (seen, server) = against([Answer::json(code, body), good()]);
        assert_eq!(seen.text(), "fine");
        assert_eq!(seen.events[0], "retrying 2");
        let received = server.received();
        assert_eq!(received.len(), 2);
        let [first, second] = [0, 1]
            .map(|n| -> serde_json::Value { serde_json::from_slice(&received[n].body).unwrap() });
        assert_eq!(first["tools"], second["tools"]);
        let last = second["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["role"], "user");
        assert!(last.to_string().contains("could not be read"), "{last}");

        // No storm: the second fault is told.
        let (seen, server) = against([Answer::json(code, body), Answer::json(code, body), good()]);
        assert_eq!(seen.error().kind, Kind::ModelFault);
        assert!(!seen.error().retryable);
        assert_eq!(server.received().len(), 2);
        // A server that refuses what was added does not hide the fault.
        let refused = Answer::json(400, r#"{"error":{"message":"two users in a row"}}"#);
        let (seen, server) = against([Answer::json(code, body), refused, good()]);
        assert_eq!(seen.error().kind, Kind::ModelFault);
        assert_eq!(server.received().len(), 2);
    }
}

#[test]
fn p21_a_slow_first_token_is_waited_for_and_a_stall_is_not() {
    let slow = || good_after(Duration::from_millis(80));
    let server = ByteServer::start([slow(), Answer::silence()]).unwrap();
    let mut options = options(&server);
    options.idle = Duration::from_millis(400);
    let model = ChatModel::new(options).unwrap();
    assert_eq!(ask(&model).text(), "fine");
    assert_eq!(ask(&model).error().kind, Kind::Idle);
    assert_eq!(server.received().len(), 2);
}

#[test]
fn p21_a_server_that_only_shows_that_it_lives_is_not_waited_for_without_end() {
    let stream = || Answer::stream(200, "text/event-stream");
    for sign in [": waiting\n\n", "event: ping\ndata: {}\n\n"] {
        let endless = (0..200).fold(stream(), |answer, _| {
            answer.bytes(sign).wait(Duration::from_millis(20))
        });
        let server = ByteServer::start([endless]).unwrap();
        let mut options = options(&server);
        options.idle = Duration::from_millis(100);
        let model = ChatModel::new(options).unwrap();
        let seen = ask(&model);
        assert_eq!(seen.error().kind, Kind::Idle);
        assert!(seen.error().message.contains("sent nothing for 0.4 s"));
    }
}

fn good_after(time: Duration) -> Answer {
    Answer::stream(200, "text/event-stream")
        .bytes(": waiting\n\n")
        .wait(time)
        .event(delta(r#"{"content":"fine"}"#))
        .event(end(r#""stop""#))
        .done()
}

#[test]
fn dropping_the_future_cancels_the_request() {
    let server =
        ByteServer::start([Answer::sse([delta(r#"{"content":"half"}"#)]).stall()]).unwrap();
    let model = ChatModel::new(options(&server)).unwrap();
    let plan = toolcrib_core::TurnPlan::new("", Vec::new());
    let history = [toolcrib_core::Message::user("Hi")].into_iter().collect();
    let request = toolcrib_core::Request {
        plan: &plan,
        history: &history,
        tool_choice: &toolcrib_core::ToolChoice::Auto,
        max_output_tokens: None,
    };
    runtime().block_on(async {
        let (told, heard) = tokio::sync::oneshot::channel();
        let mut told = Some(told);
        let mut on_event = |_: toolcrib_core::ReplyEvent<'_>| {
            let _ = told.take().map(|told| told.send(()));
        };
        let streaming = toolcrib_core::Model::stream(&model, request, &mut on_event);
        tokio::select! {
            _ = streaming => panic!("the stream has no end"),
            heard = heard => heard.unwrap(),
        }
    });
    assert_eq!(server.received().len(), 1);
}
