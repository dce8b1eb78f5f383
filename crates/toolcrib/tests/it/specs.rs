//! What a model is told about a function.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use toolcrib::{Effect, Exposure, Json, Permission, ResultForm, SourceId, Tool, argument, tool};

/// A spec as a model meets it.
fn shown(tool: &Arc<dyn Tool>) -> String {
    let spec = tool.spec();
    let schema: serde_json::Value = serde_json::from_str(spec.input_schema.wire()).unwrap();
    format!("{}\n{}\n{schema:#}", spec.name, spec.description)
}

/// Says hello.
#[tool]
async fn hello() -> &'static str {
    "hello"
}

/// What kind of thing.
#[argument]
enum Kind {
    /// A function or method.
    Function,
    /// A type.
    Type,
}

/// How to match.
#[argument]
#[serde(tag = "by", rename_all = "snake_case")]
enum Match {
    /// The whole name.
    Exact {
        /// The name.
        name: String,
    },
    /// A pattern.
    Pattern {
        /// A regular
        /// expression.
        regex: String,
        /// Whether case counts; it does not when absent.
        #[serde(default)]
        case: bool,
    },
}

/// A range of lines.
#[argument]
struct Lines {
    /// The first line, from 1.
    start: u32,
    /// The last line, inclusive.
    end: Option<u32>,
}

/// Finds symbols in the code
/// graph and lists them by rank.
///
/// Ways to ask:
/// - by `name`
/// - by `kinds`, to narrow down
///
/// # Errors
/// Not for the model.
#[tool(name = "find_symbols", effect = "read_only")]
#[allow(clippy::too_many_arguments)]
async fn find(
    /// How names are matched.
    how: Match,
    /// Only these kinds; all when
    /// absent.
    kinds: Option<Vec<Kind>>,
    /// Only within these lines of a file, by path.
    within: HashMap<String, Lines>,
    tags: Vec<String>,
    /// Longest list.
    #[default(20)]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// Where to begin.
    #[default("src")]
    root: String,
    /// How close, from 0 to 1.
    closeness: Option<f32>,
    note: Option<&str>,
    #[serde(rename = "type")] type_: Option<String>,
) -> Json<Vec<String>> {
    let asked = match how {
        Match::Exact { name } => name,
        Match::Pattern { regex, case } => format!("{regex} {case}"),
    };
    let kinds = kinds.into_iter().flatten().map(|kind| match kind {
        Kind::Function => "function".to_owned(),
        Kind::Type => "type".to_owned(),
    });
    let within: BTreeMap<_, _> = within.into_iter().collect();
    let within = within
        .into_iter()
        .map(|(path, lines)| format!("{path}:{}-{:?}", lines.start, lines.end));
    let mut all = vec![
        asked,
        format!("{limit} {root} {closeness:?} {note:?} {type_:?}"),
    ];
    all.extend(kinds.chain(within).chain(tags));
    Json(all)
}

#[test]
fn a_tool_without_arguments_has_an_empty_object_schema() {
    insta::assert_snapshot!(shown(&hello::tool()), @r#"
    hello
    Says hello.
    {
      "type": "object",
      "properties": {}
    }
    "#);
}

#[test]
fn rich_types_become_one_schema() {
    insta::assert_snapshot!(shown(&find::tool()));
}

#[test]
fn schema_bytes_are_the_same_each_time() {
    let (a, b) = (find::tool(), find::tool());
    assert_eq!(a.spec().input_schema.wire(), b.spec().input_schema.wire());
}

/// Deletes a file.
#[tool(
    title = "Delete a file",
    effect = "destructive",
    permission = "ask",
    exposure = "deferred",
    result = "lookup",
    timeout_secs = 30,
    source = "files",
    domains("files", "disk"),
    activates
)]
async fn delete(path: &str) -> String {
    format!("deleted {path}")
}

#[test]
fn options_reach_the_spec_and_the_rest_keeps_its_defaults() {
    let tool = delete::tool();
    let spec = tool.spec();
    assert_eq!(spec.title.as_deref(), Some("Delete a file"));
    assert_eq!(spec.effect, Effect::Destructive);
    assert_eq!(spec.permission, Permission::Ask);
    assert_eq!(spec.exposure, Exposure::Deferred);
    assert_eq!(spec.result_form, ResultForm::Lookup);
    assert_eq!(spec.timeout, Some(Duration::from_secs(30)));
    assert_eq!(spec.source, SourceId::new("files"));
    assert_eq!(
        spec.domains.iter().map(|d| &**d).collect::<Vec<_>>(),
        ["files", "disk"]
    );
    assert!(spec.activates);

    let tool = hello::tool();
    let spec = tool.spec();
    assert_eq!(spec.effect, Effect::Write);
    assert_eq!(spec.permission, Permission::Allow);
    assert_eq!(spec.exposure, Exposure::Direct);
    assert_eq!(spec.result_form, ResultForm::Whole);
    assert_eq!(
        (spec.timeout, spec.activates, spec.domains.len()),
        (None, false, 0)
    );
}
