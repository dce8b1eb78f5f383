//! How a server is, for people.

use std::fmt;
use std::time::Duration;

use toolcrib_core::Str;

use crate::{Noise, Quarantined};

/// Where a server is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerState {
    /// Configured, but switched off.
    Disabled,
    /// Configured; nothing is known of what it offers.
    Configured,
    /// What it offers is known; it does not run.
    Known,
    /// On its way up.
    Starting,
    /// Up; nobody called it yet.
    Started,
    /// Up and called.
    Used,
    /// The last start or run failed; it is given a rest.
    Failed,
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerState::Disabled => "disabled",
            ServerState::Configured => "configured",
            ServerState::Known => "known",
            ServerState::Starting => "starting",
            ServerState::Started => "started",
            ServerState::Used => "used",
            ServerState::Failed => "failed",
        })
    }
}

/// What can be said of one server. Texts come from the server where not said
/// otherwise: show them escaped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name.
    pub name: Str,
    /// Where it is in its life.
    pub state: ServerState,
    /// Usable tools it is known to have.
    pub tools: usize,
    /// Tools set aside, with reasons.
    pub quarantined: Vec<Quarantined>,
    /// What was incomplete when its manifest was fetched.
    pub problems: Vec<String>,
    /// The agreed protocol revision; empty while nothing is known.
    pub protocol_version: Str,
    /// The last failure, by our words and the server's.
    pub error: Option<String>,
    /// The end of its standard error; of the last process when none runs.
    pub stderr: String,
    /// Lines on its standard output that were no messages, in this run.
    pub noise: Noise,
    /// How long the last start took, from the program to the end of the handshake.
    pub start_took: Option<Duration>,
    /// How long the first request waited for its server.
    pub first_use: Option<Duration>,
    /// Requests passed on, in this process.
    pub calls: u64,
    /// Its process, where it is one and runs.
    pub pid: Option<u32>,
}
