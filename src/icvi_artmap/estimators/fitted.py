"""What a fit has found, as the rooms above see it: inspection, files, pictures, report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.base import Index
from icvi_artmap.prediction import by_category, by_index, confidence
from icvi_artmap.prediction.confidence import Levels
from icvi_artmap.preparation.preparation import InUnits, Preparation
from icvi_artmap.samples.mixture import Mixture, make_mixture
from icvi_artmap.samples.moments import Moments, taken
from icvi_artmap.samples.scaling import Scaling, standardised_table
from icvi_artmap.training.art_family import ClusterNetwork

#: Means of clusters that agree to this part of a feature's deviation are those of the same rows.
SAME = 1e-6
#: The same as a part of the means themselves: what reading a table may round.
ROUNDING = 1e-12
#: Means of a sample are so many of their standard errors from those of all rows, at most.
STANDARD_ERRORS = 8.0
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
    preparation : Preparation or None
        What is done to rows before all else; the rest is about prepared rows.
    in_units : InUnits or None
        The clusters in the units of the data, if rows are prepared.
    trained : ndarray of bool or None
        The rows of the training data that the clusters were found on; None: all.
    """

    index: Index
    scaling: Scaling
    moments: Moments
    boxes: NDArray[np.float64]
    groups: Moments
    group_clusters: NDArray[np.int64]
    gaussians: Moments | None = None
    levels: Levels | None = None
    preparation: Preparation | None = None
    in_units: InUnits | None = None
    trained: NDArray[np.bool_] | None = None

    def prepared(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Rows in the units of the data, as they are clustered."""
        return X if self.preparation is None else self.preparation.prepared(X)

    def filled(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Rows in the units of the data, with a value in every cell."""
        return X if self.preparation is None else self.preparation.filled(X)

    def standardised(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Rows in the units of the data, as the index sees them."""
        return standardised_table(self.prepared(X), self.scaling)

    def best_groups(self, X: NDArray[np.floating]) -> NDArray[np.int64]:
        """The group with which every row makes the best partition."""
        return by_index.best_clusters(self.prepared(X), self.scaling, self.index, self.groups)

    def in_deviations(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Rows in the units of the data, as deviations from the mean."""
        return standardised_table(self.prepared(X), self.scaling.in_deviations())

    def best_clusters(self, X: NDArray[np.floating]) -> NDArray[np.int64]:
        """The cluster with which every row makes the best partition: the rule "index"."""
        return self.group_clusters[self.best_groups(X)]

    def index_values(
        self, X: NDArray[np.floating], own: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Index of the partition with row s in cluster i, of shape (n_rows, k).

        Where clusters were joined of components, it is that of the components, with the row in the
        best one of the cluster. ``own``: the groups (:func:`groups_of`) that the rows are in
        already, if they are training samples.
        """
        seen = self.prepared(X)
        values = by_index.index_values(seen, self.scaling, self.index, self.groups, own)
        sign, k = self.index.direction, len(self.moments.n)
        best = [(sign * values[:, self.group_clusters == i]).max(axis=1) for i in range(k)]
        return sign * np.column_stack(best)

    def nearest_categories(self, X: NDArray[np.floating], alpha: float) -> NDArray[np.int64]:
        """The category of largest choice for every row: the rule "category"."""
        return by_category.best_categories(self.prepared(X), self.scaling, self.boxes, alpha)

    def choices(
        self, X: NDArray[np.floating], alpha: float, category_labels: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Choice value of every cluster's best category, of shape (n_rows, k)."""
        k, seen = len(self.moments.n), self.prepared(X)
        return by_category.best_choices(seen, self.scaling, self.boxes, alpha, category_labels, k)

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

    def renumbered(self, order: NDArray[np.int64], joined: bool) -> FittedModel:
        """The same with the clusters in this order.

        ``joined``: of components, which keep their numbers; else the groups are the clusters.
        """
        moments, levels, told = taken(self.moments, order), self.levels, self.in_units
        groups, gaussians, clusters = self.groups, self.gaussians, self.group_clusters
        if levels is not None:
            thin = levels.thin if joined else levels.thin[order]
            levels = Levels(thin, levels.usual[order], levels.fall[order])
        if told is not None:
            told = told._replace(mean=told.mean[order], deviation=told.deviation[order])
        if joined:
            clusters = np.argsort(order)[clusters]
        else:
            if gaussians is groups:  # a file holds them once
                gaussians = moments
            elif gaussians is not None:
                gaussians = taken(gaussians, order)
            groups = moments
        return replace(
            self,
            moments=moments,
            groups=groups,
            group_clusters=clusters,
            gaussians=gaussians,
            levels=levels,
            in_units=told,
        )

    def profiled(self) -> tuple[NDArray[np.float64], Scaling]:
        """Means of the clusters in the features of their profiles, standardised, and the scaling.

        The features are those of the data; of a category, one for each of its values.
        """
        told = self.in_units
        if told is None:
            scaling = self.scaling.in_deviations()
            return self.moments.mean * (self.scaling.unit / scaling.unit), scaling
        part = (self.moments.n / self.moments.n.sum())[:, None]
        size = np.maximum(np.abs(told.mean), told.deviation).max(axis=0)
        size = np.where(size > 0.0, size, 1.0)
        means = told.mean / size
        middle = (part * means).sum(axis=0)
        squares = np.square(told.deviation / size) + np.square(means - middle)
        deviation = np.sqrt((part * squares).sum(axis=0))
        varied = deviation > ROUNDING
        deviation = np.where(varied, deviation, 1.0)
        mean = np.where(varied, means - middle, 0.0) / deviation
        centre, spread = middle * size, deviation * size
        return mean, Scaling(centre, spread, centre, spread, spread)

    def profiled_names(self, names: list[str]) -> list[str]:
        """What these features are called, from the names of the columns."""
        return names if self.preparation is None else self.preparation.described_names(names)

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


def _as_described(
    fitted: FittedModel, X: NDArray[np.floating], labels: NDArray[np.int64]
) -> tuple[NDArray[np.floating], NDArray[np.int64], NDArray[np.float64]]:
    """Rows that clusters were found on, their clusters, and the means of these, as described."""
    assert fitted.preparation is not None
    assert fitted.in_units is not None
    trained = slice(None) if fitted.trained is None else fitted.trained
    return fitted.preparation.described(X[trained]), labels[trained], fitted.in_units.mean


def rows_of(estimator: Any, X: Any) -> NDArray[np.floating]:
    """Rows for the methods of ``fitted_``: checked, with NaN and positions of values in them."""
    return estimator._check_data(X, reset=False)


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
    fitted = getattr(estimator, "fitted_", None)
    if isinstance(fitted, FittedModel) and fitted.in_units is not None:
        X, labels, centres = _as_described(fitted, X, labels)
    if labels.min() < 0:  # somebody's clustering that leaves out rows
        return False
    n = np.maximum(np.bincount(labels, minlength=len(centres)), 1)
    sums = [np.bincount(labels, column, minlength=len(centres)) for column in X.T]
    apart = np.abs(np.stack(sums, axis=1) / n[:, None] - centres)
    spread = X.std(axis=0)
    room = SAME * spread + ROUNDING * np.abs(centres)
    if _is_of_a_sample(estimator):
        room = room + STANDARD_ERRORS * spread / np.sqrt(n)[:, None]
    return bool((apart <= room).all())


def _is_of_a_sample(estimator: Any) -> bool:
    """Whether the clusters have more rows than the model was fitted on, and its means are theirs.

    Those of prepared rows are told in the units of the data over the sample itself.
    """
    fitted = getattr(estimator, "fitted_", None)
    if not isinstance(fitted, FittedModel) or fitted.in_units is not None:
        return False
    more = fitted.moments.n.sum() > len(estimator.sample_clusters_)
    return bool(more) and not hasattr(estimator, "stream_")
