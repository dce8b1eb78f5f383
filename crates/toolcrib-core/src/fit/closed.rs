//! The last steps to the strict subset: every object closed, every property
//! required, what was optional nullable.

use serde_json::{Value, json};

use super::Node;
use super::mend::allow_null;
use super::merge::{names, types};
use super::walk::Fitter;

/// Most properties and values of one schema.
const PROPERTIES: usize = 100;
const VALUES: usize = 250;

impl Fitter<'_> {
    /// Closes a schema whose inner ones are closed already.
    pub(super) fn close(&mut self, node: &mut Node) {
        if let Some(Value::Array(values)) = node.get("enum")
            && values.len() > VALUES
        {
            self.loosen("an enum has too many values");
        }
        let object = node
            .get("type")
            .is_some_and(|kind| types(kind).contains(&"object"));
        if !object {
            return;
        }
        if self.properties > PROPERTIES {
            self.loosen("there are too many properties");
        }
        let more = node.get("additionalProperties").cloned();
        if more
            .as_ref()
            .is_some_and(|more| *more != Value::Bool(false))
        {
            self.loosen("an object takes any property");
        }
        let required = names(node.get("required"));
        let mut all: Vec<Value> = Vec::new();
        if let Some(Value::Object(properties)) = node.get_mut("properties") {
            for (name, schema) in properties {
                all.push(name.as_str().into());
                if let Some(schema) = schema.as_object_mut()
                    && !required.contains(name)
                {
                    allow_null(schema);
                }
            }
        } else if more.is_none() {
            self.loosen("an object says nothing of its properties");
        }
        node.insert("required".to_owned(), all.into());
        node.insert("additionalProperties".to_owned(), json!(false));
    }
}
