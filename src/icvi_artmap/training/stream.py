"""Learning from data that arrive in pieces, with constant memory: what ``partial_fit`` does.

Kept are the moments of all samples so far, which the index is computed from; a network of
categories; and a reservoir of remembered samples, which say what a category holds. A new sample
goes to the cluster with which the index of all samples so far is best, and the network learns it.
At the end of a batch clusters merge and split (rules 10 and 11). Merging needs the moments alone. A
split is judged by the remembered samples of the cluster, and its two parts get the moments of
those, scaled to the samples that the cluster has had.

A category that no remembered sample belongs to is removed, and one that a sample leaves shrinks to
those that are left (rule 9). So there are no more categories than remembered samples.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.base import Index, better
from icvi_artmap.network import map_field as field
from icvi_artmap.network.boxes import BIN_SAMPLES, choose_bins
from icvi_artmap.network.driver import (
    GROWTH,
    Network,
    Pace,
    Parameters,
    is_full,
    make_network,
    predictions,
)
from icvi_artmap.network.members import Members, make_members
from icvi_artmap.network.resonance import BELOW_AB, RHO_A, RHO_AB
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, Scaling, plain_data
from icvi_artmap.training import stream_loop as loop
from icvi_artmap.training.merge_split import best_split, merge
from icvi_artmap.training.presenting import alive_slots, box_rows, compacted
from icvi_artmap.training.run import MOST_EMPTY, Epoch, FitResult, Vigilances
from icvi_artmap.training.stream_loop import Detector, make_detector

#: Samples after which clusters merge and split, at the latest.
BATCH = 10_000
#: Values of the index, and breaks, that are kept; of more the last ones.
HISTORY, BREAKS = 10_000, 1000
#: Within a batch the weight of samples grows to this at the most, before all are scaled down.
HEAVIEST = 16.0
#: Part of the samples so far after which much is new.
MUCH = 0.1
#: A cluster whose samples together weigh less than this is forgotten.
FADED = 0.5


class Drift(NamedTuple):
    """Whether the clusters of a stream have changed.

    Attributes
    ----------
    level : float
        How near to a break it is now, from 0 to 1, where one is told.
    breaks : ndarray of int
        The numbers of samples that had been seen when clusters changed.
    told : ndarray of int
        The numbers that had been seen when that was noticed.
    """

    level: float
    breaks: NDArray[np.int64]
    told: NDArray[np.int64]


@dataclass(frozen=True)
class StreamSettings:
    """What a stream is told."""

    index: Index
    parameters: Parameters
    n_clusters: int  #: wanted
    forgetting: float
    seed: int


class Stream:
    """What is known of a stream, as fields, and how it goes on.

    ``network``, ``members``: as in a run, but of the remembered samples, which ``data`` and
    ``labels`` are of. ``moments``: of all samples so far.
    """

    def __init__(
        self,
        settings: StreamSettings,
        scaling: Scaling,
        start: Start,
        network: Network,
        members: Members,
        data: Data,
        labels: NDArray[np.int64],
        moments: mom.Moments,
        n_seen: int,
    ) -> None:
        self.settings, self.scaling, self.start = settings, scaling, start
        self.network, self.members, self.data, self.labels = network, members, data, labels
        self.moments = moments
        self.n_seen = n_seen
        self.detector: Detector = make_detector(n_seen)
        self.history: list[float] = []  #: scores at the end of batches
        self.breaks: list[tuple[int, int]] = []  #: where they were, and when that was told
        self.waiting: list[NDArray[np.float64]] | None = None  #: samples since a break
        self.levels_at = n_seen  #: when the density of clusters was learned
        self.next_try = 0  #: when to merge and split again, after that was in vain
        self.changed = False  #: whether the last batch has merged or split clusters
        self._state: Any = None  # of the index for the moments, at the end of a batch
        self._pace = Pace()

    @property
    def k(self) -> int:
        """The number of clusters now."""
        return int(self.moments.size[0])

    @property
    def drift(self) -> Drift:
        told = np.array(self.breaks, np.int64).reshape(-1, 2)
        return Drift(float(self.detector.level.max() / loop.ALARM), told[:, 0], told[:, 1])

    @property
    def n_waiting(self) -> int:
        """Samples that have come since a break, from which the model is to be found anew."""
        return 0 if self.waiting is None else sum(map(len, self.waiting))

    # --- a batch ---------------------------------------------------------------------------------

    def learn(
        self,
        X: NDArray[np.floating],
        labels: NDArray[np.int64],
        categories: NDArray[np.int64],
        before: int,
    ) -> int:
        """Learn the rows of X one after the other; ``X`` begins with row ``before`` of a call.

        ``labels`` and ``categories`` are of all rows of the call, and those of rows before may be
        renumbered. Returns how many rows were learned: a break after which the model is to be
        found anew ends a batch.
        """
        at, broken = 0, False
        limit = self._rows_at_once()
        while at < len(X) and not broken:
            stop = min(at + limit, len(X))
            reached, told = self._learn_some(X[at:stop], labels, categories, before + at)
            at += reached
            broken = told and self.settings.forgetting < 1.0
        if self.waiting is not None:
            self.waiting.append(np.array(X[:at], np.float64))
        if broken:  # until there is another start nothing else is told
            self.waiting = []
            self.detector.quiet[0] = np.iinfo(np.int64).max
        self._end_batch(labels[: before + at], categories[: before + at])
        return at

    def _rows_at_once(self) -> int:
        """Rows whose weights do not differ too much."""
        if self.settings.forgetting == 1.0:
            return BATCH
        return max(1, min(BATCH, int(math.log(HEAVIEST) / -math.log(self.settings.forgetting))))

    def _learn_some(
        self,
        X: NDArray[np.floating],
        labels: NDArray[np.int64],
        categories: NDArray[np.int64],
        before: int,
    ) -> tuple[int, bool]:
        """Rows with weights that grow from 1; at the end all are scaled down."""
        index, forgetting = self.settings.index, self.settings.forgetting
        batch, places = coded(X, self.scaling), self._places(len(X))
        state = index.state_for_additions(self.moments)
        kernel = index.kernel(loop.present_new)
        scratch = loop.make_stream_scratch(X.shape[1], self.k)
        given = (self.settings.parameters, scratch, self.detector)
        outs = labels[before : before + len(X)], categories[before : before + len(X)]
        weights = forgetting ** -np.arange(1.0, len(X) + 1.0)
        at, told = 0, False
        while at < len(X) and not (told and forgetting < 1.0):
            start, stop = at, min(at + self._pace.size, len(X))
            started = time.perf_counter()
            arrays = (batch, self.data, self.network, self.members, self.labels, state)
            at, told = kernel(*arrays, *given, at, stop, self.n_seen, places, weights, *outs)
            self._pace.adapt(at - start, time.perf_counter() - started)
            if is_full(self.network):
                self._compact(categories[: before + at], 0.0)
            if told:
                self._tell(self.n_seen + at)
        self._take_back(state.moments, forgetting**at)
        self.n_seen += at
        return at, told

    def _take_back(self, moments: mom.Moments, scale: float) -> None:
        """The moments of a batch, without the one that stood in, in the weight of the last row."""
        k = self.k
        for target, source in zip(self.moments[1:], moments[1:], strict=True):
            target[:k] = source[:k]
        scale_weights(self.moments, scale)

    def _places(self, n_rows: int) -> NDArray[np.int64]:
        """Where new samples are remembered, if they are.

        Without forgetting all samples so far are remembered with the same probability (J. S.
        Vitter, 1985); else those of age a with one that falls as forgetting^a (C. C. Aggarwal,
        2006). The numbers drawn depend on the seed and on how many samples there were.
        """
        size, now = len(self.labels), self.n_seen
        seed = [self.settings.seed, now % 2**32, now // 2**32]
        drawn, where = np.random.RandomState(seed).random_sample((2, n_rows))
        if self.settings.forgetting < 1.0:
            enters = drawn < size * (1.0 - self.settings.forgetting)
        else:
            enters = drawn * (now + 1 + np.arange(n_rows)) < size
        return np.where(enters, (where * size).astype(np.int64), loop.FORGOTTEN)

    def _tell(self, now: int) -> None:
        """Note that there was a break."""
        side = int(self.detector.level.argmax())
        self.breaks = [*self.breaks, (int(self.detector.since[side]), now)][-BREAKS:]
        loop.reset(self.detector, now)

    # --- the end of a batch ----------------------------------------------------------------------

    def _end_batch(self, labels: NDArray[np.int64], categories: NDArray[np.int64]) -> None:
        """Forget clusters, merge and split them, and see what the index is now."""
        loop.bury_empty(self.network, self.members)
        both = np.concatenate([self.labels, labels])
        self._forget(both)
        score, self.changed = self._state_score(), False
        if self.k < self.settings.n_clusters or self.n_seen >= self.next_try:
            score = self._reorganise(both, categories, score)
        self.labels[:], labels[:] = both[: len(self.labels)], both[len(self.labels) :]
        self._compact(categories, MOST_EMPTY)
        self.history = [*self.history, score][-HISTORY:]
        self._state = None  # nobody copies or pickles it

    def _state_score(self) -> float:
        """The score of all samples so far."""
        self._state = self.settings.index.make_state(self.moments, mom.together(self.moments))
        return self.settings.index.renew(self._state, np.arange(self.k))

    def _reorganise(
        self, labels: NDArray[np.int64], categories: NDArray[np.int64], score: float
    ) -> float:
        """Merge and split clusters, if that gives more of them or makes the index better.

        A fit goes on after splits that are worse, and repairs them; a stream does not see its
        samples again. What was in vain is not tried again before much is new. Returns the score.
        """
        k, index, field_before = self.k, self.settings.index, self.network.map_field.copy()
        before, labels_before = [array.copy() for array in self.moments], labels.copy()
        merges = merge(index, self._state, self.network.map_field, None, labels)
        splits = self._split(labels, categories) if self.k < self.settings.n_clusters else 0
        if merges == splits == 0:
            return score
        after = self._state_score()
        self.changed = self.k > k or better(after, score)
        if self.changed:
            return after
        for array, old in zip(self.moments, before, strict=True):
            array[:] = old
        self.network.map_field[:], labels[:] = field_before, labels_before
        self.next_try = self.n_seen + self.much(self.n_seen)
        return score

    def much(self, n_seen: int) -> int:
        """After how many samples much is new, if there were so many."""
        forgetting, part = self.settings.forgetting, int(MUCH * n_seen)
        return part if forgetting == 1.0 else min(part, int(1.0 / (1.0 - forgetting)))

    def _forget(self, labels: NDArray[np.int64]) -> None:
        """Drop clusters that have faded; what is left of their samples goes by its categories."""
        faded = np.flatnonzero(self.moments.n[: self.k] < FADED)
        for i in faded[::-1][: self.k - 1]:
            field.drop_column(self.network.map_field, self.k, i)
            mom.drop(self.moments, i)
            lost = labels == i
            labels[labels > i] -= 1
            # Rows of the call before are labelled anew when it ends.
            labels[lost] = -1
            mine = np.flatnonzero(lost[: len(self.labels)])
            slots = self.members.category[mine]
            labels[mine] = field.predictions(self.network.map_field[slots], self.k)

    def _split(self, labels: NDArray[np.int64], categories: NDArray[np.int64]) -> int:
        """Rule 11 on what is remembered. ``labels``: of remembered samples, then of the call."""
        index, size, splits = self.settings.index, len(self.labels), 0
        slots = np.concatenate([self.members.category, categories])
        while self.k < self.settings.n_clusters:
            mine, k = labels[:size], self.k
            if len(np.unique(mine)) < k:  # a cluster that no remembered sample is of
                break
            if splits == 0:
                predicted = predictions(self.network, k)
            state = index.state(self.data, mine, k, k)
            found = best_split(index, state, self.network, self.members, self.data, mine, predicted)
            if found is None:
                break
            i, q = found
            field.split_column(self.network.map_field, k, q, predicted)
            labels[(labels == i) & (slots == q)] = k
            self._share(labels[:size], i, k)
            splits += 1
        return splits

    def _share(self, labels: NDArray[np.int64], i: int, new: int) -> None:
        """The moments of cluster i become those of its remembered samples and of a new cluster."""
        m, whole = self.moments, self.moments.n[i]
        m.size[0] = new + 1
        part = np.where(labels == i, 0, np.where(labels == new, 1, -1))
        with_scatter = m.scatter.shape[1] > 0
        parts = mom.of_clusters(self.data, part, 2, with_scatter)
        scale = whole / parts.n.sum()
        mom.put(m, np.array([i, new]), parts)
        for row, j in ((i, 0), (new, 1)):
            share = scale * parts.n[j]
            m.n[row] = share if m.n.dtype.kind == "f" else max(round(share), 1)
            m.compactness[row] *= scale
            m.scatter[row] *= scale

    def _compact(self, categories: NDArray[np.int64], most_empty: float) -> None:
        """Remove empty slots, if there are many; ``categories`` are numbered anew."""
        slots = self.alive_numbers()
        before = self.network
        self.network, self.members = compacted(self.network, self.members, most_empty)
        if self.network is not before:
            renumber(categories, slots)

    def alive_numbers(self) -> NDArray[np.int64]:
        """For every slot the number of its category among those that hold a sample, or -1."""
        alive = alive_slots(self.network, self.members)
        return np.where(alive, alive.cumsum() - 1, -1)

    def follow(self, former: Stream) -> None:
        """Go on with the history of a stream that this one takes the place of."""
        history = [*former.start.history, *former.history, *self.start.history]
        self.start = self.start._replace(history=history[-HISTORY:])
        self.breaks = former.breaks

    # --- what is left behind ---------------------------------------------------------------------

    def remembered(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Remembered samples, in the units of the data, and their clusters.

        The centre stands for a cluster of which no sample is remembered.
        """
        lost = np.setdiff1d(np.arange(self.k), self.labels)
        rows = np.vstack([self.data.turned, self.moments.mean[lost]])
        return self.scaling.standardise_inverse(rows), np.concatenate([self.labels, lost])

    def result(self, labels: NDArray[np.int64], categories: NDArray[np.int64]) -> FitResult:
        """The model as it is now, with these labels and categories."""
        k, alive = self.k, alive_slots(self.network, self.members)
        reach, start = self.network.reach, self.start
        most_a, most_ab, above_ab = (float(reach[at]) for at in (RHO_A, RHO_AB, BELOW_AB))
        return FitResult(
            labels=labels,
            sample_categories=categories,
            boxes=box_rows(self.network, self.members),
            map_field=self.network.map_field[: len(alive), :k][alive],
            centres=self.moments.mean[:k].copy(),
            moments=counted_moments(self.moments),
            history=[*start.history, *self.history],
            trace=None,
            epochs=start.epochs,
            converged=start.converged,
            vigilances=Vigilances(self.settings.parameters.rho_a, most_a, above_ab, most_ab),
        )


