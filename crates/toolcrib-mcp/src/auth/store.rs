//! Credentials of a login on disk, for their owner's eyes alone.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use sha2::{Digest as _, Sha256};
use toolcrib_core::BoxFuture;

use crate::manifest::hex;

/// One server's credentials: a file, or memory where nothing may be kept.
#[derive(Clone)]
pub(super) struct FileStore {
    path: Option<PathBuf>,
    memory: Arc<Mutex<Option<StoredCredentials>>>,
}

impl FileStore {
    pub(super) fn new(dir: Option<&Path>, url: &str) -> FileStore {
        let name = hex(&Sha256::digest(url.as_bytes()));
        FileStore {
            path: dir.map(|dir| dir.join(format!("{name}.json"))),
            memory: Arc::default(),
        }
    }

    pub(super) fn exists(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.exists())
    }

    fn read(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let Some(path) = &self.path else {
            return Ok(self.memory().clone());
        };
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                failed(format!(
                    "{} is damaged ({error}); remove it",
                    path.display()
                ))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Option<StoredCredentials>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let Some(path) = &self.path else {
            *self.memory() = Some(credentials);
            return Ok(());
        };
        let write = || -> std::io::Result<()> {
            if let Some(dir) = path.parent() {
                let mut builder = std::fs::DirBuilder::new();
                builder.recursive(true);
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(dir)?;
            }
            let next = path.with_extension(format!("{}.tmp", std::process::id()));
            let mut options = std::fs::OpenOptions::new();
            // Made anew, since one that is there keeps the permissions it has.
            let _ = std::fs::remove_file(&next);
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&next)?;
            file.write_all(&serde_json::to_vec(&credentials)?)?;
            file.sync_all()?;
            std::fs::rename(&next, path)
        };
        write().map_err(|error| failed(format!("cannot write {}: {error}", path.display())))
    }

    fn remove(&self) -> Result<(), AuthError> {
        *self.memory() = None;
        match self.path.as_ref().map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(failed(error.to_string()))
            }
            _ => Ok(()),
        }
    }
}

fn failed(text: String) -> AuthError {
    AuthError::CredentialStoreError(text)
}

/// The trait's futures, written out: its macro is not worth a dependency.
impl CredentialStore for FileStore {
    fn load<'a, 'b>(&'a self) -> BoxFuture<'b, Result<Option<StoredCredentials>, AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async { self.read() })
    }

    fn save<'a, 'b>(
        &'a self,
        credentials: StoredCredentials,
    ) -> BoxFuture<'b, Result<(), AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async { self.write(credentials) })
    }

    fn clear<'a, 'b>(&'a self) -> BoxFuture<'b, Result<(), AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async { self.remove() })
    }
}
