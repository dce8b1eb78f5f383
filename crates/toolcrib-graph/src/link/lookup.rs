//! From names and paths to definitions: scopes, modules, imports.

use std::cell::{Cell, RefCell};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::index::{Container, GSym, Index};
use super::relations::is_function;
use super::spaces::SpaceIx;
use crate::facts::{DefIx, Flags};
use crate::lang::RULES;
use crate::model::{NodeId, NodeKind};

/// Re-exports are followed this far.
const MAX_HOPS: u32 = 16;
/// Modules that the globs of one module may lead to.
const MAX_REACHED: usize = 1_024;
/// Modules looked at for one import, so that globs that lead in circles end.
const MAX_LOOKS: u32 = 4_000;
/// Using declarations that lead to each other are followed this far.
const MAX_USINGS: usize = 4;
/// Candidates kept for one name.
pub(super) const MAX_FOUND: usize = 16;

thread_local! {
    static LOOKS: Cell<u32> = const { Cell::new(0) };
    /// Imports being followed, outermost first.
    static FOLLOWED: RefCell<Vec<NodeId>> = const { RefCell::new(Vec::new()) };
}

/// Takes one look from the budget; `false` when none is left.
fn spend() -> bool {
    LOOKS.with(|looks| {
        let left = looks.get();
        looks.set(left.saturating_sub(1));
        left > 0
    })
}

/// Begins a question with a full budget, unless it is part of one.
pub(super) fn refill_outermost() {
    if FOLLOWED.with_borrow(Vec::is_empty) {
        refill();
    }
}

/// Begins a question with a full budget.
pub(super) fn refill() {
    LOOKS.with(|looks| looks.set(MAX_LOOKS));
}

/// What a name or path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    Node(NodeId),
    Space(SpaceIx),
    /// Out of the project: the outermost module and the last name.
    Ext {
        module: GSym,
        name: GSym,
    },
}

/// How a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Via {
    Scope,
    Import,
    Receiver,
    DeclaredReturn,
    /// Through a variable that may hold something else.
    Open,
}

/// Name lookup over an index.
pub(crate) struct Lookup<'i> {
    pub(crate) index: &'i Index<'i>,
    /// By file and import, once all are known.
    resolved: Vec<Vec<Box<[Found]>>>,
    /// What the globs of a container lead to, level by level.
    reached: FxHashMap<Container, Vec<(u32, Container)>>,
    pub(super) sight: super::textual::Sight,
    /// Macros by name, which are visible beyond their module.
    pub(crate) macros: FxHashMap<GSym, Vec<NodeId>>,
}

impl<'i> Lookup<'i> {
    pub(crate) fn new(index: &'i Index<'i>) -> Self {
        let mut lookup = Lookup {
            index,
            resolved: Vec::new(),
            reached: FxHashMap::default(),
            sight: super::textual::Sight::new(index),
            macros: FxHashMap::default(),
        };
        for file in 0..index.files.len() as u32 {
            for (i, def) in index.facts[file as usize].defs.iter().enumerate() {
                if def.kind == NodeKind::Macro {
                    let name = index.global_name(file, def.name);
                    let node = index.node(file, DefIx(i as u32));
                    lookup.macros.entry(name).or_default().push(node);
                }
            }
        }
        lookup.resolved = (0..index.files.len() as u32)
            .into_par_iter()
            .map(|file| {
                index.facts[file as usize]
                    .imports
                    .iter()
                    .map(|import| {
                        refill();
                        lookup.resolve_import(file, import, 0).into()
                    })
                    .collect()
            })
            .collect();
        let containers: Vec<Container> = index.globs.keys().copied().collect();
        lookup.reached = containers
            .into_par_iter()
            .map(|container| {
                refill();
                (container, lookup.reach(container, None, 0))
            })
            .collect();
        lookup
    }

