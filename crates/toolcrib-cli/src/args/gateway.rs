//! What `toolcrib import` and `toolcrib serve` take.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum, ValueHint};

use super::{EncoderArgs, PlaceArgs};

#[derive(Debug, Args)]
#[command(after_long_help = IMPORT_HELP)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Only these clients: claude-code, claude-desktop, codex, cursor, gemini, opencode,
    /// vscode, windsurf, zed
    #[arg(long, value_name = "CLIENT", value_delimiter = ',')]
    pub(crate) client: Vec<String>,
    /// Replace the entries in the clients' files by one for the gateway
    #[arg(long)]
    pub(crate) apply: bool,
    /// Put back every file of the last import as it was
    #[arg(long, conflicts_with_all = ["apply", "check", "dry_run", "client"])]
    pub(crate) undo: bool,
    /// Start each server to see whether it works and what its tools cost
    #[arg(long)]
    pub(crate) check: bool,
    /// Only show what would be done
    #[arg(long, conflicts_with = "apply")]
    pub(crate) dry_run: bool,
}

const IMPORT_HELP: &str = "\
The user's servers go to the user's config.toml, a project's to its toolcrib.toml. A secret stays in
the file where it is: the gateway's entry there carries it. Backups are kept for --undo.

Exit status: 0 done, 1 failed, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_long_help = SERVE_HELP)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Serve over HTTP at this address, such as 127.0.0.1:8383, instead of the standard streams
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<String>,
    /// What a client sees of the servers' tools
    #[arg(long, value_enum, default_value_t = ServeMode::Search)]
    pub(crate) mode: ServeMode,
    /// Add the lookups of this repository's code graph
    #[arg(long)]
    pub(crate) graph: bool,
    /// Read the servers from this file alone, toolcrib.toml or a client's mcp.json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Hold back tools whose definitions changed since they were first seen
    #[arg(long)]
    pub(crate) pin: bool,
    /// Take what this server lists now for approved
    #[arg(long, value_name = "SERVER")]
    pub(crate) approve: Vec<String>,
    /// Most bytes of one result; the rest is read piece by piece
    #[arg(long, value_name = "BYTES", default_value_t = 65_536, value_parser = RangedU64ValueParser::<usize>::new().range(1024..))]
    pub(crate) max_result: usize,
    /// File with the bearer token that HTTP clients must show; else $TOOLCRIB_TOKEN
    #[arg(long, value_name = "FILE", requires = "http", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,
    /// Take requests of pages from this origin too
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Serve requests for this host name too
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServeMode {
    /// tool_search and call_tool, the same list for ever
    Search,
    /// tool_search; what it finds joins the list of tools
    ListChanged,
    /// Every tool under a name of its own
    Eager,
    /// Every tool as its server lists it
    Transparent,
}

const SERVE_HELP: &str = "\
Servers come from the user's config.toml and from the repository's toolcrib.toml once it is trusted
(`toolcrib trust`); `toolcrib import` writes both. A server starts when it is first needed.

Exit status: 0 the client is done, 1 failed, 2 wrong usage, 130 interrupted, 143 told to end.";
