//! How the process ends, and what it says when it ends badly.

use std::fmt;
use std::process::ExitCode;

/// The exit status of a command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done, answered, or found.
    Success,
    /// Ran, but there is no answer or nothing was found.
    Failure,
    /// A budget ended the run without an answer.
    Budget,
    /// Answered, but the answer is that nothing was found.
    NothingFound,
    /// Interrupted by the user.
    Interrupted,
    /// Told to end by the signal of this number, and done with tidying up.
    Signalled(u8),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Success => 0,
            Status::Failure => 1,
            Status::Budget => 3,
            Status::NothingFound => 4,
            Status::Interrupted => 130,
            Status::Signalled(signal) => 128 + signal,
        })
    }
}

/// An error for the person at the terminal: one line, and what to do next.
#[derive(Debug)]
pub(crate) struct CliError {
    /// Wrong usage ends with 2, everything else with 1.
    usage: bool,
    message: String,
}

impl CliError {
    /// Something went wrong.
    pub(crate) fn failed(message: impl fmt::Display) -> CliError {
        CliError {
            usage: false,
            message: message.to_string(),
        }
    }

    /// The command line or a configuration file is wrong.
    pub(crate) fn usage(message: impl fmt::Display) -> CliError {
        CliError {
            usage: true,
            message: message.to_string(),
        }
    }

    /// The process's exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(if self.usage { 2 } else { 1 })
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
