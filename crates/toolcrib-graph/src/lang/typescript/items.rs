//! The walk over one file.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::docs::Waiting;
use super::terms::{Terms, either};
use super::{Dialect, K, Kinds};
use crate::facts::{Builder, DefIx, Flags, ListRange, NewDef, Sym, Term, TermId, TypeParam, span};
use crate::lang::walk;
use crate::model::{NodeKind, Span, TextKind};

/// Patterns nested deeper than this bind nothing.
pub(super) const MAX_DEPTH: u32 = 32;

/// A place that the walk is inside of.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The definition it belongs to, if it has one.
    pub(super) def: Option<DefIx>,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) kinds: Kinds,
    pub(super) terms: Terms,
    pub(super) is_test_file: bool,
    /// Assignments declare fields, since nothing else can.
    pub(super) is_untyped: bool,
    pub(super) waiting: Option<Waiting>,
    /// The callee of the call entered last, which is no mention.
    pub(super) callee: usize,
    /// Statement blocks around the walk, by the scope they are in.
    pub(super) blocks: Vec<(Around, DefIx)>,
    /// Functions around the walk.
    pub(super) functions: Vec<Around>,
    /// Bodies of classes, interfaces and objects around the walk.
    pub(super) bodies: Vec<Around>,
    /// What the class around extends.
    pub(super) heritage: Vec<(u32, TermId)>,
    /// Functions, bodies and objects that a definition has taken, by node.
    pub(super) taken: FxHashMap<usize, DefIx>,
    /// Where the statement around the next definition begins, and its first line.
    pub(super) lead: Option<(u32, u32)>,
    pub(super) declares_constant: bool,
    /// End of the export statement around, and where its names belong.
    pub(super) exporting: (u32, DefIx),
    pub(super) exported_names: FxHashSet<Sym>,
    /// Definitions that are visible where their owner is.
    pub(super) visible_members: Vec<DefIx>,
    /// Declarations that a later one of their name completes.
    pub(super) overloads: FxHashMap<(DefIx, Sym, bool), DefIx>,
    /// Names that a class body declares.
    pub(super) declared: FxHashSet<(DefIx, Sym)>,
    /// Variables of the module that declare no type.
    pub(super) untyped: FxHashMap<Sym, DefIx>,
    /// Titles of the groups of tests around.
    pub(super) groups: Vec<(u32, String)>,
    /// Names bound to something that routes are added to.
    pub(super) routers: FxHashSet<Sym>,
    /// Functions given to a method: its receiver and name.
    pub(super) passed: FxHashMap<usize, (TermId, Sym)>,
}

/// Where the names of a pattern are visible.
#[derive(Clone, Copy)]
pub(super) struct Visible {
    pub(super) at: u32,
    pub(super) until: u32,
}

pub(super) fn read<'s>(root: Node<'_>, path: &str, b: &mut Builder<'s>) {
    let kinds = Kinds::of_path(path);
    let mut reader = Reader {
        b,
        kinds,
        terms: Terms::new(kinds),
        is_test_file: super::blocks::is_test_path(path),
        is_untyped: Dialect::of(path) == Dialect::Script,
        waiting: None,
        callee: 0,
        blocks: Vec::new(),
        functions: Vec::new(),
        bodies: Vec::new(),
        heritage: Vec::new(),
        taken: FxHashMap::default(),
        lead: None,
        declares_constant: false,
        exporting: (0, DefIx::ROOT),
        exported_names: FxHashSet::default(),
        visible_members: Vec::new(),
        overloads: FxHashMap::default(),
        declared: FxHashSet::default(),
        untyped: FxHashMap::default(),
        groups: Vec::new(),
        routers: FxHashSet::default(),
        passed: FxHashMap::default(),
    };
    if path.ends_with(".d.ts") {
        reader.exporting = (u32::MAX, DefIx::ROOT);
    }
    walk(root, |node, field| reader.enter(node, field));
    reader.let_go();
    reader.finish_exports();
}

