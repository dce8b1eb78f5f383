//! Small facts about one node: what it does, who calls it, how central it is.
//!
//! The listings are made of these, and they are public for whoever ranks or
//! writes pages from the graph directly.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Lookup;
use super::render::first_sentence;
use crate::model::{EdgeKind, NodeId, Origin, SiteState};

/// One end of calls between two nodes, with the lines of the call expressions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallPlaces {
    /// The caller or the definition called.
    pub node: NodeId,
    /// Lines of the calls in the caller's file, ascending.
    pub lines: Vec<u32>,
    /// Whether all of them are dispatched at run time.
    pub dynamic: bool,
}

/// What became of the call expressions that could concern a node, so that an
/// answer carries its denominators. All counts are of call expressions but
/// `callers`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SiteTally {
    /// Distinct callers of the proven calls.
    pub callers: usize,
    /// Proven calls.
    pub resolved: usize,
    /// Calls that only a guess leads here.
    pub guessed: usize,
    /// Calls dispatched at run time that may lead here.
    pub dynamic: usize,
    /// Calls that declared facts leave open between this node and others.
    pub ambiguous: usize,
    /// Calls of the same bare name that nothing decides.
    pub unresolved: usize,
    /// Calls of the same bare name that lead out of the repository.
    pub external: usize,
    /// Where those lead, at most three, in order.
    pub modules: Vec<String>,
}

impl SiteTally {
    /// `12 callers (15 sites); 3 more sites use this name on receivers that
    /// could not be typed; 2 are external (std)`.
    pub fn sentence(&self) -> String {
        let mut text = match self.resolved {
            n if n == self.callers => counted(n, "caller"),
            n => format!("{} ({n} sites)", counted(self.callers, "caller")),
        };
        if self.dynamic > 0 {
            text.push_str(&format!(
                "; {} may reach it by dynamic dispatch",
                counted(self.dynamic, "site")
            ));
        }
        if self.ambiguous > 0 {
            text.push_str(&format!(
                "; {} may mean it or another definition",
                counted(self.ambiguous, "site")
            ));
        }
        if self.unresolved > 0 {
            let verb = if self.unresolved == 1 { "uses" } else { "use" };
            text.push_str(&format!(
                "; {} more {} {verb} this name on receivers that could not be typed",
                self.unresolved,
                if self.unresolved == 1 {
                    "site"
                } else {
                    "sites"
                }
            ));
        }
        if self.external > 0 {
            let verb = if self.external == 1 { "is" } else { "are" };
            text.push_str(&format!("; {} {verb} external", self.external));
            if !self.modules.is_empty() {
                text.push_str(&format!(" ({})", self.modules.join(", ")));
            }
        }
        text
    }
}

/// `1 caller`, `2 callers`.
pub(crate) fn counted(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

impl Lookup {
    /// The first sentence of a node's doc comment, on one line.
    pub fn first_doc_sentence(&self, id: NodeId) -> Option<String> {
        self.graph.node(id).doc.as_deref().and_then(first_sentence)
    }

    /// The lines of a node's definition with their numbers.
    pub fn body(&self, id: NodeId) -> Vec<(u32, &str)> {
        let node = self.graph.node(id);
        self.graph
            .file(node.file)
            .lines(node.span.start_line, node.span.end_line)
            .collect()
    }

    /// Proven and dynamically dispatched calls of a node, by caller in node order.
    pub fn callers(&self, id: NodeId) -> Vec<CallPlaces> {
        self.grouped(self.index.sites_reaching(id), |caller, _| Some(caller))
    }

    /// What a node calls, proven or by dynamic dispatch (then the declared
    /// method), in node order.
    pub fn callees(&self, id: NodeId) -> Vec<CallPlaces> {
        self.grouped(self.index.sites_in(id), |_, target| Some(target))
    }

    fn grouped(
        &self,
        sites: impl Iterator<Item = u32>,
        key: impl Fn(NodeId, NodeId) -> Option<NodeId>,
    ) -> Vec<CallPlaces> {
        let mut groups: BTreeMap<NodeId, (BTreeSet<u32>, bool)> = BTreeMap::new();
        for i in sites {
            let site = &self.graph.sites()[i as usize];
            let (target, dynamic) = match &site.state {
                SiteState::Resolved { target, origin } if *origin != Origin::Guess => {
                    (*target, false)
                }
                SiteState::Dynamic { declared, .. } => (*declared, true),
                _ => continue,
            };
            if let Some(node) = key(site.caller, target) {
                let group = groups.entry(node).or_insert((BTreeSet::new(), true));
                group.0.insert(site.span.start_line);
                group.1 &= dynamic;
            }
        }
        groups
            .into_iter()
            .map(|(node, (lines, dynamic))| CallPlaces {
                node,
                lines: lines.into_iter().collect(),
                dynamic,
            })
            .collect()
    }

    /// What became of every call expression that could be a call of this node.
    pub fn caller_tally(&self, id: NodeId) -> SiteTally {
        let mut tally = SiteTally::default();
        let mut callers = BTreeSet::new();
        for i in self.index.sites_reaching(id) {
            let site = &self.graph.sites()[i as usize];
            match &site.state {
                SiteState::Resolved { origin, .. } if *origin == Origin::Guess => {
                    tally.guessed += 1;
                }
                SiteState::Resolved { .. } => {
                    tally.resolved += 1;
                    callers.insert(site.caller);
                }
                SiteState::Dynamic { .. } => tally.dynamic += 1,
                SiteState::Ambiguous { .. } => tally.ambiguous += 1,
                SiteState::External { .. } | SiteState::Unresolved => {}
            }
        }
        let mut modules = BTreeSet::new();
        for site in self.graph.sites_named(&self.graph.node(id).name) {
            match &site.state {
                SiteState::Unresolved => tally.unresolved += 1,
                SiteState::External { module } => {
                    tally.external += 1;
                    if !module.is_empty() {
                        modules.insert(module.to_string());
                    }
                }
                _ => {}
            }
        }
        tally.callers = callers.len();
        tally.modules = modules.into_iter().take(3).collect();
        tally
    }

    /// How many call expressions stand in a node itself, by state, in the order
    /// of [`crate::CodeGraph::site_counts`].
    pub fn callee_tally(&self, id: NodeId) -> [(&'static str, usize); 5] {
        let mut counts = [
            ("resolved", 0),
            ("ambiguous", 0),
            ("external", 0),
            ("dynamic", 0),
            ("unresolved", 0),
        ];
        for i in self.index.sites_in(id) {
            let state = self.graph.sites()[i as usize].state.as_str();
            for slot in &mut counts {
                slot.1 += usize::from(slot.0 == state);
            }
        }
        counts
    }

    /// Proven edges at a node, containment and imports apart.
    pub fn degree(&self, id: NodeId) -> usize {
        let counts = |kind: EdgeKind, origin: Origin| {
            origin != Origin::Guess && !matches!(kind, EdgeKind::Contains | EdgeKind::Imports)
        };
        let out = self.graph.outgoing(id).iter();
        let into = self.graph.incoming(id).filter(|e| e.from != id);
        out.chain(into).filter(|e| counts(e.kind, e.origin)).count()
    }

    /// How central a node is: its share of a random walk along proven calls and
    /// references. Sums to 1 over the graph; computed for all nodes on first use.
    pub fn centrality(&self, id: NodeId) -> f64 {
        self.index.rank(&self.graph)[id.0 as usize]
    }
}
