"""Numbers and categories in one space: factor analysis of mixed data (J. Pagès, 2004).

Of numbers alone it is principal component analysis of the standardised columns.

Numbers are standardised. A category becomes a column for each of its values, 1 where a row has it,
divided by the root of its share p. The space are the principal axes of these columns together whose
variance is larger than columns that have nothing to do with each other would give by chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Fewer axes than this are never kept, if there are so many.
FEWEST_AXES = 2
#: A variance below this part of the largest is none.
NEGLIGIBLE = 1e-10


class Mixed(NamedTuple):
    """The space, of a axes and c columns: those of numbers first, then one for every value."""

    mean: NDArray[np.float64]  #: (c,)
    scale: NDArray[np.float64]  #: (c,) deviations of numbers, roots of shares
    axes: NDArray[np.float64]  #: (a, c)


def indicators(
    X: NDArray[np.float64], n_values: NDArray[np.int64], unknown: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Columns of numbers, and for every category a column of 0 and 1 for each value.

    ``n_values``: of every column, 0 for numbers. A code that is no position of a value has
    ``unknown``, the shares of the values, or nothing.
    """
    parts = [X[:, n_values == 0]]
    at = parts[0].shape[1]
    for f in np.flatnonzero(n_values):
        columns = (X[:, f, None] == np.arange(n_values[f])).astype(np.float64)
        if unknown is not None:
            columns[~columns.any(axis=1)] = unknown[at : at + n_values[f]]
        parts.append(columns)
        at += int(n_values[f])
    return np.hstack(parts)


def learn_mixed(
    X: NDArray[np.float64], n_values: NDArray[np.int64], n_axes: int | None = None
) -> Mixed:
    """The principal axes of the rows that vary most; ``n_axes``: at most so many."""
    columns = indicators(X, n_values)
    n_numbers = int((n_values == 0).sum())
    mean = columns.mean(axis=0)
    scale = np.append(columns[:, :n_numbers].std(axis=0), np.sqrt(mean[n_numbers:]))
    scale = np.where(scale > 0.0, scale, 1.0)
    table = (columns - mean) / scale
    variance, vectors = np.linalg.eigh(table.T @ table / len(table))
    variance, vectors = variance[::-1], vectors[:, ::-1]
    varied = variance > NEGLIGIBLE * max(variance[0], 1.0)
    # The largest variance of c independent columns of n rows, by V. Marchenko and L. Pastur (1967).
    chance = variance[varied].mean() * (1.0 + np.sqrt(table.shape[1] / len(table))) ** 2
    many = int((variance[varied] >= chance).sum())
    kept = max(1, min(n_axes or max(many, FEWEST_AXES), int(varied.sum())))
    axes = vectors[:, :kept].T
    # The sign of an axis is arbitrary: its largest entry is positive.
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(kept), largest])[:, None]
    return Mixed(mean, scale, np.ascontiguousarray(axes))


def along_axes(
    X: NDArray[np.float64], mixed: Mixed, n_values: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The rows in the space; a value that was not there when it was learned is neutral.

    Columns are added one after the other, so that a row is the same to the last bit beside any
    others; a product of matrices is not.
    """
    table = (indicators(X, n_values, mixed.mean) - mixed.mean) / mixed.scale
    result = np.zeros((len(X), len(mixed.axes)))
    for column, weights in zip(table.T, mixed.axes.T, strict=True):
        result += column[:, None] * weights
    return result


def from_axes(
    T: NDArray[np.float64], mixed: Mixed, n_values: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Rows near points of the space: numbers, and for categories the value that is most likely."""
    return from_indicators(T @ mixed.axes * mixed.scale + mixed.mean, n_values)


def from_indicators(
    columns: NDArray[np.float64], n_values: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Rows with numbers and, for every category, the position of the value with most of it."""
    n_numbers = int((n_values == 0).sum())
    rows = np.empty((len(columns), len(n_values)))
    rows[:, n_values == 0] = columns[:, :n_numbers]
    at = n_numbers
    for f in np.flatnonzero(n_values):
        rows[:, f] = columns[:, at : at + n_values[f]].argmax(axis=1)
        at += int(n_values[f])
    return rows
