"""Representative cross-entropy ↑: sum over pairs i < j of -ln ∫ p_i p_j.

p_i is a Gaussian per cluster. Every covariance is the unbiased one plus δI, δ = 10^(-12/d), as in
NI; a singleton's is δI. D. Araujo, A. D. Neto, A. Martins, "Information-theoretic clustering: a
representative and evolutionary approach", Expert Systems with Applications 40, 2013; L. E. Brito da
Silva, N. M. Melton, D. C. Wunsch II, "Incremental cluster validity indices for online learning of
hard partitions", IEEE Access 8, 2020.
"""

from __future__ import annotations

import math

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import gaussians
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.samples.moments import Moments

#: Digits of sums that follow changes are lost when they were so many times what they are.
LOST = 1e2
#: A part of what is summed that such sums may have lost, after as many changes as they follow.
DOUBT = 1e-9


class RHState(gaussians.GaussiansState):
    """State of rH."""


def make_state(moments: Moments, total: Moments) -> RHState:
    k, d = moments.mean.shape
    pulls = gaussians.make_pulls(k if k > rws.FEW else 0, d)
    return RHState(*gaussians.make_fields(moments, total)._replace(pulls=pulls))


@inline
def combine(state, i, j, n_new, pair):
    k = state.moments.size[0]
    total = gaussians.kept_sum(state.term, i, j, k) + pair
    for a in range(k):
        if a != i and a != j:
            if n_new > 0:
                total += state.first[a]
            if n_new > 1:
                total += state.second[a]
    return total


@inline
def refer(state):
    """The sums of pulls begin at nothing."""
    state.pulls.vector[:] = 0.0
    state.pulls.total[:] = 0.0
    state.pulls.square[:] = 0.0
    state.pulls.mass[:] = 0.0
    return 0.0


@inline
def worth(state, h):
    return h


@inline
def _size(state, total):
    """No less than what the sum would be without signs: no h is below about -30."""
    k = state.moments.size[0]
    return abs(total) + 30.0 * k * k


@inline
def quick_score(state, total):
    """What is far below the most that the sum has been may be digits lost."""
    if not state.sums.total[1] < LOST * _size(state, total):
        return np.nan
    return total


@inline
def doubt(state):
    return DOUBT * _size(state, state.sums.total[1])


@inline
def of_pairs(state, i, target, out):
    """By how much h grows with A in place of M."""
    if state.pulls.mass.shape[0] > 0:
        gaussians.renew_pulls(state, i, target, out)
    else:
        out[: state.moments.size[0]] = 0.0


@inline
def bound_moves(state, x, src, out):
    """With A for M, h grows by ½ [ln(1 + tq) + t - t(1 - c)² / (1 + tq)] when x joins a target.

    t = 1/(n + 1). That is no more than with the largest q, for all clusters but what is left of
    src; Σ (1 - c)² over them is a quadratic function of x. For the latter the last term is left
    out, and A is no less than (1 - 1/n) M, where M is no less than 2δI.
    """
    k, d, sums, rest = state.moments.size[0], x.shape[0], state.sums, state.sums.rest[0]
    if state.pulls.mass.shape[0] == 0:
        return False
    gaussians.reach_all(state, x)
    for i in range(k):
        if i != src:
            n = state.moments.n[i]
            t = 1.0 / (n + 1)
            stretched = 1.0 + t * state.alone.reach[i]
            grown = 0.5 * (math.log(stretched) + t)
            pair = state.second[i] + grown
            if n > 1:
                far = 2.0 * state.second[i] - d * math.log(4.0 * math.pi * state.delta)
                pair += 0.5 * max(far, 0.0) / (n - 1)
            own = sums.row[i] - state.term[i, src] + sums.parts[i] - sums.part[i, src]
            own += (k - 2) * grown
            own -= 0.5 * t * max(gaussians.pulled(state, x, i, src), 0.0) / stretched
            out[i] = gaussians.left_over(state, i, src) + rest - state.second[i] + own + pair
    return True


@inline
def bound_move(state, x, src, i, stage):
    """None that is better."""
    return np.inf


@inline
def bound_rest(state, i, parts, p):
    """None: h of other pairs may be anything."""
    return -np.inf


@inline
def bound_known(state, i, j, known):
    """None: h of other pairs may be anything."""
    return np.inf


@inline
def bound_merge(state, i, j):
    """By means over the clusters that are left.

    The merged covariance is no less than κ times the mean of the two, weighted by their sizes, and
    a quadratic form dᵀM⁻¹d is convex in d and M: that of the merged cluster is no more than the
    mean of those of the two over κ. ln|M| is no more than d ln(trace of M / d), and the logarithm
    is concave in the trace.
    """
    m, sums, k, d = state.moments, state.sums, state.moments.size[0], state.moments.mean.shape[1]
    n, left, kappa = m.n[i] + m.n[j], sums.trace[0], 1.0
    for c in (i, j):
        left -= gaussians.trace(state, m.n[c], m.compactness[c])
        if m.n[c] > 1:
            kappa = min(kappa, (1.0 - 1.0 / m.n[c]) / (1.0 - 1.0 / n))
    compactness = m.compactness[i] + m.compactness[j] + cen.merge_cost(m, i, j)
    wide = gaussians.trace(state, n, compactness) + max(left, 0.0) / (k - 2)
    far = m.n[i] * (sums.far_row[i] - sums.far[i, j]) + m.n[j] * (sums.far_row[j] - sums.far[i, j])
    far = max(far, 0.0) / (n * kappa)
    own = 0.5 * (far + (k - 2) * d * (math.log(wide / d) + math.log(2.0 * math.pi)))
    return gaussians.left_over(state, i, j) + own + rws.ROUNDING * (abs(own) + k)


gaussians.implement_gaussians(
    RHState,
    combine=combine,
    refer=refer,
    worth=worth,
    quick_score=quick_score,
    doubt=doubt,
    of_pairs=of_pairs,
    bound_moves=bound_moves,
    bound_move=bound_move,
    bound_merge=bound_merge,
    bound_rest=bound_rest,
    bound_known=bound_known,
)

INDEX = Index(
    "rH",
    +1,
    needs_scatter=True,
    make_state=make_state,
    purpose="how little Gaussian clusters overlap, summed over pairs",
    prediction="category",
    bounds_above=rws.FEW,
    carry=gaussians.carry,
)
