//! Trees to read graphs from, and graphs as text.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use toolcrib_graph::{CodeGraph, NodeKind, ScanOptions, SiteState, Snapshot};

/// A checked-in program.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// A directory with these files.
pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

pub(crate) fn load(root: impl AsRef<Path>) -> Snapshot {
    Snapshot::load(root, &ScanOptions::default()).unwrap()
}

/// Nodes, imports apart, one a line.
pub(crate) fn nodes(graph: &CodeGraph) -> String {
    let mut out = String::new();
    for node in graph.nodes() {
        if node.kind == NodeKind::Import {
            continue;
        }
        let file = graph.file(node.file);
        writeln!(
            out,
            "{} {} {}:{}{}",
            node.kind,
            node.qualified_name,
            file.path,
            node.span.start_line,
            if node.exported { "" } else { " private" },
        )
        .unwrap();
    }
    out
}

/// Edges without containment, one a line.
pub(crate) fn edges(graph: &CodeGraph) -> String {
    let mut out = String::new();
    for edge in graph.edges() {
        if edge.kind == toolcrib_graph::EdgeKind::Contains {
            continue;
        }
        writeln!(
            out,
            "{} --{}--> {} ({}, {}x, line {})",
            graph.node(edge.from).qualified_name,
            edge.kind,
            graph.node(edge.to).qualified_name,
            edge.origin.as_str(),
            edge.count,
            edge.line
        )
        .unwrap();
    }
    out
}

/// Call sites, one a line.
pub(crate) fn sites(graph: &CodeGraph) -> String {
    let mut out = String::new();
    for site in graph.sites() {
        let state = match &site.state {
            SiteState::Resolved { target, origin } => {
                let target = &graph.node(*target).qualified_name;
                format!("{target} ({})", origin.as_str())
            }
            SiteState::Ambiguous { candidates } => {
                let names: Vec<&str> = candidates
                    .iter()
                    .map(|c| &*graph.node(*c).qualified_name)
                    .collect();
                format!("one of {}", names.join(", "))
            }
            SiteState::External { module } => format!("external {module}"),
            SiteState::Dynamic {
                declared,
                implementations,
            } => {
                let names: Vec<&str> = implementations
                    .iter()
                    .map(|c| &*graph.node(*c).qualified_name)
                    .collect();
                format!(
                    "dynamic {} by [{}]",
                    graph.node(*declared).qualified_name,
                    names.join(", ")
                )
            }
            SiteState::Unresolved => "unresolved".to_string(),
        };
        writeln!(
            out,
            "{}:{} {} => {state}",
            graph.file(site.file).path,
            site.span.start_line,
            site.callee,
        )
        .unwrap();
    }
    out
}

/// Whether a symbol of this qualified name is there.
pub(crate) fn has(snapshot: &Snapshot, name: &str) -> bool {
    snapshot.graph.by_qualified_name(name).is_some()
}
