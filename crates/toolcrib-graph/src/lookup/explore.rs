//! `explore_area`: a symbol with its members, a directory or file with its
//! symbols and the edges among them, or the way from one symbol to another.
//!
//! An area has two listings, symbols and edges; the second keeps room of its
//! own so that a large area never shows names without their relations. One
//! offset pages through both, symbols first.

use std::collections::HashSet;

use serde::Serialize;

use super::cap::{MAX_CHARS, MAX_RECORD, clip, page};
use super::facts::counted;
use super::neighbors::{GUESS, Neighbor, Wanted};
use super::render::{place, shown_path};
use super::resolve::{Place, checked};
use super::{
    Answer, CallPaths, ExploreArea, ListFiles, Lookup, LookupCall, LookupError, LookupResult, Rest,
    SymbolNeighbors,
};
use crate::model::{Direction, Edge, EdgeKind, FileId, NodeId, NodeKind, Origin};

/// Characters that edges get at least, as far as there are edges.
const EDGE_ROOM: usize = 2_000;
const MAX_EDGES: usize = 30;

/// Data of `explore_area`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "found")]
pub enum Explored {
    /// An exact name.
    Symbol(SymbolView),
    /// A directory, a file or the beginning of a path.
    Area(Area),
    /// `A -> B`.
    Paths(CallPaths),
}

/// A symbol, what it contains and its edges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymbolView {
    /// The symbol.
    pub node: NodeId,
    /// How many members it has.
    pub member_total: usize,
    /// Those shown, in source order.
    pub members: Vec<NodeId>,
    /// How many edges it has, containment and guesses apart.
    pub edge_total: usize,
    /// Those shown.
    pub edges: Vec<Neighbor>,
    /// Members and edges that come after.
    pub rest: Vec<Rest>,
}

/// What is under a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Area {
    /// The path as understood; empty for the root.
    pub path: String,
    /// How many nodes are under it, files included and imports not.
    pub total: usize,
    /// Those shown, by path and line.
    pub nodes: Vec<NodeId>,
    /// How many proven edges there are among them, containment apart.
    pub edge_total: usize,
    /// Those shown, most connected ends first.
    pub edges: Vec<AreaEdge>,
    /// Nodes and edges that come after.
    pub rest: Vec<Rest>,
}

/// One edge between two nodes of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AreaEdge {
    /// Where the arrow starts.
    pub from: NodeId,
    /// What it says.
    pub kind: EdgeKind,
    /// Where it points.
    pub to: NodeId,
    /// Line of the first occurrence, in the file of `from`.
    pub line: u32,
}

impl Lookup {
    /// Shows a symbol, an area or the way between two symbols.
    pub fn explore_area(&self, args: &ExploreArea) -> Result<Answer<Explored>, LookupError> {
        let query = match args.query.trim() {
            "" | "." | "./" | "/" => ".",
            _ => checked("query", &args.query, "a qualified name, a path or `A -> B`")?,
        };
        let offset = args.offset.unwrap_or(0);
        if let Some((a, b)) = query.split_once("->").or_else(|| query.split_once('→')) {
            let (paths, text) = self.call_paths(a.trim(), b.trim())?;
            return Ok(Answer {
                data: Explored::Paths(paths),
                text,
            });
        }
        let exact = self
            .graph
            .by_qualified_name(query)
            .or_else(|| self.graph.by_symbol(query))
            .filter(|&id| self.graph.node(id).kind != NodeKind::File);
        if let Some(id) = exact {
            return Ok(self.view(id, offset));
        }
        match self.area_files(query) {
            Ok((path, files)) => Ok(self.area(&path, files, offset)),
            Err(outside @ LookupError::OutsideRoot { .. }) => Err(outside),
            Err(_) => match self.matching(query).as_slice() {
                [one] => Ok(self.view(*one, offset)),
                [] => Err(LookupError::UnknownArea {
                    query: query.to_owned(),
                    symbols: self.heads(&self.near_symbols(query)),
                    paths: self.near_paths(query),
                }),
                many => Err(self.ambiguous(query, many)),
            },
        }
    }

