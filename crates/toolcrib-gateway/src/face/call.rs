//! `tools/call`, by whatever name and in whatever form the arguments come.
//!
//! Models put the inner arguments of a call tool into an object, a JSON text, or
//! beside the name. All three are taken; anything else is refused with what the tool
//! wants, and nothing is ever run with `{}` because its arguments were not found.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolcrib_core::{Arguments, LoadRoute, Str, ToolContext};
use toolcrib_mcp::{McpError, RpcError};
use toolcrib_surface::{CALL_TOOL, Search, TOOL_SEARCH, check_unseen};

use super::ask::Leave;
use super::forward::Failure;
use super::{Answer, Cx, bad};
use crate::catalog::{Catalog, Offered, Runner, is_ours};
use crate::client::lock;
use crate::gateway::{Gateway, Mode};
use crate::held::HELD;
use crate::spill::READ_RESULT;
use crate::wire;

impl Gateway {
    pub(crate) async fn call_tool(self: &Arc<Self>, cx: &Cx, params: &str) -> Answer {
        let Some(name) = wire::text(params, "name") else {
            return Err(bad("`name` must be the name of a tool"));
        };
        let arguments = wire::get(params, "arguments");
        let searched = matches!(self.options.mode, Mode::Search | Mode::ListChanged);
        if searched && name == TOOL_SEARCH {
            return self.search_tools(cx, arguments).await;
        }
        if name == READ_RESULT {
            return Ok(Some(self.read_result(cx, arguments)));
        }
        let wanted = match searched && name == CALL_TOOL {
            true => arguments.and_then(inner_name),
            false => Some(name.clone()),
        };
        if let Some(wanted) = wanted
            && let Err(why) = self.meet_owner(cx, &wanted).await
        {
            return Ok(Some(refusal(&why)));
        }
        let catalog = cx.backend.catalog(&self.options);
        if searched && name == CALL_TOOL {
            return match inner(&catalog, arguments) {
                Ok(Inner::Tool(offered, arguments)) => {
                    self.run(cx, &catalog, offered, params, &arguments, false)
                        .await
                }
                Ok(Inner::Search(arguments)) => {
                    let arguments = wire::raw(arguments);
                    self.search_tools(cx, Some(&arguments)).await
                }
                Ok(Inner::Read(arguments)) => {
                    let arguments = wire::raw(arguments);
                    Ok(Some(self.read_result(cx, Some(&arguments))))
                }
                Err(text) => Ok(Some(refusal(&text))),
            };
        }
        // Not listed, or not yet: what is known by its name runs all the same.
        let Some(offered) = catalog.find(&name) else {
            let near = near(&catalog, &name);
            let how = if searched {
                " Find tools with `tool_search`."
            } else {
                ""
            };
            return Err(bad(format!("Unknown tool: {}.{near}{how}", shown(&name))));
        };
        let text = match arguments {
            None => "{}".to_owned(),
            Some(raw) if wire::entries(raw.get()).is_some() => raw.get().to_owned(),
            Some(raw) if raw.get() == "null" => "{}".to_owned(),
            Some(_) => return Err(bad("`arguments` must be an object")),
        };
        if !matches!(self.options.mode, Mode::Search) {
            as_headers_say(cx, offered, &text)?;
        }
        let listed = offered_schema(offered);
        self.run(
            cx,
            &catalog,
            offered,
            params,
            &text,
            self.lists_all() && listed,
        )
        .await
    }

