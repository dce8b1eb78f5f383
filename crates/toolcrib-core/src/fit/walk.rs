//! One pass over a schema, from the root down.
//!
//! At each schema: follow its reference and merge what must hold together, mend it,
//! adapt it to the dialect, then do the same to the schemas in it. Everything that
//! can grow is bounded: depth, what references inline, notes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::merge::{merge, types, unite};
use super::{Node, SchemaNote, keys, refs};
use crate::dialect::Limits;

/// Bytes that references may inline; those beyond are cut.
const INLINED: usize = 96 * 1024;
/// Notes that are kept.
const NOTES: usize = 100;

pub(super) struct Fitter<'a> {
    root: &'a Value,
    pub(super) limits: &'static Limits,
    path: String,
    notes: Vec<SchemaNote>,
    /// References that are being inlined.
    open: Vec<String>,
    inlined: usize,
    /// Where kept references lead: holder and name of the definition, and the
    /// reference as it was, in the order met.
    wanted: Vec<(&'static str, String, String)>,
    /// Why it cannot be closed, if it has to be.
    loose: Option<SchemaNote>,
    pub(super) properties: usize,
}

impl<'a> Fitter<'a> {
    pub(super) fn new(root: &'a Value, limits: &'static Limits) -> Fitter<'a> {
        Fitter {
            root,
            limits,
            path: String::new(),
            notes: Vec::new(),
            open: Vec::new(),
            inlined: 0,
            wanted: Vec::new(),
            loose: None,
            properties: 0,
        }
    }

    pub(super) fn end(self) -> (Vec<SchemaNote>, Option<SchemaNote>) {
        (self.notes, self.loose)
    }

    pub(super) fn note(&mut self, what: String) {
        if self.notes.len() < NOTES {
            let at = self.path.clone();
            self.notes.push(SchemaNote { at, what });
        }
    }

    /// Says why a schema cannot be closed; the first reason counts.
    pub(super) fn loosen(&mut self, why: &str) {
        if self.limits.closed && self.loose.is_none() {
            self.loose = Some(SchemaNote {
                at: self.path.clone(),
                what: format!("not strict: {why}"),
            });
        }
    }

    /// The whole schema, its root an object without alternatives beside it.
    pub(super) fn root(&mut self) -> Node {
        let Some(node) = self.root.as_object() else {
            return Node::new();
        };
        let mut node = self.gather(node.clone(), true);
        self.mend(&mut node);
        self.settle_root(&mut node);
        let mut node = self.adapt_and_descend(node, 0);
        self.open.clear();
        self.define(&mut node);
        node
    }

    fn settle_root(&mut self, node: &mut Node) {
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = node.shift_remove(key) {
                self.unite_branches(node, &branches, true);
            }
        }
        for key in ["enum", "const", "not", "nullable"] {
            if node.shift_remove(key).is_some() {
                self.note(format!("{key} is left out"));
            }
        }
        if node.get("type") != Some(&json!("object")) {
            node.insert("type".to_owned(), "object".into());
        }
        node.entry("properties").or_insert_with(|| json!({}));
    }

    /// Takes alternatives of an object as one object.
    pub(super) fn unite_branches(&mut self, node: &mut Node, branches: &[Value], whole: bool) {
        let mut objects = Vec::new();
        for branch in branches {
            let Some(branch) = branch.as_object() else {
                continue;
            };
            let open = self.open.len();
            let mut branch = self.gather(branch.clone(), whole);
            self.open.truncate(open);
            self.mend(&mut branch);
            let kinds = branch.get("type").map(types);
            if kinds.is_none_or(|kinds| kinds.contains(&"object")) {
                objects.push(branch);
            }
        }
        self.note("alternatives are merged into one object".to_owned());
        if let Some(told) = unite(node, objects) {
            describe(node, &told);
        }
    }

    /// A schema within the schema.
    pub(super) fn node(&mut self, schema: &Value, depth: usize) -> Node {
        let open = self.open.len();
        let node = match schema {
            Value::Object(node) => node.clone(),
            Value::String(text) => {
                self.note("a text stands for a schema".to_owned());
                let mut node = Node::new();
                node.insert("description".to_owned(), text.as_str().into());
                node
            }
            _ => Node::new(),
        };
        if depth > self.limits.depth {
            return self.cut(&node);
        }
        let mut node = self.gather(node, false);
        self.mend(&mut node);
        let node = self.adapt_and_descend(node, depth);
        self.open.truncate(open);
        node
    }

    /// What stands for a schema that lies too deep: its type alone.
    fn cut(&mut self, node: &Node) -> Node {
        self.note("it lies too deep and is cut".to_owned());
        self.loosen("it lies too deep");
        let end = refs::end_of(self.root, node).unwrap_or(node);
        let kind = end.get("type").map(types).unwrap_or_default();
        let kind = kind.into_iter().find_map(super::mend::standard);
        let kind = kind.filter(|kind| *kind != "null").unwrap_or("string");
        let mut cut = Node::new();
        cut.insert("type".to_owned(), kind.into());
        if kind == "array" {
            cut.insert("items".to_owned(), json!({"type": "string"}));
        }
        cut
    }

    fn adapt_and_descend(&mut self, mut node: Node, depth: usize) -> Node {
        if self.limits.typed {
            self.adapt(&mut node);
        }
        if let Some(kept) = self.limits.keywords {
            let dropped: Vec<String> = node
                .keys()
                .filter(|key| !kept.contains(&key.as_str()))
                .cloned()
                .collect();
            for key in dropped {
                node.shift_remove(&key);
                if constrains(&key) {
                    self.note(format!("{key} is left out"));
                }
            }
        }
        self.descend(&mut node, depth);
        if self.limits.open_api {
            self.shape(&mut node, depth);
        }
        if self.limits.closed {
            self.close(&mut node);
        }
        node
    }

    /// Follows the schema's reference and merges what must hold together; `whole` if
    /// no reference may stay.
    pub(super) fn gather(&mut self, mut node: Node, whole: bool) -> Node {
        while let Some(reference) = node.get("$ref") {
            let Some(reference) = reference.as_str().map(str::to_owned) else {
                node.shift_remove("$ref");
                break;
            };
            if self.limits.references
                && !whole
                && let Some(Value::Object(_)) = refs::resolve(self.root, &reference)
            {
                let kept = self.define_later(&reference);
                node.insert("$ref".to_owned(), kept.into());
                return node;
            }
            node.shift_remove("$ref");
            if !self.inline(&mut node, &reference) {
                break;
            }
        }
        let merges = whole
            || self
                .limits
                .keywords
                .is_some_and(|kept| !kept.contains(&"allOf"));
        if merges && let Some(Value::Array(parts)) = node.shift_remove("allOf") {
            for part in parts {
                let Value::Object(part) = part else { continue };
                let open = self.open.len();
                let mut part = self.gather(part, whole);
                self.open.truncate(open);
                self.mend(&mut part);
                for key in merge(&mut node, part) {
                    self.note(format!("{key} of allOf is left out"));
                }
            }
        }
        node
    }

    /// Puts the target of a reference in its place. Returns whether there is more to
    /// follow.
    fn inline(&mut self, node: &mut Node, reference: &str) -> bool {
        let target = match refs::resolve(self.root, reference) {
            Some(Value::Object(target)) => target,
            Some(_) => return false,
            None => {
                self.note(format!(
                    "{reference} is not in the schema: anything is taken"
                ));
                self.loosen("a reference leads nowhere");
                return false;
            }
        };
        let again = self.open.iter().any(|open| open == reference);
        let size = if again { 0 } else { size(target) };
        if !again && self.inlined + size <= INLINED {
            self.inlined += size;
            self.open.push(reference.to_owned());
            merge(node, target.clone());
            return true;
        }
        let called = refs::called(reference);
        self.note(match again {
            true => format!("it holds {called} again and is cut"),
            false => format!("{called} is too large to be written out again and is cut"),
        });
        self.loosen("it holds itself");
        let kind = refs::end_of(self.root, target).and_then(|end| end.get("type"));
        if let Some(kind) = kind {
            node.entry("type").or_insert_with(|| kind.clone());
        }
        if !node.contains_key("description") {
            node.insert("description".to_owned(), format!("As {called}.").into());
        }
        false
    }

    fn descend(&mut self, node: &mut Node, depth: usize) {
        let keys: Vec<String> = node.keys().cloned().collect();
        for key in keys {
            match key.as_str() {
                "properties" => self.descend_properties(node, depth),
                "patternProperties" | "dependentSchemas" => {
                    if let Some(Value::Object(schemas)) = node.get_mut(&key) {
                        for (name, schema) in std::mem::take(schemas) {
                            let fitted = self.within(&[&key, &name], &schema, depth);
                            if let Some(Value::Object(schemas)) = node.get_mut(&key) {
                                schemas.insert(name, fitted);
                            }
                        }
                    }
                }
                "items"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "additionalItems"
                | "propertyNames"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else" => {
                    if let Some(schema) = node.get_mut(&key).map(Value::take) {
                        let fitted = self.within(&[&key], &schema, depth);
                        node.insert(key, fitted);
                    }
                }
                "prefixItems" | "anyOf" | "oneOf" | "allOf" => {
                    if let Some(Value::Array(schemas)) = node.get_mut(&key).map(Value::take) {
                        let mut fitted = Vec::with_capacity(schemas.len());
                        for (at, schema) in schemas.iter().enumerate() {
                            fitted.push(self.within(&[&key, &at.to_string()], schema, depth));
                        }
                        node.insert(key, fitted.into());
                    }
                }
                "$defs" | "definitions" if depth > 0 => {
                    node.shift_remove(&key);
                }
                _ => {}
            }
        }
    }

    fn descend_properties(&mut self, node: &mut Node, depth: usize) {
        let Some(Value::Object(properties)) = node.get_mut("properties").map(Value::take) else {
            return;
        };
        let mut fitted = Node::with_capacity(properties.len());
        for (name, schema) in &properties {
            if *schema == Value::Bool(false) && self.limits.typed {
                continue;
            }
            let new = keys::renamed(name, self.limits.properties);
            if let Some(new) = &new {
                self.note(format!("property {name:?} is called {new}"));
                if let Some(Value::Array(required)) = node.get_mut("required") {
                    for asked in required.iter_mut().filter(|asked| *asked == name) {
                        *asked = new.as_str().into();
                    }
                }
            }
            let name = new.as_deref().unwrap_or(name);
            let schema = self.within(&["properties", name], schema, depth);
            fitted.insert(name.to_owned(), schema);
        }
        self.properties += fitted.len();
        if self.limits.typed
            && let Some(Value::Array(required)) = node.get_mut("required")
        {
            required.retain(|name| name.as_str().is_some_and(|name| fitted.contains_key(name)));
            if required.is_empty() {
                node.shift_remove("required");
            }
        }
        node.insert("properties".to_owned(), Value::Object(fitted));
    }

    /// Fits the schema that lies under these keys.
    fn within(&mut self, under: &[&str], schema: &Value, depth: usize) -> Value {
        // `true` and `false` say all that there is to say.
        let last = under.first().copied();
        if schema.is_boolean() && (!self.limits.typed || last == Some("additionalProperties")) {
            return schema.clone();
        }
        let length = self.path.len();
        for key in under {
            self.path.push('/');
            self.path
                .push_str(&key.replace('~', "~0").replace('/', "~1"));
        }
        let fitted = self.node(schema, depth + 1);
        self.path.truncate(length);
        Value::Object(fitted)
    }

    /// The reference that stays in place of `reference`: into the definitions, since
    /// what lies elsewhere may be renamed or merged.
    fn define_later(&mut self, reference: &str) -> String {
        let known = self.wanted.iter().find(|(_, _, known)| known == reference);
        let (holder, name) = match known {
            Some((holder, name, _)) => (*holder, name.clone()),
            None => {
                let (holder, name) = match refs::definition(reference) {
                    Some((holder, name)) => (holder, name.to_owned()),
                    None => ("$defs", refs::name_for(reference)),
                };
                let wanted = (holder, name.clone(), reference.to_owned());
                self.wanted.push(wanted);
                (holder, name)
            }
        };
        format!("#/{holder}/{name}")
    }

    /// Fits the definitions that are still referred to, and drops the others.
    fn define(&mut self, node: &mut Node) {
        let mut fitted: BTreeMap<(&str, String), Value> = BTreeMap::new();
        let mut at = 0;
        while let Some((holder, name, reference)) = self.wanted.get(at).cloned() {
            at += 1;
            if let Some(schema) = refs::resolve(self.root, &reference) {
                let schema = self.within(&[holder, &name], schema, 0);
                fitted.insert((holder, name), schema);
            }
        }
        for holder in ["definitions", "$defs"] {
            let mut kept = Node::new();
            // In the author's order, then what was put there.
            let all = self.root.get(holder).and_then(Value::as_object);
            for name in all.into_iter().flat_map(|all| all.keys()) {
                if let Some(schema) = fitted.remove(&(holder, name.clone())) {
                    kept.insert(name.clone(), schema);
                }
            }
            let more = std::mem::take(&mut fitted);
            for ((of, name), schema) in more {
                if of == holder {
                    kept.insert(name, schema);
                } else {
                    fitted.insert((of, name), schema);
                }
            }
            if kept.is_empty() {
                node.shift_remove(holder);
            } else {
                node.insert(holder.to_owned(), Value::Object(kept));
            }
        }
    }
}

/// Adds a sentence to a description.
pub(super) fn describe(node: &mut Node, sentence: &str) {
    let text = match node.get("description").and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => format!("{} {sentence}", text.trim_end()),
        _ => sentence.to_owned(),
    };
    node.insert("description".to_owned(), text.into());
}

/// Whether a keyword forbids values, so that leaving it out is worth a note.
fn constrains(keyword: &str) -> bool {
    const SILENT: [&str; 12] = [
        "$schema",
        "$id",
        "id",
        "$comment",
        "$defs",
        "definitions",
        "default",
        "example",
        "examples",
        "readOnly",
        "deprecated",
        "additionalProperties",
    ];
    !SILENT.contains(&keyword) && !keyword.starts_with("x-")
}

/// Bytes of a schema's text, about.
fn size(node: &Node) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len() + 2,
            Value::Array(items) => items.iter().map(of).sum::<usize>() + 2,
            Value::Object(node) => node
                .iter()
                .map(|(key, value)| key.len() + 4 + of(value))
                .sum(),
            _ => 4,
        }
    }
    node.values().map(of).sum::<usize>() + 16
}