    /// The files of an area: one file, a directory, or all whose path begins so.
    fn area_files(&self, query: &str) -> LookupResult<(String, Vec<FileId>)> {
        match self.place_at(query) {
            Ok(Place::File(file)) => Ok((self.graph.file(file).path.to_string(), vec![file])),
            Ok(Place::Directory(d)) => {
                let files = self.files_under(&d);
                Ok((d, files))
            }
            Err(unknown) => {
                let prefix = self.inside(query)?;
                let files = self.files_beginning(&prefix);
                match files.is_empty() {
                    true => Err(unknown),
                    false => Ok((prefix, files)),
                }
            }
        }
    }

    /// What a node contains directly. A module declared in one file and written
    /// in another contains what that file does.
    pub(crate) fn contained(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let is_module = self.graph.node(id).kind == NodeKind::Module;
        let elsewhere = self.graph.outgoing(id).iter().filter(move |e| {
            is_module && e.kind == EdgeKind::Imports && self.graph.node(e.to).kind == NodeKind::File
        });
        let own = self.graph.outgoing(id).iter();
        own.chain(elsewhere.flat_map(|e| self.graph.outgoing(e.to)))
            .filter(|e| e.kind == EdgeKind::Contains)
            .map(|e| e.to)
    }

    fn view(&self, id: NodeId, offset: usize) -> Answer<Explored> {
        let mut members: Vec<NodeId> = self
            .contained(id)
            .filter(|&m| self.graph.node(m).kind != NodeKind::Import)
            .collect();
        members.sort_unstable();
        let (mut edges, _) = self.edges_at(id, &Wanted::all());
        edges.retain(|e| e.kind != EdgeKind::Contains);
        let (member_total, edge_total) = (members.len(), edges.len());
        let offset = offset.min(member_total);
        let members = &members[offset..];
        let name = self.graph.node(id).qualified_name.to_string();

        let member_records: Vec<String> = members.iter().map(|&m| self.symbol_line(m)).collect();
        let edge_records: Vec<String> = match offset {
            0 => edges
                .iter()
                .take(MAX_EDGES)
                .map(|e| self.neighbor_record(id, e))
                .collect(),
            _ => Vec::new(),
        };
        let about = self.about(id, Direction::Both);
        let note = self.partial_tier_note(id);
        let member_head = |shown: usize| match (member_total, shown) {
            (0, _) => about.trim_end().to_owned(),
            (n, shown) => format!(
                "{about}{}; {} shown:",
                counted(n, "member"),
                range(offset, shown)
            ),
        };
        let member_rest = |shown: usize, truncated: bool| {
            let left_out = member_total - offset - shown;
            (left_out > 0).then(|| Rest {
                left_out,
                truncated,
                next: explore(&name, offset + shown),
            })
        };
        let edge_head = |shown: usize| {
            format!(
                "{}; {} shown:",
                counted(edge_total, "edge"),
                range(0, shown)
            )
        };
        let edge_rest = |shown: usize, truncated: bool| {
            let left_out = edge_total - shown;
            (left_out > 0).then(|| Rest {
                left_out,
                truncated,
                next: LookupCall::SymbolNeighbors(SymbolNeighbors {
                    name: name.clone(),
                    offset: Some(shown),
                    ..SymbolNeighbors::default()
                }),
            })
        };
        let room = room_for(&edge_records);
        let limit = MAX_CHARS - note.chars().count();
        let first = page(
            &self.voice,
            limit - room,
            &member_records,
            "",
            member_head,
            member_rest,
        );
        let mut text = first.text;
        let mut rest: Vec<Rest> = first.rest.into_iter().collect();
        let mut edges_shown = 0;
        if offset == 0 && edge_total > 0 {
            let left = limit - text.chars().count();
            let second = page(&self.voice, left, &edge_records, "", edge_head, edge_rest);
            text.push_str(&second.text);
            rest.extend(second.rest);
            edges_shown = second.shown;
        }
        text.push_str(&note);
        edges.truncate(edges_shown);
        Answer {
            data: Explored::Symbol(SymbolView {
                node: id,
                member_total,
                members: members[..first.shown].to_vec(),
                edge_total,
                edges,
                rest,
            }),
            text,
        }
    }

