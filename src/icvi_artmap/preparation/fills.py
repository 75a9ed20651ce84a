"""Values for missing cells, learned from the training data and put in row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Neighbours whose mean is put in, as scikit-learn's KNNImputer has it.
NEIGHBOURS = 5
#: Rows of the training data that are kept to look for neighbours among, at most.
REFERENCES = 1_000
#: What a different category adds to the square of a distance: as much as two numbers on average.
OTHER_CATEGORY = 2.0

FILLS = ("mean", "median", "neighbours")


class Fills(NamedTuple):
    """What is put in for missing cells, d features and r rows to look for neighbours among."""

    value: NDArray[np.float64]  #: (d,) if there are no neighbours: mean, median or commonest code
    scale: NDArray[np.float64]  #: (d,) deviations, in which distances are measured
    reference: NDArray[np.float64]  #: (r, d) rows of the training data; r is 0 without neighbours
    known: NDArray[np.bool_]  #: (r, d) which of their cells had a value


def learn_fills(X: NDArray[np.float64], how: str, coded: NDArray[np.bool_]) -> Fills:
    """What to put in, by one of `FILLS`. ``coded``: the columns that hold codes of categories.

    Every column has a value somewhere.
    """
    d = X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        value = (np.nanmedian if how == "median" else np.nanmean)(X, axis=0)
        deviation = np.nanstd(X, axis=0)
    if not np.isfinite(value).all():  # the sum is beyond what a float can hold
        value = np.nansum(X / np.maximum((~np.isnan(X)).sum(axis=0), 1), axis=0)
    for f in np.flatnonzero(coded):
        codes, times = np.unique(X[~np.isnan(X[:, f]), f], return_counts=True)
        value[f] = codes[times.argmax()]
    scale = np.where((deviation > 0.0) & np.isfinite(deviation), deviation, 1.0)
    if how != "neighbours":
        return Fills(value, scale, np.empty((0, d)), np.empty((0, d), np.bool_))
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), REFERENCES)).round().astype(np.int64))
    known = ~np.isnan(X[rows])
    return Fills(value, scale, np.where(known, X[rows], value), known)


def filled(X: NDArray[np.float64], fills: Fills, coded: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The rows with a value in every cell; each row by itself."""
    absent = np.isnan(X)
    whole = np.where(absent, fills.value, X)
    if len(fills.reference):
        for s in np.flatnonzero(absent.any(axis=1)):
            _fill_row(whole[s], absent[s], fills, coded)
    return whole


def _fill_row(
    row: NDArray[np.float64], absent: NDArray[np.bool_], fills: Fills, coded: NDArray[np.bool_]
) -> None:
    """Put in means (of categories: the commonest code) of the nearest rows that have a value.

    As in KNNImputer, a distance is that over the cells which both rows have, scaled up to all.
    """
    both = fills.known & ~absent
    shared = both.sum(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.square((fills.reference - row) / fills.scale)
    square[:, coded] = np.where(fills.reference[:, coded] == row[coded], 0.0, OTHER_CATEGORY)
    square = np.where(both, square, 0.0).sum(axis=1) * (len(row) / np.maximum(shared, 1))
    order = np.argsort(square, kind="stable")
    order = order[shared[order] > 0]
    for f in np.flatnonzero(absent):
        near = fills.reference[order[fills.known[order, f]][:NEIGHBOURS], f]
        if not len(near):
            continue
        if coded[f]:
            codes, times = np.unique(near, return_counts=True)
            row[f] = codes[times.argmax()]
        else:
            row[f] = (near / len(near)).sum()
