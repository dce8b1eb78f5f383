//! A model, its tools and its limits, ready to be asked.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use toolcrib_core::{
    CancellationToken, History, Message, Model, Registry, Str, TurnPlan, Visibility,
};
use toolcrib_dispatch::{DispatchLimits, Dispatcher};
use toolcrib_session::{SessionLog, repair};

use crate::driver::Driver;
use crate::{Answer, Budget, BudgetError, Outcome, Rules, Run, Sink, words};

/// Asks a model questions and runs the tools that it calls. Any number of runs
/// may be under way at once; all share one rendered plan. Needs a tokio runtime
/// with its timer.
pub struct Agent {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) plan: TurnPlan,
    pub(crate) prefix_bytes: u64,
    pub(crate) budget: Budget,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) session: Option<SessionLog>,
    pub(crate) plan_logged: AtomicBool,
    pub(crate) sink: Option<Arc<dyn Sink>>,
    pub(crate) cancel: CancellationToken,
}

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
}

/// Puts an [`Agent`] together.
pub struct AgentBuilder {
    model: Arc<dyn Model>,
    registry: Arc<Registry>,
    visibility: Visibility,
    limits: DispatchLimits,
    system: String,
    budget: Budget,
    max_output_tokens: Option<u64>,
    session: Option<SessionLog>,
    sink: Option<Arc<dyn Sink>>,
    cancel: CancellationToken,
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
            budget: Budget::default(),
            max_output_tokens: None,
            session: None,
            sink: None,
            cancel: CancellationToken::new(),
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
    /// `format` is that of the answer's type.
    pub fn begin(&self, history: History, prompt: &str, format: Option<&Str>) -> Run {
        let history = repair(&history).map_or(history, |repaired| repaired.history);
        let question = Message::user(words::prompt(prompt, format.map(|f| &**f)));
        let rules = Rules {
            tools: !self.plan.tools().is_empty(),
            final_round: self.model.profile().final_round,
            format: format.cloned(),
            prefix_bytes: self.prefix_bytes,
        };
        Run::of_checked(history, question, self.budget.clone(), rules)
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

    /// System prompt and tools of every request.
    pub fn plan(&self) -> &TurnPlan {
        &self.plan
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
    pub fn build(self) -> Result<Agent, AgentError> {
        self.budget.check()?;
        let count = |spec: &&Arc<toolcrib_core::ToolSpec>| self.visibility.visible(spec);
        let tools = self.registry.iter().map(|t| t.spec()).filter(count).count();
        let profile = self.model.profile();
        if tools > 0 && !profile.native_tools {
            return Err(AgentError::NoToolCalls {
                model: profile.id.clone(),
                tools,
            });
        }
        match profile.max_tools {
            Some(most) if tools > most => {
                return Err(AgentError::TooManyTools {
                    model: profile.id.clone(),
                    tools,
                    most,
                });
            }
            _ => {}
        }
        let system = words::system(&self.system, tools > 0);
        let plan = TurnPlan::eager(system, &self.registry, &self.visibility);
        let definitions = plan.tools().iter().map(|spec| {
            spec.name.as_str().len() + spec.description.len() + spec.input_schema.wire().len()
        });
        let prefix_bytes = (plan.system().len() + definitions.sum::<usize>()) as u64;
        Ok(Agent {
            dispatcher: Dispatcher::new(self.registry, self.visibility, self.limits),
            plan,
            prefix_bytes,
            model: self.model,
            budget: self.budget,
            max_output_tokens: self.max_output_tokens,
            session: self.session,
            plan_logged: AtomicBool::new(false),
            sink: self.sink,
            cancel: self.cancel,
        })
    }
}
