"""A model that was fitted on a sample of rows, told what is known of all of them.

The clusters of all rows are found elsewhere (the room ``distributed``); here is what the sample's
model hands out for that, and how it takes in what was found. It is a model like any other then:
its labels are those of the sample, its moments, scaling and index value those of all rows.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.estimators import preparing
from icvi_artmap.estimators.fitted import groups_of
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.estimators.numbering import Order, keeps_numbers, renumber
from icvi_artmap.indices.registry import get_index
from icvi_artmap.prediction.by_category import best_categories_within
from icvi_artmap.samples.moments import Moments, empty_moments, put, taken, together
from icvi_artmap.samples.resolution import steps
from icvi_artmap.samples.scaling import Scaling
from icvi_artmap.training.joining import Tree
from icvi_artmap.training.run import Epoch, FitResult, Joined

#: Attributes with an entry for every training sample.
OF_SAMPLES = ("labels_", "sample_clusters_", "sample_categories_", "index_trace_")


def check_before_fit(model: ICVIARTMAP) -> None:
    """Refuse parameters that a fit would refuse, before there are data."""
    model._check_parameters()


def without_samples(model: ICVIARTMAP) -> ICVIARTMAP:
    """A copy that predicts alike and has nothing of the size of the training data."""
    twin = copy.copy(model)
    for name in OF_SAMPLES:
        if hasattr(twin, name):
            delattr(twin, name)
    nothing = np.empty(0, np.int64)
    if hasattr(twin, "components_"):
        twin.components_ = replace(twin.components_, labels=nothing)
    twin.fitted_ = replace(twin.fitted_, trained=None)
    return twin


class Sample(NamedTuple):
    """The rows that a model was fitted on."""

    rows: NDArray[np.floating]  #: checked, with NaN and positions of values in them
    trained: NDArray[np.bool_]  #: those that the clusters were found on
    seen: NDArray[np.floating]  #: the latter as they are clustered
    group: NDArray[np.int64]  #: and the group of each

    @property
    def only_complete(self) -> bool:
        """Whether rows with gaps do not count: these did not, or there were none."""
        return not (self.trained.all() and np.isnan(self.rows).any())


def sample_of(model: ICVIARTMAP, rows: NDArray[np.floating]) -> Sample:
    """What the model, just fitted on these rows, has made of them."""
    mask = model.fitted_.trained
    trained = np.ones(len(rows), np.bool_) if mask is None else mask
    seen = model.fitted_.prepared(rows[trained])
    return Sample(rows, trained, seen, groups_of(model)[trained])


def recorded_steps(model: ICVIARTMAP, sample: Sample) -> NDArray[np.float64]:
    """The steps of the columns as they are recorded, if the model has learned any; else 0."""
    if not model.resolution_.any():
        return np.zeros(sample.rows.shape[1])
    return steps(sample.rows[sample.trained])


def resolution_by(
    model: ICVIARTMAP, sample: Sample, recorded: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The steps of the rows as they are clustered, from those of the columns."""
    if model.preparation_ is None or not recorded.any():
        return recorded if model.preparation_ is None else np.zeros(len(model.resolution_))
    return model.preparation_.steps(sample.rows[sample.trained], recorded)


def clusters_joined(groups: Moments, clusters: NDArray[np.int64]) -> Moments:
    """Moments of clusters, from those of the groups that they are joined of."""
    k = int(clusters.max()) + 1
    if np.array_equal(clusters, np.arange(len(clusters))):
        return groups
    whole = empty_moments(k, groups.mean.shape[1], groups.scatter.shape[1] > 0)
    whole.size[0] = k
    for i in range(k):
        put(whole, np.array([i]), together(taken(groups, clusters == i)))
    return whole


class AllRows(NamedTuple):
    """What was found on all rows, with the model's own numbers of groups and categories."""

    scaling: Scaling
    resolution: NDArray[np.float64]
    groups: Moments  #: of the groups that the index compares
    boxes: NDArray[np.float64]  #: the categories, min-max scaled and complement coded
    scores: list[float]  #: of the clusters, after every pass that was kept
    group: NDArray[np.int64]  #: of the sample's rows that clusters were found on


def tell_of_all(model: ICVIARTMAP, sample: Sample, found: AllRows) -> Order:
    """Give the model what was found on all rows.

    Clusters are numbered anew by their size. Returns that order: the clusters by the numbers that
    they had.
    """
    fitted, made = model.fitted_, model.preparation_
    index, clusters = get_index(model.index), fitted.group_clusters
    moments, labels = clusters_joined(found.groups, clusters), clusters[found.group]
    joined = None
    if hasattr(model, "components_"):
        tree = Tree(*(getattr(model.joins_, name) for name in Tree._fields))
        joined = Joined(found.group, clusters, found.groups, tree)
    categories = model.sample_categories_[sample.trained].copy()
    moved = model.category_labels_[categories] != labels
    nearest = best_categories_within(
        sample.seen[moved],
        found.scaling,
        found.boxes,
        model.alpha,
        model.category_labels_,
        labels[moved],
    )
    categories[moved] = np.where(nearest < 0, categories[moved], nearest)
    epochs = zip(*(model.history_[name].tolist() for name in Epoch._fields), strict=True)
    result = FitResult(
        labels=labels,
        sample_categories=categories,
        boxes=found.boxes,
        map_field=model.map_field_,
        centres=moments.mean.copy(),
        moments=moments,
        history=[*(index.direction * model.index_history_).tolist(), *found.scores],
        trace=None,
        epochs=[Epoch(*numbers) for numbers in epochs],
        converged=model.converged_,
        vigilances=model.vigilances_,
        joined=joined,
    )
    model._set_result(result, found.scaling, index)
    model.resolution_ = found.resolution
    model.fitted_ = model.fitted_.with_levels(sample.seen, groups_of(model))
    if model.noise:
        model.labels_ = np.where(model.fitted_.noise(sample.seen), -1, model.sample_clusters_)
    if made is not None:
        preparing.finish(model, preparing.Prepared(sample.rows, made, sample.trained))
    order = np.arange(model.n_clusters_)
    if not keeps_numbers(model):
        order = np.argsort(-moments.n, kind="stable")
        renumber(model, order)
    return order
