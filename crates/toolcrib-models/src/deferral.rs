//! Plans with deferred tools in the dialects that defer by themselves.
//!
//! The array holds every deferred definition from the first request on, marked as
//! such, and never changes; a load is a reference in the transcript. Bytes of a
//! definition are made once for each spec, as on the other wires. These are the
//! parts of a request that deferral touches, for the clients of these dialects.

use std::collections::BTreeMap;
use std::io::Write as _;

use toolcrib_core::{Content, ToolName, ToolResult, ToolSpec, TurnPlan};

/// Fewer functions than this stand in one namespace.
const NAMESPACE: usize = 10;

/// The `tools` array of a Messages request. The last tool that is not deferred ends
/// the cached prefix.
pub(crate) fn messages_tools(plan: &TurnPlan) -> Vec<u8> {
    let mut list = List::new();
    let shown = [plan.eager_tools(), plan.loader_tools()].concat();
    let (marked, plain) = match shown.split_last() {
        Some((last, rest)) => (Some(last), rest),
        None => (None, &shown[..]),
    };
    for spec in plain {
        let key = "messages.spec";
        list.push(&spec.rendered.get_or_render(key, || messages_tool(spec, "")));
    }
    if let Some(spec) = marked {
        let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
        list.push(&messages_tool(spec, mark));
    }
    for spec in plan.deferred_tools() {
        let key = "messages.deferred";
        let render = || messages_tool(spec, ",\"defer_loading\":true");
        list.push(&spec.rendered.get_or_render(key, render));
    }
    list.end()
}

/// A result as a block of a Messages request: its texts, then a reference to each
/// tool that it loaded, where the provider puts the definition.
pub(crate) fn messages_result(result: &ToolResult) -> Vec<u8> {
    let mut content = List::new();
    for piece in &result.content {
        match piece {
            // Blank texts are refused.
            Content::Text(text) if text.trim().is_empty() => {}
            Content::Text(text) => {
                let mut block = b"{\"type\":\"text\",\"text\":".to_vec();
                string(&mut block, text);
                block.push(b'}');
                content.push(&block);
            }
            Content::Image { media_type, data } => {
                let mut block =
                    b"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":".to_vec();
                string(&mut block, media_type);
                block.extend_from_slice(b",\"data\":");
                string(&mut block, data);
                block.extend_from_slice(b"}}");
                content.push(&block);
            }
            _ => {}
        }
    }
    for name in &result.loaded {
        let mut block = b"{\"type\":\"tool_reference\",\"tool_name\":".to_vec();
        string(&mut block, name.as_str());
        block.push(b'}');
        content.push(&block);
    }
    if content.is_empty() {
        content.push(b"{\"type\":\"text\",\"text\":\"(no output)\"}");
    }
    let mut out = b"{\"type\":\"tool_result\",\"tool_use_id\":".to_vec();
    string(&mut out, &result.call_id);
    out.extend_from_slice(b",\"content\":");
    out.extend_from_slice(&content.end());
    if result.is_error {
        out.extend_from_slice(b",\"is_error\":true");
    }
    out.push(b'}');
    out
}

/// The `tools` array of a Responses request: functions, the search that runs on our
/// side, and deferred functions in namespaces by source.
pub(crate) fn responses_tools(plan: &TurnPlan) -> Vec<u8> {
    let mut list = List::new();
    for spec in plan.eager_tools() {
        let render = || responses_function(spec, "");
        list.push(&spec.rendered.get_or_render("responses.spec", render));
    }
    for spec in plan.loader_tools() {
        let mut tool =
            b"{\"type\":\"tool_search\",\"execution\":\"client\",\"description\":".to_vec();
        string(&mut tool, &spec.description);
        tool.extend_from_slice(b",\"parameters\":");
        tool.extend_from_slice(spec.input_schema.wire().as_bytes());
        tool.push(b'}');
        list.push(&tool);
    }
    let mut sources: BTreeMap<&str, Vec<&ToolSpec>> = BTreeMap::new();
    for spec in plan.deferred_tools() {
        sources.entry(&spec.source.0).or_default().push(spec);
    }
    for (source, specs) in sources {
        for (part, specs) in specs.chunks(NAMESPACE - 1).enumerate() {
            list.push(&namespace(source, part, specs));
        }
    }
    list.end()
}

/// The item that answers a `tool_search_call` with the definitions it loaded. Names
/// that the plan does not know are left out.
pub(crate) fn responses_found(plan: &TurnPlan, result: &ToolResult) -> Vec<u8> {
    let mut list = List::new();
    for name in &result.loaded {
        let deferred = plan.deferred_tools();
        if let Ok(at) = deferred.binary_search_by(|spec| spec.name.cmp(name)) {
            list.push(&responses_deferred(&deferred[at]));
        }
    }
    let mut out =
        b"{\"type\":\"tool_search_output\",\"execution\":\"client\",\"call_id\":".to_vec();
    string(&mut out, &result.call_id);
    out.extend_from_slice(b",\"status\":\"completed\",\"tools\":");
    out.extend_from_slice(&list.end());
    out.push(b'}');
    out
}

