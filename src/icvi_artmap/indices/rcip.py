"""Representative cross information potential ↓: ln of the sum over pairs i < j of ∫ p_i p_j.

p_i is a Gaussian per cluster. Every covariance is the unbiased one plus δI, δ = 10^(-12/d), as in
NI; a singleton's is δI. The potential itself is below the smallest number that can be stored where
clusters are far apart, so the index is its logarithm: that has the same order. E. Gokcay, J. C.
Principe, "Information theoretic clustering", IEEE TPAMI 24, 2002; D. Araujo, A. D. Neto, A.
Martins, "Representative cross information potential clustering", Pattern Recognition Letters 34,
2013; L. E. Brito da Silva, N. M. Melton, D. C. Wunsch II, "Incremental cluster validity indices for
online learning of hard partitions", IEEE Access 8, 2020.
"""

from __future__ import annotations

import math

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import gaussians
from icvi_artmap.samples.moments import Moments

#: A sum of potentials below this, relative to the largest one, may have lost some of them.
FAINT = 1e-200


class RCIPState(gaussians.GaussiansState):
    """State of rCIP; ``cached`` has the potentials of all pairs, relative to the largest one."""


def make_state(moments: Moments, total: Moments) -> RCIPState:
    return RCIPState(*gaussians.make_fields(moments, total))


@inline
def _renew_potentials(state):
    k, least = state.moments.size[0], np.inf
    if not state.changed[0]:
        return
    for a in range(k):
        for b in range(a + 1, k):
            least = min(least, state.term[a, b])
    for a in range(k):
        for b in range(a + 1, k):
            state.cached[a, b] = math.exp(least - state.term[a, b])
    state.reference[0] = least
    state.changed[0] = False


@inline
def _least_new(state, i, j, n_new, pair):
    """The least cross-entropy that a new cluster has."""
    least = pair if n_new > 1 else np.inf
    for a in range(state.moments.size[0]):
        if a != i and a != j:
            if n_new > 0:
                least = min(least, state.first[a])
            if n_new > 1:
                least = min(least, state.second[a])
    return least


@inline
def _new_potentials(state, i, j, n_new, pair, reference):
    total = math.exp(reference - pair) if n_new > 1 else 0.0
    for a in range(state.moments.size[0]):
        if a != i and a != j:
            if n_new > 0:
                total += math.exp(reference - state.first[a])
            if n_new > 1:
                total += math.exp(reference - state.second[a])
    return total


@inline
def _faint(state, i, j, n_new, pair, least):
    """The score where all that is left is far below what was the largest potential."""
    k, total = state.moments.size[0], 0.0
    for a in range(k):
        for b in range(a + 1, k):
            if a != i and a != j and b != i and b != j:
                least = min(least, state.term[a, b])
    for a in range(k):
        for b in range(a + 1, k):
            if a != i and a != j and b != i and b != j:
                total += math.exp(least - state.term[a, b])
    return least - math.log(total + _new_potentials(state, i, j, n_new, pair, least))


@inline
def combine(state, i, j, n_new, pair):
    """-ln of the sum."""
    _renew_potentials(state)
    kept = gaussians.kept_sum(state.cached, i, j, state.moments.size[0])
    least = _least_new(state, i, j, n_new, pair)
    reference = min(least, state.reference[0])
    total = kept * math.exp(reference - state.reference[0])
    total += _new_potentials(state, i, j, n_new, pair, reference)
    if total < FAINT:
        return _faint(state, i, j, n_new, pair, least)
    return reference - math.log(total)


gaussians.implement_gaussians(RCIPState, combine)

INDEX = Index(
    "rCIP",
    -1,
    needs_scatter=True,
    make_state=make_state,
    purpose="how much Gaussian clusters overlap, the worst pairs above all",
    prediction="category",
)
