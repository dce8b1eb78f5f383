"""Moves a fitted table towards pairs of texts that mean the same, by stochastic descent on a symmetrical cross entropy
within batches, held to where it began; see `tune`."""

import numpy as np

EPS = 1e-9


def unit(x):
    length = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), EPS)
    return x / length, length


def back(gradient, x, length):
    """Through the division by length."""
    return (gradient - x * (gradient * x).sum(1, keepdims=True)) / length


def tune(table, left, right, rate=0.02, heat=0.05, hold=0.02, batch=768, epochs=1, seed=3, teach=None, each=None):
    """`left` and `right` are row shares, a pair a line. `hold` draws touched rows back to the first table. `teach` is
    shares and vectors of texts whose own direction is kept in the same steps."""
    rng = np.random.default_rng(seed)
    # Rows to mean length one, so that one rate suits every table.
    size = np.sqrt((table**2).sum(1).mean())
    table = table / size
    start, square = table.copy(), np.full(len(table), 1e-3, np.float32)
    step = 0
    for _ in range(epochs):
        order = rng.permutation(left.shape[0])
        for begin in range(0, len(order) - batch + 1, batch):
            take = order[begin : begin + batch]
            blocks = [left[take], right[take]]
            if teach is not None:
                lesson = rng.integers(0, teach[0].shape[0], batch)
                blocks.append(teach[0][lesson])
            columns = np.unique(np.concatenate([b.indices for b in blocks]))
            blocks = [b[:, columns] for b in blocks]
            rows = table[columns]
            (u, ul), (v, vl) = unit(blocks[0] @ rows), unit(blocks[1] @ rows)
            logits = (u @ v.T) / heat
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            q = np.exp(logits - logits.max(0, keepdims=True))
            q /= q.sum(0, keepdims=True)
            slope = (p + q) / (2 * batch * heat)
            slope[np.arange(batch), np.arange(batch)] -= 1 / (batch * heat)
            gradient = blocks[0].T @ back(slope @ v, u, ul) + blocks[1].T @ back(slope.T @ u, v, vl)
            if teach is not None:
                w, wl = unit(blocks[2] @ rows)
                gradient += blocks[2].T @ back(-teach[2] * teach[1][lesson] / batch, w, wl)
            gradient += hold / batch * (rows - start[columns])
            square[columns] += (gradient**2).sum(1)
            table[columns] = rows - rate * gradient / np.sqrt(square[columns])[:, None]
            step += 1
            if each is not None:
                each(step, table)
    return table * size
