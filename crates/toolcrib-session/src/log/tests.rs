use super::*;

#[test]
#[cfg(target_os = "linux")]
fn l27_a_full_disk_is_an_error_of_its_own() {
    let path = Path::new("/dev/full");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let log = SessionLog::over(file, path.to_owned(), Meta::new("m"), false);
    let error = log.append(&Row::note("x")).unwrap_err();
    assert!(matches!(error, SessionError::DiskFull { .. }), "{error:?}");
    insta::assert_snapshot!(error, @"no room left to write the session /dev/full; free some space, rows written so far are kept");
}

#[test]
fn the_end_of_the_last_row_is_found_however_long_the_torn_one_is() {
    let mut file = tempfile::tempfile().unwrap();
    let rows = "one\ntwo\n".repeat(10);
    for torn in [0, 1, 100, 64 * 1024 - 1, 64 * 1024, 200_000] {
        file.set_len(0).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(rows.as_bytes()).unwrap();
        file.write_all(&vec![b'x'; torn]).unwrap();
        let len = (rows.len() + torn) as u64;
        assert_eq!(end_of_last_row(&mut file, len).unwrap(), rows.len() as u64);
    }
    file.set_len(0).unwrap();
    assert_eq!(end_of_last_row(&mut file, 0).unwrap(), 0);
    file.write_all(&[b'x'; 70_000]).unwrap();
    let len = file.metadata().unwrap().len();
    assert_eq!(end_of_last_row(&mut file, len).unwrap(), 0);
}
