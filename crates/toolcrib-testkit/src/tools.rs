//! Tools that do one thing, for tests of what calls them.
//!
//! Each is a [`FakeTool`]: a spec, a closure, and a record of the calls that
//! reached it, so that a test can say what ran and what did not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolcrib_core::{
    Arguments, BoxFuture, Effect, Footprint, Preview, Registry, RegistryError, Schema, Tool,
    ToolContext, ToolError, ToolErrorKind, ToolName, ToolOutput, ToolSpec,
};

type Call = dyn Fn(Arguments, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>>
    + Send
    + Sync;
type Previews = dyn Fn(Arguments) -> BoxFuture<'static, Result<Preview, ToolError>> + Send + Sync;
type Touches = dyn Fn(&Arguments) -> Footprint + Send + Sync;

/// A tool made of a closure. Clones share their record.
#[derive(Clone)]
pub struct FakeTool {
    spec: Arc<ToolSpec>,
    call: Arc<Call>,
    footprint: Option<Arc<Touches>>,
    preview: Option<Arc<Previews>>,
    record: Record,
}

/// The argument texts of the calls that reached a tool, in order.
#[derive(Clone, Debug, Default)]
pub struct Record(Arc<Mutex<Vec<String>>>);

impl Record {
    /// All of them so far.
    pub fn all(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn push(&self, arguments: &Arguments) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(arguments.as_str().to_owned());
    }
}

impl FakeTool {
    /// A read-only tool that answers by `call`. A name that is no tool name is
    /// mapped to one.
    pub fn new<F, R>(name: &str, call: F) -> FakeTool
    where
        F: Fn(Arguments, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let name = ToolName::from_foreign(name);
        let spec = ToolSpec::new(name, "A fake tool.", Schema::empty()).effect(Effect::ReadOnly);
        FakeTool {
            spec: Arc::new(spec),
            call: Arc::new(move |arguments, cx| Box::pin(call(arguments, cx))),
            footprint: None,
            preview: None,
            record: Record::default(),
        }
    }

    /// The same tool under a changed spec.
    pub fn with_spec(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> FakeTool {
        self.spec = Arc::new(change(ToolSpec::clone(&self.spec)));
        self
    }

    /// The same tool with another effect.
    pub fn with_effect(self, effect: Effect) -> FakeTool {
        self.with_spec(|spec| spec.effect(effect))
    }

    /// The same tool with a footprint of its own.
    pub fn with_footprint(
        mut self,
        footprint: impl Fn(&Arguments) -> Footprint + Send + Sync + 'static,
    ) -> FakeTool {
        self.footprint = Some(Arc::new(footprint));
        self
    }

    /// The same tool with a preview of its own.
    pub fn with_preview<F, R>(mut self, preview: F) -> FakeTool
    where
        F: Fn(Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Preview, ToolError>> + Send + 'static,
    {
        self.preview = Some(Arc::new(move |arguments| Box::pin(preview(arguments))));
        self
    }

    /// Where its calls are recorded.
    pub fn record(&self) -> Record {
        self.record.clone()
    }

    /// Answers with its own arguments.
    pub fn echo(name: &str) -> FakeTool {
        FakeTool::new(name, |arguments, _| async move {
            Ok(ToolOutput::text(arguments.as_str()))
        })
    }

    /// Always answers `text`.
    pub fn fixed(name: &str, text: &str) -> FakeTool {
        let text = text.to_owned();
        FakeTool::new(name, move |_, _| {
            let text = text.clone();
            async move { Ok(ToolOutput::text(text)) }
        })
    }

    /// Fails with the same error every time.
    pub fn failing(name: &str, text: &str) -> FakeTool {
        let text = text.to_owned();
        FakeTool::new(name, move |_, _| {
            let error = ToolError::failed(text.clone());
            async move { Err(error) }
        })
    }

    /// Panics with `payload`.
    #[allow(clippy::panic)]
    pub fn panicking(name: &str, payload: &str) -> FakeTool {
        let payload = payload.to_owned();
        FakeTool::new(name, move |_, _| {
            let payload = payload.clone();
            async move { panic!("{payload}") }
        })
    }

    /// Takes `time`, deaf to cancellation, then answers `done`.
    pub fn slow(name: &str, time: Duration) -> FakeTool {
        FakeTool::new(name, move |_, _| async move {
            tokio::time::sleep(time).await;
            Ok(ToolOutput::text("done"))
        })
    }

    /// Waits for its cancellation and then fails as cancelled.
    pub fn cancellable(name: &str) -> FakeTool {
        FakeTool::new(name, |_, cx| async move {
            cx.cancel.cancelled().await;
            let text = "stopped when told";
            Err(ToolError::new(ToolErrorKind::Cancelled, text))
        })
    }

    /// Answers `lines` numbered lines of `width` bytes, line breaks included.
    pub fn big(name: &str, lines: usize, width: usize) -> FakeTool {
        let line = |number| format!("{number:0>digits$}\n", digits = width.max(2) - 1);
        FakeTool::fixed(name, &(0..lines).map(line).collect::<String>())
    }
}

impl Tool for FakeTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn footprint(&self, arguments: &Arguments) -> Footprint {
        match &self.footprint {
            Some(footprint) => footprint(arguments),
            None => Footprint::of(self.spec.effect),
        }
    }

    fn preview<'a>(
        &'a self,
        arguments: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Preview, ToolError>> {
        match &self.preview {
            Some(preview) => preview(arguments.clone()),
            None => Box::pin(async move { Ok(Preview::Text(arguments.as_str().to_owned())) }),
        }
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.record.push(arguments);
        (self.call)(arguments.clone(), cx.clone())
    }
}

/// A registry of these tools.
///
/// # Errors
/// When two have one name.
pub fn registry(tools: impl IntoIterator<Item = FakeTool>) -> Result<Arc<Registry>, RegistryError> {
    let mut registry = Registry::new();
    for tool in tools {
        registry.insert(Arc::new(tool))?;
    }
    Ok(Arc::new(registry))
}
