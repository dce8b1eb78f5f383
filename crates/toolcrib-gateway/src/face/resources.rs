//! Prompts, resources, completions and log levels: each to the server it is of.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;
use toolcrib_core::Str;
use toolcrib_mcp::{RpcError, ServerState};

use super::instructions::OWN;
use super::{Answer, Cx, bad};
use crate::backend::Backend;
use crate::client::lock;
use crate::gateway::Gateway;
use crate::wire;

/// The protocol's log levels, least serious first.
pub(crate) const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

impl Gateway {
    pub(crate) async fn get_prompt(self: &Arc<Self>, cx: &Cx, params: &str) -> Answer {
        let name = wire::text(params, "name").unwrap_or_default();
        let catalog = cx.backend.catalog(&self.options);
        let found = catalog
            .prompts
            .iter()
            .find(|prompt| prompt.exported == name);
        let Some(prompt) = found else {
            return Err(bad(format!("Unknown prompt: {name}")));
        };
        let key = wire::quoted(&prompt.key);
        let params = wire::with(params, &[("name", &key)], &[]);
        self.send(cx, &prompt.server, "prompts/get", params.get())
            .await
    }

    pub(crate) async fn read_resource(self: &Arc<Self>, cx: &Cx, params: &str) -> Answer {
        let uri = wire::text(params, "uri").unwrap_or_default();
        if let Some(text) = self.own_resource(cx, &uri) {
            let result =
                json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]});
            return Ok(Some(wire::raw(result.to_string())));
        }
        let (server, params) = self.route(cx, &uri, params)?;
        self.send(cx, &server, "resources/read", params.get()).await
    }

    pub(crate) async fn watch_resource(
        self: &Arc<Self>,
        cx: &Cx,
        method: &str,
        params: &str,
    ) -> Answer {
        let uri = wire::text(params, "uri").unwrap_or_default();
        let (server, params) = self.route(cx, &uri, params)?;
        let result = self.send(cx, &server, method, params.get()).await?;
        let mut watched = lock(&cx.client.watched);
        match method {
            "resources/subscribe" => watched.insert(uri),
            _ => watched.remove(&uri),
        };
        Ok(result)
    }

    pub(crate) async fn complete(self: &Arc<Self>, cx: &Cx, params: &str) -> Answer {
        let catalog = cx.backend.catalog(&self.options);
        let reference = wire::get(params, "ref").map_or("{}", RawValue::get);
        let text = |key: &str| wire::text(reference, key).unwrap_or_default();
        let (listed, key, wanted) = match text("type").as_str() {
            "ref/prompt" => (&catalog.prompts, "name", text("name")),
            "ref/resource" => (&catalog.templates, "uri", text("uri")),
            _ => return Err(bad("`ref.type` must be \"ref/prompt\" or \"ref/resource\"")),
        };
        let found = listed.iter().find(|listed| listed.exported == wanted);
        let Some(listed) = found else {
            return Err(bad(format!("there is no {wanted:?} to complete for")));
        };
        let reference = wire::with(reference, &[(key, &wire::quoted(&listed.key))], &[]);
        let params = wire::with(params, &[("ref", reference.get())], &[]);
        self.send(cx, &listed.server, "completion/complete", params.get())
            .await
    }

    pub(crate) async fn set_level(
        self: &Arc<Self>,
        cx: &Cx,
        params: &str,
    ) -> Result<Box<RawValue>, RpcError> {
        let level = wire::text(params, "level").unwrap_or_default();
        let Some(at) = LEVELS.iter().position(|known| *known == level) else {
            return Err(bad(format!("`level` must be one of {}", LEVELS.join(", "))));
        };
        *lock(&cx.client.level) = u8::try_from(at).unwrap_or(0);
        // Servers that run are told; none is started for it.
        for status in cx.backend.fleet.status() {
            let runs = matches!(status.state, ServerState::Started | ServerState::Used);
            let manifest = cx.backend.manifest(&status.name);
            let logs =
                manifest.is_some_and(|m| wire::get(m.capabilities.get(), "logging").is_some());
            if runs && logs {
                let _ = self
                    .forward(cx, &status.name, "logging/setLevel", params, true, None)
                    .await;
            }
        }
        Ok(wire::raw("{}".to_owned()))
    }

    async fn send(self: &Arc<Self>, cx: &Cx, server: &Str, method: &str, params: &str) -> Answer {
        match self.forward(cx, server, method, params, true, None).await {
            Ok(result) => Ok(Some(result)),
            Err(failure) => failure.into_answer(),
        }
    }

    /// Whose resource this is, and the params with the address it has there.
    fn route(&self, cx: &Cx, uri: &str, params: &str) -> Result<(Str, Box<RawValue>), RpcError> {
        let catalog = cx.backend.catalog(&self.options);
        let keep = || wire::raw(params.to_owned());
        if let Some(listed) = catalog.resources.iter().find(|r| r.exported == uri) {
            let key = wire::quoted(&listed.key);
            let params = wire::with(params, &[("uri", &key)], &[]);
            return Ok((listed.server.clone(), params));
        }
        // An address that another server has too, written for this one.
        if let Some((server, rest)) = uri.strip_prefix(OWN).and_then(|r| r.split_once('/'))
            && let Some(known) = self.options.servers.iter().find(|s| *s.name == *server)
        {
            let key = wire::quoted(rest);
            return Ok((
                known.name.clone(),
                wire::with(params, &[("uri", &key)], &[]),
            ));
        }
        let seen = lock(&cx.client.seen);
        if let Some((_, server)) = seen.iter().find(|(known, _)| known == uri) {
            return Ok((server.clone(), keep()));
        }
        drop(seen);
        let template = catalog.templates.iter().find(|t| fits(&t.key, uri));
        if let Some(template) = template {
            return Ok((template.server.clone(), keep()));
        }
        let mut error = bad(format!("Resource not found: {uri}"));
        error.data = Some(wire::raw(json!({ "uri": uri }).to_string()));
        Err(error)
    }

    fn own_resource(&self, cx: &Cx, uri: &str) -> Option<String> {
        let own = uri.strip_prefix(OWN)?;
        if own == "status" {
            cx.backend.learn(&self.options);
            return Some(self.status_text(&cx.backend));
        }
        let server = own.strip_prefix("instructions/")?;
        let catalog = cx.backend.catalog(&self.options);
        let found = catalog
            .instructions
            .iter()
            .find(|(name, _)| **name == *server);
        found.map(|(_, text)| text.clone())
    }

    /// Servers that are not as they should be, and why.
    pub(crate) fn trouble(&self, backend: &Backend) -> Vec<(Str, String)> {
        let mut all = Vec::new();
        for status in backend.fleet.status() {
            let known = backend.manifest(&status.name).is_some();
            match (status.error, status.state) {
                (Some(error), _) => all.push((status.name, error)),
                (None, ServerState::Starting) if !known => {
                    all.push((status.name, "it is still starting".to_owned()));
                }
                (None, ServerState::Configured) if !known => {
                    all.push((status.name, "it was not asked yet".to_owned()));
                }
                _ => {}
            }
        }
        all
    }

    pub(crate) fn status_text(&self, backend: &Backend) -> String {
        let mut text = String::new();
        let catalog = backend.catalog(&self.options);
        for status in backend.fleet.status() {
            let manifest = backend.manifest(&status.name);
            let tools = manifest.as_ref().map_or(0, |m| m.tools.len());
            text.push_str(&format!("{}: {}, {tools} tools", status.name, status.state));
            if let Some(took) = status.start_took {
                text.push_str(&format!(", started in {} ms", took.as_millis()));
            }
            if let Some(error) = &status.error {
                let indented = error.trim_end().replace('\n', "\n    ");
                text.push_str(&format!("\n  failed: {indented}"));
            } else if status.state == ServerState::Starting {
                text.push_str("\n  still starting");
            }
            for problem in manifest.iter().flat_map(|m| &m.problems) {
                text.push_str(&format!("\n  {problem}"));
            }
            for tool in manifest.iter().flat_map(|m| &m.quarantined) {
                text.push_str(&format!("\n  left out: {}: {}", tool.name, tool.reason));
            }
            for (_, tool, remark, held) in catalog
                .flagged
                .iter()
                .filter(|flagged| flagged.0 == status.name)
            {
                let held = if *held { "held back" } else { "changed" };
                text.push_str(&format!("\n  {held}: {tool}: {remark}"));
            }
            text.push('\n');
        }
        text.chars()
            .map(|c| {
                if c.is_control() && c != '\n' {
                    '\u{fffd}'
                } else {
                    c
                }
            })
            .collect()
    }
}

/// Whether an address can come from a template: the pieces between its variables
/// stand in it in order, the first at its beginning and the last at its end.
fn fits(template: &str, uri: &str) -> bool {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((piece, behind)) = rest.split_once('{') {
        pieces.push(piece);
        rest = behind.split_once('}').map_or("", |(_, rest)| rest);
    }
    let Some((first, middle)) = pieces.split_first() else {
        return template == uri;
    };
    let Some(mut left) = uri.strip_prefix(first) else {
        return false;
    };
    for piece in middle {
        let Some(at) = left.find(piece) else {
            return false;
        };
        left = &left[at + piece.len()..];
    }
    !first.is_empty() && left.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn addresses_fit_their_templates() {
        assert!(fits("file:///{path}", "file:///a/b"));
        assert!(fits("db://{table}/rows/{id}", "db://users/rows/7"));
        assert!(!fits("db://{table}/rows/{id}", "db://users/columns/7"));
        assert!(!fits("{any}", "x://y"));
        assert!(fits("a://b", "a://b"));
    }
}
