//! All that is offered, of all servers, as one list.
//!
//! Made anew when a manifest changes and shared until then. Names are a function of
//! the server's configured name and the tool's own name alone, so that no server
//! can move another's.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;
use toolcrib_core::{
    Arguments, BoxFuture, Exposure, LoadRoute, Permission, Registry, SourceId, Str, Tool,
    ToolContext, ToolDialect, ToolError, ToolName, ToolOutput, ToolSpec, Visibility,
};
use toolcrib_mcp::{Manifest, ManifestTool, exported_name};
use toolcrib_surface::{
    CALL_TOOL, CallTool, Inventory, SharedEncoder, Shelf, SurfacePolicy, TOOL_SEARCH, ToolSearch,
};

use crate::gateway::Options;
use crate::policy::{Class, Policy};
use crate::wire;

/// What runs a call.
#[derive(Clone)]
pub(crate) enum Runner {
    /// A server's tool.
    Server(Arc<ManifestTool>),
    /// One of ours.
    Local(Arc<dyn Tool>),
}

/// One tool.
pub(crate) struct Offered {
    pub(crate) server: Str,
    pub(crate) runner: Runner,
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) class: Class,
    pub(crate) permission: Permission,
}

impl Offered {
    /// The name that the server knows.
    pub(crate) fn own_name(&self) -> &str {
        match &self.runner {
            Runner::Server(tool) => &tool.name,
            Runner::Local(tool) => tool.spec().name.as_str(),
        }
    }

    /// The definition as it is listed, under `name`: the server's bytes, the name
    /// replaced and, where `mend` is asked for, the schema as model APIs take it: one
    /// property called `a<` would cost the whole request.
    pub(crate) fn definition(&self, name: &str, mend: bool) -> String {
        match &self.runner {
            Runner::Server(tool) => {
                let same = name == &*tool.name;
                let schema = self.spec.fitted(ToolDialect::OpenAi).wire();
                let mend = mend && schema != tool.input_schema.received();
                if same && !mend {
                    return tool.raw.get().to_owned();
                }
                let name = wire::quoted(name);
                let mut set = vec![("name", name.as_str())];
                if mend {
                    set.push(("inputSchema", schema));
                }
                wire::with(tool.raw.get(), &set, &[]).get().to_owned()
            }
            Runner::Local(tool) => {
                let spec = tool.spec();
                format!(
                    r#"{{"name":{},"description":{},"inputSchema":{},"annotations":{{"readOnlyHint":{}}}}}"#,
                    wire::quoted(name),
                    wire::quoted(&spec.description),
                    spec.input_schema.wire(),
                    self.class == Class::ReadOnly,
                )
            }
        }
    }

    /// What a person should know of it before it is called.
    pub(crate) fn remark(&self) -> String {
        let effect = match self.class {
            Class::ReadOnly => "read-only",
            Class::Write => "writes",
            Class::Destructive => "may destroy",
        };
        match self.permission {
            Permission::Ask => format!("{effect}, asks first"),
            _ => effect.to_owned(),
        }
    }
}

/// A prompt, resource or template as listed by its server.
pub(crate) struct Listed {
    pub(crate) server: Str,
    /// Its name or address there.
    pub(crate) key: String,
    /// Its name or address here.
    pub(crate) exported: String,
    pub(crate) raw: Box<RawValue>,
}

/// Servers' own filters, by server: the tools that are enabled, those disabled.
pub(crate) type Filters = BTreeMap<String, (Vec<String>, Vec<String>)>;

