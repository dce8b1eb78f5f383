//! The protocol of the final answer.

use toolcrib_agent::{Answer, Budget, Outcome, OutcomeKind, Unanswered};
use toolcrib_core::{Block, Finish, Schema, ToolChoice};
use toolcrib_testkit::scripted::Turn;

use crate::support::*;

#[tokio::test]
async fn l04_leaked_markup_is_rejected_at_any_time_and_code_about_it_is_not() {
    let about = "Hermes models write `<tool_call>`:\n```\n<tool_call>{}</tool_call>\n```";
    let model = model([
        Turn::text("Let me see. <function=lookup>"),
        Turn::text(about),
    ]);
    let outcome = agent(&model).build().unwrap().run("How?").await;
    assert_eq!(outcome.answer().unwrap(), about);
    insta::assert_snapshot!(transcript(&model.requests()[1].messages), @r"
    user: How?
    model: Let me see. <function=lookup>
    user: That was not accepted as the answer: `<function=` is tool markup written as text; tools are called through the interface, not by writing markup (to show it, put it into a code span). Reply with the answer as plain text.
    ");
}

#[tokio::test]
async fn l05_a_rejected_answer_costs_a_round_and_stays_in_the_history() {
    let model = model([
        look(),
        Turn::text("About twelve."),
        Turn::text(""),
        Turn::text(" 12 "),
    ]);
    let agent = agent(&model).budget(Budget::rounds(4)).build().unwrap();
    let answer = Answer::<u8>::from_text("a whole number from 0 to 255");
    let outcome = agent.run_typed("How many?", &answer).await;
    assert_eq!(outcome.answer(), Some(&12));
    assert_eq!(
        (outcome.report().rounds, outcome.report().extra_attempts),
        (4, 0)
    );
    assert_prefixes(&model.requests());
    insta::assert_snapshot!(transcript(outcome.report().history.messages()), @r#"
    user: How many?

    Your final answer must be a whole number from 0 to 255. Write it without code fences and without any text around it.
    model: c0=lookup({"q":"a"})
    c0: echo {"q":"a"}

    [round 1 of 4: 2 lookup rounds left. Batch independent lookups into one turn.]
    model: About twelve.
    user: That was not accepted as the answer: invalid digit found in string. Reply with the bare answer, without code fences and without any text around it. It must be a whole number from 0 to 255.
    user: That was not accepted as the answer: there was no text. No tools can be called any more; answer from what was gathered. Reply with the bare answer, without code fences and without any text around it. It must be a whole number from 0 to 255.
    model:  12 
    "#);
}

#[tokio::test]
async fn an_unknown_end_of_a_reply_does_not_count_as_success() {
    let odd = Turn::blocks(
        [Block::Text("Half an ans".into())],
        Finish::Other("error_x".into()),
    );
    let model = model([odd, Turn::text("A whole answer.")]);
    let outcome = agent(&model).build().unwrap().run("How?").await;
    assert_eq!(outcome.answer().unwrap(), "A whole answer.");
    assert_eq!(outcome.report().rounds, 2);
}

#[tokio::test]
async fn l05_the_extra_attempt_is_counted_apart() {
    let model = model([Turn::text("many"), Turn::text("7")]);
    let agent = agent(&model).budget(Budget::rounds(1)).build().unwrap();
    let answer = Answer::<u8>::from_text("a whole number");
    let outcome = agent.run_typed("How many?", &answer).await;
    assert_eq!(outcome.answer(), Some(&7));
    assert_eq!(
        (outcome.report().rounds, outcome.report().extra_attempts),
        (1, 1)
    );
}

#[tokio::test]
async fn json_answers_carry_their_schema_in_the_question() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Place {
        file: String,
        line: u32,
    }
    let schema = Schema::parse(
        r#"{"type":"object","properties":{"file":{"type":"string"},"line":{"type":"integer"}}}"#,
    )
    .unwrap();
    let model = model([
        Turn::text(r#"{"file":"a.rs","line":"7"}"#),
        Turn::text("```json\n{\"file\":\"a.rs\",\"line\":7}\n```"),
    ]);
    let agent = agent(&model).build().unwrap();
    let outcome = agent
        .run_typed("Where?", &Answer::<Place>::json(Some(&schema)))
        .await;
    assert_eq!(
        outcome.answer(),
        Some(&Place {
            file: "a.rs".into(),
            line: 7
        })
    );
    insta::assert_snapshot!(transcript(&model.requests()[1].messages), @r#"
    user: Where?

    Your final answer must be one JSON value that matches this JSON Schema: {"type":"object","properties":{"file":{"type":"string"},"line":{"type":"integer"}}}. Write it without code fences and without any text around it.
    model: {"file":"a.rs","line":"7"}
    user: That was not accepted as the answer: at `line`: invalid type: string "7", expected u32 at line 1 column 25. Reply with the bare answer, without code fences and without any text around it. It must be one JSON value that matches this JSON Schema: {"type":"object","properties":{"file":{"type":"string"},"line":{"type":"integer"}}}.
    "#);
    // The system prompt does not depend on the answer's type.
    assert_eq!(model.requests()[0].system, agent.plan().system().into());
}

#[tokio::test]
async fn text_beside_calls_is_kept_and_is_no_answer() {
    let model = model([
        Turn::blocks(
            [text("It may be a."), call("1", "lookup", "{}")],
            Finish::ToolCalls,
        ),
        Turn::text("It is b."),
    ]);
    let outcome = agent(&model).build().unwrap().run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "It is b.");
    assert!(
        transcript(outcome.report().history.messages())
            .contains("model: It may be a. | 1=lookup({})")
    );
}

#[tokio::test]
async fn l20_three_replies_in_a_row_with_nothing_in_them_end_the_run() {
    let model = model([
        Turn::text(""),
        Turn::text(" \n"),
        look(),
        Turn::text(""),
        Turn::blocks([], Finish::Stop),
        Turn::text("\t"),
        Turn::text("Too late."),
    ]);
    let outcome = agent(&model).build().unwrap().run("What?").await;
    assert_eq!(model.requests().len(), 6);
    assert!(matches!(
        outcome,
        Outcome::Unanswered {
            reason: Unanswered::Silent,
            ..
        }
    ));
    assert_paired(&model.requests()[5].messages);
}

#[tokio::test]
async fn three_answers_in_a_row_that_are_cut_off_make_the_next_round_the_last() {
    let cut = || Turn::blocks([text("It is a, because")], Finish::Length);
    let model = model([
        cut(),
        cut(),
        look(),
        cut(),
        cut(),
        cut(),
        cut(),
        cut(),
        Turn::text("Late."),
    ]);
    let outcome = agent(&model).build().unwrap().run("What?").await;
    // Two that a lookup came between, three, the last round, and the attempt after it,
    // which takes what there is.
    assert_eq!(model.requests().len(), 8);
    assert_eq!(model.requests()[6].tool_choice, ToolChoice::Withhold);
    assert_eq!(outcome.answer().unwrap(), "It is a, because");
    assert_eq!(outcome.report().finish, Some(Finish::Length));
    assert_paired(&model.requests()[7].messages);
}

#[tokio::test]
async fn a_custom_parser_speaks_to_the_model_in_its_own_words() {
    let model = model([Turn::text("blue"), Turn::text("red")]);
    let agent = agent(&model).build().unwrap();
    let answer = Answer::custom("red or green", |text| match text {
        "red" => Ok('r'),
        "green" => Ok('g'),
        other => Err(format!("`{other}` is not on the list.")),
    });
    let outcome = agent.run_typed("Which?", &answer).await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);
    assert_eq!(outcome.into_answer(), Some('r'));
    assert!(
        transcript(&model.requests()[1].messages).contains("`blue` is not on the list. Reply with")
    );
}

#[tokio::test]
async fn a_parser_that_repeats_its_input_does_not_flood_the_history() {
    let model = model([Turn::text("x".repeat(50_000)), Turn::text("1")]);
    let agent = agent(&model).build().unwrap();
    let answer = Answer::custom("1", |text| match text {
        "1" => Ok(1),
        other => Err(format!("cannot read {other}")),
    });
    let outcome = agent.run_typed("Which?", &answer).await;
    assert_eq!(outcome.answer(), Some(&1));
    let messages = &model.requests()[1].messages;
    assert!(transcript(&messages[2..]).len() < 1_200);
}
