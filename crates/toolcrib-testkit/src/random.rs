//! Anything that a model may do, drawn at random.
//!
//! Replies mix text, markup, reasoning and calls: of tools that are there, that are
//! not, and that may not be called; with arguments that are fine, broken, no objects or
//! huge, or load tools named `far_a` to `far_c`; with ids that are missing, repeated or
//! taken. Providers fail in every class, overflow among them, before anything was shown
//! and in the middle of a text. For tests of what must hold whatever a model does.

use proptest::collection::vec;
use proptest::prelude::*;
use toolcrib_core::{Block, Finish, ModelError, ModelErrorKind, ToolCall};

use crate::scripted::Turn;

/// Tokens that each reply of [`turn`] reports as its prompt.
pub const INPUT: u64 = 100;
/// Tokens that each reply of [`turn`] reports as generated.
pub const OUTPUT: u64 = 10;
/// US dollars that each reply of [`turn`] costs; a sum of these is exact.
pub const USD: f64 = 0.25;

/// A call of one of these tools, or of one that no registry has.
pub fn call(tools: &'static [&'static str]) -> impl Strategy<Value = ToolCall> {
    let id = prop::sample::select(vec!["", " ", "a", "b", "call_1", "call_3"]);
    let name = prop_oneof![
        6 => prop::sample::select(tools),
        1 => prop::sample::select(vec!["nowhere", "", "not a name!", "functions.lookup"]),
    ];
    (id, name, arguments()).prop_map(|(id, name, arguments)| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        extra: None,
    })
}

/// The argument text of a call.
pub fn arguments() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "{}",
        "",
        "{",
        r#"{"q":"x"#,
        "[]",
        "null",
        "7",
        r#""{\"q\":1}""#,
        "{}{}",
        r#"{"q":1}{"q":2}"#,
        r#"{"q":1}zz"#,
        "nonsense",
        "\u{0}",
        r#"{"query":"far"}"#,
        r#"{"query":"select:far_b,lookup,nowhere"}"#,
        r#"{"query":"select:far_c,far_a,far_b","limit":1}"#,
    ]);
    prop_oneof![
        4 => (0u8..4).prop_map(|q| format!("{{\"q\":{q}}}")),
        6 => fixed.prop_map(str::to_owned),
        1 => (1usize..40_000).prop_map(|size| format!("{{\"q\":\"{}\"}}", "é".repeat(size))),
        1 => (1usize..300).prop_map(|depth| format!("{{\"q\":{}{}}}", "[".repeat(depth), "]".repeat(depth))),
    ]
}

/// One block of a reply.
pub fn block(tools: &'static [&'static str]) -> impl Strategy<Value = Block> {
    let text = prop::sample::select(vec![
        "7",
        "some words",
        "",
        " \n",
        "<tool_call>{}</tool_call>",
        "<function=lookup>",
        "`<tool_call>` is markup",
    ]);
    prop_oneof![
        5 => call(tools).prop_map(Block::Call),
        3 => text.prop_map(|text| Block::Text(text.into())),
        1 => Just(Block::Reasoning { text: "hm".into(), raw: None }),
    ]
}

/// One reply or failure; every reply reports [`INPUT`], [`OUTPUT`] and [`USD`].
pub fn turn(tools: &'static [&'static str]) -> impl Strategy<Value = Turn> {
    let finish = prop_oneof![
        4 => Just(Finish::Stop),
        4 => Just(Finish::ToolCalls),
        2 => Just(Finish::Length),
        1 => Just(Finish::Paused),
        1 => Just(Finish::Other("odd".into())),
    ];
    let kind = prop::sample::select(vec![
        ModelErrorKind::BadRequest,
        ModelErrorKind::Connect,
        ModelErrorKind::Idle,
        ModelErrorKind::Interrupted,
        ModelErrorKind::Malformed,
        ModelErrorKind::ModelFault,
        ModelErrorKind::Quota,
        ModelErrorKind::RateLimited,
        ModelErrorKind::Unavailable,
    ]);
    let allowed = prop::option::of(1u64..2_000);
    let turn = prop_oneof![
        24 => (vec(block(tools), 0..6), finish)
            .prop_map(|(blocks, finish)| Turn::blocks(blocks, finish)),
        1 => Just(Turn::blocks([Block::Text("no".into())], Finish::Refusal)),
        1 => Just(Turn::blocks([Block::Text("no".into())], Finish::ContentFilter)),
        2 => kind.clone().prop_map(|kind| Turn::fail(kind, "failed")),
        1 => kind.prop_map(|kind| {
            Turn::Break("It is ".into(), ModelError::new(kind, "broke off"))
        }),
        1 => allowed.prop_map(|allowed| {
            let kind = ModelErrorKind::ContextOverflow { needed: None, allowed };
            Turn::fail(kind, "too long")
        }),
    ];
    turn.prop_map(|turn| turn.using(INPUT, OUTPUT, Some(USD)))
}
