"""Presenting samples: one epoch of Algorithm 1, or a part of it, and room for its categories."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.base import Index
from icvi_artmap.network.boxes import GROUP, choose_bins, make_boxes
from icvi_artmap.network.members import compact, make_members
from icvi_artmap.network.resonance import new_reach
from icvi_artmap.samples.moments import worn
from icvi_artmap.samples.scaling import Data
from icvi_artmap.training.merge_split import drop_empty
from icvi_artmap.training.sample_loop import (
    EVERYONE,
    LEARN,
    Network,
    Parameters,
    make_scratch,
    present,
)

#: Compiled code runs for about this long before Python gets to see an interrupt.
CHUNK_SECONDS = 0.1
#: Room for categories: that many times what is there.
GROWTH = 2
#: No scores wanted.
NO_TRACE = np.empty(0)


def _capacity(n_categories: int) -> int:
    """Room for that many categories and more, in whole groups of boxes."""
    return -(-GROWTH * n_categories // GROUP) * GROUP


def make_network(
    data: Data, rows: NDArray[np.float64], labels: NDArray[np.int64], n_clusters: int
) -> Network:
    """The first boxes, one for every cluster, with a map field of ones."""
    capacity = _capacity(len(rows))
    return Network(
        make_boxes(rows, capacity, choose_bins(data.table)),
        np.ones((capacity, n_clusters)),
        make_members(labels, capacity, rows.shape[1] // 2),
        new_reach(),
    )


def compacted(network: Network, most_empty: float = 0.0) -> Network:
    """Without empty slots and with room to grow.

    The same network if there is room and no more than ``most_empty`` of the slots are empty.
    """
    used, capacity = int(network.boxes.used[0]), len(network.boxes.found)
    alive = int(np.count_nonzero(alive_slots(network)))
    if used < capacity and used - alive <= most_empty * used:
        return network
    parts = compact(network.boxes, network.map_field, network.members, _capacity(alive))
    return Network(*parts, network.reach)


def alive_slots(network: Network) -> NDArray[np.bool_]:
    """Which of the slots in use hold a sample."""
    return network.members.held[: network.boxes.used[0]] > 0


def box_rows(network: Network) -> NDArray[np.float64]:
    """The boxes, empty slots left out."""
    alive = alive_slots(network)
    return network.boxes.weight[: len(alive)][alive]


@dataclass
class Pace:
    """How many samples to present between two looks for an interrupt."""

    size: int = 1

    def adapt(self, seconds: float, interrupted: bool) -> None:
        """Half a chunk's time to twice of it is near enough."""
        if not interrupted and seconds < CHUNK_SECONDS / 2:
            self.size *= 2 if seconds > CHUNK_SECONDS / 16 else 8
        elif seconds > 2 * CHUNK_SECONDS:
            self.size = max(1, self.size // 2)


def present_all(
    index: Index,
    data: Data,
    network: Network,
    labels: NDArray[np.int64],
    state: Any,
    parameters: Parameters,
    pace: Pace,
    *,
    mode: int = LEARN,
    rows: NDArray[np.int64] = EVERYONE,
    trace: NDArray[np.float64] = NO_TRACE,
) -> tuple[Network, int]:
    """Present all samples, or those in ``rows``, in chunks: an interrupt is seen between them.

    Returns the network and the number of samples that have changed their cluster.
    """
    n_samples, n_features = data.table.shape
    n_presentations = len(rows) if rows is not EVERYONE else n_samples
    scratch = make_scratch(n_features, network.map_field.shape[1])
    kernel = index.kernel(present)
    at = 0
    while at < n_presentations:
        stop = min(at + pace.size, n_presentations)
        started = time.perf_counter()
        chunk = (scratch, at, stop, trace, rows, mode)
        at = kernel(data, network, labels, state, parameters, *chunk)
        if network.boxes.used[0] == len(network.boxes.found):
            network = compacted(network)
        for i in worn(state.moments):
            index.recompute(state, data, labels, i)
        drop_empty(index, state, network, labels)
        if len(trace) > 0 and at > 0:
            trace[at - 1] = index.score(state)
        pace.adapt(time.perf_counter() - started, at < stop)
    return network, int(scratch.moved[0])
