//! Names that loops, contexts, handlers and tests bind.

use tree_sitter::Node;

use super::items::{MAX_DEPTH, Reader, Visible, is_class};
use super::terms::either;
use super::{K, kind};
use crate::facts::{DefIx, Term, TermId};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn bind_for(&mut self, node: Node<'_>) {
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

    pub(super) fn enter_loop(&mut self, node: Node<'_>) {
        let (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
        let scope = self.b.scope();
        self.loops.push((start, end, scope));
    }

    /// `global name` and `nonlocal name`
    pub(super) fn binds_outside(&mut self, node: Node<'_>) {
        let scope = self.b.scope();
        let mut outer = DefIx::ROOT;
        if kind(node) == K::Nonlocal {
            outer = self.b.def(scope).parent;
            while outer != DefIx::ROOT && is_class(self.b.def(outer).kind) {
                outer = self.b.def(outer).parent;
            }
        }
        let mut cursor = node.walk();
        for name in node.named_children(&mut cursor) {
            let sym = self.b.node_name(name);
            self.outer.insert((scope, sym), outer);
        }
    }

    /// Names that a pattern of `case` captures.
    pub(super) fn bind_case(&mut self, node: Node<'_>) {
        let visible = self.after(node);
        let mut todo = vec![(node, 0)];
        while let Some((pattern, depth)) = todo.pop() {
            if depth > MAX_DEPTH {
                continue;
            }
            let mut cursor = pattern.walk();
            let parts: Vec<Node<'_>> = pattern.named_children(&mut cursor).collect();
            let is_class = kind(pattern) == K::ClassPattern;
            for (place, part) in parts.into_iter().enumerate() {
                match kind(part) {
                    // The class itself, or the name of an argument.
                    K::DottedName if is_class && place == 0 => {}
                    K::Identifier if kind(pattern) == K::KeywordPattern && place == 0 => {}
                    K::DottedName if part.named_child_count() == 1 => {
                        self.bind_capture(part.named_child(0), visible);
                    }
                    K::DottedName => {}
                    K::Identifier => self.bind_capture(Some(part), visible),
                    _ => todo.push((part, depth + 1)),
                }
            }
        }
    }

    fn bind_capture(&mut self, name: Option<Node<'_>>, visible: Visible) {
        if let Some(name) = name.filter(|n| kind(*n) == K::Identifier && self.b.text(*n) != "_") {
            self.bind(name, TermId::UNKNOWN, visible, 0);
        }
    }

    pub(super) fn comprehension(&mut self, node: Node<'_>) {
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
    pub(super) fn bind_local(
        &mut self,
        target: Node<'_>,
        value: TermId,
        visible: Visible,
        depth: u32,
    ) {
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

    pub(super) fn lambda(&mut self, node: Node<'_>) {
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
    pub(super) fn bind_as(&mut self, node: Node<'_>) {
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

    pub(super) fn as_pattern(&mut self, node: Node<'_>) {
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

    pub(super) fn bind_exception(&mut self, node: Node<'_>, value: Node<'_>, alias: Node<'_>) {
        let value = self.instances(value);
        let visible = Visible {
            at: node.start_byte() as u32,
            until: self.block_end(),
        };
        self.bind(alias, value, visible, 0);
    }

    /// A value of a class or of one of a tuple of classes.
    pub(super) fn instances(&mut self, node: Node<'_>) -> TermId {
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
    pub(super) fn narrow(&mut self, node: Node<'_>) {
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

    pub(super) fn result(&mut self, node: Node<'_>) {
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
}
