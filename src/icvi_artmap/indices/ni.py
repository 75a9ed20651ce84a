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
clusters innermost), and only clusters that still may win go on with the rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._jit import inline
from icvi_artmap.indices import cholesky
from icvi_artmap.indices.contract import RESOLUTION, Index, implement
from icvi_artmap.moments import Moments

#: Components summed for all clusters at once.
LANES = cholesky.BLOCK
#: The first component. Not a plain 0: a function is compiled anew for every literal integer.
FIRST = np.int64(0)
#: Clusters are padded to a multiple of this: shorter loops would not be vectorised.
WIDTH = 16
#: ln(y) >= LN2_PER_BIT × (bits of y - bits of 1): exponent and mantissa read as one number.
LN2_PER_BIT = math.log(2.0) / 2.0**52
BITS_OF_ONE = 1023 << 52
#: Slack for the rounding of that bound.
BOUND_SLACK = 1e-9
#: Above this exp overflows.
LOG_HUGE = 700.0
#: Log-determinant of a factor that has to be renewed.
STALE = math.inf


class Factors(NamedTuple):
    """Cholesky factors of S/n + δI or of S/(n-2) + δI of every cluster."""

    factor: NDArray[np.float64]  #: (k, dp, dp), see the module cholesky
    logdet: NDArray[np.float64]  #: (k,) STALE while the factor does not belong to the moments


class Lanes(NamedTuple):
    """The first m components of the adding factors, clusters innermost, and what adding costs.

    cost of adding = base + weight ln(y), y = 1 + q rate.
    """

    lower: NDArray[np.float64]  #: (m, m, kp) L, its diagonal inverted; kp = k padded
    mean: NDArray[np.float64]  #: (m, kp)
    z: NDArray[np.float64]  #: (m + 2, kp) scratch: z; q so far; y
    bits: NDArray[np.int64]  #: (kp,) y read as integers
    law: NDArray[np.float64]  #: (3, kp) base, weight, rate


class NIState(NamedTuple):
    moments: Moments
    n: float  #: N
    delta: float  #: ridge
    data_logdet: float  #: ln|Σ_data|
    term: NDArray[np.float64]  #: (k,) p_i (½ ln|Σ_i| - ln p_i)
    adding: Factors
    removing: Factors
    lanes: Lanes
    matrix: NDArray[np.float64]  #: (d, d) scratch
    scratch: NDArray[np.float64]  #: (dp,) zero from d on
    z: NDArray[np.float64]  #: (dp,) scratch
    block: NDArray[np.float64]  #: (BLOCK,) scratch


