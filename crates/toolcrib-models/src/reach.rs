//! Whether a server answers, which models it lists, and what it thinks the time is.
//!
//! One request that costs nothing and carries no prompt. It is for people who ask
//! what is wrong; no run depends on it.

use std::time::{Duration, SystemTime};

use serde_json::Value;
use toolcrib_core::{ModelError, ModelErrorKind};

use crate::http::{Auth, Endpoint, Fault, Route};
use crate::profile::WireName;
use crate::select::Target;

/// Longest wait for the answer unless another is given.
const PATIENCE: Duration = Duration::from_secs(3);
/// Most bytes of the answer.
const MOST: usize = 4 << 20;

/// What a server said.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reached {
    /// The models it lists, in name order; empty where it lists none.
    pub models: Vec<String>,
    /// The time by its clock.
    pub date: Option<SystemTime>,
}

/// Asks servers for their models.
#[derive(Debug)]
pub struct Reach(());

impl Reach {
    /// Asks the server behind `target`.
    ///
    /// # Errors
    /// [`ModelError`] as a run against it would give: no connection, a key that is
    /// refused, an address that leads elsewhere.
    pub async fn ask(target: &Target) -> Result<Reached, ModelError> {
        Reach::within(target, PATIENCE).await
    }

    /// Asks the server behind `target`, the whole of which may take so long.
    ///
    /// # Errors
    /// As [`Reach::ask`].
    pub async fn within(target: &Target, patience: Duration) -> Result<Reached, ModelError> {
        let route = route(target.wire());
        let endpoint = Endpoint::new(target.base_url(), target.key(), &route)?;
        // A server that sends a byte now and then must not hold a check up either.
        match tokio::time::timeout(patience, listed(&endpoint, patience)).await {
            Ok(answer) => answer,
            Err(_) => {
                let mut fault = Fault::idle(patience);
                fault.what = format!("gave no answer within {} s", patience.as_secs_f64());
                fault.next = "is the server busy, or is something else listening there?".into();
                Err(endpoint.error(fault))
            }
        }
    }

    /// Whether the chat template of a llama.cpp server can list tools; none where the
    /// server does not say.
    pub(crate) async fn lists_tools(endpoint: &Endpoint) -> Option<bool> {
        let client = endpoint.client(PATIENCE).ok()?;
        let url = endpoint.sibling("/props");
        let sent = tokio::time::timeout(PATIENCE, client.get(url).send()).await;
        let response = sent.ok()?.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let body = crate::http::body(response, PATIENCE, MOST).await;
        let value: Value = serde_json::from_slice(&body).ok()?;
        value["chat_template_caps"]["supports_tools"].as_bool()
    }
}

async fn listed(endpoint: &Endpoint, patience: Duration) -> Result<Reached, ModelError> {
    let client = endpoint.client(patience)?;
    let response = match client.get(endpoint.url()).send().await {
        Err(error) => return Err(endpoint.error(endpoint.transport(&error, false))),
        Ok(response) => response,
    };
    let status = response.status().as_u16();
    let date = response.headers().get("date");
    let date = date.and_then(|value| value.to_str().ok());
    let date = date.and_then(|text| httpdate::parse_http_date(text).ok());
    let body = crate::http::body(response, patience, MOST).await;
    if !(200..300).contains(&status) {
        return Err(endpoint.error(Fault::of_status(status, &body)));
    }
    let Ok(value) = serde_json::from_slice::<Value>(&body) else {
        return Err(endpoint.error(Fault::not_the_wire("sent", &body)));
    };
    Ok(Reached {
        models: names(&value),
        date,
    })
}

fn route(wire: WireName) -> Route {
    let (drops, path, auth, headers): (&[&str], _, _, &[(&'static str, &'static str)]) = match wire
    {
        WireName::Messages => (
            &["/v1/messages", "/v1"],
            "/v1/models",
            Auth::Header("x-api-key"),
            &[("anthropic-version", "2023-06-01")],
        ),
        WireName::Gemini => (
            &["/v1beta/models", "/v1beta"],
            "/v1beta/models",
            Auth::Header("x-goog-api-key"),
            &[],
        ),
        WireName::Chat | WireName::Responses => (
            &["/chat/completions", "/responses"],
            "/models",
            Auth::Bearer,
            &[],
        ),
    };
    Route {
        drops,
        path: path.to_owned(),
        query: None,
        auth,
        headers,
        example: "http://127.0.0.1:8080/v1",
        advice: "check the base URL",
    }
}

fn names(value: &Value) -> Vec<String> {
    let lists = ["data", "models"].map(|key| value.get(key).and_then(Value::as_array));
    let mut names: Vec<String> = Vec::new();
    if let Some(list) = lists.into_iter().flatten().next() {
        for model in list {
            let name = ["id", "name", "model"]
                .iter()
                .find_map(|key| model.get(*key));
            if let Some(name) = name.and_then(Value::as_str) {
                names.push(name.strip_prefix("models/").unwrap_or(name).to_owned());
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

impl Reached {
    /// Whether a failed [`Reach::ask`] means that nothing listens there, rather than
    /// that it refuses.
    pub fn is_down(error: &ModelError) -> bool {
        matches!(
            error.kind,
            ModelErrorKind::Connect | ModelErrorKind::Idle | ModelErrorKind::Interrupted
        )
    }
}
