//! The five graph lookups as tools.
//!
//! The schemas are written by hand: they stand in every prompt, so each word is
//! paid for each round, and their bytes must never move with a library's version.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolcrib_core::{
    Arguments, BoxFuture, Effect, ResultForm, Schema, SchemaError, SourceId, Tool, ToolContext,
    ToolError, ToolName, ToolOutput, ToolSource, ToolSpec,
};
use toolcrib_graph::{Lookup, LookupCall, LookupError};

/// `search_symbols`, `explore_area`, `read_source`, `symbol_neighbors` and
/// `list_files` over one snapshot of a repository.
pub struct GraphTools {
    id: SourceId,
    tools: Vec<Arc<dyn Tool>>,
}

/// Name, description, input schema and how the arguments become a call.
type Definition = (&'static str, &'static str, &'static str, Parse);
type Parse = fn(&Arguments) -> Result<LookupCall, ToolError>;

const DEFINITIONS: [Definition; 5] = [
    (
        "explore_area",
        "Show what is in a place: the symbols under a directory or file with their signatures and \
         how they are connected; a symbol with its members and edges; or, for `A -> B`, the calls \
         that lead from A to B.",
        r#"{"type":"object","properties":{"query":{"type":"string","description":"qualified name, directory, file, or `A -> B`"},"offset":{"type":"integer"}},"required":["query"]}"#,
        |args| read(args, LookupCall::ExploreArea),
    ),
    (
        "list_files",
        "List the repository's files with language and size.",
        r#"{"type":"object","properties":{"path":{"type":"string","description":"directory or file prefix"},"glob":{"type":"string","description":"such as *.rs or src/**/*.py"},"offset":{"type":"integer"}}}"#,
        |args| read(args, LookupCall::ListFiles),
    ),
    (
        "read_source",
        "Read numbered lines of a file, 41 unless `end` is given, at most 200.",
        r#"{"type":"object","properties":{"path":{"type":"string"},"start":{"type":"integer","description":"first line, from 1"},"end":{"type":"integer"}},"required":["path"]}"#,
        |args| read(args, LookupCall::ReadSource),
    ),
    (
        "search_symbols",
        "Find functions, types and other symbols by name, part of a name, or words of their \
         documentation, comments and strings. The best way to start.",
        r#"{"type":"object","properties":{"query":{"type":"string"},"kind":{"type":"string","description":"such as function, method, struct, class"},"path":{"type":"string","description":"only below this path"},"limit":{"type":"integer","description":"20 unless given, at most 50"},"offset":{"type":"integer"}},"required":["query"]}"#,
        |args| read(args, LookupCall::SearchSymbols),
    ),
    (
        "symbol_neighbors",
        "Show who calls, uses, implements or contains a symbol, and what it calls and uses, each \
         with its place.",
        r#"{"type":"object","properties":{"name":{"type":"string","description":"qualified name, or a unique bare one"},"direction":{"enum":["incoming","outgoing","both"]},"kinds":{"type":"array","items":{"type":"string"},"description":"such as calls, references, implements"},"offset":{"type":"integer"}},"required":["name"]}"#,
        |args| read(args, LookupCall::SymbolNeighbors),
    ),
];

fn read<T: DeserializeOwned>(
    args: &Arguments,
    call: fn(T) -> LookupCall,
) -> Result<LookupCall, ToolError> {
    args.read().map(call)
}

impl GraphTools {
    /// Tools over this snapshot.
    ///
    /// # Errors
    /// [`SchemaError`] if a built-in schema were broken; a test holds that none is.
    pub fn new(lookup: Arc<Lookup>) -> Result<GraphTools, SchemaError> {
        let id = SourceId::new("graph");
        let tool = |(name, description, schema, parse): Definition| {
            let spec = ToolSpec::new(
                ToolName::from_foreign(name),
                description,
                Schema::parse(schema)?,
            )
            .effect(Effect::ReadOnly)
            .result_form(ResultForm::Lookup)
            .source(id.clone());
            let tool: Arc<dyn Tool> = Arc::new(GraphTool {
                spec: Arc::new(spec),
                lookup: lookup.clone(),
                parse,
            });
            Ok(tool)
        };
        let tools = DEFINITIONS
            .into_iter()
            .map(tool)
            .collect::<Result<_, SchemaError>>()?;
        Ok(GraphTools { id, tools })
    }
}

impl ToolSource for GraphTools {
    fn id(&self) -> &SourceId {
        &self.id
    }
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }
}

struct GraphTool {
    spec: Arc<ToolSpec>,
    lookup: Arc<Lookup>,
    parse: Parse,
}

impl Tool for GraphTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let call = (self.parse)(args)?;
            match self.lookup.run(&call) {
                Ok(text) => Ok(ToolOutput::text(text)),
                Err(error) => Err(for_model(&error)),
            }
        })
    }
}

fn for_model(error: &LookupError) -> ToolError {
    ToolError::bad_args(error.to_string())
}

#[cfg(test)]
mod tests;
