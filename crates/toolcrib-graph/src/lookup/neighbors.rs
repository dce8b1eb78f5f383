//! `symbol_neighbors`: the edges at one symbol, and their denominators.
//!
//! A list of callers is only worth as much as what it may be missing, so the
//! head counts the call sites that use the same name and ended in another
//! state. Guesses are counted, and shown when asked for.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cap::{MAX_CHARS, MAX_RECORD, clip, page};
use super::facts::counted;
use super::index::without_number;
use super::render::place;
use super::{Answer, Lookup, LookupCall, LookupError, LookupResult, Rest, SymbolNeighbors};
use crate::model::{Direction, Edge, EdgeKind, NodeId, NodeKind, Origin, SiteState, SymbolTier};

const MAX_EDGES: usize = 40;
const MAX_DECLARED: usize = 4;
/// Lines of further occurrences shown beside the first.
const MAX_ALSO: usize = 4;
/// The word among `kinds` that adds guessed edges.
pub(crate) const GUESS: &str = "guess";

/// One edge seen from the symbol asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Neighbor {
    /// `Incoming` or `Outgoing`.
    pub direction: Direction,
    /// What the edge says.
    pub kind: EdgeKind,
    /// The other end.
    pub node: NodeId,
    /// What proved it.
    pub origin: Origin,
    /// How many occurrences it stands for.
    pub count: u32,
    /// Lines of the occurrences that are known, in the file of the arrow's
    /// start, ascending and not empty.
    pub lines: Vec<u32>,
    /// For a call dispatched at run time: the interface's method, and how many
    /// definitions in the repository implement it.
    pub dynamic: Option<(NodeId, usize)>,
    /// For a call that declared facts leave open: between how many definitions.
    pub ambiguous: Option<usize>,
}

/// Data of `symbol_neighbors`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbors {
    /// The symbol.
    pub node: NodeId,
    /// How many edges match in all.
    pub total: usize,
    /// How many come before those shown.
    pub offset: usize,
    /// Those shown: calls first, containment last, incoming before outgoing.
    pub edges: Vec<Neighbor>,
    /// How many guessed edges match and are not among them.
    pub guesses_hidden: usize,
    /// What comes after them.
    pub rest: Option<Rest>,
}

/// Which edges are wanted.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) direction: Direction,
    kinds: Vec<EdgeKind>,
    guesses: bool,
}

impl Wanted {
    pub(crate) fn all() -> Wanted {
        Wanted {
            direction: Direction::Both,
            kinds: Vec::new(),
            guesses: false,
        }
    }

    fn parse(args: &SymbolNeighbors) -> LookupResult<Wanted> {
        let mut wanted = Wanted::all();
        if let Some(word) = args.direction.as_deref() {
            wanted.direction = direction(word)?;
        }
        let words = args.kinds.iter().flatten();
        for word in words.flat_map(|w| w.split(',')).map(str::trim) {
            match word.to_lowercase().as_str() {
                "" => {}
                GUESS | "guesses" => wanted.guesses = true,
                _ => wanted.kinds.push(edge_kind(word)?),
            }
        }
        Ok(wanted)
    }

