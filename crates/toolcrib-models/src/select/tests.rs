use super::*;

fn none(_: &str) -> Option<String> {
    None
}

fn env(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let found = pairs.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

fn id(text: &str, env: &Env<'_>) -> String {
    let model = ModelSpec::parse(text).and_then(|spec| spec.build(env));
    match model {
        Ok(model) => model.profile().id.to_string(),
        Err(error) => format!("{:?}: {error}", error.kind),
    }
}

fn address(text: &str, env: &Env<'_>) -> String {
    let spec = ModelSpec::parse(text).unwrap();
    let target = spec.target(Profiles::shipped(), env).unwrap();
    target.unwrap().base_url
}

#[test]
fn every_form_of_a_model_is_read() {
    let keys = env(&[("OPENAI_API_KEY", "k"), ("OPENROUTER_API_KEY", "k")]);
    let check = |text: &str, expected: &str| assert_eq!(id(text, &keys), expected);
    check("openai:gpt-5", "openai:gpt-5");
    check("openrouter:qwen/qwen3:free", "openrouter:qwen/qwen3:free");
    check("ollama:qwen3:0.6b", "ollama:qwen3:0.6b");
    check("http://127.0.0.1:8080/v1#m", "http://127.0.0.1:8080/v1#m");
    check(
        "https://me:pass@host/v1/?key=secret#org/m",
        "https://host/v1#org/m",
    );
    check("http://h/v1/chat/completions#m", "http://h/v1#m");
}

#[test]
fn the_environment_gives_keys_and_addresses() {
    assert_eq!(
        id("openai:gpt-5", &none),
        "Auth: openai:gpt-5 needs a key: set OPENAI_API_KEY in the environment"
    );
    let blank = env(&[("OPENROUTER_API_KEY", " ")]);
    assert_eq!(
        id("openrouter:a/b", &blank),
        "Auth: openrouter:a/b needs a key: set OPENROUTER_API_KEY in the environment"
    );
    let proxy = env(&[("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")]);
    assert_eq!(address("openai:gpt-5", &proxy), "http://127.0.0.1:9/v1");
    assert_eq!(id("openai:gpt-5", &proxy), "openai:gpt-5");
    assert_eq!(address("ollama:m", &none), "http://127.0.0.1:11434/v1");
    let check = |host: &'static str, expected: &str| {
        let env = move |name: &str| (name == "OLLAMA_HOST").then(|| host.to_owned());
        assert_eq!(address("ollama:m", &env), expected, "{host}");
    };
    check("box", "http://box:11434/v1");
    check("box:99", "http://box:99/v1");
    check("0.0.0.0", "http://127.0.0.1:11434/v1");
    check("0.0.0.0:99", "http://127.0.0.1:99/v1");
    check("[::1]", "http://[::1]:11434/v1");
    check("[::1]:99", "http://[::1]:99/v1");
    check("http://box:99/", "http://box:99/v1");
    check("https://box", "https://box/v1");
    check("http://box:99/v1", "http://box:99/v1");
}

#[test]
fn what_cannot_be_reached_says_what_can() {
    let check = |text: &str, expected: &str| {
        assert_eq!(id(text, &none), format!("Unsupported: {expected}"));
    };
    #[cfg(not(feature = "acp"))]
    check(
        "acp:agent",
        "this build does not speak acp; reach the agent's model under its provider's name",
    );
    #[cfg(not(feature = "local"))]
    check(
        "local:model.gguf",
        "this build does not speak local; serve the model with llama.cpp or Ollama and name it http://127.0.0.1:8080/v1#NAME or ollama:NAME",
    );
    check(
        "olama:m",
        "there is no provider \"olama\"; did you mean ollama?",
    );
    let acp = if cfg!(feature = "acp") {
        "acp:COMMAND, "
    } else {
        ""
    };
    let local = if cfg!(feature = "local") {
        "local:FILE, "
    } else {
        ""
    };
    // None of them is a slip of another word.
    for (text, provider) in [("gpt-5-mini", "gpt-5-mini"), ("nope:m", "nope"), (":m", "")] {
        check(
            text,
            &format!(
                "there is no provider \"{provider}\"; write anthropic:NAME, gemini:NAME, llamacpp:NAME, lmstudio:NAME, ollama:NAME, openai:NAME, openrouter:VENDOR/NAME, vllm:NAME, script:FILE, {acp}{local}builtin:navigator or http://HOST/v1#NAME"
            ),
        );
    }
    #[cfg(feature = "acp")]
    check("acp:", "a name is missing: write acp:COMMAND");
    check("openai:", "a name is missing: write openai:NAME");
    check("openai", "a name is missing: write openai:NAME");
    check(
        "builtin:guide",
        "there is no builtin:guide; the only one is builtin:navigator",
    );
    check(
        "http://me:pass@host/v1",
        "the address of a model needs the model's name after #, as in http://127.0.0.1:8080/v1#name",
    );
    let missing = id("script:/nonexistent.jsonl", &none);
    assert!(missing.starts_with("Script: cannot read the script /nonexistent.jsonl: "));
}

