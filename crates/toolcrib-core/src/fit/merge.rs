//! Several schemas of one value as one.

use serde_json::{Value, json};

use super::Node;

/// Takes over what `from` says, where `into` does not say it itself. Returns the
/// keywords of `from` that found no place.
pub(super) fn merge(into: &mut Node, from: Node) -> Vec<String> {
    let mut lost = Vec::new();
    for (key, value) in from {
        let Some(own) = into.get_mut(&key) else {
            into.insert(key, value);
            continue;
        };
        if *own == value {
            continue;
        }
        match (key.as_str(), own, value) {
            ("properties", Value::Object(own), Value::Object(more)) => {
                for (name, schema) in more {
                    match own.get_mut(&name) {
                        None => {
                            own.insert(name, schema);
                        }
                        Some(known) if *known == schema => {}
                        Some(known) => *known = json!({"allOf": [known.take(), schema]}),
                    }
                }
            }
            ("required" | "allOf", Value::Array(own), Value::Array(more)) => {
                for item in more {
                    if !own.contains(&item) {
                        own.push(item);
                    }
                }
            }
            ("enum", Value::Array(own), Value::Array(more))
                if own.iter().any(|item| more.contains(item)) =>
            {
                own.retain(|item| more.contains(item));
            }
            ("type", own, more) => {
                let (known, more) = (types(own), types(&more));
                let both: Vec<&str> = known
                    .iter()
                    .copied()
                    .filter(|kind| more.contains(kind) || integral(kind, &more))
                    .collect();
                match both[..] {
                    [] => {}
                    [one] => *own = one.into(),
                    _ => *own = both.into(),
                }
            }
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems", own, more)
                if more.as_f64() > own.as_f64() =>
            {
                *own = more;
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems", own, more)
                if more.as_f64().is_some() && more.as_f64() < own.as_f64().or(Some(f64::MAX)) =>
            {
                *own = more;
            }
            ("anyOf" | "oneOf" | "not" | "if" | "pattern" | "const", _, _) => lost.push(key),
            _ => {}
        }
    }
    lost
}

/// The types that a `type` keyword names.
pub(super) fn types(value: &Value) -> Vec<&str> {
    match value {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn integral(kind: &str, others: &[&str]) -> bool {
    kind == "integer" && others.contains(&"number")
}

/// One object that takes whatever one of `branches` takes, beside `base`. Returns a
/// sentence that says which arguments go together, where that is lost.
pub(super) fn unite(base: &mut Node, branches: Vec<Node>) -> Option<String> {
    let own = match base.get("properties") {
        Some(Value::Object(own)) => own.clone(),
        _ => Node::new(),
    };
    let mut all = own.clone();
    let mut several: Vec<String> = Vec::new();
    let mut demands: Vec<Vec<String>> = Vec::new();
    for mut branch in branches {
        if let Some(Value::Object(properties)) = branch.shift_remove("properties") {
            for (name, schema) in properties {
                match all.get_mut(&name) {
                    None => {
                        all.insert(name, schema);
                    }
                    // What the object says of it itself holds in every branch.
                    Some(_) if own.contains_key(&name) => {}
                    Some(known) if *known == schema => {}
                    Some(known) if several.contains(&name) => {
                        let list = known.get_mut("anyOf").and_then(Value::as_array_mut);
                        if let Some(list) = list.filter(|list| !list.contains(&schema)) {
                            list.push(schema);
                        }
                    }
                    Some(known) => {
                        *known = json!({"anyOf": [known.take(), schema]});
                        several.push(name);
                    }
                }
            }
        }
        demands.push(names(branch.get("required")));
    }
    let mut required = names(base.get("required"));
    if let Some((first, rest)) = demands.split_first() {
        for name in first {
            if rest.iter().all(|demand| demand.contains(name)) && !required.contains(name) {
                required.push(name.clone());
            }
        }
    }
    base.insert("properties".to_owned(), Value::Object(all));
    if !required.is_empty() {
        base.insert("required".to_owned(), required.clone().into());
    }
    let groups: Vec<String> = demands
        .iter()
        .map(|demand| {
            let more = demand.iter().filter(|name| !required.contains(name));
            let more: Vec<String> = more.map(|name| format!("`{name}`")).collect();
            more.join(" with ")
        })
        .collect();
    let told = groups.iter().all(|group| !group.is_empty());
    let differ = groups.windows(2).any(|pair| pair[0] != pair[1]);
    (told && differ).then(|| format!("Give {}.", groups.join(", or ")))
}

pub(super) fn names(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array);
    let names = list.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}
