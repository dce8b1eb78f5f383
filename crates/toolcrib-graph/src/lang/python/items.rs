//! The walk over one Python file.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::terms::{Terms, builtin_value, either};
use super::{K, kind};
use crate::facts::{
    Builder, DefIx, Flags, Import, ListRange, NewDef, Sym, Term, TermId, TypeParam, span,
};
use crate::lang::walk;
use crate::model::{NodeKind, TextKind};

/// Patterns nested deeper than this bind nothing.
const MAX_DEPTH: u32 = 32;

struct Reader<'b, 's> {
    b: &'b mut Builder<'s>,
    terms: Terms,
    is_test_file: bool,
    /// Flags and the position of the decorators of the definition that follows.
    decorated: Option<Flags>,
    class_method: bool,
    /// Ends of the blocks around the walk.
    blocks: Vec<u32>,
    /// First parameters of methods.
    receivers: FxHashMap<DefIx, (Sym, DefIx)>,
    /// Fields of classes and variables of the module, by name.
    members: FxHashMap<(DefIx, Sym), DefIx>,
    /// The callee of the call entered last, which is no mention.
    callee: usize,
    /// Strings that are documentation.
    docstrings: FxHashSet<usize>,
    /// The `E as name` of the `except` entered last.
    exception: usize,
}

/// Where the names of a pattern are visible.
#[derive(Clone, Copy)]
struct Visible {
    at: u32,
    until: u32,
}

pub(super) fn read<'s>(root: Node<'_>, path: &str, b: &mut Builder<'s>) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_test_file = name.starts_with("test_")
        || name.ends_with("_test.py")
        || name == "tests.py"
        || path
            .split('/')
            .any(|part| part == "tests" || part == "test");
    let mut docstrings = FxHashSet::default();
    if let Some((doc, node)) = docstring(b, root) {
        b.def_mut(DefIx::ROOT).doc = Some(doc.into());
        docstrings.insert(node);
    }
    let mut reader = Reader {
        b,
        terms: Terms::default(),
        is_test_file,
        decorated: None,
        class_method: false,
        blocks: Vec::new(),
        receivers: FxHashMap::default(),
        members: FxHashMap::default(),
        callee: 0,
        docstrings,
        exception: 0,
    };
    walk(root, |node, field| reader.enter(node, field));
}

