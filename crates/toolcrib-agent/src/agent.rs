//! A model, its tools and its limits, ready to be asked.

use std::sync::{Arc, Mutex};

use toolcrib_core::{
    CancellationToken, Fingerprint, History, LoadRoute, Message, Model, Registry, SpillStore, Str,
    TurnPlan, Visibility,
};
use toolcrib_dispatch::{Approver, DispatchLimits, Dispatcher, ReadResult, Redactor};
use toolcrib_session::{DiskSpill, SessionLog, repair};
use toolcrib_surface::{
    CallTool, Inventory, Reading, Shelf, Surface, SurfacePolicy, SurfaceReport, SurfaceState,
    ToolSearch,
};

use crate::driver::Driver;
use crate::tally::BYTES_PER_TOKEN;
use crate::{Answer, Budget, BudgetError, Inbox, Outcome, Rules, Run, Sink, words};

/// Asks a model questions and runs the tools that it calls. Any number of runs
/// may be under way at once; all share one rendered plan. Needs a tokio runtime
/// with its timer.
pub struct Agent {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) dispatcher: Dispatcher,
    /// What is sent as long as nothing was loaded.
    pub(crate) plan: Arc<TurnPlan>,
    pub(crate) inventory: Option<Arc<Inventory>>,
    reader: Option<Arc<Reader>>,
    pub(crate) budget: Budget,
    pub(crate) name: Option<Str>,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) session: Option<SessionLog>,
    /// Of the plan that the session knows of.
    pub(crate) plan_logged: Mutex<Option<Fingerprint>>,
    pub(crate) sink: Option<Arc<dyn Sink>>,
    pub(crate) cancel: CancellationToken,
    pub(crate) inbox: Option<Inbox>,
}

type Reader = dyn Fn(&str) -> Reading + Send + Sync;

/// Why an [`Agent`] cannot work as it was put together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The budget allows nothing.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// There are tools, and a model that cannot call any.
    #[error(
        "the model `{model}` cannot call tools, and {tools} would be offered to it; choose a model with tool calls, or run without tools"
    )]
    NoToolCalls {
        /// Profile id of the model.
        model: Str,
        /// How many tools are visible.
        tools: usize,
    },
    /// More tools than the model takes.
    #[error(
        "the model `{model}` takes at most {most} tools, and {tools} are visible; disable some of them"
    )]
    TooManyTools {
        /// Profile id of the model.
        model: Str,
        /// How many tools are visible.
        tools: usize,
        /// How many it takes.
        most: usize,
    },
    /// What every request carries does not fit into the model's window.
    #[error(
        "the model `{model}` takes {room} tokens, and the instructions with {tools} tools alone take about {needed}; choose a model with a larger window, say so in models.toml if its window is larger, or disable some tools"
    )]
    WindowTooSmall {
        /// Profile id of the model.
        model: Str,
        /// How many tools are sent.
        tools: usize,
        /// Estimated tokens of instructions and definitions.
        needed: u64,
        /// Tokens that a prompt may take.
        room: u64,
    },
}

/// Puts an [`Agent`] together.
pub struct AgentBuilder {
    model: Arc<dyn Model>,
    registry: Arc<Registry>,
    visibility: Visibility,
    limits: DispatchLimits,
    system: String,
    name: Option<Str>,
    budget: Budget,
    max_output_tokens: Option<u64>,
    session: Option<SessionLog>,
    sink: Option<Arc<dyn Sink>>,
    cancel: CancellationToken,
    surface: Option<SurfacePolicy>,
    reader: Option<Arc<Reader>>,
    redactor: Option<Redactor>,
    spill: Option<Arc<dyn SpillStore>>,
    approver: Option<Arc<dyn Approver>>,
    inbox: Option<Inbox>,
}

