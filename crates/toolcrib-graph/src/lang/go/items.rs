//! The walk over one Go file.

use tree_sitter::Node;

use super::bindings::Literal;
use super::routes::Routes;
use super::terms::Terms;
use super::{K, kind};
use crate::facts::{
    Builder, DefIx, Flags, Import, ListRange, NewDef, Sym, Term, TermId, TypeParam, span,
};
use crate::lang::walk;
use crate::model::{NodeKind, Span, Str, TextKind};

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) terms: Terms,
    pub(super) is_test_file: bool,
    /// Ends of the blocks around the walk.
    pub(super) blocks: Vec<u32>,
    /// The callee of the call entered last, which is no mention.
    pub(super) callee: usize,
    /// The type that a receiver names, which is no mention either.
    pub(super) receiver: usize,
    /// Comments that may turn out to be documentation.
    pub(super) comments: Vec<Span>,
    /// Documentation of the declaration that follows.
    pub(super) docs: Vec<Span>,
    /// Type and values that a constant without its own repeats.
    pub(super) repeated: TermId,
    /// What the switches around the walk bind, if they do, and their ends.
    pub(super) switches: Vec<(Option<(Sym, TermId)>, u32)>,
    /// What the literal entered last holds, until its braces.
    pub(super) literal: Literal,
    pub(super) literals: Vec<(Literal, u32)>,
    pub(super) routes: Routes,
}

pub(super) fn read<'s>(root: Node<'_>, path: &str, b: &mut Builder<'s>) {
    let mut reader = Reader {
        b,
        terms: Terms::default(),
        is_test_file: path.ends_with("_test.go"),
        blocks: Vec::new(),
        callee: 0,
        receiver: 0,
        comments: Vec::new(),
        docs: Vec::new(),
        repeated: TermId::UNKNOWN,
        switches: Vec::new(),
        literal: Literal::None,
        literals: Vec::new(),
        routes: Routes::default(),
    };
    walk(root, |node, field| reader.enter(node, field));
    reader.flush_comments();
}

