//! The walk over one Rust file.

use rustc_hash::FxHashMap;
use tree_sitter::{Node, Parser};

use super::patterns::{Visible, bind};
use super::routes::Routes;
use super::terms::Terms;
use super::{K, kind};
use crate::facts::{Builder, DefIx, Flags, ListRange, NewDef, Sym, Term, TermId, TypeParam, span};
use crate::lang::walk;
use crate::model::{NodeKind, Span, TextKind};

/// Attributes seen since the last item.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) test: bool,
    pub(super) path: Option<String>,
    pub(super) routes: Vec<DefIx>,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) terms: Terms,
    pub(super) docs: Vec<Span>,
    pub(super) attributes: Attributes,
    /// Ends of the blocks around the walk.
    pub(super) blocks: Vec<u32>,
    /// What the matches around the walk look at, with their ends.
    pub(super) subjects: Vec<(TermId, u32)>,
    /// Closures that are direct arguments of a method call.
    pub(super) passed: FxHashMap<usize, (TermId, Sym)>,
    /// Callee nodes, which are no mentions.
    pub(super) callees: Vec<usize>,
    pub(super) macro_depth: u32,
    pub(super) parser: Option<Parser>,
    pub(super) routes: Routes,
}

pub(super) fn read<'s>(root: Node<'_>, b: &mut Builder<'s>) {
    let routes = Routes::new(b.source);
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
        routes,
    };
    walk(root, |node, field| reader.enter(node, field));
    reader.routes_reached(u32::MAX);
    reader.flush_docs(DefIx::ROOT);
}

impl<'s> Reader<'_, 's> {
    pub(super) fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        self.b.pass(start);
        self.routes_reached(start);
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

    pub(super) fn dispatch(&mut self, node: Node<'_>, kind: K, field: Option<&str>) -> bool {
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
            K::TypeIdentifier if field != Some("name") => self.mention_type(node),
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

    pub(super) fn mention(&mut self, node: Node<'_>) {
        let term = self.terms.expr(self.b, node);
        self.b.mention(term, node.start_position().row as u32 + 1);
    }

    pub(super) fn mention_type(&mut self, node: Node<'_>) {
        let term = self.terms.ty(self.b, node);
        if !matches!(self.b.term_of(term), Term::ThisType) {
            self.b.mention(term, node.start_position().row as u32 + 1);
        }
    }

    pub(super) fn is_callee(&self, node: Node<'_>) -> bool {
        self.callees.last() == Some(&node.id())
    }

    // Definitions.

    pub(super) fn define(
        &mut self,
        node: Node<'_>,
        kind: NodeKind,
        body: Option<Node<'_>>,
    ) -> Option<DefIx> {
        let name = node.child_by_field_name("name")?;
        let name = self.b.text(name);
        Some(self.define_as(node, kind, name, body))
    }

    pub(super) fn define_as(
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

    pub(super) fn exported(&self, node: Node<'_>) -> bool {
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

    pub(super) fn function(&mut self, node: Node<'_>, kind: K) {
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
        self.routes_answered(def);
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

    pub(super) fn type_def(&mut self, node: Node<'_>, kind: NodeKind) {
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

    pub(super) fn variant(&mut self, node: Node<'_>) {
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

    pub(super) fn tuple_fields(&mut self, node: Node<'_>) -> TermId {
        let mut types = Vec::new();
        let mut cursor = node.walk();
        for ty in node.children_by_field_name("type", &mut cursor) {
            types.push(self.terms.ty(self.b, ty));
        }
        let list = self.b.list(&types);
        self.b.term(Term::Tuple(list))
    }

    pub(super) fn value_def(&mut self, node: Node<'_>, kind: NodeKind) {
        let body = node.child_by_field_name("value");
        let Some(def) = self.define(node, kind, body) else {
            return;
        };
        if let Some(value) = body {
            self.routes_constant(def, value);
        }
        if let Some(ty) = node.child_by_field_name("type") {
            let ty = self.terms.ty(self.b, ty);
            self.b.def_mut(def).ty = ty;
        }
    }

    pub(super) fn alias(&mut self, node: Node<'_>) {
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

    pub(super) fn extension(&mut self, node: Node<'_>) {
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

    pub(super) fn module(&mut self, node: Node<'_>) {
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

    pub(super) fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
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

    pub(super) fn bounds(&mut self, node: Node<'_>) -> ListRange {
        let terms = self.bound_terms(node);
        self.b.list(&terms)
    }

    pub(super) fn bound_terms(&mut self, node: Node<'_>) -> Vec<TermId> {
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
}