#[test]
fn p36_hints_and_specs_show_no_secret() {
    let seen = hints(&env(&[
        ("OPENROUTER_API_KEY", "sk-hunter2"),
        ("OLLAMA_HOST", "hunter2-host"),
        ("OPENAI_API_KEY", ""),
    ]));
    let names: Vec<_> = seen.iter().map(|hint| (hint.variable, hint.form)).collect();
    assert_eq!(
        names,
        [
            ("OPENROUTER_API_KEY", "openrouter:VENDOR/NAME"),
            ("OLLAMA_HOST", "ollama:NAME"),
        ]
    );
    assert!(!format!("{seen:?}").contains("hunter2"));
    let spec = ModelSpec::parse("http://me:hunter2@host/v1?k=hunter2#m").unwrap();
    assert_eq!(
        format!("{spec:?} {spec}"),
        "http://host/v1#m http://host/v1#m"
    );
    let keys = env(&[("TOOLCRIB_API_KEY", "sk-hunter2")]);
    let target = spec.target(Profiles::shipped(), &keys).unwrap().unwrap();
    assert!(!format!("{:?}", target.key).contains("hunter2"));
    assert_eq!(target.shown_url(), "http://host/v1");
}

#[test]
fn each_provider_of_the_table_builds_with_its_wire() {
    let keys = env(&[
        ("OPENAI_API_KEY", "k"),
        ("ANTHROPIC_API_KEY", "k"),
        ("GEMINI_API_KEY", "k"),
    ]);
    let wire = |text: &str, env: &Env<'_>| {
        let spec = ModelSpec::parse(text).unwrap();
        assert_eq!(id(text, env), text);
        let target = spec.target(Profiles::shipped(), env).unwrap().unwrap();
        target.wire()
    };
    assert_eq!(
        wire("anthropic:claude-sonnet-4-5", &keys),
        WireName::Messages
    );
    assert_eq!(wire("gemini:gemini-2.5-flash", &keys), WireName::Gemini);
    assert_eq!(wire("openai:gpt-5", &keys), WireName::Responses);
    assert_eq!(wire("llamacpp:m", &none), WireName::Chat);
    assert_eq!(wire("vllm:m", &none), WireName::Chat);
    assert_eq!(wire("lmstudio:m", &none), WireName::Chat);
    let proxy = env(&[("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")]);
    assert_eq!(wire("openai:gpt-5", &proxy), WireName::Chat);
    let model = ModelSpec::parse("anthropic:claude-sonnet-4-5").unwrap();
    let model = model.build(&keys).unwrap();
    assert_eq!(model.profile().load_route, LoadRoute::Native);
    assert_eq!(model.profile().output_limit, Some(64_000));
}

#[test]
fn addresses_on_this_machine_are_known_as_such() {
    for (url, local) in [
        ("http://127.0.0.1:8080/v1", true),
        ("http://me:pw@localhost/v1", true),
        ("http://[::1]:80", true),
        ("http://127.0.0.1.example.com", false),
        ("https://api.openai.com/v1", false),
    ] {
        assert_eq!(is_local(url), local, "{url}");
    }
}
