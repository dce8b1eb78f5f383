//! Permission for a call, from the person behind the client.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;
use toolcrib_core::Permission;
use toolcrib_mcp::RpcError;

use super::Cx;
use super::call::refusal;
use crate::catalog::Offered;
use crate::client::can;
use crate::gateway::{Gateway, digest};
use crate::wire;

/// Begins the states that mean a question for permission.
const ASKED: &str = "toolcrib-asked:";
const APPROVE: &str = "approve";
const METHOD: &str = "elicitation/create";
/// Most characters of the arguments that the question shows.
const SHOWN: usize = 2_000;

/// Whether a call may go on.
pub(crate) enum Leave {
    Go,
    /// This is the answer in its place.
    Answer(Box<RawValue>),
}

impl Gateway {
    /// Settles whether a call runs. `params` are those of the call, arguments and all.
    pub(crate) async fn permitted(
        self: &Arc<Self>,
        cx: &Cx,
        offered: &Offered,
        params: &str,
    ) -> Result<Leave, RpcError> {
        if offered.permission != Permission::Ask {
            return Ok(Leave::Go);
        }
        let name = offered.spec.name.as_str();
        if !can(cx.capabilities.get(), METHOD) {
            return Ok(Leave::Answer(refusal(&format!(
                "`{name}` runs only after a person has said yes, and this client cannot ask; nothing ran. \
                 The user can allow it under [mcp.policy] of the gateway's configuration."
            ))));
        }
        let arguments = wire::get(params, "arguments").map_or("{}", RawValue::get);
        let shown: String = arguments
            .chars()
            .filter(|c| !c.is_control())
            .take(SHOWN)
            .collect();
        let question = json!({
            "message": format!("Run {name} ({}) with {shown}?", offered.remark()),
            "requestedSchema": {"type": "object", "properties": {}},
        });
        if !cx.modern {
            let question = question.to_string();
            let answer = cx.client.ask(&cx.lane, METHOD, Some(&question)).await?;
            return Ok(verdict(name, &answer));
        }
        // The state proves which call was asked about, and that we asked.
        let sealed = format!("{}\n{name}\n{arguments}", self.seal);
        let state = format!("{ASKED}{}", digest(&sealed));
        if wire::text(params, "requestState").as_deref() == Some(&state)
            && let Some(answer) = wire::at(params, &["inputResponses", APPROVE])
        {
            return Ok(verdict(name, answer));
        }
        let text = json!({
            "resultType": "input_required",
            "inputRequests": {APPROVE: {"method": METHOD, "params": question}},
            "requestState": state,
        });
        Ok(Leave::Answer(wire::raw(text.to_string())))
    }
}

fn verdict(name: &str, answer: &RawValue) -> Leave {
    match wire::text(answer.get(), "action").as_deref() {
        Some("accept") => Leave::Go,
        _ => Leave::Answer(refusal(&format!(
            "the user did not allow `{name}` to run; nothing ran"
        ))),
    }
}
