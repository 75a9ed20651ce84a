"""Representative cross information potential ↓: ln of the sum over pairs i < j of ∫ p_i p_j.

p_i is a Gaussian per cluster. Every covariance is the unbiased one plus δI, δ = 10^(-12/d), as in
NI; a singleton's is δI. The potential itself is below the smallest number that can be stored where
clusters are far apart, so the index is its logarithm: that has the same order. E. Gokcay, J. C.
Principe, "Information theoretic clustering", IEEE TPAMI 24, 2002; D. Araujo, A. D. Neto, A.
Martins, "Representative cross information potential clustering", Pattern Recognition Letters 34,
2013; L. E. Brito da Silva, N. M. Melton, D. C. Wunsch II, "Incremental cluster validity indices for
online learning of hard partitions", IEEE Access 8, 2020.
"""

from __future__ import annotations

import math

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import gaussians
from icvi_artmap.indices.shared import rows as rws
from icvi_artmap.samples.moments import Moments

#: A sum of potentials below this, relative to the largest one, may have lost some of them.
FAINT = 1e-200
#: A sum that follows changes is not relied on below this part of the most it has been.
FADED = 1e-2
#: What it may have lost then, as a part of it.
DOUBT = 1e-8
#: Nor is it relied on above this.
HUGE = 1e100
#: Potentials that are computed for finer bounds are no less than so many times the mean one, by
#: stage; the first stage is not about that.
LARGE = (0.0, 12.0, 1.0)


class RCIPState(gaussians.GaussiansState):
    """State of rCIP; ``cached`` has the potentials of all pairs, relative to the largest one."""


def make_state(moments: Moments, total: Moments) -> RCIPState:
    return RCIPState(*gaussians.make_fields(moments, total))


@inline
def _renew_potentials(state):
    k, least = state.moments.size[0], np.inf
    if not state.changed[0]:
        return
    for a in range(k):
        for b in range(a + 1, k):
            least = min(least, state.term[a, b])
    for a in range(k):
        for b in range(a + 1, k):
            state.cached[a, b] = math.exp(least - state.term[a, b])
    state.reference[0] = least
    state.changed[0] = False


@inline
def _least_new(state, i, j, n_new, pair):
    """The least cross-entropy that a new cluster has."""
    least = pair if n_new > 1 else np.inf
    for a in range(state.moments.size[0]):
        if a != i and a != j:
            if n_new > 0:
                least = min(least, state.first[a])
            if n_new > 1:
                least = min(least, state.second[a])
    return least


@inline
def _new_potentials(state, i, j, n_new, pair, reference):
    total = math.exp(reference - pair) if n_new > 1 else 0.0
    for a in range(state.moments.size[0]):
        if a != i and a != j:
            if n_new > 0:
                total += math.exp(reference - state.first[a])
            if n_new > 1:
                total += math.exp(reference - state.second[a])
    return total


@inline
def _faint(state, i, j, n_new, pair, least):
    """The score where all that is left is far below what was the largest potential."""
    k, total = state.moments.size[0], 0.0
    for a in range(k):
        for b in range(a + 1, k):
            if a != i and a != j and b != i and b != j:
                least = min(least, state.term[a, b])
    for a in range(k):
        for b in range(a + 1, k):
            if a != i and a != j and b != i and b != j:
                total += math.exp(least - state.term[a, b])
    return least - math.log(total + _new_potentials(state, i, j, n_new, pair, least))


@inline
def combine(state, i, j, n_new, pair):
    """-ln of the sum."""
    _renew_potentials(state)
    kept = gaussians.kept_sum(state.cached, i, j, state.moments.size[0])
    least = _least_new(state, i, j, n_new, pair)
    reference = min(least, state.reference[0])
    total = kept * math.exp(reference - state.reference[0])
    total += _new_potentials(state, i, j, n_new, pair, reference)
    if total < FAINT:
        return _faint(state, i, j, n_new, pair, least)
    return reference - math.log(total)


@inline
def refer(state):
    """The least h: no potential is more than 1."""
    k, least = state.moments.size[0], np.inf
    for a in range(k):
        for b in range(a + 1, k):
            least = min(least, state.term[a, b])
    return least


@inline
def worth(state, h):
    """The potential, relative to the largest there was when all were summed."""
    return math.exp(state.sums.reference[0] - h)


@inline
def quick_score(state, total):
    """Relative to the most that the sum has been, what is less than this may be digits lost."""
    if not (total > FADED * state.sums.total[1] and total < HUGE):
        return np.nan
    return state.sums.reference[0] - math.log(total)


@inline
def doubt(state):
    """Sums that follow changes are exact to this part of themselves."""
    return DOUBT


