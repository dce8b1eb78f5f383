//! A tool's arguments on one line.

use std::fmt::Write;

use serde_json::Value;
use toolcrib_core::ToolSpec;

/// Most arguments that a signature names.
const ARGUMENTS: usize = 10;
/// Most values of an enum that stand in a signature.
const VALUES: usize = 4;

/// `create_issue(title, body?, labels?: string[])`: required arguments first, each
/// with its type unless that is a string.
pub(crate) fn signature(spec: &ToolSpec) -> String {
    let schema: Value = serde_json::from_str(spec.input_schema.wire()).unwrap_or(Value::Null);
    let mut text = format!("{}(", spec.name);
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)))
    };
    let all = properties.into_iter().flatten();
    let required = all.clone().filter(|(name, _)| is_required(name));
    let optional = all.clone().filter(|(name, _)| !is_required(name));
    for (at, (name, kind)) in required.chain(optional).enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        if at == ARGUMENTS {
            text.push('…');
            break;
        }
        text.push_str(&crate::catalogue::plain(name, 64));
        if !is_required(name) {
            text.push('?');
        }
        if let Some(kind) = kind_of(kind, 0).filter(|kind| kind != "string") {
            let _ = write!(text, ": {kind}");
        }
    }
    text.push(')');
    text
}

fn kind_of(schema: &Value, depth: usize) -> Option<String> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let short = |value: &Value| match value {
            Value::String(text) => text.len() <= 24 && !text.chars().any(char::is_control),
            Value::Object(_) | Value::Array(_) => false,
            _ => true,
        };
        if (1..=VALUES).contains(&values.len()) && values.iter().all(short) {
            let values: Vec<String> = values
                .iter()
                .map(|value| {
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned)
                })
                .collect();
            return Some(values.join("|"));
        }
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")?,
        _ => return None,
    };
    if kind == "array" && depth < 2 {
        let items = schema
            .get("items")
            .and_then(|items| kind_of(items, depth + 1));
        return Some(match items {
            Some(items) if items.contains('|') => format!("({items})[]"),
            Some(items) => format!("{items}[]"),
            None => "array".to_owned(),
        });
    }
    Some(crate::catalogue::plain(kind, 24))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::{Schema, ToolName};

    #[track_caller]
    fn check(schema: &str, expected: &str) {
        let name = ToolName::parse("do").unwrap();
        let spec = ToolSpec::new(name, "", Schema::parse(schema).unwrap());
        assert_eq!(signature(&spec), expected);
    }

    #[test]
    fn required_arguments_come_first_and_strings_need_no_type() {
        check("{}", "do()");
        check(
            r#"{"properties":{"body":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}},"title":{"type":"string"}},"required":["title"]}"#,
            "do(title, body?, labels?: string[])",
        );
        check(
            r#"{"properties":{"n":{"type":["null","integer"]},"s":{"enum":["open","closed"]},"x":{},"l":{"type":"array","items":{"enum":[1,2]}},"a":{"type":"array"}}}"#,
            "do(n?: integer, s?: open|closed, x?, l?: (1|2)[], a?: array)",
        );
    }

    #[test]
    fn long_and_odd_schemas_stay_short() {
        let properties: Vec<String> = (0..40).map(|n| format!("\"p{n:02}\":{{}}")).collect();
        check(
            &format!("{{\"properties\":{{{}}}}}", properties.join(",")),
            "do(p00?, p01?, p02?, p03?, p04?, p05?, p06?, p07?, p08?, p09?, …)",
        );
        check(r#"{"properties":[],"required":{}}"#, "do()");
        check(r#"{"properties":{"a\nb":{"type":7}}}"#, "do(a b?)");
    }
}
