#!/usr/bin/env python3
"""Heavier peers, run by hand: they take a gigabyte and minutes.

usage: run.py BINARY [litellm] [gemini-cli] [claude-agent-acp]"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "wires"))

import kit
from kit import Failed, Missing, World, cargo_tests, free_port, hold, npm, of, passed, say, serving, venv
from llama import FUNCTIONARY, llama

kit.PEERS["litellm"] = ["litellm[proxy]==1.108.7"]
kit.NPM["gemini-cli"] = ["@google/gemini-cli@0.61.0"]
kit.NPM["claude-agent-acp"] = ["@agentclientprotocol/claude-agent-acp@0.49.0"]

TEXT = "It is cut in `src/cut.rs:2`."
CALL = '<tool_call>\n{"name": "search_symbols", "arguments": {"query": "truncate_result"}}\n</tool_call>'
FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "tool_response name="}, "response": {"content": TEXT}},
        {"match": {}, "response": {"content": CALL}},
    ]
}


def litellm(world):
    """The Gemini wire in front of a real model."""
    with llama("llama-new", FUNCTIONARY) as behind:
        config = world.home / "litellm.yaml"
        params = {"model": "openai/local", "api_base": f"{behind}/v1", "api_key": "none"}
        config.write_text(json.dumps({"model_list": [{"model_name": "local", "litellm_params": params}]}))
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        env = {
            **os.environ,
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False",
        }
        served = [venv("litellm") / "bin/litellm", "--config", config, "--host", "127.0.0.1", "--port", str(port)]
        with serving(served, f"{base}/health/liveliness", patience=300, env=env):
            cargo_tests(
                ["real::p01_real_a_call_comes_on_the_gemini_wire"], {"TOOLCRIB_REAL": base}, "--test", "it"
            )


def agent(world, command, env, urls):
    """One question through an agent whose model is a mock."""
    fixtures = world.home / "fixtures"
    fixtures.mkdir()
    (fixtures / "turns.json").write_text(json.dumps(FIXTURES))
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    cli = npm("aimock") / "@copilotkit/aimock/dist/cli.js"
    served = ["node", cli, "-p", str(port), "-f", fixtures, "--log-level", "warn"]
    with serving(served, f"{base}/v1/models"):
        env = {**env, **{name: base for name in urls}}
        ran = world.ask(f"acp:{command}", "Where are results truncated?", env=env, patience=400)
    told = f"ended with {ran.returncode}: {(ran.stderr + ran.stdout)[-900:]}"
    hold("p35", ran.returncode == 0, told)
    (last,) = of(ran, "run_finished")
    hold("p35", "src/cut.rs:2" in last["answer"], told)
    called = [call["name"] for call in of(ran, "tool_call_finished") if not call["is_error"]]
    hold("p35", called == ["search_symbols"], told)
    passed("p35", f"{command.split('/')[-1]}: a call out of plain text, its result, an answer")


def gemini_cli(world):
    settings = world.home / ".gemini/settings.json"
    settings.parent.mkdir()
    settings.write_text(
        json.dumps(
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
            }
        )
    )
    command = npm("gemini-cli") / ".bin/gemini"
    env = {"GEMINI_API_KEY": "test-key-of-nobody"}
    agent(world, f"{command} --acp -m gemini-2.5-flash", env, ["GOOGLE_GEMINI_BASE_URL"])


def claude(world):
    command = npm("claude-agent-acp") / ".bin/claude-agent-acp"
    env = {
        "IS_SANDBOX": "1",
        "ANTHROPIC_API_KEY": "sk-ant-test-of-nobody",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    agent(world, str(command), env, ["ANTHROPIC_BASE_URL"])


PARTS = {"litellm": litellm, "gemini-cli": gemini_cli, "claude-agent-acp": claude}


def main():
    if len(sys.argv) < 2 or any(part not in PARTS for part in sys.argv[2:]):
        sys.exit(__doc__)
    # Being asked to end is no reason to leave servers behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed = False
    for part in sys.argv[2:] or PARTS:
        begun = time.monotonic()
        say(f"-- {part}")
        with tempfile.TemporaryDirectory() as directory:
            try:
                PARTS[part](World(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(directory)))
            except (Failed, Missing, subprocess.TimeoutExpired) as error:
                failed = True
                say(f"   failed: {error}")
        say(f"   {time.monotonic() - begun:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
