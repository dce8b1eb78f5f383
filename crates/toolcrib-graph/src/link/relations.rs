//! Which types extend which, and which definitions extensions add to them.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::index::{Container, GSym, Members};
use super::lookup::{Found, Lookup};
use super::virtuals::Joined;
use crate::facts::{DefIx, ExtIx, Term};
use crate::model::{NodeId, NodeKind};

/// Bases are followed this far.
const MAX_BASES: usize = 64;

/// Types in relation to each other.
#[derive(Default)]
pub(crate) struct Relations {
    /// The project type that an extension extends.
    pub(crate) extended: FxHashMap<(u32, ExtIx), NodeId>,
    /// Members that extensions add, by the type.
    pub(crate) added: Members,
    /// Interfaces that extensions implement for a type, in source order.
    pub(crate) implemented: FxHashMap<NodeId, Vec<Found>>,
    /// Declared bases, in order.
    pub(crate) bases: FxHashMap<NodeId, Vec<Found>>,
    /// Types that implement an interface, directly.
    pub(crate) implementors: FxHashMap<NodeId, Vec<NodeId>>,
    /// Extensions of types of other modules: (type's name, member) to members.
    pub(crate) foreign: FxHashMap<(GSym, GSym), Vec<NodeId>>,
    /// Members that extensions define for an interface.
    by_interface: FxHashMap<(NodeId, GSym), Vec<NodeId>>,
    /// Interfaces that types implement by having their methods.
    pub(crate) by_shape: FxHashMap<NodeId, Vec<NodeId>>,
    /// Interfaces implemented for every type, by their members' names.
    pub(crate) blanket: FxHashMap<GSym, Vec<NodeId>>,
    /// Declarations with their definitions.
    pub(crate) joined: Joined,
}

struct Resolved {
    file: u32,
    ext: ExtIx,
    target: Option<Found>,
    interface: Option<Found>,
    is_blanket: bool,
}

impl Relations {
    pub(crate) fn new(lookup: &Lookup<'_>) -> Self {
        let index = lookup.index;
        let files = 0..index.files.len() as u32;
        let extensions: Vec<Resolved> = files
            .clone()
            .into_par_iter()
            .flat_map_iter(|file| {
                let facts = &index.facts[file as usize];
                (0u32..).zip(&facts.extensions).map(move |(i, ext)| {
                    // A type parameter stands for every type.
                    let is_blanket = match facts.terms[ext.self_ty.0 as usize] {
                        Term::Name(sym, _) => {
                            facts.params(ext.params).iter().any(|p| p.name == sym)
                        }
                        _ => false,
                    };
                    let target = if let Some(home) = index.home(file, ExtIx(i)) {
                        match home {
                            Container::Node(class) => Some(Found::Node(class)),
                            Container::Space(_) => None,
                        }
                    } else if is_blanket || index.textual(file) {
                        None
                    } else {
                        type_of(lookup, lookup.static_path(file, ext.parent, ext.self_ty))
                    };
                    let interface = ext.interface.and_then(|term| {
                        type_of(lookup, lookup.static_path(file, ext.parent, term))
                    });
                    Resolved {
                        file,
                        ext: ExtIx(i),
                        target,
                        interface,
                        is_blanket,
                    }
                })
            })
            .collect();
        let bases: Vec<(NodeId, Vec<Found>)> = files
            .into_par_iter()
            .flat_map_iter(|file| {
                let facts = &index.facts[file as usize];
                (0u32..).zip(&facts.defs).filter_map(move |(i, def)| {
                    let is_type = matches!(
                        def.kind,
                        NodeKind::Class | NodeKind::Interface | NodeKind::Enum | NodeKind::Struct
                    );
                    if !is_type || def.bases.is_empty() {
                        return None;
                    }
                    let found: Vec<Found> = facts
                        .list(def.bases)
                        .iter()
                        .map(|term| {
                            let found = lookup.static_path(file, def.parent, *term);
                            type_of(lookup, found).unwrap_or(Found::Ext {
                                module: index.words.opaque,
                                name: index.words.opaque,
                            })
                        })
                        .collect();
                    Some((index.node(file, DefIx(i)), found))
                })
            })
            .collect();
        let mut relations = Relations {
            bases: bases.into_iter().collect(),
            ..Relations::default()
        };
        relations.collect(lookup, extensions);
        relations.joined = Joined::new(lookup, &relations);
        relations
    }

