//! The words of the graph: nodes, edges, call sites and the facts they carry.
//!
//! Plain data without behaviour beyond naming; [`crate::CodeGraph`] owns the
//! indexes over it. Ids are dense `u32`s valid within one graph; what must
//! survive a rebuild is [`Node::symbol`].

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A shared, immutable string: names repeat, and answers borrow from the graph.
pub type Str = Arc<str>;

/// Index of a node within one graph, dense from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// Index of a file within one graph, dense from 0, in path order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct FileId(pub u32);

/// A place in one file. Lines count from 1 and include both ends; bytes count
/// from 0 and exclude the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Span {
    pub start_byte: u32,
    pub end_byte: u32,
    pub start_line: u32,
    pub end_line: u32,
}

impl Span {
    /// Whether `other` lies within this span (equal counts).
    pub fn contains(&self, other: &Span) -> bool {
        self.start_byte <= other.start_byte && other.end_byte <= self.end_byte
    }
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum NodeKind {
    File,
    Import,
    Module,
    Function,
    Method,
    Struct,
    Class,
    Enum,
    EnumMember,
    /// An interface, trait or protocol.
    Interface,
    TypeAlias,
    Constant,
    Variable,
    Field,
    Macro,
    /// An HTTP route declared by a web framework.
    Route,
    Test,
}

impl NodeKind {
    /// Every kind, in declaration order.
    pub const ALL: [NodeKind; 17] = [
        NodeKind::File,
        NodeKind::Import,
        NodeKind::Module,
        NodeKind::Function,
        NodeKind::Method,
        NodeKind::Struct,
        NodeKind::Class,
        NodeKind::Enum,
        NodeKind::EnumMember,
        NodeKind::Interface,
        NodeKind::TypeAlias,
        NodeKind::Constant,
        NodeKind::Variable,
        NodeKind::Field,
        NodeKind::Macro,
        NodeKind::Route,
        NodeKind::Test,
    ];

    /// The word used in every listing and accepted as a `kind` argument.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeKind::File => "file",
            NodeKind::Import => "import",
            NodeKind::Module => "module",
            NodeKind::Function => "function",
            NodeKind::Method => "method",
            NodeKind::Struct => "struct",
            NodeKind::Class => "class",
            NodeKind::Enum => "enum",
            NodeKind::EnumMember => "enum_member",
            NodeKind::Interface => "interface",
            NodeKind::TypeAlias => "type_alias",
            NodeKind::Constant => "constant",
            NodeKind::Variable => "variable",
            NodeKind::Field => "field",
            NodeKind::Macro => "macro",
            NodeKind::Route => "route",
            NodeKind::Test => "test",
        }
    }

    /// Whether a call expression can have this node as its target.
    pub fn is_callable(self) -> bool {
        matches!(
            self,
            NodeKind::Function
                | NodeKind::Method
                | NodeKind::Struct
                | NodeKind::Class
                | NodeKind::EnumMember
                | NodeKind::Macro
                | NodeKind::Test
        )
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How two nodes are related; the arrow runs from the first to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum EdgeKind {
    Contains,
    Imports,
    Calls,
    References,
    Implements,
    Extends,
    Overrides,
    RoutesTo,
    Tests,
}

impl EdgeKind {
    /// Every kind, in declaration order.
    pub const ALL: [EdgeKind; 9] = [
        EdgeKind::Contains,
        EdgeKind::Imports,
        EdgeKind::Calls,
        EdgeKind::References,
        EdgeKind::Implements,
        EdgeKind::Extends,
        EdgeKind::Overrides,
        EdgeKind::RoutesTo,
        EdgeKind::Tests,
    ];

    /// The word used in every listing and accepted as a `kinds` argument.
    pub fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Contains => "contains",
            EdgeKind::Imports => "imports",
            EdgeKind::Calls => "calls",
            EdgeKind::References => "references",
            EdgeKind::Implements => "implements",
            EdgeKind::Extends => "extends",
            EdgeKind::Overrides => "overrides",
            EdgeKind::RoutesTo => "routes_to",
            EdgeKind::Tests => "tests",
        }
    }
}

impl fmt::Display for EdgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which way edges are followed from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Direction {
    Incoming,
    Outgoing,
    Both,
}

/// What proved an edge or a resolved call site. A closed set: every variant but
/// [`Origin::Guess`] rests on something the source declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The syntax itself (containment, an `impl … for`, a base class list).
    Syntax,
    /// A name visible in the lexical scopes around the use.
    Scope,
    /// An import or re-export that leads to the definition.
    Import,
    /// The declared type of the receiver, `self` and its bases included.
    Receiver,
    /// The declared result type of a call or constructor the receiver came from.
    DeclaredReturn,
    /// A SCIP index.
    Scip,
    /// The only definition of that name that could be meant. Hidden unless asked for.
    Guess,
}

impl Origin {
    /// The word used in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Syntax => "syntax",
            Origin::Scope => "scope",
            Origin::Import => "import",
            Origin::Receiver => "receiver",
            Origin::DeclaredReturn => "declared_return",
            Origin::Scip => "scip",
            Origin::Guess => "guess",
        }
    }
}

