//! L27: what is in a file and what comes back.

use std::fs;
use std::io::Write;
use std::path::Path;

use toolcrib_core::{Message, ToolName};
use toolcrib_session::{Meta, Row, Session, SessionError, SessionId, SessionLog};

use crate::support::{note, notes, one_turn, session};

fn append_raw(path: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_session_reads_back_as_it_was_written() {
    let (dir, log) = session();
    one_turn(&log);
    log.sync().unwrap();
    let session = Session::read(log.path()).unwrap();
    assert_eq!(session.meta(), log.meta());
    assert_eq!(session.entries().len(), 6);
    assert_eq!(session.history().len(), 4);
    assert_eq!(session.torn_bytes(), 0);
    let lines: Vec<u64> = session.entries().iter().map(|entry| entry.line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6]);
    assert!(session.entries().iter().all(|entry| entry.at.is_some()));
    assert_eq!(
        log.path(),
        dir.path().join(format!("{}.jsonl", session.meta().id))
    );
}

#[test]
#[cfg(unix)]
fn only_the_owner_can_read_a_session() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("state/sessions");
    let log = SessionLog::create(&inner, Meta::new("m")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(log.path()), mode(&inner)), (0o600, 0o700));
}

#[test]
fn an_error_about_the_directory_is_not_told_of_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sessions");
    fs::write(&file, "").unwrap();
    let listed = toolcrib_session::SessionStore::new(&file).newest(1);
    let made = SessionLog::create(&file, Meta::new("m"));
    for (error, tried) in [
        (listed.err().unwrap(), "cannot list the sessions in"),
        (made.err().unwrap(), "cannot make the directory of sessions"),
    ] {
        let told = format!("{tried} {}: ", file.display());
        assert!(error.to_string().starts_with(&told), "{error}");
    }
}

#[test]
fn s55_a_name_that_is_taken_is_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = Meta::new("m");
    meta.id = SessionId::parse("mine").unwrap();
    let first = SessionLog::create(dir.path(), meta.clone()).unwrap();
    let second = SessionLog::create(dir.path(), meta).unwrap();
    assert_eq!(first.meta().id.as_str(), "mine");
    assert_ne!(second.path(), first.path());
    assert_eq!(Session::read(second.path()).unwrap().meta(), second.meta());
}

#[test]
fn l27_s56_a_torn_last_line_is_left_out_and_cut_off_before_the_next_row() {
    for torn in [
        &b"{\"row\":\"no"[..],
        b"{\"row\":\"note\",\"text\":\"whole\"}",
        b"\xc3",
        b"\0\0\0\0",
    ] {
        let (_dir, log) = session();
        log.append(&Row::note("one")).unwrap();
        append_raw(log.path(), torn);
        let read = Session::read(log.path()).unwrap();
        assert_eq!(
            (notes(&read), read.torn_bytes()),
            (vec!["one"], torn.len() as u64)
        );
        let reopened = SessionLog::open(log.path()).unwrap();
        reopened.append(&Row::note("two")).unwrap();
        let read = Session::read(log.path()).unwrap();
        assert_eq!((notes(&read), read.torn_bytes()), (vec!["one", "two"], 0));
    }
}

#[test]
fn s56_a_writer_that_is_open_cuts_off_what_another_left_behind() {
    let (_dir, log) = session();
    log.append(&Row::note("one")).unwrap();
    append_raw(log.path(), b"{\"row\":\"note\",\"te");
    log.append(&Row::note("two")).unwrap();
    assert_eq!(notes(&Session::read(log.path()).unwrap()), ["one", "two"]);
}

#[test]
fn l27_s56_a_bad_line_elsewhere_is_an_error_with_its_number() {
    for bad in [
        &b"{\"row\":\"note\"}\n"[..],
        b"\n",
        b"nonsense\n",
        b"{\"row\":\"\xff\"}\n",
        b"\0\0\0\n",
    ] {
        let (_dir, log) = session();
        log.append(&Row::note("one")).unwrap();
        append_raw(log.path(), bad);
        log.append(&Row::note("two")).unwrap();
        let error = Session::read(log.path()).unwrap_err();
        assert!(
            matches!(error, SessionError::BadLine { line: 3, .. }),
            "{error}"
        );
        assert!(
            error.to_string().starts_with("line 3 of the session "),
            "{error}"
        );
    }
}

