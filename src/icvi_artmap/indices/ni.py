"""Negentropy increment ↓: ½ Σ p_i ln|Σ_i| - Σ p_i ln p_i - ½ ln|Σ_data| (Table CVI_summary).

Every covariance is the unbiased one plus δI, δ = 10^(-12/d); a singleton's is δI. L. F.
Lago-Fernandez, F. Corbacho, "Normality-based validation for crisp clustering", Pattern Recognition
43, 2010.

A trial needs no determinant. With the scatter S of a cluster of n samples and u = x - mu
(determinant lemma on S' = S + n/(n+1) uuᵀ and on S' = S - n/(n-1) uuᵀ):

- after adding x:   ln|Σ'| = ln|S/n + δI| + ln(1 + q/(n+1)),                q = uᵀ(S/n + δI)⁻¹u;
- after removing x: ln|Σ'| = ln|S/(n-2) + δI| + ln(1 - n q/((n-1)(n-2))),   q = uᵀ(S/(n-2) + δI)⁻¹u.

So each cluster has two factors, renewed only when it is looked at after a change. The sum that
gives q only grows: the first LANES components are summed for all clusters at once (stored with the
clusters innermost), and only clusters that still may win go on with the rest. Above LANES features
the data are turned to their principal axes, where the first components tell clusters apart best;
determinants do not notice.

What removing gains is bounded by the adding factor, so that the removing one is needed only where
another cluster costs about as much. As S/n <= S/(n-2) <= S/n × n/(n-2), the two q differ by no more
than that factor; and as ln|tS + δI| is convex in ln t and concave in t, its values at t = 1/n and
1/(n-1), which are known, bound the one at 1/(n-2) from both sides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, shared
from icvi_artmap._compile.simd import rows_held, whiten
from icvi_artmap._compile.vectors import VECTOR, aligned_zeros
from icvi_artmap.indices.base import RESOLUTION, Index, implement
from icvi_artmap.indices.shared import cholesky
from icvi_artmap.indices.shared.criterion import Criterion
from icvi_artmap.indices.shared.ridge import ridge
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import Data

#: Components summed for all clusters at once.
LANES = cholesky.BLOCK
#: The first component. Not a plain 0: a function is compiled anew for every literal integer.
FIRST = np.int64(0)
#: ln(y) >= LN2_PER_BIT × (bits of y - bits of 1): exponent and mantissa read as one number.
LN2_PER_BIT = math.log(2.0) / 2.0**52
BITS_OF_ONE = 1023 << 52
#: Slack for the rounding of that bound.
BOUND_SLACK = 1e-9
#: So many pivots are multiplied before their logarithm is taken.
LOG_EVERY = 8
#: Above this exp overflows.
LOG_HUGE = 700.0
#: The criterion for k: weight of the parameters of a Gaussian, and the part of a sample of mean
#: variance that is added to every cluster. Chosen on generated sets (docs/beyond.md).
WEIGHT, SEEN = 0.75, 0.1
#: Numbers in a table of samples for several clusters: some hundred kilobytes.
TABLE_SIZE = 1 << 16
#: A choice of k is relied on if the criterion of the runner-up is greater by this.
CLEAR = 10.0
#: Share of a determinant that is left without a sample, at least: less is rounding.
LEAST_SHARE = 1e-9
#: A part of a sum of squares that its subtractions may have lost.
ROUNDING = 2e-15
#: Log-determinant of a factor that has to be renewed.
STALE = math.inf


class Factors(NamedTuple):
    """Cholesky factors of S/n + δI or of S/(n-2) + δI of every cluster."""

    factor: NDArray[np.float64]  #: (k, dp, dp), see the module cholesky
    logdet: NDArray[np.float64]  #: (k,) STALE while the factor does not belong to the moments


class Lanes(NamedTuple):
    """The first m components of L⁻¹ of all adding factors, as :func:`whiten` takes them.

    VECTOR clusters lie together, kp = k padded to a multiple, m padded to R.

    Adding costs base + weight ln(y), y = 1 + q rate; removing gains no more and no less than
    base - weight ln(1 - q rate), with a base and a rate for each of the two.
    """

    inverse: NDArray[np.float64]  #: (kp / VECTOR, R, R, VECTOR) L⁻¹, its columns before its rows
    whitened: NDArray[np.float64]  #: (kp / VECTOR, R, VECTOR) L⁻¹ mu
    z: NDArray[np.float64]  #: (kp / VECTOR, R, VECTOR) scratch: L⁻¹ (x - mu)
    q: NDArray[np.float64]  #: (kp,) scratch: their sum
    y: NDArray[np.float64]  #: (kp,) scratch
    bits: NDArray[np.int64]  #: (kp,) y read as integers
    adding: NDArray[np.float64]  #: (3, kp) base, weight, rate
    removing: NDArray[np.float64]  #: (5, kp) weight, most: base, rate, least: base, rate


class NIState(NamedTuple):
    moments: Moments
    n: float  #: N
    delta: float  #: ridge
    data_logdet: float  #: ln|Σ_data|
    term: NDArray[np.float64]  #: (k,) p_i (½ ln|Σ_i| - ln p_i)
    total: NDArray[np.float64]  #: (1,) the index
    apart: NDArray[np.bool_]  #: (k, k) pairs i < j known to be no better if merged
    adding: Factors
    removing: Factors
    lanes: Lanes
    matrix: NDArray[np.float64]  #: (dp, dp) scratch
    scratch: NDArray[np.float64]  #: (dp,) zero from d on
    z: NDArray[np.float64]  #: (dp,) scratch
    block: NDArray[np.float64]  #: (BLOCK,) scratch


def make_state(moments: Moments, total: Moments) -> NIState:
    k, d = moments.mean.shape
    rows, side, n = rows_held(min(d, LANES)), cholesky.padded(d), float(total.n[0])
    delta = ridge(d)
    covariance = mom.symmetric(total.scatter[0]) / (n - 1.0 if n > 1.0 else 1.0) + delta * np.eye(d)
    lanes = -(-k // VECTOR) * VECTOR
    y = aligned_zeros(lanes)
    return NIState(
        moments=moments,
        n=n,
        delta=delta,
        data_logdet=float(np.linalg.slogdet(covariance)[1]),
        term=np.zeros(k),
        total=np.zeros(1),
        apart=np.zeros((k, k), np.bool_),
        adding=Factors(aligned_zeros((k, side, side)), np.full(k, STALE)),
        removing=Factors(aligned_zeros((k, side, side)), np.full(k, STALE)),
        lanes=Lanes(
            inverse=aligned_zeros((lanes // VECTOR, rows, rows, VECTOR)),
            whitened=aligned_zeros((lanes // VECTOR, rows, VECTOR)),
            z=aligned_zeros((lanes // VECTOR, rows, VECTOR)),
            q=aligned_zeros(lanes),
            y=y,
            bits=y.view(np.int64),
            adding=aligned_zeros((3, lanes)),
            removing=aligned_zeros((5, lanes)),
        ),
        matrix=aligned_zeros((side, side)),
        scratch=aligned_zeros(side),
        z=aligned_zeros(side),
        block=aligned_zeros(cholesky.BLOCK),
    )


@inline
def _term(n, logdet, total):
    """A cluster's part of the index: p (½ ln|Σ| - ln p)."""
    return n / total * (0.5 * logdet - math.log(n / total)) if n > 0 else 0.0


