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
    let options = ModelSpec::parse(text).unwrap().options(env).unwrap();
    options.unwrap().base_url
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
    check(
        "anthropic:claude",
        "this build speaks only OpenAI-style chat, not anthropic; reach its models as openrouter:anthropic/NAME",
    );
    check(
        "gemini:flash",
        "this build speaks only OpenAI-style chat, not gemini; reach its models as openrouter:google/NAME",
    );
    check(
        "acp:agent",
        "this build speaks only OpenAI-style chat, not acp; reach the agent's model as openrouter:VENDOR/NAME",
    );
    check(
        "local:model.gguf",
        "this build speaks only OpenAI-style chat, not local; serve the model with llama.cpp or Ollama and name it http://127.0.0.1:8080/v1#NAME or ollama:NAME",
    );
    check(
        "olama:m",
        "there is no provider \"olama\"; did you mean ollama?",
    );
    check(
        "gpt-5-mini",
        "there is no provider \"gpt-5-mini\"; write openai:NAME, openrouter:VENDOR/NAME, ollama:NAME, script:FILE, builtin:navigator or http://HOST/v1#NAME",
    );
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
    let options = spec
        .options(&env(&[("TOOLCRIB_API_KEY", "sk-hunter2")]))
        .unwrap()
        .unwrap();
    assert!(!format!("{options:?}").contains("hunter2"), "{options:?}");
}
