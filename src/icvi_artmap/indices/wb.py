"""WB-index ↓: k SSW / SSB (Table CVI_summary).

Q. Zhao, P. Franti, "WB-index: a sum-of-squares based index for cluster validity", Data & Knowledge
Engineering 92, 2014.
"""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import sums
from icvi_artmap.samples.moments import Moments


class WBState(sums.SumsState):
    """State of WB."""


def make_state(moments: Moments, total: Moments) -> WBState:
    return WBState(*sums.make_fields(moments, total))


@inline
def of_within(state, within, k):
    squares = state.totals.squares
    separation = cen.positive(squares - within, squares)
    if separation == 0.0:
        return -np.inf
    return -k * cen.positive(within, squares) / separation


sums.implement_sums(WBState, of_within)

INDEX = Index(
    "WB",
    -1,
    needs_scatter=False,
    make_state=make_state,
    purpose="the reverse of CH, times the number of clusters",
    refined=True,
    additive=True,
)
