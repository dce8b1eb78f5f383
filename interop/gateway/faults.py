"""Clients that give up at random, before servers that misbehave in every way.

    python3 interop/gateway/faults.py --toolcrib target/release/toolcrib [--seconds 60] [--clients 32]

One gateway over HTTP stands before the servers of faulty.py. Half of the clients speak
the older revision with a session each and take calls back by notification; half speak
the newest and close the connection. What is not taken back is held to its right answer.
Afterwards nothing may be left of it: the gateway's tasks, open files, threads, children
and memory are those of a gateway that served one call of each kind, and once it has
ended no process of its servers runs. Linux alone. Ends with one line and status 0 or 1.
"""

import argparse
import collections
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

FAULTY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faulty.py")
KINDS = ["good", "hang", "junk", "noisy", "dying", "huge", "changing", "wrong", "mute", "forking"]
# Those that answer every call, and rightly, whatever else they do.
HONEST = ["good", "good", "good", "junk", "noisy", "changing", "wrong", "forking"]
MODERN = "2026-07-28"


class GaveUp(Exception):
    pass


class Client:
    """One client; a connection is opened anew after one that was closed early."""

    def __init__(self, port, modern):
        self.port, self.modern, self.session, self.next = port, modern, None, 0
        self.wire = None
        if not modern:
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "faults", "version": "1"}}
            self.request("initialize", params)

    def headers(self, method, params):
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.modern:
            head.update({"MCP-Protocol-Version": MODERN, "Mcp-Method": method})
            if "name" in params:
                head["Mcp-Name"] = params["name"]
        elif self.session:
            head["Mcp-Session-Id"] = self.session
        return head

    def body(self, method, params, identity):
        if self.modern:
            meta = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params = {**params, "_meta": meta}
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if identity is not None:
            message["id"] = identity
        return json.dumps(message)

    def send(self, method, params, identity):
        if self.wire is None:
            self.wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        self.wire.request("POST", "/mcp", self.body(method, params, identity), self.headers(method, params))

    def receive(self):
        reply = self.wire.getresponse()
        self.session = reply.getheader("mcp-session-id") or self.session
        text = reply.read().decode()
        if reply.getheader("content-type", "").startswith("text/event-stream"):
            text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
        return json.loads(text) if text else None

    def request(self, method, params):
        self.next += 1
        self.send(method, params, self.next)
        return self.receive()

    def give_up(self, method, params, after):
        """Takes a request back after a while, in the way of its revision."""
        self.next += 1
        self.send(method, params, self.next)
        time.sleep(after)
        if not self.modern:
            other = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            told = {"requestId": self.next, "reason": "enough"}
            other.request(
                "POST", "/mcp", self.body("notifications/cancelled", told, None), self.headers("notifications/cancelled", {})
            )
            other.getresponse().read()
            other.close()
        self.close()

    def close(self):
        if self.wire:
            self.wire.close()
        self.wire = None

    def end(self):
        if self.session:
            self.close()
            wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            wire.request("DELETE", "/mcp", headers={"Mcp-Session-Id": self.session})
            wire.getresponse().read()
            wire.close()
        self.close()


def inner(kind, text):
    return {"name": "call_tool", "arguments": {"name": f"{kind}__echo", "arguments": {"text": text}}}


def said(answer):
    result = (answer or {}).get("result") or {}
    return "".join(item.get("text", "") for item in result.get("content", []))


