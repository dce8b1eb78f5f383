//! The walk over one Python file.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::routes::Routes;
use super::terms::{Terms, builtin_value};
use super::{K, kind};
use crate::facts::{Builder, DefIx, Flags, ListRange, NewDef, Sym, Term, TermId, TypeParam, span};
use crate::lang::walk;
use crate::model::{NodeKind, TextKind};

/// Patterns nested deeper than this bind nothing.
pub(super) const MAX_DEPTH: u32 = 32;

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) terms: Terms,
    pub(super) is_test_file: bool,
    /// Flags and the position of the decorators of the definition that follows.
    pub(super) decorated: Option<Flags>,
    pub(super) class_method: bool,
    /// Ends of the blocks around the walk.
    pub(super) blocks: Vec<u32>,
    /// Where loops around the walk begin and end, and the scope they are in.
    pub(super) loops: Vec<(u32, u32, DefIx)>,
    /// Names that a function binds outside of itself, with the scope they are in.
    pub(super) outer: FxHashMap<(DefIx, Sym), DefIx>,
    /// First parameters of methods.
    pub(super) receivers: FxHashMap<DefIx, (Sym, DefIx)>,
    /// Fields of classes and variables of the module, by name.
    pub(super) members: FxHashMap<(DefIx, Sym), DefIx>,
    /// The callee of the call entered last, which is no mention.
    pub(super) callee: usize,
    /// Strings that are documentation.
    pub(super) docstrings: FxHashSet<usize>,
    /// The `E as name` of the `except` entered last.
    pub(super) exception: usize,
    pub(super) routes: Routes,
}

/// Where the names of a pattern are visible.
#[derive(Clone, Copy)]
pub(super) struct Visible {
    pub(super) at: u32,
    pub(super) until: u32,
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
        loops: Vec::new(),
        outer: FxHashMap::default(),
        receivers: FxHashMap::default(),
        members: FxHashMap::default(),
        callee: 0,
        docstrings,
        exception: 0,
        routes: Routes::default(),
    };
    walk(root, |node, field| reader.enter(node, field));
}

impl<'s> Reader<'_, 's> {
    pub(super) fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        self.b.pass(start);
        while self.blocks.last().is_some_and(|end| *end <= start) {
            self.blocks.pop();
        }
        while self.loops.last().is_some_and(|(_, end, _)| *end <= start) {
            self.loops.pop();
        }
        match kind(node) {
            K::Decorated => self.decorators(node),
            K::Class => self.class(node),
            K::Function => self.function(node),
            K::Assignment => self.assignment(node),
            K::AugmentedAssignment => {
                if let Some(left) = node.child_by_field_name("left") {
                    self.routes_assigned(left, node.child_by_field_name("right"));
                }
            }
            K::TypeAlias => self.type_alias(node),
            K::Import => {
                self.import(node);
                return false;
            }
            K::ImportFrom => {
                self.import_from(node);
                return false;
            }
            K::Global | K::Nonlocal => {
                self.binds_outside(node);
                return false;
            }
            K::FutureImport => return false,
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
            K::Attribute if node.id() != self.callee => {
                let term = self.terms.expr(self.b, node);
                self.b.mention(term, node.start_position().row as u32 + 1);
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
            K::For => {
                self.bind_for(node);
                self.enter_loop(node);
            }
            K::While => self.enter_loop(node),
            K::WithItem | K::Except => self.bind_as(node),
            K::AsPattern => self.as_pattern(node),
            K::If | K::Elif => self.narrow(node),
            K::Named => {
                if let (Some(name), Some(value)) = (
                    node.child_by_field_name("name"),
                    node.child_by_field_name("value"),
                ) {
                    let value = self.terms.expr(self.b, value);
                    let visible = self.after(node);
                    self.bind(name, value, visible, 0);
                }
            }
            K::Lambda => self.lambda(node),
            K::ListComprehension | K::SetComprehension | K::DictComprehension | K::Generator => {
                self.comprehension(node)
            }
            K::Parameters | K::LambdaParameters => {}
            K::DefaultParameter | K::TypedDefaultParameter => {}
            K::CasePattern => {
                self.bind_case(node);
                return false;
            }
            K::ListSplat | K::DictSplat | K::AsTarget => return false,
            _ => {}
        }
        true
    }

    pub(super) fn block_end(&self) -> u32 {
        self.blocks
            .last()
            .copied()
            .unwrap_or(self.b.source.len() as u32)
    }

    pub(super) fn after(&self, node: Node<'_>) -> Visible {
        Visible {
            at: node.end_byte() as u32,
            until: self.block_end(),
        }
    }

    // Definitions.

    pub(super) fn decorators(&mut self, node: Node<'_>) {
        let mut flags = Flags::default();
        self.class_method = false;
        let mut cursor = node.walk();
        for decorator in node.named_children(&mut cursor) {
            if kind(decorator) != K::Decorator {
                continue;
            }
            self.routes_decorator(decorator);
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

    pub(super) fn class(&mut self, node: Node<'_>) {
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
        self.routes_answered(def);
        let bases = self.b.list(&bases);
        let params = self.type_params(node);
        let def_mut = self.b.def_mut(def);
        def_mut.bases = bases;
        def_mut.params = params;
        self.b.open(def);
    }

    pub(super) fn function(&mut self, node: Node<'_>) {
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
        self.routes_answered(def);
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

    pub(super) fn is_test(&self, name: &str, scope: DefIx, in_class: bool) -> bool {
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

    pub(super) fn parameters(
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
                    if kind(name) == K::Identifier {
                        let sym = self.b.node_name(name);
                        self.routes_declared(sym, ty);
                    }
                    let ty = self.terms.ty(self.b, ty);
                    self.b.term(Term::Inst(ty))
                }
                None => match parameter.child_by_field_name("value") {
                    Some(value) => self.terms.expr(self.b, value),
                    None => TermId::UNKNOWN,
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

    pub(super) fn define(
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

    pub(super) fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
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

    pub(super) fn type_alias(&mut self, node: Node<'_>) {
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

    // Uses.

    pub(super) fn call(&mut self, node: Node<'_>) {
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
        self.routes_call(node);
        self.callee = function.id();
    }

    /// Quoted annotations are mentions too; plain ones are met on the way.
    pub(super) fn annotation(&mut self, node: Node<'_>) {
        if let Some(inner) = node.named_child(0)
            && kind(inner) == K::String
        {
            let term = self.terms.ty(self.b, inner);
            let line = node.start_position().row as u32 + 1;
            self.mention_all(term, line, 0);
        }
    }

    pub(super) fn mention_all(&mut self, term: TermId, line: u32, depth: u32) {
        if depth > 8 {
            return;
        }
        match self.b.term_of(term) {
            Term::Name(..) | Term::Member(..) => self.b.mention(term, line),
            Term::Apply(base, _) => self.mention_all(base, line, depth + 1),
            _ => {}
        }
    }

    pub(super) fn string(&mut self, node: Node<'_>) {
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

pub(super) fn is_class(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Class | NodeKind::Enum | NodeKind::Interface)
}

/// No leading underscore, or one of the language's own names.
pub(super) fn is_public(name: &str) -> bool {
    !name.starts_with('_') || (name.starts_with("__") && name.ends_with("__"))
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
