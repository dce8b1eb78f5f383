//! A dispatcher over fake tools, and a record of what it showed.

use std::time::Duration;

use toolcrib_core::{Content, ToolCall, Visibility};
use toolcrib_dispatch::{
    CallOutcome, DispatchEvent, DispatchLimits, Dispatcher, Prepared, RunContext,
};
use toolcrib_testkit::tools::{FakeTool, registry};

pub(crate) fn dispatcher<const N: usize>(tools: [FakeTool; N]) -> Dispatcher {
    dispatcher_with(tools, Visibility::default())
}

pub(crate) fn dispatcher_with<const N: usize>(
    tools: [FakeTool; N],
    visibility: Visibility,
) -> Dispatcher {
    let registry = registry(tools).unwrap();
    Dispatcher::new(registry, visibility, DispatchLimits::default())
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        extra: None,
    }
}

/// Calls named `0`, `1`, ... without arguments.
pub(crate) fn calls(names: &[&str]) -> Vec<ToolCall> {
    let numbered = names.iter().enumerate();
    numbered
        .map(|(i, name)| call(&i.to_string(), name, "{}"))
        .collect()
}

pub(crate) fn text(outcome: &CallOutcome) -> String {
    let pieces = outcome.result.content.iter().map(|piece| match piece {
        Content::Text(text) => text.to_string(),
        _ => "<image>".to_owned(),
    });
    pieces.collect()
}

pub(crate) fn line(event: DispatchEvent<'_>) -> String {
    match event {
        DispatchEvent::ApprovalNeeded { call, preview, .. } => {
            format!("asked {} {preview:?}", call.id)
        }
        DispatchEvent::ApprovalGiven { call, decision, .. } => {
            format!("answered {} {decision:?}", call.id)
        }
        DispatchEvent::Started { call, .. } => format!("started {}", call.id),
        DispatchEvent::Progress { call, text, .. } => format!("progress {} {text}", call.id),
        DispatchEvent::Finished { call, .. } => format!("finished {}", call.id),
        _ => unreachable!("no other events"),
    }
}

/// Outcomes and events of a batch on a paused clock.
pub(crate) fn run(dispatcher: &Dispatcher, calls: &[ToolCall]) -> (Vec<CallOutcome>, Vec<String>) {
    run_in(dispatcher, calls, &RunContext::default())
}

pub(crate) fn run_in(
    dispatcher: &Dispatcher,
    calls: &[ToolCall],
    cx: &RunContext,
) -> (Vec<CallOutcome>, Vec<String>) {
    let batch: Vec<Prepared> = calls.iter().map(|call| dispatcher.prepare(call)).collect();
    let mut events = Vec::new();
    let outcomes = on_paused_clock(async {
        dispatcher
            .run(&batch, cx, &mut |event| events.push(line(event)))
            .await
    });
    assert_paired(&batch, &outcomes);
    (outcomes, events)
}

/// Time passes only when every task waits, and then at once.
pub(crate) fn on_paused_clock<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

/// Exactly one result per call, in call order.
pub(crate) fn assert_paired(batch: &[Prepared], outcomes: &[CallOutcome]) {
    let asked: Vec<_> = batch.iter().map(|p| (&p.call.id, &p.call.name)).collect();
    let got: Vec<_> = outcomes
        .iter()
        .map(|o| (&o.result.call_id, &o.result.name))
        .collect();
    assert_eq!(asked, got);
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// The events that `work` logs, each as `name=value` pairs.
pub(crate) fn logged(work: impl FnOnce()) -> Vec<String> {
    use std::fmt::{Debug, Write as _};
    use std::sync::{Arc, Mutex};
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    struct Line(String);
    impl Visit for Line {
        fn record_str(&mut self, field: &Field, value: &str) {
            write!(self.0, " {field}={value}").unwrap();
        }
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            write!(self.0, " {field}={value:?}").unwrap();
        }
    }
    struct Lines(Arc<Mutex<Vec<String>>>);
    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut line = Line(String::new());
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }
    let lines = Arc::new(Mutex::new(Vec::new()));
    tracing::subscriber::with_default(Lines(lines.clone()), work);
    let lines = lines.lock().unwrap();
    lines.clone()
}
