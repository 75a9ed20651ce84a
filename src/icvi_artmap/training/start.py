"""The start of a run: order of the samples, first boxes, first partition (rules 2 and 3)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.threads import one_thread
from icvi_artmap.indices.base import Index
from icvi_artmap.network.boxes import Boxes, make_boxes
from icvi_artmap.network.nearest import nearest_boxes
from icvi_artmap.samples.scaling import Data, Scaling, coded_data, standardised_table

if TYPE_CHECKING:
    from sklearn.cluster import KMeans

#: As the paper sets them for k-means (Section param_set).
KMEANS_MAX_ITER, KMEANS_TOL = 300, 1e-6


class Samples(NamedTuple):
    """The training data, coded and in the order of presentation. Runs may share them."""

    data: Data
    scaling: Scaling
    order: NDArray[np.int64]  #: (N,) row of X of every sample

    def take(self, rows: NDArray[np.int64]) -> Samples:
        """Only these, in the order of presentation; the same if they are all."""
        if len(rows) == len(self.order):
            return self
        return Samples(self.data.take(rows), self.scaling, self.order[rows])

    def in_original_order(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """One number for every sample, as the rows of X have them."""
        restored = np.empty(len(values), np.int64)
        restored[self.order] = values
        return restored


def make_samples(
    X: NDArray[np.floating], scaling: Scaling, order: NDArray[np.int64], index: Index
) -> Samples:
    """Code the data, and turn them to their principal axes if the index looks at them so."""
    return Samples(index.view(coded_data(X, scaling, order)), scaling, order)


def presentation_order(
    X: NDArray[np.floating],
    scaling: Scaling,
    shuffle: bool,
    by: Literal["vat"] | None,
    random_state: np.random.RandomState,
) -> NDArray[np.int64]:
    """The order in which the rows of X are presented: shuffled, and then sorted, if so wished."""
    order = np.arange(len(X))
    if shuffle:
        random_state.shuffle(order)
    if by == "vat":
        from icvi_artmap.tendency.vat import vat  # with scikit-learn, which takes long to import

        order = order[vat(coded_data(X, scaling, order).coded(slice(None)))]
    return order


def kmeans_centres(
    X: NDArray[np.floating], scaling: Scaling, n_clusters: int, trials: int, seed: int
) -> NDArray[np.float64]:
    """Centres of the best of several k-means runs on the standardised data, in data units."""
    scaling = scaling.in_deviations()
    table = standardised_table(X, scaling)
    return scaling.standardise_inverse(_kmeans(table, n_clusters, trials, seed).cluster_centers_)


def kmeans_labels(x: NDArray[np.float64], n_clusters: int, seed: int) -> NDArray[np.int64]:
    """The clusters of one k-means run on standardised data; none is empty."""
    labels = _kmeans(x.copy(), n_clusters, 1, seed).labels_
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _kmeans(table: NDArray[np.float64], n_clusters: int, trials: int, seed: int) -> KMeans:
    """The best of several k-means runs on a table that may be changed.

    One thread: with more, scikit-learn adds in another order, and of two starts that end in the
    same partition another one may win, which numbers the clusters differently.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

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
        return model.fit(table)


class Start(NamedTuple):
    """Where a run begins."""

    boxes: NDArray[np.float64]  #: (k, 2d) first boxes, min-max scaled and complement coded
    labels: NDArray[np.int64] | None  #: (N,), as presented; None: by the boxes

    @property
    def n_clusters(self) -> int:
        return len(self.boxes)

    def take(self, rows: NDArray[np.int64]) -> Start:
        """For these samples alone."""
        return self if self.labels is None else self._replace(labels=self.labels[rows])


def start_at(centres: NDArray[np.float64], scaling: Scaling) -> Start:
    """Start from centres in data units."""
    return Start(boxes_at(scaling.min_max(centres)), None)


def start_from(labels: NDArray[np.int64], means: NDArray[np.float64], data: Data) -> Start:
    """Start from a partition, whose clusters have these means as the index sees them."""
    return Start(boxes_at(data.min_max(means)), labels)


def boxes_at(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Boxes without extent at min-max scaled points, clipped and complement coded: (k, 2d)."""
    scaled = np.clip(points, 0.0, 1.0)
    return np.hstack([scaled, 1.0 - scaled])


def first_partition(
    data: Data, rows: NDArray[np.float64], alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Boxes that got a sample, and the box of every sample; a box's number is its cluster's."""
    boxes: Boxes = make_boxes(rows, len(rows))
    labels = np.empty(data.shape[0], np.int64)
    nearest_boxes(data, boxes, alpha, np.empty(rows.shape[1]), labels)
    kept = np.bincount(labels, minlength=len(rows)) > 0
    np.take(np.cumsum(kept) - 1, labels, out=labels)
    return rows[kept], labels
