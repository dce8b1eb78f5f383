//! The command line as typed: raw values, nothing resolved.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

/// Answers questions about a repository and shows what its code graph knows.
#[derive(Debug, Parser)]
#[command(
    name = "toolcrib",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer a question about a repository, with verified citations
    Ask(AskArgs),
    /// Look things up in the repository's code graph
    Graph(GraphArgs),
    /// Show what tools cost a model's prompt, or search them as a model would
    Tools(ToolsArgs),
    /// Measure the tool search, and the answers about repositories, on your own collections
    Eval(EvalArgs),
    /// Take over the MCP servers that other clients are configured with
    Import(ImportArgs),
    /// Serve all configured MCP servers to a client as one
    Serve(ServeArgs),
    /// List, show, go on with, branch, export, replay and remove sessions
    Session(SessionArgs),
    /// Show what sessions took: tokens, money, rounds, time, failures
    Report(ReportArgs),
    /// Let this repository's toolcrib.toml choose a model, after showing what it says
    Trust(TrustArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
}

#[derive(Clone, Debug, Args)]
#[command(after_long_help = ASK_HELP)]
pub(crate) struct AskArgs {
    /// The question; read from standard input when absent or `-`
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Vec<String>,

    /// Model to ask: builtin:navigator, openai:NAME, openrouter:NAME, ollama:NAME,
    /// http://HOST/v1#NAME or script:FILE
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// More tools, described as JSON Lines: name, description, parameters, and the
    /// command that runs each; may be given again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Vec<PathBuf>,

    /// Most rounds with the model [default: 20]
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,

    /// Most tokens of the whole run, prompts and replies together
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,

    /// Most US dollars of the whole run, as far as the provider reports them
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub(crate) max_cost: Option<f64>,

    /// Longest run, such as 90s, 5m or 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_time: Option<std::time::Duration>,

    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Print the answer and errors, nothing else
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Keep no session file
    #[arg(long)]
    pub(crate) no_session: bool,
}

const ASK_HELP: &str = "\
Without --model the configured one answers, else the built-in navigator, which needs no key and
no network: it looks things up and quotes what it finds.

Exit status: 0 answered, 1 failed, 2 wrong usage, 3 a budget ended the run without an answer,
130 interrupted.";

/// Which repository is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Directory to read; by default the repository around the current directory
    #[arg(long, short = 'C', global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer
    Text,
    /// One JSON object a line for each event, the answer last
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Tools as JSON Lines or tools/list answers
    #[arg(long, required = true, num_args = 1.., value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Vec<PathBuf>,
    /// Search the tools instead of counting them
    #[arg(long, value_name = "QUERY")]
    pub(crate) search: Option<String>,
    /// Most tools of a search
    #[arg(long, value_name = "N", default_value_t = 5, requires = "search")]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) what: EvalCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Rank the tools of a collection for each of its queries and score the ranking
    Search(EvalSearchArgs),
    /// Ask questions about repositories and count right places among the first citations
    Ask(EvalAskArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EvalAskArgs {
    /// The folder in which the repositories lie side by side
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) repos: PathBuf,
    /// Questions with the places that answer them, as JSON Lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) questions: PathBuf,
    /// How many of an answer's citations count
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) first: usize,
    /// Model to ask, as for `ask`
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Print one JSON object a question, and one with the sum
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvalSearchArgs {
    /// Tools as JSON Lines or tools/list answers
    #[arg(long, required = true, num_args = 1.., value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Vec<PathBuf>,
    /// Queries with the names of the right tools, as JSON Lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) queries: PathBuf,
    /// Queries that no tool serves, as JSON Lines
    #[arg(long, num_args = 1.., value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) negatives: Vec<PathBuf>,
    /// Rankers to run beside each other: toolcrib, substring, bm25, bm25-stem or all
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "toolcrib"
    )]
    pub(crate) ranker: Vec<String>,
    /// Only this half of the queries, split by a hash of their ids
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) half: Option<u8>,
    /// Write the first ranker's answers to this file, as JSON Lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) run: Option<PathBuf>,
    /// Print one JSON object a ranker
    #[arg(long)]
    pub(crate) json: bool,
}

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
    /// Hold back tools whose definitions changed since they were first seen
    #[arg(long)]
    pub(crate) pin: bool,
    /// Take what this server lists now for approved
    #[arg(long, value_name = "SERVER")]
    pub(crate) approve: Vec<String>,
    /// Most bytes of one result; the rest is read piece by piece
    #[arg(long, value_name = "BYTES", default_value_t = 65_536)]
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

Exit status: 0 the client is done, 1 failed, 2 wrong usage, 130 interrupted.";

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
    #[arg(long, value_name = "N", conflicts_with = "sessions")]
    pub(crate) newest: Option<usize>,
    /// Print one JSON object a session, and one with the sum
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Trust without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(subcommand)]
    pub(crate) lookup: GraphCommand,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// What was read, what was left out and why, and how call sites ended
    Stats,
    /// Find symbols by name, word or text
    Search {
        /// Name, part of a name, or words
        query: String,
        /// Only symbols of this kind, such as function or struct
        #[arg(long)]
        kind: Option<String>,
        /// Only below this path
        #[arg(long)]
        path: Option<String>,
        /// How many to show, at most 50 [default: 20]
        #[arg(long)]
        limit: Option<u32>,
        /// How many results to skip, as a printed follow-up says
        #[arg(long)]
        offset: Option<usize>,
    },
    /// Show a symbol, file or directory with its members and edges, or a path `a -> b`
    Explore {
        /// Qualified name, path, or `a -> b`
        query: String,
        /// How many results to skip, as a printed follow-up says
        #[arg(long)]
        offset: Option<usize>,
    },
    /// Show who uses a symbol and what it uses
    Neighbors {
        /// Name or qualified name
        name: String,
        /// in, out or both [default: both]
        #[arg(long)]
        direction: Option<String>,
        /// Only edges of these kinds, such as calls
        #[arg(long, value_delimiter = ',')]
        kinds: Vec<String>,
        /// How many results to skip, as a printed follow-up says
        #[arg(long)]
        offset: Option<usize>,
    },
    /// Print numbered lines of a file
    Source {
        /// Path, or PATH:LINE, or PATH:START-END
        path: String,
        /// First line [default: 1]
        start: Option<u32>,
        /// Last line [default: 40 after the first]
        end: Option<u32>,
    },
    /// List files with language and size
    Files {
        /// Only below this path
        path: Option<String>,
        /// Only paths that match, such as `**/*.rs`
        #[arg(long)]
        glob: Option<String>,
        /// How many results to skip, as a printed follow-up says
        #[arg(long)]
        offset: Option<usize>,
    },
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 => Ok(usd),
        _ => Err("expected an amount above 0, such as 0.50".into()),
    }
}

/// Reads `90`, `90s`, `1.5m`, `2h` and `500ms`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<std::time::Duration, String> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let wanted = || "expected a time above 0, such as 90s, 5m, 1h or 30d".to_owned();
    let factor = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wanted()),
    };
    let seconds = number.trim().parse::<f64>().ok().map(|n| n * factor);
    seconds
        .and_then(|s| std::time::Duration::try_from_secs_f64(s).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;
    use std::time::Duration;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_take_units_and_refuse_nonsense() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "0", "-1s", "5 parsecs", "1e300h", "nan"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
