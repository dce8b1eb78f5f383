//! Which routes there are once all files are known.
//!
//! A file alone says that something looks like a route. Seen with the others, its
//! receiver may be a type of the project that is no router: then it is none. And a
//! router that is mounted several times serves each of its routes as often.

use rustc_hash::{FxHashMap, FxHashSet};

use super::eval::{Cx, Eval, is_type};
use super::lookup::Lookup;
use super::merge::Merge;
use super::relations::Relations;
use super::value::Ty;
use crate::facts::DefIx;
use crate::graph::GraphParts;
use crate::model::{EdgeKind, NodeId, NodeKind, Str};

/// What the names of routers' types end in.
const ROUTERS: [&str; 8] = [
    "App", "Echo", "Engine", "Group", "Mux", "Router", "Routes", "Server",
];

/// Routes that are none, and further titles of those that are several.
#[derive(Default)]
pub(super) struct Served {
    none: FxHashSet<NodeId>,
    more: FxHashMap<NodeId, Vec<Str>>,
}

impl Served {
    pub(super) fn new(
        lookup: &Lookup<'_>,
        relations: &Relations,
        more: FxHashMap<NodeId, Vec<Str>>,
    ) -> Self {
        let index = lookup.index;
        let mut eval = Eval::new(lookup, relations);
        let mut none = FxHashSet::default();
        for (file, facts) in (0u32..).zip(index.facts) {
            for doubt in &facts.doubts {
                eval.begin();
                let cx = Cx {
                    file,
                    scope: doubt.scope,
                };
                let ty = eval.eval(cx, doubt.receiver);
                let ty = eval.value(&ty);
                let all = ty.each();
                if !all.is_empty() && all.iter().all(|ty| is_other(&mut eval, ty)) {
                    none.insert(index.node(file, doubt.route));
                }
            }
        }
        Served { none, more }
    }

    pub(super) fn drops(&self, route: NodeId) -> bool {
        self.none.contains(&route)
    }

    /// Drops the routes that are none and adds those that are more, after `merge`.
    pub(super) fn apply(&self, merge: &Merge, parts: &mut GraphParts) {
        if self.none.is_empty() && self.more.is_empty() {
            return;
        }
        let none: FxHashSet<NodeId> = self.none.iter().map(|node| merge.moved(*node)).collect();
        let more: FxHashMap<NodeId, &Vec<Str>> = self
            .more
            .iter()
            .filter(|(node, _)| !self.none.contains(node))
            .map(|(node, titles)| (merge.moved(*node), titles))
            .collect();
        let count = |node| more.get(&node).map_or(0, |titles| titles.len() as u32);
        let mut moved = Vec::with_capacity(parts.nodes.len());
        let mut next = 0;
        for node in (0..parts.nodes.len() as u32).map(NodeId) {
            moved.push(NodeId(next));
            next += u32::from(!none.contains(&node)) + count(node);
        }
        let files: Vec<NodeId> = parts.files.iter().map(|file| file.node).collect();
        // What stood in a route that is none stands in its file.
        let place: Vec<NodeId> = (0u32..)
            .map(NodeId)
            .zip(&parts.nodes)
            .map(|(node, at)| match none.contains(&node) {
                true => moved[files[at.file.0 as usize].0 as usize],
                false => moved[node.0 as usize],
            })
            .collect();
        let mut names = Names::of(parts, &none);
        let mut nodes = Vec::with_capacity(next as usize);
        for (id, mut node) in (0u32..).map(NodeId).zip(std::mem::take(&mut parts.nodes)) {
            if none.contains(&id) {
                continue;
            }
            node.parent = node.parent.map(|parent| place[parent.0 as usize]);
            nodes.push(node.clone());
            for title in more.get(&id).into_iter().flat_map(|titles| titles.iter()) {
                let mut other = node.clone();
                let prefix = node.qualified_name.find(&*node.name).unwrap_or(0);
                let qualified = format!("{}{title}", &node.qualified_name[..prefix]);
                other.name = title.clone();
                other.qualified_name = names.qualified(&qualified);
                other.symbol = names.symbol(&node.symbol);
                nodes.push(other);
            }
        }
        parts.nodes = nodes;
        for file in &mut parts.files {
            file.node = place[file.node.0 as usize];
        }
        let mut edges = Vec::with_capacity(parts.edges.len());
        for mut edge in std::mem::take(&mut parts.edges) {
            let (from, to) = (edge.from, edge.to);
            let stays = matches!(edge.kind, EdgeKind::Calls | EdgeKind::Contains);
            if none.contains(&to) || (none.contains(&from) && !stays) {
                continue;
            }
            edge.from = place[from.0 as usize];
            edge.to = place[to.0 as usize];
            for i in 1..=count(from) {
                if !stays {
                    let mut other = edge;
                    other.from.0 += i;
                    edges.push(other);
                }
            }
            for i in 1..=count(to) {
                let mut other = edge;
                other.to.0 += i;
                edges.push(other);
            }
            edges.push(edge);
        }
        parts.edges = edges;
        let to = |node: &mut NodeId| *node = place[node.0 as usize];
        for site in &mut parts.sites {
            to(&mut site.caller);
            site.state.each_node(to);
        }
        for text in &mut parts.texts {
            to(&mut text.node);
        }
    }
}