/// See the module's head.
pub(crate) struct Catalog {
    pub(crate) tools: BTreeMap<ToolName, Offered>,
    pub(crate) prompts: Vec<Listed>,
    pub(crate) resources: Vec<Listed>,
    pub(crate) templates: Vec<Listed>,
    /// Servers with instructions, in the order of the configuration.
    pub(crate) instructions: Vec<(Str, String)>,
    /// Servers of which nothing is known yet.
    pub(crate) unread: Vec<Str>,
    /// Tools whose definitions are not as approved: server, name, what, held back.
    pub(crate) flagged: Vec<(Str, Str, &'static str, bool)>,
    registry: Registry,
    inventories: [OnceLock<Arc<Inventory>>; 2],
    encoder: Option<SharedEncoder>,
    /// Names as the servers know them, where only one server has them.
    unique: HashMap<Str, ToolName>,
}

impl Catalog {
    /// The catalog of these manifests, in the order of the configuration.
    pub(crate) fn build(manifests: &[(Str, Option<Arc<Manifest>>)], options: &Options) -> Catalog {
        let (local, policy) = (&options.local, &options.policy);
        let mut catalog = Catalog {
            tools: BTreeMap::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            instructions: Vec::new(),
            unread: Vec::new(),
            flagged: Vec::new(),
            registry: Registry::new(),
            inventories: Default::default(),
            encoder: options.encoder.clone(),
            unique: HashMap::new(),
        };
        for tool in local {
            let spec = tool.spec();
            let name = exported_name(&spec.source.0, spec.name.as_str());
            let class = match spec.effect {
                toolcrib_core::Effect::ReadOnly => Class::ReadOnly,
                toolcrib_core::Effect::Write => Class::Write,
                _ => Class::Destructive,
            };
            let mut shown = ToolSpec::clone(spec);
            shown.name = name;
            catalog.add(shown, Runner::Local(tool.clone()), class, policy);
        }
        for (server, manifest) in manifests {
            match manifest {
                Some(manifest) => catalog.server(server, manifest, options),
                None => catalog.unread.push(server.clone()),
            }
        }
        let shelf = Shelf::new();
        // Two of ours, which no server's name can take: theirs have a prefix.
        let _ = catalog
            .registry
            .insert(Arc::new(ToolSearch::new(shelf.clone())));
        let _ = catalog.registry.insert(Arc::new(CallTool::new(shelf)));
        let mut seen: HashSet<&str> = HashSet::new();
        let mut twice: HashSet<Str> = HashSet::new();
        for offered in catalog.tools.values() {
            if !seen.insert(offered.own_name()) {
                twice.insert(offered.own_name().into());
            }
        }
        catalog.unique = catalog
            .tools
            .iter()
            .filter(|(_, offered)| !twice.contains(offered.own_name()))
            .map(|(name, offered)| (Str::from(offered.own_name()), name.clone()))
            .collect();
        catalog
    }

    fn server(&mut self, server: &Str, manifest: &Manifest, options: &Options) {
        let filter = options.filters.get(&**server);
        let pins = options.pins.as_ref();
        let standings = pins.map(|pins| pins.check(server, manifest));
        for (at, tool) in manifest.tools.iter().enumerate() {
            let standing = standings.as_ref().and_then(|all| all.get(at));
            if let Some((standing, remark)) = standing.and_then(|s| Some((s, s.remark()?))) {
                let held = options.hold_changed && standing.holds_back();
                self.flagged
                    .push((server.clone(), tool.name.clone(), remark, held));
                if held {
                    continue;
                }
            }
            if let Some((enabled, disabled)) = filter {
                let named = |list: &[String]| list.iter().any(|name| *name == *tool.name);
                if (!enabled.is_empty() && !named(enabled)) || named(disabled) {
                    continue;
                }
            }
            let name = exported_name(server, &tool.name);
            let mut spec = ToolSpec::new(name, tool.description.clone(), tool.input_schema.clone())
                .exposure(Exposure::Deferred)
                .effect(tool.annotations.effect())
                .source(SourceId(server.clone()));
            spec.title = tool.title.clone();
            let class = Class::of(&tool.annotations);
            self.add(spec, Runner::Server(tool.clone()), class, &options.policy);
        }
        let prefixed = |name: &str| exported_name(server, name).to_string();
        for raw in &manifest.prompts {
            if let Some(key) = wire::text(raw.get(), "name") {
                let exported = prefixed(&key);
                self.prompts.push(listed(server, key, exported, raw));
            }
        }
        for raw in &manifest.resources {
            if let Some(key) = wire::text(raw.get(), "uri") {
                let taken = self.resources.iter().any(|known| known.exported == key);
                let exported = if taken {
                    address(server, &key)
                } else {
                    key.clone()
                };
                self.resources.push(listed(server, key, exported, raw));
            }
        }
        for raw in &manifest.resource_templates {
            if let Some(key) = wire::text(raw.get(), "uriTemplate") {
                let exported = key.clone();
                self.templates.push(listed(server, key, exported, raw));
            }
        }
        if let Some(text) = &manifest.instructions
            && !text.trim().is_empty()
        {
            self.instructions.push((server.clone(), text.clone()));
        }
    }

