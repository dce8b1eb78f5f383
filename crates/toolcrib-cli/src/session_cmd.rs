//! `toolcrib session`: the sessions kept on this machine.

mod export;
mod list;
mod replay;
mod show;

use std::io::{BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use toolcrib_session::{Session, SessionStore};

use crate::args::{SessionArgs, SessionCommand, SessionForkArgs, SessionResumeArgs, SessionRmArgs};
use crate::ask::Earlier;
use crate::config::Places;
use crate::exit::{CliError, Status};
use crate::terminal::{count, print, say};
use crate::{ask, question};

/// Runs one of the commands.
pub(crate) fn run(args: &SessionArgs) -> Result<Status, CliError> {
    match &args.what {
        SessionCommand::List(args) => list::run(args),
        SessionCommand::Show(args) => show::run(args),
        SessionCommand::Resume(args) => resume(args),
        SessionCommand::Fork(args) => fork(args),
        SessionCommand::Export(args) => export::run(args),
        SessionCommand::Replay(args) => replay::run(args),
        SessionCommand::Rm(args) => remove(args),
    }
}

/// The sessions of this user.
pub(crate) fn store() -> Result<SessionStore, CliError> {
    match Places::detect().state {
        Some(state) => Ok(SessionStore::new(state.join("sessions"))),
        None => Err(CliError::failed(
            "neither XDG_STATE_HOME nor HOME is set: there is no place for sessions",
        )),
    }
}

/// Reads the session that a person means.
pub(crate) fn read(said: &str) -> Result<Session, CliError> {
    let path = store()?.find(said).map_err(CliError::usage)?;
    Session::read(&path).map_err(CliError::failed)
}

/// What a session is asked that holds no question of its own.
const GO_ON: &str = "Go on where you were interrupted, and answer the question above.";

fn resume(args: &SessionResumeArgs) -> Result<Status, CliError> {
    if args.ask.no_session {
        return Err(CliError::usage(
            "--no-session makes no sense here: a session that is gone on with is written to",
        ));
    }
    let path = store()?.find(&args.session).map_err(CliError::usage)?;
    let earlier = Earlier::claim(&path)?;
    let session = &earlier.session;
    let summary = session.summary();
    let answered = summary
        .runs
        .last()
        .is_some_and(|run| run.outcome.as_deref() == Some("answered"));
    let question = match args.ask.question.is_empty() {
        true if answered => {
            return Err(CliError::usage(format!(
                "the last question of session {} is answered; give a new one",
                session.meta().id
            )));
        }
        // The same words again: whatever reads only the newest message knows what is asked.
        true => {
            let asked = summary.runs.iter().rev();
            let last = asked.filter_map(|run| run.question.clone()).next();
            last.unwrap_or_else(|| GO_ON.to_owned())
        }
        false => question::read(&args.ask.question)?,
    };
    let mut ask_args = args.ask.clone();
    if ask_args.place.dir.is_none()
        && let Some(cwd) = &session.meta().cwd
    {
        ask_args.place.dir = Some(PathBuf::from(cwd));
    }
    ask::resume(&ask_args, &question, &earlier)
}

fn fork(args: &SessionForkArgs) -> Result<Status, CliError> {
    let from = read(&args.session)?;
    let log = store()?.fork(&from, args.at).map_err(CliError::usage)?;
    print(&format!("{}\n", log.meta().id));
    Ok(Status::Success)
}

fn remove(args: &SessionRmArgs) -> Result<Status, CliError> {
    let store = store()?;
    let mut paths = Vec::new();
    for said in &args.sessions {
        let path = store.find(said).map_err(CliError::usage)?;
        // A path given by hand is removed only if it is what it is taken for.
        Session::read(&path)
            .map(drop)
            .or_else(|error| match path.starts_with(store.dir()) {
                true => Ok(()),
                false => Err(CliError::failed(error)),
            })?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if let Some(age) = args.older_than {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let before = now.unwrap_or_default().saturating_sub(age).as_millis();
        for stored in store.newest(usize::MAX).map_err(CliError::failed)? {
            let old = stored
                .session
                .is_ok_and(|session| u128::from(session.meta().created) < before);
            if old && !paths.contains(&stored.path) {
                paths.push(stored.path);
            }
        }
        if paths.is_empty() {
            say("toolcrib: no session is that old");
            return Ok(Status::Failure);
        }
        if !args.yes && !confirmed(paths.len())? {
            say("nothing removed");
            return Ok(Status::Failure);
        }
    }
    for path in &paths {
        store.remove(path).map_err(CliError::failed)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        print(&format!("{name}\n"));
    }
    Ok(Status::Success)
}

fn confirmed(sessions: usize) -> Result<bool, CliError> {
    let sessions = count(sessions, "session");
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::usage(format!(
            "{sessions} would be removed; --yes removes them without asking"
        )));
    }
    say(&format!("remove {sessions}? [y/N]"));
    let mut line = String::new();
    stdin
        .lock()
        .read_line(&mut line)
        .map_err(|error| CliError::failed(format!("cannot read the answer: {error}")))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
