"""What a trained network says of new samples, and index values of given partitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from icvi_artmap._compile.jit import jit
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import get_index
from icvi_artmap.network.boxes import CHOICE, choices, make_boxes
from icvi_artmap.samples.scaling import (
    Data,
    Scaling,
    blocks,
    coded_row,
    learn_scaling,
    plain_data,
    standardised_data,
)
from icvi_artmap.training.start import assign


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
        assign(data, boxes, alpha, x_a, 0, len(data.table), best[part])
    return best


@jit
def _cluster_choices(data, boxes, alpha, labels, x_a, out):
    """out[s, i] = the largest choice among the categories that predict cluster i."""
    for s in range(data.table.shape[0]):
        coded_row(data, s, x_a)
        choices(boxes, x_a, alpha)
        for c in range(boxes.used[0]):
            out[s, labels[c]] = max(out[s, labels[c]], boxes.value[CHOICE, c])


def best_choices(
    X: NDArray[np.floating],
    scaling: Scaling,
    rows: NDArray[np.float64],
    alpha: float,
    category_labels: NDArray[np.int64],
    n_clusters: int,
) -> NDArray[np.float64]:
    """Choice value of every cluster's best category; 0 for a cluster without one."""
    boxes = make_boxes(rows, len(rows))
    x_a = np.empty(rows.shape[1])
    best = np.full((len(X), n_clusters), -np.inf)
    for part in blocks(len(X)):
        data = _coded_block(X[part], scaling)
        _cluster_choices(data, boxes, alpha, category_labels, x_a, best[part])
    best[:, np.bincount(category_labels, minlength=n_clusters) == 0] = 0.0
    return best


def score(
    X: NDArray[np.floating], labels: NDArray[np.int64], scaling: Scaling, index: Index
) -> float:
    """Score of a partition of ``X``, scaled as given."""
    present, labels = np.unique(labels, return_inverse=True)
    data = standardised_data(X, scaling)
    state = index.state(data, labels.astype(np.int64), len(present), len(present))
    return index.score(state)


def index_value(X: ArrayLike, labels: ArrayLike, index: str | Index = "NI") -> float:
    """Value of a cluster validity index for any partition of the standardised data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        Cluster of every sample: integers or strings.
    index : str or Index, default="NI"
        As in :class:`ICVIARTMAP`.

    Returns
    -------
    float
        In the index's own sign (for NI, WB, XB and DB smaller is better). A single cluster has the
        worst value, an infinity.

    Examples
    --------
    >>> from icvi_artmap import index_value
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> round(index_value(X, [0, 0, 1, 1], "CH"), 6)
    200.0
    """
    found = get_index(index)
    table: NDArray[np.floating] = check_array(X, dtype=[np.float64, np.float32])
    clusters = np.asarray(labels)
    if clusters.ndim != 1:
        raise ValueError(f"labels must have one dimension, got shape {clusters.shape}.")
    check_consistent_length(table, clusters)
    if clusters.dtype.kind == "f" and not np.isfinite(clusters).all():
        raise ValueError("labels contain NaN or infinity; give every sample a cluster.")
    return found.value(score(table, clusters, learn_scaling(table), found))
