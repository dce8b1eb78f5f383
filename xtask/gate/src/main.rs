//! The program whose instructions the gate counts, and the server it talks to.
//!
//! It is a user's program: one tool, a model behind a chat endpoint, a budget, all
//! through the facade. The server is this program started a second time, so that
//! none of its work is counted. Not a benchmark of time; `xtask bench-gate` runs it.

use std::process::ExitCode;
use std::sync::Arc;

use toolcrib::models::{ChatModel, ChatOptions, Vendor};
use toolcrib::{Agent, Budget, Outcome, Registry, tool};

mod server;

type Error = Box<dyn std::error::Error>;

/// Looks up the entry of a key and says where it stands.
#[tool(effect = "read_only", result = "lookup")]
async fn lookup(
    /// The key to look up.
    key: String,
    /// Longest answer in lines; 20 when absent.
    limit: Option<u32>,
) -> String {
    let limit = limit.unwrap_or(20);
    format!("{key} is defined in src/lib.rs:12 and used in 3 places (at most {limit} lines)")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["serve"] => server::serve(),
        ["run", url, rounds] => rounds
            .parse()
            .map_err(Error::from)
            .and_then(|rounds| run(url, rounds)),
        _ => Err("usage: toolcrib-gate serve | run URL TOOL_ROUNDS".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("toolcrib-gate: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Asks once; the server wants `rounds` tool calls, one a round, before it answers.
fn run(url: &str, rounds: u32) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let options = ChatOptions::new(Vendor::Generic, server::model(rounds)).base_url(url);
    let mut registry = Registry::new();
    registry.insert(lookup::tool())?;
    let agent = Agent::builder(Arc::new(ChatModel::new(options)?))
        .system("You answer questions about a small program.")
        .tools(registry)
        .budget(Budget::rounds(rounds + 2))
        .build()?;
    match runtime.block_on(agent.run("Where is each key defined?")) {
        Outcome::Answered { answer, report } if report.calls == u64::from(rounds) => {
            if answer != server::ANSWER {
                return Err(format!("another answer than the server's: {answer}").into());
            }
        }
        other => return Err(format!("the run did not end as planned: {:?}", other.kind()).into()),
    }
    say(&format!("peak {} kB", peak_kb()?));
    Ok(())
}

/// Peak resident memory of this process.
fn peak_kb() -> Result<u64, Error> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("/proc/self/status has no VmHWM")?.parse()?)
}

#[allow(clippy::print_stdout)]
fn say(line: &str) {
    println!("{line}");
}
