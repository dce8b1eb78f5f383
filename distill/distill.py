"""Fits the table and writes it: `python distill.py ROWS.txt ROWS.npy TEXTS.tsv TEXTS.npy PAIRS.tsv OUT.bin [--without SOURCE,…]`.

First table: the teacher's vector of every row alone, centred, projected onto the 256 principal directions of the texts,
and weighted by how rare the row is. Fitted table: the ridge regression of the texts' own vectors on their rows,
minimising |A T - Y|^2 + LAMBDA |T - T0|^2 by conjugate gradients, where a line of A holds one text's row shares.
Only a vector's direction matters to a ranking, so each text's line of A is rescaled between rounds to the length that
suits it best. Tuned table: the fitted one moved towards pairs of texts that mean the same (`contrast.py`).
"""

import argparse
import struct

import numpy as np
import scipy.sparse as sparse

from contrast import tune
from words import read_rows, tokenizer

DIMS = 256
# How far the table goes from the fitted one to the one tuned on pairs.
MIX = 0.65


def row_ids(rows, texts, limit=256):
    """Rows of each text, unknown words left out."""
    made, unknown = tokenizer(rows), len(rows)
    return [[i for i in e.ids if i != unknown][:limit] for e in made.encode_batch(texts)]


def shares(ids, rows):
    lengths = np.array([len(i) for i in ids])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.array(i, np.int32) for i in ids])
    data = np.repeat(1.0 / np.maximum(lengths, 1), lengths).astype(np.float32)
    matrix = sparse.csr_matrix((data, indices, indptr), shape=(len(ids), rows))
    matrix.sum_duplicates()
    return matrix


def project(vectors):
    """The mean and the principal directions of the texts' vectors."""
    mean = vectors.mean(0)
    _, directions = np.linalg.eigh(np.cov((vectors - mean).T))
    return mean, directions[:, ::-1][:, :DIMS].astype(np.float32)


def first_table(alone, counts, directions, weight=1e-4):
    """Rows by themselves, weighted by rarity; rows the texts never hold count as the rarest."""
    centred = (alone - alone.mean(0)) @ directions
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    share = np.maximum(counts, 0.5) / counts.sum()
    return centred * (weight / (weight + share))[:, None]


def solve(a, y, prior, ridge, rounds=40):
    """Conjugate gradients, all columns at once, from the prior."""
    a, at = a.tocsr(), a.T.tocsr()
    table = prior.copy()
    residual = at @ (y - a @ table)
    step, power = residual.copy(), (residual**2).sum(0)
    for _ in range(rounds):
        image = at @ (a @ step) + ridge * step
        length = power / np.maximum((step * image).sum(0), 1e-30)
        table += length * step
        residual -= length * image
        before, power = power, (residual**2).sum(0)
        step = residual + (power / np.maximum(before, 1e-30)) * step
        if power.max() < 1e-7:
            break
    return table


def fit(a, y, prior, ridge=0.05, rescales=1, rounds=20):
    guess = a @ prior
    prior = prior * ((guess * y).sum() / (guess**2).sum())
    table = prior
    for turn in range(rescales + 1):
        if turn:
            guess = a @ table
            best = (guess * y).sum(1) / np.maximum((guess**2).sum(1), 1e-9)
            a = sparse.diags(np.clip(best, 0.5, 2.0).astype(np.float32)) @ a
        table = solve(a, y, prior, ridge, rounds)
    return table.astype(np.float32)


def quantise(table):
    """Bytes and 15-bit scales; a component is byte * scale / a constant that no comparison sees."""
    largest = np.abs(table).max(1).astype(np.float64)
    scales = np.clip(np.ceil(largest / largest.max() * 32767), 1, 32767)
    step = largest.max() / 127 / 32767
    codes = np.clip(np.rint(table / (scales[:, None] * step)), -127, 127).astype(np.int8)
    return codes, scales.astype(np.int16)


def write(path, rows, table):
    codes, scales = quantise(table)
    pieces = "".join(f"{row}\n" for row in rows).encode()
    with open(path, "wb") as file:
        file.write(b"TCVEC1\0\0" + struct.pack("<IIII", DIMS, len(rows), len(pieces), 0))
        file.write(scales.astype("<i2").tobytes() + pieces + codes.tobytes())


def load_texts(path, without=()):
    sources, texts = [], []
    for line in open(path, encoding="utf8"):
        source, text = line.rstrip("\n").split("\t")
        sources.append(source)
        texts.append(text)
    keep = np.array([s not in without for s in sources])
    return texts, keep


def load_pairs(path, rows, without=()):
    """Row shares of both sides, the tool collections left out dropped; half of the packages' and words' pairs."""
    lines = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf8")]
    rng = np.random.default_rng(0)
    chance = rng.random(len(lines))
    lines = [
        line for line, c in zip(lines, chance)
        if line[0] not in without and (c < 0.5 or line[0] not in ("pypi", "npm", "wordnet"))
    ]
    left, right = (row_ids(rows, [line[side] for line in lines], 64) for side in (1, 2))
    both = [i for i in range(len(lines)) if left[i] and right[i]]
    return shares([left[i] for i in both], len(rows)), shares([right[i] for i in both], len(rows))


def make(alone, a, vectors, pairs):
    """The first, the fitted and the tuned table, in that order."""
    mean, directions = project(vectors)
    y = (vectors - mean) @ directions
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    counts = np.asarray((a > 0).sum(0)).ravel().astype(float)
    first = first_table(alone, counts, directions)
    fitted = fit(a, y, first)
    tuned = tune(fitted, *pairs, rate=0.15, heat=0.07, hold=0, teach=(a, y, 0.5))
    # Between the two: what the pairs add of tools, without giving up what the teacher knows of the rest.
    return first, fitted, fitted + MIX * (tuned - fitted)


def main():
    parser = argparse.ArgumentParser()
    for name in ("rows", "alone", "texts", "vectors", "pairs", "out"):
        parser.add_argument(name)
    parser.add_argument("--without", default="", help="sources left out, with commas between")
    options = parser.parse_args()
    without = options.without.split(",")
    rows, alone = read_rows(options.rows), np.load(options.alone).astype(np.float32)
    texts, keep = load_texts(options.texts, without)
    a = shares(row_ids(rows, [t for t, k in zip(texts, keep) if k]), len(rows))
    vectors = np.load(options.vectors).astype(np.float32)[keep]
    write(options.out, rows, make(alone, a, vectors, load_pairs(options.pairs, rows, without))[2])


if __name__ == "__main__":
    main()
