//! A declaration and its definition as one symbol, a namespace as one module.
//!
//! What was linked knows each declaration as a node of its own. Here those that
//! one definition completes are dropped: the definition keeps their places and
//! documentation, and is what their edges lead to.

use rustc_hash::FxHashMap;

use super::index::Index;
use super::relations::Relations;
use super::spaces::SpaceIx;
use crate::facts::{DefIx, Flags};
use crate::graph::GraphParts;
use crate::model::{EdgeKind, NodeId, NodeKind};

/// Which nodes stand for which others.
#[derive(Default)]
pub(super) struct Merge {
    /// Dropped nodes, with the one that remains.
    into: FxHashMap<NodeId, NodeId>,
}

impl Merge {
    pub(super) fn new(index: &Index<'_>, relations: &Relations) -> Self {
        let mut merge = Merge::default();
        if index.spaces.program.is_none() {
            return merge;
        }
        let mut first: FxHashMap<SpaceIx, NodeId> = FxHashMap::default();
        for file in 0..index.files.len() as u32 {
            if !index.textual(file) {
                continue;
            }
            for (i, def) in (0u32..).zip(&index.facts[file as usize].defs) {
                let node = index.node(file, DefIx(i));
                if def.kind == NodeKind::Module && !def.flags.has(Flags::LEAKS) {
                    if let Some(space) = index.spaces.of_def.get(&(file, DefIx(i))) {
                        let kept = *first.entry(*space).or_insert(node);
                        if kept != node {
                            merge.into.insert(node, kept);
                        }
                    }
                } else if relations.joined.is_completed(node) {
                    let one = relations.joined.one(node);
                    if one != node {
                        merge.into.insert(node, one);
                    }
                }
            }
        }
        merge
    }

    /// Whether another node stands for this one.
    pub(super) fn drops(&self, node: NodeId) -> bool {
        self.into.contains_key(&node)
    }

    /// The number of a node once this is applied.
    pub(super) fn moved(&self, node: NodeId) -> NodeId {
        let dropped = self.into.keys().filter(|dropped| **dropped < node).count();
        NodeId(node.0 - dropped as u32)
    }

    /// Drops the nodes that others stand for.
    pub(super) fn apply(&self, parts: &mut GraphParts) {
        if self.into.is_empty() {
            return;
        }
        let mut moved = Vec::with_capacity(parts.nodes.len());
        let mut next = 0;
        for i in 0..parts.nodes.len() as u32 {
            moved.push(NodeId(next));
            next += u32::from(!self.drops(NodeId(i)));
        }
        let kept = |node: NodeId| *self.into.get(&node).unwrap_or(&node);
        let to = |node: NodeId| moved[kept(node).0 as usize];
        // What is called in a declaration is called where that stands.
        let place: Vec<NodeId> = (0..parts.nodes.len() as u32)
            .map(|i| {
                let node = &parts.nodes[i as usize];
                let file = parts.files[node.file.0 as usize].node;
                match node.parent {
                    _ if !self.drops(NodeId(i)) => moved[i as usize],
                    Some(parent) if !self.drops(parent) && parent.0 < i => {
                        let of = &parts.nodes[parent.0 as usize];
                        if of.file == node.file && of.kind != NodeKind::Module {
                            moved[parent.0 as usize]
                        } else {
                            moved[file.0 as usize]
                        }
                    }
                    _ => moved[file.0 as usize],
                }
            })
            .collect();
        self.keep_places(parts);
        for node in &mut parts.nodes {
            node.parent = node.parent.map(to);
        }
        let mut i = 0;
        parts.nodes.retain(|_| {
            i += 1;
            !self.drops(NodeId(i - 1))
        });
        for file in &mut parts.files {
            file.node = to(file.node);
        }
        // What a declaration mentions its definition mentions too, on a line of
        // its own file.
        parts.edges.retain(|edge| match edge.kind {
            EdgeKind::Contains => !self.drops(edge.to),
            EdgeKind::References => !self.drops(edge.from),
            _ => true,
        });
        for edge in &mut parts.edges {
            edge.from = match edge.kind {
                EdgeKind::Calls => place[edge.from.0 as usize],
                _ => to(edge.from),
            };
            edge.to = to(edge.to);
        }
        parts
            .edges
            .retain(|edge| edge.from != edge.to || edge.kind == EdgeKind::Calls);
        for site in &mut parts.sites {
            site.caller = place[site.caller.0 as usize];
            site.state.each_node(|node| *node = to(*node));
        }
        for text in &mut parts.texts {
            text.node = to(text.node);
        }
    }

    /// Definitions keep where they are declared and what is said there.
    fn keep_places(&self, parts: &mut GraphParts) {
        let mut all: Vec<(NodeId, NodeId)> =
            self.into.iter().map(|(from, to)| (*to, *from)).collect();
        all.sort_unstable();
        let mut at = 0;
        while at < all.len() {
            let kept = all[at].0;
            let end = all[at..]
                .iter()
                .position(|(to, _)| *to != kept)
                .map_or(all.len(), |n| at + n);
            let mut places = Vec::with_capacity(end - at);
            for (_, from) in &all[at..end] {
                let from = parts.nodes[from.0 as usize].clone();
                let node = &mut parts.nodes[kept.0 as usize];
                places.push((from.file, from.span));
                if node.doc.is_none() {
                    node.doc = from.doc;
                }
                if from.kind == NodeKind::Method {
                    node.exported = from.exported;
                }
            }
            parts.nodes[kept.0 as usize].declared = places.into();
            at = end;
        }
    }
}
