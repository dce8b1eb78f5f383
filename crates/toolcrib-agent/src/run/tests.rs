use proptest::prelude::*;
use toolcrib_core::{Block, ToolCall, ToolResult, Usage};

use super::*;

fn run(rounds: u32, tool_calls: Option<u64>) -> Run {
    let budget = Budget {
        rounds,
        tool_calls,
        ..Budget::default()
    };
    let rules = Rules {
        tools: true,
        format: Some("a whole number".into()),
        ..Rules::default()
    };
    Run::new(History::new(), Message::user("Go."), budget, rules).unwrap()
}

fn reply(blocks: Vec<Block>, finish: Finish) -> Reply {
    Reply {
        message: AssistantMessage {
            blocks,
            model: "m".into(),
        },
        finish,
        usage: Usage::default(),
        cost: None,
    }
}

fn call(id: &str, arguments: &str) -> Block {
    Block::Call(ToolCall {
        id: id.into(),
        name: "lookup".into(),
        arguments: arguments.into(),
        extra: None,
    })
}

/// What a driver does next, drawn at random; what does not fit is skipped.
#[derive(Clone, Debug)]
enum Input {
    Reply(Reply),
    Fail,
    Results(usize),
    Accept(bool),
    Cancel,
    Late,
}

fn input() -> impl Strategy<Value = Input> {
    let block = prop_oneof![
        Just(Block::Text("7".into())),
        Just(Block::Text("<tool_call>".into())),
        Just(Block::Text("".into())),
        Just(call("a", "{}")),
        Just(call("", "{\"q\"")),
    ];
    let finish = prop_oneof![
        3 => Just(Finish::Stop),
        1 => Just(Finish::Length),
        1 => Just(Finish::Paused),
    ];
    prop_oneof![
        8 => (proptest::collection::vec(block, 0..4), finish)
            .prop_map(|(blocks, finish)| Input::Reply(reply(blocks, finish))),
        1 => Just(Input::Fail),
        6 => (0usize..5).prop_map(Input::Results),
        3 => any::<bool>().prop_map(Input::Accept),
        1 => Just(Input::Cancel),
        1 => Just(Input::Late),
    ]
}

fn apply(run: &mut Run, input: &Input) {
    match (run.step(), input) {
        (Step::CallModel(_), Input::Reply(reply)) => run.model_replied(reply.clone()).unwrap(),
        (Step::CallModel(_), Input::Fail) => {
            let error = ModelError::new(ModelErrorKind::BadRequest, "refused");
            run.model_failed(&error).unwrap();
        }
        (Step::RunCalls(calls), Input::Results(count)) => {
            let results = calls.iter().take(*count);
            let results = results.map(|planned| ToolResult::text(&planned.call, "found", false));
            run.calls_done(results.collect::<Vec<_>>()).unwrap();
        }
        (Step::CheckAnswer(_), Input::Accept(true)) => run.answer_accepted().unwrap(),
        (Step::CheckAnswer(_), Input::Accept(false)) => run.answer_rejected("no").unwrap(),
        (_, Input::Cancel) => run.cancelled(),
        (_, Input::Late) => run.tick(run.elapsed() + Duration::from_secs(1)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_run_stored_after_any_input_goes_on_with_the_same_steps(
        inputs in proptest::collection::vec(input(), 1..24),
        rounds in 1u32..5,
        tool_calls in proptest::option::of(0u64..4),
    ) {
        let mut whole = run(rounds, tool_calls);
        let mut stored = whole.clone();
        for input in &inputs {
            prop_assert_eq!(whole.step(), stored.step());
            let json = serde_json::to_string(&stored).unwrap();
            stored = serde_json::from_str(&json).unwrap();
            apply(&mut whole, input);
            apply(&mut stored, input);
            prop_assert_eq!(
                serde_json::to_string(&whole).unwrap(),
                serde_json::to_string(&stored).unwrap()
            );
        }
        let messages = |run: &Run| run.history().messages().cloned().collect::<Vec<_>>();
        prop_assert_eq!(messages(&whole), messages(&stored));
    }
}

#[test]
fn asking_again_gives_the_same_step() {
    let mut run = run(3, None);
    assert_eq!(run.step(), run.step());
    assert_eq!(run.tally().rounds, 1);
    run.model_replied(reply(vec![call("a", "{}")], Finish::Stop))
        .unwrap();
    assert_eq!(run.step(), run.step());
    let end = {
        run.cancelled();
        run.step()
    };
    run.stopped(Limit::WallTime);
    assert_eq!(run.step(), end);
}

#[test]
fn a_report_out_of_turn_is_refused_and_changes_nothing() {
    let mut run = run(3, None);
    let before = serde_json::to_string(&run).unwrap();
    let error = run.calls_done(Vec::<ToolResult>::new()).unwrap_err();
    insta::assert_snapshot!(error, @"the run was told `calls_done`, but its next step is CallModel");
    assert!(run.answer_accepted().is_err());
    assert!(run.answer_rejected("no").is_err());
    assert!(run.calls_prepared([]).is_err());
    assert!(run.model_replied(reply(Vec::new(), Finish::Stop)).is_err());
    assert_eq!(serde_json::to_string(&run).unwrap(), before);
}

#[test]
fn results_are_put_in_call_order_and_what_is_missing_is_said() {
    let mut run = run(3, None);
    run.step();
    let blocks = vec![call("a", "{}"), call("b", "{}"), call("c", "[]")];
    run.model_replied(reply(blocks, Finish::ToolCalls)).unwrap();
    let Step::RunCalls(calls) = run.step() else {
        panic!()
    };
    let stray = ToolCall {
        id: "zzz".into(),
        ..calls[0].call.clone()
    };
    let results = vec![
        ToolResult::text(&stray, "stray", false),
        ToolResult::text(&calls[1].call, "of b", false),
        ToolResult::text(&calls[0].call, "of a", false),
    ];
    run.calls_done(results).unwrap();
    let said: Vec<_> = run
        .history()
        .messages()
        .filter_map(|message| match message {
            Message::Tool(result) => Some((&*result.call_id, result.is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(said, [("a", false), ("b", false), ("c", true)]);
    // What cannot be sent back is not in the transcript.
    let Some(Message::Assistant(message)) = run.history().messages().nth(1) else {
        panic!()
    };
    let arguments: Vec<_> = message.calls().map(|call| &*call.arguments).collect();
    assert_eq!(arguments, ["{}", "{}", "{}"]);
}

#[test]
fn a_stored_run_of_another_version_is_refused() {
    let json = serde_json::to_string(&run(3, None)).unwrap();
    let newer = json.replacen("\"version\":1", "\"version\":9", 1);
    let error = serde_json::from_str::<Run>(&newer).unwrap_err().to_string();
    assert!(
        error.starts_with("the stored run has version 9; this program reads version 1"),
        "{error}"
    );
}
