//! `explore_area` with `A -> B`: how one symbol reaches another.
//!
//! Breadth first along proven calls and dynamic dispatch, so that what is shown
//! is shortest. A type or module stands for itself and all that it contains.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::cap::{MAX_CHARS, MAX_RECORD, clip, fitting};
use super::facts::counted;
use super::render::place;
use super::{Lookup, LookupError};
use crate::model::{EdgeKind, NodeId, NodeKind, Origin, SiteState};

const MAX_PATHS: usize = 3;

/// Methods that run when their class is called.
const CONSTRUCTORS: &[&str] = &["__init__", "__new__", "constructor", "initialize"];

/// One call on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Step {
    /// The caller.
    pub from: NodeId,
    /// What is called.
    pub to: NodeId,
    /// The first line of the call, in the caller's file.
    pub line: u32,
    /// Whether run-time dispatch may lead there.
    pub dynamic: bool,
}

/// Calls that lead from one symbol to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallPath {
    /// In order; each begins where the one before ended.
    pub steps: Vec<Step>,
}

/// Data of `explore_area` for `A -> B`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallPaths {
    /// Where the paths begin.
    pub from: NodeId,
    /// Where they lead.
    pub to: NodeId,
    /// The shortest ones, at most three; empty when there is none.
    pub paths: Vec<CallPath>,
    /// Whether the paths lead from `to` to `from`, since none led as asked.
    pub reversed: bool,
}

struct Walk {
    /// Steps that arrive at a node for the first time, by node.
    arrivals: BTreeMap<NodeId, Vec<Step>>,
    reached: BTreeSet<NodeId>,
    ends: Vec<NodeId>,
}

impl Lookup {
    /// The shortest call paths, as data and text.
    pub(crate) fn call_paths(&self, a: &str, b: &str) -> Result<(CallPaths, String), LookupError> {
        let from = self.resolve("query", a)?;
        let to = self.resolve("query", b)?;
        let name = |id: NodeId| clip(&self.graph.node(id).qualified_name, 300);
        let (mut paths, reached) = match from == to {
            true => (self.circle(from), BTreeSet::new()),
            false => self.shortest(from, to),
        };
        let mut reversed = false;
        let mut head = format!(
            "{} from {} to {}",
            match paths.len() {
                0 => "no call path".to_owned(),
                n => format!(
                    "{} of {}",
                    counted(n, "shortest path"),
                    counted(paths[0].steps.len(), "call")
                ),
            },
            name(from),
            name(to)
        );
        let mut notes = String::new();
        if from == to {
            if paths.is_empty() {
                head = format!(
                    "{} is both ends, and no proven call leads from it back to it",
                    name(from)
                );
            }
        } else if self.span_of(from).contains(&to) || self.span_of(to).contains(&from) {
            let (outer, inner) = match self.span_of(from).contains(&to) {
                true => (from, to),
                false => (to, from),
            };
            head = format!(
                "{} contains {}: no call path is needed",
                name(outer),
                name(inner)
            );
            paths.clear();
        } else if paths.is_empty() {
            let open = self.open_sites(&reached);
            notes = format!(
                "note: proven calls from {} reach {}; {} there could not be resolved\n",
                name(from),
                counted(
                    reached.len().saturating_sub(self.span_of(from).len()),
                    "definition"
                ),
                counted(open, "call site")
            );
            let ends = [self.graph.node(from).file, self.graph.node(to).file];
            notes.push_str(&self.tier_note(ends.into_iter()));
            paths = self.shortest(to, from).0;
            reversed = !paths.is_empty();
            if reversed {
                head.push_str(&format!(
                    ", but {} of {} the other way",
                    counted(paths.len(), "shortest path"),
                    counted(paths[0].steps.len(), "call")
                ));
            }
        }
        let mut records = vec![self.symbol_line(from)];
        if from != to {
            records.push(self.symbol_line(to));
        }
        for (i, path) in paths.iter().enumerate() {
            let mut steps = vec![format!("path {}:", i + 1)];
            steps.extend(path.steps.iter().map(|s| self.step_record(s)));
            if steps.iter().map(|s| s.chars().count() + 1).sum::<usize>() > MAX_CHARS / 2 {
                let middle = steps.len() - 10;
                steps.splice(
                    6..6 + middle,
                    [format!("… {} in between", counted(middle, "call"))],
                );
            }
            records.push(steps.join("\n"));
        }
        let overhead = head.chars().count() + notes.chars().count() + 40;
        let shown = fitting(MAX_CHARS, &records, |_| overhead);
        let cut = records.len() - shown;
        let mut text = format!("{head}:\n");
        for record in &records[..shown] {
            text.push_str(record);
            text.push('\n');
        }
        text.push_str(&notes);
        if cut > 0 {
            text.push_str(&format!("(truncated) {}\n", counted(cut, "more path")));
        }
        let paths = CallPaths {
            from,
            to,
            paths,
            reversed,
        };
        Ok((paths, text))
    }

    /// A function alone; a type, module or file with all that it contains.
    fn span_of(&self, id: NodeId) -> BTreeSet<NodeId> {
        let mut all = BTreeSet::from([id]);
        let alone = matches!(
            self.graph.node(id).kind,
            NodeKind::Function | NodeKind::Method | NodeKind::Test | NodeKind::Macro
        );
        let mut open = if alone { vec![] } else { vec![id] };
        while let Some(next) = open.pop() {
            for member in self.contained(next) {
                if all.insert(member) {
                    open.push(member);
                }
            }
        }
        all
    }

