//! Citations: finding, checking and following them.

mod truth;

use super::*;
use crate::lookup::Lookup;
use crate::lookup::sample::{RUST, Sample, sample};
use crate::model::NodeKind;

fn found(text: &str) -> Vec<String> {
    let graph = sample()
        .file("a dir/odd name.rs", RUST, "x\n")
        .file("Makefile", None, "all:\n")
        .graph();
    cited_places(text, &graph)
        .iter()
        .map(|c| {
            assert!(text.get(c.at.clone()).is_some());
            c.place.to_string()
        })
        .collect()
}

#[test]
fn g15_places_are_found_in_every_form() {
    for (text, expected) in [
        ("see src/cut.rs:12.", "src/cut.rs:12"),
        ("(src/cut.rs:12-40), then", "src/cut.rs:12-40"),
        ("`src/cut.rs:12`", "src/cut.rs:12"),
        ("[src/cut.rs:12–14]", "src/cut.rs:12-14"),
        ("[cap](src/cut.rs#L10-L20)", "src/cut.rs:10-20"),
        ("src/cut.rs#L10-20", "src/cut.rs:10-20"),
        ("src/cut.rs#L10", "src/cut.rs:10"),
        ("src/cut.rs:L10-L12", "src/cut.rs:10-12"),
        ("./src/cut.rs:7", "src/cut.rs:7"),
        ("src/cut.rs:7:13: error", "src/cut.rs:7"),
        ("Sources: [src/cut.rs:1-3]()", "src/cut.rs:1-3"),
        ("file:src/cut.rs:3", "src/cut.rs:3"),
        ("repo://src/cut.rs#L4-L8", "src/cut.rs:4-8"),
        (
            "https://host/o/r/blob/abc123/src/cut.rs#L4-L8",
            "src/cut.rs:4-8",
        ),
        ("`a dir/odd name.rs:1`", "a dir/odd name.rs:1"),
        ("Makefile:1", "Makefile:1"),
        ("nowhere/x.py:3", "nowhere/x.py:3"),
        ("invented.py:3", "invented.py:3"),
        ("**src/cut.rs:3**", "src/cut.rs:3"),
        ("|src/cut.rs:3|", "src/cut.rs:3"),
    ] {
        assert_eq!(found(text), [expected], "{text}");
    }
    assert_eq!(
        found("src/cut.rs:1, src/run.rs:2 and src/cut.rs:1").len(),
        3
    );
}

