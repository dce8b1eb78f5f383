use super::*;
use proptest::prelude::*;
use serde_json::json;

fn fit(schema: Value, dialect: ToolDialect) -> FittedSchema {
    Schema::parse(&schema.to_string()).unwrap().fit(dialect)
}

/// One dialect a paragraph: the schema as sent, then its notes.
fn all(schema: Value) -> String {
    let mut text = String::new();
    for dialect in ToolDialect::ALL {
        let fitted = fit(schema.clone(), dialect);
        let strict = if fitted.strict() { " strict" } else { "" };
        text += &format!("{}{strict} {}\n", dialect.as_str(), fitted.wire());
        for note in fitted.notes() {
            text += &format!("    {note}\n");
        }
    }
    text
}

#[test]
fn p29_a_schema_that_needs_nothing_keeps_its_bytes() {
    let text = r##"{ "type":"object", "properties":{"a":{"$ref":"#/$defs/x"},"n":{"type":["string","null"],"default":null}},
        "$schema":"https://json-schema.org/draft/2020-12/schema", "required":["a"], "$defs":{"x":{"type":"string","format":"uri"}}}"##;
    let schema = Schema::parse(text).unwrap();
    for dialect in [
        ToolDialect::Plain,
        ToolDialect::OpenAi,
        ToolDialect::Anthropic,
    ] {
        let fitted = schema.fit(dialect);
        assert_eq!(fitted.wire(), text, "{dialect:?}");
        assert_eq!(fitted.notes(), []);
    }
}

#[test]
fn p29_roots_without_type_or_with_alternatives_become_objects() {
    insta::assert_snapshot!(
        "root_without_type",
        all(json!({"$schema": "http://json-schema.org/draft-07/schema#"}))
    );
    insta::assert_snapshot!(
        "root_alternatives",
        all(json!({
            "oneOf": [
                {"type": "object", "properties": {"id": {"type": "integer"}, "kind": {"const": "a"}}, "required": ["id"]},
                {"$ref": "#/$defs/by_name"},
            ],
            "$defs": {"by_name": {"properties": {"name": {"type": "string"}, "kind": {"const": "b"}}, "required": ["name"]}},
        }))
    );
}

#[test]
fn p29_a_pattern_that_no_engine_reads_costs_no_request() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "[a-z"},
            "b": {"type": "string", "pattern": "^[a-z]+$"},
            "c": {"type": "array", "items": {"type": "string", "pattern": "\\p{L}+"}},
            "d": {"type": "object", "patternProperties": {"(": {}, "^x": {}}, "additionalProperties": false},
        },
        "$defs": {"e": {"type": "string", "pattern": "*"}},
        "allOf": [{"properties": {"f": {"$ref": "#/$defs/e"}}}],
    });
    insta::assert_snapshot!("patterns", all(schema));
}

/// A hundred thousand values to choose from take no time that grows with their square.
#[test]
fn p29_many_equal_values_stay_once_each() {
    let many: Vec<usize> = (0..100_000).map(|n| n % 50_000).collect();
    let names: Vec<String> = many.iter().map(|n| format!("p{n}")).collect();
    let fitted = fit(
        json!({"type": "object", "properties": {"a": {"enum": many}}, "required": names}),
        ToolDialect::OpenAi,
    );
    let value: Value = serde_json::from_str(fitted.wire()).unwrap();
    assert_eq!(
        value["properties"]["a"]["enum"].as_array().unwrap().len(),
        50_000
    );
    assert_eq!(value["required"].as_array().unwrap().len(), 50_000);
    assert_eq!(value["required"][49_999], "p49999");
}

#[test]
fn p29_references_are_followed_and_recursive_ones_cut() {
    insta::assert_snapshot!(
        "references",
        all(json!({
            "type": "object",
            "properties": {
                "color": {"anyOf": [{"type": "string", "description": "As #RRGGBB."}, {"type": "null"}]},
                "border": {"$ref": "#/properties/color/anyOf/0"},
                "tree": {"$ref": "#/definitions/Node"},
                "far": {"$ref": "https://example.org/schema.json"},
            },
            "definitions": {
                "Node": {"type": "object", "properties": {"left": {"$ref": "#/definitions/Node"}}},
                "Unused": {"type": "string"},
            },
        }))
    );
}

