use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, found: Option<&str>) {
    assert_eq!(leaked_markup(text), found, "{text:?}");
}

#[test]
fn l04_markup_of_every_family_is_seen() {
    check(
        "Let me look.\n<tool_call>\n{\"name\":\"grep\"}\n</tool_call>",
        Some("<tool_call>"),
    );
    check(
        "<function=grep>\n<parameter=q>x</parameter>",
        Some("<function="),
    );
    check("<|tool_call|>[{}]", Some("<|tool_call"));
    check("<|tool_calls_section_begin|>", Some("<|tool_call"));
    check(
        "so <Tool_Response>ok</Tool_Response>",
        Some("<Tool_Response>"),
    );
    check("<invoke name=\"grep\">", Some("<invoke name="));
    check("<minimax:tool_call>", Some("<minimax:tool_call>"));
    check("[TOOL_CALLS] [{\"name\":\"a\"}]", Some("[TOOL_CALLS]"));
    check(
        "<\u{ff5c}tool\u{2581}calls\u{2581}begin\u{ff5c}>",
        Some("<\u{ff5c}tool"),
    );
    check(
        "<|channel|>commentary to=functions.grep",
        Some("<|channel|>commentary to="),
    );
}

#[test]
fn l04_markup_in_code_is_an_answer_about_markup() {
    check("Hermes models write `<tool_call>` around JSON.", None);
    check("Two ticks: `` `<tool_call>` `` are code too.", None);
    check(
        "```xml\n<tool_call>\n</tool_call>\n```\nThat is the form.",
        None,
    );
    check("~~~\n<function=f>\n```\n~~~\n", None);
    check("````\n```\n<tool_call>\n```\n````\n", None);
    check("```\n<tool_call> in a block that is never closed", None);
    check("a < b, x[0], Vec<tool_call_t>, <function_name>", None);
}

#[test]
fn l04_code_does_not_hide_what_stands_outside() {
    check("```\ncode\n```\n<tool_call>", Some("<tool_call>"));
    check("`a` <tool_call> `b`", Some("<tool_call>"));
    check("an open ` tick, then <tool_call>", Some("<tool_call>"));
    check("an open ` tick\n\n<tool_call> `", Some("<tool_call>"));
    check("<tool_call>\n```\ncode\n```", Some("<tool_call>"));
    check(
        "``` <tool_call> ``` and <invoke name=\"x\">",
        Some("<invoke name="),
    );
    check("    ```\n<tool_call>", Some("<tool_call>"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn never_panics_and_what_is_found_is_in_the_text(
        text in r"([`~<\[\n a]|<tool_call>|```|\PC){0,40}"
    ) {
        if let Some(found) = leaked_markup(&text) {
            prop_assert!(text.contains(found));
        }
    }

    #[test]
    fn a_fence_hides_everything_in_it(body in r"[a-z<>_=\n]{0,40}") {
        let text = format!("````\n{body}\n<tool_call>\n````\n");
        prop_assert_eq!(leaked_markup(&text), None);
    }
}