impl Agent {
    /// An agent over this model, without tools, with the default budget.
    pub fn builder(model: Arc<dyn Model>) -> AgentBuilder {
        AgentBuilder {
            model,
            registry: Arc::default(),
            visibility: Visibility::default(),
            limits: DispatchLimits::default(),
            system: String::new(),
            name: None,
            budget: Budget::default(),
            max_output_tokens: None,
            session: None,
            sink: None,
            cancel: CancellationToken::new(),
            surface: None,
            reader: None,
            redactor: None,
            spill: None,
            approver: None,
            inbox: None,
        }
    }

    /// Asks and returns the answer as text.
    pub async fn run(&self, prompt: &str) -> Outcome<String> {
        self.run_typed(prompt, &Answer::text()).await
    }

    /// Asks and returns what `answer` reads from the reply.
    pub async fn run_typed<A>(&self, prompt: &str, answer: &Answer<A>) -> Outcome<A> {
        let run = self.begin(History::new(), prompt, answer.format());
        self.drive(run, answer).await
    }

    /// A run that is about to ask `prompt` after what was said in `history`. A call
    /// there without its result, as a crash leaves it, gets an error result.
    /// Secrets in the prompt are replaced: neither the model nor the session reads
    /// them. `format` is that of the answer's type.
    pub fn begin(&self, history: History, prompt: &str, format: Option<&Str>) -> Run {
        self.begin_from(history, SurfaceState::default(), prompt, format)
    }

    /// [`Agent::begin`] with what the session loaded before: as an earlier run's
    /// [`Report`](crate::Report) holds it, or [`SurfaceState::restored`] from what
    /// a session's log says was activated.
    pub fn begin_from(
        &self,
        history: History,
        mut state: SurfaceState,
        prompt: &str,
        format: Option<&Str>,
    ) -> Run {
        let history = repair(&history).map_or(history, |repaired| repaired.history);
        let prompt = &*self.dispatcher.redactor().text(prompt);
        let question = Message::user(words::prompt(prompt, format.map(|f| &**f)));
        let rules = Rules {
            tools: !self.plan.tools().is_empty(),
            final_round: self.model.profile().final_round,
            format: format.cloned(),
            prefix_bytes: prefix_bytes(&self.plan),
            window: self.model.profile().prompt_room(),
        };
        if let Some(inventory) = &self.inventory {
            let reading = match &self.reader {
                Some(reader) => reader(prompt),
                None => inventory.read(prompt),
            };
            state.begin_turn(inventory, reading);
        }
        let mut run = Run::of_checked(history, question, self.budget.clone(), rules);
        *run.surface_mut() = state;
        run
    }

    /// Drives a run to its end: one that [`Agent::begin`] made, or one that was
    /// stored on the way. Calls that were under way when it was stored run again.
    pub async fn drive<A>(&self, run: Run, answer: &Answer<A>) -> Outcome<A> {
        self.drive_until(run, answer, &self.cancel).await
    }

    /// [`Agent::drive`] with a token of the run's own in place of the agent's. When
    /// it fires, a request under way is dropped, running calls are cancelled, and
    /// every call gets its result all the same.
    pub async fn drive_until<A>(
        &self,
        run: Run,
        answer: &Answer<A>,
        cancel: &CancellationToken,
    ) -> Outcome<A> {
        Driver::new(self, run, cancel.clone()).drive(answer).await
    }

    /// System prompt and tools of every request, as long as nothing was loaded.
    pub fn plan(&self) -> &TurnPlan {
        &self.plan
    }

    /// What the tools cost, by source, before anything is loaded; `None` without a
    /// surface.
    pub fn surface_report(&self) -> Option<SurfaceReport> {
        let inventory = self.inventory.as_ref()?;
        Some(Surface::of(inventory, &SurfaceState::default()).report())
    }
}

impl AgentBuilder {
    /// The tools there are; which of them are offered, the visibility says.
    pub fn tools(mut self, registry: impl Into<Arc<Registry>>) -> AgentBuilder {
        self.registry = registry.into();
        self
    }