#[test]
fn p29_quirks_of_real_servers() {
    insta::assert_snapshot!(
        "quirks",
        all(json!({
            "type": "object",
            "properties": {
                "StartTime<": {"type": "string", "format": "date-time"},
                "$and": {"type": "array"},
                "empty": {"enum": []},
                "any": {},
                "level": {"type": "integer", "enum": [1, 2, 3]},
                "pair": {"type": "array", "items": [{"type": "number"}, {"type": "string"}]},
                "old": {"type": "str", "required": true, "minimum": 0, "exclusiveMinimum": true},
                "open": {"type": "string", "nullable": true, "default": null},
                "text": "what it is",
                "more": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a"]}]},
            },
            "required": ["StartTime<"],
            "discriminator": {"propertyName": "any"},
        }))
    );
}

#[test]
fn p29_growth_is_bounded() {
    // Each definition holds the next one twice.
    let mut definitions = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        definitions.insert(
            format!("d{n}"),
            json!({"type": "object", "properties": {"l": next, "r": next}}),
        );
    }
    let schema = json!({"type": "object", "properties": {"d": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let received = schema.to_string().len();
    for dialect in ToolDialect::ALL {
        let fitted = fit(schema.clone(), dialect);
        assert!(fitted.wire().len() < received + 400_000, "{dialect:?}");
        serde_json::from_str::<Value>(fitted.wire()).unwrap();
        assert!(fitted.notes().len() <= 101);
    }
    let mut deep = json!({"type": "string"});
    for _ in 0..50 {
        deep = json!({"anyOf": [deep, {"type": "integer"}]});
    }
    for dialect in ToolDialect::ALL {
        fit(json!({"properties": {"a": deep.clone()}}), dialect);
    }
}

#[test]
fn p29_arguments_come_back_as_the_tool_has_them() {
    let schema = Schema::parse(
        &json!({
            "type": "object",
            "properties": {
                "StartTime<": {"type": "string"},
                "limit": {"type": "integer"},
                "must": {"type": "string"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/item"}},
            },
            "required": ["must"],
            "$defs": {"item": {"properties": {"$eq": {"type": "string"}, "n": {"type": "number"}}}},
        })
        .to_string(),
    )
    .unwrap();
    let restored = |arguments: Value| {
        let arguments = crate::Arguments::parse(arguments.to_string()).unwrap();
        schema
            .restore(&arguments)
            .map(|arguments| arguments.value())
    };
    for dialect in [ToolDialect::Anthropic, ToolDialect::Gemini] {
        let wire: Value = serde_json::from_str(schema.fit(dialect).wire()).unwrap();
        let name = |properties: &Value, start: &str| {
            let names = properties.as_object().unwrap().keys();
            let mut names = names.filter(|name| name.starts_with(start));
            names.next().unwrap().clone()
        };
        let start = name(&wire["properties"], "StartTime_lt");
        let written = json!({
            start: "a", "limit": null, "must": "m",
        });
        assert_eq!(
            restored(written),
            Some(json!({"StartTime<": "a", "limit": null, "must": "m"}))
        );
    }
    let fitted = fit(
        json!({"type": "object", "properties": {"$eq": {"type": "string"}}}),
        ToolDialect::Gemini,
    );
    let inner: Value = serde_json::from_str(fitted.wire()).unwrap();
    let eq = inner["properties"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap();
    assert_eq!(
        restored(json!({"must": "m", "list": [{eq.as_str(): "x"}, {"n": 1}]})),
        Some(json!({"must": "m", "list": [{"$eq": "x"}, {"n": 1}]}))
    );
    assert_eq!(restored(json!({"must": "m", "unknown": null})), None);
    assert_eq!(restored(json!({"must": "null", "limit": 3})), None);
}

#[test]
fn p30_names_are_one_to_one_and_come_back() {
    let long = "twilio_api_v2010_account_".repeat(8);
    let foreign = [
        "fs.read".to_owned(),
        "fs/read".to_owned(),
        "fs read".to_owned(),
        "fs_read".to_owned(),
        "天气".to_owned(),
        "天氣".to_owned(),
        "3d_render".to_owned(),
        "_3d_render".to_owned(),
        "-x".to_owned(),
        "_-x".to_owned(),
        format!("{long}create"),
        format!("{long}delete"),
    ];
    let names: Vec<crate::ToolName> = foreign
        .iter()
        .map(|name| crate::ToolName::from_foreign(name))
        .collect();
    for dialect in ToolDialect::ALL {
        let mut seen = std::collections::BTreeSet::new();
        for name in &names {
            let wire = name.on_wire(dialect);
            assert!(crate::ToolName::parse(&wire).is_ok(), "{wire}");
            assert!(
                dialect != ToolDialect::Gemini
                    || wire.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
                "{wire}"
            );
            let back = crate::ToolName::from_wire(dialect, &wire, &names);
            assert_eq!(back, Some(name), "{dialect:?}");
            assert!(seen.insert(wire.into_owned()), "{name} {dialect:?}");
        }
    }
}

/// Any JSON, with the words of schemas where they may stand.
fn schema_like() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("items"),
        Just("anyOf"),
        Just("oneOf"),
        Just("allOf"),
        Just("$ref"),
        Just("$defs"),
        Just("enum"),
        Just("const"),
        Just("required"),
        Just("additionalProperties"),
        Just("prefixItems"),
        Just("minimum"),
        Just("maxLength"),
        Just("nullable"),
        Just("pattern"),
        Just("patternProperties"),
        Just("a"),
        Just("b<"),
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3i64..9).prop_map(Value::from),
        prop_oneof![
            Just("string"),
            Just("object"),
            Just("array"),
            Just("integer"),
            Just("null"),
            Just("dict"),
            Just("#"),
            Just("#/$defs/a"),
            Just("#/properties/a"),
            Just("#/properties/b<"),
            Just("a"),
            Just("(a|[b-"),
            Just(""),
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            3 => proptest::collection::vec((word.clone(), inner.clone()), 0..6)
                .prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
            1 => proptest::collection::vec(inner, 0..4).prop_map(Value::from),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn p29_whatever_comes_leaves_as_an_object_with_valid_names(
        members in proptest::collection::vec(("a|b<|properties|anyOf|allOf|\\$ref|\\$defs|required", schema_like()), 0..6),
    ) {
        let root: serde_json::Map<String, Value> = members.into_iter().collect();
        let Ok(schema) = Schema::parse(&Value::Object(root).to_string()) else { return Ok(()) };
        for dialect in ToolDialect::ALL {
            let fitted = schema.fit(dialect);
            prop_assert_eq!(&schema.fit(dialect), &fitted);
            if dialect == ToolDialect::Plain {
                continue;
            }
            let wire: Value = serde_json::from_str(fitted.wire()).unwrap();
            prop_assert_eq!(&wire["type"], "object");
            prop_assert!(wire["properties"].is_object());
            for key in ["anyOf", "oneOf", "allOf", "$ref"] {
                prop_assert!(wire.get(key).is_none(), "{} {:?}", key, dialect);
            }
        }
    }

    #[test]
    fn p29_restoring_never_fails_and_is_done_once(schema in schema_like(), arguments in schema_like()) {
        let Ok(schema) = Schema::parse(&json!({"properties": schema}).to_string()) else { return Ok(()) };
        let Ok(arguments) = crate::Arguments::parse(json!({"a": arguments, "b_lt_000000": null}).to_string()) else {
            return Ok(());
        };
        if let Some(restored) = schema.restore(&arguments) {
            prop_assert!(schema.restore(&restored).is_none());
        }
    }
}

/// More by `TOOLCRIB_FUZZ_CASES`, for long runs by hand.
fn cases() -> u32 {
    let asked = std::env::var("TOOLCRIB_FUZZ_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(64)
}
