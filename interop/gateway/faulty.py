"""An MCP server on its standard streams that does one thing badly.

    faulty.py KIND

`good` echoes. The others echo too, except: `hang` never answers a call; `junk` floods
standard output, `noisy` standard error; `dying` exits in every third call; `huge`
answers with 50 MB; `changing` changes its tools in the middle of a call; `wrong`
answers with ids that nobody gave; `mute` never answers initialize; `forking` starts a
child that outlives it. Standard library alone.
"""

import json
import os
import subprocess
import sys
import threading

KIND = sys.argv[1]
lock = threading.Lock()
calls = 0


def send(message):
    line = message if isinstance(message, str) else json.dumps(message)
    with lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def tool(name):
    return {
        "name": name,
        "description": f"Says what it is told, as {KIND} does.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": True},
    }


def call(message):
    global calls
    calls += 1
    text = message["params"].get("arguments", {}).get("text", "")
    if KIND == "hang":
        return
    if KIND == "junk":
        for n in range(500):
            send(f"junk {n} " + "x" * 200)
    if KIND == "noisy":
        sys.stderr.write(("x" * 200 + "\n") * 2000)
        sys.stderr.flush()
    if KIND == "dying" and calls % 3 == 0:
        os._exit(7)
    if KIND == "huge":
        text = "b" * 50_000_000
    if KIND == "changing":
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if KIND == "wrong":
        for wrong in (999_999, str(message["id"]), None):
            send({"jsonrpc": "2.0", "id": wrong, "result": {"content": [{"type": "text", "text": "wrong"}]}})
    send({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": text}]}})


def main():
    if KIND == "forking":
        subprocess.Popen(["sleep", "100000"], stdin=subprocess.DEVNULL)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        method, answer = message["method"], {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize" and KIND != "mute":
            answer["result"] = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": KIND, "version": "1"},
            }
            send(answer)
        elif method == "tools/list":
            more = [tool(f"extra{calls}")] if KIND == "changing" else []
            send({**answer, "result": {"tools": [tool("echo"), *more]}})
        elif method == "tools/call":
            call(message)
        elif KIND != "mute":
            send({**answer, "error": {"code": -32601, "message": "Method not found"}})


main()
