//! The tool by which a model finds other tools and has them loaded.

use std::sync::Arc;

use toolcrib_core::{
    Arguments, BoxFuture, Effect, Exposure, Footprint, Schema, SourceId, Tool, ToolContext,
    ToolError, ToolName, ToolOutput, ToolSpec,
};

use crate::Shelf;

mod answer;
mod arguments;

use arguments::Asked;

/// Its name.
pub const TOOL_SEARCH: &str = "tool_search";

/// The source of the loop's own tools.
pub(crate) const SOURCE: &str = "builtin";

const DESCRIPTION: &str = "Finds tools and loads them. Most tools are not in your list until they are loaded: \
call this before you use one, and before you say that something cannot be done. Describe what is needed, or \
give names as `select:name1,name2`; `+word` must occur, `source:name` narrows.";

const SCHEMA: &str = r#"{"type":"object","properties":{"query":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"maxItems":5}],"description":"What the tool should do, in a few words; an array for several needs."},"limit":{"type":"integer","minimum":1,"maximum":20}},"required":["query"]}"#;

/// See the module's head. Read-only, and never run beside another call: what it
/// loads must be certain before the next call is looked at.
pub struct ToolSearch {
    spec: Arc<ToolSpec>,
    shelf: Shelf,
}

impl ToolSearch {
    /// A loader for what is on this shelf.
    pub fn new(shelf: Shelf) -> ToolSearch {
        let name = ToolName::from_foreign(TOOL_SEARCH);
        let schema = Schema::parse(SCHEMA).unwrap_or_else(|_| Schema::empty());
        let spec = ToolSpec::new(name, DESCRIPTION, schema)
            .effect(Effect::ReadOnly)
            .exposure(Exposure::Always)
            .source(SourceId::new(SOURCE))
            .activating();
        ToolSearch {
            spec: Arc::new(spec),
            shelf,
        }
    }

    fn answer(&self, arguments: &Arguments) -> Result<ToolOutput, ToolError> {
        let asked = Asked::read(&arguments.value())?;
        match self.shelf.inventory() {
            Some(inventory) => Ok(answer::answer(&self.shelf, &inventory, &asked)),
            None => Ok(ToolOutput::text("There are no tools to load.")),
        }
    }
}

impl Tool for ToolSearch {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn footprint(&self, _: &Arguments) -> Footprint {
        Footprint {
            read_only: true,
            serial: true,
            resources: Vec::new(),
        }
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.answer(args) })
    }
}
