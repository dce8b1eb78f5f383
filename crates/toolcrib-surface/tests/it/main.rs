//! Ranking as its callers see it.
#![allow(clippy::unwrap_used)]
mod encoded;
mod meaning;
mod names;
mod robust;
mod search;
mod surface;
mod words;

use serde_json::json;
use toolcrib_surface::{Found, Ranking, Search, ToolDoc, ToolIndex};

/// A tool of `source`.
fn tool(source: &str, name: &str, description: &str) -> ToolDoc {
    let full = if source.is_empty() {
        name.to_owned()
    } else {
        format!("{source}__{name}")
    };
    ToolDoc::new(full, description).source(source)
}

/// A handful of tools with the traps that users of tool searches meet.
fn corpus() -> Vec<ToolDoc> {
    vec![
        tool(
            "github",
            "create_issue",
            "Open a new issue in a repository.",
        ),
        tool("github", "list_issues", "List the issues of a repository."),
        tool(
            "github",
            "update_pull_request",
            "Change the title or state of a pull request.",
        ),
        tool(
            "github",
            "search_repositories",
            "Find repositories by words.",
        ),
        tool("gitlab", "create_issue", "Create an issue in a project."),
        tool("gitlab", "find_member", "Find a member of a group."),
        tool("web", "web_fetch", "Fetch the content of a page."),
        tool("web", "search", "Search the web."),
        tool("notes", "search", "Search all notes."),
        tool(
            "weather",
            "weather_lookup",
            "Current conditions for a town.",
        ),
        tool(
            "",
            "forecast_report",
            "Report with the weather of the coming days.",
        ),
        tool("db", "run", "Execute a statement.").schema(&json!({
            "type": "object",
            "properties": {
                "isolation": {"type": "string", "enum": ["serializable", "snapshot"]},
                "query": {"type": "string", "description": "SQL text with placeholders."}
            }
        })),
    ]
}

fn index() -> ToolIndex {
    ToolIndex::build(&corpus())
}

fn names(index: &ToolIndex, ranking: &Ranking) -> Vec<String> {
    let name = |doc: usize| index.docs()[doc].name.to_string();
    ranking.hits.iter().map(|hit| name(hit.doc)).collect()
}

/// The names that `query` finds, best first.
fn ranked(query: &str) -> Vec<String> {
    let index = index();
    names(&index, &index.rank(query, 10))
}

/// The names that a model would be shown.
fn shown(index: &ToolIndex, found: &Found) -> Vec<String> {
    let name = |doc: usize| index.docs()[doc].name.to_string();
    found.hits.iter().map(|hit| name(hit.doc)).collect()
}

fn search(query: &str) -> Vec<String> {
    let index = index();
    let found = index.search(query, &Search::default());
    shown(&index, &found)
}
