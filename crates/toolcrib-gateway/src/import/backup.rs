//! Writing an import, and putting everything back.
//!
//! A file is replaced whole, by a rename within its own directory, through a link to
//! what the link leads to. Before anything is changed, every file's old bytes and a
//! record of the batch are safe below the state directory, readable by the user
//! alone: a backup of a file with secrets holds them too, and is removed when it is
//! put back. A crash at any point leaves each file old or new, and the record.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{ImportError, Plan, Write};

const RECORD: &str = "record.json";

/// What an import wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// Where their old bytes are.
    pub backups: PathBuf,
}

/// What an undoing did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// Files whose old bytes are back.
    pub restored: Vec<PathBuf>,
    /// Files that the import had made, and that are gone again.
    pub removed: Vec<PathBuf>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    files: Vec<Saved>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    path: PathBuf,
    /// Its name among the backups; none where there was no file.
    backup: Option<String>,
    before: Option<String>,
    after: String,
}

/// Writes a plan: our own configurations, and with `clients` those of the clients.
/// `state` is a directory of the user's for backups.
///
/// # Errors
/// [`ImportError`] names the file. Where a file cannot be written, the ones before it
/// are put back.
pub fn apply(plan: &Plan, clients: bool, state: &Path) -> Result<Applied, ImportError> {
    let writes: Vec<&Write> = plan
        .writes
        .iter()
        .filter(|write| clients || !write.is_client)
        .collect();
    if writes.is_empty() {
        return Ok(Applied::default());
    }
    let mut targets = Vec::with_capacity(writes.len());
    for write in &writes {
        targets.push(Target::of(write)?);
    }
    let dir = next_dir(state)?;
    let mut record = Record::default();
    for (at, (write, target)) in writes.iter().zip(&targets).enumerate() {
        let backup = write
            .before
            .as_ref()
            .map(|text| (format!("{at}.backup"), text));
        if let Some((name, text)) = &backup {
            let path = dir.join(name);
            private(&path, text.as_bytes()).map_err(|e| ImportError::file("write", &path, e))?;
        }
        record.files.push(Saved {
            path: target.path.clone(),
            backup: backup.map(|(name, _)| name),
            before: write.before.as_deref().map(digest),
            after: digest(&write.after),
        });
    }
    let text = serde_json::to_string_pretty(&record).unwrap_or_default();
    let path = dir.join(RECORD);
    private(&path, text.as_bytes()).map_err(|e| ImportError::file("write", &path, e))?;
    let mut applied = Applied {
        written: Vec::new(),
        backups: dir.clone(),
    };
    for (write, target) in writes.iter().zip(&targets) {
        if let Err(error) = target.replace(&write.after) {
            put_back(&dir, &record, false)?;
            return Err(ImportError::file("write", &write.path, error));
        }
        applied.written.push(write.path.clone());
    }
    Ok(applied)
}

/// Undoes the newest import on record below `state`.
///
/// # Errors
/// [`ImportError::Changed`] when one of its files was changed since; nothing is
/// touched then.
pub fn undo(state: &Path) -> Result<Undone, ImportError> {
    let newest = dirs(state)?.pop().ok_or(ImportError::NothingToUndo)?;
    let path = newest.join(RECORD);
    let text = fs::read_to_string(&path).map_err(|e| ImportError::file("read", &path, e))?;
    let record: Record = serde_json::from_str(&text).map_err(|error| ImportError::Config {
        path: path.clone(),
        why: format!("the record is damaged: {error}"),
    })?;
    put_back(&newest, &record, true)
}

