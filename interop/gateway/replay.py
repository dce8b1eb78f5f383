"""An MCP server on its standard streams, for measuring what stands before it.

`replay.py echo` has one tool that says what it is told. `replay.py TOOLS SERVER` lists
the tools of one server out of a file of JSON Lines (name, server, tool, description,
parameters) and runs none of them. Standard library alone: the time it takes itself is
small and the same for whoever calls.
"""

import json
import sys

ECHO = {
    "name": "echo",
    "description": "Says what it is told.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
    "annotations": {"readOnlyHint": True},
}


def tools(path, server):
    listed = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry.get("server") == server:
                tool = {
                    "name": entry.get("tool", entry["name"]),
                    "description": entry["description"],
                    "inputSchema": entry.get("parameters") or {"type": "object"},
                }
                for key in ("title", "annotations"):
                    if entry.get(key):
                        tool[key] = entry[key]
                listed.append(tool)
    return listed


def main():
    listed = [ECHO] if sys.argv[1] == "echo" else tools(sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        method = message["method"]
        if method == "initialize":
            answer["result"] = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": sys.argv[-1], "version": "1"},
            }
        elif method == "tools/list":
            answer["result"] = {"tools": listed}
        elif method == "tools/call":
            text = message["params"].get("arguments", {}).get("text", "")
            answer["result"] = {"content": [{"type": "text", "text": text}]}
        elif method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main()
