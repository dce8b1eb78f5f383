//! What is listed: tools by the mode, prompts and resources with their servers' names.

use std::sync::atomic::Ordering;

use serde_json::value::RawValue;
use toolcrib_core::LoadRoute;
use toolcrib_mcp::RpcError;
use toolcrib_surface::{CALL_TOOL, TOOL_SEARCH};

use super::instructions::OWN;
use super::{Cx, FIRST_LIST};
use crate::catalog::{Catalog, Listed};
use crate::client::{Client, lock};
use crate::gateway::{Gateway, Mode};
use crate::spill::READ_RESULT;
use crate::wire;

const SEARCH: &str = "Finds tools of the servers behind this gateway and tells how to call them. Call it before you say that something cannot be done. `select:name1,name2` shows whole schemas; `+word` must occur; `source:server` narrows.";
const SEARCH_SCHEMA: &str = r#"{"type":"object","properties":{"query":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"maxItems":5}],"description":"What the tool should do, in a few words; an array for several needs."},"limit":{"type":"integer","minimum":1,"maximum":20}},"required":["query"]}"#;
const CALL: &str = "Runs a tool that tool_search found. What it changes is told with the tool.";
const CALL_SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object","description":"The tool's own arguments."}},"required":["name","arguments"]}"#;
const READ: &str = "Reads on in a result that was cut, by the id and offset that it names.";
const READ_SCHEMA: &str = r#"{"type":"object","properties":{"id":{"type":"string"},"offset":{"type":"integer","minimum":0}},"required":["id"]}"#;

fn definition(name: &str, description: &str, schema: &str, read_only: bool) -> String {
    let annotations = match read_only {
        true => r#","annotations":{"readOnlyHint":true,"openWorldHint":false}"#,
        false => "",
    };
    format!(
        r#"{{"name":"{name}","description":{},"inputSchema":{schema}{annotations}}}"#,
        wire::quoted(description)
    )
}

impl Gateway {
    pub(crate) async fn list_tools(&self, cx: &Cx) -> Result<Box<RawValue>, RpcError> {
        cx.backend.settle(&self.options, FIRST_LIST).await;
        let catalog = cx.backend.catalog(&self.options);
        let tools = self.tools(&catalog, &cx.client);
        *lock(&cx.client.listed) = Some(tools.clone());
        cx.client.ready.store(true, Ordering::Release);
        Ok(wire::raw(format!(r#"{{"tools":{tools}}}"#)))
    }

    /// The list of tools as this client sees it.
    pub(crate) fn tools(&self, catalog: &Catalog, client: &Client) -> String {
        let mut all: Vec<String> = Vec::new();
        match self.options.mode {
            Mode::Search => {
                all.push(search(catalog, LoadRoute::Bridge));
                all.push(definition(CALL_TOOL, CALL, CALL_SCHEMA, false));
            }
            Mode::ListChanged => {
                all.push(search(catalog, LoadRoute::Append));
                for name in lock(&client.loaded).iter() {
                    if let Some(offered) = catalog.tools.get(name) {
                        all.push(offered.definition(name.as_str(), true));
                    }
                }
            }
            Mode::Eager => {
                for (name, offered) in &catalog.tools {
                    all.push(offered.definition(name.as_str(), true));
                }
                all.push(definition(READ_RESULT, READ, READ_SCHEMA, true));
            }
            Mode::Transparent => {
                for offered in catalog.tools.values() {
                    all.push(offered.definition(catalog.plain_name(offered), false));
                }
            }
        }
        format!("[{}]", all.join(","))
    }

    pub(crate) async fn list_prompts(&self, cx: &Cx) -> Result<Box<RawValue>, RpcError> {
        cx.backend.settle(&self.options, FIRST_LIST).await;
        let catalog = cx.backend.catalog(&self.options);
        let prompts = catalog.prompts.iter().map(|p| renamed(p, "name"));
        Ok(list("prompts", prompts))
    }

    pub(crate) async fn list_resources(&self, cx: &Cx) -> Result<Box<RawValue>, RpcError> {
        cx.backend.settle(&self.options, FIRST_LIST).await;
        let catalog = cx.backend.catalog(&self.options);
        let own = format!(
            r#"{{"uri":"{OWN}status","name":"toolcrib status","description":"How the servers behind this gateway are.","mimeType":"text/plain"}}"#
        );
        let instructions = catalog.instructions.iter().map(|(server, _)| {
            format!(
                r#"{{"uri":{},"name":{},"mimeType":"text/plain"}}"#,
                wire::quoted(&format!("{OWN}instructions/{server}")),
                wire::quoted(&format!("{server}: instructions")),
            )
        });
        let resources = catalog.resources.iter().map(|r| renamed(r, "uri"));
        Ok(list(
            "resources",
            std::iter::once(own).chain(instructions).chain(resources),
        ))
    }

    pub(crate) async fn list_templates(&self, cx: &Cx) -> Result<Box<RawValue>, RpcError> {
        cx.backend.settle(&self.options, FIRST_LIST).await;
        let catalog = cx.backend.catalog(&self.options);
        let templates = catalog.templates.iter().map(|t| renamed(t, "uriTemplate"));
        Ok(list("resourceTemplates", templates))
    }
}

/// The search tool, with what is behind it.
fn search(catalog: &Catalog, route: LoadRoute) -> String {
    let inventory = catalog.inventory(route);
    let mut text = SEARCH.to_owned();
    if !inventory.catalogue().text.is_empty() {
        text.push('\n');
        text.push_str(&inventory.catalogue().text);
    }
    if !catalog.unread.is_empty() {
        let shown: Vec<&str> = catalog.unread.iter().take(8).map(|name| &**name).collect();
        let more = catalog.unread.len() - shown.len();
        text.push_str(&format!("\nNot read yet: {}", shown.join(", ")));
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
    }
    definition(TOOL_SEARCH, &text, SEARCH_SCHEMA, true)
}

/// The listed bytes under the name or address that is known here.
fn renamed(listed: &Listed, key: &str) -> String {
    if listed.key == listed.exported {
        return listed.raw.get().to_owned();
    }
    let name = wire::quoted(&listed.exported);
    wire::with(listed.raw.get(), &[(key, &name)], &[])
        .get()
        .to_owned()
}

fn list(key: &str, items: impl Iterator<Item = String>) -> Box<RawValue> {
    let items: Vec<String> = items.collect();
    wire::raw(format!(r#"{{"{key}":[{}]}}"#, items.join(",")))
}
