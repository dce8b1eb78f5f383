use proptest::prelude::*;
use serde_json::json;
use toolcrib_core::{Schema, ToolName};

use super::*;

fn spec(schema: &str) -> ToolSpec {
    let name = ToolName::parse("do").unwrap();
    ToolSpec::new(name, "", Schema::parse(schema).unwrap())
}

/// The arguments that run and how they were mended, or what the model reads.
fn ask(schema: &str, arguments: &str) -> String {
    let mut repairs = Vec::new();
    let value = serde_json::from_str(arguments).unwrap();
    match check(&spec(schema), value, &mut repairs) {
        Ok(mended) => {
            let ran = mended.map_or(arguments.to_owned(), |a| a.as_str().to_owned());
            let repairs: Vec<_> = repairs.iter().map(ToString::to_string).collect();
            format!("{ran} {}", repairs.join(", "))
                .trim_end()
                .to_owned()
        }
        Err(error) => error.model,
    }
}

const TYPED: &str = r#"{"type":"object","properties":{
    "n":{"type":"integer"},"x":{"type":"number"},"s":{"type":"string"},
    "list":{"type":"array","items":{"type":"integer"}},
    "map":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},
    "unit":{"enum":["c","f"]},
    "maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]}
},"required":["n"],"additionalProperties":false}"#;

