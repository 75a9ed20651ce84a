"""What SIL, PS, GD43 and GD53 share: sizes, spreads and squared distances of centres.

The spread of a cluster is CP / n. Every change to a partition takes away clusters i and j and
brings one or two new ones, of which size, spread and squared distances to the other centres follow
from what is cached: no O(d) work per pair. An index of this kind provides ``relate``, a number for
every ordered pair of clusters, of which the smallest in each row is wanted, and the scores
``score``, ``with_one`` and ``with_two``; the rest is here. With many clusters only those are tried
that may win, if the index can bound their scores (``bound_moves``, ``bound_merge``,
``bound_split``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import dispatched, implement, score
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.samples.moments import Moments

#: The sign of the extremes: the smallest entry of a row is kept as the largest of its opposite.
NEAREST = -1.0
#: No cluster. Not a plain -1: a function is compiled anew for every literal integer.
NOBODY = np.int64(-1)


class SpreadsState(NamedTuple):
    """The state of such an index; each has a type of its own for dispatch."""

    moments: Moments
    centres: cen.Centres
    totals: cen.Totals
    spread: NDArray[np.float64]  #: (k,) CP / n
    relation: NDArray[np.float64]  #: (k, k) what ``relate`` says of row and column
    extremes: ext.Extremes  #: of ``relation``, the smallest of every row
    changed: NDArray[np.bool_]  #: (1,) whether a cluster has changed since ``cached`` was computed
    cached: Any  #: room for what an index computes when it is first asked: (k + 1,), if plain
    first: NDArray[np.float64]  #: (k,) scratch: squared distances of a new centre
    second: NDArray[np.float64]  #: (k,) scratch: squared distances of another
    rows: rws.Rows  #: scratch: bounds of trials
    scratch: NDArray[np.float64]


def make_fields(moments: Moments, total: Moments) -> SpreadsState:
    k, d = moments.mean.shape
    centres = cen.empty_centres(k, d, True)
    # Until a cluster is updated, nobody is near it: the extremes of a row then seldom change while
    # clusters are updated one after the other.
    centres.coordinates[:] = moments.mean.T
    return SpreadsState(
        moments,
        centres,
        cen.totals(total),
        np.zeros(k),
        np.full((k, k), np.inf),
        ext.empty_extremes(k, NEAREST),
        np.ones(1, np.bool_),
        np.zeros(k + 1),
        np.empty(k),
        np.empty(k),
        rws.empty_rows(k),
        np.empty(d),
    )


class New(NamedTuple):
    """A cluster that a change would bring."""

    n: float
    spread: float
    squared: NDArray[np.float64]  #: (k,) squared distances of its centre to the present ones


@dispatched
def relate(state, i, j):
    """The number for row i and column j of the present clusters."""


@dispatched
def with_one(state, i, j, new):
    """Score with clusters i and j replaced by ``new``, of at least two clusters then."""


@dispatched
def with_two(state, i, j, a, b, squared, k_after):
    """Score with clusters i and j (perhaps the same) replaced by a and b, ``squared`` apart."""


@dispatched
def bound_moves(state, src, rest, out):
    """out[i]: no less than the score of a move from src to i; whether these can be used.

    ``rest``: what is left of src. ``centres.to_sample`` has the distances of the sample. Where
    ``rows.known`` is set, the bound is the score; nobody else sets it.
    """


@inline
def no_bounds(state, src, rest, out):
    """For an index that has none."""
    return False


@dispatched
def bound_merge(state, i, j, spread):
    """No less than the score with clusters i and j merged to one of this spread."""


@inline
def no_bound(state, i, j, spread):
    """For an index that has none."""
    return np.inf


@dispatched
def bound_split(state, i, parts, p):
    """No less than the score with row p of ``parts`` split off cluster i."""


@inline
def no_bound_of_split(state, i, parts, p):
    """For an index that has none."""
    return np.inf


@inline
def merged_squared(state, i, j, row):
    """The squared distance of the centre of i and j together to that of ``row``."""
    n, squared = state.moments.n, state.centres.squared
    part = n[j] / (n[i] + n[j])
    return cen.between(part, squared[i, row], squared[j, row], squared[i, j])


@inline
def grown_spread(state, i):
    """The spread of cluster i with the sample."""
    m = state.moments
    toward = 1.0 / (m.n[i] + 1)
    return (m.compactness[i] + m.n[i] * toward * state.centres.to_sample[i]) * toward


@inline
def grown_squared(state, i, row, squared):
    """The squared distance of the centre of i with the sample to that of ``row``.

    ``squared``: what it is without the sample.
    """
    toward, distance = 1.0 / (state.moments.n[i] + 1), state.centres.to_sample
    return cen.between(toward, squared, distance[row], distance[i])


@inline
def spread_of(m, i):
    return m.compactness[i] / m.n[i] if m.n[i] > 0 else 0.0


@inline
def _update_cluster(state, i):
    cen.update_centre(state.centres, state.moments, i)
    state.spread[i] = spread_of(state.moments, i)


@dispatched
def count(state, c, sign):
    """Take the distances of cluster c out of sums that are kept (-1), or put them in (+1)."""


@inline
def count_nothing(state, c, sign):
    """For an index that keeps no sums."""


@inline
def update(state, i, j):
    k = state.moments.size[0]
    for c in (i, j):
        if c == i or j != i:
            count(state, c, -1.0)
            _update_cluster(state, c)
            count(state, c, 1.0)
    for c in (i, j):
        for row in range(k):
            if row != c:
                state.relation[row, c] = relate(state, row, c)
                state.relation[c, row] = relate(state, c, row)
    ext.renew(state.extremes, state.relation, i, j, k)
    state.changed[:] = True


@inline
def nearest(state, row, i, j):
    """The smallest relation of ``row`` to a cluster other than i and j; inf if there is none."""
    return -ext.without(state.extremes, row, i, j)


@inline
def _replaced_by_one(state, i, j, new):
    return with_one(state, i, j, new) if state.moments.size[0] > 2 else -np.inf


@inline
def trial_moves(state, s, x, src, out):
    m, squared = state.moments, state.centres.squared
    k, n, distance = m.size[0], m.n[src], state.centres.to_sample
    cen.squared_distances(state.centres.coordinates, x, k, distance)
    target, source, left, to_source = state.first, state.second, 0.0, 0.0
    if n > 1:
        back = -1.0 / (n - 1)  # mu_src moves away from x
        if n > 2:
            left = max(m.compactness[src] - cen.removal_gain(m, distance, src), 0.0) / (n - 1)
        for row in range(k):
            source[row] = cen.between(back, squared[src, row], distance[row], distance[src])
        to_source = (1.0 - back) * (1.0 - back) * distance[src]
    rest = New(n - 1.0, left, source)
    out[src] = score(state)
    some = n > 1 and k > rws.FEW and bound_moves(state, src, rest, out)
    best, i = rws.best_known(state.rows, out, src, k, some), rws.first_to_try(out, src, k, some)
    for _ in range(k):
        if i != src and not (some and (state.rows.known[i] or rws.cannot_win(out[i], best))):
            toward = 1.0 / (m.n[i] + 1)
            for row in range(k):
                target[row] = grown_squared(state, i, row, squared[i, row])
            grown = New(m.n[i] + 1.0, grown_spread(state, i), target)
            if n == 1:
                out[i] = _replaced_by_one(state, i, src, grown)
            else:
                apart = cen.between(toward, source[i], to_source, distance[i])
                out[i] = with_two(state, i, src, grown, rest, apart, k)
            best = max(best, out[i])
        i = i + 1 if i < k - 1 else 0
    return cen.scores_resolution(out, k)


@inline
def trial_merge(state, i, j, least):
    m = state.moments
    n, k = m.n[i] + m.n[j], m.size[0]
    spread = (m.compactness[i] + m.compactness[j] + cen.merge_cost(m, i, j)) / n
    if k > rws.FEW and least > -np.inf:
        bound = bound_merge(state, i, j, spread)
        if rws.cannot_win(bound, least):
            return bound
    for row in range(k):
        state.first[row] = merged_squared(state, i, j, row)
    return _replaced_by_one(state, i, j, New(float(n), spread, state.first))


@inline
def trial_split(state, i, parts, p, q, least):
    m = state.moments
    left = m.n[i] - parts.n[p]
    if m.size[0] > rws.FEW and least > -np.inf:
        bound = bound_split(state, i, parts, p)
        if rws.cannot_win(bound, least):
            return bound
    apart = cen.split_distances(m, state.centres, i, parts, p, state.first, state.second)
    part = New(float(parts.n[p]), spread_of(parts, p), state.first)
    rest = New(float(left), cen.rest_compactness(m, i, parts, p) / left, state.second)
    return with_two(state, i, i, part, rest, apart, m.size[0] + 1)


def implement_spreads(state_type: type, **functions: object) -> None:
    """Register an index of this kind: ``relate``, ``score``, ``with_one`` and ``with_two``.

    And ``bound_moves``, ``bound_merge``, ``bound_split`` and ``count``, if it has them.
    """
    others = {
        "bound_moves": no_bounds,
        "bound_merge": no_bound,
        "bound_split": no_bound_of_split,
        "count": count_nothing,
    }
    functions = {**others, **functions}
    implement(
        state_type,
        update=update,
        trial_moves=trial_moves,
        trial_merge=trial_merge,
        trial_split=trial_split,
        **functions,
    )