@inline
def of_pairs(state, i, target, out):
    """A bound of the potential with A in place of M, which is no less than (1 - 1/n) M."""
    for row in range(state.moments.size[0]):
        n, h = state.moments.n[i if target else row], state.term[i, row]
        out[row] = worth(state, h + 0.5 * state.sums.far[i, row] / (n - 1) if n > 1 else h)


@inline
def _dimmed(state, i):
    """What is left of a potential of cluster i, at least, when a sample joins it.

    With A for M, the h of a pair grows by ½ [ln(1 + tq) + t - t(1 - c)² / (1 + tq)], t = 1/(n + 1).
    That is no more than for the largest q and without the last term.
    """
    t = 1.0 / (state.moments.n[i] + 1)
    return math.exp(-0.5 * t) / math.sqrt(1.0 + t * state.alone.reach[i])


@inline
def _bound(state, src, i, own):
    """The score of a move to i, if the target then has the potentials ``own`` or more."""
    sums = state.sums
    total = gaussians.left_over(state, i, src) + sums.rest[0] - worth(state, state.second[i])
    total += own - rws.ROUNDING * (sums.total[1] + sums.rest[0])
    return sums.reference[0] - math.log(total) if total > 0.0 else np.inf


@inline
def bound_moves(state, x, src, out):
    """By what the potentials of a target are at least, with the sample; the others are known."""
    k, sums = state.moments.size[0], state.sums
    gaussians.reach_all(state, x)
    for i in range(k):
        if i != src:
            own = max(sums.parts[i] - sums.part[i, src], 0.0)
            out[i] = _bound(state, src, i, own * _dimmed(state, i))
    return True


@inline
def bound_move(state, x, src, i, stage):
    """Potentials are computed: those with the nearest clusters, or all that are large."""
    k, few, sums, row, own = state.moments.size[0], state.few, state.sums, 0, 0.0
    gaussians.prepare(state, x, src, i)
    left = sums.parts[i] - sums.part[i, src]
    least = LARGE[stage] * sums.parts[i] / k
    while row < k:
        if stage == gaussians.BY_NEAR:
            count, row = gaussians.choose_near(state, i, i, src), k
        else:
            count, row = gaussians.choose_large(state, i, src, least, row)
        own += gaussians.known_of_target(state, x, i, count)
        for at in range(count):
            left -= sums.part[i, few.rows[at]]
    return _bound(state, src, i, own + max(left, 0.0) * _dimmed(state, i))


@inline
def bound_merge(state, i, j):
    """As if the two had no potential together."""
    return bound_known(state, i, j, 0.0)


@inline
def bound_rest(state, i, parts, p):
    """Potentials of what is left are hardly less than those of the whole where the part is small.

    M' = Σ' + Σ_j, where Σ' has the scatter S' = S - T and n' samples, is no more than rM with
    r = (n - 1)/(n' - 1), and no less than (1 - rθ)M if T/(n - 1) is no more than θM. When the mean
    moves by s, the length of the way to another one grows by |s| at most. So with q the quadratic
    form in h and σ² = sᵀM⁻¹s, h grows by no more than
    ½ [(√q + σ)² / (1 - rθ) - q + d ln r]. The exponential function is convex: the mean of that, by
    the potentials, stands for all pairs.
    """
    m, d = state.moments, state.moments.mean.shape[1]
    n, left = m.n[i], m.n[i] - parts.n[p]
    if left < 2 or state.beside.weight.shape[0] == 0:
        return 0.0
    gaussians.ask_whole(state, i)
    lost, moved = gaussians.taken_away(state, i, parts, p)
    ratio, far = (n - 1.0) / (left - 1.0), state.whole.far[i]
    kept = 1.0 - ratio * lost
    if not kept > 0.0:
        return 0.0
    grown = (far * (1.0 - kept) + 2.0 * math.sqrt(moved * far) + moved) / kept
    return max(state.sums.row[i], 0.0) * math.exp(-0.5 * (grown + d * math.log(ratio)))


@inline
def bound_known(state, i, j, known):
    """All potentials are positive."""
    sums = state.sums
    total = gaussians.left_over(state, i, j) + known - rws.ROUNDING * sums.total[1]
    return sums.reference[0] - math.log(total) if total > 0.0 else np.inf


gaussians.implement_gaussians(
    RCIPState,
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
    "rCIP",
    -1,
    needs_scatter=True,
    make_state=make_state,
    purpose="how much Gaussian clusters overlap, the worst pairs above all",
    prediction="category",
    bounds_above=rws.FEW,
    carry=gaussians.carry,
)
