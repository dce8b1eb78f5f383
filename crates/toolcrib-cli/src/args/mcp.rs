//! The command line of `toolcrib mcp`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::PlaceArgs;

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Read the servers of these files alone: an `mcpServers` object as JSON, or
    /// [mcp.servers.NAME] as TOML; may be given again
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(subcommand)]
    pub(crate) what: McpCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List the servers and what is known of them, without starting any
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Start servers, ask what they offer and say what is wrong with them
    Check {
        /// Names of servers; all when absent
        #[arg(value_name = "SERVER")]
        servers: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List tools; a server that is not known yet is asked
    Tools {
        /// Name of a server; all when absent
        #[arg(value_name = "SERVER")]
        server: Option<String>,
        /// Print one JSON object a line with the definition as received
        #[arg(long)]
        json: bool,
    },
    /// Call one tool
    Call {
        /// The tool: SERVER__TOOL as listed, or SERVER/TOOL
        #[arg(value_name = "TOOL")]
        tool: String,
        /// A JSON object, or `-` to read it from standard input
        #[arg(value_name = "ARGUMENTS")]
        arguments: Option<String>,
        /// Print the result as received
        #[arg(long)]
        json: bool,
    },
    /// Log in to a server that wants it
    Login {
        /// Name of the server
        #[arg(value_name = "SERVER")]
        server: String,
        /// How long to wait for it, such as 90s or 10m
        #[arg(long, value_name = "TIME", default_value = "10m", value_parser = super::duration)]
        timeout: std::time::Duration,
    },
}
