"""Partition separation ↑: sum over i of n_i / max n - exp(-min_{j≠i} ‖mu_i - mu_j‖² / β).

β is the mean squared distance of the centres to their mean; since the sizes add up to N, the first
terms are N / max n. Where all centres coincide, every exponential is 1. The version for hard
partitions: M.-S. Yang, K.-L. Wu, "A new validity index for fuzzy clustering", FUZZ-IEEE, 2001; E.
Lughofer, "Extensions of vector quantization for incremental clustering", Pattern Recognition 41,
2008.

β follows from the distances of all pairs, Σ_{i<j} ‖mu_i - mu_j‖² / k²; the sums over the rows are
kept, so that a trial adds what is new and takes away what is gone.

The exponentials of nearly all rows only follow β, which hardly changes. With γ = 1/β, what they add
up to at another γ is a power series in the change, whose coefficients are kept; a trial computes
those that get another neighbour. Of many clusters only those are tried that may win. For a bound
the γ of every trial is known in a few steps, from sums alone, and 1 + y + y²/2 + y³/6, which is
nowhere above exp(y), stands for exponentials.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import extremes as ext
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.indices.shared import spreads
from icvi_artmap.samples.moments import Moments

#: Sums of squared distances below this part of what they are the difference of are not bounded.
CANCELLED = 1e-3
#: Sums over rows are computed anew after so many changes of clusters.
CHANGES = np.int64(256)
#: And when they are below this part of the most they have been: digits may be lost.
FADED = 1e-2
#: Terms of the power series, and the argument up to which so many are exact to rounding.
TERMS, SMALL = 6, 5e-3


class Kept(NamedTuple):
    """What follows from the distances of the present centres."""

    row: NDArray[np.float64]  #: (k,) sums of squared distances over rows
    total: NDArray[np.float64]  #: (2,) over all pairs, and the most that was since all were summed
    changes: NDArray[np.int64]  #: (1,) of clusters that may be left until all are summed again
    size: NDArray[np.int64]  #: (1,) k when all were summed
    rate: NDArray[np.float64]  #: (1,) γ; infinite if all centres coincide
    apart: NDArray[np.float64]  #: (k,) squared distance to the nearest centre
    partner: NDArray[np.int64]  #: (k,) which that is
    near: NDArray[np.float64]  #: (k,) exp(-apart γ)
    series: NDArray[np.float64]  #: (TERMS,) Σ near (apart γ)^m
    farthest: NDArray[np.float64]  #: (1,) the largest of apart γ; infinite if γ is
    loss: NDArray[np.float64]  #: (k,) what the exponentials of all rows lose without a cluster
    slope: NDArray[np.float64]  #: (k,) the same of their derivatives by -ln γ
    bounds: NDArray[np.float64]  #: (2,) the largest argument in ``loss``, the largest cluster
    centre: NDArray[np.float64]  #: (d,) Σ of the centres
    terms: NDArray[np.float64]  #: (4,) scratch: the begin of a series


class PSState(spreads.SpreadsState):
    """State of PS; ``cached`` is :class:`Kept`.

    ``changed`` has two entries: about what is kept from ``rate`` on, and from ``loss`` on.
    """


def make_state(moments: Moments, total: Moments) -> PSState:
    k, d = moments.mean.shape
    kept = Kept(
        row=np.zeros(k),
        total=np.zeros(2),
        changes=np.zeros(1, np.int64),
        size=np.zeros(1, np.int64),
        rate=np.zeros(1),
        apart=np.zeros(k),
        partner=np.zeros(k, np.int64),
        near=np.zeros(k),
        series=np.zeros(TERMS),
        farthest=np.zeros(1),
        loss=np.zeros(k),
        slope=np.zeros(k),
        bounds=np.zeros(2),
        centre=np.zeros(d),
        terms=np.zeros(4),
    )
    fields = spreads.make_fields(moments, total)
    squared = fields.centres.squared
    squared[:] = np.inf
    # The relation is the distance: no copy of it.
    return PSState(*fields._replace(relation=squared, changed=np.ones(2, np.bool_), cached=kept))


@inline
def relate(state, i, j):
    return state.centres.squared[i, j]


@inline
def count(state, c, sign):
    """The sums over rows follow every change of a cluster, until digits may be lost."""
    k, kept, squared, total = state.moments.size[0], state.cached, state.centres.squared[c], 0.0
    if kept.size[0] != k:
        kept.changes[0] = 0
    if kept.changes[0] == 0:
        return
    for row in range(k):
        if row != c:
            kept.row[row] += sign * squared[row]
            total += squared[row]
    kept.row[c] += sign * total
    kept.total[0] += sign * total
    kept.total[1] = max(kept.total[1], kept.total[0])
    kept.changes[0] -= 1


@inline
def _renew_sums(state):
    """Sums over rows and pairs, unless such as can be relied on are there."""
    k, squared, kept = state.moments.size[0], state.centres.squared, state.cached
    whole = kept.total[0] > FADED * kept.total[1]
    if kept.changes[0] > 0 and whole:
        return
    total = 0.0
    for row in range(k):
        kept.row[row] = 0.0
    for column in range(k):  # all sums at once: the matrix is symmetric
        entries = squared[column]
        for row in range(k):
            kept.row[row] += entries[row]
    for row in range(k):
        total += kept.row[row]
    kept.total[:] = 0.5 * total
    kept.size[0] = k
    kept.changes[0] = CHANGES


@inline
def _scale(state, pairs, k):
    """β of k centres; 0 if they coincide."""
    return cen.positive(pairs / (k * k), state.totals.mean_square)


@inline
def _nearness(state, squared, rate):
    return math.exp(-cen.positive(squared, state.totals.mean_square) * rate)


@inline
def _enter_terms(terms, sign, near, argument):
    """Count an exponential in the sums of its powers."""
    for m in range(terms.shape[0]):
        terms[m] += sign * near
        near *= argument


@inline
def _renew(state):
    """All that is kept of the present partition."""
    k, kept, extremes = state.moments.size[0], state.cached, state.extremes
    if not state.changed[0]:
        return
    _renew_sums(state)
    beta = _scale(state, kept.total[0], k)
    rate = 1.0 / beta if beta > 0.0 else 0.0
    kept.series[:] = 0.0
    kept.farthest[0] = 0.0
    for row in range(k):
        kept.apart[row] = cen.positive(-extremes.key[row, 0], state.totals.mean_square)
        kept.partner[row] = extremes.partner[row, 0]
        argument = kept.apart[row] * rate
        kept.near[row] = math.exp(-argument)
        _enter_terms(kept.series, 1.0, kept.near[row], argument)
        kept.farthest[0] = max(kept.farthest[0], argument)
    kept.rate[0] = rate
    if beta == 0.0:
        kept.rate[0] = kept.farthest[0] = np.inf
    state.changed[0] = False


@inline
def _kept_sum(state, i, j):
    """Sum of squared distances over the pairs without clusters i and j."""
    kept = state.cached
    both = kept.row[i] if i == j else kept.row[i] + kept.row[j] - state.centres.squared[i, j]
    return max(kept.total[0] - both, 0.0)


@inline
def _all_near(state, rate):
    """What the exponentials of all present rows add up to at another γ."""
    kept, total = state.cached, 0.0
    change = rate / kept.rate[0] - 1.0
    if kept.farthest[0] * abs(change) < SMALL:
        for m in range(TERMS - 1, -1, -1):
            total = kept.series[m] - change / (m + 1) * total
        return total
    for row in range(state.moments.size[0]):
        total += math.exp(-kept.apart[row] * rate)
    return total


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
    if state.moments.size[0] == 1:
        return -np.inf
    _renew(state)
    most = _most(state, spreads.NOBODY, spreads.NOBODY)
    return state.totals.n / most - state.cached.series[0]


@inline
def _replaced(state, i, j, beta, a, b):
    """What the exponentials of all rows but i and j add up to, with new clusters a and b."""
    k, kept, rate = state.moments.size[0], state.cached, 1.0 / beta
    total = _all_near(state, rate) - math.exp(-kept.apart[i] * rate)
    if j != i:
        total -= math.exp(-kept.apart[j] * rate)
    for row in range(k):
        comes = min(a.squared[row], b.squared[row])
        gone = kept.partner[row] == i or kept.partner[row] == j
        if (gone or comes < kept.apart[row]) and row != i and row != j:
            nearest = min(spreads.nearest(state, row, i, j), comes)
            total += _nearness(state, nearest, rate) - math.exp(-kept.apart[row] * rate)
    return total


@inline
def with_one(state, i, j, new):
    _renew(state)
    k, pairs, own = state.moments.size[0], _kept_sum(state, i, j), np.inf
    for row in range(k):
        if row != i and row != j:
            pairs += new.squared[row]
            own = min(own, new.squared[row])
    beta, total = _scale(state, pairs, k - 1), k - 1.0
    if beta > 0.0:
        total = _nearness(state, own, 1.0 / beta) + _replaced(state, i, j, beta, new, new)
    return state.totals.n / max(_most(state, i, j), new.n) - total


@inline
def with_two(state, i, j, a, b, squared, k_after):
    _renew(state)
    k, pairs = state.moments.size[0], _kept_sum(state, i, j) + squared
    own_a, own_b = squared, squared
    for row in range(k):
        if row != i and row != j:
            pairs += a.squared[row] + b.squared[row]
            own_a = min(own_a, a.squared[row])
            own_b = min(own_b, b.squared[row])
    beta, total = _scale(state, pairs, k_after), float(k_after)
    if beta > 0.0:
        total = _nearness(state, own_a, 1.0 / beta) + _nearness(state, own_b, 1.0 / beta)
        total += _replaced(state, i, j, beta, a, b)
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
    k, kept, squared = state.moments.size[0], state.cached, state.centres.squared[src]
    distance, to_sample, from_rest = state.centres.to_sample, 0.0, 0.0
    for row in range(k):
        if row != src:
            to_sample += distance[row]
            from_rest += rest.squared[row]
    large = CANCELLED * (kept.total[0] + from_rest + to_sample)
    for i in range(k):
        if i != src:
            toward = 1.0 / (state.moments.n[i] + 1)
            apart = cen.between(toward, rest.squared[i], to_rest, distance[i])
            grown = cen.between(toward, kept.row[i] - squared[i], to_sample - distance[i], 0.0)
            grown -= (k - 2) * toward * (1.0 - toward) * distance[i]
            pairs = kept.total[0] - kept.row[i] - kept.row[src] + squared[i]
            pairs += grown + from_rest - rest.squared[i] + apart
            beta = _scale(state, pairs, k)
            if beta == 0.0 or not pairs > large:
                return False
            out[i] = 1.0 / beta
    return True


@inline
def _below(near, argument, other):
    """No more than exp(-other), from ``near``, which is exp(-argument); no less than 0."""
    y = argument - other
    return near * max(1.0 + y * (1.0 + y * (0.5 + y / 6.0)), 0.0)


@inline
def _sum_of_terms(terms, change):
    """No more than what exponentials add up to at another γ, from the begin of their series."""
    return terms[0] - change * (terms[1] - change * (terms[2] - change * terms[3] / 3.0) / 2.0)


@inline
def _follows(near, argument, change):
    """What a row that only follows γ counts for in that sum."""
    y = -argument * change
    return near * (1.0 + y * (1.0 + y * (0.5 + y / 6.0)))


@inline
def _gain(state, row, i, squared, rate):
    """A row has ``squared`` as its least distance after a move to i."""
    near, argument = state.rows.kept[row], state.first[row]
    before = _follows(near, argument, rate / state.cached.rate[0] - 1.0)
    state.rows.gained[i] += _below(near, argument, squared * rate) - before


@inline
def bound_moves(state, src, rest, out):
    """Every row has its nearest outside target and source, or the source as it is then.

    Rows whose nearest is the target now have the grown target, or their next. Rows that have the
    target among their next, and would have it nearest when it has grown, have that. The grown
    target and what is left of the source are no farther from all others than from their neighbours
    of now.
    ``rows.kept`` and ``rows.gained`` are in terms of what is to be subtracted, and ``first`` has
    the arguments of the exponentials ``rows.kept``.
    """
    _renew(state)
    k, m, rows, distance = state.moments.size[0], state.moments, state.rows, state.centres.to_sample
    kept, extremes, argument = state.cached, state.extremes, state.first
    rate = kept.rate[0]
    away = 1.0 + 1.0 / rest.n  # mu_src moves away from the sample
    to_rest = away * away * distance[src]
    if rate == np.inf or not _rates(state, src, rest, to_rest, out):
        return False
    rws.clear(rows, k)
    terms = kept.terms
    for term in range(terms.shape[0]):
        terms[term] = kept.series[term]
    _enter_terms(terms, -1.0, kept.near[src], kept.apart[src] * rate)
    for row in range(k):
        if row == src:
            continue
        first, second, partner = ext.first_two(extremes, row, src)
        apart, argument[row] = kept.apart[row], kept.apart[row] * rate
        near = kept.near[row]
        if kept.partner[row] == src or rest.squared[row] < apart:
            _enter_terms(terms, -1.0, near, argument[row])
            apart = min(-first, rest.squared[row])
            argument[row] = apart * rate
            near = math.exp(-argument[row])
            _enter_terms(terms, 1.0, near, argument[row])
        rws.enter(rows, row, near, 0.0, spreads.NOBODY)
        rws.enter_own(rows, row, rest.squared[row])
        if partner >= 0:
            comes = spreads.grown_squared(state, partner, row, -first)
            _gain(state, row, partner, min(-second, rest.squared[row], comes), out[partner])
        for p in range(3):
            other = extremes.partner[row, p]
            if other >= 0 and other != src and other != partner:
                comes = spreads.grown_squared(state, other, row, -extremes.key[row, p])
                if comes < apart:
                    _gain(state, row, other, comes, out[other])
    most, largest, following = _two_largest(state, src)
    for i in range(k):
        if i != src:
            toward, change = 1.0 / (m.n[i] + 1), out[i] / rate - 1.0
            pair = cen.between(toward, rest.squared[i], to_rest, distance[i])
            own = pair
            for p in range(3):
                row = extremes.partner[i, p]
                if row >= 0 and row != src:
                    own = min(own, spreads.grown_squared(state, i, row, -extremes.key[i, p]))
            of_rest = min(pair, rows.own[1] if rows.owner[0] == i else rows.own[0])
            total = _sum_of_terms(terms, change) - _follows(rows.kept[i], argument[i], change)
            total += rows.gained[i]
            total += _below(kept.near[i], kept.apart[i] * rate, own * out[i])
            total += _below(kept.near[src], kept.apart[src] * rate, of_rest * out[i])
            n = max(following if i == largest else most, m.n[i] + 1.0, rest.n)
            out[i] = state.totals.n / n - total
    rows.sums[1] += state.totals.n / following
    rows.sums[1] *= k  # what is added up is no mean
    return rws.bounded(rows, out, src, k)


@inline
def _renew_losses(state):
    """What exponentials lose without a cluster, whichever else is taken away; their derivatives.

    And what else only merges and splits ask for.
    """
    if not state.changed[1]:
        return
    k, kept, extremes = state.moments.size[0], state.cached, state.extremes
    kept.loss[:] = 0.0
    kept.slope[:] = 0.0
    kept.bounds[:] = 0.0
    for row in range(k):
        argument, third = kept.apart[row] * kept.rate[0], -extremes.key[row, 2] * kept.rate[0]
        far = math.exp(-third)
        for p in range(2):
            kept.loss[extremes.partner[row, p]] += far - kept.near[row]
            kept.slope[extremes.partner[row, p]] += third * far - argument * kept.near[row]
        kept.bounds[0] = max(kept.bounds[0], third)
    kept.bounds[1] = _most(state, spreads.NOBODY, spreads.NOBODY)
    for f in range(kept.centre.shape[0]):
        kept.centre[f] = 0.0
        for row in range(k):
            kept.centre[f] += state.centres.coordinates[f, row]
    state.changed[1] = False


@inline
def bound_merge(state, i, j, spread):
    """As if merging took the two away and brought a cluster that only has their neighbours.

    A row may lose its nearest twice, if it has both i and j near, and i and j lose theirs as well.
    That does no harm where a larger argument v has a lower tangent: exp(-v) (1 - v c), with c the
    relative change of γ, falls with v while v c is no more than 1 + c.
    """
    _renew(state)
    m, k, kept, squared = state.moments, state.moments.size[0], state.cached, state.centres.squared
    n, rate, own = float(m.n[i] + m.n[j]), kept.rate[0], np.inf
    row_i, row_j = kept.row[i] - squared[i, j], kept.row[j] - squared[i, j]
    merged = cen.between(m.n[j] / n, row_i, row_j, (k - 2) * squared[i, j])
    pairs = kept.total[0] - row_i - row_j - squared[i, j] + merged
    beta = _scale(state, pairs, k - 1)
    if rate == np.inf or beta == 0.0 or not pairs > CANCELLED * kept.total[0]:
        return np.inf
    _renew_losses(state)
    change = 1.0 / (beta * rate) - 1.0
    if kept.bounds[0] * change > 1.0 + change:
        return np.inf
    total = kept.series[0] + kept.loss[i] + kept.loss[j]
    slope = kept.series[1] + kept.slope[i] + kept.slope[j]
    for c in (i, j):
        total -= kept.near[c]
        slope -= kept.apart[c] * rate * kept.near[c]
        for p in range(3):
            row = state.extremes.partner[c, p]
            if row != i and row != j:
                own = min(own, spreads.merged_squared(state, i, j, row))
    total += math.exp(-own / beta) - slope * change
    return state.totals.n / max(kept.bounds[1], n) - total


@inline
def bound_split(state, i, parts, p):
    """As if nobody but the two parts, and those that i is nearest to, got a nearer neighbour.

    The part lies at mu_i + u, the rest at mu_i - w u, so the sum of all squared distances after the
    split follows from Σ (mu_i - mu_row) and |u|².
    """
    _renew(state)
    _renew_losses(state)
    m, kept, coordinates = state.moments, state.cached, state.centres.coordinates
    k, d, part = m.size[0], kept.centre.shape[0], parts.n[p]
    left, length, along = m.n[i] - part, 0.0, 0.0
    w = part / left
    for f in range(d):
        u = parts.mean[p, f] - m.mean[i, f]
        length += u * u
        along += u * (k * m.mean[i, f] - kept.centre[f])
    own_part = own_rest = (1.0 + w) * (1.0 + w) * length
    pairs = kept.total[0] + kept.row[i] + own_part
    pairs += (k - 1) * (1.0 + w * w) * length + 2.0 * (1.0 - w) * along
    beta = _scale(state, pairs, k + 1)
    if kept.rate[0] == np.inf or beta == 0.0:
        return np.inf
    rate = 1.0 / beta
    change = rate / kept.rate[0] - 1.0
    total = _sum_of_terms(kept.series, change)
    total -= _follows(kept.near[i], kept.apart[i] * kept.rate[0], change)
    for row in range(k):
        if kept.partner[row] == i and row != i:
            to_part = to_rest = 0.0
            for f in range(d):
                u = parts.mean[p, f] - m.mean[i, f]
                from_centre = m.mean[i, f] - coordinates[f, row]
                to_part += (from_centre + u) * (from_centre + u)
                to_rest += (from_centre - w * u) * (from_centre - w * u)
            own_part, own_rest = min(own_part, to_part), min(own_rest, to_rest)
            nearest = min(spreads.nearest(state, row, i, i), to_part, to_rest)
            total += math.exp(-nearest * rate)
            total -= _follows(kept.near[row], kept.apart[row] * kept.rate[0], change)
    total += math.exp(-own_part * rate) + math.exp(-own_rest * rate)
    most = max(float(part), float(left))
    if m.n[i] < kept.bounds[1]:
        most = max(most, kept.bounds[1])
    return state.totals.n / most - total


spreads.implement_spreads(
    PSState,
    relate=relate,
    score=score,
    with_one=with_one,
    with_two=with_two,
    bound_moves=bound_moves,
    bound_merge=bound_merge,
    bound_split=bound_split,
    count=count,
)

INDEX = Index(
    "PS",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="clusters of equal size whose centres are apart",
    prediction="category",
)