@inline
def _logdet(matrix, scatter, n, delta):
    """ln|S/(n-1) + δI|, by factorisation; ln|δI| of a singleton."""
    d = scatter.shape[0]
    if n <= 1:
        return d * math.log(delta)
    cholesky.load(matrix, scatter, n - 1.0, delta)
    return cholesky.eliminate(matrix, FIRST, d)


@inline
def _set_logdet(state, i, logdet):
    """Cluster i has changed; this is its log-determinant now."""
    state.term[i] = _term(state.moments.n[i], logdet, state.n)
    state.adding.logdet[i] = STALE
    state.removing.logdet[i] = STALE
    k, total = state.moments.size[0], -0.5 * state.data_logdet
    for j in range(k):
        state.apart[i, j] = False
        state.apart[j, i] = False
        total += state.term[j]
    state.total[0] = total


@inline
def update(state, i, j):
    m = state.moments
    for turn in range(1 if i == j else 2):
        c = i if turn == 0 else j
        _set_logdet(state, c, _logdet(state.matrix, m.scatter[c], m.n[c], state.delta))


@inline
def score(state):
    return -state.total[0] if state.moments.size[0] > 1 else -np.inf


@inline
def _set_laws(lanes, i, n, d, logdet, term, total):
    """What adding to cluster i costs, and how much removing can gain."""
    p = (n + 1) / total
    lanes.adding[0, i] = p * (0.5 * logdet - math.log(p)) - term
    lanes.adding[1, i] = 0.5 * p
    lanes.adding[2, i] = 1.0 / (n + 1)
    law, p = lanes.removing, (n - 1) / total
    law[0, i] = 0.5 * p
    if n <= 2:
        law[1, i], law[3, i] = np.inf, -np.inf
        return
    value = 2.0 * (term * total / n + math.log(n / total))  # ln|S/(n-1) + δI|
    step, slack = max(value - logdet, 0.0), BOUND_SLACK * p * d
    # ln((n-1)/(n-2)) / ln(n/(n-1)) >= (n - 0.5) / (n - 1.5), as artanh(x) / x rises with x.
    law[1, i] = term - p * (0.5 * (value + step * (n - 0.5) / (n - 1.5)) - math.log(p)) + slack
    law[2, i] = n / ((n - 1.0) * (n - 2.0)) * (1.0 + BOUND_SLACK)
    law[3, i] = term - p * (0.5 * (value + step * n / (n - 2.0)) - math.log(p)) - slack
    law[4, i] = (1.0 - BOUND_SLACK) / (n - 1.0)


