"""Generalised Dunn index 43 ↑: min_{i≠j} ‖mu_i - mu_j‖² / (2 max_i CP_i / n_i).

Separation 4 and diameter 3 of J. C. Bezdek, N. R. Pal, "Some new indexes of cluster validity", IEEE
Trans. SMC B 28, 1998: the distance of the centres, and twice the mean distance to the centre. All
distances are squared, so that the index is a function of the moments.
"""

from __future__ import annotations

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import dunn, spreads
from icvi_artmap.samples.moments import Moments


class GD43State(spreads.SpreadsState):
    """State of GD43."""


def make_state(moments: Moments, total: Moments) -> GD43State:
    return GD43State(*spreads.make_fields(moments, total))


@inline
def separation(state, squared, n_a, spread_a, n_b, spread_b):
    return squared


dunn.implement_dunn(GD43State, separation)

INDEX = Index(
    "GD43",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="the two nearest centres against the widest cluster",
    prediction="category",
)
