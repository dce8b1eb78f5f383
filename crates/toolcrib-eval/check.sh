#!/bin/sh
# Holds the evaluation against the reference scorer, to four decimals, for every collection, ranker and half.
# usage: check.sh DIR   where DIR holds score.py and the collections; EVAL names the command (default: the example)
set -eu
dir=$1
eval=${EVAL:-cargo run --quiet --package toolcrib-eval --example eval_search --}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checked=0
for queries in "$dir"/*/queries.jsonl; do
    [ -s "$queries" ] || continue
    set=$(dirname "$queries")
    for ranker in toolcrib substring bm25 bm25-stem; do
        for half in "" "--half 0" "--half 1"; do
            $eval --tools "$set/tools.jsonl" --queries "$queries" --ranker "$ranker" $half \
                --run "$work/run" --json >"$work/ours"
            python3 "$dir/score.py" "$set" "$work/run" $half >"$work/theirs"
            python3 - "$work/ours" "$work/theirs" "$set $ranker $half" <<'PYTHON'
import json, sys
ours, theirs = (json.loads(open(path).readline()) for path in sys.argv[1:3])
names = {"queries": "queries", "R@1": "recall@1", "R@3": "recall@3", "R@5": "recall@5", "R@10": "recall@10",
         "Hit@1": "hit@1", "Hit@5": "hit@5", "MRR@10": "mrr@10", "nDCG@5": "ndcg@5"}
for theirs_name, ours_name in names.items():
    if abs(theirs[theirs_name] - ours[ours_name]) > 1e-9:
        sys.exit(f"{sys.argv[3]}: {ours_name} is {ours[ours_name]}, the reference says {theirs[theirs_name]}")
PYTHON
            checked=$((checked + 1))
        done
    done
done
[ "$checked" -gt 0 ] || { echo "no collection in $dir"; exit 1; }
echo "$checked evaluations agree with the reference scorer"

# m17: what the ranking must reach on real definitions with nothing downloaded.
real=$dir/mcp_real
[ -s "$real/negatives.jsonl" ] || exit 0
$eval --tools "$real/tools.jsonl" --queries "$real/queries.jsonl" --negatives "$real/negatives.jsonl" \
    --negatives "$(dirname "$0")/tests/data/negatives_mcp_real.jsonl" --json >"$work/ours"
python3 - "$work/ours" <<'PYTHON'
import json, sys
got = json.loads(open(sys.argv[1]).readline())
for name, least, most in [("recall@5", 0.54, 1), ("refused", 0.35, 1), ("false_refused", 0, 0.05)]:
    if not least <= got[name] <= most:
        sys.exit(f"m17 mcp_real: {name} is {got[name]}, wanted {least} to {most}")
print(f"m17 mcp_real: recall@5 {got['recall@5']}, refused {got['refused']}, wrongly {got['false_refused']}")
PYTHON