    fn kind(&self, kind: EdgeKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

fn direction(word: &str) -> LookupResult<Direction> {
    match word.trim().to_lowercase().as_str() {
        "incoming" | "in" | "callers" => Ok(Direction::Incoming),
        "outgoing" | "out" | "callees" => Ok(Direction::Outgoing),
        "both" | "" => Ok(Direction::Both),
        _ => Err(LookupError::UnknownWord {
            argument: "direction",
            word: word.to_owned(),
            allowed: vec!["incoming", "outgoing", "both"],
        }),
    }
}

fn edge_kind(word: &str) -> LookupResult<EdgeKind> {
    let lower = word.to_lowercase().replace(['-', ' '], "_");
    let found = EdgeKind::ALL
        .into_iter()
        .find(|k| k.as_str() == lower || k.as_str().trim_end_matches('s') == lower);
    found.ok_or_else(|| LookupError::UnknownWord {
        argument: "kinds",
        word: word.to_owned(),
        allowed: EdgeKind::ALL
            .iter()
            .map(|k| k.as_str())
            .chain([GUESS])
            .collect(),
    })
}

/// Calls first, containment last.
fn kind_order(kind: EdgeKind) -> usize {
    const ORDER: [EdgeKind; 9] = [
        EdgeKind::Calls,
        EdgeKind::References,
        EdgeKind::Implements,
        EdgeKind::Extends,
        EdgeKind::Overrides,
        EdgeKind::Tests,
        EdgeKind::RoutesTo,
        EdgeKind::Imports,
        EdgeKind::Contains,
    ];
    ORDER.iter().position(|&k| k == kind).unwrap_or(ORDER.len())
}

impl Lookup {
    /// Lists the edges at a symbol with the places of their other ends.
    pub fn symbol_neighbors(
        &self,
        args: &SymbolNeighbors,
    ) -> Result<Answer<Neighbors>, LookupError> {
        let wanted = Wanted::parse(args)?;
        let id = self.resolve("name", &args.name)?;
        let (edges, guesses_hidden) = self.edges_at(id, &wanted);
        let total = edges.len();
        let offset = args.offset.unwrap_or(0).min(total);
        let shown_edges = &edges[offset..total.min(offset + MAX_EDGES)];
        let records: Vec<String> = shown_edges
            .iter()
            .map(|n| self.neighbor_record(id, n))
            .collect();
        let mut notes = String::new();
        if guesses_hidden > 0 {
            let mut kinds: Vec<String> = args.kinds.clone().unwrap_or_default();
            kinds.push(GUESS.to_owned());
            let call = LookupCall::SymbolNeighbors(SymbolNeighbors {
                kinds: Some(kinds),
                offset: None,
                ..args.clone()
            });
            notes = format!(
                "note: {} hidden: {}\n",
                counted(guesses_hidden, "guessed edge"),
                self.voice.call(&call)
            );
        }
        notes.push_str(&self.namesakes(id));
        notes.push_str(&self.partial_tier_note(id));
        let about = self.about(id, wanted.direction);
        let head = |shown: usize| match shown {
            0 => format!("{about}{}", counted(total, "edge")),
            n => format!(
                "{about}{}; {}-{} shown:",
                counted(total, "edge"),
                offset + 1,
                offset + n
            ),
        };
        let rest = |shown: usize, truncated: bool| {
            let left_out = total - offset - shown;
            (left_out > 0 && shown > 0).then(|| Rest {
                left_out,
                truncated,
                next: LookupCall::SymbolNeighbors(SymbolNeighbors {
                    name: self.graph.node(id).qualified_name.to_string(),
                    offset: Some(offset + shown),
                    ..args.clone()
                }),
            })
        };
        let page = page(&self.voice, MAX_CHARS, &records, &notes, head, rest);
        Ok(Answer {
            data: Neighbors {
                node: id,
                total,
                offset,
                edges: shown_edges[..page.shown].to_vec(),
                guesses_hidden,
                rest: page.rest,
            },
            text: page.text,
        })
    }

    /// The symbol's own lines and its denominators, each ended by a newline.
    pub(crate) fn about(&self, id: NodeId, direction: Direction) -> String {
        let mut text = self.symbol_lines(id);
        text.push('\n');
        text.push_str(&self.declarations(id));
        let kind = self.graph.node(id).kind;
        let tally = self.caller_tally(id);
        let called = matches!(
            kind,
            NodeKind::Function | NodeKind::Method | NodeKind::Class | NodeKind::Macro
        );
        let any = tally.resolved + tally.dynamic + tally.ambiguous + tally.guessed > 0;
        if direction != Direction::Outgoing && (any || called) {
            match self.unread_calls(id) {
                // What nobody has looked for is not absent.
                Some(language) => text.push_str(&format!(
                    "its callers are not known: calls in {language} are not read\n"
                )),
                None => text.push_str(&format!("{}\n", tally.sentence())),
            }
        }
        let counts = self.callee_tally(id);
        let sites: usize = counts.iter().map(|c| c.1).sum();
        if direction != Direction::Incoming && sites > 0 {
            let parts: Vec<String> = counts
                .iter()
                .filter(|c| c.1 > 0)
                .map(|(state, n)| format!("{n} {state}"))
                .collect();
            text.push_str(&format!(
                "{} in it: {}\n",
                counted(sites, "call site"),
                parts.join(", ")
            ));
        }
        text
    }

    /// The language of a node when its calls are not in the graph.
    fn unread_calls(&self, id: NodeId) -> Option<&'static str> {
        let language = self.graph.file(self.graph.node(id).file).language?;
        (language.tier != SymbolTier::Full).then_some(language.name)
    }

    /// Where else a symbol is declared.
    fn declarations(&self, id: NodeId) -> String {
        let declared = &self.graph.node(id).declared;
        if declared.is_empty() {
            return String::new();
        }
        let mut places: Vec<String> = declared
            .iter()
            .take(MAX_DECLARED)
            .map(|(file, span)| {
                let path = &self.graph.file(*file).path;
                place(path, span.start_line, span.start_line)
            })
            .collect();
        if declared.len() > MAX_DECLARED {
            places.push(format!("{} more", declared.len() - MAX_DECLARED));
        }
        format!("also declared at {}\n", places.join(", "))
    }

    pub(crate) fn partial_tier_note(&self, id: NodeId) -> String {
        let node = self.graph.node(id);
        match node.kind {
            NodeKind::File => String::new(),
            _ => self.tier_note(std::iter::once(node.file)),
        }
    }

    /// The wanted edges at a node in listing order, and how many guesses match
    /// but are left out.
    pub(crate) fn edges_at(&self, id: NodeId, wanted: &Wanted) -> (Vec<Neighbor>, usize) {
        let mut found: Vec<Neighbor> = Vec::new();
        let mut hidden = 0;
        let mut take = |edge: &Edge, direction: Direction| {
            if !wanted.kind(edge.kind) {
                return;
            }
            if edge.origin == Origin::Guess && !wanted.guesses {
                hidden += 1;
                return;
            }
            found.push(self.neighbor(edge, direction));
        };
        if wanted.direction != Direction::Outgoing {
            self.graph
                .incoming(id)
                .for_each(|e| take(e, Direction::Incoming));
        }
        if wanted.direction != Direction::Incoming {
            self.graph
                .outgoing(id)
                .iter()
                .for_each(|e| take(e, Direction::Outgoing));
        }
        if wanted.kind(EdgeKind::Calls) {
            self.add_dynamic(id, wanted.direction, &mut found);
            self.add_ambiguous(id, wanted.direction, &mut found);
        }
        found.sort_by_key(|n| {
            (
                n.kind == EdgeKind::Contains,
                n.direction == Direction::Outgoing,
                kind_order(n.kind),
                n.ambiguous.is_some(),
                n.node,
            )
        });
        (found, hidden)
    }

    fn neighbor(&self, edge: &Edge, direction: Direction) -> Neighbor {
        let mut lines = vec![edge.line];
        if edge.kind == EdgeKind::Calls {
            let sites = self.index.sites_in(edge.from);
            let mut exact: Vec<u32> = sites
                .map(|i| &self.graph.sites()[i as usize])
                .filter(|s| match &s.state {
                    SiteState::Resolved { target, .. } => *target == edge.to,
                    SiteState::Dynamic { declared, .. } => *declared == edge.to,
                    _ => false,
                })
                .map(|s| s.span.start_line)
                .collect();
            exact.sort_unstable();
            exact.dedup();
            if !exact.is_empty() {
                lines = exact;
            }
        }
        Neighbor {
            direction,
            kind: edge.kind,
            node: match direction {
                Direction::Incoming => edge.from,
                _ => edge.to,
            },
            origin: edge.origin,
            count: edge.count,
            lines,
            dynamic: None,
            ambiguous: None,
        }
    }

    /// Adds calls that declared facts leave open between several definitions, one
    /// record for each caller or candidate and number of candidates.
    fn add_ambiguous(&self, id: NodeId, direction: Direction, found: &mut Vec<Neighbor>) {
        let mut groups: BTreeMap<(bool, NodeId, usize), Vec<u32>> = BTreeMap::new();
        let sites = |i: u32| {
            let site = &self.graph.sites()[i as usize];
            match &site.state {
                SiteState::Ambiguous { candidates } => Some((site, candidates)),
                _ => None,
            }
        };
        if direction != Direction::Outgoing {
            for (site, candidates) in self.index.sites_reaching(id).filter_map(sites) {
                let key = (false, site.caller, candidates.len());
                groups.entry(key).or_default().push(site.span.start_line);
            }
        }
        if direction != Direction::Incoming {
            for (site, candidates) in self.index.sites_in(id).filter_map(sites) {
                for &candidate in candidates.iter() {
                    let key = (true, candidate, candidates.len());
                    groups.entry(key).or_default().push(site.span.start_line);
                }
            }
        }
        for ((out, node, candidates), mut lines) in groups {
            lines.sort_unstable();
            let count = lines.len() as u32;
            lines.dedup();
            found.push(Neighbor {
                direction: match out {
                    true => Direction::Outgoing,
                    false => Direction::Incoming,
                },
                kind: EdgeKind::Calls,
                node,
                origin: Origin::Receiver,
                count,
                lines,
                dynamic: None,
                ambiguous: Some(candidates),
            });
        }
    }

    /// Marks calls that are dispatched at run time, and adds those that have no
    /// edge of their own.
    fn add_dynamic(&self, id: NodeId, direction: Direction, found: &mut Vec<Neighbor>) {
        let mut groups: BTreeMap<(bool, NodeId, NodeId), (usize, Vec<u32>)> = BTreeMap::new();
        let incoming = self.index.sites_reaching(id).map(|i| (false, i));
        let outgoing = self.index.sites_in(id).map(|i| (true, i));
        for (out, i) in incoming.chain(outgoing) {
            let skipped = match direction {
                Direction::Incoming => out,
                Direction::Outgoing => !out,
                Direction::Both => false,
            };
            let site = &self.graph.sites()[i as usize];
            let SiteState::Dynamic {
                declared,
                implementations,
            } = &site.state
            else {
                continue;
            };
            if skipped {
                continue;
            }
            let other = if out { *declared } else { site.caller };
            let group = groups
                .entry((out, other, *declared))
                .or_insert((implementations.len(), Vec::new()));
            group.1.push(site.span.start_line);
        }
        for ((out, other, declared), (implementations, mut lines)) in groups {
            let direction = if out {
                Direction::Outgoing
            } else {
                Direction::Incoming
            };
            let existing = found
                .iter_mut()
                .find(|n| n.kind == EdgeKind::Calls && n.direction == direction && n.node == other);
            lines.sort_unstable();
            let count = lines.len() as u32;
            lines.dedup();
            match existing {
                Some(n) => {
                    n.dynamic = Some((declared, implementations));
                    let before = n.lines.len();
                    n.lines.extend(lines);
                    n.lines.sort_unstable();
                    n.lines.dedup();
                    n.count += (n.lines.len() - before) as u32;
                }
                None => found.push(Neighbor {
                    direction,
                    kind: EdgeKind::Calls,
                    node: other,
                    origin: Origin::Receiver,
                    count,
                    lines,
                    dynamic: Some((declared, implementations)),
                    ambiguous: None,
                }),
            }
        }
    }

    /// One line on the other definitions of the same qualified name, whose edges are
    /// not this one's; empty when there is none.
    fn namesakes(&self, id: NodeId) -> String {
        let own = self.graph.node(id);
        let plain = without_number(&own.qualified_name);
        let others: Vec<String> = self
            .index
            .named(&own.name.to_lowercase())
            .filter(|&other| other != id)
            .filter(|&other| without_number(&self.graph.node(other).qualified_name) == plain)
            .map(|other| self.symbol_head(other))
            .collect();
        if others.is_empty() {
            return String::new();
        }
        let left = others.len().saturating_sub(MAX_DECLARED);
        let mut named = others[..others.len() - left].join(", ");
        if left > 0 {
            named.push_str(&format!(", {left} more"));
        }
        format!("note: other definitions of this name: {named}\n")
    }

    /// Whether a method of an interface says what it does where it is declared.
    fn has_body(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let span = node.span.start_byte as usize..node.span.end_byte as usize;
        let text = self.graph.file(node.file).text.get(span).unwrap_or("");
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let signature = node.signature.as_deref().unwrap_or("");
        // A result such as `interface{}` ends in a brace as well.
        text.ends_with('}') && !squeezed(signature).ends_with(&squeezed(text))
    }

    /// The `neighbor` record of the grammar, seen from `id`.
    pub(crate) fn neighbor_record(&self, id: NodeId, n: &Neighbor) -> String {
        let (arrow, from) = match n.direction {
            Direction::Incoming => ("<-", n.node),
            _ => ("->", id),
        };
        let mut line = format!("{arrow} {} {}", n.kind, self.symbol_head(n.node));
        if n.kind != EdgeKind::Contains {
            let path = &self.graph.file(self.graph.node(from).file).path;
            let first = n.lines.first().copied().unwrap_or(1);
            line.push_str(&format!("  at {}", place(path, first, first)));
            if n.lines.len() > 1 {
                let more = n.lines.len() - 1 > MAX_ALSO;
                let also: Vec<String> = n.lines[1..]
                    .iter()
                    .take(MAX_ALSO)
                    .map(u32::to_string)
                    .chain(more.then(|| "…".to_owned()))
                    .collect();
                line.push_str(&format!(" (also {})", also.join(", ")));
            }
        }
        let mut marks = Vec::new();
        if n.count as usize > n.lines.len() && n.kind != EdgeKind::Contains {
            marks.push(format!("x{}", n.count));
        }
        if n.origin == Origin::Guess {
            marks.push(GUESS.to_owned());
        }
        if let Some((declared, implementations)) = n.dynamic {
            marks.push(if declared == id || declared == n.node {
                match (implementations, self.has_body(declared)) {
                    (0, true) => "dynamic: no other implementation".to_owned(),
                    (n, _) => format!("dynamic: {}", counted(n, "implementation")),
                }
            } else {
                format!("dynamic via {}", self.graph.node(declared).qualified_name)
            });
        }
        if let Some(candidates) = n.ambiguous {
            marks.push(match candidates {
                1 => "ambiguous: or something else".to_string(),
                _ => format!("ambiguous: one of {candidates}"),
            });
        }
        if !marks.is_empty() {
            line.push_str(&format!("  [{}]", marks.join("; ")));
        }
        clip(&line, MAX_RECORD)
    }
}
