//! Declarations joined with their definitions, virtual methods, and functions
//! that are called through fields, for languages that are included as text.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::eval::{Cx, Eval, is_type};
use super::index::{Container, Index};
use super::lookup::{Found, Lookup};
use super::relations::{Relations, is_function};
use super::value::Ty;
use crate::facts::{Def, DefIx, Flags, Slot};
use crate::model::{NodeId, NodeKind};

/// Types derived from one, looked at for what they override.
const MAX_DERIVED: usize = 512;

/// What declarations and definitions in several files say together.
#[derive(Default)]
pub(crate) struct Joined {
    /// Declarations without a body, to what completes them.
    definitions: FxHashMap<NodeId, Box<[NodeId]>>,
    /// How many arguments a definition takes with its declarations' defaults.
    arity: FxHashMap<NodeId, (u8, u8)>,
    virtuals: FxHashSet<NodeId>,
    derived: FxHashMap<NodeId, Vec<NodeId>>,
    /// Functions that are given to a field.
    pub(super) assigned: FxHashMap<NodeId, Vec<NodeId>>,
}

impl Joined {
    pub(super) fn new(lookup: &Lookup<'_>, relations: &Relations) -> Self {
        let index = lookup.index;
        let mut joined = Joined::default();
        if index.spaces.program.is_none() {
            return joined;
        }
        joined.join(lookup);
        let mut derived: Vec<(NodeId, NodeId)> = Vec::new();
        for (class, bases) in &relations.bases {
            for base in bases {
                if let Found::Node(base) = base
                    && index.textual(index.place_of(*class).0)
                {
                    derived.push((*base, *class));
                }
            }
        }
        derived.sort_unstable();
        for (base, class) in derived {
            joined.derived.entry(base).or_default().push(class);
        }
        joined.find_virtuals(index, relations);
        joined
    }

    fn join(&mut self, lookup: &Lookup<'_>) {
        let index = lookup.index;
        let found: Vec<(NodeId, Vec<NodeId>)> = (0..index.files.len() as u32)
            .into_par_iter()
            .filter(|file| index.textual(*file))
            .flat_map_iter(|file| {
                let facts = &index.facts[file as usize];
                (0u32..).zip(&facts.defs).filter_map(move |(i, def)| {
                    let is_declared = is_declared(def);
                    if !is_declared || def.kind == NodeKind::Import {
                        return None;
                    }
                    let node = index.node(file, DefIx(i));
                    let all = definitions(lookup, node);
                    (!all.is_empty()).then_some((node, all))
                })
            })
            .collect();
        for (node, all) in found {
            let declared = index.def(node);
            for definition in &all {
                if declared.flags.has(Flags::VIRTUAL) {
                    self.virtuals.insert(*definition);
                }
                let (Some((least, _)), Some((own, most))) =
                    (declared.arity, index.def(*definition).arity)
                else {
                    continue;
                };
                let known = self.arity.entry(*definition).or_insert((own, most));
                known.0 = known.0.min(least);
            }
            self.definitions.insert(node, all.into());
        }
    }

    fn find_virtuals(&mut self, index: &Index<'_>, relations: &Relations) {
        for file in 0..index.files.len() as u32 {
            if !index.textual(file) {
                continue;
            }
            for (i, def) in (0u32..).zip(&index.facts[file as usize].defs) {
                if is_function(def.kind) && def.flags.has(Flags::VIRTUAL) {
                    self.virtuals.insert(index.node(file, DefIx(i)));
                }
            }
        }
        let mut more = Vec::new();
        for file in 0..index.files.len() as u32 {
            if !index.textual(file) {
                continue;
            }
            for (i, def) in (0u32..).zip(&index.facts[file as usize].defs) {
                let node = index.node(file, DefIx(i));
                if is_function(def.kind)
                    && !self.virtuals.contains(&node)
                    && self.overridden(index, relations, node).is_some()
                {
                    more.push(node);
                }
            }
        }
        self.virtuals.extend(more);
    }

