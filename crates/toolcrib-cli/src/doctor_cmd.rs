//! `toolcrib doctor`: what keeps models from answering, and what to do about it.
//!
//! Each check is one line: what is so, and where it is not well the next step. No key
//! is ever printed. Nothing that costs is sent without `--probe`. Endpoints are asked
//! side by side and told in the order of their names, each as soon as it is its turn;
//! none is waited for longer than `--timeout`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use toolcrib_core::{
    Finish, History, Message, Model, ModelError, ModelErrorKind, ReplyEvent, Request, Schema,
    ToolChoice, ToolName, ToolSpec, TurnPlan,
};
use toolcrib_dispatch::Redactor;
use toolcrib_models::{ModelSpec, NO_PROXY_ADDRESS, Profiles, Reach, Reached, Target, is_proxy};

use crate::args::DoctorArgs;
use crate::ask::redactor;
use crate::config::Places;
use crate::exit::{CliError, Status};
use crate::model::{build, env, profiles, runtime, table_path};
use crate::place::Workspace;
use crate::terminal::{count, print};

/// Clocks that differ by more make certificates and signatures fail.
const SKEW: Duration = Duration::from_secs(300);

/// Tokens of the instructions, the definitions of the lookups, a question, one result
/// of a lookup and an answer.
const ROOM: u64 = 4096;

/// Runs all checks; the status is failure where something must be done.
pub(crate) fn run(args: &DoctorArgs) -> Result<Status, CliError> {
    let mut report = Report {
        trouble: false,
        redactor: Redactor::standard(),
    };
    report.well(&format!("toolcrib {}", env!("CARGO_PKG_VERSION")));
    let workspace = Workspace::open(&args.place, true)?;
    // A broken table names no keys of its own; it is reported below and nothing is asked.
    if let Ok(known) = redactor(&workspace) {
        report.redactor = known;
    }
    report.well(&format!(
        "configuration read; repository {}",
        workspace.root.display()
    ));
    let profiles = profiles(&workspace.places);
    files(&workspace.places, profiles.as_ref().err(), &mut report);
    proxies(&mut report);
    let Ok(profiles) = profiles else {
        // Whom the table would name instead is not known, and a key is for no other.
        report.note("no endpoint is asked before the models table is read");
        return Ok(Status::Failure);
    };
    let chosen = args.model.as_deref().or(workspace.config.model.as_deref());
    let runtime = runtime()?;
    let patience = Duration::from_secs(args.timeout);
    runtime.block_on(providers(&profiles, chosen, patience, &mut report));
    if args.probe {
        match chosen {
            None => report
                .bad("no model to probe: name one with --model, or `model` in the configuration"),
            Some(name) => match build(name, &workspace.places) {
                Ok(model) => runtime.block_on(probe(name, model, patience, &mut report)),
                Err(error) => report.bad(&error.to_string()),
            },
        }
    }
    // A server that still says nothing must not keep the process alive.
    runtime.shutdown_background();
    Ok(if report.trouble {
        Status::Failure
    } else {
        Status::Success
    })
}

struct Report {
    trouble: bool,
    /// Endpoints repeat what they were sent.
    redactor: Redactor,
}

impl Report {
    fn line(&self, word: &str, text: &str) {
        print(&format!("{word:<5} {}\n", self.redactor.text(text)));
    }

    fn well(&mut self, text: &str) {
        self.line("ok", text);
    }

    /// Nothing to do unless it is wanted.
    fn note(&mut self, text: &str) {
        self.line("note", text);
    }

    fn bad(&mut self, text: &str) {
        self.trouble = true;
        self.line("fix", text);
    }
}

