//! The command line as typed: raw values, nothing resolved.

mod gateway;
mod mcp;
mod session;

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use toolcrib_core::ToolDialect;

pub(crate) use gateway::{ImportArgs, ServeArgs, ServeMode};
pub(crate) use mcp::{McpArgs, McpCommand};
pub(crate) use session::{
    ExportFormat, ReportArgs, SessionArgs, SessionCommand, SessionExportArgs, SessionForkArgs,
    SessionListArgs, SessionReplayArgs, SessionResumeArgs, SessionRmArgs, SessionShowArgs,
};

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
    /// Talk about a repository: one question after the other, on the same loop
    Chat(ChatArgs),
    /// Look things up in the repository's code graph
    Graph(GraphArgs),
    /// Show what tools cost a model's prompt, or search them as a model would
    Tools(ToolsArgs),
    /// Measure the tool search, and the answers about repositories, on your own collections
    Eval(EvalArgs),
    /// List, show, go on with, branch, export, replay and remove sessions
    Session(SessionArgs),
    /// Show what sessions took: tokens, money, rounds, time, failures
    Report(ReportArgs),
    /// Show, check and call the configured MCP servers
    Mcp(McpArgs),
    /// Take over the MCP servers that other clients are configured with
    Import(ImportArgs),
    /// Serve all configured MCP servers to a client as one
    Serve(ServeArgs),
    /// List the models that can be asked, and why one would be
    Models(ModelsArgs),
    /// Check keys, endpoints, clock and proxy, and say what to do
    Doctor(DoctorArgs),
    /// Let this repository's toolcrib.toml choose a model, and its files name MCP servers,
    /// after showing what they say
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

    /// Model to ask: builtin:navigator, PROVIDER:NAME as `toolcrib models` lists them,
    /// http://HOST/v1#NAME or script:FILE
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// More tools, described as JSON Lines: name, description, parameters, and the
    /// command that runs each; may be given again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools: Vec<PathBuf>,

    /// What tools may do: plan reads only, ask confirms every change, auto confirms what
    /// may destroy something, yolo confirms nothing [default: plan, auto with --tools]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) mode: Option<ModeArg>,

    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,

    /// Allow these tools unasked: a name, a pattern such as `git_*`, or source:NAME; may
    /// be given again. Without a terminal, nothing else that needs a confirmation runs
    #[arg(long, value_name = "TOOL")]
    pub(crate) allow: Vec<String>,

    /// Most rounds with the model [default: 20]
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,

    /// Most tokens of the whole run, prompts and replies together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
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

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

const ASK_HELP: &str = "\
Without --model the configured one answers, else the built-in navigator, which needs no key and
no network: it looks things up and quotes what it finds.

Exit status: 0 answered, 1 failed, 2 wrong usage, 3 a budget ended the run without an answer,
4 the answer is that nothing was found, 130 interrupted.";

/// Which repository is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Directory to read; by default the repository around the current directory
    #[arg(long, short = 'C', global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

/// What ranks tools beside words and the built-in table.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EncoderArgs {
    /// Rank tools with this sentence encoder too: the directory of a MiniLM-class model with
    /// config.json, vocab.txt and model.safetensors. Nothing is downloaded
    #[arg(
        long,
        value_name = "DIR",
        env = "TOOLCRIB_ENCODER",
        hide_env_values = true,
        value_hint = ValueHint::DirPath,
        value_parser = clap::builder::OsStringValueParser::new().map(PathBuf::from)
    )]
    pub(crate) encoder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Read-only tools alone
    Plan,
    /// Whatever changes something asks first
    Ask,
    /// Whatever may destroy something asks first
    Auto,
    /// Nothing asks
    Yolo,
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
    #[arg(long, value_name = "N", default_value_t = 5, requires = "search", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub(crate) limit: usize,
    /// Show what this model would see, named as for `ask`; no key is needed
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["search", "render"])]
    pub(crate) model: Option<String>,
    /// Also show which tools cost most, and money where the model's price is known
    #[arg(long, conflicts_with_all = ["search", "render"])]
    pub(crate) cost: bool,
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
    /// Print each tool's definition as an API takes it, one JSON object a line: plain, open_ai,
    /// open_ai_strict, anthropic, gemini or local
    #[arg(long, value_name = "API", value_parser = dialect, conflicts_with = "search")]
    pub(crate) render: Option<ToolDialect>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn dialect(word: &str) -> Result<ToolDialect, String> {
    let same = |dialect: &ToolDialect| dialect.as_str() == word.replace('-', "_");
    ToolDialect::ALL.into_iter().find(same).ok_or_else(|| {
        let known: Vec<&str> = ToolDialect::ALL.iter().map(|d| d.as_str()).collect();
        format!("expected one of {}", known.join(", "))
    })
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
    #[command(flatten)]
    pub(crate) encoder: EncoderArgs,
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
pub(crate) struct ModelsArgs {
    /// Explain what is known of this model instead of listing all
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Ask remote providers too, for which a key is set; by default only servers on
    /// this machine are asked
    #[arg(long)]
    pub(crate) check: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Also let this model call a tiny tool, which may cost a little
    #[arg(long)]
    pub(crate) probe: bool,
    /// Model to check instead of the configured one
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Longest wait in seconds for one endpoint, and for a sign of the probed model
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
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
        #[arg(long, value_parser = path_text())]
        path: Option<String>,
        /// How many to show, 1 to 50 [default: 20]
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
        /// incoming, outgoing or both [default: both]
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
        #[arg(value_parser = path_text())]
        path: String,
        /// First line [default: 1]
        start: Option<u32>,
        /// Last line [default: 40 after the first]
        end: Option<u32>,
    },
    /// List files with language and size
    Files {
        /// Only below this path
        #[arg(value_parser = path_text())]
        path: Option<String>,
        /// Only paths that match, such as `**/*.rs`
        #[arg(long)]
        glob: Option<String>,
        /// How many results to skip, as a printed follow-up says
        #[arg(long)]
        offset: Option<usize>,
    },
}

/// A path of any bytes, as the graph writes it.
fn path_text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|path| toolcrib_graph::path_text(&path))
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
