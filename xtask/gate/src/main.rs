//! The program whose instructions the gate counts, and the server it talks to.
//!
//! It is a user's program: some tools, a model behind a chat endpoint, a budget, all
//! through the facade. The server is this program started a second time, so that
//! none of its work is counted. Not a benchmark of time; `xtask bench-gate` runs it.

use std::process::ExitCode;
use std::sync::Arc;

use toolcrib::models::{ChatModel, ChatOptions, Vendor};
use toolcrib::surface::SurfacePolicy;
use toolcrib::{Agent, Budget, Outcome, Registry, tool};
use toolcrib_gate::{ANSWER, Script};

mod fillers;

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

/// What a run has to do with.
struct Setting<'a> {
    url: &'a str,
    /// Tool calls, one a round, before the answer.
    rounds: u32,
    /// Tools in the registry.
    registered: usize,
    /// How many of them are sent; the rest is deferred.
    exposed: usize,
    /// The prompt is read and the first call is a search.
    searching: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["serve"] => serve(),
        ["run", url, rounds, registered, exposed, ref rest @ ..] if rest.len() < 2 => {
            setting(url, [rounds, registered, exposed], rest.first().copied()).and_then(run)
        }
        _ => Err(
            "usage: toolcrib-gate serve | run URL TOOL_ROUNDS REGISTERED EXPOSED [search]".into(),
        ),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("toolcrib-gate: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn setting<'a>(
    url: &'a str,
    [rounds, registered, exposed]: [&str; 3],
    search: Option<&str>,
) -> Result<Setting<'a>, Error> {
    Ok(Setting {
        url,
        rounds: rounds.parse()?,
        registered: registered.parse()?,
        exposed: exposed.parse()?,
        searching: search.is_some(),
    })
}

/// Prints the server's address and serves until standard input ends, so that it cannot
/// outlive whoever started it.
fn serve() -> Result<(), Error> {
    say(&toolcrib_gate::start()?);
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

/// Asks once; the server wants `rounds` tool calls, one a round, before it answers.
fn run(setting: Setting<'_>) -> Result<(), Error> {
    let rounds = setting.rounds;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let script = Script {
        calls: rounds as usize,
        searching: setting.searching,
        ..Script::default()
    };
    let options = ChatOptions::new(Vendor::Generic, script.model()).base_url(setting.url);
    let mut registry = Registry::new();
    registry.insert(lookup::tool())?;
    for number in 1..setting.registered {
        registry.insert(fillers::tool(number, number >= setting.exposed)?)?;
    }
    let mut agent = Agent::builder(Arc::new(ChatModel::new(options)?))
        .system("You answer questions about a small program.")
        .tools(registry)
        .budget(Budget::rounds(rounds + 2));
    if setting.registered > setting.exposed {
        agent = agent.surface(SurfacePolicy {
            reading: setting.searching,
            ..SurfacePolicy::default()
        });
    }
    let agent = agent.build()?;
    match runtime.block_on(agent.run("Where is each key defined?")) {
        Outcome::Answered { answer, report } if report.calls == u64::from(rounds) => {
            if answer != ANSWER {
                return Err(format!("another answer than the server's: {answer}").into());
            }
            if setting.searching && report.surface.loaded().is_empty() {
                return Err("the search loaded nothing".into());
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
