//! How long one row of a session takes, as a run writes it: results of about 2 KB,
//! each appended and handed to the system before the next.

use std::time::Instant;

use toolcrib::session::{Meta, Row, SessionLog};
use toolcrib_compare::Error;

const ROWS: usize = 10_000;

fn main() -> Result<(), Error> {
    let dir = tempfile::tempdir()?;
    let log = SessionLog::create(dir.path(), Meta::new("compare"))?;
    let row = Row::note("A result of two kilobytes. ".repeat(75));
    let mut times = Vec::with_capacity(ROWS);
    for _ in 0..ROWS {
        let begun = Instant::now();
        log.append(&row)?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| times[(ROWS - 1) * share / 1000].as_secs_f64() * 1e6;
    println!("append {:.1} {:.1} {:.1}", at(500), at(990), at(1000));
    Ok(())
}
