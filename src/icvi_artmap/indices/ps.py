"""Partition separation ↑: sum over i of n_i / max n - exp(-min_{j≠i} ‖mu_i - mu_j‖² / β).

β is the mean squared distance of the centres to their mean; since the sizes add up to N, the first
terms are N / max n. Where all centres coincide, every exponential is 1. The version for hard
partitions: M.-S. Yang, K.-L. Wu, "A new validity index for fuzzy clustering", FUZZ-IEEE, 2001; E.
Lughofer, "Extensions of vector quantization for incremental clustering", Pattern Recognition 41,
2008.

β follows from the distances of all pairs, Σ_{i<j} ‖mu_i - mu_j‖² / k²; the sums over the rows are
kept, so that a trial adds what is new and takes away what is gone.
"""

from __future__ import annotations

import math

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import spreads
from icvi_artmap.samples.moments import Moments


class PSState(spreads.SpreadsState):
    """State of PS; ``cached`` has the sums of squared distances over rows, and over all pairs."""


def make_state(moments: Moments, total: Moments) -> PSState:
    return PSState(*spreads.make_fields(moments, total))


@inline
def relate(state, i, j):
    return state.centres.squared[i, j]


@inline
def _renew_sums(state):
    """Sums over rows and pairs; they are not updated, which would lose digits."""
    k, squared = state.moments.size[0], state.centres.squared
    if not state.changed[0]:
        return
    total = 0.0
    for row in range(k):
        state.cached[row] = 0.0
        for column in range(k):
            state.cached[row] += squared[row, column]
        total += state.cached[row]
    state.cached[k] = 0.5 * total
    state.changed[0] = False


@inline
def _kept_sum(state, i, j):
    """Sum of squared distances over the pairs without clusters i and j."""
    _renew_sums(state)
    k, sums, squared = state.moments.size[0], state.cached, state.centres.squared
    both = sums[i] if i == j else sums[i] + sums[j] - squared[i, j]
    return max(sums[k] - both, 0.0)


@inline
def _scale(state, pairs, k):
    """β of k centres; 0 if they coincide."""
    return cen.positive(pairs / (k * k), state.totals.mean_square)


@inline
def _nearness(state, squared, beta):
    if beta == 0.0:
        return 1.0
    return math.exp(-cen.positive(squared, state.totals.mean_square) / beta)


@inline
def _most(state, i, j):
    """The size of the largest cluster other than i and j."""
    most = 0
    for row in range(state.moments.size[0]):
        if row != i and row != j:
            most = max(most, state.moments.n[row])
    return float(most)


@inline
def score(state):
    k, total = state.moments.size[0], 0.0
    if k == 1:
        return -np.inf
    _renew_sums(state)
    beta = _scale(state, state.cached[k], k)
    for row in range(k):
        total += _nearness(state, -state.extremes.key[row, 0], beta)
    return state.totals.n / _most(state, spreads.NOBODY, spreads.NOBODY) - total


@inline
def with_one(state, i, j, new):
    k, pairs, own = state.moments.size[0], _kept_sum(state, i, j), np.inf
    for row in range(k):
        if row != i and row != j:
            pairs += new.squared[row]
            own = min(own, new.squared[row])
    beta = _scale(state, pairs, k - 1)
    total = _nearness(state, own, beta)
    for row in range(k):
        if row != i and row != j:
            nearest = min(spreads.nearest(state, row, i, j), new.squared[row])
            total += _nearness(state, nearest, beta)
    return state.totals.n / max(_most(state, i, j), new.n) - total


@inline
def with_two(state, i, j, a, b, squared, k_after):
    k, pairs = state.moments.size[0], _kept_sum(state, i, j) + squared
    own_a, own_b = squared, squared
    for row in range(k):
        if row != i and row != j:
            pairs += a.squared[row] + b.squared[row]
            own_a = min(own_a, a.squared[row])
            own_b = min(own_b, b.squared[row])
    beta = _scale(state, pairs, k_after)
    total = _nearness(state, own_a, beta) + _nearness(state, own_b, beta)
    for row in range(k):
        if row != i and row != j:
            nearest = min(spreads.nearest(state, row, i, j), a.squared[row], b.squared[row])
            total += _nearness(state, nearest, beta)
    return state.totals.n / max(_most(state, i, j), a.n, b.n) - total


spreads.implement_spreads(PSState, relate=relate, score=score, with_one=with_one, with_two=with_two)

INDEX = Index(
    "PS",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="clusters of equal size whose centres are apart",
    prediction="category",
)