    /// Runs a tool with the text of an object as its arguments. `whole` results are
    /// not cut.
    async fn run(
        self: &Arc<Self>,
        cx: &Cx,
        catalog: &Catalog,
        offered: &Offered,
        params: &str,
        arguments: &str,
        whole: bool,
    ) -> Answer {
        let own = self.in_own_words(offered, arguments);
        let arguments = own.as_ref().map_or(arguments, Arguments::as_str);
        let state = wire::text(params, "requestState");
        let held = state.is_some_and(|state| state.starts_with(HELD));
        if !held {
            let whole = wire::with(params, &[("arguments", arguments)], &[]);
            match self.permitted(cx, offered, whole.get()).await? {
                Leave::Go => {}
                Leave::Answer(answer) => return Ok(Some(answer)),
            }
        }
        let tool = match &offered.runner {
            Runner::Local(tool) => {
                return Ok(Some(self.run_local(cx, tool.clone(), arguments).await));
            }
            Runner::Server(tool) => tool.clone(),
        };
        let name = wire::quoted(&tool.name);
        let sent = wire::with(params, &[("name", &name), ("arguments", arguments)], &[]);
        let repeatable = tool.annotations.repeatable();
        let result = self
            .forward(
                cx,
                &offered.server,
                "tools/call",
                sent.get(),
                repeatable,
                self.expected(offered),
            )
            .await;
        match result {
            Ok(result) => {
                self.note_addresses(cx, &offered.server, &result);
                if whole || self.options.mode == Mode::Transparent {
                    return Ok(Some(result));
                }
                let result = lock(&cx.client.spill).cut(result, self.options.result_cap);
                Ok(Some(self.after(catalog, offered, result)))
            }
            Err(Failure::Way(error @ McpError::ToolChanged { .. })) => {
                Ok(Some(refusal(&unapproved(&offered.server, &error))))
            }
            // The model can go on without the tool, and should know why.
            Err(Failure::Way(error)) => Ok(Some(refusal(&error.to_string()))),
            Err(failure) => failure.into_answer(),
        }
    }

    /// The definition that a call is made for, where a changed one is held back.
    pub(super) fn expected(&self, offered: &Offered) -> Option<Str> {
        match &offered.runner {
            Runner::Server(tool) if self.options.hold_changed => {
                Some(tool.fingerprint.as_str().into())
            }
            _ => None,
        }
    }

    /// Waits for the server that an unknown tool's name begins with, where that was
    /// not asked yet what it offers; at most as long as it may take to start. The
    /// error says what is wrong with it.
    pub(super) async fn meet_owner(&self, cx: &Cx, name: &str) -> Result<(), String> {
        let catalog = cx.backend.catalog(&self.options);
        if catalog.find(name).is_some() || is_ours(name) {
            return Ok(());
        }
        let owners = catalog.unread.iter().filter(|server| owns(server, name));
        let Some(server) = owners.max_by_key(|server| server.len()) else {
            return Ok(());
        };
        let fleet = &cx.backend.fleet;
        let most = fleet
            .config(server)
            .map_or(Duration::ZERO, |c| c.start_timeout);
        let met = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Ok(()),
            met = tokio::time::timeout(most, fleet.refresh(server)) => met,
        };
        let name = shown(name);
        match met {
            Ok(Ok(_)) => {
                cx.backend.changed();
                Ok(())
            }
            Ok(Err(error)) => Err(format!("`{name}` did not run: {error}")),
            Err(_) => Err(format!(
                "`{name}` did not run: MCP server `{server}` is still starting after {} s",
                most.as_secs_f64()
            )),
        }
    }

    /// The arguments with properties that were listed under other names called again
    /// what their server calls them.
    fn in_own_words(&self, offered: &Offered, arguments: &str) -> Option<Arguments> {
        match self.options.mode {
            Mode::Eager | Mode::ListChanged => {
                let arguments = Arguments::parse(arguments).ok()?;
                offered.spec.input_schema.restore(&arguments)
            }
            Mode::Search | Mode::Transparent => None,
        }
    }

    /// A server that says it does not know its own tool has another list by now.
    fn after(&self, _: &Catalog, offered: &Offered, result: Box<RawValue>) -> Box<RawValue> {
        // A failure in plain words is a failure, whatever its flag says.
        let output = toolcrib_mcp::output_of(offered.own_name(), &result);
        let flagged = wire::get(result.get(), "isError").is_some_and(|raw| raw.get() == "true");
        match output.is_error && !flagged {
            true => wire::with(result.get(), &[("isError", "true")], &[]),
            false => result,
        }
    }

    async fn run_local(
        &self,
        cx: &Cx,
        tool: Arc<dyn toolcrib_core::Tool>,
        arguments: &str,
    ) -> Box<RawValue> {
        let arguments = match Arguments::parse(arguments) {
            Ok(arguments) => arguments,
            Err(error) => return refusal(&error.model),
        };
        let mut context = ToolContext::detached(cx.id.as_str());
        context.cancel = cx.cancel.child_token();
        match tool.call(&arguments, &context).await {
            Ok(output) => {
                let content: Vec<Value> = output
                    .content
                    .iter()
                    .map(|content| match content {
                        toolcrib_core::Content::Image { media_type, data } => {
                            json!({"type": "image", "mimeType": &**media_type, "data": &**data})
                        }
                        toolcrib_core::Content::Text(text) => {
                            json!({"type": "text", "text": &**text})
                        }
                        _ => json!({"type": "text", "text": ""}),
                    })
                    .collect();
                let mut result = json!({ "content": content });
                if output.is_error {
                    result["isError"] = true.into();
                }
                lock(&cx.client.spill).cut(wire::raw(result.to_string()), self.options.result_cap)
            }
            Err(error) => refusal(&error.model),
        }
    }

    fn read_result(&self, cx: &Cx, arguments: Option<&RawValue>) -> Box<RawValue> {
        let arguments = arguments.map_or("{}", RawValue::get);
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let result = lock(&cx.client.spill).read(&arguments, self.options.result_cap);
        wire::raw(result.to_string())
    }

    /// Remembers the addresses that a result links to, so that they can be read.
    fn note_addresses(&self, cx: &Cx, server: &Str, result: &RawValue) {
        if !result.get().contains("\"resource") {
            return;
        }
        let value: Value = serde_json::from_str(result.get()).unwrap_or_default();
        for item in value["content"].as_array().into_iter().flatten() {
            let uri = match item["type"].as_str() {
                Some("resource_link") => item["uri"].as_str(),
                Some("resource") => item["resource"]["uri"].as_str(),
                _ => None,
            };
            if let Some(uri) = uri {
                cx.client.see(uri.to_owned(), server);
            }
        }
    }
}

