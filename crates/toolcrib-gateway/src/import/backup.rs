//! Writing an import, and putting everything back.
//!
//! A file is replaced whole, by a rename within its own directory, through a link to
//! what the link leads to. Before anything is changed, every file's new bytes lie
//! beside it, and the old ones and a record of the batch are safe below the state
//! directory, readable by the user alone: a backup of a file with secrets holds them
//! too, and is removed when it is put back. So a full disk is met before the first
//! rename, and nothing of the attempt is left. A crash at any point leaves each file
//! old or new, and the record.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::give_back::{Keys, spliced, taken};
use super::take_away::Added;
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
    /// Files that were changed since, and that have their old entries back.
    pub merged: Vec<PathBuf>,
    /// Files that the import had made, and that are gone again.
    pub removed: Vec<PathBuf>,
    /// Files that were passed by; their backups stay.
    pub left: Vec<Left>,
}

/// A file that an undoing passed by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// The file.
    pub path: PathBuf,
    /// What stands in the way.
    pub why: String,
    /// As it was before the import; none where there was no such file.
    pub backup: Option<PathBuf>,
}

impl Undone {
    /// Whether nothing at all was changed.
    pub fn is_empty(&self) -> bool {
        self.restored.is_empty() && self.merged.is_empty() && self.removed.is_empty()
    }
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
    /// The keys of the entries that gave way to the gateway's.
    #[serde(default)]
    taken: Vec<Keys>,
    /// What was added to a configuration of ours.
    #[serde(default)]
    added: Added,
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
    let mut attempt = Attempt::default();
    for (at, (write, target)) in writes.iter().zip(&targets).enumerate() {
        let staged = attempt.stage(at, target, write);
        staged.map_err(|error| ImportError::file("write", &write.path, error))?;
    }
    let dir = attempt.next_dir(state)?;
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
            taken: match &write.before {
                Some(before) if write.is_client => taken(&write.path, before, &write.after),
                _ => Vec::new(),
            },
            added: match write.is_client {
                true => Added::default(),
                false => Added::between(write.before.as_deref().unwrap_or(""), &write.after),
            },
        });
    }
    let text = serde_json::to_string_pretty(&record).unwrap_or_default();
    let path = dir.join(RECORD);
    // Whole or not at all: half a record would stop every undoing.
    replace(&path, &text).map_err(|e| ImportError::file("write", &path, e))?;
    let mut applied = Applied {
        written: Vec::new(),
        backups: dir.clone(),
    };
    for (at, (write, target)) in writes.iter().zip(&targets).enumerate() {
        if let Err(error) = fs::rename(staged(&target.path, at), &target.path) {
            if let Err(worse) = put_back(&dir, &record) {
                // The backups are all there is of what could not be put back.
                attempt.succeeded();
                return Err(worse);
            }
            return Err(ImportError::file("write", &write.path, error));
        }
        applied.written.push(write.path.clone());
    }
    attempt.succeeded();
    Ok(applied)
}

/// What an import has made so far, which goes again unless it succeeds.
#[derive(Default)]
struct Attempt {
    /// New files that wait beside those that they will replace.
    files: Vec<PathBuf>,
    /// The directory of the backups.
    batch: Option<PathBuf>,
    /// Directories that were not there, the outermost first.
    dirs: Vec<PathBuf>,
}

impl Attempt {
    fn succeeded(&mut self) {
        self.batch = None;
        self.dirs.clear();
    }

    fn make_dirs(&mut self, dir: &Path) -> std::io::Result<()> {
        let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
        let mut made: Vec<PathBuf> = dir
            .ancestors()
            .take_while(missing)
            .map(Path::to_owned)
            .collect();
        made.reverse();
        self.dirs.extend(made);
        fs::create_dir_all(dir)
    }

    /// Writes the new bytes of one file beside its place.
    fn stage(&mut self, at: usize, target: &Target, write: &Write) -> std::io::Result<()> {
        if write.before.is_none() {
            self.make_dirs(target.path.parent().unwrap_or(Path::new(".")))?;
        }
        let next = staged(&target.path, at);
        self.files.push(next.clone());
        like(&target.path, &next, &write.after)
    }

