//! The immutable snapshot and its adjacency indexes.
//!
//! [`GraphParts`] is what a provider hands over, in any order of edges and
//! sites; [`CodeGraph::assemble`] puts them into the one order that everything
//! else relies on and checks that no edge lost an end. Ranking and rendering
//! live with the lookups, not here.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use crate::model::{
    CallSite, Edge, FileId, FileInfo, Node, NodeId, NodeKind, SiteState, Str, Text,
};

/// What a provider found, before ordering and indexing.
#[derive(Default)]
pub struct GraphParts {
    /// In path order; `FileInfo::node` must point at the file's node.
    pub files: Vec<FileInfo>,
    /// Files in path order, each followed by its symbols by start byte, outer first.
    pub nodes: Vec<Node>,
    /// In any order; occurrences of one relation may repeat.
    pub edges: Vec<Edge>,
    /// In any order.
    pub sites: Vec<CallSite>,
    /// In any order.
    pub texts: Vec<Text>,
}

/// An immutable graph of one repository. See the crate documentation.
pub struct CodeGraph {
    files: Vec<FileInfo>,
    nodes: Vec<Node>,
    /// Sorted by (from, kind, to); one entry a relation.
    edges: Vec<Edge>,
    /// `edges[out_start[n]..out_start[n + 1]]` leave node `n`.
    out_start: Vec<u32>,
    /// Edge indexes sorted by (to, kind, from), with `in_start` as above.
    in_edges: Vec<u32>,
    in_start: Vec<u32>,
    /// Sorted by (file, start byte, end byte).
    sites: Vec<CallSite>,
    sites_by_name: HashMap<Str, Vec<u32>>,
    texts: Vec<Text>,
    by_qualified_name: HashMap<Str, NodeId>,
    by_symbol: HashMap<Str, NodeId>,
    by_path: HashMap<Str, FileId>,
    /// Symbols that a file declares and another defines, in node order.
    declared_in: HashMap<FileId, Vec<NodeId>>,
}

