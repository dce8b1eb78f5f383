//! What all programs of the comparison share: the tools, the question, the report.
//!
//! Each crate has a program of its own, so that none pays for the others' code. All
//! do the same: stream chat completions from one endpoint, run the tool that is asked
//! for, one call a round, and check what came of it.

use std::error::Error as StdError;

/// Whatever went wrong.
pub type Error = Box<dyn StdError + Send + Sync>;

/// The system prompt.
pub const SYSTEM: &str = "You answer questions about a small program.";
/// What is asked.
pub const QUESTION: &str = "Where is each key defined?";
/// What the endpoint says at last; every program holds its run against it.
pub const ANSWER: &str = "Every key is defined in `src/lib.rs:12`.";
/// The tool that is called.
pub const LOOKUP: &str = "lookup";
/// What the model reads about it.
pub const LOOKUP_DESCRIPTION: &str = "Looks up the entry of a key and says where it stands.";
/// Its arguments.
pub const LOOKUP_SCHEMA: &str = r#"{"type":"object","properties":{"key":{"type":"string","description":"The key to look up."},"limit":{"type":"integer","description":"Longest answer in lines; 20 when absent."}},"required":["key"]}"#;

/// What [`LOOKUP`] takes.
#[derive(serde::Deserialize, serde::Serialize)]
pub struct LookupArguments {
    /// The key to look up.
    pub key: String,
    /// Longest answer in lines; 20 when absent.
    pub limit: Option<u32>,
}

/// What [`LOOKUP`] does.
pub fn lookup(arguments: &LookupArguments) -> String {
    let limit = arguments.limit.unwrap_or(20);
    let key = &arguments.key;
    format!("{key} is defined in src/lib.rs:12 and used in 3 places (at most {limit} lines)")
}

/// A tool that is registered and not called.
pub struct Filler {
    /// Unique.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// Its JSON Schema.
    pub schema: String,
}

/// The tool of this number, about 90 tokens with its schema.
pub fn filler(number: usize) -> Filler {
    const VERBS: [&str; 10] = [
        "create", "close", "list", "search", "update", "delete", "export", "import", "share",
        "watch",
    ];
    const THINGS: [&str; 10] = [
        "invoice", "calendar", "ticket", "branch", "contact", "playlist", "shipment", "sensor",
        "document", "payment",
    ];
    let (verb, thing) = (VERBS[number % 10], THINGS[number / 10 % 10]);
    Filler {
        name: format!("{thing}s{}__{verb}_{thing}_{number}", number / 50),
        description: format!(
            "{verb} one {thing} of the account, or several at once where a filter is given. \
             Returns the {thing} with its history."
        ),
        schema: format!(
            r#"{{"type":"object","properties":{{"{thing}_id":{{"type":"string","description":"Which {thing} is meant."}},"filter":{{"type":"string","description":"Only what fits this expression."}},"limit":{{"type":"integer","minimum":1,"maximum":100}}}},"required":["{thing}_id"]}}"#
        ),
    }
}

/// What a program is told: `URL MODEL ROUNDS TOOLS [WORD…]`.
pub struct Task {
    /// Base address of the endpoint, ending in `/v1/`.
    pub url: String,
    /// Name of the model, which says how many calls it makes.
    pub model: String,
    /// Tool calls, one a round, before the answer.
    pub rounds: usize,
    /// Tools that are registered, [`LOOKUP`] among them.
    pub tools: usize,
    /// More words, which only some programs know.
    pub words: Vec<String>,
}

impl Task {
    /// Whether this word was said.
    pub fn says(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }
}

/// Reads the command line, runs `work` on one thread, holds what it returns (the calls
/// made and the answer) against what is due, and prints the peak of memory.
pub fn program<F: Future<Output = Result<(usize, String), Error>>>(
    work: impl FnOnce(Task) -> F,
) -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("too few arguments");
    let task = Task {
        url: next()?,
        model: next()?,
        rounds: next()?.parse()?,
        tools: next()?.parse()?,
        words: arguments.collect(),
    };
    let rounds = task.rounds;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (calls, answer) = runtime.block_on(work(task))?;
    if calls != rounds || answer != ANSWER {
        return Err(format!("{calls} calls of {rounds}, and the answer {answer:?}").into());
    }
    println!("peak {} kB", peak_kb()?);
    Ok(())
}

/// Peak resident memory of this process.
fn peak_kb() -> Result<u64, Error> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("/proc/self/status has no VmHWM")?.parse()?)
}
