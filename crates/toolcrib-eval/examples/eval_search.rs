//! Runs the search evaluation from the command line.
//!
//! `eval_search --tools FILE... --queries FILE [--negatives FILE] [--ranker NAME]...
//! [--half 0|1] [--run FILE] [--json] [--encoder DIR] [--cache DIR]`; the last two with the
//! feature `encoder`.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use toolcrib_eval::{
    RankerKind, SearchEval, evaluate, load_negatives, load_queries, load_tools, render_json,
    render_text,
};
use toolcrib_surface::SharedEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut tools: Vec<PathBuf> = Vec::new();
    let (mut queries, mut negatives, mut run) = (None, Vec::new(), None);
    let (mut rankers, mut half, mut json) = (Vec::new(), None, false);
    let (mut model, mut cache) = (None, None);
    let mut flag = String::new();
    for argument in std::env::args().skip(1) {
        if argument.starts_with("--") {
            json |= argument == "--json";
            flag = argument;
            continue;
        }
        match &*flag {
            "--tools" => tools.push(argument.into()),
            "--queries" => queries = Some(PathBuf::from(argument)),
            "--negatives" => negatives.push(PathBuf::from(argument)),
            "--ranker" => rankers.extend(RankerKind::parse(&argument)?),
            "--half" => half = Some(argument.parse()?),
            "--run" => run = Some(PathBuf::from(argument)),
            "--encoder" => model = Some(PathBuf::from(argument)),
            "--cache" => cache = Some(PathBuf::from(argument)),
            other => return Err(format!("{other} {argument}: not understood").into()),
        }
    }
    if rankers.is_empty() {
        rankers.push(RankerKind::Toolcrib);
    }
    let tools = load_tools(&tools)?.tools;
    let queries = load_queries(&queries.ok_or("--queries is missing")?, &tools)?;
    let mut refusable = Vec::new();
    for path in &negatives {
        refusable.extend(load_negatives(path)?);
    }
    let reports = evaluate(&SearchEval {
        tools: &tools,
        queries: &queries,
        negatives: (!negatives.is_empty()).then_some(&refusable),
        half,
        rankers,
        encoder: encoder(model, cache)?,
    });
    if let (Some(path), Some(report)) = (run, reports.first()) {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        for line in &report.run {
            serde_json::to_writer(&mut file, line)?;
            file.write_all(b"\n")?;
        }
    }
    let text = if json {
        render_json(&reports)
    } else {
        render_text(&reports)
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

#[cfg(feature = "encoder")]
fn encoder(
    model: Option<PathBuf>,
    cache: Option<PathBuf>,
) -> Result<Option<SharedEncoder>, Box<dyn Error>> {
    let Some(model) = model else { return Ok(None) };
    let encoder = toolcrib_encoder::Encoder::open(&model)?;
    let kept = toolcrib_encoder::VectorCache::new(encoder, cache.as_deref());
    Ok(Some(SharedEncoder::new(kept)))
}

#[cfg(not(feature = "encoder"))]
fn encoder(
    model: Option<PathBuf>,
    _: Option<PathBuf>,
) -> Result<Option<SharedEncoder>, Box<dyn Error>> {
    match model {
        Some(_) => Err("--encoder: build with --features encoder".into()),
        None => Ok(None),
    }
}
