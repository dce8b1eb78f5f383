//! Reading one file whole, though others may write to it meanwhile.
//!
//! What the listing said may be untrue by the time a file is opened: it may be
//! gone, larger, a pipe that nobody fills, or a link out of the root. A file is
//! therefore opened without waiting and without following links, and looked at
//! before and after. [`Disk`] is a seam, so that tests can let a file change at
//! an exact moment instead of racing for it.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

/// What tells that a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) is_file: bool,
}

impl From<&Metadata> for Stamp {
    fn from(meta: &Metadata) -> Stamp {
        Stamp {
            size: meta.len(),
            modified: meta.modified().ok(),
            is_file: meta.is_file(),
        }
    }
}

/// One open file.
pub(crate) trait Opened {
    fn stamp(&self) -> io::Result<Stamp>;

    /// The bytes from the start, at most one more than `max`.
    fn bytes(&mut self, max: u64) -> io::Result<Vec<u8>>;
}

/// Where files are read from.
pub(crate) trait Disk: Sync {
    /// Must neither wait nor follow a link.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Opened + '_>>;
}

/// The file system.
pub(crate) struct FileSystem;

impl Disk for FileSystem {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Opened + '_>> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            use std::os::unix::fs::OpenOptionsExt;
            let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            options.custom_flags(flags.bits() as i32);
        }
        Ok(Box::new(options.open(path)?))
    }
}

impl Opened for File {
    fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::from(&self.metadata()?))
    }

    fn bytes(&mut self, max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.metadata()?.len().min(max) as usize + 1);
        self.take(max + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// What a read came to.
pub(super) enum Contents {
    /// All of it, and whether it held still while it was read.
    Whole(Vec<u8>, bool),
    TooLarge,
    /// No file any more, but a pipe or the like.
    Special,
}

/// Attempts at a file that keeps changing.
const ATTEMPTS: usize = 3;

/// Reads a file of at most `max` bytes.
pub(super) fn read(disk: &dyn Disk, path: &Path, max: u64) -> io::Result<Contents> {
    let mut last = Vec::new();
    for _ in 0..ATTEMPTS {
        let mut file = disk.open(path)?;
        let before = file.stamp()?;
        if !before.is_file {
            return Ok(Contents::Special);
        }
        if before.size > max {
            return Ok(Contents::TooLarge);
        }
        let bytes = file.bytes(max)?;
        let read = bytes.len() as u64;
        if read > max {
            return Ok(Contents::TooLarge);
        }
        if file.stamp()? == before && read == before.size {
            return Ok(Contents::Whole(bytes, true));
        }
        last = bytes;
    }
    Ok(Contents::Whole(last, false))
}