/// How much the graph knows about a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolTier {
    /// Definitions, imports, call sites with their states, references.
    Full,
    /// Definitions only; answers say so.
    Definitions,
    /// Listed and readable, without symbols.
    Text,
}

/// A language as files are labelled with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Language {
    /// The name in listings, such as `Rust` or `Python`.
    pub name: &'static str,
    /// What the graph holds for files of this language.
    pub tier: SymbolTier,
}

/// One file of the snapshot.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// Path relative to the root with `/` between parts.
    pub path: Str,
    /// `None` when no rule names the language; the file is still readable.
    pub language: Option<Language>,
    /// Size on disk in bytes.
    pub size: u64,
    /// The text, invalid UTF-8 replaced. Everything the graph says about the
    /// file, spans included, is about these bytes.
    pub text: Str,
    /// Byte offset of the first byte of each line, at least one entry.
    pub line_starts: Arc<[u32]>,
    /// The node of kind [`NodeKind::File`] that stands for it.
    pub node: NodeId,
}

/// One symbol, file or import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The bare name; for a file its last path part.
    pub name: Str,
    /// The language's own notation, unique in the graph:
    /// `crate::module::Type::method`, `package.module.Class.method`; a file's path.
    pub qualified_name: Str,
    /// Identity that survives line shifts: the file's path and the names that
    /// lead to the symbol, with a disambiguator only on collision, as in
    /// `src/cut.rs#Cut.apply` or `src/cut.rs#Cut.apply~2`; a file's path.
    pub symbol: Str,
    /// The file it is in.
    pub file: FileId,
    /// The whole definition, attributes and doc comment excluded.
    pub span: Span,
    /// The declaration on one line, without its body.
    pub signature: Option<Str>,
    /// The doc comment without its markers.
    pub doc: Option<Str>,
    /// Visible outside its module by the language's own rule.
    pub exported: bool,
    /// The node that contains it; `None` for files alone.
    pub parent: Option<NodeId>,
    /// Where else it is declared, in path order: prototypes of a function, the
    /// other places that open a namespace.
    pub declared: Box<[(FileId, Span)]>,
}

/// A relation between two nodes. Several occurrences are one edge with a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Edge {
    /// Where the arrow starts.
    pub from: NodeId,
    /// What it says.
    pub kind: EdgeKind,
    /// Where it points.
    pub to: NodeId,
    /// The strongest proof among its occurrences.
    pub origin: Origin,
    /// How many occurrences were merged.
    pub count: u32,
    /// Line of the first occurrence, in the file of `from`.
    pub line: u32,
}

/// What became of one call expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SiteState {
    /// Exactly one definition, and what proved it.
    Resolved {
        /// The definition called.
        target: NodeId,
        /// The proof.
        origin: Origin,
    },
    /// Declared facts leave several definitions, or one beside something that no
    /// definition is known of: a variable that is given other values too.
    Ambiguous {
        /// All of them, in node order.
        candidates: Vec<NodeId>,
    },
    /// Known to lead out of the repository.
    External {
        /// The module, crate or `builtins` it belongs to, as far as known.
        module: Str,
    },
    /// Dispatched at run time through an interface of the repository.
    Dynamic {
        /// The interface's own method.
        declared: NodeId,
        /// The implementing definitions in the repository, in node order.
        implementations: Vec<NodeId>,
    },
    /// Nothing the source declares decides it.
    Unresolved,
}

impl SiteState {
    /// Every node that the state names, to be renumbered.
    pub(crate) fn each_node(&mut self, mut change: impl FnMut(&mut NodeId)) {
        match self {
            SiteState::Resolved { target, .. } => change(target),
            SiteState::Ambiguous { candidates } => candidates.iter_mut().for_each(change),
            SiteState::Dynamic {
                declared,
                implementations,
            } => {
                change(declared);
                implementations.iter_mut().for_each(change);
            }
            SiteState::External { .. } | SiteState::Unresolved => {}
        }
    }

    /// The state's name in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            SiteState::Resolved { .. } => "resolved",
            SiteState::Ambiguous { .. } => "ambiguous",
            SiteState::External { .. } => "external",
            SiteState::Dynamic { .. } => "dynamic",
            SiteState::Unresolved => "unresolved",
        }
    }
}

/// One call expression. Every one in the source is kept, whatever its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallSite {
    /// The file it is in.
    pub file: FileId,
    /// The whole call expression.
    pub span: Span,
    /// The innermost function, method, test, class or file around it.
    pub caller: NodeId,
    /// What is called as written, shortened to one line: `self.cut`, `Path::new`.
    pub callee: Str,
    /// The last name in `callee`.
    pub name: Str,
    /// What became of it.
    pub state: SiteState,
}

/// Where searchable words that are not names come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum TextKind {
    Doc,
    Comment,
    StringLiteral,
}

/// One comment, doc comment or string literal. Its text is read from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Text {
    /// The file it is in.
    pub file: FileId,
    /// Where it stands, markers and quotes included.
    pub span: Span,
    /// What it is.
    pub kind: TextKind,
    /// The symbol it belongs to: the documented one, else the innermost around it.
    pub node: NodeId,
}
