//! What the index reads of a tool.

use serde_json::Value;
use toolcrib_core::{Str, ToolSpec};

use crate::schema_text::schema_text;

/// The searchable texts of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDoc {
    /// The name by which the tool is called; unique within an index.
    pub name: Str,
    /// What its source calls it, where the name only stands for that; else empty.
    pub original: Str,
    /// A title for people; empty when there is none.
    pub title: Str,
    /// What the model reads about it.
    pub description: Str,
    /// Where it comes from; empty when unknown.
    pub source: Str,
    /// What its source as a whole does; empty when unknown.
    pub source_description: Str,
    /// Argument names, descriptions and enum values, most telling first.
    pub arguments: Str,
}

impl ToolDoc {
    /// A tool without arguments, title or source.
    pub fn new(name: impl Into<Str>, description: impl Into<Str>) -> ToolDoc {
        ToolDoc {
            name: name.into(),
            original: "".into(),
            title: "".into(),
            description: description.into(),
            source: "".into(),
            source_description: "".into(),
            arguments: "".into(),
        }
    }

    /// The same tool, from this source.
    pub fn source(mut self, source: impl Into<Str>) -> ToolDoc {
        self.source = source.into();
        self
    }

    /// The same tool, which its source calls so.
    pub fn original(mut self, name: impl Into<Str>) -> ToolDoc {
        self.original = name.into();
        self
    }

    /// The same tool, with a title.
    pub fn title(mut self, title: impl Into<Str>) -> ToolDoc {
        self.title = title.into();
        self
    }

    /// The same tool with what its JSON Schema says of its arguments, nested and
    /// referenced ones included.
    pub fn schema(mut self, schema: &Value) -> ToolDoc {
        self.arguments = schema_text(schema).into();
        self
    }

    /// The names of its arguments, outer ones first.
    pub(crate) fn argument_names(&self) -> impl Iterator<Item = &str> {
        self.arguments.split("\n\n").next().unwrap_or("").lines()
    }

    /// The name without the source's prefix (`issues` of `github__issues`).
    pub fn local_name(&self) -> &str {
        local_name(&self.name, &self.source)
    }

    /// What its source calls it without the source's prefix; empty where that is the
    /// name itself.
    pub(crate) fn local_original(&self) -> &str {
        local_name(&self.original, &self.source)
    }

    /// The words of its name: those of the source's own, where the name only stands for
    /// it, and never a hash.
    pub(crate) fn spoken_name(&self) -> &str {
        match self.local_original() {
            "" => without_hash(self.local_name()),
            original => original,
        }
    }
}

/// `name` without the digits that a foreign name carries to stay unique: an
/// underscore and eight hexadecimal digits, at least one of them 0 to 9.
pub(crate) fn without_hash(name: &str) -> &str {
    let Some((rest, hash)) = name.rsplit_once('_') else {
        return name;
    };
    let hex = hash.len() == 8 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if hex && !rest.is_empty() && hash.bytes().any(|b| b.is_ascii_digit()) {
        rest
    } else {
        name
    }
}

impl From<&ToolSpec> for ToolDoc {
    fn from(spec: &ToolSpec) -> ToolDoc {
        let schema = serde_json::from_str(spec.input_schema.received()).unwrap_or(Value::Null);
        ToolDoc {
            name: spec.name.as_str().into(),
            original: spec.original.clone().unwrap_or_else(|| "".into()),
            title: spec.title.clone().unwrap_or_else(|| "".into()),
            description: spec.description.clone(),
            source: spec.source.0.clone(),
            source_description: "".into(),
            arguments: schema_text(&schema).into(),
        }
    }
}

/// `name` after `mcp__` and `source`, where both a prefix and a rest are there.
pub(crate) fn local_name<'a>(name: &'a str, source: &str) -> &'a str {
    let name = match name.get(..5) {
        Some(head) if head.eq_ignore_ascii_case("mcp__") && name.len() > 5 => &name[5..],
        _ => name,
    };
    if source.is_empty() {
        return name;
    }
    let mut rest = name.chars();
    let same = |a: char, b: char| {
        a.to_lowercase().eq(b.to_lowercase()) || (!a.is_alphanumeric() && !b.is_alphanumeric())
    };
    for expected in source.chars() {
        if !rest.next().is_some_and(|c| same(c, expected)) {
            return name;
        }
    }
    let rest = rest.as_str();
    let local = rest.trim_start_matches(['_', '-', '.', '/', ':', ' ']);
    if local.is_empty() || local.len() == rest.len() {
        name
    } else {
        local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hash_is_dropped() {
        for (name, plain) in [
            ("fs_read_4074bc02", "fs_read"),
            ("fs_read", "fs_read"),
            ("get_deadbeef", "get_deadbeef"),
            ("_4074bc02", "_4074bc02"),
            ("a_4074BC02", "a_4074BC02"),
        ] {
            assert_eq!(without_hash(name), plain);
        }
    }

    #[test]
    fn the_local_name_drops_only_a_whole_source() {
        for (name, source, local) in [
            ("github__create_issue", "github", "create_issue"),
            ("mcp__github__create_issue", "github", "create_issue"),
            ("GitHub.create_issue", "github", "create_issue"),
            ("web_search__go", "web search", "go"),
            ("gitlab_run", "git", "gitlab_run"),
            ("github", "github", "github"),
            ("github__", "github", "github__"),
            ("read", "", "read"),
            ("mcp__", "", "mcp__"),
        ] {
            assert_eq!(local_name(name, source), local, "{name} of {source}");
        }
    }
}