    /// The nearest virtual method of a base that a method overrides.
    pub(super) fn overridden(
        &self,
        index: &Index<'_>,
        relations: &Relations,
        node: NodeId,
    ) -> Option<NodeId> {
        let owner = owner_of(index, node)?;
        if !relations.bases.contains_key(&owner) {
            return None;
        }
        let def = index.def(node);
        let (file, _) = index.place_of(node);
        let name = index.global_name(file, def.name);
        let most = |node: NodeId| index.def(node).arity.map(|(_, most)| most);
        let (line, _) = relations.line(owner);
        line.into_iter().skip(1).find_map(|base| {
            let members = index.members.named(Container::Node(base), name);
            members
                .iter()
                .copied()
                .find(|m| self.virtuals.contains(m) && most(*m) == most(node))
        })
    }

    /// A declaration's definitions; itself where it has none.
    pub(super) fn completed<'a>(&'a self, node: &'a NodeId) -> &'a [NodeId] {
        match self.definitions.get(node) {
            Some(all) => all,
            None => std::slice::from_ref(node),
        }
    }

    pub(super) fn is_completed(&self, node: NodeId) -> bool {
        self.definitions.contains_key(&node)
    }

    /// The one symbol of a declaration and its definition.
    pub(super) fn one(&self, node: NodeId) -> NodeId {
        match self.completed(&node) {
            [one] => *one,
            _ => node,
        }
    }

    pub(super) fn arity(&self, index: &Index<'_>, node: NodeId) -> Option<(u8, u8)> {
        match self.arity.get(&node) {
            Some(arity) => Some(*arity),
            None => index.def(node).arity,
        }
    }

