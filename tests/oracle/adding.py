"""A partition with one sample more: the index for every cluster that the sample could be in.

By definition: the sample is appended to the (scaled) data, its label to the labels, and the index
is computed in batch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .indices import same

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
#: An index: data and labels to its value.
Value = Callable[[Array, Labels], float]


def values_with_sample(index: Value, X: Array, labels: Labels, x: Array) -> Array:
    """index(X and x, labels and i) for every cluster i."""
    enlarged = np.vstack([X, x])
    return np.array([index(enlarged, np.append(labels, i)) for i in range(labels.max() + 1)])


def moving_values(index: Value, X: Array, labels: Labels, s: int) -> Array:
    """index(X, labels but with sample s in i) for every cluster i (rule 4)."""
    values = []
    for i in range(labels.max() + 1):
        moved = labels.copy()
        moved[s] = i
        values.append(index(X, moved))
    return np.array(values)


def best_cluster(scores: Array) -> int:
    """The largest score; the lowest number of those that equal it up to rounding."""
    best = scores.max()
    return next(i for i, score in enumerate(scores) if same(score, best))
