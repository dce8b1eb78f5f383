"""Needle 3: a small real model that calls tools, behind its server and in process."""
import contextlib
import json
import os

from kit import NEEDLE, cargo_tests, checked, free_port, hold, of, packages, passed, recorded, serving, venv


def tool(name, description, properties, command):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": schema, "command": command}


TEXT = {"type": "string"}
TOOLS = [
    # The call that comes first takes longer.
    tool(
        "get_weather",
        "The weather of a city.",
        {"city": TEXT},
        ["sh", "-c", 'read a; case "$a" in *Rome*) sleep 1; echo Rome 21 C;; *) echo 9 C;; esac'],
    ),
    tool("set_timer", "Set a timer for a number of minutes.", {"minutes": {"type": "integer"}}, ["echo", "set"]),
    tool("send_message", "Send a text message to a person.", {"person": TEXT, "text": TEXT}, ["echo", "sent"]),
]


@contextlib.contextmanager
def serving_needle():
    """Its server, and where its weights are."""
    path = venv("needle", NEEDLE[0])
    site = packages(path)
    checked(site / NEEDLE[1], NEEDLE[2])
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    env = {
        **os.environ,
        "NEEDLE_TELEMETRY": "0",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "NEEDLE2_LIB_PATH": str(site / "needle/libneedle3.so"),
        "NEEDLE_MODEL_ID": "needle-3",
    }
    served = [path / "bin/needle-openai", "--host", "127.0.0.1", "--port", str(port)]
    with serving(served, f"{base}/health", env=env):
        yield base, site / NEEDLE[1]


def described(world, entries):
    world.table("")
    tools = world.home / "tools.jsonl"
    tools.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return tools


def run(world, bodies):
    command = ["echo", "21 C and sunny"]
    tools = described(world, [tool("get_weather", "The weather of a city.", {"city": TEXT}, command)])
    with serving_needle() as (base, weights):
        seen = []
        for _ in range(2):
            ran = ask(world, base, tools, "What is the weather in Paris?", "3")
            called = [line for line in ran.stdout.splitlines() if "get_weather" in line and "Paris" in line]
            hold("p02", called, f"no call of get_weather: {ran.returncode} {(ran.stderr + ran.stdout)[-600:]}")
            seen.append(len(called))
        hold("p02", len(set(seen)) == 1, f"two runs differ: {seen}")
        passed("p02", "needle-3 called get_weather for Paris, twice alike")
        cut = "real::p33_real_a_cut_call_of_needle_is_asked_again_once"
        cargo_tests([cut], {"TOOLCRIB_REAL": base}, "--test", "it")
        seven = "needle::p02_real_needle_chooses_right_six_times_of_seven_and_alike_twice"
        cargo_tests([seven], {"TOOLCRIB_REAL": base}, "--test", "it", package="toolcrib")
        in_order(world, base, described(world, TOOLS))
    name = "local::tests::p02_a_real_model_in_process_calls_the_tool"
    cargo_tests([name], {"TOOLCRIB_NEEDLE": str(weights)}, "--features", "local", "--lib")


def ask(world, base, tools, question, rounds):
    flags = ("--tools", str(tools), "--rounds", rounds, "--max-time", "200s")
    return world.ask(f"{base}/v1#needle-3", question, *flags, patience=280)


def in_order(world, base, tools):
    with recorded(base) as (proxy, sent):
        ran = ask(world, proxy, tools, "What is the weather in Rome and in Oslo?", "2")
        hold("p03", len(sent) >= 2, f"{len(sent)} requests: {(ran.stderr + ran.stdout)[-600:]}")
        said = sent[1]["messages"]
        calls = [call for message in said for call in message.get("tool_calls") or []]
        results = [message for message in said if message["role"] == "tool"]
        ids = [call["id"] for call in calls]
        hold("p03", len(ids) == 2 and ids == [result["tool_call_id"] for result in results], said)
        texts = [result["content"] for result in results]
        first_rome = "Rome" in calls[0]["function"]["arguments"]
        hold("p03", first_rome == ("Rome" in texts[0]) and sum("Rome" in text for text in texts) == 1, texts)
        passed("p03", "two calls ran side by side; results went back in call order, the slower one first")
