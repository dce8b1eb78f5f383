//! Tools that stand beside the one that is called.
//!
//! Each has words and arguments of its own, of the size that real servers' tools
//! have: about 90 tokens a definition.

use std::sync::Arc;

use toolcrib::{
    Arguments, BoxFuture, Effect, Exposure, Schema, SourceId, Tool, ToolContext, ToolError,
    ToolName, ToolOutput, ToolSpec,
};

use crate::Error;

const VERBS: [&str; 10] = [
    "create", "close", "list", "search", "update", "delete", "export", "import", "share", "watch",
];
const THINGS: [&str; 10] = [
    "invoice", "calendar", "ticket", "branch", "contact", "playlist", "shipment", "sensor",
    "document", "payment",
];

struct Filler(Arc<ToolSpec>);

/// The tool of this number, from one of a hundred sources.
pub(crate) fn tool(number: usize, deferred: bool) -> Result<Arc<dyn Tool>, Error> {
    let (verb, thing) = (VERBS[number % 10], THINGS[number / 10 % 10]);
    let source = format!("{thing}s{}", number / 50);
    let name = ToolName::parse(&format!("{source}__{verb}_{thing}_{number}"))?;
    let description = format!(
        "{verb} one {thing} of the account, or several at once where a filter is given. \
         Returns the {thing} with its history."
    );
    let schema = format!(
        r#"{{"type":"object","properties":{{"{thing}_id":{{"type":"string","description":"Which {thing} is meant."}},"filter":{{"type":"string","description":"Only what fits this expression."}},"limit":{{"type":"integer","minimum":1,"maximum":100}}}},"required":["{thing}_id"]}}"#
    );
    let spec = ToolSpec::new(name, description, Schema::parse(&schema)?)
        .source(SourceId::new(source))
        .effect(Effect::ReadOnly)
        .exposure(match deferred {
            true => Exposure::Deferred,
            false => Exposure::Direct,
        });
    Ok(Arc::new(Filler(Arc::new(spec))))
}

impl Tool for Filler {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::text("Done.")) })
    }
}
