use std::path::Path;
use toolcrib_agent::{Event, Outcome};
use crate::args::AskArgs;
use crate::terminal::{Dress, say};
use super::cited::Cited;
pub(super) fn print(_args: &AskArgs, outcome: &Outcome<Cited>, _f: Option<Event>, _dress: &Dress, _s: Option<&Path>) {
    match outcome { Outcome::Answered { answer, report } => { crate::terminal::print(&answer.text); crate::terminal::print("\n"); say(&format!("{} rounds {} calls {:?}", report.rounds, report.calls, report.elapsed)); }, o => say(&format!("{:?}", o.reason())) }
}
