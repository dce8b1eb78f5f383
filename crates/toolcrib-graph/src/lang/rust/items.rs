//! The walk over one Rust file.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use tree_sitter::{Node, ParseOptions, Parser, Range};

use super::patterns::{Visible, bind};
use super::terms::Terms;
use super::{K, kind};
use crate::facts::{
    Builder, DefIx, Flags, Import, ListRange, NewDef, Sym, Term, TermId, TypeParam, span,
};
use crate::lang::walk;
use crate::model::{NodeKind, Span, TextKind};

/// Macros whose arguments are expressions, read again as such.
const EXPRESSION_MACROS: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "ensure",
    "eprint",
    "eprintln",
    "error",
    "format",
    "format_args",
    "info",
    "log",
    "matches",
    "panic",
    "print",
    "println",
    "ready",
    "todo",
    "trace",
    "try",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// Macros inside the arguments of macros, followed this deep.
const MAX_MACRO_DEPTH: u32 = 6;
/// Argument lists longer than this are not read again.
const MAX_MACRO_BYTES: usize = 16 * 1024;

/// Attributes seen since the last item.
#[derive(Default)]
struct Attributes {
    test: bool,
    path: Option<String>,
}

struct Reader<'b, 's> {
    b: &'b mut Builder<'s>,
    terms: Terms,
    docs: Vec<Span>,
    attributes: Attributes,
    /// Ends of the blocks around the walk.
    blocks: Vec<u32>,
    /// What the matches around the walk look at, with their ends.
    subjects: Vec<(TermId, u32)>,
    /// Closures that are direct arguments of a method call.
    passed: FxHashMap<usize, (TermId, Sym)>,
    /// Callee nodes, which are no mentions.
    callees: Vec<usize>,
    macro_depth: u32,
    parser: Option<Parser>,
}

pub(super) fn read<'s>(root: Node<'_>, b: &mut Builder<'s>) {
    let mut reader = Reader {
        b,
        terms: Terms::default(),
        docs: Vec::new(),
        attributes: Attributes::default(),
        blocks: Vec::new(),
        subjects: Vec::new(),
        passed: FxHashMap::default(),
        callees: Vec::new(),
        macro_depth: 0,
        parser: None,
    };
    walk(root, |node, field| reader.enter(node, field));
    reader.flush_docs(DefIx::ROOT);
}