#[test]
fn l11_every_mistake_is_told_with_its_place_what_was_expected_and_the_value() {
    insta::assert_snapshot!(
        ask(TYPED, r#"{"n":"ten","s":5,"list":[1,true],"map":{},"unit":"k","zz":1}"#),
        @r#"bad arguments of `do`: `n` must be an integer, not the string "ten"; `s` must be a string, not 5; `list[1]` must be an integer, not true; `map.a` is missing; `unit` must be one of "c", "f", not the string "k"; there is no argument `zz`; it did not run."#
    );
    insta::assert_snapshot!(ask(TYPED, "{}"), @"bad arguments of `do`: `n` is missing; it did not run.");
    let forms = r#"{"properties":{"to":{"oneOf":[
        {"type":"object","properties":{"user":{"type":"string"}},"required":["user"]},
        {"type":"object","properties":{"team":{"type":"integer","minimum":1}},"required":["team"]}]}}}"#;
    insta::assert_snapshot!(
        ask(forms, r#"{"to":{"team":0}}"#),
        @"bad arguments of `do`: `to` has none of the allowed forms; of the nearest: `to.team` must be at least 1, not 0; it did not run."
    );
    insta::assert_snapshot!(
        ask(r#"{"properties":{"a":{"type":"string","pattern":"^[a-z]+$","maxLength":3}}}"#, r#"{"a":"Wrong"}"#),
        @r#"bad arguments of `do`: `a` must be a text of at most 3 characters, not the string "Wrong"; `a` must be a text that matches /^[a-z]+$/, not the string "Wrong"; it did not run."#
    );
}

#[test]
fn l11_an_error_is_bounded_however_much_is_wrong() {
    let items: Vec<_> = (0..500)
        .map(|n| format!("\"{}{n}\"", "x".repeat(500)))
        .collect();
    let arguments = format!(r#"{{"n":1,"list":[{}]}}"#, items.join(","));
    let error = ask(TYPED, &arguments);
    assert!(error.chars().count() < 1_600, "{}", error.len());
    assert!(error.contains("and more"), "{error}");
}

#[test]
fn l11_a_number_in_a_string_is_mended_where_a_number_is_due() {
    assert_eq!(
        ask(TYPED, r#"{"n":"10"}"#),
        r#"{"n":10} number_in_string n"#
    );
    assert_eq!(
        ask(
            TYPED,
            r#"{"n":1,"x":"2.50","list":["3"," 4 "],"maybe":"5"}"#
        ),
        r#"{"n":1,"x":2.5,"list":[3,4],"maybe":5} number_in_string x, number_in_string list[0], number_in_string list[1], number_in_string maybe"#
    );
    // A text that is due stays a text, and half a number is none.
    assert_eq!(ask(TYPED, r#"{"n":1,"s":"10"}"#), r#"{"n":1,"s":"10"}"#);
    for bad in [
        r#""1.5""#,
        r#""0x10""#,
        r#""1 000""#,
        r#""""#,
        r#""NaN""#,
        "true",
        "1.5",
    ] {
        let answer = ask(TYPED, &format!(r#"{{"n":{bad}}}"#));
        assert!(answer.starts_with("bad arguments"), "{bad}: {answer}");
    }
}

#[test]
fn l11_json_in_a_string_is_mended_where_an_array_or_object_is_due() {
    assert_eq!(
        ask(TYPED, r#"{"n":1,"list":"[1, 2]","map":"{\"a\":\"3\"}"}"#),
        r#"{"n":1,"list":[1,2],"map":{"a":3}} json_in_string list, json_in_string map, number_in_string map.a"#
    );
    for bad in [r#""[1""#, r#""1,2""#, r#""{}""#] {
        let answer = ask(TYPED, &format!(r#"{{"n":1,"list":{bad}}}"#));
        assert!(answer.starts_with("bad arguments"), "{bad}: {answer}");
    }
}

#[test]
fn l11_null_is_left_out_where_it_stands_for_nothing() {
    assert_eq!(
        ask(TYPED, r#"{"n":1,"s":null,"unit":null,"maybe":null}"#),
        r#"{"n":1,"maybe":null} null_left_out s, null_left_out unit"#
    );
    assert_eq!(
        ask(TYPED, r#"{"n":null,"s":null}"#),
        "bad arguments of `do`: `n` must be an integer, not null; it did not run."
    );
    assert_eq!(
        ask(TYPED, r#"{"n":1,"list":[null]}"#),
        "bad arguments of `do`: `list[0]` must be an integer, not null; it did not run."
    );
}

#[test]
fn l11_odd_schemas_never_break_a_call() {
    let fine = [
        // No type, other drafts, formats and keywords that nobody knows.
        r#"{"properties":{"a":{"type":"integer"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"integer"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}"#,
        r#"{"$schema":"https://example.com/nothing","properties":{"a":{"type":"integer"}}}"#,
        r#"{"properties":{"a":{"type":"integer","format":"no-such-format"},"b":{"format":"uuid"}}}"#,
        r#"{"properties":{"a":{"type":"integer","x-order":1,"nullable":true}}}"#,
        // References into property paths, nowhere, and elsewhere.
        r##"{"properties":{"b":{"type":"integer"},"a":{"$ref":"#/properties/b"}}}"##,
        r##"{"properties":{"a":{"type":"integer"},"z":{"$ref":"#/$defs/gone"}}}"##,
        r#"{"properties":{"a":{"type":"integer"},"z":{"$ref":"https://example.com/s.json"}}}"#,
        r#"{"properties":{"a":{"type":"integer"},"z":{"$ref":"file:///etc/passwd"}}}"#,
        r##"{"$id":"https://example.com/x","properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"integer"}}}"##,
        // Parts that no validator can read.
        r#"{"properties":{"a":{"type":"integer"},"z":{"type":"string","pattern":"(?<=x)["}}}"#,
        r#"{"properties":{"a":{"type":"integer"},"z":{"type":"thing"}}}"#,
        r#"{"properties":{"a":{"type":"integer"},"z":{"minimum":"low","enum":"x"}}}"#,
        r#"{"properties":{"a":{"type":"integer"}},"required":"a"}"#,
        r#"{"properties":{"a":{"type":"integer","required":true}}}"#,
        r#"{"properties":{"a":{"type":"integer"},"z":null}}"#,
    ];
    for schema in fine {
        assert_eq!(
            ask(schema, r#"{"a":1,"z":"y"}"#),
            r#"{"a":1,"z":"y"}"#,
            "{schema}"
        );
        let refused = ask(schema, r#"{"a":"no"}"#);
        assert!(
            refused.contains("`a` must be an integer"),
            "{schema}: {refused}"
        );
    }
    // What is no object schema at all is left to the tool.
    for open in ["{}", r#"{"properties":[]}"#, r#"{"allOf":7}"#] {
        assert_eq!(ask(open, r#"{"a":"x"}"#), r#"{"a":"x"}"#, "{open}");
    }
}

#[test]
fn l11_references_in_circles_end() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}"##,
        r##"{"if":{"not":{"$ref":"#/if"}},"properties":{}}"##,
    ] {
        assert_eq!(ask(schema, r#"{"a":[1]}"#), r#"{"a":[1]}"#, "{schema}");
    }
    // One that enters a value is a list and is checked to its end.
    let list = r##"{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"}}}"##;
    let deep = format!(
        "{}{}{}",
        r#"{"next":"#.repeat(60),
        r#"{"v":"x"}"#,
        "}".repeat(60)
    );
    assert!(
        ask(list, &deep).contains("next.v` must be an integer")
            || ask(list, &deep).contains("…` must be an integer")
    );
    // Chains of any length and definitions that multiply.
    let chain: Vec<_> = (0..5_000)
        .map(|n| format!(r##""d{n}":{{"$ref":"#/$defs/d{}"}}"##, n + 1))
        .collect();
    let chain = format!(
        r##"{{"properties":{{"a":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{},"d5000":{{}}}}}}"##,
        chain.join(",")
    );
    assert_eq!(ask(&chain, r#"{"a":1}"#), r#"{"a":1}"#);
    let doubled: Vec<_> = (0..40)
        .map(|n| {
            let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, n + 1);
            format!(r#""d{n}":{{"allOf":[{next},{next}]}}"#)
        })
        .collect();
    let doubled = format!(
        r##"{{"properties":{{"a":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{},"d40":{{}}}}}}"##,
        doubled.join(",")
    );
    assert_eq!(ask(&doubled, r#"{"a":1}"#), r#"{"a":1}"#);
}

#[test]
fn l11_a_schema_is_compiled_once() {
    let spec = spec(TYPED);
    let first = spec.compiled.get_or_make(|| Compiled::of(&spec));
    check(&spec, json!({"n": 1}), &mut Vec::new()).unwrap();
    let again = spec.compiled.get_or_make(|| Compiled::of(&spec));
    assert!(std::sync::Arc::ptr_eq(&first, &again));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "integer",
            "string",
            "object",
            "null",
            "5",
            "[1]",
            "{}",
            "#",
            "#/properties/a",
            "#/$defs/a",
            "https://example.com/a",
            "^a$",
            "(",
            "uuid",
            "a"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let key = prop::sample::select(vec![
            "type",
            "properties",
            "items",
            "required",
            "enum",
            "const",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "if",
            "then",
            "$ref",
            "$defs",
            "additionalProperties",
            "pattern",
            "minimum",
            "format",
            "$id",
            "$schema",
            "$dynamicRef",
            "dependentSchemas",
            "prefixItems",
            "propertyNames",
            "a",
            "b",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(k, v)| (k.to_owned(), v))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l11_any_schema_with_any_arguments_gives_arguments_or_an_error(
        schema in any_json(),
        arguments in any_json(),
    ) {
        let (Ok(schema), Value::Object(_)) = (Schema::parse(&schema.to_string()), &arguments) else {
            return Ok(());
        };
        let spec = ToolSpec::new(ToolName::parse("do").unwrap(), "", schema);
        let mut repairs = Vec::new();
        match check(&spec, arguments, &mut repairs) {
            Ok(None) => prop_assert!(repairs.is_empty()),
            Ok(Some(mended)) => {
                // What was mended is in order now, and mending again changes nothing.
                prop_assert!(!repairs.is_empty());
                let again = check(&spec, mended.value(), &mut Vec::new()).unwrap();
                prop_assert!(again.is_none());
            }
            Err(error) => {
                prop_assert!(error.model.starts_with("bad arguments of `do`: "));
                prop_assert!(error.model.chars().count() < 4_000);
            }
        }
    }
}