    fn next_dir(&mut self, state: &Path) -> Result<PathBuf, ImportError> {
        let last = dirs(state)?.pop();
        let last = last.and_then(|dir| dir.file_name()?.to_str()?.parse::<u32>().ok());
        let root = state.join("import");
        let made = self.make_dirs(&root);
        made.map_err(|error| ImportError::file("make", &root, error))?;
        let mut number = last.unwrap_or(0) + 1;
        loop {
            let dir = root.join(number.to_string());
            match fs::create_dir(&dir) {
                // Another import is writing its backups there, or was cut off.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                made => {
                    made.and_then(|()| for_user_alone(&dir))
                        .map_err(|error| ImportError::file("make", &dir, error))?;
                    self.batch = Some(dir.clone());
                    return Ok(dir);
                }
            }
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        if let Some(batch) = &self.batch {
            let _ = fs::remove_dir_all(batch);
        }
        // Another's files keep their directory: only an empty one goes.
        for dir in self.dirs.iter().rev() {
            let _ = fs::remove_dir(dir);
        }
    }
}

/// Where the new bytes of a file wait; two links may lead to one file.
fn staged(path: &Path, at: usize) -> PathBuf {
    beside(path, &format!("new{at}"))
}

/// Undoes the newest import on record below `state` of which anything can be undone.
/// Files that nothing else has changed get every byte back. In others the entries that
/// were taken come back in the place of the gateway's, what was added to ours goes,
/// and everything else stays.
/// What can be neither is named, and stays on record.
///
/// # Errors
/// [`ImportError::NothingToUndo`] without a record, and others when one is damaged.
pub fn undo(state: &Path) -> Result<Undone, ImportError> {
    let mut batches = dirs(state)?;
    if batches.is_empty() {
        return Err(ImportError::NothingToUndo);
    }
    let mut undone = Undone::default();
    while let Some(dir) = batches.pop() {
        let path = dir.join(RECORD);
        let text = fs::read_to_string(&path).map_err(|e| ImportError::file("read", &path, e))?;
        let record: Record = serde_json::from_str(&text).map_err(|error| ImportError::Config {
            path: path.clone(),
            why: format!("the record is damaged: {error}"),
        })?;
        let finished = undo_batch(&dir, record, &mut undone)?;
        if finished || !undone.is_empty() {
            break;
        }
    }
    Ok(undone)
}

/// Says whether nothing of the batch is left.
fn undo_batch(dir: &Path, record: Record, undone: &mut Undone) -> Result<bool, ImportError> {
    let mut rest = Record::default();
    let mut spent = Vec::new();
    for mut saved in record.files {
        let path = saved.path.clone();
        let backup = saved.backup.as_ref().map(|name| dir.join(name));
        match give_back(backup.as_deref(), &mut saved) {
            Ok(Given::Nothing) => {}
            Ok(Given::Bytes) => undone.restored.push(path),
            Ok(Given::Entries) => undone.merged.push(path),
            Ok(Given::Absence) => undone.removed.push(path),
            Ok(Given::Edited(names)) => {
                let names = names.join("`, `mcp.servers.");
                let why = format!("`mcp.servers.{names}` was edited since the import, and stays");
                undone.merged.push(path.clone());
                undone.left.push(Left {
                    path,
                    why,
                    backup: None,
                });
            }
            Err(why) => {
                let known = undone.left.iter().any(|left| left.path == path);
                if !known {
                    undone.left.push(Left { path, why, backup });
                }
                rest.files.push(saved);
                continue;
            }
        }
        spent.extend(backup);
    }
    if rest.files.is_empty() {
        fs::remove_dir_all(dir).map_err(|e| ImportError::file("remove", dir, e))?;
        return Ok(true);
    }
    let text = serde_json::to_string_pretty(&rest).unwrap_or_default();
    let path = dir.join(RECORD);
    replace(&path, &text).map_err(|e| ImportError::file("write", &path, e))?;
    for backup in spent {
        fs::remove_file(&backup).map_err(|e| ImportError::file("remove", &backup, e))?;
    }
    Ok(false)
}

