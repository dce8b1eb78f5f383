//! Whole results on disk, beside the session that shows parts of them.
//!
//! Each is a file named after its content, so that writing one again changes
//! nothing, a fork can share them, and a crash leaves no half of one under its
//! name.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use toolcrib_core::{SpillError, SpillStore, Str, is_spill_handle, spill_handle};

use crate::log::make_dir;

/// A directory of whole results, readable by its owner alone. It is made when the
/// first one is kept.
#[derive(Clone, Debug)]
pub struct DiskSpill {
    dir: PathBuf,
}

impl DiskSpill {
    /// Keeps results in this directory.
    pub fn new(dir: impl Into<PathBuf>) -> DiskSpill {
        DiskSpill { dir: dir.into() }
    }

    /// The place of a session's results: its file with another ending.
    pub fn beside(session: &Path) -> DiskSpill {
        DiskSpill::new(session.with_extension("results"))
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl SpillStore for DiskSpill {
    fn put(&self, text: &str) -> Result<Str, SpillError> {
        let handle = spill_handle(text);
        let path = self.dir.join(&*handle);
        // A whole file of that name holds that text.
        if std::fs::metadata(&path).is_ok_and(|meta| meta.len() == text.len() as u64) {
            return Ok(handle);
        }
        let failed = |error: std::io::Error| {
            SpillError::Io(format!("cannot keep {}: {error}", path.display()))
        };
        make_dir(&self.dir).map_err(failed)?;
        let own = format!(
            "{handle}.{}.{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let unfinished = self.dir.join(own);
        let written = write(&unfinished, text).and_then(|()| std::fs::rename(&unfinished, &path));
        if let Err(error) = written {
            let _ = std::fs::remove_file(&unfinished);
            return Err(failed(error));
        }
        Ok(handle)
    }

    fn get(&self, handle: &str) -> Result<String, SpillError> {
        if !is_spill_handle(handle) {
            return Err(SpillError::Unknown(handle.into()));
        }
        let path = self.dir.join(handle);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(SpillError::Unknown(handle.into()))
            }
            Err(error) => Err(SpillError::Io(format!(
                "cannot read {}: {error}",
                path.display()
            ))),
        }
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l16_a_whole_result_is_kept_once_and_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = DiskSpill::beside(&dir.path().join("20260101-x.jsonl"));
        let text = "ü\n".repeat(100_000);
        let handle = store.put(&text).unwrap();
        assert_eq!(store.put(&text).unwrap(), handle);
        assert_eq!(store.get(&handle).unwrap(), text);
        assert_eq!(std::fs::read_dir(store.dir()).unwrap().count(), 1);
        assert!(store.dir().ends_with("20260101-x.results"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(store.dir()), 0o700);
            assert_eq!(mode(&store.dir().join(&*handle)), 0o600);
        }
    }

    #[test]
    fn l16_a_half_written_result_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = DiskSpill::new(dir.path());
        let handle = store.put("all of it").unwrap();
        std::fs::write(dir.path().join(&*handle), "all").unwrap();
        store.put("all of it").unwrap();
        assert_eq!(store.get(&handle).unwrap(), "all of it");
    }

    #[test]
    fn a_handle_cannot_leave_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        let store = DiskSpill::new(dir.path().join("results"));
        for handle in ["../secret", "secret", "/etc/passwd", "r000000000000", ""] {
            let error = store.get(handle).unwrap_err();
            assert!(matches!(error, SpillError::Unknown(_)), "{error}");
        }
    }
}
