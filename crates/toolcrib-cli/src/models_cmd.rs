//! `toolcrib models`: which models can be asked, and why one would be.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolcrib_core::ModelError;
use toolcrib_models::{ModelSpec, Profiles, Reach, Reached, Settings, Target};

use crate::args::ModelsArgs;
use crate::exit::{CliError, Status};
use crate::model::{env, profiles, runtime};
use crate::place::Workspace;
use crate::terminal::print;

/// Most models named of one server.
const NAMED: usize = 8;

/// Lists providers with their state, or explains one model.
pub(crate) fn run(args: &ModelsArgs) -> Result<Status, CliError> {
    let workspace = Workspace::open(&args.place, true)?;
    let profiles = profiles(&workspace.places)?;
    let configured = workspace.config.model.as_deref();
    if let Some(model) = &args.model {
        return explain(model, &profiles, args.json);
    }
    let (chosen, why) = match configured {
        Some(model) => (model.to_owned(), "the configuration names it"),
        None => (
            "builtin:navigator".to_owned(),
            "neither --model nor the configuration names one",
        ),
    };
    let rows = rows(&profiles, args.check)?;
    if args.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        let all = json!({"chosen": {"model": chosen, "why": why}, "providers": rows});
        print(&format!("{all:#}\n"));
        return Ok(Status::Success);
    }
    let mut out = format!("Asked without --model: {chosen} ({why})\n\n");
    for row in &rows {
        let _ = writeln!(
            out,
            "{:<11} {:<10} {}\n{:<11} {}",
            row.provider, row.wire, row.address, "", row.state.text
        );
    }
    out.push_str(
        "\nAsk one with --model PROVIDER:NAME; `toolcrib models PROVIDER:NAME` shows what is known of it.\n",
    );
    print(&out);
    Ok(Status::Success)
}

struct Row {
    provider: String,
    wire: &'static str,
    address: String,
    state: State,
}

struct State {
    word: &'static str,
    text: String,
    models: Vec<String>,
}

impl Row {
    fn json(&self) -> Value {
        json!({"provider": self.provider, "wire": self.wire, "address": self.address,
            "state": self.state.word, "note": self.state.text, "models": self.state.models})
    }
}

fn rows(profiles: &Profiles, check: bool) -> Result<Vec<Row>, CliError> {
    let runtime = runtime()?;
    let mut rows = Vec::new();
    for (name, _) in profiles.providers() {
        let Some(target) = Target::named(profiles, name, "", &env) else {
            continue;
        };
        let state = match target.missing_key() {
            Some(variable) => State {
                word: "no_key",
                text: format!("no key: set {variable}"),
                models: Vec::new(),
            },
            None if target.is_local() || check => {
                state(runtime.block_on(Reach::ask(&target)), &target)
            }
            None => State {
                word: "unchecked",
                text: "a key is set; --check asks the provider".to_owned(),
                models: Vec::new(),
            },
        };
        rows.push(Row {
            provider: name.to_owned(),
            wire: target.wire().as_str(),
            address: target.shown_url(),
            state,
        });
    }
    Ok(rows)
}

fn state(asked: Result<Reached, ModelError>, target: &Target) -> State {
    match asked {
        Ok(reached) => {
            let count = reached.models.len();
            let mut names = reached.models.iter().take(NAMED).cloned();
            let mut text = match names.next() {
                None => "reachable; it lists no models".to_owned(),
                Some(first) => names.fold(format!("reachable: {first}"), |text, name| {
                    format!("{text}, {name}")
                }),
            };
            if count > NAMED {
                let _ = write!(text, " and {} more", count - NAMED);
            }
            State {
                word: "reachable",
                text,
                models: reached.models,
            }
        }
        Err(error) if Reached::is_down(&error) && target.is_local() => State {
            word: "not_running",
            text: "not running".to_owned(),
            models: Vec::new(),
        },
        Err(error) => State {
            word: "failed",
            text: error.message,
            models: Vec::new(),
        },
    }
}

fn explain(model: &str, profiles: &Profiles, as_json: bool) -> Result<Status, CliError> {
    let spec = ModelSpec::parse_with(model, profiles).map_err(CliError::usage)?;
    let ModelSpec::Named { provider, name } = &spec else {
        print(&format!("{spec} is in no table; it is taken as it is\n"));
        return Ok(Status::Success);
    };
    let Some(target) = Target::named(profiles, provider, name, &env) else {
        return Err(CliError::failed(format!("there is no provider {provider}")));
    };
    let settings = target.settings();
    let facts = facts(settings);
    let entries = profiles.matching(provider, name);
    let key = match (target.key_variable(), target.has_key()) {
        (None, _) => "none needed".to_owned(),
        (Some(variable), true) => format!("{variable} is set"),
        (Some(variable), false) if target.missing_key().is_some() => {
            format!("{variable} is not set")
        }
        (Some(variable), false) => format!("{variable} is not set, and none is needed"),
    };
    if as_json {
        let facts: serde_json::Map<String, Value> = facts
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect();
        let all = json!({"model": target.id(), "wire": target.wire().as_str(),
            "address": target.shown_url(), "own_address": target.is_own_address(),
            "key": key, "settings": facts, "entries": entries});
        print(&format!("{all:#}\n"));
        return Ok(Status::Success);
    }
    let mut out = format!(
        "{}\n  wire          {}\n  address       {}{}\n  key           {key}\n",
        target.id(),
        target.wire().as_str(),
        target.shown_url(),
        if target.is_own_address() {
            ""
        } else {
            " (not the provider's own)"
        }
    );
    for (key, value) in facts {
        let _ = writeln!(out, "  {key:<13} {value}");
    }
    let from = match entries.as_slice() {
        [] => format!("the provider {provider} alone"),
        entries => format!("the provider {provider} and {}", entries.join(", ")),
    };
    let _ = writeln!(out, "  from          {from}");
    print(&out);
    Ok(Status::Success)
}

/// What is known, in words of the table; what is not known is left out.
fn facts(settings: &Settings) -> Vec<(&'static str, String)> {
    let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let mut facts = Vec::new();
    let mut add = |key, value: Option<String>| {
        if let Some(value) = value {
            facts.push((key, value));
        }
    };
    add("window", settings.window.map(|n| n.to_string()));
    add("input_limit", settings.input_limit.map(|n| n.to_string()));
    add("output_limit", settings.output_limit.map(|n| n.to_string()));
    add("max_tools", settings.max_tools.map(|n| n.to_string()));
    let route = settings.load_route.unwrap_or_default();
    add("load_route", Some(word(json!(route))));
    add("forced_calls", settings.forced_calls.map(|n| n.to_string()));
    add(
        "bound_thinking",
        settings.bound_thinking.map(|n| n.to_string()),
    );
    add(
        "final_round",
        settings.final_round.map(|round| word(json!(round))),
    );
    let price = settings.price();
    add(
        "price",
        price.map(|p| {
            format!(
                "${} in, ${} cached, ${} out a million tokens",
                p.input, p.cached, p.output
            )
        }),
    );
    add("checked", settings.checked.clone());
    for (key, value) in &settings.extra {
        add("extra", Some(format!("{key} = {value}")));
    }
    facts
}
