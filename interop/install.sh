#!/usr/bin/env bash
# Installs the pinned peers of the interop suite into a cache outside the
# repository. Quick when they are there already. Prints nothing when all is well.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${TOOLCRIB_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-interop}
mkdir -p "$cache"

# The pins decide whether there is anything to do.
want=$(cat "$here/npm.txt" "$here/pypi.txt")
if [ -f "$cache/installed" ] && [ "$(cat "$cache/installed")" = "$want" ]; then
    exit 0
fi
rm -f "$cache/installed"

packages() { grep -vE '^(#|$)' "$here/$1" | awk '{print $1}'; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        printf 'failed: %s\n' "$*" >&2
        exit 1
    fi
}

# No script of a package is run: nothing here needs one.
cd "$cache"
[ -f package.json ] || printf '{"private":true}\n' >package.json
mapfile -t npm < <(packages npm.txt)
quietly npm install --ignore-scripts --no-audit --no-fund --save-exact "${npm[@]}"

# Each Python server in an environment of its own: they want different versions of
# the same libraries.
[ -x "$cache/uv/bin/uv" ] || { quietly python3 -m venv "$cache/uv"; quietly "$cache/uv/bin/pip" install --quiet uv; }
export UV_TOOL_DIR="$cache/tools" UV_TOOL_BIN_DIR="$cache/bin"
while read -r package extra; do
    # shellcheck disable=SC2086 # the rest of the line is a list of options
    quietly "$cache/uv/bin/uv" tool install --force --quiet $extra "$package"
done < <(grep -vE '^(#|$)' "$here/pypi.txt")

printf '%s' "$want" >"$cache/installed"
