//! `toolcrib ask`: one question, one answer with verified citations.

mod cited;
mod helper;
mod report;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcrib_agent::{Budget, Outcome, Sink, Unanswered};
use toolcrib_core::{History, Model, Registry};
use toolcrib_graph::Lookup;
use toolcrib_session::{Meta, Row, Session, SessionLog};
use toolcrib_surface::SurfaceState;
use toolcrib_tools::GraphTools;

use crate::args::{AskArgs, Format};
use crate::exit::{CliError, Status};
use crate::place::Workspace;
use crate::signals::Signals;
use crate::terminal::{self, Dress, LiveLine, print, say, warn};
use crate::{described, encoder, model, question, snapshot};

pub(crate) use cited::{Cited, answer};
pub(crate) use helper::{Parts, agent, redactor, warn_of_secrets};
use watch::Watch;
pub(crate) use watch::spent;

/// Asks and prints.
pub(crate) fn run(args: &AskArgs) -> Result<Status, CliError> {
    let question = question::read(&args.question)?;
    go(args, &question, None)
}

/// Asks on in a session that was claimed, with the model that answered there before
/// unless another is asked for.
pub(crate) fn resume(
    args: &AskArgs,
    question: &str,
    earlier: &Earlier,
) -> Result<Status, CliError> {
    go(args, question, Some(earlier))
}

/// Whoever cannot read the answer pays for none.
pub(crate) fn can_print() -> Result<(), CliError> {
    if terminal::is_closed() {
        return Err(CliError::failed(
            "standard output is closed, and nobody would read the answer; redirect it to \
             /dev/null if none is wanted",
        ));
    }
    Ok(())
}

/// A session to go on with.
pub(crate) struct Earlier {
    /// Claimed.
    pub(crate) log: SessionLog,
    /// What was in it since then.
    pub(crate) session: Session,
}

impl Earlier {
    /// Claims the session in this file, and reads it.
    pub(crate) fn claim(path: &Path) -> Result<Earlier, CliError> {
        let log = SessionLog::open(path).map_err(CliError::failed)?;
        log.claim().map_err(CliError::failed)?;
        // Not before: until then another run may add to it.
        let session = Session::read(path).map_err(CliError::failed)?;
        Ok(Earlier { log, session })
    }
}

fn go(args: &AskArgs, question: &str, earlier: Option<&Earlier>) -> Result<Status, CliError> {
    can_print()?;
    let workspace = Workspace::open(&args.place, args.quiet)?;
    budget(args, &workspace)?;
    let before = earlier.map(|earlier| &*earlier.log.meta().model);
    let wanted = args.model.as_deref().or(before);
    let model = model::choose(wanted, &workspace.config, &workspace.places, args.quiet).map_err(
        |error| match before {
            Some(_) if args.model.is_none() => CliError::usage(format!(
                "the model of this session cannot be asked: {error}; --model asks another"
            )),
            _ => error,
        },
    )?;
    let runtime = model::runtime()?;
    let ran = runtime.block_on(asked(args, question, &workspace, model, earlier));
    // A tool that does not heed its cancellation must not keep the process alive.
    runtime.shutdown_background();
    ran
}