@shared
def _renew_adding(moments, adding, lanes, i, delta, term, total, block):
    """Factor S/n + δI and what a trial needs of it."""
    a, n, d = adding.factor[i], moments.n[i], moments.mean.shape[1]
    cholesky.load(a, moments.scatter[i], float(n), delta)
    adding.logdet[i] = cholesky.eliminate(a, FIRST, d)
    cholesky.invert_blocks(a, d, block)
    m, v, lane = min(d, LANES), i // VECTOR, i % VECTOR
    for r in range(block.shape[0]):
        block[r] = 0.0
    for c in range(m):
        row, inverse, mean = a[c], lanes.inverse[v, c], moments.mean[i, c]
        for r in range(block.shape[0]):
            block[r] += row[r] * mean
        for r in range(c, m):
            inverse[r, lane] = row[r]
    for r in range(m):
        lanes.whitened[v, r, lane] = block[r]
    _set_laws(lanes, i, n, d, adding.logdet[i], term, total)


@inline
def _renew_all(state):
    """Renew the adding factors of the clusters that have changed."""
    m, adding, lanes = state.moments, state.adding, state.lanes
    for i in range(m.size[0]):
        if adding.logdet[i] == STALE:
            _renew_adding(m, adding, lanes, i, state.delta, state.term[i], state.n, state.block)


@shared
def _removal_gain(state, src, x):
    """Fall of the index when x leaves src, by the lemma.

    1 - n q/((n-1)(n-2)) is bounded below by |δI| / |S/(n-2) + δI|: that holds it positive whatever
    the rounding.
    """
    m, removing, d = state.moments, state.removing, state.moments.mean.shape[1]
    n, logdet = float(m.n[src]), d * math.log(state.delta)
    if n == 1.0:
        return state.term[src]
    if n > 2.0:
        a = removing.factor[src]
        if removing.logdet[src] == STALE:
            cholesky.load(a, m.scatter[src], n - 2.0, state.delta)
            removing.logdet[src] = cholesky.eliminate(a, FIRST, d)
            cholesky.invert_blocks(a, d, state.block)
        q = cholesky.quadratic(a, x, m.mean[src], state.scratch, state.z, FIRST, 0.0, np.inf)
        share = 1.0 - n / ((n - 1.0) * (n - 2.0)) * q
        if share > 0.0:
            logdet = max(removing.logdet[src] + math.log(share), logdet)
    return state.term[src] - _term(n - 1.0, logdet, state.n)