impl<'s> Reader<'_, 's> {
    fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        let item = kind(node);
        if item == K::Comment {
            self.b.pass(start);
            self.comment(node);
            return false;
        }
        if !self.comments.is_empty() {
            self.settle_comments(node, item);
        }
        self.b.pass(start);
        while self.blocks.last().is_some_and(|end| *end <= start) {
            self.blocks.pop();
        }
        while self.switches.last().is_some_and(|s| s.1 <= start) {
            self.switches.pop();
        }
        while self.literals.last().is_some_and(|l| l.1 <= start) {
            self.literals.pop();
        }
        match item {
            K::Package => {
                self.package(node);
                return false;
            }
            K::ImportDeclaration => self.docs.clear(),
            K::ImportSpec => {
                self.import(node);
                return false;
            }
            K::Function => self.function(node),
            K::Method => self.method(node),
            K::TypeSpec | K::TypeAlias => self.type_spec(node, item),
            K::ConstDeclaration => self.repeated = TermId::UNKNOWN,
            K::ConstSpec | K::VarSpec => self.values(node, item),
            K::ShortVar => self.short_var(node),
            K::Assign => self.field_given(node),
            K::RangeClause => self.range(node),
            K::Receive => self.receive(node),
            K::TypeSwitch | K::Switch | K::Select => {
                let end = node.end_byte() as u32;
                self.blocks.push(end);
                self.switches.push((None, end));
                self.type_switch(node);
            }
            K::TypeCase | K::DefaultCase => {
                self.blocks.push(node.end_byte() as u32);
                self.type_case(node);
            }
            K::Block | K::If | K::For | K::ExpressionCase | K::CommunicationCase => {
                self.blocks.push(node.end_byte() as u32)
            }
            K::FuncLiteral => self.closure(node),
            K::Call => self.call(node),
            K::Conversion => self.conversion(node),
            K::Composite => self.composite(node),
            K::LiteralValue => self.braces(node),
            K::Keyed => self.keyed(node),
            K::Selector if node.id() != self.callee => {
                let term = self.terms.expr(self.b, node);
                self.b.mention(term, node.start_position().row as u32 + 1);
            }
            K::Identifier | K::TypeIdentifier
                if field != Some("name")
                    && node.id() != self.callee
                    && node.id() != self.receiver =>
            {
                let term = self.terms.expr(self.b, node);
                self.b.mention(term, node.start_position().row as u32 + 1);
            }
            K::QualifiedType => {
                let term = self.terms.ty(self.b, node);
                self.b.mention(term, node.start_position().row as u32 + 1);
                return false;
            }
            K::String | K::RawString | K::Rune => {
                let scope = self.b.scope();
                self.b.words(scope, span(node), TextKind::StringLiteral);
                return false;
            }
            K::Label => return false,
            _ => {}
        }
        true
    }

    fn package(&mut self, node: Node<'_>) {
        let docs = std::mem::take(&mut self.docs);
        let doc = self.doc_text(&docs);
        for place in docs {
            self.b.words(DefIx::ROOT, place, TextKind::Doc);
        }
        let signature = self.b.signature(node.start_byte(), node.end_byte());
        let root = self.b.def_mut(DefIx::ROOT);
        root.doc = doc.map(Str::from);
        root.signature = signature;
    }

    fn import(&mut self, node: Node<'_>) {
        let Some(path) = node.child_by_field_name("path") else {
            return;
        };
        let alias = node.child_by_field_name("name");
        let path = self.b.text(path).trim_matches(['"', '`']);
        if path.is_empty() {
            return;
        }
        self.routes_import(path);
        let alias = alias.map(|alias| self.b.text(alias));
        let glob = alias == Some(".");
        let bound = match alias {
            Some(".") => "*",
            Some(alias) => alias,
            None => package_name(path),
        };
        let shown = match alias {
            Some(alias) => format!("import {alias} \"{path}\""),
            None => format!("import \"{path}\""),
        };
        let path = self.b.name(path);
        let def = self.b.add_to(
            DefIx::ROOT,
            None,
            NewDef {
                kind: NodeKind::Import,
                name: bound,
                span: span(node),
                exported: false,
                signature: Some(crate::facts::one_line(&shown, 240).into()),
                doc: None,
            },
        );
        self.b.import(Import {
            def,
            path: [path].into(),
            level: 0,
            glob,
            // The package says its own name, which need not be that of the path.
            binds_root: alias.is_none(),
        });
    }

    fn function(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let name = self.b.text(name);
        let is_test = self.is_test_file
            && ["Test", "Benchmark", "Example", "Fuzz"]
                .iter()
                .any(|word| is_test_name(name, word));
        let kind = if is_test {
            NodeKind::Test
        } else {
            NodeKind::Function
        };
        let def = self.define(node, kind, name, name);
        self.b.def_mut(def).flags.set(Flags::STATIC);
        self.open_function(node, def);
    }

    fn method(&mut self, node: Node<'_>) {
        let (Some(name), Some(receiver)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("receiver"),
        ) else {
            return;
        };
        let name = self.b.text(name);
        let mut cursor = receiver.walk();
        let parameter = receiver
            .named_children(&mut cursor)
            .find(|child| kind(*child) == K::Parameter);
        let ty = parameter.and_then(|p| p.child_by_field_name("type"));
        let (self_ty, params) = match ty {
            Some(ty) => self.receiver(ty),
            None => (TermId::UNKNOWN, (0, 0)),
        };
        self.b.open_extension(span(node), self_ty, None, params);
        // Suites of tests are methods.
        let has_parameters = node
            .child_by_field_name("parameters")
            .is_some_and(|list| list.named_child_count() > 0);
        let is_test = self.is_test_file && is_test_name(name, "Test") && !has_parameters;
        let kind = if is_test {
            NodeKind::Test
        } else {
            NodeKind::Method
        };
        let def = self.define(node, kind, name, name);
        self.open_function(node, def);
        if let Some(variable) = parameter.and_then(|p| p.child_by_field_name("name")) {
            let sym = self.b.node_name(variable);
            let this = self.b.term(Term::This);
            let (at, until) = (variable.start_byte() as u32, node.end_byte() as u32);
            self.b.local(sym, at, until, this);
        }
    }

    /// The type that a receiver names, and the type parameters that it binds.
    fn receiver(&mut self, ty: Node<'_>) -> (TermId, (u32, u32)) {
        let mut ty = ty;
        while matches!(kind(ty), K::PointerType | K::ParenthesizedType) {
            match ty.named_child(0) {
                Some(inner) => ty = inner,
                None => return (TermId::UNKNOWN, (0, 0)),
            }
        }
        self.receiver = ty.child_by_field_name("type").unwrap_or(ty).id();
        let mut params = Vec::new();
        if kind(ty) == K::GenericType
            && let Some(list) = ty.child_by_field_name("type_arguments")
        {
            let mut cursor = list.walk();
            for argument in list.named_children(&mut cursor) {
                let text = self.b.text(argument).trim();
                let name = self.b.name(text);
                params.push(TypeParam {
                    name,
                    bounds: ListRange::default(),
                });
            }
        }
        let params = self.b.type_params(&params);
        (self.terms.ty(self.b, ty), params)
    }

    /// Opens a function and binds what its signature declares.
    fn open_function(&mut self, node: Node<'_>, def: DefIx) {
        let params = self.type_params(node);
        let ty = self.result_type(node);
        let arity = arity(node);
        let def_mut = self.b.def_mut(def);
        def_mut.ty = ty;
        def_mut.arity = arity;
        if params.0 != params.1 {
            def_mut.params = params;
        }
        self.b.open(def);
        self.parameters(node);
    }

    pub(super) fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
        let mut params = Vec::new();
        if let Some(list) = node.child_by_field_name("type_parameters") {
            let mut cursor = list.walk();
            for declared in list.named_children(&mut cursor) {
                let bound = declared
                    .child_by_field_name("type")
                    .and_then(|bound| bound.named_child(0));
                let bounds = match bound {
                    Some(bound) => {
                        let bound = self.terms.ty(self.b, bound);
                        self.b.list(&[bound])
                    }
                    None => ListRange::default(),
                };
                let mut names = declared.walk();
                for name in declared.children_by_field_name("name", &mut names) {
                    let name = self.b.node_name(name);
                    params.push(TypeParam { name, bounds });
                }
            }
        }
        self.b.type_params(&params)
    }

    pub(super) fn result_type(&mut self, node: Node<'_>) -> TermId {
        match node.child_by_field_name("result") {
            Some(result) => self.terms.result(self.b, result),
            None => TermId::UNKNOWN,
        }
    }

    /// Adds a definition to the innermost scope; `shown` is the name it goes by.
    pub(super) fn define(
        &mut self,
        node: Node<'_>,
        kind: NodeKind,
        name: &str,
        shown: &str,
    ) -> DefIx {
        let end = node
            .child_by_field_name("body")
            .map_or(node.end_byte(), |body| body.start_byte());
        let mut signature = self.b.signature(node.start_byte(), end);
        if matches!(kind, NodeKind::Struct | NodeKind::Interface) {
            let text = self.b.source.get(node.start_byte()..end).unwrap_or("");
            let head = text.find('{').map_or(end, |at| node.start_byte() + at);
            signature = self.b.signature(node.start_byte(), head);
        }
        if matches!(
            kind,
            NodeKind::Struct | NodeKind::Interface | NodeKind::Class | NodeKind::TypeAlias
        ) {
            signature = signature.map(|text| format!("type {text}").into());
        }
        let docs = std::mem::take(&mut self.docs);
        let doc = self.doc_text(&docs);
        let def = self.b.add(NewDef {
            kind,
            name: shown,
            span: span(node),
            exported: is_exported(name),
            signature,
            doc,
        });
        for place in docs {
            self.b.words(def, place, TextKind::Doc);
        }
        def
    }
}

