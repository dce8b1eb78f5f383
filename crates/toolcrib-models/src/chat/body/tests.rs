use super::*;
use std::sync::Arc;
use toolcrib_core::{History, RawJson, Schema, Str};

use crate::chat::Vendor;

fn spec(name: &str, schema: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec::new(
        ToolName::parse(name).unwrap(),
        format!("Does {name}."),
        Schema::parse(schema).unwrap(),
    ))
}

fn plan() -> TurnPlan {
    TurnPlan::new(
        "Be \"brief\".",
        vec![
            spec("now", "{}"),
            spec(
                "read",
                r#"{"type":"object","required":["p"],"properties":{"p":{"type":"string"}}}"#,
            ),
        ],
    )
}

fn renderer(vendor: Vendor) -> Renderer {
    let dialect = vendor.dialect();
    Renderer {
        dialect,
        head: head(dialect, "m", &[]),
        id: "own:m".into(),
        forwards_images: dialect.forwards_images,
        declares: false,
        searches: None,
    }
}

fn render(vendor: Vendor, plan: &TurnPlan, history: &History, choice: &ToolChoice) -> String {
    let body = renderer(vendor).body(&Request {
        plan,
        history,
        tool_choice: choice,
        max_output_tokens: None,
    });
    let mut profile = toolcrib_core::ModelProfile::new("own:m");
    profile.dialect = vendor.dialect().tools;
    // These transcripts break off where the loop's do not.
    let mut found = crate::check::check_request(&profile, &body);
    found.retain(|finding| !finding.what.contains(" call c"));
    assert_eq!(found, []);
    String::from_utf8(body.to_vec()).unwrap()
}

/// One message, tool or call a line, the bytes otherwise as sent.
fn snapshot(name: &str, body: &str) {
    let lines = [
        "{\"role\"",
        "{\"type\":\"function\"",
        "{\"id\"",
        "],\"messages\"",
        "],\"tool_choice\"",
    ];
    let mut readable = body.to_owned();
    for start in lines {
        readable = readable.replace(start, &format!("\n{start}"));
    }
    insta::assert_snapshot!(name, readable);
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        extra: None,
    }
}

fn assistant_of(model: &str, blocks: Vec<Block>) -> Message {
    Message::Assistant(AssistantMessage {
        blocks,
        model: model.into(),
    })
}

fn text(text: &str) -> Block {
    Block::Text(text.into())
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool(ToolResult::text(&call(id, "read", ""), text, false))
}

fn image() -> Content {
    Content::Image {
        media_type: "image/png".into(),
        data: "iVBOR=".into(),
    }
}

fn history(messages: impl IntoIterator<Item = Message>) -> History {
    messages.into_iter().collect()
}