    fn shortest(&self, from: NodeId, to: NodeId) -> (Vec<CallPath>, BTreeSet<NodeId>) {
        let targets = self.span_of(to);
        let walk = self.walk(self.span_of(from), &targets);
        let mut paths = Vec::new();
        for &end in &walk.ends {
            self.unwind(&walk, end, &mut Vec::new(), &mut paths);
        }
        paths.truncate(MAX_PATHS);
        (paths, walk.reached)
    }

    /// The shortest ways from a definition back to itself.
    fn circle(&self, id: NodeId) -> Vec<CallPath> {
        let span = self.span_of(id);
        let steps: Vec<Step> = span.iter().flat_map(|&n| self.steps_from(n)).collect();
        let (inside, out): (Vec<Step>, Vec<Step>) =
            steps.into_iter().partition(|step| span.contains(&step.to));
        let mut all: Vec<CallPath> = Vec::new();
        if inside.is_empty() {
            for step in out {
                for back in self.shortest(step.to, id).0 {
                    let mut steps = vec![step];
                    steps.extend(back.steps);
                    all.push(CallPath { steps });
                }
            }
        }
        all.extend(
            inside
                .into_iter()
                .map(|step| CallPath { steps: vec![step] }),
        );
        let least = all.iter().map(|path| path.steps.len()).min().unwrap_or(0);
        all.retain(|path| path.steps.len() == least);
        all.truncate(MAX_PATHS);
        all
    }

    fn walk(&self, starts: BTreeSet<NodeId>, targets: &BTreeSet<NodeId>) -> Walk {
        let mut reached = starts.clone();
        let mut arrivals: BTreeMap<NodeId, Vec<Step>> = BTreeMap::new();
        let mut level: BTreeSet<NodeId> = starts;
        let mut ends: Vec<NodeId> = Vec::new();
        while !level.is_empty() && ends.is_empty() {
            let mut next: BTreeSet<NodeId> = BTreeSet::new();
            for &node in &level {
                for step in self.steps_from(node) {
                    if reached.contains(&step.to) {
                        continue;
                    }
                    arrivals.entry(step.to).or_default().push(step);
                    next.insert(step.to);
                }
            }
            reached.extend(&next);
            ends = next
                .iter()
                .copied()
                .filter(|n| targets.contains(n))
                .collect();
            level = next;
        }
        Walk {
            arrivals,
            reached,
            ends,
        }
    }

    fn steps_from(&self, node: NodeId) -> Vec<Step> {
        let mut steps: BTreeMap<NodeId, Step> = BTreeMap::new();
        for e in self.graph.outgoing(node) {
            if e.kind == EdgeKind::Calls && e.origin != Origin::Guess {
                let step = Step {
                    from: node,
                    to: e.to,
                    line: e.line,
                    dynamic: false,
                };
                steps.insert(e.to, step);
            }
        }
        // A call of a class runs its constructor.
        if self.graph.node(node).kind == NodeKind::Class {
            for to in self.contained(node) {
                let member = self.graph.node(to);
                if CONSTRUCTORS.contains(&&*member.name) {
                    let line = member.span.start_line;
                    steps.entry(to).or_insert(Step {
                        from: node,
                        to,
                        line,
                        dynamic: false,
                    });
                }
            }
        }
        for i in self.index.sites_in(node) {
            let site = &self.graph.sites()[i as usize];
            if let SiteState::Dynamic {
                declared,
                implementations,
            } = &site.state
            {
                for &to in implementations.iter().chain([declared]) {
                    steps.entry(to).or_insert(Step {
                        from: node,
                        to,
                        line: site.span.start_line,
                        dynamic: true,
                    });
                }
            }
        }
        steps.into_values().collect()
    }

    fn unwind(&self, walk: &Walk, at: NodeId, tail: &mut Vec<Step>, paths: &mut Vec<CallPath>) {
        if paths.len() >= MAX_PATHS {
            return;
        }
        let Some(arrivals) = walk.arrivals.get(&at) else {
            let steps = tail.iter().rev().copied().collect();
            paths.push(CallPath { steps });
            return;
        };
        for &step in arrivals {
            tail.push(step);
            self.unwind(walk, step.from, tail, paths);
            tail.pop();
        }
    }

    fn open_sites(&self, nodes: &BTreeSet<NodeId>) -> usize {
        nodes
            .iter()
            .flat_map(|&n| self.index.sites_in(n))
            .filter(|&i| {
                matches!(
                    self.graph.sites()[i as usize].state,
                    SiteState::Unresolved | SiteState::Ambiguous { .. }
                )
            })
            .count()
    }

    fn step_record(&self, step: &Step) -> String {
        let from = self.graph.node(step.from);
        let path = &self.graph.file(from.file).path;
        let mark = if step.dynamic { "  [dynamic]" } else { "" };
        let line = format!(
            "{} -calls-> {}  {}{mark}",
            from.qualified_name,
            self.graph.node(step.to).qualified_name,
            place(path, step.line, step.line)
        );
        clip(&line, MAX_RECORD)
    }
}
