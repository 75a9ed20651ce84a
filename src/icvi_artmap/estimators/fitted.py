"""What a fit has found, as the rooms above see it: inspection, files, pictures, report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.base import Index
from icvi_artmap.prediction import by_category, by_index, confidence
from icvi_artmap.prediction.confidence import Levels
from icvi_artmap.samples.mixture import Mixture, make_mixture
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import Scaling, standardised_table
from icvi_artmap.training.art_family import ClusterNetwork

#: Means of clusters that agree to this part of a feature's deviation are those of the same rows.
SAME = 1e-6
#: The same as a part of the means themselves: what reading a table may round.
ROUNDING = 1e-12
#: A model without density.
EARLIER = (
    "What is known of the density of the clusters is not in this model, which an earlier version "
    "has saved. Fit it again."
)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What a fitted :class:`ICVIARTMAP` works with, its attribute ``fitted_``.

    Attributes
    ----------
    index : Index
        The index that has decided.
    scaling : Scaling
        How the training data were scaled.
    moments : Moments
        Sizes, means, compactness and, if the index needs them, scatter of the clusters, in
        standardised features.
    boxes : ndarray of shape (n_categories, 2 * n_features)
        The categories, min-max scaled and complement coded.
    groups : Moments
        Those of the groups that the index compares: components, where clusters were joined of
        them, and else the clusters.
    group_clusters : ndarray
        The cluster of every group.
    gaussians : Moments or None
        Moments with scatter of the Gaussians that make the density of the clusters.
    levels : Levels or None
        What density is usual in every cluster, and where noise begins.
    """

    index: Index
    scaling: Scaling
    moments: Moments
    boxes: NDArray[np.float64]
    groups: Moments
    group_clusters: NDArray[np.int64]
    gaussians: Moments | None = None
    levels: Levels | None = None

    def standardised(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Rows in the units of the data, as the index sees them."""
        return standardised_table(X, self.scaling)

    def in_deviations(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Rows in the units of the data, as deviations from the mean."""
        return standardised_table(X, self.scaling.in_deviations())

    def means_in_deviations(self) -> NDArray[np.float64]:
        """Means of the clusters, as deviations from the mean of all samples."""
        return self.moments.mean * (self.scaling.unit / self.scaling.deviation)

    def best_clusters(self, X: NDArray[np.floating]) -> NDArray[np.int64]:
        """The cluster with which every row makes the best partition: the rule "index"."""
        best = by_index.best_clusters(X, self.scaling, self.index, self.groups)
        return self.group_clusters[best]

    def index_values(
        self, X: NDArray[np.floating], own: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Index of the partition with row s in cluster i, of shape (n_rows, k).

        Where clusters were joined of components, it is that of the components, with the row in the
        best one of the cluster. ``own``: the groups (:func:`groups_of`) that the rows are in
        already, if they are training samples.
        """
        values = by_index.index_values(X, self.scaling, self.index, self.groups, own)
        sign, k = self.index.direction, len(self.moments.n)
        best = [(sign * values[:, self.group_clusters == i]).max(axis=1) for i in range(k)]
        return sign * np.column_stack(best)

    def nearest_categories(self, X: NDArray[np.floating], alpha: float) -> NDArray[np.int64]:
        """The category of largest choice for every row: the rule "category"."""
        return by_category.best_categories(X, self.scaling, self.boxes, alpha)

    def choices(
        self, X: NDArray[np.floating], alpha: float, category_labels: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Choice value of every cluster's best category, of shape (n_rows, k)."""
        k = len(self.moments.n)
        return by_category.best_choices(X, self.scaling, self.boxes, alpha, category_labels, k)

    def mixture(self) -> tuple[Mixture, NDArray[np.int64]]:
        """The density of all clusters, and the cluster of every Gaussian in it."""
        moments = self.groups if self.gaussians is None else self.gaussians
        if moments.scatter.shape[1] == 0:
            raise ValueError(EARLIER)
        return make_mixture(moments), self.group_clusters

    def with_levels(self, X: NDArray[np.floating], group: NDArray[np.int64]) -> FittedModel:
        """With what is learned from the training data about the density of the clusters.

        ``group``: that of every sample, whose Gaussian it belongs to.
        """
        clusters = self.group_clusters
        rows = confidence.looked_at(group, clusters, X.shape[1])
        x, own = self.standardised(X[rows]), group[rows]
        gaussians, known_from = confidence.with_scatter(self.groups, x, own)
        told = replace(self, gaussians=gaussians)
        n = np.bincount(clusters, gaussians.n)
        levels = confidence.learn_levels(*told.mixture(), known_from, n, x, own)
        return replace(told, levels=levels)

    def memberships(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """The part of every cluster in the density at every row, of shape (n_rows, k)."""
        return confidence.memberships(*self.mixture(), self.standardised(X))

    def outlier_scores(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """How strange every row is, in [0, 1]."""
        if self.levels is None:
            raise ValueError(EARLIER)
        return confidence.outlier_scores(*self.mixture(), self.levels, self.standardised(X))

    def noise(self, X: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Which rows belong to no cluster."""
        return self.outlier_scores(X) > confidence.NOISE


def groups_of(model: Any) -> NDArray[np.int64]:
    """The group of every training sample that the index compares: its component, or its cluster."""
    components = getattr(model, "components_", None)
    return model.sample_clusters_ if components is None else components.labels


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """What a fitted estimator of the ART family works with, its attribute ``fitted_``.

    Attributes
    ----------
    network : ClusterNetwork
        Boxes, their clusters and the map field, with room to grow.
    scaling : Scaling
        The ranges of the features.
    boxes : ndarray of shape (n_categories, 2 * n_features)
        The categories, min-max scaled and complement coded.
    """

    network: ClusterNetwork
    scaling: Scaling
    boxes: NDArray[np.float64]

    def nearest_categories(self, X: NDArray[np.floating], alpha: float) -> NDArray[np.int64]:
        """The category of largest choice for every row."""
        return by_category.best_categories(X, self.scaling, self.boxes, alpha)

    def choices(
        self, X: NDArray[np.floating], alpha: float, category_labels: NDArray[np.int64], k: int
    ) -> NDArray[np.float64]:
        """Choice value of every cluster's best category, of shape (n_rows, k)."""
        return by_category.best_choices(X, self.scaling, self.boxes, alpha, category_labels, k)


def is_training_data(estimator: Any, X: NDArray[np.floating]) -> bool:
    """Whether these rows are those that the estimator was fitted on, in the same order.

    Estimators do not keep their data. But rows with the clusters of the training data have the
    means of the clusters only if they are the same rows. An estimator without ``labels_`` or
    ``cluster_centers_`` cannot tell: False.
    """
    labels = getattr(estimator, "sample_clusters_", getattr(estimator, "labels_", None))
    centres = getattr(estimator, "cluster_centers_", None)
    if labels is None or centres is None or X.shape != (len(labels), centres.shape[1]):
        return False
    if labels.min() < 0:  # somebody's clustering that leaves out rows
        return False
    n = np.maximum(np.bincount(labels, minlength=len(centres)), 1)
    sums = [np.bincount(labels, column, minlength=len(centres)) for column in X.T]
    apart = np.abs(np.stack(sums, axis=1) / n[:, None] - centres)
    return bool((apart <= SAME * X.std(axis=0) + ROUNDING * np.abs(centres)).all())
