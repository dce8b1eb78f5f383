//! L16, L17: how long results are cut.

use std::sync::Arc;

use toolcrib_core::{Content, ResultForm, ToolOutput};
use toolcrib_dispatch::CallOutcome;
use toolcrib_testkit::tools::FakeTool;

use crate::support::{call, calls, dispatcher, run, text};

const CAP: usize = 32 * 1024;

fn result_of(form: ResultForm, content: Vec<Content>) -> CallOutcome {
    let tool = FakeTool::new("tool", move |_, _| {
        let mut output = ToolOutput::default();
        output.content = content.clone();
        std::future::ready(Ok(output))
    });
    let dispatcher = dispatcher([tool.with_spec(|spec| spec.result_form(form))]);
    run(&dispatcher, &calls(&["tool"])).0.remove(0)
}

fn whole(text: &str) -> CallOutcome {
    result_of(ResultForm::Whole, vec![Content::text(text)])
}

fn lookup(text: &str) -> CallOutcome {
    result_of(ResultForm::Lookup, vec![Content::text(text)])
}

/// Head, marker line and tail of a cut text.
#[track_caller]
fn parts(text: &str) -> (&str, &str, &str) {
    let at = text.find("[cut: ").unwrap();
    let (marker, tail) = text[at..].split_once('\n').unwrap();
    (&text[..at], marker, tail)
}

#[test]
fn l16_s54_exactly_the_cap_is_untouched_and_one_byte_more_is_cut() {
    let exact = "x".repeat(CAP);
    let outcome = whole(&exact);
    assert_eq!((text(&outcome), outcome.cut), (exact.clone(), None));
    assert_eq!(outcome.bytes, CAP as u64);
    let outcome = whole(&(exact + "y"));
    let cut = outcome.cut.clone().unwrap();
    assert_eq!(
        (cut.total_bytes, cut.shown_bytes),
        (CAP as u64 + 1, CAP as u64)
    );
    let text = text(&outcome);
    let (head, marker, tail) = parts(&text);
    insta::assert_snapshot!(marker, @"[cut: 32769 bytes in all; the first 16384 and the last 16384 are shown. Narrow the call to see the rest.]");
    assert_eq!(head.trim_end().len() + tail.len(), CAP);
    assert!(tail.ends_with("xy"));
    assert!(!marker.contains("read_result"));
}

#[test]
fn l16_head_and_tail_are_whole_lines_where_there_are_lines() {
    let lines: String = (0..9_000).map(|i| format!("line {i}\n")).collect();
    let outcome = whole(&lines);
    let text = text(&outcome);
    let (head, _, tail) = parts(&text);
    assert!(head.starts_with("line 0\n") && head.ends_with('\n'));
    assert!(tail.starts_with("line ") && tail.ends_with("line 8999\n"));
    assert!(lines.starts_with(head) && lines.ends_with(tail));
    let cut = outcome.cut.unwrap();
    assert_eq!(cut.shown_bytes as usize, head.len() + tail.len());
    assert!(cut.shown_bytes as usize <= CAP && cut.shown_bytes as usize > CAP - 40);
}

#[test]
fn l16_one_line_without_end_is_cut_between_characters() {
    let outcome = whole(&format!("title\n{}", "日本語".repeat(20_000)));
    let text = text(&outcome);
    let (head, _, tail) = parts(&text);
    assert!(
        head.len() > CAP / 2 - 8,
        "the long line is worth more than the title"
    );
    assert!(tail.starts_with(['日', '本', '語']));
    let cut = outcome.cut.unwrap();
    assert!(cut.shown_bytes as usize <= CAP);
}

#[test]
fn l16_lookups_keep_the_first_records_and_say_truncated() {
    let records: String = (0..2_000).map(|i| format!("src/file_{i}.rs:1\n")).collect();
    let outcome = lookup(&records);
    let text = text(&outcome);
    let body = text.strip_suffix("(truncated)").unwrap();
    assert!(records.starts_with(body) && body.ends_with('\n'));
    assert!(body.chars().count() <= 8_000 && body.chars().count() > 7_970);
    assert_eq!(outcome.cut.unwrap().shown_bytes as usize, body.len());
}

