//! The repository's graph, loaded for one command.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use toolcrib_graph::{
    CachedProvider, EdgeKind, Lookup, NodeKind, ScanOptions, ScanReport, Snapshot, SymbolTier,
};

use crate::exit::CliError;
use crate::place::Workspace;
use crate::terminal::count;

/// A graph that is ready to be looked up in.
pub(crate) struct Loaded {
    pub(crate) lookup: Arc<Lookup>,
    report: ScanReport,
}

/// Paths shown of each reason for leaving files out.
const SHOWN: usize = 5;

/// Reads the workspace on another thread, so that a signal can end the wait.
pub(crate) async fn load_aside(workspace: &Workspace) -> Result<Loaded, CliError> {
    let workspace = workspace.clone();
    let loading = tokio::task::spawn_blocking(move || load(&workspace));
    loading
        .await
        .unwrap_or_else(|error| Err(CliError::failed(error)))
}

/// Reads the workspace.
pub(crate) fn load(workspace: &Workspace) -> Result<Loaded, CliError> {
    let options = ScanOptions {
        output_dirs: workspace.config.exclude.iter().map(PathBuf::from).collect(),
        ..ScanOptions::default()
    };
    let snapshot = match &workspace.places.cache {
        Some(cache) => {
            let cached = CachedProvider::new(&cache.join("graph"), &workspace.root);
            Snapshot::load_with(&workspace.root, &options, &cached)
        }
        None => Snapshot::load(&workspace.root, &options),
    };
    let snapshot = snapshot.map_err(CliError::failed)?;
    let lookup = Arc::new(Lookup::new(Arc::new(snapshot.graph)));
    Ok(Loaded {
        lookup,
        report: snapshot.report,
    })
}

impl Loaded {
    /// What is in the graph, what is not, and why.
    pub(crate) fn stats(&self) -> String {
        let graph = self.lookup.graph();
        let mut text = format!(
            "{}, {} of text\n",
            count(self.report.files, "file"),
            count(self.report.bytes, "byte")
        );

        let mut languages: BTreeMap<(SymbolTier, &str), (usize, usize)> = BTreeMap::new();
        for file in graph.files() {
            let (tier, name) = file
                .language
                .map_or((SymbolTier::Text, "other"), |l| (l.tier, l.name));
            let entry = languages.entry((tier, name)).or_default();
            entry.0 += 1;
            entry.1 += file.line_starts.len();
        }
        for ((tier, name), (files, lines)) in languages {
            let note = match tier {
                SymbolTier::Full => "",
                SymbolTier::Definitions => ", definitions only",
                SymbolTier::Text => ", listed and readable without symbols",
            };
            let _ = writeln!(
                text,
                "  {name}: {}, {}{note}",
                count(files, "file"),
                count(lines, "line")
            );
        }

        let _ = writeln!(text, "{}", count(graph.nodes().len(), "node"));
        for kind in NodeKind::ALL {
            let found = graph
                .nodes()
                .iter()
                .filter(|node| node.kind == kind)
                .count();
            if found > 0 {
                let _ = writeln!(text, "  {kind}: {found}");
            }
        }
        let _ = writeln!(text, "{}", count(graph.edges().len(), "edge"));
        for kind in EdgeKind::ALL {
            let found = graph
                .edges()
                .iter()
                .filter(|edge| edge.kind == kind)
                .count();
            if found > 0 {
                let _ = writeln!(text, "  {kind}: {found}");
            }
        }
        let _ = writeln!(text, "{}", count(graph.sites().len(), "call site"));
        for (state, found) in graph.site_counts() {
            let _ = writeln!(text, "  {state}: {found}");
        }

        let left_out: usize = self.report.excluded.values().map(Vec::len).sum();
        let _ = writeln!(text, "{left_out} left out");
        for (reason, paths) in &self.report.excluded {
            let shown: Vec<&str> = paths.iter().take(SHOWN).map(|path| &**path).collect();
            let more = paths.len().saturating_sub(SHOWN);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let _ = writeln!(
                text,
                "  {}: {} ({}{more})",
                reason.as_str(),
                paths.len(),
                shown.join(", ")
            );
        }
        let _ = writeln!(text, "{}", count(self.report.problems.len(), "problem"));
        for problem in &self.report.problems {
            let _ = writeln!(text, "  {problem}");
        }
        // A path may hold anything a terminal would act on.
        text.chars()
            .map(|c| {
                if c.is_control() && c != '\n' {
                    '\u{fffd}'
                } else {
                    c
                }
            })
            .collect()
    }
}
