//! Ends what a command started, however its call ends.
//!
//! Three nets, one behind the other: the process group that the command leads, which a
//! second process ends where this one is killed and cannot; what
//! descends from it, for whoever left the group; and what carries the mark of the call in
//! its environment, for whoever left the group and whose parent is gone. The last one
//! needs `/proc`, and catches nobody who cleared the environment too. A call that came to
//! its end by itself ends its group alone: what it detached on purpose stays.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The variable that holds the marks.
pub(super) const MARKED: &str = "TOOLCRIB_CALL";

/// What everything that a call started carries in its environment, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> Mark {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Another process may have had this one's number before.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_micros();
        Mark(format!("{}-{number}-{now}", std::process::id()))
    }

    /// The value of the variable: where this process runs within a call itself, that call
    /// ends what is started here as well.
    pub(super) fn inherited(&self) -> String {
        let outer = std::env::var(MARKED).unwrap_or_default();
        format!("{outer} {}", self.0).trim_start().to_owned()
    }

    /// Whether an environment, as the system lists it, has it.
    #[cfg(unix)]
    fn is_in(&self, environment: &[u8]) -> bool {
        let variables = environment.split(|&byte| byte == 0);
        let value = variables
            .filter_map(|variable| variable.strip_prefix(MARKED.as_bytes())?.strip_prefix(b"="))
            .next();
        let mut marks = value.unwrap_or_default().split(|&byte| byte == b' ');
        marks.any(|mark| mark == self.0.as_bytes())
    }
}

/// Leaders of the groups that run now.
static RUNNING: Mutex<BTreeMap<u32, Leader>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Debug)]
struct Leader {
    /// It was not waited for yet: until then nobody else can have its number.
    leads: bool,
    mark: Mark,
}

fn running() -> std::sync::MutexGuard<'static, BTreeMap<u32, Leader>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all that runs for a tool, for a process that ends without waiting for it.
pub(crate) fn end_all() {
    for (&id, leader) in &*running() {
        end(id, leader.leads, Some(&leader.mark));
    }
}

/// Ends all that a call started when it goes out of scope.
pub(super) struct Group {
    leader: Option<u32>,
    mark: Mark,
    done: bool,
}

impl Group {
    pub(super) fn of(leader: Option<u32>, mark: Mark) -> Group {
        let entry = Leader {
            leads: true,
            mark: mark.clone(),
        };
        running().extend(leader.map(|leader| (leader, entry)));
        if let (Some(leader), Some(guard)) = (leader, crate::mcp_cmd::guard()) {
            guard.add(leader);
        }
        Group {
            leader,
            mark,
            done: false,
        }
    }

    pub(super) fn leader_ended(&self) {
        if let Some(leader) = self.leader
            && let Some(leader) = running().get_mut(&leader)
        {
            leader.leads = false;
        }
    }

    /// Ends the group.
    pub(super) fn end(&self) {
        if let Some(id) = self.leader {
            let leads = running().get(&id).is_some_and(|leader| leader.leads);
            end(id, leads, (!self.done).then_some(&self.mark));
        }
    }

    /// The call came to its end by itself.
    pub(super) fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
        if let Some(leader) = self.leader {
            running().remove(&leader);
            if let Some(guard) = crate::mcp_cmd::guard() {
                guard.remove(leader);
            }
        }
    }
}

/// Ends the group, where the leader `leads` still what left the group for a session of its
/// own, and whatever carries the mark.
#[cfg_attr(not(unix), allow(unused_variables))]
fn end(leader: u32, leads: bool, mark: Option<&Mark>) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let pid = |id: u32| i32::try_from(id).ok().and_then(Pid::from_raw);
        // Looked up before: those whose parent is gone are nobody's descendants.
        let away = if leads {
            descendants(leader)
        } else {
            Vec::new()
        };
        if let Some(leader) = pid(leader) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        for one in away.into_iter().filter_map(pid) {
            let _ = kill_process(one, Signal::KILL);
        }
        // What is being started while the system lists is found the next time.
        const LOOKS: usize = 16;
        let mut known = Vec::new();
        for _ in 0..LOOKS {
            let found = mark.map_or_else(Vec::new, marked);
            let new: Vec<u32> = found.into_iter().filter(|id| !known.contains(id)).collect();
            if new.is_empty() {
                break;
            }
            for one in new.iter().copied().filter_map(pid) {
                let _ = kill_process(one, Signal::KILL);
            }
            known.extend(new);
        }
    }
}

/// All that descend from a process, by what the system lists; nothing where it lists none.
#[cfg(unix)]
fn descendants(ancestor: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = listed()
        .filter_map(|(id, entry)| {
            let stat = std::fs::read_to_string(entry.join("stat")).ok()?;
            // The name before it may hold anything, brackets too.
            let (_, rest) = stat.rsplit_once(')')?;
            Some((id, rest.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![ancestor];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(id, _)| *id));
        at += 1;
    }
    found.split_off(1)
}

/// All that carry a mark, by what the system lists.
#[cfg(unix)]
fn marked(mark: &Mark) -> Vec<u32> {
    let has = |dir: &std::path::Path| {
        std::fs::read(dir.join("environ")).is_ok_and(|environment| mark.is_in(&environment))
    };
    listed()
        .filter(|(_, dir)| has(dir))
        .map(|(id, _)| id)
        .collect()
}

/// The processes that the system lists, and where it does; none where it lists none.
#[cfg(unix)]
fn listed() -> impl Iterator<Item = (u32, std::path::PathBuf)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some((id, entry.path()))
    })
}
