"""Sums over the samples of every cluster, with twice the digits of a float, and moments from them.

A monitor has no samples to compute its moments from anew, so nothing that an outlier costs may
stay when it leaves. Every sum is therefore a pair of floats, ``high + low``, about 32 digits: what
is added is known exactly (the product of two floats is a pair), and what rounding takes from
``high`` goes to ``low``. After any sequence of additions and removals the moments are those of the
samples that are left, to the last digits of a float, unless samples differ by factors of 1e10.

A row has, of the samples x of a cluster with weights w: the sum of w, those of w x, and those of
w xxᵀ (upper triangle, row by row) or, where no index needs that, of w‖x‖². Behind the rows of the
clusters are two of the kernels' own: room for a sample in two halves, and the sums of all clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, jit
from icvi_artmap.indices import base
from icvi_artmap.samples.moments import Moments, empty_moments

HIGH, LOW = 0, 1
#: Rows behind those of the clusters: the halves of a sample, and the total.
OWN_ROWS = 2
#: Numbers up to this size have squares that can be summed.
LARGEST = 1e100
#: Cuts the digits of a float in two halves (Veltkamp).
CUT = 2.0**27 + 1.0


def width(n_features: int, with_scatter: bool) -> int:
    """Numbers in a row."""
    return 1 + n_features + (n_features * (n_features + 1) // 2 if with_scatter else 1)


def empty_sums(capacity: int, n_features: int, with_scatter: bool) -> NDArray[np.float64]:
    return np.zeros((capacity + OWN_ROWS, 2, width(n_features, with_scatter)))


def capacity_of(sums: NDArray[np.float64]) -> int:
    return len(sums) - OWN_ROWS


# --- pairs of floats -----------------------------------------------------------------------------


@inline
def _upper_half(a):
    """The upper half of the digits of a; the rest is the lower one."""
    cut = CUT * a
    return cut - (cut - a)


@inline
def _product(a, b):
    """a b as a pair: rounded, and what that lost (Dekker)."""
    rounded = a * b
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    lost = ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low
    return rounded, lost


@inline
def _sum(a, b):
    """a + b as a pair (Knuth)."""
    rounded = a + b
    part = rounded - a
    return rounded, (a - (rounded - part)) + (b - part)


@inline
def _add_pair(a_high, a_low, b_high, b_low):
    high, low = _sum(a_high, b_high)
    return _sum(high, low + (a_low + b_low))


@inline
def _subtract_product(a_high, a_low, b_high, b_low, c_high, c_low):
    """a - b c, all of them pairs."""
    high, low = _product(b_high, c_high)
    low += b_high * c_low + b_low * c_high
    return _add_pair(a_high, a_low, -high, -low)


@inline
def _quotient(a_high, a_low, b_high, b_low):
    """a / b, all of them pairs."""
    first = a_high / b_high
    high, low = _subtract_product(a_high, a_low, first, 0.0, b_high, b_low)
    return _sum(first, (high + low) / b_high)


@inline
def _accumulate(row, at, value, rest):
    """Add a pair to a sum."""
    high, low = _sum(row[HIGH, at], value)
    row[HIGH, at] = high
    row[LOW, at] += low + rest


# --- samples come and leave ----------------------------------------------------------------------


@inline
def _is_usable(x):
    usable = True
    for f in range(x.shape[0]):
        usable = usable and abs(x[f]) <= LARGEST  # not so a NaN
    return usable


@inline
def _add(sums, i, x, weight):
    """Sample x enters cluster i; with a negative weight it leaves."""
    row, halves, d = sums[i], sums[sums.shape[0] - 2], x.shape[0]
    _accumulate(row, 0, weight, 0.0)
    for f in range(d):
        halves[HIGH, f] = _upper_half(x[f])
        halves[LOW, f] = x[f] - halves[HIGH, f]
    squares_only = sums.shape[2] == d + 2
    at = 1 + d
    for f in range(d):
        value, rest = _product(weight, x[f])
        _accumulate(row, 1 + f, value, rest)
        upper = _upper_half(value)
        lower = value - upper
        for g in range(f, f + 1 if squares_only else d):
            product = value * x[g]
            lost = ((upper * halves[HIGH, g] - product) + upper * halves[LOW, g]) + (
                lower * halves[HIGH, g]
            )
            _accumulate(row, at, product, lost + (lower * halves[LOW, g] + rest * x[g]))
            if not squares_only:
                at += 1


@jit
def add(sums, i, x, weight):
    """Sample x enters cluster i, with a negative weight it leaves; whether x can be summed."""
    if not _is_usable(x):
        return False
    _add(sums, i, x, weight)
    return True


@jit
def add_many(sums, rows, X, weight, growth):
    """The samples X enter the clusters ``rows``, each of the former's weight times ``growth``."""
    for s in range(X.shape[0]):
        _add(sums, rows[s], X[s], weight)
        weight *= growth


@jit
def all_usable(X):
    """Whether all samples can be summed."""
    usable = True
    for s in range(X.shape[0]):
        usable = usable and _is_usable(X[s])
    return usable


