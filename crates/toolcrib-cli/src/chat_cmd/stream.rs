//! What is shown of a run while it is under way.
//!
//! The model's text goes to standard output as it comes; what it does goes to
//! standard error, folded to one line a round, so that a pipe gets answers alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use toolcrib_agent::{Event, Sink};

use crate::terminal::{LiveLine, harmless, harmless_line, print, say};

/// Shows events.
pub(super) struct Stream {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: LiveLine,
    /// Text was printed, and no line break after it.
    open: bool,
    round: u32,
    done: BTreeMap<String, (u32, u32)>,
    /// One line a call of the whole answer.
    calls: Vec<String>,
    arguments: BTreeMap<String, String>,
    quiet: bool,
}

impl Stream {
    /// Shows text, and what is done unless `quiet`.
    pub(super) fn new(quiet: bool) -> Stream {
        Stream {
            state: Mutex::new(State {
                live: LiveLine::new(!quiet),
                quiet,
                ..State::default()
            }),
        }
    }

    /// Forgets the calls of the answer before.
    pub(super) fn begin(&self) {
        let mut state = self.lock();
        state.calls.clear();
        state.done.clear();
    }

    /// The calls of the last answer, one a line.
    pub(super) fn calls(&self) -> String {
        self.lock().calls.concat()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Stream {
    fn emit(&self, event: &Event) {
        self.lock().take(event);
    }
}

impl State {
    fn take(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { round, .. } => {
                self.fold();
                self.round = *round;
                self.live.show("thinking");
            }
            Event::Text { text } => {
                self.live.clear();
                print(&harmless(text));
                self.open = !text.ends_with('\n');
            }
            Event::Reasoning { .. } => self.live.show("thinking"),
            Event::CallAnnounced { name } => self.live.show(&format!("{name} …")),
            Event::Retrying {
                attempt,
                wait_ms,
                reason,
            } => self.say(&format!(
                "attempt {attempt} in {} s: {}",
                wait_ms.div_ceil(1000),
                harmless_line(reason, 120)
            )),
            Event::ToolCallStarted {
                call_id,
                name,
                arguments,
            } => {
                self.live.show(&format!("{name} {arguments}"));
                self.arguments
                    .insert(call_id.to_string(), harmless_line(arguments, 100));
            }
            Event::ToolCallFinished {
                call_id,
                name,
                is_error,
                excerpt,
                ms,
                ..
            } => {
                let counts = self.done.entry(name.to_string()).or_default();
                counts.0 += 1;
                counts.1 += u32::from(*is_error);
                let arguments = self.arguments.remove(&**call_id).unwrap_or_default();
                let mark = if *is_error { "!" } else { " " };
                self.calls.push(format!(
                    "{mark} {} {arguments} ({ms} ms): {}\n",
                    harmless_line(name, 64),
                    harmless_line(excerpt, 100)
                ));
            }
            Event::AnswerRejected { error, .. } => {
                self.say(&format!(
                    "that was not accepted, asking again: {}",
                    harmless_line(error, 160)
                ));
            }
            Event::RunFinished { .. } => self.fold(),
            _ => {}
        }
    }

    fn fold(&mut self) {
        if self.done.is_empty() {
            self.break_line();
            self.live.clear();
            return;
        }
        let mut line = format!("round {}:", self.round);
        for (i, (name, (calls, failed))) in std::mem::take(&mut self.done).into_iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(line, "{comma} {} ×{calls}", harmless_line(&name, 64));
            if failed > 0 {
                let _ = write!(line, " ({failed} failed)");
            }
        }
        self.say(&line);
    }

    fn say(&mut self, line: &str) {
        self.break_line();
        self.live.clear();
        if !self.quiet {
            say(&format!("  {line}"));
        }
    }

    fn break_line(&mut self) {
        if std::mem::take(&mut self.open) {
            print("\n");
        }
    }
}
