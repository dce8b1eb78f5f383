//! The entry: which tools there are, what is allowed, what the limits are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    CancellationToken, Exposure, Hidden, Registry, SpillStore, Str, Tool, ToolCall, ToolError,
    ToolErrorKind, ToolName, ToolSpec, Visibility,
};

use crate::approve::{Approver, Grants};
use crate::arguments::{self, Read};
use crate::nearest::nearest;
use crate::prepared::{Prepared, Ready, short};
use crate::read_result::READ_RESULT;
use crate::supervise::panicked;
use crate::{CallOutcome, DispatchEvent, Redactor, schedule, validate};

/// Limits of every call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DispatchLimits {
    /// How long a call may run if its tool names no timeout. 120 s.
    pub default_timeout: Duration,
    /// How long a cancelled or late call may take to clean up before it is
    /// dropped. 500 ms.
    pub grace: Duration,
    /// Most characters of a listing, its marker not counted. 8,000.
    pub lookup_cap: usize,
    /// Most bytes of any other result, its marker not counted. 32 KiB.
    pub result_cap: usize,
    /// Most calls under way at once. 8; 0 counts as 1.
    pub max_parallel: usize,
}

impl Default for DispatchLimits {
    fn default() -> DispatchLimits {
        DispatchLimits {
            default_timeout: Duration::from_secs(120),
            grace: Duration::from_millis(500),
            lookup_cap: 8_000,
            result_cap: 32 * 1024,
            max_parallel: 8,
        }
    }
}

/// What a batch may be stopped by.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunContext {
    /// Stops running calls and starts no others.
    pub cancel: CancellationToken,
    /// Lets running calls end and starts no others. May be fired from the event
    /// callback: it takes effect before the next call starts.
    pub halt: CancellationToken,
    /// Fired by the dispatcher, together with `cancel`, when whoever was asked about a
    /// call ended the run.
    pub abandon: CancellationToken,
}

impl RunContext {
    /// Stops when `cancel` fires.
    pub fn new(cancel: CancellationToken) -> RunContext {
        RunContext {
            cancel,
            halt: CancellationToken::new(),
            abandon: CancellationToken::new(),
        }
    }
}

/// Turns calls into results. Cheap to clone.
#[derive(Clone)]
pub struct Dispatcher {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    registry: Arc<Registry>,
    visibility: Visibility,
    limits: DispatchLimits,
    redactor: Redactor,
    spill: Option<Arc<dyn SpillStore>>,
    approver: Option<Arc<dyn Approver>>,
    grants: Grants,
}