async fn asked(
    args: &AskArgs,
    question: &str,
    workspace: &Workspace,
    model: Arc<dyn Model>,
    earlier: Option<&Earlier>,
) -> Result<Status, CliError> {
    let mut signals = Signals::listen();
    warn_of_secrets(&redactor(workspace)?, question, args.quiet);
    let session = match earlier {
        Some(earlier) => Some(earlier.log.clone()),
        None => session(args, workspace, &*model, question)?,
    };
    let new = session.clone().filter(|_| earlier.is_none());
    let unasked = |error| {
        // An empty session would be the `last` one from now on.
        if let Some(log) = &new {
            let _ = std::fs::remove_file(log.path());
        }
        error
    };
    let mut live = LiveLine::new(args.format == Format::Text && !args.quiet);
    live.show("reading the repository");
    let loading = snapshot::load_aside(workspace);
    let snapshot = tokio::select! {
        loaded = loading => loaded.map_err(unasked)?,
        () = signals.next() => {
            live.clear();
            if let Some(log) = &session {
                let _ = log.append(&Row::finished("cancelled", None, 0));
            }
            if args.format == Format::Json {
                print(&format!("{}\n", watch::cancelled().to_json()));
            }
            return Ok(Status::Interrupted);
        }
    };
    live.clear();
    // The process ends after the answer, and the system takes the memory back at once:
    // to free a large graph node by node takes a twentieth of the whole time.
    std::mem::forget(Arc::clone(&snapshot.lookup));

    let registry = registry(&snapshot.lookup, &args.tools, args.quiet).map_err(unasked)?;
    let interrupt = signals.interrupt();
    let watch = Arc::new(Watch::new(args.format, live, interrupt.token().clone()));
    let path = session.as_ref().map(|log| log.path().to_path_buf());
    let agent = agent(Parts {
        args,
        workspace,
        model,
        registry: Arc::new(registry),
        encoder: encoder::of_ask(args, workspace).map_err(unasked)?,
        sink: Arc::clone(&watch) as Arc<dyn Sink>,
        session,
    })
    .map_err(unasked)?;
    let answer = answer(snapshot.lookup.clone());
    let (history, loaded) = match earlier {
        None => (History::new(), SurfaceState::default()),
        Some(earlier) => (
            earlier.session.history(),
            SurfaceState::restored(earlier.session.activated()),
        ),
    };
    let run = agent.begin_from(history, loaded, question, answer.format());
    let outcome = agent.drive_until(run, &answer, interrupt.token()).await;
    drop(interrupt);

    let dress = Dress::detect(&workspace.root);
    let told = watch
        .finish()
        .and_then(|last| report::outcome(args, &outcome, last, &dress, path.as_deref()));
    match told {
        Ok(()) => Ok(status(&outcome)),
        Err(error) => Err(CliError::failed(format!(
            "cannot write to standard output: {error}{}",
            path.map_or_else(String::new, |path| format!(
                "; what was said is in {}",
                path.display()
            ))
        ))),
    }
}

/// The lookup tools of a repository and the tools that files describe.
pub(crate) fn registry(
    lookup: &Arc<Lookup>,
    files: &[PathBuf],
    quiet: bool,
) -> Result<Registry, CliError> {
    let mut registry = Registry::new();
    let tools = GraphTools::new(Arc::clone(lookup)).map_err(CliError::failed)?;
    registry.extend(&tools).map_err(CliError::failed)?;
    let faults = described::register(&mut registry, files)?;
    if !quiet {
        faults.warnings.iter().for_each(|warning| warn(warning));
        for left_out in &faults.quarantined {
            warn(&format!(
                "tool {} is left out: {}",
                left_out.name, left_out.reason
            ));
        }
    }
    Ok(registry)
}

/// How a command ends after a run.
pub(crate) fn status(outcome: &Outcome<Cited>) -> Status {
    match outcome {
        Outcome::Answered { .. } => match outcome.answer() {
            Some(cited) if !cited.found() => Status::NothingFound,
            _ => Status::Success,
        },
        Outcome::Unanswered {
            reason: Unanswered::Spent { .. },
            ..
        }
        | Outcome::Stopped { .. } => Status::Budget,
        Outcome::Cancelled { .. } => Status::Interrupted,
        _ => Status::Failure,
    }
}

/// Flags over configuration over the default.
pub(crate) fn budget(args: &AskArgs, workspace: &Workspace) -> Result<Budget, CliError> {
    let config = &workspace.config;
    let mut budget = Budget::default();
    if let Some(rounds) = args.rounds.or(config.rounds) {
        budget.rounds = rounds;
    }
    budget.tokens = args.max_tokens.or(config.max_tokens);
    budget.cost = args.max_cost.or(config.max_cost);
    budget.wall_time = args.max_time.or(config.max_time);
    budget.check().map_err(CliError::usage)?;
    Ok(budget)
}

/// A new session for a question, unless none is wanted or there is no place.
pub(crate) fn session(
    args: &AskArgs,
    workspace: &Workspace,
    model: &dyn Model,
    question: &str,
) -> Result<Option<SessionLog>, CliError> {
    if args.no_session {
        return Ok(None);
    }
    let Some(state) = &workspace.places.state else {
        if !args.quiet {
            say("toolcrib: neither XDG_STATE_HOME nor HOME is set; no session is kept");
        }
        return Ok(None);
    };
    let mut meta = Meta::new(model.profile().id.clone());
    meta.cwd = Some(workspace.root.display().to_string());
    meta.question = Some(redactor(workspace)?.text(question).into_owned());
    meta.program = Some(concat!("toolcrib ", env!("CARGO_PKG_VERSION")).to_owned());
    let log = SessionLog::create(&state.join("sessions"), meta)
        .and_then(|log| log.claim().map(|()| log))
        .map_err(|error| CliError::failed(format!("{error} (--no-session asks without one)")))?;
    Ok(Some(log))
}