@inline
def _sum_lanes(lanes, x):
    """z and q of the first components for all clusters, and y = 1 + q rate."""
    q, y, rate = lanes.q, lanes.y, lanes.adding[2]
    m, n_vectors = min(x.shape[0], LANES), q.shape[0] // VECTOR
    whiten(lanes.inverse, lanes.whitened, x, lanes.z, q, m, n_vectors)
    for i in range(VECTOR * n_vectors):
        y[i] = 1.0 + q[i] * rate[i]


@inline
def _resume(state, i):
    """Take over z of cluster i from the lanes: factor, mean, scratch, z and q so far."""
    lanes, z = state.lanes, state.lanes.z[i // VECTOR]
    for r in range(LANES):
        state.z[r] = z[r, i % VECTOR]
    return state.adding.factor[i], state.moments.mean[i], state.scratch, state.z, lanes.q[i]


@inline
def _adding_q(state, x, i, limit):
    """q of adding x to cluster i, from what the lanes have; a lower bound if above ``limit``."""
    if x.shape[0] <= LANES:
        return state.lanes.q[i]
    a, mean, u, z, q = _resume(state, i)
    return cholesky.quadratic(a, x, mean, u, z, np.int64(LANES), q, limit)


@inline
def _gain(base, weight, rate, q, otherwise):
    """A bound of what removing gains, from the q of adding; ``otherwise`` where there is none."""
    share = 1.0 - q * rate
    return base - weight * math.log(share) if share > 0.0 else otherwise


@inline
def _most_gain(base, weight, rate, q):
    """No less than what removing gains, without a logarithm: -ln(1 - t) <= t / (1 - t)."""
    share = 1.0 - q * rate
    return base + weight * (q * rate / share) if share > 0.0 else np.inf


@inline
def _bounded_q(state, x, i):
    """No less than the q of adding x to cluster i, from what the lanes have."""
    q = state.lanes.q[i]
    if x.shape[0] > LANES:
        a, mean, u, z, q = _resume(state, i)
        q = cholesky.bounded_quadratic(a, x, mean, u, z, np.int64(LANES), q, state.delta)
    return q


@inline
def trial_moves(state, s, x, src, out):
    """Fall of the index for every target; for one that cannot win, a bound of it."""
    lanes, law, k = state.lanes, state.lanes.removing[:, src], state.moments.size[0]
    resolution = RESOLUTION * max(1.0, abs(state.total[0]))
    _renew_all(state)
    _sum_lanes(lanes, x)
    base, weight, rate = lanes.adding[0], lanes.adding[1], lanes.adding[2]
    gain = _most_gain(law[1], law[0], law[2], _bounded_q(state, x, src))
    least_gain, best, likely = -np.inf, np.inf, 0
    least = gain + 2.0 * resolution  # a target must cost no more than this to win
    for i in range(k):
        cost = base[i] + weight[i] * (LN2_PER_BIT * (lanes.bits[i] - BITS_OF_ONE) - BOUND_SLACK)
        out[i] = -cost
        likely += cost <= least
    if likely > (-out[src] <= least):
        known = x.shape[0] <= LANES  # every q, so that none need be abandoned
        if not known:
            q = _adding_q(state, x, src, np.inf)
            gain = _gain(law[1], law[0], law[2], q, np.inf)
            least_gain = _gain(law[3], law[0], law[4], q, -np.inf)
            least = gain + 2.0 * resolution
        for i in range(k):
            if -out[i] <= least and i != src:
                q = lanes.q[i]
                if not known:
                    most = (least - base[i]) / weight[i]
                    limit = math.expm1(most) / rate[i] if most < LOG_HUGE else np.inf
                    q = _adding_q(state, x, i, limit)
                cost = base[i] + weight[i] * math.log1p(q * rate[i])
                best = min(best, cost)
                least = min(least, cost + 2.0 * resolution)
                out[i] = -cost
        if known and best <= gain + 2.0 * resolution:
            gain = _gain(law[1], law[0], law[2], lanes.q[src], np.inf)
            least_gain = _gain(law[3], law[0], law[4], lanes.q[src], -np.inf)
    if best < least_gain - 2.0 * resolution:
        gain = least_gain
    elif best <= gain + 2.0 * resolution:
        gain = _removal_gain(state, src, x)
    for i in range(k):
        out[i] += gain
    out[src] = 0.0
    if state.moments.n[src] == 1 and k == 2:
        out[1 - src] = -np.inf
    return resolution


@inline
def move(state, x, src, dst):
    """The log-determinant of dst by the lemma; that of src anew, where the lemma loses digits."""
    m, adding, u, z = state.moments, state.adding, state.scratch, state.z
    _renew_all(state)
    q = cholesky.quadratic(adding.factor[dst], x, m.mean[dst], u, z, FIRST, 0.0, np.inf)
    added = adding.logdet[dst] + math.log1p(q / (m.n[dst] + 1))
    mom.remove(m, src, x, u)
    mom.add(m, dst, x, u)
    _set_logdet(state, dst, added)
    _set_logdet(state, src, _logdet(state.matrix, m.scatter[src], m.n[src], state.delta))


@inline
def _pivot_bound(a, b, part, start, stop):
    """A lower bound of the sum of ln(pivot) over rows ``start`` to ``stop`` - 1.

    Pivots are superadditive, so those of a matrix that is at least part A + (1 - part) B are at
    least part × pivot of A + (1 - part) × pivot of B. Factors with inverted blocks hold
    1 / sqrt(pivot).
    """
    total, product = 0.0, 1.0
    for r in range(start, stop):
        product *= part / (a[r, r] * a[r, r]) + (1.0 - part) / (b[r, r] * b[r, r])
        if r % LOG_EVERY == LOG_EVERY - 1:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@inline
def trial_merge(state, i, j, least):
    """The factorisation is abandoned as soon as it shows that the score is below ``least``.

    With A_i = S_i/n_i + δI, the merged covariance is at least (n_i A_i + n_j A_j) / n: that bounds
    the pivots still to come.
    """
    m, u, d = state.moments, state.scratch, state.moments.mean.shape[1]
    lost = -state.total[0] - least  # no more than that of the score may be lost
    if m.size[0] == 2 or (state.apart[i, j] and lost <= 0.0):
        return -np.inf
    _renew_all(state)
    n = m.n[i] + m.n[j]
    both = state.term[i] + state.term[j]
    # _term(n, most) = both + lost: with a larger log-determinant the score is below ``least``.
    most = 2.0 * ((both + lost) * state.n / n + math.log(n / state.n))
    a, b, part = state.adding.factor[i], state.adding.factor[j], m.n[i] / n
    logdet, start = _pivot_bound(a, b, part, FIRST, d), FIRST
    for f in range(d):
        u[f] = m.mean[i, f] - m.mean[j, f]
    s_i, s_j, weight = m.scatter[i], m.scatter[j], m.n[i] * (m.n[j] / n)
    while start < d and logdet <= most:
        stop = min(start + cholesky.BLOCK, d)
        cholesky.load_changed(state.matrix, s_i, s_j, 1.0, weight, u, n, state.delta, start, stop)
        logdet -= _pivot_bound(a, b, part, start, stop)
        logdet += cholesky.eliminate(state.matrix, start, stop)
        start = stop
    gain = both - _term(n, logdet, state.n)
    state.apart[i, j] = gain <= 0.0
    return gain - state.total[0]


@inline
def trial_split(state, i, parts, p, q, least):
    m, u, n, d = state.moments, state.scratch, state.n, state.moments.mean.shape[1]
    left = m.n[i] - parts.n[p]
    part = _term(parts.n[p], _logdet(state.matrix, parts.scatter[p], parts.n[p], state.delta), n)
    logdet = d * math.log(state.delta)
    if left > 1:
        for f in range(d):
            u[f] = m.mean[i, f] - parts.mean[p, f]
        weight = -m.n[i] * (parts.n[p] / left)
        s_i, s_p = m.scatter[i], parts.scatter[p]
        cholesky.load_changed(state.matrix, s_i, s_p, -1.0, weight, u, left, state.delta, FIRST, d)
        logdet = cholesky.eliminate(state.matrix, FIRST, d)
    return state.term[i] - part - _term(left, logdet, n) - state.total[0]


@inline
def cluster_cost(state, i):
    return state.term[i]


implement(
    NIState,
    update=update,
    score=score,
    trial_moves=trial_moves,
    move=move,
    trial_merge=trial_merge,
    trial_split=trial_split,
    cluster_cost=cluster_cost,
)

# --- beyond the paper: what refinement and the choice of a number of clusters ask -----------------


class Determinants:
    """NI as a sum over clusters, p (½ ln|Σ| - ln p), for refinement to look ahead by."""

    def __init__(self, index: Index, state: NIState) -> None:
        self.index, self.state = index, state
        capacity, d = state.moments.mean.shape
        self._whitening = np.zeros((capacity, d, d))
        self._logdet = np.zeros(capacity)

    @property
    def _k(self) -> int:
        return int(self.state.moments.size[0])

    def of_clusters(self) -> NDArray[np.float64]:
        return self.state.term[: self._k]

    def of_parts(self, n: NDArray[np.int64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
        # Their p are relative to the samples of the parts.
        n_all = n.sum(axis=-1, keepdims=True)
        share = n_all / self.state.n
        return share * (costs - n / n_all * np.log(share))

    def of_merging(self) -> NDArray[np.float64]:
        return self.index.score(self.state) - self.index.trial_merges(self.state, -np.inf)

    def of_adding(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        state, k = self.state, self._k
        n, mean = state.moments.n[:k, None], state.moments.mean[:k, None]
        share = (n + 1) / state.n
        base, cost = 0.5 * self._logdet[:k, None] - np.log(share), np.empty((len(x), k))
        at_once = max(1, TABLE_SIZE // max(1, x.size))
        for first in range(0, k, at_once):
            part = slice(first, min(first + at_once, k))
            white = (x - mean[part]) @ self._whitening[part]
            q = np.einsum("isf,isf->is", white, white)
            rise = share[part] * (base[part] + 0.5 * np.log1p(q / (n[part] + 1)))
            cost[:, part] = (rise - state.term[part, None]).T
        return cost

    def renew(self, clusters: NDArray[np.int64]) -> None:
        """L⁻ᵀ and ln|LLᵀ| of S/n + δI = LLᵀ."""
        m, d = self.state.moments, self.state.moments.mean.shape[1]
        covariances = mom.symmetric(m.scatter[clusters]) / m.n[clusters, None, None]
        factors = np.linalg.cholesky(covariances + self.state.delta * np.eye(d))
        self._whitening[clusters] = np.linalg.inv(factors).swapaxes(1, 2)
        self._logdet[clusters] = 2.0 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)


class Penalised:
    """The criterion for the number of clusters, up to a constant.

    NI itself always prefers more clusters. 2N NI is, up to a constant, minus twice the logarithm of
    the likelihood of a Gaussian per cluster; so the rule is like Schwarz's, with a penalty for
    every parameter, where a parameter counts less the more the ridge δ decides it:

        Σ n_i (Σ ln(λ + δ) - 2 ln p_i) + w Σ e_i ln √(N n_i) + (k - 1) ln N,
        e_i = ½ [(Σ s)² + Σ s²] + Σ s,    s = μ / (μ + δ)

    λ are the eigenvalues of cluster i's covariance with a part of a sample of the mean variance
    within clusters added, so that a few samples that lie on a line by chance are no discovery; μ
    the same with a whole one. Without a ridge, e_i is the number of parameters of a Gaussian,
    d (d + 1) / 2 + d.

    Eigenvalues are computed anew for clusters that have changed since the last call only.
    """

    def __init__(self) -> None:
        self._known = [np.empty(0), np.empty(0), np.empty((0, 0))]
        self._squares = np.empty((0, 0))

    def _renew(self, m: Moments, k: int) -> NDArray[np.float64]:
        """Eigenvalues of the scatter matrices of all k clusters."""
        if len(self._known[0]) != len(m.n):
            self._known = [np.full_like(a, np.nan, float) for a in (m.n, m.compactness, m.mean)]
            self._squares = np.zeros(m.mean.shape)
        n, compactness, mean = (known[:k] for known in self._known)
        differs = (n != m.n[:k]) | (compactness != m.compactness[:k])
        new = np.flatnonzero(differs | (mean != m.mean[:k]).any(axis=1))
        if len(new) > 0:
            squares = np.linalg.eigvalsh(mom.symmetric(m.scatter[new]))
            self._squares[new] = np.maximum(squares, 0.0)
            n[new], compactness[new], mean[new] = m.n[new], m.compactness[new], m.mean[new]
        return self._squares[:k]

    def __call__(self, state: NIState, score: float = 0.0) -> float:
        m = state.moments
        k, d = int(m.size[0]), m.mean.shape[1]
        squares, n = self._renew(m, k), m.n[:k].astype(np.float64)
        within = m.compactness[:k].sum() / (max(state.n - k, 1.0) * d)
        fitted = (squares + SEEN * within) / (n - 1.0 + SEEN)[:, np.newaxis]
        value = n @ (np.log(fitted + state.delta).sum(axis=1) - 2.0 * np.log(n / state.n))
        free = (squares + within) / n[:, np.newaxis]
        s = free / (free + state.delta)
        parameters = 0.5 * (s.sum(axis=1) ** 2 + (s * s).sum(axis=1)) + s.sum(axis=1)
        penalty = WEIGHT * (parameters @ (0.5 * np.log(state.n * n)))
        return float(value + penalty + (k - 1.0) * math.log(state.n))


def left_out(state: NIState, data: Data, labels: NDArray[np.int64]) -> float:
    """The criterion without a penalty, every sample judged by the others of its cluster.

    A cluster of few samples in many dimensions fits them well wherever they are: parameters that
    the penalty does not count. So this is a bound below the criterion that no choice of clusters
    can talk its way past. With the covariance A - c uuᵀ + δI of the others, c = n/((n-1)(n-2)),
    their mean x - n/(n-1) u, and a sample blurred by δ as NI sees it, a sample costs

        ln|A| + ln(1 - cq) + (n/(n-1))² q/(1 - cq) + δ (tr A⁻¹ + c |A⁻¹u|²/(1 - cq)) - d - 2 ln p,

    A = S/(n-2) + δI, q = uᵀA⁻¹u. No sample costs more than it adds to the criterion as a cluster of
    its own: that is for samples that the others of their cluster do not expect, or that have none.
    """
    m, delta = state.moments, state.delta
    k, d = int(m.size[0]), m.mean.shape[1]
    within = m.compactness[:k].sum() / (max(state.n - k, 1.0) * d)
    s = within / (within + delta)
    parameters = 0.5 * ((d * s) ** 2 + d * s * s) + d * s
    alone = d * math.log(within + delta) + (3.0 + 0.5 * WEIGHT * parameters) * math.log(state.n)
    values, axes = np.linalg.eigh(mom.symmetric(m.scatter[:k]))
    n, ends = m.n[:k].astype(np.float64), np.cumsum(m.n[:k])
    judged = n > 2.0
    n[~judged] = 3.0  # any number that can be divided by
    inverse = 1.0 / (np.maximum(values, 0.0) / (n - 2.0)[:, np.newaxis] + delta)
    sorted_rows = data.standardised(np.argsort(labels, kind="stable"))
    q, v = np.zeros(len(labels)), np.zeros(len(labels))
    for i in np.flatnonzero(judged):
        rows = slice(ends[i] - m.n[i], ends[i])
        z = np.square((sorted_rows[rows] - m.mean[i]) @ axes[i])
        q[rows], v[rows] = z @ inverse[i], z @ inverse[i] ** 2
    of, c = np.repeat(np.arange(k), m.n[:k]), n / ((n - 1.0) * (n - 2.0))
    base = delta * inverse.sum(axis=1) - np.log(inverse).sum(axis=1) - d - 2.0 * np.log(n / state.n)
    share = np.maximum(1.0 - c[of] * q, LEAST_SHARE)
    cost = np.log(share) + ((n / (n - 1.0))[of] ** 2 * q + (delta * c)[of] * v) / share + base[of]
    return float(np.where(judged[of], np.minimum(cost, alone), alone).sum())


def _clear(least: float) -> float:
    return CLEAR


INDEX = Index(
    "NI",
    -1,
    needs_scatter=True,
    make_state=make_state,
    purpose="are clusters Gaussian, of whatever shape",
    turns_above=LANES,
    refined=True,
    additive=True,
    gaussian=True,
    compared=True,
    cost=Determinants,
    criterion=Criterion(Penalised, "penalised NI", _clear, left_out),
)
