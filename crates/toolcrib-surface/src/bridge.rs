//! A constant tool that calls any other by its name.
//!
//! For models that never call a loader's finds on their own, and for clients that
//! cannot change their list of tools: the list stays as it is, whatever is found.
//! Visibility, permission and footprint of a call are those of the tool inside.

use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{
    Arguments, BoxFuture, Effect, Exposure, Forwarded, Schema, SourceId, Tool, ToolContext,
    ToolError, ToolErrorKind, ToolName, ToolOutput, ToolSpec,
};

use crate::catalogue::plain;
use crate::check::check_unseen;
use crate::inventory::Inventory;
use crate::tool_search::SOURCE;
use crate::{Search, Shelf};

/// Its name.
pub const CALL_TOOL: &str = "call_tool";

const DESCRIPTION: &str =
    "Runs a tool that `tool_search` found, by its name and with its own arguments.";

const SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object","description":"As the tool's schema or signature says."}},"required":["name","arguments"]}"#;

/// See the module's head.
pub struct CallTool {
    spec: Arc<ToolSpec>,
    shelf: Shelf,
}

impl CallTool {
    /// A bridge to what is on this shelf.
    pub fn new(shelf: Shelf) -> CallTool {
        let name = ToolName::from_foreign(CALL_TOOL);
        let schema = Schema::parse(SCHEMA).unwrap_or_else(|_| Schema::empty());
        // What a call can change depends on the tool inside, which is asked apart.
        let spec = ToolSpec::new(name, DESCRIPTION, schema)
            .effect(Effect::ReadOnly)
            .exposure(Exposure::Always)
            .source(SourceId::new(SOURCE));
        CallTool {
            spec: Arc::new(spec),
            shelf,
        }
    }

    fn inner(&self, outer: &Arguments) -> Result<Forwarded, ToolError> {
        let outer = outer.value();
        let name = match outer.get("name") {
            Some(Value::String(name)) if !name.trim().is_empty() => name.trim(),
            _ => return Err(ToolError::bad_args("`name` must be the name of a tool")),
        };
        let inventory = self.shelf.inventory();
        let found = inventory.as_deref().map(|all| find(all, name));
        let tool = found.unwrap_or_else(|| Err(unknown(name, "")))?;
        let arguments = arguments(outer.get("arguments"), tool.spec())?;
        check_unseen(tool.spec(), &arguments)?;
        Ok(Forwarded { tool, arguments })
    }
}

fn find(inventory: &Inventory, name: &str) -> Result<Arc<dyn Tool>, ToolError> {
    // What its source calls it comes to the same name.
    let own = || inventory.find(ToolName::from_foreign(name).as_str());
    if let Some(at) = inventory.find(name).or_else(own) {
        return Ok(inventory.entries[at].tool.clone());
    }
    if name == crate::TOOL_SEARCH || name == CALL_TOOL {
        let text = format!("`{name}` is in your list: call it directly");
        return Err(ToolError::bad_args(text));
    }
    // One name, spelt another way; a comma would make it a list.
    let one = format!("select:{}", name.replace([',', ';', '\n'], " "));
    let found = inventory.index().search(&one, &Search::default());
    if let [hit] = found.hits[..] {
        return Ok(inventory.entries[hit.doc].tool.clone());
    }
    let near = found.unknown.iter().flat_map(|unknown| &unknown.near);
    let near: Vec<String> = near
        .map(|&at| format!("`{}`", inventory.entries[at].spec().name))
        .collect();
    let near = match near.is_empty() {
        true => String::new(),
        false => format!(" Near it: {}.", near.join(", ")),
    };
    Err(unknown(name, &near))
}

fn unknown(name: &str, near: &str) -> ToolError {
    let name = plain(name, 64);
    ToolError::new(
        ToolErrorKind::UnknownTool,
        format!("there is no tool `{name}`.{near} Find tools with `tool_search`."),
    )
}

/// The inner arguments: an object, or, as weak models write it, the text of one.
fn arguments(given: Option<&Value>, spec: &ToolSpec) -> Result<Arguments, ToolError> {
    let wrong = || {
        ToolError::bad_args(format!(
            "`arguments` must be an object with the arguments of `{}`; it did not run. {}",
            spec.name,
            crate::check::schema_line(spec)
        ))
    };
    match given {
        None | Some(Value::Null) => Ok(Arguments::empty()),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Arguments::empty()),
        Some(Value::String(text)) => Arguments::parse(text.as_str()).map_err(|_| wrong()),
        Some(Value::Object(_)) => {
            let text = given.map(Value::to_string).unwrap_or_default();
            Arguments::parse(text).map_err(|_| wrong())
        }
        Some(_) => Err(wrong()),
    }
}

impl Tool for CallTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn stands_for(&self, args: &Arguments) -> Result<Option<Forwarded>, ToolError> {
        self.inner(args).map(Some)
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Forwarded { tool, arguments } = self.inner(args)?;
            // Whoever calls this without settling the inner call first must not get
            // more than what changes nothing.
            if tool.spec().effect != Effect::ReadOnly {
                let text = format!("`{}` must be called directly", tool.spec().name);
                return Err(ToolError::new(ToolErrorKind::Denied, text));
            }
            tool.call(&arguments, cx).await
        })
    }
}
