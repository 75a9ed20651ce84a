"""Distances between centres and from a sample to all centres, and sums of squares.

Shared by the indices made of compactness and centres. Centres are stored transposed (d, k): the
loop over clusters is the inner one, so it vectorises although every sum keeps its order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.indices.base import NEGLIGIBLE, RESOLUTION
from icvi_artmap.samples import moments as mom


class Totals(NamedTuple):
    """Constants of the data."""

    n: float  #: N
    squares: float  #: TSS
    mean_square: float  #: TSS / N, the scale of a squared distance


def totals(total: mom.Moments) -> Totals:
    n, squares = float(total.n[0]), float(total.compactness[0])
    return Totals(n, squares, squares / n)


class Centres(NamedTuple):
    """Transposed centres and, where an index needs them, their squared distances."""

    coordinates: NDArray[np.float64]  #: (d, k)
    squared: NDArray[np.float64]  #: (k, k), or (0, 0) if not kept
    to_sample: NDArray[np.float64]  #: (k,) scratch
    within: NDArray[np.float64]  #: (1,) SSW


def empty_centres(capacity: int, n_features: int, with_distances: bool) -> Centres:
    side = capacity if with_distances else 0
    return Centres(
        np.zeros((n_features, capacity)),
        np.zeros((side, side)),
        np.zeros(capacity),
        np.zeros(1),
    )


@inline
def squared_distances(coordinates, x, k, out):
    """out[i] = ||x - mu_i||^2 for the first k centres."""
    for i in range(k):
        out[i] = 0.0
    for f in range(x.shape[0]):
        row = coordinates[f]
        value = x[f]
        for i in range(k):
            difference = value - row[i]
            out[i] += difference * difference


@inline
def within_sum(moments):
    """SSW, the sum of the compactnesses."""
    total = 0.0
    for i in range(moments.size[0]):
        total += moments.compactness[i]
    return total


@inline
def update_centre(centres, moments, i):
    """Cluster i has changed: its column, its distances to the others, and SSW."""
    k = moments.size[0]
    for f in range(centres.coordinates.shape[0]):
        centres.coordinates[f, i] = moments.mean[i, f]
    if centres.squared.shape[0] > 0:
        squared_distances(centres.coordinates, moments.mean[i], k, centres.squared[i])
        for j in range(k):
            centres.squared[j, i] = centres.squared[i, j]
    centres.within[0] = within_sum(moments)


@inline
def positive(value, scale):
    """``value``, or 0 if it is rounding: no more than NEGLIGIBLE of ``scale``."""
    return value if value > NEGLIGIBLE * scale else 0.0


@inline
def between(t, squared_a, squared_b, squared_ab):
    """Squared distance to the point a + t (b - a), from those to a and b (polarisation).

    ||p - a - t(b - a)||^2 = (1 - t)||p - a||^2 + t ||p - b||^2 - t(1 - t)||a - b||^2.
    """
    return (1.0 - t) * squared_a + t * squared_b - t * (1.0 - t) * squared_ab


@inline
def removal_gain(moments, distance, src):
    """How much SSW falls when a sample at squared ``distance[src]`` leaves src (Eq:comp_update)."""
    n = moments.n[src]
    return n / (n - 1) * distance[src] if n > 1 else 0.0


@inline
def within_gains(moments, centres, x, src, out):
    """out[i] = how much SSW falls when x goes from src to i (Eq:comp_update, add and remove).

    Leaves the squared distances in ``centres.to_sample``; returns the largest cost of an addition.
    """
    k = moments.size[0]
    distance = centres.to_sample
    squared_distances(centres.coordinates, x, k, distance)
    gain = removal_gain(moments, distance, src)
    largest = 0.0
    for i in range(k):
        cost = moments.n[i] / (moments.n[i] + 1) * distance[i]
        out[i] = gain - cost
        if i != src:
            largest = max(largest, cost)
    out[src] = 0.0
    return largest


@inline
def merge_cost(moments, i, j):
    """How much SSW grows when clusters i and j merge (Eq:comp_update, merge)."""
    squared = 0.0
    for f in range(moments.mean.shape[1]):
        difference = moments.mean[i, f] - moments.mean[j, f]
        squared += difference * difference
    n_i, n_j = moments.n[i], moments.n[j]
    return n_i * (n_j / (n_i + n_j)) * squared


@inline
def rest_compactness(moments, i, parts, q):
    """Compactness of what is left of cluster i without part q (Eq:comp_update, split)."""
    n_i, n_q = moments.n[i], parts.n[q]
    left = n_i - n_q
    if left <= 1:
        return 0.0
    squared = 0.0
    for f in range(moments.mean.shape[1]):
        difference = moments.mean[i, f] - parts.mean[q, f]
        squared += difference * difference
    return max(moments.compactness[i] - parts.compactness[q] - n_i * (n_q / left) * squared, 0.0)


@inline
def split_within(moments, centres, i, parts, q):
    """SSW after part q has been taken out of cluster i."""
    rest = rest_compactness(moments, i, parts, q)
    return centres.within[0] - moments.compactness[i] + rest + parts.compactness[q]


@inline
def split_distances(moments, centres, i, parts, q, part, rest):
    """Squared distances of the centres of part q and of the rest of cluster i to all centres.

    The three centres lie on one line: rest = mu_i - n_q / left (mu_q - mu_i). Returns the squared
    distance of part and rest.
    """
    k = moments.size[0]
    squared_distances(centres.coordinates, parts.mean[q], k, part)
    back = -parts.n[q] / (moments.n[i] - parts.n[q])
    for row in range(k):
        rest[row] = between(back, centres.squared[i, row], part[row], part[i])
    return (1.0 - back) * (1.0 - back) * part[i]


@inline
def scores_resolution(out, k):
    """Resolution of true scores: relative to the largest finite one, or to 1."""
    size = 1.0
    for i in range(k):
        if abs(out[i]) != np.inf:
            size = max(size, abs(out[i]))
    return RESOLUTION * size
