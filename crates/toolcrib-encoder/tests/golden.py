"""Writes what the reference says: `python golden.py MODEL > it/golden.json`, MODEL being the directory of all-MiniLM-L6-v2.

Two parts. The reference tokeniser cuts the strings that the embedding table's tokeniser is tested with, over the pieces
which they need of the model's vocabulary. And the model's vectors of a few texts, by the published equations in double
precision, one text at a time: slow, and written apart from the crate. Needs numpy, scipy, safetensors and tokenizers.
"""

import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "distill"))
from golden import ALPHABETS, REPEATED, WRITTEN  # noqa: E402

TEXTS = [
    "close the stale PR",
    "update pull request: Update an existing pull request in a GitHub repository.",
    "What's the weather in Zürich tomorrow, and will it rain?",
    "",
    "x",
    "获取 GitHub 仓库 list",
    "fetch the page and summarise it; " * 40,
    "get_weather(city: str, units: 'metric' | 'imperial') -> JSON",
]


class Model:
    def __init__(self, directory):
        config = json.load(open(directory / "config.json"))
        weights = load_file(directory / "model.safetensors")
        self.w = {name: array.astype(np.float64) for name, array in weights.items() if array.dtype == np.float32}
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon)
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def encode(self, ids):
        w = self.w
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for number in range(self.layers):
            at = f"encoder.layer.{number}."
            q, k, v = (self.linear(x, at + "attention.self." + part) for part in ("query", "key", "value"))
            contexts = []
            for q, k, v in zip(*(np.split(part, self.heads, 1) for part in (q, k, v))):
                scores = np.exp(q @ k.T / np.sqrt(q.shape[1]))
                contexts.append(scores / scores.sum(1, keepdims=True) @ v)
            x = self.norm(x + self.linear(np.hstack(contexts), at + "attention.output.dense"), at + "attention.output.LayerNorm")
            wide = self.linear(x, at + "intermediate.dense")
            wide = wide * 0.5 * (1 + erf(wide / np.sqrt(2)))
            x = self.norm(x + self.linear(wide, at + "output.dense"), at + "output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def main():
    directory = pathlib.Path(sys.argv[1])
    full = Tokenizer.from_file(str(directory / "tokenizer.json"))
    full.no_padding()
    full.no_truncation()
    full.encode_special_tokens = True
    vocabulary = [piece for piece, _ in sorted(full.get_vocab().items(), key=lambda item: item[1])]

    import random

    rng = random.Random(12)
    texts = list(WRITTEN) + ["a [SEP] b [CLS][MASK] [UNK]", "##ing ## # [PAD]", "snake_case__x _ y"]
    while len(texts) < 170:
        letters = "".join(rng.sample(ALPHABETS, rng.choice((1, 1, 2, 3))))
        texts.append("".join(rng.choice(letters) for _ in range(rng.randint(1, 60))))
    units = [(text, 1) for text in texts] + REPEATED

    used = {"[UNK]", "[CLS]", "[SEP]"}
    for unit, many in units:
        used.update(full.encode(unit * many).tokens)
    pieces = [piece for at, piece in enumerate(vocabulary) if piece in used or at % 97 == 0]
    part = Tokenizer.from_str(full.to_str())
    part.model = WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]", max_input_chars_per_word=100)
    part.encode_special_tokens = True
    cases = []
    for unit, many in units:
        ids = part.encode(unit * many, add_special_tokens=False).ids
        cases.append(json.dumps({"text": unit, "times": many, "count": len(ids), "ids": ids[:60], "last": ids[-3:]}))

    model = Model(directory)
    vectors = []
    for text in TEXTS:
        ids = full.encode(text).ids
        if len(ids) > 128:
            ids = ids[:127] + ids[-1:]
        vector = [round(float(value), 5) for value in model.encode(ids)]
        vectors.append(json.dumps({"text": text, "ids": ids, "vector": vector}))
    print(
        '{"pieces": ' + json.dumps(pieces) + ',\n"cases": [\n' + ",\n".join(cases) + '\n],\n"vectors": [\n' + ",\n".join(vectors) + "\n]}"
    )


if __name__ == "__main__":
    main()
