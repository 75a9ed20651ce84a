"""The map field: which cluster every category predicts, and how strongly.

A matrix (capacity, k), one row per category slot, columns 0 to k' - 1 in use. The teaching vector y
is given by its cluster, or ALL where it is all ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline

ALL = -1
#: Eq:split_3, by how much a row of equal entries is lowered.
SPLIT_DELTA = 1e-6
#: Rows that are changed together: with 1,000 columns, 2 MB.
TOGETHER = 256


@inline
def match(row, k, y):
    """|y ∧ row| / |y|."""
    if y != ALL:
        return min(1.0, row[y])
    total = 0.0
    for i in range(k):
        total += min(1.0, row[i])
    return total / k


@inline
def learn(row, k, y, beta):
    """Move the row towards y ∧ row."""
    for i in range(k):
        target = min(1.0, row[i]) if y == ALL or i == y else min(0.0, row[i])
        row[i] = (1.0 - beta) * row[i] + beta * target


@inline
def predict(row, k):
    """Eq:mf_pred: the first cluster of largest weight."""
    best = 0
    for i in range(1, k):
        if row[i] > row[best]:
            best = i
    return best


def drop_column(weights: NDArray[np.float64], k: int, i: int) -> None:
    """Take column i of k away, in place; the columns behind it move up."""
    weights[:, i : k - 1] = weights[:, i + 1 : k]


def predictions(weights: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Eq:mf_pred for every row: the first of k clusters of largest weight."""
    return weights[:, :k].argmax(axis=1)


def merge_columns(
    weights: NDArray[np.float64], k: int, i: int, j: int, predicted: NDArray[np.int64]
) -> None:
    """Eq:merge_1 and Eq:merge_2, in place: columns i < j become one, the last of k - 1.

    ``predicted``: the cluster of every row, which is renewed. A row that predicts another than i
    and j goes on to do so: the last column has no more than its largest weight.
    """
    for start in range(0, len(weights), TOGETHER):
        used, winner = weights[start : start + TOGETHER, :k], predicted[start : start + TOGETHER]
        own = np.flatnonzero((winner == i) | (winner == j))
        pair = used[:, [i, j]]
        merged = pair.min(axis=1)
        merged[own] = pair[own].max(axis=1)
        used[:, i : j - 1] = used[:, i + 1 : j]
        used[:, j - 1 : k - 2] = used[:, j + 1 :]
        used[:, k - 2] = merged
        winner -= (winner > i).astype(np.int64) + (winner > j)
        winner[own] = predictions(used[own], k - 1)


def split_column(
    weights: NDArray[np.float64], k: int, q: int, predicted: NDArray[np.int64]
) -> None:
    """Eq:split_1 to Eq:concat_s, in place: category q becomes a cluster of its own, column k.

    ``predicted``: the cluster of every row, which is renewed.
    """
    row = weights[q, :k]
    largest, smallest = row.max(), row.min()
    if largest == smallest:
        row -= SPLIT_DELTA
    else:
        row[row.argmax()] = smallest
    weights[:, k] = 0.0
    weights[q, k] = largest
    predicted[q] = weights[q, : k + 1].argmax()


def uncertainty(row: NDArray[np.float64]) -> float:
    """(largest - second) / largest of a map field row; 0 where there is no second."""
    if len(row) < 2 or row.max() == 0.0:
        return 0.0
    second, largest = np.sort(row)[-2:]
    return float((largest - second) / largest)
