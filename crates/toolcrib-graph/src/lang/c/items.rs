//! The walk over one file of C or C++.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::docs::Pending;
use super::terms::{Terms, children};
use super::{K, Kinds};
use crate::facts::{Builder, DefIx, Flags, Import, NewDef, Sym, TermId, span};
use crate::lang::walk;
use crate::model::{NodeKind, Span, TextKind};

/// `template <…>` around what follows it.
pub(in crate::lang) struct Templated {
    pub(in crate::lang) start: usize,
    pub(in crate::lang) row: usize,
    pub(in crate::lang) end: u32,
    pub(in crate::lang) params: (u32, u32),
    /// Its declaration has been read; what follows is inside of that.
    pub(in crate::lang) used: bool,
}

/// A class around the walk.
pub(in crate::lang) struct Around {
    pub(in crate::lang) end: u32,
    pub(in crate::lang) is_public: bool,
}

pub(in crate::lang) struct Reader<'b, 's> {
    pub(in crate::lang) b: &'b mut Builder<'s>,
    pub(in crate::lang) terms: Terms,
    pub(in crate::lang) kinds: Kinds,
    pub(in crate::lang) is_cpp: bool,
    /// Ends of the blocks around the walk.
    pub(super) blocks: Vec<u32>,
    pub(in crate::lang) classes: Vec<Around>,
    pub(in crate::lang) templates: Vec<Templated>,
    /// The type parameters of what was defined last.
    pub(in crate::lang) template_params: Option<(u32, u32)>,
    /// Ends of the namespaces without a name around the walk.
    pub(in crate::lang) hidden: Vec<u32>,
    /// Types of which one declaration names the definition that follows in it.
    pub(super) transparent: Vec<usize>,
    pub(super) unnamed: u32,
    pub(super) pending: Option<Pending>,
    /// Macros that stand for what is included.
    paths: FxHashMap<&'s str, &'s str>,
    /// The type of the braces that a designated field is in, by its node.
    pub(super) braces: FxHashMap<usize, TermId>,
}

/// Writes what a file declares.
pub(in crate::lang) fn read<'s>(root: Node<'_>, b: &mut Builder<'s>, kinds: Kinds, is_cpp: bool) {
    let mut reader = Reader {
        b,
        terms: Terms::new(kinds, is_cpp),
        kinds,
        is_cpp,
        blocks: Vec::new(),
        classes: Vec::new(),
        templates: Vec::new(),
        template_params: None,
        hidden: Vec::new(),
        transparent: Vec::new(),
        unnamed: 0,
        pending: None,
        paths: FxHashMap::default(),
        braces: FxHashMap::default(),
    };
    walk(root, |node, field| reader.enter(node, field));
    reader.flush_comment();
}

fn drop_ended(ends: &mut Vec<u32>, start: u32) {
    while ends.last().is_some_and(|end| *end <= start) {
        ends.pop();
    }
}

