"""aimock: scripted turns on all wires, with what they cost.

Its journal notes every body in the form of a chat, so that none of them is shown to the
providers' types."""
import json

from kit import cargo_tests, free_port, hold, http, npm, of, passed, serving

CALLS = [
    {"name": "search_symbols", "arguments": json.dumps({"query": "truncate_result"})},
    {"name": "no_such_tool", "arguments": "{}"},
]
WEATHER = [{"name": "get_weather", "arguments": json.dumps({"city": "Paris"})}]
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "cost": 0.475}
FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "weather"}, "response": {"toolCalls": WEATHER}},
        {
            "match": {"hasToolResult": False},
            "response": {"content": "Let me look. ", "toolCalls": CALLS, "usage": USAGE},
        },
        {
            "match": {"hasToolResult": True},
            "response": {"content": "It is cut in `src/cut.rs:2`.", "usage": USAGE},
        },
    ]
}
MODELS = {
    "chat": "mock:gpt-4o-mini",
    "responses": "openai:gpt-4o-mini",
    "messages": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-2.5-flash",
    "openrouter": "openrouter:openai/gpt-5-mini",
    "ollama": "ollama:qwen3",
}


def run(world, bodies):
    fixtures = world.home / "fixtures"
    fixtures.mkdir()
    (fixtures / "turns.json").write_text(json.dumps(FIXTURES))
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    world.table(
        f'[providers.mock]\nwire = "chat"\nhabits = "openai"\nbase_url = "{base}/v1"\n'
        '[providers.openai.elsewhere]\nwire = "responses"\n'
    )
    env = {
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_KEY": "test",
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "test",
        "GOOGLE_GEMINI_BASE_URL": base,
        "GEMINI_API_KEY": "test",
        "OPENROUTER_BASE_URL": f"{base}/api/v1",
        "OPENROUTER_API_KEY": "test",
        "OLLAMA_HOST": base,
    }
    cli = npm("aimock") / "@copilotkit/aimock/dist/cli.js"
    served = ["node", cli, "-p", str(port), "-f", fixtures, "--log-level", "warn"]
    with serving(served, f"{base}/v1/models"):
        for wire, model in MODELS.items():
            scripted(world, base, wire, model, env)
        name = "real::p01_real_a_call_comes_on_the_gemini_wire"
        cargo_tests([name], {"TOOLCRIB_REAL": base}, "--test", "it")


def scripted(world, base, wire, model, env):
    ran = world.ask(model, "Where are results truncated?", env=env)
    told = f"{wire}: ended with {ran.returncode}: {(ran.stderr + ran.stdout)[-900:]}"
    check = "p01"
    hold(check, ran.returncode == 0, told)
    results = sorted((result["name"], result["is_error"]) for result in of(ran, "tool_call_finished"))
    hold(check, results == [("no_such_tool", True), ("search_symbols", False)], told)
    # The one that fails at once is done first and goes back second all the same.
    last = json.dumps(json.loads(http(f"{base}/__aimock/journal"))[-1]["body"])
    found, unknown = last.rfind("src/cut.rs"), last.rfind("no tool `no_such_tool`")
    hold(check, 0 < found < unknown, f"{wire}: {last[-900:]}")
    (last,) = of(ran, "run_finished")
    hold(check, last["answer"] == "It is cut in `src/cut.rs:2`." and last["rounds"] == 2, told)
    passed("p01", f"{wire}: text with two calls, their results in order, an answer")
    if wire == "openrouter":
        hold("p31", last["cost"]["usd"] == 0.95 and not last["cost"].get("estimated"), last["cost"])
        passed("p31", f"{wire}: the cost that the provider reported, ${last['cost']['usd']}")
    elif wire in ("chat", "ollama"):
        hold("p31", last["cost"] is None, f"{wire}: absent is not 0: {last['cost']}")
