//! Tells a model what is wrong with its arguments.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::Value;
use toolcrib_core::{ToolError, ToolSpec};

/// Most mistakes that one error tells.
const MISTAKES: usize = 8;
/// Most characters of a value, a name or a list that an error repeats.
const SHOWN: usize = 80;

/// Each mistake in words, in the schema's order, without repeats.
pub(super) fn mistakes(validator: &Validator, value: &Value) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for error in validator.iter_errors(value) {
        let Some(text) = describe(&error) else {
            continue;
        };
        if !all.contains(&text) {
            all.push(text);
        }
        // One more than is told, so that it can be said that there are more.
        if all.len() > MISTAKES {
            break;
        }
    }
    all
}

/// The error that tells them.
pub(super) fn error(spec: &ToolSpec, mistakes: &[String]) -> ToolError {
    let more = if mistakes.len() > MISTAKES {
        "; and more"
    } else {
        ""
    };
    let told = &mistakes[..mistakes.len().min(MISTAKES)];
    ToolError::bad_args(format!(
        "bad arguments of `{}`: {}{more}; it did not run.",
        spec.name,
        told.join("; ")
    ))
}

/// The types that a value was expected to have, where that is all that is wrong.
pub(super) fn expected_types(error: &ValidationError<'_>) -> Vec<JsonType> {
    match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => vec![*kind],
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => kinds.iter().collect(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let mut types = Vec::new();
            for error in context.iter().flatten() {
                if error.instance_path() == error_root(context) {
                    for kind in expected_types(error) {
                        if !types.contains(&kind) {
                            types.push(kind);
                        }
                    }
                }
            }
            types
        }
        _ => Vec::new(),
    }
}

/// The shortest place that the branches complain about: the value itself.
fn error_root<'a>(context: &'a [Vec<ValidationError<'static>>]) -> &'a Location {
    static ROOT: std::sync::LazyLock<Location> = std::sync::LazyLock::new(Location::new);
    context
        .iter()
        .flatten()
        .map(|error| error.instance_path())
        .min_by_key(|place| place.as_str().len())
        .unwrap_or(&ROOT)
}

/// `None` for what is no mistake of the arguments.
fn describe(error: &ValidationError<'_>) -> Option<String> {
    let place = place(error.instance_path());
    let got = || got(error.instance());
    let must = |what: String| Some(format!("{place} must be {what}, not {}", got()));
    match error.kind() {
        Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. }
        | Kind::Referencing(_)
        | Kind::FromUtf8 { .. } => None,
        Kind::Type { .. } => must(either(&expected_types(error))),
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            Some(format!("{} is missing", inner(error.instance_path(), name)))
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let names: Vec<_> = unexpected
                .iter()
                .take(MISTAKES)
                .map(|name| inner(error.instance_path(), name))
                .collect();
            let s = if unexpected.len() == 1 { "" } else { "s" };
            Some(format!("there is no argument{s} {}", names.join(", ")))
        }
        Kind::Enum { options } => must(format!("one of {}", list(options))),
        Kind::Constant { expected_value } => must(json(expected_value)),
        Kind::Minimum { limit } => must(format!("at least {limit}")),
        Kind::Maximum { limit } => must(format!("at most {limit}")),
        Kind::ExclusiveMinimum { limit } => must(format!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => must(format!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => must(format!("a multiple of {multiple_of}")),
        Kind::MinLength { limit } => must(format!("a text of at least {limit} characters")),
        Kind::MaxLength { limit } => must(format!("a text of at most {limit} characters")),
        Kind::Pattern { pattern } => must(format!("a text that matches /{}/", short(pattern))),
        Kind::MinItems { limit } => must(format!("a list of at least {limit} items")),
        Kind::MaxItems { limit } => must(format!("a list of at most {limit} items")),
        Kind::UniqueItems => must("a list without repeats".to_owned()),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            let types = expected_types(error);
            if !types.is_empty() && context.iter().all(|branch| only_type(branch)) {
                return must(either(&types));
            }
            let nearest = nearest(context).and_then(describe);
            Some(match nearest {
                Some(nearest) => {
                    format!("{place} has none of the allowed forms; of the nearest: {nearest}")
                }
                None => format!("{place} has none of the allowed forms"),
            })
        }
        Kind::OneOfMultipleValid { .. } => {
            Some(format!("{place} fits several forms, of which only one may"))
        }
        Kind::PropertyNames { error } => describe(error),
        // The validator's own words, which name the keyword.
        _ => Some(format!("{place}: {}", short(&error.masked().to_string()))),
    }
}

fn only_type(branch: &[ValidationError<'static>]) -> bool {
    branch
        .iter()
        .all(|error| matches!(error.kind(), Kind::Type { .. }))
}

/// The mistake that went deepest before it was found: that form was meant.
fn nearest<'a>(
    context: &'a [Vec<ValidationError<'static>>],
) -> Option<&'a ValidationError<'static>> {
    let depth = |error: &ValidationError<'static>| error.instance_path().iter().count();
    context
        .iter()
        .filter(|branch| !only_type(branch))
        .min_by_key(|branch| {
            let deepest = branch.iter().map(depth).max().unwrap_or_default();
            (branch.len(), usize::MAX - deepest)
        })?
        .first()
}

fn either(types: &[JsonType]) -> String {
    let names: Vec<&str> = types
        .iter()
        .map(|kind| match kind {
            JsonType::Null => "null",
            JsonType::Boolean => "true or false",
            JsonType::Integer => "an integer",
            JsonType::Number => "a number",
            JsonType::String => "a string",
            JsonType::Array => "an array",
            JsonType::Object => "an object",
        })
        .collect();
    names.join(" or ")
}

/// Such as `files[2].name`, in backticks.
fn place(at: &Location) -> String {
    let text = path(at);
    if text.is_empty() {
        "the whole".to_owned()
    } else {
        format!("`{}`", short(&text))
    }
}

fn inner(at: &Location, name: &str) -> String {
    let outer = path(at);
    let dot = if outer.is_empty() { "" } else { "." };
    format!("`{}`", short(&format!("{outer}{dot}{name}")))
}

/// The place as a person writes it.
pub(super) fn path(at: &Location) -> String {
    let mut text = String::new();
    for segment in at.iter() {
        match segment {
            LocationSegment::Property(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(&name);
            }
            LocationSegment::Index(at) => text.push_str(&format!("[{at}]")),
        }
    }
    text
}

fn got(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the string {}", json(&Value::String(short(text)))),
        Value::Array(items) if items.len() > 3 => format!("a list of {} items", items.len()),
        Value::Object(map) if map.len() > 3 => format!("an object of {} members", map.len()),
        other => json(other),
    }
}

fn json(value: &Value) -> String {
    short(&value.to_string())
}

/// At most [`SHOWN`] characters, on one line.
fn short(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut out: String = text.chars().take(SHOWN).map(plain).collect();
    if text.chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out
}

fn list(options: &Value) -> String {
    const OPTIONS: usize = 20;
    let Some(options) = options.as_array() else {
        return json(options);
    };
    let mut shown: Vec<String> = options.iter().take(OPTIONS).map(json).collect();
    if options.len() > OPTIONS {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
