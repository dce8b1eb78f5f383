//! Nodes, edges, call sites and texts of the graph.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::eval::{Cx, Eval};
use super::index::{Container, Index};
use super::lookup::{Found, Lookup};
use super::naming::name_all;
use super::relations::{Relations, is_function};
use super::sites::origin;
use super::value::Ty;
use crate::facts::{DefIx, one_line};
use crate::graph::GraphParts;
use crate::lang::language_of;
use crate::model::{
    CallSite, Edge, EdgeKind, FileId, FileInfo, Node, NodeId, NodeKind, Origin, SiteState, Str,
    Text,
};

/// Callees are cut to this many characters.
const MAX_CALLEE: usize = 120;

/// Everything the graph is assembled from.
pub(super) fn assemble(index: &Index<'_>) -> GraphParts {
    let lookup = Lookup::new(index);
    let mut relations = Relations::new(&lookup);
    relations.joined.assigned = super::virtuals::assigned(&lookup, &relations);
    let merge = super::merge::Merge::new(index, &relations);
    let (titles, more) = super::mounts::titles(&lookup, &relations);
    let served = super::served::Served::new(&lookup, &relations, more);
    let (names, linked) = rayon::join(
        || {
            name_all(index, &relations.extended, &titles, |node| {
                merge.drops(node) || served.drops(node)
            })
        },
        || -> Vec<(Vec<Edge>, Vec<CallSite>)> {
            (0..index.files.len() as u32)
                .into_par_iter()
                .map(|file| link_file(&lookup, &relations, file))
                .collect()
        },
    );
    let mut parts = GraphParts::default();
    for (file, source) in (0u32..).zip(index.files) {
        let facts = &index.facts[file as usize];
        parts.files.push(FileInfo {
            path: source.path.clone(),
            language: language_of(source, index.language[file as usize]),
            size: source.size,
            text: source.text.clone(),
            line_starts: line_starts(&source.text).into(),
            node: index.node(file, DefIx::ROOT),
        });
        for (i, def) in facts.defs.iter().enumerate() {
            let node = index.node(file, DefIx(i as u32));
            let extended = def
                .ext
                .and_then(|ext| relations.extended.get(&(file, ext)).copied());
            let parent = (i > 0).then(|| extended.unwrap_or(index.node(file, def.parent)));
            if let Some(parent) = parent {
                parts.edges.push(Edge {
                    from: parent,
                    kind: EdgeKind::Contains,
                    to: node,
                    origin: Origin::Syntax,
                    count: 1,
                    line: def.span.start_line,
                });
            }
            parts.nodes.push(Node {
                kind: index.kind_of(node),
                name: titles
                    .get(&node)
                    .unwrap_or_else(|| facts.name(def.name))
                    .clone(),
                qualified_name: names.qualified[node.0 as usize].clone(),
                symbol: names.symbol[node.0 as usize].clone(),
                file: FileId(file),
                span: def.span,
                signature: def.signature.clone(),
                doc: def.doc.clone(),
                exported: def.exported,
                parent,
                declared: Box::default(),
            });
        }
        parts.texts.extend(facts.texts.iter().map(|text| Text {
            file: FileId(file),
            span: text.span,
            kind: text.kind,
            node: NodeId(index.base[file as usize] + text.def.0),
        }));
    }
    for (edges, sites) in linked {
        parts.edges.extend(edges);
        parts.sites.extend(sites);
    }
    merge.apply(&mut parts);
    served.apply(&merge, &mut parts);
    parts
}

