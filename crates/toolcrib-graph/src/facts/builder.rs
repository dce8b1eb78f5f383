//! The hand that language rules write facts with.
//!
//! It keeps the stack of open definitions, interns names, and puts what was
//! written into the order that [`FileFacts`] promises. Scopes close by
//! themselves when the walk has passed their end, so rules have only one event:
//! entering a node.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::{
    Assigned, BLANK, Blank, Call, Def, DefIx, Doubt, ExtIx, Extension, FileFacts, Flags, Handed,
    Import, ListRange, Local, Mount, RouteFact, Router, Slot, Sym, Term, TermId, TextFact,
    TypeParam, Use, Value,
};
use crate::model::{NodeKind, Span, Str, TextKind};

/// Signatures are cut to this many characters.
const MAX_SIGNATURE: usize = 240;
/// Documentation is cut to this many bytes.
const MAX_DOC: usize = 4_000;

/// Titles of routes are cut to this many characters.
const MAX_TITLE: usize = 160;

/// Expressions in paths are cut to this many characters.
const MAX_SHOWN: usize = 60;
/// Longest text of a constant that is kept for paths.
const MAX_CONSTANT: usize = 100;

/// What a definition is made from.
pub(crate) struct NewDef<'a> {
    pub(crate) kind: NodeKind,
    pub(crate) name: &'a str,
    pub(crate) span: Span,
    pub(crate) exported: bool,
    pub(crate) signature: Option<Str>,
    pub(crate) doc: Option<String>,
}

struct Open {
    def: DefIx,
    ext: Option<ExtIx>,
    end: u32,
}

