"""Davies-Bouldin ↓: mean over i of the largest (CP_i/n_i + CP_j/n_j) / ||mu_i - mu_j||^2.

As printed in Table CVI_summary, with squared distances; scikit-learn's index of that name differs.
D. L. Davies, D. W. Bouldin, "A cluster separation measure", IEEE TPAMI 1, 1979.

A trial looks at all clusters, so all trials of a sample are O(k²). Of many clusters only those are
tried that may win, by a bound of their score that takes the time of a few pairs
(:mod:`icvi_artmap.indices.shared.rows`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index, implement
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.indices.shared import rows as rws
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
    rows: rws.Rows  #: scratch: bounds of trials
    changed: NDArray[np.bool_]  #: (1,) whether a cluster has changed since ``cached`` was computed
    cached: NDArray[np.float64]  #: (k + 1,) what ratios can fall by without a cluster, and the sum
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
        rws.empty_rows(k),
        np.ones(1, np.bool_),
        np.zeros(k + 1),
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
    state.changed[0] = True


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
def _bound_moves(state, src, out):
    """out[i]: no less than the score of a move to i; returns whether all are finite.

    Without target and source every row has its largest ratio outside both, or that to the source
    as it is then; the target adds its ratios to the clusters that are its worst neighbours now.
    """
    m, squared, source, rows = state.moments, state.centres.squared, state.second, state.rows
    k, distance = m.size[0], state.centres.to_sample
    rws.clear(rows, k)
    for row in range(k):
        if row != src:
            first, second, partner = ext.first_two(state.extremes, row, src)
            rws.enter(rows, row, -max(first, source[row]), -max(second, source[row]), partner)
            rws.enter_own(rows, row, -source[row])
    for i in range(k):
        if i == src:
            continue
        toward = 1.0 / (m.n[i] + 1)
        spread = (m.compactness[i] + m.n[i] * toward * distance[i]) * toward
        own, lost = 0.0, 0.0
        for p in range(3):
            row = state.extremes.partner[i, p]
            if row >= 0 and row != src:
                to_row = cen.between(toward, squared[i, row], distance[row], distance[i])
                ratio = _ratio(spread + _spread(m, row), to_row, state.totals)
                own = max(own, ratio)
                lost += max(ratio + rows.kept[row], 0.0)
        out[i] = (rws.sum_without(rows, i) - own - lost) / k
    return rws.bounded(rows, out, src, k)


@inline
def trial_moves(state, s, x, src, out):
    m, squared, totals = state.moments, state.centres.squared, state.totals
    k, n = m.size[0], m.n[src]
    distance = state.centres.to_sample
    cen.squared_distances(state.centres.coordinates, x, k, distance)
    target, source, source_squared, left = state.first, state.second, state.third, 0.0
    if n > 1:
        back = -1.0 / (n - 1)  # mu_src moves away from x
        if n > 2:
            left = max(m.compactness[src] - cen.removal_gain(m, distance, src), 0.0) / (n - 1)
        for row in range(k):
            source_squared[row] = cen.between(back, squared[src, row], distance[row], distance[src])
            source[row] = _ratio(left + _spread(m, row), source_squared[row], totals)
        to_source = (1.0 - back) * (1.0 - back) * distance[src]
    out[src] = score(state)
    some = n > 1 and k > rws.FEW and _bound_moves(state, src, out)
    best, i = out[src], rws.first_to_try(out, src, k, some)
    for _ in range(k):
        if i != src and not (some and rws.cannot_win(out[i], best)):
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
            best = max(best, out[i])
        i = i + 1 if i < k - 1 else 0
    return cen.scores_resolution(out, k)


@inline
def _renew_falls(state):
    """By how much the largest ratios of all rows can fall without a cluster, whichever else goes.

    Ratios may be infinite; then a bound is no number, and nothing is below it.
    """
    k, key, partner = state.moments.size[0], state.extremes.key, state.extremes.partner
    if not state.changed[0]:
        return
    total = 0.0
    state.cached[:] = 0.0
    for row in range(k):
        state.cached[partner[row, 0]] += key[row, 0] - key[row, 2]
        state.cached[partner[row, 1]] += key[row, 0] - key[row, 2]
        total += key[row, 0]
    state.cached[k] = total
    state.changed[0] = False


@inline
def _bound_merge(state, i, j, part, spread):
    """As if merging took the two away and brought a cluster that only has their neighbours."""
    _renew_falls(state)
    m, squared, key, own = state.moments, state.centres.squared, state.extremes.key, 0.0
    for c in (i, j):
        for p in range(3):
            row = state.extremes.partner[c, p]
            if row != i and row != j:
                to_row = cen.between(part, squared[i, row], squared[j, row], squared[i, j])
                own = max(own, _ratio(spread + _spread(m, row), to_row, state.totals))
    k = m.size[0]
    total = state.cached[k] - state.cached[i] - state.cached[j] - key[i, 0] - key[j, 0]
    return -(total + own) / (k - 1)


@inline
def trial_merge(state, i, j, least):
    m, squared = state.moments, state.centres.squared
    n, k = m.n[i] + m.n[j], m.size[0]
    part = m.n[j] / n
    spread = (m.compactness[i] + m.compactness[j] + cen.merge_cost(m, i, j)) / n
    if k > rws.FEW and least > -np.inf:
        bound = _bound_merge(state, i, j, part, spread)
        if rws.cannot_win(bound, least):
            return bound
    for row in range(k):
        to_row = cen.between(part, squared[i, row], squared[j, row], squared[i, j])
        state.first[row] = _ratio(spread + _spread(m, row), to_row, state.totals)
    return _with_one(state, i, j, state.first)


@inline
def trial_split(state, i, parts, p, q, least):
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
