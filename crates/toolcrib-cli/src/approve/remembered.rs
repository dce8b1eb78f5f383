//! What was allowed for always.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use toolcrib_core::ToolSpec;

use crate::exit::CliError;

/// Tools allowed in one repository. Each is known by a hash of all that is known of it.
pub(super) struct Remembered {
    file: Option<PathBuf>,
    root: String,
    /// `root-and-tool` hashes.
    allowed: Mutex<BTreeSet<String>>,
}

impl Remembered {
    /// Reads them from below the state directory; without one nothing is remembered.
    pub(super) fn read(state: Option<&Path>, root: &Path) -> Result<Remembered, CliError> {
        let file = state.map(|state| state.join("allowed.json"));
        let allowed = match &file {
            Some(file) => read(file)?,
            None => BTreeSet::new(),
        };
        Ok(Remembered {
            file,
            root: root.to_string_lossy().into_owned(),
            allowed: Mutex::new(allowed),
        })
    }

    pub(super) fn has(&self, spec: &ToolSpec) -> bool {
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        allowed.contains(&self.key(spec))
    }

    /// Remembers a tool. The file is replaced whole, so a crash leaves the old or the
    /// new one.
    pub(super) fn add(&self, spec: &ToolSpec) -> Result<(), CliError> {
        let Some(file) = &self.file else {
            return Err(CliError::failed("there is no place to remember it"));
        };
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        // Another run may have added some.
        allowed.extend(read(file)?);
        allowed.insert(self.key(spec));
        let text = serde_json::to_vec_pretty(&*allowed).map_err(CliError::failed)?;
        let write = || {
            if let Some(dir) = file.parent() {
                std::fs::create_dir_all(dir)?;
            }
            let next = file.with_extension(format!("{}.tmp", std::process::id()));
            std::fs::write(&next, &text)
                .and_then(|()| std::fs::rename(&next, file))
                .inspect_err(|_| {
                    let _ = std::fs::remove_file(&next);
                })
        };
        write().map_err(|error: std::io::Error| {
            CliError::failed(format!("cannot write {}: {error}", file.display()))
        })
    }

    fn key(&self, spec: &ToolSpec) -> String {
        let mut hash = Sha256::new();
        let effect = format!("{:?}", spec.effect);
        for part in [
            self.root.as_str(),
            spec.name.as_str(),
            &spec.source.0,
            &spec.description,
            spec.input_schema.received(),
            &effect,
        ] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

fn read(file: &Path) -> Result<BTreeSet<String>, CliError> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            CliError::failed(format!(
                "{} is damaged ({error}); remove it to be asked anew",
                file.display()
            ))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(CliError::failed(format!(
            "cannot read {}: {error}",
            file.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::{Schema, ToolName};

    #[test]
    fn l12_always_holds_for_the_same_tool_in_the_same_place() {
        let dir = tempfile::tempdir().unwrap();
        let spec = |description: &str| {
            ToolSpec::new(
                ToolName::parse("wipe").unwrap(),
                description,
                Schema::empty(),
            )
        };
        let at = |root: &str| Remembered::read(Some(dir.path()), Path::new(root)).unwrap();
        let here = at("/a");
        assert!(!here.has(&spec("Wipes.")));
        here.add(&spec("Wipes.")).unwrap();
        assert!(at("/a").has(&spec("Wipes.")));
        assert!(!at("/a").has(&spec("Wipes all.")) && !at("/b").has(&spec("Wipes.")));
        std::fs::write(dir.path().join("allowed.json"), "{").unwrap();
        let error = Remembered::read(Some(dir.path()), Path::new("/a"))
            .err()
            .unwrap();
        assert!(error.to_string().contains("allowed.json is damaged"));
    }
}
