//! Files that vanish or change under the scanner, at an exact moment.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use super::disk::{Opened, Stamp};
use super::{Disk, Exclusion, FileSystem, ScanOptions};
use crate::provider::TreeSitterProvider;
use crate::snapshot::Snapshot;

/// What happens to one file.
#[derive(Clone, Copy, PartialEq)]
enum Event {
    /// It is removed after the listing.
    Removed,
    /// It is a pipe when it is opened.
    BecomesPipe,
    /// It is written to after it was looked at, this many times.
    Written(usize),
    /// It is cut to nothing while open.
    Truncated,
    /// It grows beyond the limit while open.
    Grows,
    /// The system refuses.
    Refused,
    /// The disk fails in the middle.
    Fails,
}

struct Eventful {
    name: &'static str,
    event: Event,
    seen: Mutex<usize>,
}

struct Changing<'d> {
    inner: Box<dyn Opened + 'd>,
    event: Event,
    attempt: usize,
    looked: std::cell::Cell<usize>,
}

impl Disk for Eventful {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Opened + '_>> {
        if !path.ends_with(self.name) {
            return FileSystem.open(path);
        }
        let mut seen = self.seen.lock().unwrap();
        *seen += 1;
        match self.event {
            Event::Removed => std::fs::remove_file(path)?,
            Event::Refused => return Err(io::ErrorKind::PermissionDenied.into()),
            Event::Written(times) if *seen <= times => {
                std::fs::write(path, format!("def attempt_{seen}(): pass\n"))?;
            }
            _ => {}
        }
        Ok(Box::new(Changing {
            inner: FileSystem.open(path)?,
            event: self.event,
            attempt: *seen,
            looked: std::cell::Cell::new(0),
        }))
    }
}

impl Opened for Changing<'_> {
    fn stamp(&self) -> io::Result<Stamp> {
        let mut stamp = self.inner.stamp()?;
        let looked = self.looked.replace(self.looked.get() + 1);
        match self.event {
            Event::BecomesPipe => stamp.is_file = false,
            Event::Written(times) if self.attempt <= times && looked == 0 => stamp.modified = None,
            Event::Truncated | Event::Grows if looked > 0 => stamp.size = 0,
            _ => {}
        }
        Ok(stamp)
    }

    fn bytes(&mut self, max: u64) -> io::Result<Vec<u8>> {
        match self.event {
            Event::Truncated => Ok(Vec::new()),
            Event::Grows => Ok(vec![b' '; max as usize + 1]),
            Event::Fails => Err(io::Error::other("bad sector")),
            _ => self.inner.bytes(max),
        }
    }
}

/// Loads three files while something happens to the second.
fn loaded(event: Event) -> Snapshot {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.py", "b.py", "c.py"] {
        let text = format!("def in_{}(): pass\n", &name[..1]);
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let disk = Eventful {
        name: "b.py",
        event,
        seen: Mutex::new(0),
    };
    let options = ScanOptions::default();
    Snapshot::load_from(dir.path(), &options, &TreeSitterProvider, &disk).unwrap()
}

fn said(snapshot: &Snapshot) -> Vec<String> {
    let excluded = snapshot.report.excluded.iter();
    let problems = snapshot.report.problems.iter().map(ToString::to_string);
    excluded
        .flat_map(|(why, paths)| paths.iter().map(|p| format!("{p} {}", why.as_str())))
        .chain(problems)
        .collect()
}

#[test]
fn g02_files_that_vanish_or_change_while_read_are_said_once_and_lose_no_other() {
    for (event, kept, expected) in [
        (Event::Removed, None, "b.py was gone when it was opened"),
        (Event::BecomesPipe, None, "b.py special"),
        (
            Event::Refused,
            None,
            "b.py could not be read (permission denied)",
        ),
        (Event::Fails, None, "b.py could not be read (other error)"),
        (Event::Grows, None, "b.py too_large"),
        (
            Event::Truncated,
            Some(""),
            "b.py changed while it was read; the last text is kept",
        ),
        (
            Event::Written(9),
            Some("b.attempt_3"),
            "b.py changed while it was read; the last text is kept",
        ),
    ] {
        let snapshot = loaded(event);
        assert_eq!(said(&snapshot), [expected]);
        assert!(snapshot.graph.by_qualified_name("a.in_a").is_some());
        assert!(snapshot.graph.by_qualified_name("c.in_c").is_some());
        let files = if kept.is_some() { 3 } else { 2 };
        assert_eq!(snapshot.graph.files().len(), files, "{expected}");
        if let Some(name) = kept.filter(|name| !name.is_empty()) {
            assert!(snapshot.graph.by_qualified_name(name).is_some(), "{name}");
        }
    }
}

#[test]
fn g02_a_file_that_holds_still_at_a_later_attempt_is_read_without_a_word() {
    let snapshot = loaded(Event::Written(2));
    assert_eq!(said(&snapshot), Vec::<String>::new());
    assert!(snapshot.graph.by_qualified_name("b.attempt_2").is_some());
    assert_eq!(snapshot.report.excluded_count(Exclusion::Special), 0);
}
