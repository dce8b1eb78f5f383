//! Plans with deferred tools in the dialects that defer by themselves.
//!
//! The array holds every deferred definition from the first request on, marked as
//! such, and never changes; a load is a reference in the transcript. Bytes of a
//! definition are made once for each spec, as on the other wires. These are the
//! parts of a request that deferral touches, for the clients of these dialects.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use toolcrib_core::{
    Content, History, Message, ToolDialect, ToolName, ToolResult, ToolSpec, TurnPlan,
};

use crate::json::quote;
use crate::turns::{Items, NO_OUTPUT};

/// Fewer functions than this stand in one namespace.
const NAMESPACE: usize = 10;

/// The deferred tool of that name.
pub(crate) fn deferred<'a>(plan: &'a TurnPlan, name: &ToolName) -> Option<&'a Arc<ToolSpec>> {
    let deferred = plan.deferred_tools();
    let at = deferred.binary_search_by(|spec| spec.name.cmp(name)).ok()?;
    Some(&deferred[at])
}

/// Loaded tools that no result in the transcript refers to, since they were loaded
/// before it began: they are sent like tools that are not deferred.
pub(crate) fn unreferenced<'a>(plan: &'a TurnPlan, history: &History) -> Vec<&'a ToolName> {
    let named = |name: &ToolName| {
        history.messages().any(|message| match message {
            Message::Tool(result) => result.loaded.contains(name),
            _ => false,
        })
    };
    let loaded = plan.loaded_tools().iter().map(|spec| &spec.name);
    loaded.filter(|name| !named(name)).collect()
}

/// The `tools` array of a Messages request whose deferred tools are in it. The last
/// tool that is not deferred ends the cached prefix.
pub(crate) fn messages_tools(plan: &TurnPlan, unreferenced: &[&ToolName]) -> Vec<u8> {
    let shown = [plan.eager_tools(), plan.loader_tools()].concat();
    messages_array(&shown, plan.deferred_tools(), unreferenced)
}

/// A `tools` array of a Messages request: `shown`, the last of them with a mark, then
/// `deferred`, of which those in `loaded` are sent as not deferred.
pub(crate) fn messages_array(
    shown: &[Arc<ToolSpec>],
    deferred: &[Arc<ToolSpec>],
    loaded: &[&ToolName],
) -> Vec<u8> {
    let mut list = Items::default();
    let (marked, plain) = match shown.split_last() {
        Some((last, rest)) => (Some(last), rest),
        None => (None, shown),
    };
    let whole = |spec: &Arc<ToolSpec>| {
        let render = || messages_tool(spec, "");
        spec.rendered.get_or_render("messages.spec", render)
    };
    for spec in plain {
        list.push(&whole(spec));
    }
    if let Some(spec) = marked {
        let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
        list.push(&messages_tool(spec, mark));
    }
    for spec in deferred {
        if loaded.contains(&&spec.name) {
            list.push(&whole(spec));
            continue;
        }
        let render = || messages_tool(spec, ",\"defer_loading\":true");
        list.push(&spec.rendered.get_or_render("messages.deferred", render));
    }
    array(list)
}

/// A result as a block of a Messages request: its texts and images, then a reference
/// to each tool in `loaded`, where the provider puts the definition.
pub(crate) fn messages_result(result: &ToolResult, loaded: &[&ToolName]) -> Vec<u8> {
    let mut content = Items::default();
    for piece in &result.content {
        messages_content(&mut content, piece);
    }
    for name in loaded {
        content.with(|out| {
            out.extend_from_slice(b"{\"type\":\"tool_reference\",\"tool_name\":");
            quote(out, name.as_str());
            out.push(b'}');
        });
    }
    if content.is_empty() {
        content.with(|out| text_block(out, NO_OUTPUT));
    }
    let mut out = b"{\"type\":\"tool_result\",\"tool_use_id\":".to_vec();
    quote(&mut out, &call_id(&result.call_id));
    out.extend_from_slice(b",\"content\":");
    out.extend_from_slice(&array(content));
    if result.is_error {
        out.extend_from_slice(b",\"is_error\":true");
    }
    out.push(b'}');
    out
}

/// A piece of content as a block of a Messages request; nothing for a blank text,
/// which is refused.
pub(crate) fn messages_content(items: &mut Items, piece: &Content) {
    match piece {
        Content::Text(text) if text.trim().is_empty() => {}
        Content::Text(text) => items.with(|out| text_block(out, text)),
        Content::Image { media_type, data } => items.with(|out| {
            out.extend_from_slice(
                b"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":",
            );
            quote(out, media_type);
            out.extend_from_slice(b",\"data\":");
            quote(out, data);
            out.extend_from_slice(b"}}");
        }),
        _ => {}
    }
}

