use super::*;
use crate::samples::{self, Native, request, shown};
use serde_json::Value;
use toolcrib_core::{History, ToolDialect, ToolResult};

fn renderer() -> Renderer {
    Renderer {
        head: head("claude", &[], false),
        id: "anthropic:claude".into(),
        native: true,
        additions: false,
        output_limit: Some(64_000),
    }
}

const THINKING: &str =
    r#"{"type":"thinking","thinking":"Hm\u00fc","signature":"EqQB+/==","odd": 1.0}"#;

fn transcript() -> History {
    let native = Native {
        reasoning: THINKING,
        extra: Some(r#"{"caller":{"type":"direct"}}"#),
        search: None,
    };
    samples::transcript("anthropic:claude", &native)
}

#[test]
fn p26_p27_p28_a_transcript_with_everything_in_it() {
    let (plan, history) = (samples::plan(), transcript());
    let body = renderer().body(&request(&plan, &history, &ToolChoice::Auto));
    insta::assert_snapshot!(shown(ToolDialect::Anthropic, &body));
}

#[test]
fn p28_blocks_of_the_same_model_go_back_byte_for_byte_and_of_others_not_at_all() {
    let (plan, history) = (samples::plan(), transcript());
    let text = |id: &str| {
        let renderer = Renderer {
            id: id.into(),
            ..renderer()
        };
        let body = renderer.body(&request(&plan, &history, &ToolChoice::Auto));
        String::from_utf8(body.to_vec()).unwrap()
    };
    let own = text("anthropic:claude");
    let at = own.find(THINKING).unwrap();
    assert!(own[at + THINKING.len()..].starts_with(r#",{"type":"text","text":"Let me look."}"#));
    assert!(!own.contains("foreign"));
    let other = text("anthropic:other");
    assert!(!other.contains("signature") && !other.contains("caller"));
}

#[test]
fn p04_choices_are_mapped_and_the_array_stays() {
    let (plan, history) = (samples::plan(), transcript());
    let named = ToolChoice::Named(ToolName::parse("read").unwrap());
    let choices = [
        (ToolChoice::Auto, r#"{"type":"auto"}"#),
        (ToolChoice::Required, r#"{"type":"any"}"#),
        (ToolChoice::None, r#"{"type":"none"}"#),
        (named, r#"{"type":"tool","name":"read"}"#),
    ];
    let mut arrays = Vec::new();
    for (choice, expected) in &choices {
        let body = renderer().body(&request(&plan, &history, choice));
        let text = String::from_utf8(body.to_vec()).unwrap();
        let end = format!(",\"tool_choice\":{expected},\"max_tokens\":64000}}");
        assert!(text.ends_with(&end), "{text}");
        let value: Value = serde_json::from_slice(&body).unwrap();
        arrays.push(value["tools"].clone());
    }
    assert!(arrays.windows(2).all(|two| two[0] == two[1]));
    let body = renderer().body(&request(&plan, &history, &ToolChoice::Withhold));
    let value: Value = serde_json::from_slice(&body).unwrap();
    assert!(value.get("tools").is_none() && value.get("tool_choice").is_none());
}

/// The body without its marks, which move and are no part of what is cached.
fn unmarked(body: &[u8]) -> String {
    let mark = String::from_utf8(MARK.to_vec()).unwrap();
    String::from_utf8(body.to_vec()).unwrap().replace(&mark, "")
}

#[test]
fn p25_p27_a_growing_transcript_keeps_its_prefix_and_at_most_four_marks() {
    let plan = samples::plan();
    let mut history: History = [Message::user("Go.")].into_iter().collect();
    let mut before: Option<String> = None;
    for round in 0..30 {
        let body = renderer().body(&request(&plan, &history, &ToolChoice::Auto));
        let text = shown(ToolDialect::Anthropic, &body);
        let marks = text.matches("cache_control").count();
        assert!((3..=4).contains(&marks), "round {round}: {marks}");
        assert_eq!(marks == 4, round >= 8, "round {round}");
        let bare = unmarked(&body);
        let end = r#"],"tool_choice":{"type":"auto"},"max_tokens":64000}"#;
        if let Some(before) = &before {
            assert!(bare.starts_with(before.strip_suffix(end).unwrap()));
        }
        before = Some(bare);
        let call = samples::call(&format!("c{round}"), "read", "{}", None);
        history.push(Message::Assistant(AssistantMessage {
            blocks: vec![Block::Call(call.clone())],
            model: "anthropic:claude".into(),
        }));
        history.push(Message::Tool(ToolResult::text(&call, "text", false)));
    }
}

#[test]
fn p26_what_was_loaded_before_the_transcript_is_not_deferred() {
    let plan = samples::plan();
    let history: History = [Message::user("Hi")].into_iter().collect();
    let body = renderer().body(&request(&plan, &history, &ToolChoice::Auto));
    let value: Value = serde_json::from_slice(&body).unwrap();
    let deferred: Vec<&str> = value["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["defer_loading"] == true)
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(deferred, ["find"]);
}

#[test]
fn on_the_append_route_nothing_is_deferred_or_referred_to() {
    let (plan, history) = (samples::plan(), transcript());
    let renderer = Renderer {
        native: false,
        output_limit: None,
        ..renderer()
    };
    let body = renderer.body(&request(&plan, &history, &ToolChoice::Auto));
    let text = shown(ToolDialect::Anthropic, &body);
    assert!(!text.contains("defer_loading") && !text.contains("tool_reference"));
    let value: Value = serde_json::from_slice(&body).unwrap();
    let names: Vec<&str> = value["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["list", "read", "tool_search", "mail"]);
    assert_eq!(value["max_tokens"], 8192);
}

#[test]
fn p16_a_transcript_that_begins_with_the_model_is_opened() {
    let plan = TurnPlan::new("", Vec::new());
    let history: History = [
        Message::Assistant(AssistantMessage {
            blocks: vec![Block::Text("So far so good.".into())],
            model: "x".into(),
        }),
        Message::user("Go on."),
    ]
    .into_iter()
    .collect();
    let body = renderer().body(&request(&plan, &history, &ToolChoice::Auto));
    shown(ToolDialect::Anthropic, &body);
    let value: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(value["messages"].as_array().unwrap().len(), 3);
    assert!(value.get("system").is_none() && value.get("tools").is_none());
}

#[test]
fn p26_when_asked_a_load_is_a_message_of_its_own() {
    let (plan, history) = (samples::plan(), transcript());
    let renderer = Renderer {
        additions: true,
        ..renderer()
    };
    let body = renderer.body(&request(&plan, &history, &ToolChoice::Auto));
    let text = shown(ToolDialect::Anthropic, &body);
    let added = r#"{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","name":"mail"}}]}"#;
    assert_eq!(text.matches(added).count(), 1, "{text}");
    assert!(!text.contains("tool_name") && text.contains("defer_loading"));
    insta::assert_snapshot!("additions", text);
}
