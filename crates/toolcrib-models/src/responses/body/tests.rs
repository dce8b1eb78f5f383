use super::*;
use crate::samples::{self, Native, request, shown};
use serde_json::Value;
use toolcrib_core::{History, ToolDialect};

fn renderer(native: bool) -> Renderer {
    Renderer {
        head: head("gpt", &[]),
        id: "openai:gpt".into(),
        native,
        additions: false,
        whole_texts: false,
    }
}

const REASONING: &str =
    r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA\u002b=","odd": 1.0}"#;

fn transcript() -> History {
    let native = Native {
        reasoning: REASONING,
        extra: Some(r#"{"id":"fc_1","namespace":"hub"}"#),
        search: Some(r#"{"type":"tool_search_call","id":"ts_1"}"#),
    };
    samples::transcript("openai:gpt", &native)
}

#[test]
fn p26_p28_p34_a_transcript_with_everything_in_it() {
    let (plan, history) = (samples::plan(), transcript());
    let body = renderer(true).body(&request(&plan, &history, &ToolChoice::Auto));
    insta::assert_snapshot!(shown(ToolDialect::OpenAi, &body));
}

#[test]
fn p28_items_of_the_same_model_go_back_byte_for_byte_and_of_others_not_at_all() {
    let (plan, history) = (samples::plan(), transcript());
    let body = renderer(true).body(&request(&plan, &history, &ToolChoice::Auto));
    let own = String::from_utf8(body.to_vec()).unwrap();
    assert!(own.contains(&format!("{REASONING},{{\"type\":\"message\"")));
    assert!(own.contains(r#""namespace":"hub""#) && own.contains("tool_search_output"));
    let other = Renderer {
        id: "openai:other".into(),
        ..renderer(false)
    };
    let body = other.body(&request(&plan, &history, &ToolChoice::Auto));
    let other = shown(ToolDialect::OpenAi, &body);
    let foreign = [
        "encrypted_content\":",
        "fc_1",
        "namespace",
        "tool_search_call",
    ];
    assert!(foreign.iter().all(|word| !other.contains(word)), "{other}");
}

#[test]
fn p28_a_message_with_more_than_text_goes_back_whole() {
    let item = r#"{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Hi.","annotations":[]}]}"#;
    let blocks = vec![
        Block::Text("Hi.".into()),
        Block::Opaque(RawJson(item.into())),
    ];
    let message = AssistantMessage {
        blocks,
        model: "openai:gpt".into(),
    };
    let own = assistant_items(&message, true, None);
    assert_eq!(String::from_utf8(own).unwrap(), item);
    let other = assistant_items(&message, false, None);
    assert_eq!(
        String::from_utf8(other).unwrap(),
        r#"{"type":"message","role":"assistant","content":"Hi."}"#
    );
}

#[test]
fn p28_texts_go_back_as_whole_items_to_servers_that_refuse_the_short_form() {
    let (plan, history) = (samples::plan(), transcript());
    let renderer = Renderer {
        whole_texts: true,
        ..renderer(false)
    };
    let body = renderer.body(&request(&plan, &history, &ToolChoice::Auto));
    shown(ToolDialect::OpenAi, &body);
    let value: Value = serde_json::from_slice(&body).unwrap();
    let items = value["input"].as_array().unwrap().iter();
    let said: Vec<&Value> = items.filter(|item| item["role"] == "assistant").collect();
    let texts: Vec<_> = said
        .iter()
        .map(|item| &item["content"][0]["text"])
        .collect();
    assert_eq!(texts, ["Hi.", "Let me look.", "(empty)"]);
    assert!(said.iter().all(|item| {
        item["content"][0]["type"] == "output_text" && item["status"] == "completed"
    }));
    let ids: std::collections::BTreeSet<_> = said.iter().map(|item| item["id"].as_str()).collect();
    assert_eq!(ids.len(), said.len());
    // The same bytes each time.
    assert_eq!(
        body,
        renderer.body(&request(&plan, &transcript(), &ToolChoice::Auto))
    );
}

#[test]
fn p04_choices_are_mapped() {
    let (plan, history) = (samples::plan(), transcript());
    let named = ToolChoice::Named(ToolName::parse("read").unwrap());
    for (choice, expected) in [
        (ToolChoice::Auto, "\"auto\""),
        (ToolChoice::Required, "\"required\""),
        (ToolChoice::None, "\"none\""),
        (named, r#"{"type":"function","name":"read"}"#),
    ] {
        let body = renderer(false).body(&request(&plan, &history, &choice));
        let value: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["tool_choice"].to_string(), expected);
        shown(ToolDialect::OpenAi, &body);
    }
}

#[test]
fn p26_when_asked_a_load_is_an_item_of_its_own() {
    let (plan, history) = (samples::plan(), transcript());
    let renderer = Renderer {
        additions: true,
        id: "openai:other".into(),
        ..renderer(false)
    };
    let body = renderer.body(&request(&plan, &history, &ToolChoice::Auto));
    let text = shown(ToolDialect::OpenAi, &body);
    let value: Value = serde_json::from_slice(&body).unwrap();
    let names = |tools: &Value| -> Vec<String> {
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&value["tools"]), ["list", "read", "tool_search"]);
    let input = value["input"].as_array().unwrap();
    let at = input
        .iter()
        .position(|item| item["type"] == "additional_tools");
    let at = at.unwrap();
    assert_eq!(names(&input[at]["tools"]), ["mail"]);
    assert_eq!(input[at - 1]["type"], "function_call_output");
    insta::assert_snapshot!("additions", text);
}