/// A block of text in a Messages request.
pub(crate) fn text_block(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
    quote(out, text);
    out.push(b'}');
}

/// An id of a call in the alphabet that Messages accepts; other providers' ids may
/// hold more. The same for a call and its result.
pub(crate) fn call_id(id: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if id.chars().all(fits) && !id.is_empty() {
        return Cow::Borrowed(id);
    }
    let replaced = id.chars().map(|c| if fits(c) { c } else { '_' });
    Cow::Owned(format!("call_{}", replaced.collect::<String>()))
}

/// The `tools` array of a Responses request: functions, the search that runs on our
/// side, and deferred functions in namespaces by source. Those in `unreferenced` are
/// sent as not deferred.
pub(crate) fn responses_tools(plan: &TurnPlan, unreferenced: &[&ToolName]) -> Vec<u8> {
    let mut list = Items::default();
    for spec in plan.eager_tools() {
        list.push(&responses_spec(spec));
    }
    for (at, spec) in plan.loader_tools().iter().enumerate() {
        if at > 0 {
            list.push(&responses_spec(spec));
            continue;
        }
        list.with(|tool| {
            tool.extend_from_slice(
                b"{\"type\":\"tool_search\",\"execution\":\"client\",\"description\":",
            );
            quote(tool, &spec.description);
            tool.extend_from_slice(b",\"parameters\":");
            tool.extend_from_slice(spec.fitted(ToolDialect::OpenAi).wire().as_bytes());
            tool.push(b'}');
        });
    }
    let mut sources: BTreeMap<&str, Vec<&Arc<ToolSpec>>> = BTreeMap::new();
    for spec in plan.deferred_tools() {
        if unreferenced.contains(&&spec.name) {
            list.push(&responses_spec(spec));
        } else {
            sources.entry(&spec.source.0).or_default().push(spec);
        }
    }
    for (source, specs) in sources {
        for (part, specs) in specs.chunks(NAMESPACE - 1).enumerate() {
            list.push(&namespace(source, part, specs));
        }
    }
    array(list)
}

/// A `tools` array of a Responses request without deferral.
pub(crate) fn responses_array(specs: &[Arc<ToolSpec>]) -> Vec<u8> {
    let mut list = Items::default();
    for spec in specs {
        list.push(&responses_spec(spec));
    }
    array(list)
}

/// The item that answers a `tool_search_call` with the definitions it loaded. Names
/// that the plan does not know are left out.
pub(crate) fn responses_found(plan: &TurnPlan, result: &ToolResult) -> Vec<u8> {
    let mut list = Items::default();
    for name in &result.loaded {
        if let Some(spec) = deferred(plan, name) {
            list.push(&responses_deferred(spec));
        }
    }
    let mut out =
        b"{\"type\":\"tool_search_output\",\"execution\":\"client\",\"call_id\":".to_vec();
    quote(&mut out, &result.call_id);
    out.extend_from_slice(b",\"status\":\"completed\",\"tools\":");
    out.extend_from_slice(&array(list));
    out.push(b'}');
    out
}

fn messages_tool(spec: &ToolSpec, more: &str) -> Vec<u8> {
    let mut out = b"{\"name\":".to_vec();
    quote(&mut out, spec.name.as_str());
    out.extend_from_slice(b",\"description\":");
    quote(&mut out, &spec.description);
    out.extend_from_slice(b",\"input_schema\":");
    out.extend_from_slice(spec.fitted(ToolDialect::Anthropic).wire().as_bytes());
    out.extend_from_slice(more.as_bytes());
    out.push(b'}');
    out
}

fn responses_function(spec: &ToolSpec, more: &str) -> Vec<u8> {
    let mut out = b"{\"type\":\"function\",\"name\":".to_vec();
    quote(&mut out, spec.name.as_str());
    out.extend_from_slice(b",\"description\":");
    quote(&mut out, &spec.description);
    out.extend_from_slice(b",\"strict\":false,\"parameters\":");
    out.extend_from_slice(spec.fitted(ToolDialect::OpenAi).wire().as_bytes());
    out.extend_from_slice(more.as_bytes());
    out.push(b'}');
    out
}

fn responses_spec(spec: &ToolSpec) -> Arc<[u8]> {
    let render = || responses_function(spec, "");
    spec.rendered.get_or_render("responses.spec", render)
}

fn responses_deferred(spec: &ToolSpec) -> Arc<[u8]> {
    let render = || responses_function(spec, ",\"defer_loading\":true");
    spec.rendered.get_or_render("responses.deferred", render)
}

