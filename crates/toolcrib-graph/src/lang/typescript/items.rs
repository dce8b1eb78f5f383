//! The walk over one file.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::docs::Waiting;
use super::routes::Routes;
use super::terms::Terms;
use super::{Dialect, K, Kinds};
use crate::facts::{Builder, DefIx, NewDef, Sym, TermId, span};
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
    /// Variables of functions that declare no type.
    pub(super) held: Vec<Held>,
    pub(super) given: Vec<Given>,
    /// Definitions of the module by name, for members that are assigned to them.
    pub(super) owners: FxHashMap<Sym, DefIx>,
    /// Titles of the groups of tests around.
    pub(super) groups: Vec<(u32, String)>,
    pub(super) routes: Routes,
    /// Functions that are given to something.
    pub(super) passed: FxHashMap<usize, Passed>,
}

/// What a function is given to.
#[derive(Clone, Copy)]
pub(super) struct Passed {
    pub(super) callee: TermId,
    pub(super) argument: u8,
    /// Receiver and name of a method.
    pub(super) method: Option<(TermId, Sym)>,
}

/// Where the names of a pattern are visible.
#[derive(Clone, Copy)]
pub(super) struct Visible {
    pub(super) at: u32,
    pub(super) until: u32,
}

/// A variable of a function without a declared type.
pub(super) struct Held {
    pub(super) scope: DefIx,
    pub(super) name: Sym,
    pub(super) visible: Visible,
    pub(super) values: Vec<TermId>,
}

/// A value that a bare name is given.
pub(super) struct Given {
    pub(super) scope: DefIx,
    pub(super) name: Sym,
    pub(super) at: u32,
    pub(super) value: TermId,
}

pub(super) fn read<'s>(root: Node<'_>, path: &str, dialect: Dialect, b: &mut Builder<'s>) {
    let kinds = Kinds::of_dialect(dialect);
    let mut reader = Reader {
        b,
        kinds,
        terms: Terms::new(kinds),
        is_test_file: super::blocks::is_test_path(path),
        is_untyped: dialect == Dialect::Script,
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
        held: Vec::new(),
        given: Vec::new(),
        owners: FxHashMap::default(),
        groups: Vec::new(),
        routes: Routes::default(),
        passed: FxHashMap::default(),
    };
    if path.ends_with(".d.ts") {
        reader.exporting = (u32::MAX, DefIx::ROOT);
    }
    walk(root, |node, field| reader.enter(node, field));
    reader.let_go();
    reader.bind_held();
    reader.routes_reached(u32::MAX);
    reader.finish_exports();
}

impl<'s> Reader<'_, 's> {
    fn enter(&mut self, node: Node<'_>, field: Option<&str>) -> bool {
        let start = node.start_byte() as u32;
        self.leave(start);
        self.routes_reached(start);
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
            .trim_end_matches(['{', ';', ',', '=', ':'])
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
        if parent == DefIx::ROOT {
            let sym = self.b.owned_name(name);
            self.owners.entry(sym).or_insert(def);
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