/// Names that are taken.
struct Names {
    qualified: FxHashSet<Str>,
    symbols: FxHashSet<Str>,
}

impl Names {
    fn of(parts: &GraphParts, none: &FxHashSet<NodeId>) -> Self {
        let kept = || {
            let nodes = (0u32..).map(NodeId).zip(&parts.nodes);
            nodes.filter(|(node, _)| !none.contains(node))
        };
        Names {
            qualified: kept().map(|(_, n)| n.qualified_name.clone()).collect(),
            symbols: kept().map(|(_, n)| n.symbol.clone()).collect(),
        }
    }

    fn qualified(&mut self, name: &str) -> Str {
        unique(&mut self.qualified, name)
    }

    fn symbol(&mut self, name: &str) -> Str {
        unique(&mut self.symbols, name)
    }
}

fn unique(taken: &mut FxHashSet<Str>, base: &str) -> Str {
    let mut name: Str = base.into();
    let mut n = 1;
    while taken.contains(&name) {
        n += 1;
        name = format!("{base}~{n}").into();
    }
    taken.insert(name.clone());
    name
}

/// Whether a value is of a project's type that neither is a router by its name nor
/// holds one.
fn is_other(eval: &mut Eval<'_>, ty: &Ty) -> bool {
    let (Ty::Inst(node, _) | Ty::Def(node, _)) = ty else {
        return false;
    };
    let index = eval.lookup.index;
    let def = index.def(*node);
    if !is_type(def.kind) || def.kind == NodeKind::Interface || is_router(eval, ty) {
        return false;
    }
    let (file, ix) = index.place_of(*node);
    let facts = &index.facts[file as usize];
    let cx = Cx { file, scope: ix };
    let fields = facts
        .defs
        .iter()
        .filter(|def| def.parent == ix && def.kind == NodeKind::Field);
    let mut terms: Vec<_> = fields.map(|def| def.ty).collect();
    terms.extend_from_slice(facts.list(def.bases));
    terms.into_iter().all(|term| {
        let held = eval.eval(cx, term);
        !held.each().iter().any(|held| is_router(eval, held))
    })
}

fn is_router(eval: &Eval<'_>, ty: &Ty) -> bool {
    let index = eval.lookup.index;
    match ty {
        Ty::Inst(node, _) | Ty::Def(node, _) => {
            let (file, ix) = index.place_of(*node);
            let facts = &index.facts[file as usize];
            ix != DefIx::ROOT && sounds_so(facts.name(facts.def(ix).name))
        }
        Ty::Ext { name, .. } => sounds_so(index.names.text(*name)),
        _ => false,
    }
}

fn sounds_so(name: &str) -> bool {
    ROUTERS.iter().any(|router| name.ends_with(router)) || name.contains("Route")
}
