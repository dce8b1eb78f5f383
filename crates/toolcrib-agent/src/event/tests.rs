use toolcrib_core::{TurnPlan, Usage};

use super::*;

/// One of each, so that a changed form shows.
#[test]
fn l31_the_json_of_each_event() {
    let events = [
        Event::RunStarted {
            model: "openai:m".into(),
            rounds: 20,
        },
        Event::SurfaceChanged {
            exposed: vec![ToolName::parse("grep").unwrap()],
            fingerprint: TurnPlan::new("", Vec::new()).fingerprint().clone(),
            reason: "initial".into(),
        },
        Event::Compacted {
            reason: "full".into(),
            bytes_before: 20,
            bytes_after: 10,
            messages: 3,
            summarised: true,
        },
        Event::MessageTaken {
            text: "and then?".into(),
        },
        Event::TurnStarted {
            round: 1,
            rounds: 20,
            final_round: false,
            extra: false,
        },
        Event::Text {
            text: "a\n\"b\"".into(),
        },
        Event::Reasoning { text: "hm".into() },
        Event::CallAnnounced {
            name: "grep".into(),
        },
        Event::Retrying {
            attempt: 2,
            wait_ms: 500,
            reason: "503".into(),
        },
        Event::TurnFinished {
            round: 1,
            calls: 2,
            text_bytes: 0,
            finish: Finish::ToolCalls,
            usage: Usage {
                input: Some(10),
                ..Usage::default()
            },
            cost: Some(Cost::reported(0.5)),
            ms: 7,
        },
        Event::CallsIgnored {
            round: 20,
            names: vec!["grep".into()],
        },
        Event::AnswerRejected {
            round: 3,
            reason: RejectionReason::Unparsable,
            error: "not a number".into(),
        },
        Event::ApprovalNeeded {
            call_id: "1".into(),
            name: "grep".into(),
            preview: Preview::Text("greps".into()),
        },
        Event::ApprovalGiven {
            call_id: "1".into(),
            name: "grep".into(),
            decision: Decision::Deny(Some("not now".into())),
        },
        Event::ToolCallStarted {
            call_id: "1".into(),
            name: "grep".into(),
            arguments: "{}".into(),
        },
        Event::ToolProgress {
            call_id: "1".into(),
            text: "half".into(),
        },
        Event::ToolCallFinished {
            call_id: "1".into(),
            name: "grep".into(),
            is_error: true,
            error: Some(ToolErrorKind::BadArgs),
            excerpt: "error: no".into(),
            bytes: 9,
            truncated: false,
            details: None,
            ignored: vec![ToolName::parse("gone").unwrap()],
            repairs: vec![toolcrib_dispatch::Repair::NumberInString("limit".into())],
            ms: 1,
        },
        Event::RunFinished {
            outcome: OutcomeKind::Stopped,
            answer: None,
            reason: Some("the limit".into()),
            limit: Some(Limit::TokensIn),
            rounds: 3,
            extra_attempts: 0,
            calls: 4,
            usage: Usage::default(),
            cost: None,
            ms: 9,
        },
    ];
    let lines: Vec<_> = events.iter().map(Event::to_json).collect();
    insta::assert_snapshot!("each_event", lines.join("\n"));
    for (event, line) in events.iter().zip(&lines) {
        assert_eq!(&serde_json::from_str::<Event>(line).unwrap(), event);
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        let kind = fields["type"].as_str().unwrap();
        let described = DOCUMENT
            .lines()
            .find(|row| row.starts_with(&format!("| `{kind}` |")))
            .unwrap_or_else(|| panic!("{kind} is not described"));
        for field in fields
            .keys()
            .filter(|name| !["v", "type"].contains(&&***name))
        {
            assert!(described.contains(&format!("`{field}`")), "{kind}: {field}");
        }
    }
}

const DOCUMENT: &str = include_str!("../../../../docs/events.md");

#[test]
fn an_excerpt_is_one_line_of_120_characters() {
    let text = "é\n".repeat(200);
    let excerpt = excerpt(&[Content::text(text)]);
    assert_eq!(excerpt.chars().count(), 120);
    assert!(!excerpt.contains('\n'));
}