    /// Filters and mode. Everything is visible and asks by default.
    pub fn visibility(mut self, visibility: Visibility) -> AgentBuilder {
        self.visibility = visibility;
        self
    }

    /// Defers tools by this policy: the model gets a few definitions, a list and a
    /// loader. Without it every visible tool is sent.
    pub fn surface(mut self, policy: SurfacePolicy) -> AgentBuilder {
        self.surface = Some(policy);
        self
    }

    /// What says what a prompt needs, in place of a search for tools that fit it.
    pub fn reader(
        mut self,
        read: impl Fn(&str) -> Reading + Send + Sync + 'static,
    ) -> AgentBuilder {
        self.reader = Some(Arc::new(read));
        self
    }

    /// Limits of each call: timeout, result sizes, how many at once.
    pub fn dispatch_limits(mut self, limits: DispatchLimits) -> AgentBuilder {
        self.limits = limits;
        self
    }

    /// The caller's part of the system prompt.
    pub fn system(mut self, text: impl Into<String>) -> AgentBuilder {
        self.system = text.into();
        self
    }

    /// What spans call it: `invoke_agent {name}`. Nameless by default; no model reads it.
    pub fn name(mut self, name: impl Into<Str>) -> AgentBuilder {
        self.name = Some(name.into());
        self
    }

    /// Limits of each run.
    pub fn budget(mut self, budget: Budget) -> AgentBuilder {
        self.budget = budget;
        self
    }

    /// Upper limit of generated tokens of each reply.
    pub fn max_output_tokens(mut self, tokens: u64) -> AgentBuilder {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Where messages wait that come while a run is busy: each enters as a user message
    /// before the next request. Of several runs at once, any one takes it.
    pub fn inbox(mut self, inbox: Inbox) -> AgentBuilder {
        self.inbox = Some(inbox);
        self
    }

    /// Who says whether a call may run that needs a yes. Without one such calls are
    /// denied at once: a run never waits for nobody.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> AgentBuilder {
        self.approver = Some(approver);
        self
    }

    /// What is kept out of prompts, results, replies, the session and the log. By default the
    /// usual forms of keys and the values of the usual key variables.
    pub fn redact(mut self, redactor: Redactor) -> AgentBuilder {
        self.redactor = Some(redactor);
        self
    }

    /// Where the whole of a cut result is kept; the model can read on in it. By default
    /// beside the session, and nowhere without one.
    pub fn spill(mut self, store: Arc<dyn SpillStore>) -> AgentBuilder {
        self.spill = Some(store);
        self
    }

    /// Where everything is written down as it happens.
    pub fn session(mut self, log: SessionLog) -> AgentBuilder {
        self.session = Some(log);
        self
    }

    /// Who watches.
    pub fn sink(mut self, sink: Arc<dyn Sink>) -> AgentBuilder {
        self.sink = Some(sink);
        self
    }

    /// Ends every run when it fires, as [`Agent::drive_until`] says.
    pub fn cancel(mut self, token: CancellationToken) -> AgentBuilder {
        self.cancel = token;
        self
    }

