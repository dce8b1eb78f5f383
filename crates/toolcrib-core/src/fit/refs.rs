//! References within a schema.

use serde_json::Value;

use super::Node;

/// What a reference leads to; `None` where it leads out of the schema or nowhere.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let own = root.get("$id").or_else(|| root.get("id"));
    let own = own.and_then(Value::as_str).unwrap_or("");
    let fragment = match reference.strip_prefix('#') {
        Some(fragment) => fragment,
        None if reference == own => "",
        None => reference
            .strip_prefix(own.trim_end_matches('#'))?
            .strip_prefix('#')?,
    };
    let fragment = decoded(fragment);
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&fragment);
    }
    anchored(root, &fragment)
}

/// The name under the root's `$defs` or `definitions` that a reference leads to.
pub(super) fn definition(reference: &str) -> Option<(&'static str, &str)> {
    ["$defs", "definitions"].into_iter().find_map(|holder| {
        let name = reference
            .strip_prefix("#/")?
            .strip_prefix(holder)?
            .strip_prefix('/')?;
        let plain = !name.is_empty() && !name.contains(['/', '~', '%']);
        plain.then_some((holder, name))
    })
}

/// What a person would call the target of a reference.
pub(super) fn called(reference: &str) -> &str {
    let last = reference.rsplit('/').next().unwrap_or("");
    if last.is_empty() || last == "#" || last.bytes().all(|b| b.is_ascii_digit()) {
        "the schema around it"
    } else {
        last
    }
}

/// A name among the definitions for the target of a reference that has none.
pub(super) fn name_for(reference: &str) -> String {
    let called = match called(reference) {
        around if around.contains(' ') => "part",
        called => called,
    };
    // The space makes it one of those that get a hash.
    let name = crate::ToolName::from_foreign(&format!("{called} {reference}"));
    let hash = name.as_str().rsplit('_').next().unwrap_or("");
    let called = crate::ToolName::from_foreign(called);
    format!("{called}_{hash}")
}

fn anchored<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(node) => {
            let named = node.get("$anchor").and_then(Value::as_str) == Some(name)
                || node
                    .get("$id")
                    .and_then(Value::as_str)
                    .and_then(|id| id.strip_prefix('#'))
                    == Some(name);
            if named {
                return Some(value);
            }
            node.values().find_map(|value| anchored(value, name))
        }
        Value::Array(items) => items.iter().find_map(|value| anchored(value, name)),
        _ => None,
    }
}

/// Undoes `%24` and its like.
fn decoded(fragment: &str) -> String {
    if !fragment.contains('%') {
        return fragment.to_owned();
    }
    let bytes = fragment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The object that a chain of references from `node` ends at, for looking at alone.
pub(super) fn end_of<'a>(root: &'a Value, node: &'a Node) -> Option<&'a Node> {
    let mut node = node;
    for _ in 0..16 {
        match node.get("$ref").and_then(Value::as_str) {
            None => return Some(node),
            Some(reference) => node = resolve(root, reference)?.as_object()?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_lead_by_pointer_anchor_and_own_id_and_never_out() {
        let root = json!({
            "$id": "https://example.org/s",
            "$defs": {"a b": {"$anchor": "x"}, "n": {"type": "null"}},
            "properties": {"$and": {"anyOf": [{"type": "string"}]}, "p/q": {"type": "array"}},
        });
        let ends = |reference: &str| resolve(&root, reference).cloned();
        assert_eq!(ends("#/$defs/a%20b"), Some(json!({"$anchor": "x"})));
        assert_eq!(ends("#x"), Some(json!({"$anchor": "x"})));
        assert_eq!(
            ends("#/properties/%24and/anyOf/0"),
            Some(json!({"type": "string"}))
        );
        assert_eq!(ends("#/properties/p~1q"), Some(json!({"type": "array"})));
        assert_eq!(
            ends("https://example.org/s#/$defs/n"),
            Some(json!({"type": "null"}))
        );
        assert_eq!(ends("#"), Some(root.clone()));
        for out in [
            "https://example.org/other#/$defs/n",
            "other.json",
            "#/$defs/zz",
            "#y",
            "",
        ] {
            assert_eq!(ends(out), None, "{out}");
        }
        assert_eq!(definition("#/$defs/n"), Some(("$defs", "n")));
        assert_eq!(definition("#/definitions/n"), Some(("definitions", "n")));
        assert_eq!(definition("#/$defs/n/properties/a"), None);
    }
}