fn namespace(source: &str, part: usize, specs: &[&Arc<ToolSpec>]) -> Vec<u8> {
    let name = match part {
        0 => ToolName::from_foreign(source),
        part => ToolName::from_foreign(&format!("{source}_{}", part + 1)),
    };
    let mut out = b"{\"type\":\"namespace\",\"name\":".to_vec();
    quote(&mut out, name.as_str());
    out.extend_from_slice(b",\"description\":");
    quote(&mut out, &format!("Tools of {source}."));
    let mut tools = Items::default();
    for spec in specs {
        tools.push(&responses_deferred(spec));
    }
    out.extend_from_slice(b",\"tools\":");
    out.extend_from_slice(&array(tools));
    out.push(b'}');
    out
}

fn array(items: Items) -> Vec<u8> {
    let mut out = vec![b'['];
    out.extend_from_slice(&items.0);
    out.push(b']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use toolcrib_core::{Schema, SourceId, ToolCall};

    fn spec(name: &str, source: &str) -> Arc<ToolSpec> {
        let name = ToolName::parse(name).unwrap();
        let spec = ToolSpec::new(name.clone(), format!("Does {name}."), Schema::empty());
        Arc::new(spec.source(SourceId::new(source)))
    }

    fn plan(loaded: usize) -> TurnPlan {
        let deferred: Vec<Arc<ToolSpec>> = (0..3).map(|n| spec(&format!("d{n}"), "hub")).collect();
        TurnPlan::with_loader(
            "s",
            vec![spec("read", "builtin")],
            vec![spec("tool_search", "builtin")],
            deferred[..loaded].to_vec(),
            deferred.into(),
        )
    }

    fn result(loaded: &[&str]) -> ToolResult {
        let call = ToolCall {
            id: "c1".into(),
            name: "tool_search".into(),
            arguments: "{}".into(),
            extra: None,
        };
        let mut result = ToolResult::text(&call, "Loaded.", false);
        result.loaded = loaded
            .iter()
            .map(|name| ToolName::parse(name).unwrap())
            .collect();
        result
    }

    /// One item a line.
    fn lines(bytes: &[u8]) -> String {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        text.replace("},{", "},\n{")
    }

    #[test]
    fn p26_messages_defer_beside_a_loader_of_our_own() {
        let with = result(&["d0", "d2"]);
        let loaded: Vec<&ToolName> = with.loaded.iter().collect();
        insta::assert_snapshot!(lines(&messages_tools(&plan(0), &[])));
        insta::assert_snapshot!(lines(&messages_result(&with, &loaded)));
        insta::assert_snapshot!(lines(&messages_result(&ToolResult {
            content: Vec::new(),
            is_error: true,
            ..result(&[])
        }, &[])), @r#"{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"(no output)"}],"is_error":true}"#);
    }

    #[test]
    fn p26_responses_defer_in_namespaces_and_search_on_our_side() {
        insta::assert_snapshot!(lines(&responses_tools(&plan(0), &[])));
        let found = responses_found(&plan(0), &result(&["d1", "gone"]));
        insta::assert_snapshot!(lines(&found), @r#"{"type":"tool_search_output","execution":"client","call_id":"c1","status":"completed","tools":[{"type":"function","name":"d1","description":"Does d1.","strict":false,"parameters":{"type":"object","properties":{}},"defer_loading":true}]}"#);
    }

    #[test]
    fn a_load_changes_no_byte_of_the_array() {
        assert_eq!(messages_tools(&plan(0), &[]), messages_tools(&plan(2), &[]));
        assert_eq!(
            responses_tools(&plan(0), &[]),
            responses_tools(&plan(2), &[])
        );
    }

    #[test]
    fn namespaces_stay_small_and_their_names_valid() {
        let deferred: Arc<[_]> = (0..25)
            .map(|n| spec(&format!("t{n:02}"), "a b/c"))
            .collect();
        let plan = TurnPlan::with_loader("", Vec::new(), Vec::new(), Vec::new(), deferred);
        let value: serde_json::Value =
            serde_json::from_slice(&responses_tools(&plan, &[])).unwrap();
        let namespaces = value.as_array().unwrap();
        assert_eq!(namespaces.len(), 3);
        let mut names = std::collections::BTreeSet::new();
        for namespace in namespaces {
            assert!(namespace["tools"].as_array().unwrap().len() < NAMESPACE);
            let name = namespace["name"].as_str().unwrap();
            assert!(ToolName::parse(name).is_ok());
            names.insert(name);
        }
        assert_eq!(names.len(), 3);
    }
}