    /// What a call of a virtual method may lead to; `None` when nothing
    /// overrides it and it has a body.
    fn implementations(&self, index: &Index<'_>, node: NodeId) -> Option<Vec<NodeId>> {
        if !self.virtuals.contains(&node) {
            return None;
        }
        let owner = owner_of(index, node)?;
        let def = index.def(node);
        let (file, _) = index.place_of(node);
        let name = index.global_name(file, def.name);
        let most = def.arity.map(|(_, most)| most);
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut todo = vec![owner];
        let mut all = Vec::new();
        while let Some(class) = todo.pop() {
            for derived in self.derived.get(&class).into_iter().flatten() {
                if seen.len() >= MAX_DERIVED || !seen.insert(*derived) {
                    continue;
                }
                todo.push(*derived);
                for member in index.members.named(Container::Node(*derived), name) {
                    let own = index.def(*member);
                    if is_function(own.kind)
                        && own.arity.map(|(_, most)| most) == most
                        && !own.flags.has(Flags::ABSTRACT)
                    {
                        all.extend(self.completed(member));
                    }
                }
            }
        }
        let is_abstract = def.flags.has(Flags::ABSTRACT);
        if all.is_empty() && !is_abstract {
            return None;
        }
        if !is_abstract {
            all.push(node);
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    }
}

/// The class that a method is of, wherever it is defined.
pub(super) fn owner_of(index: &Index<'_>, node: NodeId) -> Option<NodeId> {
    let (file, ix) = index.place_of(node);
    let def = index.facts[file as usize].def(ix);
    if let Some(ext) = def.ext {
        return match index.home(file, ext)? {
            Container::Node(class) => Some(class),
            Container::Space(_) => None,
        };
    }
    let parent = index.node(file, def.parent);
    is_type(index.def(parent).kind).then_some(parent)
}

/// Whether it states no body; a pure method may have one elsewhere.
fn is_declared(def: &Def) -> bool {
    def.flags.has(Flags::OVERLOAD) || def.flags.has(Flags::ABSTRACT)
}

/// What completes a declaration.
fn definitions(lookup: &Lookup<'_>, node: NodeId) -> Vec<NodeId> {
    let index = lookup.index;
    let (file, ix) = index.place_of(node);
    let facts = &index.facts[file as usize];
    let def = facts.def(ix);
    let container = match def.ext {
        Some(ext) => index.home(file, ext),
        None => index.container(file, def.parent),
    };
    let Some(container) = container else {
        return Vec::new();
    };
    let is_value = |kind| matches!(kind, NodeKind::Variable | NodeKind::Constant);
    let name = index.global_name(file, def.name);
    let mut all: Vec<NodeId> = index
        .members
        .named(container, name)
        .iter()
        .copied()
        .filter(|other| {
            let of = index.file_of[other.0 as usize];
            let other = index.def(*other);
            let same_kind = if is_function(def.kind) {
                is_function(other.kind)
            } else {
                is_value(def.kind) && is_value(other.kind)
            };
            same_kind && !is_declared(other) && (of == file || !other.flags.has(Flags::FILE_LOCAL))
        })
        .collect();
    if all.is_empty() {
        return all;
    }
    let has_overloads = index.semantics(file).is_some_and(|s| s.separator == "::");
    if is_function(def.kind) && has_overloads {
        let shape = |node: NodeId| {
            let (file, _) = index.place_of(node);
            index.def(node).shape.map(|s| index.global_name(file, s))
        };
        let own = shape(node);
        let most = |node: NodeId| index.def(node).arity.map(|(_, most)| most);
        let equal: Vec<NodeId> = all.iter().copied().filter(|n| shape(*n) == own).collect();
        if equal.is_empty() {
            all.retain(|n| most(*n) == most(node));
            if all.len() > 1 {
                return Vec::new();
            }
        } else {
            all = equal;
        }
    }
    if all.len() > 1 {
        prefer(&mut all, |n| index.file_of[n.0 as usize] == file);
        prefer(&mut all, |n| lookup.sees(index.file_of[n.0 as usize], file));
        let stem = |file: u32| {
            let path = &index.files[file as usize].path;
            let name = path.rsplit('/').next().unwrap_or(path);
            name.split('.').next().unwrap_or(name).to_string()
        };
        let own = stem(file);
        prefer(&mut all, |n| stem(index.file_of[n.0 as usize]) == own);
    }
    all
}

/// Keeps those that are preferred where there are any.
fn prefer(all: &mut Vec<NodeId>, wanted: impl Fn(NodeId) -> bool) {
    if all.iter().any(|n| wanted(*n)) {
        all.retain(|n| wanted(*n));
    }
}

/// Functions that are given to fields, by the field.
pub(super) fn assigned(
    lookup: &Lookup<'_>,
    relations: &Relations,
) -> FxHashMap<NodeId, Vec<NodeId>> {
    let index = lookup.index;
    let found: Vec<(NodeId, NodeId)> = (0..index.files.len() as u32)
        .into_par_iter()
        .flat_map_iter(|file| {
            let facts = &index.facts[file as usize];
            let mut eval = Eval::new(lookup, relations);
            let mut found = Vec::new();
            for given in &facts.assigned {
                eval.begin();
                let cx = Cx {
                    file,
                    scope: given.scope,
                };
                let value = eval.eval(cx, given.value);
                let mut functions = value.each().iter().filter_map(|ty| match ty {
                    Ty::Def(node, _) | Ty::Bound(node, _) if is_function(index.def(*node).kind) => {
                        Some(*node)
                    }
                    _ => None,
                });
                let (Some(function), None) = (functions.next(), functions.next()) else {
                    continue;
                };
                if let Some(field) = eval.slot(cx, given.slot) {
                    found.push((field, function));
                }
            }
            found
        })
        .collect();
    let mut all: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
    for (field, function) in found {
        all.entry(field).or_default().push(function);
    }
    for list in all.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    all
}

impl Eval<'_> {
    fn slot(&mut self, cx: Cx, slot: Slot) -> Option<NodeId> {
        use crate::facts::Term;
        match slot {
            Slot::Member(term) => match self.facts(cx.file).terms[term.0 as usize] {
                Term::Member(base, name) => {
                    let name = self.index().global_name(cx.file, name);
                    let base = self.eval(cx, base);
                    self.member_node(cx, &base, name)
                }
                _ => None,
            },
            Slot::Place(ty, place) => {
                let ty = self.eval(cx, ty);
                let ty = self.instance(cx, &ty);
                let Ty::Inst(node, _) = ty.each().first()? else {
                    return None;
                };
                let (file, ix) = self.index().place_of(*node);
                let facts = self.facts(file);
                let field = (0u32..)
                    .zip(&facts.defs)
                    .skip(ix.0 as usize)
                    .take_while(|(_, def)| def.span.start_byte < facts.def(ix).span.end_byte)
                    .filter(|(_, def)| def.parent == ix && def.kind == NodeKind::Field)
                    .nth(usize::from(place))?;
                Some(self.index().node(file, DefIx(field.0)))
            }
        }
    }

    /// The set that a call of a virtual method is decided from.
    pub(super) fn overriders(&self, node: NodeId) -> Option<Vec<NodeId>> {
        self.relations.joined.implementations(self.index(), node)
    }
}
