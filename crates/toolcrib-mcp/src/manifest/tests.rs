use serde_json::{Value, json};

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn build(tools: &[&str], old: Option<&Manifest>) -> Manifest {
    let parts = Parts {
        tools: tools.iter().map(|tool| raw(tool)).collect(),
        ..Parts::default()
    };
    Manifest::build(parts, old)
}

/// One of each kind of schema that real servers send and typed models trip over.
const ODD: [&str; 12] = [
    r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
    r#"{"type":"object"}"#,
    r##"{"type":"object","properties":{"q":{"$ref":"#/$defs/q"}},"$defs":{"q":{"type":"string"}}}"##,
    r##"{"type":"object","properties":{"m":{"anyOf":[{"type":"object","properties":{"c":{"type":"array"}}}]},"n":{"$ref":"#/properties/m/anyOf/0/properties/c"}}}"##,
    r##"{"type":"object","properties":{"p":{"$ref":"#/definitions/p"}},"definitions":{"p":{"type":"number","minimum":1.50}}}"##,
    r#"{"type":"object","properties":{"a":{"oneOf":[{"type":"object"}],"discriminator":{"propertyName":"k"}}}}"#,
    r#"{"type":"object","properties":{"a":{}},"if":{"properties":{"a":{"const":1}}},"then":{"required":["a"]}}"#,
    r#"{"type":"object","properties":{"a":{"type":"string","default":null},"b":{"enum":[]},"c":{}}}"#,
    r#"{"type":"object","properties":{"StartTime<":{"type":"string"},"StartTime>":{"type":"string"}}}"#,
    r#"{"type":"object","properties":{"n":{"type":["integer","null"],"format":"int64"}},"required":[]}"#,
    r#"{"type":"object","properties":{"x":{"type":"string","description":"naïve​‍ 日本"}}}"#,
    r#"{"type":"object","properties":{"x":{"$ref":"https://example.com/schema.json"}}}"#,
];

