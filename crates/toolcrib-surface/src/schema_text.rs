//! The words of a JSON Schema that tell what a tool is for.
//!
//! Names come before descriptions before enum values, outer before inner, so
//! that a cap on length cuts the least telling text. References inside the
//! document are followed once each; cycles and depth end quietly.

use serde_json::{Map, Value};

const MAX_DEPTH: usize = 6;
const MAX_NODES: usize = 400;
const MAX_BYTES: usize = 4096;
const MAX_ENUM: usize = 24;

/// Names, descriptions and enum values of `schema`'s arguments, one a line, an empty
/// line between the three.
pub(crate) fn schema_text(schema: &Value) -> String {
    let mut walk = Walk {
        root: schema,
        followed: Vec::new(),
        names: String::new(),
        descriptions: String::new(),
        values: String::new(),
        nodes: 0,
    };
    let mut level = vec![schema];
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for node in level {
            walk.visit(node, &mut next);
        }
        level = next;
    }
    let mut text = walk.names;
    for more in [walk.descriptions, walk.values] {
        text.push_str("\n\n");
        text.push_str(&more);
    }
    truncate(&mut text, MAX_BYTES);
    text.truncate(text.trim_end().len());
    text
}

fn truncate(text: &mut String, max: usize) {
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
    }
}

struct Walk<'a> {
    root: &'a Value,
    followed: Vec<&'a str>,
    names: String,
    descriptions: String,
    values: String,
    nodes: usize,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, node: &'a Value, next: &mut Vec<&'a Value>) {
        self.nodes += 1;
        let Some(map) = node.as_object() else { return };
        if self.nodes > MAX_NODES {
            return;
        }
        if let Some(target) = self.reference(map) {
            self.visit(target, next);
        }
        if let Some(properties) = map.get("properties").and_then(Value::as_object) {
            for (name, inner) in properties {
                push(&mut self.names, name);
                self.describe(inner);
                next.push(inner);
            }
        }
        for key in ["items", "additionalProperties", "if", "then", "else"] {
            next.extend(map.get(key).filter(|inner| inner.is_object()));
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            next.extend(map.get(key).and_then(Value::as_array).into_iter().flatten());
        }
        self.enumerate(map);
    }

    fn describe(&mut self, inner: &'a Value) {
        let Some(map) = inner.as_object() else { return };
        if let Some(text) = map.get("description").and_then(Value::as_str) {
            push(&mut self.descriptions, text);
        }
    }

    fn enumerate(&mut self, map: &'a Map<String, Value>) {
        let listed = map.get("enum").and_then(Value::as_array);
        let only = map.get("const");
        for value in listed.into_iter().flatten().take(MAX_ENUM).chain(only) {
            if let Some(text) = value.as_str().filter(|text| text.len() <= 64) {
                push(&mut self.values, text);
            }
        }
    }

    fn reference(&mut self, map: &'a Map<String, Value>) -> Option<&'a Value> {
        let path = map.get("$ref")?.as_str()?;
        if self.followed.contains(&path) {
            return None;
        }
        self.followed.push(path);
        self.root.pointer(path.strip_prefix('#')?)
    }
}

fn push(to: &mut String, text: &str) {
    if to.len() > MAX_BYTES {
        return;
    }
    if !to.is_empty() {
        to.push('\n');
    }
    to.extend(
        text.split(['\n', '\r'])
            .filter(|line| !line.trim().is_empty()),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_descriptions_and_values_of_nested_and_referenced_arguments() {
        let text = schema_text(&json!({
            "type": "object",
            "properties": {
                "unit": {"type": "string", "enum": ["celsius", "kelvin"], "description": "Scale."},
                "place": {"$ref": "#/$defs/place"},
                "days": {"type": "array", "items": {"properties": {"weekday": {"const": "monday"}}}}
            },
            "$defs": {"place": {"properties": {
                "city": {"description": "Town name."},
                "inside": {"$ref": "#/$defs/place"}
            }}}
        }));
        insta::assert_snapshot!(text, @r"
        unit
        place
        days
        city
        inside
        weekday

        Scale.
        Town name.

        celsius
        kelvin
        monday
        ");
    }

    #[test]
    fn odd_schemas_end() {
        let mut deep = json!({"type": "string"});
        for _ in 0..100 {
            deep = json!({"properties": {"inner": deep}});
        }
        assert_eq!(schema_text(&deep).lines().count(), MAX_DEPTH);
        for odd in [
            json!(null),
            json!(true),
            json!({"properties": []}),
            json!({"$ref": "#"}),
        ] {
            assert_eq!(schema_text(&odd), "");
        }
        let wide = json!({"properties": {"a": {"description": "é".repeat(9000)}}});
        assert!(schema_text(&wide).len() <= MAX_BYTES);
    }
}
