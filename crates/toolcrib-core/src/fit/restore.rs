//! Arguments written for a fitted schema, as the tool itself expects them.

use serde_json::{Map, Value};

use super::{Node, keys, refs};
use crate::{Arguments, Schema};

/// Schemas that may say something about one value.
const VIEWS: usize = 64;
const DEPTH: usize = 64;

impl Schema {
    /// The arguments as this schema's tool expects them, where a model wrote them for
    /// a fitted form: renamed properties under their own names again. `None` when
    /// nothing is to be changed. The same for every dialect, so nobody has to know
    /// which one a call came from. Nulls for what was left out, which strict forms ask
    /// for, are left to whoever checks the arguments.
    pub fn restore(&self, arguments: &Arguments) -> Option<Arguments> {
        let text = arguments.as_str();
        if !keys::may_hold(text) {
            return None;
        }
        let root: Value = serde_json::from_str(self.received()).ok()?;
        let mut value = arguments.value();
        let restorer = Restorer { root: &root };
        let views = restorer.views(vec![root.as_object()?]);
        if !restorer.value(&mut value, &views, 0) {
            return None;
        }
        Arguments::parse(value.to_string()).ok()
    }
}

struct Restorer<'a> {
    root: &'a Value,
}

impl<'a> Restorer<'a> {
    /// Schemas together with those that they refer to or choose among.
    fn views(&self, mut open: Vec<&'a Node>) -> Vec<&'a Node> {
        let mut views: Vec<&Node> = Vec::new();
        while let Some(node) = open.pop() {
            if views.len() == VIEWS || views.iter().any(|known| std::ptr::eq(*known, node)) {
                continue;
            }
            views.push(node);
            if let Some(reference) = node.get("$ref").and_then(Value::as_str)
                && let Some(Value::Object(target)) = refs::resolve(self.root, reference)
            {
                open.push(target);
            }
            for key in ["allOf", "anyOf", "oneOf"] {
                let branches = node.get(key).and_then(Value::as_array);
                open.extend(branches.into_iter().flatten().filter_map(Value::as_object));
            }
            for key in ["then", "else"] {
                open.extend(node.get(key).and_then(Value::as_object));
            }
        }
        views
    }

    /// Restores one value; returns whether it changed.
    fn value(&self, value: &mut Value, views: &[&'a Node], depth: usize) -> bool {
        if depth > DEPTH {
            return false;
        }
        match value {
            Value::Object(object) => self.object(object, views, depth),
            Value::Array(items) => {
                let mut of = Vec::new();
                for view in views {
                    of.extend(view.get("items").and_then(Value::as_object));
                    for key in ["prefixItems", "items"] {
                        let list = view.get(key).and_then(Value::as_array);
                        of.extend(list.into_iter().flatten().filter_map(Value::as_object));
                    }
                }
                let of = self.views(of);
                let mut changed = false;
                for item in items {
                    changed |= self.value(item, &of, depth + 1);
                }
                changed
            }
            _ => false,
        }
    }

    fn object(&self, object: &mut Map<String, Value>, views: &[&'a Node], depth: usize) -> bool {
        let mut changed = false;
        let mut restored = Map::with_capacity(object.len());
        for (key, mut value) in std::mem::take(object) {
            let mut name = key;
            let mut of = schemas(views, &name);
            if of.is_empty()
                && let Some(property) = properties(views).find(|p| keys::stands_for(&name, p))
            {
                name = property.to_owned();
                of = schemas(views, &name);
                changed = true;
            }
            let of = self.views(of);
            changed |= self.value(&mut value, &of, depth + 1);
            restored.insert(name, value);
        }
        *object = restored;
        changed
    }
}

fn properties<'a>(views: &[&'a Node]) -> impl Iterator<Item = &'a str> {
    let all = views
        .iter()
        .filter_map(|view| view.get("properties")?.as_object());
    let names: Vec<&str> = all.flat_map(|all| all.keys().map(String::as_str)).collect();
    names.into_iter()
}

fn schemas<'a>(views: &[&'a Node], name: &str) -> Vec<&'a Node> {
    let of = |view: &&'a Node| view.get("properties")?.get(name);
    views
        .iter()
        .filter_map(of)
        .filter_map(Value::as_object)
        .collect()
}
