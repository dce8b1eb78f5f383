//! The commands about sessions, as typed.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::{AskArgs, PlaceArgs, duration};

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    pub(crate) what: SessionCommand,
}

#[derive(Debug, Subcommand)]
#[command(after_help = "A SESSION is its name, the beginning or end of it, `last`, or a file.")]
pub(crate) enum SessionCommand {
    /// The newest sessions
    List(SessionListArgs),
    /// What a session says, row by row
    Show(SessionShowArgs),
    /// Ask on in a session
    Resume(SessionResumeArgs),
    /// Begin a session with a copy of another's rows
    Fork(SessionForkArgs),
    /// Write a session as a readable document or as JSON
    Export(SessionExportArgs),
    /// Run a session's recorded calls again, without a model, and compare the results
    Replay(SessionReplayArgs),
    /// Remove sessions
    Rm(SessionRmArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SessionListArgs {
    /// How many, the newest first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print one JSON object a session
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionShowArgs {
    /// Name, part of one, `last`, or a file
    #[arg(value_name = "SESSION", default_value = "last")]
    pub(crate) session: String,
    /// Whole texts instead of their beginnings
    #[arg(long)]
    pub(crate) full: bool,
    /// Print the rows as they stand in the file
    #[arg(long, conflicts_with = "full")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionResumeArgs {
    /// Name, part of one, `last`, or a file
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionForkArgs {
    /// Name, part of one, `last`, or a file
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// The last line to copy, as `session show` numbers them; all unless given
    #[arg(long, value_name = "LINE")]
    pub(crate) at: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A document for people
    Markdown,
    /// One JSON array of all rows
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct SessionExportArgs {
    /// Name, part of one, `last`, or a file
    #[arg(value_name = "SESSION", default_value = "last")]
    pub(crate) session: String,
    /// What to write
    #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
    pub(crate) format: ExportFormat,
    /// Write to this file, which must not exist, instead of standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SessionReplayArgs {
    /// Name, part of one, `last`, or a file
    #[arg(value_name = "SESSION", default_value = "last")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// More tools, described as JSON Lines, as for `ask`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Vec<PathBuf>,
    /// Run tools that change something, too
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// Print one JSON object a call
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionRmArgs {
    /// Names, parts of names, or files
    #[arg(value_name = "SESSION", required_unless_present = "older_than")]
    pub(crate) sessions: Vec<String>,
    /// All sessions that began longer ago than this, such as 30d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) older_than: Option<std::time::Duration>,
    /// Remove without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Names, parts of names, `last`, or files
    #[arg(value_name = "SESSION", default_value = "last")]
    pub(crate) sessions: Vec<String>,
    /// The newest N sessions instead
    #[arg(long, value_name = "N", conflicts_with = "sessions", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) newest: Option<usize>,
    /// Print one JSON object a session, and one with the sum
    #[arg(long)]
    pub(crate) json: bool,
}