/// Edges and call sites that begin in one file.
fn link_file(lookup: &Lookup<'_>, relations: &Relations, file: u32) -> (Vec<Edge>, Vec<CallSite>) {
    let index = lookup.index;
    let facts = &index.facts[file as usize];
    let mut out = Linked {
        lookup,
        relations,
        file,
        edges: Vec::new(),
    };
    let mut eval = Eval::new(lookup, relations);
    let mut sites = Vec::with_capacity(facts.calls.len());
    let mut texts: FxHashMap<(u32, u32), Str> = FxHashMap::default();
    let mut shared: FxHashMap<String, Str> = FxHashMap::default();
    for call in &facts.calls {
        let Some(state) = eval.site_state(file, call) else {
            continue;
        };
        let caller = out.owner(call.scope);
        out.call(caller, &state, call.span.start_line);
        let source = &index.files[file as usize].text;
        let callee = texts.entry(call.callee_text).or_insert_with(|| {
            let (start, end) = call.callee_text;
            let text = source.get(start as usize..end as usize).unwrap_or("");
            let text = one_line(text, MAX_CALLEE);
            shared
                .entry(text)
                .or_insert_with_key(|text| text.as_str().into())
                .clone()
        });
        sites.push(CallSite {
            file: FileId(file),
            span: call.span,
            caller,
            callee: callee.clone(),
            name: facts.name(call.name).clone(),
            state,
        });
    }
    for mention in &facts.uses {
        eval.begin();
        let cx = Cx {
            file,
            scope: mention.scope,
        };
        let found = eval.mentioned(cx, mention.term);
        if let Some(target) = found {
            let from = out.owner(mention.scope);
            let via = origin(eval.via);
            out.reference(from, target, via, mention.line);
        }
    }
    out.routes(&mut eval);
    out.imports();
    out.types();
    out.overrides();
    (out.edges, sites)
}

struct Linked<'l> {
    lookup: &'l Lookup<'l>,
    relations: &'l Relations,
    file: u32,
    edges: Vec<Edge>,
}

