//! Which repositories' files may choose a model.
//!
//! Trust is given to one file's bytes: the store keeps the SHA-256 of each
//! trusted file by its path, and any edit takes the trust away.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::exit::CliError;

/// The trusted files of this user.
#[derive(Debug)]
pub(crate) struct TrustStore {
    path: PathBuf,
    hashes: BTreeMap<String, String>,
}

impl TrustStore {
    /// Reads the store below the state directory; an absent one is empty.
    pub(crate) fn read(state: &Path) -> Result<TrustStore, CliError> {
        let path = state.join("trust.json");
        let hashes = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                CliError::failed(format!(
                    "{} is damaged ({error}); remove it to trust anew",
                    path.display()
                ))
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Err(CliError::failed(format!(
                    "cannot read {}: {error}",
                    path.display()
                )));
            }
        };
        Ok(TrustStore { path, hashes })
    }

    /// Whether exactly these bytes at this path are trusted.
    pub(crate) fn trusts(&self, file: &Path, bytes: &[u8]) -> bool {
        self.hashes
            .get(&key(file))
            .is_some_and(|hash| *hash == digest(bytes))
    }

    /// Remembers these bytes at this path. The store is replaced whole, so a crash
    /// leaves the old or the new one.
    pub(crate) fn trust(&mut self, file: &Path, bytes: &[u8]) -> Result<(), CliError> {
        self.hashes.insert(key(file), digest(bytes));
        let text = serde_json::to_vec_pretty(&self.hashes).map_err(CliError::failed)?;
        let write = || {
            if let Some(parent) = self.path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            let next = self
                .path
                .with_extension(format!("{}.tmp", std::process::id()));
            std::fs::write(&next, &text)
                .and_then(|()| std::fs::rename(&next, &self.path))
                .inspect_err(|_| {
                    let _ = std::fs::remove_file(&next);
                })
        };
        write().map_err(|error: std::io::Error| {
            CliError::failed(format!("cannot write {}: {error}", self.path.display()))
        })
    }
}

fn key(file: &Path) -> String {
    std::fs::canonicalize(file)
        .unwrap_or_else(|_| file.to_path_buf())
        .to_string_lossy()
        .into_owned()
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_holds_for_the_same_bytes_only_and_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("toolcrib.toml");
        std::fs::write(&file, "model = 'a'").unwrap();
        let mut store = TrustStore::read(dir.path()).unwrap();
        assert!(!store.trusts(&file, b"model = 'a'"));
        store.trust(&file, b"model = 'a'").unwrap();
        let again = TrustStore::read(dir.path()).unwrap();
        assert!(again.trusts(&file, b"model = 'a'"));
        assert!(!again.trusts(&file, b"model = 'b'"));
        assert!(!again.trusts(&dir.path().join("other.toml"), b"model = 'a'"));
    }

    #[test]
    fn a_damaged_store_is_named_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("trust.json"), "{").unwrap();
        let error = TrustStore::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("trust.json is damaged"), "{error}");
        assert_eq!(std::fs::read(dir.path().join("trust.json")).unwrap(), b"{");
    }
}