    fn add(&mut self, spec: ToolSpec, runner: Runner, class: Class, policy: &Policy) {
        let permission = policy.check(&spec, class);
        if permission == Permission::Deny {
            return;
        }
        let spec = Arc::new(spec.exposure(Exposure::Deferred));
        let tool = Arc::new(Shown(spec.clone()));
        if self.registry.insert(tool).is_err() {
            return;
        }
        let offered = Offered {
            server: spec.source.0.clone(),
            runner,
            spec: spec.clone(),
            class,
            permission,
        };
        self.tools.insert(spec.name.clone(), offered);
    }

    /// What a search looks at.
    pub(crate) fn inventory(&self, route: LoadRoute) -> &Arc<Inventory> {
        let slot = &self.inventories[usize::from(route == LoadRoute::Bridge)];
        slot.get_or_init(|| {
            let policy = SurfacePolicy {
                defer_threshold: 1,
                reading: false,
                route: Some(route),
                catalogue_budget: CATALOGUE,
                encoder: self.encoder.clone(),
                ..SurfacePolicy::default()
            };
            Arc::new(Inventory::build(
                &self.registry,
                &Visibility::default(),
                &policy,
                None,
                route,
            ))
        })
    }

    /// The tool of exactly this name, here or, where that is clear, at its server.
    pub(crate) fn find(&self, name: &str) -> Option<&Offered> {
        let exported = ToolName::parse(name).ok();
        exported
            .and_then(|name| self.tools.get(&name))
            .or_else(|| self.tools.get(self.unique.get(name)?))
    }

    /// The full names of up to eight tools that their servers call so, however it is
    /// spelt.
    pub(crate) fn namesakes(&self, name: &str) -> Vec<String> {
        let same = |offered: &&Offered| spelt_alike(offered.own_name(), name);
        let names = self.tools.values().filter(same);
        names
            .map(|offered| format!("`{}`", offered.spec.name))
            .take(8)
            .collect()
    }

    /// What is listed for a tool where names are kept as they are.
    pub(crate) fn plain_name<'a>(&self, offered: &'a Offered) -> &'a str {
        match self.unique.contains_key(offered.own_name()) {
            true => offered.own_name(),
            false => offered.spec.name.as_str(),
        }
    }
}

/// Most tokens of the list of tools in the search tool's description.
const CATALOGUE: usize = 380;

/// Whether two names differ in nothing but case and separators.
fn spelt_alike(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        let chars = name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' '));
        chars.flat_map(char::to_lowercase).collect()
    };
    plain(a) == plain(b)
}

/// Names that the gateway keeps for itself.
pub(crate) fn is_ours(name: &str) -> bool {
    name == TOOL_SEARCH || name == CALL_TOOL
}

fn listed(server: &Str, key: String, exported: String, raw: &RawValue) -> Listed {
    Listed {
        server: server.clone(),
        key,
        exported,
        raw: raw.to_owned(),
    }
}

/// An address for a resource whose own address another server has too.
fn address(server: &str, uri: &str) -> String {
    format!("toolcrib://{server}/{uri}")
}

/// A tool to be found; calls go around it.
struct Shown(Arc<ToolSpec>);

impl Tool for Shown {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it is run by its server")) })
    }
}
