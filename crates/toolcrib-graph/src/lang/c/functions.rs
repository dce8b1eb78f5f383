//! Functions, their prototypes, and variables.

use tree_sitter::Node;

use super::K;
use super::declarators::{Declared, declared};
use super::items::Reader;
use super::terms::children;
use crate::facts::{DefIx, Flags, Term, TermId, span};
use crate::model::NodeKind;

/// Macros of test frameworks whose call heads a body, and whether the first
/// argument is a class that the body is a method of.
const TEST_MACROS: &[(&str, bool)] = &[
    ("BOOST_AUTO_TEST_CASE", false),
    ("BOOST_FIXTURE_TEST_CASE", false),
    ("TEST", false),
    ("TEST_CASE", false),
    ("TEST_F", true),
    ("TEST_P", true),
    ("TYPED_TEST", true),
    ("TYPED_TEST_P", true),
];

/// What stands before a declarator.
#[derive(Clone, Copy, Default)]
pub(in crate::lang) struct Specifiers {
    pub(in crate::lang) is_static: bool,
    pub(in crate::lang) is_extern: bool,
    pub(in crate::lang) is_const: bool,
    pub(in crate::lang) is_virtual: bool,
}

impl<'s> Reader<'_, 's> {
    pub(in crate::lang) fn specifiers(&self, node: Node<'_>) -> Specifiers {
        let mut said = Specifiers::default();
        let mut cursor = node.walk();
        for part in node.children(&mut cursor) {
            let word = match self.kind(part) {
                K::Storage | K::Qualifier => self.b.text(part),
                K::Virtual => "virtual",
                _ if !part.is_named() => part.kind(),
                _ => continue,
            };
            match word {
                "static" => said.is_static = true,
                "extern" => said.is_extern = true,
                "const" | "constexpr" | "constinit" => said.is_const = true,
                "virtual" => said.is_virtual = true,
                _ => {}
            }
        }
        said
    }

    pub(super) fn function(&mut self, node: Node<'_>) {
        let Some(declarator) = node.child_by_field_name("declarator") else {
            return;
        };
        let body = node.child_by_field_name("body");
        let found = declared(self.kinds, declarator);
        let Some(found) = found else {
            self.doc_above(node.start_position().row, node.start_byte());
            return;
        };
        if node.child_by_field_name("type").is_none() && self.test(node, &found, body) {
            return;
        }
        let end = children(self.kinds, node)
            .into_iter()
            .find(|n| self.kind(*n) == K::InitializerList)
            .or(body)
            .map_or(node.end_byte(), |n| n.start_byte());
        let def = self.callable(node, &found, end);
        if self.b.text(node).trim_end().ends_with('0')
            && children(self.kinds, node)
                .iter()
                .any(|n| self.kind(*n) == K::PureVirtual)
        {
            self.b.def_mut(def).flags.set(Flags::ABSTRACT);
        }
        self.b.open(def);
        if let Some(function) = found.function {
            self.parameters(function, node.end_byte() as u32);
        }
    }

    /// Adds a function or method with its type, arity and parameter types.
    pub(in crate::lang) fn callable(
        &mut self,
        node: Node<'_>,
        found: &Declared<'_>,
        end: usize,
    ) -> DefIx {
        let name = self.plain_name(found.name);
        let said = self.specifiers(node);
        let in_class = self.in_class();
        let outside = self.home(node, found.name);
        let kind = if in_class || outside {
            NodeKind::Method
        } else {
            NodeKind::Function
        };
        let exported = if in_class {
            self.classes.last().is_some_and(|c| c.is_public)
        } else {
            outside || (!said.is_static && self.hidden.is_empty())
        };
        let def = self.define(node, kind, &name, end, exported);
        let params = self.template_params.take();
        let ty = self.result(node, found, &name);
        let mut flags = Flags::default();
        if in_class {
            if said.is_static {
                flags.set(Flags::STATIC);
            }
            let overrides = found.function.is_some_and(|f| {
                children(self.kinds, f)
                    .iter()
                    .any(|n| self.kind(*n) == K::VirtualSpecifier)
            });
            if said.is_virtual || overrides {
                flags.set(Flags::VIRTUAL);
            }
        } else if !outside && (said.is_static || !self.hidden.is_empty()) {
            flags.set(Flags::FILE_LOCAL);
        }
        let (arity, shape) = match found.function {
            Some(function) => self.shape_of(function),
            None => (Some((0, 0)), None),
        };
        let def_mut = self.b.def_mut(def);
        def_mut.ty = ty;
        def_mut.arity = arity;
        def_mut.shape = shape;
        def_mut.flags.0 |= flags.0;
        if let Some(params) = params {
            def_mut.params = params;
        }
        def
    }

    /// Where a qualified name says the definition belongs.
    fn home(&mut self, node: Node<'_>, name: Node<'_>) -> bool {
        if self.kind(name) != K::Qualified {
            return false;
        }
        let path = self.terms.path(self.b, name);
        let path = match self.b.term_of(path) {
            Term::Apply(base, _) => base,
            _ => path,
        };
        let Term::Member(owner, _) = self.b.term_of(path) else {
            return false;
        };
        let params = self
            .templates
            .iter()
            .find(|t| !t.used)
            .map_or((0, 0), |t| t.params);
        self.b.open_extension(span(node), owner, None, params);
        true
    }

    fn result(&mut self, node: Node<'_>, found: &Declared<'_>, name: &str) -> TermId {
        if let Some(function) = found.function
            && let Some(ty) = self.terms.trailing(self.b, function)
        {
            return ty;
        }
        if self.kind(found.name) == K::OperatorCast
            && let Some(ty) = found.name.child_by_field_name("type")
        {
            return self.terms.ty(self.b, ty);
        }
        match node.child_by_field_name("type") {
            Some(ty) if matches!(self.kind(ty), K::Placeholder | K::Auto | K::Decltype) => {
                TermId::UNKNOWN
            }
            Some(ty) => self.terms.ty(self.b, ty),
            // Constructors make their class.
            None if self.is_cpp && !name.starts_with(['~', 'o']) => self.b.term(Term::ThisType),
            None => TermId::UNKNOWN,
        }
    }

    /// How many arguments a function takes, and the types of its parameters as
    /// they are written, which tell overloads apart.
    pub(in crate::lang) fn shape_of(
        &mut self,
        function: Node<'_>,
    ) -> (Option<(u8, u8)>, Option<crate::facts::Sym>) {
        let Some(list) = function.child_by_field_name("parameters") else {
            return (None, None);
        };
        let mut least = 0usize;
        let mut most = 0usize;
        let mut any = false;
        let mut text = String::new();
        let mut cursor = list.walk();
        let parts: Vec<Node<'_>> = list.children(&mut cursor).collect();
        for part in &parts {
            match self.kind(*part) {
                K::Parameter => {
                    if part.child_by_field_name("declarator").is_none()
                        && self.b.text(*part) == "void"
                    {
                        continue;
                    }
                    least += 1;
                    most += 1;
                }
                K::OptionalParameter => most += 1,
                K::PackParameter | K::Variadic => any = true,
                // Parameters that are declared behind the list.
                K::Identifier if !self.is_cpp => return (None, None),
                _ => {
                    any |= part.kind() == "...";
                    continue;
                }
            }
            self.parameter_text(*part, &mut text);
            text.push(',');
        }
        let qualified = children(self.kinds, function)
            .iter()
            .any(|n| self.kind(*n) == K::Qualifier && self.b.text(*n) == "const");
        if qualified {
            text.push('c');
        }
        let shape = Some(self.b.owned_name(&text));
        if !self.is_cpp && parts.len() <= 2 {
            // `()` takes anything in C.
            return (None, shape);
        }
        let most = if any { u8::MAX } else { most.min(254) as u8 };
        (Some((least.min(254) as u8, most)), shape)
    }

    /// A parameter's type without its name, its qualifiers' scopes and blanks.
    fn parameter_text(&self, parameter: Node<'_>, out: &mut String) {
        let Some(ty) = parameter.child_by_field_name("type") else {
            return;
        };
        let is_const = {
            let mut cursor = parameter.walk();
            parameter
                .named_children(&mut cursor)
                .any(|n| self.kind(n) == K::Qualifier && self.b.text(n) == "const")
        };
        if is_const {
            out.push('k');
        }
        let text = self.b.text(ty);
        let head = text.split('<').next().unwrap_or(text);
        let last = head.rfind("::").map_or(0, |at| at + 2);
        out.extend(text[last..].chars().filter(|c| !c.is_whitespace()));
        if let Some(declarator) = parameter.child_by_field_name("declarator") {
            let until = declared(self.kinds, declarator)
                .map_or(declarator.end_byte(), |d| d.name.start_byte());
            let marks = self
                .b
                .source
                .get(declarator.start_byte()..until)
                .unwrap_or("");
            out.extend(marks.chars().filter(|c| matches!(c, '*' | '&' | '(')));
            let after = self
                .b
                .source
                .get(until..declarator.end_byte())
                .unwrap_or("");
            out.extend(after.chars().filter(|c| *c == '[').map(|_| '*'));
        }
    }

    /// A body headed by a macro of a test framework.
    fn test(&mut self, node: Node<'_>, found: &Declared<'_>, body: Option<Node<'_>>) -> bool {
        let (Some(function), Some(body)) = (found.function, body) else {
            return false;
        };
        let text = self.b.text(found.name);
        let Some((_, has_class)) = TEST_MACROS.iter().find(|(name, _)| *name == text) else {
            return false;
        };
        let Some(list) = function.child_by_field_name("parameters") else {
            return false;
        };
        let parts = children(self.kinds, list);
        let names: Vec<String> = parts
            .iter()
            .map(|n| self.b.text(*n).trim_matches('"').to_string())
            .collect();
        let name = match names.as_slice() {
            [_, name] if *has_class => name.clone(),
            [_, ..] => names.join("."),
            [] => return false,
        };
        if *has_class && let Some(class) = parts.first() {
            let class = match class.child_by_field_name("type") {
                Some(ty) => self.terms.ty(self.b, ty),
                None => self.terms.ty(self.b, *class),
            };
            if class.is_known() {
                self.b.open_extension(span(node), class, None, (0, 0));
            }
        }
        let def = self.define(node, NodeKind::Test, &name, body.start_byte(), false);
        self.b.def_mut(def).flags.set(Flags::FILE_LOCAL);
        self.b.open(def);
        true
    }

    /// Prototypes, variables, and what a function declares for itself.
    pub(super) fn declaration(&mut self, node: Node<'_>) {
        if self.in_function() {
            self.local_declaration(node);
            return;
        }
        let said = self.specifiers(node);
        let ty = node.child_by_field_name("type");
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        self.name_inner_type(node, ty, &declarators);
        let is_alone = declarators.len() == 1;
        for declarator in declarators {
            let Some(found) = declared(self.kinds, declarator) else {
                continue;
            };
            if found.is_function() {
                if self.kind(found.name) == K::Qualified {
                    continue;
                }
                let def = self.callable(node, &found, node.end_byte());
                self.declared_only(node, def);
                if is_alone {
                    self.b.open(def);
                }
                continue;
            }
            if self.kind(found.name) == K::Qualified
                || self.kind(found.name) == K::StructuredBinding
            {
                continue;
            }
            if self.named_lambda(declarator, &found) {
                continue;
            }
            let is_made = match self.kind(declarator) {
                K::InitDeclarator => true,
                K::Identifier => !said.is_extern,
                _ => false,
            };
            if self.is_cpp && is_made {
                self.made_by(ty, declarator);
            }
            let name = self.plain_name(found.name);
            // Of a pointer to a constant only the target is one.
            let is_const = said.is_const
                && !matches!(self.kind(declarator), K::PointerDeclarator)
                && !declarator
                    .child_by_field_name("declarator")
                    .is_some_and(|d| self.kind(d) == K::PointerDeclarator);
            let kind = if is_const {
                NodeKind::Constant
            } else {
                NodeKind::Variable
            };
            let local = said.is_static || !self.hidden.is_empty();
            let end = match declarator.child_by_field_name("value") {
                Some(value) if value.end_byte() > value.start_byte() + 80 => value.start_byte(),
                _ => node.end_byte(),
            };
            let def = self.define(node, kind, &name, end, !local);
            self.value_type(def, ty, declarator);
            if local {
                self.b.def_mut(def).flags.set(Flags::FILE_LOCAL);
            }
            if said.is_extern && declarator.child_by_field_name("value").is_none() {
                self.b.def_mut(def).flags.set(Flags::OVERLOAD);
            }
        }
    }

    /// A declaration without a body: another definition may complete it.
    pub(in crate::lang) fn declared_only(&mut self, node: Node<'_>, def: DefIx) {
        let pure = node
            .child_by_field_name("default_value")
            .is_some_and(|value| self.b.text(value) == "0")
            || children(self.kinds, node)
                .iter()
                .any(|n| self.kind(*n) == K::PureVirtual);
        let text = self.b.text(node).trim_end_matches(';').trim_end();
        let flags = &mut self.b.def_mut(def).flags;
        if pure {
            flags.set(Flags::ABSTRACT);
            flags.set(Flags::VIRTUAL);
        } else if !text.ends_with("default") && !text.ends_with("delete") {
            flags.set(Flags::OVERLOAD);
        }
    }

    /// The type of a variable or field, or what it is given where that is `auto`.
    pub(super) fn value_type(&mut self, def: DefIx, ty: Option<Node<'_>>, declarator: Node<'_>) {
        match ty {
            Some(ty) if matches!(self.kind(ty), K::Placeholder | K::Auto) => {
                if let Some(value) = declarator.child_by_field_name("value") {
                    let term = self.terms.expr(self.b, value);
                    let scope = self.b.scope();
                    self.b.value(def, scope, term);
                }
            }
            Some(ty) => {
                let term = self.terms.declared_type(self.b, ty, Some(declarator));
                self.b.def_mut(def).ty = term;
                self.note_braces(declarator, term);
            }
            None => {}
        }
    }

    /// A variable that holds a lambda is a function of that name.
    pub(super) fn named_lambda(&mut self, declarator: Node<'_>, found: &Declared<'_>) -> bool {
        let Some(value) = declarator.child_by_field_name("value") else {
            return false;
        };
        if self.kind(value) != K::Lambda || self.kind(found.name) != K::Identifier {
            return false;
        }
        let name = self.plain_name(found.name);
        let end = value
            .child_by_field_name("body")
            .map_or(value.end_byte(), |body| body.start_byte());
        let def = self.define(declarator, NodeKind::Function, &name, end, false);
        if let Some(function) = value.child_by_field_name("declarator") {
            let (arity, _) = self.shape_of(function);
            let ty = self.terms.trailing(self.b, function);
            let def_mut = self.b.def_mut(def);
            def_mut.arity = arity;
            def_mut.ty = ty.unwrap_or(TermId::UNKNOWN);
        }
        self.b.def_mut(def).flags.set(Flags::FILE_LOCAL);
        self.b.open(def);
        true
    }
}
