"""Directions to look at rows along: where they vary most, and where clusters are farthest apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Directions(NamedTuple):
    """Two directions in standardised columns; none of a single column.

    Attributes
    ----------
    vectors : ndarray of shape (d, 2) or (d, 0)
    parts : ndarray of shape (2,) or (0,)
        Part of the variance, or of what separates the clusters, along each.
    """

    vectors: NDArray[np.float64]
    parts: NDArray[np.float64]


def principal(table: NDArray[np.float64]) -> Directions:
    """The two along which rows vary most."""
    d = table.shape[1]
    if d == 1:
        return Directions(np.empty((d, 0)), np.empty(0))
    centred = table - table.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    total = max(float(values.sum()), np.finfo(float).tiny)
    return Directions(_signed(vectors[:, [-1, -2]]), np.maximum(values[[-1, -2]], 0.0) / total)


def separating(table: NDArray[np.float64], clusters: NDArray[np.int64]) -> Directions:
    """The two along which clusters are farthest apart, in deviations of their own rows.

    These are Fisher's linear discriminants. Where columns are many for the rows, the spread within
    clusters is drawn towards that of a ball. Two clusters have one such direction: the second is
    then the one along which what is left varies most. Rows of noise (-1) do not count. None for a
    single cluster or column.
    """
    d = table.shape[1]
    rows, clusters = table[clusters >= 0], clusters[clusters >= 0]
    present, own = np.unique(clusters, return_inverse=True)
    if d == 1 or len(present) < 2:
        return Directions(np.empty((d, 0)), np.empty(0))
    n = np.bincount(own).astype(float)
    means = np.stack([np.bincount(own, column) for column in rows.T], axis=1) / n[:, None]
    whiten = _whitening(rows - means[own], len(rows) - len(present))
    apart = np.sqrt(n / n.sum())[:, None] * (means - rows.mean(axis=0)) @ whiten
    _, strength, axes = np.linalg.svd(apart, full_matrices=False)
    parts = np.square(strength) / max(float(np.square(strength).sum()), np.finfo(float).tiny)
    vectors = whiten @ axes[:2].T
    if len(present) == 2:
        first = vectors[:, :1] / np.linalg.norm(vectors[:, 0])
        left = rows - (rows @ first) @ first.T
        vectors = np.hstack([vectors[:, :1], principal(left).vectors[:, :1]])
        parts = np.array([1.0, 0.0])
    return Directions(_signed(vectors), parts[:2])


def _whitening(residuals: NDArray[np.float64], freedom: int) -> NDArray[np.float64]:
    """What turns the spread within clusters into that of a ball of radius 1."""
    d = residuals.shape[1]
    spread = residuals.T @ residuals / max(freedom, 1)
    usual = float(np.trace(spread)) / d or 1.0
    towards = d / (d + max(freedom, 1))
    values, vectors = np.linalg.eigh((1.0 - towards) * spread)
    return vectors / np.sqrt(np.maximum(values, 0.0) + towards * usual)


def _signed(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sign of a direction is arbitrary: its largest entry is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    sign = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(sign == 0.0, 1.0, sign)
