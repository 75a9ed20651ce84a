"""The start: centres by k-means or as given, first boxes, first partition (rules 2 and 3)."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from icvi_artmap.network.boxes import Boxes, make_boxes
from icvi_artmap.network.nearest import nearest_boxes
from icvi_artmap.samples.scaling import Data, Scaling, one_thread, standardised_table

#: As the paper sets them for k-means (Section param_set).
KMEANS_MAX_ITER, KMEANS_TOL = 300, 1e-6


def kmeans_centres(
    X: NDArray[np.floating], scaling: Scaling, n_clusters: int, trials: int, seed: int
) -> NDArray[np.float64]:
    """Centres of the best of several k-means runs on the standardised data, in data units.

    One thread: with more, scikit-learn adds in another order, and of two starts that end in the
    same partition another one may win, which numbers the clusters differently.
    """
    table = standardised_table(X, scaling)
    model = KMeans(
        n_clusters,
        n_init=trials,
        max_iter=KMEANS_MAX_ITER,
        tol=KMEANS_TOL,
        copy_x=False,
        random_state=seed,
    )
    with one_thread(), warnings.catch_warnings():
        # Fewer distinct samples than clusters: rule 3 removes the boxes that stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centres = model.fit(table).cluster_centers_
    return scaling.standardise_inverse(centres)


def first_boxes(centres: NDArray[np.float64], scaling: Scaling) -> NDArray[np.float64]:
    """Centres in data units, scaled, clipped and complement coded: (k, 2d)."""
    scaled = np.clip(scaling.min_max(centres), 0.0, 1.0)
    return np.hstack([scaled, 1.0 - scaled])


def first_partition(
    data: Data, rows: NDArray[np.float64], alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Boxes that got a sample, and the box of every sample; a box's number is its cluster's."""
    boxes: Boxes = make_boxes(rows, len(rows))
    labels = np.empty(len(data.table), np.int64)
    nearest_boxes(data, boxes, alpha, np.empty(rows.shape[1]), labels)
    kept = np.bincount(labels, minlength=len(rows)) > 0
    np.take(np.cumsum(kept) - 1, labels, out=labels)
    return rows[kept], labels
