//! `toolcrib tools`: what a model would see in its first turn, and what it costs.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{LoadRoute, Mode, ModelProfile, Registry, ToolDialect, ToolSpec, Visibility};
use toolcrib_models::ModelSpec;
use toolcrib_surface::{
    CallTool, Inventory, Search, Shelf, Surface, SurfacePolicy, SurfaceReport, SurfaceState,
    ToolDoc, ToolIndex, ToolSearch,
};

use crate::args::ToolsArgs;
use crate::config::Places;
use crate::described::{self, Faults, Quarantined};
use crate::exit::{CliError, Status};
use crate::model;
use crate::terminal::{self, harmless_line, print, warn};

/// Reports on the tools of these files, or searches them.
pub(crate) fn run(args: &ToolsArgs) -> Result<Status, CliError> {
    let mut registry = Registry::new();
    let Faults {
        quarantined,
        warnings,
    } = described::register(&mut registry, &args.tools)?;
    warnings.iter().for_each(|warning| warn(warning));
    let registry = Arc::new(registry);
    if let Some(query) = &args.search {
        return search(&registry, query, args);
    }
    if let Some(dialect) = args.render {
        print(&rendered(&registry, &quarantined, dialect));
        return Ok(Status::Success);
    }
    let profile = profile(args.model.as_deref())?;
    let dialect = profile.as_ref().map_or(ToolDialect::OpenAi, |p| p.dialect);
    let count = |spec: &ToolSpec| count(spec, dialect);
    let report = surface(Registry::clone(&registry), profile.as_ref()).report_by(&count);
    let cost = args
        .cost
        .then(|| Costs::of(&registry, &count, &report, profile.as_ref()));
    print(&if args.json {
        as_json(&report, &quarantined, profile.as_ref(), cost.as_ref())
    } else {
        as_text(&report, &quarantined, profile.as_ref(), cost.as_ref())
    });
    Ok(Status::Success)
}

/// What is known of the model of this name. It is not asked, so any key will do.
fn profile(name: Option<&str>) -> Result<Option<ModelProfile>, CliError> {
    let Some(name) = name else {
        return Ok(None);
    };
    let profiles = model::profiles(&Places::detect())?;
    let spec = ModelSpec::parse_with(name, &profiles).map_err(CliError::usage)?;
    let env = |variable: &str| {
        let stands_for_a_key = || variable.ends_with("_KEY").then(|| "none".to_owned());
        model::env(variable).or_else(stands_for_a_key)
    };
    let model = spec.build_with(&profiles, &env).map_err(CliError::usage)?;
    Ok(Some(model.profile().clone()))
}

/// What `--cost` adds.
struct Costs {
    /// The tools with the largest definitions.
    most: Vec<(String, usize)>,
    /// Money of a request without a cache: when all are sent, and in the first turn.
    usd: Option<(f64, f64)>,
}

impl Costs {
    fn of(
        registry: &Registry,
        count: &dyn Fn(&ToolSpec) -> usize,
        report: &SurfaceReport,
        profile: Option<&ModelProfile>,
    ) -> Costs {
        let sized = registry.iter().map(|tool| {
            let spec = tool.spec();
            (spec.name.to_string(), count(spec))
        });
        let mut most: Vec<(String, usize)> = sized.collect();
        most.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        most.truncate(10);
        let price = profile.and_then(|profile| profile.price);
        // Prices are by a million tokens.
        let usd = |tokens: usize| price.map(|price| price.input * tokens as f64 / 1e6);
        Costs {
            most,
            usd: usd(report.eager_tokens).zip(usd(report.first_turn_tokens)),
        }
    }
}

