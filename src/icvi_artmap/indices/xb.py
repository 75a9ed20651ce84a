"""Xie-Beni ↓: SSW / (N × smallest squared distance of two centres) (Table CVI_summary).

X. L. Xie, G. Beni, "A validity measure for fuzzy clustering", IEEE TPAMI 13, 1991.
"""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import pairs
from icvi_artmap.samples.moments import Moments


class XBState(pairs.PairsState):
    """State of XB."""


def make_state(moments: Moments, total: Moments) -> XBState:
    return XBState(*pairs.make_fields(moments, total, pairs.NEAREST))


@inline
def of_extreme(state, within, squared, k):
    if cen.positive(squared, state.totals.mean_square) == 0.0:
        return -np.inf
    return -cen.positive(within, state.totals.squares) / (state.totals.n * squared)


pairs.implement_pairs(XBState, of_extreme)

INDEX = Index(
    "XB",
    -1,
    needs_scatter=False,
    make_state=make_state,
    purpose="spread within clusters against the two nearest centres",
    refined=True,
    compared=True,
)
