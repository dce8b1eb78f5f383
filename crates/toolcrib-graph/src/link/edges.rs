//! Nodes, edges and texts of the graph from the index.

use rustc_hash::FxHashMap;

use super::index::Index;
use super::naming::name_all;
use crate::facts::DefIx;
use crate::graph::GraphParts;
use crate::lang::language_of;
use crate::model::{Edge, EdgeKind, FileId, FileInfo, Node, NodeId, Origin, Text};

/// Everything the graph is assembled from.
pub(super) fn assemble(index: &Index<'_>) -> GraphParts {
    let extended = FxHashMap::default();
    let names = name_all(index, &extended);
    let mut parts = GraphParts::default();
    for (file, source) in (0u32..).zip(index.files) {
        let facts = &index.facts[file as usize];
        parts.files.push(FileInfo {
            path: source.path.clone(),
            language: language_of(&source.path),
            size: source.size,
            text: source.text.clone(),
            line_starts: line_starts(&source.text).into(),
            node: index.node(file, DefIx::ROOT),
        });
        for (i, def) in facts.defs.iter().enumerate() {
            let node = index.node(file, DefIx(i as u32));
            let parent = (i > 0).then(|| match def.ext.and_then(|e| extended.get(&(file, e))) {
                Some(target) => *target,
                None => index.node(file, def.parent),
            });
            if let Some(parent) = parent {
                parts.edges.push(Edge {
                    from: parent,
                    kind: EdgeKind::Contains,
                    to: node,
                    origin: Origin::Syntax,
                    count: 1,
                    line: def.span.start_line,
                });
            }
            parts.nodes.push(Node {
                kind: def.kind,
                name: facts.name(def.name).clone(),
                qualified_name: names.qualified[node.0 as usize].clone(),
                symbol: names.symbol[node.0 as usize].clone(),
                file: FileId(file),
                span: def.span,
                signature: def.signature.clone(),
                doc: def.doc.clone(),
                exported: def.exported,
                parent,
            });
        }
        parts.texts.extend(facts.texts.iter().map(|text| Text {
            file: FileId(file),
            span: text.span,
            kind: text.kind,
            node: NodeId(index.base[file as usize] + text.def.0),
        }));
    }
    parts
}

fn line_starts(text: &str) -> Vec<u32> {
    let mut starts = vec![0u32];
    starts.extend(memchr_lines(text.as_bytes()).map(|at| at as u32 + 1));
    if starts.len() > 1 && starts.last() == Some(&(text.len() as u32)) {
        starts.pop();
    }
    starts
}

fn memchr_lines(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at)
}
