"""Centroid-based silhouette ↑: mean over i of (b_i - a_i) / max(a_i, b_i).

a_i is the mean squared distance of a cluster's own samples to its centre, b_i the smallest such
distance of the samples of another cluster to that centre. Both follow from the moments:

    a_i = CP_i / n_i,    b_i = min_{j≠i} (CP_j / n_j + ‖mu_i - mu_j‖²)

Where both are zero, a centre has the silhouette 0. M. Rawashdeh, A. Ralescu, "Center-wise
intra-inter silhouettes", Scalable Uncertainty Management, 2012; L. E. Brito da Silva, N. M. Melton,
D. C. Wunsch II, "Incremental cluster validity indices for online learning of hard partitions",
IEEE Access 8, 2020.
"""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.indices.shared import spreads
from icvi_artmap.samples.moments import Moments


class SILState(spreads.SpreadsState):
    """State of SIL; ``cached`` has bounds of what rows gain without a cluster, and the sum."""


def make_state(moments: Moments, total: Moments) -> SILState:
    return SILState(*spreads.make_fields(moments, total))


@inline
def relate(state, i, j):
    """Mean squared distance of the samples of cluster j to the centre of i."""
    return state.spread[j] + state.centres.squared[i, j]


@inline
def _silhouette(state, own, other):
    larger = max(own, other)
    if cen.positive(larger, state.totals.mean_square) == 0.0:
        return 0.0
    return (other - own) / larger


@inline
def score(state):
    k, total = state.moments.size[0], 0.0
    if k == 1:
        return -np.inf
    for row in range(k):
        total += _silhouette(state, state.spread[row], -state.extremes.key[row, 0])
    return total / k


@inline
def with_one(state, i, j, new):
    k, total, others = state.moments.size[0], 0.0, np.inf
    for row in range(k):
        if row != i and row != j:
            nearest = min(spreads.nearest(state, row, i, j), new.spread + new.squared[row])
            total += _silhouette(state, state.spread[row], nearest)
            others = min(others, state.spread[row] + new.squared[row])
    return (total + _silhouette(state, new.spread, others)) / (k - 1)


@inline
def with_two(state, i, j, a, b, squared, k_after):
    total, others_a, others_b = 0.0, b.spread + squared, a.spread + squared
    for row in range(state.moments.size[0]):
        if row != i and row != j:
            new = min(a.spread + a.squared[row], b.spread + b.squared[row])
            nearest = min(spreads.nearest(state, row, i, j), new)
            total += _silhouette(state, state.spread[row], nearest)
            others_a = min(others_a, state.spread[row] + a.squared[row])
            others_b = min(others_b, state.spread[row] + b.squared[row])
    total += _silhouette(state, a.spread, others_a) + _silhouette(state, b.spread, others_b)
    return total / k_after


@inline
def bound_moves(state, src, rest, out):
    """Every row has its nearest outside target and source, or the source as it is then.

    The target is no better than the clusters nearest to it now allow, and makes these no better.
    """
    k, rows, spread = state.moments.size[0], state.rows, state.spread
    rws.clear(rows, k)
    for row in range(k):
        if row != src:
            to_rest = rest.spread + rest.squared[row]
            first, second, partner = ext.first_two(state.extremes, row, src)
            worth = _silhouette(state, spread[row], min(-first, to_rest))
            without = _silhouette(state, spread[row], min(-second, to_rest))
            rws.enter(rows, row, worth, without, partner)
            own = _silhouette(state, rest.spread, spread[row] + rest.squared[row])
            rws.enter_own(rows, row, own)
    for i in range(k):
        if i != src:
            grown, others, lost = spreads.grown_spread(state, i), np.inf, 0.0
            for p in range(3):
                row = state.extremes.partner[i, p]
                if row >= 0 and row != src:
                    apart = spreads.grown_squared(state, i, row, state.centres.squared[i, row])
                    others = min(others, spread[row] + apart)
                    near = _silhouette(state, spread[row], grown + apart)
                    lost += max(rows.kept[row] - near, 0.0)
            own = _silhouette(state, grown, others) if others < np.inf else 1.0
            out[i] = (rws.sum_without(rows, i) + own - lost) / k
    return rws.bounded(rows, out, src, k)


@inline
def _renew_gains(state):
    """How much more the rows can be worth without a cluster, whichever else is taken away."""
    k, extremes = state.moments.size[0], state.extremes
    if not state.changed[0]:
        return
    total = 0.0
    state.cached[:] = 0.0
    for row in range(k):
        worth = _silhouette(state, state.spread[row], -extremes.key[row, 0])
        third = _silhouette(state, state.spread[row], -extremes.key[row, 2])
        state.cached[extremes.partner[row, 0]] += third - worth
        state.cached[extremes.partner[row, 1]] += third - worth
        total += worth
    state.cached[k] = total
    state.changed[0] = False


@inline
def bound_merge(state, i, j, spread):
    """As if merging took the two away and brought a cluster that only has their neighbours."""
    _renew_gains(state)
    k, others = state.moments.size[0], np.inf
    total = state.cached[k] + state.cached[i] + state.cached[j]
    for c in (i, j):
        total -= _silhouette(state, state.spread[c], -state.extremes.key[c, 0])
        for p in range(3):
            row = state.extremes.partner[c, p]
            if row != i and row != j:
                others = min(others, state.spread[row] + spreads.merged_squared(state, i, j, row))
    return (total + _silhouette(state, spread, others)) / (k - 1)


spreads.implement_spreads(
    SILState,
    relate=relate,
    score=score,
    with_one=with_one,
    with_two=with_two,
    bound_moves=bound_moves,
    bound_merge=bound_merge,
)

INDEX = Index(
    "SIL",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="every centre: its own samples against those of its nearest neighbour",
    prediction="category",
)