/// What a model of this profile, or one about which nothing is known, sees in its
/// first turn.
fn surface(mut registry: Registry, profile: Option<&ModelProfile>) -> Surface {
    let route = profile.map_or(LoadRoute::Append, |profile| profile.load_route);
    // A name that is taken stays with who has it; the report then says so.
    let _ = registry.insert(Arc::new(ToolSearch::new(Shelf::new())));
    if route == LoadRoute::Bridge {
        let _ = registry.insert(Arc::new(CallTool::new(Shelf::new())));
    }
    let seen = Visibility {
        mode: Mode::Auto,
        ..Visibility::default()
    };
    let policy = SurfacePolicy::default();
    let window = profile.and_then(|profile| profile.window);
    let inventory = Inventory::build(&registry, &seen, &policy, window, route);
    Surface::of(&Arc::new(inventory), &SurfaceState::default())
}

/// By whose count the tokens of a report are.
const COUNTED_BY: &str = if cfg!(feature = "o200k") {
    "o200k_base"
} else {
    "estimate"
};

/// Tokens of a definition as chat completions render it, its schema as an API with
/// these rules takes it.
#[cfg(feature = "o200k")]
fn count(spec: &ToolSpec, dialect: ToolDialect) -> usize {
    let definition = format!(
        r#"{{"type":"function","function":{{"name":{},"description":{},"parameters":{}}}}}"#,
        json!(spec.name),
        json!(spec.description),
        spec.fitted(dialect).wire(),
    );
    let pieces = pieces(&definition);
    let count =
        |piece| -> Vec<u32> { tiktoken_rs::o200k_base_singleton().encode_ordinary_as(piece) };
    pieces.map(|piece| count(piece).len()).sum()
}

/// A text in pieces whose tokens are counted apart, one for nearly all. A run of a
/// million letters is one word, and a word costs more than its length.
#[cfg(feature = "o200k")]
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const PIECE: usize = 64 * 1024;
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(not(feature = "o200k"))]
fn count(spec: &ToolSpec, _: ToolDialect) -> usize {
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
        let ToolDoc {
            name,
            original,
            description,
            ..
        } = &docs[doc];
        let first = harmless_line(description.lines().next().unwrap_or(""), 100);
        match original.is_empty() {
            true => format!("{name}  {first}"),
            false => format!("{name} ({})  {first}", harmless_line(original, 80)),
        }
    };
    let names = |places: &[usize]| -> Vec<String> {
        let names = places.iter().map(|&doc| docs[doc].name.to_string());
        names.collect()
    };
    if args.json {
        let hits: Vec<usize> = found.hits.iter().map(|hit| hit.doc).collect();
        let unknown = found.unknown.iter();
        let unknown: Vec<_> = unknown
            .map(|unknown| json!({ "name": unknown.name, "near": names(&unknown.near) }))
            .collect();
        let shared = found.shared.iter();
        let shared: Vec<_> = shared
            .map(|shared| json!({ "name": shared.name, "tools": names(&shared.tools) }))
            .collect();
        print(&format!(
            "{}\n",
            json!({
                "query": query,
                "found": names(&hits),
                "nothing_fits": found.nothing_fits,
                "nearest": names(&found.nearest),
                "unknown": unknown,
                "shared": shared,
            })
        ));
    } else {
        let mut text = String::new();
        for hit in &found.hits {
            let _ = writeln!(text, "{}", line(hit.doc));
        }
        if found.no_words {
            text.push_str(
                "Nothing fits: no tool has any of these words. Ask in the language of the \
                 descriptions.\n",
            );
        } else if found.hits.is_empty() && found.nearest.is_empty() {
            if found.shared.is_empty() {
                text.push_str("Nothing fits.\n");
            }
        } else if found.hits.is_empty() {
            text.push_str("Nothing fits. The nearest are:\n");
        }
        for &doc in &found.nearest {
            let _ = writeln!(text, "  {}", line(doc));
        }
        if found.other_language && !found.no_words {
            text.push_str(
                "This seems to be in another language than the descriptions: ask in theirs.\n",
            );
        }
        for shared in &found.shared {
            let name = harmless_line(&shared.name, 80);
            let tools = names(&shared.tools).join(", ");
            let _ = writeln!(
                text,
                "Several tools are called {name}: {tools}. Select one by its whole name."
            );
        }
        for source in &found.unknown_sources {
            let _ = writeln!(text, "There is no source {}.", harmless_line(source, 80));
        }
        for unknown in &found.unknown {
            let near = names(&unknown.near).join(", ");
            let near = match near.is_empty() {
                true => String::new(),
                false => format!("; near it: {near}"),
            };
            let name = harmless_line(&unknown.name, 80);
            let _ = writeln!(text, "There is no tool {name}{near}.");
        }
        print(&text);
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

fn as_json(
    report: &SurfaceReport,
    quarantined: &[Quarantined],
    profile: Option<&ModelProfile>,
    cost: Option<&Costs>,
) -> String {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        let left_out = quarantined
            .iter()
            .map(|q| json!({ "name": q.name, "reason": q.reason }));
        map.insert("quarantined".to_owned(), left_out.collect());
        map.insert("counted_by".to_owned(), COUNTED_BY.into());
        if let Some(profile) = profile {
            map.insert("model".to_owned(), json!(profile.id));
        }
        if let Some(cost) = cost {
            let most = cost
                .most
                .iter()
                .map(|(name, tokens)| json!({ "name": name, "tokens": tokens }));
            map.insert("costliest".to_owned(), most.collect());
            map.insert("eager_usd".to_owned(), json!(cost.usd.map(|usd| usd.0)));
            map.insert(
                "first_turn_usd".to_owned(),
                json!(cost.usd.map(|usd| usd.1)),
            );
        }
    }
    format!("{value}\n")
}

