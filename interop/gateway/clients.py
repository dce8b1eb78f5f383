"""Clients from elsewhere list, search and call through the gateway.

    python3 interop/gateway/clients.py --toolcrib target/debug/toolcrib [--venv DIR] [--inspector]

Over the standard streams and over HTTP: the Python SDK's client and fastmcp's, at the
versions of requirements.txt, installed into --venv where it is missing. With
--inspector also the command line of the MCP inspector (npm, pinned below), which needs
Node 22.19 or newer as `node`. Ends with one line, `N passed, N failed`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPLAY = os.path.join(HERE, "replay.py")
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"

SDK = """
import asyncio, json, sys
from {module} import {names}

async def main():
    async with {client} as client:
        tools = await client.list_tools()
        names = [tool.name for tool in getattr(tools, "tools", tools)]
        assert names == ["tool_search", "call_tool"], names
        for _ in range(100):
            found = await client.call_tool("tool_search", {{"query": "say something back"}})
            text = found.content[0].text
            if "echo__echo(" in text:
                break
            await asyncio.sleep(0.1)
        assert "[read-only]" in text, text
        said = await client.call_tool("call_tool", {{"name": "echo__echo", "arguments": {{"text": "hello"}}}})
        assert said.content[0].text == "hello", said
        status = await client.read_resource("toolcrib://status")
        assert "echo: " in getattr(status, "contents", status)[0].text
    print("fine")

asyncio.run(main())
"""

passed = failed = 0


def check(name, argv, env=None):
    global passed, failed
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})})
    fine = ran.returncode == 0
    passed, failed = passed + fine, failed + (not fine)
    print(f"{'ok' if fine else 'FAILED'}: {name}")
    if not fine:
        print(ran.stdout[-2000:], ran.stderr[-3000:])
    return ran.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolcrib", required=True)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument("--venv", default=os.path.join(cache, "toolcrib-interop", "venv"))
    parser.add_argument("--inspector", action="store_true")
    args = parser.parse_args()
    toolcrib = os.path.abspath(args.toolcrib)
    python = os.path.join(os.path.abspath(args.venv), "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", args.venv], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "-r", os.path.join(HERE, "requirements.txt")],
            check=True,
        )
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(os.path.join(home, ".git"))
        os.chdir(home)
        os.environ["HOME"] = home
        config = os.path.join(home, "servers.json")
        entry = {"command": sys.executable, "args": [REPLAY, "echo"]}
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"mcpServers": {"echo": entry}}, file)
        serve = ["serve", "--config", config]
        http = subprocess.Popen([toolcrib, *serve, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        try:
            url = re.search(r"http://\S+", http.stderr.readline()).group(0)
            pipes = f"command={toolcrib!r}, args={serve!r}"
            sdk = "mcp"
            programs = {
                "Python SDK over pipes": (
                    sdk, "Client, StdioServerParameters", f"Client(StdioServerParameters({pipes}))",
                ),
                "Python SDK over HTTP": (sdk, "Client", f"Client({url!r})"),
                "fastmcp over pipes": (
                    "fastmcp", "Client",
                    f"Client({{'mcpServers': {{'gate': {{'command': {toolcrib!r}, 'args': {serve!r}}}}}}})",
                ),
                "fastmcp over HTTP": ("fastmcp", "Client", f"Client({url!r})"),
            }
            for name, (module, names, client) in programs.items():
                check(name, [python, "-c", SDK.format(module=module, names=names, client=client)])
            if args.inspector:
                npx = ["npx", "-y", INSPECTOR, "--cli"]
                for name, target in {"pipes": [toolcrib, *serve], "HTTP": [url, "--transport", "http"]}.items():
                    listed = check(f"inspector over {name}: list", [*npx, *target, "--method", "tools/list"])
                    assert "tool_search" in listed, listed
                    said = check(
                        f"inspector over {name}: call",
                        [*npx, *target, "--method", "tools/call", "--tool-name", "call_tool",
                         "--tool-arg", "name=echo__echo", "--tool-arg", 'arguments={"text":"hello"}'],
                    )
                    assert "hello" in said, said
        finally:
            http.terminate()
            http.wait(20)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
