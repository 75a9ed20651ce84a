"""Epochs of the networks that only grow: fuzzy ART, dual vigilance fuzzy ART, fuzzy ARTMAP."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.network.boxes import choose_bins, make_boxes
from icvi_artmap.network.fuzzy_art import Network, Parameters, present
from icvi_artmap.network.members import NONE
from icvi_artmap.network.resonance import new_reach
from icvi_artmap.samples.scaling import Data
from icvi_artmap.training.presenting import GROWTH, Pace

#: With a learning rate below 1 weights approach their limits for ever: this near is there.
SETTLED = 1e-6


class Trained(NamedTuple):
    """What training leaves behind."""

    network: Network
    categories: NDArray[np.int64]  #: (N,) box of every sample, in the order of presentation
    n_epochs: int
    converged: bool


def empty_network(data: Data, n_columns: int = 1) -> Network:
    """No boxes yet. ``n_columns``: of the map field."""
    boxes = make_boxes(np.empty((0, 2 * data.table.shape[1])), 1, choose_bins(data.table))
    capacity = len(boxes.found)
    return Network(
        boxes,
        np.ones((capacity, n_columns)),
        np.zeros(capacity, np.int64),
        np.zeros(1, np.int64),
        new_reach(),
    )


def rows(network: Network) -> NDArray[np.float64]:
    """The boxes, one per row: (C, 2d)."""
    return network.boxes.weight[: network.boxes.used[0]]


def assembled(
    rows: NDArray[np.float64],
    cells: NDArray[np.uint8],
    map_field: NDArray[np.float64],
    cluster: NDArray[np.int64],
    capacity: int,
) -> Network:
    """A network of these boxes, with room for ``capacity``; no number of a cluster is left out."""
    boxes = make_boxes(rows, capacity, cells)
    network = Network(
        boxes,
        np.ones((len(boxes.found), map_field.shape[1])),
        np.zeros(len(boxes.found), np.int64),
        np.array([cluster.max() + 1], np.int64),
        new_reach(),
    )
    network.map_field[: len(rows)] = map_field
    network.cluster[: len(rows)] = cluster
    return network


def selected(network: Network, kept: NDArray[np.int64], capacity: int) -> Network:
    """Only these boxes, in arrays of another capacity; clusters are numbered without gaps."""
    numbers = np.unique(network.cluster[kept], return_inverse=True)[1]
    cells, map_field = network.boxes.cells, network.map_field[kept]
    return assembled(rows(network)[kept], cells, map_field, numbers, capacity)


def present_all(
    data: Data,
    network: Network,
    parameters: Parameters,
    classes: NDArray[np.int64],
    categories: NDArray[np.int64],
    pace: Pace,
) -> Network:
    """One epoch, in chunks: an interrupt is seen between them. ``categories`` is renewed."""
    n_samples, n_features = data.table.shape
    x_a, at = np.empty(2 * n_features), 0
    while at < n_samples:
        stop = min(at + pace.size, n_samples)
        started = time.perf_counter()
        at = present(data, network, parameters, classes, categories, x_a, at, stop)
        used = int(network.boxes.used[0])
        if used == len(network.boxes.found):
            network = selected(network, np.arange(used), GROWTH * used)
        pace.adapt(time.perf_counter() - started, at < stop)
    return network


def _moved(before: NDArray[np.float64], after: NDArray[np.float64], rate: float) -> bool:
    return len(before) != len(after) or bool(
        np.abs(after - before).max(initial=0.0) > (0.0 if rate == 1.0 else SETTLED)
    )


def train(
    data: Data,
    network: Network,
    parameters: Parameters,
    classes: NDArray[np.int64],
    max_epochs: int | None,
) -> Trained:
    """Epochs until one changes nothing: no category of a sample, no box, no map field row."""
    categories = np.full(len(data.table), NONE, np.int64)
    pace, n_epochs, changed = Pace(), 0, True
    while changed and (max_epochs is None or n_epochs < max_epochs):
        last, last_rows = categories.copy(), rows(network).copy()
        last_field = network.map_field[: len(last_rows)].copy()
        network = present_all(data, network, parameters, classes, categories, pace)
        n_epochs += 1
        changed = (
            not np.array_equal(last, categories)
            or _moved(last_rows, rows(network), parameters.beta_a)
            or _moved(last_field, network.map_field[: len(rows(network))], parameters.beta_ab)
        )
    return Trained(network, categories, n_epochs, not changed)


def without_idle(trained: Trained) -> Trained:
    """Without the boxes that no sample is in after the last epoch."""
    held = np.bincount(trained.categories, minlength=len(rows(trained.network))) > 0
    if held.all():
        return trained
    kept = np.flatnonzero(held)
    network = selected(trained.network, kept, GROWTH * len(kept))
    return trained._replace(
        network=network, categories=np.take(np.cumsum(held) - 1, trained.categories)
    )
