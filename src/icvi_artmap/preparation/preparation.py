"""All that is done to rows before they are clustered, as one thing that is learned and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.preparation import mixed as mix
from icvi_artmap.preparation.columns import Values
from icvi_artmap.preparation.fills import Fills, filled
from icvi_artmap.preparation.mixed import Mixed
from icvi_artmap.preparation.transforms import Transform, transformed, turned_back

MISSING = ("error", "drop", "mean", "median", "neighbours")


@dataclass(frozen=True, eq=False)
class Preparation:
    """What a fit has learned of the table before it was clustered, its attribute ``preparation_``.

    Rows are arrays of floats in the columns of the data, with the positions of their values in the
    place of categories and NaN in that of missing cells. Each row is prepared by itself.

    Attributes
    ----------
    values : tuple
        For every column its values in their order, if it is a category; None if it has numbers.
    fills : Fills or None
        What is put in for missing cells.
    drop : bool
        Whether rows with missing cells are left out; they are filled only to be shown.
    transform : Transform or None
        What is done to skewed columns.
    chosen : str
        What that is: "none", "clip" or "power".
    mixed : Mixed or None
        The space of numbers and categories.
    """

    values: Values
    fills: Fills | None = None
    drop: bool = False
    transform: Transform | None = None
    chosen: str = "none"
    mixed: Mixed | None = None

    @property
    def n_values(self) -> NDArray[np.int64]:
        """The number of values of every category; 0 for a column of numbers."""
        return np.array([0 if one is None else len(one) for one in self.values], np.int64)

    def filled(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """The rows with a value in every cell, in the units of the data."""
        rows = np.asarray(X, np.float64)
        return rows if self.fills is None else filled(rows, self.fills, self.n_values > 0)

    def prepared(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """The rows as they are clustered."""
        rows = self.filled(X)
        if self.transform is not None:
            rows = transformed(rows, self.transform)
        return rows if self.mixed is None else mix.along_axes(rows, self.mixed, self.n_values)

    def steps(self, X: NDArray[np.floating], steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """The steps of prepared columns, from those of the columns of the data.

        A step has the length that it has among the rows ``X`` in the mean square. The values of a
        category are a step apart.
        """
        if self.transform is not None:
            rows = self.filled(X)
            with np.errstate(over="ignore", invalid="ignore"):
                ends = [transformed(rows + side * steps, self.transform) for side in (-0.5, 0.5)]
                lengths = np.abs(ends[1] - ends[0])
            steps = _mean_square(np.where(np.isfinite(lengths), lengths, 0.0))
        if self.mixed is None:
            return steps
        n_values = self.n_values
        told = np.concatenate([steps[n_values == 0], np.ones(n_values.sum())]) / self.mixed.scale
        return np.sqrt(np.square(self.mixed.axes) @ np.square(told))

    def turned_back(self, T: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points among prepared rows in the units of the data; with categories, near these."""
        if self.mixed is not None:
            T = mix.from_axes(T, self.mixed, self.n_values)
        return T if self.transform is None else turned_back(T, self.transform)

    def described(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Columns that can be told in words: numbers, and every value of a category as 0 or 1."""
        return mix.indicators(self.filled(X), self.n_values)

    def described_names(self, names: Sequence[str]) -> list[str]:
        """What these columns are called."""
        found = [name for name, one in zip(names, self.values, strict=True) if one is None]
        for name, one in zip(names, self.values, strict=True):
            found += [] if one is None else [f"{name} = {_plain(value)}" for value in one]
        return found

    def gaps(self, X: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Which rows have missing cells."""
        return np.isnan(X).any(axis=1)


def _mean_square(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The root of the mean square of every column, without overflow."""
    size = lengths.max(axis=0)
    size = np.where(size > 0.0, size, 1.0)
    return size * np.sqrt(np.square(lengths / size).mean(axis=0))


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


class InUnits(NamedTuple):
    """Clusters and categories in the units of the data, over the rows they were learned from."""

    mean: NDArray[np.float64]  #: (k, c) of every described column
    deviation: NDArray[np.float64]  #: (k, c) about these means
    lower: NDArray[np.float64]  #: (C, d) bounds of the categories
    upper: NDArray[np.float64]  #: (C, d)


def in_units(
    preparation: Preparation,
    X: NDArray[np.floating],
    clusters: NDArray[np.int64],
    k: int,
    categories: NDArray[np.int64],
    corners: NDArray[np.float64],
) -> InUnits:
    """From all rows with their clusters and categories.

    ``corners``: of the boxes among prepared rows, (C, 2, a), for categories without rows.
    """
    columns = preparation.described(X)
    n = np.maximum(np.bincount(clusters, minlength=k), 1)[:, None]
    mean, variance = np.zeros((k, columns.shape[1])), np.zeros((k, columns.shape[1]))
    size = np.abs(columns).max(axis=0)  # of which squares are taken, which might overflow
    size = np.where(size > 0.0, size, 1.0)
    np.add.at(mean, clusters, columns / size)
    mean /= n
    np.add.at(variance, clusters, np.square(columns / size - mean[clusters]))
    rows = preparation.filled(X)
    ends = [preparation.turned_back(corners[:, end]) for end in (0, 1)]
    lower, upper = np.minimum(*ends), np.maximum(*ends)
    held = np.unique(categories)
    lower[held], upper[held] = np.inf, -np.inf
    np.minimum.at(lower, categories, rows)
    np.maximum.at(upper, categories, rows)
    return InUnits(mean * size, np.sqrt(variance / n) * size, lower, upper)
