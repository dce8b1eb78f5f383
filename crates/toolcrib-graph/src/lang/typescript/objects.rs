//! Fields of classes and interfaces, and the members of objects that a name of
//! the module is given.
//!
//! Plain data (numbers, strings, lists) is not worth a node; functions, nested
//! objects and references to other things are.

use tree_sitter::Node;

use super::K;
use super::items::{Given, Reader, unquoted};
use crate::facts::{DefIx, Flags, Sym, Term, TermId, span};
use crate::model::NodeKind;

/// Objects inside objects that have members of their own.
const MAX_NESTED: usize = 4;

impl<'s> Reader<'_, 's> {
    pub(super) fn field(&mut self, node: Node<'_>) {
        let name = node
            .child_by_field_name("name")
            .or_else(|| node.child_by_field_name("property"));
        let owner = self.bodies.last().and_then(|body| body.def);
        let (Some(owner), Some(name)) = (owner, name) else {
            return;
        };
        if self.kinds.of(name) == K::ComputedName {
            return;
        }
        let text = unquoted(self.b.text(name));
        let said = self.modifiers(node);
        let value = node.child_by_field_name("value");
        let declared = node.child_by_field_name("type");
        self.routes_field(owner, name, value, declared);
        if let Some(function) = value.filter(|v| self.is_function(*v)) {
            let def = self.named_function(owner, span(node), function, text, NodeKind::Method);
            self.hide_private(def, text, said.is_private);
            if said.is_static {
                self.b.def_mut(def).flags.set(Flags::STATIC);
            }
            return;
        }
        if let Some(ty) = declared
            && value.is_none()
            && let Some(result) = self.function_type(ty)
        {
            // A member that is called is a method, whichever way it is written.
            let kind = match self.b.def(owner).kind {
                NodeKind::Interface | NodeKind::TypeAlias => NodeKind::Method,
                _ => NodeKind::Field,
            };
            let def = self.define_in(owner, span(node), node.end_byte(), kind, text);
            self.hide_private(def, text, said.is_private);
            let ty = if kind == NodeKind::Method {
                self.b.def_mut(def).flags.set(Flags::ABSTRACT);
                self.callbacks(def, result);
                self.terms.declared(self.b, result, "return_type")
            } else {
                self.terms.ty(self.b, ty)
            };
            self.b.def_mut(def).ty = ty;
            return;
        }
        let def = self.define_in(owner, span(node), node.end_byte(), NodeKind::Field, text);
        self.hide_private(def, text, said.is_private);
        if said.is_static {
            self.b.def_mut(def).flags.set(Flags::STATIC);
        }
        match declared {
            Some(ty) => {
                let ty = self.terms.ty(self.b, ty);
                self.b.def_mut(def).ty = ty;
            }
            None => {
                if let Some(value) = value {
                    let term = self.terms.expr(self.b, value);
                    self.b.value(def, owner, term);
                    self.take_object(value, def);
                }
            }
        }
    }

    /// The function type that an annotation is, if it is one.
    fn function_type<'t>(&self, annotation: Node<'t>) -> Option<Node<'t>> {
        let mut ty = annotation.named_child(0)?;
        while self.kinds.of(ty) == K::ParenthesizedType {
            ty = ty.named_child(0)?;
        }
        (self.kinds.of(ty) == K::FunctionType).then_some(ty)
    }

    pub(super) fn is_function(&self, node: Node<'_>) -> bool {
        matches!(
            self.kinds.of(node),
            K::Arrow | K::FunctionExpression | K::GeneratorFunction
        )
    }

    /// Where the declaration of a value ends: before an object's members.
    pub(super) fn signature_end(&self, node: Node<'_>, value: Option<Node<'_>>) -> usize {
        match value.map(|value| self.bare(value)) {
            Some(value) if self.kinds.of(value) == K::Object => value.start_byte(),
            _ => node.end_byte(),
        }
    }

    /// An expression without what does not change its value.
    pub(super) fn bare<'t>(&self, node: Node<'t>) -> Node<'t> {
        let mut node = node;
        for _ in 0..8 {
            match self.kinds.of(node) {
                K::Parenthesized | K::As | K::Satisfies | K::NonNull => match node.named_child(0) {
                    Some(inner) => node = inner,
                    None => return node,
                },
                K::Call => {
                    let frozen = node
                        .child_by_field_name("function")
                        .is_some_and(|f| self.b.text(f) == "Object.freeze");
                    let inner = node
                        .child_by_field_name("arguments")
                        .and_then(|arguments| arguments.named_child(0));
                    match inner {
                        Some(inner) if frozen => node = inner,
                        _ => return node,
                    }
                }
                _ => return node,
            }
        }
        node
    }

    /// Lets the members of an object belong to the definition it is given to.
    pub(super) fn take_object(&mut self, value: Node<'_>, def: DefIx) -> bool {
        let value = self.bare(value);
        let inside = self.bodies.iter().filter(|body| body.def.is_some()).count();
        if self.kinds.of(value) != K::Object || inside > MAX_NESTED {
            return false;
        }
        let mut cursor = value.walk();
        let has_members =
            value
                .named_children(&mut cursor)
                .any(|member| match self.kinds.of(member) {
                    K::Method | K::Shorthand => true,
                    K::Pair => member
                        .child_by_field_name("value")
                        .is_some_and(|value| self.is_telling(value)),
                    _ => false,
                });
        if has_members {
            self.taken.insert(value.id(), def);
            self.b.def_mut(def).flags.set(Flags::OBJECT);
        }
        has_members
    }

    fn is_telling(&self, value: Node<'_>) -> bool {
        matches!(
            self.kinds.of(self.bare(value)),
            K::Arrow
                | K::FunctionExpression
                | K::GeneratorFunction
                | K::Object
                | K::Identifier
                | K::Member
                | K::Call
                | K::New
                | K::ClassExpression
        )
    }

    fn object_owner(&self) -> Option<DefIx> {
        self.bodies.last().and_then(|body| body.def)
    }

    pub(super) fn pair(&mut self, node: Node<'_>) {
        let (Some(owner), Some(key), Some(value)) = (
            self.object_owner(),
            node.child_by_field_name("key"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        if !matches!(self.kinds.of(key), K::PropertyName | K::String) || !self.is_telling(value) {
            return;
        }
        let text = unquoted(self.b.text(key));
        let is_module = owner == DefIx::ROOT;
        let inner = self.bare(value);
        if self.is_function(inner) {
            let kind = if is_module {
                NodeKind::Function
            } else {
                NodeKind::Method
            };
            let def = self.named_function(owner, span(node), inner, text, kind);
            if is_module {
                self.b.def_mut(def).exported = true;
            }
            return;
        }
        if is_module {
            self.exported_pair(node, text, inner);
            return;
        }
        let end = self.signature_end(node, Some(value));
        let def = self.define_in(owner, span(node), end, NodeKind::Field, text);
        let term = self.terms.expr(self.b, value);
        self.b.value(def, owner, term);
        self.take_object(value, def);
    }

    pub(super) fn shorthand(&mut self, node: Node<'_>) {
        let term = self.terms.name(self.b, node);
        self.b.mention(term, super::items::line(node));
        let Some(owner) = self.object_owner() else {
            return;
        };
        let text = self.b.text(node);
        if owner == DefIx::ROOT {
            let name = self.b.name(text);
            self.exported_names.insert(name);
            return;
        }
        let def = self.define_in(owner, span(node), node.end_byte(), NodeKind::Field, text);
        let scope = self.b.def(owner).parent;
        self.b.value(def, scope, term);
    }

    /// `this.name = value`, and variables of the module that get a value.
    pub(super) fn assignment(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        self.routes_assigned(left, right);
        match self.kinds.of(left) {
            K::Identifier if !self.is_nothing(right) => {
                let value = self.terms.expr(self.b, right);
                self.given.push(Given {
                    scope: self.b.scope(),
                    name: self.b.node_name(left),
                    at: node.start_byte() as u32,
                    value,
                });
            }
            K::Member => {
                if self.common_export(node, left, right) {
                    return;
                }
                let (Some(object), Some(name)) = (
                    left.child_by_field_name("object"),
                    left.child_by_field_name("property"),
                ) else {
                    return;
                };
                if self.kinds.of(object) == K::This {
                    self.own_field(node, name, right);
                } else {
                    self.assigned_method(node, object, name, right);
                }
            }
            _ => {}
        }
    }

    /// `owner.name = function …` and `Owner.prototype.name = function …` at the
    /// top of a module declare members of the owner.
    fn assigned_method(
        &mut self,
        node: Node<'_>,
        object: Node<'_>,
        name: Node<'_>,
        right: Node<'_>,
    ) {
        let mut function = right;
        // `one.a = one.b = function …` gives it to the first.
        while self.kinds.of(function) == K::Assignment
            && let Some(inner) = function.child_by_field_name("right")
        {
            function = inner;
        }
        if self.b.scope() != DefIx::ROOT
            || !self.functions.is_empty()
            || !self.is_function(function)
            || self.taken.contains_key(&function.id())
        {
            return;
        }
        let text = self.b.text(object);
        let (owner, is_static) = match text.strip_suffix(".prototype") {
            Some(owner) => (owner, false),
            None => (text, true),
        };
        let owner = self.b.name(owner);
        let Some(owner) = self.owners.get(&owner).copied() else {
            return;
        };
        let text = self.b.text(name);
        let kind = self.b.def(owner).kind;
        let def = self.named_function(owner, span(node), function, text, NodeKind::Method);
        match kind {
            NodeKind::Constant | NodeKind::Variable => {
                self.b.def_mut(owner).flags.set(Flags::OBJECT);
            }
            _ if is_static => self.b.def_mut(def).flags.set(Flags::STATIC),
            _ => {}
        }
    }

    /// A field that a method of a class gives a value without declaring it.
    fn own_field(&mut self, node: Node<'_>, name: Node<'_>, right: Node<'_>) {
        let Some(method) = self
            .functions
            .iter()
            .rev()
            .find_map(|function| function.def)
        else {
            return;
        };
        let class = self.b.def(method).parent;
        if self.b.def(class).kind != NodeKind::Class {
            return;
        }
        let text = self.b.text(name);
        let sym: Sym = self.b.name(text);
        let key = (class, sym, false);
        let value = self.terms.expr(self.b, right);
        let scope = self.b.scope();
        if self.is_untyped && self.declared.insert((class, sym)) {
            let def = self.define_in(class, span(node), node.end_byte(), NodeKind::Field, text);
            self.hide_private(def, text, false);
            self.overloads.insert(key, def);
            if !self.is_nothing(right) {
                self.b.value(def, scope, value);
            }
        } else if let Some(def) = self.overloads.get(&key).copied()
            && self.b.def(def).kind == NodeKind::Field
            && !self.is_nothing(right)
        {
            self.b.value(def, scope, value);
        }
    }

    /// A member of an expression: `value.name`.
    pub(super) fn member_of(&mut self, value: TermId, name: &str) -> TermId {
        let name = self.b.owned_name(name);
        self.b.term(Term::Member(value, name))
    }
}
