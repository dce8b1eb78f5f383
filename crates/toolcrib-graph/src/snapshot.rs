//! One directory, read and understood.
//!
//! [`Snapshot::load`] is the way in: it scans, asks a provider, and assembles.
//! It holds no locks and watches nothing; what changed afterwards needs another
//! load.

use std::path::{Path, PathBuf};

use crate::graph::CodeGraph;
use crate::provider::{GraphProvider, TreeSitterProvider};
use crate::scan::{Disk, FileSystem, ScanOptions, ScanReport, scan};

/// Why there is no graph at all. Smaller troubles are in the [`ScanReport`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Nothing is at the path.
    #[error("{} does not exist; name an existing directory", .0.display())]
    RootMissing(PathBuf),
    /// A file is at the path.
    #[error("{} is a file; name the directory that holds it", .0.display())]
    RootIsFile(PathBuf),
    /// The path could not be looked at.
    #[error("{} cannot be opened: {reason}; check its permissions", .path.display())]
    RootUnreadable {
        /// The path as given.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The directory has no file to read.
    #[error(
        "no readable file under {}: {excluded} left out by rule, {problems} unreadable; \
         name another directory or check its ignore files",
        .root.display()
    )]
    NoFiles {
        /// The path as given.
        root: PathBuf,
        /// Paths left out by rule.
        excluded: usize,
        /// Paths that could not be read.
        problems: usize,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {reason}; ask for fewer")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The system's words.
        reason: String,
    },
}

/// A directory's graph and what the scan left out of it.
pub struct Snapshot {
    /// The directory as given.
    pub root: PathBuf,
    /// What is in it.
    pub graph: CodeGraph,
    /// What is not.
    pub report: ScanReport,
}

impl Snapshot {
    /// Reads a directory with the embedded grammars.
    pub fn load(root: impl AsRef<Path>, options: &ScanOptions) -> Result<Snapshot, GraphError> {
        Self::load_with(root, options, &TreeSitterProvider)
    }

    /// Reads a directory with another provider.
    pub fn load_with(
        root: impl AsRef<Path>,
        options: &ScanOptions,
        provider: &dyn GraphProvider,
    ) -> Result<Snapshot, GraphError> {
        Self::load_from(root.as_ref(), options, provider, &FileSystem)
    }

    /// Reads a directory whose files come from `disk`.
    pub(crate) fn load_from(
        root: &Path,
        options: &ScanOptions,
        provider: &dyn GraphProvider,
        disk: &dyn Disk,
    ) -> Result<Snapshot, GraphError> {
        check_root(root)?;
        let work = || {
            let (files, mut report) = scan(root, options, disk);
            if files.is_empty() {
                return Err(GraphError::NoFiles {
                    root: root.to_path_buf(),
                    excluded: report.excluded.values().map(Vec::len).sum(),
                    problems: report.problems.len(),
                });
            }
            let provided = provider.provide(&files);
            report.problems.extend(provided.problems);
            report.sort();
            Ok(Snapshot {
                root: root.to_path_buf(),
                graph: CodeGraph::assemble(provided.parts),
                report,
            })
        };
        match options.threads {
            None => work(),
            Some(threads) => rayon::ThreadPoolBuilder::new()
                .num_threads(threads.max(1))
                .build()
                .map_err(|error| GraphError::Threads {
                    threads,
                    reason: error.to_string(),
                })?
                .install(work),
        }
    }
}

fn check_root(root: &Path) -> Result<(), GraphError> {
    match std::fs::metadata(root) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(GraphError::RootIsFile(root.to_path_buf())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(GraphError::RootMissing(root.to_path_buf()))
        }
        Err(error) => Err(GraphError::RootUnreadable {
            path: root.to_path_buf(),
            reason: error.kind().to_string(),
        }),
    }
}
