//! The writing end of a session.
//!
//! The lock is taken for each row and not for the life of the log: two
//! processes may write to one session, and a process that was killed holds
//! nothing. Each row finds the end of the file as it is, cuts off what a killed
//! writer left of a row, and goes out in one write.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::claim::Claim;
use crate::row::{encode, now};
use crate::{Meta, Row, SessionError, SessionId, read};

/// How long a row waits for another process that writes one.
const PATIENCE: Duration = Duration::from_secs(10);

/// A session that rows are appended to. Clones share one file and one lock;
/// every method may be called from any thread and blocks only for the write.
#[derive(Clone, Debug)]
pub struct SessionLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    meta: Meta,
    writer: Mutex<Writer>,
    claim: Mutex<Option<Claim>>,
}

#[derive(Debug)]
struct Writer {
    file: File,
    /// The end of the last row written here; anything else is looked at again.
    end: Option<u64>,
    /// The directory's entry is not known to be on disk yet.
    fresh: bool,
}

impl SessionLog {
    /// Begins a session in `dir`, which is made if need be, and writes its first
    /// row. File and new directories are readable by their owner alone. Should
    /// another session have the same name, this one gets a new name.
    ///
    /// # Errors
    /// [`SessionError::DiskFull`] or [`SessionError::Io`]; no file is left then.
    pub fn create(dir: &Path, mut meta: Meta) -> Result<SessionLog, SessionError> {
        make_dir(dir).map_err(|source| SessionError::io("make", dir, source))?;
        let (path, file) = loop {
            let path = dir.join(meta.id.file_name());
            match options().create_new(true).open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    meta.id = SessionId::generate();
                }
                Err(source) => return Err(SessionError::io("create", &path, source)),
            }
        };
        let log = SessionLog::over(file, path, meta, true);
        if let Err(error) = log.append(&Row::Meta(log.meta().clone())) {
            let _ = std::fs::remove_file(log.path());
            return Err(error);
        }
        Ok(log)
    }

    /// Goes on with a session. A row that a crash left without its end is cut off.
    /// Rows before it are not looked at; [`crate::Session::read`] does that.
    ///
    /// # Errors
    /// [`SessionError::Empty`], [`SessionError::NotASession`],
    /// [`SessionError::Newer`] or [`SessionError::BadLine`] when the first line is
    /// not that of a session this version can write to; the file is not touched
    /// then. [`SessionError::Io`] or [`SessionError::Busy`] otherwise.
    pub fn open(path: &Path) -> Result<SessionLog, SessionError> {
        let file = options()
            .open(path)
            .map_err(|source| SessionError::io("open", path, source))?;
        let mut first = Vec::new();
        BufReader::new(&file)
            .read_until(b'\n', &mut first)
            .map_err(|source| SessionError::io("read", path, source))?;
        let meta = read::first_row(path, &first)?;
        let log = SessionLog::over(file, path.to_owned(), meta, false);
        log.locked(|writer| writer.settle())?;
        Ok(log)
    }

    fn over(file: File, path: PathBuf, meta: Meta, fresh: bool) -> SessionLog {
        SessionLog {
            shared: Arc::new(Shared {
                path,
                meta,
                writer: Mutex::new(Writer {
                    file,
                    end: None,
                    fresh,
                }),
                claim: Mutex::default(),
            }),
        }
    }

    /// Claims the session for a run that goes on with it, for the life of this log and
    /// its clones, or until the process ends. Whoever resumes claims first and reads
    /// then. Reading, and writing rows, need no claim; one that is held is kept.
    ///
    /// # Errors
    /// [`SessionError::Claimed`] when another log holds it; [`SessionError::Io`].
    pub fn claim(&self) -> Result<(), SessionError> {
        let claim = self.shared.claim.lock();
        let mut claim = claim.unwrap_or_else(PoisonError::into_inner);
        if claim.is_none() {
            *claim = Some(Claim::take(self.path())?);
        }
        Ok(())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// The first row.
    pub fn meta(&self) -> &Meta {
        &self.shared.meta
    }

    /// Appends one row and hands it to the system before it returns: a crash of
    /// this process loses nothing that was appended. Against a crash of the
    /// machine see [`SessionLog::sync`].
    ///
    /// # Errors
    /// [`SessionError::DiskFull`], [`SessionError::Io`], [`SessionError::Busy`] or
    /// [`SessionError::Encode`]. The row is not in the file then, not even in part,
    /// and later rows can be appended.
    pub fn append(&self, row: &Row) -> Result<(), SessionError> {
        let mut line = Vec::new();
        encode(row, now(), &mut line)?;
        self.locked(|writer| writer.write(&line))
    }

    /// Waits until all rows are on disk. To be called where a turn ends.
    ///
    /// # Errors
    /// [`SessionError::DiskFull`] or [`SessionError::Io`].
    pub fn sync(&self) -> Result<(), SessionError> {
        let mut writer = self.writer();
        let synced = writer.file.sync_data();
        synced.map_err(|source| SessionError::io("sync", self.path(), source))?;
        if std::mem::take(&mut writer.fresh) {
            // Not every system can do this to a directory; then it need not be done.
            let dir = self.path().parent().map(File::open);
            if let Some(Ok(dir)) = dir {
                let _ = dir.sync_all();
            }
        }
        Ok(())
    }

    fn writer(&self) -> std::sync::MutexGuard<'_, Writer> {
        let writer = self.shared.writer.lock();
        writer.unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` while no other thread and no other process writes.
    fn locked(&self, work: impl FnOnce(&mut Writer) -> io::Result<()>) -> Result<(), SessionError> {
        let mut writer = self.writer();
        let until = Instant::now() + PATIENCE;
        loop {
            match writer.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => {
                    let path = self.path().to_owned();
                    return Err(SessionError::Busy { path });
                }
                // A file system without locks: the lock of this process must do.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    break;
                }
                Err(TryLockError::Error(source)) => {
                    return Err(SessionError::io("lock", self.path(), source));
                }
            }
        }
        let done = work(&mut writer);
        let _ = writer.file.unlock();
        done.map_err(|source| SessionError::io("write", self.path(), source))
    }
}

impl Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.settle()?;
        let begin = self.end.take();
        match self.file.write_all(line) {
            Ok(()) => {
                self.end = begin.map(|begin| begin + line.len() as u64);
                Ok(())
            }
            Err(error) => {
                // A part may have gone out. Should this fail too, the next row or
                // the next process to open the file cuts it off.
                if let Some(begin) = begin {
                    let _ = self.file.set_len(begin);
                }
                Err(error)
            }
        }
    }

    /// Leaves the file ending with a complete row, or empty.
    fn settle(&mut self) -> io::Result<()> {
        let len = self.file.metadata()?.len();
        if self.end != Some(len) {
            let end = end_of_last_row(&mut self.file, len)?;
            if end < len {
                self.file.set_len(end)?;
            }
            self.end = Some(end);
        }
        Ok(())
    }
}

/// The byte behind the last line break; 0 if there is none.
fn end_of_last_row(file: &mut File, len: u64) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut block = vec![0; STEP as usize];
    let mut end = len;
    // The usual case needs one byte.
    let mut step = 1;
    while end > 0 {
        let begin = end.saturating_sub(step);
        let part = &mut block[..(end - begin) as usize];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(part)?;
        if let Some(at) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
        step = STEP;
    }
    Ok(0)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(dir)
}

#[cfg(test)]
mod tests;
