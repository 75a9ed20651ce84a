"""Fuzzy ART (section 3.1) as module A uses it, and the shrinkage of its boxes (section 4.5).

x is one complement-coded sample (2d), W holds one box per row (C x 2d).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sequential_sum(a: Array) -> Array:
    """Sum over the last axis, from its first component to its last."""
    # np.sum adds pairwise, so its last bits depend on the memory layout; accumulate adds in order,
    # which any plain loop repeats bit for bit.
    return np.add.accumulate(a, axis=-1)[..., -1]


def eq_fa_t(x: Array, W: Array, alpha: float) -> Array:
    """T_j = |x ^ w_j|_1 / (alpha + |w_j|_1), for all boxes."""
    return sequential_sum(np.minimum(x, W)) / (alpha + sequential_sum(W))


def eq_fa_m(x: Array, w: Array) -> float:
    """M_J = |x ^ w_J|_1 / |x|_1."""
    return float(sequential_sum(np.minimum(x, w)) / sequential_sum(x))


def eq_fa_vig(match: float, rho: float) -> bool:
    """M_J >= rho."""
    return match >= rho


def eq_fa_learn(x: Array, w: Array, beta_a: float) -> Array:
    """w_J <- (1 - beta_a) w_J + beta_a (x ^ w_J)."""
    return (1 - beta_a) * w + beta_a * np.minimum(x, w)


def eq_shrinkage(samples: Array) -> Array:
    """w_r = componentwise minimum of the samples assigned to category r."""
    return samples.min(axis=0)


def search_order(choice: Array) -> list[int]:
    """Boxes by decreasing choice value; on ties the older box comes first."""
    return np.argsort(-choice, kind="stable").tolist()
