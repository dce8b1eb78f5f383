use std::sync::Arc;

use toolcrib_core::{Arguments, Registry, Tool, ToolContext, ToolError, ToolErrorKind, ToolOutput};
use toolcrib_graph::{Lookup, ScanOptions, Snapshot};

use super::GraphTools;

fn registry() -> Registry {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("cut.py"),
        "def cut(text):\n    \"\"\"Cuts a text.\"\"\"\n    return text[:3]\n",
    )
    .unwrap();
    let snapshot = Snapshot::load(dir.path(), &ScanOptions::default()).unwrap();
    let tools = GraphTools::new(Arc::new(Lookup::new(Arc::new(snapshot.graph)))).unwrap();
    let mut registry = Registry::new();
    registry.extend(&tools).unwrap();
    registry
}

async fn call(name: &str, arguments: &str) -> Result<ToolOutput, ToolError> {
    let registry = registry();
    let tool: &Arc<dyn Tool> = registry.get(name).unwrap();
    let args = Arguments::parse(arguments).unwrap();
    tool.call(&args, &ToolContext::detached("c1")).await
}

#[test]
fn g05_the_definitions_are_small_and_never_move() {
    let registry = registry();
    let text: Vec<String> = registry
        .iter()
        .map(|tool| {
            let spec = tool.spec();
            format!(
                "{}\n  {}\n  {}",
                spec.name,
                spec.description,
                spec.input_schema.wire()
            )
        })
        .collect();
    let schemas: usize = registry
        .iter()
        .map(|tool| tool.spec().input_schema.wire().len())
        .sum();
    assert!(schemas <= 2_500, "{schemas} characters of schemas");
    insta::assert_snapshot!(text.join("\n"));
}

#[tokio::test]
async fn every_lookup_answers_through_its_tool() {
    for (name, arguments, expected) in [
        (
            "search_symbols",
            r#"{"query":"cut"}"#,
            "function cut.cut  cut.py:1-3",
        ),
        (
            "explore_area",
            r#"{"query":"cut.py"}"#,
            "function cut.cut  cut.py:1-3",
        ),
        (
            "read_source",
            r#"{"path":"cut.py","start":3}"#,
            "3\t    return text[:3]",
        ),
        (
            "symbol_neighbors",
            r#"{"name":"cut.cut","direction":"incoming"}"#,
            "0 callers",
        ),
        ("list_files", "{}", "cut.py  Python"),
    ] {
        let output = call(name, arguments).await.unwrap();
        let toolcrib_core::Content::Text(text) = &output.content[0] else {
            panic!("text")
        };
        assert!(text.contains(expected), "{name}:\n{text}");
        assert!(!output.is_error);
    }
}

#[tokio::test]
async fn a_wrong_call_says_how_to_call_it_right() {
    for (name, arguments, expected) in [
        ("search_symbols", "{}", "missing field `query`"),
        (
            "search_symbols",
            r#"{"query":"cut","kinds":"x"}"#,
            "unknown field `kinds`",
        ),
        ("search_symbols", r#"{"query":7}"#, "`query`"),
        (
            "read_source",
            r#"{"path":"../etc/passwd"}"#,
            "outside the repository",
        ),
        ("read_source", r#"{"path":"cut.pi"}"#, "cut.py"),
        (
            "symbol_neighbors",
            r#"{"name":"cutt"}"#,
            "use search_symbols first",
        ),
    ] {
        let error = call(name, arguments).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::BadArgs, "{name} {arguments}");
        assert!(
            error.for_model().contains(expected),
            "{name} {arguments}: {}",
            error.for_model()
        );
    }
}

#[test]
fn all_of_them_only_read() {
    let registry = registry();
    assert_eq!(registry.len(), 5);
    for tool in registry.iter() {
        assert!(
            tool.footprint(&Arguments::empty()).read_only,
            "{}",
            tool.spec().name
        );
    }
}
