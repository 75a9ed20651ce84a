"""Generalised Dunn index 53 ↑: min_{i≠j} δ_ij / (2 max_i CP_i / n_i).

δ_ij is the mean squared distance of the samples of i and j to the centre of the other cluster,

    δ_ij = (CP_i + CP_j) / (n_i + n_j) + ‖mu_i - mu_j‖²

Separation 5 and diameter 3 of J. C. Bezdek, N. R. Pal, "Some new indexes of cluster validity", IEEE
Trans. SMC B 28, 1998, with squared distances, so that the index is a function of the moments.
"""

from __future__ import annotations

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared import dunn, spreads
from icvi_artmap.samples.moments import Moments


class GD53State(spreads.SpreadsState):
    """State of GD53."""


def make_state(moments: Moments, total: Moments) -> GD53State:
    return GD53State(*spreads.make_fields(moments, total))


@inline
def separation(state, squared, n_a, spread_a, n_b, spread_b):
    return (n_a * spread_a + n_b * spread_b) / (n_a + n_b) + squared


dunn.implement_dunn(GD53State, separation)

INDEX = Index(
    "GD53",
    +1,
    needs_scatter=False,
    make_state=make_state,
    purpose="samples and the centre of another cluster against the widest cluster",
    prediction="category",
)