fn files(places: &Places, wrong: Option<&CliError>, report: &mut Report) {
    match (wrong, table_path(places).filter(|path| path.exists())) {
        (Some(error), _) => report.bad(&error.to_string()),
        (None, Some(table)) => report.well(&format!("models table read: {}", table.display())),
        (None, None) => {}
    }
    match &places.state {
        None => report.note("neither XDG_STATE_HOME nor HOME is set; no session is kept"),
        Some(state) => {
            let existing = state.ancestors().find(|dir| dir.exists());
            let writable = existing.is_some_and(|dir| {
                std::fs::metadata(dir)
                    .is_ok_and(|meta| meta.is_dir() && !meta.permissions().readonly())
            });
            if writable {
                report.well(&format!("sessions are kept below {}", state.display()));
            } else {
                report.bad(&format!(
                    "sessions cannot be kept below {}; make it writable or set XDG_STATE_HOME",
                    state.display()
                ));
            }
        }
    }
}

fn proxies(report: &mut Report) {
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"] {
        let lower = name.to_ascii_lowercase();
        let Some((variable, value)) = [name, lower.as_str()]
            .iter()
            .find_map(|name| Some((*name, env(name)?)))
        else {
            continue;
        };
        // The value may hold a password, so only its form is told.
        if is_proxy(&value) {
            report.note(&format!(
                "{variable} is set: remote providers are reached through it, this machine is not"
            ));
        } else {
            report.bad(&format!("{variable} {NO_PROXY_ADDRESS}"));
        }
    }
}

/// An endpoint that is asked already.
type Asked = tokio::task::JoinHandle<Result<Reached, ModelError>>;

fn ask(target: &Target, patience: Duration) -> Asked {
    let target = target.clone();
    tokio::spawn(async move { Reach::within(&target, patience).await })
}

async fn answered(asked: Asked) -> Result<Reached, ModelError> {
    asked.await.unwrap_or_else(|error| {
        let message = format!("the check broke off: {error}");
        Err(ModelError::new(ModelErrorKind::Interrupted, message))
    })
}

async fn providers(
    profiles: &Profiles,
    chosen: Option<&str>,
    patience: Duration,
    report: &mut Report,
) {
    let chosen = chosen.and_then(|name| ModelSpec::parse_with(name, profiles).ok());
    let wanted = match &chosen {
        Some(ModelSpec::Named { provider, .. }) => Some(provider.as_str()),
        _ => None,
    };
    if let Some(Ok(Some(target))) = chosen.as_ref().map(|spec| spec.target(profiles, &env)) {
        room(target.id(), target.settings().window, report);
    }
    let known = profiles.providers().filter_map(|(name, _)| {
        let target = Target::named(profiles, name, "", &env)?;
        let asked = match target.missing_key() {
            Some(_) => None,
            None => Some(ask(&target, patience)),
        };
        Some((name, target, asked))
    });
    let known: Vec<(&str, Target, Option<Asked>)> = known.collect();
    let endpoint = match &chosen {
        Some(spec @ ModelSpec::Endpoint { .. }) => match spec.target(profiles, &env) {
            Ok(Some(target)) => Some((ask(&target, patience), target)),
            _ => None,
        },
        _ => None,
    };
    let mut usable = 0;
    for (name, target, answer) in known {
        let asked = wanted == Some(name);
        if let Some(variable) = target.missing_key() {
            let text = format!("{name}: no key; set {variable} to use it");
            if asked {
                report.bad(&text);
            } else {
                report.note(&text);
            }
            continue;
        }
        let Some(answer) = answer else {
            continue;
        };
        let answer = answered(answer).await;
        usable += usize::from(answer.is_ok());
        tell(name, &target, answer, asked, report);
    }
    if let Some((answer, target)) = endpoint {
        let answer = answered(answer).await;
        tell(target.id(), &target, answer, true, report);
    } else if usable == 0 {
        report.note("no language model is in reach; the built-in navigator answers without one");
    }
}

