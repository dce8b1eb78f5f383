//! `toolcrib chat`: a conversation on the loop that `ask` runs on.

mod command;
mod input;
mod stream;

use std::sync::Arc;

use toolcrib_agent::{Agent, Outcome, Sink};
use toolcrib_core::{Cost, History, Model, Registry, Usage};
use toolcrib_dispatch::Redactor;
use toolcrib_graph::Lookup;
use toolcrib_session::{Session, SessionLog};
use toolcrib_surface::{SharedEncoder, SurfaceState};

use crate::args::{AskArgs, ChatArgs, Format};
use crate::ask::{self, Earlier, spent};
use crate::exit::{CliError, Status};
use crate::place::Workspace;
use crate::session_cmd;
use crate::signals::Doorman;
use crate::terminal::{count, print, say};
use crate::{encoder, model, snapshot};

use command::{COMMANDS, Line};
use input::{Input, LIMIT, Read};
use stream::Stream;

/// Talks until the end of input.
pub(crate) fn run(args: &ChatArgs) -> Result<Status, CliError> {
    let ask = &args.ask;
    if ask.format == Format::Json {
        return Err(CliError::usage(
            "a chat prints text; `toolcrib ask --format json` prints events",
        ));
    }
    ask::can_print()?;
    let workspace = Workspace::open(&ask.place, ask.quiet)?;
    let model = model::choose(
        ask.model.as_deref(),
        &workspace.config,
        &workspace.places,
        ask.quiet,
    )?;
    let loaded = snapshot::load(&workspace)?;
    let registry = Arc::new(ask::registry(&loaded.lookup, &ask.tools, ask.quiet)?);
    let runtime = model::runtime()?;
    let redactor = ask::redactor(&workspace)?;
    let mut input = Input::open(workspace.places.state.as_deref(), redactor.clone());
    if input.is_editor() && !ask.quiet {
        say(&format!(
            "{} answers about {}; /help shows the commands",
            model.profile().id,
            workspace.root.display()
        ));
    }
    let mut chat = Chat {
        args: ask,
        workspace: &workspace,
        lookup: Arc::clone(&loaded.lookup),
        registry,
        encoder: encoder::of_ask(ask, &workspace)?,
        stream: Arc::new(Stream::new(ask.quiet)),
        model,
        session: None,
        agent: None,
        history: History::new(),
        surface: SurfaceState::default(),
        redactor,
        doorman: Doorman::stand(input.restorer())?,
        usage: Usage::default(),
        cost: None,
        last: Status::Success,
    };
    if !ask.question.is_empty() {
        let first = ask.question.join(" ");
        runtime.block_on(chat.say(&first))?;
    }
    while !chat.doorman.leaving() {
        match input.read()? {
            Read::End => break,
            Read::TooLong => {
                say(&format!(
                    "toolcrib: a line of a chat may have {LIMIT} bytes, and one that has more was \
                     left out; put long material into a file of the repository and ask about that \
                     file"
                ));
                chat.last = Status::Failure;
            }
            Read::Interrupted => say("/quit leaves"),
            Read::Line(line) => {
                let line = command::parse(&line);
                if line == Line::Quit {
                    break;
                }
                // A command that cannot be carried out ends nothing.
                if let Err(error) = runtime.block_on(chat.obey(line)) {
                    say(&format!("toolcrib: {error}"));
                    chat.last = Status::Failure;
                }
            }
        }
    }
    let last = chat.last;
    let leaving = chat.doorman.leaving();
    drop(chat);
    runtime.shutdown_background();
    if leaving {
        return Ok(Status::Interrupted);
    }
    // A person has seen each end; a pipe learns of the last one.
    Ok(if input.is_editor() {
        Status::Success
    } else {
        last
    })
}

struct Chat<'a> {
    args: &'a AskArgs,
    workspace: &'a Workspace,
    lookup: Arc<Lookup>,
    registry: Arc<Registry>,
    encoder: Option<SharedEncoder>,
    stream: Arc<Stream>,
    model: Arc<dyn Model>,
    session: Option<SessionLog>,
    /// For this model and this session; a yes for the session lives in it.
    agent: Option<Arc<Agent>>,
    history: History,
    surface: SurfaceState,
    redactor: Redactor,
    doorman: Doorman,
    usage: Usage,
    cost: Option<Cost>,
    last: Status,
}

