//! `toolcrib eval`: what the tool search is worth, on anybody's collection.

use std::fmt::Write as _;

use toolcrib_eval::{
    RankerKind, SearchEval, evaluate, load_negatives, load_queries, load_tools, render_json,
    render_text,
};

use crate::args::{EvalArgs, EvalCommand, EvalSearchArgs};
use crate::config::Places;
use crate::exit::{CliError, Status};
use crate::terminal::{print, warn};

/// Runs one evaluation and prints it.
pub(crate) fn run(args: &EvalArgs) -> Result<Status, CliError> {
    match &args.what {
        EvalCommand::Search(args) => search(args),
        EvalCommand::Ask(args) => crate::eval_ask::run(args),
    }
}

fn search(args: &EvalSearchArgs) -> Result<Status, CliError> {
    let mut rankers = Vec::new();
    for name in &args.ranker {
        rankers.extend(RankerKind::parse(name).map_err(CliError::usage)?);
    }
    let files = load_tools(&args.tools).map_err(CliError::failed)?;
    files.warnings.iter().for_each(|warning| warn(warning));
    let tools = files.tools;
    let queries = load_queries(&args.queries, &tools).map_err(CliError::failed)?;
    let mut negatives = Vec::new();
    for path in &args.negatives {
        negatives.extend(load_negatives(path).map_err(CliError::failed)?);
    }
    let encoder = crate::encoder::open(&args.encoder, None, &Places::detect())?;
    let reports = evaluate(&SearchEval {
        tools: &tools,
        queries: &queries,
        negatives: (!args.negatives.is_empty()).then_some(&negatives),
        half: args.half,
        rankers,
        encoder,
    });
    if let (Some(path), Some(report)) = (&args.run, reports.first()) {
        let mut text = String::new();
        for line in &report.run {
            let line = serde_json::to_string(line).map_err(CliError::failed)?;
            let _ = writeln!(text, "{line}");
        }
        std::fs::write(path, text).map_err(|error| {
            CliError::failed(format!("cannot write {}: {error}", path.display()))
        })?;
    }
    print(&if args.json {
        render_json(&reports)
    } else {
        render_text(&reports)
    });
    Ok(Status::Success)
}
