//! From the schema as its author wrote it to a validator, whatever it takes.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;
use toolcrib_core::ToolSpec;

use super::refs;

/// A schema that was compiled, or cannot be.
pub(crate) struct Compiled(Option<Validator>);

/// Odd places that are cut out of a schema before it is given up.
const CUTS: usize = 32;

impl Compiled {
    pub(super) fn of(spec: &ToolSpec) -> Compiled {
        let compiled = serde_json::from_str(spec.input_schema.wire())
            .map_err(|error| error.to_string())
            .and_then(compile);
        if let Err(reason) = &compiled {
            tracing::warn!(tool = %spec.name, reason, "arguments are not checked against the schema");
        }
        Compiled(compiled.ok())
    }

    pub(super) fn validator(&self) -> Option<&Validator> {
        self.0.as_ref()
    }
}

fn compile(mut schema: Value) -> Result<Validator, String> {
    refs::tame(&mut schema)?;
    for _ in 0..CUTS {
        match build(&schema) {
            Ok(validator) => return Ok(validator),
            Err(error) => {
                let place = error.instance_path().as_str();
                if !cut(&mut schema, place) {
                    return Err(error.to_string().chars().take(200).collect());
                }
            }
        }
    }
    Err(format!("more than {CUTS} odd places"))
}

fn build(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        // A format is a hint; what is refused by one reading of it may be fine for the tool.
        .should_validate_formats(false)
        // Linear in the text, whatever pattern a server sends.
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
}

/// Removes what stands at the place; nothing at the root or where nothing stands.
fn cut(schema: &mut Value, pointer: &str) -> bool {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return false;
    };
    let last = last.replace("~1", "/").replace("~0", "~");
    match schema.pointer_mut(parent) {
        Some(Value::Object(map)) => map.shift_remove(&last).is_some(),
        Some(Value::Array(items)) => {
            // The places of the others are told by their positions.
            match last.parse().ok().and_then(|at: usize| items.get_mut(at)) {
                Some(slot) if *slot != Value::Bool(true) => {
                    *slot = Value::Bool(true);
                    true
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether an object without properties of its own is described by other means.
pub(super) fn describes_otherwise(schema: &Value) -> bool {
    const MEANS: [&str; 5] = ["$ref", "anyOf", "oneOf", "allOf", "patternProperties"];
    MEANS.iter().any(|key| schema.get(key).is_some())
}