impl<'s> Reader<'_, 's> {
    fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        self.b.pass(start);
        while self.blocks.last().is_some_and(|end| *end <= start) {
            self.blocks.pop();
        }
        match kind(node) {
            K::Decorated => self.decorators(node),
            K::Class => self.class(node),
            K::Function => self.function(node),
            K::Assignment => self.assignment(node),
            K::TypeAlias => self.type_alias(node),
            K::Import => {
                self.import(node);
                return false;
            }
            K::ImportFrom => {
                self.import_from(node);
                return false;
            }
            K::FutureImport | K::Global | K::Nonlocal => return false,
            K::Comment => {
                let scope = self.b.scope();
                self.b.words(scope, span(node), TextKind::Comment);
                return false;
            }
            K::String => {
                self.string(node);
                if field == Some("return_type") {
                    return false;
                }
            }
            K::StringContent => return false,
            K::Type => self.annotation(node),
            K::Call => self.call(node),
            K::Attribute => {
                if node.id() != self.callee {
                    let term = self.terms.expr(self.b, node);
                    self.b.mention(term, node.start_position().row as u32 + 1);
                }
            }
            K::Identifier => {
                let is_name = matches!(field, Some("name" | "attribute" | "alias"));
                if !is_name && node.id() != self.callee {
                    let term = self.terms.expr(self.b, node);
                    self.b.mention(term, node.start_position().row as u32 + 1);
                }
            }
            K::Block => self.blocks.push(node.end_byte() as u32),
            K::Return => self.result(node),
            K::For => self.bind_for(node),
            K::WithItem | K::Except => self.bind_as(node),
            K::AsPattern => self.as_pattern(node),
            K::If | K::Elif => self.narrow(node),
            K::Named => {
                if let (Some(name), Some(value)) = (
                    node.child_by_field_name("name"),
                    node.child_by_field_name("value"),
                ) {
                    let value = self.terms.expr(self.b, value);
                    let visible = self.from_here(node);
                    self.bind(name, value, visible, 0);
                }
            }
            K::Lambda => self.lambda(node),
            K::ListComprehension | K::SetComprehension | K::DictComprehension | K::Generator => {
                self.comprehension(node)
            }
            K::Parameters | K::LambdaParameters => {}
            K::DefaultParameter | K::TypedDefaultParameter => {}
            K::ListSplat | K::DictSplat | K::AsTarget | K::CasePattern => return false,
            _ => {}
        }
        true
    }

    fn block_end(&self) -> u32 {
        self.blocks
            .last()
            .copied()
            .unwrap_or(self.b.source.len() as u32)
    }

    fn from_here(&self, node: Node<'_>) -> Visible {
        Visible {
            at: node.end_byte() as u32,
            until: self.block_end(),
        }
    }

    // Definitions.

    fn decorators(&mut self, node: Node<'_>) {
        let mut flags = Flags::default();
        self.class_method = false;
        let mut cursor = node.walk();
        for decorator in node.named_children(&mut cursor) {
            if kind(decorator) != K::Decorator {
                continue;
            }
            let text = self.b.text(decorator).trim_start_matches(['@', ' ']);
            let head = text.split('(').next().unwrap_or(text).trim();
            match head.rsplit('.').next().unwrap_or(head) {
                "property" | "cached_property" | "abstractproperty" | "locked_cached_property" => {
                    flags.set(Flags::PROPERTY);
                }
                "staticmethod" => flags.set(Flags::STATIC),
                "classmethod" => self.class_method = true,
                "setter" | "getter" | "deleter" | "overload" => flags.set(Flags::OVERLOAD),
                "contextmanager" | "asynccontextmanager" => flags.set(Flags::CONTEXT),
                "abstractmethod" => flags.set(Flags::ABSTRACT),
                _ => {}
            }
        }
        self.decorated = Some(flags);
    }

    fn class(&mut self, node: Node<'_>) {
        self.decorated = None;
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let body = node.child_by_field_name("body");
        let text = self.b.text(name);
        let mut bases = Vec::new();
        let mut node_kind = NodeKind::Class;
        if let Some(list) = node.child_by_field_name("superclasses") {
            let mut cursor = list.walk();
            for base in list.named_children(&mut cursor) {
                if matches!(kind(base), K::KeywordArgument | K::Comment) {
                    continue;
                }
                let shown = self.b.text(base);
                let head = shown.split('[').next().unwrap_or(shown);
                match head.rsplit('.').next().unwrap_or(head) {
                    "Enum" | "IntEnum" | "StrEnum" | "Flag" | "IntFlag" => {
                        node_kind = NodeKind::Enum;
                    }
                    "Protocol" => node_kind = NodeKind::Interface,
                    _ => {}
                }
                bases.push(self.terms.ty(self.b, base));
            }
        }
        let def = self.define(node, body, node_kind, text);
        let bases = self.b.list(&bases);
        let params = self.type_params(node);
        let def_mut = self.b.def_mut(def);
        def_mut.bases = bases;
        def_mut.params = params;
        self.b.open(def);
    }

    fn function(&mut self, node: Node<'_>) {
        let decorators = self.decorated.take();
        let class_method = std::mem::take(&mut self.class_method) && decorators.is_some();
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let text = self.b.text(name);
        let body = node.child_by_field_name("body");
        let scope = self.b.scope();
        let in_class = is_class(self.b.def(scope).kind);
        let is_test = self.is_test(text, scope, in_class);
        let node_kind = match (is_test, in_class) {
            (true, _) => NodeKind::Test,
            (false, true) => NodeKind::Method,
            (false, false) => NodeKind::Function,
        };
        let def = self.define(node, body, node_kind, text);
        let mut flags = decorators.unwrap_or_default();
        if self.b.source[node.start_byte()..].starts_with("async") {
            flags.set(Flags::ASYNC);
        }
        if in_class && matches!(text, "__getattr__" | "__getattribute__") {
            self.b.def_mut(scope).flags.set(Flags::OPEN);
        }
        if !in_class {
            flags.set(Flags::STATIC);
        }
        let ty = match node.child_by_field_name("return_type") {
            Some(ty) => self.terms.ty(self.b, ty),
            None => TermId::UNKNOWN,
        };
        let params = self.type_params(node);
        let def_mut = self.b.def_mut(def);
        def_mut.flags = flags;
        def_mut.ty = ty;
        def_mut.params = params;
        self.b.open(def);
        if let Some(parameters) = node.child_by_field_name("parameters") {
            let is_static = flags.has(Flags::STATIC);
            self.parameters(
                node,
                parameters,
                in_class && !is_static,
                class_method,
                def,
                scope,
            );
        }
    }

    fn is_test(&self, name: &str, scope: DefIx, in_class: bool) -> bool {
        if !name.starts_with("test") {
            return false;
        }
        if !in_class {
            return self.is_test_file && scope == DefIx::ROOT && name.starts_with("test_");
        }
        let class = self.b.def(scope);
        let class_name = self.b.sym_text(class.name);
        let of_case = class
            .signature
            .as_deref()
            .is_some_and(|signature| signature.contains("TestCase"));
        of_case
            || (self.is_test_file && class_name.starts_with("Test"))
            || (self.is_test_file && class_name.ends_with("Test"))
            || (self.is_test_file && class_name.ends_with("Tests"))
    }

    fn parameters(
        &mut self,
        function: Node<'_>,
        list: Node<'_>,
        has_receiver: bool,
        class_method: bool,
        def: DefIx,
        class: DefIx,
    ) {
        let visible = Visible {
            at: list.start_byte() as u32,
            until: function.end_byte() as u32,
        };
        let mut first = has_receiver;
        let mut cursor = list.walk();
        for parameter in list.named_children(&mut cursor) {
            if kind(parameter) == K::Comment {
                continue;
            }
            let is_first = std::mem::take(&mut first);
            let ty = parameter.child_by_field_name("type");
            let name = match kind(parameter) {
                K::Identifier => Some(parameter),
                K::TypedParameter => parameter.named_child(0),
                K::DefaultParameter | K::TypedDefaultParameter => {
                    parameter.child_by_field_name("name")
                }
                K::ListSplat | K::DictSplat => Some(parameter),
                _ => None,
            };
            let Some(name) = name else { continue };
            if is_first && kind(name) == K::Identifier {
                let sym = self.b.node_name(name);
                let is_new = self.b.sym_text(self.b.def(def).name) == "__new__";
                let receiver = if class_method || is_new {
                    Term::ThisType
                } else {
                    Term::This
                };
                let value = self.b.term(receiver);
                self.b.local(sym, visible.at, visible.until, value);
                self.receivers.insert(def, (sym, class));
                continue;
            }
            let mut value = match ty {
                Some(ty) => {
                    let ty = self.terms.ty(self.b, ty);
                    self.b.term(Term::Inst(ty))
                }
                None => match parameter.child_by_field_name("value") {
                    Some(value) if kind(value) != K::None => self.terms.expr(self.b, value),
                    _ => TermId::UNKNOWN,
                },
            };
            let mut bound = name;
            match kind(name) {
                K::ListSplat | K::DictSplat => {
                    let collection = if kind(name) == K::ListSplat {
                        "tuple"
                    } else {
                        "dict"
                    };
                    value = builtin_value(self.b, collection);
                    match name.named_child(0) {
                        Some(inner) => bound = inner,
                        None => continue,
                    }
                }
                K::Identifier => {}
                _ => continue,
            }
            let sym = self.b.node_name(bound);
            self.b.local(sym, visible.at, visible.until, value);
        }
    }

    fn define(
        &mut self,
        node: Node<'_>,
        body: Option<Node<'_>>,
        kind: NodeKind,
        name: &str,
    ) -> DefIx {
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = self.b.source.get(node.start_byte()..end).unwrap_or("");
        // A comment may stand between the colon and the body.
        let end = node.start_byte() + text.rfind(':').unwrap_or(text.len());
        let signature = self.b.signature(node.start_byte(), end);
        let doc = body
            .and_then(|body| docstring(self.b, body))
            .map(|(doc, node)| {
                self.docstrings.insert(node);
                doc
            });
        let parent = self.b.scope();
        let exported = is_public(name) && self.b.def(parent).exported;
        self.b.add(NewDef {
            kind,
            name,
            span: span(node),
            exported,
            signature,
            doc,
        })
    }

    fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
        let mut params = Vec::new();
        if let Some(list) = node.child_by_field_name("type_parameters") {
            let mut cursor = list.walk();
            for param in list.named_children(&mut cursor) {
                let inner = param.named_child(0).unwrap_or(param);
                let (name, bound) = if kind(inner) == K::ConstrainedType {
                    (inner.named_child(0), inner.named_child(1))
                } else {
                    (Some(inner), None)
                };
                let Some(name) = name else { continue };
                let name = self.b.node_name(name);
                let bounds = match bound {
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

    fn type_alias(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let text = self.b.text(left);
        let name = text.split('[').next().unwrap_or(text).trim();
        let signature = self.b.signature(node.start_byte(), node.end_byte());
        let def = self.b.add(NewDef {
            kind: NodeKind::TypeAlias,
            name,
            span: span(node),
            exported: is_public(name),
            signature,
            doc: None,
        });
        let ty = self.terms.ty(self.b, right);
        self.b.def_mut(def).ty = ty;
    }

    // Assignments.

    fn assignment(&mut self, node: Node<'_>) {
        let Some(left) = node.child_by_field_name("left") else {
            return;
        };
        // `a = b = value` nests to the right.
        let mut right = node.child_by_field_name("right");
        while let Some(inner) = right.filter(|r| kind(*r) == K::Assignment) {
            right = inner.child_by_field_name("right");
        }
        let declared = node
            .child_by_field_name("type")
            .map(|ty| self.terms.ty(self.b, ty));
        let is_alias = node
            .child_by_field_name("type")
            .is_some_and(|ty| self.b.text(ty).ends_with("TypeAlias"));
        let value = match (declared, right) {
            (Some(ty), _) if !is_alias => self.b.term(Term::Inst(ty)),
            (_, Some(right)) if is_alias => self.terms.ty(self.b, right),
            (_, Some(right)) => self.terms.expr(self.b, right),
            _ => TermId::UNKNOWN,
        };
        let declared = declared.filter(|_| !is_alias);
        let scope = self.b.scope();
        let scope_kind = self.b.def(scope).kind;
        let is_static = scope == DefIx::ROOT || is_class(scope_kind);
        match kind(left) {
            K::Identifier if is_static => {
                let sym = self.b.node_name(left);
                self.member(node, scope, scope, sym, value, declared, scope_kind);
            }
            K::Attribute => {
                let (Some(object), Some(name)) = (
                    left.child_by_field_name("object"),
                    left.child_by_field_name("attribute"),
                ) else {
                    return;
                };
                if kind(object) != K::Identifier {
                    return;
                }
                let receiver = self.b.node_name(object);
                if let Some(class) = self.receiver_class(receiver) {
                    let sym = self.b.node_name(name);
                    self.member(node, class, scope, sym, value, declared, NodeKind::Class);
                }
            }
            _ if is_static => self.unpack_static(node, left, value, 0),
            _ => {
                let visible = self.from_here(node);
                self.bind(left, value, visible, 0);
            }
        }
    }

    fn unpack_static(&mut self, node: Node<'_>, left: Node<'_>, value: TermId, depth: u32) {
        if depth > MAX_DEPTH || !matches!(kind(left), K::PatternList | K::TuplePattern) {
            return;
        }
        let scope = self.b.scope();
        let scope_kind = self.b.def(scope).kind;
        let mut cursor = left.walk();
        for (i, inner) in left.named_children(&mut cursor).enumerate() {
            let part = self.b.term(Term::Part(value, i.min(255) as u8));
            if kind(inner) == K::Identifier {
                let sym = self.b.node_name(inner);
                self.member(node, scope, scope, sym, part, None, scope_kind);
            } else {
                self.unpack_static(node, inner, part, depth + 1);
            }
        }
    }

    /// The class whose method has this name as its first parameter.
    fn receiver_class(&self, name: Sym) -> Option<DefIx> {
        let mut scope = self.b.scope();
        while scope != DefIx::ROOT {
            if let Some((receiver, class)) = self.receivers.get(&scope)
                && *receiver == name
            {
                return Some(*class);
            }
            scope = self.b.def(scope).parent;
        }
        None
    }

    /// Adds a field or variable once, and every value it is given.
    #[allow(clippy::too_many_arguments)]
    fn member(
        &mut self,
        node: Node<'_>,
        owner: DefIx,
        scope: DefIx,
        name: Sym,
        value: TermId,
        declared: Option<TermId>,
        owner_kind: NodeKind,
    ) {
        let def = match self.members.get(&(owner, name)) {
            Some(def) => *def,
            None => {
                let text = self.b.sym_text(name).to_string();
                let shouts =
                    text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
                let kind = match owner_kind {
                    NodeKind::Enum => NodeKind::EnumMember,
                    kind if is_class(kind) => NodeKind::Field,
                    _ if shouts => NodeKind::Constant,
                    _ => NodeKind::Variable,
                };
                let signature = self.b.signature(node.start_byte(), node.end_byte());
                let exported = is_public(&text) && self.b.def(owner).exported;
                let def = self.b.add_to(
                    owner,
                    None,
                    NewDef {
                        kind,
                        name: &text,
                        span: span(node),
                        exported,
                        signature,
                        doc: None,
                    },
                );
                self.members.insert((owner, name), def);
                def
            }
        };
        match declared {
            Some(ty) if !self.b.def(def).ty.is_known() => self.b.def_mut(def).ty = ty,
            _ => self.b.value(def, scope, value),
        }
    }

    fn bind(&mut self, target: Node<'_>, value: TermId, visible: Visible, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match kind(target) {
            K::Identifier => {
                let scope = self.b.scope();
                if scope == DefIx::ROOT || is_class(self.b.def(scope).kind) {
                    return self.bind_static(target, value);
                }
                let sym = self.b.node_name(target);
                self.b.local(sym, visible.at, visible.until, value);
            }
            K::PatternList | K::TuplePattern | K::ListPattern | K::Tuple | K::List => {
                let mut cursor = target.walk();
                for (i, inner) in target.named_children(&mut cursor).enumerate() {
                    let part = self.b.term(Term::Part(value, i.min(255) as u8));
                    self.bind(inner, part, visible, depth + 1);
                }
            }
            K::AsTarget | K::Parenthesized => {
                if let Some(inner) = target.named_child(0) {
                    self.bind(inner, value, visible, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// A loop or `with` in a module or class body binds without defining.
    fn bind_static(&mut self, target: Node<'_>, value: TermId) {
        let sym = self.b.node_name(target);
        let until = self.block_end();
        let at = target.start_byte() as u32;
        self.b.local(sym, at, until, value);
    }

    // Bindings of statements.

    fn bind_for(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let value = self.terms.expr(self.b, right);
        let each = self.b.term(Term::Each(value));
        let visible = Visible {
            at: left.start_byte() as u32,
            until: node.end_byte() as u32,
        };
        self.bind(left, each, visible, 0);
    }

    fn comprehension(&mut self, node: Node<'_>) {
        let visible = Visible {
            at: node.start_byte() as u32,
            until: node.end_byte() as u32,
        };
        let mut cursor = node.walk();
        for clause in node.named_children(&mut cursor) {
            if kind(clause) != K::ForIn {
                continue;
            }
            let (Some(left), Some(right)) = (
                clause.child_by_field_name("left"),
                clause.child_by_field_name("right"),
            ) else {
                continue;
            };
            let value = self.terms.expr(self.b, right);
            let each = self.b.term(Term::Each(value));
            self.bind_local(left, each, visible, 0);
        }
    }

    /// Binds in a scope of its own kind, whatever is around it.
    fn bind_local(&mut self, target: Node<'_>, value: TermId, visible: Visible, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match kind(target) {
            K::Identifier => {
                let sym = self.b.node_name(target);
                self.b.local(sym, visible.at, visible.until, value);
            }
            K::PatternList | K::TuplePattern | K::ListPattern => {
                let mut cursor = target.walk();
                for (i, inner) in target.named_children(&mut cursor).enumerate() {
                    let part = self.b.term(Term::Part(value, i.min(255) as u8));
                    self.bind_local(inner, part, visible, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn lambda(&mut self, node: Node<'_>) {
        let Some(list) = node.child_by_field_name("parameters") else {
            return;
        };
        let visible = Visible {
            at: node.start_byte() as u32,
            until: node.end_byte() as u32,
        };
        let mut cursor = list.walk();
        for parameter in list.named_children(&mut cursor) {
            let name = match kind(parameter) {
                K::Identifier => Some(parameter),
                K::DefaultParameter => parameter.child_by_field_name("name"),
                _ => parameter.named_child(0),
            };
            if let Some(name) = name.filter(|n| kind(*n) == K::Identifier) {
                let sym = self.b.node_name(name);
                self.b
                    .local(sym, visible.at, visible.until, TermId::UNKNOWN);
            }
        }
    }

    /// `except E as name` in the forms of older and newer grammars.
    fn bind_as(&mut self, node: Node<'_>) {
        if let (Some(value), Some(alias)) = (
            node.child_by_field_name("value"),
            node.child_by_field_name("alias"),
        ) && kind(node) == K::Except
        {
            self.bind_exception(node, value, alias);
            return;
        }
        if kind(node) == K::Except
            && let Some(first) = node.named_child(0)
        {
            self.exception = first.id();
        }
    }

    fn as_pattern(&mut self, node: Node<'_>) {
        let (Some(value), Some(alias)) = (node.named_child(0), node.child_by_field_name("alias"))
        else {
            return;
        };
        if node.id() == self.exception {
            self.bind_exception(node, value, alias);
            return;
        }
        let value = self.terms.expr(self.b, value);
        let entered = self.b.term(Term::Enter(value));
        let visible = Visible {
            at: node.end_byte() as u32,
            until: self.block_end(),
        };
        self.bind(alias, entered, visible, 0);
    }

    fn bind_exception(&mut self, node: Node<'_>, value: Node<'_>, alias: Node<'_>) {
        let value = self.instances(value);
        let visible = Visible {
            at: node.start_byte() as u32,
            until: self.block_end(),
        };
        self.bind(alias, value, visible, 0);
    }

    /// A value of a class or of one of a tuple of classes.
    fn instances(&mut self, node: Node<'_>) -> TermId {
        if kind(node) == K::Tuple {
            let mut terms = Vec::new();
            let mut cursor = node.walk();
            for class in node.named_children(&mut cursor).take(12) {
                let ty = self.terms.ty(self.b, class);
                terms.push(self.b.term(Term::Inst(ty)));
            }
            return either(self.b, &terms);
        }
        let ty = self.terms.ty(self.b, node);
        self.b.term(Term::Inst(ty))
    }

    /// `if isinstance(name, Class):` says what the name is inside.
    fn narrow(&mut self, node: Node<'_>) {
        let (Some(condition), Some(block)) = (
            node.child_by_field_name("condition"),
            node.child_by_field_name("consequence"),
        ) else {
            return;
        };
        let mut tests = vec![condition];
        let mut budget = 8;
        while let Some(test) = tests.pop() {
            budget -= 1;
            if budget == 0 {
                return;
            }
            match kind(test) {
                K::BooleanOperator => {
                    let is_and = test
                        .child_by_field_name("operator")
                        .is_some_and(|o| o.kind() == "and");
                    if is_and {
                        tests.extend(test.child_by_field_name("left"));
                        tests.extend(test.child_by_field_name("right"));
                    }
                }
                K::Call => {
                    let is_instance = test
                        .child_by_field_name("function")
                        .is_some_and(|f| self.b.text(f) == "isinstance");
                    let Some(arguments) = test.child_by_field_name("arguments") else {
                        continue;
                    };
                    let (Some(name), Some(class)) =
                        (arguments.named_child(0), arguments.named_child(1))
                    else {
                        continue;
                    };
                    if !is_instance || kind(name) != K::Identifier {
                        continue;
                    }
                    let value = self.instances(class);
                    let sym = self.b.node_name(name);
                    self.b
                        .local(sym, test.end_byte() as u32, block.end_byte() as u32, value);
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, node: Node<'_>) {
        let Some(def) = self.b.enclosing(|def| {
            matches!(
                def.kind,
                NodeKind::Function | NodeKind::Method | NodeKind::Test
            )
        }) else {
            return;
        };
        if def == DefIx::ROOT || self.b.def(def).ty.is_known() {
            return;
        }
        if let Some(value) = node.named_child(0) {
            let term = self.terms.expr(self.b, value);
            self.b.value(def, def, term);
        }
    }

    // Imports.

    fn import(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for item in node.children_by_field_name("name", &mut cursor) {
            let (path_node, alias) = match kind(item) {
                K::AliasedImport => (
                    item.child_by_field_name("name"),
                    item.child_by_field_name("alias"),
                ),
                _ => (Some(item), None),
            };
            let Some(path_node) = path_node else { continue };
            let path = self.dotted(path_node);
            let Some(first) = path.first().copied() else {
                continue;
            };
            let shown = one_line_import("import", self.b.text(item));
            let bound = match alias {
                Some(alias) => self.b.text(alias).to_string(),
                None => self.b.sym_text(first).to_string(),
            };
            self.import_leaf(item, path, &bound, &shown, 0, false, alias.is_none());
        }
    }

    fn import_from(&mut self, node: Node<'_>) {
        let Some(module) = node.child_by_field_name("module_name") else {
            return;
        };
        let mut level = 0u8;
        let mut prefix = Vec::new();
        if kind(module) == K::RelativeImport {
            let mut cursor = module.walk();
            for part in module.named_children(&mut cursor) {
                match kind(part) {
                    K::ImportPrefix => {
                        let dots = self.b.text(part).bytes().filter(|c| *c == b'.').count();
                        level = dots.min(255) as u8;
                    }
                    _ => prefix = self.dotted(part),
                }
            }
        } else {
            prefix = self.dotted(module);
        }
        let from = self.b.text(module);
        let mut cursor = node.walk();
        for item in node.children_by_field_name("name", &mut cursor) {
            let (name, alias) = match kind(item) {
                K::AliasedImport => (
                    item.child_by_field_name("name"),
                    item.child_by_field_name("alias"),
                ),
                _ => (Some(item), None),
            };
            let Some(name) = name else { continue };
            let mut path = prefix.clone();
            path.extend(self.dotted(name));
            let bound = self.b.text(alias.unwrap_or(name)).to_string();
            let shown = format!("from {from} import {}", self.b.text(item));
            self.import_leaf(item, path, &bound, &shown, level, false, false);
        }
        let mut cursor = node.walk();
        if let Some(star) = node
            .named_children(&mut cursor)
            .find(|child| kind(*child) == K::Wildcard)
        {
            let shown = format!("from {from} import *");
            self.import_leaf(star, prefix, "*", &shown, level, true, false);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn import_leaf(
        &mut self,
        node: Node<'_>,
        path: Vec<Sym>,
        bound: &str,
        shown: &str,
        level: u8,
        glob: bool,
        binds_root: bool,
    ) {
        let shown = crate::facts::one_line(shown, 240);
        let exported = is_public(bound);
        let def = self.b.add(NewDef {
            kind: NodeKind::Import,
            name: bound,
            span: span(node),
            exported,
            signature: Some(shown.into()),
            doc: None,
        });
        self.b.import(Import {
            def,
            path: path.into(),
            level,
            glob,
            binds_root,
        });
    }

    fn dotted(&mut self, node: Node<'_>) -> Vec<Sym> {
        let mut path = Vec::new();
        let mut cursor = node.walk();
        for part in node.named_children(&mut cursor) {
            if kind(part) == K::Identifier {
                path.push(self.b.node_name(part));
            }
        }
        if path.is_empty() && kind(node) == K::Identifier {
            path.push(self.b.node_name(node));
        }
        path
    }

    // Uses.

    fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else {
            return;
        };
        let callee = if self.b.text(function) == "super" {
            let sym = self.b.owned_name("super");
            self.b.term(Term::Name(sym, function.start_byte() as u32))
        } else {
            self.terms.expr(self.b, function)
        };
        let sym = match kind(function) {
            K::Identifier => self.b.node_name(function),
            K::Attribute => match function.child_by_field_name("attribute") {
                Some(name) => self.b.node_name(name),
                None => self.b.owned_name(""),
            },
            _ => self.b.owned_name(""),
        };
        self.b.call(node, function, sym, callee);
        self.callee = function.id();
    }

    /// Quoted annotations are mentions too; plain ones are met on the way.
    fn annotation(&mut self, node: Node<'_>) {
        if let Some(inner) = node.named_child(0)
            && kind(inner) == K::String
        {
            let term = self.terms.ty(self.b, inner);
            let line = node.start_position().row as u32 + 1;
            self.mention_all(term, line, 0);
        }
    }

    fn mention_all(&mut self, term: TermId, line: u32, depth: u32) {
        if depth > 8 {
            return;
        }
        match self.b.term_of(term) {
            Term::Name(..) | Term::Member(..) => self.b.mention(term, line),
            Term::Apply(base, _) => self.mention_all(base, line, depth + 1),
            _ => {}
        }
    }

    fn string(&mut self, node: Node<'_>) {
        let scope = self.b.scope();
        let is_doc = self.docstrings.contains(&node.id());
        let kind = if is_doc {
            TextKind::Doc
        } else {
            TextKind::StringLiteral
        };
        self.b.words(scope, span(node), kind);
    }
}

fn is_class(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Class | NodeKind::Enum | NodeKind::Interface)
}

/// No leading underscore, or one of the language's own names.
fn is_public(name: &str) -> bool {
    !name.starts_with('_') || (name.starts_with("__") && name.ends_with("__"))
}

fn one_line_import(word: &str, what: &str) -> String {
    format!("{word} {what}")
}

/// The first statement of a body when it is a string, indentation removed.
fn docstring(b: &Builder<'_>, body: Node<'_>) -> Option<(String, usize)> {
    let mut cursor = body.walk();
    let first = body
        .named_children(&mut cursor)
        .find(|child| kind(*child) != K::Comment)?;
    let string = if kind(first) == K::ExpressionStatement {
        first.named_child(0)?
    } else {
        first
    };
    if kind(string) != K::String {
        return None;
    }
    let text = b.text(string);
    let text = text.trim_start_matches(|c: char| c.is_alphabetic());
    let text = ["\"\"\"", "'''", "\"", "'"]
        .iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text);
    let indent = text
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let line = if i == 0 {
            line.trim_start()
        } else {
            line.get(indent..).unwrap_or("")
        };
        out.push_str(line.trim_end());
    }
    let out = out.trim().to_string();
    Some((out, string.id()))
}
