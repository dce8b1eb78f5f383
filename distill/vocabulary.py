"""Chooses the table's rows: `python vocabulary.py VOCAB.txt TEXTS.tsv ROWS.txt [N]`.

The encoder's word pieces, less those no English tool text can use (placeholders, other scripts, punctuation) and the
rarest names the texts never contain, plus the words of the tool domain the encoder only knows in pieces.
"""

import collections
import math
import re
import sys

from words import HUMP, read_rows

RUN = re.compile(r"[A-Za-z0-9]+")


def choose(vocabulary, texts, total):
    per_source, known = collections.defaultdict(collections.Counter), set(vocabulary)
    for line in open(texts, encoding="utf8"):
        source, text = line.rstrip("\n").split("\t")
        if source.startswith("tools/") and source not in ("tools/toucan_haystack", "tools/mcp_servers_308"):
            continue
        for run in set(RUN.findall(text)):
            if run[1:] == run[1:].lower() or run == run.upper() or run[:-1] == run[:-1].upper() and run[-1] == "s":
                per_source[source][run.lower()] += 1
    seen, score = collections.Counter(), collections.Counter()
    for counts in per_source.values():
        for word, count in counts.items():
            seen[word] += count
            score[word] += math.log1p(count)
    plain = [v for v in vocabulary if re.fullmatch(r"(##)?[a-z0-9]+", v)]
    place = {v: i for i, v in enumerate(plain)}
    idle = [v for v in plain if not v.startswith("##") and len(v) > 2 and v.isalpha() and seen[v] == 0]
    dropped = set(sorted(idle, key=lambda v: -place[v])[:1500])
    kept = [v for v in plain if v not in dropped]
    fresh = [
        w for w, _ in sorted(score.items(), key=lambda p: (-p[1], p[0]))
        if w not in known and 2 < len(w) <= 18 or (len(w) == 2 and seen[w] > 40 and w not in known)
        if seen[w] >= 8 and not w.isdigit()
    ]
    return kept + fresh[: total - len(kept)]


if __name__ == "__main__":
    rows = choose(read_rows(sys.argv[1]), sys.argv[2], int(sys.argv[4]) if len(sys.argv) > 4 else 29800)
    with open(sys.argv[3], "w", encoding="utf8") as file:
        file.writelines(f"{row}\n" for row in rows)
