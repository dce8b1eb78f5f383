//! The mistakes whose meaning is beyond doubt.
//!
//! Three, and no more: a number written as a text where a number is due, an array
//! or object written as a text where one is due, and null for something that may
//! be left out. Anything else would run what was not asked for.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{JsonType, Validator};
use serde_json::{Number, Value};
use toolcrib_core::Str;

use super::explain::{expected_types, path};
use crate::Repair;

/// One change, and how to take it back.
pub(super) struct Mended {
    pub(super) repair: Repair,
    pointer: String,
    was: Value,
}

/// A change that the schema asks for.
pub(super) struct Mend {
    pointer: String,
    place: Str,
    what: What,
}

enum What {
    Number(Value),
    Json(Value),
    LeaveOut,
}

/// What can be mended of what the validator complains about.
pub(super) fn mends(validator: &Validator, value: &Value) -> Vec<Mend> {
    // Arguments with more mistakes than this are no slip.
    const MOST: usize = 64;
    let mut mends: Vec<Mend> = Vec::new();
    for error in validator.iter_errors(value).take(MOST) {
        let pointer = error.instance_path().as_str();
        if mends.iter().any(|mend| mend.pointer == pointer) {
            continue;
        }
        let types = expected_types(&error);
        let what = match &**error.instance() {
            Value::Null if is_member(value, pointer) && fits_null(error.kind()) => {
                Some(What::LeaveOut)
            }
            Value::String(text) if !types.contains(&JsonType::String) => from_text(text, &types),
            _ => None,
        };
        if let Some(what) = what {
            mends.push(Mend {
                pointer: pointer.to_owned(),
                place: path(error.instance_path()).into(),
                what,
            });
        }
    }
    mends
}

fn fits_null(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Type { .. } | Kind::Enum { .. } | Kind::AnyOf { .. } | Kind::OneOfNotValid { .. }
    )
}

/// Whether the place is that of an object's member.
fn is_member(value: &Value, pointer: &str) -> bool {
    pointer
        .rsplit_once('/')
        .and_then(|(parent, _)| value.pointer(parent))
        .is_some_and(Value::is_object)
}

/// The value that a text stands for, where only one of the expected types can be meant.
fn from_text(text: &str, types: &[JsonType]) -> Option<What> {
    let due = |kind: JsonType| types.contains(&kind);
    let trimmed = text.trim();
    if due(JsonType::Integer) || due(JsonType::Number) {
        let number: Option<Number> = serde_json::from_str(trimmed).ok();
        let whole = |number: &Number| number.is_i64() || number.is_u64();
        if let Some(number) = number.filter(|n| due(JsonType::Number) || whole(n)) {
            return Some(What::Number(Value::Number(number)));
        }
    }
    if due(JsonType::Array) && trimmed.starts_with('[')
        || due(JsonType::Object) && trimmed.starts_with('{')
    {
        return serde_json::from_str(trimmed).ok().map(What::Json);
    }
    None
}

/// Applies them; whether anything changed.
pub(super) fn apply(value: &mut Value, mends: Vec<Mend>, mended: &mut Vec<Mended>) -> bool {
    let before = mended.len();
    for Mend {
        pointer,
        place,
        what,
    } in mends
    {
        let (repair, was) = match what {
            What::Number(new) => (Repair::NumberInString(place), replace(value, &pointer, new)),
            What::Json(new) => (Repair::JsonInString(place), replace(value, &pointer, new)),
            What::LeaveOut => (Repair::NullLeftOut(place), take_out(value, &pointer)),
        };
        if let Some(was) = was {
            mended.push(Mended {
                repair,
                pointer,
                was,
            });
        }
    }
    mended.len() > before
}

/// Puts a null back that had to be there: a required argument cannot be left out,
/// and the error is about the null then.
pub(super) fn undo_needless(validator: &Validator, value: &mut Value, mended: &mut Vec<Mended>) {
    let missing: Vec<String> = validator
        .iter_errors(value)
        .filter_map(|error| match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str()?.replace('~', "~0").replace('/', "~1");
                Some(format!("{}/{name}", error.instance_path().as_str()))
            }
            _ => None,
        })
        .collect();
    mended.retain(|mended| {
        let needless =
            matches!(mended.repair, Repair::NullLeftOut(_)) && missing.contains(&mended.pointer);
        if needless {
            put_back(value, &mended.pointer, mended.was.clone());
        }
        !needless
    });
}

fn replace(value: &mut Value, pointer: &str, new: Value) -> Option<Value> {
    let slot = value.pointer_mut(pointer)?;
    Some(std::mem::replace(slot, new))
}

fn member<'a>(value: &'a mut Value, pointer: &str) -> Option<(&'a mut Value, String)> {
    let (parent, last) = pointer.rsplit_once('/')?;
    let name = last.replace("~1", "/").replace("~0", "~");
    Some((value.pointer_mut(parent)?, name))
}

fn take_out(value: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, name) = member(value, pointer)?;
    parent.as_object_mut()?.shift_remove(&name)
}

fn put_back(value: &mut Value, pointer: &str, was: Value) {
    if let Some((Value::Object(map), name)) = member(value, pointer) {
        map.insert(name, was);
    }
}
