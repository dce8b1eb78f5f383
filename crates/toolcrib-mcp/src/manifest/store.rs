//! Manifests on disk, by the fingerprint of their server's configuration.
//!
//! They make tools searchable before anything runs. A file that cannot be read is
//! the same as none: it is made anew at the next start.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Freshness, Manifest, Parts};

/// Moves when the layout changes, or what may stand in it.
const VERSION: u32 = 2;
/// Larger files are not read.
const MAX_FILE: u64 = 64 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    fetched: u64,
    protocol_version: String,
    server_info: Box<RawValue>,
    instructions: Option<String>,
    capabilities: Box<RawValue>,
    ttl_ms: u64,
    public: bool,
    skip_probe: bool,
    problems: Vec<String>,
    tools: Vec<Box<RawValue>>,
    prompts: Vec<Box<RawValue>>,
    resources: Vec<Box<RawValue>>,
    resource_templates: Vec<Box<RawValue>>,
}

/// A manifest that was kept.
pub(crate) struct Kept {
    pub(crate) manifest: Manifest,
    /// When it was fetched.
    pub(crate) fetched: SystemTime,
    /// The server does not bear to be asked for its era.
    pub(crate) skip_probe: bool,
}

/// A directory of manifests.
pub(crate) struct Store {
    dir: Option<PathBuf>,
}

impl Store {
    pub(crate) fn new(dir: Option<PathBuf>) -> Store {
        Store { dir }
    }

    fn path(&self, fingerprint: &str) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join(format!("{fingerprint}.json")))
    }

    pub(crate) fn load(&self, fingerprint: &str) -> Option<Kept> {
        let path = self.path(fingerprint)?;
        let meta = std::fs::metadata(&path).ok()?;
        if !meta.is_file() || meta.len() > MAX_FILE {
            return None;
        }
        let file: File = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        if file.version != VERSION {
            return None;
        }
        let known = |raw: Box<RawValue>| Some(raw).filter(|raw| raw.get() != "null");
        let parts = Parts {
            server_info: known(file.server_info),
            protocol_version: file.protocol_version.into(),
            instructions: file.instructions,
            capabilities: known(file.capabilities),
            tools: file.tools,
            prompts: file.prompts,
            resources: file.resources,
            resource_templates: file.resource_templates,
            problems: file.problems,
            freshness: Freshness {
                ttl: Duration::from_millis(file.ttl_ms),
                public: file.public,
            },
        };
        Some(Kept {
            manifest: Manifest::build(parts, None),
            fetched: UNIX_EPOCH + Duration::from_secs(file.fetched),
            skip_probe: file.skip_probe,
        })
    }

    /// Keeps a manifest, with the definitions that could not be used, so that the
    /// next reader sets the same ones aside. Trouble with the disk is logged alone:
    /// the cache is a convenience.
    pub(crate) fn save(&self, fingerprint: &str, manifest: &Manifest, skip_probe: bool) {
        let Some(path) = self.path(fingerprint) else {
            return;
        };
        let tools = manifest.tools.iter().map(|tool| tool.raw.clone());
        let rejected = manifest.quarantined.iter().map(|tool| tool.raw.clone());
        let file = File {
            version: VERSION,
            fetched: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            protocol_version: manifest.protocol_version.to_string(),
            server_info: manifest.server_info.clone(),
            instructions: manifest.instructions.clone(),
            capabilities: manifest.capabilities.clone(),
            ttl_ms: u64::try_from(manifest.freshness.ttl.as_millis()).unwrap_or(u64::MAX),
            public: manifest.freshness.public,
            skip_probe,
            problems: manifest.problems.clone(),
            tools: tools.chain(rejected).collect(),
            prompts: manifest.prompts.clone(),
            resources: manifest.resources.clone(),
            resource_templates: manifest.resource_templates.clone(),
        };
        if let Err(error) = write(&path, &file) {
            tracing::warn!(path = %path.display(), %error, "a manifest could not be kept");
        }
    }
}

/// Replaces the file whole: a crash leaves the old or the new one.
fn write(path: &Path, file: &File) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let next = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // One that is left from a process of the same number.
    let _ = std::fs::remove_file(&next);
    let bytes = serde_json::to_vec(file)?;
    options
        .open(&next)
        .and_then(|mut file| file.write_all(&bytes))
        .and_then(|()| std::fs::rename(&next, path))
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&next);
        })
}