/// Collects the facts of one file.
pub(crate) struct Builder<'s> {
    pub(crate) source: &'s str,
    facts: FileFacts,
    names: FxHashMap<&'s str, Sym>,
    owned_names: FxHashMap<Str, Sym>,
    stack: Vec<Open>,
    uses_seen: FxHashSet<(DefIx, Sym)>,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(source: &'s str, file_name: &str) -> Self {
        let mut builder = Builder {
            source,
            facts: FileFacts::default(),
            names: FxHashMap::default(),
            owned_names: FxHashMap::default(),
            stack: Vec::new(),
            uses_seen: FxHashSet::default(),
        };
        builder.facts.terms.push(Term::Unknown);
        let name = builder.owned_name(file_name);
        let lines = source.lines().count().max(1) as u32;
        builder.facts.defs.push(Def {
            kind: NodeKind::File,
            name,
            parent: DefIx::ROOT,
            ext: None,
            flags: Flags::default(),
            exported: true,
            span: Span {
                start_byte: 0,
                end_byte: source.len() as u32,
                start_line: 1,
                end_line: lines,
            },
            signature: None,
            doc: None,
            ty: TermId::UNKNOWN,
            bases: ListRange::default(),
            params: (0, 0),
            arity: None,
            shape: None,
        });
        builder.stack.push(Open {
            def: DefIx::ROOT,
            ext: None,
            end: u32::MAX,
        });
        builder
    }

    /// Closes the scopes that end before `byte`. Called for every node entered.
    pub(crate) fn pass(&mut self, byte: u32) {
        while self.stack.len() > 1 && self.stack.last().is_some_and(|open| open.end <= byte) {
            self.stack.pop();
        }
    }

    /// The innermost open definition.
    pub(crate) fn scope(&self) -> DefIx {
        self.stack.last().map_or(DefIx::ROOT, |open| open.def)
    }

    /// The extension whose members are being read, if the walk is directly in one.
    pub(crate) fn extension(&self) -> Option<ExtIx> {
        self.stack.last().and_then(|open| open.ext)
    }

    /// The innermost open definition that `wanted` accepts.
    pub(crate) fn enclosing(&self, wanted: impl Fn(&Def) -> bool) -> Option<DefIx> {
        let mut ix = self.scope();
        loop {
            let def = self.def(ix);
            if wanted(def) {
                return Some(ix);
            }
            if ix == DefIx::ROOT {
                return None;
            }
            ix = def.parent;
        }
    }

    pub(crate) fn def(&self, ix: DefIx) -> &Def {
        &self.facts.defs[ix.0 as usize]
    }

    pub(crate) fn def_count(&self) -> u32 {
        self.facts.defs.len() as u32
    }

    pub(crate) fn def_mut(&mut self, ix: DefIx) -> &mut Def {
        &mut self.facts.defs[ix.0 as usize]
    }

    pub(crate) fn text(&self, node: Node<'_>) -> &'s str {
        self.source.get(node.byte_range()).unwrap_or("")
    }

    /// A name that is written in the source.
    pub(crate) fn name(&mut self, text: &'s str) -> Sym {
        if let Some(sym) = self.names.get(text) {
            return *sym;
        }
        let sym = self.owned_name(text);
        self.names.insert(text, sym);
        sym
    }

    /// A name that the rules supply.
    pub(crate) fn owned_name(&mut self, text: &str) -> Sym {
        if let Some(sym) = self.owned_names.get(text) {
            return *sym;
        }
        let sym = Sym(self.facts.names.len() as u32);
        let text: Str = text.into();
        self.facts.names.push(text.clone());
        self.owned_names.insert(text, sym);
        sym
    }

    pub(crate) fn sym_text(&self, sym: Sym) -> &str {
        &self.facts.names[sym.0 as usize]
    }

    pub(crate) fn node_name(&mut self, node: Node<'_>) -> Sym {
        let text = self.text(node);
        self.name(text)
    }

    pub(crate) fn term(&mut self, term: Term) -> TermId {
        let id = TermId(self.facts.terms.len() as u32);
        self.facts.terms.push(term);
        id
    }

    pub(crate) fn term_of(&self, id: TermId) -> Term {
        self.facts.terms[id.0 as usize]
    }

    /// The first of a list that is not empty.
    pub(crate) fn first_of(&self, range: ListRange) -> TermId {
        self.facts
            .list(range)
            .first()
            .copied()
            .unwrap_or(TermId::UNKNOWN)
    }

    pub(crate) fn list(&mut self, terms: &[TermId]) -> ListRange {
        let start = self.facts.lists.len() as u32;
        self.facts.lists.extend_from_slice(terms);
        ListRange {
            start,
            end: self.facts.lists.len() as u32,
        }
    }

    /// Adds a definition to the innermost scope without opening it.
    pub(crate) fn add(&mut self, new: NewDef<'_>) -> DefIx {
        let parent = self.scope();
        let ext = self.extension();
        self.add_to(parent, ext, new)
    }

    /// Adds a definition to a scope other than the innermost.
    pub(crate) fn add_to(&mut self, parent: DefIx, ext: Option<ExtIx>, new: NewDef<'_>) -> DefIx {
        let ix = DefIx(self.facts.defs.len() as u32);
        let name = self.owned_name(new.name);
        let at = self.facts.type_params.len() as u32;
        self.facts.defs.push(Def {
            kind: new.kind,
            name,
            parent,
            ext,
            flags: Flags::default(),
            exported: new.exported,
            span: new.span,
            // Also one that rules made up from several lines stays on one.
            signature: new.signature.map(|text| match text.contains('\n') {
                true => one_line(&text, MAX_SIGNATURE).into(),
                false => text,
            }),
            doc: new.doc.map(|doc| clip(&doc, MAX_DOC).into()),
            ty: TermId::UNKNOWN,
            bases: ListRange::default(),
            params: (at, at),
            arity: None,
            shape: None,
        });
        ix
    }

    /// Says what the source writes before the name of the definition added last.
    pub(crate) fn qualify(&mut self, def: DefIx, qualifier: &str) {
        self.facts.qualifiers.push((def, qualifier.into()));
    }

    /// Adds a route to what is stated of the file.
    pub(crate) fn route(&mut self, place: Span, title: &str, on: Option<Router>) -> DefIx {
        let signature = self.signature(place.start_byte as usize, place.end_byte as usize);
        let def = self.add_to(
            DefIx::ROOT,
            None,
            NewDef {
                kind: NodeKind::Route,
                name: &one_line(title, MAX_TITLE),
                span: place,
                exported: true,
                signature,
                doc: None,
            },
        );
        self.routed(def, on);
        def
    }

    /// Says of a definition that it is a route, and what it is added to.
    pub(crate) fn routed(&mut self, def: DefIx, on: Option<Router>) {
        self.def_mut(def).flags.set(Flags::UNNAMED);
        self.facts.routes.push(RouteFact { def, on });
    }

    /// A part of a path that is written as an expression.
    pub(crate) fn blank(&mut self, term: TermId, shown: &str) -> String {
        let scope = self.scope();
        let shown = one_line(&shown.replace(BLANK, ""), MAX_SHOWN).into();
        self.facts.blanks.push(Blank { scope, term, shown });
        format!("{}{}{}", BLANK[0], self.facts.blanks.len() - 1, BLANK[1])
    }

    /// Keeps the text of a constant if a path may be made of it.
    pub(crate) fn constant(&mut self, def: DefIx, text: &str) {
        let is_part =
            !text.contains(char::is_whitespace) || (text.contains('/') && !text.contains('\n'));
        if is_part && !text.is_empty() && text.len() <= MAX_CONSTANT {
            self.facts.constants.push((def, text.into()));
        }
    }

    pub(crate) fn mount(&mut self, mount: Mount) {
        self.facts.mounts.push(mount);
    }

    /// Says what a route is added to that nothing says is a router.
    pub(crate) fn doubt(&mut self, route: DefIx, receiver: TermId) {
        let scope = self.scope();
        self.facts.doubts.push(Doubt {
            route,
            scope,
            receiver,
        });
    }

    /// Says which definition answers a route that stands before it.
    pub(crate) fn answers(&mut self, route: DefIx, handler: DefIx) {
        self.facts.handlers.push((route, handler));
    }

    /// Moves a route under a router that was not known before.
    pub(crate) fn route_on(&mut self, route: DefIx, on: Router) {
        if let Some(fact) = self.facts.routes.iter_mut().rfind(|fact| fact.def == route) {
            fact.on = Some(on);
        }
    }

    /// Makes a definition the innermost scope until the walk passes its end.
    pub(crate) fn open(&mut self, def: DefIx) {
        let end = self.def(def).span.end_byte;
        self.stack.push(Open {
            def,
            ext: None,
            end,
        });
    }

    /// Opens an extension of a type.
    pub(crate) fn open_extension(
        &mut self,
        span: Span,
        self_ty: TermId,
        interface: Option<TermId>,
        params: (u32, u32),
    ) -> ExtIx {
        let ix = ExtIx(self.facts.extensions.len() as u32);
        let parent = self.scope();
        self.facts.extensions.push(Extension {
            parent,
            span,
            self_ty,
            interface,
            params,
        });
        self.stack.push(Open {
            def: parent,
            ext: Some(ix),
            end: span.end_byte,
        });
        ix
    }

    pub(crate) fn extension_of(&self, ix: ExtIx) -> &Extension {
        &self.facts.extensions[ix.0 as usize]
    }

    /// Adds type parameters; returns their range.
    pub(crate) fn type_params(&mut self, params: &[TypeParam]) -> (u32, u32) {
        let start = self.facts.type_params.len() as u32;
        self.facts.type_params.extend_from_slice(params);
        (start, self.facts.type_params.len() as u32)
    }

    pub(crate) fn local(&mut self, name: Sym, at: u32, until: u32, value: TermId) {
        let scope = self.scope();
        self.local_in(scope, name, at, until, value);
    }

    pub(crate) fn local_in(&mut self, scope: DefIx, name: Sym, at: u32, until: u32, value: TermId) {
        self.facts.locals.push(Local {
            scope,
            name,
            at,
            until,
            value,
        });
    }

    /// Names bound so far, in the order of the walk.
    pub(crate) fn locals(&self) -> &[Local] {
        &self.facts.locals
    }

    pub(crate) fn import(&mut self, import: Import) {
        self.facts.imports.push(import);
    }

    pub(crate) fn submodule(&mut self, def: DefIx, path: Option<Str>) {
        self.facts.submodules.push(super::Submodule { def, path });
    }

    pub(crate) fn call(&mut self, node: Node<'_>, callee: Node<'_>, name: Sym, term: TermId) {
        self.push_call(node, callee, name, term, false);
    }

    pub(crate) fn macro_call(&mut self, node: Node<'_>, callee: Node<'_>, name: Sym, term: TermId) {
        self.push_call(node, callee, name, term, true);
    }

    /// A call whose callee is the text between two bytes.
    pub(crate) fn call_spanning(
        &mut self,
        node: Node<'_>,
        start: usize,
        end: usize,
        name: Sym,
        term: TermId,
    ) {
        self.push_call(node, node, name, term, false);
        if let Some(call) = self.facts.calls.last_mut() {
            call.callee_text = (start as u32, end as u32);
        }
    }

    fn push_call(
        &mut self,
        node: Node<'_>,
        callee: Node<'_>,
        name: Sym,
        term: TermId,
        is_macro: bool,
    ) {
        let scope = self.scope();
        self.facts.calls.push(Call {
            scope,
            span: span(node),
            callee_text: (callee.start_byte() as u32, callee.end_byte() as u32),
            name,
            callee: term,
            is_macro,
            is_implied: false,
            given: None,
            args: ListRange::default(),
        });
    }

    /// Says that the call recorded last is not written as one.
    pub(crate) fn implied(&mut self) {
        if let Some(call) = self.facts.calls.last_mut() {
            call.is_implied = true;
        }
    }

    /// Says how many arguments the call recorded last passes.
    pub(crate) fn given(&mut self, count: usize) {
        if let Some(call) = self.facts.calls.last_mut() {
            call.given = Some(count.min(254) as u8);
        }
    }

    /// Says what the call recorded last passes.
    pub(crate) fn passes(&mut self, args: &[TermId]) {
        let args = self.list(args);
        if let Some(call) = self.facts.calls.last_mut() {
            call.args = args;
        }
    }

    /// Records a mention; the same term in the same scope counts once.
    pub(crate) fn mention(&mut self, term: TermId, line: u32) {
        let scope = self.scope();
        self.mention_in(scope, term, line);
    }

    pub(crate) fn mention_in(&mut self, scope: DefIx, term: TermId, line: u32) {
        if !term.is_known() {
            return;
        }
        if let Term::Name(sym, _) = self.term_of(term)
            && !self.uses_seen.insert((scope, sym))
        {
            return;
        }
        self.facts.uses.push(Use { scope, term, line });
    }

    pub(crate) fn value(&mut self, def: DefIx, scope: DefIx, term: TermId) {
        if term.is_known() {
            self.facts.values.push(Value { def, scope, term });
        }
    }

    pub(crate) fn handed(&mut self, handed: Handed) {
        if handed.term.is_known() {
            self.facts.handed.push(handed);
        }
    }

    /// Records that a field is given a name that may be a function's.
    pub(crate) fn assigned(&mut self, target: TermId, value: TermId) {
        self.slot(Slot::Member(target), value);
    }

    /// The same for the field of a type at a place.
    pub(crate) fn placed(&mut self, ty: TermId, place: usize, value: TermId) {
        self.slot(Slot::Place(ty, place.min(250) as u8), value);
    }

    fn slot(&mut self, slot: Slot, value: TermId) {
        if value.is_known() {
            let scope = self.scope();
            self.facts.assigned.push(Assigned { scope, slot, value });
        }
    }

    /// Records a comment or literal; comments on following lines become one.
    pub(crate) fn words(&mut self, def: DefIx, span: Span, kind: TextKind) {
        if kind != TextKind::StringLiteral
            && let Some(last) = self.facts.texts.last_mut()
            && last.kind == kind
            && last.def == def
            && last.span.end_line + 1 == span.start_line
            && self.source.as_bytes()[last.span.end_byte as usize..span.start_byte as usize]
                .iter()
                .all(u8::is_ascii_whitespace)
        {
            last.span.end_byte = span.end_byte;
            last.span.end_line = span.end_line;
            return;
        }
        self.facts.texts.push(TextFact { def, span, kind });
    }

    pub(crate) fn signature(&self, start: usize, end: usize) -> Option<Str> {
        let text = self.source.get(start..end)?;
        let line = one_line(text, MAX_SIGNATURE);
        (!line.is_empty()).then(|| line.into())
    }

    pub(crate) fn syntax_errors(&mut self, any: bool) {
        self.facts.syntax_errors = any;
    }

    pub(crate) fn too_deep(&mut self, any: bool) {
        self.facts.too_deep = any;
    }

    pub(crate) fn gave_up(&mut self) {
        self.facts.gave_up = true;
    }

    pub(crate) fn finish(mut self) -> FileFacts {
        self.facts
            .locals
            .sort_by_key(|l| (l.scope, l.name, l.at, l.until));
        self.facts.values.sort_by_key(|v| v.def);
        self.facts.handed.sort_by_key(|h| h.def);
        self.facts.constants.sort_by_key(|c| c.0);
        // What is given two texts is none.
        let constants = std::mem::take(&mut self.facts.constants);
        for same in constants.chunk_by(|a, b| a.0 == b.0) {
            if let [first, rest @ ..] = same
                && rest.iter().all(|other| other.1 == first.1)
            {
                self.facts.constants.push(first.clone());
            }
        }
        self.facts
    }
}

/// The place of a node.
pub(crate) fn span(node: Node<'_>) -> Span {
    let (start, end) = (node.start_position(), node.end_position());
    Span {
        start_byte: node.start_byte() as u32,
        end_byte: node.end_byte() as u32,
        start_line: start.row as u32 + 1,
        end_line: end.row as u32 + 1,
    }
}

/// Whitespace squeezed to single blanks and cut at `max` characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    let mut count = 0;
    // Nothing is looked at beyond what is kept: in a chain of calls on one line each
    // callee holds the ones before it.
    let mut cut = 0;
    let mut between = false;
    for c in text.trim_start().chars() {
        if c.is_whitespace() {
            between = true;
            continue;
        }
        let needed = 1 + usize::from(between);
        if count + needed > max {
            out.truncate(cut);
            out.push('…');
            break;
        }
        if between {
            out.push(' ');
            between = false;
        }
        if count + needed < max {
            cut = out.len() + c.len_utf8();
        }
        out.push(c);
        count += needed;
    }
    out
}

fn clip(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
