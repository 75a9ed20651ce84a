"""Calinski-Harabasz ↑: SSB / SSW × (N - k) / (k - 1) (Table CVI_summary).

T. Calinski, J. Harabasz, "A dendrite method for cluster analysis", Comm. Statistics 3, 1974.
"""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import sums
from icvi_artmap.samples.moments import Moments


class CHState(sums.SumsState):
    """State of CH."""


def make_state(moments: Moments, total: Moments) -> CHState:
    return CHState(*sums.make_fields(moments, total))


@inline
def of_within(state, within, k):
    squares = state.totals.squares
    separation = cen.positive(squares - within, squares) * (state.totals.n - k)
    spread = cen.positive(within, squares) * (k - 1)
    if spread == 0.0:
        return np.inf if separation > 0.0 else -np.inf
    return separation / spread


sums.implement_sums(CHState, of_within)

INDEX = Index(
    "CH",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="spread of the centres against spread within clusters",
    refined=True,
    additive=True,
    compared=True,
)
