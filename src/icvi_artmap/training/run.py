"""Algorithm 1 of the paper, top to bottom: initialise, epochs, merge and split, result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.apart import Given
from icvi_artmap._support.callbacks import UNWATCHED, Watch
from icvi_artmap._support.wording import number
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.batch import batch_state
from icvi_artmap.network.driver import (
    Network,
    Pace,
    Parameters,
    begin_pass,
    in_chunks,
    is_full,
)
from icvi_artmap.network.members import Members
from icvi_artmap.network.resonance import BELOW_AB, RHO_A, RHO_AB
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import blocks
from icvi_artmap.training import refinement
from icvi_artmap.training.joining import Tree
from icvi_artmap.training.merge_split import merge, split
from icvi_artmap.training.presenting import (
    NO_TRACE,
    alive_slots,
    box_rows,
    compacted,
    first_network,
    teach,
    tidy_clusters,
)
from icvi_artmap.training.sample_loop import Lesson, learn_sample, make_lesson, make_scratch
from icvi_artmap.training.start import Samples, Start, boxes_at, first_partition

#: Passes over the samples in which the network is taught a refined partition, at most.
TEACHING = 3
#: At the end of an epoch this part of the slots for categories may be empty.
MOST_EMPTY = 0.25


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

    def within(self, other: Vigilances) -> Vigilances:
        """Those for which two runs are the same."""
        return Vigilances(
            max(self.least_a, other.least_a),
            min(self.most_a, other.most_a),
            max(self.above_ab, other.above_ab),
            min(self.most_ab, other.most_ab),
        )


class Epoch(NamedTuple):
    """What an epoch has ended with, and what was done at its end."""

    n_clusters: int
    n_categories: int
    merges: int
    splits: int


@dataclass
class FitResult:
    """What a fit leaves behind, samples in their original order, boxes scaled."""

    labels: NDArray[np.int64]
    sample_categories: NDArray[np.int64]
    boxes: NDArray[np.float64]  #: (C, 2d)
    map_field: NDArray[np.float64]  #: (C, k')
    centres: NDArray[np.float64]  #: (k', d), standardised
    moments: mom.Moments  #: of the k' clusters, in standardised features
    history: list[float]  #: scores at the start, at every epoch's end and while refining
    trace: NDArray[np.float64] | None  #: scores after every presentation
    epochs: list[Epoch]
    converged: bool
    vigilances: Vigilances
    joined: Joined | None = None  #: what the clusters were joined of, if they were


class Joined(NamedTuple):
    """Components that clusters were joined of."""

    labels: NDArray[np.int64]  #: component of every sample, in their original order
    clusters: NDArray[np.int64]  #: cluster of every component
    moments: mom.Moments  #: of the components, in standardised features
    tree: Tree  #: in what order they were joined


@dataclass(frozen=True)
class Settings:
    """What a run is told, beside its samples and its start."""

    index: Index
    parameters: Parameters
    tol: float
    max_epochs: int
    batch: bool = False  #: compute every trial anew from the samples
    trace: bool = False  #: keep the score after every presentation
    refine: int | None = None  #: seed of the refinement; None: end after the last epoch
    report: Callable[[str], None] | None = None  #: gets a line for every epoch and step


class Run:
    """A run of Algorithm 1 from one start, with its state as fields.

    :meth:`train` makes all of it. ``watch`` is told of every epoch and of the refinement; it gets
    the run itself to look at.
    """

    def __init__(
        self, samples: Samples, start: Start, settings: Settings, watch: Watch = UNWATCHED
    ) -> None:
        self.samples, self.start, self.settings, self.watch = samples, start, settings, watch
        self.data, self.index, self.parameters = samples.data, settings.index, settings.parameters
        self.n_clusters = start.n_clusters
        self.network: Network
        self.members: Members
        self.labels: NDArray[np.int64]  #: cluster of every sample, as presented
        self.state: Any  #: state of the index for these labels
        self.boxes: NDArray[np.float64]  #: (C, 2d) at the end of the last epoch
        self.history: list[float] = []  #: scores
        self.traces: list[NDArray[np.float64]] = []
        self.epochs: list[Epoch] = []
        self.converged = False
        self.stopped = False  #: by whoever watches
        self._untaught = False  #: whether the network has still to learn a refined partition
        self._pace = Pace()
        self._lesson: Lesson | None = None  #: the last one, and how kernels are given it
        self._given: Given
        self._initialise()

    @property
    def k(self) -> int:
        """The number of clusters now."""
        return int(self.state.moments.size[0])

    @property
    def score(self) -> float:
        """The score of the partition after the last epoch or step."""
        return self.history[-1]

    def train(self) -> Self:
        """Algorithm 1, and the refinement beyond the paper, if it is wished."""
        while len(self.epochs) < self.settings.max_epochs and not (self.converged or self.stopped):
            self.watch.begin("epoch")
            self._epoch()
            self.stopped = self.watch.end(self)
        if self.settings.refine is not None and not self.stopped:
            self.watch.begin("refine")
            self._refine(np.random.RandomState(self.settings.refine))
            self.watch.end(self)
        return self

    # --- the stages ------------------------------------------------------------------------------

    def teach(self) -> Self:
        """Leave the partition of the start as it is, and only teach it to the network."""
        self._teach()
        return self

    def teach_after(self, part: Run) -> Self:
        """The same with a partition that another run has led to, of which this one is the end.

        One pass is enough where samples are many: the boxes have met all of them.
        """
        self._teach(passes=1)
        self.history = [*part.history, self.index.score(self.state)]
        self.traces, self.epochs = part.traces, part.epochs
        self.converged, self.stopped = part.converged, part.stopped
        for at, narrower in ((RHO_A, min), (RHO_AB, min), (BELOW_AB, max)):
            self._reach[at] = narrower(self._reach[at], part._reach[at])
        return self

    def _initialise(self) -> None:
        """First boxes, first partition, and the state of the index for it (rules 2 and 3)."""
        rows = self.start.boxes
        if self.start.labels is None:
            rows, self.labels = first_partition(self.data, rows, self.parameters.alpha)
        else:
            self.labels = self.start.labels.copy()
        self.network, self.members = first_network(self.data, rows, self.labels, self.n_clusters)
        self.state = self.index.state(self.data, self.labels, len(rows), self.n_clusters)
        if self.settings.batch:
            category = self.members.category
            self.state = batch_state(self.index, self.state, self.data, self.labels, category)
        self.boxes = box_rows(self.network, self.members)
        self._reach = self.network.reach
        self.history.append(self.index.score(self.state))

    def _epoch(self) -> None:
        """Present every sample once, then merge and split clusters, then see whether to go on."""
        trace = np.empty(len(self.labels)) if self.settings.trace else NO_TRACE
        self.present(trace)
        merges, splits = self._merge(), self._split()
        self.network, self.members = compacted(self.network, self.members, MOST_EMPTY)
        self.history.append(self.index.score(self.state))
        self.traces.append(trace)
        before, self.boxes = self.boxes, box_rows(self.network, self.members)
        self.epochs.append(Epoch(self.k, len(self.boxes), merges, splits))
        self.converged = np.array_equal(before, self.boxes) or self._settled()
        self._say()

    def present(self, trace: NDArray[np.float64] = NO_TRACE, only_teach: bool = False) -> None:
        """Present all samples, and tidy up whenever the sample loop has returned for that.

        ``trace`` gets the score after every presentation, if it is not empty. ``only_teach``: the
        network learns the clusters that the samples are in. rho_ab = 1 then: a category is tied to
        one cluster, so that samples cannot lead it to another.
        """
        parameters = self.parameters._replace(rho_ab=1.0) if only_teach else self.parameters
        scratch = make_scratch(self.data.shape[1], len(self.state.moments.n))

        def chunk(start: int, stop: int) -> int:
            arrays = (self._learning(parameters), self.data, self.labels, self.state)
            reached = teach(self.index, *arrays, scratch, start, stop, trace, only_teach)
            if is_full(self.network):
                self.network, self.members = compacted(self.network, self.members)
            map_field = self.network.map_field
            tidy_clusters(self.index, self.state, self.data, self.labels, map_field)
            if len(trace) > 0 and reached > 0:
                trace[reached - 1] = self.index.score(self.state)
            return reached

        begin_pass(self.network)
        in_chunks(len(self.labels), self._pace, chunk)

    def _learning(self, parameters: Parameters) -> Given:
        """For the sample loop: the lesson of before, unless the network has been replaced."""
        network, members, last = self.network, self.members, self._lesson
        same = last is not None and last.network is network and last.members is members
        if last is None or not same or last.parameters != parameters:
            self._lesson = make_lesson(self.data, network, members, parameters)
            self._given = learn_sample.given(self._lesson)
        return self._given

    def _merge(self) -> int:
        """Rule 10."""
        map_field = self.network.map_field[: self.network.boxes.used[0]]
        return merge(self.index, self.state, map_field, self.data, self.labels)

    def _split(self) -> int:
        """Rule 11."""
        network = (self.network, self.members)
        return split(self.index, self.state, *network, self.data, self.labels, self.n_clusters)

    def _settled(self) -> bool:
        """Whether the index is what it was an epoch ago."""
        before, after = self.history[-2:]
        unchanged = before == after or abs(after - before) <= self.settings.tol
        return len(self.epochs) > 1 and unchanged

    def _say(self) -> None:
        if self.settings.report is not None:
            epoch, value = self.epochs[-1], self.index.value(self.score)
            self.settings.report(
                f"epoch {len(self.epochs)}: {self.index.name} = {number(value, 6)}, "
                f"{epoch.n_clusters} clusters, {epoch.n_categories} categories, "
                f"{epoch.merges} merges, {epoch.splits} splits"
            )

    # --- beyond the paper ------------------------------------------------------------------------

    def _refine(self, rng: np.random.RandomState) -> None:
        """Improve the partition by steps that change whole clusters.

        The network learns it when it is asked for: a run that is not the best, or of a part of the
        samples only, needs none.
        """
        index, data, labels, k = self.index, self.data, self.labels, self.n_clusters
        self.history += refinement.refine(index, data, labels, k, rng, self.settings.report)
        self.state = index.state(data, labels, int(labels.max()) + 1, k)
        self._untaught = True

    def _teach(self, passes: int = TEACHING) -> None:
        """Let a new network learn the clusters of the samples, one sample after the other."""
        rows = boxes_at(self.data.min_max(self.state.moments.mean[: self.k]))
        columns = len(self.state.moments.n)
        self.network, self.members = first_network(self.data, rows, self.labels, columns)
        self.boxes = box_rows(self.network, self.members)
        for _ in range(passes):
            self.present(only_teach=True)
            before, self.boxes = self.boxes, box_rows(self.network, self.members)
            if np.array_equal(before, self.boxes):
                break
        self._reach[RHO_A] = min(self._reach[RHO_A], self.network.reach[RHO_A])

    # --- what is left behind ---------------------------------------------------------------------

    def taught(self) -> Self:
        """With a network that has learned the partition."""
        if self._untaught:
            self._untaught = False
            self._teach()
        return self

    @property
    def vigilances(self) -> Vigilances:
        """For which vigilances the run would have been the same."""
        most_a, most_ab, above_ab = (float(self._reach[at]) for at in (RHO_A, RHO_AB, BELOW_AB))
        return Vigilances(self.parameters.rho_a, most_a, above_ab, most_ab)

    def result(self) -> FitResult:
        """What the run has found so far."""
        self.taught()
        k, alive = self.k, alive_slots(self.network, self.members)
        numbers = alive.cumsum() - 1
        categories = self.samples.in_original_order(self.members.category)
        for part in blocks(len(categories)):  # no other array as large at a time
            categories[part] = numbers[categories[part]]
        moments = mom.of_clusters(self.data.not_turned(), self.labels, k, self.index.needs_scatter)
        return FitResult(
            labels=self.samples.in_original_order(self.labels),
            sample_categories=categories,
            boxes=self.boxes,
            map_field=self.network.map_field[: len(alive), :k][alive],
            centres=self.data.turned_back(self.state.moments.mean[:k]).copy(),
            moments=moments,
            history=list(self.history),
            trace=np.concatenate(self.traces) if self.settings.trace else None,
            epochs=list(self.epochs),
            converged=bool(self.converged),
            vigilances=self.vigilances,
        )