impl Linked<'_> {
    /// The innermost function, type or file around a place.
    fn owner(&self, scope: DefIx) -> NodeId {
        let index = self.lookup.index;
        let facts = &index.facts[self.file as usize];
        let mut ix = scope;
        loop {
            let def = facts.def(ix);
            let owns = matches!(
                def.kind,
                NodeKind::Function
                    | NodeKind::Method
                    | NodeKind::Test
                    | NodeKind::Class
                    | NodeKind::Struct
                    | NodeKind::Enum
                    | NodeKind::Interface
                    | NodeKind::Route
                    | NodeKind::File
            );
            if owns || ix == DefIx::ROOT {
                return index.node(self.file, ix);
            }
            ix = def.parent;
        }
    }

    fn edge(&mut self, from: NodeId, kind: EdgeKind, to: NodeId, origin: Origin, line: u32) {
        // Only a call can lead back to where it is.
        if from == to && kind != EdgeKind::Calls {
            return;
        }
        self.edges.push(Edge {
            from,
            kind,
            to,
            origin,
            count: 1,
            line,
        });
    }

    fn call(&mut self, caller: NodeId, state: &SiteState, line: u32) {
        if let SiteState::Resolved { target, origin } = state {
            self.edge(caller, EdgeKind::Calls, *target, *origin, line);
            let index = self.lookup.index;
            let is_test = index.def(caller).kind == NodeKind::Test;
            if is_test && index.def(*target).kind != NodeKind::Test {
                self.edge(caller, EdgeKind::Tests, *target, *origin, line);
            }
        }
    }

    fn reference(&mut self, from: NodeId, to: NodeId, origin: Origin, line: u32) {
        let mut around = Some(to);
        // What a definition says of itself or of what it contains is no news.
        while let Some(node) = around {
            if node == from {
                return;
            }
            let (file, ix) = self.lookup.index.place_of(node);
            around = (ix != DefIx::ROOT).then(|| {
                let def = self.lookup.index.facts[file as usize].def(ix);
                self.lookup.index.node(file, def.parent)
            });
            if self.lookup.index.def(node).kind == NodeKind::File {
                break;
            }
            if from == self.lookup.index.node(file, DefIx::ROOT) {
                break;
            }
        }
        self.edge(from, EdgeKind::References, to, origin, line);
    }

    /// A route leads to the handler that it is given.
    fn routes(&mut self, eval: &mut Eval<'_>) {
        let index = self.lookup.index;
        let facts = &index.facts[self.file as usize];
        for (route, handler) in &facts.handlers {
            let line = facts.def(*route).span.start_line;
            let (from, to) = (
                index.node(self.file, *route),
                index.node(self.file, *handler),
            );
            self.edge(from, EdgeKind::RoutesTo, to, Origin::Syntax, line);
        }
        for (ix, def) in (0u32..).zip(&facts.defs) {
            if def.kind != NodeKind::Route {
                continue;
            }
            let route = index.node(self.file, DefIx(ix));
            for value in facts.values_of(DefIx(ix)) {
                eval.begin();
                let cx = Cx {
                    file: self.file,
                    scope: value.scope,
                };
                if let Some(handler) = eval.handler(cx, value.term, 0) {
                    let line = def.span.start_line;
                    self.edge(route, EdgeKind::RoutesTo, handler, origin(eval.via), line);
                }
            }
        }
    }

    fn imports(&mut self) {
        let index = self.lookup.index;
        let facts = &index.facts[self.file as usize];
        for import in &facts.imports {
            let def = facts.def(import.def);
            let from = self.owner(def.parent);
            let node = index.node(self.file, import.def);
            if import
                .path
                .first()
                .is_some_and(|first| facts.name(*first).is_empty())
            {
                // Another name for something of this file.
                continue;
            }
            for target in self.lookup.import_targets(node, 0) {
                if let Some(to) = self.as_node(target)
                    && to != from
                {
                    self.edge(
                        from,
                        EdgeKind::Imports,
                        to,
                        Origin::Import,
                        def.span.start_line,
                    );
                }
            }
        }
        for submodule in &facts.submodules {
            let node = index.node(self.file, submodule.def);
            if let Some(space) = index.spaces.of_def.get(&(self.file, submodule.def))
                && let Some(to) = self.as_node(Found::Space(*space))
            {
                let line = facts.def(submodule.def).span.start_line;
                self.edge(node, EdgeKind::Imports, to, Origin::Syntax, line);
            }
        }
    }

    /// A module's file stands for it.
    fn as_node(&self, found: Found) -> Option<NodeId> {
        let index = self.lookup.index;
        match found {
            Found::Node(node) => Some(node),
            Found::Space(space) => {
                let space = index.spaces.get(space);
                // Among several files one stands for the others only where they
                // agree on a name.
                let stands = space.files.len() < 2 || !space.own_name.is_empty();
                let first = space.files.first().filter(|_| stands)?;
                Some(index.node(*first, DefIx::ROOT))
            }
            Found::Ext { .. } => None,
        }
    }

    fn types(&mut self) {
        let index = self.lookup.index;
        let facts = &index.facts[self.file as usize];
        for (i, def) in facts.defs.iter().enumerate() {
            let node = index.node(self.file, DefIx(i as u32));
            for base in self.relations.bases.get(&node).into_iter().flatten() {
                let Found::Node(base) = base else { continue };
                let from_class = def.kind != NodeKind::Interface;
                let to_interface = index.def(*base).kind == NodeKind::Interface;
                let kind = if from_class && to_interface {
                    EdgeKind::Implements
                } else {
                    EdgeKind::Extends
                };
                self.edge(node, kind, *base, Origin::Syntax, def.span.start_line);
            }
        }
        for (i, def) in facts.defs.iter().enumerate() {
            let node = index.node(self.file, DefIx(i as u32));
            let line = def.span.start_line;
            for interface in self.relations.by_shape.get(&node).into_iter().flatten() {
                self.edge(
                    node,
                    EdgeKind::Implements,
                    *interface,
                    Origin::Receiver,
                    line,
                );
            }
        }
        for (i, ext) in (0u32..).zip(&facts.extensions) {
            let Some(term) = ext.interface else { continue };
            let key = (self.file, crate::facts::ExtIx(i));
            let Some(target) = self.relations.extended.get(&key).copied() else {
                continue;
            };
            for found in self.lookup.static_path(self.file, ext.parent, term) {
                if let Found::Node(interface) = found
                    && index.def(interface).kind == NodeKind::Interface
                {
                    self.edge(
                        target,
                        EdgeKind::Implements,
                        interface,
                        Origin::Syntax,
                        ext.span.start_line,
                    );
                }
            }
        }
    }

    /// A virtual method overrides its nearest base's.
    fn virtual_override(&mut self, node: NodeId, line: u32) {
        let joined = &self.relations.joined;
        if joined.is_completed(node) {
            return;
        }
        let index = self.lookup.index;
        if let Some(above) = joined.overridden(index, self.relations, node) {
            let to = joined.one(above);
            self.edge(node, EdgeKind::Overrides, to, Origin::Syntax, line);
        }
    }

    fn overrides(&mut self) {
        let index = self.lookup.index;
        let facts = &index.facts[self.file as usize];
        for (i, def) in facts.defs.iter().enumerate() {
            if !is_function(def.kind) {
                continue;
            }
            let node = index.node(self.file, DefIx(i as u32));
            if index.textual(self.file) {
                self.virtual_override(node, def.span.start_line);
                continue;
            }
            let name = index.global_name(self.file, def.name);
            let mut above: Vec<NodeId> = Vec::new();
            match def.ext {
                Some(ext) => {
                    let ext = &facts.extensions[ext.0 as usize];
                    let Some(term) = ext.interface else { continue };
                    for found in self.lookup.static_path(self.file, ext.parent, term) {
                        if let Found::Node(interface) = found {
                            above.push(interface);
                        }
                    }
                }
                None => {
                    let parent = index.node(self.file, def.parent);
                    let (line, _) = self.relations.line(parent);
                    above.extend(line.into_iter().skip(1));
                }
            }
            let overridden = above.iter().find_map(|owner| {
                index
                    .members
                    .named(Container::Node(*owner), name)
                    .iter()
                    .copied()
                    .find(|member| is_function(index.def(*member).kind))
            });
            if let Some(to) = overridden
                && to != node
            {
                let line = def.span.start_line;
                self.edge(node, EdgeKind::Overrides, to, Origin::Syntax, line);
            }
        }
    }
}

