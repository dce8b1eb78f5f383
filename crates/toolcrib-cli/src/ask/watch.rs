//! What is shown while a run is under way.

use std::sync::{Mutex, PoisonError};

use toolcrib_agent::{Event, OutcomeKind, Sink};
use toolcrib_core::{CancellationToken, Cost, Usage};

use crate::args::Format;
use crate::terminal::{LiveLine, write};

/// Feeds the live line, or prints events as JSON lines. The last event is held
/// back: what is known of the answer's citations comes before it.
pub(super) struct Watch {
    format: Format,
    /// Ends the run when nobody reads its events any more.
    stop: CancellationToken,
    state: Mutex<State>,
}

struct State {
    live: LiveLine,
    round: String,
    doing: String,
    usage: Usage,
    cost: Option<Cost>,
    last: Option<Event>,
    lost: Option<std::io::Error>,
}

impl Watch {
    /// Shows events in this format, on this line. `stop` is fired when an event cannot
    /// be written.
    pub(super) fn new(format: Format, live: LiveLine, stop: CancellationToken) -> Watch {
        let state = State {
            live,
            round: String::new(),
            doing: String::new(),
            usage: Usage::default(),
            cost: None,
            last: None,
            lost: None,
        };
        Watch {
            format,
            stop,
            state: Mutex::new(state),
        }
    }

    /// Removes the live line and hands over the last event.
    ///
    /// # Errors
    /// An event could not be written, and the run was ended for it.
    pub(super) fn finish(&self) -> std::io::Result<Option<Event>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.live.clear();
        match state.lost.take() {
            Some(error) => Err(error),
            None => Ok(state.last.take()),
        }
    }
}

impl Sink for Watch {
    fn emit(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Event::RunFinished { .. } = event {
            state.last = Some(event.clone());
        } else if self.format == Format::Json {
            if state.lost.is_none()
                && let Err(error) = write(&format!("{}\n", event.to_json()))
            {
                state.lost = Some(error);
                self.stop.cancel();
            }
        } else {
            state.take(event);
        }
    }
}

impl State {
    fn take(&mut self, event: &Event) {
        match event {
            Event::TurnStarted {
                round,
                rounds,
                final_round,
                ..
            } => {
                self.round = format!("round {round} of {rounds}");
                self.doing = if *final_round {
                    "asking for the answer"
                } else {
                    "thinking"
                }
                .into();
            }
            Event::Text { .. } => self.doing = "writing".into(),
            Event::Reasoning { .. } => self.doing = "thinking".into(),
            Event::CallAnnounced { name } => self.doing = format!("{name} …"),
            Event::Retrying {
                attempt,
                wait_ms,
                reason,
            } => {
                self.doing = format!(
                    "attempt {attempt} in {} s: {reason}",
                    wait_ms.div_ceil(1000)
                );
            }
            Event::ApprovalNeeded { .. } => {
                // The question stands where the line was.
                self.live.clear();
                return;
            }
            Event::ToolCallStarted {
                name, arguments, ..
            } => {
                self.doing = format!("{name} {}", about(arguments));
            }
            Event::TurnFinished { usage, cost, .. } => {
                self.usage.add(usage);
                if let Some(cost) = cost {
                    let sum = self.cost.map_or(0.0, |c| c.usd) + cost.usd;
                    self.cost = Some(Cost { usd: sum, ..*cost });
                }
            }
            _ => return,
        }
        let line = [
            Some(self.round.clone()),
            Some(self.doing.clone()),
            spent(&self.usage, self.cost.as_ref()),
        ];
        let line: Vec<String> = line
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        self.live.show(&line.join(" · "));
    }
}

/// The last event of a run that was interrupted before it began.
pub(super) fn cancelled() -> Event {
    Event::RunFinished {
        outcome: OutcomeKind::Cancelled,
        answer: None,
        reason: Some("interrupted while the repository was read".into()),
        limit: None,
        rounds: 0,
        extra_attempts: 0,
        calls: 0,
        usage: Usage::default(),
        cost: None,
        ms: 0,
    }
}

/// Tokens and money as far as known: `1,234 tokens · $0.0031`.
pub(crate) fn spent(usage: &Usage, cost: Option<&Cost>) -> Option<String> {
    let tokens = match (usage.input, usage.output) {
        (None, None) => None,
        (input, output) => Some(format!(
            "{} tokens",
            thousands(input.unwrap_or(0) + output.unwrap_or(0))
        )),
    };
    let cost = cost.map(|cost| {
        let about = if cost.estimated {
            "about "
        } else if cost.partial {
            "at least "
        } else {
            ""
        };
        format!("{about}${:.4}", cost.usd)
    });
    match (tokens, cost) {
        (Some(tokens), Some(cost)) => Some(format!("{tokens} · {cost}")),
        (tokens, cost) => tokens.or(cost),
    }
}

/// `1234567` as `1,234,567`.
pub(super) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The first text among the arguments: what a lookup is about.
fn about(arguments: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    let first = value
        .as_object()
        .and_then(|map| map.values().find_map(|v| v.as_str()));
    first.unwrap_or("").chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_readable_and_unknown_stays_unsaid() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(spent(&Usage::default(), None), None);
        let usage = Usage {
            input: Some(1200),
            output: Some(34),
            ..Usage::default()
        };
        let cost = Cost {
            usd: 0.0031,
            partial: true,
            estimated: false,
        };
        assert_eq!(
            spent(&usage, Some(&cost)).as_deref(),
            Some("1,234 tokens · at least $0.0031")
        );
    }

    #[test]
    fn the_line_says_what_a_lookup_is_about() {
        assert_eq!(about(r#"{"limit":3,"query":"cap"}"#), "cap");
        assert_eq!(about("{"), "");
    }
}
