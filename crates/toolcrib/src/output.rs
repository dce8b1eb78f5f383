//! What a `#[tool]` function may return.
//!
//! Functions return plain Rust values; this trait makes a result for a model of
//! them, so that no signature need name the protocol. Text goes out as it is;
//! structured values say so with [`Json`].

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use serde::Serialize;
use toolcrib_core::{ToolError, ToolErrorKind, ToolOutput};

/// A value that a tool's result can be made of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "not a tool's result",
    note = "return text, a number, `()`, `ToolOutput`, `Json<T>` where `T: Serialize`, or a \
            `Result` of these whose error implements `Display`"
)]
pub trait IntoToolOutput {
    /// The result, or why there is none.
    ///
    /// # Errors
    /// The error that the value itself reports, as a [`ToolError`].
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

/// A structured value, given to the model as compact JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(
    /// The value.
    pub T,
);

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("done"))
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match serde_json::to_string(&self.0) {
            Ok(text) => Ok(ToolOutput::text(text)),
            Err(error) => Err(ToolError::failed(
                "the result could not be written as JSON; calling again with the same arguments \
                 will not help",
            )
            .with_operator(format!("the result could not be written as JSON: {error}"))),
        }
    }
}

/// A [`ToolError`] stays as it is; any other error is a failure of the tool, whose
/// text the model reads. The operator reads the alternate form (`{:#}`), in which
/// some errors add their causes.
impl<T: IntoToolOutput, E: Display + 'static> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match self {
            Ok(value) => value.into_tool_output(),
            Err(error) => Err(tool_error(error)),
        }
    }
}

fn tool_error<E: Display + 'static>(error: E) -> ToolError {
    let mut slot = Some(error);
    if let Some(own) = (&mut slot as &mut dyn Any).downcast_mut::<Option<ToolError>>()
        && let Some(own) = own.take()
    {
        return own;
    }
    match slot {
        Some(error) => ToolError::new(ToolErrorKind::Failed, error.to_string())
            .with_operator(format!("{error:#}")),
        None => ToolError::failed("the tool failed"),
    }
}

macro_rules! as_text {
    ($($ty:ty),* $(,)?) => {$(
        impl IntoToolOutput for $ty {
            fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                Ok(ToolOutput::text(self.to_string()))
            }
        }
    )*};
}

as_text!(
    &str,
    Cow<'_, str>,
    bool,
    char,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    f32,
    f64,
);

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for Arc<str> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: impl IntoToolOutput) -> String {
        match value.into_tool_output() {
            Ok(output) => match &output.content[..] {
                [toolcrib_core::Content::Text(text)] => text.to_string(),
                other => format!("{other:?}"),
            },
            Err(error) => error.for_model(),
        }
    }

    #[test]
    fn values_become_what_a_model_reads() {
        assert_eq!(text("a"), "a");
        assert_eq!(text(1.5), "1.5");
        assert_eq!(text(()), "done");
        assert_eq!(text(Json(vec![1, 2])), "[1,2]");
        assert_eq!(text(Ok::<_, String>(7)), "7");
        assert_eq!(text(Err::<(), _>("no such file")), "error: no such file");
    }

    #[test]
    fn an_own_error_keeps_its_kind_and_both_texts() {
        let own = ToolError::bad_args("use a smaller limit").with_operator("limit 900");
        let kept = Err::<(), _>(own).into_tool_output().unwrap_err();
        assert_eq!(kept.kind, ToolErrorKind::BadArgs);
        assert_eq!(
            (&*kept.model, &*kept.operator),
            ("use a smaller limit", "limit 900")
        );
    }

    #[test]
    fn a_value_that_is_not_json_is_an_error_not_a_panic() {
        let broken = std::collections::BTreeMap::from([(vec![1], 1)]);
        let error = Json(broken).into_tool_output().unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::Failed);
        assert!(error.operator.contains("key must be a string"), "{error}");
    }
}
