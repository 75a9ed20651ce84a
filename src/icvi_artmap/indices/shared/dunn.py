"""What GD43 and GD53 share: the least separation of two clusters over the largest diameter.

The diameter of a cluster is 2 CP / n (Bezdek and Pal's third, with squared distances). An index of
this kind provides ``separation`` of two clusters; the rest is here.
"""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import dispatched
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.indices.shared import spreads


@dispatched
def separation(state, squared, n_a, spread_a, n_b, spread_b):
    """Separation of two clusters of these sizes and spreads, with centres ``squared`` apart."""


@inline
def relate(state, i, j):
    n, spread = state.moments.n, state.spread
    return separation(state, state.centres.squared[i, j], n[i], spread[i], n[j], spread[j])


@inline
def _ratio(state, least, spread):
    """The index; infinite for clusters without extent that are apart, the worst if they are not."""
    scale = state.totals.mean_square
    apart, wide = cen.positive(least, scale), cen.positive(spread, scale)
    if wide == 0.0:
        return np.inf if apart > 0.0 else -np.inf
    return apart / (2.0 * wide)


@inline
def _kept(state, i, j):
    """The least separation and the largest spread of the clusters other than i and j."""
    least, most = np.inf, 0.0
    for row in range(state.moments.size[0]):
        if row != i and row != j:
            least = min(least, spreads.nearest(state, row, i, j))
            most = max(most, state.spread[row])
    return least, most


@inline
def _least_of(state, i, j, new):
    """The least separation of a new cluster from those other than i and j."""
    least, m = np.inf, state.moments
    for row in range(m.size[0]):
        if row != i and row != j:
            apart = separation(
                state, new.squared[row], m.n[row], state.spread[row], new.n, new.spread
            )
            least = min(least, apart)
    return least


@inline
def score(state):
    if state.moments.size[0] == 1:
        return -np.inf
    least, most = _kept(state, spreads.NOBODY, spreads.NOBODY)
    return _ratio(state, least, most)


@inline
def with_one(state, i, j, new):
    least, most = _kept(state, i, j)
    return _ratio(state, min(least, _least_of(state, i, j, new)), max(most, new.spread))


@inline
def with_two(state, i, j, a, b, squared, k_after):
    least, most = _kept(state, i, j)
    least = min(least, _least_of(state, i, j, a), _least_of(state, i, j, b))
    least = min(least, separation(state, squared, a.n, a.spread, b.n, b.spread))
    return _ratio(state, least, max(most, a.spread, b.spread))


@inline
def _two_widest(state, src):
    """The widest cluster other than src, and the next."""
    widest, second = src, src
    for row in range(state.moments.size[0]):
        if row != src:
            if widest == src or state.spread[row] > state.spread[widest]:
                widest, second = row, widest
            elif second == src or state.spread[row] > state.spread[second]:
                second = row
    return widest, second


@inline
def _nearest_pair(state, src):
    """The least separation of two clusters other than src, and which they are."""
    least, one, other = np.inf, src, src
    for row in range(state.moments.size[0]):
        if row != src:
            first, _, partner = ext.first_two(state.extremes, row, src)
            if -first < least:
                least, one, other = -first, row, partner
    return least, one, other


@inline
def _two_nearest(state, rest, src):
    """The least separation of what is left of src from another cluster, which, and the next."""
    m, least, where, following = state.moments, np.inf, src, np.inf
    for row in range(m.size[0]):
        if row != src:
            n, spread = m.n[row], state.spread[row]
            apart = separation(state, rest.squared[row], n, spread, rest.n, rest.spread)
            if apart < least:
                least, where, following = apart, row, least
            else:
                following = min(following, apart)
    return least, where, following


@inline
def bound_moves(state, src, rest, out):
    """What most moves have in common is found once: the nearest two clusters, the widest.

    A grown cluster is no nearer to any other than polarisation gives for its least separation and
    the centre nearest to the sample: as a mean of squared distances, a separation shrinks by no
    more than its share of the old samples. Where that is no news, the score is known; else it has
    a bound by the neighbours that the cluster has now.
    """
    k, m, spread, known = state.moments.size[0], state.moments, state.spread, state.rows.known
    distance, nearest = state.centres.to_sample, np.inf
    widest, second = _two_widest(state, src)
    kept, one, other = _nearest_pair(state, src)
    from_rest, where, next_from_rest = _two_nearest(state, rest, src)
    for row in range(k):
        nearest = min(nearest, distance[row])
    away = 1.0 + 1.0 / rest.n  # mu_src moves away from the sample
    to_rest = away * away * distance[src]
    known[src] = False
    for i in range(k):
        if i != src:
            toward, n, grown = 1.0 / (m.n[i] + 1), m.n[i] + 1.0, spreads.grown_spread(state, i)
            most = max(spread[second if i == widest else widest], grown, rest.spread)
            least = kept if i != one and i != other else _kept(state, i, src)[0]
            least = min(least, next_from_rest if i == where else from_rest)
            apart = cen.between(toward, rest.squared[i], to_rest, distance[i])
            least = min(least, separation(state, apart, n, grown, rest.n, rest.spread))
            closest = cen.between(toward, -state.extremes.key[i, 0], nearest, distance[i])
            known[i] = closest * (1.0 - rws.ROUNDING) >= least
            if not known[i]:
                for p in range(3):
                    row = state.extremes.partner[i, p]
                    if row >= 0 and row != src:
                        apart = spreads.grown_squared(state, i, row, state.centres.squared[i, row])
                        near = separation(state, apart, m.n[row], spread[row], n, grown)
                        least = min(least, near)
            out[i] = _ratio(state, least, most)
    return True


@inline
def bound_merge(state, i, j, spread):
    """Merged clusters are no farther from the neighbours that they have now."""
    m, least = state.moments, np.inf
    for c in (i, j):
        for p in range(3):
            row = state.extremes.partner[c, p]
            if row != i and row != j:
                apart = spreads.merged_squared(state, i, j, row)
                n = float(m.n[i] + m.n[j])
                apart = separation(state, apart, m.n[row], state.spread[row], n, spread)
                least = min(least, apart)
    return _ratio(state, least, spread)


def implement_dunn(state_type: type, separation_function: object) -> None:
    """Register a generalised Dunn index."""
    spreads.implement_spreads(
        state_type,
        separation=separation_function,
        relate=relate,
        score=score,
        bound_moves=bound_moves,
        bound_merge=bound_merge,
        with_one=with_one,
        with_two=with_two,
    )