    fn area(&self, path: &str, files: Vec<FileId>, offset: usize) -> Answer<Explored> {
        // What a file only declares is shown with it unless its definition is.
        let inside: HashSet<FileId> = files.iter().copied().collect();
        let mut shown: HashSet<NodeId> = HashSet::new();
        let mut nodes: Vec<NodeId> = Vec::new();
        for &file in &files {
            let own = self.graph.nodes_in(file);
            let own = own.filter(|(_, n)| n.kind != NodeKind::Import);
            nodes.extend(own.map(|(id, _)| id));
            for &id in self.graph.declared_in(file) {
                if !inside.contains(&self.graph.node(id).file) && shown.insert(id) {
                    nodes.push(id);
                }
            }
        }
        let wanted = offset.saturating_sub(nodes.len()) + MAX_EDGES;
        let (edges, guesses) = self.edges_among(&files, &nodes, wanted);
        let (total, edge_total) = (nodes.len(), edges.len());
        let offset = offset.min(total + edge_total);
        let node_offset = offset.min(total);
        let edge_offset = offset.saturating_sub(total);
        let shown_nodes = &nodes[node_offset..];
        let with_edges = offset == 0 || offset >= total;
        let shown_edges: &[AreaEdge] = match with_edges {
            true => &edges[edge_offset..edge_total.min(edge_offset + MAX_EDGES)],
            false => &[],
        };
        // More records than characters fit are never rendered.
        let node_records: Vec<String> = shown_nodes
            .iter()
            .take(MAX_CHARS / 8)
            .map(|&n| self.symbol_line(n))
            .collect();
        let cut_early = node_records.len() < shown_nodes.len();
        let edge_records: Vec<String> = shown_edges.iter().map(|e| self.edge_record(e)).collect();
        let query = if path.is_empty() { "." } else { path };
        let node_head = |shown: usize| match offset {
            o if o >= total && o > 0 => format!("area {}: edges", shown_path(query)),
            _ => format!(
                "area {}: {} in {}; {} shown:",
                shown_path(query),
                counted(total, "node"),
                counted(files.len(), "file"),
                range(node_offset, shown)
            ),
        };
        let node_rest = |shown: usize, truncated: bool| {
            let left_out = total - node_offset - shown;
            (left_out > 0).then(|| Rest {
                left_out,
                truncated: truncated || cut_early,
                next: explore(query, node_offset + shown),
            })
        };
        let edge_head = |shown: usize| {
            format!(
                "{}; {} shown:",
                counted(edge_total, "edge"),
                range(edge_offset, shown)
            )
        };
        let edge_rest = |shown: usize, truncated: bool| {
            let left_out = edge_total - edge_offset - shown;
            (left_out > 0).then(|| Rest {
                left_out,
                truncated,
                next: explore(query, total + edge_offset + shown),
            })
        };
        let mut notes = String::new();
        if guesses > 0 && with_edges {
            notes = format!(
                "note: {} hidden; {} shows those of a symbol with kinds {GUESS:?}\n",
                counted(guesses, "guessed edge"),
                self.voice.name("symbol_neighbors")
            );
        }
        if offset == 0 {
            notes.push_str(&self.tier_note(files.iter().copied()));
            if total == files.len() && files.len() > 1 {
                let call = LookupCall::ListFiles(ListFiles {
                    path: (!path.is_empty()).then(|| path.to_owned()),
                    ..ListFiles::default()
                });
                notes.push_str(&format!(
                    "note: no symbols here; sizes: {}\n",
                    self.voice.call(&call)
                ));
            }
        }
        let limit = MAX_CHARS - notes.chars().count();
        let room = room_for(&edge_records);
        let first = page(
            &self.voice,
            limit - room,
            &node_records,
            "",
            node_head,
            node_rest,
        );
        let mut text = first.text;
        let mut rest: Vec<Rest> = first.rest.into_iter().collect();
        let mut edges_shown = 0;
        if with_edges && edge_total > 0 {
            let left = limit - text.chars().count();
            let second = page(&self.voice, left, &edge_records, "", edge_head, edge_rest);
            text.push_str(&second.text);
            rest.extend(second.rest);
            edges_shown = second.shown;
        }
        text.push_str(&notes);
        Answer {
            data: Explored::Area(Area {
                path: path.to_owned(),
                total,
                nodes: shown_nodes[..first.shown].to_vec(),
                edge_total,
                edges: shown_edges[..edges_shown].to_vec(),
                rest,
            }),
            text,
        }
    }

