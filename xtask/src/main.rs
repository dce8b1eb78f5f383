//! Rules and gates of this repository as code.
//!
//! `tidy` holds the written rules against the files; `bench-gate` counts the
//! instructions of the loop. Both run in `.ci/run` and neither is shipped.

use std::process::ExitCode;

mod gate;
mod repo;
mod tidy;

const USAGE: &str = "\
usage: cargo run -p xtask -- COMMAND

  tidy         check floors, manifests, sizes, module heads, texts and links
  bench-gate   count the instructions of a round of the loop (needs valgrind)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match (arguments.next().as_deref(), arguments.next()) {
        (Some("tidy"), None) => tidy(),
        (Some("bench-gate"), None) => gate::run(&repo::root()),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}

fn tidy() -> Result<(), String> {
    let report = tidy::check(&repo::Repo::open(&repo::root())?);
    for warning in &report.warnings {
        say(&format!("warning: {warning}"));
    }
    for error in &report.errors {
        say(&format!("error: {error}"));
    }
    match report.errors.len() {
        0 => {
            say(&format!("tidy: {} warnings", report.warnings.len()));
            Ok(())
        }
        found => Err(format!("tidy: {found} errors")),
    }
}

#[allow(clippy::print_stdout)]
fn say(line: &str) {
    println!("{line}");
}
