"""Algorithm 1 of the paper, top to bottom: scale, initialise, epochs, merge and split, result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.art.boxes import GROUP, choose_bins, make_boxes
from icvi_artmap.art.members import compact, make_members
from icvi_artmap.engine import Network, Parameters, make_scratch, present
from icvi_artmap.indices.batch import batch_state
from icvi_artmap.indices.contract import Index
from icvi_artmap.initialise import first_boxes, first_partition
from icvi_artmap.moments import worn
from icvi_artmap.restructure import drop_empty, merge, split
from icvi_artmap.scaling import Data, Scaling, turn

#: Compiled code runs for about this long before Python gets to see an interrupt.
CHUNK_SECONDS = 0.1
#: Room for categories: that many times what is there.
GROWTH = 2
#: At the end of an epoch this part of the slots for categories may be empty.
MOST_EMPTY = 0.25


@dataclass
class FitResult:
    """What a run leaves behind, samples in their original order, boxes scaled."""

    labels: NDArray[np.int64]
    sample_categories: NDArray[np.int64]
    boxes: NDArray[np.float64]  #: (C, 2d)
    map_field: NDArray[np.float64]  #: (C, k')
    centres: NDArray[np.float64]  #: (k', d), standardised
    score: float
    history: list[float]  #: scores at the start and at every epoch's end
    trace: NDArray[np.float64] | None  #: scores after every presentation
    n_epochs: int
    converged: bool


def as_seen_by(index: Index, data: Data) -> Data:
    """Coded data, turned if the index wants that. Runs do not change them and may share them."""
    if index.turns_above is not None and data.table.shape[1] > index.turns_above:
        return turn(data)
    return data


def fit(
    data: Data,
    centres: NDArray[np.float64],
    scaling: Scaling,
    index: Index,
    parameters: Parameters,
    *,
    order: NDArray[np.int64],
    tol: float,
    max_epochs: int,
    batch: bool = False,
    trace: bool = False,
    report: Callable[[str], None] | None = None,
) -> FitResult:
    """One run from the given centres (data units); ``data`` are coded and as the index sees them.

    Their rows are in the order of presentation, ``order``.
    """
    n_clusters = len(centres)
    # Initialisation
    rows, labels = first_partition(data, first_boxes(centres, scaling), parameters.alpha)
    network = make_network(data, rows, labels, n_clusters)
    state = index.state(data, labels, len(rows), n_clusters)
    if batch:
        state = batch_state(index, state, data, labels, network.members.category)
    history, traces = [index.score(state)], []
    # Training
    converged, epoch, boxes, pace = False, 0, _box_rows(network), Pace()
    while epoch < max_epochs and not converged:
        epoch += 1
        values = np.empty(len(labels) if trace else 0)
        network = present_all(index, data, network, labels, state, parameters, values, pace)
        merges = merge(index, state, network, data, labels)
        splits = split(index, state, network, data, labels, n_clusters)
        network = _compacted(network, MOST_EMPTY)
        history.append(index.score(state))
        traces.append(values)
        boxes_before, boxes = boxes, _box_rows(network)
        converged = np.array_equal(boxes_before, boxes) or (
            epoch > 1 and _unchanged(history[-2], history[-1], tol)
        )
        if report is not None:
            report(
                f"epoch {epoch}: {index.name} = {index.value(history[-1]):.6g}, "
                f"{state.moments.size[0]} clusters, {len(boxes)} categories, "
                f"{merges} merges, {splits} splits"
            )
    # Result
    k = int(state.moments.size[0])
    alive = _alive(network)
    return FitResult(
        labels=_in_original_order(labels, order),
        sample_categories=_in_original_order((alive.cumsum() - 1)[network.members.category], order),
        boxes=boxes,
        map_field=network.map_field[: len(alive), :k][alive],
        centres=data.turned_back(state.moments.mean[:k]).copy(),
        score=history[-1],
        history=history,
        trace=np.concatenate(traces) if trace else None,
        n_epochs=epoch,
        converged=bool(converged),
    )


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
    )


def _compacted(network: Network, most_empty: float = 0.0) -> Network:
    """Without empty slots and with room to grow.

    The same network if there is room and no more than ``most_empty`` of the slots are empty.
    """
    used, capacity = int(network.boxes.used[0]), len(network.boxes.found)
    alive = int(np.count_nonzero(_alive(network)))
    if used < capacity and used - alive <= most_empty * used:
        return network
    return Network(*compact(network.boxes, network.map_field, network.members, _capacity(alive)))


def _alive(network: Network) -> NDArray[np.bool_]:
    """Which of the slots in use hold a sample."""
    return network.members.held[: network.boxes.used[0]] > 0


def _box_rows(network: Network) -> NDArray[np.float64]:
    """The boxes, empty slots left out."""
    alive = _alive(network)
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
    trace: NDArray[np.float64],
    pace: Pace,
) -> Network:
    """One epoch, in chunks of samples so that an interrupt is seen between them."""
    n_samples, n_features = data.table.shape
    scratch = make_scratch(n_features, network.map_field.shape[1])
    kernel = index.kernel(present)
    at = 0
    while at < n_samples:
        stop = min(at + pace.size, n_samples)
        started = time.perf_counter()
        at = kernel(data, network, labels, state, parameters, scratch, at, stop, trace)
        if network.boxes.used[0] == len(network.boxes.found):
            network = _compacted(network)
        for i in worn(state.moments):
            index.recompute(state, data, labels, i)
        drop_empty(index, state, network, labels)
        if len(trace) > 0 and at > 0:
            trace[at - 1] = index.score(state)
        pace.adapt(time.perf_counter() - started, at < stop)
    return network


def _unchanged(before: float, after: float, tol: float) -> bool:
    return before == after or abs(after - before) <= tol


def _in_original_order(values: NDArray[Any], order: NDArray[np.int64]) -> NDArray[np.int64]:
    restored = np.empty(len(values), np.int64)
    restored[order] = values
    return restored
