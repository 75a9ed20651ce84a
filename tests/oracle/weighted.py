"""The indices of samples with weights, in batch: every sum over samples is a weighted one.

A cluster whose samples weigh less than half a sample altogether is left out. The ridge of NI and
what counts as a single sample are as without weights: a cluster of weight 1 or less has no
covariance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FADED = 0.5


def forgetting_weights(n: int, forgetting: float) -> Array:
    """w_s = forgetting^(samples added after s)."""
    return forgetting ** np.arange(n - 1, -1, -1, dtype=float)


class Weighted:
    """W_i, mu_i, CP_i and S_i of the clusters that have not faded, and of all their samples."""

    def __init__(self, X: Array, labels: NDArray, w: Array) -> None:
        kept = [i for i in np.unique(labels) if w[labels == i].sum() >= FADED]
        groups = [(X[labels == i], w[labels == i]) for i in kept]
        inside = np.isin(labels, kept)
        self.k = len(kept)
        self.W = np.array([weights.sum() for _, weights in groups])
        self.mu = np.array([weights @ rows / weights.sum() for rows, weights in groups])
        self.S = [scatter(rows, weights) for rows, weights in groups]
        self.CP = np.array([np.trace(s) for s in self.S])
        self.S_data = scatter(X[inside], w[inside])
        self.N, self.TSS, self.SSW = self.W.sum(), np.trace(self.S_data), self.CP.sum()
        i, j = np.triu_indices(self.k, 1)
        self.pairs = (i, j)
        self.distances = ((self.mu[i] - self.mu[j]) ** 2).sum(axis=1)


def scatter(X: Array, w: Array) -> Array:
    """sum w (x - mu)(x - mu)^T."""
    u = X - w @ X / w.sum()
    return (u * w[:, None]).T @ u


def ch(p: Weighted) -> float:
    return (p.TSS - p.SSW) / p.SSW * (p.N - p.k) / (p.k - 1)


def wb(p: Weighted) -> float:
    return p.k * p.SSW / (p.TSS - p.SSW)


def xb(p: Weighted) -> float:
    return p.SSW / (p.N * p.distances.min())


def db(p: Weighted) -> float:
    i, j = p.pairs
    ratio = np.zeros((p.k, p.k))
    ratio[i, j] = ratio[j, i] = (p.CP[i] / p.W[i] + p.CP[j] / p.W[j]) / p.distances
    return ratio.max(axis=1).sum() / p.k


def pbm(p: Weighted) -> float:
    return (p.TSS / p.SSW * p.distances.max() / p.k) ** 2


def ni(p: Weighted) -> float:
    d = len(p.S_data)
    share = p.W / p.N
    logdet = np.array([log_determinant(s, w, d) for s, w in zip(p.S, p.W, strict=True)])
    return share @ (0.5 * logdet - np.log(share)) - 0.5 * log_determinant(p.S_data, p.N, d)


def log_determinant(s: Array, w: float, d: int) -> float:
    sigma = s / (w - 1.0) if w > 1.0 else np.zeros((d, d))
    return float(np.linalg.slogdet(sigma + 10.0 ** (-12.0 / d) * np.eye(d))[1])


WEIGHTED: dict[str, Callable[[Weighted], float]] = {
    "ch": ch,
    "wb": wb,
    "xb": xb,
    "db": db,
    "pbm": pbm,
    "ni": ni,
}
