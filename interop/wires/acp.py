"""A real agent of the Agent Client Protocol, stripped to a plain model before a mock."""
import json
import os
import subprocess

from kit import free_port, hold, http, npm, of, passed, serving

CALL = '<tool_call>\n{"name": "search_symbols", "arguments": {"query": "truncate_result"}}\n</tool_call>'
FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "tool_response name="}, "response": {"content": "It is cut in `src/cut.rs:2`."}},
        {"match": {}, "response": {"content": CALL}},
    ]
}


def agent_config(base):
    """opencode without tools, updates or a network besides the mock."""
    plain = {"mode": "primary", "prompt": "You are a plain text model. Never use tools.", "permission": {"*": "deny"}}
    local = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{base}/v1", "apiKey": "x"},
        "models": {"mock": {"name": "mock", "limit": {"context": 64000, "output": 2000}}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "local/mock",
        "small_model": "local/mock",
        "provider": {"local": local},
        "permission": {"*": "deny"},
        "agent": {"plain": plain},
        "default_agent": "plain",
    }


def run(world, bodies):
    fixtures = world.home / "fixtures"
    fixtures.mkdir()
    (fixtures / "turns.json").write_text(json.dumps(FIXTURES))
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    config = world.home / "opencode.json"
    config.write_text(json.dumps(agent_config(base)))
    env = {
        "OPENCODE_CONFIG": str(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    agent = npm("opencode") / "opencode-linux-x64/bin/opencode"
    os.chmod(agent, 0o755)
    cli = npm("aimock") / "@copilotkit/aimock/dist/cli.js"
    served = ["node", cli, "-p", str(port), "-f", fixtures, "--log-level", "warn"]
    with serving(served, f"{base}/v1/models"):
        ran = world.ask(f"acp:{agent} acp --pure", "Where are results truncated?", env=env, patience=240)
        told = f"ended with {ran.returncode}: {(ran.stderr + ran.stdout)[-900:]}"
        hold("p35", ran.returncode == 0, told)
        called = [call["name"] for call in of(ran, "tool_call_finished") if not call["is_error"]]
        (last,) = of(ran, "run_finished")
        hold("p35", called == ["search_symbols"] and "src/cut.rs:2" in last["answer"], told)
        tools = [len(entry["body"].get("tools") or []) for entry in json.loads(http(f"{base}/__aimock/journal"))]
        hold("p35", tools and not any(tools), f"the agent sent tools of its own: {tools}")
        passed("p35", "opencode: a call out of plain text, its result, an answer")
    left = subprocess.run(["pgrep", "-f", str(agent)], capture_output=True, text=True).stdout.split()
    hold("p35", not left, f"processes of the agent are left: {left}")
    passed("p35", "opencode: nothing of it is left")