class Gateway:
    def __init__(self, toolcrib, home):
        config = os.path.join(home, "servers.toml")
        with open(config, "w", encoding="utf-8") as file:
            for kind in KINDS:
                args = json.dumps([FAULTY, kind, home])
                file.write(
                    f"[mcp.servers.{kind}]\ncommand = {json.dumps(sys.executable)}\nargs = {args}\n"
                    'start_timeout = "5s"\ncall_timeout = "10s"\n'
                )
        argv = [toolcrib, "serve", "--config", config, "--http", "127.0.0.1:0"]
        env = {"PATH": os.environ["PATH"], "HOME": home, "TOOLCRIB_LOG": "toolcrib=debug"}
        self.log = open(os.path.join(home, "log"), "wb")
        self.child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=self.log, env=env, cwd=home)
        self.home = home
        for _ in range(600):
            found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", self.said())
            if found:
                break
            time.sleep(0.05)
        self.port = int(found.group(1))

    def said(self):
        with open(os.path.join(self.home, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def warm(self):
        """One call of each kind, by a client of each revision."""
        for modern in (False, True):
            client = Client(self.port, modern)
            for kind in KINDS:
                for _ in range(100):
                    if said(client.request("tools/call", inner(kind, kind))) == kind or kind in ("hang", "mute", "huge"):
                        break
                    time.sleep(0.1)
                else:
                    raise RuntimeError(f"{kind} never answered: {self.said()[-2000:]}")
            client.end()

    def counts(self):
        proc = f"/proc/{self.child.pid}"
        with open(f"{proc}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        return {
            "open files": len(os.listdir(f"{proc}/fd")),
            "threads": int(status["Threads"]),
            "children": len(ours(self.home)) - 1,
            "MB": int(status["VmRSS"].split()[0]) // 1024,
        }

    def end(self):
        """Asks it to end; gives how many tasks it had, and what it left behind."""
        self.child.send_signal(signal.SIGINT)
        status = self.child.wait(60)
        found = re.search(r"tasks=(\d+)", re.sub(r"\x1b\[[0-9;]*m", "", self.said()))
        time.sleep(0.5)
        return status, int(found.group(1)) if found else None, ours(self.home)


def ours(home):
    """Processes with that directory in their command line or as their parent's."""
    tree = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                after = file.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if after[0] != "Z":
            tree[int(pid)] = (int(after[1]), line)
    found = {pid for pid, (_, line) in tree.items() if home in line}
    while True:
        more = {pid for pid, (parent, _) in tree.items() if parent in found} - found
        if not more:
            # A forked child whose parent is gone is known by what it runs.
            found |= {pid for pid, (_, line) in tree.items() if line.strip() == "sleep 100000"}
            return {pid: tree[pid][1].strip() for pid in found}
        found |= more


def work(number, port, until, counted, wrong):
    dice = random.Random(number)
    client = Client(port, number % 2 == 1)
    n = 0
    while time.monotonic() < until:
        n += 1
        text = f"client {number} call {n}"
        try:
            if dice.random() < 0.5:
                kind = dice.choice(KINDS[:6] + ["changing", "wrong", "forking"])
                if kind == "huge" and dice.random() < 0.9:
                    continue
                client.give_up("tools/call", inner(kind, text), dice.random() * 0.05)
                counted["taken back"] += 1
            else:
                kind = dice.choice(HONEST)
                answer = client.request("tools/call", inner(kind, text))
                counted["answered"] += 1
                if said(answer) != text:
                    wrong.append(f"{kind}: {json.dumps(answer)[:400]}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            wrong.append(f"client {number}: {error!r}")
            client.close()
    client.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolcrib", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=32)
    # Longer than the limit of a call: what was taken back while its server was about
    # to start runs into it.
    parser.add_argument("--settle", type=float, default=12)
    args = parser.parse_args()
    toolcrib = os.path.abspath(args.toolcrib)
    bad = []
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for home in (one, two):
            os.makedirs(os.path.join(home, ".git"))
        idle = Gateway(toolcrib, one)
        idle.warm()
        time.sleep(3)
        _, before_tasks, left = idle.end()
        if left:
            bad.append(f"left by the idle one: {left}")

        gateway = Gateway(toolcrib, two)
        gateway.warm()
        time.sleep(3)
        before = gateway.counts()
        counted, wrong = collections.Counter(), []
        until = time.monotonic() + args.seconds
        threads = [
            threading.Thread(target=work, args=(n, gateway.port, until, counted, wrong)) for n in range(args.clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(args.settle)
        for _ in range(30):
            time.sleep(1)
            after = gateway.counts()
            # An answer of 50 MB that nobody waits for is still read to its end, so that
            # memory is held to what is left once that is done.
            if after["MB"] <= before["MB"] + 16 and all(
                after[key] <= before[key] for key in ("open files", "threads", "children")
            ):
                break
        last = Client(gateway.port, True)
        for kind in ("good", "wrong", "forking"):
            if said(last.request("tools/call", inner(kind, "last"))) != "last":
                bad.append(f"{kind} does not answer afterwards")
        last.end()
        status, after_tasks, left = gateway.end()
    print(f"{args.clients} clients, {args.seconds:.0f} s: {dict(counted)}")
    print(f"before {before}, tasks {before_tasks}; after {after}, tasks {after_tasks}")
    if counted["answered"] < args.clients or counted["taken back"] < args.clients:
        bad.append("too little was done to say anything")
    bad += wrong[:10]
    for key, slack in {"open files": 4, "threads": 4, "children": 2, "MB": 24}.items():
        if after[key] > before[key] + slack:
            bad.append(f"{key}: {before[key]} before, {after[key]} after")
    if before_tasks is None or after_tasks is None or after_tasks > before_tasks + 8:
        bad.append(f"tasks: {before_tasks} before, {after_tasks} after")
    if left:
        bad.append(f"left behind: {left}")
    for line in bad:
        print(f"BAD {line}")
    print(f"faults: {len(wrong)} wrong answers, {len(bad)} complaints")
    sys.exit(1 if bad else 0)


main()
