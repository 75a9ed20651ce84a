"""Pakhira-Bandyopadhyay-Maulik ↑: (TSS / SSW × largest squared centre distance / k)^2.

As printed in Table CVI_summary, with squared distances. M. K. Pakhira, S. Bandyopadhyay, U. Maulik,
"Validity index for crisp and fuzzy clusters", Pattern Recognition 37, 2004.
"""

from __future__ import annotations

import numpy as np

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import centres as cen
from icvi_artmap.indices.shared import pairs
from icvi_artmap.samples.moments import Moments


class PBMState(pairs.PairsState):
    """State of PBM."""


def make_state(moments: Moments, total: Moments) -> PBMState:
    return PBMState(*pairs.make_fields(moments, total, pairs.FARTHEST))


@inline
def of_extreme(state, within, squared, k):
    separation = cen.positive(squared, state.totals.mean_square)
    spread = cen.positive(within, state.totals.squares)
    if spread == 0.0:
        return np.inf if separation > 0.0 else -np.inf
    root = state.totals.squares / spread * separation / k
    return root * root


pairs.implement_pairs(PBMState, of_extreme)

INDEX = Index(
    "PBM",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="the two farthest centres against spread within clusters",
    refined=True,
)
