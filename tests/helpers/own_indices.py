"""Indices of one's own, and each index, built in or not, in batch.

Tests that are content with any index of one's own share the ones here.
"""

from __future__ import annotations

import numpy as np
import pytest

import oracle
from icvi_artmap import custom_index
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import INDICES


@custom_index(better="smaller")
def widest(n, mean, compactness):
    """Mean squared distance in the widest cluster, and a little of the others."""
    most, total = 0.0, 0.0
    for i in range(len(n)):
        most = max(most, compactness[i] / n[i])
        total += compactness[i] / n[i]
    return most + 0.1 * total


@custom_index(better="smaller")
def longest(n, mean, compactness, scatter):
    """Sum of the largest variances of a feature."""
    total = 0.0
    for i in range(len(n)):
        most = 0.0
        for f in range(mean.shape[1]):
            most = max(most, scatter[i, f, f])
        total += most / n[i]
    return total


ALL = [*INDICES.values(), widest, longest]
every_index = pytest.mark.parametrize("index", ALL, ids=[index.name for index in ALL])


def batch(index: Index) -> oracle.adding.Value:
    """The index in batch, in its own sign: the oracle's, or the user's function in plain Python."""
    if index.built_in:
        return oracle.INDICES[index.name.lower()]

    def value(X: np.ndarray, labels: np.ndarray) -> float:
        labels = oracle.indices.compress(labels)
        clusters = [oracle.batch_moments(X[labels == i]) for i in range(labels.max() + 1)]
        if len(clusters) == 1:
            return -index.direction * np.inf
        n = np.array([c.n for c in clusters])
        moments = [
            n,
            np.array([c.mean for c in clusters]),
            np.array([c.compactness for c in clusters]),
            np.array([c.covariance for c in clusters]) * (n - 1)[:, None, None],
        ]
        return index.function(*moments[: 4 if index.needs_scatter else 3])  # type: ignore[attr-defined]

    return value
