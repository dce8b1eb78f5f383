//! The `toolcrib` command.

mod approve;
mod args;
mod ask;
mod chat_cmd;
mod config;
mod described;
mod doctor_cmd;
mod encoder;
mod eval_ask;
mod eval_cmd;
mod exit;
mod graph_cmd;
mod import_cmd;
mod mcp_cmd;
mod mcp_servers;
mod model;
mod models_cmd;
mod panics;
mod place;
mod question;
mod report_cmd;
mod serve_cmd;
mod session_cmd;
mod signals;
mod snapshot;
mod telemetry;
mod terminal;
mod tools_cmd;
mod trust;
mod trust_cmd;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Cli, Command};
use exit::{CliError, Status};

fn main() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|arg| arg == mcp_cmd::GUARD)
    {
        toolcrib_mcp::end_groups_of(std::io::stdin().lock());
        return ExitCode::SUCCESS;
    }
    signals::outlive_file_limits();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(help) if !help.use_stderr() => return terminal::printed(help.print()),
        Err(error) => error.exit(),
    };
    let telemetry = telemetry::start();
    let code = match panics::guarded(|| run(&cli.command)) {
        Ok(status) => status.into(),
        Err(error) => {
            terminal::say(&format!("toolcrib: {error}"));
            error.code()
        }
    };
    telemetry.finish();
    code
}

fn run(command: &Command) -> Result<Status, CliError> {
    match command {
        Command::Ask(args) => ask::run(args),
        Command::Chat(args) => chat_cmd::run(args),
        Command::Graph(args) => graph_cmd::run(args),
        Command::Tools(args) => tools_cmd::run(args),
        Command::Eval(args) => eval_cmd::run(args),
        Command::Session(args) => session_cmd::run(args),
        Command::Report(args) => report_cmd::run(args),
        Command::Mcp(args) => mcp_cmd::run(args),
        Command::Import(args) => import_cmd::run(args),
        Command::Serve(args) => serve_cmd::run(args),
        Command::Models(args) => models_cmd::run(args),
        Command::Doctor(args) => doctor_cmd::run(args),
        Command::Trust(args) => trust_cmd::run(args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "toolcrib", &mut script);
            terminal::print(&String::from_utf8_lossy(&script));
            Ok(Status::Success)
        }
    }
}
