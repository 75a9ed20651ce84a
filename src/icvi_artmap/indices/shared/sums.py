"""What CH and WB share: indices that are functions of SSW and the number of clusters alone.

Such an index falls (or rises) with SSW, so at a fixed number of clusters the best move is
Hartigan's: the one that lowers SSW most. An index of this kind provides ``of_within``; the rest is
here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import NEGLIGIBLE, RESOLUTION, dispatched, implement
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.samples.moments import Moments


class SumsState(NamedTuple):
    """The state of such an index; each has a type of its own for dispatch."""

    moments: Moments
    centres: cen.Centres
    totals: cen.Totals
    scratch: NDArray[np.float64]


def make_fields(moments: Moments, total: Moments) -> SumsState:
    k, d = moments.mean.shape
    return SumsState(moments, cen.empty_centres(k, d, False), cen.totals(total), np.empty(d))


@dispatched
def of_within(state, within, k):
    """Score of a partition with this SSW and k > 1 clusters."""


@inline
def _score(state, within, k):
    return of_within(state, within, k) if k > 1 else -np.inf


@inline
def update(state, i, j):
    cen.update_centre(state.centres, state.moments, i)
    if j != i:
        cen.update_centre(state.centres, state.moments, j)


@inline
def score(state):
    return _score(state, state.centres.within[0], state.moments.size[0])


@inline
def trial_moves(state, s, x, src, out):
    """Fall of SSW for every target; true scores where that does not settle the order."""
    m, within = state.moments, state.centres.within[0]
    largest_cost = cen.within_gains(m, state.centres, x, src, out)
    gain = cen.removal_gain(m, state.centres.to_sample, src)
    margin = NEGLIGIBLE * state.totals.squares
    vanishing = within - gain <= margin or state.totals.squares - within - largest_cost <= margin
    if m.n[src] > 1 and not vanishing:
        return RESOLUTION * (gain + state.totals.mean_square)
    k = m.size[0]
    k_after = k - 1 if m.n[src] == 1 else k
    for i in range(k):
        if i != src:
            out[i] = _score(state, within - out[i], k_after)
    out[src] = score(state)
    return cen.scores_resolution(out, k)


@inline
def trial_additions(state, s, x, out):
    """Growth of SSW, turned. It orders the clusters as the score does, whatever TSS is."""
    m, distance = state.moments, state.centres.to_sample
    k, least = m.size[0] - 1, np.inf
    cen.squared_distances(state.centres.coordinates, x, k, distance)
    for i in range(k):
        cost = m.n[i] / (m.n[i] + 1) * distance[i]
        least = min(least, cost)
        out[i] = -cost
    return RESOLUTION * (least + state.totals.mean_square)


@inline
def trial_merge(state, i, j, least):
    within = state.centres.within[0] + cen.merge_cost(state.moments, i, j)
    return _score(state, within, state.moments.size[0] - 1)


@inline
def trial_split(state, i, parts, p, q, least):
    within = cen.split_within(state.moments, state.centres, i, parts, p)
    return _score(state, within, state.moments.size[0] + 1)


def implement_sums(state_type: type, of_within_function: object) -> None:
    """Register an index that is a function of SSW."""
    implement(
        state_type,
        of_within=of_within_function,
        update=update,
        score=score,
        trial_moves=trial_moves,
        trial_additions=trial_additions,
        trial_merge=trial_merge,
        trial_split=trial_split,
    )
