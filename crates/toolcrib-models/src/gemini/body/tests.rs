use super::*;
use crate::samples::{self, Native, request, shown};
use serde_json::Value;
use toolcrib_core::{History, Schema};

fn renderer() -> Renderer {
    Renderer {
        head: head(&[]),
        id: "gemini:g".into(),
    }
}

const THOUGHT: &str = r#"{"text":"Hm\u00fc","thought":true,"thoughtSignature":"S+/=="}"#;

fn transcript() -> History {
    let native = Native {
        reasoning: THOUGHT,
        extra: Some(r#"{"id":"g1","thoughtSignature":"Q=="}"#),
        search: None,
    };
    samples::transcript("gemini:g", &native)
}

#[test]
fn p28_p34_a_transcript_with_everything_in_it() {
    let (plan, history) = (samples::plan(), transcript());
    let body = renderer().body(&request(&plan, &history, &ToolChoice::Auto));
    insta::assert_snapshot!(shown(ToolDialect::Gemini, &body));
}

#[test]
fn p28_signatures_go_back_on_the_same_part_and_to_no_other_model() {
    let blocks = vec![
        Block::Text("Hi.".into()),
        Block::Opaque(RawJson(r#"{"thoughtSignature":"A="}"#.into())),
        Block::Opaque(RawJson(r#"{"text":"","thoughtSignature":"B="}"#.into())),
    ];
    let message = AssistantMessage {
        blocks,
        model: "gemini:g".into(),
    };
    assert_eq!(
        String::from_utf8(assistant(&message, true)).unwrap(),
        r#"{"text":"Hi.","thoughtSignature":"A="},{"text":"","thoughtSignature":"B="}"#
    );
    assert_eq!(
        String::from_utf8(assistant(&message, false)).unwrap(),
        r#"{"text":"Hi."}"#
    );
}

#[test]
fn p30_names_that_the_wire_refuses_are_mapped_one_to_one() {
    let schema = Schema::empty();
    let tool = |name| {
        let name = ToolName::parse(name).unwrap();
        Arc::new(ToolSpec::new(name, "d", schema.clone()))
    };
    let plan = TurnPlan::new("", vec![tool("3d"), tool("_3d"), tool("a-b")]);
    let history: History = [Message::user("Hi")].into_iter().collect();
    let body = renderer().body(&request(&plan, &history, &ToolChoice::Auto));
    shown(ToolDialect::Gemini, &body);
    let value: Value = serde_json::from_slice(&body).unwrap();
    let declarations = value["tools"][0]["functionDeclarations"]
        .as_array()
        .unwrap();
    let names: std::collections::BTreeSet<&str> = declarations
        .iter()
        .map(|declaration| declaration["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 3);
    // A tool without arguments has no parameters: an empty object is refused.
    assert!(declarations.iter().all(|d| d.get("parameters").is_none()));
}

#[test]
fn p04_choices_are_mapped_to_modes() {
    let (plan, history) = (samples::plan(), transcript());
    let named = ToolChoice::Named(ToolName::parse("read").unwrap());
    for (choice, expected) in [
        (ToolChoice::Auto, r#"{"mode":"AUTO"}"#),
        (ToolChoice::Required, r#"{"mode":"ANY"}"#),
        (ToolChoice::None, r#"{"mode":"NONE"}"#),
        (named, r#"{"mode":"ANY","allowedFunctionNames":["read"]}"#),
    ] {
        let mut asked = request(&plan, &history, &choice);
        asked.max_output_tokens = Some(9);
        let body = renderer().body(&asked);
        let value: Value = serde_json::from_slice(&body).unwrap();
        let config = &value["toolConfig"]["functionCallingConfig"];
        assert_eq!(config.to_string(), expected);
        assert_eq!(value["generationConfig"]["maxOutputTokens"], 9);
        shown(ToolDialect::Gemini, &body);
    }
}
