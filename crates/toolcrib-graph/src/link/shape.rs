//! Interfaces that types implement by having their methods.
//!
//! For languages where no declaration says so: a type implements an interface
//! when it has, itself or through what it embeds, a method of each name that
//! takes as many arguments. Types of parameters are not compared.

use rustc_hash::{FxHashMap, FxHashSet};

use super::index::{Container, GSym};
use super::lookup::Lookup;
use super::relations::{Relations, is_function};
use crate::facts::DefIx;
use crate::model::{NodeId, NodeKind};

/// Pairs of interface and type, sorted.
pub(super) fn implementors(lookup: &Lookup<'_>, relations: &Relations) -> Vec<(NodeId, NodeId)> {
    let index = lookup.index;
    let mut interfaces = Vec::new();
    let mut by_method: FxHashMap<GSym, Vec<(NodeId, NodeId)>> = FxHashMap::default();
    for file in 0..index.files.len() as u32 {
        if !index.rules(file).is_some_and(|r| r.structural()) {
            continue;
        }
        for (i, def) in index.facts[file as usize].defs.iter().enumerate() {
            let node = index.node(file, DefIx(i as u32));
            match def.kind {
                NodeKind::Interface => interfaces.push(node),
                NodeKind::Struct | NodeKind::Class => {
                    for (name, method) in methods(lookup, relations, node) {
                        by_method.entry(name).or_default().push((node, method));
                    }
                }
                _ => {}
            }
        }
    }
    let mut pairs = Vec::new();
    for interface in interfaces {
        let wanted = methods(lookup, relations, interface);
        let Some((first, rest)) = wanted.split_first() else {
            continue;
        };
        let having = |(name, method): &(GSym, NodeId)| -> FxHashSet<NodeId> {
            let arity = index.def(*method).arity;
            by_method
                .get(name)
                .into_iter()
                .flatten()
                .filter(|(_, own)| index.def(*own).arity == arity)
                .map(|(ty, _)| *ty)
                .collect()
        };
        let mut types = having(first);
        for method in rest {
            if types.is_empty() {
                break;
            }
            let next = having(method);
            types.retain(|ty| next.contains(ty));
        }
        pairs.extend(types.into_iter().map(|ty| (interface, ty)));
    }
    pairs.sort_unstable();
    pairs
}

/// The methods of a type by name, nearest first, those of what it embeds included.
fn methods(lookup: &Lookup<'_>, relations: &Relations, node: NodeId) -> Vec<(GSym, NodeId)> {
    let index = lookup.index;
    let mut seen: FxHashSet<GSym> = FxHashSet::default();
    let mut all = Vec::new();
    for owner in relations.line(node).0 {
        let container = Container::Node(owner);
        let own = index.members.all(container).iter();
        for member in own.chain(relations.added.all(container)) {
            let def = index.def(*member);
            if is_function(def.kind) {
                let (file, _) = index.place_of(*member);
                let name = index.global_name(file, def.name);
                if seen.insert(name) {
                    all.push((name, *member));
                }
            }
        }
    }
    all
}

/// The body that a type has for a method, its own or that of what it embeds.
pub(super) fn method(
    lookup: &Lookup<'_>,
    relations: &Relations,
    ty: NodeId,
    name: GSym,
) -> Option<NodeId> {
    let index = lookup.index;
    let line = relations.line(ty).0;
    line.into_iter().find_map(|owner| {
        let added = relations.added.named(Container::Node(owner), name);
        added
            .iter()
            .copied()
            .find(|node| is_function(index.def(*node).kind))
    })
}
