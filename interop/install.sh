#!/usr/bin/env bash
# Installs the pinned peers of the interop suite into a cache outside the
# repository: packages of npm.txt, servers of pypi.txt, and the Python clients and
# gateways of gateway/requirements.txt. Quick when they are there already; what was
# installed before is not installed again. Prints nothing when all is well.
# Usage: install.sh [--extended]
# With --extended also the servers of servers-more.txt, which take gigabytes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${TOOLCRIB_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-interop}
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9

lines() { grep -vhE '^(#|$)' "$@"; }
more() { [ "${1:-}" = --extended ] && lines "$here/servers-more.txt" | awk -F'|' '{print $2}' || true; }
mapfile -t npm < <(lines "$here/npm.txt"; more "${1:-}" | sed -n 's/^npm://p')
mapfile -t pypi < <(lines "$here/pypi.txt"; more "${1:-}" | sed -n 's/^pypi://p')
mapfile -t venv < <(lines "$here/gateway/requirements.txt")

touch "$cache/installed"
sed -i '$a\' "$cache/installed" # a last line without an end
missing() {
    local line
    for line in "$@"; do grep -qxF -- "$line" "$cache/installed" || printf '%s\n' "$line"; done
}
done_with() { printf '%s\n' "$@" >>"$cache/installed"; }

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
mapfile -t new < <(missing "${npm[@]}")
if [ "${#new[@]}" -gt 0 ]; then
    quietly npm install --ignore-scripts --no-audit --no-fund --save-exact "${new[@]}"
    done_with "${new[@]}"
fi

uv() {
    [ -x "$cache/uv/bin/uv" ] || { quietly python3 -m venv "$cache/uv"; quietly "$cache/uv/bin/pip" install --quiet uv; }
    quietly "$cache/uv/bin/uv" "$@"
}
# Each Python server in an environment of its own: they want different versions of
# the same libraries.
export UV_TOOL_DIR="$cache/tools" UV_TOOL_BIN_DIR="$cache/bin"
# Whether every program of an installed server is where it was put: caches get tidied.
whole() {
    local receipt=$cache/tools/$1/uv-receipt.toml program
    [ -f "$receipt" ] || return 1
    while read -r program; do [ -x "$program" ] || return 1; done \
        < <(sed -n 's/.*install-path = "\([^"]*\)".*/\1/p' "$receipt")
}
for line in "${pypi[@]}"; do
    read -r package extra <<<"$line"
    [ -z "$(missing "$line")" ] && whole "${package%%=*}" && continue
    # shellcheck disable=SC2086 # the rest of the line is a list of options
    uv tool install --force --quiet $extra "$package"
    done_with "$line"
done

# The clients and other gateways share one.
mapfile -t new < <(missing "${venv[@]}")
if [ "${#new[@]}" -gt 0 ]; then
    [ -x "$cache/venv/bin/python" ] || uv venv --quiet "$cache/venv"
    uv pip install --quiet --python "$cache/venv/bin/python" "${venv[@]}"
    done_with "${new[@]}"
fi