pub(super) fn is_exported(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// `TestX` is a test, `Testify` is not.
fn is_test_name(name: &str, word: &str) -> bool {
    name.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

/// The name that a package most likely has, by the path that imports it.
fn package_name(path: &str) -> &str {
    let mut parts = path.rsplit('/');
    let mut last = parts.next().unwrap_or(path);
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    if is_version && let Some(before) = parts.next() {
        last = before;
    }
    let last = last.split_once(".v").map_or(last, |(name, _)| name);
    let last = last.strip_prefix("go-").unwrap_or(last);
    let last = last.strip_suffix("-go").unwrap_or(last);
    last.strip_suffix(".go").unwrap_or(last)
}

/// The fewest and most arguments that a signature takes.
pub(super) fn arity(node: Node<'_>) -> Option<(u8, u8)> {
    let list = node.child_by_field_name("parameters")?;
    let (mut count, mut variadic) = (0usize, false);
    let mut cursor = list.walk();
    for parameter in list.named_children(&mut cursor) {
        match kind(parameter) {
            K::Parameter => {
                let mut names = parameter.walk();
                let named = parameter.children_by_field_name("name", &mut names).count();
                count += named.max(1);
            }
            K::VariadicParameter => variadic = true,
            _ => {}
        }
    }
    let count = count.min(254) as u8;
    Some((count, if variadic { u8::MAX } else { count }))
}
