"""How a text becomes rows of the table; the crate `toolcrib-vectors` does the same, character for character."""

import re

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

RUN = re.compile(r"[A-Za-z0-9]+")
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?!.s(?![a-z]))")


def read_rows(path):
    with open(path, encoding="utf8") as file:
        return file.read().split("\n")[:-1]


def splitter(whole):
    """Underscores become spaces; a run of ASCII letters and digits is cut at its humps unless its lower-case form
    is one of the `whole` words (GitHub, JavaScript)."""

    def cut(run):
        run = run[0]
        return run if run.lower() in whole else HUMP.sub(" ", run)

    return lambda text: RUN.sub(cut, text.replace("_", " "))


def tokenizer(rows):
    """The reference implementation over the table's own rows; id `len(rows)` is the unknown word."""
    vocabulary = {row: i for i, row in enumerate(rows)}
    vocabulary["[UNK]"] = len(rows)
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made