    /// Proven edges among `nodes`, all those of `files`, containment apart, and
    /// how many guessed ones there are. Of the proven ones the first `wanted` are
    /// in order, most connected first.
    fn edges_among(
        &self,
        files: &[FileId],
        nodes: &[NodeId],
        wanted: usize,
    ) -> (Vec<AreaEdge>, usize) {
        let mut inside = vec![false; self.graph.files().len()];
        for file in files {
            inside[file.0 as usize] = true;
        }
        let mut edges: Vec<&Edge> = Vec::new();
        let mut degree = vec![0u32; self.graph.nodes().len()];
        let mut guesses = 0;
        for e in nodes.iter().flat_map(|&id| self.graph.outgoing(id)) {
            let to = self.graph.node(e.to);
            if e.kind == EdgeKind::Contains
                || !inside[to.file.0 as usize]
                || to.kind == NodeKind::Import
            {
                continue;
            }
            if e.origin == Origin::Guess {
                guesses += 1;
                continue;
            }
            edges.push(e);
            degree[e.from.0 as usize] += 1;
            degree[e.to.0 as usize] += 1;
        }
        let order = |e: &&Edge| {
            let ends = degree[e.from.0 as usize] + degree[e.to.0 as usize];
            (std::cmp::Reverse(ends), e.from, e.line, e.kind, e.to)
        };
        let ordered = wanted.min(edges.len());
        if ordered < edges.len() {
            edges.select_nth_unstable_by_key(ordered, order);
        }
        edges[..ordered].sort_unstable_by_key(order);
        let edges = edges.into_iter().map(|e| AreaEdge {
            from: e.from,
            kind: e.kind,
            to: e.to,
            line: e.line,
        });
        (edges.collect(), guesses)
    }

    fn edge_record(&self, e: &AreaEdge) -> String {
        let from = self.graph.node(e.from);
        let path = &self.graph.file(from.file).path;
        let line = format!(
            "{} -{}-> {}  {}",
            from.qualified_name,
            e.kind,
            self.graph.node(e.to).qualified_name,
            place(path, e.line, e.line)
        );
        clip(&line, MAX_RECORD)
    }
}

fn explore(query: &str, offset: usize) -> LookupCall {
    LookupCall::ExploreArea(ExploreArea {
        query: query.to_owned(),
        offset: Some(offset),
    })
}

/// `3-7` after skipping 2 and showing 5.
fn range(offset: usize, shown: usize) -> String {
    match shown {
        0 => "none".to_owned(),
        n => format!("{}-{}", offset + 1, offset + n),
    }
}

/// What the edge listing may claim before symbols are set.
fn room_for(records: &[String]) -> usize {
    let all: usize = records.iter().map(|r| r.chars().count() + 1).sum();
    match all {
        0 => 0,
        n => (n + 200).min(EDGE_ROOM),
    }
}
