//! The spans of a run, as a tracing subscriber sees them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::sync::{Arc, Mutex};

use toolcrib_core::{CancellationToken, ModelErrorKind};
use toolcrib_testkit::scripted::Turn;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::*;

#[derive(Default)]
struct Seen {
    spans: Vec<(&'static str, Option<u64>, BTreeMap<&'static str, String>)>,
    entered: Vec<u64>,
    lines: Vec<BTreeMap<&'static str, String>>,
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

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Into(&mut fields));
        self.0.lock().unwrap().lines.push(fields);
    }

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut seen = self.0.lock().unwrap();
        let at = seen.entered.iter().rposition(|&id| id == span.into_u64());
        seen.entered.remove(at.unwrap());
    }
}

/// Drives one run under the watcher and gives what it saw.
fn watched(run: impl Future<Output = ()>) -> Watch {
    let watch = Watch::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    tracing::subscriber::with_default(watch.clone(), || runtime.block_on(run));
    watch
}

/// A span's fields without the quotes of their debug form.
fn fields(seen: &Seen, at: usize) -> BTreeMap<&'static str, String> {
    let unquoted = |text: &String| text.trim_matches('"').to_owned();
    let fields = seen.spans[at].2.iter();
    fields.map(|(name, text)| (*name, unquoted(text))).collect()
}

#[test]
fn p37_one_run_gives_invoke_agent_chat_and_execute_tool_with_their_attributes() {
    let secret = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
    let watch = watched(async {
        let first = Turn::calls([
            ("lookup", r#"{"q":"arguments are content"}"#),
            ("fail", "{}"),
            ("panic", "{}"),
            ("nowhere", "{}"),
        ]);
        let last = Turn::text(format!("The answer is content, and so is {secret}."));
        let model = model([first.using(100, 20, None), last.using(10, 2, None)]);
        let agent = agent(&model).name("helper").build().unwrap();
        let outcome = agent.run(&format!("My question, with {secret}?")).await;
        assert!(outcome.answer().is_some());
    });
    let seen = watch.0.lock().unwrap();
    let tree: Vec<_> = seen
        .spans
        .iter()
        .enumerate()
        .map(|(at, (_, parent, _))| {
            let parent = parent.map(|id| fields(&seen, id as usize - 1)["otel.name"].clone());
            (fields(&seen, at)["otel.name"].clone(), parent)
        })
        .collect();
    let top = Some("invoke_agent helper".to_owned());
    let of = |name: &str| (name.to_owned(), top.clone());
    assert_eq!(
        tree,
        [
            ("invoke_agent helper".to_owned(), None),
            of("chat memory"),
            of("execute_tool lookup"),
            of("execute_tool fail"),
            of("execute_tool panic"),
            of("chat memory"),
        ],
        "what never ran has no span"
    );
    // All there is: nothing said, asked or found is among it.
    let all: Vec<String> = (0..seen.spans.len())
        .map(|at| {
            let fields = fields(&seen, at);
            let fields = fields.iter().map(|(name, value)| format!("{name}={value}"));
            fields.collect::<Vec<_>>().join(" ")
        })
        .collect();
    insta::assert_snapshot!("spans", all.join("\n"));
    for content in ["content", "question", secret, "sk-proj", "boom"] {
        assert!(!format!("{:?}", seen.spans).contains(content), "{content}");
    }
}

#[test]
fn p37_failures_are_named_by_their_class_alone() {
    let ends = [
        (
            Turn::fail(ModelErrorKind::RateLimited, "wait, said the server"),
            "failed",
            "rate_limited",
        ),
        (
            Turn::fail(
                ModelErrorKind::ContextOverflow {
                    needed: Some(9),
                    allowed: Some(1),
                },
                "too long, said the server",
            ),
            "failed",
            "context_overflow",
        ),
    ];
    for (turn, run, chat) in ends {
        let watch = watched(async {
            let model = model([turn]);
            let outcome = agent(&model).build().unwrap().run("What?").await;
            assert!(outcome.answer().is_none());
        });
        let seen = watch.0.lock().unwrap();
        for (at, class) in [(0, run), (1, chat)] {
            let fields = fields(&seen, at);
            assert_eq!(fields["error.type"], class);
            assert_eq!(fields["otel.status_code"], "ERROR");
        }
        assert!(!format!("{:?}", seen.spans).contains("server"));
    }
}

#[test]
fn p37_a_cancelled_run_says_so_in_each_span_it_cuts_short() {
    let watch = watched(async {
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let model = model([Turn::Stall("It is ".into())]);
        let sink = move |event: &toolcrib_agent::Event| {
            if matches!(event, toolcrib_agent::Event::Text { .. }) {
                stop.cancel();
            }
        };
        let agent = agent(&model).cancel(cancel).sink(Arc::new(sink));
        let outcome = agent.build().unwrap().run("What?").await;
        assert!(outcome.answer().is_none());
    });
    let seen = watch.0.lock().unwrap();
    assert_eq!(fields(&seen, 0)["error.type"], "cancelled");
    assert_eq!(fields(&seen, 1)["error.type"], "cancelled");
}

#[test]
fn l32_a_turn_is_one_log_line_with_its_round_calls_size_and_time() {
    let secret = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
    let watch = watched(async {
        let model = model([look(), Turn::text(format!("It is {secret}.\nYes."))]);
        let agent = agent(&model).budget(toolcrib_agent::Budget::rounds(2));
        let outcome = agent.build().unwrap().run(secret).await;
        assert!(outcome.answer().is_some());
    });
    let seen = watch.0.lock().unwrap();
    let of = |message: &str| -> Vec<_> {
        let lines = seen.lines.iter();
        lines.filter(|line| line["message"] == message).collect()
    };
    let turns = of("model turn");
    assert_eq!(turns.len(), 2);
    let shown = |line: &BTreeMap<&'static str, String>| {
        ["round", "rounds", "last", "calls", "answer_bytes"].map(|name| line[name].clone())
    };
    assert_eq!(shown(turns[0]), ["1", "2", "false", "1", "0"]);
    assert_eq!(shown(turns[1]), ["2", "2", "true", "0", "22"]);
    assert!(turns.iter().all(|line| line["ms"].parse::<u64>().is_ok()));
    let calls = of("tool call");
    assert_eq!(calls.len(), 1);
    for name in ["arguments", "result", "bytes", "truncated", "ms"] {
        assert!(calls[0].contains_key(name), "{name}");
    }
    let all = format!("{:?}", seen.lines);
    assert!(!all.contains(secret) && !all.contains("\\n"), "{all}");
}
