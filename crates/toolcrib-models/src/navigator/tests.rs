//! The navigator on transcripts made by hand, whole rounds at a time.

mod copies;
mod nothing;
mod places;
mod relations;
mod routes;

use std::sync::Arc;

use toolcrib_core::{
    Finish, History, Message, Model as _, Reply, Request, Schema, ToolCall, ToolChoice, ToolName,
    ToolResult, ToolSpec, TurnPlan,
};

use super::Navigator;

fn plan(tools: &[&str]) -> TurnPlan {
    let spec = |name: &&str| {
        Arc::new(ToolSpec::new(
            ToolName::parse(name).unwrap(),
            "x",
            Schema::empty(),
        ))
    };
    TurnPlan::new("", tools.iter().map(spec).collect())
}

const LOOKUPS: [&str; 3] = ["read_source", "search_symbols", "symbol_neighbors"];

fn ask(plan: &TurnPlan, history: &History, choice: &ToolChoice) -> Reply {
    let navigator = Navigator::new();
    let request = Request {
        plan,
        history,
        tool_choice: choice,
        max_output_tokens: None,
    };
    let mut ignore = |_: toolcrib_core::ReplyEvent<'_>| {};
    let mut future = navigator.stream(request, &mut ignore);
    let waker = std::task::Waker::noop();
    match future
        .as_mut()
        .poll(&mut std::task::Context::from_waker(waker))
    {
        std::task::Poll::Ready(reply) => reply.unwrap(),
        std::task::Poll::Pending => panic!("the navigator never waits"),
    }
}

/// Runs the loop against a fake that answers each call.
fn run(question: &str, answer: impl Fn(&ToolCall) -> String) -> (String, usize) {
    run_with(&LOOKUPS, question, answer)
}

fn run_with(
    tools: &[&str],
    question: &str,
    answer: impl Fn(&ToolCall) -> String,
) -> (String, usize) {
    let plan = plan(tools);
    let mut history: History = [Message::user(question)].into_iter().collect();
    for round in 0..10 {
        let reply = ask(&plan, &history, &ToolChoice::Auto);
        let calls: Vec<ToolCall> = reply.message.calls().cloned().collect();
        if calls.is_empty() {
            return (reply.message.text(), round);
        }
        assert_eq!(reply.finish, Finish::ToolCalls);
        history.push(Message::Assistant(reply.message));
        for call in &calls {
            let text = answer(call);
            let is_error = text.starts_with("nothing is at ");
            history.push(Message::Tool(ToolResult::text(call, text, is_error)));
        }
    }
    panic!("the navigator never answered");
}

fn small_repository(call: &ToolCall) -> String {
    match &*call.name {
        "search_symbols" if call.arguments.contains("truncat") => "\
2 results for \"q\"; 1-2 shown:
function cut::truncate_result  src/cut.rs:3-9  pub fn truncate_result(text: &str) -> String
    Truncates one tool result to the cap.
test cut::tests::truncates  src/cut.rs:40-50
"
        .into(),
        "search_symbols" => "0 results for \"q\"\n".into(),
        "read_source" => "src/cut.rs:3-5 of 60 lines (Rust)\n3\tpub fn truncate_result(text: &str) -> String {\n4\t    let result = text;\n5\t}\n".into(),
        _ => "\
function cut::truncate_result  src/cut.rs:3-9
1 caller
1 edge; 1-1 shown:
<- calls function run::dispatch  src/run.rs:10-80  at src/run.rs:31
"
        .into(),
    }
}

#[test]
fn answers_with_places_lines_and_callers() {
    let (text, rounds) = run("Where are tool results truncated?", small_repository);
    insta::assert_snapshot!(text);
    assert!((2..=4).contains(&rounds), "{rounds}");
}

#[test]
fn who_calls_lists_the_callers() {
    let (text, _) = run("Who calls `truncate_result`?", small_repository);
    assert!(
        text.contains("called by `run::dispatch` at src/run.rs:31"),
        "{text}"
    );
}

#[test]
fn a_final_round_is_answered_from_what_is_there() {
    let plan = plan(&LOOKUPS);
    let mut history: History = [Message::user("Where are tool results truncated?")]
        .into_iter()
        .collect();
    for choice in [ToolChoice::None, ToolChoice::Withhold] {
        let reply = ask(&plan, &history, &choice);
        assert!(
            reply.message.blocks.is_empty(),
            "it says something it cannot know"
        );
    }
    let looks = ask(&plan, &history, &ToolChoice::Auto).message;
    history.push(Message::Assistant(looks.clone()));
    for call in looks.calls() {
        history.push(Message::Tool(ToolResult::text(
            call,
            small_repository(call),
            false,
        )));
    }
    for choice in [ToolChoice::None, ToolChoice::Withhold] {
        let reply = ask(&plan, &history, &choice);
        assert!(
            reply.message.text().contains("src/cut.rs:3-9"),
            "{}",
            reply.message.text()
        );
    }
}

