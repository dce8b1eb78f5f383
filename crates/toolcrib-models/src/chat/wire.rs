//! The shapes of the chat wire's answers, read leniently.
//!
//! Only what is used is looked at. Values whose type differs between servers stay
//! raw here and are read where they are needed, so that an odd field nobody needs
//! cannot fail a reply.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::Name;

/// One frame of a stream, or one whole answer.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    /// Streams send `delta`, whole answers `message`.
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<FunctionDelta<'a>>,
}

/// A piece of one tool call.
#[derive(Debug, Default)]
pub(super) struct CallDelta<'a> {
    pub(super) index: Option<&'a RawValue>,
    pub(super) id: Option<&'a RawValue>,
    pub(super) function: FunctionDelta<'a>,
    /// Fields that no table knows, such as signatures.
    pub(super) extra: Vec<(Cow<'a, str>, &'a RawValue)>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for CallDelta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = CallDelta<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a piece of a tool call")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut call = CallDelta::default();
                while let Some(Name(key)) = map.next_key()? {
                    match &*key {
                        "index" => call.index = map.next_value()?,
                        "id" => call.id = map.next_value()?,
                        "type" => {
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                        "function" => {
                            call.function = map
                                .next_value::<Option<FunctionDelta<'de>>>()?
                                .unwrap_or_default();
                        }
                        _ => {
                            if let Some(value) = map.next_value::<Option<&RawValue>>()? {
                                call.extra.push((key, value));
                            }
                        }
                    }
                }
                Ok(call)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}
