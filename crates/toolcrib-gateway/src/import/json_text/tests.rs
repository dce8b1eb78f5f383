use super::*;
use serde_json::json;

const COMMENTED: &str = r#"{
  // my editor
  "theme": "dark", /* not light */
  "servers": {
    // the first
    "a": { "command": "x" }, // about a
    "b": {
      "command": "y", // inside b
    },
    // about c
    "c": { "command": "z" } // last
  },
  "after": [1, 2,],
}
"#;

fn edited(text: &str, gone: &[&str]) -> String {
    let root = parse(text).unwrap();
    let object = root.at(&["servers".to_owned()]).unwrap();
    replace(text, object, gone, "gate", &json!({"command": "g"})).unwrap()
}

#[test]
fn comments_and_trailing_commas_are_read_over() {
    let value = parse(COMMENTED).unwrap().value();
    assert_eq!(value["servers"]["b"]["command"], "y");
    assert_eq!(value["after"], json!([1, 2]));
    assert_eq!(parse("\u{feff}{}").unwrap().value(), json!({}));
}

#[test]
fn an_edit_keeps_all_comments_outside_the_entries() {
    insta::assert_snapshot!(edited(COMMENTED, &["a", "b", "c"]), @r#"
    {
      // my editor
      "theme": "dark", /* not light */
      "servers": {
        // the first
        "gate": {
          "command": "g"
        } // about a
        // about c
         // last
      },
      "after": [1, 2,],
    }
    "#);
    let one = edited(COMMENTED, &["c"]);
    assert!(
        one.contains("\"b\": {\n      \"command\": \"y\", // inside b\n    },"),
        "{one}"
    );
    assert_eq!(
        parse(&one).unwrap().value()["servers"]["gate"]["command"],
        "g"
    );
}

#[test]
fn an_object_on_one_line_stays_on_it() {
    let text = r#"{"servers": {"a": {}, "b": {}}, "x": 1}"#;
    assert_eq!(
        edited(text, &["a", "b"]),
        r#"{"servers": {"gate": {"command":"g"} }, "x": 1}"#
    );
    assert_eq!(
        edited(text, &[]),
        r#"{"servers": {"a": {}, "b": {}, "gate": {"command":"g"}}, "x": 1}"#
    );
    assert_eq!(
        edited("{\n\t\"servers\": {}\n}", &[]),
        "{\n\t\"servers\": {\n\t\t\"gate\": {\n\t\t\t\"command\": \"g\"\n\t\t}\n\t}\n}"
    );
}

#[test]
fn mistakes_are_named_with_their_place() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(
        error("{\n  \"a\": x\n}"),
        "line 2, column 8: a value was expected"
    );
    assert_eq!(
        error("{\"a\":1 \"b\":2}"),
        "line 1, column 8: a comma was expected"
    );
    assert_eq!(
        error("{\"a\":1"),
        "line 1, column 7: a key in double quotes or `}` was expected"
    );
    assert_eq!(error("/* x"), "line 1, column 1: the comment has no end");
    assert_eq!(
        error("{} {}"),
        "line 1, column 4: there is more after the value"
    );
    assert!(parse(&"[".repeat(100_000)).is_err());
    assert!(parse("").is_err());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn any_set_of_entries_can_be_replaced(
        names in proptest::collection::btree_set("[a-f]", 0..6),
        gone in proptest::collection::btree_set("[a-f]", 0..6),
        lines in proptest::prelude::any::<bool>(),
        trailing in proptest::prelude::any::<bool>(),
    ) {
        let between = if lines { ",\n    " } else { ", " };
        let mut inner: String = names
            .iter()
            .map(|name| format!("\"{name}\": {{\"command\": \"x\"}}"))
            .collect::<Vec<_>>()
            .join(between);
        if trailing && !names.is_empty() {
            inner.push(',');
        }
        let text = if lines {
            format!("{{\n  \"servers\": {{\n    {inner}\n  }}\n}}\n")
        } else {
            format!("{{\"servers\": {{{inner}}}}}")
        };
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        let out = edited(&text, &gone);
        let value = parse(&out).unwrap().value();
        let left: Vec<&str> = value["servers"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut want: Vec<&str> = names.iter().map(String::as_str).filter(|n| !gone.contains(n)).collect();
        want.push("gate");
        want.sort_unstable();
        let mut left = left;
        left.sort_unstable();
        proptest::prop_assert_eq!(left, want);
        if !trailing {
            proptest::prop_assert!(serde_json::from_str::<Value>(&out).is_ok(), "{}", out);
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_breaks_the_reader(text in "[\\[\\]{}\",:/*a\\\\ \\n0-9é-]{0,40}") {
        let _ = parse(&text);
    }

    #[test]
    fn what_the_strict_parser_reads_is_read_the_same(value in r#"(\[|\{"a":|"x"|1|true|,|\]|\}){0,12}"#) {
        if let Ok(strict) = serde_json::from_str::<Value>(&value) {
            proptest::prop_assert_eq!(parse(&value).unwrap().value(), strict);
        }
    }
}