    /// What an import brings in; for a glob, where it looks.
    pub(crate) fn import_targets(&self, node: NodeId, hops: u32) -> Vec<Found> {
        let (file, ix) = self.index.place_of(node);
        let Some(&i) = self.index.import_of[file as usize].get(&ix) else {
            return Vec::new();
        };
        if let Some(resolved) = self.resolved.get(file as usize) {
            return resolved[i as usize].to_vec();
        }
        if hops >= MAX_HOPS {
            return Vec::new();
        }
        let textual = self.index.textual(file);
        // An import that leads back to itself brings nothing in.
        let is_new = FOLLOWED.with_borrow_mut(|chain| {
            let is_new = !chain.contains(&node) && (!textual || chain.len() < MAX_USINGS);
            if is_new {
                chain.push(node);
            }
            is_new
        });
        if !is_new {
            return Vec::new();
        }
        let found = if spend() {
            let import = &self.index.facts[file as usize].imports[i as usize];
            self.resolve_import(file, import, hops + 1)
        } else {
            Vec::new()
        };
        FOLLOWED.with_borrow_mut(Vec::pop);
        found
    }

    /// A static member: of a module, a type, or something external.
    pub(super) fn member(
        &self,
        from: Found,
        name: GSym,
        own: Option<NodeId>,
        hops: u32,
    ) -> Vec<Found> {
        match from {
            Found::Space(space) => {
                if name == self.index.words.above
                    && let Some(parent) = self.index.spaces.get(space).parent
                {
                    return vec![Found::Space(parent)];
                }
                self.in_space_except(space, name, own, hops)
            }
            Found::Ext { module, .. } => vec![Found::Ext { module, name }],
            Found::Node(node) => {
                let (file, ix) = self.index.place_of(node);
                let container = match self.index.spaces.of_def.get(&(file, ix)) {
                    Some(space) => return self.in_space_except(*space, name, own, hops),
                    None => Container::Node(node),
                };
                self.index
                    .members
                    .named(container, name)
                    .iter()
                    .map(|node| Found::Node(*node))
                    .collect()
            }
        }
    }

    /// Members of a module: its own, what it imports, inner modules, globs.
    pub(crate) fn in_space(&self, space: SpaceIx, name: GSym) -> Vec<Found> {
        refill();
        self.in_space_except(space, name, None, 0)
    }

    pub(super) fn in_space_except(
        &self,
        space: SpaceIx,
        name: GSym,
        except: Option<NodeId>,
        hops: u32,
    ) -> Vec<Found> {
        let mut found = self.in_container(Container::Space(space), name, except, hops);
        let spaces = &self.index.spaces;
        let text = self.index.names.text(name);
        if let Some(child) = spaces.get(space).children.get(&**text) {
            let child = Found::Space(*child);
            if !found.contains(&child) {
                // A name of the module itself comes before a file beside it.
                let open = self.semantics_of(space).is_some_and(|s| !s.closed_modules);
                if !open || found.is_empty() {
                    found.push(child);
                }
            }
        }
        if found.is_empty() {
            found = self.in_globs(Container::Space(space), name, except, hops);
        }
        found
    }