fn messages_tool(spec: &ToolSpec, more: &str) -> Vec<u8> {
    let mut out = b"{\"name\":".to_vec();
    string(&mut out, spec.name.as_str());
    out.extend_from_slice(b",\"description\":");
    string(&mut out, &spec.description);
    out.extend_from_slice(b",\"input_schema\":");
    out.extend_from_slice(spec.input_schema.wire().as_bytes());
    out.extend_from_slice(more.as_bytes());
    out.push(b'}');
    out
}

fn responses_function(spec: &ToolSpec, more: &str) -> Vec<u8> {
    let mut out = b"{\"type\":\"function\",\"name\":".to_vec();
    string(&mut out, spec.name.as_str());
    out.extend_from_slice(b",\"description\":");
    string(&mut out, &spec.description);
    out.extend_from_slice(b",\"strict\":null,\"parameters\":");
    out.extend_from_slice(spec.input_schema.wire().as_bytes());
    out.extend_from_slice(more.as_bytes());
    out.push(b'}');
    out
}

fn responses_deferred(spec: &ToolSpec) -> std::sync::Arc<[u8]> {
    let render = || responses_function(spec, ",\"defer_loading\":true");
    spec.rendered.get_or_render("responses.deferred", render)
}

fn namespace(source: &str, part: usize, specs: &[&ToolSpec]) -> Vec<u8> {
    let name = match part {
        0 => ToolName::from_foreign(source),
        part => ToolName::from_foreign(&format!("{source}_{}", part + 1)),
    };
    let mut out = b"{\"type\":\"namespace\",\"name\":".to_vec();
    string(&mut out, name.as_str());
    out.extend_from_slice(b",\"description\":");
    string(&mut out, &format!("Tools of {source}."));
    let mut tools = List::new();
    for spec in specs {
        tools.push(&responses_deferred(spec));
    }
    out.extend_from_slice(b",\"tools\":");
    out.extend_from_slice(&tools.end());
    out.push(b'}');
    out
}

/// A JSON array of rendered items.
struct List(Vec<u8>);

impl List {
    fn new() -> List {
        List(vec![b'['])
    }

    fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    fn push(&mut self, item: &[u8]) {
        if !self.is_empty() {
            self.0.push(b',');
        }
        self.0.extend_from_slice(item);
    }

    fn end(mut self) -> Vec<u8> {
        self.0.push(b']');
        self.0
    }
}

/// Appends a JSON string.
fn string(out: &mut Vec<u8>, text: &str) {
    // Writing to a vector cannot fail.
    let _ = out.write_all(serde_json::Value::from(text).to_string().as_bytes());
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
    fn messages_defer_beside_a_loader_of_our_own() {
        insta::assert_snapshot!(lines(&messages_tools(&plan(0))));
        insta::assert_snapshot!(lines(&messages_result(&result(&["d0", "d2"]))));
        insta::assert_snapshot!(lines(&messages_result(&ToolResult {
            content: Vec::new(),
            is_error: true,
            ..result(&[])
        })), @r#"{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"(no output)"}],"is_error":true}"#);
    }

    #[test]
    fn responses_defer_in_namespaces_and_search_on_our_side() {
        insta::assert_snapshot!(lines(&responses_tools(&plan(0))));
        let found = responses_found(&plan(0), &result(&["d1", "gone"]));
        insta::assert_snapshot!(lines(&found), @r#"{"type":"tool_search_output","execution":"client","call_id":"c1","status":"completed","tools":[{"type":"function","name":"d1","description":"Does d1.","strict":null,"parameters":{"type":"object","properties":{}},"defer_loading":true}]}"#);
    }

    #[test]
    fn a_load_changes_no_byte_of_the_array() {
        assert_eq!(messages_tools(&plan(0)), messages_tools(&plan(2)));
        assert_eq!(responses_tools(&plan(0)), responses_tools(&plan(2)));
    }

    #[test]
    fn namespaces_stay_small_and_their_names_valid() {
        let deferred: Arc<[_]> = (0..25)
            .map(|n| spec(&format!("t{n:02}"), "a b/c"))
            .collect();
        let plan = TurnPlan::with_loader("", Vec::new(), Vec::new(), Vec::new(), deferred);
        let value: serde_json::Value = serde_json::from_slice(&responses_tools(&plan)).unwrap();
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
