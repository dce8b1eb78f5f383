#!/usr/bin/env bash
# Our client with real servers: each must connect, list as many tools as it is
# known to have, and answer one harmless call.
# Usage: servers.sh PATH-OF-TOOLCRIB [--extended]
# With --extended those of servers-more.txt too, all behind one gateway; that takes
# minutes and gigabytes, and is not part of .ci/run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
toolcrib=$(realpath "$1")
cache=${TOOLCRIB_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-interop}
"$here/install.sh" ${2:+"$2"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git init -q "$work/repo"
git -C "$work/repo" -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m 'First'
printf 'hello\n' >"$work/hello.txt"
export XDG_CACHE_HOME=$work/cache XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
if [ "${2:-}" = --extended ]; then
    python3 "$here/extended.py" "$toolcrib" "$cache" "$work"
    exit
fi
config=$work/servers.json
sed -e "s|@CACHE@|$cache|g" -e "s|@WORK@|$work|g" "$here/servers.json" >"$config"

# name, tools it has, a harmless call, what its answer holds
servers=$(sed -e "s|@WORK@|$work|g" "$here/calls.txt" | grep -vE '^(#|$)')
status=0 checked=0
"$toolcrib" mcp --config "$config" check --json >"$work/check.json" || true
while IFS='|' read -r name tools tool arguments holds; do
    checked=$((checked + 1))
    found=$(python3 -c '
import json, sys
for server in json.load(open(sys.argv[1])):
    if server["name"] == sys.argv[2]:
        print(server["tools"] if server["ok"] else "failed: " + server["error"].splitlines()[0], server["protocol"])
' "$work/check.json" "$name")
    said=$("$toolcrib" mcp --config "$config" call "$name/$tool" "$arguments" 2>&1 </dev/null) || said="FAILED: $said"
    if [ "${found% *}" = "$tools" ] && [[ $said == *"$holds"* ]]; then
        printf '  ok  %-20s %3s tools, protocol %s, %s\n' "$name" "$tools" "${found##* }" "$tool"
    else
        printf '  BAD %-20s listed %s, wanted %s; %s said: %.300s\n' "$name" "$found" "$tools" "$tool" "$said"
        status=1
    fi
done <<<"$servers"
printf 'm01 real servers: %d checked\n' "$checked"
exit "$status"
