//! The wires of single providers against a server whose every byte is scripted.

use std::time::Duration;

use toolcrib_core::{
    History, LoadRoute, Message, Model, ModelErrorKind as Kind, Request, ToolChoice, ToolResult,
    TurnPlan,
};
use toolcrib_models::{Key, RemoteModel, RemoteOptions, RetryPolicy, Wire};
use toolcrib_testkit::{Answer, ByteServer};

use crate::support::*;

const WIRES: [Wire; 3] = [Wire::Messages, Wire::Responses, Wire::Gemini];

fn options(wire: Wire, server: &ByteServer) -> RemoteOptions {
    let base = match wire {
        Wire::Responses => server.url("/v1"),
        _ => server.url(""),
    };
    let mut options = RemoteOptions::new(wire, "m")
        .base_url(base)
        .key(Key::new("sk-very-secret"));
    options.retry = RetryPolicy {
        base: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    options.load_route = LoadRoute::Append;
    options
}

pub(crate) fn text(wire: Wire) -> Answer {
    match wire {
        Wire::Messages => Answer::sse([
            r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"fine"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        Wire::Responses => Answer::sse([
            r#"{"type":"response.output_text.delta","delta":"fine"}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"fine"}]}}"#,
            r#"{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":3,"output_tokens":2}}}"#,
        ]),
        _ => Answer::sse([
            r#"{"candidates":[{"content":{"parts":[{"text":"fine"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}"#,
        ]),
    }
}

fn calls(wire: Wire) -> Answer {
    match wire {
        Wire::Messages => Answer::sse([
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a\"}"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        Wire::Responses => Answer::sse([
            r#"{"type":"response.output_item.added","item":{"type":"function_call","name":"read"}}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"t1","name":"read","arguments":"{\"path\": \"a\"}"}}"#,
            r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        ]),
        _ => Answer::sse([
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path": "a"}}}]},"finishReason":"STOP"}]}"#,
        ]),
    }
}

fn request<'a>(plan: &'a TurnPlan, history: &'a History) -> Request<'a> {
    Request {
        plan,
        history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: None,
    }
}

#[test]
fn p01_a_prompt_a_tool_a_result_and_an_answer_on_each_wire() {
    for wire in WIRES {
        let server = ByteServer::start([calls(wire), text(wire)]).unwrap();
        let model = RemoteModel::new(options(wire, &server)).unwrap();
        let plan = TurnPlan::new("Be brief.", vec![spec("list"), spec("read")]);
        let mut history: History = [Message::user("Read a.")].into_iter().collect();
        let mut events = Vec::new();
        let reply = runtime().block_on(async {
            let mut event =
                |event: toolcrib_core::ReplyEvent<'_>| events.push(format!("{event:?}"));
            let reply = model
                .stream(request(&plan, &history), &mut event)
                .await
                .unwrap();
            let call = reply.message.calls().next().unwrap().clone();
            assert_eq!(
                (&*call.name, &*call.arguments),
                ("read", r#"{"path": "a"}"#)
            );
            history.push(Message::Assistant(reply.message));
            history.push(Message::Tool(ToolResult::text(&call, "hello", false)));
            model
                .stream(request(&plan, &history), &mut event)
                .await
                .unwrap()
        });
        assert_eq!(reply.message.text(), "fine");
        assert_eq!((reply.usage.input, reply.usage.output), (Some(3), Some(2)));
        assert_eq!(
            events,
            [r#"CallStarted("read")"#, r#"Text("fine")"#],
            "{wire:?}"
        );
        assert_eq!(server.connections(), 1);
        let received = server.received();
        let (target, header, value) = match wire {
            Wire::Messages => ("/v1/messages", "x-api-key", "sk-very-secret"),
            Wire::Responses => ("/v1/responses", "authorization", "Bearer sk-very-secret"),
            _ => (
                "/v1beta/models/m:streamGenerateContent?alt=sse",
                "x-goog-api-key",
                "sk-very-secret",
            ),
        };
        for request in &received {
            assert_eq!(request.target, target);
            assert_eq!(request.header(header), Some(value));
        }
        let (first, second) = (received[0].json(), received[1].json());
        assert_eq!(first["tools"], second["tools"]);
        assert!(received[1].text().contains("hello"));
    }
}

#[test]
fn p04_a_model_that_refuses_to_be_forced_is_asked_in_words() {
    let named = ToolChoice::Named(toolcrib_core::ToolName::parse("read").unwrap());
    let history: History = [Message::user("Hello?")].into_iter().collect();
    for wire in WIRES {
        for (choice, words) in [
            (&named, "Call the tool read now."),
            (&ToolChoice::Required, "Call a tool now."),
        ] {
            // The table knows of it.
            let server = ByteServer::start([calls(wire)]).unwrap();
            let mut known = options(wire, &server);
            known.forced_calls = false;
            let seen = ask_with(&RemoteModel::new(known).unwrap(), &history, choice);
            assert_eq!(seen.reply().finish, toolcrib_core::Finish::ToolCalls);
            let sent = server.received();
            assert!(sent[0].text().contains(words), "{wire:?}");
            assert!(!sent[0].text().contains("\"any\""), "{wire:?}");

            // The server says it, and the model does as it likes in the end.
            let refusal = r#"{"error":{"message":"tool_choice: forced tool use is not supported for this model."}}"#;
            let server = ByteServer::start([Answer::json(400, refusal), text(wire)]).unwrap();
            let model = RemoteModel::new(options(wire, &server)).unwrap();
            let seen = ask_with(&model, &history, choice);
            let expected = "the server did not enforce the tool choice";
            assert_eq!(
                seen.reply().finish,
                toolcrib_core::Finish::Other(expected.into())
            );
            assert_eq!(seen.events, ["retrying 2", "text fine"]);
            let sent = server.received();
            assert!(!sent[0].text().contains(words));
            assert!(sent[1].text().contains(words));
        }
    }
}

#[test]
fn p28_thinking_that_no_longer_fits_is_dropped_where_it_is_bound() {
    let asked = |set: &dyn Fn(&mut RemoteOptions)| {
        let server = ByteServer::start([text(Wire::Messages)]).unwrap();
        let mut options = options(Wire::Messages, &server);
        set(&mut options);
        assert_eq!(ask(&RemoteModel::new(options).unwrap()).text(), "fine");
        let sent = server.received().remove(0);
        let beta = sent.header("anthropic-beta").map(str::to_owned);
        (sent.json()["thinking"].clone(), beta)
    };
    assert_eq!(asked(&|_| {}), (serde_json::Value::Null, None));
    let drop = serde_json::json!({"prefix_mismatch_behavior": "drop_block"});
    let (thinking, beta) = asked(&|options| options.bound_thinking = true);
    let expected = serde_json::json!({"type": "adaptive", "block_binding": drop});
    assert_eq!(thinking, expected);
    assert_eq!(beta.unwrap(), "thinking-binding-controls-2026-08-01");
    let (thinking, beta) = asked(&|options| {
        options.bound_thinking = true;
        options.load_route = LoadRoute::Positional;
        let own = serde_json::json!({"type": "between_tools"});
        options.extra = vec![("thinking".to_owned(), own)];
    });
    let expected = serde_json::json!({"type": "between_tools", "block_binding": drop});
    assert_eq!(thinking, expected);
    let beta = beta.unwrap();
    assert!(beta.contains("tool-changes") && beta.contains("thinking-binding"));
}

#[test]
fn p21_an_overloaded_provider_is_asked_again_and_a_refusal_is_not() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for wire in WIRES {
        let busy = || Answer::json(529, overloaded).header("retry-after-ms", "2");
        let server = ByteServer::start([busy(), busy(), text(wire)]).unwrap();
        let seen = ask(&RemoteModel::new(options(wire, &server)).unwrap());
        assert_eq!(seen.text(), "fine");
        assert_eq!(seen.events, ["retrying 2", "retrying 3", "text fine"]);
        for status in [400, 401, 404, 422] {
            let server = ByteServer::start([Answer::json(status, overloaded)]).unwrap();
            let seen = ask(&RemoteModel::new(options(wire, &server)).unwrap());
            assert!(!seen.error().retryable);
            assert_eq!(server.received().len(), 1, "{wire:?} {status}");
        }
        let told = Answer::json(500, "{}").header("x-should-retry", "false");
        let server = ByteServer::start([told]).unwrap();
        ask(&RemoteModel::new(options(wire, &server)).unwrap()).error();
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn p22_nothing_is_sent_again_once_something_was_shown() {
    for wire in WIRES {
        let begun = match wire {
            Wire::Messages => Answer::sse([
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half"}}"#,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ]),
            Wire::Responses => Answer::sse([
                r#"{"type":"response.output_text.delta","delta":"half"}"#,
                r#"{"type":"response.failed","response":{"status":"failed","error":{"message":"Boom"}}}"#,
            ]),
            _ => Answer::sse([
                r#"{"candidates":[{"content":{"parts":[{"text":"half"}]}}]}"#,
                r#"{"error":{"code":503,"message":"Overloaded"}}"#,
            ]),
        };
        let server = ByteServer::start([begun, text(wire)]).unwrap();
        let seen = ask(&RemoteModel::new(options(wire, &server)).unwrap());
        assert_eq!(seen.error().kind, Kind::Unavailable);
        assert_eq!(seen.events, ["text half"]);
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn p20_a_stream_that_breaks_off_is_no_reply() {
    for wire in WIRES {
        let cut = || match wire {
            Wire::Messages => Answer::sse([r#"{"type":"message_start","message":{}}"#]),
            Wire::Responses => Answer::sse([r#"{"type":"response.created","response":{}}"#]),
            _ => Answer::sse([r#"{"candidates":[{"content":{"parts":[]}}]}"#]),
        };
        let server = ByteServer::start([cut(), cut().close(), text(wire)]).unwrap();
        let seen = ask(&RemoteModel::new(options(wire, &server)).unwrap());
        // Nothing was shown, so the same request may be sent again.
        assert_eq!(seen.text(), "fine");
        assert_eq!(seen.events, ["retrying 2", "retrying 3", "text fine"]);
    }
}

#[test]
fn p23_a_window_that_is_too_small_says_by_how_much() {
    let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
    let server = ByteServer::start([Answer::json(400, anthropic)]).unwrap();
    let seen = ask(&RemoteModel::new(options(Wire::Messages, &server)).unwrap());
    let expected = Kind::ContextOverflow {
        needed: Some(210_000),
        allowed: Some(200_000),
    };
    assert_eq!(seen.error().kind, expected);
}

#[test]
fn p36_no_key_in_errors_of_any_wire() {
    for wire in WIRES {
        let echo = r#"{"error":{"message":"bad key sk-very-secret"}}"#;
        let server = ByteServer::start([Answer::json(401, echo)]).unwrap();
        let model = RemoteModel::new(options(wire, &server)).unwrap();
        let seen = ask(&model);
        assert_eq!(seen.error().kind, Kind::Auth);
        let all = format!("{} {model:?} {:?}", seen.error(), options(wire, &server));
        assert!(!all.contains("sk-very-secret"), "{all}");
    }
}

#[test]
fn a_web_page_at_the_address_is_told_with_the_wires_own_advice() {
    let page = || Answer::whole(200, "text/html", "<html><title>Hello</title></html>");
    let server = ByteServer::start([page()]).unwrap();
    let seen = ask(&RemoteModel::new(options(Wire::Messages, &server)).unwrap());
    let message = &seen.error().message;
    assert!(
        message.ends_with("; check the base URL, to which /v1/messages is added"),
        "{message}"
    );
}
