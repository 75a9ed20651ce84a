"""Davies-Bouldin ↓: mean over i of the largest (CP_i/n_i + CP_j/n_j) / ||mu_i - mu_j||^2.

As printed in Table CVI_summary, with squared distances; scikit-learn's index of that name differs.
D. L. Davies, D. W. Bouldin, "A cluster separation measure", IEEE TPAMI 1, 1979.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index, implement
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.samples.moments import Moments


class DBState(NamedTuple):
    moments: Moments
    centres: cen.Centres
    totals: cen.Totals
    ratio: NDArray[np.float64]  #: (k, k) (CP_i/n_i + CP_j/n_j) / squared distance
    extremes: ext.Extremes  #: of ``ratio``
    first: NDArray[np.float64]  #: (k,) scratch: ratios of a new cluster
    second: NDArray[np.float64]  #: (k,) scratch: ratios of another
    third: NDArray[np.float64]  #: (k,) scratch: distances of another
    scratch: NDArray[np.float64]


def make_state(moments: Moments, total: Moments) -> DBState:
    k, d = moments.mean.shape
    return DBState(
        moments,
        cen.empty_centres(k, d, True),
        cen.totals(total),
        np.zeros((k, k)),
        ext.empty_extremes(k, 1.0),
        np.empty(k),
        np.empty(k),
        np.empty(k),
        np.empty(d),
    )


@inline
def _spread(m, i):
    return m.compactness[i] / m.n[i] if m.n[i] > 0 else 0.0


@inline
def _ratio(spreads, squared, totals):
    """One ratio; infinite (the worst) for centres that coincide."""
    if cen.positive(squared, totals.mean_square) == 0.0:
        return np.inf
    return cen.positive(spreads, totals.mean_square) / squared


@inline
def _update_ratios(state, i):
    m = state.moments
    for j in range(m.size[0]):
        spreads = _spread(m, i) + _spread(m, j)
        state.ratio[i, j] = _ratio(spreads, state.centres.squared[i, j], state.totals)
        state.ratio[j, i] = state.ratio[i, j]


@inline
def update(state, i, j):
    cen.update_centre(state.centres, state.moments, i)
    if j != i:
        cen.update_centre(state.centres, state.moments, j)
        _update_ratios(state, j)
    _update_ratios(state, i)
    ext.renew(state.extremes, state.ratio, i, j, state.moments.size[0])


@inline
def score(state):
    k = state.moments.size[0]
    if k == 1:
        return -np.inf
    total = 0.0
    for i in range(k):
        total += state.extremes.key[i, 0]
    return -total / k


@inline
def _with_one(state, i, j, first):
    """Score with clusters i and j replaced by one that has the ratios ``first``."""
    k = state.moments.size[0]
    if k == 2:
        return -np.inf
    total, own = 0.0, 0.0
    for row in range(k):
        if row != i and row != j:
            total += max(ext.without(state.extremes, row, i, j), first[row])
            own = max(own, first[row])
    return -(total + own) / (k - 1)


@inline
def _with_two(state, i, j, first, second, pair, k_after):
    """Score with clusters i and j replaced by two with these ratios, ``pair`` to each other."""
    total, own_first, own_second = 0.0, pair, pair
    for row in range(state.moments.size[0]):
        if row != i and row != j:
            total += max(ext.without(state.extremes, row, i, j), first[row], second[row])
            own_first = max(own_first, first[row])
            own_second = max(own_second, second[row])
    return -(total + own_first + own_second) / k_after


@inline
def trial_moves(state, s, x, src, out):
    m, squared, totals = state.moments, state.centres.squared, state.totals
    k, n = m.size[0], m.n[src]
    distance = state.centres.to_sample
    cen.squared_distances(state.centres.coordinates, x, k, distance)
    target, source, source_squared = state.first, state.second, state.third
    if n > 1:
        back = -1.0 / (n - 1)  # mu_src moves away from x
        left = max(m.compactness[src] - cen.removal_gain(m, distance, src), 0.0) / (n - 1)
        if n == 2:
            left = 0.0
        for row in range(k):
            source_squared[row] = cen.between(back, squared[src, row], distance[row], distance[src])
            source[row] = _ratio(left + _spread(m, row), source_squared[row], totals)
        to_source = (1.0 - back) * (1.0 - back) * distance[src]
    for i in range(k):
        if i == src:
            continue
        toward = 1.0 / (m.n[i] + 1)
        spread = (m.compactness[i] + m.n[i] * toward * distance[i]) * toward
        for row in range(k):
            to_row = cen.between(toward, squared[i, row], distance[row], distance[i])
            target[row] = _ratio(spread + _spread(m, row), to_row, totals)
        if n == 1:
            out[i] = _with_one(state, i, src, target)
        else:
            pair = cen.between(toward, source_squared[i], to_source, distance[i])
            pair_ratio = _ratio(spread + left, pair, totals)
            out[i] = _with_two(state, i, src, target, source, pair_ratio, k)
    out[src] = score(state)
    return cen.scores_resolution(out, k)


@inline
def trial_merge(state, i, j, least):
    m, squared = state.moments, state.centres.squared
    n = m.n[i] + m.n[j]
    part = m.n[j] / n
    spread = (m.compactness[i] + m.compactness[j] + cen.merge_cost(m, i, j)) / n
    for row in range(m.size[0]):
        to_row = cen.between(part, squared[i, row], squared[j, row], squared[i, j])
        state.first[row] = _ratio(spread + _spread(m, row), to_row, state.totals)
    return _with_one(state, i, j, state.first)


@inline
def trial_split(state, i, parts, p, q):
    m = state.moments
    apart = cen.split_distances(m, state.centres, i, parts, p, state.first, state.second)
    spread_part = _spread(parts, p)
    spread_rest = cen.rest_compactness(m, i, parts, p) / (m.n[i] - parts.n[p])
    for row in range(m.size[0]):
        spread = _spread(m, row)
        state.first[row] = _ratio(spread_part + spread, state.first[row], state.totals)
        state.second[row] = _ratio(spread_rest + spread, state.second[row], state.totals)
    pair = _ratio(spread_part + spread_rest, apart, state.totals)
    return _with_two(state, i, i, state.first, state.second, pair, m.size[0] + 1)


implement(
    DBState,
    update=update,
    score=score,
    trial_moves=trial_moves,
    trial_merge=trial_merge,
    trial_split=trial_split,
)

INDEX = Index(
    "DB",
    -1,
    needs_scatter=False,
    make_state=make_state,
    purpose="every cluster against its worst neighbour",
    prediction="category",
    compared=True,
)
