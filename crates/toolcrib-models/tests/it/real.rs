//! The wires against real models behind a llama.cpp server. The interop suite starts the
//! server with the chat template that each test is about and names it in
//! `TOOLCRIB_REAL`; without it these tests are left out.

use toolcrib_core::{
    AssistantMessage, Block, Finish, History, Message, Model, ModelErrorKind as Kind, ReplyEvent,
    Request, Schema, ToolCall, ToolChoice, ToolName, ToolResult, ToolSpec, TurnPlan,
};
use toolcrib_models::{ChatModel, ChatOptions, RemoteModel, RemoteOptions, Vendor, Wire};

use crate::support::{Seen, runtime};

fn base() -> String {
    std::env::var("TOOLCRIB_REAL").expect("TOOLCRIB_REAL names a server")
}

fn chat() -> ChatModel {
    let options = ChatOptions::new(Vendor::LlamaCpp, "m");
    ChatModel::new(options.base_url(format!("{}/v1", base()))).unwrap()
}

fn wires() -> Vec<(&'static str, Box<dyn Model>)> {
    let remote = |wire, url: String| {
        let options = RemoteOptions::new(wire, "m").base_url(url);
        Box::new(RemoteModel::new(options).unwrap()) as Box<dyn Model>
    };
    vec![
        ("chat", Box::new(chat())),
        ("messages", remote(Wire::Messages, base())),
        (
            "responses",
            remote(Wire::Responses, format!("{}/v1", base())),
        ),
    ]
}

fn plan() -> TurnPlan {
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
    let spec = ToolSpec::new(
        ToolName::parse("get_weather").unwrap(),
        "The weather of a city.",
        Schema::parse(schema).unwrap(),
    );
    TurnPlan::new("You are a helpful assistant.", vec![spec.into()])
}

fn question() -> History {
    [Message::user("What is the weather in Paris?")]
        .into_iter()
        .collect()
}

/// A call with these arguments and its result after the question.
fn called(arguments: &str, result: &str, is_error: bool) -> History {
    let call = ToolCall {
        id: "call00001".into(),
        name: "get_weather".into(),
        arguments: arguments.into(),
        extra: None,
    };
    let mut history = question();
    history.push(Message::Assistant(AssistantMessage {
        blocks: vec![Block::Call(call.clone())],
        model: "llamacpp:m".into(),
    }));
    history.push(Message::Tool(ToolResult::text(&call, result, is_error)));
    history
}

fn ask(
    model: &dyn Model,
    plan: &TurnPlan,
    history: &History,
    choice: &ToolChoice,
    most: u64,
) -> Seen {
    let request = Request {
        plan,
        history,
        tool_choice: choice,
        max_output_tokens: Some(most),
    };
    let mut events = Vec::new();
    let result = runtime().block_on(model.stream(request, &mut |event| {
        if let ReplyEvent::Retrying { reason, .. } = event {
            events.push(reason.to_owned());
        }
    }));
    Seen { result, events }
}

#[test]
#[ignore = "needs a real server"]
fn p01_real_a_prompt_a_tool_a_result_and_text_on_three_wires() {
    let plan = plan();
    for (wire, model) in wires() {
        let seen = ask(&*model, &plan, &question(), &ToolChoice::Required, 128);
        let reply = seen.reply();
        assert_eq!(reply.finish, Finish::ToolCalls, "{wire}");
        let call = reply.message.calls().next().unwrap().clone();
        assert_eq!(&*call.name, "get_weather", "{wire}");
        let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
        assert!(arguments["city"].is_string(), "{wire}: {arguments}");
        let mut history = question();
        history.push(Message::Assistant(reply.message.clone()));
        history.push(Message::Tool(ToolResult::text(
            &call,
            "21 C and sunny",
            false,
        )));
        // What the model said before goes back too.
        history.push(Message::Assistant(AssistantMessage {
            blocks: vec![Block::Text("It is sunny.".into())],
            model: model.profile().id.clone(),
        }));
        history.push(Message::user("Tell me a story about the weather in Paris."));
        let seen = ask(&*model, &plan, &history, &ToolChoice::None, 48);
        // The Messages route of the older server does not hold a model to `none`.
        let calls = wire == "messages" && seen.reply().message.calls().next().is_some();
        assert!(calls || !seen.text().trim().is_empty(), "{wire}");
        assert!(seen.reply().usage.input.is_some(), "{wire}");
    }
}

#[test]
#[ignore = "needs a real server"]
fn p01_p04_real_a_call_that_is_required_comes_on_three_wires() {
    let plan = plan();
    for (wire, model) in wires() {
        let seen = ask(&*model, &plan, &question(), &ToolChoice::Required, 128);
        let call = seen.reply().message.calls().next().unwrap();
        assert_eq!(&*call.name, "get_weather", "{wire}");
        assert_eq!(seen.reply().finish, Finish::ToolCalls, "{wire}");
    }
}

#[test]
#[ignore = "needs a real server"]
fn p01_real_a_call_comes_on_the_gemini_wire() {
    let options = RemoteOptions::new(Wire::Gemini, "local").base_url(base());
    let model = RemoteModel::new(options).unwrap();
    let seen = ask(&model, &plan(), &question(), &ToolChoice::Required, 128);
    let call = seen.reply().message.calls().next().unwrap();
    assert_eq!(&*call.name, "get_weather");
    assert_eq!(seen.reply().finish, Finish::ToolCalls);
}

