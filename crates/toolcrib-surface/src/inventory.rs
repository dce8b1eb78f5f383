//! What depends only on the registry, the visibility and the policy.
//!
//! Built once for each generation of a registry: which tools may be seen, which
//! of them can be deferred, whether anything is, the catalogue, the index, the
//! estimates of tokens. A turn then only looks things up.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use toolcrib_core::{
    Effect, Exposure, Fingerprint, Hidden, LoadRoute, Permission, Registry, SourceId, Str, Tool,
    ToolName, ToolSpec, Visibility,
};

use crate::bridge::CALL_TOOL;
use crate::catalogue::Catalogue;
use crate::policy::Defer;
use crate::tokens::definition_tokens;
use crate::tool_search::TOOL_SEARCH;
use crate::{SurfacePolicy, ToolDoc, ToolIndex};

/// One tool that may be seen.
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) place: Place,
    /// It may be deferred, so it counts toward the threshold; whether it is
    /// deferred now is another matter.
    pub(crate) eligible: bool,
    pub(crate) tokens: usize,
}

/// What decides whether a tool's definition is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing: it is.
    Eager,
    /// The turn's reading, by the tool's domains.
    Domains,
    /// The turn's reading, by the tool's name: a way to present an answer.
    Card,
    /// A load.
    Deferred,
}

/// Why nothing is deferred.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Inactive {
    /// The threshold is 0.
    NeverDeferred,
    /// The model never calls a loader.
    Route,
    /// A tool that the route needs is not registered.
    Missing(&'static str),
    /// A tool that the route needs may not be seen.
    Hidden(&'static str, Hidden),
    /// A tool of another source has the name of one that the route needs.
    Taken(&'static str, SourceId),
    /// There are few deferrable tools, and they are small.
    Few {
        /// How many there are.
        eligible: usize,
        /// The policy's threshold.
        threshold: u32,
        /// What their definitions take.
        tokens: usize,
    },
}

impl fmt::Display for Inactive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inactive::NeverDeferred => f.write_str("tools.defer_threshold is 0"),
            Inactive::Route => f.write_str("the model's profile turns deferral off"),
            Inactive::Missing(name) => write!(f, "`{name}` is not registered"),
            Inactive::Hidden(name, why) => write!(f, "`{name}` is {why}"),
            Inactive::Taken(name, source) => {
                write!(
                    f,
                    "the name `{name}` is taken by a tool of source `{source}`"
                )
            }
            Inactive::Few {
                eligible,
                threshold,
                tokens,
            } => write!(
                f,
                "{eligible} deferrable tools of {tokens} tokens are fewer than \
                 tools.defer_threshold ({threshold}) and within tools.defer_share"
            ),
        }
    }
}

/// See the module's head.
pub struct Inventory {
    pub(crate) policy: SurfacePolicy,
    pub(crate) route: LoadRoute,
    /// In name order, the loop's loader tools left out.
    pub(crate) entries: Vec<Entry>,
    pub(crate) inactive: Option<Inactive>,
    /// Sent in every turn, in name order.
    pub(crate) eager: Vec<Arc<ToolSpec>>,
    pub(crate) loader: Vec<Arc<ToolSpec>>,
    pub(crate) deferrable: Arc<[Arc<ToolSpec>]>,
    /// Entries of the places that a reading decides.
    pub(crate) read: Vec<usize>,
    catalogue: Catalogue,
    index: OnceLock<ToolIndex>,
    held: OnceLock<Str>,
    generation: u64,
}

impl Inventory {
    /// Takes stock. `window` is the model's, in tokens; without it the share of the
    /// window does not count. `route` is used where the policy names none.
    pub fn build(
        registry: &Registry,
        visibility: &Visibility,
        policy: &SurfacePolicy,
        window: Option<u64>,
        route: LoadRoute,
    ) -> Inventory {
        let route = policy.route.unwrap_or(route);
        let needs: &[&'static str] = match route {
            LoadRoute::Bridge => &[TOOL_SEARCH, CALL_TOOL],
            _ => &[TOOL_SEARCH],
        };
        let mut entries: Vec<Entry> = registry
            .iter()
            .filter(|tool| visibility.visible(tool.spec()) && !is_loader(tool.spec()))
            .map(|tool| Entry::of(tool, policy, policy.reading && route.grows()))
            .collect();
        let unusable = needs
            .iter()
            .find_map(|name| unusable(name, registry, visibility));
        let few = few(&entries, policy, window);
        let forced = |entry: &Entry| {
            entry.place != Place::Eager && policy.defer(entry.spec()) == Defer::Always
        };
        let inactive = if policy.defer_threshold == 0 {
            Some(Inactive::NeverDeferred)
        } else if route == LoadRoute::Off {
            Some(Inactive::Route)
        } else if let Some(why) = unusable {
            Some(why)
        } else {
            few.clone().filter(|_| !entries.iter().any(forced))
        };
        for entry in &mut entries {
            // Below the thresholds only those sources defer that always do.
            if inactive.is_some() || (few.is_some() && !forced(entry)) {
                entry.place = Place::Eager;
            }
        }
        let at = |place: fn(Place) -> bool| {
            let chosen = entries.iter().filter(move |entry| place(entry.place));
            chosen.map(|entry| entry.spec().clone())
        };
        let deferrable: Arc<[_]> = at(|place| place != Place::Eager).collect();
        let catalogue = Catalogue::of(
            deferrable.iter().map(|spec| &**spec),
            policy.catalogue_budget,
        );
        let loader = match inactive {
            Some(_) => Vec::new(),
            None => loader(registry, needs, &catalogue),
        };
        let read = entries.iter().enumerate();
        let read = read.filter(|(_, entry)| matches!(entry.place, Place::Domains | Place::Card));
        Inventory {
            policy: policy.clone(),
            route,
            eager: at(|place| place == Place::Eager).collect(),
            read: read.map(|(at, _)| at).collect(),
            loader,
            deferrable,
            catalogue,
            inactive,
            index: OnceLock::new(),
            held: OnceLock::new(),
            generation: registry.generation(),
            entries,
        }
    }

