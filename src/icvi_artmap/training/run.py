"""Algorithm 1 of the paper, top to bottom: scale, initialise, epochs, merge and split, result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.callbacks import UNWATCHED, Watch
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.batch import batch_state
from icvi_artmap.network.resonance import BELOW_AB, RHO_A, RHO_AB
from icvi_artmap.samples.scaling import Data, Scaling, turn
from icvi_artmap.training import refinement as optimise
from icvi_artmap.training.merge_split import merge, split
from icvi_artmap.training.presenting import (
    Pace,
    alive_slots,
    box_rows,
    compacted,
    make_network,
    present_all,
)
from icvi_artmap.training.sample_loop import TEACH, Network, Parameters
from icvi_artmap.training.start import first_boxes, first_partition

#: Passes over the samples in which the network is taught a refined partition, at most.
TEACHING = 3
#: At the end of an epoch this part of the slots for categories may be empty.
MOST_EMPTY = 0.25


class Start(NamedTuple):
    """Where a run begins."""

    centres: NDArray[np.float64]  #: (k, d), data units
    labels: NDArray[np.int64] | None = (
        None  #: (N,), as presented; None: by the boxes at the centres
    )


class Vigilances(NamedTuple):
    """Vigilances for which a run is the same, decision by decision.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> model = ICVIARTMAP(4, rho_a=0.1, rho_ab=0.5, random_state=0).fit(X)
    >>> model.vigilances_.contain(0.1, 0.5)
    True
    """

    least_a: float  #: rho_a from here
    most_a: float  #: up to here
    above_ab: float  #: rho_ab above this
    most_ab: float  #: up to here

    def contain(self, rho_a: float, rho_ab: float) -> bool:
        """Whether a run with these vigilances would be the same."""
        return self.least_a <= rho_a <= self.most_a and self.above_ab < rho_ab <= self.most_ab


class Epoch(NamedTuple):
    """What there was at the end of an epoch, and what its end did."""

    n_clusters: int
    n_categories: int
    merges: int
    splits: int


@dataclass
class FitResult:
    """What a run leaves behind, samples in their original order, boxes scaled."""

    labels: NDArray[np.int64]
    sample_categories: NDArray[np.int64]
    boxes: NDArray[np.float64]  #: (C, 2d)
    map_field: NDArray[np.float64]  #: (C, k')
    centres: NDArray[np.float64]  #: (k', d), standardised
    score: float
    history: list[float]  #: scores at the start, at every epoch's end and while refining
    trace: NDArray[np.float64] | None  #: scores after every presentation
    epochs: list[Epoch]
    converged: bool
    vigilances: Vigilances

    @property
    def n_epochs(self) -> int:
        return len(self.epochs)


def as_seen_by(index: Index, data: Data) -> Data:
    """Coded data, turned if the index wants that. Runs do not change them and may share them."""
    if index.turns_above is not None and data.table.shape[1] > index.turns_above:
        return turn(data)
    return data


def fit(
    data: Data,
    start: Start,
    scaling: Scaling,
    index: Index,
    parameters: Parameters,
    *,
    order: NDArray[np.int64],
    tol: float,
    max_epochs: int,
    batch: bool = False,
    trace: bool = False,
    refine: np.random.RandomState | None = None,
    report: Callable[[str], None] | None = None,
    watch: Watch = UNWATCHED,
    attributes: Callable[[FitResult], dict[str, Any]] | None = None,
) -> FitResult:
    """One run from the given start; ``data`` are coded and as the index sees them.

    Their rows are in the order of presentation, ``order``. ``refine``: go on with
    :mod:`icvi_artmap.training.refinement`, which draws from this generator. ``watch`` is told of
    every epoch and of the refinement, and can ask for ``attributes``, made from a result.
    """
    n_clusters = len(start.centres)
    # Initialisation
    rows = first_boxes(start.centres, scaling)
    if start.labels is None:
        rows, labels = first_partition(data, rows, parameters.alpha)
    else:
        labels = start.labels.copy()
    network = make_network(data, rows, labels, n_clusters)
    state = index.state(data, labels, len(rows), n_clusters)
    if batch:
        state = batch_state(index, state, data, labels, network.members.category)
    history = [index.score(state)]
    traces: list[NDArray[np.float64]] = []
    epochs: list[Epoch] = []
    converged, stopped, boxes, pace = False, False, box_rows(network), Pace()
    reach = network.reach

    def result() -> FitResult:
        k = int(state.moments.size[0])
        alive = alive_slots(network)
        categories = (alive.cumsum() - 1)[network.members.category]
        return FitResult(
            labels=_in_original_order(labels, order),
            sample_categories=_in_original_order(categories, order),
            boxes=boxes,
            map_field=network.map_field[: len(alive), :k][alive],
            centres=data.turned_back(state.moments.mean[:k]).copy(),
            score=history[-1],
            history=history,
            trace=np.concatenate(traces) if trace else None,
            epochs=epochs,
            converged=bool(converged),
            vigilances=Vigilances(
                parameters.rho_a, float(reach[RHO_A]), float(reach[BELOW_AB]), float(reach[RHO_AB])
            ),
        )

    now = None if attributes is None else lambda: attributes(result())
    # Training
    while len(epochs) < max_epochs and not converged and not stopped:
        watch.begin("epoch")
        values = np.empty(len(labels) if trace else 0)
        network, _ = present_all(
            index, data, network, labels, state, parameters, pace, trace=values
        )
        merges = merge(index, state, network, data, labels)
        splits = split(index, state, network, data, labels, n_clusters)
        network = compacted(network, MOST_EMPTY)
        history.append(index.score(state))
        traces.append(values)
        boxes_before, boxes = boxes, box_rows(network)
        epochs.append(Epoch(int(state.moments.size[0]), len(boxes), merges, splits))
        converged = np.array_equal(boxes_before, boxes) or (
            len(epochs) > 1 and _unchanged(history[-2], history[-1], tol)
        )
        if report is not None:
            report(
                f"epoch {len(epochs)}: {index.name} = {index.value(history[-1]):.6g}, "
                f"{epochs[-1].n_clusters} clusters, {epochs[-1].n_categories} categories, "
                f"{merges} merges, {splits} splits"
            )
        stopped = watch.end(now)
    # Beyond the paper
    if refine is not None and not stopped:
        watch.begin("refine")
        history += optimise.refine(index, data, labels, n_clusters, refine, report)
        state = index.state(data, labels, int(labels.max()) + 1, n_clusters)
        network = _taught(index, data, labels, state, scaling, parameters, pace)
        boxes = box_rows(network)
        reach[RHO_A] = min(reach[RHO_A], network.reach[RHO_A])
        watch.end(now)
    return result()


def _taught(
    index: Index,
    data: Data,
    labels: NDArray[np.int64],
    state: Any,
    scaling: Scaling,
    parameters: Parameters,
    pace: Pace,
) -> Network:
    """A new network that has learned the clusters of the samples, one after the other.

    rho_ab = 1: a category is tied to one cluster, so that samples cannot lead it to another.
    """
    k = int(state.moments.size[0])
    centres = scaling.standardise_inverse(data.turned_back(state.moments.mean[:k]))
    network = make_network(data, first_boxes(centres, scaling), labels, len(state.moments.n))
    parameters = parameters._replace(rho_ab=1.0)
    boxes = box_rows(network)
    for _ in range(TEACHING):
        network, _ = present_all(index, data, network, labels, state, parameters, pace, mode=TEACH)
        before, boxes = boxes, box_rows(network)
        if np.array_equal(before, boxes):
            break
    return network


def _unchanged(before: float, after: float, tol: float) -> bool:
    return before == after or abs(after - before) <= tol


def _in_original_order(values: NDArray[Any], order: NDArray[np.int64]) -> NDArray[np.int64]:
    restored = np.empty(len(values), np.int64)
    restored[order] = values
    return restored