def make_state(moments: Moments, total: Moments) -> NIState:
    k, d = moments.mean.shape
    m, side, n = min(d, LANES), cholesky.padded(d), int(total.n[0])
    delta = 10.0 ** (-12.0 / d)
    upper = np.triu(total.scatter[0])
    covariance = (upper + np.triu(upper, 1).T) / max(n - 1, 1) + delta * np.eye(d)
    lanes = -(-k // WIDTH) * WIDTH
    z = np.zeros((m + 2, lanes))
    return NIState(
        moments=moments,
        n=float(n),
        delta=delta,
        data_logdet=float(np.linalg.slogdet(covariance)[1]),
        term=np.zeros(k),
        adding=Factors(np.zeros((k, side, side)), np.full(k, STALE)),
        removing=Factors(np.zeros((k, side, side)), np.full(k, STALE)),
        lanes=Lanes(
            lower=np.zeros((m, m, lanes)),
            mean=np.zeros((m, lanes)),
            z=z,
            bits=z[m + 1].view(np.int64),
            law=np.zeros((3, lanes)),
        ),
        matrix=np.zeros((d, d)),
        scratch=np.zeros(side),
        z=np.zeros(side),
        block=np.zeros(cholesky.BLOCK),
    )


@inline
def _term(n, logdet, total):
    """A cluster's part of the index: p (½ ln|Σ| - ln p)."""
    return n / total * (0.5 * logdet - math.log(n / total)) if n > 0 else 0.0


@inline
def _logdet(matrix, scatter, n, delta):
    """ln|S/(n-1) + δI|, by factorisation; ln|δI| of a singleton."""
    d = matrix.shape[0]
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


@inline
def update(state, i, j):
    m = state.moments
    for c in (i, j):
        _set_logdet(state, c, _logdet(state.matrix, m.scatter[c], m.n[c], state.delta))


@inline
def _total(state):
    total = -0.5 * state.data_logdet
    for i in range(state.moments.size[0]):
        total += state.term[i]
    return total


@inline
def score(state):
    return -_total(state) if state.moments.size[0] > 1 else -np.inf


@inline
def _renew_adding(moments, adding, lanes, i, delta, term, total):
    """Factor S/n + δI and what a trial needs of it."""
    a, n, d = adding.factor[i], moments.n[i], moments.mean.shape[1]
    cholesky.load(a, moments.scatter[i], float(n), delta)
    logdet = cholesky.eliminate(a, FIRST, d)
    for r in range(lanes.mean.shape[0]):
        lanes.mean[r, i] = moments.mean[i, r]
        for c in range(r):
            lanes.lower[r, c, i] = a[c, r]
        lanes.lower[r, r, i] = 1.0 / a[r, r]
    cholesky.invert_blocks(a, d)
    p = (n + 1) / total
    lanes.law[0, i] = p * (0.5 * logdet - math.log(p)) - term
    lanes.law[1, i] = 0.5 * p
    lanes.law[2, i] = 1.0 / (n + 1)
    adding.logdet[i] = logdet


@inline
def _logdet_without(state, src, x):
    """ln|Σ| of cluster src after sample x has left it (n >= 2), by the lemma.

    1 - n q/((n-1)(n-2)) is bounded below by |δI| / |S/(n-2) + δI|: that holds it positive whatever
    the rounding.
    """
    m, removing = state.moments, state.removing
    d, n = m.mean.shape[1], float(m.n[src])
    least = d * math.log(state.delta)
    if n == 2.0:
        return least
    a = removing.factor[src]
    if removing.logdet[src] == STALE:
        cholesky.load(a, m.scatter[src], n - 2.0, state.delta)
        removing.logdet[src] = cholesky.eliminate(a, FIRST, d)
        cholesky.invert_blocks(a, d)
    u, z, block = state.scratch, state.z, state.block
    q = cholesky.quadratic(a, x, m.mean[src], u, z, block, FIRST, 0.0, np.inf)
    share = 1.0 - n / ((n - 1.0) * (n - 2.0)) * q
    whole = removing.logdet[src]
    return max(whole + math.log(share), least) if share > 0.0 else least


@inline
def _sum_lanes(lanes, x, k):
    """Sum the first components of q for all clusters, and y = 1 + q rate."""
    m, k = lanes.mean.shape[0], -(-k // WIDTH) * WIDTH
    q, y, rate = lanes.z[m], lanes.z[m + 1], lanes.law[2]
    for i in range(k):
        q[i] = 0.0
    for r in range(m):
        z, mean, value = lanes.z[r], lanes.mean[r], x[r]
        for i in range(k):
            z[i] = value - mean[i]
        c = 0
        while c + 2 <= r:
            l0, l1, z0, z1 = lanes.lower[r, c], lanes.lower[r, c + 1], lanes.z[c], lanes.z[c + 1]
            for i in range(k):
                z[i] -= l0[i] * z0[i] + l1[i] * z1[i]
            c += 2
        if c < r:
            l0, z0 = lanes.lower[r, c], lanes.z[c]
            for i in range(k):
                z[i] -= l0[i] * z0[i]
        inverse = lanes.lower[r, r]
        for i in range(k):
            z[i] *= inverse[i]
            q[i] += z[i] * z[i]
    for i in range(k):
        y[i] = 1.0 + q[i] * rate[i]


@inline
def trial_moves(state, s, x, src, out):
    """Fall of the index for every target; for one that cannot win, a bound of it."""
    m, lanes, adding, k = state.moments, state.lanes, state.adding, state.moments.size[0]
    resolution = RESOLUTION * max(1.0, abs(_total(state)))
    n, d = m.n[src], m.mean.shape[1]
    gain = state.term[src]
    if n > 1:
        gain -= _term(n - 1, _logdet_without(state, src, x), state.n)
    for i in range(k):
        if adding.logdet[i] == STALE:
            _renew_adding(m, adding, lanes, i, state.delta, state.term[i], state.n)
    _sum_lanes(lanes, x, k)
    n_lanes = lanes.mean.shape[0]
    q_lanes, base, weight, rate = lanes.z[n_lanes], lanes.law[0], lanes.law[1], lanes.law[2]
    least = gain + 2.0 * resolution  # a target must cost no more than this to win
    for i in range(k):
        cost = base[i] + weight[i] * (LN2_PER_BIT * (lanes.bits[i] - BITS_OF_ONE) - BOUND_SLACK)
        if cost <= least and i != src:
            q = q_lanes[i]
            if d > n_lanes:
                for r in range(n_lanes):
                    state.z[r] = lanes.z[r, i]
                most = (least - base[i]) / weight[i]
                limit = math.expm1(most) / rate[i] if most < LOG_HUGE else np.inf
                a, mean, u = adding.factor[i], m.mean[i], state.scratch
                q = cholesky.quadratic(a, x, mean, u, state.z, state.block, n_lanes, q, limit)
            cost = base[i] + weight[i] * math.log1p(q * rate[i])
            least = min(least, cost + 2.0 * resolution)
        out[i] = gain - cost
    out[src] = 0.0
    if n == 1 and k == 2:
        out[1 - src] = -np.inf
    return resolution


@inline
def _load_changed(matrix, scatter, other, sign, weight, u, n, delta):
    """matrix = (S + sign × S_other + weight uuᵀ) / (n - 1) + δI."""
    d, scale = matrix.shape[0], 1.0 / (n - 1.0)
    for f in range(d):
        row, row_s, row_o, tail = matrix[f, f:], scatter[f, f:], other[f, f:], u[f:]
        weighted = weight * u[f]
        for g in range(d - f):
            row[g] = (row_s[g] + sign * row_o[g] + weighted * tail[g]) * scale
        row[0] = max(row[0], 0.0) + delta


@inline
def _pivot_bound(a, b, part, pivot):
    """pivot[r] = part × pivot r of A + (1 - part) × that of B; returns the sum of their logarithms.

    Pivots are superadditive, so these are lower bounds of the pivots of every matrix that is at
    least part A + (1 - part) B. Factors with inverted blocks hold 1 / sqrt(pivot).
    """
    total = 0.0
    for r in range(pivot.shape[0]):
        pivot[r] = math.log(part / (a[r, r] * a[r, r]) + (1.0 - part) / (b[r, r] * b[r, r]))
        total += pivot[r]
    return total


@inline
def trial_merge(state, i, j):
    """The factorisation is abandoned as soon as it shows that merging is no better.

    With A_i = S_i/n_i + δI, the merged covariance is at least (n_i A_i + n_j A_j) / n: that bounds
    the pivots still to come.
    """
    m, u, adding, d = state.moments, state.scratch, state.adding, state.matrix.shape[0]
    if m.size[0] == 2:
        return -np.inf
    for c in (i, j):
        if adding.logdet[c] == STALE:
            _renew_adding(m, adding, state.lanes, c, state.delta, state.term[c], state.n)
    n = m.n[i] + m.n[j]
    both = state.term[i] + state.term[j]
    # _term(n, most) = both: with a larger log-determinant merging is no better.
    most = 2.0 * (both * state.n / n + math.log(n / state.n))
    bounds = state.z[:d]
    logdet = _pivot_bound(adding.factor[i], adding.factor[j], m.n[i] / n, bounds)
    if logdet <= most:
        for f in range(d):
            u[f] = m.mean[i, f] - m.mean[j, f]
        weight = m.n[i] * (m.n[j] / n)
        _load_changed(state.matrix, m.scatter[i], m.scatter[j], 1.0, weight, u, n, state.delta)
        start = FIRST
        while start < d and logdet <= most:
            stop = min(start + cholesky.BLOCK, d)
            for r in range(start, stop):
                logdet -= bounds[r]
            logdet += cholesky.eliminate(state.matrix, start, stop)
            start = stop
    return both - _term(n, logdet, state.n) - _total(state)


@inline
def trial_split(state, i, parts, p, q):
    m, u, n, d = state.moments, state.scratch, state.n, state.matrix.shape[0]
    left = m.n[i] - parts.n[p]
    part = _term(parts.n[p], _logdet(state.matrix, parts.scatter[p], parts.n[p], state.delta), n)
    logdet = d * math.log(state.delta)
    if left > 1:
        for f in range(d):
            u[f] = m.mean[i, f] - parts.mean[p, f]
        weight = -m.n[i] * (parts.n[p] / left)
        s_i, s_p = m.scatter[i], parts.scatter[p]
        _load_changed(state.matrix, s_i, s_p, -1.0, weight, u, left, state.delta)
        logdet = cholesky.eliminate(state.matrix, FIRST, d)
    return state.term[i] - part - _term(left, logdet, n) - _total(state)


implement(
    NIState,
    update=update,
    score=score,
    trial_moves=trial_moves,
    trial_merge=trial_merge,
    trial_split=trial_split,
)

INDEX = Index("NI", -1, True, make_state)
