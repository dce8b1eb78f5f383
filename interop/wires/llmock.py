"""llmock: faults on cue, and a verdict on how they were met."""
import json

from kit import Failed, free_port, hold, http, of, passed, say, serving, venv

WIRES = {
    "chat": ("mock:gpt-4o-mini", "/v1/chat/completions"),
    "responses": ("openai:gpt-4o-mini", "/v1/responses"),
    "messages": ("anthropic:claude-sonnet-4-5", "/anthropic/v1/messages"),
    "gemini": ("gemini:gemini-2.5-flash", "/gemini"),
}


def kind_of(path):
    if "generateContent" in path or "streamGenerateContent" in path:
        return "gemini"
    return next((kind for kind in ("chat", "responses", "messages") if f"/{kind}" in path), None)


def run(world, bodies):
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    world.table(
        f'[providers.mock]\nwire = "chat"\nhabits = "openai"\nbase_url = "{base}/v1"\n'
        '[providers.openai.elsewhere]\nwire = "responses"\n'
        '[[models]]\nmatch = "*:*"\nidle_seconds = 8\n'
    )
    env = {
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_KEY": "test",
        "ANTHROPIC_BASE_URL": f"{base}/anthropic",
        "ANTHROPIC_API_KEY": "test",
        "GOOGLE_GEMINI_BASE_URL": f"{base}/gemini",
        "GEMINI_API_KEY": "test",
    }
    binary = venv("llmock") / "bin/llmock"
    # Without a delay a stream is sent whole before a client can stop reading it.
    served = [binary, "serve", "--port", str(port), "--log-level", "warning", "--stream-chunk-delay-ms", "40"]
    with serving(served, f"{base}/_llmock/requests"):
        for wire, (model, _) in WIRES.items():
            run_faults(world, base, wire, model, env, bodies)


def requests(base):
    got = json.loads(http(f"{base}/_llmock/requests"))
    entries = got if isinstance(got, list) else got.get("requests", [])
    for entry in entries:
        kind = kind_of(entry.get("path", ""))
        body = entry.get("body")
        if isinstance(body, str):
            body = json.loads(body)
        if kind and body:
            yield {"kind": kind, "body": body}


# Name, behaviours, and whether the run can still end well.
FAULTS = [
    ("no fault", [], True),
    ("429 twice", [{"type": "fail", "status": 429, "times": 2, "retry_after": 1}], True),
    ("529 twice", [{"type": "fail", "status": 529, "times": 2}], True),
    ("503 outage", [{"type": "fail", "status": 503, "times": 2}], True),
    ("401", [{"type": "fail", "status": 401, "times": 1}], False),
    ("404", [{"type": "fail", "status": 404, "times": 1}], False),
    ("422", [{"type": "fail", "status": 422, "times": 1}], False),
    ("truncate", [{"type": "stream_fault", "kind": "truncate", "after_chunks": 1, "times": 1}], True),
    ("disconnect", [{"type": "stream_fault", "kind": "disconnect", "after_chunks": 1, "times": 1}], True),
    ("malformed", [{"type": "stream_fault", "kind": "malformed", "after_chunks": 1, "times": 1}], True),
    ("stall", [{"type": "stream_fault", "kind": "stall", "after_chunks": 1, "times": 1}], None),
    ("slow first token", [{"type": "slow_first_token", "seconds": 3, "times": 1}], True),
    ("broken arguments", [{"type": "tool_fault", "kind": "malformed_arguments", "times": 1}], True),
    ("unknown tool", [{"type": "tool_fault", "kind": "unknown_tool", "times": 1}], True),
]


def run_faults(world, base, wire, model, env, bodies):
    scenarios, odd = 0, []
    for name, behaviours, ends_well in FAULTS:
        if wire != "chat" and name in ("404", "422", "slow first token", "stall"):
            continue
        # A fresh log each time, or the next run's first request looks like a retry.
        http(f"{base}/_llmock/reset", {})
        if behaviours:
            http(f"{base}/_llmock/scenario", {"behaviors": behaviours})
        ran = world.ask(model, "Where are results truncated?", env=env)
        sent = list(requests(base))
        bodies += sent
        scenarios += 1
        told = f"{wire}, {name}: ended with {ran.returncode} after {len(sent)} requests: {(ran.stderr + ran.stdout)[-400:]}"
        if "panicked" in ran.stderr:
            raise Failed(told)
        if ends_well is True and ran.returncode != 0:
            raise Failed(told)
        if ends_well is False and (ran.returncode == 0 or len(sent) != 1):
            raise Failed(told)
        # Arguments are an object on Gemini's wire, which no text can break.
        if wire != "gemini" or name != "broken arguments":
            finished(name, ran, told)
        verdict = http(f"{base}/_llmock/verdict?format=text")
        lines = [line.strip() for line in verdict.splitlines()]
        odd += [f"{name}: {line}" for line in lines if line.startswith(("FAIL", "WARN"))]
    say(f"   {wire}: {scenarios} scenarios, verdict {'clean' if not odd else odd}")
    if odd:
        raise Failed(f"{wire}: llmock's verdict: {odd}")
    passed("p10 p13 p20 p21 p22", f"{wire}: {scenarios} scenarios, each met as it should be")


def finished(name, ran, told):
    """What a model did wrong is told to it, and it goes on."""
    wanted = {"broken arguments": ("p10", "bad_json"), "unknown tool": ("p13", "unknown_tool")}
    if name not in wanted:
        return
    check, kind = wanted[name]
    wrong = [result for result in of(ran, "tool_call_finished") if result["is_error"]]
    hold(check, [result["error"] for result in wrong] == [kind], told)
    hold(check, len(wrong[0]["excerpt"]) <= 800, told)
