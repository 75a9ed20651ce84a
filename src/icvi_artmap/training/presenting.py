"""Samples in front of a network or of an index, in chunks, with what is to be tidied up between."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.apart import Given
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
from icvi_artmap.samples.moments import (
    Moments,
    empty_moments,
    from_labels,
    of_clusters,
    worn,
)
from icvi_artmap.samples.scaling import Data
from icvi_artmap.training.merge_split import drop_empty
from icvi_artmap.training.sample_loop import (
    EVERYONE,
    NO_LEARNING,
    Scratch,
    make_scratch,
    present,
)

#: No scores and no costs wanted.
NO_TRACE, NO_COSTS = np.empty(0), np.empty((0, 0))


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


@lru_cache
def _no_moments(n_features: int, with_scatter: bool) -> Moments:
    """No partitions to begin with but the one that a state is about."""
    return empty_moments(0, n_features, with_scatter)


def teach(
    index: Index,
    learning: Given,
    data: Data,
    labels: NDArray[np.int64],
    state: Any,
    scratch: Scratch,
    start: int,
    stop: int,
    trace: NDArray[np.float64] = NO_TRACE,
    only_teach: bool = False,
) -> int:
    """Present samples ``start`` to ``stop`` - 1 to a network; returns the first one not presented.

    See :func:`~icvi_artmap.training.sample_loop.present`.
    """
    scratch.partition[:], scratch.untidy[0] = (0, 1), False
    arrays = (learning, data, labels[np.newaxis], state, scratch)
    none = _no_moments(data.shape[1], index.needs_scatter)
    kernel = index.kernel(present)
    return int(kernel(*arrays, start, stop, EVERYONE, none, NO_COSTS, trace, only_teach))


def _sweep(
    index: Index,
    data: Data,
    labels: NDArray[np.int64],
    state: Any,
    scratch: Scratch,
    start: int,
    stop: int,
    rows: NDArray[np.int64] = EVERYONE,
    first: Moments | None = None,
    costs: NDArray[np.float64] = NO_COSTS,
) -> int:
    """Sweep the partitions of ``scratch.partition``; returns the first presentation not made."""
    first = _no_moments(data.shape[1], index.needs_scatter) if first is None else first
    arrays = (NO_LEARNING, data, labels, state, scratch)
    kernel = index.kernel(present)
    return int(kernel(*arrays, start, stop, rows, first, costs, NO_TRACE, False))


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
    n = len(labels) if rows is EVERYONE else len(rows)

    def chunk(start: int, stop: int) -> int:
        scratch.partition[0], scratch.untidy[0] = 0, False
        reached = _sweep(index, data, labels[np.newaxis], state, scratch, start, stop, rows)
        if scratch.untidy[0]:
            tidy_clusters(index, state, data, labels)
            return reached
        return n * most if reached < stop else reached  # before the end if nobody has moved

    in_chunks(n * most, pace, chunk)
    return int(scratch.moved[0])


def sweep_each(
    index: Index,
    data: Data,
    partitions: NDArray[np.int64],
    k: int,
    pace: Pace,
    most: int,
) -> NDArray[np.float64]:
    """Do that with several partitions of the same samples; returns what the clusters of each cost.

    ``partitions``: a row of labels for each, into ``k`` clusters, which change.
    """
    n, begun, costs = partitions.shape[1], partitions.copy(), np.empty((len(partitions), k))
    state = index.state(data, partitions[0], k, k)
    scratch = make_scratch(data.shape[1], k)
    at = 0
    while at < len(partitions):
        some = partitions[at : at + pace.size // (n * most)]
        scratch.partition[:], scratch.untidy[0] = (0, len(some)), False
        if len(some) > 0:
            started = time.perf_counter()
            numbers = some + np.arange(0, k * len(some), k)[:, np.newaxis]
            first = of_clusters(data, numbers, k * len(some), index.needs_scatter)
            arrays = (data, some, state, scratch)
            _sweep(index, *arrays, 0, n * most, first=first, costs=costs[at:])
            done = int(scratch.partition[0])
            pace.adapt(n * done, time.perf_counter() - started)
            at += done
        if len(some) == 0 or scratch.untidy[0]:
            # Its sweeps would take too long, or digits were lost: by itself, from the beginning.
            partitions[at] = begun[at]
            from_labels(state.moments, data, begun[at])
            index.update_all(state)
            sweep_all(index, data, partitions[at], state, pace, most=most)
            scratch.partition[:], scratch.untidy[0] = (at, at + 1), False
            _sweep(index, data, partitions, state, scratch, 0, 0, costs=costs)  # costs alone
            at += 1
    return costs
