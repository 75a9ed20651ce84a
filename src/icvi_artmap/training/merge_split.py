"""Merging and splitting clusters at the end of an epoch (rules 10 and 11)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices import base
from icvi_artmap.indices.base import Index
from icvi_artmap.network import map_field as field
from icvi_artmap.network.driver import Network, predictions
from icvi_artmap.network.members import Members
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data

#: Numbers in the scatter matrices of the parts that are summed together: 32 MB.
PARTS_SIZE = 1 << 22
#: A part of the best score by which another one is clearly below it: far more than rounding.
NEARLY = 1e-9
#: Parts judged in one call.
PARTS = 256


def _best_merge(index: Index, state: Any) -> tuple[int, int] | None:
    """The pair whose merging gives the best score, if that is better than the present one.

    Pairs are scanned in lexicographic order; a later one must be better to replace an earlier one.
    So what is below an earlier one need not be known.
    """
    best, pair = index.score(state), None
    scores = index.trial_merges(state, best, rising=True)
    for i, j in np.argwhere((scores > best) & _nearly_best(scores)):
        if base.better(scores[i, j], best):
            best, pair = scores[i, j], (int(i), int(j))
    return pair


def _nearly_best(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Those that are not clearly below the greatest: only they can win, whatever decides ties."""
    most = np.fmax.reduce(scores, axis=None, initial=-np.inf)  # of those that are numbers
    slack = NEARLY * max(1.0, abs(most)) if np.isfinite(most) else 0.0
    return ~(scores < most - slack)


def merge(
    index: Index,
    state: Any,
    map_field: NDArray[np.float64],
    data: Data | None,
    labels: NDArray[np.int64],
) -> int:
    """Merge while that is better and more than two clusters are left. Returns how many merges.

    Without ``data`` the moments of merged clusters follow from those of the two.
    """
    merges = 0
    while state.moments.size[0] > 2:
        pair = _best_merge(index, state)
        if pair is None:
            break
        i, j = pair
        k = int(state.moments.size[0])
        if merges == 0:
            predicted = field.predictions(map_field, k)
        field.merge_columns(map_field, k, i, j, predicted)
        merged = (labels == i) | (labels == j)
        labels -= (labels > i).astype(np.int64) + (labels > j)
        labels[merged] = k - 2
        both = mom.taken(state.moments, [i, j])
        mom.drop(state.moments, j)
        mom.drop(state.moments, i)
        state.moments.size[0] = k - 1
        if data is None:
            mom.put(state.moments, np.array([k - 2]), mom.together(both))
        else:
            mom.from_labels(state.moments, data, labels, k - 2)
        kept = np.delete(np.arange(k), [i, j])
        index.update_changed(state, kept, np.array([k - 2]))
        merges += 1
    return merges


def drop_empty(
    index: Index,
    state: Any,
    labels: NDArray[np.int64],
    map_field: NDArray[np.float64] | None = None,
) -> None:
    """rule 9: an emptied cluster's map field column goes, higher labels move down by one."""
    k = int(state.moments.size[0])
    kept = np.flatnonzero(state.moments.n[:k] > 0)
    for i in np.flatnonzero(state.moments.n[:k] == 0)[::-1]:
        if map_field is not None:
            field.drop_column(map_field, int(state.moments.size[0]), i)
        labels[labels > i] -= 1
        mom.drop(state.moments, i)
    if state.moments.size[0] < k:
        index.update_changed(state, kept, base.NONE)


def _candidates(
    predicted: NDArray[np.int64], members: Members, labels: NDArray[np.int64], k: int
) -> NDArray[np.int64]:
    """For every category, the cluster it could be split off from, or -1."""
    category, n_categories = members.category, len(predicted)
    predicted = np.where(members.held[:n_categories] > 0, predicted, -1)
    # Samples of every category in the cluster that it predicts, and of every cluster. Some of a
    # cluster are in another category where a category has not got all of them.
    own = np.bincount(category[predicted[category] == labels], minlength=n_categories)
    size = np.bincount(labels, minlength=k)
    prototypes = np.bincount(predicted[predicted >= 0], minlength=k)
    possible = (predicted >= 0) & (own > 0) & (own < size[predicted]) & (prototypes[predicted] >= 2)
    return np.where(possible, predicted, -1)


def best_split(
    index: Index,
    state: Any,
    network: Network,
    members: Members,
    data: Data,
    labels: NDArray[np.int64],
    predicted: NDArray[np.int64],
    promise: NDArray[np.float64] | None = None,
) -> tuple[int, int] | None:
    """Cluster and category of the best part to split off; None if there is no candidate.

    ``predicted``: the cluster of every category. Those of greater ``promise`` are tried first: it
    is the score that they had the last time, and becomes that of now.
    """
    category, k = members.category, int(state.moments.size[0])
    cluster_of = _candidates(predicted, members, labels, k)
    candidates = np.flatnonzero(cluster_of >= 0)
    if len(candidates) == 0:
        return None
    d = data.shape[1]
    together = max(1, PARTS_SIZE // (d * d if index.needs_scatter else d))
    scores, least = np.zeros(len(cluster_of)) if promise is None else promise, -np.inf
    promising = candidates[np.argsort(-scores[candidates], kind="stable")]
    own = cluster_of[category] == labels
    for start in range(0, len(candidates), together):
        chosen = promising[start : start + together]
        row = np.full(len(cluster_of), -1, np.int64)
        row[chosen] = np.arange(len(chosen))
        parts = _parts(index, data, np.where(own, row[category], -1), len(chosen))
        for first in range(0, len(chosen), PARTS):  # an interrupt is seen in between
            rows = np.arange(first, min(first + PARTS, len(chosen)))
            index.trial_splits(state, parts, rows, chosen, cluster_of, scores, least)
            least = max(least, float(scores[chosen[rows]].max()))
    best, candidates = -1, candidates[_nearly_best(scores[candidates])]
    # Clusters in rising order, and within them categories: the paper's tie rule holds in a cluster.
    for q in candidates[np.argsort(cluster_of[candidates], kind="stable")]:
        if best >= 0 and cluster_of[q] == cluster_of[best] and base.same(scores[q], scores[best]):
            weights = network.map_field[:, :k]
            wins = field.uncertainty(weights[q]) < field.uncertainty(weights[best])
        else:
            wins = best < 0 or base.better(scores[q], scores[best])
        best = int(q) if wins else best
    return int(cluster_of[best]), best


def _parts(index: Index, data: Data, row: NDArray[np.int64], n_parts: int) -> mom.Moments:
    parts = mom.empty_moments(n_parts, data.shape[1], index.needs_scatter)
    parts.size[0] = n_parts
    mom.from_labels(parts, data, row)
    return parts


def split(
    index: Index,
    state: Any,
    network: Network,
    members: Members,
    data: Data,
    labels: NDArray[np.int64],
    n_clusters: int,
) -> int:
    """Split until there are ``n_clusters``, or nothing can be split. Returns how many splits."""
    splits, promise = 0, np.zeros(0)
    while state.moments.size[0] < n_clusters:
        k = int(state.moments.size[0])
        if splits == 0:
            predicted = predictions(network, k)
            promise = np.zeros(len(predicted))
        found = best_split(index, state, network, members, data, labels, predicted, promise)
        if found is None:
            break
        i, q = found
        field.split_column(network.map_field, k, q, predicted)
        labels[(labels == i) & (members.category == q)] = k
        state.moments.size[0] = k + 1
        mom.from_labels(state.moments, data, labels, i)
        mom.from_labels(state.moments, data, labels, k)
        index.update_changed(state, np.arange(k), np.array([i, k]))
        splits += 1
    return splits
