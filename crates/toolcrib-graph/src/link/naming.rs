//! Qualified names and stable identities, unique in the graph.
//!
//! A qualified name is the module's, the names around the definition and its
//! own. A method of an `impl` block belongs to the type it extends; where
//! several implementations give a type methods of one name, those of traits
//! are written `<Type as Trait>::method`. What still collides gets `~2`, `~3` in
//! node order. The identity is made the same way from the path.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::Home;
use super::index::Index;
use crate::facts::{DefIx, ExtIx, FileFacts, Flags, Term, TermId};
use crate::model::{NodeId, NodeKind, Str};

/// Names of all nodes, by node.
pub(crate) struct NodeNames {
    pub(crate) qualified: Vec<Str>,
    pub(crate) symbol: Vec<Str>,
}

/// `extended` is the project type that each extension extends, by (file, extension);
/// `titles` are the whole paths of routes that are stated in parts;
/// nodes that are `dropped` leave their names to others.
pub(crate) fn name_all(
    index: &Index<'_>,
    extended: &FxHashMap<(u32, ExtIx), NodeId>,
    titles: &FxHashMap<NodeId, Str>,
    dropped: impl Fn(NodeId) -> bool,
) -> NodeNames {
    let count = index.node_count();
    let mut qualified: Vec<String> = vec![String::new(); count];
    let mut done = vec![false; count];
    let mut symbol: Vec<String> = Vec::with_capacity(count);
    for file in 0..index.files.len() as u32 {
        let facts = &index.facts[file as usize];
        for i in 0..facts.defs.len() as u32 {
            let node = index.node(file, DefIx(i));
            qualify(index, extended, titles, node, &mut qualified, &mut done);
            let own = own_symbol(index, extended, file, DefIx(i), &symbol);
            symbol.push(own);
        }
    }
    prefer_traits(index, &mut qualified);
    NodeNames {
        qualified: unique(index, qualified, &dropped),
        symbol: unique(index, symbol, &dropped),
    }
}

/// Fills in the name of a node and of those it is named after.
fn qualify(
    index: &Index<'_>,
    extended: &FxHashMap<(u32, ExtIx), NodeId>,
    titles: &FxHashMap<NodeId, Str>,
    node: NodeId,
    qualified: &mut [String],
    done: &mut [bool],
) {
    let mut chain = vec![node];
    while let Some(&node) = chain.last() {
        if done[node.0 as usize] {
            chain.pop();
            continue;
        }
        let (file, ix) = index.place_of(node);
        let facts = &index.facts[file as usize];
        let def = facts.def(ix);
        if ix == DefIx::ROOT {
            qualified[node.0 as usize] = index.files[file as usize].path.to_string();
            done[node.0 as usize] = true;
            continue;
        }
        let separator = index.semantics(file).map_or(".", |s| s.separator);
        let own = match def.kind {
            NodeKind::Import => facts
                .def(ix)
                .signature
                .as_deref()
                .unwrap_or_else(|| facts.name(def.name)),
            NodeKind::Route => titles.get(&node).unwrap_or_else(|| facts.name(def.name)),
            _ => facts.name(def.name),
        };
        let target = def
            .ext
            .and_then(|ext| extended.get(&(file, ext)).copied())
            .filter(|target| *target != node);
        let home = def.ext.and_then(|ext| index.spaces.homes.get(&(file, ext)));
        // A namespace's name is the same wherever it is opened.
        let opened = match home {
            Some(Home::Space(space)) => Some(*space),
            _ if index.textual(file) && def.ext.is_none() => {
                index.spaces.of_def.get(&(file, def.parent)).copied()
            }
            _ => None,
        };
        let outer = match target {
            _ if opened.is_some() => None,
            Some(target) => Some(target),
            None if def.parent == DefIx::ROOT => None,
            None => Some(index.node(file, def.parent)),
        };
        let prefix = match outer {
            Some(outer) if !done[outer.0 as usize] && chain.len() < 64 => {
                if chain.contains(&outer) {
                    String::new()
                } else {
                    chain.push(outer);
                    continue;
                }
            }
            Some(outer) => qualified[outer.0 as usize].clone(),
            None => opened
                .or(index.spaces.of_file[file as usize])
                .map(|space| index.spaces.get(space).prefix.clone())
                .unwrap_or_default(),
        };
        let joint = index.rules(file).map_or(separator, |rules| {
            let outer = outer.map(|outer| index.def(outer).kind);
            rules.joint(outer, def.kind, def.flags.has(Flags::STATIC))
        });
        let mut name = prefix;
        if !name.is_empty() {
            name.push_str(joint);
        }
        if target.is_none()
            && opened.is_none()
            && let Some(ext) = def.ext
        {
            if index.rules(file).is_some_and(|r| r.plain_extensions()) {
                let ty = facts.extensions[ext.0 as usize].self_ty;
                name.push_str(&term_text(facts, ty, 0));
            } else {
                name.push_str(&impl_notation(facts, ext));
            }
            name.push_str(separator);
        }
        name.push_str(facts.qualifier(ix));
        name.push_str(own);
        qualified[node.0 as usize] = name;
        done[node.0 as usize] = true;
        chain.pop();
    }
}

