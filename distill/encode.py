"""Runs the teacher: `python encode.py MODEL.onnx TOKENIZER.json TEXTS.tsv OUT.npy [FIRST LAST]`, or `--rows VOCAB.txt ROWS.txt`
in place of the texts for the rows alone. Vectors are mean-pooled and of unit length."""

import sys
import time

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from words import read_rows


class Teacher:
    def __init__(self, model, tokenizer):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(tokenizer)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(128)

    def encode_ids(self, ids, batch=64):
        """One vector a list of ids; batches hold lists of one length, so that no padding enters."""
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), 384), np.float32)
        start = 0
        while start < len(order):
            length = len(ids[order[start]])
            end = start
            while end < len(order) and end - start < batch and len(ids[order[end]]) == length:
                end += 1
            block = np.array([ids[i] for i in order[start:end]], np.int64)
            hidden = self.session.run(
                None,
                {"input_ids": block, "attention_mask": np.ones_like(block), "token_type_ids": np.zeros_like(block)},
            )[0]
            out[order[start:end]] = hidden.mean(1)
            start = end
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    def encode(self, texts):
        return self.encode_ids([e.ids for e in self.tokenizer.encode_batch(texts)])

    def encode_rows(self, rows, vocabulary):
        place = {v: i for i, v in enumerate(vocabulary)}
        begin, end = place["[CLS]"], place["[SEP]"]
        ids = []
        for row in rows:
            if row in place:
                ids.append([begin, place[row], end])
            else:
                ids.append(self.tokenizer.encode(row).ids)
        return self.encode_ids(ids)


if __name__ == "__main__":
    teacher = Teacher(sys.argv[1], sys.argv[2])
    if sys.argv[3] == "--rows":
        np.save(sys.argv[6], teacher.encode_rows(read_rows(sys.argv[5]), read_rows(sys.argv[4])))
        sys.exit()
    texts = [line.rstrip("\n").split("\t")[1] for line in open(sys.argv[3], encoding="utf8")]
    first, last = (int(a) for a in sys.argv[5:7]) if len(sys.argv) > 5 else (0, len(texts))
    out, began = [], time.time()
    for chunk in range(first, min(last, len(texts)), 4096):
        out.append(teacher.encode(texts[chunk : min(chunk + 4096, last)]).astype(np.float16))
        print(chunk, round(time.time() - began), flush=True)
    np.save(sys.argv[4], np.concatenate(out))