#[test]
fn l27_unknown_rows_and_fields_stay_in_the_file_and_are_handed_out() {
    let (_dir, log) = session();
    let lines = [
        r#"{"at":1,"row":"hologram","depth":3}"#,
        r#"{"at":2,"row":"note","text":"a","mood":{"x":1.0}}"#,
    ];
    append_raw(log.path(), (lines.join("\n") + "\n").as_bytes());
    let log = SessionLog::open(log.path()).unwrap();
    log.append(&Row::note("b")).unwrap();
    let read = Session::read(log.path()).unwrap();
    assert_eq!(read.entries()[1].row, Row::Unknown(lines[0].into()));
    assert_eq!(&*read.entries()[2].raw, lines[1]);
    assert_eq!(notes(&read), ["a", "b"]);
}

#[test]
fn l27_huge_rows_are_rows() {
    let (_dir, log) = session();
    let huge = note("w", 1, 8 * 1024 * 1024);
    log.append(&huge).unwrap();
    log.append(&Row::note("after")).unwrap();
    let read = Session::read(log.path()).unwrap();
    assert_eq!(read.entries()[1].row, huge);
    assert_eq!(notes(&read)[1], "after");
}

#[test]
fn what_is_no_session_is_named_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let newer = "{\"row\":\"meta\",\"format\":2,\"id\":{}}\n";
    let cases = [
        ("", "Empty"),
        ("{\"row\":\"meta\",\"for", "Empty"),
        ("a precious file without a line break", "Empty"),
        ("precious\nlines", "BadLine"),
        ("{\"row\":\"note\",\"text\":\"a\"}\n", "NotASession"),
        (newer, "Newer"),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        let read = format!("{:?}", Session::read(&path).unwrap_err());
        let open = format!("{:?}", SessionLog::open(&path).unwrap_err());
        assert!(
            read.starts_with(expected) && open.starts_with(expected),
            "{read} {open}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let missing = dir.path().join("missing");
    assert!(matches!(
        Session::read(&missing),
        Err(SessionError::Io { .. })
    ));
    assert!(matches!(
        SessionLog::open(&missing),
        Err(SessionError::Io { .. })
    ));
    assert!(!missing.exists());
    // A file where the directory should be.
    let error = SessionLog::create(&path, Meta::new("m")).unwrap_err();
    assert!(
        matches!(error, SessionError::Io { action: "make", .. }),
        "{error}"
    );
}

#[test]
fn s57_the_history_of_a_broken_run_is_whole() {
    let (_dir, log) = session();
    one_turn(&log);
    let whole = fs::read_to_string(log.path()).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    // The run died after the call was written and before its result was.
    fs::write(log.path(), lines[..3].concat()).unwrap();
    let history = Session::read(log.path()).unwrap().history();
    let last = history.messages().next_back().unwrap();
    assert!(
        matches!(last, Message::Tool(result) if result.is_error),
        "{last:?}"
    );
    // The call itself was lost.
    fs::write(
        log.path(),
        [lines[0], lines[1], lines[3], lines[4]].concat(),
    )
    .unwrap();
    let history = Session::read(log.path()).unwrap().history();
    assert!(!history.messages().any(|m| matches!(m, Message::Tool(_))));
}

#[test]
fn activations_keep_their_order_across_a_restart() {
    let (_dir, log) = session();
    let names = |list: &[&str]| -> Vec<ToolName> {
        list.iter()
            .map(|name| ToolName::parse(name).unwrap())
            .collect()
    };
    log.append(&Row::activation(names(&["b", "a"]), None, Vec::new()))
        .unwrap();
    let log = SessionLog::open(log.path()).unwrap();
    log.append(&Row::activation(names(&["a", "c"]), None, Vec::new()))
        .unwrap();
    let read = Session::read(log.path()).unwrap();
    assert_eq!(read.activated(), names(&["b", "a", "c"]));
}