/// `<Type as Trait>` for a type that is not the project's own.
fn impl_notation(facts: &FileFacts, ext: ExtIx) -> String {
    let ext = &facts.extensions[ext.0 as usize];
    let ty = term_text(facts, ext.self_ty, 0);
    match ext.interface {
        Some(interface) => format!("<{ty} as {}>", term_text(facts, interface, 0)),
        None => format!("<{ty}>"),
    }
}

/// A type as its last names, generic arguments included.
fn term_text(facts: &FileFacts, term: TermId, depth: u32) -> String {
    if depth > 6 {
        return "_".to_string();
    }
    let list = |range| {
        let all: Vec<String> = facts
            .list(range)
            .iter()
            .map(|t| term_text(facts, *t, depth + 1))
            .collect();
        all.join(", ")
    };
    match facts.terms[term.0 as usize] {
        Term::Name(sym, _) | Term::Member(_, sym) | Term::Builtin(sym) => {
            let name = facts.name(sym);
            name.to_string()
        }
        Term::Apply(base, args) => {
            let base = term_text(facts, base, depth + 1);
            if args.is_empty() {
                base
            } else {
                format!("{base}<{}>", list(args))
            }
        }
        Term::Tuple(parts) => format!("({})", list(parts)),
        Term::ThisType => "Self".to_string(),
        _ => "_".to_string(),
    }
}

fn own_symbol(
    index: &Index<'_>,
    extended: &FxHashMap<(u32, ExtIx), NodeId>,
    file: u32,
    ix: DefIx,
    symbols: &[String],
) -> String {
    let path = &index.files[file as usize].path;
    if ix == DefIx::ROOT {
        return path.to_string();
    }
    let facts = &index.facts[file as usize];
    let def = facts.def(ix);
    let parent = &symbols[index.node(file, def.parent).0 as usize];
    let mut out = parent.clone();
    out.push(if def.parent == DefIx::ROOT { '#' } else { '.' });
    if let Some(ext) = def.ext {
        match extended.get(&(file, ext)) {
            Some(target) => out.push_str(index.name_of(*target)),
            None => out.push_str(&impl_notation(facts, ext)),
        }
        out.push('.');
    }
    match (def.kind, def.signature.as_deref()) {
        (NodeKind::Import, Some(signature)) => out.push_str(signature),
        _ => {
            out.push_str(facts.qualifier(ix));
            out.push_str(facts.name(def.name));
        }
    }
    out
}

/// Where several methods share a name, those of traits say which trait.
fn prefer_traits(index: &Index<'_>, qualified: &mut [String]) {
    let mut first: FxHashMap<String, Option<u32>> = FxHashMap::default();
    let mut colliding: Vec<u32> = Vec::new();
    for (i, name) in qualified.iter().enumerate() {
        let i = i as u32;
        match first.entry(name.clone()) {
            Entry::Vacant(slot) => {
                slot.insert(Some(i));
            }
            Entry::Occupied(mut slot) => {
                colliding.extend(slot.insert(None));
                colliding.push(i);
            }
        }
    }
    for i in colliding {
        let (file, ix) = index.place_of(NodeId(i));
        let facts = &index.facts[file as usize];
        let def = facts.def(ix);
        let Some(ext) = def.ext else { continue };
        let Some(interface) = facts.extensions[ext.0 as usize].interface else {
            continue;
        };
        let Some(separator) = index.semantics(file).map(|s| s.separator) else {
            continue;
        };
        let full = &qualified[i as usize];
        let Some((owner, name)) = full.rsplit_once(separator) else {
            continue;
        };
        let interface = term_text(facts, interface, 0);
        qualified[i as usize] = format!("<{owner} as {interface}>{separator}{name}");
    }
}

/// The first of equal names stays, the others are numbered from 2; what can be
/// called comes before its overloads' declarations, these before fields.
fn unique(index: &Index<'_>, names: Vec<String>, dropped: &impl Fn(NodeId) -> bool) -> Vec<Str> {
    let mut seen: FxHashMap<Str, u32> = FxHashMap::default();
    seen.reserve(names.len());
    let mut out: Vec<Str> = names.into_iter().map(Str::from).collect();
    let rank = |i: &usize| {
        let def = index.def(NodeId(*i as u32));
        if dropped(NodeId(*i as u32)) {
            3
        } else if def.kind == NodeKind::Field {
            2
        } else {
            u8::from(def.flags.has(Flags::OVERLOAD))
        }
    };
    let mut order: Vec<usize> = (0..out.len()).collect();
    order.sort_by_key(rank);
    for i in order {
        let base = out[i].clone();
        let mut name = base.clone();
        if let Some(count) = seen.get(&name) {
            let mut n = *count;
            loop {
                n += 1;
                name = format!("{base}~{n}").into();
                if !seen.contains_key(&name) {
                    break;
                }
            }
            seen.insert(base, n);
        }
        seen.insert(name.clone(), 1);
        out[i] = name;
    }
    out
}
