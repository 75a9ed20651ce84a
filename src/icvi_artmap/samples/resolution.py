"""In what steps the values of a column were recorded, and which rows are copies of others.

A value recorded in steps of h stands for all values within half a step: it carries a variance of
h²/12 (W. F. Sheppard, Proceedings of the London Mathematical Society 29, 1898). A cluster that
seems flatter than that is flat by rounding alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Rows from which steps are learned; the other rows are then checked.
LOOKED_AT = 10_000
#: With more steps than this between the least and the largest value there is no grid to speak of.
MOST_STEPS = 100_000
#: Values closer than this part of the span are equal but for rounding.
SAME = 1e-9
#: How far a value may lie off its grid, as a part of a step.
OFF = 1e-4
#: Where every value comes so often, the smallest gap between two of them is the step: values in
#: between would have been seen.
OFTEN = 10
#: So many times more copies than rows one step apart are more than steps explain. A Gaussian has as
#: many only if its deviation is below 0.42 steps in every column.
UNEXPLAINED = 4.0
#: And they must be this part of the rows.
COPIED_PART = 0.01


def steps(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """The step in which the values of every column were recorded; 0 where there is no grid.

    Missing values (NaN) are left out.
    """
    part = X[:: max(1, len(X) // LOOKED_AT)]
    found = np.array([_step(column) for column in np.asarray(part, np.float64).T])
    for f in np.flatnonzero(found) if len(part) < len(X) else ():
        if not _on_grid(np.asarray(X[:, f], np.float64), found[f]):
            found[f] = _step(np.asarray(X[:, f], np.float64))
    return found


def _step(column: NDArray[np.float64]) -> float:
    """The greatest step of which all gaps between values are multiples, or 0.

    Euclid's algorithm, with room for rounding. Few values that come often may lie as they like.
    """
    column = column[~np.isnan(column)]
    values = np.unique(column)
    gaps = np.diff(values)
    if len(gaps) == 0:
        return 0.0
    span = values[-1] - values[0]
    gaps = gaps[gaps > SAME * span]
    if len(gaps) == 0:
        return 0.0
    step = float(gaps.min())
    while span <= MOST_STEPS * step:
        off = np.abs(gaps - step * np.rint(gaps / step))
        if off.max() <= OFF * step or len(column) >= OFTEN * len(values):
            return step
        step = float(off[off > OFF * step].min())
    return 0.0


def on_grid(
    X: NDArray[np.floating], step_sizes: NDArray[np.float64], origin: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether all values of every column are multiples of its step away from ``origin``.

    True for a column whose step is 0.
    """
    found = np.ones(len(step_sizes), np.bool_)
    for f in np.flatnonzero(step_sizes):
        column = np.append(origin[f], np.asarray(X[:, f], np.float64))
        found[f] = _on_grid(column, float(step_sizes[f]))
    return found


def _on_grid(column: NDArray[np.float64], step: float) -> bool:
    """Whether all values are multiples of a step away from the first."""
    column = column[~np.isnan(column)]
    with np.errstate(over="ignore", invalid="ignore"):
        places = (column - column[0]) / step
        off = np.abs(places - np.rint(places))
    return bool((off <= OFF * np.maximum(1.0, np.abs(places))).all())


def key_weights(n_columns: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Weights of which no small multiples cancel."""
    return np.array([rng.uniform(1.0, 2.0) for _ in range(n_columns)])


def row_keys(table: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """A number for every row, the same for equal rows and hardly ever for others.

    A weighted sum, column by column: a row's does not depend on the others.
    """
    keys = np.zeros(len(table))
    for column, weight in zip(table.T, weights.tolist(), strict=True):
        keys += weight * column
    return keys


def evidence(X: NDArray[np.floating], rng: np.random.RandomState) -> NDArray[np.int64]:
    """Rows that are evidence: of copies that rounding does not explain there are fewer."""
    X = np.asarray(X, np.float64)
    span = np.ptp(X, axis=0)
    span = np.where(span > 0.0, span, 1.0)
    return thinned(X / span, steps(X) / span, rng)


def thinned(
    table: NDArray[np.float64], step_sizes: NDArray[np.float64], rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Rows that stand for all: if copies are more than the steps explain, fewer of each.

    As many rows are kept as there are different ones, or a few more: each row as often as before
    in proportion, and at least once. Under a smooth density about as many rows are equal as are
    one step apart in one column; rows that were copied have no such neighbours.
    """
    keys = row_keys(table, key_weights(table.shape[1], rng))
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-np.inf) > 0.0)
    count = np.diff(first, append=len(keys))
    copies = len(keys) - len(count)
    everything = np.arange(len(keys))
    if copies <= COPIED_PART * len(keys):
        return everything
    equal = 0.5 * float((count * (count - 1.0)).sum())
    if equal <= UNEXPLAINED * (1.0 + _one_step_apart(table[order[first]], count, step_sizes, rng)):
        return everything
    kept = np.maximum(1, np.rint(count * (len(count) / len(keys)))).astype(np.int64)
    rank = np.empty(len(keys), np.int64)
    rank[order] = everything - np.repeat(first, count)
    most = np.empty(len(keys), np.int64)
    most[order] = np.repeat(kept, count)
    return np.flatnonzero(rank < most)


def _one_step_apart(
    rows: NDArray[np.float64],
    count: NDArray[np.int64],
    step_sizes: NDArray[np.float64],
    rng: np.random.RandomState,
) -> float:
    """Half the pairs of rows one step apart in one column, for the column with the most."""
    weights = key_weights(rows.shape[1], rng)
    keys = row_keys(rows, weights)
    order = np.argsort(keys)
    ranked, most = keys[order], 0.0
    room = SAME * max(float(np.abs(keys).max()), 1.0)
    for weight, step in zip(weights.tolist(), step_sizes.tolist(), strict=True):
        if step > 0.0:
            wanted = keys + weight * step
            place = np.minimum(np.searchsorted(ranked, wanted - room), len(keys) - 1)
            near = np.abs(ranked[place] - wanted) <= room
            most = max(most, 0.5 * float((count * count[order[place]])[near].sum()))
    return most