#[test]
fn g15_what_only_looks_like_a_place_is_none() {
    for text in [
        "at 12:30",
        "http://localhost:8080/x",
        "http://host/x.html:80",
        "localhost:8080",
        "127.0.0.1:80",
        "example.com:443",
        "crate::cut:12",
        "std::fs:3",
        "ratio 3:4",
        "v1.2:3",
        "#L10",
        "issue #12",
        "src/cut.rs:12px",
        "src/cut.rs:",
        "key: 12",
        "2026/11/30:12",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

fn states(text: &str) -> Vec<String> {
    sample().lookup().check_answer(text).corrections()
}

#[test]
fn g15_true_statements_raise_no_alarm() {
    for text in [
        "`cap` (src/cut.rs:20-22) keeps the first characters.",
        "Results are cut by `Cut::apply` at `src/cut.rs:13-16`, which calls `cap`.",
        "`MAX_CHARS` is 8,000 (src/cut.rs:4).",
        "The limit is `8_000` characters. [src/cut.rs:4]",
        "The limit is 8k; it is `8 kB` (src/cut.rs:4).",
        "It says \"Keeps the first characters of a text, never splitting one.\" (src/cut.rs:19)",
        "`text.chars().take(limit).collect()` is all of it (src/cut.rs:21).",
        "- `src/run.rs:16-21` `run`: takes a `Report`.",
        "- src/run.rs:16-21 — `run`, and on line `16` it begins.",
        "`cap` (src/cut.rs:18-22) with its comment, `cap` (src/cut.rs:19).",
        "`cap` is called in src/run.rs:19 and src/run.rs:20.",
        "Run `cargo test -p x`, `--model`, `git log`; it is `true` that `Option<String>` is `None`.",
        "Nothing cited, \"nothing\" `checked` in `README.md` or `src/`.",
        "`std::fs::read` and `Cut::default` and `report.report()` and `Cut::apply`.",
        "See src/cut.rs:20-22:\n\n```rust\npub fn cap(text: &str, limit: usize) -> String {\n    // ...\n}\n```\n",
        "```rust src/cut.rs:20-22\n20\tpub fn cap(text: &str, limit: usize) -> String {\n```\n",
        "```sh\ncargo run -- \"frobnicate\"\n```",
        "It is `large`-ish in `lib/tool.rb` (lib/tool.rb:1). Cheap, says \"Cheap to clone.\" (src/cut.rs:6)",
    ] {
        let found = states(text);
        let known = [
            "`large`: nothing has this name",
            "`checked`: nothing has this name",
        ];
        let alarms: Vec<&String> = found
            .iter()
            .filter(|f| !known.contains(&f.as_str()))
            .collect();
        assert!(alarms.is_empty(), "{text}\n{alarms:#?}");
    }
}

#[test]
fn g15_each_fault_is_explained() {
    let text = "\
`cap` (src/cut.rs:13) is wrong. `Cut::apply` (src/run.rs:16-21) as well.
`MAX_CHARS` is 9,000 (src/cut.rs:4). The limit is `4_000` (src/cut.rs:4).
It says \"never fails\" (src/cut.rs:19). It calls `text.bytes().rev()` (src/cut.rs:21).
See src/nope.rs:1 and src/cut.rs:27. `frobnicate` is in `src/cap.rs`, `Cut::reset` too.
`other.cap()` is called (src/run.rs:19).

Look at src/cut.rs:20-22:
```rust
pub fn cap(text: &str, limit: usize) -> String {
    other.cap();
}
```
";
    insta::assert_snapshot!(states(text).join("\n"), @r#"
    src/cut.rs:13: `cap` is not there; it is at src/cut.rs:20-22; these lines are in `crate::cut::Cut::apply`
    src/cut.rs:4: these lines do not contain the number 9,000
    src/cut.rs:4: these lines do not contain the number 4_000
    src/cut.rs:19: these lines do not contain "never fails"
    src/nope.rs:1: there is no such file; near: src/cut.rs, src/empty.rs, src/run.rs
    src/cut.rs:27: the file has 26 lines
    src/cut.rs:20-22: these lines do not contain "other.cap();"; it is at src/run.rs:25
    `frobnicate`: nothing has this name
    `src/cap.rs`: nothing has this name; near: src/cut.rs, src/empty.rs, src/run.rs
    `Cut::reset`: nothing has this name
    "#);
}

#[test]
fn a_citation_reads_back_as_it_was_written() {
    let graph = sample().graph();
    let place = Place {
        path: "src/cut.rs".into(),
        start: 20,
        end: 22,
    };
    let citation = Citation::bind(&graph, &place).unwrap();
    insta::assert_snapshot!(serde_json::to_string(&citation).unwrap(), @r#"{"path":"src/cut.rs","start":20,"end":22,"symbol":"src/cut.rs#cap","offset":0,"sha256":"8247ad310e16447a8bef03d696fe63eba56cda3aebb5621d6d0ef7de9a6af369","bytes":89}"#);
    let json = serde_json::to_string(&citation).unwrap();
    assert_eq!(serde_json::from_str::<Citation>(&json).unwrap(), citation);
    assert_eq!(citation.recheck(&graph), Recheck::Exact);
}

#[test]
fn g15_odd_texts_do_not_panic() {
    let lookup = sample().lookup();
    for text in [
        "",
        "`",
        "``",
        "“",
        "\"",
        "```",
        "```\n```",
        "a:1:2:3",
        "`é:1`",
        ":1",
        "#L1",
        "é#L1–",
        "` `",
        "`::`",
        "`a<b`",
        "```rs src/cut.rs:1\nx",
    ] {
        lookup.check_answer(text);
        lookup.check_answer(&format!("src/cut.rs:1 {text} src/cut.rs:2"));
    }
}
