"""Partition separation ↑: sum over i of n_i / max n - exp(-min_{j≠i} ‖mu_i - mu_j‖² / β).

β is the mean squared distance of the centres to their mean; since the sizes add up to N, the first
terms are N / max n. Where all centres coincide, every exponential is 1. The version for hard
partitions: M.-S. Yang, K.-L. Wu, "A new validity index for fuzzy clustering", FUZZ-IEEE, 2001; E.
Lughofer, "Extensions of vector quantization for incremental clustering", Pattern Recognition 41,
2008.

β follows from the distances of all pairs, Σ_{i<j} ‖mu_i - mu_j‖² / k²; the sums over the rows are
kept, so that a trial adds what is new and takes away what is gone.

Of many clusters only those are tried that may win. For a bound the β of every trial is known in a
few steps, from sums alone. The exponentials of all rows are bounded together: with γ = 1/β, a sum
of exp(-v γ) is convex in γ, so it is nowhere below its tangent at the γ of the present partition,
and γ hardly changes.
"""

from __future__ import annotations

import math

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.indices.shared import spreads
from icvi_artmap.samples.moments import Moments

#: Sums of squared distances below this part of what they are the difference of are not bounded.
CANCELLED = 1e-3
#: Where ``cached`` has the largest distance in its last part, and the size of the largest cluster.
FARTHEST, LARGEST = np.int64(-2), np.int64(-1)


class PSState(spreads.SpreadsState):
    """State of PS.

    ``cached`` has three parts, each with a number for every cluster and one for all: the sums of
    squared distances over rows, and over all pairs; then, for bounds of merges, what the
    exponentials lose without a cluster, and their sum; and the same of their derivatives by -γ. The
    last two entries are the largest distance among them, and the size of the largest cluster.
    ``changed`` has a second entry, about all but the first part.
    """


def make_state(moments: Moments, total: Moments) -> PSState:
    k = moments.mean.shape[0]
    fields = spreads.make_fields(moments, total)
    return PSState(*fields._replace(changed=np.ones(2, np.bool_), cached=np.zeros(3 * k + 5)))


@inline
def relate(state, i, j):
    return state.centres.squared[i, j]


@inline
def _renew_sums(state):
    """Sums over rows and pairs; they are not updated, which would lose digits."""
    k, squared = state.moments.size[0], state.centres.squared
    if not state.changed[0]:
        return
    total, sums = 0.0, state.cached
    for row in range(k):
        sums[row] = 0.0
    for column in range(k):  # all sums at once: the matrix is symmetric
        entries = squared[column]
        for row in range(k):
            sums[row] += entries[row]
    for row in range(k):
        total += sums[row]
    sums[k] = 0.5 * total
    state.changed[0] = False
    state.changed[1] = True


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


@inline
def _two_largest(state, src):
    """The size of the largest cluster other than src, which that is, and the size of the next."""
    most, where, following = 0, src, 0
    for row in range(state.moments.size[0]):
        n = state.moments.n[row]
        if row != src:
            if n > most:
                most, where, following = n, row, most
            else:
                following = max(following, n)
    return float(most), where, float(following)


@inline
def _rates(state, src, rest, to_rest, out):
    """out[i] = γ after a move to i; whether all are to be relied on.

    The new centre of i lies on the line to the sample, so its squared distances to all others add
    up to a combination of the sums over the row of i and over the distances of the sample.
    """
    _renew_sums(state)
    k, squared, sums = state.moments.size[0], state.centres.squared, state.cached
    distance, to_sample, from_rest = state.centres.to_sample, 0.0, 0.0
    for row in range(k):
        if row != src:
            to_sample += distance[row]
            from_rest += rest.squared[row]
    large = CANCELLED * (sums[k] + from_rest + to_sample)
    for i in range(k):
        if i != src:
            toward = 1.0 / (state.moments.n[i] + 1)
            apart = cen.between(toward, rest.squared[i], to_rest, distance[i])
            grown = cen.between(toward, sums[i] - squared[i, src], to_sample - distance[i], 0.0)
            grown -= (k - 2) * toward * (1.0 - toward) * distance[i]
            pairs = sums[k] - sums[i] - sums[src] + squared[i, src]
            pairs += grown + from_rest - rest.squared[i] + apart
            beta = _scale(state, pairs, k)
            if beta == 0.0 or not pairs > large:
                return False
            out[i] = 1.0 / beta
    return True


