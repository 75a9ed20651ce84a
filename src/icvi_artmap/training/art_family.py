"""Epochs of the networks that only grow: fuzzy ART, dual vigilance fuzzy ART, fuzzy ARTMAP."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.network.boxes import BIN_SAMPLES, choose_bins
from icvi_artmap.network.driver import (
    GROWTH,
    Network,
    Pace,
    Parameters,
    in_chunks,
    is_full,
    make_network,
    with_categories,
)
from icvi_artmap.network.fuzzy_art import Clusters, present
from icvi_artmap.network.members import NONE
from icvi_artmap.samples.scaling import Data

#: With a learning rate below 1 weights approach their limits for ever: this near is there.
SETTLED = 1e-6


class ClusterNetwork(NamedTuple):
    """A network whose categories belong to clusters."""

    network: Network
    clusters: Clusters

    @property
    def n_categories(self) -> int:
        return int(self.network.boxes.used[0])

    @property
    def rows(self) -> NDArray[np.float64]:
        """The boxes, one per row: (C, 2d)."""
        return self.network.boxes.weight[: self.n_categories]

    @property
    def map_field(self) -> NDArray[np.float64]:
        """The rows of the map field that belong to them: (C, columns)."""
        return self.network.map_field[: self.n_categories]

    @property
    def category_clusters(self) -> NDArray[np.int64]:
        """The cluster of every category."""
        return self.clusters.of[: self.n_categories]

    def with_columns(self, columns: NDArray[np.int64]) -> ClusterNetwork:
        """With these columns of the map field, in this order."""
        map_field = np.ascontiguousarray(self.network.map_field[:, columns])
        return self._replace(network=self.network._replace(map_field=map_field))


class Trained(NamedTuple):
    """What training leaves behind."""

    network: ClusterNetwork
    categories: NDArray[np.int64]  #: (N,) category of every sample, in the order of presentation
    n_epochs: int
    converged: bool


def empty_network(data: Data, n_columns: int = 1) -> ClusterNetwork:
    """No categories yet. ``n_columns``: of the map field."""
    nothing = np.empty((0, 2 * data.shape[1]))
    network = make_network(nothing, choose_bins(data.coded(BIN_SAMPLES)), n_columns, 1)
    return _numbered(network, np.empty(0, np.int64))


def assembled(
    rows: NDArray[np.float64],
    cells: NDArray[np.uint8],
    map_field: NDArray[np.float64],
    clusters: NDArray[np.int64],
) -> ClusterNetwork:
    """A network of these boxes, with room to grow; no number of a cluster is left out."""
    network = make_network(rows, cells, map_field.shape[1], GROWTH * len(rows))
    network.map_field[: len(rows)] = map_field
    return _numbered(network, clusters)


def _numbered(network: Network, clusters: NDArray[np.int64]) -> ClusterNetwork:
    """The network with the clusters of its categories."""
    of = np.zeros(len(network.boxes.found), np.int64)
    of[: len(clusters)] = clusters
    return ClusterNetwork(network, Clusters(of, np.array([clusters.max(initial=-1) + 1])))


def selected(whole: ClusterNetwork, kept: NDArray[np.int64]) -> ClusterNetwork:
    """Only these categories, with room to grow; clusters are numbered without gaps."""
    network = with_categories(whole.network, kept, GROWTH * len(kept))
    return _numbered(network, np.unique(whole.clusters.of[kept], return_inverse=True)[1])


def present_all(
    data: Data,
    whole: ClusterNetwork,
    parameters: Parameters,
    classes: NDArray[np.int64],
    categories: NDArray[np.int64],
    pace: Pace,
) -> ClusterNetwork:
    """One epoch. ``categories`` is renewed."""
    n_samples, n_features = data.shape
    x_a = np.empty(2 * n_features)

    def chunk(start: int, stop: int) -> int:
        nonlocal whole
        reached = present(data, *whole, parameters, classes, categories, x_a, start, stop)
        if is_full(whole.network):
            whole = selected(whole, np.arange(whole.n_categories))
        return int(reached)

    in_chunks(n_samples, pace, chunk)
    return whole


def _moved(before: NDArray[np.float64], after: NDArray[np.float64], rate: float) -> bool:
    return len(before) != len(after) or bool(
        np.abs(after - before).max(initial=0.0) > (0.0 if rate == 1.0 else SETTLED)
    )


def train(
    data: Data,
    network: ClusterNetwork,
    parameters: Parameters,
    classes: NDArray[np.int64],
    max_epochs: int | None,
) -> Trained:
    """Epochs until one changes nothing: no category of a sample, no box, no map field row."""
    categories = np.full(data.shape[0], NONE, np.int64)
    pace, n_epochs, changed = Pace(), 0, True
    while changed and (max_epochs is None or n_epochs < max_epochs):
        last = categories.copy()
        last_rows, last_field = network.rows.copy(), network.map_field.copy()
        network = present_all(data, network, parameters, classes, categories, pace)
        n_epochs += 1
        changed = (
            not np.array_equal(last, categories)
            or _moved(last_rows, network.rows, parameters.beta_a)
            or _moved(last_field, network.map_field, parameters.beta_ab)
        )
    return Trained(network, categories, n_epochs, not changed)


def without_idle(trained: Trained) -> Trained:
    """Without the categories that no sample is in after the last epoch."""
    held = np.bincount(trained.categories, minlength=trained.network.n_categories) > 0
    if held.all():
        return trained
    network = selected(trained.network, np.flatnonzero(held))
    return trained._replace(
        network=network, categories=np.take(np.cumsum(held) - 1, trained.categories)
    )
