"""Moments of labelled rows in the units of the data, which merge over blocks.

A block is summed about its own means and in units of its own, powers of 2 above all distances from
them: an offset costs no digits, and squares neither overflow nor vanish. Two sums merge by the
paper's equations (Eq:freq_update to Eq:cov_update, merge) in the coarser of their units, which
loses no digits either. When all are merged, standardising the moments is standardising the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import Scaling, check_ranges, plain_data, scaling_of


class Sums(NamedTuple):
    """Of some rows; k labels among them."""

    minimum: NDArray[np.float64]  #: (d,)
    maximum: NDArray[np.float64]  #: (d,)
    middle: NDArray[np.float64]  #: (d,) the origin of what follows
    unit: NDArray[np.float64]  #: (d,) and its units, powers of 2
    labels: NDArray[Any]  #: (k,) sorted
    n: NDArray[np.int64]  #: (k,)
    mean: NDArray[np.float64]  #: (k, d)
    squares: NDArray[np.float64]  #: (k, d) about the means
    scatter: NDArray[np.float64]  #: (k, d, d) upper triangle, about the means; (k, 0, 0): not kept


def sums_of(
    rows: NDArray[np.float64], labels: NDArray[Any] | None, with_scatter: bool
) -> Sums | None:
    """Of a block; None if it has no rows. Without labels all rows have the label 0."""
    if len(rows) == 0:
        return None
    present, place = np.array([0]), np.zeros(len(rows), np.int64)
    if labels is not None:
        present, place = np.unique(labels, return_inverse=True)
    minimum, maximum = rows.min(axis=0), rows.max(axis=0)
    check_ranges(minimum, maximum)
    unit = _power_of_2(maximum - minimum)
    table = (rows - minimum) / unit
    middle = minimum + table.mean(axis=0) * unit
    np.subtract(rows, middle, out=table)  # exact where rows are near to each other
    table /= unit
    d, k = rows.shape[1], len(present)
    data = plain_data(table, np.ones(d), np.zeros(d))
    m = mom.of_clusters(data, place.astype(np.int64), k, with_scatter)
    if with_scatter:
        squares = np.ascontiguousarray(np.einsum("kff->kf", m.scatter))
    else:
        about = np.square(table - m.mean[place])
        squares = np.stack([np.bincount(place, one, minlength=k) for one in about.T], axis=1)
    return Sums(minimum, maximum, middle, unit, present, m.n, m.mean, squares, m.scatter)


def merged(parts: list[Sums | None]) -> Sums | None:
    """Of the rows of several blocks, in their order."""
    whole: Sums | None = None
    for part in parts:
        if part is not None:
            whole = part if whole is None else _merged(whole, part)
    return whole


def _merged(a: Sums, b: Sums) -> Sums:
    with np.errstate(over="ignore"):  # a range that is too large is refused when all are merged
        between = b.middle - a.middle
    finite = np.where(np.isfinite(between), between, 0.0)
    unit = _power_of_2(np.maximum(np.maximum(a.unit, b.unit), np.abs(finite)))
    labels = np.unique(np.concatenate([a.labels, b.labels]))
    k, (d, side) = len(labels), (a.mean.shape[1], a.scatter.shape[1])
    n = np.zeros((2, k), np.int64)
    mean, squares = np.zeros((2, k, d)), np.zeros((2, k, d))
    scatter = np.zeros((2, k, side, side))
    for i, (part, shift) in enumerate(((a, np.zeros(d)), (b, finite / unit))):
        at, ratio = np.searchsorted(labels, part.labels), part.unit / unit
        n[i, at] = part.n
        mean[i, at] = part.mean * ratio + shift
        squares[i, at] = part.squares * np.square(ratio)
        scatter[i, at] = part.scatter * np.outer(ratio, ratio)[:side, :side]
    total = n.sum(axis=0)
    part_b = n[1] / total
    both = (n[0] > 0) & (n[1] > 0)
    apart = np.where(both[:, None], mean[1] - mean[0], 0.0)
    weight = (n[0] * part_b)[:, None]
    first = np.where((n[0] > 0)[:, None], mean[0], mean[1])
    outer = np.triu(apart[:, :, None] * (weight * apart)[:, None, :])[:, :side, :side]
    return Sums(
        np.minimum(a.minimum, b.minimum),
        np.maximum(a.maximum, b.maximum),
        a.middle,
        unit,
        labels,
        total,
        first + part_b[:, None] * apart,
        squares.sum(axis=0) + weight * np.square(apart),
        scatter.sum(axis=0) + outer,
    )


def scaling(sums: Sums) -> Scaling:
    """How all rows are scaled (rule 1)."""
    mean, deviation = _spread(sums)
    return scaling_of(
        sums.minimum, sums.maximum, sums.middle + mean * sums.unit, deviation * sums.unit
    )


def standardised(sums: Sums) -> Moments:
    """The moments of the labels, of standardised rows."""
    mean, deviation = _spread(sums)
    varies = sums.minimum != sums.maximum
    scale = np.where(varies, 1.0 / np.where(deviation > 0.0, deviation, 1.0), 0.0)
    k, side = len(sums.n), sums.scatter.shape[1]
    return Moments(
        size=np.array([k]),
        n=sums.n,
        mean=(sums.mean - mean) * scale,
        compactness=(sums.squares * np.square(scale)).sum(axis=1),
        scatter=sums.scatter * np.outer(scale, scale)[:side, :side],
        drift=np.zeros(k),
    )


def moments_in(scaling: Scaling, sums: Sums, k: int) -> Moments:
    """Moments of the clusters 0 to k - 1, as an index sees rows that are scaled so."""
    side, d = sums.scatter.shape[1], sums.mean.shape[1]
    m = mom.empty_moments(k, d, side > 0)
    m.size[0] = k
    scale = sums.unit / scaling.unit
    m.n[sums.labels] = sums.n
    m.mean[sums.labels] = (sums.middle - scaling.mean) / scaling.unit + sums.mean * scale
    m.compactness[sums.labels] = (sums.squares * np.square(scale)).sum(axis=1)
    m.scatter[sums.labels] = sums.scatter * np.outer(scale, scale)[:side, :side]
    return m


def _spread(sums: Sums) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of all rows, in the units of the sums and from their middle."""
    n = sums.n[:, None]
    mean = (n * sums.mean).sum(axis=0) / sums.n.sum()
    squares = sums.squares.sum(axis=0) + (n * np.square(sums.mean - mean)).sum(axis=0)
    return mean, np.sqrt(squares / sums.n.sum())


def _power_of_2(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least powers of 2 that are greater than these lengths; 1 for 0."""
    exponent = np.frexp(lengths)[1]
    # Beyond these the unit or its inverse would not be a normal number.
    return np.where(lengths > 0.0, np.ldexp(1.0, np.clip(exponent, -1000, 1000)), 1.0)
