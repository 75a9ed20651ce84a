"""Frequency, mean, compactness and scatter of every cluster, kept while samples move.

The recursions are the paper's Eq:freq_update, Eq:mean_update, Eq:comp_update and Eq:cov_update,
with the scatter matrix S = (n - 1) Sigma in place of the covariance: it needs no division that
fails at n = 1, n = 2 or n_i - n_j = 1. Means are updated as mu + (x - mu) / n, the same number with
less rounding than n mu / (n + 1) + x / (n + 1).

Removing subtracts, and subtraction loses digits; means far from 0 lose those that a tight cluster
needs. ``drift`` estimates what a compactness has lost: roundings add up as their squares do. A
cluster that is no longer :func:`trusted` is computed anew from its samples (:func:`from_labels`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, jit
from icvi_artmap._compile.simd import WIDTH, add_rows_4
from icvi_artmap._compile.vectors import aligned_zeros
from icvi_artmap.samples.scaling import Data, standardised_row

#: A compactness may have lost this part of itself before it is computed anew.
DRIFT_LIMIT = 1e-10
#: Relative rounding of one update.
UPDATE_LOSS = 2.3e-16
#: Samples that are sorted by cluster together, so that memory is read almost in order.
SORTED = 8192
#: Samples of a cluster whose outer products are summed together.
TOGETHER = 32


class Moments(NamedTuple):
    """Moments of up to ``len(n)`` clusters; rows 0 to ``size[0] - 1`` are in use."""

    size: NDArray[np.int64]  #: (1,) number of clusters now, k'
    n: NDArray[np.int64]  #: (k,) frequencies; float64 where samples have weights
    mean: NDArray[np.float64]  #: (k, d)
    compactness: NDArray[np.float64]  #: (k,) summed squared distances to the mean
    scatter: NDArray[np.float64]  #: (k, d, d), upper triangle only; (k, 0, 0) if not kept
    drift: NDArray[np.float64]  #: (k,) estimated square of what ``compactness`` has lost


def empty_moments(
    capacity: int, n_features: int, with_scatter: bool, counts: Any = np.int64
) -> Moments:
    """Moments with room for ``capacity`` clusters and none in use; ``counts``: type of n."""
    side = n_features if with_scatter else 0
    return Moments(
        size=np.zeros(1, np.int64),
        n=np.zeros(capacity, counts),
        mean=np.zeros((capacity, n_features)),
        compactness=np.zeros(capacity),
        scatter=np.zeros((capacity, side, side)),
        drift=np.zeros(capacity),
    )


@inline
def clear(m, i):
    """Make row i an empty cluster."""
    m.n[i] = 0
    m.compactness[i] = 0.0
    m.drift[i] = 0.0
    for f in range(m.mean.shape[1]):
        m.mean[i, f] = 0.0
    for f in range(m.scatter.shape[1]):
        for g in range(f, m.scatter.shape[1]):
            m.scatter[i, f, g] = 0.0


@inline
def copy_row(source, i, target, j):
    """Copy cluster i of ``source`` to row j of ``target`` (which may be the same)."""
    target.n[j] = source.n[i]
    target.compactness[j] = source.compactness[i]
    target.drift[j] = source.drift[i]
    for f in range(source.mean.shape[1]):
        target.mean[j, f] = source.mean[i, f]
    for f in range(source.scatter.shape[1]):
        for g in range(f, source.scatter.shape[1]):
            target.scatter[j, f, g] = source.scatter[i, f, g]


@inline
def _add_outer(m, i, weight, u):
    """S += weight uuᵀ, upper triangle. Loops that start at 0 vectorise: hence the slices."""
    d = m.scatter.shape[1]
    for f in range(d):
        row, tail, weighted = m.scatter[i, f, f:], u[f:], weight * u[f]
        for g in range(d - f):
            row[g] += weighted * tail[g]


@inline
def _wear(m, i, before):
    """Book what an update may have lost, and keep what cannot be negative from being so.

    A rounding e of the mean changes the compactness by about 2 e sqrt(n CP).
    """
    m.compactness[i] = max(m.compactness[i], 0.0)
    far = 0.0
    for f in range(m.mean.shape[1]):
        far += m.mean[i, f] * m.mean[i, f]
    larger = max(before, m.compactness[i])
    loss = UPDATE_LOSS * (larger + math.sqrt(far * m.n[i] * larger))
    m.drift[i] += loss * loss
    for f in range(m.scatter.shape[1]):
        m.scatter[i, f, f] = max(m.scatter[i, f, f], 0.0)


@inline
def trusted(m, i):
    """Whether the recursions have kept enough digits in cluster i."""
    most = DRIFT_LIMIT * m.compactness[i]
    return m.drift[i] <= most * most


def worn(m: Moments) -> NDArray[np.int64]:
    """The clusters that are not :func:`trusted`."""
    k = m.size[0]
    return np.flatnonzero(~(m.drift[:k] <= np.square(DRIFT_LIMIT * m.compactness[:k])))


@inline
def add(m, i, x, u):
    """Eq:freq_update to Eq:cov_update, add: sample x enters cluster i. ``u`` is scratch (d,)."""
    n = m.n[i]
    before = m.compactness[i]
    squared = 0.0
    for f in range(x.shape[0]):
        u[f] = x[f] - m.mean[i, f]
        squared += u[f] * u[f]
        m.mean[i, f] += u[f] / (n + 1)
    m.n[i] = n + 1
    m.compactness[i] += n / (n + 1) * squared
    _add_outer(m, i, n / (n + 1), u)
    _wear(m, i, before)


@inline
def add_weighted(m, i, x, weight, u):
    """As :func:`add`, for a sample of any weight. Returns its squared distance to the mean before.

    Samples are only added, never removed: what is lost is not booked.
    """
    n = m.n[i]
    total = n + weight
    share = weight / total
    squared = 0.0
    for f in range(x.shape[0]):
        u[f] = x[f] - m.mean[i, f]
        squared += u[f] * u[f]
        m.mean[i, f] += share * u[f]
    m.n[i] = total
    m.compactness[i] += n * share * squared
    _add_outer(m, i, n * share, u)
    return squared


@inline
def remove(m, i, x, u):
    """Eq:freq_update to Eq:cov_update, remove: sample x leaves cluster i. ``u`` is scratch (d,)."""
    n = m.n[i]
    if n == 1:
        clear(m, i)
        return
    before = m.compactness[i]
    squared = 0.0
    for f in range(x.shape[0]):
        u[f] = x[f] - m.mean[i, f]
        squared += u[f] * u[f]
        m.mean[i, f] -= u[f] / (n - 1)
    m.n[i] = n - 1
    if n == 2:  # a single sample is left: nothing scatters
        _scatter_nothing(m, i)
        return
    m.compactness[i] -= n / (n - 1) * squared
    _add_outer(m, i, -n / (n - 1), u)
    _wear(m, i, before)


@inline
def _scatter_nothing(m, i):
    m.compactness[i] = 0.0
    m.drift[i] = 0.0
    for f in range(m.scatter.shape[1]):
        for g in range(f, m.scatter.shape[1]):
            m.scatter[i, f, g] = 0.0


@inline
def merge(m, i, other, j, u):
    """Eq:freq_update to Eq:cov_update, merge: cluster j of ``other`` joins cluster i."""
    n_i, n_j = m.n[i], other.n[j]
    if n_j == 0:
        return
    total = n_i + n_j
    squared = 0.0
    for f in range(m.mean.shape[1]):
        u[f] = other.mean[j, f] - m.mean[i, f]
        squared += u[f] * u[f]
        m.mean[i, f] += n_j / total * u[f]
    weight = n_i * (n_j / total)
    m.n[i] = total
    m.compactness[i] += other.compactness[j] + weight * squared
    for f in range(m.scatter.shape[1]):
        for g in range(f, m.scatter.shape[1]):
            m.scatter[i, f, g] += other.scatter[j, f, g]
    _add_outer(m, i, weight, u)
    m.drift[i] += other.drift[j]
    _wear(m, i, 0.0)


@inline
def split(m, i, other, j, u):
    """Eq:freq_update to Eq:cov_update, split: cluster j of ``other`` leaves cluster i."""
    n_i, n_j = m.n[i], other.n[j]
    left = n_i - n_j
    if left == 0:
        clear(m, i)
        return
    before = m.compactness[i]
    squared = 0.0
    for f in range(m.mean.shape[1]):
        u[f] = other.mean[j, f] - m.mean[i, f]
        squared += u[f] * u[f]
        m.mean[i, f] -= n_j / left * u[f]
    m.n[i] = left
    if left == 1:
        _scatter_nothing(m, i)
        return
    weight = n_i * (n_j / left)
    m.compactness[i] -= other.compactness[j] + weight * squared
    for f in range(m.scatter.shape[1]):
        for g in range(f, m.scatter.shape[1]):
            m.scatter[i, f, g] -= other.scatter[j, f, g]
    _add_outer(m, i, -weight, u)
    m.drift[i] += other.drift[j]
    _wear(m, i, before)


def from_labels(
    m: Moments,
    data: Data,
    labels: NDArray[np.int64],
    only: int = -1,
    room: Room | None = None,
) -> None:
    """Moments of the clusters of ``labels`` from the samples themselves.

    Samples with a negative label are left out. ``labels`` may have a row for each of several
    partitions, whose clusters have numbers of their own. ``only``: the one cluster to compute, or
    -1 for all ``size[0]`` of them. ``room``: from :func:`make_room`, if there is some.
    """
    room = make_room(m) if room is None else room
    labels = labels if labels.ndim == 2 else labels[np.newaxis]
    sum_samples(m, data, labels, only, room)
    if m.scatter.shape[1] > 0:  # a kernel of its own: most indices need not compile it
        sum_scatter(m, data, labels, only, room)


def of_clusters(
    data: Data, labels: NDArray[np.int64], n_clusters: int, with_scatter: bool
) -> Moments:
    """Moments of the clusters 0 to ``n_clusters`` - 1 of ``labels``, and no room for more."""
    moments = empty_moments(n_clusters, data.shape[1], with_scatter)
    moments.size[0] = n_clusters
    from_labels(moments, data, labels)
    return moments


class Room(NamedTuple):
    """Scratch for :func:`sum_samples` and :func:`sum_scatter`.

    dp: d padded, 0 if no scatter is kept.
    """

    u: NDArray[np.float64]  #: (d,)
    end: NDArray[np.int64]  #: (k,) where the samples of a cluster end in ``order``
    order: NDArray[np.int64]  #: (SORTED,) samples, cluster by cluster
    rows: NDArray[np.float64]  #: (TOGETHER, dp) some of them, about their mean
    scatter: NDArray[np.float64]  #: (dp, dp) zero


def make_room(m: Moments) -> Room:
    side = -(-m.scatter.shape[1] // WIDTH) * WIDTH
    return Room(
        u=np.empty(m.mean.shape[1]),
        end=np.empty(len(m.n), np.int64),
        order=np.empty(SORTED, np.int64),
        rows=aligned_zeros((TOGETHER, side)),
        scatter=aligned_zeros((side, side)),
    )


@jit
def sum_samples(m, data, labels, only, room):
    """Frequencies, means and compactness: a pass for the means, a pass about them."""
    d, u = data.scale.shape[0], room.u
    first, end = _range(m.size[0], only)
    for i in range(first, end):
        clear(m, i)
    for p in range(labels.shape[0]):
        for s in range(labels.shape[1]):
            i = labels[p, s]
            if first <= i < end:
                m.n[i] += 1
                standardised_row(data, s, u)
                for f in range(d):
                    m.mean[i, f] += u[f]
    for i in range(first, end):
        if m.n[i] > 0:
            for f in range(d):
                m.mean[i, f] /= m.n[i]
    for p in range(labels.shape[0]):
        for s in range(labels.shape[1]):
            i = labels[p, s]
            if first <= i < end and m.n[i] > 1:
                squared = 0.0
                standardised_row(data, s, u)
                for f in range(d):
                    u[f] -= m.mean[i, f]
                    squared += u[f] * u[f]
                m.compactness[i] += squared


@inline
def _range(k, only):
    """The first cluster to sum, and the one behind the last."""
    if only < 0:
        return np.int64(0), np.int64(k)
    return np.int64(only), np.int64(only) + 1


@jit
def sum_scatter(m, data, labels, only, room):
    """Scatter about the means that :func:`sum_samples` has left, where it is 0 so far."""
    for p in range(labels.shape[0]):
        for start in range(0, labels.shape[1], SORTED):
            stop = min(start + SORTED, labels.shape[1])
            _sort(m.size[0], labels[p], only, start, stop, room)
            begin = np.int64(0)  # not a literal: a function is compiled anew for each
            for i in range(m.size[0]):
                if room.end[i] > begin and m.n[i] > 1:
                    _add_scatter(m, i, data, begin, room.end[i], room)
                begin = room.end[i]


@inline
def _sort(k, labels, only, start, stop, room):
    """Put samples ``start`` to ``stop`` - 1 in order of their clusters."""
    end, order = room.end, room.order
    first, last = _range(k, only)
    for i in range(k):
        end[i] = 0
    for s in range(start, stop):
        if first <= labels[s] < last:
            end[labels[s]] += 1
    total = 0
    for i in range(k):  # where it begins; every sample moves that on, to its end at last
        held, end[i] = end[i], total
        total += held
    for s in range(start, stop):
        i = labels[s]
        if first <= i < last:
            order[end[i]] = s
            end[i] += 1


@inline
def _add_scatter(m, i, data, begin, stop, room):
    """S of cluster i += the outer products of samples ``begin`` to ``stop`` - 1 of ``order``."""
    d, u, rows, scatter = data.scale.shape[0], room.u, room.rows, room.scatter
    side = scatter.shape[0]
    for at in range(begin, stop, TOGETHER):
        count = min(TOGETHER, stop - at)
        for r in range(count):
            standardised_row(data, room.order[at + r], u)
            for f in range(d):
                rows[r, f] = u[f] - m.mean[i, f]
        for f in range(0, d, 4):  # four rows of S, from a multiple of WIDTH before the diagonal on
            left = f // WIDTH * WIDTH
            place, width = f * side + left, side - left
            add_rows_4(scatter, place, side, rows, left, side, rows, f, side, count, width)
    for f in range(d):
        target, source, whole = m.scatter[i, f, f:], scatter[f, f:], scatter[f]
        for g in range(d - f):
            target[g] += source[g]
        for g in range(side):
            whole[g] = 0.0


def together(m: Moments) -> Moments:
    """Moments of all samples as one cluster (Eq:freq_update to Eq:cov_update, merge)."""
    k = m.size[0]
    n, mean = m.n[:k], m.mean[:k]
    whole = empty_moments(1, mean.shape[1], m.scatter.shape[1] > 0, n.dtype)
    whole.size[0] = 1
    whole.n[0] = n.sum()
    whole.mean[0] = n @ mean / whole.n[0]
    apart = mean - whole.mean[0]
    whole.compactness[0] = m.compactness[:k].sum() + n @ np.square(apart).sum(axis=1)
    if m.scatter.shape[1] > 0:
        whole.scatter[0] = m.scatter[:k].sum(axis=0) + np.triu(apart.T @ (apart * n[:, None]))
    return whole


def taken(m: Moments, rows: Sequence[int] | NDArray[np.integer] | NDArray[np.bool_]) -> Moments:
    """A copy of these clusters alone."""
    n = m.n[rows]
    return Moments._make([np.array([len(n)]), n, *(array[rows] for array in m[2:])])


def symmetric(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scatter matrices with both triangles, from those whose upper triangles are kept."""
    return np.where(_above(upper.shape[-1]), upper, np.swapaxes(upper, -1, -2))


