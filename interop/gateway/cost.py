"""What the gateway saves of a prompt, as the table of docs/gateway.md.

    python3 interop/gateway/cost.py --toolcrib target/release/toolcrib --tools tools.jsonl

Real definitions (JSON Lines with `server`) are counted by `toolcrib tools --cost`:
those of each set of servers, and the list that the gateway before the same servers
answers a client's first `tools/list` with.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

REPLAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "replay.py")
SETS = {
    "git + filesystem": ["git", "filesystem"],
    "GitHub + Playwright + Notion + Slack + Sentry": ["github", "playwright", "notion", "slack", "sentry"],
    "Atlassian + Linear + Google Workspace": ["atlassian", "linear", "google-workspace"],
    "Microsoft 365 alone": ["ms365"],
}


def first_list(toolcrib, home, config):
    argv = [toolcrib, "serve", "--dir", home, "--config", config]
    env = {"PATH": os.environ["PATH"], "HOME": home}
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)

    def request(identity, method, params):
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        child.stdin.write((json.dumps(message) + "\n").encode())
        child.stdin.flush()
        for line in child.stdout:
            answer = json.loads(line)
            if answer.get("id") == identity:
                return answer["result"]

    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "cost", "version": "1"}}
    request(1, "initialize", hello)
    while ", 0 tools" in request(2, "resources/read", {"uri": "toolcrib://status"})["contents"][0]["text"]:
        time.sleep(0.5)
    listed = request(3, "tools/list", {})
    child.stdin.close()
    child.wait(60)
    return listed


def cost(toolcrib, path):
    said = subprocess.run([toolcrib, "tools", "--cost", "--tools", path], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+) tools of \d+ sources, (\d+) tokens", said)
    return int(found.group(1)), int(found.group(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toolcrib", required=True)
    parser.add_argument("--tools", required=True)
    args = parser.parse_args()
    toolcrib, tools = os.path.abspath(args.toolcrib), os.path.abspath(args.tools)
    with open(tools, encoding="utf-8") as file:
        lines = file.read().splitlines()
    owners = [json.loads(line)["server"] for line in lines]
    SETS[f"{len(set(owners))} servers"] = sorted(set(owners))
    print("| servers | tools | before | after |")
    print("|---|---|---|---|")
    for name, servers in SETS.items():
        with tempfile.TemporaryDirectory() as home:
            os.makedirs(os.path.join(home, ".git"))
            some = os.path.join(home, "tools.jsonl")
            with open(some, "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line, owner in zip(lines, owners) if owner in servers)
            config = os.path.join(home, "servers.json")
            entries = {server: {"command": sys.executable, "args": [REPLAY, some, server]} for server in servers}
            with open(config, "w", encoding="utf-8") as file:
                json.dump({"mcpServers": entries}, file)
            listed = os.path.join(home, "listed.json")
            with open(listed, "w", encoding="utf-8") as file:
                json.dump(first_list(toolcrib, home, config), file)
            count, before = cost(toolcrib, some)
            print(f"| {name} | {count:,} | {before:,} | {cost(toolcrib, listed)[1]:,} |", flush=True)


main()
