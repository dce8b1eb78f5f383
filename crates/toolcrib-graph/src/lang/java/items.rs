//! The walk over one Java file.

use tree_sitter::Node;

use super::terms::Terms;
use super::{K, children, kind};
use crate::facts::{Builder, DefIx, Import, NewDef, Sym, Term, TermId, span};
use crate::lang::walk;
use crate::model::{NodeKind, Span, TextKind};

/// A class around the walk.
pub(super) struct Around {
    pub(super) name: Sym,
    /// The class it extends, with its last name.
    pub(super) above: Option<(TermId, Sym)>,
    pub(super) end: u32,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) terms: Terms,
    /// Ends of the blocks around the walk.
    pub(super) blocks: Vec<u32>,
    pub(super) classes: Vec<Around>,
    /// The documentation that the next declaration has.
    pub(super) doc: Option<Span>,
    /// Types of the `new`s around the walk, for the body that may follow, with their ends.
    pub(super) created: Vec<(u32, TermId, Sym)>,
    /// Receiver and method that a lambda is passed to, by the lambda.
    pub(super) passed: Vec<(usize, TermId, Sym)>,
}

pub(super) fn read<'s>(root: Node<'_>, b: &mut Builder<'s>) {
    let mut reader = Reader {
        b,
        terms: Terms::default(),
        blocks: Vec::new(),
        classes: Vec::new(),
        doc: None,
        created: Vec::new(),
        passed: Vec::new(),
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
        while self.classes.last().is_some_and(|class| class.end <= start) {
            self.classes.pop();
        }
        while self.created.last().is_some_and(|c| c.0 <= start) {
            self.created.pop();
        }
        let line = node.start_position().row as u32 + 1;
        match kind(node) {
            K::LineComment | K::BlockComment => {
                self.comment(node);
                return false;
            }
            K::Package => {
                self.package(node);
                return false;
            }
            K::Import => {
                self.import(node);
                return false;
            }
            K::Module | K::Annotation | K::MarkerAnnotation => return false,
            K::Class | K::Interface | K::AnnotationType | K::Enum | K::Record => self.class(node),
            K::EnumConstant => self.enum_constant(node),
            K::ClassBody if field.is_none() => self.anonymous_class(node),
            K::Method | K::AnnotationElement => self.method(node),
            K::Constructor | K::CompactConstructor => self.constructor(node),
            K::Field | K::Constant => self.field(node),
            K::LocalVariable => self.local_variable(node),
            K::Call => self.call(node),
            K::New => self.creation(node),
            K::ConstructorCall => self.constructor_call(node),
            K::MethodReference => self.reference(node),
            K::FieldAccess => {
                let term = self.terms.expr(self.b, node);
                self.b.mention(term, line);
            }
            K::Identifier if !matches!(field, Some("name" | "field" | "key")) => {
                let term = self.terms.expr(self.b, node);
                self.b.mention(term, line);
            }
            K::TypeIdentifier => {
                let term = self.terms.ty(self.b, node);
                self.b.mention(term, line);
            }
            K::ScopedType => {
                let term = self.terms.ty(self.b, node);
                self.b.mention(term, line);
                return false;
            }
            K::String => {
                let scope = self.b.scope();
                self.b.words(scope, span(node), TextKind::StringLiteral);
            }
            K::Block
            | K::ConstructorBody
            | K::For
            | K::TryResources
            | K::SwitchRule
            | K::SwitchBlock => {
                self.blocks.push(node.end_byte() as u32);
            }
            K::ForEach => self.for_each(node),
            K::Catch => self.catch(node),
            K::Resource => self.resource(node),
            K::Lambda => self.lambda(node),
            K::InstanceOf => self.instance_of(node),
            K::TypePattern | K::RecordComponent => self.pattern(node),
            K::Labeled => {
                // The label is no name of a value.
            }
            K::Break | K::Continue => return false,
            _ => {}
        }
        true
    }

    fn comment(&mut self, node: Node<'_>) {
        let place = span(node);
        if self.b.text(node).starts_with("/**") {
            if let Some(unused) = self.doc.replace(place) {
                let scope = self.b.scope();
                self.b.words(scope, unused, TextKind::Comment);
            }
            return;
        }
        let scope = self.b.scope();
        self.b.words(scope, place, TextKind::Comment);
    }

    fn package(&mut self, node: Node<'_>) {
        let name = children(node)
            .into_iter()
            .find(|n| matches!(kind(*n), K::Identifier | K::ScopedIdentifier));
        let Some(name) = name else { return };
        let text: String = self.b.text(name).split_whitespace().collect();
        let doc = self.doc.take().map(|place| self.doc_text(place));
        let root = self.b.def_mut(DefIx::ROOT);
        root.signature = Some(format!("package {text}").into());
        root.doc = doc.map(Into::into);
    }

    fn import(&mut self, node: Node<'_>) {
        self.doc = None;
        let parts = children(node);
        let Some(path) = parts
            .iter()
            .find(|n| matches!(kind(**n), K::Identifier | K::ScopedIdentifier))
        else {
            return;
        };
        let glob = parts.iter().any(|n| kind(*n) == K::Asterisk);
        let text: String = self.b.text(*path).split_whitespace().collect();
        let shown = self.b.signature(node.start_byte(), node.end_byte());
        let shown = shown.map(|text| text.trim_end_matches([';', ' ']).into());
        let names: Vec<&str> = text.split('.').collect();
        // The package is one name; by convention it ends before the first capital.
        let is_static = self.b.text(node).split_whitespace().nth(1) == Some("static");
        let most = if glob && !is_static {
            names.len()
        } else {
            names.len() - 1
        };
        let package = names
            .iter()
            .position(|name| name.starts_with(char::is_uppercase))
            .unwrap_or(names.len())
            .min(most.max(1));
        let mut list = vec![self.b.owned_name(&names[..package].join("."))];
        for name in &names[package..] {
            list.push(self.b.owned_name(name));
        }
        let bound = if glob {
            "*"
        } else {
            names.last().copied().unwrap_or("*")
        };
        let def = self.b.add_to(
            DefIx::ROOT,
            None,
            NewDef {
                kind: NodeKind::Import,
                name: bound,
                span: span(node),
                exported: false,
                signature: shown,
                doc: None,
            },
        );
        self.b.import(Import {
            def,
            path: list.into(),
            level: 0,
            glob,
            binds_root: false,
        });
    }

    pub(super) fn block_end(&self) -> u32 {
        self.blocks
            .last()
            .copied()
            .unwrap_or(self.b.source.len() as u32)
    }

    // Calls.

    fn call(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let callee = self.terms.callee(self.b, node);
        let sym = self.b.node_name(name);
        self.b
            .call_spanning(node, node.start_byte(), name.end_byte(), sym, callee);
        self.arguments(node, callee, sym);
    }

    /// Counts the arguments and notes which lambdas are among them.
    fn arguments(&mut self, node: Node<'_>, callee: TermId, name: Sym) {
        let Some(list) = node.child_by_field_name("arguments") else {
            return;
        };
        let given = children(list);
        self.b.given(given.len());
        if let Term::Method(receiver, _) = self.b.term_of(callee)
            && receiver.is_known()
        {
            for argument in given.iter().filter(|n| kind(**n) == K::Lambda) {
                self.passed.push((argument.id(), receiver, name));
            }
        }
    }

    fn creation(&mut self, node: Node<'_>) {
        let Some(ty) = node.child_by_field_name("type") else {
            return;
        };
        let term = self.terms.ty(self.b, ty);
        let Some(name) = last_name(ty) else { return };
        let sym = self.b.node_name(name);
        let callee = self.terms.constructor(self.b, term, sym);
        self.b
            .call_spanning(node, node.start_byte(), ty.end_byte(), sym, callee);
        self.arguments(node, callee, sym);
        self.created.push((node.end_byte() as u32, term, sym));
    }

    /// `this(…)` and `super(…)`.
    fn constructor_call(&mut self, node: Node<'_>) {
        let Some(word) = node.child_by_field_name("constructor") else {
            return;
        };
        let (own, above) = match self.classes.last() {
            Some(class) => (Some(class.name), class.above),
            None => (None, None),
        };
        let (ty, sym) = if kind(word) == K::This {
            (self.b.term(Term::ThisType), own)
        } else {
            match above {
                Some((ty, name)) => (ty, Some(name)),
                None => (self.terms.builtin(self.b, "Object"), None),
            }
        };
        let sym = match sym {
            Some(sym) => sym,
            None => self.b.owned_name("Object"),
        };
        let callee = self.terms.constructor(self.b, ty, sym);
        self.b
            .call_spanning(node, word.start_byte(), word.end_byte(), sym, callee);
        self.arguments(node, callee, sym);
    }

    fn reference(&mut self, node: Node<'_>) {
        let term = self.terms.expr(self.b, node);
        if let Term::Closure(inner) = self.b.term_of(term)
            && let Term::Call(callee, _) = self.b.term_of(inner)
            && let Term::Method(base, name) = self.b.term_of(callee)
        {
            let member = self.b.term(Term::Member(base, name));
            self.b.mention(member, node.start_position().row as u32 + 1);
        }
    }

    pub(super) fn doc_text(&self, place: Span) -> String {
        let text = &self.b.source[place.start_byte as usize..place.end_byte as usize];
        let text = text.trim_start_matches("/**").trim_end_matches("*/");
        let mut out = String::new();
        for line in text.lines() {
            let line = line.trim();
            let line = line.strip_prefix('*').unwrap_or(line).trim();
            out.push_str(line);
            out.push('\n');
        }
        out.trim().to_string()
    }
}

/// The last name of a type, without its arguments.
pub(super) fn last_name(ty: Node<'_>) -> Option<Node<'_>> {
    let mut ty = ty;
    loop {
        ty = match kind(ty) {
            K::TypeIdentifier | K::Identifier => return Some(ty),
            K::ScopedType => *children(ty).last()?,
            K::GenericType => *children(ty).first()?,
            K::AnnotatedType => *children(ty).last()?,
            _ => return None,
        };
    }
}