/// Whether a tool of this name could be the server's.
fn owns(server: &str, name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let prefix: String = server
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    let rest = name.trim().strip_prefix(&*prefix);
    !prefix.is_empty() && rest.is_some_and(|rest| rest.starts_with('_'))
}

/// The name within the arguments of the call tool, some of which come as a text.
fn inner_name(outer: &RawValue) -> Option<String> {
    match serde_json::from_str::<String>(outer.get()) {
        Ok(text) => wire::text(&text, "name"),
        Err(_) => wire::text(outer.get(), "name"),
    }
}

/// Why a held back tool did not run.
pub(super) fn unapproved(server: &str, error: &McpError) -> String {
    format!("{error}. It is held back until a person approves it with `--approve {server}`")
}

/// Whether a client may hold the tool to a schema of its result.
fn offered_schema(offered: &Offered) -> bool {
    match &offered.runner {
        Runner::Server(tool) => tool.output_schema.is_some(),
        Runner::Local(_) => false,
    }
}

/// A result that tells the model why nothing ran.
pub(crate) fn refusal(text: &str) -> Box<RawValue> {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    wire::raw(format!(
        r#"{{"content":[{{"type":"text","text":{}}}],"isError":true}}"#,
        wire::quoted(&format!("error: {text}"))
    ))
}