@lru_cache
def _above(d: int) -> NDArray[np.bool_]:
    """Where the upper triangle of a matrix of this order is, the diagonal included."""
    return np.tri(d, dtype=np.bool_).T


def drop(m: Moments, i: int) -> None:
    """Take row i away; the rows behind it move up by one and keep their order."""
    k = int(m.size[0])
    for array in m[1:]:
        array[i : k - 1] = array[i + 1 : k]
    m.size[0] = k - 1


def put(m: Moments, rows: NDArray[np.int64], other: Moments) -> None:
    """These rows become the clusters of ``other``."""
    for array, source in zip(m[1:], other[1:], strict=True):
        array[rows] = source


def join(m: Moments, rows: NDArray[np.int64], other: Moments) -> None:
    """Each of these rows becomes what it and its cluster of ``other`` are together.

    Eq:freq_update to Eq:cov_update, merge.
    """
    u = other.mean - m.mean[rows]
    share = other.n / (m.n[rows] + other.n)
    weight = m.n[rows] * share
    m.compactness[rows] += other.compactness + weight * np.square(u).sum(axis=1)
    if m.scatter.shape[1] > 0:
        outer = (weight[:, None] * u)[:, :, None] * u[:, None, :]
        m.scatter[rows] += other.scatter + np.triu(outer)
    m.mean[rows] += share[:, None] * u
    m.n[rows] += other.n
    m.drift[rows] += other.drift
