//! Fetching the lists of a server, page by page.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::value::RawValue;

use super::{Freshness, Parts};
use crate::connection::Connection;
use crate::context::RequestContext;
use crate::{McpError, raw};

/// More pages or entries than this are not a list but a mistake.
const MAX_PAGES: usize = 1_000;
const MAX_ENTRIES: usize = 50_000;

/// Fetches everything a connected server offers.
///
/// # Errors
/// When the first page of the tools fails. Anything else that fails is noted among
/// the problems, and what came before it is kept.
pub(crate) async fn list(connection: &Connection) -> Result<Parts, McpError> {
    let mut parts = Parts {
        server_info: connection.handshake.server_info.clone(),
        protocol_version: connection.handshake.protocol_version.clone(),
        instructions: connection.handshake.instructions.clone(),
        capabilities: connection.handshake.capabilities.clone(),
        ..Parts::default()
    };
    let offers = |what: &str| {
        let capabilities = connection.handshake.capabilities.as_ref();
        capabilities.is_some_and(|raw| raw::get(raw.get(), what).is_some())
    };
    match pages(connection, "tools/list", "tools").await {
        Ok(list) => {
            parts.freshness = list.freshness;
            parts.tools = list.entries;
            parts.problems.extend(list.problem);
        }
        // A server without tools need not know the method.
        Err(McpError::Rpc(error)) if error.code == -32601 && !offers("tools") => {}
        Err(error) => return Err(error),
    }
    let others = [
        ("prompts", "prompts/list", "prompts", &mut parts.prompts),
        (
            "resources",
            "resources/list",
            "resources",
            &mut parts.resources,
        ),
        (
            "resources",
            "resources/templates/list",
            "resourceTemplates",
            &mut parts.resource_templates,
        ),
    ];
    for (capability, method, key, slot) in others {
        if !offers(capability) {
            continue;
        }
        match pages(connection, method, key).await {
            Ok(list) => {
                *slot = list.entries;
                parts.problems.extend(list.problem);
            }
            Err(McpError::Rpc(error)) if error.code == -32601 => {}
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => parts.problems.push(format!("{method} failed: {error}")),
        }
    }
    Ok(parts)
}

struct Pages {
    entries: Vec<Box<RawValue>>,
    problem: Option<String>,
    freshness: Freshness,
}

async fn pages(connection: &Connection, method: &str, key: &str) -> Result<Pages, McpError> {
    let mut pages = Pages {
        entries: Vec::new(),
        problem: None,
        freshness: Freshness::default(),
    };
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let cx = RequestContext {
        repeatable: true,
        ..RequestContext::default()
    };
    for page in 1..=MAX_PAGES {
        let params = cursor
            .as_ref()
            .map(|cursor| raw::raw(format!(r#"{{"cursor":{}}}"#, raw::quoted(cursor))));
        let result = match connection.request(method, params.as_deref(), &cx).await {
            Ok(result) => result,
            Err(error) if page == 1 => return Err(error),
            Err(error) => {
                pages.problem = Some(format!(
                    "{method} is cut after {} entries: page {page} failed: {error}",
                    pages.entries.len()
                ));
                return Ok(pages);
            }
        };
        let (entries, next) = match read_page(&result, key) {
            Ok(read) => read,
            Err(reason) if page == 1 => {
                return Err(McpError::Protocol {
                    server: connection.server().clone(),
                    reason: format!("{method}: {reason}"),
                });
            }
            Err(reason) => {
                pages.problem = Some(format!(
                    "{method} is cut after {} entries: page {page}: {reason}",
                    pages.entries.len()
                ));
                return Ok(pages);
            }
        };
        let freshness = freshness(&result);
        // Every page is good for as long as the shortest-lived one.
        if page == 1 || freshness.ttl < pages.freshness.ttl {
            pages.freshness.ttl = freshness.ttl;
        }
        pages.freshness.public = freshness.public && (page == 1 || pages.freshness.public);
        pages.entries.extend(entries);
        let Some(next) = next else { return Ok(pages) };
        if !seen.insert(next.clone()) {
            pages.problem = Some(format!(
                "{method} is cut after {} entries: page {page} names a page that was read already",
                pages.entries.len()
            ));
            return Ok(pages);
        }
        if pages.entries.len() > MAX_ENTRIES {
            break;
        }
        cursor = Some(next);
    }
    pages.problem = Some(format!(
        "{method} is cut after {} entries: it has too many pages",
        pages.entries.len()
    ));
    Ok(pages)
}

type Page = (Vec<Box<RawValue>>, Option<String>);

fn read_page(result: &RawValue, key: &str) -> Result<Page, String> {
    let Some(list) = raw::get(result.get(), key) else {
        return Err(format!("the result has no `{key}`"));
    };
    let entries: Vec<Box<RawValue>> =
        serde_json::from_str(list.get()).map_err(|_| format!("`{key}` is not a list"))?;
    // An empty cursor is a page like any other for the protocol; the servers that
    // send one mean the end.
    let next = raw::text(result.get(), "nextCursor").filter(|cursor| !cursor.is_empty());
    Ok((entries, next))
}

fn freshness(result: &RawValue) -> Freshness {
    let ttl = raw::get(result.get(), "ttlMs")
        .and_then(|raw| raw.get().parse::<f64>().ok())
        .filter(|ttl| ttl.is_finite() && *ttl > 0.0)
        .map_or(Duration::ZERO, |ttl| {
            Duration::try_from_secs_f64(ttl / 1000.0).unwrap_or(Duration::ZERO)
        });
    Freshness {
        ttl,
        public: raw::text(result.get(), "cacheScope").as_deref() == Some("public"),
    }
}