enum Given {
    /// It was as before already.
    Nothing,
    Bytes,
    Entries,
    Absence,
    /// All but these servers of ours.
    Edited(Vec<String>),
}

/// Gives one file back, or says why not.
fn give_back(backup: Option<&Path>, saved: &mut Saved) -> Result<Given, String> {
    let path = saved.path.clone();
    let now = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    let mark = now.as_deref().map(digest);
    if mark == saved.before {
        return Ok(Given::Nothing);
    }
    let Some(now) = now else {
        return Err("it is gone".to_owned());
    };
    let unwritten = |error: std::io::Error| format!("it cannot be written: {error}");
    let unchanged = mark.as_ref() == Some(&saved.after);
    let remove = || {
        let removed = fs::remove_file(&path);
        removed.map_err(|error| format!("it cannot be removed: {error}"))?;
        Ok(Given::Absence)
    };
    if !unchanged && !saved.added.is_empty() {
        let Some((text, edited)) = saved.added.taken_from(&now) else {
            return Err("it was changed since the import and cannot be read".to_owned());
        };
        if text.trim().is_empty() && backup.is_none() {
            return remove();
        }
        if text != now {
            replace(&path, &text).map_err(unwritten)?;
        }
        return Ok(match edited.is_empty() {
            true => Given::Entries,
            false => Given::Edited(edited.into_iter().map(str::to_owned).collect()),
        });
    }
    let Some(backup) = backup else {
        if !unchanged {
            return Err("it was changed since the import, which made it".to_owned());
        }
        return remove();
    };
    let before = fs::read_to_string(backup)
        .map_err(|error| format!("its backup cannot be read: {error}"))?;
    if unchanged {
        replace(&path, &before).map_err(unwritten)?;
        return Ok(Given::Bytes);
    }
    let keys = match saved.taken.is_empty() {
        true => taken(&path, &before, &now),
        false => saved.taken.clone(),
    };
    if keys.is_empty() {
        return Err("it was changed since the import".to_owned());
    }
    let Some((text, left)) = spliced(&path, &now, &before, &keys) else {
        return Err("it was changed since the import and cannot be read".to_owned());
    };
    if text != now {
        replace(&path, &text).map_err(unwritten)?;
    }
    if left.is_empty() {
        return Ok(Given::Entries);
    }
    saved.taken = left;
    Err("it was changed since the import, and the gateway's entry is gone".to_owned())
}

/// Restores every byte, whatever stands there now.
fn put_back(dir: &Path, record: &Record) -> Result<(), ImportError> {
    for saved in &record.files {
        let now = match fs::read_to_string(&saved.path) {
            Ok(text) => Some(digest(&text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(ImportError::file("read", &saved.path, error)),
        };
        if now == saved.before {
            continue;
        }
        match &saved.backup {
            Some(name) => {
                let backup = dir.join(name);
                let text = fs::read_to_string(&backup)
                    .map_err(|e| ImportError::file("read", &backup, e))?;
                replace(&saved.path, &text)
                    .map_err(|e| ImportError::file("restore", &saved.path, e))?;
            }
            None => fs::remove_file(&saved.path)
                .map_err(|e| ImportError::file("remove", &saved.path, e))?,
        }
    }
    fs::remove_dir_all(dir).map_err(|e| ImportError::file("remove", dir, e))
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
        Ok(Target { path })
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
    let written = like(path, &next, text).and_then(|()| fs::rename(&next, path));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&next);
    })
}

/// Writes a file with the permissions of another, or for the user alone.
fn like(path: &Path, next: &Path, text: &str) -> std::io::Result<()> {
    private(next, text.as_bytes())?;
    match fs::metadata(path) {
        Ok(meta) => fs::set_permissions(next, meta.permissions()),
        Err(_) => Ok(()),
    }
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

fn for_user_alone(dir: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    }
    #[cfg(not(unix))]
    let _ = dir;
    Ok(())
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