impl CodeGraph {
    /// Orders, merges and indexes what a provider found.
    ///
    /// Edges with an end outside `nodes` are a provider's bug: dropped in
    /// release builds, an assertion failure in debug builds.
    pub fn assemble(parts: GraphParts) -> CodeGraph {
        let GraphParts {
            files,
            nodes,
            mut edges,
            mut sites,
            mut texts,
        } = parts;
        let node_count = nodes.len();
        let whole = |e: &Edge| (e.from.0 as usize) < node_count && (e.to.0 as usize) < node_count;
        debug_assert!(edges.iter().all(whole), "an edge lost an end");
        edges.retain(whole);
        edges.sort_unstable_by_key(|e| (e.from, e.kind, e.to, e.origin, e.line));
        edges.dedup_by(|next, kept| {
            let same = (next.from, next.kind, next.to) == (kept.from, kept.kind, kept.to);
            if same {
                kept.count += next.count;
                kept.line = kept.line.min(next.line);
            }
            same
        });
        sites.sort_by_key(|a| (a.file, a.span.start_byte, a.span.end_byte));
        texts.sort_unstable_by_key(|t| (t.file, t.span.start_byte, t.kind));

        let out_start = starts(node_count, edges.iter().map(|e| e.from));
        let mut in_edges: Vec<u32> = (0..edges.len() as u32).collect();
        in_edges.sort_unstable_by_key(|&i| {
            let e = &edges[i as usize];
            (e.to, e.kind, e.from)
        });
        let in_start = starts(node_count, in_edges.iter().map(|&i| edges[i as usize].to));

        let mut sites_by_name: HashMap<Str, Vec<u32>> = HashMap::new();
        for (i, site) in sites.iter().enumerate() {
            sites_by_name
                .entry(site.name.clone())
                .or_default()
                .push(i as u32);
        }
        let ids = || (0u32..).map(NodeId);
        let by_qualified_name = nodes
            .iter()
            .zip(ids())
            .map(|(n, id)| (n.qualified_name.clone(), id))
            .collect();
        let mut declared_in: HashMap<FileId, Vec<NodeId>> = HashMap::new();
        for (node, id) in nodes.iter().zip(ids()) {
            for (file, _) in node.declared.iter().filter(|(file, _)| *file != node.file) {
                let list = declared_in.entry(*file).or_default();
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
        let by_symbol = nodes
            .iter()
            .zip(ids())
            .map(|(n, id)| (n.symbol.clone(), id))
            .collect();
        let by_path = files
            .iter()
            .zip((0u32..).map(FileId))
            .map(|(f, id)| (f.path.clone(), id))
            .collect();
        CodeGraph {
            files,
            nodes,
            edges,
            out_start,
            in_edges,
            in_start,
            sites,
            sites_by_name,
            texts,
            by_qualified_name,
            by_symbol,
            by_path,
            declared_in,
        }
    }

    /// All nodes; [`NodeId`] indexes them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All files in path order; [`FileId`] indexes them.
    pub fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// All edges, sorted by (from, kind, to).
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Every call expression, by file and position.
    pub fn sites(&self) -> &[CallSite] {
        &self.sites
    }

    /// Every comment, doc comment and string literal, by file and position.
    pub fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// The node of an id of this graph.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The file of an id of this graph.
    pub fn file(&self, id: FileId) -> &FileInfo {
        &self.files[id.0 as usize]
    }

    /// The nodes of one file with their ids: the file's own, then its symbols by
    /// start byte.
    pub fn nodes_in(&self, file: FileId) -> impl Iterator<Item = (NodeId, &Node)> {
        let from = self.nodes.partition_point(|n| n.file < file);
        (from as u32..)
            .map(NodeId)
            .zip(&self.nodes[from..])
            .take_while(move |(_, n)| n.file == file)
    }

    /// Symbols that a file declares while another file defines them.
    pub fn declared_in(&self, file: FileId) -> &[NodeId] {
        self.declared_in.get(&file).map_or(&[], |list| list)
    }

    /// The innermost symbol whose definition holds all lines of a range; imports
    /// and the file itself are none.
    pub fn innermost(&self, file: FileId, start_line: u32, end_line: u32) -> Option<NodeId> {
        self.nodes_in(file)
            .filter(|(_, n)| !matches!(n.kind, NodeKind::File | NodeKind::Import))
            .filter(|(_, n)| n.span.start_line <= start_line && end_line <= n.span.end_line)
            .min_by_key(|(id, n)| (n.span.end_line - n.span.start_line, Reverse(*id)))
            .map(|(id, _)| id)
    }

    /// The node with exactly this qualified name.
    pub fn by_qualified_name(&self, name: &str) -> Option<NodeId> {
        self.by_qualified_name.get(name).copied()
    }

    /// The node with exactly this stable identity.
    pub fn by_symbol(&self, symbol: &str) -> Option<NodeId> {
        self.by_symbol.get(symbol).copied()
    }

    /// The file at exactly this path, relative to the root.
    pub fn by_path(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// Edges that leave a node, sorted by (kind, to).
    pub fn outgoing(&self, id: NodeId) -> &[Edge] {
        let i = id.0 as usize;
        &self.edges[self.out_start[i] as usize..self.out_start[i + 1] as usize]
    }

    /// Edges that arrive at a node, sorted by (kind, from).
    pub fn incoming(&self, id: NodeId) -> impl Iterator<Item = &Edge> {
        let i = id.0 as usize;
        self.in_edges[self.in_start[i] as usize..self.in_start[i + 1] as usize]
            .iter()
            .map(|&e| &self.edges[e as usize])
    }

    /// Call sites whose callee ends in `name`, whatever their state.
    pub fn sites_named(&self, name: &str) -> impl Iterator<Item = &CallSite> {
        self.sites_by_name
            .get(name)
            .into_iter()
            .flatten()
            .map(|&i| &self.sites[i as usize])
    }

    /// The whole graph as text, for comparing two builds: everything but the
    /// files' texts, in the graph's own order.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        for file in &self.files {
            let language = file.language.map_or("-", |l| l.name);
            let _ = writeln!(out, "file {} {language} {}", file.path, file.size);
        }
        for node in &self.nodes {
            let _ = writeln!(out, "node {node:?}");
        }
        for edge in &self.edges {
            let _ = writeln!(out, "edge {edge:?}");
        }
        for site in &self.sites {
            let _ = writeln!(out, "site {site:?}");
        }
        for text in &self.texts {
            let _ = writeln!(out, "text {text:?}");
        }
        out
    }

    /// How many call sites are in each state, in the order resolved, ambiguous,
    /// external, dynamic, unresolved; the sum is the number of call expressions.
    pub fn site_counts(&self) -> [(&'static str, usize); 5] {
        let mut counts = [
            ("resolved", 0),
            ("ambiguous", 0),
            ("external", 0),
            ("dynamic", 0),
            ("unresolved", 0),
        ];
        for site in &self.sites {
            let slot = match site.state {
                SiteState::Resolved { .. } => 0,
                SiteState::Ambiguous { .. } => 1,
                SiteState::External { .. } => 2,
                SiteState::Dynamic { .. } => 3,
                SiteState::Unresolved => 4,
            };
            counts[slot].1 += 1;
        }
        counts
    }
}

/// Prefix sums: where each node's run begins in a list grouped by node.
fn starts(node_count: usize, keys: impl Iterator<Item = NodeId>) -> Vec<u32> {
    let mut starts = vec![0u32; node_count + 1];
    for key in keys {
        starts[key.0 as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    starts
}
