//! L29: many writers, one file.

use std::collections::HashSet;
use std::process::Stdio;

use toolcrib_session::{Row, Session, SessionError, SessionId, SessionLog, SessionStore};

use crate::support::{CHILD, child, note, notes, session};

const ROW: usize = 8 * 1024;

/// All rows of each writer are there, in its own order.
#[track_caller]
fn assert_complete(session: &Session, writers: &[&str], rows: usize) {
    let notes = notes(session);
    assert_eq!(notes.len(), writers.len() * rows);
    for writer in writers {
        let own = notes.iter().filter(|n| n.split(' ').next() == Some(writer));
        for (number, text) in own.enumerate() {
            assert_eq!(note(writer, number, ROW), Row::note(*text));
        }
    }
}

#[test]
fn l29_s55_eight_writers_of_twenty_rows_give_161_lines() {
    let (_dir, log) = session();
    let writers = ["a", "b", "c", "d", "e", "f", "g", "h"];
    std::thread::scope(|scope| {
        for (i, writer) in writers.into_iter().enumerate() {
            // Half of them share the log, half have one of their own.
            let log = match i % 2 {
                0 => log.clone(),
                _ => SessionLog::open(log.path()).unwrap(),
            };
            scope.spawn(move || {
                for number in 0..20 {
                    log.append(&note(writer, number, ROW)).unwrap();
                }
            });
        }
    });
    let session = Session::read(log.path()).unwrap();
    assert_eq!(session.entries().len(), 161);
    assert_eq!(session.torn_bytes(), 0);
    assert_complete(&session, &writers, 20);
}

#[test]
fn child_writes_a_hundred_rows() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let writer = std::process::id().to_string();
    let log = SessionLog::open(path.as_ref()).unwrap();
    for number in 0..100 {
        log.append(&note(&writer, number, ROW)).unwrap();
    }
}

#[test]
fn l29_s55_two_processes_never_tear_a_row() {
    let (_dir, log) = session();
    let children: Vec<_> = (0..2)
        .map(|_| {
            let mut child = child("processes::child_writes_a_hundred_rows", log.path());
            child.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let ids: Vec<String> = children.iter().map(|c| c.id().to_string()).collect();
    // To open is to cut off a torn row: not one that is just being written.
    for number in 0..100 {
        let log = SessionLog::open(log.path()).unwrap();
        log.append(&note("parent", number, ROW)).unwrap();
        Session::read(log.path()).unwrap();
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let session = Session::read(log.path()).unwrap();
    assert_eq!(session.entries().len(), 301);
    assert_complete(&session, &["parent", &ids[0], &ids[1]], 100);
}

#[test]
fn child_claims_and_waits() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let log = SessionLog::open(path.as_ref()).unwrap();
    log.claim().unwrap();
    log.append(&note("claimed", 0, ROW)).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[test]
fn l29_a_session_is_gone_on_with_by_one_process_until_it_ends_however_it_ends() {
    let (_dir, log) = session();
    let mut child = child("processes::child_claims_and_waits", log.path());
    let mut child = child.stdout(Stdio::null()).spawn().unwrap();
    while Session::read(log.path()).unwrap().entries().len() < 2 {
        std::thread::yield_now();
    }
    let store = SessionStore::new(log.path().parent().unwrap());
    for refused in [log.claim(), store.remove(log.path())] {
        let error = refused.unwrap_err();
        assert!(
            matches!(&error, SessionError::Claimed { by, .. } if *by == Some(child.id())),
            "{error:?}"
        );
        let said = error.to_string();
        assert!(
            said.contains(&format!("in use by process {}", child.id())),
            "{said}"
        );
        assert!(said.contains("`session fork`"), "{said}");
    }
    // Rows, readers and branches need none.
    log.append(&note("parent", 0, ROW)).unwrap();
    let read = Session::read(log.path()).unwrap();
    assert_eq!(read.entries().len(), 3);
    store.fork(&read, None).unwrap().claim().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    log.claim().unwrap();
    log.claim().unwrap();
    let other = SessionLog::open(log.path()).unwrap();
    assert!(matches!(other.claim(), Err(SessionError::Claimed { .. })));
    let (path, lock) = (log.path().to_owned(), log.path().with_extension("lock"));
    drop(log);
    assert!(!lock.exists());
    other.claim().unwrap();
    drop(other);
    store.remove(&path).unwrap();
    assert!(!path.exists() && !lock.exists());
}

/// Whoever lets go takes the file away under those who wait for it.
#[test]
fn l29_of_many_that_claim_one_session_at_once_one_holds_it() {
    let (_dir, log) = session();
    let held = std::sync::atomic::AtomicU32::new(0);
    let taken = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                use std::sync::atomic::Ordering::SeqCst;
                for _ in 0..200 {
                    let own = SessionLog::open(log.path()).unwrap();
                    if own.claim().is_ok() {
                        assert_eq!(held.fetch_add(1, SeqCst), 0, "two hold it");
                        taken.fetch_add(1, SeqCst);
                        held.fetch_sub(1, SeqCst);
                    }
                }
            });
        }
    });
    assert!(taken.into_inner() > 0);
}

#[test]
fn child_names_sessions() {
    if std::env::var_os(CHILD).is_some() {
        for _ in 0..200 {
            println!("\nid {}", SessionId::generate());
        }
    }
}

#[test]
fn s55_processes_started_at_once_name_their_sessions_differently() {
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut child = child("processes::child_names_sessions", "-".as_ref());
            child.spawn().unwrap()
        })
        .collect();
    let mut ids = HashSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        ids.extend(
            text.lines()
                .filter_map(|l| l.strip_prefix("id "))
                .map(str::to_owned),
        );
    }
    assert_eq!(ids.len(), 600);
}
