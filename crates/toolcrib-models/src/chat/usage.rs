//! Tokens and money out of a chat server's own record.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcrib_core::{Cost, Price, RawJson, Usage};

use crate::usage::{Count, estimate};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wire {
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// Another vendor's name for cached prompt tokens.
    prompt_cache_hit_tokens: Count,
    cost: Option<serde_json::Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Count,
}

/// Reads one reply's record. A cost is estimated only where none is reported, a
/// price is known and both counts are.
pub(super) fn read(raw: &RawValue, price: Option<Price>) -> (Usage, Option<Cost>) {
    let wire: Wire = serde_json::from_str(raw.get()).unwrap_or_default();
    let prompt = wire.prompt_tokens_details.unwrap_or_default();
    let completion = wire.completion_tokens_details.unwrap_or_default();
    let usage = Usage {
        input: wire.prompt_tokens.0,
        cached: prompt.cached_tokens.0.or(wire.prompt_cache_hit_tokens.0),
        cache_write: prompt.cache_write_tokens.0,
        output: wire.completion_tokens.0,
        reasoning: completion.reasoning_tokens.0,
        raw: Some(RawJson(raw.get().into())),
    };
    let reported = wire
        .cost
        .and_then(|cost| cost.as_f64())
        .filter(|usd| usd.is_finite() && *usd >= 0.0)
        .map(Cost::reported);
    let cost = reported.or_else(|| estimate(&usage, price?, 1.0));
    (usage, cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(record: &str, price: Option<Price>) -> (Usage, Option<Cost>) {
        let raw = RawValue::from_string(record.to_owned()).unwrap();
        let (mut usage, cost) = read(&raw, price);
        assert_eq!(usage.raw.take().unwrap().0.as_ref(), record);
        (usage, cost)
    }

    #[test]
    fn p31_what_is_reported_is_read_and_the_rest_stays_absent() {
        let (usage, cost) = check(
            r#"{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,
                "prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":5},
                "completion_tokens_details":{"reasoning_tokens":7},
                "cost":0.95,"cost_details":{"upstream_inference_cost":null}}"#,
            None,
        );
        assert_eq!(
            usage,
            Usage {
                input: Some(100),
                cached: Some(60),
                cache_write: Some(5),
                output: Some(20),
                reasoning: Some(7),
                raw: None,
            }
        );
        assert_eq!(cost, Some(Cost::reported(0.95)));

        let (usage, cost) = check(r#"{"prompt_tokens":12,"prompt_tokens_details":null}"#, None);
        assert_eq!(
            (usage.input, usage.output, usage.cached),
            (Some(12), None, None)
        );
        assert_eq!(cost, None);
        assert_eq!(check("{}", None), (Usage::default(), None));
        assert_eq!(check(r#""odd""#, None), (Usage::default(), None));
        assert_eq!(check(r#"{"prompt_tokens":12.0}"#, None).0.input, Some(12));
        assert_eq!(check(r#"{"prompt_tokens":-1}"#, None).0.input, None);
        assert_eq!(
            check(r#"{"prompt_cache_hit_tokens":3}"#, None).0.cached,
            Some(3)
        );
        assert_eq!(check(r#"{"cost":0}"#, None).1, Some(Cost::reported(0.0)));
    }

    #[test]
    fn p31_an_estimate_is_marked_and_never_replaces_what_was_reported() {
        let price = Some(Price {
            input: 2.0,
            cached: 0.5,
            output: 10.0,
        });
        let record = r#"{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400}}"#;
        let cost = check(record, price).1.unwrap();
        assert!(cost.estimated);
        assert!((cost.usd - 0.0024).abs() < 1e-12, "{}", cost.usd);
        let reported = r#"{"prompt_tokens":1000,"completion_tokens":100,"cost":1.5}"#;
        assert_eq!(check(reported, price).1, Some(Cost::reported(1.5)));
        assert_eq!(check(r#"{"prompt_tokens":1000}"#, price).1, None);
    }
}
