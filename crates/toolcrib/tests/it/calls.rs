//! What happens when a model calls one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use toolcrib::{
    Arguments, Content, Progress, Registry, Tool, ToolContext, ToolError, ToolErrorKind, tool,
};

async fn call(tool: &Arc<dyn Tool>, arguments: &str) -> String {
    let arguments = Arguments::parse(arguments).unwrap();
    match tool
        .call(&arguments, &ToolContext::detached("call-1"))
        .await
    {
        Ok(output) => match &output.content[..] {
            [Content::Text(text)] => text.to_string(),
            other => format!("{other:?}"),
        },
        Err(error) => error.for_model(),
    }
}

/// Repeats a word.
#[tool]
async fn repeat(word: &str, times: Option<u32>, #[default(" ")] between: &str) -> String {
    vec![word; times.unwrap_or(1) as usize].join(between)
}

/// Takes no arguments.
#[tool]
async fn nothing() {}

#[tokio::test]
async fn arguments_are_read_by_name() {
    let tool = repeat::tool();
    assert_eq!(call(&tool, r#"{"times":2,"word":"a"}"#).await, "a a");
    assert_eq!(
        call(&tool, r#"{"word":"a","between":"-","times":3}"#).await,
        "a-a-a"
    );
    assert_eq!(call(&tool, r#"{"word":"a","times":null}"#).await, "a");
    assert_eq!(call(&nothing::tool(), "{}").await, "done");
}

#[tokio::test]
async fn the_function_is_still_a_function() {
    assert_eq!(repeat("a", Some(2), "+").await, "a+a");
}

#[tokio::test]
async fn argument_errors_name_the_argument() {
    let tool = repeat::tool();
    insta::assert_snapshot!(call(&tool, r#"{"word":"a","times":-1}"#).await, @"error: bad argument `times`: invalid value: integer `-1`, expected u32");
    insta::assert_snapshot!(call(&tool, r#"{"word":"a","count":1}"#).await, @"error: bad argument `count`: unknown field `count`, expected one of `word`, `times`, `between`");
    insta::assert_snapshot!(call(&tool, "{}").await, @"error: bad arguments: missing field `word`");
    insta::assert_snapshot!(call(&nothing::tool(), r#"{"a":1}"#).await, @"error: bad argument `a`: unknown field `a`, there are no fields");
}

/// Picks a place.
#[toolcrib::argument]
#[serde(tag = "by")]
enum Place {
    Line { line: u32 },
    Name { name: String },
}

/// Goes there.
#[tool]
async fn go(to: Vec<Place>) -> String {
    let to = to.into_iter().map(|place| match place {
        Place::Line { line } => line.to_string(),
        Place::Name { name } => name,
    });
    to.collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn nested_types_refuse_wrong_names_too() {
    let tool = go::tool();
    let both = r#"{"to":[{"by":"Line","line":3},{"by":"Name","name":"b"}]}"#;
    assert_eq!(call(&tool, both).await, "3,b");
    insta::assert_snapshot!(call(&tool, r#"{"to":[{"by":"Line","line":3,"column":1}]}"#).await, @"error: bad argument `to[0]`: unknown field `column`, expected `line`");
    insta::assert_snapshot!(call(&tool, r#"{"to":[{"by":"Word"}]}"#).await, @"error: bad argument `to[0].by`: unknown variant `Word`, expected `Line` or `Name`");
}

struct Counter {
    count: AtomicU32,
}

/// Counts calls.
#[tool]
async fn count(
    #[state] counter: &Counter,
    #[state] label: &str,
    step: u32,
    #[state] scale: Arc<u32>,
) -> String {
    let before = counter.count.fetch_add(step * *scale, Ordering::Relaxed);
    format!("{label} {before}")
}

#[tokio::test]
async fn state_lives_as_long_as_the_tool_and_is_not_in_the_schema() {
    let counter = Counter {
        count: AtomicU32::new(5),
    };
    let tool = count::tool(counter, "was".into(), Arc::new(10));
    assert_eq!(call(&tool, r#"{"step":2}"#).await, "was 5");
    assert_eq!(call(&tool, r#"{"step":2}"#).await, "was 25");
    let schema = tool.spec().input_schema.wire();
    assert!(
        schema.contains("step") && !schema.contains("counter"),
        "{schema}"
    );
    assert!(
        call(&tool, r#"{"step":2,"label":"x"}"#)
            .await
            .contains("unknown field `label`")
    );
}

/// Reports and says which call it is.
#[tool]
async fn report(cx: &ToolContext, text: String) -> String {
    cx.progress.report(&text);
    cx.call_id.to_string()
}

#[tokio::test]
async fn the_context_is_that_of_the_call() {
    let heard = Arc::new(std::sync::Mutex::new(String::new()));
    let ear = heard.clone();
    let mut cx = ToolContext::detached("call-7");
    cx.progress = Progress::new(move |text| ear.lock().unwrap().push_str(text));
    let arguments = Arguments::parse(r#"{"text":"half"}"#).unwrap();
    let output = report::tool().call(&arguments, &cx).await.unwrap();
    assert_eq!(output.content, [Content::text("call-7")]);
    assert_eq!(*heard.lock().unwrap(), "half");
}

/// Fails as asked.
#[tool]
async fn fail(own: bool) -> Result<(), ToolError> {
    std::fs::read("/nonexistent")?;
    Err(ToolError::failed(own.to_string()))
}

/// Fails with another error.
#[tool]
async fn parse(number: &str) -> Result<u8, std::num::ParseIntError> {
    number.parse()
}

#[tokio::test]
async fn errors_of_the_function_reach_the_model() {
    assert!(
        call(&fail::tool(), r#"{"own":true}"#)
            .await
            .starts_with("error: ")
    );
    assert_eq!(call(&parse::tool(), r#"{"number":"7"}"#).await, "7");
    let arguments = Arguments::parse(r#"{"number":"x"}"#).unwrap();
    let error = parse::tool()
        .call(&arguments, &ToolContext::detached("1"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Failed);
    assert_eq!(error.for_model(), "error: invalid digit found in string");
}

mod elsewhere {
    /// Names that generated code might use itself.
    #[toolcrib::tool]
    pub(crate) async fn r#type(
        arguments: String,
        spec: String,
        returned: String,
        private: String,
        r#match: String,
    ) -> String {
        [arguments, spec, returned, private, r#match].concat()
    }
}

#[tokio::test]
async fn names_do_not_meet_those_of_generated_code() {
    /// An argument type of one function's own.
    #[toolcrib::argument]
    struct Local {
        value: i64,
    }

    /// A tool inside a function.
    #[tool]
    async fn local(of: Local) -> i64 {
        of.value
    }

    let tool = elsewhere::r#type::tool();
    let text = r#"{"arguments":"a","spec":"b","returned":"c","private":"d","match":"e"}"#;
    assert_eq!(call(&tool, text).await, "abcde");
    assert_eq!(call(&local::tool(), r#"{"of":{"value":3}}"#).await, "3");

    let mut registry = Registry::new();
    registry.insert(tool).unwrap();
    registry.insert(local::tool()).unwrap();
    let names: Vec<_> = registry
        .iter()
        .map(|tool| tool.spec().name.to_string())
        .collect();
    assert_eq!(names, ["local", "type"]);
}

mod renamed {
    use toolcrib as tools;

    /// Which side.
    #[tools::argument(crate = tools, open)]
    pub(crate) struct Side {
        left: bool,
    }

    /// Turns.
    #[tools::tool(crate = tools, name = "turn-to")]
    pub(crate) async fn turn(side: Side) -> &'static str {
        if side.left { "left" } else { "right" }
    }
}

#[tokio::test]
async fn the_crate_may_have_another_name() {
    let tool = renamed::turn::tool();
    assert_eq!(tool.spec().name.as_str(), "turn-to");
    assert_eq!(
        call(&tool, r#"{"side":{"left":true,"extra":1}}"#).await,
        "left"
    );
}