class Start(NamedTuple):
    """What the fit has left with which a stream has begun."""

    history: list[float]
    epochs: list[Epoch]
    converged: bool


def coded(X: NDArray[np.floating], scaling: Scaling) -> Data:
    """Rows as a stream looks at them.

    The index sees them as they are; the network, whose boxes lie in the range of the first rows,
    sees those that lie outside at the edge.
    """
    table = np.clip(scaling.min_max(np.asarray(X, np.float64)), 0.0, 1.0)
    return data_of(table, scaling.standardise(np.asarray(X, np.float64)), scaling)


def data_of(
    table: NDArray[np.float64], standardised: NDArray[np.float64], scaling: Scaling
) -> Data:
    """Data of which the two views differ by more than their scales."""
    scale = scaling.span / scaling.deviation
    shift = (scaling.minimum - scaling.mean) / scaling.deviation
    data = plain_data(table, scale, shift)
    return data._replace(turned=standardised, axes=np.eye(table.shape[1]))


def begin(
    settings: StreamSettings,
    scaling: Scaling,
    result: FitResult,
    X: NDArray[np.floating],
    memory: int,
    n_seen: int,
) -> Stream:
    """Begin with what a fit of the rows X has found. ``n_seen``: rows of the stream so far."""
    forgetting, k = settings.forgetting, len(result.centres)
    if forgetting < 1.0:
        memory = min(memory, math.ceil(1.0 / (1.0 - forgetting)))
    order = np.random.RandomState(settings.seed).permutation(len(X))
    chosen = np.sort(order[: max(2, memory)])
    data = coded(X[chosen], scaling)
    network, members = network_of(
        result.boxes, result.map_field, result.sample_categories[chosen], data, settings.n_clusters
    )
    most_a, most_ab = result.vigilances.most_a, result.vigilances.most_ab
    network.reach[[RHO_A, RHO_AB, BELOW_AB]] = most_a, most_ab, result.vigilances.above_ab
    # The rows weigh as much as if they had faded, one after the other.
    steps = len(X)
    weight = (1.0 - forgetting**steps) / (1.0 - forgetting) if forgetting < 1.0 else float(steps)
    moments = roomy(result.moments, max(settings.n_clusters, k), settings.index, weight / steps)
    start = Start(result.history, result.epochs, result.converged)
    labels = result.labels[chosen]
    return Stream(settings, scaling, start, network, members, data, labels, moments, n_seen)


