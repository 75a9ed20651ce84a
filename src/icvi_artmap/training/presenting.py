"""Samples in front of a network or of an index, in chunks, with what is to be tidied up between."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.base import Index
from icvi_artmap.network.boxes import BIN_SAMPLES, choose_bins
from icvi_artmap.network.driver import (
    GROWTH,
    Network,
    Pace,
    in_chunks,
    is_full,
    make_network,
    with_categories,
)
from icvi_artmap.network.members import Members, make_members, renumbered
from icvi_artmap.samples.moments import worn
from icvi_artmap.samples.scaling import Data
from icvi_artmap.training.merge_split import drop_empty
from icvi_artmap.training.sample_loop import EVERYONE, make_scratch, sweep

#: No scores wanted.
NO_TRACE = np.empty(0)


def first_network(
    data: Data, rows: NDArray[np.float64], labels: NDArray[np.int64], n_clusters: int
) -> tuple[Network, Members]:
    """The first boxes, one for every cluster, and the samples of each."""
    cells = choose_bins(data.coded(BIN_SAMPLES))
    network = make_network(rows, cells, n_clusters, GROWTH * len(rows))
    return network, make_members(labels, len(network.boxes.found), rows.shape[1] // 2)


def compacted(
    network: Network, members: Members, most_empty: float = 0.0
) -> tuple[Network, Members]:
    """Without empty slots and with room to grow.

    The same if there is room and no more than ``most_empty`` of the slots are empty.
    """
    used = int(network.boxes.used[0])
    alive = np.flatnonzero(alive_slots(network, members))
    if not is_full(network) and used - len(alive) <= most_empty * used:
        return network, members
    network = with_categories(network, alive, GROWTH * len(alive))
    return network, renumbered(members, alive, used, len(network.boxes.found))


def alive_slots(network: Network, members: Members) -> NDArray[np.bool_]:
    """Which of the slots in use hold a sample."""
    return members.held[: network.boxes.used[0]] > 0


def box_rows(network: Network, members: Members) -> NDArray[np.float64]:
    """The boxes, empty slots left out."""
    alive = alive_slots(network, members)
    return network.boxes.weight[: len(alive)][alive]


def tidy_clusters(
    index: Index,
    state: Any,
    data: Data,
    labels: NDArray[np.int64],
    map_field: NDArray[np.float64] | None = None,
) -> None:
    """Compute anew what has lost digits, and drop clusters that have lost their last sample."""
    for i in worn(state.moments):
        index.recompute(state, data, labels, i)
    drop_empty(index, state, labels, map_field)


def sweep_all(
    index: Index,
    data: Data,
    labels: NDArray[np.int64],
    state: Any,
    pace: Pace,
    rows: NDArray[np.int64] = EVERYONE,
    most: int = 1,
) -> int:
    """Let all samples, or those in ``rows``, go to the clusters that the index prefers.

    Up to ``most`` sweeps, until nobody moves in one. Returns how many have changed their cluster in
    the last one.
    """
    scratch = make_scratch(data.shape[1], len(state.moments.n))
    kernel = index.kernel(sweep)
    n = len(labels) if rows is EVERYONE else len(rows)

    def chunk(start: int, stop: int) -> int:
        reached: int = kernel(data, labels, state, scratch, start, stop, rows)
        if scratch.untidy[0]:
            tidy_clusters(index, state, data, labels)
            scratch.untidy[0] = False
        elif reached < stop:  # nobody has moved
            return n * most
        return reached

    in_chunks(n * most, pace, chunk)
    return int(scratch.moved[0])
