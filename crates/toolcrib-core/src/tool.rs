//! What tool authors implement.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    BoxFuture, CancellationToken, Effect, Str, ToolError, ToolErrorKind, ToolOutput, ToolSpec,
};

/// Something a model can call.
///
/// Implement it by hand where the spec is made at run time; the `#[tool]`
/// attribute writes it for a plain async function.
pub trait Tool: Send + Sync + 'static {
    /// The spec, the same at every call.
    fn spec(&self) -> &Arc<ToolSpec>;

    /// What this call would touch. Must not block. By default what the spec's
    /// effect says, with no resource named.
    fn footprint(&self, _args: &Arguments) -> Footprint {
        Footprint::of(self.spec().effect)
    }

    /// The tool and arguments that this call stands for, where the tool only passes
    /// calls on. Visibility, permission, footprint and everything after are then the
    /// inner tool's. Must not block. By default `None`: the tool does the work itself.
    ///
    /// # Errors
    /// [`ToolError`] when the call does not say what to pass on.
    fn stands_for(&self, _args: &Arguments) -> Result<Option<Forwarded>, ToolError> {
        Ok(None)
    }

    /// Shows what the call would do, without any effect. A failed preview denies
    /// the call. By default the arguments themselves.
    fn preview<'a>(
        &'a self,
        args: &'a Arguments,
        _cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Preview, ToolError>> {
        Box::pin(async move { Ok(Preview::Text(args.as_str().to_owned())) })
    }

    /// Runs the call. `args` is a JSON object. Should end soon after
    /// `cx.cancel` fires; must not print.
    ///
    /// # Errors
    /// [`ToolError`] when there is no result; a result that reports a failure of
    /// the thing asked for is a [`ToolOutput`] with `is_error`.
    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// The call that another call stands for.
#[derive(Clone)]
pub struct Forwarded {
    /// The tool that does the work.
    pub tool: Arc<dyn Tool>,
    /// What it gets.
    pub arguments: Arguments,
}

/// The arguments of one call: the text of a JSON object, as it will run.
#[derive(Clone, PartialEq, Eq)]
pub struct Arguments(Str);

impl Arguments {
    /// Accepts the text of a JSON object.
    ///
    /// # Errors
    /// `BadJson` when the text is not JSON, with the place; `BadArgs` when it is
    /// another kind of value.
    pub fn parse(text: impl Into<Str>) -> Result<Arguments, ToolError> {
        let text = text.into();
        match serde_json::from_str::<&serde_json::value::RawValue>(&text) {
            Err(error) => Err(ToolError::new(
                ToolErrorKind::BadJson,
                format!("the arguments are not valid JSON: {error}"),
            )),
            Ok(raw) if raw.get().starts_with('{') => Ok(Arguments(text)),
            Ok(raw) => Err(ToolError::bad_args(format!(
                "the arguments must be a JSON object, not {}",
                kind(raw.get())
            ))),
        }
    }

    /// No arguments: `{}`.
    pub fn empty() -> Arguments {
        Arguments("{}".into())
    }

    /// The text, byte for byte what runs.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text, shared.
    pub fn shared(&self) -> Str {
        self.0.clone()
    }

    /// Reads the arguments into a type.
    ///
    /// # Errors
    /// `BadArgs` naming the argument and what was expected.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        let mut json = serde_json::Deserializer::from_str(&self.0);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let cause = strip_place(&error.inner().to_string());
            ToolError::bad_args(if path == "." {
                format!("bad arguments: {cause}")
            } else {
                format!("bad argument `{path}`: {cause}")
            })
        })
    }

    /// The arguments as a JSON value.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or(Value::Null)
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Line and column of one compact line help nobody who wrote it as a value.
fn strip_place(message: &str) -> String {
    message
        .split(" at line ")
        .next()
        .unwrap_or(message)
        .to_owned()
}

fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// What a running call may use.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// Fires when the run or the call is cancelled.
    pub cancel: CancellationToken,
    /// Partial texts for whoever watches; the model never reads them.
    pub progress: Progress,
    /// The call's id.
    pub call_id: Str,
    /// When the call will be cut off.
    pub deadline: Option<Instant>,
}

impl ToolContext {
    /// A context that is never cancelled and reports progress to nobody.
    pub fn detached(call_id: impl Into<Str>) -> ToolContext {
        ToolContext {
            cancel: CancellationToken::new(),
            progress: Progress::none(),
            call_id: call_id.into(),
            deadline: None,
        }
    }
}

/// Where a running call reports partial texts.
#[derive(Clone)]
pub struct Progress(Option<Arc<Report>>);

type Report = dyn Fn(&str) + Send + Sync;

impl Progress {
    /// Hands each text to `report`, which must not block.
    pub fn new(report: impl Fn(&str) + Send + Sync + 'static) -> Progress {
        Progress(Some(Arc::new(report)))
    }

    /// Drops every text.
    pub fn none() -> Progress {
        Progress(None)
    }

    /// Reports one partial text.
    pub fn report(&self, text: &str) {
        if let Some(report) = &self.0 {
            report(text);
        }
    }
}

/// What one call would touch; decides what may run beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// It changes nothing.
    pub read_only: bool,
    /// It must not run beside any other call.
    pub serial: bool,
    /// Calls that name a common resource do not run side by side.
    pub resources: Vec<Str>,
}

impl Footprint {
    /// What an effect alone says: reads may run side by side, all else alone.
    pub fn of(effect: Effect) -> Footprint {
        let read_only = effect == Effect::ReadOnly;
        Footprint {
            read_only,
            serial: !read_only,
            resources: Vec::new(),
        }
    }
}

/// What a call would do, for whoever must allow it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preview {
    /// Free text.
    Text(String),
    /// A file before and after.
    Diff {
        /// The file, relative to the root.
        path: String,
        /// Its text now; `None` for a new file.
        before: Option<String>,
        /// Its text afterwards; `None` for a deletion.
        after: Option<String>,
    },
    /// A command line.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// Where it would run.
        cwd: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code)]
    struct Search {
        query: String,
        limits: Vec<u8>,
    }

    #[test]
    fn argument_errors_name_the_argument() {
        let error = |text: &str| {
            Arguments::parse(text)
                .unwrap()
                .read::<Search>()
                .unwrap_err()
        };
        insta::assert_snapshot!(error(r#"{"query":"a","limits":[1,"x"]}"#).for_model(), @"error: bad argument `limits[1]`: invalid type: string \"x\", expected u8");
        insta::assert_snapshot!(error(r#"{"limits":[]}"#).for_model(), @"error: bad arguments: missing field `query`");
        assert_eq!(error("{}").kind, ToolErrorKind::BadArgs);
    }

    #[test]
    fn only_an_object_is_arguments() {
        for (text, kind) in [
            ("[1]", "an array"),
            ("\"a\"", "a string"),
            ("null", "null"),
            ("1", "a number"),
        ] {
            let error = Arguments::parse(text).unwrap_err();
            assert!(error.model.ends_with(kind), "{}", error.model);
        }
        assert_eq!(
            Arguments::parse("{\"a\":").unwrap_err().kind,
            ToolErrorKind::BadJson
        );
        assert_eq!(
            Arguments::parse("{ \"a\" : 1.0 }").unwrap().as_str(),
            "{ \"a\" : 1.0 }"
        );
    }
}
