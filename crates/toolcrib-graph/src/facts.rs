//! What one file says, on its own.
//!
//! Facts are a function of a file's path and text alone, so they can be made in
//! parallel and kept by content hash. They are neutral of the language: rules
//! under `lang` write them, the linker under `link` reads them. Names are
//! numbers into the file's own table; types and expressions are [`Term`]s that
//! the linker evaluates across files. Nothing here is resolved yet.

mod builder;
mod routes;
mod term;

use serde::{Deserialize, Serialize};

use crate::model::{NodeKind, Span, Str, TextKind};

pub(crate) use builder::{Builder, NewDef, one_line, span};
pub(crate) use routes::{BLANK, Blank, Doubt, Joins, Mount, RouteFact, Router, filled, joined};
pub(crate) use term::{ListRange, Term, TermId, WHOLE};

/// The end of what an inner function binds: it may run at any time.
pub(crate) const ANY_TIME: u32 = 0;

/// Index into [`FileFacts::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Sym(pub(crate) u32);

/// Index into [`FileFacts::defs`]; the file itself is [`DefIx::ROOT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct DefIx(pub(crate) u32);

impl DefIx {
    pub(crate) const ROOT: DefIx = DefIx(0);
}

/// Index into [`FileFacts::extensions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct ExtIx(pub(crate) u32);

/// Everything one file says.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileFacts {
    pub(crate) names: Vec<Str>,
    pub(crate) terms: Vec<Term>,
    pub(crate) lists: Vec<TermId>,
    /// By start byte, outer first; the first stands for the file.
    pub(crate) defs: Vec<Def>,
    pub(crate) type_params: Vec<TypeParam>,
    pub(crate) extensions: Vec<Extension>,
    /// Sorted by (scope, name, position).
    pub(crate) locals: Vec<Local>,
    pub(crate) imports: Vec<Import>,
    pub(crate) calls: Vec<Call>,
    pub(crate) uses: Vec<Use>,
    /// Values given to fields, variables and results that declare no type.
    pub(crate) values: Vec<Value>,
    pub(crate) handed: Vec<Handed>,
    /// Functions that are given to fields.
    pub(crate) assigned: Vec<Assigned>,
    pub(crate) texts: Vec<TextFact>,
    pub(crate) submodules: Vec<Submodule>,
    /// What the source writes before a definition's name; sorted by it.
    pub(crate) qualifiers: Vec<(DefIx, Str)>,
    /// Routes that may be under a prefix.
    pub(crate) routes: Vec<RouteFact>,
    pub(crate) mounts: Vec<Mount>,
    /// Routes that only a method's name says are routes.
    pub(crate) doubts: Vec<Doubt>,
    /// Parts of paths that are written as expressions.
    pub(crate) blanks: Vec<Blank>,
    /// Texts of constants that a path may be made of; sorted by them.
    pub(crate) constants: Vec<(DefIx, Str)>,
    /// Routes and the definitions that they stand before.
    pub(crate) handlers: Vec<(DefIx, DefIx)>,
    pub(crate) syntax_errors: bool,
    pub(crate) gave_up: bool,
    pub(crate) too_deep: bool,
}

impl FileFacts {
    pub(crate) fn name(&self, sym: Sym) -> &Str {
        &self.names[sym.0 as usize]
    }

    pub(crate) fn list(&self, range: ListRange) -> &[TermId] {
        &self.lists[range.start as usize..range.end as usize]
    }

    pub(crate) fn def(&self, ix: DefIx) -> &Def {
        &self.defs[ix.0 as usize]
    }

    /// The bindings of a name in one scope, by position.
    pub(crate) fn locals_named(&self, scope: DefIx, name: Sym) -> &[Local] {
        let start = self
            .locals
            .partition_point(|l| (l.scope, l.name) < (scope, name));
        let len = self.locals[start..]
            .iter()
            .take_while(|l| (l.scope, l.name) == (scope, name))
            .count();
        &self.locals[start..start + len]
    }

    pub(crate) fn params(&self, range: (u32, u32)) -> &[TypeParam] {
        &self.type_params[range.0 as usize..range.1 as usize]
    }

    /// What the source writes before the name of a definition, or nothing.
    pub(crate) fn qualifier(&self, def: DefIx) -> &str {
        self.qualifiers
            .binary_search_by_key(&def, |q| q.0)
            .map_or("", |at| &self.qualifiers[at].1)
    }

    /// The text of a constant, if a path may be made of it.
    pub(crate) fn constant(&self, def: DefIx) -> Option<&str> {
        let at = self.constants.binary_search_by_key(&def, |c| c.0).ok()?;
        Some(&self.constants[at].1)
    }

    /// What a definition hands to its arguments; sorted by it.
    pub(crate) fn handed_by(&self, def: DefIx) -> &[Handed] {
        let start = self.handed.partition_point(|h| h.def < def);
        let end = self.handed.partition_point(|h| h.def <= def);
        &self.handed[start..end]
    }

    /// The values recorded for a definition; they are sorted by it.
    pub(crate) fn values_of(&self, def: DefIx) -> &[Value] {
        let start = self.values.partition_point(|v| v.def < def);
        let end = self.values.partition_point(|v| v.def <= def);
        &self.values[start..end]
    }
}

/// What a definition is beyond its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flags(pub(crate) u16);

