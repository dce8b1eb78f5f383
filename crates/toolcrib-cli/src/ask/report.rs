//! What is printed when a run is over.

use std::path::Path;

use toolcrib_agent::{Event, Outcome};
use toolcrib_core::Finish;

use super::cited::Cited;
use super::watch::spent;
use crate::args::{AskArgs, Format};
use crate::terminal::{Dress, count, say, write};

/// The answer to standard output, everything else to standard error.
///
/// # Errors
/// The answer could not be written.
pub(super) fn outcome(
    args: &AskArgs,
    outcome: &Outcome<Cited>,
    last: Option<Event>,
    dress: &Dress,
    session: Option<&Path>,
) -> std::io::Result<()> {
    match args.format {
        Format::Json => {
            if let Some(cited) = outcome.answer() {
                write(&format!("{}\n", cited.json()))?;
            }
            if let Some(event) = last {
                write(&format!("{}\n", event.to_json()))?;
            }
        }
        Format::Text => {
            if let Some(cited) = outcome.answer() {
                write(&format!("{}\n", cited.dressed(dress).trim_end()))?;
            }
        }
    }
    if outcome.answer().is_some() && outcome.report().finish == Some(Finish::Length) {
        say("toolcrib: the answer was cut off at the model's output limit");
    }
    if let Some(reason) = outcome.reason() {
        say(&format!("toolcrib: {reason}"));
    }
    if !args.quiet && args.format == Format::Text {
        summary(outcome, session);
    }
    Ok(())
}

fn summary(outcome: &Outcome<Cited>, session: Option<&Path>) {
    let report = outcome.report();
    let mut parts = vec![
        count(report.rounds, "round"),
        count(report.calls, "lookup"),
        format!("{:.1} s", report.elapsed.as_secs_f64()),
    ];
    parts.extend(spent(&report.usage, report.cost.as_ref()));
    parts.extend(session.map(|path| format!("session {}", path.display())));
    say(&parts.join(" · "));
}
