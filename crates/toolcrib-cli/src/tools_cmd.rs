//! `toolcrib tools`: what a model would see in its first turn, and what it costs.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{LoadRoute, Mode, Registry, ToolDialect, ToolSpec, Visibility};
use toolcrib_surface::{
    Inventory, Search, Shelf, Surface, SurfacePolicy, SurfaceReport, SurfaceState, ToolDoc,
    ToolIndex, ToolSearch,
};

use crate::args::ToolsArgs;
use crate::config::Places;
use crate::described::{self, Quarantined};
use crate::exit::{CliError, Status};
use crate::terminal::print;

/// Reports on the tools of these files, or searches them.
pub(crate) fn run(args: &ToolsArgs) -> Result<Status, CliError> {
    let mut registry = Registry::new();
    let quarantined = described::register(&mut registry, &args.tools)?;
    let registry = Arc::new(registry);
    if let Some(query) = &args.search {
        return search(&registry, query, args);
    }
    if let Some(dialect) = args.render {
        print(&rendered(&registry, &quarantined, dialect));
        return Ok(Status::Success);
    }
    let report = surface(Registry::clone(&registry)).report_by(&count);
    print(&if args.json {
        as_json(&report, &quarantined)
    } else {
        as_text(&report, &quarantined)
    });
    Ok(Status::Success)
}

/// What a model about which nothing is known sees in its first turn.
fn surface(mut registry: Registry) -> Surface {
    // A name that is taken stays with who has it; the report then says so.
    let _ = registry.insert(Arc::new(ToolSearch::new(Shelf::new())));
    let seen = Visibility {
        mode: Mode::Auto,
        ..Visibility::default()
    };
    let policy = SurfacePolicy::default();
    let inventory = Inventory::build(&registry, &seen, &policy, None, LoadRoute::Append);
    Surface::of(&Arc::new(inventory), &SurfaceState::default())
}

/// By whose count the tokens of a report are.
const COUNTED_BY: &str = if cfg!(feature = "o200k") {
    "o200k_base"
} else {
    "estimate"
};

/// Tokens of a definition as chat completions render it.
#[cfg(feature = "o200k")]
fn count(spec: &ToolSpec) -> usize {
    let definition = format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
        json!(spec.name),
        json!(spec.description),
        spec.fitted(ToolDialect::OpenAi).wire(),
    );
    let tokens: Vec<u32> = tiktoken_rs::o200k_base_singleton().encode_ordinary_as(&definition);
    tokens.len()
}

#[cfg(not(feature = "o200k"))]
fn count(spec: &ToolSpec) -> usize {
    toolcrib_surface::definition_tokens(spec)
}

fn search(registry: &Registry, query: &str, args: &ToolsArgs) -> Result<Status, CliError> {
    let encoder = crate::encoder::open(&args.encoder, None, &Places::detect())?;
    let docs: Vec<ToolDoc> = registry
        .iter()
        .map(|tool| ToolDoc::from(&**tool.spec()))
        .collect();
    let index = ToolIndex::build_encoded(&docs, encoder.as_ref());
    let found = index.search(
        query,
        &Search {
            limit: args.limit,
            ..Search::default()
        },
    );
    let line = |doc: usize| {
        let spec = registry.get(&docs[doc].name).map(|tool| tool.spec());
        let description = spec.map_or("", |spec| &*spec.description);
        let first: String = description
            .lines()
            .next()
            .unwrap_or("")
            .chars()
            .take(100)
            .collect();
        format!("{}  {first}", docs[doc].name)
    };
    if args.json {
        let names = |places: &[usize]| -> Vec<String> {
            places
                .iter()
                .map(|&doc| docs[doc].name.to_string())
                .collect()
        };
        let hits: Vec<usize> = found.hits.iter().map(|hit| hit.doc).collect();
        print(&format!(
            "{}\n",
            json!({
                "query": query,
                "found": names(&hits),
                "nothing_fits": found.nothing_fits,
                "nearest": names(&found.nearest),
            })
        ));
    } else if found.hits.is_empty() {
        let mut text = String::from("Nothing fits. The nearest are:\n");
        found
            .nearest
            .iter()
            .for_each(|&doc| text.push_str(&format!("  {}\n", line(doc))));
        print(&text);
    } else {
        let lines: Vec<String> = found.hits.iter().map(|hit| line(hit.doc) + "\n").collect();
        print(&lines.concat());
    }
    Ok(if found.hits.is_empty() {
        Status::Failure
    } else {
        Status::Success
    })
}

/// One definition a line as this API takes it, then what was left out.
fn rendered(registry: &Registry, quarantined: &[Quarantined], dialect: ToolDialect) -> String {
    let mut text = String::new();
    for tool in registry.iter() {
        let spec = tool.spec();
        let fitted = spec.fitted(dialect);
        let _ = writeln!(
            text,
            r#"{{"name":{},"tool":{},"strict":{},"notes":{},"schema":{}}}"#,
            json!(spec.name.on_wire(dialect)),
            json!(spec.name),
            fitted.strict(),
            json!(fitted.notes()),
            fitted.wire(),
        );
    }
    for q in quarantined {
        let line = json!({ "left_out": q.name, "reason": q.reason });
        let _ = writeln!(text, "{line}");
    }
    text
}

fn as_json(report: &SurfaceReport, quarantined: &[Quarantined]) -> String {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        let left_out = quarantined
            .iter()
            .map(|q| json!({ "name": q.name, "reason": q.reason }));
        map.insert("quarantined".to_owned(), left_out.collect());
        map.insert("counted_by".to_owned(), COUNTED_BY.into());
    }
    format!("{value}\n")
}

fn as_text(report: &SurfaceReport, quarantined: &[Quarantined]) -> String {
    let mut text = format!(
        "{} tools of {} sources, {} tokens when all are sent (counted by {})\n",
        report.tools,
        report.sources.len(),
        report.eager_tokens,
        COUNTED_BY.trim_end_matches("_base")
    );
    let _ = writeln!(
        text,
        "first turn: {} tokens, {} of them the loader with its catalogue",
        report.first_turn_tokens, report.loader_tokens
    );
    if let Some(reason) = &report.reason {
        let _ = writeln!(text, "nothing is deferred: {reason}");
    }
    for source in &report.sources {
        let _ = writeln!(
            text,
            "  {}: {} tools, {} tokens; {} deferred, {} sent ({} tokens)",
            source.source,
            source.tools,
            source.eager_tokens,
            source.deferred,
            source.sent,
            source.sent_tokens
        );
    }
    for q in quarantined {
        let _ = writeln!(text, "left out: {}: {}", q.name, q.reason);
    }
    text
}