/// Calls around a handler, as in `logged(checked(show))`, that are looked into.
const MAX_WRAPPERS: u32 = 4;

impl Eval<'_> {
    /// The function that a term hands over: itself, or the only one that is given to
    /// the calls around it, which make a handler of it.
    fn handler(&mut self, cx: Cx, term: crate::facts::TermId, wrappers: u32) -> Option<NodeId> {
        use crate::facts::Term;
        let ty = self.eval(cx, term);
        let index = self.index();
        let functions = ty.each().iter().filter_map(|ty| match ty {
            Ty::Def(node, _) | Ty::Bound(node, _) if index.def(*node).kind.is_callable() => {
                Some(*node)
            }
            _ => None,
        });
        let functions: Vec<NodeId> = functions.collect();
        match functions[..] {
            [one] => return Some(one),
            [] => {}
            _ => return None,
        }
        let facts = self.facts(cx.file);
        let Term::Call(_, given) = facts.terms.get(term.0 as usize)? else {
            return None;
        };
        if wrappers >= MAX_WRAPPERS {
            return None;
        }
        let given = facts.list(*given).to_vec();
        let mut found = given
            .into_iter()
            .filter_map(|term| self.handler(cx, term, wrappers + 1));
        match (found.next(), found.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    }

    /// The definition that a mention leads to, when there is exactly one.
    fn mentioned(&mut self, cx: Cx, term: crate::facts::TermId) -> Option<NodeId> {
        use crate::facts::Term;
        let facts = self.facts(cx.file);
        let ty = match facts.terms[term.0 as usize] {
            Term::Name(..) => self.eval(cx, term),
            Term::Member(base, name) => {
                let name = self.index().global_name(cx.file, name);
                let base = self.eval(cx, base);
                return self.member_node(cx, &base, name);
            }
            _ => return None,
        };
        match ty {
            Ty::Def(node, _) => Some(node),
            Ty::Bound(node, _) => Some(node),
            _ => None,
        }
    }

    /// The member itself rather than its value: a field, property or method.
    pub(super) fn member_node(
        &mut self,
        cx: Cx,
        base: &Ty,
        name: super::index::GSym,
    ) -> Option<NodeId> {
        let mut found: FxHashSet<NodeId> = FxHashSet::default();
        for ty in base.each() {
            let value = self.value(ty);
            for ty in value.each() {
                match ty {
                    Ty::Inst(node, _) | Ty::Def(node, _)
                        if super::eval::is_type(self.index().def(*node).kind) =>
                    {
                        if let super::members::TypeMember::Nodes(nodes) =
                            self.find_in_type(cx, *node, ty, name)
                        {
                            found.extend(nodes);
                        }
                    }
                    Ty::Space(_) => {
                        for ty in self.member(cx, ty, name).each() {
                            if let Ty::Def(node, _) = ty {
                                found.insert(*node);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        if found.len() == 1 {
            found.into_iter().next()
        } else {
            None
        }
    }
}

/// The first byte of each line; an empty last line counts as none.
fn line_starts(text: &str) -> Vec<u32> {
    let mut starts = vec![0u32];
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'\n' {
            starts.push(at as u32 + 1);
        }
    }
    if starts.len() > 1 && starts.last() == Some(&(text.len() as u32)) {
        starts.pop();
    }
    starts
}
