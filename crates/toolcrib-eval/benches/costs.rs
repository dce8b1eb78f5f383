//! Everything that a tool search costs, as one Markdown table: what building its
//! index, asking it and planning a turn take beside plain BM25 in the same run, and
//! how many tokens its answers and a first turn have.
//!
//! `TOOLCRIB_DATA` names a directory of collections, each with `tools.jsonl` and
//! perhaps `queries.jsonl`; without it a collection of made-up tools is measured. The
//! rates are wall time, so they mean something on an idle machine alone; processor
//! time, sizes and tokens repeat anywhere.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use toolcrib_core::{
    Arguments, Content, Exposure, LoadRoute, Registry, Schema, SourceId, Str, ToolContext,
    ToolDialect, ToolName, ToolSpec, Visibility,
};
use toolcrib_eval::{RankerKind, ToolEntry, load_tools};
use toolcrib_surface::{
    Inventory, Planner, Search, Shelf, Surface, SurfacePolicy, SurfaceState, ToolDoc, ToolIndex,
    ToolSearch,
};
use toolcrib_testkit::tools::FakeTool;

/// Most queries of a collection that are asked.
const QUERIES: usize = 500;
/// How often an index is built, and how often a plan is asked for.
const BUILDS: usize = 9;
const PLANS: usize = 2_000;

struct Collection {
    name: String,
    tools: Vec<ToolEntry>,
    queries: Vec<String>,
}

fn main() {
    let collections = match std::env::var_os("TOOLCRIB_DATA") {
        Some(dir) => read(&PathBuf::from(dir)),
        None => vec![made_up()],
    };
    println!(
        "| collection | tools | index, ms | of all processors | plain BM25, ms | index, MB | query, µs p50 | p99 | plain BM25, µs p50 | plan unchanged, µs | answer, tokens mean | max | first turn, tokens |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for collection in &collections {
        println!("{}", row(collection));
    }
}

fn row(collection: &Collection) -> String {
    let Collection {
        name,
        tools,
        queries,
    } = collection;
    let docs: Vec<ToolDoc> = tools.iter().map(ToolEntry::doc).collect();
    // The table's own first use is not the index's.
    let index = ToolIndex::build(&docs);
    let begun = processor_ms();
    let build = median((0..BUILDS).map(|_| ms(|| drop(ToolIndex::build(&docs)))));
    let build_all = (processor_ms() - begun) / BUILDS as f64;
    let build_plain = median((0..BUILDS).map(|_| ms(|| drop(RankerKind::Bm25.build(tools, None)))));
    let plain = RankerKind::Bm25.build(tools, None);
    let mut asked: Vec<f64> = queries
        .iter()
        .map(|query| 1e3 * ms(|| drop(index.search(query, &Search::default()))))
        .collect();
    let asked_plain = median(
        queries
            .iter()
            .map(|query| 1e3 * ms(|| drop(plain.rank(query, 5)))),
    );
    asked.sort_by(f64::total_cmp);
    let desk = Desk::of(tools);
    let (plan, first_turn) = (desk.plan_unchanged(), desk.first_turn());
    let answers: Vec<usize> = queries.iter().map(|query| desk.answer(query)).collect();
    let mean = answers.iter().sum::<usize>() as f64 / answers.len().max(1) as f64;
    format!(
        "| {name} | {} | {build:.0} | {build_all:.0} | {build_plain:.0} | {:.1} | {:.0} | {:.0} | {asked_plain:.0} | {plan:.2} | {mean:.0} | {} | {first_turn} |",
        tools.len(),
        index.bytes() as f64 / 1e6,
        part(&asked, 0.5),
        part(&asked, 0.99),
        answers.iter().max().unwrap_or(&0),
    )
}

fn ms(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e3
}

/// Time that all threads of this process have worked so far.
fn processor_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    part(&values, 0.5)
}

fn part(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * share).round() as usize)
        .copied()
        .unwrap_or(f64::NAN)
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton()
        .encode_ordinary_as::<u32>(text)
        .len()
}

fn planner() -> Planner {
    Planner::new(SurfacePolicy::default(), None, LoadRoute::Append)
}

/// A model's tools, all deferred, and the loader.
struct Desk {
    registry: Registry,
    visibility: Visibility,
    inventory: Arc<Inventory>,
    shelf: Shelf,
}

impl Desk {
    fn of(tools: &[ToolEntry]) -> Desk {
        let mut registry = Registry::new();
        let shelf = Shelf::new();
        let loader = ToolSearch::new(shelf.clone());
        registry.insert(Arc::new(loader)).unwrap();
        for tool in tools {
            let schema = tool.schema.as_deref().map(Schema::parse_raw);
            let schema = schema.and_then(Result::ok).unwrap_or_else(Schema::empty);
            let name = ToolName::from_foreign(&tool.name);
            let fake = FakeTool::echo("x").with_spec(|_| {
                ToolSpec::new(name, &*tool.description, schema)
                    .source(SourceId::new(&*tool.source))
                    .exposure(Exposure::Deferred)
            });
            // Of two names that come to one, the first stays.
            let _ = registry.insert(Arc::new(fake));
        }
        let visibility = Visibility::default();
        Desk {
            inventory: planner().inventory(&registry, &visibility),
            registry,
            visibility,
            shelf,
        }
    }

