//! A result that wants more input, and the request that gives it.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::context::{RequestContext, Reverse};
use crate::raw;

/// The parameters to send again, with answers to what `result` asks for. `None`
/// when it asks for nothing, or for something that nobody answers.
pub(super) async fn answer(
    reverse: &Arc<dyn Reverse>,
    server: &str,
    params: Option<&RawValue>,
    result: &RawValue,
    cx: &RequestContext,
) -> Option<Box<RawValue>> {
    if raw::text(result.get(), "resultType").as_deref() != Some("input_required") {
        return None;
    }
    let mut answers = Vec::new();
    let asked = raw::get(result.get(), "inputRequests").map_or("{}", RawValue::get);
    for (key, request) in raw::entries(asked)? {
        let method = raw::text(request.get(), "method")?;
        if !reverse.serves(server, &method) {
            return None;
        }
        let wanted = raw::get(request.get(), "params").map(ToOwned::to_owned);
        let answered = reverse.call(server, cx.tag.as_deref(), &method, wanted);
        let answer = answered.await.ok()?;
        answers.push(format!("{}:{}", raw::quoted(&key), answer.get()));
    }
    let mut members: Vec<String> = Vec::new();
    for (key, value) in params
        .and_then(|raw| raw::entries(raw.get()))
        .unwrap_or_default()
    {
        if key != "inputResponses" && key != "requestState" {
            members.push(format!("{}:{}", raw::quoted(&key), value.get()));
        }
    }
    if !answers.is_empty() {
        members.push(format!("\"inputResponses\":{{{}}}", answers.join(",")));
    }
    if let Some(state) = raw::get(result.get(), "requestState") {
        members.push(format!("\"requestState\":{}", state.get()));
    }
    Some(raw::raw(format!("{{{}}}", members.join(","))))
}