#[test]
#[ignore = "needs a real server"]
fn p33_real_a_fault_of_the_model_is_asked_again_once() {
    let seen = ask(&chat(), &plan(), &question(), &ToolChoice::Auto, 48);
    assert_eq!(seen.events.len(), 1, "{:?}", seen.result);
    let told = &seen.events[0];
    assert!(
        told.contains("The model produced output that does not match"),
        "{told}"
    );
    if seen.result.is_err() {
        assert_eq!(seen.error().kind, Kind::ModelFault);
    }
}

#[test]
#[ignore = "needs a real server"]
fn p07_real_a_template_that_wants_the_tools_kept() {
    let (model, plan) = (chat(), plan());
    let mut history = called(r#"{"city":"Paris"}"#, "21 C and sunny", false);
    for _ in 0..2 {
        let kept = ask(&model, &plan, &history, &ToolChoice::None, 24);
        assert!(kept.result.is_ok(), "{:?}", kept.result);
        history.push(Message::user("Answer in one sentence."));
    }
}

#[test]
#[ignore = "needs a real server"]
fn p07_real_a_template_whose_tools_are_withheld_leaks_no_markup() {
    let history = called(r#"{"city":"Paris"}"#, "21 C and sunny", false);
    let seen = ask(&chat(), &plan(), &history, &ToolChoice::Withhold, 64);
    let text = seen.text();
    assert!(
        !text.contains("<tool_call") && !text.contains("<function"),
        "{text}"
    );
    assert_eq!(seen.reply().message.calls().count(), 0);
}

#[test]
#[ignore = "needs a real server"]
fn p11_real_a_broken_call_in_the_transcript_fails_no_later_request() {
    for arguments in [r#"{"city": "#, "", "null", "[1]"] {
        let history = called(arguments, "error: the arguments are no JSON object", true);
        let seen = ask(&chat(), &plan(), &history, &ToolChoice::Auto, 24);
        assert!(seen.result.is_ok(), "{arguments}: {:?}", seen.result);
    }
}

#[test]
#[ignore = "needs a real server"]
fn p12_real_a_call_cut_at_the_limit_says_so() {
    let seen = ask(&chat(), &plan(), &question(), &ToolChoice::Required, 24);
    assert_eq!(seen.reply().finish, Finish::Length, "{:?}", seen.reply());
}

#[test]
#[ignore = "needs a real server"]
fn p14_real_after_a_cancelled_request_and_a_cancelled_call_the_next_one_works() {
    let (model, plan, history) = (chat(), plan(), question());
    runtime().block_on(async {
        let request = Request {
            plan: &plan,
            history: &history,
            tool_choice: &ToolChoice::None,
            max_output_tokens: Some(400),
        };
        let (seen, wait) = tokio::sync::oneshot::channel();
        let mut seen = Some(seen);
        let mut on_event = |event: ReplyEvent<'_>| {
            if let (ReplyEvent::Text(_), Some(seen)) = (event, seen.take()) {
                let _ = seen.send(());
            }
        };
        tokio::select! {
            _ = model.stream(request, &mut on_event) => {}
            _ = wait => {}
        }
    });
    let mut history = called(
        r#"{"city":"Paris"}"#,
        "cancelled before there was a result.",
        true,
    );
    history.push(Message::user("Go on."));
    let seen = ask(&model, &plan, &history, &ToolChoice::Auto, 24);
    assert!(seen.result.is_ok(), "{:?}", seen.result);
}

#[test]
#[ignore = "needs a real server"]
fn p23_real_a_window_that_is_too_small_says_by_how_much_on_three_wires() {
    let history: History = [Message::user("again and ".repeat(6000))]
        .into_iter()
        .collect();
    for (wire, model) in wires() {
        let seen = ask(&*model, &plan(), &history, &ToolChoice::Auto, 8);
        let Kind::ContextOverflow {
            needed: Some(needed),
            allowed: Some(allowed),
        } = seen.error().kind
        else {
            panic!("{wire}: {:?}", seen.error());
        };
        assert!(
            needed > allowed && allowed > 1000,
            "{wire}: {needed} {allowed}"
        );
    }
}

#[test]
#[ignore = "needs a real server"]
fn p25_real_each_prompt_finds_the_one_before_in_the_cache() {
    const BATCH: u64 = 512;
    let model = chat();
    let mut history = History::default();
    let mut before = None;
    let plan = TurnPlan::new(
        "You answer in one word. ".repeat(120),
        plan().tools().to_vec(),
    );
    for turn in 0..4 {
        history.push(Message::user(format!("Say a number above {turn}.")));
        let seen = ask(&model, &plan, &history, &ToolChoice::None, 8);
        let reply = seen.reply();
        let (input, cached) = (reply.usage.input.unwrap(), reply.usage.cached.unwrap_or(0));
        if let Some(before) = before {
            assert!(
                cached + BATCH >= before && cached > 0,
                "turn {turn}: {cached} of {before}"
            );
        }
        before = Some(input);
        history.push(Message::Assistant(reply.message.clone()));
    }
}

#[test]
#[ignore = "needs a real server"]
fn p33_real_a_cut_call_of_needle_is_asked_again_once() {
    let seen = ask(&chat(), &plan(), &question(), &ToolChoice::Auto, 6);
    assert!(seen.events.len() <= 1, "{:?}", seen.events);
    match &seen.result {
        Err(error) => assert_eq!((&error.kind, seen.events.len()), (&Kind::ModelFault, 1)),
        Ok(reply) => assert!(
            seen.events.len() == 1 || reply.finish == Finish::Length,
            "{reply:?}"
        ),
    }
}