impl Dispatcher {
    /// A dispatcher over these tools. It knows the usual secrets and keeps no whole
    /// results.
    pub fn new(
        registry: Arc<Registry>,
        visibility: Visibility,
        limits: DispatchLimits,
    ) -> Dispatcher {
        Dispatcher {
            inner: Arc::new(Inner {
                registry,
                visibility,
                limits,
                redactor: Redactor::standard(),
                spill: None,
                approver: None,
                grants: Grants::default(),
            }),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Dispatcher {
        change(Arc::make_mut(&mut self.inner));
        self
    }

    /// The same over other tools.
    pub fn with_registry(self, registry: Arc<Registry>) -> Dispatcher {
        self.with(|inner| inner.registry = registry)
    }

    /// The same, knowing these secrets.
    pub fn with_redactor(self, redactor: Redactor) -> Dispatcher {
        self.with(|inner| inner.redactor = redactor)
    }

    /// The same, keeping the whole of each result that is cut. The model reads how to
    /// get at it if a tool [`READ_RESULT`](crate::READ_RESULT) is visible.
    pub fn with_spill(self, store: Arc<dyn SpillStore>) -> Dispatcher {
        self.with(|inner| inner.spill = Some(store))
    }

    /// The same, asking about calls that need a yes. Without anybody to ask they are
    /// denied at once.
    pub fn with_approver(self, approver: Arc<dyn Approver>) -> Dispatcher {
        self.with(|inner| inner.approver = Some(approver))
    }

    pub(crate) fn approver(&self) -> Option<&Arc<dyn Approver>> {
        self.inner.approver.as_ref()
    }

    pub(crate) fn grants(&self) -> &Grants {
        &self.inner.grants
    }

    /// What it takes for secrets.
    pub fn redactor(&self) -> &Redactor {
        &self.inner.redactor
    }

    /// Where whole results are kept.
    pub fn spill(&self) -> Option<&Arc<dyn SpillStore>> {
        self.inner.spill.as_ref()
    }

    /// The tools.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.inner.registry
    }

    /// What may be seen and done.
    pub fn visibility(&self) -> &Visibility {
        &self.inner.visibility
    }

    /// The limits.
    pub fn limits(&self) -> &DispatchLimits {
        &self.inner.limits
    }

    /// Settles one call: finds the tool, reads and repairs the arguments, and asks
    /// visibility and permission. Runs nothing.
    pub fn prepare(&self, call: &ToolCall) -> Prepared {
        let mut spec = None;
        match self.settle(call, &mut spec) {
            Ok(prepared) => prepared,
            Err(error) => Prepared::refused_of(call, spec, error),
        }
    }

    /// Runs a batch: one outcome per call, in call order, whatever happens.
    /// Consecutive reads run side by side; anything else alone. Needs a tokio
    /// runtime with its timer. Dropping the future stops the running calls.
    pub async fn run(
        &self,
        batch: &[Prepared],
        cx: &RunContext,
        on: &mut (dyn FnMut(DispatchEvent<'_>) + Send),
    ) -> Vec<CallOutcome> {
        schedule::run(self, batch, cx, on).await
    }

    /// `meant` gets the spec of the tool that is meant, once it is found.
    fn settle(
        &self,
        call: &ToolCall,
        meant: &mut Option<Arc<ToolSpec>>,
    ) -> Result<Prepared, ToolError> {
        let tool = self.find(&call.name)?;
        *meant = Some(tool.spec().clone());
        let Read {
            arguments: mut written,
            value,
            mut repairs,
        } = arguments::read(&call.name, &call.arguments)?;
        let (tool, arguments) = match tool.stands_for(&written)? {
            // What it stands for is found like any other tool: no call passes by it.
            Some(inner) => {
                let tool = self.find(inner.tool.spec().name.as_str())?;
                *meant = Some(tool.spec().clone());
                let restored = tool.spec().input_schema.restore(&inner.arguments);
                let given = restored.unwrap_or(inner.arguments);
                let mended = validate::check(tool.spec(), given.value(), &mut repairs);
                // The model wrote them without having seen the schema.
                let mended = mended.map_err(|error| validate::with_schema(error, tool.spec()))?;
                (tool, mended.unwrap_or(given))
            }
            None => {
                // The transcript keeps the names that the model was given.
                let restored = tool.spec().input_schema.restore(&written);
                let value = restored.as_ref().map_or(value, |own| own.value());
                let mended = validate::check(tool.spec(), value, &mut repairs)?;
                if let (Some(mended), None) = (&mended, &restored) {
                    written = mended.clone();
                }
                (tool, mended.or(restored).unwrap_or_else(|| written.clone()))
            }
        };
        // Code of the tool, which may panic.
        let footprint = catch_unwind(AssertUnwindSafe(|| tool.footprint(&arguments)))
            .map_err(|payload| panicked(tool.spec(), payload.as_ref(), self.redactor()))?;
        let ready = Ready {
            tool: tool.clone(),
            arguments,
            footprint,
        };
        let permission = self.inner.visibility.permission(tool.spec());
        Ok(Prepared::ready(call, repairs, permission, &written, ready))
    }

    fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let registry = &self.inner.registry;
        // What its source calls a tool comes to the name that stands for it here, and
        // nothing else does.
        let own = || registry.get(ToolName::from_foreign(name).as_str());
        let Some(tool) = registry.get(name).or_else(own) else {
            return Err(self.unknown(name));
        };
        let asked = name;
        let name = &tool.spec().name;
        let why = match self.inner.visibility.check(tool.spec()) {
            Ok(()) => return Ok(tool),
            // A model must not learn that it exists.
            Err(Hidden::ByExposure) => return Err(self.unknown(asked)),
            Err(Hidden::ByFilter) => "filtered out for this run",
            Err(Hidden::ByMode) => "not permitted in this mode, where nothing may be changed",
            Err(_) => "denied",
        };
        Err(ToolError::new(
            ToolErrorKind::Denied,
            format!("`{name}` is {why}; do without it."),
        ))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let visible = || {
            let specs = self.inner.registry.iter().map(|tool| tool.spec());
            specs
                .filter(|spec| self.inner.visibility.visible(spec))
                .map(|spec| spec.name.as_str())
        };
        // The loop's own tool that makes others known, if there is one.
        let loader = self.inner.registry.iter().map(|tool| tool.spec());
        let loader = loader
            .filter(|spec| spec.exposure == Exposure::Always && spec.activates)
            .find(|spec| self.inner.visibility.visible(spec));
        const NEAR: usize = 3;
        const ALL: usize = 8;
        let near = nearest(name, visible(), NEAR);
        let hint = if !near.is_empty() {
            format!("Did you mean {}?", list(&near, "or"))
        } else {
            let all: Vec<_> = visible().take(ALL + 1).collect();
            match all.len() {
                0 => "There are no tools in this run.".to_owned(),
                1..=ALL => format!("There is {}.", list(&all, "and")),
                _ => "Call only tools that you were given.".to_owned(),
            }
        };
        let search = loader.map_or_else(String::new, |spec| {
            format!(" Other tools are found with `{}`.", spec.name)
        });
        ToolError::new(
            ToolErrorKind::UnknownTool,
            format!("there is no tool `{}`. {hint}{search}", short(name)),
        )
    }

    /// Keeps the whole of a result and gives its handle; `None` where there is no place,
    /// or no visible tool to read it with.
    pub fn keep(&self, text: &str) -> Option<Str> {
        let store = self.inner.spill.as_ref()?;
        let reader = self.inner.registry.get(READ_RESULT)?;
        if !self.inner.visibility.visible(reader.spec()) {
            return None;
        }
        match store.put(text) {
            Ok(handle) => Some(handle),
            Err(error) => {
                tracing::warn!(%error, "a result that was cut is not kept whole");
                None
            }
        }
    }

    /// Whether a model may be shown the tool of that name.
    pub(crate) fn knows(&self, name: &ToolName) -> bool {
        let tool = self.inner.registry.get(name.as_str());
        tool.is_some_and(|tool| self.inner.visibility.visible(tool.spec()))
    }
}

fn list(names: &[&str], last: &str) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        Some((end, _)) => end.clone(),
        None => String::new(),
    }
}
