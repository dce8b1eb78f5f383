//! A process that outlives us, to end what our servers started.
//!
//! On Linux the kernel ends a server when we are killed, but not the server's own
//! children, and elsewhere not even the server. So a second process knows the groups
//! that our servers lead; its input ends when we do, however that came about, and it
//! ends the groups that are left. It has a group of its own, so that an interrupt on
//! the terminal is for us alone. A program that leaves its server's group, as a
//! daemon does, is meant to stay and does.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Starts the second process with the first server. Clones are the same one.
#[derive(Clone)]
pub struct Guard(Arc<Inner>);

struct Inner {
    program: PathBuf,
    args: Vec<OsString>,
    child: Mutex<State>,
}

#[derive(Default)]
enum State {
    #[default]
    Unneeded,
    Runs(Child),
    /// It could not be started or is gone; servers run without it.
    Lost,
}

impl Guard {
    /// A guard that is this program with these arguments, which must call
    /// [`end_groups_of`] on its standard input.
    pub fn new(
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Guard {
        Guard(Arc::new(Inner {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            child: Mutex::default(),
        }))
    }

    /// From now on this group is to end with us.
    pub fn add(&self, group: u32) {
        let mut state = self.0.state();
        if matches!(*state, State::Unneeded) {
            *state = match self.0.spawn() {
                Ok(child) => State::Runs(child),
                Err(error) => {
                    tracing::debug!(%error, "nothing ends servers' children if we are killed");
                    State::Lost
                }
            };
        }
        tell(&mut state, '+', group);
    }

    /// This group has ended.
    pub fn remove(&self, group: u32) {
        tell(&mut self.0.state(), '-', group);
    }
}

fn tell(state: &mut State, sign: char, group: u32) {
    let State::Runs(child) = state else { return };
    let told = match &mut child.stdin {
        Some(stdin) => writeln!(stdin, "{sign}{group}"),
        None => return,
    };
    if told.is_err() {
        let _ = child.wait();
        *state = State::Lost;
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.child.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if let State::Runs(child) = state {
            // Its input ends, and with no group left so does it.
            child.stdin = None;
            let _ = child.wait();
        }
    }
}

/// What the second process does: takes down groups until its input ends, then ends
/// those that are left, politely first. Returns when they are gone or were made to go.
pub fn end_groups_of(input: impl BufRead) {
    let mut groups = BTreeSet::new();
    for line in input.lines().map_while(Result::ok) {
        let number = line.get(1..).and_then(|number| number.parse::<i32>().ok());
        // 0 and 1 would mean everybody.
        let Some(group) = number.filter(|number| *number > 1) else {
            continue;
        };
        match line.as_bytes().first() {
            Some(b'+') => groups.insert(group),
            _ => groups.remove(&group),
        };
    }
    #[cfg(unix)]
    end(&groups);
}

#[cfg(unix)]
fn end(groups: &BTreeSet<i32>) {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    let all = || groups.iter().copied().filter_map(Pid::from_raw);
    for group in all() {
        let _ = kill_process_group(group, Signal::TERM);
    }
    for _ in 0..40 {
        if all().all(|group| test_kill_process_group(group).is_err()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    for group in all() {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt as _;

    fn group() -> Child {
        // One that does not listen to the polite way.
        Command::new("sh")
            .args(["-c", "trap '' TERM; sleep 100 & echo ready; wait"])
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap()
    }

    fn ready(child: &mut Child) {
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        std::io::BufReader::new(stdout)
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
    }

    #[test]
    fn groups_that_are_left_end_and_those_that_were_taken_back_do_not() {
        let (mut left, mut taken_back) = (group(), group());
        ready(&mut left);
        ready(&mut taken_back);
        let (a, b) = (left.id(), taken_back.id());
        let told = format!("+{a}\n+{b}\nnonsense\n+0\n+1\n-1\n\n-{b}\n");
        end_groups_of(told.as_bytes());
        use std::os::unix::process::ExitStatusExt as _;
        assert_eq!(left.wait().unwrap().signal(), Some(9));
        assert!(taken_back.try_wait().unwrap().is_none());
        end_groups_of(format!("+{b}\n").as_bytes());
        taken_back.wait().unwrap();
    }
}
