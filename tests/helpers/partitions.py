"""Data of several kinds, partitions of them, and rows to add to them."""

from __future__ import annotations

import numpy as np

from icvi_artmap.samples.scaling import learn_scaling

#: What :func:`make_data` can make.
KINDS = ("normal", "blobs", "integers", "duplicates", "constant column", "offset")


def make_data(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "blobs":
        X += 10.0 * rng.normal(size=(3, d))[rng.integers(0, 3, n)]
    elif kind == "integers":
        X = rng.integers(0, 3, size=(n, d)).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(2, n // 3), n)]
    elif kind == "constant column":
        X[:, rng.integers(d)] = 7.3
    elif kind == "offset":
        X += 1e6
    return X


def labelled(kind: str, n: int, d: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Data and a partition that has to do with them, but not too much."""
    rng = np.random.default_rng(seed)
    X = make_data(kind, n, d, seed)
    centres = X[rng.choice(n, k, replace=False)]
    distance = ((X[:, None] - centres) ** 2).sum(axis=2)
    labels = np.where(rng.random(n) < 0.8, distance.argmin(axis=1), rng.integers(0, k, n))
    return X, np.unique(labels, return_inverse=True)[1].astype(np.int64)


def new_rows(X: np.ndarray, seed: int) -> np.ndarray:
    """Training rows, rows near them, rows far away, and the mean."""
    rng = np.random.default_rng(seed + 1)
    deviation = learn_scaling(X).deviation
    picked = X[rng.integers(0, len(X), 18)]
    near = picked[:8] + 0.3 * deviation * rng.normal(size=(8, X.shape[1]))
    far = X.mean(axis=0) + 20.0 * deviation * rng.normal(size=(8, X.shape[1]))
    return np.vstack([picked[8:], near, far, X.mean(axis=0)])