    fn collect(&mut self, lookup: &Lookup<'_>, extensions: Vec<Resolved>) {
        let index = lookup.index;
        let by_ext: FxHashMap<(u32, ExtIx), &Resolved> =
            extensions.iter().map(|r| ((r.file, r.ext), r)).collect();
        for r in &extensions {
            if let Some(Found::Node(target)) = r.target {
                self.extended.insert((r.file, r.ext), target);
                if let Some(interface) = r.interface {
                    let list = self.implemented.entry(target).or_default();
                    if !list.contains(&interface) {
                        list.push(interface);
                    }
                    if let Found::Node(interface) = interface {
                        let list = self.implementors.entry(interface).or_default();
                        if !list.contains(&target) {
                            list.push(target);
                        }
                    }
                }
            }
            if r.is_blanket
                && let Some(Found::Node(interface)) = r.interface
            {
                for member in index.members.all(Container::Node(interface)) {
                    let def = index.def(*member);
                    if def.kind == NodeKind::Method {
                        let (file, _) = index.place_of(*member);
                        let name = index.global_name(file, def.name);
                        let list = self.blanket.entry(name).or_default();
                        if !list.contains(member) {
                            list.push(*member);
                        }
                    }
                }
            }
        }
        let mut added = Vec::new();
        for file in 0..index.files.len() as u32 {
            let facts = &index.facts[file as usize];
            for (i, def) in facts.defs.iter().enumerate() {
                let Some(ext) = def.ext else { continue };
                if index.textual(file) {
                    continue;
                }
                let Some(resolved) = by_ext.get(&(file, ext)) else {
                    continue;
                };
                let node = index.node(file, DefIx(i as u32));
                let name = index.global_name(file, def.name);
                if let Some(Found::Node(interface)) = resolved.interface
                    && is_function(def.kind)
                {
                    let list = self.by_interface.entry((interface, name)).or_default();
                    list.push(node);
                }
                match resolved.target {
                    Some(Found::Node(target)) => {
                        added.push((Container::Node(target), name, node));
                    }
                    Some(Found::Ext { name: head, .. }) => {
                        self.foreign.entry((head, name)).or_default().push(node);
                    }
                    _ => {}
                }
            }
        }
        self.added = Members::new(added);
        let mut nominal: Vec<(NodeId, NodeId)> = Vec::new();
        for (class, bases) in &self.bases {
            if bases.is_empty() || index.def(*class).kind == NodeKind::Interface {
                continue;
            }
            let (line, _) = self.line(*class);
            nominal.extend(
                line.into_iter()
                    .filter(|base| index.def(*base).kind == NodeKind::Interface)
                    .map(|base| (base, *class)),
            );
        }
        nominal.sort_unstable();
        for (base, class) in nominal {
            let list = self.implementors.entry(base).or_default();
            if !list.contains(&class) {
                list.push(class);
            }
        }
        for (interface, ty) in super::shape::implementors(lookup, self) {
            self.by_shape.entry(ty).or_default().push(interface);
            self.implementors.entry(interface).or_default().push(ty);
        }
        for list in self.implementors.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
    }

    /// The type and its bases, nearest first, without repeats; then what is outside.
    pub(crate) fn line(&self, node: NodeId) -> (Vec<NodeId>, Vec<Found>) {
        let mut line = Vec::new();
        let mut outside = Vec::new();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut todo = vec![Found::Node(node)];
        while let Some(next) = todo.pop() {
            let Found::Node(node) = next else {
                outside.push(next);
                continue;
            };
            if !seen.insert(node) || line.len() >= MAX_BASES {
                continue;
            }
            line.push(node);
            if let Some(bases) = self.bases.get(&node) {
                todo.extend(bases.iter().rev());
            }
        }
        (line, outside)
    }

    /// Interfaces that a type implements, their bases included.
    pub(crate) fn interfaces(&self, node: NodeId) -> (Vec<NodeId>, Vec<Found>) {
        let mut inside = Vec::new();
        let mut outside = Vec::new();
        for interface in self.implemented.get(&node).into_iter().flatten() {
            match interface {
                Found::Node(interface) => {
                    let (line, beyond) = self.line(*interface);
                    for node in line {
                        if !inside.contains(&node) {
                            inside.push(node);
                        }
                    }
                    outside.extend(beyond);
                }
                other => outside.push(*other),
            }
        }
        (inside, outside)
    }

    /// Definitions of an interface's member in the types that implement it.
    pub(crate) fn implementations(
        &self,
        lookup: &Lookup<'_>,
        interface: NodeId,
        name: GSym,
    ) -> Vec<NodeId> {
        let index = lookup.index;
        let mut all = Vec::new();
        all.extend(
            self.by_interface
                .get(&(interface, name))
                .into_iter()
                .flatten(),
        );
        for ty in self.implementors.get(&interface).into_iter().flatten() {
            let own = index.members.named(Container::Node(*ty), name);
            all.extend(
                own.iter()
                    .filter(|node| is_function(index.def(**node).kind)),
            );
            if self.by_shape.contains_key(ty) {
                all.extend(super::shape::method(lookup, self, *ty, name));
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

pub(crate) fn is_function(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Function | NodeKind::Method | NodeKind::Test)
}

/// The one type among what a path leads to; aliases are followed.
fn type_of(lookup: &Lookup<'_>, found: Vec<Found>) -> Option<Found> {
    let mut found = found;
    for _ in 0..8 {
        // A type comes before a value of the same name.
        let is_value = |item: &Found| match item {
            Found::Node(node) => matches!(
                lookup.index.def(*node).kind,
                NodeKind::Variable | NodeKind::Constant
            ),
            _ => false,
        };
        found.sort_by_key(is_value);
        let one = found.iter().copied().find(|item| match item {
            Found::Node(node) => matches!(
                lookup.index.def(*node).kind,
                NodeKind::Class
                    | NodeKind::Struct
                    | NodeKind::Enum
                    | NodeKind::Interface
                    | NodeKind::TypeAlias
                    | NodeKind::Variable
                    | NodeKind::Constant
            ),
            Found::Ext { .. } => true,
            Found::Space(_) => false,
        })?;
        let Found::Node(node) = one else {
            return Some(one);
        };
        let (file, ix) = lookup.index.place_of(node);
        let facts = &lookup.index.facts[file as usize];
        let def = facts.def(ix);
        let next = match def.kind {
            NodeKind::TypeAlias => def.ty,
            NodeKind::Variable | NodeKind::Constant => facts.values_of(ix).first()?.term,
            _ => return Some(one),
        };
        found = lookup.static_path(file, ix, next);
    }
    None
}
