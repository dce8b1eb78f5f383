//! Tokens and money as one record, whatever a provider calls them.
//!
//! What is absent stays absent: an unknown number is none, never 0.

use serde::Deserialize;
use toolcrib_core::{Cost, Price, RawJson, Usage};

use crate::json;

/// A count that may be absent, null or, from careless servers, a float.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let whole = |float: f64| (0.0..=1e15).contains(&float).then_some(float as u64);
        Ok(Count(
            value.as_u64().or_else(|| value.as_f64().and_then(whole)),
        ))
    }
}

/// What a reply costs by a price table; none where a count is unknown. Tokens
/// written to the cache cost `write` times the price of the prompt.
pub(crate) fn estimate(usage: &Usage, price: Price, write: f64) -> Option<Cost> {
    let input = usage.input?;
    let cached = usage.cached.unwrap_or(0).min(input);
    let written = usage.cache_write.unwrap_or(0).min(input - cached);
    let micro = (input - cached - written) as f64 * price.input
        + written as f64 * price.input * write
        + cached as f64 * price.cached
        + usage.output? as f64 * price.output;
    Some(Cost {
        estimated: true,
        ..Cost::reported(micro / 1e6)
    })
}

fn raw(members: &[(String, String)]) -> Option<RawJson> {
    let members = members.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let text = json::object(members);
    (text != "{}").then(|| RawJson(text.into()))
}

fn count(record: &str, name: &str) -> Option<u64> {
    let value = json::member(record, name)?;
    serde_json::from_str::<Count>(&value).ok()?.0
}

fn sum(parts: &[Option<u64>]) -> Option<u64> {
    parts.iter().flatten().copied().reduce(u64::saturating_add)
}

/// A Messages record, whose `input_tokens` leave out what the cache had to do with.
pub(crate) fn messages(members: &[(String, String)]) -> Usage {
    let raw = raw(members);
    let record = raw.as_ref().map_or("", |raw| &raw.0);
    let cached = count(record, "cache_read_input_tokens");
    let cache_write = count(record, "cache_creation_input_tokens");
    let details = json::member(record, "output_tokens_details").unwrap_or_default();
    let fresh = count(record, "input_tokens");
    Usage {
        input: fresh.and_then(|fresh| sum(&[Some(fresh), cached, cache_write])),
        cached,
        cache_write,
        output: count(record, "output_tokens"),
        reasoning: count(&details, "thinking_tokens"),
        raw,
    }
}

/// A Responses record.
pub(crate) fn responses(record: &str) -> Usage {
    let input = json::member(record, "input_tokens_details").unwrap_or_default();
    let output = json::member(record, "output_tokens_details").unwrap_or_default();
    Usage {
        input: count(record, "input_tokens"),
        cached: count(&input, "cached_tokens"),
        cache_write: count(&input, "cache_write_tokens"),
        output: count(record, "output_tokens"),
        reasoning: count(&output, "reasoning_tokens"),
        raw: Some(RawJson(record.into())),
    }
}

/// A Gemini record, whose candidates leave out the thoughts and whose prompt leaves
/// out what tools of the provider's own added to it.
pub(crate) fn gemini(record: &str) -> Usage {
    let reasoning = count(record, "thoughtsTokenCount");
    let said = count(record, "candidatesTokenCount");
    let prompt = count(record, "promptTokenCount");
    Usage {
        input: prompt.and_then(|p| sum(&[Some(p), count(record, "toolUsePromptTokenCount")])),
        cached: count(record, "cachedContentTokenCount"),
        cache_write: None,
        output: said.or(reasoning).and_then(|_| sum(&[said, reasoning])),
        reasoning,
        raw: Some(RawJson(record.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(usage: &Usage) -> [Option<u64>; 5] {
        [
            usage.input,
            usage.cached,
            usage.cache_write,
            usage.output,
            usage.reasoning,
        ]
    }

    #[test]
    fn p31_each_wire_normalises_to_one_record() {
        let members = |text: &str| {
            let mut members = Vec::new();
            json::for_each_member(text, |k, v| members.push((k.to_owned(), v.to_owned())));
            members
        };
        let usage = messages(&members(
            r#"{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":80,"output_tokens":7,"output_tokens_details":{"thinking_tokens":3}}"#,
        ));
        assert_eq!(
            numbers(&usage),
            [Some(95), Some(80), Some(5), Some(7), Some(3)]
        );
        let usage = responses(
            r#"{"input_tokens":95,"input_tokens_details":{"cached_tokens":80},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}"#,
        );
        assert_eq!(
            numbers(&usage),
            [Some(95), Some(80), None, Some(7), Some(3)]
        );
        let usage = gemini(
            r#"{"promptTokenCount":95,"cachedContentTokenCount":80,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":102}"#,
        );
        assert_eq!(
            numbers(&usage),
            [Some(95), Some(80), None, Some(7), Some(3)]
        );
    }

    #[test]
    fn p31_absent_stays_absent_on_each_wire() {
        assert_eq!(messages(&[]), Usage::default());
        assert_eq!(numbers(&responses("{}")), [None; 5]);
        assert_eq!(numbers(&gemini("{}")), [None; 5]);
        assert_eq!(numbers(&gemini(r#"{"promptTokenCount":0}"#))[0], Some(0));
        let odd = r#"{"input_tokens":"7","output_tokens":null}"#;
        assert_eq!(numbers(&responses(odd)), [None; 5]);
        let price = Price {
            input: 1.0,
            cached: 0.1,
            output: 5.0,
        };
        assert_eq!(estimate(&responses("{}"), price, 1.0), None);
    }

    #[test]
    fn p31_writing_to_the_cache_has_its_own_price() {
        let price = Price {
            input: 4.0,
            cached: 0.4,
            output: 20.0,
        };
        let usage = Usage {
            input: Some(1000),
            cached: Some(500),
            cache_write: Some(100),
            output: Some(10),
            ..Usage::default()
        };
        let cost = estimate(&usage, price, 1.25).unwrap();
        let expected = (400.0 * 4.0 + 100.0 * 5.0 + 500.0 * 0.4 + 200.0) / 1e6;
        assert!((cost.usd - expected).abs() < 1e-12 && cost.estimated);
    }
}
