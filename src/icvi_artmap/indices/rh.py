"""Representative cross-entropy ↑: sum over pairs i < j of -ln ∫ p_i p_j.

p_i is a Gaussian per cluster. Every covariance is the unbiased one plus δI, δ = 10^(-12/d), as in
NI; a singleton's is δI. D. Araujo, A. D. Neto, A. Martins, "Information-theoretic clustering: a
representative and evolutionary approach", Expert Systems with Applications 40, 2013; L. E. Brito da
Silva, N. M. Melton, D. C. Wunsch II, "Incremental cluster validity indices for online learning of
hard partitions", IEEE Access 8, 2020.
"""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import gaussians
from icvi_artmap.samples.moments import Moments


class RHState(gaussians.GaussiansState):
    """State of rH."""


def make_state(moments: Moments, total: Moments) -> RHState:
    return RHState(*gaussians.make_fields(moments, total))


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
    return 0.0


@inline
def worth(state, h):
    return h


@inline
def quick_score(state, total):
    return total


@inline
def of_target(state, i, row):
    return 0.0


@inline
def bound_moves(state, x, src, out):
    return False


@inline
def bound_move(state, x, src, i):
    return np.inf


gaussians.implement_gaussians(
    RHState,
    combine=combine,
    refer=refer,
    worth=worth,
    quick_score=quick_score,
    of_target=of_target,
    bound_moves=bound_moves,
    bound_move=bound_move,
)

INDEX = Index(
    "rH",
    +1,
    needs_scatter=True,
    make_state=make_state,
    purpose="how little Gaussian clusters overlap, summed over pairs",
    prediction="category",
)