impl<'s> Reader<'_, 's> {
    fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        self.b.pass(start);
        while self.blocks.last().is_some_and(|end| *end <= start) {
            self.blocks.pop();
        }
        while self.subjects.last().is_some_and(|(_, end)| *end <= start) {
            self.subjects.pop();
        }
        let kind = kind(node);
        match kind {
            K::LineComment | K::BlockComment => {
                self.comment(node);
                return false;
            }
            K::Attribute | K::InnerAttribute => {
                self.attribute(node);
                return false;
            }
            _ => {}
        }
        let descend = self.dispatch(node, kind, field);
        if !self.docs.is_empty() {
            let scope = self.b.scope();
            self.flush_docs(scope);
        }
        self.attributes = Attributes::default();
        descend
    }

    fn dispatch(&mut self, node: Node<'_>, kind: K, field: Option<&str>) -> bool {
        match kind {
            K::Function | K::FunctionSignature => self.function(node, kind),
            K::Struct | K::Union => self.type_def(node, NodeKind::Struct),
            K::Enum => self.type_def(node, NodeKind::Enum),
            K::Trait => self.type_def(node, NodeKind::Interface),
            K::Variant => self.variant(node),
            K::Field => self.value_def(node, NodeKind::Field),
            K::Const => self.value_def(node, NodeKind::Constant),
            K::Static => {
                let mutable = (0..node.child_count())
                    .filter_map(|i| node.child(i))
                    .any(|c| c.kind() == "mutable_specifier");
                let kind = if mutable {
                    NodeKind::Variable
                } else {
                    NodeKind::Constant
                };
                self.value_def(node, kind);
            }
            K::TypeItem | K::AssociatedType => self.alias(node),
            K::Impl => self.extension(node),
            K::Mod => self.module(node),
            K::MacroDefinition => {
                self.define(node, NodeKind::Macro, None);
                return false;
            }
            K::Use | K::ExternCrate => {
                self.import(node, kind);
                return false;
            }
            K::MacroInvocation => {
                self.macro_call(node);
                return false;
            }
            K::Call => self.call(node),
            K::StructExpression => {
                if let Some(name) = node.child_by_field_name("name") {
                    self.mention_type(name);
                }
            }
            K::StringLiteral | K::RawString => {
                let scope = self.b.scope();
                self.b.words(scope, span(node), TextKind::StringLiteral);
                return false;
            }
            K::Let => self.bind_let(node),
            K::LetCondition => self.bind_condition(node),
            K::For => self.bind_for(node),
            K::Match => {
                if let Some(value) = node.child_by_field_name("value") {
                    let value = self.terms.expr(self.b, value);
                    self.subjects.push((value, node.end_byte() as u32));
                }
            }
            K::MatchArm => {
                self.blocks.push(node.end_byte() as u32);
                if let Some(pattern) = node.child_by_field_name("pattern")
                    && let Some((subject, _)) = self.subjects.last().copied()
                {
                    let visible = Visible {
                        at: pattern.end_byte() as u32,
                        until: node.end_byte() as u32,
                    };
                    // A guard is after the names it uses.
                    let at = pattern.start_byte() as u32;
                    let visible = Visible { at, ..visible };
                    bind(self.b, &mut self.terms, pattern, subject, visible);
                }
            }
            K::If | K::While => {
                let block = node
                    .child_by_field_name("consequence")
                    .or_else(|| node.child_by_field_name("body"));
                if let Some(block) = block {
                    self.blocks.push(block.end_byte() as u32);
                }
            }
            K::Closure => self.closure(node),
            K::ClosureParameters => return false,
            K::Parameter => self.parameter(node),
            K::Block => self.blocks.push(node.end_byte() as u32),
            K::Identifier => {
                let is_name = matches!(field, Some("name" | "pattern" | "alias" | "macro"));
                if !is_name && !self.is_callee(node) {
                    self.mention(node);
                }
            }
            K::ScopedIdentifier => {
                if !self.is_callee(node) {
                    self.mention(node);
                }
                return false;
            }
            K::TypeIdentifier => {
                if field != Some("name") {
                    self.mention_type(node);
                }
            }
            K::ScopedType => {
                self.mention_type(node);
                return false;
            }
            K::TuplePattern
            | K::TupleStructPattern
            | K::StructPattern
            | K::OrPattern
            | K::CapturedPattern
            | K::RefPattern
            | K::MutPattern
            | K::ReferencePattern
            | K::SlicePattern
            | K::RangePattern
            | K::Lifetime
            | K::Label
            | K::Visibility
            | K::TokenTree => return false,
            _ => {}
        }
        true
    }

    fn mention(&mut self, node: Node<'_>) {
        let term = self.terms.expr(self.b, node);
        self.b.mention(term, node.start_position().row as u32 + 1);
    }

    fn mention_type(&mut self, node: Node<'_>) {
        let term = self.terms.ty(self.b, node);
        if !matches!(self.b.term_of(term), Term::ThisType) {
            self.b.mention(term, node.start_position().row as u32 + 1);
        }
    }

    fn is_callee(&self, node: Node<'_>) -> bool {
        self.callees.last() == Some(&node.id())
    }

    // Definitions.

    fn define(&mut self, node: Node<'_>, kind: NodeKind, body: Option<Node<'_>>) -> Option<DefIx> {
        let name = node.child_by_field_name("name")?;
        let name = self.b.text(name);
        Some(self.define_as(node, kind, name, body))
    }

    fn define_as(
        &mut self,
        node: Node<'_>,
        kind: NodeKind,
        name: &str,
        body: Option<Node<'_>>,
    ) -> DefIx {
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let signature = self
            .b
            .signature(node.start_byte(), end)
            .map(|s| s.trim_end_matches([';', ' ', '=']).into());
        let exported = self.exported(node);
        let def = self.b.add(NewDef {
            kind,
            name,
            span: span(node),
            exported,
            signature,
            doc: None,
        });
        self.flush_docs(def);
        def
    }

    fn exported(&self, node: Node<'_>) -> bool {
        let in_impl_of_trait = self
            .b
            .extension()
            .is_some_and(|ext| self.b.extension_of(ext).interface.is_some());
        if in_impl_of_trait {
            return true;
        }
        let scope = self.b.def(self.b.scope());
        if matches!(scope.kind, NodeKind::Interface | NodeKind::Enum)
            && self.b.extension().is_none()
        {
            return scope.exported;
        }
        if scope.kind == NodeKind::EnumMember {
            return scope.exported;
        }
        (0..node.child_count().min(8))
            .filter_map(|i| node.child(i))
            .find(|child| super::kind(*child) == K::Visibility)
            .is_some_and(|v| self.b.text(v) != "pub(self)")
    }

    fn function(&mut self, node: Node<'_>, kind: K) {
        let body = node.child_by_field_name("body");
        let in_type =
            self.b.extension().is_some() || self.b.def(self.b.scope()).kind == NodeKind::Interface;
        let node_kind = if self.attributes.test {
            NodeKind::Test
        } else if in_type {
            NodeKind::Method
        } else {
            NodeKind::Function
        };
        let implements = self
            .b
            .extension()
            .is_some_and(|ext| self.b.extension_of(ext).interface.is_some());
        let Some(def) = self.define(node, node_kind, body) else {
            return;
        };
        let takes_self = node.child_by_field_name("parameters").is_some_and(|p| {
            p.named_child(0)
                .is_some_and(|first| match super::kind(first) {
                    K::SelfParameter => true,
                    K::Parameter => first
                        .child_by_field_name("pattern")
                        .is_some_and(|p| super::kind(p) == K::SelfValue),
                    _ => false,
                })
        });
        let params = self.type_params(node);
        let ty = match node.child_by_field_name("return_type") {
            Some(ty) => self.terms.ty(self.b, ty),
            None => self.b.term(Term::Tuple(ListRange::default())),
        };
        let def_mut = self.b.def_mut(def);
        def_mut.params = params;
        def_mut.ty = ty;
        if !takes_self {
            def_mut.flags.set(Flags::STATIC);
        }
        if implements {
            def_mut.flags.set(Flags::IMPLEMENTS);
        }
        if kind == K::FunctionSignature {
            def_mut.flags.set(Flags::ABSTRACT);
        }
        self.b.open(def);
        self.blocks.push(node.end_byte() as u32);
    }

    fn type_def(&mut self, node: Node<'_>, kind: NodeKind) {
        let body = node.child_by_field_name("body");
        let tuple = body.filter(|b| super::kind(*b) == K::TupleFields);
        let shown = if tuple.is_some() { None } else { body };
        let Some(def) = self.define(node, kind, shown) else {
            return;
        };
        let params = self.type_params(node);
        self.b.def_mut(def).params = params;
        if let Some(bounds) = node.child_by_field_name("bounds") {
            let bases = self.bounds(bounds);
            self.b.def_mut(def).bases = bases;
        }
        if let Some(tuple) = tuple {
            let ty = self.tuple_fields(tuple);
            self.b.def_mut(def).ty = ty;
        }
        self.b.open(def);
    }

    fn variant(&mut self, node: Node<'_>) {
        let Some(def) = self.define(node, NodeKind::EnumMember, None) else {
            return;
        };
        let Some(body) = node.child_by_field_name("body") else {
            return;
        };
        if super::kind(body) == K::TupleFields {
            let ty = self.tuple_fields(body);
            self.b.def_mut(def).ty = ty;
        }
        self.b.open(def);
    }

    fn tuple_fields(&mut self, node: Node<'_>) -> TermId {
        let mut types = Vec::new();
        let mut cursor = node.walk();
        for ty in node.children_by_field_name("type", &mut cursor) {
            types.push(self.terms.ty(self.b, ty));
        }
        let list = self.b.list(&types);
        self.b.term(Term::Tuple(list))
    }

    fn value_def(&mut self, node: Node<'_>, kind: NodeKind) {
        let body = node.child_by_field_name("value");
        let Some(def) = self.define(node, kind, body) else {
            return;
        };
        if let Some(ty) = node.child_by_field_name("type") {
            let ty = self.terms.ty(self.b, ty);
            self.b.def_mut(def).ty = ty;
        }
    }

    fn alias(&mut self, node: Node<'_>) {
        let Some(def) = self.define(node, NodeKind::TypeAlias, None) else {
            return;
        };
        let params = self.type_params(node);
        self.b.def_mut(def).params = params;
        if let Some(ty) = node.child_by_field_name("type") {
            let ty = self.terms.ty(self.b, ty);
            self.b.def_mut(def).ty = ty;
        }
        if let Some(bounds) = node.child_by_field_name("bounds") {
            let bases = self.bounds(bounds);
            self.b.def_mut(def).bases = bases;
        }
    }

    fn extension(&mut self, node: Node<'_>) {
        let Some(ty) = node.child_by_field_name("type") else {
            return;
        };
        let params = self.type_params(node);
        let self_ty = self.terms.ty(self.b, ty);
        let interface = node
            .child_by_field_name("trait")
            .map(|t| self.terms.ty(self.b, t));
        self.b
            .open_extension(span(node), self_ty, interface, params);
    }

    fn module(&mut self, node: Node<'_>) {
        let body = node.child_by_field_name("body");
        let path = self.attributes.path.take();
        let Some(def) = self.define(node, NodeKind::Module, body) else {
            return;
        };
        match body {
            Some(_) => self.b.open(def),
            None => self.b.submodule(def, path.map(Into::into)),
        }
    }

    fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
        let mut params: Vec<(Sym, Vec<TermId>)> = Vec::new();
        if let Some(list) = node.child_by_field_name("type_parameters") {
            let mut cursor = list.walk();
            for param in list.named_children(&mut cursor) {
                if super::kind(param) != K::TypeParameter {
                    continue;
                }
                let Some(name) = param.child_by_field_name("name") else {
                    continue;
                };
                let name = self.b.node_name(name);
                let bounds = match param.child_by_field_name("bounds") {
                    Some(bounds) => self.bound_terms(bounds),
                    None => Vec::new(),
                };
                params.push((name, bounds));
            }
        }
        let mut cursor = node.walk();
        let clause = node
            .named_children(&mut cursor)
            .find(|child| super::kind(*child) == K::WhereClause);
        if let Some(clause) = clause {
            let mut cursor = clause.walk();
            for predicate in clause.named_children(&mut cursor) {
                let (Some(left), Some(bounds)) = (
                    predicate.child_by_field_name("left"),
                    predicate.child_by_field_name("bounds"),
                ) else {
                    continue;
                };
                let left = self.b.text(left);
                let bounds = self.bound_terms(bounds);
                let b = &self.b;
                if let Some((_, known)) = params
                    .iter_mut()
                    .find(|(name, _)| b.sym_text(*name) == left)
                {
                    known.extend(bounds);
                }
            }
        }
        let params: Vec<TypeParam> = params
            .into_iter()
            .map(|(name, bounds)| TypeParam {
                name,
                bounds: self.b.list(&bounds),
            })
            .collect();
        self.b.type_params(&params)
    }

    fn bounds(&mut self, node: Node<'_>) -> ListRange {
        let terms = self.bound_terms(node);
        self.b.list(&terms)
    }

    fn bound_terms(&mut self, node: Node<'_>) -> Vec<TermId> {
        let mut terms = Vec::new();
        let mut cursor = node.walk();
        for bound in node.named_children(&mut cursor) {
            if super::kind(bound) != K::Lifetime {
                let term = self.terms.ty(self.b, bound);
                if term.is_known() {
                    terms.push(term);
                }
            }
        }
        terms
    }

    // Imports.

    fn import(&mut self, node: Node<'_>, kind: K) {
        let exported = self.exported(node);
        if kind == K::ExternCrate {
            let Some(name) = node.child_by_field_name("name") else {
                return;
            };
            let path = vec![self.b.node_name(name)];
            let alias = node.child_by_field_name("alias").unwrap_or(name);
            let bound = self.b.text(alias);
            self.import_leaf(node, path, bound, false, exported);
            return;
        }
        let Some(argument) = node.child_by_field_name("argument") else {
            return;
        };
        let mut todo: Vec<(Node<'_>, Vec<Sym>)> = vec![(argument, Vec::new())];
        while let Some((item, prefix)) = todo.pop() {
            match super::kind(item) {
                K::ScopedUseList => {
                    let mut prefix = prefix;
                    if let Some(path) = item.child_by_field_name("path") {
                        self.use_path(path, &mut prefix);
                    }
                    if let Some(list) = item.child_by_field_name("list") {
                        todo.push((list, prefix));
                    }
                }
                K::UseList => {
                    let count = item.named_child_count() as u32;
                    for i in (0..count).rev() {
                        if let Some(child) = item.named_child(i) {
                            todo.push((child, prefix.clone()));
                        }
                    }
                }
                K::UseAs => {
                    let mut path = prefix;
                    if let Some(inner) = item.child_by_field_name("path") {
                        self.use_path(inner, &mut path);
                    }
                    let bound = item
                        .child_by_field_name("alias")
                        .map_or("_", |alias| self.b.text(alias));
                    self.import_leaf(item, path, bound, false, exported);
                }
                K::UseWildcard => {
                    let mut path = prefix;
                    if let Some(inner) = item.named_child(0) {
                        self.use_path(inner, &mut path);
                    }
                    self.import_leaf(item, path, "*", true, exported);
                }
                K::LineComment | K::BlockComment => {}
                _ => {
                    let mut path = prefix;
                    self.use_path(item, &mut path);
                    let bound = path.last().map(|sym| self.b.sym_text(*sym).to_string());
                    if let Some(bound) = bound {
                        self.import_leaf(item, path, &bound, false, exported);
                    }
                }
            }
        }
    }

    /// Appends the names of a path; `self` at its end names what is before it.
    fn use_path(&mut self, node: Node<'_>, path: &mut Vec<Sym>) {
        let mut parts = Vec::new();
        let mut node = node;
        loop {
            if super::kind(node) != K::ScopedIdentifier {
                parts.push(node);
                break;
            }
            if let Some(name) = node.child_by_field_name("name") {
                parts.push(name);
            }
            match node.child_by_field_name("path") {
                Some(inner) => node = inner,
                None => break,
            }
        }
        for part in parts.into_iter().rev() {
            if super::kind(part) == K::SelfValue && !path.is_empty() {
                continue;
            }
            let sym = self.b.node_name(part);
            path.push(sym);
        }
    }

    fn import_leaf(
        &mut self,
        node: Node<'_>,
        path: Vec<Sym>,
        bound: &str,
        glob: bool,
        exported: bool,
    ) {
        let mut shown = String::from("use ");
        for (i, sym) in path.iter().enumerate() {
            if i > 0 {
                shown.push_str("::");
            }
            shown.push_str(self.b.sym_text(*sym));
        }
        if glob {
            shown.push_str("::*");
        } else if path
            .last()
            .is_none_or(|last| self.b.sym_text(*last) != bound)
        {
            shown.push_str(" as ");
            shown.push_str(bound);
        }
        let parent = self.b.scope();
        let def = self.b.add_to(
            parent,
            None,
            NewDef {
                kind: NodeKind::Import,
                name: bound,
                span: span(node),
                exported,
                signature: Some(shown.as_str().into()),
                doc: None,
            },
        );
        self.b.import(Import {
            def,
            path: path.into(),
            level: 0,
            glob,
            binds_root: false,
        });
    }

    // Calls.

    fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else {
            return;
        };
        let callee = self.terms.callee(self.b, function);
        let mut plain = function;
        if super::kind(plain) == K::GenericFunction
            && let Some(inner) = plain.child_by_field_name("function")
        {
            plain = inner;
        }
        let name = match super::kind(plain) {
            K::FieldExpression => plain.child_by_field_name("field"),
            K::ScopedIdentifier => plain.child_by_field_name("name"),
            K::Identifier => Some(plain),
            _ => None,
        };
        let sym = match name {
            Some(name) => self.b.node_name(name),
            None => self.b.owned_name(""),
        };
        self.b.call(node, function, sym, callee);
        // The callee follows at once, so one remembered node is enough; a
        // receiver is visited as an ordinary expression.
        self.callees.clear();
        self.callees.push(plain.id());
        if super::kind(plain) == K::FieldExpression
            && let Some(value) = plain.child_by_field_name("value")
        {
            let receiver = self.terms.expr(self.b, value);
            let Some(arguments) = node.child_by_field_name("arguments") else {
                return;
            };
            let mut cursor = arguments.walk();
            for argument in arguments.named_children(&mut cursor) {
                if super::kind(argument) == K::Closure {
                    self.passed.insert(argument.id(), (receiver, sym));
                }
            }
        }
    }

    fn macro_call(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("macro") else {
            return;
        };
        let term = self.terms.expr(self.b, name);
        let last = name.child_by_field_name("name").unwrap_or(name);
        let sym = self.b.node_name(last);
        self.b.macro_call(node, name, sym, term);
        if EXPRESSION_MACROS.binary_search(&self.b.text(last)).is_ok()
            && self.macro_depth < MAX_MACRO_DEPTH
        {
            let count = node.named_child_count() as u32;
            let tree = (0..count)
                .filter_map(|i| node.named_child(i))
                .find(|child| super::kind(*child) == K::TokenTree);
            if let Some(tree) = tree {
                self.read_arguments(tree);
            }
        }
    }

    /// Reads the arguments of a macro as the expressions they are.
    fn read_arguments(&mut self, tokens: Node<'_>) {
        if tokens.byte_range().len() > MAX_MACRO_BYTES || tokens.named_child_count() == 0 {
            return;
        }
        let mut parser = match self.parser.take() {
            Some(parser) => parser,
            None => {
                let mut parser = Parser::new();
                if parser
                    .set_language(&tree_sitter_rust::LANGUAGE.into())
                    .is_err()
                {
                    return;
                }
                parser
            }
        };
        let range = Range {
            start_byte: tokens.start_byte(),
            end_byte: tokens.end_byte(),
            start_point: tokens.start_position(),
            end_point: tokens.end_position(),
        };
        let tree = parser.set_included_ranges(&[range]).ok().and_then(|()| {
            let source = self.b.source.as_bytes();
            let mut steps = 0u32;
            let mut progress = |_: &tree_sitter::ParseState| {
                steps += 1;
                if steps > 1_000 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            parser.parse_with_options(
                &mut |at, _| source.get(at..).unwrap_or(&[]),
                None,
                Some(ParseOptions::new().progress_callback(&mut progress)),
            )
        });
        if tree.is_none() {
            parser.reset();
        }
        self.parser = Some(parser);
        let Some(tree) = tree else {
            return;
        };
        // Node numbers are those of the tree; both are put back afterwards.
        let terms = std::mem::take(&mut self.terms);
        let passed = std::mem::take(&mut self.passed);
        let callees = std::mem::take(&mut self.callees);
        self.macro_depth += 1;
        walk(tree.root_node(), |node, field| self.enter(node, field));
        self.macro_depth -= 1;
        self.terms.forget();
        self.terms = terms;
        self.passed = passed;
        self.callees = callees;
    }

    // Bindings.

    fn block_end(&self, node: Node<'_>) -> u32 {
        self.blocks
            .last()
            .copied()
            .unwrap_or(node.end_byte() as u32)
    }

    fn bind_let(&mut self, node: Node<'_>) {
        let Some(pattern) = node.child_by_field_name("pattern") else {
            return;
        };
        let value = self.declared_or(node, "value");
        let visible = Visible {
            at: node.end_byte() as u32,
            until: self.block_end(node),
        };
        bind(self.b, &mut self.terms, pattern, value, visible);
    }

    fn bind_condition(&mut self, node: Node<'_>) {
        let Some(pattern) = node.child_by_field_name("pattern") else {
            return;
        };
        let value = self.declared_or(node, "value");
        let visible = Visible {
            at: node.end_byte() as u32,
            until: self.block_end(node),
        };
        bind(self.b, &mut self.terms, pattern, value, visible);
    }

    fn bind_for(&mut self, node: Node<'_>) {
        let (Some(pattern), Some(body)) = (
            node.child_by_field_name("pattern"),
            node.child_by_field_name("body"),
        ) else {
            return;
        };
        let value = self.declared_or(node, "value");
        let each = self.b.term(Term::Each(value));
        let visible = Visible {
            at: body.start_byte() as u32,
            until: body.end_byte() as u32,
        };
        bind(self.b, &mut self.terms, pattern, each, visible);
    }

    fn closure(&mut self, node: Node<'_>) {
        self.blocks.push(node.end_byte() as u32);
        let Some(parameters) = node.child_by_field_name("parameters") else {
            return;
        };
        let passed = self.passed.remove(&node.id());
        let visible = Visible {
            at: node.start_byte() as u32,
            until: node.end_byte() as u32,
        };
        let mut cursor = parameters.walk();
        for (i, parameter) in parameters.named_children(&mut cursor).enumerate() {
            let mut pattern = parameter;
            let mut value = match passed {
                Some((receiver, method)) => {
                    self.b
                        .term(Term::Passed(receiver, method, i.min(255) as u8))
                }
                None => TermId::UNKNOWN,
            };
            if super::kind(parameter) == K::Parameter {
                if let Some(ty) = parameter.child_by_field_name("type") {
                    let term = self.terms.ty(self.b, ty);
                    // `_` leaves it to the context.
                    if term.is_known() && self.b.text(ty) != "_" {
                        value = self.b.term(Term::Inst(term));
                    }
                }
                match parameter.child_by_field_name("pattern") {
                    Some(inner) => pattern = inner,
                    None => continue,
                }
            }
            bind(self.b, &mut self.terms, pattern, value, visible);
        }
    }

    fn parameter(&mut self, node: Node<'_>) {
        let Some(pattern) = node.child_by_field_name("pattern") else {
            return;
        };
        let value = self.declared_or(node, "value");
        let visible = Visible {
            at: node.start_byte() as u32,
            until: self.block_end(node),
        };
        bind(self.b, &mut self.terms, pattern, value, visible);
    }

    /// The declared type, else the value of a field.
    fn declared_or(&mut self, node: Node<'_>, field: &str) -> TermId {
        if let Some(ty) = node.child_by_field_name("type")
            && self.b.text(ty) != "_"
        {
            let ty = self.terms.ty(self.b, ty);
            return self.b.term(Term::Inst(ty));
        }
        match node.child_by_field_name(field) {
            Some(value) => self.terms.expr(self.b, value),
            None => TermId::UNKNOWN,
        }
    }

    // Comments and attributes.

    fn comment(&mut self, node: Node<'_>) {
        let text = self.b.text(node);
        let outer = (text.starts_with("///") && !text.starts_with("////"))
            || (text.starts_with("/**") && !text.starts_with("/***") && text.len() > 4);
        let inner = text.starts_with("//!") || text.starts_with("/*!");
        let mut place = span(node);
        let trimmed = text.trim_end().len() as u32;
        if place.end_byte != place.start_byte + trimmed {
            place.end_byte = place.start_byte + trimmed;
            let lines = text.trim_end().bytes().filter(|b| *b == b'\n').count() as u32;
            place.end_line = place.start_line + lines;
        }
        if outer {
            self.docs.push(place);
            return;
        }
        let scope = self.b.scope();
        if inner {
            let line = self.doc_text(place);
            append_doc(self.b, scope, &line);
            self.b.words(scope, place, TextKind::Doc);
        } else {
            self.b.words(scope, place, TextKind::Comment);
        }
    }

    /// Gives the collected documentation to a definition.
    fn flush_docs(&mut self, def: DefIx) {
        let docs = std::mem::take(&mut self.docs);
        let is_file = def == DefIx::ROOT;
        for place in docs {
            if !is_file {
                let line = self.doc_text(place);
                append_doc(self.b, def, &line);
            }
            self.b.words(def, place, TextKind::Doc);
        }
    }

    fn doc_text(&self, place: Span) -> String {
        let text = &self.b.source[place.start_byte as usize..place.end_byte as usize];
        if let Some(line) = text
            .strip_prefix("///")
            .or_else(|| text.strip_prefix("//!"))
        {
            return line
                .strip_prefix(' ')
                .unwrap_or(line)
                .trim_end()
                .to_string();
        }
        let inner = text
            .trim_start_matches(['/', '*', '!'])
            .trim_end_matches(['*', '/']);
        let lines: Vec<&str> = inner
            .lines()
            .map(|line| {
                let line = line.trim();
                let line = line.strip_prefix('*').unwrap_or(line);
                line.strip_prefix(' ').unwrap_or(line)
            })
            .collect();
        lines.join("\n").trim().to_string()
    }

    fn attribute(&mut self, node: Node<'_>) {
        let text = self.b.text(node);
        let inner = text.trim_start_matches(['#', '!', '[', ' ']);
        let head: &str = inner
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
            .next()
            .unwrap_or("");
        match head.rsplit("::").next().unwrap_or(head) {
            "test" | "rstest" | "test_case" | "quickcheck" | "wasm_bindgen_test" => {
                self.attributes.test = true;
            }
            "path" => {
                self.attributes.path = inner.split('"').nth(1).map(str::to_string);
            }
            _ => {}
        }
    }
}

fn append_doc(b: &mut Builder<'_>, def: DefIx, line: &str) {
    let def = b.def_mut(def);
    let doc = match &def.doc {
        Some(doc) if doc.len() > 4_000 => return,
        Some(doc) => format!("{doc}\n{line}"),
        None => line.to_string(),
    };
    def.doc = Some(doc.into());
}
