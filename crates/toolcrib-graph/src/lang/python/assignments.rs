//! Assignments: fields, variables and locals.

use tree_sitter::Node;

use super::items::{MAX_DEPTH, Reader, Visible, is_class, is_public};
use super::{K, kind};
use crate::facts::{ANY_TIME, DefIx, NewDef, Sym, Term, TermId, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn assignment(&mut self, node: Node<'_>) {
        let Some(left) = node.child_by_field_name("left") else {
            return;
        };
        // `a = b = value` nests to the right.
        let mut right = node.child_by_field_name("right");
        while let Some(inner) = right.filter(|r| kind(*r) == K::Assignment) {
            right = inner.child_by_field_name("right");
        }
        self.routes_assigned(left, right);
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
                if let (Some(def), Some(right)) =
                    (self.members.get(&(DefIx::ROOT, sym)).copied(), right)
                    && scope == DefIx::ROOT
                {
                    self.routes_constant(def, right);
                }
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
                let visible = self.after(node);
                self.bind(left, value, visible, 0);
            }
        }
    }

    pub(super) fn unpack_static(
        &mut self,
        node: Node<'_>,
        left: Node<'_>,
        value: TermId,
        depth: u32,
    ) {
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
    pub(super) fn receiver_class(&self, name: Sym) -> Option<DefIx> {
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
    pub(super) fn member(
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

    pub(super) fn bind(&mut self, target: Node<'_>, value: TermId, visible: Visible, depth: u32) {
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
                if let Some(outer) = self.outer.get(&(scope, sym)).copied() {
                    self.bind_outside(outer, sym, value);
                }
                self.b.local(sym, visible.at, visible.until, value);
                self.bind_again(sym, visible, value);
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

    /// What is bound in a loop is seen from where the loop begins again.
    fn bind_again(&mut self, name: Sym, visible: Visible, value: TermId) {
        let scope = self.b.scope();
        for (start, end, of) in self.loops.clone() {
            if of == scope && start < visible.at && visible.at <= end {
                self.b.local(name, start, start, value);
            }
        }
    }

    /// A name of the module or of a function around takes a value too.
    fn bind_outside(&mut self, outer: DefIx, name: Sym, value: TermId) {
        let scope = self.b.scope();
        if outer != DefIx::ROOT {
            // What the value means depends on names that are not seen there.
            let unknown = TermId::UNKNOWN;
            self.b.local_in(outer, name, ANY_TIME, ANY_TIME, unknown);
        } else if let Some(def) = self.members.get(&(outer, name)).copied() {
            self.b.value(def, scope, value);
        }
    }

    /// A loop or `with` in a module or class body binds without defining.
    pub(super) fn bind_static(&mut self, target: Node<'_>, value: TermId) {
        let sym = self.b.node_name(target);
        let until = self.block_end();
        let at = target.start_byte() as u32;
        self.b.local(sym, at, until, value);
    }
}
