"""The rule "category": what the boxes of a trained network say of new samples (rule 13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.network.boxes import make_boxes
from icvi_artmap.network.nearest import cluster_choices, nearest_boxes
from icvi_artmap.samples.scaling import Data, Scaling, blocks, plain_data


def _coded_block(X: NDArray[np.floating], scaling: Scaling) -> Data:
    """Values outside the training range are not clipped: the nearest box then still wins."""
    d = X.shape[1]
    return plain_data(scaling.min_max(X.astype(np.float64)), np.ones(d), np.zeros(d))


def best_categories(
    X: NDArray[np.floating], scaling: Scaling, rows: NDArray[np.float64], alpha: float
) -> NDArray[np.int64]:
    """Category of largest choice for every sample (rule 13)."""
    boxes = make_boxes(rows, len(rows))
    x_a = np.empty(rows.shape[1])
    best = np.empty(len(X), np.int64)
    for part in blocks(len(X)):
        data = _coded_block(X[part], scaling)
        nearest_boxes(data, boxes, alpha, x_a, best[part])
    return best


def best_categories_within(
    X: NDArray[np.floating],
    scaling: Scaling,
    rows: NDArray[np.float64],
    alpha: float,
    category_labels: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Category of largest choice among those of the sample's own cluster; -1 if it has none."""
    best = np.full(len(X), -1, np.int64)
    for i in np.unique(labels):
        own, mine = np.flatnonzero(category_labels == i), np.flatnonzero(labels == i)
        if len(own):
            best[mine] = own[best_categories(X[mine], scaling, rows[own], alpha)]
    return best


def coded_rows(X: NDArray[np.floating], scaling: Scaling) -> NDArray[np.float64]:
    """x^a of samples of the training data: min-max scaled and complement coded."""
    scaled = np.clip(scaling.min_max(X.astype(np.float64)), 0.0, 1.0)
    return np.hstack([scaled, 1.0 - scaled])


def best_choices(
    X: NDArray[np.floating],
    scaling: Scaling,
    rows: NDArray[np.float64],
    alpha: float,
    category_labels: NDArray[np.int64],
    n_clusters: int,
) -> NDArray[np.float64]:
    """Choice value of every cluster's best category; 0 for a cluster without one.

    Far from a box without extent the value may be beyond what float64 holds; it is its least then.
    """
    boxes = make_boxes(rows, len(rows))
    x_a = np.empty(rows.shape[1])
    best = np.full((len(X), n_clusters), -np.inf)
    for part in blocks(len(X)):
        data = _coded_block(X[part], scaling)
        cluster_choices(data, boxes, alpha, category_labels, x_a, best[part])
    np.maximum(best, np.finfo(np.float64).min, out=best)
    best[:, np.bincount(category_labels, minlength=n_clusters) == 0] = 0.0
    return best
