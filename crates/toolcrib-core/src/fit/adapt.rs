//! A schema in the few keywords that grammars, strict modes and OpenAPI have.
//!
//! One way to say alternatives, and a type wherever one can be told.

use serde_json::{Value, json};

use super::Node;
use super::mend::allow_null;
use super::merge::merge;
use super::walk::Fitter;

impl Fitter<'_> {
    /// Adapts a schema, its inner ones still as they were.
    pub(super) fn adapt(&mut self, node: &mut Node) {
        while self.alternatives(node) {}
        if !self.keeps("const")
            && let Some(value) = node.shift_remove("const")
        {
            node.insert("enum".to_owned(), json!([value]));
        }
        if !self.keeps("prefixItems")
            && let Some(Value::Array(items)) = node.shift_remove("prefixItems")
            && !node.contains_key("items")
        {
            node.insert("items".to_owned(), either(items));
        }
        if self.limits.open_api {
            self.one_type(node);
        }
        self.say_type(node);
    }

    pub(super) fn keeps(&self, keyword: &str) -> bool {
        self.limits
            .keywords
            .is_none_or(|kept| kept.contains(&keyword))
    }

    /// Reduces `anyOf` and `oneOf`. Returns whether a branch that took the place of
    /// the schema brought alternatives of its own.
    fn alternatives(&mut self, node: &mut Node) -> bool {
        let one = node.shift_remove("oneOf");
        let Some(Value::Array(branches)) = node.shift_remove("anyOf").or(one) else {
            return false;
        };
        let null = branches.iter().any(is_null);
        let mut rest: Vec<Value> = Vec::with_capacity(branches.len());
        for branch in branches {
            if !is_null(&branch) && !is_never(&branch) && !rest.contains(&branch) {
                rest.push(branch);
            }
        }
        let mut again = false;
        if rest.iter().all(|branch| !says(branch)) {
            if !rest.is_empty() {
                self.note("alternatives are left out".to_owned());
            }
        } else if node.contains_key("properties") {
            self.unite_branches(node, &rest, false);
        } else if let [only] = &mut rest[..] {
            if let Value::Object(only) = only.take() {
                let mut only = self.gather(only, false);
                self.mend(&mut only);
                again = only.contains_key("anyOf") || only.contains_key("oneOf");
                merge(node, only);
            }
        } else if let Some(values) = literals(&rest) {
            node.entry("enum").or_insert(values);
        } else {
            node.insert("anyOf".to_owned(), rest.into());
        }
        if null {
            self.take_null(node);
        }
        again
    }

    /// Null is a value too.
    fn take_null(&self, node: &mut Node) {
        let named = ["type", "anyOf", "enum", "const"];
        if self.limits.open_api {
            node.insert("nullable".to_owned(), true.into());
        } else if named.iter().any(|key| node.contains_key(*key)) {
            allow_null(node);
        } else {
            node.insert("type".to_owned(), "null".into());
        }
    }

    /// Says the type where the schema leaves it open.
    fn say_type(&mut self, node: &mut Node) {
        if node.contains_key("type") || node.contains_key("anyOf") {
            return;
        }
        let has = |keys: &[&str]| keys.iter().any(|key| node.contains_key(*key));
        let itemless = !has(&["items", "prefixItems"]);
        let values = node.get("enum").and_then(Value::as_array);
        let values = values
            .cloned()
            .or_else(|| node.get("const").map(|only| vec![only.clone()]));
        let kind = match &values {
            Some(values) => kind_of_all(values),
            None if has(&["properties", "required", "additionalProperties"]) => Some("object"),
            None if has(&["items", "prefixItems", "minItems", "maxItems"]) => Some("array"),
            None if has(&["pattern", "format", "minLength", "maxLength"]) => Some("string"),
            None if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) => {
                Some("number")
            }
            None => None,
        };
        if let Some(kind) = kind {
            node.insert("type".to_owned(), kind.into());
            if kind == "array" && itemless {
                node.insert("items".to_owned(), json!({}));
            }
        } else if values.is_some() && !self.limits.open_api {
            // The values say enough.
        } else {
            self.anything(node);
        }
    }

    /// A schema that takes any value, said by types.
    fn anything(&mut self, node: &mut Node) {
        self.loosen("anything is taken");
        if !self.limits.open_api {
            let kinds = ["string", "number", "boolean", "object", "array", "null"];
            node.insert("type".to_owned(), json!(kinds));
            return;
        }
        node.shift_remove("enum");
        let branches = json!([
            {"type": "string"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "object"},
            {"type": "array", "items": {"type": "string"}},
        ]);
        node.insert("anyOf".to_owned(), branches);
    }
}

/// Whether a branch says what a value is, and not only what must be there.
fn says(branch: &Value) -> bool {
    const SUBSTANCE: [&str; 9] = [
        "$ref",
        "type",
        "properties",
        "items",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
    ];
    SUBSTANCE.iter().any(|key| branch.get(key).is_some())
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
        || schema.get("const") == Some(&Value::Null)
        || schema.get("enum") == Some(&json!([null]))
}

/// A branch that no value takes, as generators write "optional".
fn is_never(schema: &Value) -> bool {
    *schema == Value::Bool(false) || schema.get("not") == Some(&json!({}))
}

/// The values of branches that are nothing but strings to choose from.
fn literals(branches: &[Value]) -> Option<Value> {
    let mut all: Vec<Value> = Vec::new();
    for branch in branches {
        let node = branch.as_object()?;
        let plain = |key: &String| matches!(key.as_str(), "type" | "const" | "enum" | "title");
        if !node.keys().all(plain) {
            return None;
        }
        let values = match (node.get("const"), node.get("enum")) {
            (Some(only), None) => std::slice::from_ref(only),
            (None, Some(Value::Array(values))) => values,
            _ => return None,
        };
        for value in values {
            if !value.is_string() {
                return None;
            }
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
    }
    Some(all.into())
}

/// One schema for values of any of several.
fn either(mut schemas: Vec<Value>) -> Value {
    schemas.dedup();
    match schemas.len() {
        1 => schemas.remove(0),
        _ => json!({"anyOf": schemas}),
    }
}

/// The type that all values have.
fn kind_of_all(values: &[Value]) -> Option<&'static str> {
    let kind = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        Value::Object(_) => Some("object"),
        _ => None,
    };
    let first = kind(values.first()?)?;
    values
        .iter()
        .all(|value| kind(value) == Some(first))
        .then_some(first)
}
