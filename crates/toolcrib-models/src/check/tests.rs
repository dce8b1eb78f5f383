use super::*;
use serde_json::json;
use toolcrib_core::LoadRoute;

fn profile(dialect: ToolDialect) -> ModelProfile {
    let mut profile = ModelProfile::new("test:m");
    profile.dialect = dialect;
    profile.max_tools = Some(128);
    profile
}

fn function(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "description": "d", "parameters":
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}})
}

fn call(ids: &[&str], arguments: Value) -> Value {
    let calls = ids.iter().map(|id| {
        json!({"id": id, "type": "function", "function": {"name": "w", "arguments": arguments}})
    });
    json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
}

fn chat(change: impl FnOnce(&mut Value)) -> Vec<Finding> {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}],
        "tools": [function("w")]});
    change(&mut body);
    check_request(&profile(ToolDialect::OpenAi), body.to_string().as_bytes())
}

fn user() -> Value {
    json!({"role": "user", "content": "hi"})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "sunny"})
}

#[test]
fn p17_odd_chat_requests_are_found_out() {
    let good = json!({"city": "Paris"}).to_string();
    let good = || json!(good.clone());
    type Change = Box<dyn FnOnce(&mut Value)>;
    let messages = |list: Vec<Value>| -> Change { Box::new(move |b| b["messages"] = list.into()) };
    let tools = |list: Vec<Value>| -> Change { Box::new(move |b| b["tools"] = list.into()) };
    let set = |key: &'static str, value: Value| -> Change { Box::new(move |b| b[key] = value) };
    let without = |key: &'static str| -> Change {
        Box::new(move |b| {
            b.as_object_mut().unwrap().remove(key);
        })
    };
    let with = |key: &str, value: Value| {
        let mut tool = function("w");
        tool["function"][key] = value;
        tool
    };
    let accepted: Vec<(&str, Change)> = vec![
        ("ok", messages(vec![user()])),
        (
            "answered",
            messages(vec![user(), call(&["c1"], good()), result("c1")]),
        ),
        (
            "two",
            messages(vec![
                user(),
                call(&["a", "b"], good()),
                result("a"),
                result("b"),
            ]),
        ),
        (
            "reversed",
            messages(vec![
                user(),
                call(&["a", "b"], good()),
                result("b"),
                result("a"),
            ]),
        ),
        ("user user", messages(vec![user(), user()])),
        (
            "assistant first",
            messages(vec![json!({"role": "assistant", "content": "hi"}), user()]),
        ),
        ("withheld", without("tools")),
    ];
    for (name, change) in accepted {
        assert_eq!(chat(change), [], "{name}");
    }
    let mut untyped = function("w");
    untyped.as_object_mut().unwrap().remove("type");
    let mut deferred = function("w");
    deferred["defer_loading"] = true.into();
    let refused: Vec<(&str, Change)> = vec![
        ("orphan result", messages(vec![user(), result("nope")])),
        (
            "missing result",
            messages(vec![user(), call(&["c1", "c2"], good()), result("c1")]),
        ),
        (
            "user next",
            messages(vec![user(), call(&["c1"], good()), user()]),
        ),
        (
            "other id",
            messages(vec![user(), call(&["c1"], good()), result("zz")]),
        ),
        (
            "result without id",
            messages(vec![
                user(),
                call(&["c1"], good()),
                json!({"role": "tool", "content": "x"}),
            ]),
        ),
        (
            "duplicate ids",
            messages(vec![
                user(),
                call(&["c1", "c1"], good()),
                result("c1"),
                result("c1"),
            ]),
        ),
        (
            "duplicate result",
            messages(vec![
                user(),
                call(&["c1"], good()),
                result("c1"),
                result("c1"),
            ]),
        ),
        ("name with space", tools(vec![function("get weather")])),
        ("name with dot", tools(vec![function("fs.read")])),
        ("name of 65", tools(vec![function(&"a".repeat(65))])),
        ("duplicate names", tools(vec![function("w"), function("w")])),
        (
            "129 tools",
            tools((0..129).map(|n| function(&format!("t{n}"))).collect()),
        ),
        ("without type", tools(vec![untyped])),
        (
            "without name",
            tools(vec![json!({"type": "function", "function": {}})]),
        ),
        (
            "parameters a string",
            tools(vec![with("parameters", json!("x"))]),
        ),
        (
            "an array schema",
            tools(vec![with("parameters", json!({"type": "array"}))]),
        ),
        (
            "unknown type",
            tools(vec![with(
                "parameters",
                json!({"type": "object", "properties": {"a": {"type": "strin"}}}),
            )]),
        ),
        ("strict, open", tools(vec![with("strict", json!(true))])),
        ("deferred", tools(vec![deferred])),
        ("unknown member", set("foo_bar", json!(1))),
        (
            "unknown choice",
            set(
                "tool_choice",
                json!({"type": "function", "function": {"name": "zzz"}}),
            ),
        ),
        ("bad word", set("tool_choice", json!("sometimes"))),
        (
            "choice without tools",
            Box::new(|b| {
                b.as_object_mut().unwrap().remove("tools");
                b["tool_choice"] = "required".into();
            }),
        ),
        (
            "object arguments",
            messages(vec![
                user(),
                call(&["c1"], json!({"city": "Paris"})),
                result("c1"),
            ]),
        ),
        (
            "broken arguments",
            messages(vec![
                user(),
                call(&["c1"], json!("{\"city\": ")),
                result("c1"),
            ]),
        ),
        (
            "empty arguments",
            messages(vec![user(), call(&["c1"], json!("")), result("c1")]),
        ),
        (
            "no calls",
            messages(vec![
                user(),
                json!({"role": "assistant", "content": "x", "tool_calls": []}),
                user(),
            ]),
        ),
        (
            "nothing said",
            messages(vec![
                user(),
                json!({"role": "assistant", "content": null}),
                user(),
            ]),
        ),
        (
            "image in a result",
            messages(vec![
                user(),
                call(&["c1"], good()),
                json!({"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}),
            ]),
        ),
        (
            "odd role",
            messages(vec![json!({"role": "bogus", "content": "y"})]),
        ),
        ("no messages", messages(vec![])),
        ("no model", without("model")),
        ("no tools", tools(vec![])),
        ("hot", set("temperature", json!(9))),
    ];
    for (name, change) in refused {
        assert_ne!(chat(change), [], "{name}");
    }
}

fn found(dialect: ToolDialect, body: Value) -> String {
    let found = check_request(&profile(dialect), body.to_string().as_bytes());
    let lines: Vec<String> = found.iter().map(Finding::to_string).collect();
    lines.join("\n")
}

#[test]
fn p17_odd_messages_requests_are_found_out() {
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    let body = |change: &dyn Fn(&mut Value)| {
        let mut body = json!({"model": "m", "max_tokens": 5, "tools": [tool("w")],
            "messages": [{"role": "user", "content": "hi"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "w", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}]});
        change(&mut body);
        found(ToolDialect::Anthropic, body)
    };
    assert_eq!(body(&|_| {}), "");
    let check = |change: &dyn Fn(&mut Value), expected: &str| assert_eq!(body(change), expected);
    check(
        &|b| b["messages"][2]["content"][0]["tool_use_id"] = "b".into(),
        "messages[2]: there is no call b\nmessages[2]: the call a has no result before this",
    );
    check(
        &|b| b["tools"] = json!([]),
        "tools: a transcript with calls needs tools",
    );
    check(
        &|b| b["tools"][0]["defer_loading"] = true.into(),
        "tools: at least one tool must not be deferred",
    );
    check(&|b| b["max_tokens"] = Value::Null, "max_tokens: is missing");
    check(
        &|b| b["tools"][0]["name"] = "a.b".into(),
        "tools[0]: the name \"a.b\" is refused",
    );
    check(
        &|b| b["messages"][0]["content"] = " ".into(),
        "messages[0]: holds a blank text",
    );
    check(
        &|b| {
            b["messages"][2]["content"]
                .as_array_mut()
                .unwrap()
                .insert(0, json!({"type": "text", "text": "x"}))
        },
        "messages[2]: results must come before all else",
    );
    check(
        &|b| {
            let mark = json!({"type": "ephemeral"});
            let blocks: Vec<Value> = (0..5)
                .map(|_| json!({"type": "text", "text": "x", "cache_control": mark}))
                .collect();
            b["messages"][0]["content"] = blocks.into();
        },
        "cache_control: 5 marks, at most 4 are taken",
    );
    check(
        &|b| {
            b["messages"][2]["content"][0]["content"] =
                json!([{"type": "tool_reference", "tool_name": "gone"}])
        },
        "messages[2]: refers to \"gone\", which is no tool",
    );
}

#[test]
fn p17_odd_responses_and_gemini_requests_are_found_out() {
    let call = json!({"type": "function_call", "call_id": "a", "name": "w", "arguments": "{}"});
    let ask = |input: Value, tools: Value| {
        found(
            ToolDialect::OpenAi,
            json!({"model": "m", "input": input, "tools": tools}),
        )
    };
    let tool = json!([{"type": "function", "name": "w", "strict": false, "parameters": {"type": "object"}}]);
    let hi = json!({"role": "user", "content": "hi"});
    let done = json!({"type": "function_call_output", "call_id": "a", "output": "x"});
    assert_eq!(ask(json!([hi, call, done]), tool.clone()), "");
    assert_eq!(
        ask(json!([hi, call]), tool.clone()),
        "input: the call a has no result before this"
    );
    assert_eq!(
        ask(
            json!([hi, {"type": "reasoning", "id": "r", "summary": []}]),
            tool.clone()
        ),
        "input[1]: reasoning stands without what it led to"
    );
    assert_eq!(ask(json!([hi]), json!([function("w")])).lines().count(), 3);

    let turn = |role: &str, part: Value| json!({"role": role, "parts": [part]});
    let gemini = |contents: Value, parameters: Value| {
        found(
            ToolDialect::Gemini,
            json!({"contents": contents,
            "tools": [{"functionDeclarations": [{"name": "w", "parameters": parameters}]}]}),
        )
    };
    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let said = turn("user", json!({"text": "hi"}));
    let called = turn("model", json!({"functionCall": {"name": "w", "args": {}}}));
    let answer = turn(
        "user",
        json!({"functionResponse": {"name": "w", "response": {"output": "x"}}}),
    );
    assert_eq!(gemini(json!([said, called, answer]), plain.clone()), "");
    assert_ne!(gemini(json!([said, called]), plain.clone()), "");
    assert_ne!(gemini(json!([said, said]), plain.clone()), "");
    for odd in [
        json!({"type": "object", "properties": {"a": {"$ref": "#/x"}}}),
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        json!({"type": "object", "properties": {"a": {"type": "integer", "enum": [1]}}}),
        json!({"type": "object", "properties": {}}),
        json!({"$schema": "x", "type": "object", "properties": {"a": {"oneOf": []}}}),
    ] {
        assert_ne!(gemini(json!([said]), odd.clone()), "", "{odd}");
    }
    let mut profile = profile(ToolDialect::OpenAi);
    profile.load_route = LoadRoute::Native;
    assert_ne!(check_request(&profile, b"[1]"), []);
    assert_ne!(check_request(&profile, b"{"), []);
}
