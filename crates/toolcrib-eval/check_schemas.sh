#!/bin/sh
# Holds every tool of the collections, rendered for each API, against that API's rules.
# usage: check_schemas.sh DIR   where DIR holds the collections; TOOLCRIB names the command
set -eu
dir=$1
toolcrib=${TOOLCRIB:-cargo run --quiet --package toolcrib-cli --}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for set in toucan_haystack mcp_servers_308 mcp_real; do
    for api in plain open_ai open_ai_strict anthropic gemini local; do
        $toolcrib tools --tools "$dir/$set/tools.jsonl" --render "$api" >"$work/rendered"
        python3 "$here/check_schemas.py" "$api" "$dir/$set/tools.jsonl" "$work/rendered"
    done
done