impl Chat<'_> {
    async fn obey(&mut self, line: Line) -> Result<(), CliError> {
        match line {
            Line::Blank | Line::Quit => Ok(()),
            Line::Say(text) => self.say(&text).await,
            Line::Help => {
                for (form, what) in COMMANDS {
                    say(&format!("{form:<16} {what}"));
                }
                say(
                    "A line that ends with \\ goes on in the next one; // begins a message with a slash.",
                );
                Ok(())
            }
            Line::Tools => self.tools(),
            Line::Model(None) => {
                say(&self.model.profile().id);
                Ok(())
            }
            Line::Model(Some(wanted)) => {
                self.agent = None;
                self.model = model::choose(
                    Some(&wanted),
                    &self.workspace.config,
                    &self.workspace.places,
                    true,
                )?;
                say(&format!("{} answers from now on", self.model.profile().id));
                Ok(())
            }
            Line::Cost => {
                let sum = spent(&self.usage, self.cost.as_ref());
                say(&sum.unwrap_or_else(|| "no reply reported tokens or money".to_owned()));
                Ok(())
            }
            Line::Compact => self.compact(),
            Line::Calls => {
                print(&self.stream.calls());
                Ok(())
            }
            Line::Fork => self.fork(),
            Line::Resume(said) => self.resume(&said),
            Line::Unknown(word, nearest) => {
                say(&format!("there is no /{word}; did you mean {nearest}?"));
                Ok(())
            }
            Line::Lacks(form) => {
                say(&format!("write {form}"));
                Ok(())
            }
        }
    }

    fn agent(&mut self) -> Result<Arc<Agent>, CliError> {
        if let Some(agent) = &self.agent {
            return Ok(Arc::clone(agent));
        }
        let agent = Arc::new(ask::agent(ask::Parts {
            args: self.args,
            workspace: self.workspace,
            model: Arc::clone(&self.model),
            registry: Arc::clone(&self.registry),
            encoder: self.encoder.clone(),
            sink: Arc::clone(&self.stream) as Arc<dyn Sink>,
            session: self.session.clone(),
        })?);
        self.agent = Some(Arc::clone(&agent));
        Ok(agent)
    }

    /// Goes on in another session.
    fn enter(&mut self, log: Option<SessionLog>) {
        self.agent = None;
        self.session = log;
    }

    async fn say(&mut self, text: &str) -> Result<(), CliError> {
        ask::warn_of_secrets(&self.redactor, text, self.args.quiet);
        if self.session.is_none() {
            let log = ask::session(self.args, self.workspace, &*self.model, text)?;
            if log.is_some() {
                self.enter(log);
            }
        }
        self.stream.begin();
        let agent = self.agent()?;
        let answer = ask::answer(Arc::clone(&self.lookup));
        let run = agent.begin_from(
            self.history.clone(),
            self.surface.clone(),
            text,
            answer.format(),
        );
        let busy = self.doorman.busy();
        let outcome = agent.drive_until(run, &answer, busy.token()).await;
        drop(busy);
        if let Outcome::Answered { answer, .. } = &outcome {
            for fault in answer.faults() {
                say(&format!("  unverified: {fault}"));
            }
        }
        if let Some(reason) = outcome.reason() {
            say(&format!("toolcrib: {reason}"));
        }
        self.last = ask::status(&outcome);
        let report = outcome.report();
        self.history = report.history.clone();
        self.surface = report.surface.clone();
        self.usage.add(&report.usage);
        self.cost = match (self.cost, report.cost) {
            (Some(a), Some(b)) => Some(a.plus(b)),
            (a, b) => a.or(b),
        };
        Ok(())
    }

    fn tools(&mut self) -> Result<(), CliError> {
        let agent = self.agent()?;
        for spec in agent.plan().tools() {
            print(&format!(
                "{}  {}\n",
                spec.name,
                first_line(&spec.description)
            ));
        }
        for name in self.surface.loaded() {
            print(&format!("{name}  loaded\n"));
        }
        let sent = agent.plan().tools().len();
        let deferred = self.registry.iter().count().saturating_sub(sent);
        if deferred > 0 {
            say(&format!("{deferred} more can be searched for and loaded"));
        }
        Ok(())
    }

    fn compact(&mut self) -> Result<(), CliError> {
        let agent = self.agent()?;
        let shorter = agent.shorten(&self.history).map_err(CliError::failed)?;
        let Some(shorter) = shorter else {
            say("there is nothing to leave out yet");
            return Ok(());
        };
        say(&format!(
            "{}, now {}",
            count(shorter.bytes_before, "byte"),
            shorter.bytes_after
        ));
        self.history = shorter.history;
        Ok(())
    }

    fn fork(&mut self) -> Result<(), CliError> {
        let Some(log) = &self.session else {
            return Err(CliError::failed("nothing was said yet"));
        };
        let from = Session::read(log.path()).map_err(CliError::failed)?;
        let store = session_cmd::store()?;
        let log = store.fork(&from, None).map_err(CliError::failed)?;
        log.claim().map_err(CliError::failed)?;
        say(&format!("going on in {}", log.meta().id));
        self.enter(Some(log));
        Ok(())
    }

    fn resume(&mut self, said: &str) -> Result<(), CliError> {
        let path = session_cmd::store()?.find(said).map_err(CliError::usage)?;
        let own = self.session.as_ref().filter(|log| log.path() == path);
        let Earlier { log, session } = match own {
            // Claimed by this chat: it stands where the chat does, or the rows do.
            Some(log) => Earlier {
                session: Session::read(&path).map_err(CliError::failed)?,
                log: log.clone(),
            },
            None => Earlier::claim(&path)?,
        };
        self.history = session.history();
        self.surface = SurfaceState::restored(session.activated());
        let summary = session.summary();
        self.usage = summary.total.usage;
        self.cost = summary.total.cost;
        self.enter(Some(log));
        say(&format!(
            "going on with {}: {}",
            session.meta().id,
            count(self.history.len(), "message")
        ));
        Ok(())
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