    fn semantics_of(&self, space: SpaceIx) -> Option<&'static crate::lang::Semantics> {
        let top = self.index.spaces.get(space).top;
        let language = self
            .index
            .spaces
            .roots
            .iter()
            .position(|roots| roots.contains(&top));
        match language {
            Some(i) => Some(RULES[i].semantics()),
            None => {
                let file = self.index.spaces.get(space).files.first()?;
                self.index.semantics(*file)
            }
        }
    }

    /// Definitions and imports directly in a container.
    pub(crate) fn in_container(
        &self,
        container: Container,
        name: GSym,
        except: Option<NodeId>,
        hops: u32,
    ) -> Vec<Found> {
        let index = self.index;
        let nodes = index.members.named(container, name);
        let mut found: Vec<Found> = Vec::new();
        let mut last_wins = false;
        let mut imported = false;
        for &node in nodes {
            if Some(node) == except {
                continue;
            }
            let def = index.def(node);
            let (file, ix) = index.place_of(node);
            last_wins |= index
                .semantics(file)
                .is_some_and(|s| s.last_definition_wins);
            let mut push = |item: Found| {
                if !found.contains(&item) && found.len() < MAX_FOUND {
                    found.push(item);
                }
            };
            if def.kind == NodeKind::Import {
                imported = true;
                for target in self.import_targets(node, hops) {
                    push(target);
                }
            } else if let Some(space) = index.spaces.of_def.get(&(file, ix)) {
                push(Found::Space(*space));
            } else {
                push(Found::Node(node));
            }
        }
        if last_wins && found.len() > 1 {
            self.keep_last(&mut found, imported);
        }
        found
    }

    /// Of several definitions of one name the last counts, declarations of
    /// overloads and plain variables apart.
    fn keep_last(&self, found: &mut Vec<Found>, imported: bool) {
        let weight = |item: &Found| match item {
            Found::Node(node) => {
                let def = self.index.def(*node);
                if def.flags.has(Flags::OVERLOAD) {
                    0
                } else if matches!(
                    def.kind,
                    NodeKind::Variable | NodeKind::Constant | NodeKind::Field
                ) {
                    1
                } else {
                    3
                }
            }
            Found::Space(_) => 3,
            Found::Ext { .. } => 2,
        };
        let best = found.iter().map(&weight).max().unwrap_or(0);
        // `try: import … except: def …` and the like: the import comes first and
        // is what a reader takes the name for.
        if imported && best > 1 {
            let first = found.iter().find(|item| weight(item) > 1).copied();
            if let Some(first) = first {
                found.retain(|item| *item == first || self.is_copy(first, *item));
            }
            return;
        }
        if let Some(last) = found
            .iter()
            .rev()
            .find(|item| weight(item) == best)
            .copied()
        {
            found.clear();
            found.push(last);
        }
    }

    /// Names that globs bring in, from the nearest level that has any.
    pub(super) fn in_globs(
        &self,
        container: Container,
        name: GSym,
        except: Option<NodeId>,
        hops: u32,
    ) -> Vec<Found> {
        if hops >= MAX_HOPS || !self.index.globs.contains_key(&container) {
            return Vec::new();
        }
        let fresh;
        let reached: &[(u32, Container)] = match self.reached.get(&container) {
            Some(known) => known,
            None if self.resolved.is_empty() => {
                fresh = self.reach(container, except, hops + 4);
                &fresh
            }
            None => return Vec::new(),
        };
        let mut found: Vec<Found> = Vec::new();
        let mut level = 0;
        for (at, target) in reached {
            if *at > level && !found.is_empty() {
                break;
            }
            level = *at;
            if !spend() {
                break;
            }
            for item in self.in_container(*target, name, except, hops + 4) {
                if !found.contains(&item) && found.len() < MAX_FOUND {
                    found.push(item);
                }
            }
            if let Container::Space(space) = target {
                let text = self.index.names.text(name);
                if let Some(child) = self.index.spaces.get(*space).children.get(&**text)
                    && !found.contains(&Found::Space(*child))
                {
                    found.push(Found::Space(*child));
                }
            }
        }
        found
    }

    /// What the globs of a container lead to, and theirs, each once.
    fn reach(
        &self,
        container: Container,
        except: Option<NodeId>,
        hops: u32,
    ) -> Vec<(u32, Container)> {
        let mut seen: FxHashSet<Container> = FxHashSet::default();
        seen.insert(container);
        let mut reached: Vec<(u32, Container)> = Vec::new();
        let mut level = vec![container];
        let mut depth = 0;
        while !level.is_empty() && depth < MAX_HOPS {
            depth += 1;
            let mut next = Vec::new();
            for from in level {
                for glob in self.index.globs.get(&from).into_iter().flatten() {
                    if Some(*glob) == except || !spend() {
                        continue;
                    }
                    for target in self.import_targets(*glob, hops) {
                        let target = match target {
                            Found::Space(space) => Container::Space(space),
                            Found::Node(node) => Container::Node(node),
                            Found::Ext { .. } => continue,
                        };
                        if reached.len() < MAX_REACHED && seen.insert(target) {
                            reached.push((depth, target));
                            next.push(target);
                        }
                    }
                }
            }
            level = next;
        }
        reached
    }

    /// A name as seen from a definition, locals and type parameters apart.
    /// `None` when nothing has that name.
    pub(crate) fn scoped(&self, file: u32, scope: DefIx, name: GSym) -> Option<(Vec<Found>, Via)> {
        let index = self.index;
        if index.textual(file) {
            return self.textual_name(file, scope, name, u32::MAX);
        }
        refill();
        let semantics = index.semantics(file)?;
        let see_members = index.language[file as usize]
            .is_some_and(|language| RULES[language].bodies_see_members());
        let facts = &index.facts[file as usize];
        let mut ix = scope;
        loop {
            let def = facts.def(ix);
            let container = index.container(file, ix)?;
            let closed_body = !see_members
                && (def.flags.has(Flags::OBJECT)
                    || matches!(def.kind, NodeKind::Class | NodeKind::Interface));
            let hidden = closed_body
                || matches!(
                    def.kind,
                    NodeKind::Class | NodeKind::Struct | NodeKind::Enum | NodeKind::Interface
                ) && ix != scope
                    && !semantics.open_classes;
            match container {
                Container::Node(_) if !hidden => {
                    let mut found = self.in_container(container, name, None, 0);
                    if found.is_empty() {
                        found = self.in_globs(container, name, None, 0);
                    }
                    if semantics.open_classes {
                        // Methods and constructors have names of their own.
                        found.retain(|item| match item {
                            Found::Node(node) => !is_function(index.def(*node).kind),
                            _ => true,
                        });
                    }
                    if !found.is_empty() {
                        return Some((found, self.via(container, name)));
                    }
                }
                Container::Space(space) => {
                    let by_file =
                        ix == DefIx::ROOT && index.rules(file).is_some_and(|r| r.imports_by_file());
                    if by_file {
                        return self.file_name(file, space, name);
                    }
                    let found = self.module_name(file, space, name);
                    if !found.is_empty() {
                        return Some((found, self.via(container, name)));
                    }
                    if semantics.closed_modules {
                        return None;
                    }
                }
                Container::Node(_) => {}
            }
            if ix == DefIx::ROOT {
                return None;
            }
            ix = def.parent;
        }
    }

    /// A bare name in a module: files beside it are not among its names.
    pub(super) fn module_name(&self, file: u32, space: SpaceIx, name: GSym) -> Vec<Found> {
        let closed = self.index.semantics(file).is_some_and(|s| s.closed_modules);
        if closed {
            return self.in_space(space, name);
        }
        let container = Container::Space(space);
        let mut found = self.in_container(container, name, None, 0);
        if found.is_empty() {
            found = self.in_globs(container, name, None, 0);
        }
        self.keep_own_copies(file, &mut found);
        found
    }

    /// Whether a name of a container is its own or imported.
    fn via(&self, container: Container, name: GSym) -> Via {
        let own = self
            .index
            .members
            .named(container, name)
            .iter()
            .any(|node| self.index.def(*node).kind != NodeKind::Import);
        if own { Via::Scope } else { Via::Import }
    }

    /// A macro of the crate or one that a path leads to.
    pub(crate) fn find_macro(&self, file: u32, scope: DefIx, name: GSym) -> Option<NodeId> {
        let candidates = self.macros.get(&name)?;
        let spaces = &self.index.spaces;
        let own = self.index.space_around(file, scope)?;
        let top = spaces.get(own).krate;
        let inside: Vec<NodeId> = candidates
            .iter()
            .copied()
            .filter(|node| {
                let (file, ix) = self.index.place_of(*node);
                self.index
                    .space_around(file, ix)
                    .is_some_and(|s| spaces.get(s).krate == top)
            })
            .collect();
        if inside.len() > 1 {
            // The nearest: same file first.
            let mut near = inside
                .iter()
                .filter(|node| self.index.place_of(**node).0 == file);
            if let (Some(one), None) = (near.next(), near.next()) {
                return Some(*one);
            }
            return None;
        }
        inside.first().copied()
    }
}
