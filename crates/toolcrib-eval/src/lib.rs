//! Measuring a tool search, and what answers about repositories cite.
//!
//! Reads a collection of tools and of queries with known answers, lets rankers
//! answer them, and reports the shares found, refusals, latency and index size.
//! Baselines run beside the product's own ranking so that a ratio can be read
//! off. It measures; it tunes nothing.

mod baseline;
mod error;
mod load;
mod metrics;
mod places;
mod ranker;
mod report;
mod search;
mod tool_file;

pub use error::EvalError;
pub use load::{Query, ToolEntry, ToolFiles, load_negatives, load_queries, load_tools};
pub use metrics::{Scores, score};
pub use places::{Place, Question, load_questions};
pub use ranker::{Answer, Ranker, RankerKind};
pub use report::{render_json, render_text};
pub use search::{Report, RunLine, SearchEval, evaluate};