@jit
def join(sums, i, other, j, sign):
    """Add cluster j of ``other`` to cluster i; with the sign -1 take it out."""
    for at in range(sums.shape[2]):
        _accumulate(sums[i], at, sign * other[j, HIGH, at], sign * other[j, LOW, at])


# --- moments -------------------------------------------------------------------------------------


@inline
def _pair_of(sums, i, at):
    return _sum(sums[i, HIGH, at], sums[i, LOW, at])


@inline
def _condense_row(sums, row, d, scale, middle, m, i):
    """Cluster i of the moments, about the point ``middle`` (row of means in pairs), from a row."""
    n_high, n_low = _pair_of(sums, row, 0)
    m.n[i] = scale * n_high
    m.drift[i] = 0.0
    squares_only, squares, at = sums.shape[2] == d + 2, 0.0, 1 + d
    squares_high, squares_low = _pair_of(sums, row, at)
    for f in range(d):
        f_high, f_low = _pair_of(sums, row, 1 + f)
        mean_high, mean_low = _quotient(f_high, f_low, n_high, n_low)
        apart, rest = _add_pair(mean_high, mean_low, -middle[HIGH, f], -middle[LOW, f])
        m.mean[i, f] = apart + rest
        if squares_only:
            squares_high, squares_low = _subtract_product(
                squares_high, squares_low, f_high, f_low, mean_high, mean_low
            )
            continue
        for g in range(f, d):
            g_high, g_low = _pair_of(sums, row, 1 + g)
            high, low = _pair_of(sums, row, at)
            high, low = _subtract_product(high, low, g_high, g_low, mean_high, mean_low)
            value = scale * high
            if g == f:
                value = max(value, 0.0)
                squares += value
            if m.scatter.shape[1] > 0:
                m.scatter[i, f, g] = value
            at += 1
    if squares_only:
        squares = max(scale * squares_high, 0.0)
        if m.scatter.shape[1] > 0:  # of a single feature
            m.scatter[i, 0, 0] = squares
    m.compactness[i] = squares


@inline
def _total(sums, rows):
    """Sum the rows of clusters in the last row."""
    last = sums.shape[0] - 1
    for at in range(sums.shape[2]):
        high, low = 0.0, 0.0
        for i in rows:
            high, low = _add_pair(high, low, sums[i, HIGH, at], sums[i, LOW, at])
        sums[last, HIGH, at], sums[last, LOW, at] = high, low
    return last


@jit
def find_middle(sums, rows, d, middle):
    """``middle``, (2, d), gets the mean of the samples of all clusters in ``rows``, as pairs."""
    last = _total(sums, rows)
    n_high, n_low = _pair_of(sums, last, 0)
    for f in range(d):
        high, low = _pair_of(sums, last, 1 + f)
        middle[HIGH, f], middle[LOW, f] = _quotient(high, low, n_high, n_low)


@jit
def condense(sums, rows, d, scale, middle, moments):
    """Moments of the clusters in ``rows`` about a point; weights are multiplied by ``scale``."""
    for i in range(rows.shape[0]):
        _condense_row(sums, rows[i], d, scale, middle, moments, i)


def common_mean(
    sums: NDArray[np.float64], rows: NDArray[np.int64], n_features: int
) -> NDArray[np.float64]:
    """The mean of all samples of the clusters in ``rows``, as pairs; the last row has their sums.

    Indices do not depend on where the origin is, and about the mean nothing cancels.
    """
    middle = np.empty((2, n_features))
    find_middle(sums, rows, n_features, middle)
    return middle


def moments_about(
    middle: NDArray[np.float64],
    sums: NDArray[np.float64],
    rows: NDArray[np.int64],
    scale: float,
    with_scatter: bool,
) -> Moments:
    """Moments of the clusters in ``rows``; frequencies are sums of weights, and floats."""
    n_features = middle.shape[1]
    moments = empty_moments(len(rows), n_features, with_scatter, np.float64)
    moments.size[0] = len(rows)
    condense(sums, rows, n_features, scale, middle, moments)
    return moments


# --- scores --------------------------------------------------------------------------------------


@jit
def score(state):
    """The score of the partition, after everything that is cached has been renewed."""
    for i in range(state.moments.size[0]):
        base.update(state, i, i)
    return base.score(state)


@jit
def scores_of_adding(state, sums, rows, scale, middle, x, weight, out):
    """out[i] = the score with sample x in cluster i; the state's total includes it already."""
    d = x.shape[0]
    for i in range(state.moments.size[0]):
        base.update(state, i, i)
    for i in range(state.moments.size[0]):
        _add(sums, rows[i], x, weight)
        _condense_row(sums, rows[i], d, scale, middle, state.moments, i)
        base.update(state, i, i)
        out[i] = base.score(state)
        _add(sums, rows[i], x, -weight)
        _condense_row(sums, rows[i], d, scale, middle, state.moments, i)
        base.update(state, i, i)
