"""The value of an index for any partition."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from icvi_artmap._support.wording import shown
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import get_index
from icvi_artmap.samples.moments import Moments, together
from icvi_artmap.samples.resolution import steps
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


def score_of_moments(moments: Moments, index: Index) -> float:
    """Score of a partition whose clusters have these moments, none of them empty."""
    own = (
        moments
        if index.needs_scatter
        else moments._replace(scatter=np.empty((len(moments.n), 0, 0)))
    )
    state = index.make_state(own, together(own))
    index.update_all(state)
    return index.score(state)


def index_value(
    X: ArrayLike,
    labels: ArrayLike,
    index: str | Index = "NI",
    *,
    resolution: ArrayLike | Literal["learn"] | None = None,
) -> float:
    """Value of a cluster validity index for any partition of the standardised data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        Cluster of every sample: integers or strings.
    index : str or Index, default="NI"
        As in :class:`ICVIARTMAP`.
    resolution : array-like of shape (n_features,), "learn" or None, default=None
        The steps in which the columns were recorded, as ``resolution_`` of a model has them: no
        cluster counts as flatter than that. "learn": as they are in ``X``. None: none.

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
    scaling = learn_scaling(table)
    if resolution is not None:
        scaling = found.resolved(scaling, _steps(resolution, table))
    return found.value(score(table, clusters, scaling, found))


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


def _steps(
    resolution: ArrayLike | Literal["learn"], table: NDArray[np.floating]
) -> NDArray[np.float64]:
    """A step for every feature, or a clear error."""
    if isinstance(resolution, str) and resolution == "learn":
        return steps(table)
    n_features = table.shape[1]
    try:
        found = np.asarray(resolution, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n_features,) or not ((found >= 0.0) & np.isfinite(found)).all():
        raise ValueError(
            f"resolution must have a number from 0 on for each of the {n_features} features, got "
            f"{shown(resolution)}."
        )
    return found
