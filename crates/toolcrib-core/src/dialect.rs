//! What a model's API accepts of a tool's definition.
//!
//! APIs refuse a whole request for one keyword or property name they do not know,
//! so a definition is fitted before it is sent. The differences between them are
//! one table of plain data; what is done with it is in `fit`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::ToolName;

/// How strict an API is about names and input schemas.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolDialect {
    /// Anything goes: schemas are sent as received.
    #[default]
    Plain,
    /// Chat completions and Responses without `strict`: an object at the root
    /// without alternatives beside it, and valid JSON Schema below.
    OpenAi,
    /// The subset that can be enforced while a reply is generated.
    OpenAiStrict,
    /// Messages: JSON Schema 2020-12, no alternatives at the root, short property
    /// names of letters, digits, `_`, `.` and `-`.
    Anthropic,
    /// Function declarations: the subset of OpenAPI 3.0.
    Gemini,
    /// llama.cpp, Ollama and others that turn schemas into grammars or templates:
    /// nothing to resolve, and a type everywhere.
    Local,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Limits {
    /// The only keywords that are kept; all where absent.
    pub(crate) keywords: Option<&'static [&'static str]>,
    /// What properties may be called.
    pub(crate) properties: PropertyNames,
    /// Whether `$ref` into the root's `$defs` or `definitions` stays. Others never do.
    pub(crate) references: bool,
    /// Whether every schema must say its type or its alternatives.
    pub(crate) typed: bool,
    /// Whether it is the OpenAPI subset: one type, `nullable`, alternatives alone in
    /// their schema, enumerations of strings.
    pub(crate) open_api: bool,
    /// Whether every object must be closed and every property required.
    pub(crate) closed: bool,
    /// Schemas within schemas; what lies deeper is cut.
    pub(crate) depth: usize,
}

/// What properties may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyNames {
    /// Anything.
    Any,
    /// 1 to 64 of `[a-zA-Z0-9_.-]`.
    Keys,
    /// 1 to 64 of `[a-zA-Z0-9_]`, not beginning with a digit.
    Identifiers,
}

const COMMON: usize = 24;

static PLAIN: Limits = Limits {
    keywords: None,
    properties: PropertyNames::Any,
    references: true,
    typed: false,
    open_api: false,
    closed: false,
    depth: usize::MAX,
};

static OPEN_AI: Limits = Limits {
    properties: PropertyNames::Keys,
    depth: COMMON,
    ..PLAIN
};

static OPEN_AI_STRICT: Limits = Limits {
    keywords: Some(&[
        "type",
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "anyOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    ]),
    properties: PropertyNames::Keys,
    references: false,
    typed: true,
    closed: true,
    depth: 5,
    ..PLAIN
};

static ANTHROPIC: Limits = Limits {
    properties: PropertyNames::Keys,
    depth: COMMON,
    ..PLAIN
};

static GEMINI: Limits = Limits {
    keywords: Some(&[
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "default",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "anyOf",
    ]),
    properties: PropertyNames::Identifiers,
    references: false,
    typed: true,
    open_api: true,
    depth: 16,
    ..PLAIN
};

static LOCAL: Limits = Limits {
    // Patterns and long repetitions make grammars that are refused or take minutes.
    keywords: Some(&[
        "type",
        "format",
        "title",
        "description",
        "default",
        "enum",
        "const",
        "items",
        "prefixItems",
        "properties",
        "required",
        "additionalProperties",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "anyOf",
    ]),
    references: false,
    typed: true,
    depth: COMMON,
    ..PLAIN
};

impl ToolDialect {
    /// All of them, in the order of the table.
    pub const ALL: [ToolDialect; 6] = [
        ToolDialect::Plain,
        ToolDialect::OpenAi,
        ToolDialect::OpenAiStrict,
        ToolDialect::Anthropic,
        ToolDialect::Gemini,
        ToolDialect::Local,
    ];

    pub(crate) fn limits(self) -> &'static Limits {
        match self {
            ToolDialect::Plain => &PLAIN,
            ToolDialect::OpenAi => &OPEN_AI,
            ToolDialect::OpenAiStrict => &OPEN_AI_STRICT,
            ToolDialect::Anthropic => &ANTHROPIC,
            ToolDialect::Gemini => &GEMINI,
            ToolDialect::Local => &LOCAL,
        }
    }

    /// Its name in JSON and on a command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolDialect::Plain => "plain",
            ToolDialect::OpenAi => "open_ai",
            ToolDialect::OpenAiStrict => "open_ai_strict",
            ToolDialect::Anthropic => "anthropic",
            ToolDialect::Gemini => "gemini",
            ToolDialect::Local => "local",
        }
    }
}

impl ToolName {
    /// The name as an API with these rules accepts it: itself nearly always. A name
    /// that begins with a digit or `-` gets another beginning where such are refused,
    /// the same every time and different for different names.
    pub fn on_wire(&self, dialect: ToolDialect) -> Cow<'_, str> {
        let name = self.as_str();
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if begins || dialect != ToolDialect::Gemini {
            return Cow::Borrowed(name);
        }
        // A character outside of the set makes it one of those that get a hash.
        Cow::Owned(
            ToolName::from_foreign(&format!("_.{name}"))
                .as_str()
                .to_owned(),
        )
    }

    /// The one of `known` that is called `name` on the wire.
    pub fn from_wire<'a>(
        dialect: ToolDialect,
        name: &str,
        known: impl IntoIterator<Item = &'a ToolName>,
    ) -> Option<&'a ToolName> {
        known
            .into_iter()
            .find(|known| known.on_wire(dialect) == name)
    }
}
