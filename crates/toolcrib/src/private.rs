//! What the code written by `#[tool]` and `#[argument]` names.
//!
//! Not part of the public interface: it may change in any release.

pub use schemars;
pub use serde;
pub use toolcrib_core::{
    Arguments, BoxFuture, Effect, Exposure, Permission, ResultForm, Schema, SourceId, Tool,
    ToolContext, ToolError, ToolOutput, ToolSpec,
};

pub use crate::output::IntoToolOutput;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;
use toolcrib_core::ToolName;

/// The arguments of a tool that has none. A name that is sent all the same is
/// reported.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// The spec of a tool; the attribute has checked the name.
pub fn spec(name: &str, description: &str, schema: Schema) -> ToolSpec {
    let name = ToolName::parse(name).unwrap_or_else(|_| ToolName::from_foreign(name));
    ToolSpec::new(name, fold(description), schema)
}

/// The schema of a type of arguments: the same bytes in every build, without what
/// a model has no use for.
pub fn schema<A: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    RecursiveTransform(tidy).transform(&mut schema);
    schema.remove("title");
    schema.insert("type".into(), "object".into());
    in_reading_order(&mut schema);
    // An object with a root type of "object" is what `parse` asks for.
    Schema::parse(schema.as_value().to_string().as_str()).unwrap_or_else(|_| Schema::empty())
}

/// Folds descriptions and drops the width of numbers: some providers refuse a
/// format they do not know, and the bounds stay.
fn tidy(schema: &mut schemars::Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = fold(text);
    }
    let width = |format: &str| {
        matches!(format, "float" | "double")
            || format
                .trim_start_matches('u')
                .strip_prefix("int")
                .is_some_and(|bits| bits.bytes().all(|b| b.is_ascii_digit()))
    };
    if schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(width)
    {
        schema.remove("format");
    }
    in_reading_order(schema);
}

/// What a value is comes before what it is made of, and what others refer to last.
fn in_reading_order(schema: &mut schemars::Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    let rank = |key: &str| match key {
        "$ref" | "type" => 0,
        "description" => 1,
        "$defs" => 4,
        "required" | "additionalProperties" => 3,
        _ => 2,
    };
    let mut entries: Vec<_> = std::mem::take(object).into_iter().collect();
    entries.sort_by_key(|(key, _)| rank(key));
    object.extend(entries);
}

/// Joins the lines of each paragraph, which were broken for an editor's width.
/// Lists, tables, headings, quotes and code keep their lines.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut fenced = false;
    let mut joins = false;
    for line in text.trim().lines() {
        let line = line.trim_end();
        let fence = line.trim_start().starts_with("```");
        let stands_alone = fenced || fence || starts_block(line);
        if folded.is_empty() {
        } else if joins && !stands_alone {
            folded.push(' ');
        } else {
            folded.push('\n');
        }
        folded.push_str(if stands_alone {
            line
        } else {
            line.trim_start()
        });
        fenced ^= fence;
        joins = !(fenced || fence || line.is_empty() || line.starts_with(['#', '|']));
    }
    folded
}

fn starts_block(line: &str) -> bool {
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && line[digits..].starts_with(". ")
    };
    line.is_empty()
        || line.starts_with(['#', '|', '>', '\t'])
        || line.starts_with("    ")
        || line.trim_start().starts_with("- ")
        || line.trim_start().starts_with("* ")
        || numbered()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn paragraphs_are_folded_and_blocks_are_kept() {
        let text = "Finds the place where\nsomething is defined.\n\nForms:\n- a name, also\n  in part\n- `a::b`\n\n```\nfind(a)\n  .b\n```\nThe\nend.\n";
        insta::assert_snapshot!(fold(text), @r"
        Finds the place where something is defined.

        Forms:
        - a name, also in part
        - `a::b`

        ```
        find(a)
          .b
        ```
        The end.
        ");
        assert_eq!(fold(""), "");
    }
}
