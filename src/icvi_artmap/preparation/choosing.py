"""Which transform suits the data: the one under which clusters describe them best.

A density of transformed rows, times the slopes of the transform, is a density of the rows
themselves. So the log-likelihood of Gaussian clusters found under each transform can be compared,
less what their parameters cost (BIC).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.preparation.transforms import (
    NONE,
    TRANSFORMS,
    Transform,
    learn_transform,
    log_slopes,
    piles,
    transformed,
)
from icvi_artmap.samples.scaling import learn_scaling, standardised_table

#: Clusters are found in no more rows to choose.
MOST_ROWS = 2_000
#: What is added to covariances of standardised columns, which may be singular.
RIDGE = 1e-6


def chosen_transform(
    X: NDArray[np.float64],
    left_alone: NDArray[np.bool_],
    clusters_of: Callable[[NDArray[np.float64]], NDArray[np.int64]],
) -> tuple[str, Transform]:
    """The best of `TRANSFORMS` and what it does to every column; the first of equals.

    Columns in which many rows share a value are left alone: they have no density.
    ``clusters_of``: the labels of rows, by the model that is to be fitted.
    """
    left_alone = left_alone | piles(X)
    rows = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).round().astype(np.int64)
    part = X[rows][:, ~left_alone]
    if part.shape[1] == 0:
        return "none", learn_transform(X, "none", left_alone)
    best, most = "none", -np.inf
    for how in TRANSFORMS:
        transform = learn_transform(part, how, np.zeros(part.shape[1], np.bool_))
        if how != "none" and not (transform.kind != NONE).any():
            continue
        whole = X[rows].copy()
        whole[:, ~left_alone] = transformed(part, transform)
        labels = clusters_of(whole)
        value = _log_likelihood(whole, labels) + float(log_slopes(part, transform).mean())
        value -= 0.5 * np.log(len(part)) / len(part) * _parameters(whole, labels, how)
        if value > most:
            best, most = how, value
    return best, learn_transform(X, best, left_alone)


def _log_likelihood(T: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Mean over the rows, of Gaussians of the clusters; constants are left out."""
    scaling = learn_scaling(T)
    Z = standardised_table(T, scaling)
    n, d = Z.shape
    total = -float(np.log(scaling.deviation).sum())
    for i in np.unique(labels):
        rows = Z[labels == i]
        part = len(rows) / n
        covariance = np.cov(rows.T, ddof=0).reshape(d, d) + RIDGE * np.eye(d)
        away = rows - rows.mean(axis=0)
        form = np.einsum("ij,ij->", away, np.linalg.solve(covariance, away.T).T) / n
        total += part * (np.log(part) - 0.5 * np.linalg.slogdet(covariance)[1]) - 0.5 * form
    return float(total)


def _parameters(T: NDArray[np.float64], labels: NDArray[np.int64], how: str) -> float:
    d, k = T.shape[1], len(np.unique(labels))
    return k * (1 + d + d * (d + 1) / 2) + (d if how == "power" else 0)
