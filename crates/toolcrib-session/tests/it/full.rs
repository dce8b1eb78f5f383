//! A disk that fills up, played by a limit on the size of files.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use toolcrib_session::{Row, Session, SessionError, SessionLog};

use crate::support::{CHILD, child, note, notes, session};

const ROW: usize = 3_000;

/// Writes until there is no room, and then a smaller row.
#[test]
fn child_fills_the_disk() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let log = SessionLog::open(path.as_ref()).unwrap();
    let error = (0..1_000).find_map(|number| log.append(&note("w", number, ROW)).err());
    assert!(
        matches!(error, Some(SessionError::DiskFull { .. })),
        "{error:?}"
    );
    let whole = Session::read(log.path()).unwrap();
    assert_eq!(
        whole.torn_bytes(),
        0,
        "the part that was written is taken back"
    );
    log.append(&Row::note("small enough")).unwrap();
}

/// The child under a limit of 16 or 32 KiB, as the shell counts.
fn limited(path: &Path, before: &str) -> std::process::ExitStatus {
    let plain = child("full::child_fills_the_disk", path);
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        &format!("{before} ulimit -f 32 && exec \"$0\" \"$@\""),
    ]);
    shell.arg(plain.get_program()).args(plain.get_args());
    shell.env(CHILD, path).stdout(std::process::Stdio::null());
    shell.status().unwrap()
}

#[test]
fn l27_a_disk_that_fills_up_leaves_an_intact_log() {
    let (_dir, log) = session();
    assert!(limited(log.path(), "trap '' XFSZ;").success());
    let read = Session::read(log.path()).unwrap();
    let notes = notes(&read);
    let (last, rows) = notes.split_last().unwrap();
    assert_eq!(*last, "small enough");
    assert!(rows.len() > 2);
    for (number, text) in rows.iter().enumerate() {
        assert_eq!(note("w", number, ROW), Row::note(*text));
    }
}

#[test]
fn l30_a_process_that_the_limit_kills_leaves_a_log_that_goes_on() {
    let (_dir, log) = session();
    // Not told to ignore the signal, the process dies in the middle of a row.
    assert!(!limited(log.path(), "").success());
    let read = Session::read(log.path()).unwrap();
    let rows = notes(&read).len();
    assert!(
        rows > 2 && read.torn_bytes() > 0,
        "{rows} rows, {} torn",
        read.torn_bytes()
    );
    let log = SessionLog::open(log.path()).unwrap();
    log.append(&Row::note("on")).unwrap();
    let read = Session::read(log.path()).unwrap();
    assert_eq!((notes(&read).len(), read.torn_bytes()), (rows + 1, 0));
}