def network_of(
    boxes: NDArray[np.float64],
    map_field: NDArray[np.float64],
    categories: NDArray[np.int64],
    data: Data,
    n_clusters: int,
) -> tuple[Network, Members]:
    """A network with room to grow, and the remembered samples of its categories."""
    k = map_field.shape[1]
    cells = choose_bins(data.coded(BIN_SAMPLES))
    network = make_network(boxes, cells, max(n_clusters, k), GROWTH * len(boxes))
    network.map_field[: len(boxes), :k] = map_field
    members = make_members(categories, len(network.boxes.found), data.shape[1])
    return network, members


def roomy(m: mom.Moments, capacity: int, index: Index, scale: float = 1.0) -> mom.Moments:
    """Moments with room for more clusters; weights are floats, unless the index counts samples."""
    k, d = m.mean.shape
    larger = mom.empty_moments(
        capacity, d, index.needs_scatter, np.float64 if index.forgets else np.int64
    )
    for target, source in zip(larger[1:], m[1:], strict=True):
        target[:k] = source
    larger.size[0] = k
    scale_weights(larger, scale)
    return larger


def scale_weights(m: mom.Moments, scale: float) -> None:
    """Multiply the weights of all samples."""
    weighted: tuple[NDArray[Any], ...] = (m.n, m.compactness, m.scatter)
    for array in weighted if scale != 1.0 else ():
        array *= scale


def counted_moments(m: mom.Moments) -> mom.Moments:
    """Moments that count samples, from weights: as many as are nearest, with the same spread."""
    k = int(m.size[0])
    copied = mom.taken(m, np.arange(k))
    n = np.maximum(np.rint(copied.n), 1.0)
    scale = n / copied.n
    return copied._replace(
        n=n.astype(np.int64),
        compactness=copied.compactness * scale,
        scatter=copied.scatter * scale[:, None, None],
    )


def renumber(categories: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
    """Give categories new numbers, in place; those without one, and those before, are -1."""
    known = categories >= 0
    categories[known] = numbers[categories[known]]
