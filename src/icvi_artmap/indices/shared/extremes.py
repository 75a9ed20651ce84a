"""The three extreme entries of every row of a symmetric k × k matrix, kept while clusters change.

Three, because a question about the partition without clusters i and j asks for the most extreme
entry of a row that lies in neither column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline


class Extremes(NamedTuple):
    """The largest entries of sign × matrix in every row, the diagonal left out."""

    sign: float
    key: NDArray[np.float64]  #: (k, 3) sign × entry, falling; -inf where there is none
    partner: NDArray[np.int64]  #: (k, 3) its column; -1 where there is none


def empty_extremes(capacity: int, sign: float) -> Extremes:
    return Extremes(sign, np.zeros((capacity, 3)), np.full((capacity, 3), -1, np.int64))


@inline
def renew_row(extremes, matrix, row, k):
    """Find the three extremes of one row."""
    key, partner = extremes.key[row], extremes.partner[row]
    for p in range(3):
        key[p] = -np.inf
        partner[p] = -1
    for column in range(k):
        if column == row:
            continue
        value = extremes.sign * matrix[row, column]
        if partner[2] >= 0 and value <= key[2]:
            continue
        p = 2
        while p > 0 and (partner[p - 1] < 0 or value > key[p - 1]):
            key[p] = key[p - 1]
            partner[p] = partner[p - 1]
            p -= 1
        key[p] = value
        partner[p] = column


@inline
def renew(extremes, matrix, i, j, k):
    """Rows and columns i and j of the matrix have changed."""
    for row in range(k):
        stale = row in (i, j)
        for p in range(3):
            stale = stale or extremes.partner[row, p] in (i, j, -1)
        lowest = extremes.key[row, 2]
        entering = max(extremes.sign * matrix[row, i], extremes.sign * matrix[row, j])
        if stale or entering > lowest:
            renew_row(extremes, matrix, row, k)


@inline
def without(extremes, row, i, j):
    """sign × the most extreme entry of ``row`` outside columns i and j; -inf if there is none."""
    for p in range(3):
        partner = extremes.partner[row, p]
        if partner != i and partner != j:
            return extremes.key[row, p]
    return -np.inf


@inline
def first_two(extremes, row, i):
    """The two most extreme entries of ``row`` outside column i, and the column of the first."""
    key, partner = extremes.key[row], extremes.partner[row]
    p = 0 if partner[0] != i else 1
    q = p + 1 if partner[p + 1] != i else p + 2
    return key[p], key[q] if q < 3 else -np.inf, partner[p]