fn as_text(
    report: &SurfaceReport,
    quarantined: &[Quarantined],
    profile: Option<&ModelProfile>,
    cost: Option<&Costs>,
) -> String {
    let mut text = format!(
        "{} of {}, {} when all are sent (counted by {})\n",
        terminal::count(report.tools, "tool"),
        terminal::count(report.sources.len(), "source"),
        terminal::count(report.eager_tokens, "token"),
        COUNTED_BY.trim_end_matches("_base")
    );
    let _ = writeln!(
        text,
        "first turn{}: {} tokens, {} of them the loader with its catalogue",
        profile.map_or_else(String::new, |profile| format!(" of {}", profile.id)),
        report.first_turn_tokens,
        report.loader_tokens
    );
    if let Some(reason) = &report.reason {
        let _ = writeln!(text, "nothing is deferred: {reason}");
    }
    for source in &report.sources {
        let _ = writeln!(
            text,
            "  {}: {}, {}; {} deferred, {} sent ({})",
            harmless_line(&source.source, 80),
            terminal::count(source.tools, "tool"),
            terminal::count(source.eager_tokens, "token"),
            source.deferred,
            source.sent,
            terminal::count(source.sent_tokens, "token")
        );
    }
    if let Some(cost) = cost {
        let _ = match cost.usd {
            Some((eager, first)) => writeln!(
                text,
                "a request without a cache costs ${eager:.4} when all are sent, ${first:.4} so"
            ),
            None => writeln!(text, "the price is not known"),
        };
        text.push_str("the largest definitions:\n");
        for (name, tokens) in &cost.most {
            let _ = writeln!(text, "  {name}: {tokens} tokens");
        }
    }
    for q in quarantined {
        let name = harmless_line(&q.name, 80);
        let _ = writeln!(text, "left out: {name}: {}", harmless_line(&q.reason, 300));
    }
    text
}

#[cfg(all(test, feature = "o200k"))]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_counted_whole_unless_it_is_huge() {
        let small = "Reads a file. ".repeat(4_000);
        assert_eq!(pieces(&small).collect::<Vec<_>>(), [&*small]);
        assert_eq!(pieces("").count(), 0);
        let huge = "xж天".repeat(50_000);
        assert!(pieces(&huge).all(|piece| piece.len() <= 64 * 1024));
        assert_eq!(pieces(&huge).collect::<String>(), huge);
    }
}
