"""What rCIP and rH share: the cross-entropies of all pairs of clusters, each seen as a Gaussian.

    h_ij = -ln ∫ p_i p_j = ½ [(mu_i - mu_j)ᵀ M⁻¹ (mu_i - mu_j) + ln|M| + d ln 2π],  M = Σ_i + Σ_j

Every covariance is the unbiased one plus δI, as in NI. An index of this kind provides ``combine``,
which makes a score of the h of all pairs; the rest is here.

A trial needs few factorisations. When x joins a cluster of n samples, Σ' = S/n + uuᵀ/(n+1) + δI
with u = x - mu, and mu' = mu + t u, t = 1/(n+1). So with A = S_i/n_i + δI + Σ_j = LLᵀ, kept for
every ordered pair, and w = L⁻¹u, z = L⁻¹(mu_i - mu_j), q = wᵀw, c = wᵀz:

    ln|M'| = ln|A| + ln(1 + t q)
    (mu_i' - mu_j)ᵀ M'⁻¹ (mu_i' - mu_j) = ‖z - (c/q) w‖² + q (c/q + t)² / (1 + t q)

a sum of squares, in which nothing cancels: z in the direction of w, which is stretched, and across
it. That is a substitution, O(d²), for every pair with a target. What the cluster that x leaves has
to do with the others is computed by factorisation, once for all targets, as is its pair with each.

Up to WIDTH features h of a Gaussian to all clusters is computed for VECTOR of them at a time, from
moments that are kept side by side. That takes a fifteenth of a factorisation for each, so no
factors of pairs are kept there where there are many clusters.

With many clusters, sums over rows are kept too: what a pair adds to the score (``worth``), summed
over the pairs of each cluster. They follow the changes, so they have lost some digits, and a score
made of them is called quick. Only targets are tried that may win by a bound (``bound_moves``, made
finer in stages by ``bound_move``), and by their quick scores; where those leave open who wins, the
scores are computed in full.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, shared
from icvi_artmap._compile.simd import WIDTH, solve_each
from icvi_artmap._compile.vectors import VECTOR, aligned_zeros
from icvi_artmap.indices.base import dispatched, implement
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import cholesky
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.indices.shared.ridge import ridge
from icvi_artmap.samples.moments import Moments

#: Small numbers. Not plain ones: a function is compiled anew for every literal integer.
FIRST, NO_NEW, ONE_NEW, TWO_NEW = np.int64(0), np.int64(0), np.int64(1), np.int64(2)
#: Stages in which the bound of a target is made finer; the first is about what is near.
FINER, BY_NEAR = np.int64(3), np.int64(0)
#: Whether systems are solved for what is asked, or only as far as h needs it.
BACK, FORWARD = np.int64(1), np.int64(0)
#: No cluster.
NOBODY = np.int64(-1)
#: ln|A| of a pair that has to be factorised again.
STALE = math.inf
#: A mean of quadratic forms that has to be computed again.
UNKNOWN = -1.0
#: Numbers in the factors of all pairs; for more, trials factorise what they need (512 MB).
MOST_KEPT = 1 << 26
#: A squared length that counts as none.
NOTHING = 1e-200
#: Sums over rows are computed anew after so many changes of clusters.
CHANGES = np.int64(1024)
#: Clusters that are kept as the nearest ones of each.
NEAR = VECTOR
#: A part of a quadratic form that its factor may have lost by rounding, where the ridge is small.
UNSURE = 1e-3
#: A part of all that was ever added to the sums of pulls that these may have lost by rounding.
PULLS_LOST = 1e-12


class Pairs(NamedTuple):
    """Of every ordered pair i, j: the factor of A = S_i/n_i + δI + Σ_j, and what follows from it.

    Of no pair where that would be too much.
    """

    factor: NDArray[np.float64]  #: (k, k, dp, dp), see the module cholesky
    logdet: NDArray[np.float64]  #: (k, k) STALE while the factor does not belong to the moments
    apart: NDArray[np.float64]  #: (k, k, dp) z


class Sums(NamedTuple):
    """What the pairs of every cluster add up to, with some digits lost; kept with many clusters."""

    row: NDArray[np.float64]  #: (k,)
    total: NDArray[np.float64]  #: (2,) over all pairs, and the most that was since all were summed
    rest: NDArray[np.float64]  #: (1,) scratch: what is left of a cluster, with all others
    reference: NDArray[np.float64]  #: (1,) what they are relative to
    changes: NDArray[np.int64]  #: (1,) of clusters that may be left until all are summed again
    size: NDArray[np.int64]  #: (1,) k when all were summed
    trace: NDArray[np.float64]  #: (1,) of all covariances
    far: NDArray[np.float64]  #: (k, k) the quadratic forms in h
    far_row: NDArray[np.float64]  #: (k,) their sums over rows
    part: NDArray[np.float64]  #: (k, k) what ``of_target`` says of row and column
    parts: NDArray[np.float64]  #: (k,) its sums over rows
    near: NDArray[np.int64]  #: (k, NEAR) clusters with which h is least, or nearly so; else NOBODY
    tried: NDArray[np.bool_]  #: (k,) scratch: whether a target has been tried


class Pulls(NamedTuple):
    """Of every ordered pair i, j: v = A⁻¹(mu_i - mu_j), and sums over j; of no pair if not kept."""

    vector: NDArray[np.float64]  #: (k, k, d)
    total: NDArray[np.float64]  #: (k, d) Σ v
    square: NDArray[np.float64]  #: (k, d, d) Σ vvᵀ
    mass: NDArray[np.float64]  #: (k,) Σ |v|² of all v there have been


class Beside(NamedTuple):
    """Moments of all clusters side by side, a vector of them at a time; of none if d > WIDTH."""

    scatter: NDArray[np.float64]  #: (d, d, kp)
    centre: NDArray[np.float64]  #: (d, kp)
    weight: NDArray[np.float64]  #: (kp,) that of the scatter in the covariance
    share: NDArray[np.float64]  #: (kp,) 1 / n
    work: NDArray[np.float64]  #: (d, d + 1, VECTOR) scratch
    determinant: NDArray[np.float64]  #: (kp,) scratch


class Alone(NamedTuple):
    """Of every cluster: the factor of S/n + 2δI, which all A of its pairs are no less than."""

    factor: NDArray[np.float64]  #: (k, dp, dp); of none if they are kept side by side
    inverse: NDArray[np.float64]  #: (d, d, kp) inverses of all factors side by side, transposed
    stale: NDArray[np.bool_]  #: (k,) whether the factor does not belong to the moments
    reach: NDArray[np.float64]  #: (kp,) scratch: what a sample's squared length is at most
    z: NDArray[np.float64]  #: (kp,) scratch


class Whole(NamedTuple):
    """What bounds of splits ask of the clusters that parts are split off."""

    changes: NDArray[np.int64]  #: (1,) what those of ``Sums`` were when this was found out
    far: NDArray[np.float64]  #: (k,) mean quadratic form in h, by worth; UNKNOWN if not asked yet
    cluster: NDArray[np.int64]  #: (1,) the one asked last, or NOBODY
    inverse: NDArray[np.float64]  #: (d, d) that of its S/n + 2δI


class Few(NamedTuple):
    """Some clusters, a vector of them, that a Gaussian is compared with first."""

    rows: NDArray[np.int64]  #: (VECTOR,) their numbers
    h: NDArray[np.float64]  #: (VECTOR,)
    beside: Beside  #: their moments, side by side


class Room(NamedTuple):
    """Scratch. Vectors of length dp are zero from d on."""

    matrix: NDArray[np.float64]  #: (dp, dp) a factorisation
    one: NDArray[np.float64]  #: (dp, dp) covariance of a new cluster
    other: NDArray[np.float64]  #: (dp, dp) covariance of another
    mean_one: NDArray[np.float64]  #: (d,)
    mean_other: NDArray[np.float64]  #: (d,)
    u: NDArray[np.float64]  #: (dp,)
    z: NDArray[np.float64]  #: (dp,)
    block: NDArray[np.float64]  #: (BLOCK,)
    squared: NDArray[np.float64]  #: (kp,) the quadratic forms in the last h computed


class GaussiansState(NamedTuple):
    """The state of such an index; each has a type of its own for dispatch."""

    moments: Moments
    delta: float  #: ridge
    term: NDArray[np.float64]  #: (k, k) h
    changed: NDArray[np.bool_]  #: (1,) whether a cluster has changed since ``cached`` was computed
    cached: NDArray[np.float64]  #: (k, k) room for what an index makes of ``term``
    reference: NDArray[np.float64]  #: (1,) what ``cached`` is relative to
    pairs: Pairs
    sums: Sums
    alone: Alone
    whole: Whole
    beside: Beside
    few: Few
    pulls: Pulls
    first: NDArray[np.float64]  #: (k,) scratch: h of a new cluster
    second: NDArray[np.float64]  #: (k,) scratch: h of another
    room: Room
    scratch: NDArray[np.float64]  #: (dp,)


def make_pulls(k: int, d: int) -> Pulls:
    kept = k if k * k * d <= MOST_KEPT else 0
    return Pulls(
        vector=np.zeros((kept, kept, d)),
        total=np.zeros((kept, d)),
        square=np.zeros((kept, d, d)),
        mass=np.zeros(kept),
    )


def make_beside(k: int, d: int) -> Beside:
    across = -(-k // VECTOR) * VECTOR if d <= WIDTH else 0
    return Beside(
        scatter=aligned_zeros((d, d, across)),
        centre=aligned_zeros((d, across)),
        weight=aligned_zeros(across),
        share=aligned_zeros(across),
        work=aligned_zeros((d, d + 1, VECTOR)),
        determinant=aligned_zeros(across),
    )


def make_alone(k: int, d: int) -> Alone:
    side, across = cholesky.padded(d), -(-k // VECTOR) * VECTOR
    beside = d <= WIDTH
    return Alone(
        factor=aligned_zeros((0 if beside else k, side, side)),
        inverse=aligned_zeros((d, d, across if beside else 0)),
        stale=np.ones(k, np.bool_),
        reach=aligned_zeros(across),
        z=aligned_zeros(across),
    )


def make_fields(moments: Moments, total: Moments) -> GaussiansState:
    k, d = moments.mean.shape
    side = cholesky.padded(d)
    at_once = d <= WIDTH and k > rws.FEW
    kept = k if k * k * side * side <= MOST_KEPT and not at_once else 0
    return GaussiansState(
        moments=moments,
        delta=ridge(d),
        term=np.zeros((k, k)),
        changed=np.ones(1, np.bool_),
        cached=np.zeros((k, k)),
        reference=np.zeros(1),
        pairs=Pairs(
            factor=aligned_zeros((kept, kept, side, side)),
            logdet=np.full((k, k), STALE),
            apart=aligned_zeros((kept, kept, side)),
        ),
        sums=Sums(
            row=np.zeros(k),
            total=np.zeros(2),
            rest=np.zeros(1),
            reference=np.zeros(1),
            changes=np.zeros(1, np.int64),
            size=np.zeros(1, np.int64),
            trace=np.zeros(1),
            far=np.zeros((k, k)),
            far_row=np.zeros(k),
            part=np.zeros((k, k)),
            parts=np.zeros(k),
            near=np.full((k, NEAR), NOBODY),
            tried=np.zeros(k, np.bool_),
        ),
        pulls=make_pulls(0, d),
        alone=make_alone(k, d),
        whole=Whole(
            changes=np.zeros(1, np.int64),
            far=np.full(k, UNKNOWN),
            cluster=np.full(1, NOBODY),
            inverse=np.zeros((d, d)),
        ),
        beside=make_beside(k, d),
        few=Few(np.zeros(VECTOR, np.int64), np.zeros(VECTOR), make_beside(VECTOR, d)),
        first=np.empty(k),
        second=np.empty(k),
        room=Room(
            matrix=aligned_zeros((side, side)),
            one=aligned_zeros((side, side)),
            other=aligned_zeros((side, side)),
            mean_one=np.empty(d),
            mean_other=np.empty(d),
            u=aligned_zeros(side),
            z=aligned_zeros(side),
            block=aligned_zeros(cholesky.BLOCK),
            squared=aligned_zeros(-(-k // VECTOR) * VECTOR),
        ),
        scratch=np.empty(side),
    )


@dispatched
def combine(state, i, j, n_new, pair):
    """Score of the pairs without clusters i and j, and with so many new ones.

    ``state.first`` and ``state.second`` have the h of the new ones to the others, ``pair`` is that
    of the two to each other.
    """


@dispatched
def refer(state):
    """Begin to sum anew; what the worths of all pairs are relative to, from the present h."""


@dispatched
def worth(state, h):
    """What a pair with this h adds to the sum that the score is made of."""


@dispatched
def quick_score(state, total):
    """The score of that sum; not a number if it may have lost too many digits."""


@dispatched
def doubt(state):
    """What a quick score may have lost, beside a part of itself."""


@dispatched
def of_pairs(state, i, target, out):
    """out[row]: what bounds need to know of the pair of i and row, to be summed.

    The target of moves is i, if ``target``, or row.
    """


@dispatched
def bound_moves(state, x, src, out):
    """out[i]: no less than the score of a move of x from src to i; whether these can be used.

    ``second`` has the h of what is left of src, ``sums.rest`` what they are worth.
    """


@dispatched
def bound_move(state, x, src, i, stage):
    """No less than the score of a move of x from src to i, and nearer to it from stage to stage."""


@dispatched
def bound_merge(state, i, j):
    """No less than the score with clusters i and j merged."""


@dispatched
def bound_rest(state, i, parts, p):
    """No more than what is worth the rest of cluster i, without a part, with all other clusters."""


@dispatched
def bound_known(state, i, j, known):
    """No less than the score without clusters i and j, and with new ones.

    ``known``: what some of their pairs are worth together.
    """


@inline
def kept_sum(table, i, j, k):
    """Sum over the pairs without clusters i and j; taking these away would lose digits."""
    total = 0.0
    for a in range(k):
        if a != i and a != j:
            for b in range(a + 1, k):
                if b != i and b != j:
                    total += table[a, b]
    return total


@inline
def _covariance(target, scatter, other, sign, weight, u, n, delta):
    """target = (S + sign × S_other + weight uuᵀ) / (n - 1) + δI; δI of a single sample."""
    d = scatter.shape[0]
    if n > 1:
        cholesky.load_changed(target, scatter, other, sign, weight, u, n, delta, FIRST, d)
        return
    for f in range(d):
        row = target[f]
        for g in range(d):
            row[g] = 0.0
        row[f] = delta


@inline
def _plain_covariance(target, m, i, u, delta):
    """Σ_i of the moments m; ``u`` is any vector."""
    _covariance(target, m.scatter[i], m.scatter[i], 0.0, 0.0, u, m.n[i], delta)


@shared
def _factorise(a, covariance, scatter, divisor, delta, d, block):
    """Factor, with inverted blocks, of covariance + S / divisor + δI; returns the log-determinant.

    The upper triangles of the first d rows are looked at.
    """
    weight = 1.0 / divisor
    for f in range(d):
        row, row_c, row_s = a[f, f:], covariance[f, f:], scatter[f, f:]
        for g in range(d - f):
            row[g] = row_c[g] + weight * row_s[g]
        row[0] += delta
        cholesky.clear_left(a, f)
    logdet = cholesky.eliminate(a, FIRST, d)
    cholesky.invert_blocks(a, d, block)
    return logdet


@inline
def _entropy(squared, logdet, d):
    return 0.5 * (squared + logdet + d * math.log(2.0 * math.pi))


@inline
def _pair(moments, room, delta, covariance, mean, row):
    """h of a Gaussian and the present cluster ``row``."""
    m, d = moments, mean.shape[0]
    divisor = max(m.n[row] - 1.0, 1.0)
    a = room.matrix
    logdet = _factorise(a, covariance, m.scatter[row], divisor, delta, d, room.block)
    squared = cholesky.quadratic(a, mean, m.mean[row], room.u, room.z, FIRST, 0.0, np.inf)
    room.squared[row] = squared
    return _entropy(squared, logdet, d)


@inline
def _keep_beside(state, i):
    """The moments of cluster i, as they are now."""
    m, beside, d = state.moments, state.beside, state.moments.mean.shape[1]
    if beside.weight.shape[0] == 0:
        return
    beside.weight[i] = 1.0 / max(m.n[i] - 1.0, 1.0)
    beside.share[i] = 1.0 / max(m.n[i], 1.0)
    for f in range(d):
        beside.centre[f, i] = m.mean[i, f]
        for g in range(f, d):
            beside.scatter[f, g, i] = m.scatter[i, f, g]


@inline
def _solve_beside(beside, room, delta, matrix, mean, weights, at, back):
    """For the clusters from ``at`` on, see ``solve_each``."""
    solve_each(
        beside.scatter,
        beside.centre,
        weights,
        matrix,
        mean,
        beside.work,
        beside.determinant,
        room.squared,
        delta,
        at,
        weights.shape[0],
        matrix.shape[1],
        mean.shape[0],
        back,
    )


@shared
def _to_all(moments, beside, room, delta, covariance, mean, i, j, out):
    """h of a Gaussian to all present clusters but i and j, of which any numbers are told."""
    k, d = moments.size[0], mean.shape[0]
    if beside.weight.shape[0] == 0:
        for row in range(k):
            if row != i and row != j:
                out[row] = _pair(moments, room, delta, covariance, mean, row)
        return
    for at in range(0, k, VECTOR):
        _solve_beside(beside, room, delta, covariance, mean, beside.weight, at, FORWARD)
    for row in range(k):
        out[row] = _entropy(room.squared[row], math.log(beside.determinant[row]), d)


@inline
def _to_others(state, covariance, mean, i, j, out):
    m, beside, room = state.moments, state.beside, state.room
    _to_all(m, beside, room, state.delta, covariance, mean, i, j, out)


@inline
def _of_new(state):
    """h of the two new clusters in ``room`` to each other."""
    room, a, d = state.room, state.room.matrix, state.moments.mean.shape[1]
    logdet = _factorise(a, room.one, room.other, 1.0, 0.0, d, room.block)
    one, other = room.mean_one, room.mean_other
    squared = cholesky.quadratic(a, one, other, room.u, room.z, FIRST, 0.0, np.inf)
    return _entropy(squared, logdet, d)


@shared
def _to_few(moments, few, room, delta, covariance, mean, count):
    """h of a Gaussian to the first so many of the few."""
    m, beside, d = moments, few.beside, mean.shape[0]
    if beside.weight.shape[0] == 0:
        for at in range(count):
            few.h[at] = _pair(m, room, delta, covariance, mean, few.rows[at])
        return
    for at in range(count):
        row = few.rows[at]
        beside.weight[at] = 1.0 / max(m.n[row] - 1.0, 1.0)
        for f in range(d):
            beside.centre[f, at] = m.mean[row, f]
            for g in range(f, d):
                beside.scatter[f, g, at] = m.scatter[row, f, g]
    _solve_beside(beside, room, delta, covariance, mean, beside.weight, FIRST, FORWARD)
    for at in range(count):
        few.h[at] = _entropy(room.squared[at], math.log(beside.determinant[at]), d)


@inline
def choose_near(state, i, j, but):
    """The few become clusters near i and j, which may be the same, without another one.

    Returns how many they are.
    """
    near, rows, count = state.sums.near, state.few.rows, 0
    for place in range(NEAR if i == j else NEAR // 2):
        for c in (i, j):
            row = near[c, place]
            new = row != NOBODY and row != i and row != j and row != but
            for at in range(count):
                new = new and rows[at] != row
            if new:
                rows[count] = row
                count += 1
    return count


@inline
def choose_large(state, i, src, least, row):
    """The few become the next clusters, from ``row`` on, of which the part in i is so large.

    Returns how many they are, and where to go on.
    """
    k, part, rows, count = state.moments.size[0], state.sums.part[i], state.few.rows, 0
    while row < k and count < VECTOR:
        rows[count] = row
        count += part[row] >= least and row != i and row != src
        row += 1
    return count, row


@inline
def choose_close(state, mean, i):
    """The few become clusters whose centres are close to a mean, without i; returns how many.

    Every VECTOR-th cluster is compared with each other: the closest of all is among them.
    """
    k, rows = state.moments.size[0], state.few.rows
    apart, centres = state.alone.z, state.beside.centre
    if state.beside.weight.shape[0] == 0:
        return choose_near(state, i, i, NOBODY)
    for row in range(apart.shape[0]):
        apart[row] = 0.0
    for f in range(mean.shape[0]):
        centre, at = centres[f], mean[f]
        for row in range(apart.shape[0]):
            apart[row] += (centre[row] - at) * (centre[row] - at)
    apart[i] = np.inf
    for at in range(VECTOR):
        rows[at] = at
    for row in range(k):
        at = row % VECTOR
        if apart[row] < apart[rows[at]]:
            rows[at] = row
    return VECTOR


@inline
def all_worth(state, i, j, table):
    """What the pairs of a new cluster with all that are left without i and j are worth."""
    total = 0.0
    for row in range(state.moments.size[0]):
        if row != i and row != j:
            total += worth(state, table[row])
    return total


@inline
def known_of(state, covariance, mean, count):
    """What the pairs of a Gaussian with the few are worth."""
    total, few = 0.0, state.few
    _to_few(state.moments, few, state.room, state.delta, covariance, mean, count)
    for at in range(count):
        total += worth(state, few.h[at])
    return total


@inline
def _is_near(state, i, row):
    """Put a cluster in place of the last one near i, if it is nearer."""
    near, term = state.sums.near[i], state.term[i]
    last, there = near[NEAR - 1], False
    for place in range(NEAR):
        there = there or near[place] == row
    if not there and (last == NOBODY or term[row] < term[last]):
        near[NEAR - 1] = row


@inline
def _renew_near(state, i):
    """The clusters nearest to i, in order."""
    near, term = state.sums.near[i], state.term[i]
    for place in range(NEAR):
        near[place] = NOBODY
    for row in range(state.moments.size[0]):
        last = near[NEAR - 1]
        if row != i and (last == NOBODY or term[row] < term[last]):
            place = NEAR - 1
            while place > 0 and (near[place - 1] == NOBODY or term[row] < term[near[place - 1]]):
                near[place] = near[place - 1]
                place -= 1
            near[place] = row


@inline
def _exchange(state, i, row, h, squared):
    """The sums over row ``row`` with another h of two clusters; by how much they are more."""
    sums, gain = state.sums, worth(state, h) - worth(state, state.term[i, row])
    sums.row[row] += gain
    sums.far_row[row] += squared - sums.far[i, row]
    return gain


@inline
def _exchange_parts(state, i):
    """The sums over rows with other entries of i."""
    sums, k = state.sums, state.moments.size[0]
    of_pairs(state, i, True, state.first)
    of_pairs(state, i, False, state.second)
    sums.parts[i] = 0.0
    for row in range(k):
        if row != i:
            sums.part[i, row] = state.first[row]
            sums.parts[i] += state.first[row]
            sums.parts[row] += state.second[row] - sums.part[row, i]
            sums.part[row, i] = state.second[row]


@inline
def _update_cluster(state, i, summed):
    m, room, sums = state.moments, state.room, state.sums
    gain, far = 0.0, 0.0
    state.alone.stale[i] = True
    _plain_covariance(room.one, m, i, room.u, state.delta)
    _to_others(state, room.one, m.mean[i], i, i, state.first)
    kept = state.pairs.factor.shape[0] > 0
    for row in range(m.size[0]):
        if kept:
            state.pairs.logdet[i, row] = STALE
            state.pairs.logdet[row, i] = STALE
        if row != i:
            h, squared = state.first[row], room.squared[row]
            if summed:
                gain += _exchange(state, i, row, h, squared)
                far += squared
            state.term[i, row] = h
            state.term[row, i] = h
            sums.far[i, row] = squared
            sums.far[row, i] = squared
    if summed:
        _exchange_parts(state, i)
        _renew_near(state, i)
        for row in range(m.size[0]):
            if row != i:
                _is_near(state, row, i)
        sums.row[i] += gain
        sums.total[0] += gain
        sums.far_row[i] = far


@inline
def update(state, i, j):
    """Sums follow moves; after other changes, which come together, all are summed again."""
    sums = state.sums
    if i == j or sums.size[0] != state.moments.size[0]:
        sums.changes[0] = 0
    summed = sums.changes[0] > 0
    _keep_beside(state, i)
    _keep_beside(state, j)
    _update_cluster(state, i, summed)
    if i != j:
        _update_cluster(state, j, summed)
    if summed:
        sums.changes[0] -= 1
        sums.trace[0] = _traces(state)
        sums.total[1] = max(sums.total[1], sums.total[0])
        if np.isnan(quick_score(state, sums.total[0])):
            sums.changes[0] = 0
    state.changed[0] = True


@inline
def trace(state, n, compactness):
    """Of the covariance of a cluster."""
    spread = compactness / (n - 1.0) if n > 1 else 0.0
    return spread + state.moments.mean.shape[1] * state.delta


@inline
def _traces(state):
    m, total = state.moments, 0.0
    for row in range(m.size[0]):
        total += trace(state, m.n[row], m.compactness[row])
    return total


@inline
def renew_sums(state):
    """Sum over all rows, unless sums that can be relied on are there."""
    sums, k = state.sums, state.moments.size[0]
    if sums.changes[0] > 0:
        return
    sums.reference[0] = refer(state)
    sums.total[0] = 0.0
    for row in range(k):
        sums.row[row] = 0.0
        sums.parts[row] = 0.0
        sums.far_row[row] = 0.0
        of_pairs(state, row, True, state.first)
        for column in range(k):
            if column != row:
                sums.row[row] += worth(state, state.term[row, column])
                sums.part[row, column] = state.first[column]
                sums.parts[row] += sums.part[row, column]
                sums.far_row[row] += sums.far[row, column]
        sums.total[0] += 0.5 * sums.row[row]
        _renew_near(state, row)
    sums.total[1] = sums.total[0]
    sums.trace[0] = _traces(state)
    sums.size[0] = k
    sums.changes[0] = CHANGES
    state.whole.changes[0] = 0


@inline
def _solve_back(a, z, v, d):
    """v with Uv = z, from a factor with inverted blocks; z is changed."""
    for start in range((d - 1) // cholesky.BLOCK * cholesky.BLOCK, -1, -cholesky.BLOCK):
        stop = min(start + cholesky.BLOCK, d)
        for f in range(start, stop):
            for g in range(stop, d):
                z[f] -= a[f, g] * v[g]
        for f in range(start, stop):
            v[f] = 0.0
            for g in range(f, stop):
                v[f] += a[f, g] * z[g]


@inline
def _add_pull(pulls, i, v, sign):
    """To the sums of target i."""
    total, square = pulls.total[i], pulls.square[i]
    for f in range(v.shape[0]):
        part = sign * v[f]
        total[f] += part
        pulls.mass[i] += v[f] * v[f]
        row = square[f]
        for g in range(v.shape[0]):
            row[g] += part * v[g]


@inline
def _renew_pull(state, i, row):
    """v of a pair and the sums over it; returns h with A in place of M."""
    m, room, v = state.moments, state.room, state.pulls.vector[i, row]
    d = v.shape[0]
    _add_pull(state.pulls, i, v, -1.0)
    _plain_covariance(room.other, m, row, room.u, state.delta)
    a, n = room.matrix, float(m.n[i])
    logdet = _factorise(a, room.other, m.scatter[i], n, state.delta, d, room.block)
    squared = cholesky.quadratic(a, m.mean[i], m.mean[row], room.u, room.z, FIRST, 0.0, np.inf)
    _solve_back(a, room.z, v, d)
    _add_pull(state.pulls, i, v, 1.0)
    return _entropy(squared, logdet, d)


@inline
def _renew_pulls_beside(state, i, target, out):
    """The same for all pairs of i, a vector of them at a time."""
    m, room, beside, pulls = state.moments, state.room, state.beside, state.pulls
    k, d, matrix, sign = m.size[0], m.mean.shape[1], room.other, 1.0 if target else -1.0
    if target:
        cholesky.load(matrix, m.scatter[i], float(m.n[i]), state.delta)
    else:
        _plain_covariance(matrix, m, i, room.u, state.delta)
    weights = beside.weight if target else beside.share
    for at in range(0, k, VECTOR):
        _solve_beside(beside, room, state.delta, matrix, m.mean[i], weights, at, BACK)
        for row in range(at, min(at + VECTOR, k)):
            if row != i:
                one, other = (i, row) if target else (row, i)
                v = pulls.vector[one, other]
                _add_pull(pulls, one, v, -1.0)
                for f in range(d):
                    v[f] = sign * beside.work[f, d, row - at]
                _add_pull(pulls, one, v, 1.0)
    for row in range(k):
        out[row] = _entropy(room.squared[row], math.log(beside.determinant[row]), d)


@inline
def renew_pulls(state, i, target, out):
    """v of all pairs of i, and the sums over them; out[row]: by how much h grows with A for M."""
    k = state.moments.size[0]
    if state.beside.weight.shape[0] > 0:
        _renew_pulls_beside(state, i, target, out)
    else:
        for row in range(k):
            if row != i:
                out[row] = _renew_pull(state, i if target else row, row if target else i)
    for row in range(k):
        out[row] -= state.term[i, row]


@inline
def pulled(state, x, i, src):
    """No more than Σ (1 - c)² over the pairs of cluster i but that with src; and |x - mu_i|².

    c = uᵀv, u = x - mu_i. What sums may have lost by rounding is taken off.
    """
    k, d, pulls, mean = state.moments.size[0], x.shape[0], state.pulls, state.moments.mean[i]
    result, of_src, length = k - 1.0, 0.0, 0.0
    for f in range(d):
        u = x[f] - mean[f]
        along = 0.0
        for g in range(d):
            along += pulls.square[i, f, g] * (x[g] - mean[g])
        result += u * (along - 2.0 * pulls.total[i, f])
        of_src += u * pulls.vector[i, src, f]
        length += u * u
    lost = PULLS_LOST * (k + pulls.mass[i]) * (1.0 + length)
    return result - (1.0 - of_src) * (1.0 - of_src) - lost


@inline
def _renew_alone(moments, alone, room, delta, i):
    """The factor of a cluster that has changed."""
    d, kept = moments.mean.shape[1], alone.factor.shape[0] > 0
    a = alone.factor[i] if kept else room.matrix
    cholesky.load(a, moments.scatter[i], float(moments.n[i]), 2.0 * delta)
    cholesky.eliminate(a, FIRST, d)
    cholesky.invert_blocks(a, d, room.block)
    if not kept:
        for r in range(d):
            for c in range(r + 1):
                alone.inverse[r, c, i] = a[c, r]
    alone.stale[i] = False


@shared
def _reach_all(moments, beside, alone, room, delta, x):
    m, q, z, k, d = moments, alone.reach, alone.z, moments.size[0], x.shape[0]
    for i in range(k):
        if alone.stale[i]:
            _renew_alone(m, alone, room, delta, i)
    if alone.factor.shape[0] > 0:
        for i in range(k):
            a = alone.factor[i]
            q[i] = cholesky.quadratic(a, x, m.mean[i], room.u, room.z, FIRST, 0.0, np.inf)
    else:
        for i in range(q.shape[0]):
            q[i] = 0.0
        for r in range(d):
            for i in range(z.shape[0]):
                z[i] = 0.0
            for c in range(r + 1):
                row, centre, of_x = alone.inverse[r, c], beside.centre[c], x[c]
                for i in range(z.shape[0]):
                    z[i] += row[i] * (of_x - centre[i])
            for i in range(z.shape[0]):
                q[i] += z[i] * z[i]
    for i in range(k):
        q[i] *= 1.0 + UNSURE


@inline
def reach_all(state, x):
    """``reach`` is no less than q = uᵀA⁻¹u, u = x - mu_i, for the pairs of i with any other."""
    _reach_all(state.moments, state.beside, state.alone, state.room, state.delta, x)


@inline
def ask_whole(state, i):
    """What there is to know of cluster i before parts are split off."""
    whole, alone, d, total, far = state.whole, state.alone, state.moments.mean.shape[1], 0.0, 0.0
    if whole.changes[0] != state.sums.changes[0]:
        whole.changes[0] = state.sums.changes[0]
        whole.far[:] = UNKNOWN
        whole.cluster[0] = NOBODY
    if whole.far[i] == UNKNOWN:
        for row in range(state.moments.size[0]):
            if row != i:
                share = worth(state, state.term[i, row])
                total += share
                far += share * state.sums.far[i, row]
        whole.far[i] = far / total if total > 0.0 else 0.0
    if whole.cluster[0] == i:
        return
    if alone.stale[i]:
        _renew_alone(state.moments, alone, state.room, state.delta, i)
    for f in range(d):
        for g in range(d):
            entry = 0.0
            for r in range(max(f, g), d):
                entry += alone.inverse[r, f, i] * alone.inverse[r, g, i]
            whole.inverse[f, g] = entry
    whole.cluster[0] = i


@inline
def taken_away(state, i, parts, p):
    """How much less the covariance of cluster i is without a part, and how far its mean moves.

    With M of any of its pairs: the matrix that is taken away is no more than the first number times
    M, and the second one is no less than the quadratic form of the way of the mean, with M⁻¹. M is
    no less than S/n + 2δI, and the trace is no less than any eigenvalue. ``whole`` is asked first.
    """
    m, inverse, d = state.moments, state.whole.inverse, state.moments.mean.shape[1]
    n, n_p = m.n[i], parts.n[p]
    trace, squared = 0.0, 0.0
    for f in range(d):
        u, along = parts.mean[p, f] - m.mean[i, f], 0.0
        for g in range(d):
            spread = parts.scatter[p, f, g] if f < g else parts.scatter[p, g, f]
            trace += inverse[f, g] * spread
            along += inverse[f, g] * (parts.mean[p, g] - m.mean[i, g])
        squared += u * along
    left = n - n_p
    lost = (trace + n * (n_p / left) * squared) / (n - 1)
    return lost * (1.0 + UNSURE), (n_p / left) ** 2 * squared * (1.0 + UNSURE)


@inline
def left_over(state, i, src):
    """Sum over the pairs without i and src, which may be the same."""
    sums = state.sums
    if i == src:
        return sums.total[0] - sums.row[i]
    both = sums.row[i] + sums.row[src] - worth(state, state.term[i, src])
    return sums.total[0] - both


@inline
def score(state):
    if state.moments.size[0] == 1:
        return -np.inf
    return combine(state, NOBODY, NOBODY, NO_NEW, 0.0)


@inline
def _replaced_by_one(state, i, j):
    """Score with clusters i and j replaced by one with the h in ``first``."""
    return combine(state, i, j, ONE_NEW, 0.0) if state.moments.size[0] > 2 else -np.inf


@shared
def _renew_pair(moments, pairs, room, i, j, delta):
    """Factor A = S_i/n_i + δI + Σ_j, and z."""
    m, a, d = moments, pairs.factor[i, j], moments.mean.shape[1]
    _plain_covariance(room.other, m, j, room.u, delta)
    n, s_i = float(m.n[i]), m.scatter[i]
    pairs.logdet[i, j] = _factorise(a, room.other, s_i, n, delta, d, room.block)
    cholesky.quadratic(a, m.mean[i], m.mean[j], room.u, room.z, FIRST, 0.0, np.inf)
    kept = pairs.apart[i, j]
    for r in range(kept.shape[0]):
        kept[r] = room.z[r]


@inline
def _after_adding(state, x, i, row):
    """h of cluster i with x and cluster ``row``, by the lemma."""
    m, pairs, w = state.moments, state.pairs, state.room.z
    u, z, t = state.room.u, pairs.apart[i, row], 1.0 / (m.n[i] + 1)
    q = cholesky.quadratic(pairs.factor[i, row], x, m.mean[i], u, w, FIRST, 0.0, np.inf)
    along = 0.0
    if q > NOTHING:
        for r in range(z.shape[0]):
            along += w[r] * z[r]
        along /= q
    squared = (along + t) * (along + t) * q / (1.0 + t * q)
    for r in range(z.shape[0]):
        across = z[r] - along * w[r]
        squared += across * across
    return _entropy(squared, pairs.logdet[i, row] + math.log1p(t * q), x.shape[0])


@inline
def _grow(state, x, i):
    """Mean and covariance of cluster i with x, to ``mean_one`` and ``one``."""
    m, room = state.moments, state.room
    n = m.n[i]
    for f in range(x.shape[0]):
        room.u[f] = x[f] - m.mean[i, f]
        room.mean_one[f] = m.mean[i, f] + room.u[f] / (n + 1)
    s = m.scatter[i]
    _covariance(room.one, s, s, 0.0, n / (n + 1), room.u, n + 1, state.delta)


@inline
def _shrink(state, x, src):
    """Mean and covariance of src without x, to ``mean_other`` and ``other``."""
    m, room = state.moments, state.room
    n = m.n[src]
    for f in range(x.shape[0]):
        room.u[f] = x[f] - m.mean[src, f]
        room.mean_other[f] = m.mean[src, f] - room.u[f] / (n - 1)
    s = m.scatter[src]
    _covariance(room.other, s, s, 0.0, -n / (n - 1), room.u, n - 1, state.delta)


@inline
def _renew_pairs(state, src):
    """Factor the pairs that a move out of src asks for; ``room`` is theirs while that is done."""
    m, pairs = state.moments, state.pairs
    for i in range(m.size[0]):
        for row in range(m.size[0]):
            if i != row and i != src and row != src and pairs.logdet[i, row] == STALE:
                _renew_pair(m, pairs, state.room, i, row, state.delta)


@inline
def _renew_pairs_of(state, x, i, src):
    """Factor what a move from src to i asks for; src without x is in ``room`` after that, too."""
    m, pairs, renewed = state.moments, state.pairs, False
    for row in range(m.size[0]):
        if i != row and row != src and pairs.logdet[i, row] == STALE:
            _renew_pair(m, pairs, state.room, i, row, state.delta)
            renewed = True
    if renewed:
        _shrink(state, x, src)


@inline
def prepare(state, x, src, i):
    """What is asked of target i: its pairs, and that with what is left of src."""
    if state.pairs.factor.shape[0] > 0:
        _renew_pairs_of(state, x, i, src)
    _grow(state, x, i)


@inline
def known_of_target(state, x, i, count):
    """What the pairs of target i, with x, and the few are worth."""
    few, room, total = state.few, state.room, 0.0
    if state.pairs.factor.shape[0] == 0:
        return known_of(state, room.one, room.mean_one, count)
    for at in range(count):
        total += worth(state, _after_adding(state, x, i, few.rows[at]))
    return total


@inline
def _try(state, x, src, i):
    """The h of target i with x to ``first``; returns that to what is left of src."""
    if state.pairs.factor.shape[0] == 0:
        _to_others(state, state.room.one, state.room.mean_one, i, src, state.first)
    else:
        for row in range(state.moments.size[0]):
            if row != i and row != src:
                state.first[row] = _after_adding(state, x, i, row)
    return _of_new(state)


@inline
def _quick(state, i, src, pair):
    """The quick score of a move from src to i; that in full, if it has lost too many digits."""
    rest, of_i = state.sums.rest[0], worth(state, state.second[i])
    total = left_over(state, i, src) + worth(state, pair)
    lost = abs(of_i) > 0.5 * abs(rest)  # digits, if the one were taken from the other
    if not lost:
        total += rest - of_i
    for row in range(state.moments.size[0]):
        if row != i and row != src:
            total += worth(state, state.first[row])
            if lost:
                total += worth(state, state.second[row])
    quick = quick_score(state, total)
    return combine(state, i, src, TWO_NEW, pair) if np.isnan(quick) else quick


@inline
def _loses(state, bound, best):
    """Whether what has this bound is worse than the best by more than rounding."""
    return rws.cannot_win(bound, best - doubt(state))


@inline
def _in_full(state, x, src, out, best):
    """Compute in full the scores that are the best by their quick ones, or so nearly."""
    k, rivals = state.moments.size[0], 0
    for i in range(k):
        rivals += not _loses(state, out[i], best)
    if rivals == 1:
        return
    for i in range(k):
        if not _loses(state, out[i], best):
            if i == src:
                out[i] = score(state)
            else:
                prepare(state, x, src, i)
                out[i] = combine(state, i, src, TWO_NEW, _try(state, x, src, i))


@inline
def leave(state, x, src):
    """The h of what x leaves of src, to ``second``."""
    room = state.room
    _shrink(state, x, src)
    _to_others(state, room.other, room.mean_other, src, src, state.second)


@inline
def leave_many(state, x, src):
    """The same, and what they are worth together."""
    leave(state, x, src)
    total = 0.0
    for row in range(state.moments.size[0]):
        if row != src:
            total += worth(state, state.second[row])
    state.sums.rest[0] = total


@inline
def _most_promising(tried, out, k):
    """Of the targets not tried, the first with the greatest bound; NOBODY if all are."""
    best = int(NOBODY)
    for i in range(k):
        if not tried[i] and (best == NOBODY or not out[i] <= out[best]):
            best = i
    return best


@shared
def _try_some(state, x, src, out):
    """Moves of a sample that is not alone, among many clusters.

    By itself, as the sample loop would take a third longer to compile with it, and be slower.
    """
    k = state.moments.size[0]
    renew_sums(state)
    leave_many(state, x, src)
    if not bound_moves(state, x, src, out):
        for i in range(k):
            out[i] = np.inf
    out[src] = quick_score(state, state.sums.total[0])
    if np.isnan(out[src]):
        out[src] = score(state)
    best, tried = out[src], state.sums.tried
    for i in range(k):
        tried[i] = i == src
    for stage in range(FINER + k):
        for i in range(k if stage < FINER else 0):
            if not (tried[i] or _loses(state, out[i], best)):
                out[i] = min(out[i], bound_move(state, x, src, i, stage))
        i = _most_promising(tried, out, k)
        if i == NOBODY or _loses(state, out[i], best):
            break
        prepare(state, x, src, i)
        out[i] = _quick(state, i, src, _try(state, x, src, i))
        best = max(best, out[i])
        tried[i] = True
    _in_full(state, x, src, out, best)
    return cen.scores_resolution(out, k)


@inline
def trial_moves(state, s, x, src, out):
    m, room = state.moments, state.room
    k, kept, empties = m.size[0], state.pairs.factor.shape[0] > 0, m.n[src] == 1
    if k > rws.FEW and not empties:
        return _try_some(state, x, src, out)
    if kept:
        _renew_pairs(state, src)
    if not empties:
        leave(state, x, src)
    for i in range(k):
        if i == src:
            continue
        if not (kept and empties):
            _grow(state, x, i)
        if kept:
            for row in range(k):
                if row != i and row != src:
                    state.first[row] = _after_adding(state, x, i, row)
        else:
            _to_others(state, room.one, room.mean_one, i, src, state.first)
        if empties:
            out[i] = _replaced_by_one(state, i, src)
        else:
            out[i] = combine(state, i, src, TWO_NEW, _of_new(state))
    out[src] = score(state)
    return cen.scores_resolution(out, k)


@inline
def trial_merge(state, i, j, least):
    m, room = state.moments, state.room
    n = m.n[i] + m.n[j]
    bounded = m.size[0] > rws.FEW and least > -np.inf
    if bounded:
        renew_sums(state)
        bound = bound_merge(state, i, j)
        if _loses(state, bound, least):
            return bound
    for f in range(m.mean.shape[1]):
        room.u[f] = m.mean[j, f] - m.mean[i, f]
        room.mean_one[f] = m.mean[i, f] + m.n[j] / n * room.u[f]
    weight = m.n[i] * (m.n[j] / n)
    _covariance(room.one, m.scatter[i], m.scatter[j], 1.0, weight, room.u, n, state.delta)
    if bounded:
        known = known_of(state, room.one, room.mean_one, choose_near(state, i, j, NOBODY))
        bound = bound_known(state, i, j, known)
        if _loses(state, bound, least):
            return bound
    _to_others(state, room.one, room.mean_one, i, j, state.first)
    if bounded:
        bound = bound_known(state, i, j, all_worth(state, i, j, state.first))
        if _loses(state, bound, least):
            return bound
    return _replaced_by_one(state, i, j)


@inline
def _bound_split(state, i, parts, p, pair, least):
    """No less than the score with a part split off; as near to it as it takes to be below least.

    Both are in ``room``; ``pair``: h of the two.
    """
    room, known, rest = state.room, worth(state, pair), 0.0
    bound = bound_known(state, i, i, known)
    for stage in range(3):
        if _loses(state, bound, least):
            break
        if stage == 0:
            rest = bound_rest(state, i, parts, p)
        elif stage == 1:
            count = choose_close(state, room.mean_one, i)
            known += known_of(state, room.one, room.mean_one, count)
        else:
            count = choose_near(state, i, i, NOBODY)
            rest = max(rest, known_of(state, room.other, room.mean_other, count))
        bound = min(bound, bound_known(state, i, i, known + rest))
    return bound


@inline
def trial_split(state, i, parts, p, q, least):
    m, room = state.moments, state.room
    n_p, left = parts.n[p], m.n[i] - parts.n[p]
    bounded = m.size[0] > rws.FEW and least > -np.inf
    if bounded:
        renew_sums(state)
    for f in range(m.mean.shape[1]):
        room.u[f] = parts.mean[p, f] - m.mean[i, f]
        room.mean_one[f] = parts.mean[p, f]
        room.mean_other[f] = m.mean[i, f] - n_p / left * room.u[f]
    weight = -m.n[i] * (n_p / left)
    s_i, s_p = m.scatter[i], parts.scatter[p]
    _covariance(room.other, s_i, s_p, -1.0, weight, room.u, left, state.delta)
    _plain_covariance(room.one, parts, p, room.u, state.delta)
    pair = _of_new(state)
    if bounded:
        bound = _bound_split(state, i, parts, p, pair, least)
        if _loses(state, bound, least):
            return bound
    _to_others(state, room.one, room.mean_one, i, i, state.first)
    _to_others(state, room.other, room.mean_other, i, i, state.second)
    if bounded:
        known = all_worth(state, i, i, state.first) + all_worth(state, i, i, state.second)
        bound = bound_known(state, i, i, known + worth(state, pair))
        if _loses(state, bound, least):
            return bound
    return combine(state, i, i, TWO_NEW, pair)


def carry(state: object, kept: NDArray[np.int64]) -> bool:
    """Row r of the moments has been kept[r] before: so is what is known of pairs.

    Sums are not: a change of any cluster has to be told (``update``) before they are asked for.
    """
    if not isinstance(state, GaussiansState):
        return False
    k = len(kept)
    if not np.array_equal(kept, np.arange(k)):
        tables = (state.term, state.sums.far)
        side_by_side = state.beside[:4] if state.beside.weight.shape[0] > 0 else ()
        for table in tables:
            table[:k, :k] = table[np.ix_(kept, kept)]
        for array in side_by_side:
            array[..., :k] = array[..., kept]
    state.alone.stale[:] = True
    state.pairs.logdet[:] = STALE
    state.sums.changes[0] = 0
    state.changed[0] = True
    return True


def implement_gaussians(state_type: type, **functions: object) -> None:
    """Register an index that is a function of the cross-entropies of all pairs.

    ``combine``, ``refer``, ``worth``, ``quick_score``, ``doubt``, ``of_pairs``,
    ``bound_moves``, ``bound_move``, ``bound_merge``, ``bound_rest`` and ``bound_known``.
    """
    implement(
        state_type,
        update=update,
        score=score,
        trial_moves=trial_moves,
        trial_merge=trial_merge,
        trial_split=trial_split,
        **functions,
    )
