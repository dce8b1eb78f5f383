//! L30: a crash between any two writes, or within one.

use std::fs;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use toolcrib_session::{Row, Session, SessionError, SessionLog};

use crate::support::{CHILD, child, note, notes, one_turn, session};

#[test]
fn l30_cut_at_any_byte_a_session_loads_and_loses_at_most_its_last_row() {
    let (dir, log) = session();
    one_turn(&log);
    let whole = fs::read(log.path()).unwrap();
    let rows = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
    let path = dir.path().join("cut.jsonl");
    for end in 0..=whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let complete = rows(&whole[..end]);
        let read = Session::read(&path);
        let opened = SessionLog::open(&path);
        if complete == 0 {
            assert!(matches!(read, Err(SessionError::Empty { .. })), "{end}");
            assert!(matches!(opened, Err(SessionError::Empty { .. })), "{end}");
            continue;
        }
        assert_eq!(read.unwrap().entries().len(), complete, "{end}");
        opened
            .unwrap()
            .append(&Row::note("after the crash"))
            .unwrap();
        let again = Session::read(&path).unwrap();
        assert_eq!(again.entries().len(), complete + 1, "{end}");
        assert_eq!(notes(&again), ["after the crash"]);
        // What a model would be sent is in order at every point.
        assert!(toolcrib_session::repair(&again.history()).is_none());
    }
}

/// Writes rows until it is killed, saying each number once it is written.
#[test]
fn child_writes_until_killed() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let log = SessionLog::open(path.as_ref()).unwrap();
    let from = Session::read(log.path()).unwrap().entries().len();
    for number in from.. {
        log.append(&note("child", number, 20_000)).unwrap();
        println!("\nwrote {number}");
    }
}

#[test]
fn l30_a_process_killed_at_any_moment_loses_no_row_it_had_written() {
    let (_dir, log) = session();
    // Fixed, odd pauses: the moment within a write is left to the machine.
    for pause in [0, 3, 7, 1, 11, 5, 2, 13, 4, 9, 6, 17] {
        let mut writer = child("crash::child_writes_until_killed", log.path());
        let mut writer = writer.spawn().unwrap();
        let mut said = BufReader::new(writer.stdout.take().unwrap()).lines();
        let mut last = None;
        for line in said.by_ref() {
            last = line.unwrap().strip_prefix("wrote ").map(str::to_owned);
            if last.is_some() {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(pause));
        writer.kill().unwrap();
        writer.wait().unwrap();
        for line in said.map_while(Result::ok) {
            // The last line itself may be torn by the kill.
            let number = line.strip_prefix("wrote ").map(str::to_owned);
            last = number
                .filter(|n| n.len() >= last.as_ref().map_or(0, String::len))
                .or(last);
        }
        let read = Session::read(log.path()).unwrap();
        let last: usize = last.unwrap().parse().unwrap();
        assert!(
            read.entries().len() > last,
            "row {last} of {}",
            read.entries().len()
        );
        for (index, entry) in read.entries().iter().enumerate().skip(1) {
            assert_eq!(entry.row, note("child", index, 20_000));
        }
        // The log that was open all the while goes on behind the torn row.
        let next = read.entries().len();
        log.append(&note("child", next, 20_000)).unwrap();
    }
}
