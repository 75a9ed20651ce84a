"""Bounds of the scores of all moves of a sample, for an index that adds up something for every row.

Such an index (DB, SIL) is a sum over clusters of a *worth* that the nearest other cluster, by some
measure, decides. A move to i takes away i and the cluster that the sample comes from, and brings
two new ones. Without both, the worth of a row differs from what it is without the source alone
only if i is its nearest. So in one pass over the rows the sums without each i are known, in O(k)
for all i together; new clusters can only lower the worth of a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline

#: Up to so many clusters all moves are tried: bounds would take as long.
FEW = 32
#: Rounding of a bound, as a part of what is added up.
ROUNDING = 1e-9


class Rows(NamedTuple):
    """What the rows are worth while trials of one sample are bounded."""

    kept: NDArray[np.float64]  #: (k,) worth of every row without the source
    gained: NDArray[np.float64]  #: (k,) how much more all other rows are worth without a cluster
    sums: NDArray[np.float64]  #: (2,) sum of ``kept``, and of its absolute values
    own: NDArray[np.float64]  #: (2,) the least worths of the source itself as rows decide them
    owner: NDArray[np.int64]  #: (1,) the row that decides the least
    known: NDArray[np.bool_]  #: (k,) moves whose bound is their score


def empty_rows(capacity: int) -> Rows:
    return Rows(
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(2),
        np.zeros(2),
        np.zeros(1, np.int64),
        np.zeros(capacity, np.bool_),
    )


@inline
def clear(rows, k):
    """Forget all rows."""
    for i in range(k):
        rows.kept[i] = 0.0
        rows.gained[i] = 0.0
    rows.sums[:] = 0.0
    rows.own[:] = np.inf
    rows.owner[0] = -1


@inline
def enter(rows, row, worth, without_partner, partner):
    """A row, its worth, and what it would be without the cluster ``partner``."""
    rows.kept[row] = worth
    rows.sums[0] += worth
    rows.sums[1] += abs(worth)
    if partner >= 0:
        rows.gained[partner] += without_partner - worth


@inline
def enter_own(rows, row, worth):
    """What the source is worth if this row decides it."""
    if worth < rows.own[0]:
        rows.own[1] = rows.own[0]
        rows.own[0] = worth
        rows.owner[0] = row
    elif worth < rows.own[1]:
        rows.own[1] = worth


@inline
def sum_without(rows, i):
    """What all rows but i, and the source, are worth at most when i is taken away."""
    own = rows.own[1] if rows.owner[0] == i else rows.own[0]
    return rows.sums[0] - rows.kept[i] + rows.gained[i] + own


@inline
def bounded(rows, out, src, k):
    """Make the bounds safe against rounding; whether all are finite, so that they can be used."""
    slack = ROUNDING * (1.0 + rows.sums[1] / k)
    finite = True
    for i in range(k):
        if i != src:
            out[i] += slack
            finite = finite and abs(out[i]) < np.inf  # not if it is not a number
    return finite


@inline
def first_to_try(out, src, k, some):
    """The move that promises most; the first one, if there are no bounds."""
    best = 0
    for i in range(k if some else 0):
        if i != src and (best == src or out[i] > out[best]):
            best = i
    return best


@inline
def best_known(rows, out, src, k, some):
    """The best of the present score and those that are known, if there are bounds."""
    best = out[src]
    for i in range(k if some else 0):
        if rows.known[i]:
            best = max(best, out[i])
    return best


@inline
def cannot_win(bound, best):
    """Whether what has this bound is worse than the best by more than rounding.

    Not if the bound is no number, or the best one infinite.
    """
    return bound < best - ROUNDING * max(1.0, abs(best))