#[test]
fn without_its_lookups_it_says_what_is_missing() {
    let history: History = [Message::user("Where is it cut?")].into_iter().collect();
    let reply = ask(&plan(&["search_symbols"]), &history, &ToolChoice::Auto);
    assert!(reply.message.text().contains("none of search_symbols"));
}

#[test]
fn a_question_without_words_is_told_what_to_ask() {
    for question in ["", "???", "what is it", "1 2 3"] {
        let (text, rounds) = run(question, |_| String::new());
        assert!(
            text.starts_with("Nothing found: the question has no word"),
            "{text}"
        );
        assert_eq!(rounds, 0);
    }
}

#[test]
fn errors_and_foreign_results_do_not_stop_it() {
    let (text, _) = run("Where is retry handled?", |call| {
        format!("error: {} is broken", call.name)
    });
    assert!(text.starts_with("Nothing found"), "{text}");
}

#[test]
fn the_same_transcript_gives_the_same_bytes_and_ids_do_not_repeat() {
    let plan = plan(&LOOKUPS);
    let mut history: History = [Message::user("Where are results cut?")]
        .into_iter()
        .collect();
    let first = ask(&plan, &history, &ToolChoice::Auto);
    assert_eq!(first, ask(&plan, &history, &ToolChoice::Auto));
    let ids: Vec<_> = first.message.calls().map(|c| c.id.clone()).collect();
    history.push(Message::Assistant(first.message.clone()));
    for call in first.message.calls() {
        history.push(Message::Tool(ToolResult::text(
            call,
            small_repository(call),
            false,
        )));
    }
    let second = ask(&plan, &history, &ToolChoice::Auto);
    assert!(second.message.calls().all(|call| !ids.contains(&call.id)));
}

#[test]
fn a_fault_found_in_the_answer_is_left_out_and_nothing_new_is_asked() {
    let plan = plan(&LOOKUPS);
    let mut history: History = [Message::user("Where are tool results truncated?")]
        .into_iter()
        .collect();
    let answer = loop {
        let reply = ask(&plan, &history, &ToolChoice::Auto);
        history.push(Message::Assistant(reply.message.clone()));
        let calls: Vec<ToolCall> = reply.message.calls().cloned().collect();
        if calls.is_empty() {
            break reply.message.text();
        }
        for call in &calls {
            history.push(Message::Tool(ToolResult::text(
                call,
                small_repository(call),
                false,
            )));
        }
    };
    assert!(answer.contains("`run::dispatch`"), "{answer}");
    history.push(Message::user(
        "That was not accepted:\nsrc/run.rs:31: these lines do not contain \"x\"\nWrite it again.",
    ));
    let again = ask(&plan, &history, &ToolChoice::Auto).message;
    assert!(again.calls().next().is_none());
    assert!(!again.text().contains("src/run.rs:31"), "{}", again.text());
    assert!(again.text().contains("src/cut.rs:3-9"));
}

const ALL: [&str; 5] = [
    "explore_area",
    "list_files",
    "read_source",
    "search_symbols",
    "symbol_neighbors",
];

/// As [`run`], with all five lookups.
fn run_all(question: &str, answer: impl Fn(&ToolCall) -> String) -> (String, usize) {
    run_with(&ALL, question, answer)
}

#[test]
fn a_file_is_found_by_its_name_and_by_what_is_in_it() {
    let (text, _) = run_all("Which file has the default settings?", |call| {
        match &*call.name {
            "list_files" if call.arguments.contains("default") => {
                "2 files:\nsrc/default_settings.py  Python  900 bytes\ntests/test_default.py  Python  90 bytes\n".into()
            }
            "search_symbols" if call.arguments.contains("path") => "0 results for \"q\"\n".into(),
            "search_symbols" => "\
2 results for \"q\"; 1-2 shown:
function load.iter_settings  src/load.py:3-9
constant default_settings.DEFAULT_DELAY  src/default_settings.py:4
"
            .into(),
            _ => String::new(),
        }
    });
    assert!(
        text.starts_with("Best match:\n1. src/default_settings.py:1\n"),
        "{text}"
    );
    assert!(
        text.contains("In it: `default_settings.DEFAULT_DELAY` src/default_settings.py:4."),
        "{text}"
    );
}

#[test]
fn a_question_in_another_language_finds_its_identifiers() {
    for question in [
        "Wo wird truncate_result aufgerufen?",
        "Qui appelle truncate_result ?",
        "truncate_result在哪里被调用?",
    ] {
        let (text, _) = run(question, small_repository);
        assert!(
            text.contains("called by `run::dispatch` at src/run.rs:31"),
            "{question}: {text}"
        );
    }
}
