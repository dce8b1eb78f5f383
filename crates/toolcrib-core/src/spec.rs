//! What is known of a tool before it runs.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fit::FitCache;
use crate::{Derived, FittedSchema, RenderCache, Schema, Str, ToolDialect, ToolName};

/// What running a tool can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Nothing; it can run again and beside others.
    ReadOnly,
    /// Something, but nothing that was there is lost.
    Write,
    /// It may delete, overwrite or act on the world outside.
    Destructive,
}

/// Whether a call may run without asking, apart from the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Runs.
    Allow,
    /// Runs after a yes.
    Ask,
    /// Does not run.
    Deny,
}

/// How a tool wants to be shown to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exposure {
    /// With its full definition, unless a reading of the prompt says otherwise.
    Direct,
    /// By name alone until it is searched for.
    Deferred,
    /// Only a way to present an answer.
    Presentation,
    /// Not at all; programs may still call it.
    Hidden,
    /// Always, whatever a reading says: the loop's own tools.
    Always,
}

/// How a result that is too long is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultForm {
    /// A listing ordered by relevance: the first 8,000 characters, whole records.
    Lookup,
    /// Anything else: head and tail within 32 KiB.
    Whole,
}

/// Where a tool comes from: `builtin`, a server, a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(pub Str);

impl SourceId {
    /// A source of that name.
    pub fn new(name: impl Into<Str>) -> SourceId {
        SourceId(name.into())
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name, description, schemas and rules of one tool. Built once, then shared
/// behind an [`Arc`] with its rendered bytes: there is no rebuild to forget.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Unique within a registry.
    pub name: ToolName,
    /// What its source calls it, where that is no [`ToolName`] and [`ToolSpec::name`] only
    /// stands for it.
    pub original: Option<Str>,
    /// For people.
    pub title: Option<Str>,
    /// What the model reads about it.
    pub description: Str,
    /// What its arguments must look like.
    pub input_schema: Schema,
    /// What its structured result looks like, where promised.
    pub output_schema: Option<Schema>,
    /// What running it can change. [`Effect::Write`] unless said otherwise.
    pub effect: Effect,
    /// Whether it runs unasked. [`Permission::Allow`] unless said otherwise.
    pub permission: Permission,
    /// How it wants to be shown. [`Exposure::Direct`] unless said otherwise.
    pub exposure: Exposure,
    /// What it is about, in the words of a prompt's reading; may be empty.
    pub domains: Vec<Str>,
    /// Where it comes from. `builtin` unless said otherwise.
    pub source: SourceId,
    /// Its results may name tools to be shown from then on.
    pub activates: bool,
    /// How a long result is cut.
    pub result_form: ResultForm,
    /// Longest run of one call; the dispatcher's default when absent.
    pub timeout: Option<Duration>,
    /// Bytes that wires made of this spec.
    pub rendered: RenderCache,
    /// What the dispatcher made of the input schema.
    pub compiled: Derived,
    canonical_schema: OnceLock<Arc<str>>,
    fitted: FitCache,
}

impl ToolSpec {
    /// A spec with the defaults named at each field.
    pub fn new(name: ToolName, description: impl Into<Str>, input_schema: Schema) -> ToolSpec {
        ToolSpec {
            name,
            original: None,
            title: None,
            description: description.into(),
            input_schema,
            output_schema: None,
            effect: Effect::Write,
            permission: Permission::Allow,
            exposure: Exposure::Direct,
            domains: Vec::new(),
            source: SourceId::new("builtin"),
            activates: false,
            result_form: ResultForm::Whole,
            timeout: None,
            rendered: RenderCache::default(),
            compiled: Derived::default(),
            canonical_schema: OnceLock::new(),
            fitted: FitCache::default(),
        }
    }

    /// The same spec with another effect.
    pub fn effect(mut self, effect: Effect) -> ToolSpec {
        self.effect = effect;
        self
    }

    /// The same spec with another permission.
    pub fn permission(mut self, permission: Permission) -> ToolSpec {
        self.permission = permission;
        self
    }

    /// The same spec with another exposure.
    pub fn exposure(mut self, exposure: Exposure) -> ToolSpec {
        self.exposure = exposure;
        self
    }

    /// The same spec from another source.
    pub fn source(mut self, source: SourceId) -> ToolSpec {
        self.source = source;
        self
    }

    /// The same spec of a tool that its source calls so; nothing where that is its name.
    pub fn original(mut self, name: &str) -> ToolSpec {
        self.original = (name != self.name.as_str()).then(|| name.into());
        self
    }

    /// The same spec with a title for people.
    pub fn title(mut self, title: impl Into<Str>) -> ToolSpec {
        self.title = Some(title.into());
        self
    }

    /// The same spec about these domains.
    pub fn domains<D: Into<Str>>(mut self, domains: impl IntoIterator<Item = D>) -> ToolSpec {
        self.domains = domains.into_iter().map(Into::into).collect();
        self
    }

    /// The same spec with another form of long results.
    pub fn result_form(mut self, form: ResultForm) -> ToolSpec {
        self.result_form = form;
        self
    }

    /// The same spec with a timeout of its own.
    pub fn timeout(mut self, timeout: Duration) -> ToolSpec {
        self.timeout = Some(timeout);
        self
    }

    /// The same spec, allowed to activate other tools.
    pub fn activating(mut self) -> ToolSpec {
        self.activates = true;
        self
    }

    /// [`Schema::canonical`] of the input schema, computed once.
    pub fn canonical_schema(&self) -> &Arc<str> {
        self.canonical_schema
            .get_or_init(|| self.input_schema.canonical().into())
    }

    /// The input schema as an API with these rules accepts it, made once for each.
    pub fn fitted(&self, dialect: ToolDialect) -> &Arc<FittedSchema> {
        self.fitted.get(&self.input_schema, dialect)
    }
}