    /// Microseconds of a turn in which nothing changed.
    fn plan_unchanged(&self) -> f64 {
        let (mut planner, state) = (planner(), SurfaceState::default());
        let system = Str::from("You help.");
        let mut plan = || drop(planner.plan(&self.registry, &self.visibility, &state, &system));
        plan();
        median((0..PLANS).map(|_| 1e3 * ms(&mut plan)))
    }

    /// Tokens of the definitions that are sent with no prompt read.
    fn first_turn(&self) -> usize {
        let surface = Surface::of(&self.inventory, &SurfaceState::default());
        let count = |spec: &ToolSpec| {
            tokens(&format!(
                r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
                serde_json::json!(spec.name),
                serde_json::json!(spec.description),
                spec.fitted(ToolDialect::OpenAi).wire(),
            ))
        };
        surface.report_by(&count).first_turn_tokens
    }

    /// Tokens of what a model reads for this query.
    fn answer(&self, query: &str) -> usize {
        self.shelf.show(&self.inventory, &SurfaceState::default());
        let arguments = serde_json::json!({ "query": query }).to_string();
        let arguments = Arguments::parse(arguments).unwrap();
        let tool = self.registry.get("tool_search").unwrap();
        let cx = ToolContext::detached("c");
        let mut call = tool.call(&arguments, &cx);
        let mut waiting = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(Ok(output)) = call.as_mut().poll(&mut waiting) else {
            return 0;
        };
        let texts = output.content.iter().map(|content| match content {
            Content::Text(text) => tokens(text),
            _ => 0,
        });
        texts.sum()
    }
}

fn read(dir: &Path) -> Vec<Collection> {
    let mut collections = Vec::new();
    let entries = std::fs::read_dir(dir).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut all_queries = Vec::new();
    for path in paths {
        let Ok(files) = load_tools(&[path.join("tools.jsonl")]) else {
            continue;
        };
        let queries = queries(&path.join("queries.jsonl"));
        all_queries.extend(every(&queries, 60));
        collections.push(Collection {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            tools: files.tools,
            queries: every(&queries, QUERIES),
        });
    }
    // What has no queries of its own is asked the others'.
    for collection in collections.iter_mut().filter(|c| c.queries.is_empty()) {
        collection.queries = every(&all_queries, QUERIES);
    }
    collections
}

/// At most so many, spread over the whole.
fn every(queries: &[String], most: usize) -> Vec<String> {
    let step = queries.len().div_ceil(most).max(1);
    queries.iter().step_by(step).cloned().collect()
}

fn queries(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let query = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["query"].as_str().unwrap().to_owned()
    };
    lines.map(query).collect()
}

/// As many tools as the largest collection has, of the same size.
fn made_up() -> Collection {
    const VERBS: [&str; 12] = [
        "create",
        "close",
        "list",
        "search",
        "update",
        "delete",
        "export",
        "import",
        "share",
        "watch",
        "approve",
        "translate",
    ];
    const THINGS: [&str; 16] = [
        "invoice",
        "calendar",
        "ticket",
        "branch",
        "contact",
        "playlist",
        "shipment",
        "sensor",
        "document",
        "payment",
        "recipe",
        "flight",
        "dataset",
        "webhook",
        "certificate",
        "survey",
    ];
    const MANNERS: [&str; 9] = [
        "with its history",
        "for one customer",
        "since a given date",
        "as a table",
        "with everyone who may see it",
        "in another language",
        "before it expires",
        "from an older version",
        "and says what went wrong",
    ];
    let pick = |list: &[&'static str], seed: usize| list[seed % list.len()];
    let tool = |n: usize| {
        let (verb, thing) = (pick(&VERBS, n), pick(&THINGS, n / 7));
        let (manner, other) = (pick(&MANNERS, n / 3), pick(&THINGS, n / 11 + 5));
        let source = format!("{thing}_{}", n % 748);
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                format!("{thing}_id"): {"type": "string", "description": format!("Which {thing} is meant.")},
                format!("{other}_filter"): {"type": "string", "description": format!("Only those that belong to this {other}.")},
                "limit": {"type": "integer", "description": "Most results."},
            },
            "required": [format!("{thing}_id")],
        });
        ToolEntry {
            name: format!("{source}__{verb}_{thing}_{n}"),
            title: String::new(),
            description: format!(
                "{verb} one {thing} {manner}. It can be narrowed to a {other}, and several are taken at once where a filter is given."
            ),
            source,
            source_description: String::new(),
            schema: serde_json::value::to_raw_value(&schema).ok(),
            command: None,
            read_only: true,
            destructive: false,
        }
    };
    let query = |n: usize| {
        let (verb, thing) = (pick(&VERBS, n * 5), pick(&THINGS, n * 3));
        format!("I need to {verb} the {thing} {}", pick(&MANNERS, n))
    };
    Collection {
        name: "made up".to_owned(),
        tools: (0..5_181).map(tool).collect(),
        queries: (0..300).map(query).collect(),
    }
}