    /// Why nothing is deferred; `None` when something is.
    pub fn inactive(&self) -> Option<&Inactive> {
        self.inactive.as_ref()
    }

    /// The list of deferred tools that the model reads.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// How loaded tools reach the model.
    pub fn route(&self) -> LoadRoute {
        self.route
    }

    /// The loop's own tools that the plan carries for loading; none when nothing is
    /// deferred.
    pub fn loader_names(&self) -> Vec<ToolName> {
        self.loader.iter().map(|spec| spec.name.clone()).collect()
    }

    /// The policy it was built with.
    pub fn policy(&self) -> &SurfacePolicy {
        &self.policy
    }

    /// The registry's generation that it was built from.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The searchable form of all tools that may be seen, in name order; built at
    /// the first use.
    pub fn index(&self) -> &ToolIndex {
        self.index.get_or_init(|| {
            let docs: Vec<ToolDoc> = self
                .entries
                .par_iter()
                .map(|entry| ToolDoc::from(&**entry.spec()))
                .collect();
            ToolIndex::build_encoded(&docs, self.policy.encoder.as_ref())
        })
    }

    /// What stands for the deferred tools in a fingerprint, where they are sent too.
    pub(crate) fn held(&self) -> Option<Str> {
        let sent = self.route == LoadRoute::Native && self.inactive.is_none();
        let digest = || Fingerprint::of_deferred(&self.deferrable);
        sent.then(|| self.held.get_or_init(digest).clone())
    }

    /// The place among the entries of the tool of exactly this name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.entries
            .binary_search_by(|entry| entry.spec().name.as_str().cmp(name))
            .ok()
    }
}

impl fmt::Debug for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inventory")
            .field("generation", &self.generation)
            .field("tools", &self.entries.len())
            .field("deferrable", &self.deferrable.len())
            .field("inactive", &self.inactive)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// `reads` says whether a reading may decide: what it loads must be able to enter
    /// the array.
    fn of(tool: &Arc<dyn Tool>, policy: &SurfacePolicy, reads: bool) -> Entry {
        let spec = tool.spec();
        let own = match spec.exposure {
            Exposure::Deferred => Place::Deferred,
            Exposure::Presentation if reads => Place::Card,
            Exposure::Direct if reads && !spec.domains.is_empty() => Place::Domains,
            _ => Place::Eager,
        };
        let by_source = match policy.defer(spec) {
            Defer::Never => Place::Eager,
            Defer::Always if own == Place::Eager && spec.exposure == Exposure::Direct => {
                Place::Deferred
            }
            _ => own,
        };
        Entry {
            tool: tool.clone(),
            eligible: by_source != Place::Eager,
            place: if policy.pins(spec) {
                Place::Eager
            } else {
                by_source
            },
            tokens: definition_tokens(spec),
        }
    }

    pub(crate) fn spec(&self) -> &Arc<ToolSpec> {
        self.tool.spec()
    }
}

/// Whether the spec is that of one of the loop's own loader tools. A name alone
/// proves nothing: any server can call a tool so.
fn is_loader(spec: &ToolSpec) -> bool {
    let name = spec.name.as_str();
    spec.exposure == Exposure::Always
        && spec.effect == Effect::ReadOnly
        && spec.permission == Permission::Allow
        && &*spec.source.0 == crate::tool_search::SOURCE
        && ((name == TOOL_SEARCH && spec.activates) || name == CALL_TOOL)
}

fn unusable(name: &'static str, registry: &Registry, visibility: &Visibility) -> Option<Inactive> {
    let Some(tool) = registry.get(name) else {
        return Some(Inactive::Missing(name));
    };
    let spec = tool.spec();
    if !is_loader(spec) {
        return Some(Inactive::Taken(name, spec.source.clone()));
    }
    let hidden = visibility.check(spec).err();
    hidden.map(|why| Inactive::Hidden(name, why))
}

/// Why the thresholds defer nothing, if they do not.
fn few(entries: &[Entry], policy: &SurfacePolicy, window: Option<u64>) -> Option<Inactive> {
    let eligible = entries.iter().filter(|entry| entry.eligible);
    let count = eligible.clone().count();
    let tokens = eligible.map(|entry| entry.tokens).sum::<usize>();
    let share = window.map(|window| window as f64 * policy.defer_share);
    let large = count > 0 && share.is_some_and(|most| tokens as f64 > most);
    if count >= policy.defer_threshold as usize || large {
        return None;
    }
    Some(Inactive::Few {
        eligible: count,
        threshold: policy.defer_threshold,
        tokens,
    })
}

/// The loader's region, the catalogue in the loader's own description.
fn loader(registry: &Registry, needs: &[&str], catalogue: &Catalogue) -> Vec<Arc<ToolSpec>> {
    let specs = needs.iter().filter_map(|name| registry.get(name));
    specs
        .map(|tool| {
            let spec = tool.spec();
            if spec.name.as_str() != TOOL_SEARCH || catalogue.text.is_empty() {
                return spec.clone();
            }
            let mut spec = ToolSpec::clone(spec);
            spec.description = format!("{}\n{}", spec.description, catalogue.text).into();
            Arc::new(spec)
        })
        .collect()
}
