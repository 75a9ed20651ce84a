"""The numbers of clusters: the largest is 0, the next 1, and so on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.samples import moments as mom
from icvi_artmap.training.run import FitResult

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

Order = NDArray[np.int64]  #: the clusters by their numbers until now, in their new order


def keeps_numbers(model: ICVIARTMAP) -> bool:
    """Whether a fit leaves the numbers as they are: the paper's algorithm alone was asked for."""
    return not isinstance(model.refine, str) and not model.refine


def number_by_size(model: ICVIARTMAP) -> Order:
    """Number the clusters of a fitted model by size; of equals, the first in the data comes first.

    Rows that are noise or were left out do not count. Returns the order, for whatever else knows
    the clusters by their numbers until now.
    """
    order = by_size(model.labels_, model.sample_clusters_, model.n_clusters_)
    if not np.array_equal(order, np.arange(len(order))):
        renumber(model, order)
    return order


def by_size(labels: NDArray[np.int64], clusters: NDArray[np.int64], k: int) -> Order:
    """The clusters, largest first. ``labels``: negative for rows that do not count."""
    n = np.bincount(labels[labels >= 0], minlength=k)
    first = np.full(k, len(clusters))
    np.minimum.at(first, clusters, np.arange(len(clusters)))
    return np.lexsort((first, -n))


def renumbered_result(result: FitResult, order: Order) -> FitResult:
    """The result of a fit with its clusters in this order."""
    place, joined = _places(order), result.joined
    return replace(
        result,
        labels=place[result.labels],
        map_field=result.map_field[:, order],
        centres=result.centres[order],
        moments=mom.taken(result.moments, order),
        joined=None if joined is None else joined._replace(clusters=place[joined.clusters]),
    )


def renumber(model: Any, order: Order) -> None:
    """Number the clusters of a fitted model in this order."""
    place = _places(order)
    clusters, labels = model.sample_clusters_, model.labels_
    model.sample_clusters_ = place[clusters]
    if labels is clusters:
        model.labels_ = model.sample_clusters_
    else:
        model.labels_ = np.where(labels < 0, labels, place[np.maximum(labels, 0)])
    model.cluster_centers_ = model.cluster_centers_[order]
    model.map_field_ = model.map_field_[:, order]
    model.category_labels_ = model.map_field_.argmax(axis=1)
    joined = hasattr(model, "components_")
    for name in ("components_", "joins_") if joined else ():
        found = getattr(model, name)
        setattr(model, name, replace(found, clusters=place[found.clusters]))
    model.fitted_ = model.fitted_.renumbered(order, joined)


def _places(order: Order) -> NDArray[np.int64]:
    """For every cluster its new number."""
    return np.argsort(order)
