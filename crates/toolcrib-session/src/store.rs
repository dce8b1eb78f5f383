//! The directory of sessions: what is in it, which one is meant, branching off,
//! taking one away.
//!
//! A listing reads each file, since the end of a session is only known from its
//! last rows; callers show the newest few. One bad file is reported in its place
//! and hides no other.

use std::path::{Path, PathBuf};

use crate::claim::Claim;
use crate::{DiskSpill, Fork, Meta, Row, Session, SessionError, SessionId, SessionLog};

/// A directory of session files.
#[derive(Clone, Debug)]
pub struct SessionStore {
    dir: PathBuf,
}

/// One session file of a directory.
#[derive(Debug)]
pub struct Stored {
    /// The session's name, from the file's name.
    pub id: SessionId,
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// What is in it, or why it cannot be read.
    pub session: Result<Session, SessionError>,
}

impl SessionStore {
    /// The store in `dir`, which need not exist.
    pub fn new(dir: impl Into<PathBuf>) -> SessionStore {
        SessionStore { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The names of all sessions, the newest first. A directory that does not
    /// exist holds none.
    ///
    /// # Errors
    /// [`SessionError::Io`] when the directory cannot be read.
    pub fn ids(&self) -> Result<Vec<SessionId>, SessionError> {
        let failed = |source| SessionError::io("list", &self.dir, source);
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let id = name
                .to_str()
                .and_then(|name| SessionId::parse(name.strip_suffix(".jsonl")?).ok());
            ids.extend(id);
        }
        // Names sort by the time at which a session began.
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    /// The newest sessions, at most `limit` of them, each read.
    ///
    /// # Errors
    /// As [`SessionStore::ids`]; a file that cannot be read is in the list.
    pub fn newest(&self, limit: usize) -> Result<Vec<Stored>, SessionError> {
        let ids = self.ids()?;
        Ok(ids
            .into_iter()
            .take(limit)
            .map(|id| self.read(id))
            .collect())
    }

    fn read(&self, id: SessionId) -> Stored {
        let path = self.dir.join(id.file_name());
        Stored {
            bytes: std::fs::metadata(&path).map_or(0, |meta| meta.len()),
            session: Session::read(&path),
            id,
            path,
        }
    }

    /// The file that a person means: `last`, a name, the beginning or the end of
    /// exactly one name, or the path of a file.
    ///
    /// # Errors
    /// [`SessionError::NoSuch`] or [`SessionError::Ambiguous`], with names to choose
    /// from.
    pub fn find(&self, said: &str) -> Result<PathBuf, SessionError> {
        if said.contains(['/', '.']) && Path::new(said).is_file() {
            return Ok(PathBuf::from(said));
        }
        let ids = self.ids()?;
        let file = |id: &SessionId| self.dir.join(id.file_name());
        if said == "last"
            && let Some(newest) = ids.first()
        {
            return Ok(file(newest));
        }
        let fits = |id: &&SessionId| id.as_str().starts_with(said) || id.as_str().ends_with(said);
        let fitting: Vec<&SessionId> = match ids.iter().find(|id| id.as_str() == said) {
            Some(exact) => vec![exact],
            None if said.is_empty() => Vec::new(),
            None => ids.iter().filter(fits).collect(),
        };
        let named = |ids: &mut dyn Iterator<Item = &SessionId>| {
            let names: Vec<&str> = ids.take(5).map(SessionId::as_str).collect();
            names.join(", ")
        };
        match fitting[..] {
            [only] => Ok(file(only)),
            [] => Err(SessionError::NoSuch {
                said: beginning(said),
                dir: self.dir.clone(),
                newest: named(&mut ids.iter()),
            }),
            _ => Err(SessionError::Ambiguous {
                said: beginning(said),
                count: fitting.len(),
                some: named(&mut fitting.into_iter()),
            }),
        }
    }

    /// Begins a session with a copy of the rows of another up to `line`, or all of
    /// them. What was cut off between a call and its result is mended when it is
    /// read.
    ///
    /// # Errors
    /// [`SessionError::NoLine`] for a line that the session does not have, and what
    /// [`SessionLog::create`] says; nothing is left then.
    pub fn fork(&self, from: &Session, line: Option<u64>) -> Result<SessionLog, SessionError> {
        let last = from.entries().len() as u64;
        let line = line.unwrap_or(last);
        if line == 0 || line > last {
            return Err(SessionError::NoLine {
                path: from.path().to_owned(),
                line,
                last,
            });
        }
        let mut meta = Meta::new(from.meta().model.clone());
        meta.cwd.clone_from(&from.meta().cwd);
        meta.question.clone_from(&from.meta().question);
        meta.program.clone_from(&from.meta().program);
        meta.forked_from = Some(Fork {
            session: from.meta().id.clone(),
            line,
        });
        let log = SessionLog::create(&self.dir, meta)?;
        let copied = from
            .entries()
            .iter()
            .skip(1)
            .take_while(|entry| entry.line <= line)
            // As the line stands, so that fields unknown here come along.
            .try_for_each(|entry| log.append(&Row::Unknown(entry.raw.clone())))
            .and_then(|()| log.sync());
        if let Err(error) = copied {
            let _ = std::fs::remove_file(log.path());
            return Err(error);
        }
        DiskSpill::beside(from.path()).copy_to(&DiskSpill::beside(log.path()));
        Ok(log)
    }

    /// Takes the file of a session away, and the whole results beside it.
    ///
    /// # Errors
    /// [`SessionError::Claimed`] for a session that is in use; [`SessionError::Io`].
    pub fn remove(&self, path: &Path) -> Result<(), SessionError> {
        let _claim = Claim::take(path)?;
        std::fs::remove_file(path).map_err(|source| SessionError::io("remove", path, source))?;
        let _ = std::fs::remove_dir_all(DiskSpill::beside(path).dir());
        Ok(())
    }
}

/// As much of a name as an error repeats.
fn beginning(said: &str) -> String {
    const MOST: usize = 100;
    match said.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &said[..at]),
        None => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::Message;

    fn store() -> (tempfile::TempDir, SessionStore) {
        let dir = tempfile::tempdir().expect("a directory");
        let store = SessionStore::new(dir.path().join("sessions"));
        (dir, store)
    }

    fn session(store: &SessionStore, id: &str) -> SessionLog {
        let mut meta = Meta::new("m");
        meta.id = SessionId::parse(id).expect("an id");
        let log = SessionLog::create(store.dir(), meta).expect("created");
        log.append(&Row::message(Message::user("one")))
            .expect("a row");
        log.append(&Row::message(Message::user("two")))
            .expect("a row");
        log
    }

    #[test]
    fn a_store_that_does_not_exist_is_empty() {
        let (_dir, store) = store();
        assert!(store.ids().expect("listed").is_empty());
        let error = store.find("last").expect_err("none").to_string();
        assert!(error.contains("no session is called \"last\""), "{error}");
    }

    #[test]
    fn a_session_is_found_by_any_part_that_names_one() {
        let (_dir, store) = store();
        for id in ["20260101-aa", "20260102-ab", "20260103-bb"] {
            session(&store, id);
        }
        std::fs::write(store.dir().join("notes.txt"), "x").expect("written");
        let found = |said: &str| {
            let path = store.find(said).map_err(|error| error.to_string())?;
            Ok::<_, String>(path.file_stem().unwrap().to_string_lossy().into_owned())
        };
        assert_eq!(found("last").as_deref(), Ok("20260103-bb"));
        assert_eq!(found("20260101-aa").as_deref(), Ok("20260101-aa"));
        assert_eq!(found("20260102").as_deref(), Ok("20260102-ab"));
        assert_eq!(found("ab").as_deref(), Ok("20260102-ab"));
        let many = found("2026").unwrap_err();
        assert!(
            many.contains("3 sessions") && many.contains("20260103-bb, "),
            "{many}"
        );
        let none = found("zz").unwrap_err();
        assert!(none.contains("20260103-bb"), "{none}");
        assert!(found("").is_err());
        let path = store.dir().join("20260101-aa.jsonl");
        assert_eq!(store.find(&path.to_string_lossy()).expect("a path"), path);
    }

    #[test]
    fn a_bad_file_is_listed_with_its_reason_and_hides_no_other() {
        let (_dir, store) = store();
        session(&store, "20260101-aa");
        std::fs::write(store.dir().join("20260102-ab.jsonl"), "{}\n").expect("written");
        let listed = store.newest(10).expect("listed");
        assert_eq!(listed.len(), 2);
        assert!(listed[0].session.is_err());
        assert!(listed[1].session.is_ok());
        assert_eq!(store.newest(1).expect("listed").len(), 1);
    }

    #[test]
    fn a_fork_has_the_rows_up_to_its_line_as_they_stood() {
        let (_dir, store) = store();
        let log = session(&store, "20260101-aa");
        log.append(&Row::Unknown(r#"{"row":"new","x":1}"#.into()))
            .expect("a row");
        let from = Session::read(log.path()).expect("read");
        let fork = store.fork(&from, Some(2)).expect("forked");
        let read = Session::read(fork.path()).expect("read");
        assert_eq!(read.entries().len(), 2);
        assert_eq!(read.entries()[1].raw, from.entries()[1].raw);
        let origin = read.meta().forked_from.clone().expect("an origin");
        assert_eq!((origin.session.as_str(), origin.line), ("20260101-aa", 2));
        let whole = store.fork(&from, None).expect("forked");
        let whole = Session::read(whole.path()).expect("read");
        assert_eq!(whole.entries()[3].raw, from.entries()[3].raw);
        let count = store.ids().expect("listed").len();
        for line in [0, 9] {
            let error = store
                .fork(&from, Some(line))
                .expect_err("no such line")
                .to_string();
            assert!(error.contains("has 4 lines"), "{error}");
        }
        assert_eq!(store.ids().expect("listed").len(), count);
    }
}