fn shown(name: &str) -> String {
    name.chars()
        .take(64)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// What a call of the call tool means.
enum Inner<'a> {
    Tool(&'a Offered, String),
    Search(String),
    Read(String),
}

/// Whether what came as headers too is what the arguments say.
pub(super) fn as_headers_say(cx: &Cx, offered: &Offered, arguments: &str) -> Result<(), RpcError> {
    if let (Some(headers), Runner::Server(tool)) = (cx.client.params.get(), &offered.runner)
        && let Some(why) = headers.mismatch(tool.header_params(), arguments)
    {
        return Err(RpcError::new(wire::HEADER_MISMATCH, why));
    }
    Ok(())
}

/// Reads the arguments of the call tool; the error is for the model.
fn inner<'a>(catalog: &'a Catalog, outer: Option<&RawValue>) -> Result<Inner<'a>, String> {
    // Some clients send the whole as a text.
    let unwrapped = outer.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let outer = match &unwrapped {
        Some(text) => text.as_str(),
        None => outer.map_or("{}", RawValue::get),
    };
    let Some(entries) = wire::entries(outer) else {
        return Err(
            "`call_tool` takes an object with `name` and `arguments`; nothing ran".to_owned(),
        );
    };
    let name = wire::text(outer, "name").filter(|name| !name.trim().is_empty());
    let Some(name) = name else {
        return Err(
            "`name` must be the name of a tool that `tool_search` found; nothing ran".to_owned(),
        );
    };
    let name = name.trim();
    let beside: Vec<_> = entries
        .iter()
        .filter(|(key, _)| key != "name" && key != "arguments")
        .collect();
    let given = given(wire::get(outer, "arguments"));
    if is_ours(name) || name == READ_RESULT {
        let arguments = match (given, beside.is_empty()) {
            (Given::Object(text), _) => text,
            _ => wire::with(outer, &[], &["name", "arguments"])
                .get()
                .to_owned(),
        };
        return match name {
            TOOL_SEARCH => Ok(Inner::Search(arguments)),
            READ_RESULT => Ok(Inner::Read(arguments)),
            _ => Err("`call_tool` cannot call itself: name the tool that is to run".to_owned()),
        };
    }
    let offered = find(catalog, name)?;
    let refuse = |why: &str| {
        let spec = &offered.spec;
        let schema = spec.input_schema.wire();
        let wanted = match schema.len() {
            0..=8192 => format!("Its schema: {schema}"),
            _ => format!("Its required arguments: {}", required(schema)),
        };
        Err(format!("{why}; `{}` did not run. {wanted}", spec.name))
    };
    let arguments = match given {
        Given::Wrong => {
            return refuse("`arguments` must be an object with the tool's own arguments");
        }
        Given::Object(text) if beside.is_empty() => text,
        Given::Object(text)
            if text.trim() != "{}" && !wire::entries(&text).is_some_and(|e| e.is_empty()) =>
        {
            let keys: Vec<String> = beside
                .iter()
                .map(|(key, _)| format!("`{}`", shown(key)))
                .collect();
            return refuse(&format!("put {} into `arguments`", keys.join(", ")));
        }
        Given::Object(_) | Given::Nothing if !beside.is_empty() => {
            // Beside the name: only what the tool is known to take.
            let schema: Value =
                serde_json::from_str(offered.spec.input_schema.wire()).unwrap_or_default();
            let known = |key: &str| schema["properties"].get(key).is_some();
            if let Some((key, _)) = beside.iter().find(|(key, _)| !known(key)) {
                return refuse(&format!("there is no argument `{}`", shown(key)));
            }
            wire::with(outer, &[], &["name", "arguments"])
                .get()
                .to_owned()
        }
        Given::Object(_) | Given::Nothing => "{}".to_owned(),
    };
    let parsed = match Arguments::parse(arguments.as_str()) {
        Ok(parsed) => parsed,
        Err(error) => return refuse(&error.model),
    };
    match check_unseen(&offered.spec, &parsed) {
        Ok(()) => Ok(Inner::Tool(offered, arguments)),
        Err(error) => Err(error.model),
    }
}

enum Given {
    Object(String),
    Nothing,
    Wrong,
}

fn given(raw: Option<&RawValue>) -> Given {
    let Some(raw) = raw else {
        return Given::Nothing;
    };
    match raw.get().as_bytes().first() {
        Some(b'n') => Given::Nothing,
        Some(b'{') => Given::Object(raw.get().to_owned()),
        Some(b'"') => {
            let text: String = serde_json::from_str(raw.get()).unwrap_or_default();
            let text = text.trim();
            match wire::entries(text) {
                _ if text.is_empty() => Given::Nothing,
                Some(_) => Given::Object(text.to_owned()),
                None => Given::Wrong,
            }
        }
        _ => Given::Wrong,
    }
}

fn required(schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    match schema.get("required") {
        Some(required) => required.to_string(),
        None => "none".to_owned(),
    }
}

/// The tool of this name, or of the one name that is spelt alike.
fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Offered, String> {
    if let Some(offered) = catalog.find(name) {
        return Ok(offered);
    }
    // Which one of several is meant is not for a ranking to say.
    let several = catalog.namesakes(name);
    if several.len() > 1 {
        return Err(format!(
            "several servers have a tool `{}`, so none of them ran: say which, {}.",
            shown(name),
            several.join(", ")
        ));
    }
    let index = catalog.inventory(LoadRoute::Bridge).index();
    let one = format!("select:{}", name.replace([',', ';', '\n'], " "));
    let found = index.search(&one, &Search::default());
    if let [hit] = found.hits[..]
        && let Some(offered) = catalog.find(&index.docs()[hit.doc].name)
    {
        return Ok(offered);
    }
    Err(format!(
        "there is no tool `{}`.{} Find tools with `tool_search`.",
        shown(name),
        near(catalog, name)
    ))
}

fn near(catalog: &Catalog, name: &str) -> String {
    let index = catalog.inventory(LoadRoute::Bridge).index();
    let near = index.near_names(name, 3, &|_| true);
    let near: Vec<String> = near
        .into_iter()
        .map(|doc| format!("`{}`", index.docs()[doc].name))
        .collect();
    match near.is_empty() {
        true => String::new(),
        false => format!(" Near it: {}.", near.join(", ")),
    }
}
