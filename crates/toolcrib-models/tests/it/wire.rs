use std::time::Duration;

use toolcrib_core::{Finish, History, Message, ToolChoice, ToolResult};
use toolcrib_models::{ChatModel, ChatOptions, Key, ModelSpec, Vendor};
use toolcrib_testkit::{Answer, ByteServer};

use crate::support::*;

fn calls(id: &str) -> Answer {
    let call = format!(
        r#"{{"tool_calls":[{{"index":0,"id":{id},"type":"function","function":{{"name":"read","arguments":"{{\"path\":\"a\"}}"}}}}]}}"#
    );
    Answer::sse([delta(&call), end(r#""tool_calls""#)]).done()
}

#[test]
fn a_reply_streams_piece_by_piece() {
    let answer = Answer::sse([
        delta(r#"{"role":"assistant","content":""}"#),
        delta(r#"{"reasoning_content":"hm"}"#),
        delta(r#"{"content":"fi"}"#),
        delta(r#"{"content":"ne"}"#),
        end(r#""stop""#),
        r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#.to_owned(),
    ]);
    let (seen, server) = against([answer.done()]);
    assert_eq!(seen.text(), "fine");
    assert_eq!(seen.reply().finish, Finish::Stop);
    assert_eq!(seen.reply().usage.input, Some(3));
    assert_eq!(
        &*seen.reply().message.model,
        &format!("{}#m", server.url("/v1"))
    );
    assert_eq!(seen.events, ["reasoning hm", "text fi", "text ne"]);
    let request = &server.received()[0];
    assert_eq!(
        (request.method.as_str(), request.target.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.json()["stream"], true);
}

#[test]
fn a_round_trip_keeps_one_connection_and_the_bytes_of_the_prefix() {
    let server = ByteServer::start([calls("null"), calls(r#""call00001""#), good()]).unwrap();
    let model = ChatModel::new(options(&server)).unwrap();
    let mut history: History = [Message::user("Read a.")].into_iter().collect();
    let plan = toolcrib_core::TurnPlan::new("Be brief.", vec![spec("read")]);
    runtime().block_on(async {
        for _ in 0..2 {
            let request = toolcrib_core::Request {
                plan: &plan,
                history: &history,
                tool_choice: &ToolChoice::Auto,
                max_output_tokens: None,
            };
            let reply = toolcrib_core::Model::stream(&model, request, &mut |_| {})
                .await
                .unwrap();
            let call = reply.message.calls().next().unwrap().clone();
            history.push(Message::Assistant(reply.message));
            history.push(Message::Tool(ToolResult::text(&call, "text", false)));
        }
        let request = toolcrib_core::Request {
            plan: &plan,
            history: &history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: None,
        };
        toolcrib_core::Model::stream(&model, request, &mut |_| {})
            .await
            .unwrap();
    });
    assert_eq!(server.connections(), 1);
    let bodies: Vec<String> = server.received().iter().map(|r| r.text()).collect();
    let tail = r#"],"tool_choice":"auto"}"#;
    assert!(bodies[1].starts_with(bodies[0].strip_suffix(tail).unwrap()));
    assert!(bodies[2].starts_with(bodies[1].strip_suffix(tail).unwrap()));
    let ids: Vec<_> = history
        .messages()
        .filter_map(|message| match message {
            Message::Tool(result) => Some(result.call_id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["call00001", "call00002"]);
}

#[test]
fn p18_chunks_of_one_byte_and_of_everything_give_the_same_reply() {
    let stream = format!(
        ": PROCESSING\r\n\r\ndata: {}\r\n\r\ndata:{}\n\ndata: [DONE]",
        delta(r#"{"content":"世界 👩‍👩‍👧"}"#),
        end(r#""stop""#)
    );
    let whole = Answer::stream(200, "text/event-stream").bytes(stream.as_bytes());
    let single = stream
        .as_bytes()
        .iter()
        .fold(Answer::stream(200, "text/event-stream"), |answer, byte| {
            answer.bytes([*byte])
        });
    let (whole, _server) = against([whole]);
    let (single, _server2) = against([single]);
    assert_eq!(whole.text(), "世界 👩‍👩‍👧");
    assert_eq!(whole.text(), single.text());
    assert_eq!(whole.events, single.events);
}

#[test]
fn a_whole_body_answers_a_request_for_a_stream() {
    let body =
        r#"{"choices":[{"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}]}"#;
    for content_type in ["application/json", "text/event-stream", "text/plain"] {
        let (seen, _server) = against([Answer::whole(200, content_type, body)]);
        assert_eq!(seen.text(), "fine");
        assert_eq!(seen.events, ["text fine"]);
    }
    let (seen, _server) = against([Answer::whole(
        200,
        "application/json",
        format!("data: {body}\n\n"),
    )]);
    assert_eq!(seen.text(), "fine");
}

#[test]
fn a_server_that_never_closes_does_not_hold_a_finished_reply_back() {
    let open = Answer::sse([delta(r#"{"content":"fine"}"#), end(r#""stop""#)]);
    let (seen, _server) = against([open.clone().done().stall()]);
    assert_eq!(seen.text(), "fine");
    let (seen, _server) = against([open.clone().close()]);
    assert_eq!(seen.text(), "fine");
    let server = ByteServer::start([open.stall()]).unwrap();
    let mut options = options(&server);
    options.idle = Duration::from_millis(60);
    assert_eq!(ask(&ChatModel::new(options).unwrap()).text(), "fine");
}

#[test]
fn keys_and_queries_are_sent_where_they_belong() {
    let server = ByteServer::start([good(), good(), good()]).unwrap();
    let mut options = options(&server).key(Key::new(" sk-1 \n"));
    options.base_url.push_str("/?api-version=2");
    assert_eq!(ask(&ChatModel::new(options).unwrap()).text(), "fine");
    let address = server.address();
    let plain = ChatOptions::new(Vendor::Generic, "m").base_url(format!("http://me:pw@{address}"));
    ask(&ChatModel::new(plain).unwrap()).reply();
    let env = |name: &str| (name == "TOOLCRIB_API_KEY").then(|| "sk-2".to_owned());
    let named = ModelSpec::parse(&format!("http://{address}/v1#org/m")).unwrap();
    ask(&*named.build(&env).unwrap()).reply();
    let seen: Vec<_> = server
        .received()
        .iter()
        .filter(|r| r.method == "POST")
        .map(|r| {
            format!(
                "{} {}",
                r.target,
                r.header("authorization").unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            "/v1/chat/completions?api-version=2 Bearer sk-1",
            "/chat/completions Basic bWU6cHc=",
            "/v1/chat/completions Bearer sk-2",
        ]
    );
    assert_eq!(server.received().last().unwrap().json()["model"], "org/m");
}

#[test]
fn what_cannot_work_is_refused_before_it_is_sent() {
    let server = ByteServer::start([]).unwrap();
    let model = ChatModel::new(options(&server)).unwrap();
    let history: History = [Message::user("Hi")].into_iter().collect();
    let named = ToolChoice::Named(toolcrib_core::ToolName::parse("write").unwrap());
    let seen = ask_with(&model, &history, &named);
    assert!(
        seen.error()
            .message
            .ends_with("the tool write that it must call is not offered")
    );

    let mut options = options(&server);
    options.vendor = Vendor::OpenAi;
    let plan = toolcrib_core::TurnPlan::new("", (0..129).map(|n| spec(&format!("t{n}"))).collect());
    let model = ChatModel::new(options).unwrap();
    let request = toolcrib_core::Request {
        plan: &plan,
        history: &history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: None,
    };
    let mut ignore = |_: toolcrib_core::ReplyEvent<'_>| {};
    let error = runtime()
        .block_on(toolcrib_core::Model::stream(&model, request, &mut ignore))
        .unwrap_err();
    assert!(
        error
            .message
            .ends_with("takes at most 128 tools, 129 are offered; defer or filter some")
    );
    assert_eq!(server.received().len(), 0);

    let bad = ChatOptions::new(Vendor::Generic, "m").base_url("ftp://me:hunter2@host");
    let error = ChatModel::new(bad).unwrap_err();
    assert!(
        error
            .message
            .starts_with("unusable base URL: it must begin with http")
    );
}
