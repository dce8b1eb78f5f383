//! Graphs assembled by hand for tests: text is given, places are lines.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Lookup;
use crate::graph::{CodeGraph, GraphParts};
use crate::model::{
    CallSite, Edge, EdgeKind, FileId, FileInfo, Language, Node, NodeId, NodeKind, Origin,
    SiteState, Span, Str, SymbolTier, Text, TextKind,
};

pub(crate) const RUST: Option<Language> = Some(Language {
    name: "Rust",
    tier: SymbolTier::Full,
});
pub(crate) const RUBY: Option<Language> = Some(Language {
    name: "Ruby",
    tier: SymbolTier::Definitions,
});

/// A call site's state by names instead of ids.
#[derive(Clone)]
pub(crate) enum Site {
    Unresolved,
    External(&'static str),
    Ambiguous(Vec<&'static str>),
    Dynamic(&'static str, Vec<&'static str>),
    Resolved(String, Origin),
}

#[derive(Default, Clone)]
pub(crate) struct Sample {
    files: Vec<(String, Option<Language>, String)>,
    symbols: Vec<(NodeKind, String, String, RangeInclusive<u32>)>,
    edges: Vec<(String, EdgeKind, String, u32, Origin)>,
    sites: Vec<(String, u32, String, Site)>,
}

impl Sample {
    pub(crate) fn file(mut self, path: &str, language: Option<Language>, text: &str) -> Sample {
        self.files.push((path.into(), language, text.into()));
        self
    }

    pub(crate) fn symbol(
        mut self,
        kind: NodeKind,
        name: &str,
        path: &str,
        lines: RangeInclusive<u32>,
    ) -> Sample {
        self.symbols.push((kind, name.into(), path.into(), lines));
        self
    }

    pub(crate) fn edge(mut self, from: &str, kind: EdgeKind, to: &str, line: u32) -> Sample {
        self.edges
            .push((from.into(), kind, to.into(), line, Origin::Syntax));
        self
    }

    /// A proven call: the site and its edge.
    pub(crate) fn call(self, from: &str, to: &str, line: u32) -> Sample {
        self.call_by(from, to, line, Origin::Scope)
    }

    pub(crate) fn call_by(mut self, from: &str, to: &str, line: u32, origin: Origin) -> Sample {
        self.edges
            .push((from.into(), EdgeKind::Calls, to.into(), line, origin));
        self.site(from, line, to, Site::Resolved(to.into(), origin))
    }

    pub(crate) fn site(mut self, from: &str, line: u32, callee: &str, state: Site) -> Sample {
        self.sites.push((from.into(), line, callee.into(), state));
        self
    }

    pub(crate) fn lookup(&self) -> Lookup {
        Lookup::new(Arc::new(self.graph()))
    }

    pub(crate) fn graph(&self) -> CodeGraph {
        let mut files = self.files.clone();
        files.sort();
        let mut parts = GraphParts::default();
        for (path, language, text) in &files {
            let file = FileId(parts.files.len() as u32);
            let line_starts: Arc<[u32]> = std::iter::once(0)
                .chain(text.match_indices('\n').map(|(i, _)| i as u32 + 1))
                .collect();
            let path: Str = path.as_str().into();
            let info = FileInfo {
                path: path.clone(),
                language: *language,
                size: text.len() as u64,
                text: text.as_str().into(),
                line_starts,
                node: NodeId(parts.nodes.len() as u32),
            };
            self.add_nodes(&mut parts, &info, file);
            self.add_texts(&mut parts, &info, file);
            parts.files.push(info);
        }
        self.add_relations(&mut parts);
        CodeGraph::assemble(parts)
    }

    fn add_nodes(&self, parts: &mut GraphParts, info: &FileInfo, file: FileId) {
        let whole = Span {
            start_byte: 0,
            end_byte: info.text.len() as u32,
            start_line: 1,
            end_line: info.line_count().max(1),
        };
        parts.nodes.push(Node {
            kind: NodeKind::File,
            name: info.path.rsplit('/').next().unwrap().into(),
            qualified_name: info.path.clone(),
            symbol: info.path.clone(),
            file,
            span: whole,
            signature: None,
            doc: None,
            exported: true,
            parent: None,
            declared: Box::default(),
        });
        let mut own: Vec<_> = self.symbols.iter().filter(|s| s.2 == *info.path).collect();
        own.sort_by_key(|s| (*s.3.start(), std::cmp::Reverse(*s.3.end())));
        for (kind, qualified, _, lines) in own {
            let span = span_of(info, *lines.start(), *lines.end());
            let parent = (info.node.0..parts.nodes.len() as u32)
                .rev()
                .find(|&p| parts.nodes[p as usize].span.contains(&span))
                .map(NodeId);
            let name: Str = qualified.rsplit([':', '.']).next().unwrap().into();
            let above = &parts.nodes[parent.unwrap().0 as usize].symbol;
            let symbol = match above.contains('#') {
                true => format!("{above}.{name}"),
                false => format!("{above}#{name}"),
            };
            let declaration = info.line(*lines.start()).unwrap().trim();
            let doc: Vec<&str> = (1..*lines.start())
                .rev()
                .map_while(|n| info.line(n)?.trim().strip_prefix("///").map(str::trim))
                .collect();
            let doc: Vec<&str> = doc.into_iter().rev().collect();
            let id = NodeId(parts.nodes.len() as u32);
            parts.edges.push(Edge {
                from: parent.unwrap(),
                kind: EdgeKind::Contains,
                to: id,
                origin: Origin::Syntax,
                count: 1,
                line: *lines.start(),
            });
            parts.nodes.push(Node {
                kind: *kind,
                name,
                qualified_name: qualified.as_str().into(),
                symbol: symbol.into(),
                file,
                span,
                signature: Some(declaration.trim_end_matches(['{', ' ']).into()),
                doc: (!doc.is_empty()).then(|| doc.join("\n").into()),
                exported: declaration.starts_with("pub"),
                parent,
                declared: Box::default(),
            });
        }
    }

    fn add_texts(&self, parts: &mut GraphParts, info: &FileInfo, file: FileId) {
        for (number, line) in info.lines(1, u32::MAX) {
            let start = info.line_starts[number as usize - 1];
            let owner = |doc: bool| {
                let next = parts
                    .nodes
                    .iter()
                    .zip(0..parts.nodes.len() as u32)
                    .rev()
                    .find(|(n, _)| {
                        n.file == file
                            && match doc {
                                true => n.span.start_line > number && n.kind != NodeKind::File,
                                false => n.span.start_line <= number && number <= n.span.end_line,
                            }
                    });
                let nearest = parts
                    .nodes
                    .iter()
                    .zip(0..parts.nodes.len() as u32)
                    .find(|(n, _)| {
                        n.file == file && n.kind != NodeKind::File && n.span.start_line > number
                    });
                NodeId(if doc { nearest.or(next) } else { next }.map_or(info.node.0, |f| f.1))
            };
            let (from, to, kind) = if let Some(at) = line.find("///") {
                (at, line.len(), TextKind::Doc)
            } else if let Some(at) = line.find("//") {
                (at, line.len(), TextKind::Comment)
            } else if let Some((at, rest)) = line.split_once('"').map(|(a, r)| (a.len(), r)) {
                (
                    at,
                    at + 2 + rest.find('"').unwrap_or(0),
                    TextKind::StringLiteral,
                )
            } else {
                continue;
            };
            parts.texts.push(Text {
                file,
                span: Span {
                    start_byte: start + from as u32,
                    end_byte: start + to as u32,
                    start_line: number,
                    end_line: number,
                },
                kind,
                node: owner(kind == TextKind::Doc),
            });
        }
    }

    fn add_relations(&self, parts: &mut GraphParts) {
        let id = |name: &str| {
            let i = parts.nodes.iter().position(|n| *n.qualified_name == *name);
            NodeId(i.unwrap_or_else(|| panic!("no node {name}")) as u32)
        };
        let mut edges = Vec::new();
        let mut sites = Vec::new();
        for (from, kind, to, line, origin) in &self.edges {
            edges.push(Edge {
                from: id(from),
                kind: *kind,
                to: id(to),
                origin: *origin,
                count: 1,
                line: *line,
            });
        }
        for (from, line, callee, state) in &self.sites {
            let caller = id(from);
            let file = parts.nodes[caller.0 as usize].file;
            let ids = |names: &[&str]| {
                let mut ids: Vec<NodeId> = names.iter().map(|n| id(n)).collect();
                ids.sort_unstable();
                ids
            };
            sites.push(CallSite {
                file,
                span: span_of(&parts.files[file.0 as usize], *line, *line),
                caller,
                callee: callee.as_str().into(),
                name: callee.rsplit([':', '.']).next().unwrap().into(),
                state: match state {
                    Site::Unresolved => SiteState::Unresolved,
                    Site::External(module) => SiteState::External {
                        module: (*module).into(),
                    },
                    Site::Ambiguous(names) => SiteState::Ambiguous {
                        candidates: ids(names),
                    },
                    Site::Dynamic(declared, names) => SiteState::Dynamic {
                        declared: id(declared),
                        implementations: ids(names),
                    },
                    Site::Resolved(to, origin) => SiteState::Resolved {
                        target: id(to),
                        origin: *origin,
                    },
                },
            });
        }
        parts.edges.extend(edges);
        parts.sites.extend(sites);
    }
}

fn span_of(info: &FileInfo, start: u32, end: u32) -> Span {
    let end_byte = info
        .line_starts
        .get(end as usize)
        .map_or(info.text.len() as u32, |&e| e - 1);
    Span {
        start_byte: info.line_starts[start as usize - 1],
        end_byte,
        start_line: start,
        end_line: end,
    }
}

pub(crate) const CUT_RS: &str = "\
//! Cutting tool results.

/// The most characters a result keeps.
pub const MAX_CHARS: usize = 8_000;

/// A text and what was cut from it. Cheap to clone.
pub struct Cut {
    kept: String,
}

impl Cut {
    /// Applies the limit.
    pub fn apply(text: &str) -> Cut {
        let kept = cap(text, MAX_CHARS);
        Cut { kept }
    }
}

/// Keeps the first characters of a text, never splitting one.
pub fn cap(text: &str, limit: usize) -> String {
    text.chars().take(limit).collect()
}

fn capacity_hint() -> usize {
    MAX_CHARS * 4
}
";

pub(crate) const RUN_RS: &str = "\
use crate::cut::{cap, Cut};

/// Shows what was lost.
pub trait Report {
    fn report(&self) -> String;
}

pub struct Plain;

impl Report for Plain {
    fn report(&self) -> String {
        cap(\"tool result was truncated here\", 10)
    }
}

pub fn run(report: &dyn Report) -> String {
    // the report may be long
    let cut = Cut::apply(&report.report());
    cap(\"a\", 1);
    cap(\"b\", 2)
}

pub fn main_loop() {
    run(&Plain);
    other.cap();
    libc::cap();
}
";

/// Two files that call each other, with every state of a call site.
pub(crate) fn sample() -> Sample {
    use NodeKind::*;
    let (cut, run) = ("src/cut.rs", "src/run.rs");
    Sample::default()
        .file(cut, RUST, CUT_RS)
        .file(run, RUST, RUN_RS)
        .file("README.md", None, "# Sample\n\nCuts tool results.\n")
        .file("lib/tool.rb", RUBY, "class Tool\n  def cap\n  end\nend\n")
        .file("src/empty.rs", RUST, "")
        .symbol(Constant, "crate::cut::MAX_CHARS", cut, 4..=4)
        .symbol(Struct, "crate::cut::Cut", cut, 7..=17)
        .symbol(Field, "crate::cut::Cut::kept", cut, 8..=8)
        .symbol(Method, "crate::cut::Cut::apply", cut, 13..=16)
        .symbol(Function, "crate::cut::cap", cut, 20..=22)
        .symbol(Function, "crate::cut::capacity_hint", cut, 24..=26)
        .symbol(Import, "crate::run::use cut", run, 1..=1)
        .symbol(Interface, "crate::run::Report", run, 4..=6)
        .symbol(Method, "crate::run::Report::report", run, 5..=5)
        .symbol(Struct, "crate::run::Plain", run, 8..=8)
        .symbol(Method, "crate::run::Plain::report", run, 11..=13)
        .symbol(Function, "crate::run::run", run, 16..=21)
        .symbol(Function, "crate::run::main_loop", run, 23..=27)
        .symbol(Class, "Tool", "lib/tool.rb", 1..=4)
        .symbol(Method, "Tool.cap", "lib/tool.rb", 2..=3)
        .call("crate::cut::Cut::apply", "crate::cut::cap", 14)
        .edge(
            "crate::cut::Cut::apply",
            EdgeKind::References,
            "crate::cut::MAX_CHARS",
            14,
        )
        .edge(
            "crate::cut::capacity_hint",
            EdgeKind::References,
            "crate::cut::MAX_CHARS",
            25,
        )
        .edge(
            "crate::run::Plain",
            EdgeKind::Implements,
            "crate::run::Report",
            10,
        )
        .edge(
            "crate::run::Plain::report",
            EdgeKind::Overrides,
            "crate::run::Report::report",
            11,
        )
        .call("crate::run::Plain::report", "crate::cut::cap", 12)
        .call("crate::run::run", "crate::cut::Cut::apply", 18)
        .site(
            "crate::run::run",
            18,
            "report.report",
            Site::Dynamic(
                "crate::run::Report::report",
                vec!["crate::run::Plain::report"],
            ),
        )
        .call("crate::run::run", "crate::cut::cap", 19)
        .call("crate::run::run", "crate::cut::cap", 20)
        .call("crate::run::main_loop", "crate::run::run", 24)
        .site("crate::run::main_loop", 25, "other.cap", Site::Unresolved)
        .site(
            "crate::run::main_loop",
            26,
            "libc::cap",
            Site::External("libc"),
        )
        .site(
            "crate::run::main_loop",
            26,
            "either.report",
            Site::Ambiguous(vec![
                "crate::run::Plain::report",
                "crate::run::Report::report",
            ]),
        )
        .call_by("crate::run::main_loop", "Tool.cap", 25, Origin::Guess)
}
