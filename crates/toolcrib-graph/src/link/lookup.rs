//! From names and paths to definitions: scopes, modules, imports.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::index::{Container, GSym, Index};
use super::relations::is_function;
use super::spaces::SpaceIx;
use crate::facts::{DefIx, Flags, Import, Term, TermId};
use crate::lang::RULES;
use crate::model::{NodeId, NodeKind};

/// Re-exports are followed this far.
const MAX_HOPS: u32 = 16;
/// Candidates kept for one name.
const MAX_FOUND: usize = 16;
/// Imports of imports that are followed: each pass reaches one further.
const MAX_PASSES: usize = 12;

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
}

/// Name lookup over an index.
pub(crate) struct Lookup<'i> {
    pub(crate) index: &'i Index<'i>,
    /// By file and import, once all are known.
    resolved: Vec<Vec<Box<[Found]>>>,
    /// Macros by name, which are visible beyond their module.
    pub(crate) macros: FxHashMap<GSym, Vec<NodeId>>,
}

impl<'i> Lookup<'i> {
    pub(crate) fn new(index: &'i Index<'i>) -> Self {
        let mut lookup = Lookup {
            index,
            resolved: Vec::new(),
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
        lookup.resolve_imports();
        lookup
    }

    /// Resolves every import by what the others were found to be in the pass
    /// before, until nothing changes. Following them one inside the other instead
    /// would take every path through a web of globs.
    fn resolve_imports(&mut self) {
        let index = self.index;
        self.resolved = index
            .facts
            .iter()
            .map(|facts| vec![Box::default(); facts.imports.len()])
            .collect();
        for _ in 0..MAX_PASSES {
            let next: Vec<_> = (0..index.files.len() as u32)
                .into_par_iter()
                .map(|file| {
                    index.facts[file as usize]
                        .imports
                        .iter()
                        .map(|import| self.resolve_import(file, import, 0).into())
                        .collect()
                })
                .collect();
            if next == self.resolved {
                break;
            }
            self.resolved = next;
        }
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
        let import = &self.index.facts[file as usize].imports[i as usize];
        self.resolve_import(file, import, hops + 1)
    }

    fn resolve_import(&self, file: u32, import: &Import, hops: u32) -> Vec<Found> {
        let index = self.index;
        let path: Vec<GSym> = import
            .path
            .iter()
            .map(|sym| index.global_name(file, *sym))
            .collect();
        let closed = index.semantics(file).is_some_and(|s| s.closed_modules);
        let own = index.node(file, import.def);
        let parent = index.facts[file as usize].def(import.def).parent;
        if closed {
            let Some(space) = index.space_around(file, parent) else {
                return Vec::new();
            };
            return self.closed_path(file, space, &path, own, hops);
        }
        self.open_path(file, import, &path, hops)
    }

    /// A path of a language with crates: its first name is looked up like any other.
    fn closed_path(
        &self,
        file: u32,
        space: SpaceIx,
        path: &[GSym],
        own: NodeId,
        hops: u32,
    ) -> Vec<Found> {
        let index = self.index;
        let Some((&first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let mut found = self.relative_root(space, first);
        if found.is_empty() {
            found = self.in_space_except(space, first, Some(own), hops);
        }
        if found.is_empty()
            && let Some(language) = index.language[file as usize]
        {
            found = self.in_roots(language, space, first);
            if found.is_empty() {
                found.push(Found::Ext {
                    module: first,
                    name: first,
                });
            }
        }
        self.walk(found, rest, Some(own), hops)
    }

    /// `crate`, `self` and `super` at the start of a path.
    pub(crate) fn relative_root(&self, space: SpaceIx, first: GSym) -> Vec<Found> {
        let words = &self.index.words;
        let spaces = &self.index.spaces;
        if first == words.krate {
            vec![Found::Space(spaces.get(space).krate)]
        } else if first == words.this {
            vec![Found::Space(space)]
        } else if first == words.above {
            spaces
                .get(space)
                .parent
                .map(Found::Space)
                .into_iter()
                .collect()
        } else {
            Vec::new()
        }
    }

    /// Modules that can be named from anywhere, those of the own root first.
    pub(crate) fn in_roots(&self, language: usize, from: SpaceIx, name: GSym) -> Vec<Found> {
        let spaces = &self.index.spaces;
        let text = self.index.names.text(name);
        let own = spaces.get(from).top;
        let roots = &spaces.roots[language];
        let own_first = roots
            .iter()
            .filter(|root| **root == own)
            .chain(roots.iter().filter(|root| **root != own));
        for root in own_first {
            if let Some(child) = spaces.get(*root).children.get(&**text) {
                return vec![Found::Space(*child)];
            }
        }
        Vec::new()
    }

    /// A path of a language whose imports start at source roots.
    fn open_path(&self, file: u32, import: &Import, path: &[GSym], hops: u32) -> Vec<Found> {
        let index = self.index;
        let Some(own_space) = index.spaces.of_file[file as usize] else {
            return Vec::new();
        };
        let spaces = &index.spaces;
        if import.level > 0 {
            let is_package = index.files[file as usize]
                .path
                .rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with("__init__."));
            let mut up = u32::from(import.level) - u32::from(is_package);
            let mut space = own_space;
            while up > 0 {
                match spaces.get(space).parent {
                    Some(parent) => space = parent,
                    None => return Vec::new(),
                }
                up -= 1;
            }
            return self.walk_modules(vec![Found::Space(space)], path, import, hops);
        }
        let Some((&first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let Some(language) = index.language[file as usize] else {
            return Vec::new();
        };
        let mut found = self.in_roots(language, own_space, first);
        if found.is_empty()
            && let Some(parent) = spaces.get(own_space).parent
        {
            // Scripts import what is beside them.
            let text = index.names.text(first);
            found.extend(
                spaces
                    .get(parent)
                    .children
                    .get(&**text)
                    .map(|child| Found::Space(*child)),
            );
        }
        if found.is_empty() {
            let name = if import.binds_root {
                first
            } else {
                path.last().copied().unwrap_or(first)
            };
            return vec![Found::Ext {
                module: first,
                name,
            }];
        }
        if import.binds_root {
            return found;
        }
        self.walk_modules(found, rest, import, hops)
    }

    /// Inner names of a path are modules first, the last one a member first.
    fn walk_modules(
        &self,
        mut found: Vec<Found>,
        path: &[GSym],
        import: &Import,
        hops: u32,
    ) -> Vec<Found> {
        for (i, name) in path.iter().enumerate() {
            let is_last = i + 1 == path.len() && !import.glob;
            let mut next = Vec::new();
            for from in &found {
                if !is_last && let Found::Space(space) = from {
                    let text = self.index.names.text(*name);
                    let spaces = &self.index.spaces;
                    if let Some(child) = spaces.get(*space).children.get(&**text) {
                        next.push(Found::Space(*child));
                        continue;
                    }
                }
                next.extend(self.member(*from, *name, None, hops));
            }
            found = next;
        }
        found
    }

    fn walk(
        &self,
        mut found: Vec<Found>,
        path: &[GSym],
        own: Option<NodeId>,
        hops: u32,
    ) -> Vec<Found> {
        for name in path {
            let mut next = Vec::new();
            for from in &found {
                next.extend(self.member(*from, *name, own, hops));
            }
            next.truncate(MAX_FOUND);
            found = next;
        }
        found
    }

    /// A static member: of a module, a type, or something external.
    fn member(&self, from: Found, name: GSym, own: Option<NodeId>, hops: u32) -> Vec<Found> {
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
        self.in_space_except(space, name, None, 0)
    }

    fn in_space_except(
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
            self.keep_last(&mut found);
        }
        found
    }

    /// Of several definitions of one name the last counts, declarations of
    /// overloads and plain variables apart.
    fn keep_last(&self, found: &mut Vec<Found>) {
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

    pub(super) fn in_globs(
        &self,
        container: Container,
        name: GSym,
        except: Option<NodeId>,
        hops: u32,
    ) -> Vec<Found> {
        if hops >= MAX_HOPS {
            return Vec::new();
        }
        let Some(globs) = self.index.globs.get(&container) else {
            return Vec::new();
        };
        let mut found: Vec<Found> = Vec::new();
        for glob in globs {
            if Some(*glob) == except {
                continue;
            }
            for target in self.import_targets(*glob, hops) {
                let from_there = match target {
                    Found::Space(space) if Container::Space(space) != container => {
                        self.in_space_except(space, name, Some(*glob), hops + 4)
                    }
                    Found::Node(node) => self.member(Found::Node(node), name, None, hops + 4),
                    _ => Vec::new(),
                };
                for item in from_there {
                    if !found.contains(&item) {
                        found.push(item);
                    }
                }
            }
        }
        found
    }

    /// A name as seen from a definition, locals and type parameters apart.
    /// `None` when nothing has that name.
    pub(crate) fn scoped(&self, file: u32, scope: DefIx, name: GSym) -> Option<(Vec<Found>, Via)> {
        let index = self.index;
        let semantics = index.semantics(file)?;
        let facts = &index.facts[file as usize];
        let mut ix = scope;
        loop {
            let def = facts.def(ix);
            let container = index.container(file, ix)?;
            let hidden = matches!(
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

    /// A path of names without inference: for bases and extended types.
    pub(crate) fn static_path(&self, file: u32, scope: DefIx, term: TermId) -> Vec<Found> {
        let facts = &self.index.facts[file as usize];
        let mut names = Vec::new();
        let mut term = term;
        loop {
            match facts.terms[term.0 as usize] {
                Term::Apply(base, _) | Term::Inst(base) => term = base,
                Term::Member(base, name) | Term::Method(base, name) => {
                    names.push(self.index.global_name(file, name));
                    term = base;
                }
                Term::Name(sym, _) => {
                    let name = self.index.global_name(file, sym);
                    let mut found = self.root_of(file, scope, name);
                    while let Some(name) = names.pop() {
                        let mut next = Vec::new();
                        for from in &found {
                            next.extend(self.member(*from, name, None, 0));
                        }
                        found = next;
                    }
                    return found;
                }
                Term::Builtin(sym) => {
                    let name = self.index.global_name(file, sym);
                    return self.builtin(file, name).into_iter().collect();
                }
                _ => return Vec::new(),
            }
        }
    }

    /// The first name of a path: relative, in scope, a root, the language's own.
    pub(crate) fn root_of(&self, file: u32, scope: DefIx, name: GSym) -> Vec<Found> {
        if let Some(space) = self.index.space_around(file, scope)
            && self.index.semantics(file).is_some_and(|s| s.closed_modules)
        {
            let found = self.relative_root(space, name);
            if !found.is_empty() {
                return found;
            }
        }
        if let Some((found, _)) = self.scoped(file, scope, name) {
            return found;
        }
        self.beyond(file, scope, name)
    }

    /// Names that no scope has: crates, the language's own.
    pub(crate) fn beyond(&self, file: u32, scope: DefIx, name: GSym) -> Vec<Found> {
        if self.index.semantics(file).is_some_and(|s| s.closed_modules)
            && let Some(language) = self.index.language[file as usize]
            && let Some(space) = self.index.space_around(file, scope)
        {
            let found = self.in_roots(language, space, name);
            if !found.is_empty() {
                return found;
            }
        }
        let text = self.index.names.text(name);
        // A package that is named in full.
        if text.contains('.')
            && self.index.rules(file).is_some_and(|r| r.imports_by_file())
            && let Some(language) = self.index.language[file as usize]
            && let Some(space) = self.index.space_around(file, scope)
        {
            let found = self.in_roots(language, space, name);
            if found.is_empty() {
                return vec![Found::Ext { module: name, name }];
            }
            return found;
        }
        let is_builtin = self.index.language[file as usize]
            .is_some_and(|language| RULES[language].library().is_builtin(text));
        if is_builtin {
            self.builtin(file, name).into_iter().collect()
        } else {
            Vec::new()
        }
    }

    pub(crate) fn builtin(&self, file: u32, name: GSym) -> Option<Found> {
        let language = self.index.language[file as usize]?;
        Some(Found::Ext {
            module: self.index.words.prelude[language],
            name,
        })
    }
}