fn put_back(dir: &Path, record: &Record, check: bool) -> Result<Undone, ImportError> {
    let mut undone = Undone::default();
    let mut todo = Vec::new();
    for saved in &record.files {
        let now = match fs::read_to_string(&saved.path) {
            Ok(text) => Some(digest(&text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(ImportError::file("read", &saved.path, error)),
        };
        if now == saved.before {
            continue;
        }
        if check && now.as_ref() != Some(&saved.after) {
            let backup = saved.backup.as_deref().unwrap_or("of an absent file");
            return Err(ImportError::Changed {
                path: saved.path.clone(),
                backup: dir.join(backup),
            });
        }
        todo.push(saved);
    }
    for saved in todo {
        match &saved.backup {
            Some(name) => {
                let backup = dir.join(name);
                let text = fs::read_to_string(&backup)
                    .map_err(|e| ImportError::file("read", &backup, e))?;
                replace(&saved.path, &text)
                    .map_err(|e| ImportError::file("restore", &saved.path, e))?;
                undone.restored.push(saved.path.clone());
            }
            None => {
                fs::remove_file(&saved.path)
                    .map_err(|e| ImportError::file("remove", &saved.path, e))?;
                undone.removed.push(saved.path.clone());
            }
        }
    }
    fs::remove_dir_all(dir).map_err(|e| ImportError::file("remove", dir, e))?;
    Ok(undone)
}

/// A file that will be replaced: checked before anything is changed.
struct Target {
    /// Links followed.
    path: PathBuf,
}

impl Target {
    fn of(write: &Write) -> Result<Target, ImportError> {
        let wrong = |error| ImportError::file("write", &write.path, error);
        let path = match fs::canonicalize(&write.path) {
            Ok(path) => path,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => write.path.clone(),
            Err(error) => return Err(wrong(error)),
        };
        let now = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(wrong(error)),
        };
        if now != write.before {
            return Err(wrong(std::io::Error::other(
                "it was changed while it was being looked at; try again",
            )));
        }
        if fs::metadata(&path).is_ok_and(|meta| meta.permissions().readonly()) {
            return Err(wrong(std::io::Error::new(
                std::io::ErrorKind::PermissionDenied,
                "it is read-only",
            )));
        }
        let dir = path.parent().unwrap_or(Path::new("."));
        if now.is_none() {
            fs::create_dir_all(dir).map_err(wrong)?;
        }
        // Whether a file can be made there is only known by making one.
        let probe = beside(&path, "probe");
        File::create(&probe)
            .and_then(|_| fs::remove_file(&probe))
            .map_err(wrong)?;
        Ok(Target { path })
    }

    fn replace(&self, text: &str) -> std::io::Result<()> {
        replace(&self.path, text)
    }
}

/// A name in the same directory that nothing else has.
fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.toolcrib-{what}-{}", std::process::id()))
}

/// Replaces a file whole, keeping its permissions. A new one is the user's alone.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let next = beside(path, "new");
    let written = (|| {
        private(&next, text.as_bytes())?;
        if let Ok(meta) = fs::metadata(path) {
            fs::set_permissions(&next, meta.permissions())?;
        }
        fs::rename(&next, path)
    })();
    written.inspect_err(|_| {
        let _ = fs::remove_file(&next);
    })
}

/// Writes a file that only the user may read, down to the disk.
fn private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// The directories of the batches so far, oldest first.
fn dirs(state: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let root = state.join("import");
    let entries = match fs::read_dir(&root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ImportError::file("read", &root, error)),
    };
    let numbered = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
        path.join(RECORD).exists().then_some((number, path))
    });
    let mut all: Vec<(u32, PathBuf)> = numbered.collect();
    all.sort();
    Ok(all.into_iter().map(|(_, path)| path).collect())
}

fn next_dir(state: &Path) -> Result<PathBuf, ImportError> {
    let last = dirs(state)?.pop();
    let last = last.and_then(|dir| dir.file_name()?.to_str()?.parse::<u32>().ok());
    let dir = state
        .join("import")
        .join(format!("{}", last.unwrap_or(0) + 1));
    let made = || {
        fs::create_dir_all(&dir)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&dir, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    };
    made().map_err(|error| ImportError::file("make", &dir, error))?;
    Ok(dir)
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