fn tell(
    name: &str,
    target: &Target,
    answer: Result<Reached, ModelError>,
    asked: bool,
    report: &mut Report,
) {
    let key = match target.key_variable() {
        Some(variable) if target.has_key() => format!(", {variable} set"),
        _ => String::new(),
    };
    match answer {
        Ok(reached) => {
            report.well(&format!(
                "{name}: {} answers{key}, {}",
                target.shown_url(),
                count(reached.models.len(), "model")
            ));
            clock(name, &reached, report);
        }
        // Something listens and says nothing.
        Err(error) if error.kind == ModelErrorKind::Idle && target.is_local() && !asked => {
            report.note(&format!("{name}: {}", error.message));
        }
        Err(error) if Reached::is_down(&error) && target.is_local() && !asked => {
            report.note(&format!("{name}: not running at {}", target.shown_url()));
        }
        // Not every server lists its models; one that shows a page is another server.
        Err(error) if lists_nothing(&error.message) => report.note(&format!(
            "{name}: {} answers{key} and lists no models",
            target.shown_url()
        )),
        Err(error) => report.bad(&format!("{name}: {}", error.message)),
    }
}

fn lists_nothing(message: &str) -> bool {
    message.contains("HTTP 404") && !message.contains("a web page")
}

/// Whether a question with its tools can fit at all.
fn room(id: &str, window: Option<u64>, report: &mut Report) {
    if let Some(window) = window.filter(|window| *window < ROOM) {
        report.bad(&format!(
            "{id}: its window of {window} tokens holds no question with its tools and a result, which take about {ROOM}; raise it, or choose another model"
        ));
    }
}

fn clock(name: &str, reached: &Reached, report: &mut Report) {
    let Some(date) = reached.date else {
        return;
    };
    let now = SystemTime::now();
    let apart = now
        .duration_since(date)
        .or_else(|_| date.duration_since(now))
        .unwrap_or_default();
    if apart > SKEW {
        report.bad(&format!(
            "this machine's clock and that of {name} are {} minutes apart; set the clock",
            apart.as_secs() / 60
        ));
    }
}

/// When the model last showed that it is at work, and why it was asked again.
struct Signs {
    last: Instant,
    trouble: Option<String>,
}

/// Lets the model call a tool without effect; gives up when no sign of an answer comes
/// for so long.
async fn probe(name: &str, model: Arc<dyn Model>, patience: Duration, report: &mut Report) {
    let schema = r#"{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}"#;
    let (Ok(tool), Ok(schema)) = (ToolName::parse("say"), Schema::parse(schema)) else {
        return;
    };
    let spec = ToolSpec::new(tool, "Says one word aloud.", schema);
    let plan = TurnPlan::new(
        "Call the tool `say` with the word hello. Write nothing else.",
        vec![Arc::new(spec)],
    );
    let history: History = [Message::user("Say hello.")].into_iter().collect();
    let request = Request {
        plan: &plan,
        history: &history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: Some(512),
    };
    let signs = Mutex::new(Signs {
        last: Instant::now(),
        trouble: None,
    });
    let seen = || signs.lock().unwrap_or_else(PoisonError::into_inner);
    let mut watch = |event: ReplyEvent<'_>| match event {
        ReplyEvent::Retrying { reason, .. } => seen().trouble = Some(reason.to_owned()),
        _ => seen().last = Instant::now(),
    };
    let silence = async {
        loop {
            let until = seen().last + patience;
            if until <= Instant::now() {
                break;
            }
            tokio::time::sleep_until(until).await;
        }
    };
    let answer = tokio::select! {
        biased;
        answer = model.stream(request, &mut watch) => answer,
        () = silence => {
            let waited = patience.as_secs();
            let trouble = seen().trouble.take();
            report.bad(&match trouble {
                Some(trouble) => format!("{name}: {trouble} (given up after {waited} s)"),
                None => format!(
                    "{name} gave no sign of an answer within {waited} s; raise --timeout for a slow model, or look at its server"
                ),
            });
            return;
        }
    };
    match answer {
        Err(error) => report.bad(&format!("{name}: {}", error.message)),
        Ok(reply) => match reply.message.calls().next() {
            Some(call) if &*call.name == "say" && reply.finish != Finish::Length => {
                report.well(&format!("{name} calls tools"));
            }
            Some(_) => report.bad(&format!(
                "{name} wrote a call that is cut or of another tool; choose a larger model"
            )),
            None => report.bad(&format!(
                "{name} answered without calling its tool; set tools = \"text\" for it in models.toml, or choose another model"
            )),
        },
    }
}
