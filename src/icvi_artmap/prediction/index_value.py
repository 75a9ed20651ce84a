"""The value of an index for any partition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import get_index
from icvi_artmap.samples.scaling import Data, Scaling, learn_scaling, standardised_data


def score(
    X: NDArray[np.floating], labels: NDArray[np.int64], scaling: Scaling, index: Index
) -> float:
    """Score of a partition of ``X``, scaled as given."""
    return partition_score(standardised_data(X, scaling), labels, index)


def partition_score(data: Data, labels: NDArray[Any], index: Index) -> float:
    """Score of a partition of the samples, as the index sees them."""
    present, labels = np.unique(labels, return_inverse=True)
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
        In the index's own sign (for NI, WB, XB, DB and rCIP smaller is better). A single cluster
        has the worst value, an infinity.

    Examples
    --------
    >>> from icvi_artmap import index_value
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> round(index_value(X, [0, 0, 1, 1], "CH"), 6)
    200.0
    """
    found = get_index(index)
    table, clusters = checked_partition(X, labels)
    return found.value(score(table, clusters, learn_scaling(table), found))


def checked_partition(X: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.floating], NDArray[Any]]:
    """Samples and the cluster of each, as arrays; refused if they cannot be a partition."""
    table: NDArray[np.floating] = check_array(X, dtype=[np.float64, np.float32])
    clusters = np.asarray(labels)
    if clusters.ndim != 1:
        raise ValueError(f"labels must have one dimension, got shape {clusters.shape}.")
    check_consistent_length(table, clusters)
    if clusters.dtype.kind == "f" and not np.isfinite(clusters).all():
        raise ValueError("labels contain NaN or infinity; give every sample a cluster.")
    return table, clusters
