//! The spans of a run, as a tracing subscriber sees them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use toolcrib_testkit::scripted::Turn;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::*;

#[derive(Default)]
struct Seen {
    spans: Vec<(&'static str, Option<u64>, BTreeMap<&'static str, String>)>,
    entered: Vec<u64>,
}

#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Seen>>);

struct Into<'a>(&'a mut BTreeMap<&'static str, String>);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Watch {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("toolcrib")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut seen = self.0.lock().unwrap();
        let parent = match span.parent() {
            Some(parent) => Some(parent.into_u64()),
            None => seen.entered.last().copied(),
        };
        let mut fields = BTreeMap::new();
        span.record(&mut Into(&mut fields));
        seen.spans.push((span.metadata().name(), parent, fields));
        Id::from_u64(seen.spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut seen = self.0.lock().unwrap();
        let at = span.into_u64() as usize - 1;
        values.record(&mut Into(&mut seen.spans[at].2));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut seen = self.0.lock().unwrap();
        let at = seen.entered.iter().rposition(|&id| id == span.into_u64());
        seen.entered.remove(at.unwrap());
    }
}

#[test]
fn a_run_has_spans_for_itself_its_turns_and_its_calls() {
    let watch = Watch::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    tracing::subscriber::with_default(watch.clone(), || {
        let secret = Turn::calls([("lookup", r#"{"q":"a secret"}"#)]);
        let model = model([secret, Turn::text("Done.").using(10, 2, None)]);
        let agent = agent(&model).build().unwrap();
        let outcome = runtime.block_on(agent.run("What?"));
        assert_eq!(outcome.answer().unwrap(), "Done.");
    });
    let seen = watch.0.lock().unwrap();
    let tree: Vec<_> = seen
        .spans
        .iter()
        .map(|(name, parent, _)| {
            let parent = parent.map(|id| seen.spans[id as usize - 1].0);
            (*name, parent)
        })
        .collect();
    let top = Some("invoke_agent");
    assert_eq!(
        tree,
        [
            ("invoke_agent", None),
            ("chat", top),
            ("execute_tool", top),
            ("chat", top)
        ]
    );
    let chat = &seen.spans[3].2;
    assert_eq!(chat["otel.name"], "\"chat script:memory\"");
    assert_eq!(chat["gen_ai.usage.input_tokens"], "10");
    assert_eq!(seen.spans[0].2["gen_ai.usage.output_tokens"], "2");
    assert!(!format!("{:?}", seen.spans).contains("secret"));
}
