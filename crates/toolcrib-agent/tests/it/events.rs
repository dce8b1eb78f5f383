//! The stream of events of a whole run.

use std::sync::Arc;

use toolcrib_agent::{Budget, Event, JsonLines};
use toolcrib_core::{Block, Finish};
use toolcrib_testkit::scripted::Turn;

use crate::support::*;

/// The JSON lines of a run, times set to 0.
fn lines(events: &[Event]) -> String {
    let line = |event: &Event| {
        let mut event = event.clone();
        match &mut event {
            Event::TurnFinished { ms, .. }
            | Event::ToolCallFinished { ms, .. }
            | Event::RunFinished { ms, .. } => *ms = 0,
            Event::SurfaceChanged { fingerprint, .. } => {
                for part in [
                    &mut fingerprint.system,
                    &mut fingerprint.tools,
                    &mut fingerprint.schemas,
                ] {
                    assert_eq!(part.len(), 64);
                    *part = "…".into();
                }
            }
            _ => {}
        }
        event.to_json()
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn l31_a_run_as_json_lines() {
    let thinking = Block::Reasoning {
        text: "hm".into(),
        raw: None,
    };
    let model = model([
        Turn::blocks([thinking, call("1", "lookup", "{}")], Finish::ToolCalls).using(
            9,
            2,
            Some(0.5),
        ),
        Turn::text("<tool_call>"),
        Turn::blocks([text("It is a."), call("2", "lookup", "{}")], Finish::Stop),
    ]);
    let kept = Kept::default();
    let agent = agent(&model)
        .budget(Budget::rounds(3))
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    let outcome = agent.run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "It is a.");
    insta::assert_snapshot!("run", lines(&kept.all()));
    for event in kept.all() {
        let read: Event = serde_json::from_str(&event.to_json()).unwrap();
        assert_eq!(read, event);
    }
}

#[tokio::test]
async fn l31_json_lines_are_one_event_a_line_and_outlive_a_closed_pipe() {
    #[derive(Clone, Default)]
    struct Out(Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Out {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let out = Out::default();
    let sinks: [Arc<dyn toolcrib_agent::Sink>; 2] = [
        Arc::new(JsonLines::new(out.clone())),
        Arc::new(JsonLines::new(Closed)),
    ];
    for sink in sinks {
        let model = model([look(), Turn::text("two\nlines")]);
        let agent = agent(&model).sink(sink).build().unwrap();
        assert_eq!(agent.run("What?").await.answer().unwrap(), "two\nlines");
    }
    let written = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let events: Vec<Event> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(matches!(events.first(), Some(Event::RunStarted { .. })));
    assert!(matches!(events.last(), Some(Event::RunFinished { .. })));
}
