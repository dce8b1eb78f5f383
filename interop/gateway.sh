#!/usr/bin/env bash
# The fixture server behind the gateway, under the conformance suite. The fixture
# scores full marks by itself (fixture.sh), so whatever fails here is lost on the
# way. It stands behind HTTP and behind pipes; the suite talks HTTP to the gateway.
# Then clients that others wrote list, search and call through it.
# What real servers answer must come through it unchanged.
# Usage: gateway.sh PATH-OF-TOOLCRIB PATH-OF-THE-FIXTURE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
toolcrib=$(realpath "$1") fixture=$(realpath "$2")
work=$(mktemp -d)
children=()
finish() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# Waits for the address that a server prints once it listens.
address() {
    for _ in $(seq 100); do
        if grep -om1 'http://[^ ]*' "$1"; then return; fi
        sleep 0.1
    done
    printf 'it does not listen:\n' >&2
    cat "$1" >&2
    return 1
}

# Under a name of this run alone, so that one left behind is known for ours.
ln -s "$fixture" "$work/server"
"$fixture" >"$work/fixture" &
children+=($!)
status=0
for way in http stdio; do
    mkdir -p "$work/$way"
    case $way in
    http) entry="\"type\":\"http\",\"url\":\"$(address "$work/fixture")\"" ;;
    stdio) entry="\"command\":\"$work/server\",\"args\":[\"--stdio\"]" ;;
    esac
    printf '{"mcpServers":{"fixture":{%s}}}' "$entry" >"$work/$way/servers.json"
    XDG_CACHE_HOME=$work/$way XDG_STATE_HOME=$work/$way XDG_CONFIG_HOME=$work/$way \
        "$toolcrib" serve --dir "$work/$way" --config "$work/$way/servers.json" \
        --mode transparent --http 127.0.0.1:0 >"$work/$way/said" 2>&1 &
    gateway=$!
    children+=("$gateway")
    "$here/fixture.sh" "$fixture" "$(address "$work/$way/said")" "m15 gateway before $way" || status=1
    # It must end when asked to, and take what it started with it.
    kill -INT "$gateway"
    for _ in $(seq 100); do
        kill -0 "$gateway" 2>/dev/null || break
        sleep 0.1
    done
    if kill -0 "$gateway" 2>/dev/null; then
        printf 'the gateway before %s did not end\n' "$way"
        status=1
    fi
    if grep -qs "$work/serve[r]" /proc/[0-9]*/cmdline; then
        printf 'the gateway left a server behind\n'
        status=1
    fi
done
if said=$(python3 "$here/gateway/clients.py" --toolcrib "$toolcrib"); then
    printf 'clients through the gateway: %s\n' "$(tail -n 1 <<<"$said")"
else
    printf '%s\n' "$said"
    status=1
fi
python3 "$here/gateway/fidelity.py" --toolcrib "$toolcrib" || status=1
exit "$status"