impl Flags {
    /// Reading it gives its result: a property.
    pub(crate) const PROPERTY: Flags = Flags(1);
    /// Needs no receiver.
    pub(crate) const STATIC: Flags = Flags(2);
    /// A declaration that another definition of the same name completes.
    pub(crate) const OVERLOAD: Flags = Flags(4);
    /// Calling it gives something to enter that yields its declared element.
    pub(crate) const CONTEXT: Flags = Flags(8);
    /// Its result must be awaited.
    pub(crate) const ASYNC: Flags = Flags(16);
    /// A member of a type-like extension that implements an interface.
    pub(crate) const IMPLEMENTS: Flags = Flags(32);
    /// Declares no body.
    pub(crate) const ABSTRACT: Flags = Flags(64);
    /// What it defines is known only at run time (`__getattr__` and the like).
    pub(crate) const OPEN: Flags = Flags(128);
    /// A value or alias whose members are definitions of their own.
    pub(crate) const OBJECT: Flags = Flags(256);

    /// No name in the source leads to it: a title is not a name.
    pub(crate) const UNNAMED: Flags = Flags(512);
    /// Which definition is called is decided at run time.
    pub(crate) const VIRTUAL: Flags = Flags(1_024);
    /// No other file can declare it and mean this one.
    pub(crate) const FILE_LOCAL: Flags = Flags(2_048);
    /// Its members are names of what is around it too.
    pub(crate) const LEAKS: Flags = Flags(4_096);

    pub(crate) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn set(&mut self, flag: Flags) {
        self.0 |= flag.0;
    }
}

/// One definition or import.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Def {
    pub(crate) kind: NodeKind,
    pub(crate) name: Sym,
    /// The definition around it; the root's parent is itself.
    pub(crate) parent: DefIx,
    /// Set when it is a direct member of an extension.
    pub(crate) ext: Option<ExtIx>,
    pub(crate) flags: Flags,
    pub(crate) exported: bool,
    pub(crate) span: Span,
    pub(crate) signature: Option<Str>,
    pub(crate) doc: Option<Str>,
    /// Declared type of a value, result of a function, meaning of an alias.
    pub(crate) ty: TermId,
    /// Base classes or super-interfaces.
    pub(crate) bases: ListRange,
    /// Range of [`FileFacts::type_params`].
    pub(crate) params: (u32, u32),
    /// The fewest and most arguments it takes, where that tells overloads apart;
    /// 255 for any number.
    pub(crate) arity: Option<(u8, u8)>,
    /// Types of its parameters as they are written, where a declaration and a
    /// definition must be told to be one.
    pub(crate) shape: Option<Sym>,
}

/// A type parameter and what it must be.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TypeParam {
    pub(crate) name: Sym,
    pub(crate) bounds: ListRange,
}

/// Members added to a type that is named elsewhere: an `impl` block.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Extension {
    pub(crate) parent: DefIx,
    pub(crate) span: Span,
    pub(crate) self_ty: TermId,
    /// The interface it implements.
    pub(crate) interface: Option<TermId>,
    pub(crate) params: (u32, u32),
}

/// A name bound inside a scope without being a definition of its own.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Local {
    pub(crate) scope: DefIx,
    pub(crate) name: Sym,
    /// Visible from this byte.
    pub(crate) at: u32,
    /// Certain until this byte: the end of its block; or [`ANY_TIME`].
    pub(crate) until: u32,
    /// Its value.
    pub(crate) value: TermId,
}

/// How an import names what it brings in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Import {
    /// Its own definition, of kind import.
    pub(crate) def: DefIx,
    pub(crate) path: Box<[Sym]>,
    /// Leading dots of a relative import; 0 for an absolute one.
    pub(crate) level: u8,
    /// Everything that the path exports.
    pub(crate) glob: bool,
    /// Binds the first name of the path though it loads all of it.
    pub(crate) binds_root: bool,
}

/// One call expression.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) scope: DefIx,
    pub(crate) span: Span,
    /// What is called, as bytes of the file.
    pub(crate) callee_text: (u32, u32),
    pub(crate) name: Sym,
    pub(crate) callee: TermId,
    pub(crate) is_macro: bool,
    /// A constructor's call that is not written as one: a call only where a class of
    /// the project is made.
    pub(crate) is_implied: bool,
    /// How many arguments it passes, where that tells overloads apart.
    pub(crate) given: Option<u8>,
    /// What it passes, where that can tell what is called.
    pub(crate) args: ListRange,
}

/// One mention of a name that is not the callee of a call.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Use {
    pub(crate) scope: DefIx,
    pub(crate) term: TermId,
    pub(crate) line: u32,
}

/// A value that a definition takes, evaluated in a scope of its own.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Value {
    pub(crate) def: DefIx,
    pub(crate) scope: DefIx,
    pub(crate) term: TermId,
}

/// What a function calls one of its arguments with, as far as it declares it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Handed {
    /// The function, or the alias of a function type.
    pub(crate) def: DefIx,
    /// Which argument; [`WHOLE`] for an alias.
    pub(crate) argument: u8,
    /// Which parameter of it; [`WHOLE`] for its whole type.
    pub(crate) place: u8,
    /// The type.
    pub(crate) term: TermId,
}

/// Where a function is given to be called through.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Slot {
    /// A field.
    Member(TermId),
    /// The field of a type by its place.
    Place(TermId, u8),
}

/// A name that may be a function's, given to a field.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Assigned {
    pub(crate) scope: DefIx,
    pub(crate) slot: Slot,
    pub(crate) value: TermId,
}

/// One comment or string literal.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TextFact {
    pub(crate) def: DefIx,
    pub(crate) span: Span,
    pub(crate) kind: TextKind,
}

/// A module whose text is in another file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Submodule {
    pub(crate) def: DefIx,
    /// Where the source says it is, relative to this file's directory.
    pub(crate) path: Option<Str>,
}