impl<'s> Reader<'_, 's> {
    fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        self.leave(start);
        let kind = self.kinds.of(node);
        if self.waiting.is_some()
            && !matches!(
                kind,
                K::Comment
                    | K::Export
                    | K::Ambient
                    | K::Lexical
                    | K::Var
                    | K::Declarator
                    | K::Statement
                    | K::Class
                    | K::AbstractClass
                    | K::ClassExpression
                    | K::Interface
                    | K::Enum
                    | K::EnumAssignment
                    | K::PropertyName
                    | K::TypeAlias
                    | K::Namespace
                    | K::AmbientModule
                    | K::Function
                    | K::GeneratorDeclaration
                    | K::FunctionSignature
                    | K::FunctionExpression
                    | K::Arrow
                    | K::Method
                    | K::MethodSignature
                    | K::AbstractMethod
                    | K::PropertySignature
                    | K::Field
                    | K::ScriptField
                    | K::Decorator
                    | K::Pair
                    | K::Object
                    | K::Assignment
                    | K::Call
            )
        {
            self.let_go();
        }
        match kind {
            K::Comment => {
                self.comment(node);
                return false;
            }
            K::Import => {
                self.import(node);
                return false;
            }
            K::ImportAlias => {
                self.import_alias(node);
                return false;
            }
            K::Export => return self.export(node),
            K::Class | K::AbstractClass => self.class(node, None),
            K::ClassExpression if !self.taken.contains_key(&node.id()) => self.class(node, None),
            K::ClassBody | K::InterfaceBody | K::ObjectType | K::EnumBody | K::Object => {
                let def = self.taken.get(&node.id()).copied();
                self.bodies.push(around(node, def));
            }
            K::Interface => self.interface(node),
            K::Enum => self.enumeration(node),
            K::EnumAssignment => self.enum_member(node, node.child_by_field_name("name")),
            K::PropertyName | K::PrivateName if field == Some("name") => {
                self.bare_enum_member(node);
                return false;
            }
            K::TypeAlias => self.type_alias(node),
            K::Namespace | K::AmbientModule => self.namespace(node),
            K::Function | K::GeneratorDeclaration | K::FunctionSignature => {
                self.function(node, kind);
            }
            K::Arrow | K::FunctionExpression | K::GeneratorFunction => {
                self.function_value(node, kind);
            }
            K::Method | K::MethodSignature | K::AbstractMethod => self.method(node, kind),
            K::PropertySignature | K::Field | K::ScriptField => self.field(node),
            K::Pair => self.pair(node),
            K::Shorthand => self.shorthand(node),
            K::Lexical | K::Var => {
                self.lead = Some((start, node.start_position().row as u32 + 1));
                self.declares_constant =
                    kind == K::Lexical && self.b.text(node).starts_with("const");
            }
            K::Declarator => return self.declarator(node),
            K::Call | K::New => self.call(node, kind),
            K::Member if node.id() != self.callee => {
                let term = self.terms.expr(self.b, node);
                self.b.mention(term, line(node));
            }
            K::Identifier | K::TypeName => {
                let is_name = matches!(field, Some("name" | "parameter" | "pattern" | "alias"));
                if !is_name && node.id() != self.callee {
                    let term = self.terms.name(self.b, node);
                    self.b.mention(term, line(node));
                }
            }
            K::Generic | K::MarkupOpening | K::MarkupElement => self.mention_name(node, kind),
            K::NestedType => {
                let term = self.terms.ty(self.b, node);
                self.b.mention(term, line(node));
            }
            K::MarkupClosing => return false,
            K::Block => self.block(node),
            K::StaticBlock => {}
            K::For => self.blocks.push((around(node, None), self.b.scope())),
            K::Return => self.result(node),
            K::ForIn => self.bind_for(node),
            K::Catch => self.bind_catch(node),
            K::If => self.narrow(node),
            K::Assignment => self.assignment(node),
            K::String | K::Template => {
                let scope = self.b.scope();
                self.b.words(scope, span(node), TextKind::StringLiteral);
                return kind == K::Template;
            }
            _ => {}
        }
        true
    }

    /// Forgets what the walk has passed.
    fn leave(&mut self, start: u32) {
        self.b.pass(start);
        while self.blocks.last().is_some_and(|b| b.0.end <= start) {
            self.blocks.pop();
        }
        while self.functions.last().is_some_and(|f| f.end <= start) {
            self.functions.pop();
        }
        while self.bodies.last().is_some_and(|b| b.end <= start) {
            self.bodies.pop();
        }
        while self.heritage.last().is_some_and(|h| h.0 <= start) {
            self.heritage.pop();
        }
        while self.groups.last().is_some_and(|g| g.0 <= start) {
            self.groups.pop();
        }
        self.terms.leave(start as usize);
    }

    /// Adds a definition to the innermost scope.
    pub(super) fn define(
        &mut self,
        span: Span,
        signature_end: usize,
        kind: NodeKind,
        name: &str,
    ) -> DefIx {
        let parent = self.b.scope();
        self.define_in(parent, span, signature_end, kind, name)
    }

    pub(super) fn define_in(
        &mut self,
        parent: DefIx,
        span: Span,
        signature_end: usize,
        kind: NodeKind,
        name: &str,
    ) -> DefIx {
        let start = span.start_byte as usize;
        let text = self.b.source.get(start..signature_end).unwrap_or("");
        let kept = text
            .trim_end()
            .trim_end_matches("=>")
            .trim_end()
            .trim_end_matches(['{', ';', ',', '='])
            .trim_end()
            .len();
        let signature = self.b.signature(start, start + kept);
        let doc = self.doc_before(start);
        let owner = self.b.def(parent).kind;
        let of_module = matches!(owner, NodeKind::File | NodeKind::Module);
        let exported =
            of_module && self.exporting.1 == parent && span.start_byte < self.exporting.0;
        let def = self.b.add_to(
            parent,
            None,
            NewDef {
                kind,
                name,
                span,
                exported,
                signature,
                doc: None,
            },
        );
        if let Some((place, doc)) = doc {
            self.b.def_mut(def).doc = Some(doc.into());
            self.b.words(def, place, TextKind::Doc);
        } else {
            self.let_go();
        }
        if !of_module
            && !matches!(
                owner,
                NodeKind::Function | NodeKind::Method | NodeKind::Test
            )
        {
            self.visible_members.push(def);
        }
        def
    }

    /// The span of a definition, from the keyword before it on.
    pub(super) fn led_span(&mut self, node: Node<'_>) -> Span {
        let mut place = span(node);
        if let Some((start, line)) = self.lead.take() {
            place.start_byte = start;
            place.start_line = line;
        }
        place
    }

    // Types.

    /// A class; `name` when it is given to one.
    pub(super) fn class(&mut self, node: Node<'_>, name: Option<(&str, Span)>) {
        let own = node.child_by_field_name("name").map(|n| self.b.text(n));
        let Some((name, place)) = name.or_else(|| own.map(|n| (n, span(node)))) else {
            return;
        };
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let def = self.define(place, end, NodeKind::Class, name);
        let params = self.type_params(node);
        let mut bases = Vec::new();
        let mut base = TermId::UNKNOWN;
        let mut cursor = node.walk();
        for heritage in node.named_children(&mut cursor) {
            if self.kinds.of(heritage) != K::Heritage {
                continue;
            }
            let mut inner = heritage.walk();
            for clause in heritage.named_children(&mut inner) {
                match self.kinds.of(clause) {
                    K::Extends => {
                        if let Some(value) = clause.child_by_field_name("value") {
                            base = self.terms.expr(self.b, value);
                            let args = self.terms.type_arguments(self.b, clause);
                            let mut applied = base;
                            if !args.is_empty() {
                                let list = self.b.list(&args);
                                applied = self.b.term(Term::Apply(base, list));
                            }
                            bases.push(applied);
                        }
                    }
                    K::Implements => {
                        let mut types = clause.walk();
                        for ty in clause.named_children(&mut types) {
                            bases.push(self.terms.ty(self.b, ty));
                        }
                    }
                    K::Comment => {}
                    _ => {
                        base = self.terms.expr(self.b, clause);
                        bases.push(base);
                    }
                }
            }
        }
        let bases = self.b.list(&bases);
        let made = self.b.def_mut(def);
        made.bases = bases;
        made.params = params;
        self.b.open(def);
        self.heritage.push((node.end_byte() as u32, base));
        self.terms.enter_function(node, false);
        if let Some(body) = body {
            self.taken.insert(body.id(), def);
            self.declared_names(def, body);
        }
    }

    /// What a class body declares, so that an assignment does not do it again.
    fn declared_names(&mut self, def: DefIx, body: Node<'_>) {
        let mut cursor = body.walk();
        for member in body.named_children(&mut cursor) {
            if let Some(name) = member
                .child_by_field_name("name")
                .or_else(|| member.child_by_field_name("property"))
            {
                let name = self.b.node_name(name);
                self.declared.insert((def, name));
            }
        }
    }

    fn interface(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = self.b.text(name);
        let def = self.define(span(node), end, NodeKind::Interface, text);
        let params = self.type_params(node);
        let mut bases = Vec::new();
        let mut cursor = node.walk();
        for clause in node.named_children(&mut cursor) {
            if self.kinds.of(clause) == K::ExtendsType {
                let mut types = clause.walk();
                for ty in clause.named_children(&mut types) {
                    bases.push(self.terms.ty(self.b, ty));
                }
            }
        }
        let bases = self.b.list(&bases);
        let made = self.b.def_mut(def);
        made.bases = bases;
        made.params = params;
        self.b.open(def);
        if let Some(body) = body {
            self.taken.insert(body.id(), def);
        }
    }

    fn enumeration(&mut self, node: Node<'_>) {
        let (Some(name), Some(body)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("body"),
        ) else {
            return;
        };
        let text = self.b.text(name);
        let def = self.define(span(node), body.start_byte(), NodeKind::Enum, text);
        self.b.open(def);
        self.taken.insert(body.id(), def);
    }

    fn bare_enum_member(&mut self, node: Node<'_>) {
        let scope = self.b.scope();
        if self.b.def(scope).kind == NodeKind::Enum
            && self
                .bodies
                .last()
                .is_some_and(|body| body.def == Some(scope))
        {
            self.enum_member(node, Some(node));
        }
    }

    fn enum_member(&mut self, node: Node<'_>, name: Option<Node<'_>>) {
        let Some(name) = name else { return };
        let scope = self.b.scope();
        if self.b.def(scope).kind != NodeKind::Enum {
            return;
        }
        let text = unquoted(self.b.text(name));
        // The name inside an assignment is met again.
        if self
            .overloads
            .insert((scope, self.b.name(text), true), scope)
            .is_none()
        {
            self.define(span(node), node.end_byte(), NodeKind::EnumMember, text);
        }
    }

    fn type_alias(&mut self, node: Node<'_>) {
        let (Some(name), Some(value)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        let text = self.b.text(name);
        let def = self.define(span(node), node.end_byte(), NodeKind::TypeAlias, text);
        let params = self.type_params(node);
        self.b.def_mut(def).params = params;
        let mut object = None;
        if self.kinds.of(value) == K::ObjectType {
            object = Some(value);
        } else if self.kinds.of(value) == K::Intersection {
            let mut cursor = value.walk();
            object = value
                .named_children(&mut cursor)
                .find(|part| self.kinds.of(*part) == K::ObjectType);
        }
        self.b.open(def);
        if let Some(object) = object {
            self.taken.insert(object.id(), def);
            self.b.def_mut(def).flags.set(Flags::OBJECT);
        }
        let ty = self.terms.ty(self.b, value);
        self.b.def_mut(def).ty = ty;
    }

    fn namespace(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = unquoted(self.b.text(name));
        let exporting = self.exporting;
        let is_path = self.kinds.of(name) != K::String;
        for part in text.split('.') {
            let part = if is_path { part.trim() } else { text };
            let def = self.define(span(node), end, NodeKind::Module, part);
            self.b.open(def);
            if !is_path {
                break;
            }
        }
        if exporting.0 == u32::MAX {
            // Everything in a declaration file is visible.
            self.exporting = (u32::MAX, self.b.scope());
        }
    }

    /// Type parameters and what they extend.
    pub(super) fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
        let mut params = Vec::new();
        if let Some(list) = node.child_by_field_name("type_parameters") {
            let mut cursor = list.walk();
            for param in list.named_children(&mut cursor) {
                let Some(name) = param.child_by_field_name("name") else {
                    continue;
                };
                let name = self.b.node_name(name);
                let bounds = match param.child_by_field_name("constraint") {
                    Some(bound) => {
                        let bound = self.terms.ty(self.b, bound);
                        self.b.list(&[bound])
                    }
                    None => ListRange::default(),
                };
                params.push(TypeParam { name, bounds });
            }
        }
        self.b.type_params(&params)
    }

    // Functions.

    fn function(&mut self, node: Node<'_>, kind: K) {
        let Some(name) = node.child_by_field_name("name") else {
            self.anonymous(node);
            return;
        };
        let sym = self.b.node_name(name);
        let text = self.b.text(name);
        let scope = self.b.scope();
        let body = node.child_by_field_name("body");
        let def = self.declared_function(node, scope, sym, text, NodeKind::Function, false);
        self.b.def_mut(def).flags.set(Flags::STATIC);
        if kind == K::FunctionSignature || body.is_none() {
            return;
        }
        self.open_function(node, def, true);
    }

    /// A function or method by its declaration; overloads become one.
    pub(super) fn declared_function(
        &mut self,
        node: Node<'_>,
        owner: DefIx,
        sym: Sym,
        name: &str,
        kind: NodeKind,
        is_static: bool,
    ) -> DefIx {
        let body = node.child_by_field_name("body");
        let declared = self.terms.declared(self.b, node, "return_type");
        let key = (owner, sym, is_static);
        if let Some(&earlier) = self.overloads.get(&key) {
            let end = span(node);
            let made = self.b.def_mut(earlier);
            made.span.end_byte = end.end_byte;
            made.span.end_line = end.end_line;
            if body.is_some() {
                self.overloads.remove(&key);
                let made = self.b.def_mut(earlier);
                made.flags = Flags::default();
            } else {
                let ty = self.b.def(earlier).ty;
                let both: Vec<TermId> = [ty, declared]
                    .into_iter()
                    .filter(|ty| ty.is_known())
                    .collect();
                let ty = either(self.b, &both);
                self.b.def_mut(earlier).ty = ty;
            }
            self.let_go();
            return earlier;
        }
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let def = self.define_in(owner, span(node), end, kind, name);
        let params = self.type_params(node);
        let made = self.b.def_mut(def);
        made.params = params;
        made.ty = declared;
        if body.is_none() {
            made.flags.set(Flags::ABSTRACT);
            self.overloads.insert(key, def);
        }
        def
    }

    /// Makes a function the scope of what follows.
    pub(super) fn open_function(&mut self, node: Node<'_>, def: DefIx, detached: bool) {
        self.b.open(def);
        self.functions.push(around(node, Some(def)));
        self.terms.enter_function(node, detached);
        self.parameters(node);
        if let Some(body) = node.child_by_field_name("body")
            && self.kinds.of(body) != K::Block
            && !self.b.def(def).ty.is_known()
        {
            let value = self.terms.expr(self.b, body);
            self.b.value(def, def, value);
        }
    }

    /// A function without a name of its own.
    fn anonymous(&mut self, node: Node<'_>) {
        self.functions.push(around(node, None));
        self.terms.enter_function(node, true);
        self.parameters(node);
    }

    fn function_value(&mut self, node: Node<'_>, kind: K) {
        match self.taken.get(&node.id()).copied() {
            Some(def) => {
                self.functions.push(around(node, Some(def)));
                let is_method = self.b.def(def).kind == NodeKind::Method;
                if kind != K::Arrow {
                    self.terms.enter_function(node, !is_method);
                }
                self.parameters(node);
                if let Some(body) = node.child_by_field_name("body")
                    && self.kinds.of(body) != K::Block
                    && !self.b.def(def).ty.is_known()
                {
                    let value = self.terms.expr(self.b, body);
                    self.b.value(def, def, value);
                }
            }
            None => {
                self.functions.push(around(node, None));
                if kind != K::Arrow {
                    self.terms.enter_function(node, true);
                }
                self.parameters(node);
            }
        }
    }

    /// A name given to a function: the definition of that function.
    pub(super) fn named_function(
        &mut self,
        owner: DefIx,
        place: Span,
        function: Node<'_>,
        name: &str,
        kind: NodeKind,
    ) -> DefIx {
        let end = function
            .child_by_field_name("body")
            .map_or(function.end_byte(), |body| body.start_byte());
        let def = self.define_in(owner, place, end, kind, name);
        let params = self.type_params(function);
        let ty = self.terms.declared(self.b, function, "return_type");
        let made = self.b.def_mut(def);
        made.params = params;
        made.ty = ty;
        if kind == NodeKind::Function {
            made.flags.set(Flags::STATIC);
        }
        self.taken.insert(function.id(), def);
        self.b.open(def);
        def
    }

    fn method(&mut self, node: Node<'_>, kind: K) {
        let owner = self.bodies.last().and_then(|body| body.def);
        let name = node.child_by_field_name("name");
        let (Some(owner), Some(name)) = (owner, name) else {
            if kind == K::Method {
                self.anonymous(node);
            }
            return;
        };
        if self.kinds.of(name) == K::ComputedName {
            if kind == K::Method {
                self.functions.push(around(node, None));
                self.terms.enter_function(node, false);
                self.parameters(node);
            }
            return;
        }
        let text = unquoted(self.b.text(name));
        let sym = self.b.owned_name(text);
        let said = self.modifiers(node);
        let mut flags = Flags::default();
        if said.is_static {
            flags.set(Flags::STATIC);
        }
        if said.is_async {
            flags.set(Flags::ASYNC);
        }
        if said.is_getter || said.is_setter {
            flags.set(Flags::PROPERTY);
        }
        if said.is_setter {
            flags.set(Flags::OVERLOAD);
        }
        let def = if said.is_setter || said.is_getter {
            let body = node.child_by_field_name("body");
            let end = body.map_or(node.end_byte(), |body| body.start_byte());
            let def = self.define_in(owner, span(node), end, NodeKind::Method, text);
            let ty = self.terms.declared(self.b, node, "return_type");
            self.b.def_mut(def).ty = ty;
            def
        } else {
            self.declared_function(node, owner, sym, text, NodeKind::Method, said.is_static)
        };
        if node.child_by_field_name("body").is_none() {
            flags.set(Flags::ABSTRACT);
        }
        self.b.def_mut(def).flags = flags;
        self.hide_private(def, text, said.is_private);
        if node.child_by_field_name("body").is_some() {
            self.open_function(node, def, false);
            if text == "constructor" {
                self.parameter_fields(node, owner);
            }
        }
    }

    pub(super) fn hide_private(&mut self, def: DefIx, name: &str, is_private: bool) {
        if (is_private || name.starts_with('#')) && self.visible_members.last() == Some(&def) {
            self.visible_members.pop();
        }
    }

    /// `constructor(private readonly store: Store)` declares fields.
    fn parameter_fields(&mut self, node: Node<'_>, class: DefIx) {
        let Some(list) = node.child_by_field_name("parameters") else {
            return;
        };
        let mut cursor = list.walk();
        for parameter in list.named_children(&mut cursor) {
            let said = self.modifiers(parameter);
            let Some(pattern) = parameter.child_by_field_name("pattern") else {
                continue;
            };
            if !said.declares_field || self.kinds.of(pattern) != K::Identifier {
                continue;
            }
            let text = self.b.text(pattern);
            let sym = self.b.name(text);
            let def = self.define_in(
                class,
                span(parameter),
                parameter.end_byte(),
                NodeKind::Field,
                text,
            );
            self.hide_private(def, text, said.is_private);
            self.declared.insert((class, sym));
            let ty = self.terms.declared(self.b, parameter, "type");
            self.b.def_mut(def).ty = ty;
            if !ty.is_known()
                && let Some(value) = parameter.child_by_field_name("value")
            {
                let value = self.terms.expr(self.b, value);
                self.b.value(def, class, value);
            }
        }
    }

    /// What a function returns where it declares nothing.
    fn result(&mut self, node: Node<'_>) {
        let Some(def) = self.functions.last().and_then(|function| function.def) else {
            return;
        };
        if self.b.def(def).ty.is_known() {
            return;
        }
        if let Some(value) = node.named_child(0) {
            let value = self.terms.expr(self.b, value);
            let scope = self.b.scope();
            self.b.value(def, scope, value);
        }
    }

    fn block(&mut self, node: Node<'_>) {
        let scope = self.b.scope();
        let def = self.b.def(scope);
        let is_body = def.kind == NodeKind::Module
            && !self.blocks.iter().rev().any(|(_, owner)| *owner == scope)
            && def.span.end_byte == node.end_byte() as u32;
        if !is_body {
            self.blocks.push((around(node, None), scope));
        }
    }

    // Mentions and calls.

    fn mention_name(&mut self, node: Node<'_>, kind: K) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let text = self.b.text(name);
        let is_element = kind != K::Generic;
        if is_element && text.starts_with(char::is_lowercase) && !text.contains('.') {
            return;
        }
        if self.kinds.of(name) == K::NestedType {
            return;
        }
        let term = self.terms.expr(self.b, name);
        self.b.mention(term, line(node));
    }

    fn call(&mut self, node: Node<'_>, kind: K) {
        let field = if kind == K::New {
            "constructor"
        } else {
            "function"
        };
        let Some(function) = node.child_by_field_name(field) else {
            // A call is a site even when its callee is not to be read.
            let name = self.b.owned_name("");
            self.b.call(node, node, name, TermId::UNKNOWN);
            return;
        };
        let mut inner = function;
        while matches!(
            self.kinds.of(inner),
            K::Parenthesized | K::NonNull | K::Instantiation
        ) && let Some(next) = inner.named_child(0)
        {
            inner = next;
        }
        let callee = match self.kinds.of(inner) {
            K::Super => self.heritage.last().map_or(TermId::UNKNOWN, |h| h.1),
            _ => self.terms.expr(self.b, function),
        };
        let name = match self.kinds.of(inner) {
            K::Identifier | K::Super | K::ImportKeyword => self.b.node_name(inner),
            K::Member => match inner.child_by_field_name("property") {
                Some(name) => self.b.node_name(name),
                None => self.b.owned_name(""),
            },
            _ => self.b.owned_name(""),
        };
        self.b.call(node, function, name, callee);
        self.callee = inner.id();
        self.passed_functions(node, inner, callee);
        if kind == K::Call {
            self.dynamic_import(node, inner);
            self.route(node, inner);
            self.test_block(node, inner);
        }
    }

    /// Functions among the arguments take what the method gives them.
    fn passed_functions(&mut self, node: Node<'_>, callee: Node<'_>, term: TermId) {
        let Term::Member(receiver, name) = self.b.term_of(term) else {
            return;
        };
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return;
        };
        if self.kinds.of(callee) != K::Member || self.kinds.of(arguments) != K::Arguments {
            return;
        }
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor).take(3) {
            if matches!(self.kinds.of(argument), K::Arrow | K::FunctionExpression) {
                self.passed.insert(argument.id(), (receiver, name));
            }
        }
    }

    /// Words before the name of a member or parameter.
    pub(super) fn modifiers(&self, node: Node<'_>) -> Modifiers {
        let mut said = Modifiers::default();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).take(12) {
            match child.kind() {
                "static" => said.is_static = true,
                "async" => said.is_async = true,
                "get" => said.is_getter = true,
                "set" => said.is_setter = true,
                "readonly" | "override_modifier" => said.declares_field = true,
                "accessibility_modifier" => {
                    said.declares_field = true;
                    said.is_private = self.b.text(child) != "public";
                }
                "property_identifier"
                | "private_property_identifier"
                | "formal_parameters"
                | "statement_block"
                | "identifier" => break,
                _ => {}
            }
        }
        said
    }
}

/// Modifiers of a member or parameter.
#[derive(Clone, Copy, Default)]
pub(super) struct Modifiers {
    pub(super) is_static: bool,
    pub(super) is_async: bool,
    pub(super) is_getter: bool,
    pub(super) is_setter: bool,
    pub(super) is_private: bool,
    pub(super) declares_field: bool,
}

pub(super) fn around(node: Node<'_>, def: Option<DefIx>) -> Around {
    Around {
        start: node.start_byte() as u32,
        end: node.end_byte() as u32,
        def,
    }
}

pub(super) fn line(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// A name without the quotes that it may be written in.
pub(super) fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}