@inline
def bound_moves(state, src, rest, out):
    """Every row has its nearest outside target and source, or the source as it is then.

    Rows whose nearest is the target now have the grown target, or their next. Rows that have the
    target among their next, and would have it nearest when it has grown, have that. The grown
    target and what is left of the source are no farther from all others than from their neighbours
    of now.
    ``rows.kept`` and ``rows.gained`` are in terms of what is to be subtracted.
    """
    k, m, rows, distance = state.moments.size[0], state.moments, state.rows, state.centres.to_sample
    away = 1.0 + 1.0 / rest.n  # mu_src moves away from the sample
    to_rest = away * away * distance[src]
    if not _rates(state, src, rest, to_rest, out):
        return False
    beta = _scale(state, state.cached[k], k)
    if beta == 0.0:
        return False
    rate, slope = 1.0 / beta, 0.0
    rws.clear(rows, k)
    for row in range(k):
        if row != src:
            first, second, partner = ext.first_two(state.extremes, row, src)
            apart = min(-first, rest.squared[row])
            near = math.exp(-apart * rate)
            rws.enter(rows, row, near, 0.0, spreads.NOBODY)
            rws.enter_own(rows, row, rest.squared[row])
            slope += apart * near
            if partner >= 0:
                follows = min(-second, rest.squared[row])
                follows = min(follows, spreads.grown_squared(state, partner, row))
                tangent = near - apart * near * (out[partner] - rate)
                rows.gained[partner] += math.exp(-follows * out[partner]) - tangent
            for p in range(3):
                other = state.extremes.partner[row, p]
                if other >= 0 and other != src and other != partner:
                    comes = spreads.grown_squared(state, other, row)
                    if comes < apart:
                        tangent = near - apart * near * (out[other] - rate)
                        rows.gained[other] += math.exp(-comes * out[other]) - tangent
    most, largest, following = _two_largest(state, src)
    for i in range(k):
        if i != src:
            toward, change = 1.0 / (m.n[i] + 1), out[i] - rate
            pair = cen.between(toward, rest.squared[i], to_rest, distance[i])
            own = pair
            for p in range(3):
                row = state.extremes.partner[i, p]
                if row >= 0 and row != src:
                    own = min(own, spreads.grown_squared(state, i, row))
            of_rest = min(pair, rows.own[1] if rows.owner[0] == i else rows.own[0])
            apart = min(-ext.without(state.extremes, i, src, src), rest.squared[i])
            total = rows.sums[0] - rows.kept[i] - (slope - apart * rows.kept[i]) * change
            total += rows.gained[i] + math.exp(-own * out[i]) + math.exp(-of_rest * out[i])
            n = max(following if i == largest else most, m.n[i] + 1.0, rest.n)
            out[i] = state.totals.n / n - total
    rows.sums[1] += state.totals.n / following
    rows.sums[1] *= k  # what is added up is no mean
    return rws.bounded(rows, out, src, k)


@inline
def _part(state):
    """The length of a part of ``cached``."""
    return (state.cached.shape[0] - 2) // 3


@inline
def _renew_losses(state, rate):
    """What exponentials lose without a cluster, whichever else is taken away; their derivatives."""
    _renew_sums(state)
    if not state.changed[1]:
        return
    k, part, key = state.moments.size[0], _part(state), state.extremes.key
    losses, slopes = state.cached[part : 2 * part], state.cached[2 * part :]
    losses[:] = 0.0
    slopes[:] = 0.0  # and the last two entries
    for row in range(k):
        apart, third = -key[row, 0], -key[row, 2]
        near, far = math.exp(-apart * rate), math.exp(-third * rate)
        for p in range(2):
            losses[state.extremes.partner[row, p]] += far - near
            slopes[state.extremes.partner[row, p]] += third * far - apart * near
        losses[k] += near
        slopes[k] += apart * near
        state.cached[FARTHEST] = max(state.cached[FARTHEST], third)
    state.cached[LARGEST] = _most(state, spreads.NOBODY, spreads.NOBODY)
    state.changed[1] = False


@inline
def bound_merge(state, i, j, spread):
    """As if merging took the two away and brought a cluster that only has their neighbours.

    A row may lose its nearest twice, if it has both i and j near, and i and j lose theirs as well.
    That does no harm where a larger distance v has a lower tangent: exp(-vγ) (1 - v dγ) falls with
    v while v γ dγ is no more than γ + dγ.
    """
    m, k, squared = state.moments, state.moments.size[0], state.centres.squared
    _renew_sums(state)
    sums, n = state.cached, float(m.n[i] + m.n[j])
    beta = _scale(state, sums[k], k)
    row_i, row_j = sums[i] - squared[i, j], sums[j] - squared[i, j]
    part = m.n[j] / n
    merged = cen.between(part, row_i, row_j, (k - 2) * squared[i, j])
    pairs = sums[k] - row_i - row_j - squared[i, j] + merged
    beta_after = _scale(state, pairs, k - 1)
    if beta == 0.0 or beta_after == 0.0 or not pairs > CANCELLED * sums[k]:
        return np.inf
    rate, after, own = 1.0 / beta, 1.0 / beta_after, np.inf
    _renew_losses(state, rate)
    if state.cached[FARTHEST] * rate * (after - rate) > after:
        return np.inf
    size = _part(state)
    losses, slopes = state.cached[size : 2 * size], state.cached[2 * size :]
    total, slope = losses[k] + losses[i] + losses[j], slopes[k] + slopes[i] + slopes[j]
    for c in (i, j):
        apart = -state.extremes.key[c, 0]
        near = math.exp(-apart * rate)
        total -= near
        slope -= apart * near
        for p in range(3):
            row = state.extremes.partner[c, p]
            if row != i and row != j:
                own = min(own, spreads.merged_squared(state, i, j, row))
    total += math.exp(-own * after) - slope * (after - rate)
    return state.totals.n / max(state.cached[LARGEST], n) - total


spreads.implement_spreads(
    PSState,
    relate=relate,
    score=score,
    with_one=with_one,
    with_two=with_two,
    bound_moves=bound_moves,
    bound_merge=bound_merge,
)

INDEX = Index(
    "PS",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="clusters of equal size whose centres are apart",
    prediction="category",
)
