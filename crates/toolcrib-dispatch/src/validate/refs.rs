//! Makes the references of a schema harmless.
//!
//! What stays points to a place in the same document and cannot lead around in a
//! circle without entering a value: a validator would follow such a circle until
//! its stack is used up.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Longest chain of schemas that apply to one value.
const DEEP: usize = 64;
/// Most schemas that apply to one value: what refers to itself twice in each of
/// thirty steps would be a billion.
const WIDE: u64 = 20_000;

/// Keys whose values are data and no schemas.
const DATA: [&str; 5] = ["const", "enum", "default", "examples", "example"];

/// Removes references that lead nowhere, elsewhere or around in a circle.
///
/// # Errors
/// When what is left would still be too large to apply.
pub(super) fn tame(schema: &mut Value) -> Result<(), String> {
    if let Some(map) = schema.as_object_mut() {
        let known = map.get("$schema").and_then(Value::as_str);
        if !known.is_some_and(|uri| uri.contains("json-schema.org/")) {
            map.shift_remove("$schema");
        }
    }
    let mut lost = Vec::new();
    let mut refs = Vec::new();
    survey(schema, &mut String::new(), &mut |pointer, map| {
        for key in ["$dynamicRef", "$recursiveRef", "$id", "id"] {
            if map.get(key).is_some_and(Value::is_string) {
                lost.push((pointer.to_owned(), key));
            }
        }
        if let Some(Value::String(target)) = map.get("$ref") {
            refs.push((pointer.to_owned(), target.clone()));
        }
    });
    for (pointer, target) in &refs {
        let leads = local(target).and_then(|target| schema.pointer(&target));
        // A place that is no schema cannot be applied.
        if !leads.is_some_and(|place| place.is_object() || place.is_boolean()) {
            lost.push((pointer.clone(), "$ref"));
        }
    }
    for (pointer, key) in lost {
        remove(schema, &pointer, key);
    }
    let mut walk = Walk {
        seen: HashMap::new(),
        circles: Vec::new(),
        widest: 0,
    };
    for (pointer, _) in &refs {
        walk.cost(schema, pointer, 0);
    }
    let (circles, widest) = (walk.circles, walk.widest);
    for pointer in circles {
        remove(schema, &pointer, "$ref");
    }
    if widest > WIDE {
        return Err("too many schemas apply to one value".to_owned());
    }
    Ok(())
}

fn remove(schema: &mut Value, pointer: &str, key: &str) {
    if let Some(Value::Object(map)) = schema.pointer_mut(pointer) {
        map.shift_remove(key);
    }
}

/// Shows each object that may be a schema, with its place.
fn survey(value: &Value, pointer: &mut String, see: &mut impl FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            see(pointer, map);
            for (key, inner) in map {
                if DATA.contains(&key.as_str()) && !pointer.ends_with("/properties") {
                    continue;
                }
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                survey(inner, pointer, see);
                pointer.truncate(length);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                let length = pointer.len();
                pointer.push_str(&format!("/{at}"));
                survey(inner, pointer, see);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// The pointer of a reference within the document.
fn local(target: &str) -> Option<String> {
    let pointer = target.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    // A pointer in an address has its odd characters in percent form.
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        let code = match (byte, more) {
            (b'%', [a, b, ..]) => std::str::from_utf8(&[*a, *b])
                .ok()
                .and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &more[2..] } else { more };
    }
    String::from_utf8(bytes).ok()
}

/// Follows what applies to one and the same value.
struct Walk {
    /// How many schemas apply at a place; `None` while it is being counted.
    seen: HashMap<String, Option<u64>>,
    /// Places whose reference closes a circle.
    circles: Vec<String>,
    widest: u64,
}

impl Walk {
    fn cost(&mut self, root: &Value, pointer: &str, depth: usize) -> u64 {
        if let Some(known) = self.seen.get(pointer) {
            return known.unwrap_or(0);
        }
        let Some(Value::Object(map)) = root.pointer(pointer) else {
            return 1;
        };
        self.seen.insert(pointer.to_owned(), None);
        let mut sum: u64 = 1;
        for key in ["allOf", "anyOf", "oneOf"] {
            let count = map.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            for at in 0..count {
                let inner = format!("{pointer}/{key}/{at}");
                sum = sum.saturating_add(self.cost(root, &inner, depth + 1));
            }
        }
        for key in ["not", "if", "then", "else"] {
            if map.get(key).is_some_and(Value::is_object) {
                let inner = format!("{pointer}/{key}");
                sum = sum.saturating_add(self.cost(root, &inner, depth + 1));
            }
        }
        for key in ["dependentSchemas", "dependencies"] {
            for name in map
                .get(key)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let name = name.0.replace('~', "~0").replace('/', "~1");
                let inner = format!("{pointer}/{key}/{name}");
                sum = sum.saturating_add(self.cost(root, &inner, depth + 1));
            }
        }
        let target = map.get("$ref").and_then(Value::as_str).and_then(local);
        if let Some(target) = target {
            let open = matches!(self.seen.get(&target), Some(None));
            if open || depth >= DEEP {
                self.circles.push(pointer.to_owned());
            } else {
                sum = sum.saturating_add(self.cost(root, &target, depth + 1));
            }
        }
        self.widest = self.widest.max(sum);
        self.seen.insert(pointer.to_owned(), Some(sum));
        sum
    }
}