#[test]
fn m09_odd_schemas_load_and_come_out_unchanged() {
    let tools: Vec<String> = ODD
        .iter()
        .enumerate()
        .map(|(n, schema)| format!(r#"{{ "name":"t{n}", "inputSchema":{schema} ,"id":{n}.50}}"#))
        .collect();
    let texts: Vec<&str> = tools.iter().map(String::as_str).collect();
    let manifest = build(&texts, None);
    assert!(
        manifest.quarantined.is_empty(),
        "{:?}",
        manifest.quarantined
    );
    for ((tool, text), schema) in manifest.tools.iter().zip(&tools).zip(ODD) {
        assert_eq!(tool.raw.get(), text);
        assert_eq!(tool.input_schema.received(), schema);
    }
}

#[test]
fn m09_depth_and_size_are_bounded() {
    let deep = |levels: usize| {
        let open = r#"{"type":"object","properties":{"a":"#.repeat(levels);
        format!("{open}{{}}{}", "}}".repeat(levels))
    };
    let tool = |schema: &str| format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
    let wide = format!(r#"{{"type":"object","enum":[{}1]}}"#, "1,".repeat(60_000));
    let huge = format!(
        r#"{{"type":"object","description":"{}"}}"#,
        "x".repeat(1_100_000)
    );
    for (schema, said) in [
        (deep(60), "nested more than"),
        (deep(400), "cannot be read"),
        (wide, "more than 50000 parts"),
        (huge, "larger than"),
    ] {
        let text = tool(&schema);
        let raw: Result<&RawValue, _> = serde_json::from_str(&text);
        // What is too deep even to be kept raw never gets here as one.
        let Ok(_) = raw else { continue };
        let manifest = build(&[&text], None);
        assert_eq!(manifest.tools.len(), 0);
        assert!(
            manifest.quarantined[0].reason.contains(said),
            "{}",
            manifest.quarantined[0].reason
        );
    }
    assert_eq!(
        build(&[&tool(&deep(22))], None).tools.len(),
        1,
        "the deepest one in the wild"
    );
}

#[test]
fn a_tool_that_cannot_be_used_costs_the_others_nothing() {
    let manifest = build(
        &[
            r#"{"name":"good","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}"#,
            r#"{"name":"array","inputSchema":{"type":"array"}}"#,
            r#"{"name":"text","inputSchema":"object"}"#,
            r#"{"inputSchema":{"type":"object"}}"#,
            r#"{"name":7,"inputSchema":{"type":"object"}}"#,
            r#"{"name":"good","description":"again","inputSchema":{"type":"object"}}"#,
            r#"{"name":"","inputSchema":{"type":"object"}}"#,
            r#"["name"]"#,
            r#"{"name":"headed","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}}"#,
            r#"{"name":"bare"}"#,
        ],
        None,
    );
    let names: Vec<&str> = manifest.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["good", "bare"]);
    assert!(
        manifest.tools[0].output_schema.is_none(),
        "the promise alone is dropped"
    );
    let reasons: Vec<String> = manifest
        .quarantined
        .iter()
        .map(|tool| format!("{}: {}", tool.name, tool.reason))
        .collect();
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn a_definition_that_means_the_same_keeps_its_old_bytes() {
    let first = build(
        &[
            r#"{"name":"a","inputSchema":{"type":"object","properties":{}}}"#,
            r#"{"name":"b","inputSchema":{"type":"object"}}"#,
        ],
        None,
    );
    let again = build(
        &[
            r#"{ "inputSchema":{"properties":{},"type":"object"}, "name":"a" }"#,
            r#"{"name":"b","description":"New.","inputSchema":{"type":"object"}}"#,
        ],
        Some(&first),
    );
    assert!(Arc::ptr_eq(&first.tools[0], &again.tools[0]));
    assert!(again.tools[1].raw.get().contains("New."));
    assert_ne!(first.fingerprint, again.fingerprint);
    let same = build(
        &[
            r#"{"inputSchema":{"type":"object","properties":{}},"name":"a"}"#,
            r#"{"name":"b","inputSchema":{"type":"object"}}"#,
        ],
        None,
    );
    assert_eq!(first.fingerprint, same.fingerprint);
}

#[test]
fn a_manifest_is_kept_whole_and_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(Some(dir.path().join("deep")));
    let mut manifest = build(
        &[
            r#"{"name":"a","inputSchema":{"type":"object"},"n":1.00}"#,
            r#"{"name":"bad","inputSchema":[]}"#,
        ],
        None,
    );
    manifest.instructions = Some("Be kind.".to_owned());
    manifest.problems = vec!["cut".to_owned()];
    manifest.prompts = vec![raw(r#"{"name":"p", "x":1.0}"#)];
    store.save("f", &manifest, true);
    let kept = store.load("f").unwrap();
    assert!(kept.skip_probe);
    assert_eq!(
        kept.manifest.tools[0].raw.get(),
        manifest.tools[0].raw.get()
    );
    assert_eq!(kept.manifest.prompts[0].get(), manifest.prompts[0].get());
    assert_eq!(kept.manifest.quarantined[0].name, "bad");
    assert_eq!(kept.manifest.problems, ["cut"]);
    assert_eq!(kept.manifest.instructions.as_deref(), Some("Be kind."));
    assert!(store.load("g").is_none());
    std::fs::write(dir.path().join("deep/f.json"), "{").unwrap();
    assert!(store.load("f").is_none());
}

#[test]
fn effects_come_from_the_annotations() {
    use toolcrib_core::Effect;
    let effect = |annotations: Value| {
        let tool = json!({"name":"t","inputSchema":{"type":"object"},"annotations":annotations});
        let manifest = build(&[&tool.to_string()], None);
        (
            manifest.tools[0].annotations.effect(),
            manifest.tools[0].annotations.repeatable(),
        )
    };
    assert_eq!(
        effect(json!({"readOnlyHint":true})),
        (Effect::ReadOnly, true)
    );
    assert_eq!(
        effect(json!({"readOnlyHint":true,"destructiveHint":true})),
        (Effect::ReadOnly, true)
    );
    assert_eq!(
        effect(json!({"destructiveHint":true,"idempotentHint":true})),
        (Effect::Destructive, true)
    );
    assert_eq!(
        effect(json!({"destructiveHint":false})),
        (Effect::Write, false)
    );
    assert_eq!(
        effect(json!({"readOnlyHint":"yes"})),
        (Effect::Write, false)
    );
    assert_eq!(effect(json!(null)), (Effect::Write, false));
}