/// A question, two calls with results, an answer, another question.
fn conversation() -> Vec<Message> {
    vec![
        Message::user("What is in a.txt?"),
        assistant_of(
            "own:m",
            vec![
                Block::Reasoning {
                    text: "Hm.".into(),
                    raw: Some(RawJson(
                        r#"{"reasoning":"Hm.","reasoning_content":"Hm.","reasoning_details":[{"signature":"s"}]}"#.into(),
                    )),
                },
                text("Looking."),
                Block::Call(ToolCall {
                    extra: Some(RawJson(r#"{"extra_content":{"g": 1.0}}"#.into())),
                    ..call("c1", "read", r#"{"p": "a.txt",  "n":1.0}"#)
                }),
                Block::Call(call("c2", "now", "")),
            ],
        ),
        result("c1", "line \"one\"\n世界"),
        result("c2", ""),
        assistant_of("own:m", vec![text("One line.")]),
        Message::user("Sure?"),
    ]
}

#[test]
fn a_plain_question() {
    let history = history([Message::user("Hello?")]);
    let bare = TurnPlan::new("", Vec::new());
    insta::assert_snapshot!(
        render(Vendor::Generic, &bare, &history, &ToolChoice::Auto),
        @r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hello?"}]}"#
    );
}

#[test]
fn tools_even_one_without_arguments() {
    let history = history([Message::user("Hello?")]);
    snapshot(
        "tools_openai",
        &render(Vendor::OpenAi, &plan(), &history, &ToolChoice::Auto),
    );
    snapshot(
        "tools_openrouter",
        &render(Vendor::OpenRouter, &plan(), &history, &ToolChoice::Required),
    );
}

#[test]
fn a_history_with_calls_and_results() {
    let history = history(conversation());
    snapshot(
        "history",
        &render(Vendor::OpenAi, &plan(), &history, &ToolChoice::Auto),
    );
}

#[test]
fn reasoning_goes_back_as_the_dialect_wants_it_and_to_its_own_model_only() {
    let mut messages = conversation();
    let at = |vendor, messages: &[Message]| {
        let body = render(
            vendor,
            &plan(),
            &history(messages.to_vec()),
            &ToolChoice::Auto,
        );
        let value: serde_json::Value = serde_json::from_str(&body).unwrap();
        let mut keys = Vec::new();
        let message = value["messages"][2].as_object().unwrap();
        keys.extend(
            message
                .keys()
                .filter(|key| key.starts_with("reason"))
                .cloned(),
        );
        let call = message["tool_calls"][0].as_object().unwrap();
        keys.extend(call.keys().filter(|key| key.starts_with("extra")).cloned());
        keys.join(" ")
    };
    assert_eq!(at(Vendor::OpenAi, &messages), "extra_content");
    assert_eq!(
        at(Vendor::OpenRouter, &messages),
        "reasoning_details extra_content"
    );
    assert_eq!(at(Vendor::Ollama, &messages), "reasoning extra_content");
    assert_eq!(
        at(Vendor::Generic, &messages),
        "reasoning_content extra_content"
    );
    if let Message::Assistant(message) = &mut messages[1] {
        message.model = "other:m".into();
    }
    for vendor in [
        Vendor::OpenAi,
        Vendor::OpenRouter,
        Vendor::Ollama,
        Vendor::Generic,
    ] {
        assert_eq!(at(vendor, &messages), "");
    }
}

#[test]
fn the_final_round_withheld_and_kept() {
    let history = history(conversation());
    let withheld = render(Vendor::Generic, &plan(), &history, &ToolChoice::Withhold);
    assert!(!withheld.contains("\"tools\"") && !withheld.contains("tool_choice"));
    let kept = render(Vendor::Generic, &plan(), &history, &ToolChoice::None);
    let auto = render(Vendor::Generic, &plan(), &history, &ToolChoice::Auto);
    let tail = r#","tool_choice":"none"}"#;
    assert_eq!(
        kept.strip_suffix(tail),
        auto.strip_suffix(r#","tool_choice":"auto"}"#)
    );
    let named = ToolChoice::Named(ToolName::parse("read").unwrap());
    let named = render(Vendor::Generic, &plan(), &history, &named);
    assert!(named.ends_with(r#","tool_choice":{"type":"function","function":{"name":"read"}}}"#));
    snapshot("final_round_withheld", &withheld);
}

#[test]
fn p34_images_of_results_follow_in_a_user_message_or_are_told() {
    let with_image = |id: &str| {
        Message::Tool(ToolResult {
            content: vec![Content::text("a chart"), image()],
            ..ToolResult::text(&call(id, "chart", ""), "", false)
        })
    };
    let history = history([
        Message::User(vec![Content::text("And this?"), image()]),
        assistant_of(
            "m",
            vec![
                Block::Call(call("c1", "chart", "{}")),
                Block::Call(call("c2", "read", "{}")),
                Block::Call(call("c3", "chart", "{}")),
            ],
        ),
        with_image("c1"),
        result("c2", "text"),
        with_image("c3"),
        assistant_of("m", vec![text("Nice.")]),
        Message::user("Thanks."),
    ]);
    let bare = TurnPlan::new("", Vec::new());
    snapshot(
        "images",
        &render(Vendor::OpenAi, &bare, &history, &ToolChoice::Auto),
    );
    let told = render(Vendor::Generic, &bare, &history, &ToolChoice::Auto);
    assert!(told.contains(r#""content":"a chart\n(image, image/png: left out, text only)""#));
    assert_eq!(
        told.matches("image_url").count(),
        2,
        "the user's own, key and type: {told}"
    );
}

#[test]
fn nothing_empty_broken_or_unnamed_is_replayed() {
    let history = history([
        Message::User(vec![Content::text(" ")]),
        assistant_of("m", vec![text("\n")]),
        Message::User(Vec::new()),
        assistant_of(
            "m",
            vec![
                text(""),
                Block::Call(call("c1", "read", r#"{"cut": "#)),
                Block::Call(call("c2", "read", "[1]")),
                Block::Call(call("c3", "read", "null")),
                Block::Call(call("c4", "read", r#"{"a":1}{"b":2}"#)),
                Block::Call(call("c5", "Read File/now", " {} ")),
            ],
        ),
        result("c1", " "),
    ]);
    let bare = TurnPlan::new("", Vec::new());
    let body = render(Vendor::Generic, &bare, &history, &ToolChoice::Auto);
    let value: serde_json::Value = serde_json::from_str(&body).unwrap();
    let messages = value["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"][0]["text"], "(empty)");
    assert_eq!(messages[1]["content"], "(empty)");
    assert_eq!(messages[2]["content"][0]["text"], "(empty)");
    assert!(messages[3]["content"].is_null());
    assert_eq!(messages[4]["content"], "(no output)");
    let calls = messages[3]["tool_calls"].as_array().unwrap();
    let arguments: Vec<_> = calls
        .iter()
        .map(|c| c["function"]["arguments"].as_str().unwrap())
        .collect();
    assert_eq!(arguments, ["{}", "{}", "{}", "{}", " {} "]);
    let name = calls[4]["function"]["name"].as_str().unwrap();
    assert!(ToolName::parse(name).is_ok(), "{name}");
}

#[test]
fn settings_and_limits_stand_where_they_break_no_prefix() {
    let dialect = Vendor::OpenAi.dialect();
    let extra = [("temperature".to_owned(), serde_json::json!(0.0))];
    let renderer = Renderer {
        head: head(dialect, "m", &extra),
        ..renderer(Vendor::OpenAi)
    };
    let history = history([Message::user("Hi")]);
    let plan = TurnPlan::new("", Vec::new());
    let body = renderer.body(&Request {
        plan: &plan,
        history: &history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: Some(77),
    });
    insta::assert_snapshot!(
        String::from_utf8(body.to_vec()).unwrap(),
        @r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.0,"messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":77}"#
    );
}

#[test]
fn p25_each_body_begins_with_the_messages_of_the_one_before() {
    let plan = plan();
    for vendor in [
        Vendor::OpenAi,
        Vendor::OpenRouter,
        Vendor::Ollama,
        Vendor::Generic,
    ] {
        let mut history = History::new();
        let mut before = String::new();
        for message in conversation() {
            history.push(message);
            let body = render(vendor, &plan, &history, &ToolChoice::Auto);
            let prefix = body.strip_suffix(r#"],"tool_choice":"auto"}"#).unwrap();
            assert!(prefix.starts_with(&before));
            before = prefix.to_owned();
        }
    }
}

#[test]
fn what_was_rendered_once_is_not_rendered_again() {
    let plan = plan();
    let history = history(conversation());
    let renderer = renderer(Vendor::Generic);
    let request = Request {
        plan: &plan,
        history: &history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: None,
    };
    let first = renderer.body(&request);
    let again = |cache: &toolcrib_core::RenderCache, key| {
        cache.get_or_render(key, || panic!("{key} was not kept"))
    };
    again(&plan.rendered, "chat.system");
    again(&plan.rendered, "chat.tools.local");
    for spec in plan.tools() {
        again(&spec.rendered, "chat.spec.local");
    }
    for item in history.items() {
        let key = match &***item {
            Message::User(_) => "chat.user",
            Message::Assistant(_) => "chat.assistant.generic",
            _ => "chat.tool",
        };
        again(&item.rendered, key);
    }
    assert_eq!(first, renderer.body(&request));
    let _: Str = renderer.id;
}

/// A plan with a loader, `d0` to `d9` deferred and the first of them loaded.
fn loaded(count: usize) -> TurnPlan {
    let deferred: Vec<Arc<ToolSpec>> = (0..10).map(|n| spec(&format!("d{n}"), "{}")).collect();
    TurnPlan::with_loader(
        "Be brief.",
        vec![spec("read", "{}")],
        vec![spec("tool_search", "{}")],
        deferred[..count].to_vec(),
        deferred.into(),
    )
}

/// Twenty turns, every other one with a load.
fn turns() -> Vec<(usize, Message)> {
    let turn = |n: usize| {
        let call = call(&format!("c{n}"), "tool_search", "{}");
        let mut result = ToolResult::text(&call, format!("Found {n}."), false);
        if n.is_multiple_of(2) {
            result.loaded = vec![ToolName::parse(&format!("d{}", n / 2)).unwrap()];
        }
        (n / 2 + 1, Message::Tool(result))
    };
    (0..20).map(turn).collect()
}

#[test]
fn s14_on_the_append_route_the_array_and_the_messages_are_prefixes_of_the_next() {
    let split = |body: &str| -> (String, String) {
        let (before, after) = body.split_once("],\"messages\":[").unwrap();
        let messages = after.rsplit_once("],\"tool_choice\"").unwrap().0;
        (before.to_owned(), messages.to_owned())
    };
    let mut history = history([Message::user("Go.")]);
    let body = |count, history: &History| {
        split(&render(
            Vendor::Generic,
            &loaded(count),
            history,
            &ToolChoice::Auto,
        ))
    };
    let (mut tools, mut messages) = body(0, &history);
    for (count, message) in turns() {
        history.push(message);
        let next = body(count, &history);
        assert!(next.0.starts_with(&tools), "{}", next.0);
        assert!(next.1.starts_with(&messages), "{}", next.1);
        (tools, messages) = next;
    }
    assert!(tools.contains("\"d9\""));
}

#[test]
fn s27_on_the_positional_route_a_load_is_declared_once_behind_its_result() {
    let mut positional = renderer(Vendor::Generic);
    positional.declares = true;
    let plan = loaded(0);
    let body = |history: &History| {
        let body = positional.body(&Request {
            plan: &plan,
            history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: None,
        });
        let text = String::from_utf8(body.to_vec()).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        text
    };
    let mut history = history([Message::user("Go.")]);
    let stable = |body: &str| body.rsplit_once("],\"tool_choice\"").unwrap().0.to_owned();
    let mut before = stable(&body(&history));
    for (_, message) in turns() {
        history.push(message);
        // A load that is repeated by another result is not declared again.
        let mut again = ToolResult::text(&call("again", "tool_search", "{}"), "", false);
        again.loaded = vec![ToolName::parse("d0").unwrap()];
        history.push(Message::Tool(again));
        let next = stable(&body(&history));
        assert!(next.starts_with(&before), "{next}");
        before = next;
    }
    let value: serde_json::Value = serde_json::from_str(&body(&history)).unwrap();
    let declarations: Vec<&serde_json::Value> = value["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message.get("tools").is_some())
        .collect();
    assert_eq!(declarations.len(), 10);
    // Each right behind the result that loaded it, and each tool once.
    let all = value["messages"].as_array().unwrap();
    let mut declared = Vec::new();
    for (at, message) in all.iter().enumerate() {
        if let Some(tools) = message.get("tools") {
            assert_eq!(all[at - 1]["role"], "tool", "{message}");
            let names = tools.as_array().unwrap().iter();
            declared.extend(names.map(|tool| tool["function"]["name"].to_string()));
        }
    }
    let mut once = declared.clone();
    once.sort();
    once.dedup();
    assert_eq!((once.len(), declared.len()), (10, 10));
    assert!(declarations.iter().all(|one| one.get("content").is_none()));
    assert_eq!(value["tools"].as_array().unwrap().len(), 2);
    insta::assert_snapshot!(declarations[0], @r#"{"role":"system","tools":[{"type":"function","function":{"name":"d0","description":"Does d0.","parameters":{"type":"object","properties":{}}}}]}"#);
}

#[test]
fn p26_a_router_searches_among_deferred_tools_by_itself() {
    let deferred: Arc<[_]> = ["d0", "d1"].map(|name| spec(name, "{}")).into();
    let plan = |loaded: &[usize]| {
        TurnPlan::with_loader(
            "",
            vec![spec("read", "{}")],
            vec![spec("tool_search", "{}")],
            loaded.iter().map(|at| deferred[*at].clone()).collect(),
            deferred.clone(),
        )
    };
    let history: History = [Message::user("Hi.")].into_iter().collect();
    let own = Vendor::OpenRouter.dialect().own_search;
    let tools = |searches: Option<&'static str>, loaded: &[usize]| {
        let renderer = Renderer {
            searches,
            ..renderer(Vendor::OpenRouter)
        };
        let plan = plan(loaded);
        let body = renderer.body(&Request {
            plan: &plan,
            history: &history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: None,
        });
        let mut profile = toolcrib_core::ModelProfile::new("openrouter:m");
        profile.dialect = ToolDialect::OpenAi;
        profile.load_route = match searches {
            Some(_) => toolcrib_core::LoadRoute::Native,
            None => toolcrib_core::LoadRoute::Append,
        };
        assert_eq!(crate::check::check_request(&profile, &body), []);
        profile.load_route = toolcrib_core::LoadRoute::Append;
        let elsewhere = crate::check::check_request(&profile, &body);
        assert_eq!(elsewhere.is_empty(), searches.is_none());
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let tools = body["tools"].as_array().unwrap().iter();
        let told = tools.map(|tool| {
            let name = tool["function"]["name"].as_str().or(tool["type"].as_str());
            let mark = if tool["defer_loading"] == true {
                "?"
            } else {
                ""
            };
            format!("{}{mark}", name.unwrap())
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(
        tools(own, &[]),
        ["read", "openrouter:tool_search", "d0?", "d1?"]
    );
    assert_eq!(
        tools(own, &[1]),
        ["read", "openrouter:tool_search", "d0?", "d1"]
    );
    assert_eq!(tools(None, &[1]), ["read", "tool_search", "d1"]);
}

#[test]
fn p14_p16_a_question_after_a_result_finds_an_answer_between_where_turns_must_alternate() {
    let call = ToolCall {
        id: "c1".into(),
        name: "read".into(),
        arguments: "{}".into(),
        extra: None,
    };
    let mut history: History = [Message::user("a")].into_iter().collect();
    history.push(Message::Assistant(AssistantMessage {
        blocks: vec![Block::Call(call.clone())],
        model: "own:m".into(),
    }));
    history.push(Message::Tool(ToolResult::text(&call, "cancelled", true)));
    history.push(Message::user("b"));
    history.push(Message::user("c"));
    let roles = |vendor| {
        let body = render(vendor, &plan(), &history, &ToolChoice::Auto);
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let messages = body["messages"].as_array().unwrap().iter();
        let told = messages.map(|message| message["role"].as_str().unwrap().to_owned());
        told.collect::<Vec<_>>()
    };
    let local = ["system", "user", "assistant", "tool", "assistant", "user"];
    assert_eq!(roles(Vendor::LlamaCpp), local);
    let own = ["system", "user", "assistant", "tool", "user", "user"];
    assert_eq!(roles(Vendor::OpenAi), own);
}