    /// The agent. Its plan is rendered here, once for all runs.
    ///
    /// # Errors
    /// [`AgentError`] when no run could succeed.
    pub fn build(mut self) -> Result<Agent, AgentError> {
        self.budget.check()?;
        let count = |spec: &&Arc<toolcrib_core::ToolSpec>| self.visibility.visible(spec);
        let tools = self.registry.iter().map(|t| t.spec()).filter(count).count();
        let spill = self.whole_results(tools > 0);
        let profile = self.model.profile();
        if tools > 0 && !profile.native_tools {
            return Err(AgentError::NoToolCalls {
                model: profile.id.clone(),
                tools,
            });
        }
        let system = words::system(&self.system, tools > 0);
        let stock = self
            .surface
            .as_ref()
            .map(|policy| stock(&self.registry, &self.visibility, policy, &*self.model));
        let (registry, inventory) = match stock {
            Some((registry, inventory)) => (registry, Some(Arc::new(inventory))),
            None => (self.registry, None),
        };
        let plan = match &inventory {
            Some(inventory) => Surface::of(inventory, &SurfaceState::default()).plan(system),
            None => TurnPlan::eager(system, &registry, &self.visibility),
        };
        let sent = plan.tools().len();
        match profile.max_tools {
            Some(most) if sent > most => {
                return Err(AgentError::TooManyTools {
                    model: profile.id.clone(),
                    tools: sent,
                    most,
                });
            }
            _ => {}
        }
        let needed = prefix_bytes(&plan) / BYTES_PER_TOKEN;
        match profile.prompt_room() {
            Some(room) if needed >= room => {
                return Err(AgentError::WindowTooSmall {
                    model: profile.id.clone(),
                    tools: sent,
                    needed,
                    room,
                });
            }
            _ => {}
        }
        let mut dispatcher = Dispatcher::new(registry, self.visibility, self.limits);
        if let Some(redactor) = self.redactor {
            dispatcher = dispatcher.with_redactor(redactor);
        }
        if let Some(approver) = self.approver {
            dispatcher = dispatcher.with_approver(approver);
        }
        if let Some(store) = spill {
            dispatcher = dispatcher.with_spill(store);
        }
        Ok(Agent {
            dispatcher,
            plan: Arc::new(plan),
            inventory,
            reader: self.reader,
            model: self.model,
            budget: self.budget,
            name: self.name,
            max_output_tokens: self.max_output_tokens,
            session: self.session,
            plan_logged: Mutex::new(None),
            sink: self.sink,
            cancel: self.cancel,
            inbox: self.inbox,
        })
    }
}

impl AgentBuilder {
    /// Where whole results are kept, if there are tools to have any; the tool that
    /// reads them comes with it.
    fn whole_results(&mut self, tools: bool) -> Option<Arc<dyn SpillStore>> {
        let beside =
            |log: &SessionLog| -> Arc<dyn SpillStore> { Arc::new(DiskSpill::beside(log.path())) };
        let store = self
            .spill
            .take()
            .or_else(|| self.session.as_ref().map(beside))
            .filter(|_| tools)?;
        let reader = ReadResult::new(store.clone())?;
        let mut registry = Registry::clone(&self.registry);
        // A name that is taken stays with who has it.
        if registry.insert(Arc::new(reader)).is_ok() {
            self.registry = Arc::new(registry);
        }
        Some(store)
    }
}

/// Takes stock of the tools, the loop's own loader among them. A registry in which
/// nothing is deferred stays as it was.
fn stock(
    registry: &Arc<Registry>,
    visibility: &Visibility,
    policy: &SurfacePolicy,
    model: &dyn Model,
) -> (Arc<Registry>, Inventory) {
    let profile = model.profile();
    let route = policy.route.unwrap_or(profile.load_route);
    let mut with_loader = Registry::clone(registry);
    let shelf = Shelf::new();
    // A name that is taken stays with who has it; the inventory then says so.
    let _ = with_loader.insert(Arc::new(ToolSearch::new(shelf.clone())));
    if route == LoadRoute::Bridge {
        let _ = with_loader.insert(Arc::new(CallTool::new(shelf)));
    }
    let inventory = Inventory::build(&with_loader, visibility, policy, profile.window, route);
    match inventory.inactive() {
        Some(_) => (registry.clone(), inventory),
        None => (Arc::new(with_loader), inventory),
    }
}

/// Bytes of what every request carries before the transcript.
pub(crate) fn prefix_bytes(plan: &TurnPlan) -> u64 {
    let definitions = plan.tools().iter().map(|spec| {
        spec.name.as_str().len() + spec.description.len() + spec.input_schema.wire().len()
    });
    (plan.system().len() + definitions.sum::<usize>()) as u64
}