impl<'s> Reader<'_, 's> {
    pub(in crate::lang) fn kind(&self, node: Node<'_>) -> K {
        self.kinds.of(node)
    }

    fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        self.b.pass(start);
        drop_ended(&mut self.blocks, start);
        drop_ended(&mut self.hidden, start);
        while self.classes.last().is_some_and(|c| c.end <= start) {
            self.classes.pop();
        }
        while self.templates.last().is_some_and(|t| t.end <= start) {
            self.templates.pop();
        }
        match self.kind(node) {
            K::Comment => {
                self.comment(node);
                return false;
            }
            K::Include => {
                self.include(node);
                return false;
            }
            K::Define | K::DefineFunction => {
                self.define_macro(node);
                return false;
            }
            K::Directive
            | K::Attribute
            | K::AttributeDeclaration
            | K::Declspec
            | K::Goto
            | K::Char
            | K::FieldDesignator => return false,
            K::Namespace => self.namespace(node),
            K::NamespaceAlias => {
                self.namespace_alias(node);
                return false;
            }
            K::Using => {
                self.using(node);
                return false;
            }
            K::Template => self.template(node),
            K::Alias => self.alias(node),
            K::Typedef => self.typedef(node),
            K::Struct | K::Union | K::Class => self.record(node, field),
            K::Enum => self.enumeration(node, field),
            K::Enumerator => self.enumerator(node),
            K::Access => self.access(node),
            K::Function => self.function(node),
            K::Declaration => self.declaration(node),
            K::Field => self.field_declaration(node),
            K::Call => self.call(node),
            K::New => self.creation(node),
            K::FieldInitializer => self.initialiser(node),
            K::CompoundLiteral => self.literal(node),
            K::Block | K::If | K::For | K::While | K::Switch => {
                self.blocks.push(node.end_byte() as u32);
            }
            K::ForRange => self.for_range(node),
            K::Catch => self.catch(node),
            K::Lambda => self.lambda(node),
            K::Return => self.returned(node),
            K::Assignment => self.assigned(node),
            K::Pair => self.paired(node),
            K::String | K::RawString => {
                let scope = self.b.scope();
                self.b.words(scope, span(node), TextKind::StringLiteral);
                return false;
            }
            K::Primitive | K::Number | K::FieldIdentifier | K::Label => return false,
            _ => return self.mentioned(node, field),
        }
        true
    }

    /// Names that are used without being called.
    fn mentioned(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let line = node.start_position().row as u32 + 1;
        let is_part = matches!(
            field,
            Some("name" | "scope" | "field" | "label" | "function")
        );
        match self.kind(node) {
            K::FieldAccess if !is_part => {
                let term = self.terms.expr(self.b, node);
                let term = self.whole_member(term);
                self.b.mention(term, line);
            }
            K::Identifier if !is_part && field != Some("declarator") => {
                let term = self.terms.expr(self.b, node);
                self.b.mention(term, line);
            }
            K::TypeIdentifier if !is_part && field != Some("declarator") => {
                let term = self.terms.ty(self.b, node);
                self.b.mention(term, line);
            }
            K::Qualified if !is_part && field != Some("declarator") => {
                let term = self.terms.path(self.b, node);
                self.mention_applied(term, line);
            }
            K::TemplateType | K::TemplateFunction if !is_part => {
                let term = self.terms.expr(self.b, node);
                self.mention_applied(term, line);
            }
            _ => {}
        }
        true
    }

    /// Of `pair.first`, which has two readings, the member.
    fn whole_member(&self, term: TermId) -> TermId {
        match self.b.term_of(term) {
            crate::facts::Term::Either(list) => self.b.first_of(list),
            _ => term,
        }
    }

    fn mention_applied(&mut self, term: TermId, line: u32) {
        let term = match self.b.term_of(term) {
            crate::facts::Term::Apply(base, _) => base,
            _ => term,
        };
        self.b.mention(term, line);
    }

    fn include(&mut self, node: Node<'_>) {
        self.flush_comment();
        let Some(path) = node.child_by_field_name("path") else {
            return;
        };
        let text = self.b.text(path);
        // A macro may stand for what is included.
        let text = match self.paths.get(text) {
            Some(text) => text,
            None => text,
        };
        let quoted = text.starts_with('"');
        if !quoted && !text.starts_with('<') {
            return;
        }
        let inner = text.trim_matches(['"', '<', '>']).trim();
        if inner.is_empty() {
            return;
        }
        let shown = self
            .b
            .signature(node.start_byte(), node.end_byte())
            .map(|text| text.trim_end().into());
        let def = self.b.add_to(
            DefIx::ROOT,
            None,
            NewDef {
                kind: NodeKind::Import,
                name: inner,
                span: trimmed(self.b.source, span(node)),
                exported: false,
                signature: shown,
                doc: None,
            },
        );
        self.b.def_mut(def).flags.set(Flags::UNNAMED);
        let path = self.b.owned_name(inner);
        self.b.import(Import {
            def,
            path: Box::new([path]),
            level: u8::from(quoted),
            glob: true,
            binds_root: false,
        });
    }

    fn define_macro(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let text = self.b.text(name);
        let place = trimmed(self.b.source, span(node));
        // A guard against reading a header twice defines nothing.
        if self.kind(node) == K::Define && node.child_by_field_name("value").is_none() {
            self.flush_comment();
            return;
        }
        if let Some(value) = node.child_by_field_name("value") {
            let value = self.b.text(value).trim();
            if value.starts_with(['"', '<']) && value.ends_with(['"', '>']) {
                self.paths.insert(text, value);
            }
        }
        let doc = self.doc_above(node.start_position().row, node.start_byte());
        let signature = self
            .b
            .signature(place.start_byte as usize, place.end_byte as usize);
        let def = self.b.add_to(
            DefIx::ROOT,
            None,
            NewDef {
                kind: NodeKind::Macro,
                name: text,
                span: place,
                exported: true,
                signature,
                doc: doc.as_ref().map(|(text, _)| text.clone()),
            },
        );
        if let Some((_, place)) = doc {
            self.b.words(def, place, TextKind::Doc);
        }
        if let Some(list) = node.child_by_field_name("parameters") {
            let count = children(self.kinds, list).len().min(254) as u8;
            let any = self.b.text(list).contains("...");
            let least = if any { 0 } else { count };
            self.b.def_mut(def).arity = Some((least, if any { u8::MAX } else { count }));
        }
    }

    pub(in crate::lang) fn block_end(&self) -> u32 {
        self.blocks
            .last()
            .copied()
            .unwrap_or(self.b.source.len() as u32)
    }

    /// Whether the walk is inside a function.
    pub(in crate::lang) fn in_function(&self) -> bool {
        let scope = self.b.scope();
        matches!(
            self.b.def(scope).kind,
            NodeKind::Function | NodeKind::Method | NodeKind::Test
        )
    }

    pub(in crate::lang) fn in_class(&self) -> bool {
        let scope = self.b.scope();
        matches!(self.b.def(scope).kind, NodeKind::Class | NodeKind::Struct)
    }

    /// Adds a definition with the comment above it; `from` is where it begins.
    pub(in crate::lang) fn define(
        &mut self,
        node: Node<'_>,
        kind: NodeKind,
        name: &str,
        signature_end: usize,
        exported: bool,
    ) -> DefIx {
        let templated = self.templates.last().filter(|t| !t.used);
        let (start, row) = match templated {
            Some(t) => (t.start, t.row),
            None => (node.start_byte(), node.start_position().row),
        };
        self.template_params = templated.map(|t| t.params);
        for template in &mut self.templates {
            template.used = true;
        }
        let doc = self.doc_above(row, start);
        let signature = self.b.signature(start, signature_end);
        let signature = signature.map(|text| text.trim_end_matches([';', ' ', ',', '{']).into());
        let mut place = span(node);
        place.start_byte = start as u32;
        place.start_line = row as u32 + 1;
        let new = NewDef {
            kind,
            name,
            span: place,
            exported,
            signature,
            doc: doc
                .as_ref()
                .map(|(text, _)| text.clone())
                .filter(|text| !text.is_empty()),
        };
        // In C a type inside a struct is a name of the file.
        let is_type = matches!(kind, NodeKind::Struct | NodeKind::Enum);
        let def = if is_type && !self.is_cpp {
            let around = self.b.enclosing(|def| def.kind != NodeKind::Struct);
            self.b.add_to(around.unwrap_or(DefIx::ROOT), None, new)
        } else {
            self.b.add(new)
        };
        if let Some((_, place)) = doc {
            self.b.words(def, place, TextKind::Doc);
        }
        def
    }

    /// A name for a type that has none.
    pub(in crate::lang) fn name_unnamed(&mut self, node: Node<'_>, word: &str) -> Sym {
        self.unnamed += 1;
        let name = format!("{{{word} {}}}", self.unnamed);
        let sym = self.b.owned_name(&name);
        self.terms.unnamed.insert(node.id(), sym);
        sym
    }
}

/// Without the line break that ends a directive.
fn trimmed(source: &str, mut place: Span) -> Span {
    let text = source
        .get(place.start_byte as usize..place.end_byte as usize)
        .unwrap_or("");
    let kept = text.trim_end();
    let cut = &text[kept.len()..];
    place.end_byte -= cut.len() as u32;
    let last = place.start_line + kept.matches('\n').count() as u32;
    place.end_line = last;
    place
}