#[test]
fn l16_lookups_count_characters() {
    let exact = "ü".repeat(8_000);
    assert_eq!(text(&lookup(&exact)), exact);
    let over = exact.clone() + "ü";
    assert_eq!(text(&lookup(&over)), exact + "\n(truncated)");
}

#[test]
fn l16_a_listing_that_a_tool_cut_itself_keeps_its_follow_up() {
    let follow_up = "(truncated) search again with `after: 40` for the next 12";
    let body: String = (0..1_000).map(|i| format!("{i:07}\n")).collect();
    let own = format!("{body}{follow_up}");
    let outcome = lookup(&own);
    assert_eq!(
        (text(&outcome), outcome.cut),
        (own, None),
        "8,000 characters and the marker"
    );
    let outcome = lookup(&format!("{body}one more\n{follow_up}\n"));
    let text = text(&outcome);
    assert!(text.starts_with(&body), "cut at a record");
    assert!(text.trim_end().ends_with(follow_up) && !text.contains("one more"));
}

#[test]
fn l16_errors_are_capped_too() {
    let dispatcher = dispatcher([
        FakeTool::failing("fail", &"e".repeat(100_000)),
        FakeTool::new("report", |_, _| async {
            Ok(ToolOutput::error("e".repeat(100_000)))
        }),
    ]);
    for outcome in run(&dispatcher, &calls(&["fail", "report"])).0 {
        assert!(text(&outcome).starts_with("error: eee"));
        assert!(text(&outcome).len() < CAP + 200);
        assert_eq!(outcome.cut.unwrap().total_bytes, 100_007);
    }
}

#[test]
fn s53_images_stay_where_they_are_and_texts_share_one_cap() {
    let image = |name: &str| Content::Image {
        media_type: "image/png".into(),
        data: name.repeat(100_000).into(),
    };
    let content = vec![
        Content::text("a\n".repeat(12_000)),
        image("1"),
        Content::text("b\n".repeat(12_000)),
        image("2"),
        Content::text("c\n".repeat(12_000)),
    ];
    let outcome = result_of(ResultForm::Whole, content);
    let shape: Vec<char> = outcome
        .result
        .content
        .iter()
        .map(|piece| match piece {
            Content::Text(text) => text.chars().next().unwrap(),
            _ => 'I',
        })
        .collect();
    assert_eq!(shape, ['a', 'I', 'I', 'c']);
    let text = text(&outcome);
    assert_eq!(text.matches("[cut: 72000 bytes").count(), 1);
    assert!(text.len() <= CAP + 200 + 2 * "<image>".len());
    assert_eq!(outcome.cut.unwrap().shown_bytes as usize, CAP);
}

#[test]
fn l16_control_characters_and_escapes_stay_data() {
    let raw = "\u{1b}[31mred\u{1b}[0m\0\u{7}\r\n\u{fffd}";
    assert_eq!(text(&whole(raw)), raw);
}

#[test]
fn l17_s53_a_result_depends_on_itself_alone() {
    let tools = || {
        [
            FakeTool::big("big", 9_000, 10),
            FakeTool::big("list", 9_000, 10).with_spec(|s| s.result_form(ResultForm::Lookup)),
            FakeTool::echo("echo"),
        ]
    };
    let one = |name| {
        let outcome = run(&dispatcher(tools()), &[call("x", name, "{}")])
            .0
            .remove(0);
        (outcome.result.content, outcome.cut)
    };
    let batch: Vec<_> = ["big", "list", "echo", "big", "list"].repeat(5);
    let (outcomes, _) = run(&dispatcher(tools()), &calls(&batch));
    let alone = Arc::new(["big", "list", "echo"].map(|name| (name, one(name))));
    for (name, outcome) in batch.iter().zip(outcomes) {
        let (_, expected) = alone.iter().find(|(known, _)| known == name).unwrap();
        assert_eq!((outcome.result.content, outcome.cut), *expected);
    }
}
