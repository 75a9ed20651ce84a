"""What XB and PBM share: functions of SSW, k and one extreme squared distance of two centres.

Every change to a partition takes away clusters i and j and brings one or two new ones. The
distances of a new centre to the others follow from cached ones by polarisation: no O(d) work per
pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import dispatched, implement
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.samples.moments import Moments

#: Signs for the smallest and for the largest distance.
NEAREST, FARTHEST = -1.0, 1.0
#: No cluster. Not a plain -1: a function is compiled anew for every literal integer.
NOBODY = np.int64(-1)


class PairsState(NamedTuple):
    """The state of such an index; each has a type of its own for dispatch."""

    moments: Moments
    centres: cen.Centres
    totals: cen.Totals
    extremes: ext.Extremes
    first: NDArray[np.float64]  #: (k,) scratch: distances of a new centre
    second: NDArray[np.float64]  #: (k,) scratch: distances of another
    scratch: NDArray[np.float64]


def make_fields(moments: Moments, total: Moments, sign: float) -> PairsState:
    k, d = moments.mean.shape
    centres = cen.empty_centres(k, d, True)
    # Until a cluster is updated, its distances are none that could be extreme: the extremes of a
    # row then seldom change while clusters are updated one after the other.
    centres.coordinates[:] = moments.mean.T
    centres.squared[:] = np.inf if sign == NEAREST else 0.0
    return PairsState(
        moments,
        centres,
        cen.totals(total),
        ext.empty_extremes(k, sign),
        np.empty(k),
        np.empty(k),
        np.empty(d),
    )


@dispatched
def of_extreme(state, within, squared, k):
    """Score of a partition with this SSW, extreme squared centre distance and k > 1 clusters."""


@inline
def update(state, i, j):
    cen.update_centre(state.centres, state.moments, i)
    if j != i:
        cen.update_centre(state.centres, state.moments, j)
    ext.renew(state.extremes, state.centres.squared, i, j, state.moments.size[0])


@inline
def _kept(state, i, j):
    """sign × the extreme distance among the clusters other than i and j."""
    best = -np.inf
    for row in range(state.moments.size[0]):
        if row != i and row != j:
            best = max(best, ext.without(state.extremes, row, i, j))
    return best


@inline
def _new(state, squared, i, j):
    """sign × the extreme distance of a new centre to the clusters other than i and j."""
    best = -np.inf
    for row in range(state.moments.size[0]):
        if row != i and row != j:
            best = max(best, state.extremes.sign * squared[row])
    return best


@inline
def _score(state, within, key, k):
    return of_extreme(state, within, state.extremes.sign * key, k) if k > 1 else -np.inf


@inline
def score(state):
    return _score(
        state, state.centres.within[0], _kept(state, NOBODY, NOBODY), state.moments.size[0]
    )


@inline
def _extreme_pair(state, src):
    """The two clusters other than src with the most extreme distance; NOBODY twice without any."""
    best, first, second = -np.inf, NOBODY, NOBODY
    for row in range(state.moments.size[0]):
        if row != src:
            for p in range(3):
                partner, key = state.extremes.partner[row, p], state.extremes.key[row, p]
                if partner != src:
                    if partner >= 0 and key > best:
                        best, first, second = key, np.int64(row), partner
                    break
    return best, first, second


@inline
def _two_largest(values, sign, src, k):
    """The largest sign × value outside src, where it is, and the next one."""
    best, where, next_best = -np.inf, NOBODY, -np.inf
    for row in range(k):
        value = sign * values[row]
        if row != src and value > best:
            best, where, next_best = value, np.int64(row), best
        elif row != src:
            next_best = max(next_best, value)
    return best, where, next_best


@inline
def trial_moves(state, s, x, src, out):
    """What the targets have in common is found once; what is left of most is a bound.

    The distances of a target's new centre to the others are no more extreme than what polarisation
    gives for its most extreme distance and that of the sample. Sums and products of the same form
    round alike, so the bound holds to the last bit, and where it is no news the distances
    themselves need not be known.
    """
    m, squared, sign = state.moments, state.centres.squared, state.extremes.sign
    k, n = m.size[0], m.n[src]
    cen.within_gains(m, state.centres, x, src, out)
    distance = state.centres.to_sample
    target, source = state.first, state.second
    kept, one, other = _extreme_pair(state, src)
    nearest, _, _ = _two_largest(distance, sign, NOBODY, k)
    from_source, where, next_from_source, to_source = -np.inf, NOBODY, -np.inf, 0.0
    if n > 1:
        back = -1.0 / (n - 1)  # mu_src moves away from x
        for row in range(k):
            source[row] = cen.between(back, squared[src, row], distance[row], distance[src])
        to_source = (1.0 - back) * (1.0 - back) * distance[src]
        from_source, where, next_from_source = _two_largest(source, sign, src, k)
    for i in range(k):
        if i == src:
            continue
        within = state.centres.within[0] - out[i]
        toward = 1.0 / (m.n[i] + 1)
        key = _kept(state, i, src) if i in (one, other) else kept
        if n > 1:
            pair = cen.between(toward, source[i], to_source, distance[i])
            key = max(key, next_from_source if i == where else from_source, sign * pair)
        closest = sign * state.extremes.key[i, 0]
        bound = cen.between(toward, closest, sign * nearest, distance[i])
        if not sign * bound <= key:
            for row in range(k):
                target[row] = cen.between(toward, squared[i, row], distance[row], distance[i])
            key = max(key, _new(state, target, i, src))
        out[i] = _score(state, within, key, k - 1 if n == 1 else k)
    out[src] = score(state)
    return cen.scores_resolution(out, k)


@inline
def trial_merge(state, i, j, least):
    """The distances of the new centre are asked for only where they decide.

    They are no more extreme than what polarisation gives for the most extreme distances of the two
    centres. And nearer centres never raise a score, so that without them it is a bound.
    """
    m, squared, sign = state.moments, state.centres.squared, state.extremes.sign
    part = m.n[j] / (m.n[i] + m.n[j])
    within = state.centres.within[0] + cen.merge_cost(m, i, j)
    kept, one, other = _extreme_pair(state, NOBODY)
    if i in (one, other) or j in (one, other):
        kept = _kept(state, i, j)
    closest_i, closest_j = sign * state.extremes.key[i, 0], sign * state.extremes.key[j, 0]
    bound = sign * cen.between(part, closest_i, closest_j, squared[i, j])
    hoped = kept if sign == NEAREST else max(kept, bound)
    score = _score(state, within, hoped, m.size[0] - 1)
    if bound <= kept or score < least:
        return score
    for row in range(m.size[0]):
        state.first[row] = cen.between(part, squared[i, row], squared[j, row], squared[i, j])
    return _score(state, within, max(kept, _new(state, state.first, i, j)), m.size[0] - 1)


@inline
def trial_split(state, i, parts, p, q, least):
    m = state.moments
    apart = cen.split_distances(m, state.centres, i, parts, p, state.first, state.second)
    key = max(_kept(state, i, i), _new(state, state.first, i, i), _new(state, state.second, i, i))
    key = max(key, state.extremes.sign * apart)
    within = cen.split_within(m, state.centres, i, parts, p)
    return _score(state, within, key, m.size[0] + 1)


def implement_pairs(state_type: type, of_extreme_function: object) -> None:
    """Register an index that is a function of SSW and an extreme centre distance."""
    implement(
        state_type,
        of_extreme=of_extreme_function,
        update=update,
        score=score,
        trial_moves=trial_moves,
        trial_merge=trial_merge,
        trial_split=trial_split,
    )
