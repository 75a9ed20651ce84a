"""Leaving local optima of the index (beyond the paper): split one cluster, give up another.

Epochs move one sample at a time, so they end where no single move helps: with a cluster that covers
two groups, say, and two that share a third, or with one that has gathered from all the others. A
step of the search here splits a cluster, and merges two others or dissolves one, or dissolves one
of the two parts, so that the number of clusters stays; then single samples move again. The step is
kept if the index is better, and undone if not.

What to try first is told by a cost that is a sum over clusters, which the index brings
(:mod:`icvi_artmap.indices.shared.additive_cost`). What is kept is decided by the index.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.threads import one_thread
from icvi_artmap._support.wording import number
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared.additive_cost import AdditiveCost
from icvi_artmap.network.driver import Pace
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, blocks
from icvi_artmap.training.merge_split import drop_empty
from icvi_artmap.training.presenting import sweep_all, sweep_each
from icvi_artmap.training.sample_loop import EVERYONE

#: Ways to split a cluster that are tried: one along its principal axis, the others at random.
SPLITS = 8
#: Sweeps over the samples of a split, and over those that a step touches, before it is judged.
LOCAL_SWEEPS = 3
#: Sweeps over all samples at most.
MOST_SWEEPS = 50
#: Steps of each kind that are tried, and clusters to split for the same merging or dissolving.
TRIES, SOURCES = 10, 2
#: Steps taken at most.
MOST_STEPS = 1_000
#: A step must make the index better by this, relative to its size or to 1.
GAIN = 1e-9
#: What is known of a cluster is found out anew at once when this part of it has changed.
STALE = 0.1
#: Members of a cluster that are asked what dissolving it costs.
ASKED = 200
#: Products of the data with their scatter matrix that find the principal axis well enough.
POWER_STEPS = 8
#: Data with more features than WIDE are split along so many principal axes first, and of every kind
#: of step fewer are tried the more features there are, but so many.
WIDE, FIRST_AXES, FEWEST_TRIES = 128, 32, 3

Labels = NDArray[np.int64]


class Saved(NamedTuple):
    labels: Labels
    moments: list[NDArray[Any]]


class Partition:
    """Labels, the state of the index for them, and ways to change both."""

    def __init__(
        self,
        index: Index,
        data: Data,
        labels: Labels,
        k: int,
        capacity: int,
        pace: Pace | None = None,
    ) -> None:
        self.index, self.data, self.labels = index, data, labels
        self.state = index.state(data, labels, k, capacity)
        self.pace = Pace() if pace is None else pace

    @property
    def k(self) -> int:
        return int(self.state.moments.size[0])

    def score(self) -> float:
        return self.index.score(self.state)

    def members(self, i: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.labels == i)

    def sweep(self, rows: NDArray[np.int64] = EVERYONE, most: int = MOST_SWEEPS) -> None:
        """Move samples to the cluster that the index prefers until none moves any more."""
        self._sweep(self.data, self.labels, self.state, rows, most)

    def reaches(self, rows: NDArray[np.int64], rate: Callable[[], float], least: float) -> bool:
        """Whether a few sweeps over these samples lead to a rate above ``least``.

        They end as soon as they cannot: of an additive index, no sweep gains more than the one
        before.
        """
        now = rate()
        for left in reversed(range(LOCAL_SWEEPS)):
            moved = self._sweep(self.data, self.labels, self.state, rows)
            before, now = now, rate()
            in_vain = self.index.additive and now + left * (now - before) <= least
            if moved == 0 or in_vain:
                break
        return now > least

    def _sweep(
        self, data: Data, labels: Labels, state: Any, rows: NDArray[np.int64], most: int = 1
    ) -> int:
        return sweep_all(self.index, data, labels, state, self.pace, rows, most)

    def save(self) -> Saved:
        return Saved(self.labels.copy(), [array.copy() for array in self.state.moments])

    def restore(self, saved: Saved) -> None:
        m = self.state.moments
        was = mom.Moments(*saved.moments)
        differ = (m.n != was.n) | (m.compactness != was.compactness) | (m.mean != was.mean).any(1)
        self.labels[:] = saved.labels
        for array, old in zip(m, was, strict=True):
            array[...] = old
        self.index.renew(self.state, np.flatnonzero(differ[: self.k]))

    def relabel(self, rows: NDArray[np.int64], new: Labels) -> None:
        """These samples go to these clusters."""
        m, old = self.state.moments, self.labels[rows]
        left, got = (np.bincount(those, minlength=len(m.n)) for those in (old, new))
        came, numbers = np.flatnonzero(got), np.cumsum(got > 0) - 1
        parts = mom.of_clusters(self.data.take(rows), numbers[new], len(came), self._shape()[1])
        self.labels[rows] = new
        stay = m.n - left
        joined = (left[came] == 0) & (stay[came] > 0)
        mom.join(m, came[joined], mom.taken(parts, joined))
        mom.put(m, came[stay[came] == 0], mom.taken(parts, stay[came] == 0))
        gone = np.flatnonzero((left > 0) & (stay == 0) & (got == 0))
        mom.put(m, gone, mom.empty_moments(len(gone), *self._shape()))
        for i in np.flatnonzero((left > 0) & (stay > 0)):
            mom.from_labels(m, self.data, self.labels, int(i))
        self.index.renew(self.state, np.flatnonzero((left > 0) | (got > 0)))

    def merge(self, into: NDArray[np.int64]) -> None:
        """Every cluster i becomes a part of ``into[i]``; numbers close up and keep their order."""
        gone = np.flatnonzero(into != np.arange(self.k))
        rows = np.flatnonzero(np.isin(self.labels, gone))
        self.relabel(rows, into[self.labels[rows]])
        drop_empty(self.index, self.state, self.labels)

    def _shape(self) -> tuple[int, bool]:
        return self.data.shape[1], self.index.needs_scatter

    def split(
        self, rows: NDArray[np.int64], rng: np.random.RandomState, cost: AdditiveCost
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The best way found to part these samples: costs of the parts, and who is in the second.

        The costs are infinite if there is no way.
        """
        data = self.data.take(rows)
        ways = _two_ways(data.standardised(slice(None)), rng)
        if len(ways) == 0:
            return np.full(2, np.inf), np.zeros(len(rows), np.bool_)
        if _is_wide(self.data):
            best, _ = self._best_way(data.along_first_axes(FIRST_AXES), ways, cost)
            ways = ways[best : best + 1]
        best, parts = self._best_way(data, ways, cost)
        return parts, ways[best] == 1

    def _best_way(
        self, data: Data, ways: NDArray[np.int64], cost: AdditiveCost
    ) -> tuple[int, NDArray[np.float64]]:
        """Which one costs least when samples have moved, and what its parts cost; they do move."""
        costs = sweep_each(self.index, data, ways, 2, self.pace, LOCAL_SWEEPS)
        second = np.count_nonzero(ways, axis=1)
        parts = cost.of_parts(np.column_stack([ways.shape[1] - second, second]), costs)
        best = int(parts.sum(axis=1).argmin())
        return best, parts[best]


def _is_wide(data: Data) -> bool:
    """Whether samples are turned to their principal axes, and have many features."""
    return len(data.axes) > WIDE


def _two_ways(x: NDArray[np.float64], rng: np.random.RandomState) -> NDArray[np.int64]:
    """Ways to part the rows of x in two, a row of labels for each; none leaves a part empty."""
    apart = x - x.mean(axis=0)
    axis = apart[np.argmax(np.square(apart).sum(axis=1))]
    for _ in range(POWER_STEPS):
        length = np.linalg.norm(axis)
        if length == 0.0:  # all rows are equal
            return np.empty((0, len(x)), np.int64)
        axis = (apart @ (axis / length)) @ apart
    pairs = [rng.permutation(len(x))[:2] for _ in range(SPLITS - 1)]
    a, b = x[np.transpose(pairs)]
    # Nearer to b than to a: |x - b|² < |x - a|².
    border = 0.5 * (np.square(b).sum(axis=1) - np.square(a).sum(axis=1))
    ways = np.vstack([apart @ axis > 0.0, (b - a) @ x.T > border[:, np.newaxis]]).astype(np.int64)
    held = ways.sum(axis=1)
    return ways[(held > 0) & (held < len(x))]


#: Kinds of steps.
MERGE, DISSOLVE, SHED = range(3)


class Step(NamedTuple):
    """Split one cluster and give something up for it."""

    kind: int
    source: int  #: the cluster to split
    first: int  #: MERGE: what ``second`` goes to; SHED: the part that is given up, 0 or 1
    second: int  #: the cluster that is given up; SHED: ``source`` itself


class Outlook:
    """What splitting, merging and dissolving clusters would bring, as far as it is known."""

    def __init__(
        self, partition: Partition, rng: np.random.RandomState, tries: int = TRIES
    ) -> None:
        if _is_wide(partition.data):
            tries = min(tries, max(FEWEST_TRIES, TRIES * WIDE // len(partition.data.axes)))
        capacity = len(partition.state.moments.n)
        self.partition, self.rng, self.tries = partition, rng, tries
        self.cost = partition.index.cost(partition.index, partition.state)
        #: Costs of the two parts that a cluster can be split into, and who is in the second.
        self.parts = np.full((capacity, 2), np.inf)
        self.second = np.zeros(len(partition.labels), np.bool_)
        #: Rise of the cost when a cluster is dissolved, and when one of its parts is.
        self.dissolving = np.full(capacity, np.inf)
        self.shedding = np.full((capacity, 2), np.inf)
        #: Samples that have come or gone since, and how often all this was found out.
        self.changed = np.full(capacity, len(partition.labels))
        self.version = np.zeros(capacity, np.int64)
        self.settled = False
        self.tried: set[tuple[int, ...]] = set()

    def note(self, before: Labels) -> None:
        """Samples have moved since ``before``."""
        labels, k = self.partition.labels, self.partition.k
        moved = np.flatnonzero(before != labels)
        self.second[moved] = False
        self.tried.clear()
        for where in (before[moved], labels[moved]):
            self.changed += np.bincount(where, minlength=len(self.changed))
        self.renew(self.changed[:k] > STALE * self.partition.state.moments.n[:k])
        self.settled = self.settled and len(moved) == 0

    def renew(self, which: NDArray[np.bool_]) -> None:
        """Find out anew what is known of these clusters."""
        clusters = np.flatnonzero(which)
        self.cost.renew(clusters)
        for i in clusters.tolist():
            self.split(i)
            self.changed[i] = 0
            self.version[i] += 1
            self.ask(i)

    def split(self, i: int) -> None:
        """Find out how cluster i is best split."""
        rows = self.partition.members(i)
        self.parts[i], self.second[rows] = self.partition.split(rows, self.rng, self.cost)

    def ask(self, i: int) -> None:
        """What dissolving cluster i or a part of it would cost, by the members that are asked."""
        rows = self.partition.members(i)
        asked = rows if len(rows) <= ASKED else self.rng.choice(rows, ASKED, replace=False)
        rises = self.cost.of_adding(self.partition.data.standardised(asked))
        rises[:, i] = np.inf
        rise, own = rises.min(axis=1), self.cost.of_clusters()[i]
        self.dissolving[i] = rise.mean() * len(rows) - own
        for part in (0, 1):
            those = self.second[asked] == part
            if self.parts[i, 0] < np.inf and those.any():
                n = np.count_nonzero(self.second[rows] == part)
                self.shedding[i, part] = rise[those].mean() * n - own + self.parts[i, 1 - part]
            else:
                self.shedding[i, part] = np.inf

    def renew_stale(self) -> bool:
        """Find out anew what may have changed; whether anything has."""
        if self.settled:
            return False
        self.renew(self.changed[: self.partition.k] > 0)
        for i in range(self.partition.k):  # it depends on all clusters
            self.ask(i)
        self.settled = True
        return True

    def gains(self) -> NDArray[np.float64]:
        """Fall of the cost when a cluster is split; -inf where it cannot be."""
        k = self.partition.k
        return self.cost.of_clusters() - self.parts[:k].sum(axis=1)

    def steps(self) -> Iterator[Step]:
        """Those that promise most, each kind in its turn, none that was tried before."""
        k, gain = self.partition.k, self.gains()
        best = np.argsort(-gain, kind="stable")
        best = best[gain[best] > -np.inf]

        def sources(*ends: int) -> list[int]:
            return [int(c) for c in best[: SOURCES + len(ends)] if c not in ends][:SOURCES]

        merging = self.cost.of_merging() if k > 2 else np.empty((0, 0))
        pairs = np.argsort(merging, axis=None, kind="stable")[: 2 * self.tries]
        pairs = pairs[merging.ravel()[pairs] < np.inf]
        merges = [
            (merging[i, j] - gain[c], Step(MERGE, c, int(i), int(j)))
            for i, j in zip(*np.unravel_index(pairs, merging.shape), strict=True)
            for c in sources(i, j)
        ]
        dissolves = [
            (self.dissolving[g] - gain[c], Step(DISSOLVE, c, g, g))
            for g in range(k)
            for c in sources(g)
        ]
        sheds = [
            (self.shedding[c, part], Step(SHED, c, part, c))
            for c in range(k)
            for part in (0, 1)
            if k > 1 and self.shedding[c, part] < np.inf
        ]
        ranked = [sorted(found)[: self.tries] for found in (merges, dissolves, sheds)]
        for choices in itertools.zip_longest(*ranked):
            for _, step in filter(None, choices):
                key = (*step, int(self.version[step.source]), int(self.version[step.second]))
                if key not in self.tried:
                    self.tried.add(key)
                    yield step

    def take(self, step: Step, rate: Callable[[], float], least: float) -> bool:
        """Make a step and let the samples that it touches find their clusters.

        Returns whether that was possible and the rate is above ``least`` then. Who has joined the
        source since its split was found, is in the first part.
        """
        partition, (kind, source, first, end) = self.partition, step
        splits = partition.members(source)
        second = self.second[splits]
        if second.all() or not second.any():
            return False
        ends = splits[second == first] if kind == SHED else partition.members(end)
        if kind == MERGE:
            targets = np.full(len(ends), first)
            touched = np.concatenate([splits, ends, partition.members(first)])
        else:
            rise = self.cost.of_adding(partition.data.standardised(ends))
            rise[:, end] = np.inf
            targets = rise.argmin(axis=1)
            touched = splits if kind == SHED else np.concatenate([splits, ends])
        if kind == SHED:
            partition.relabel(ends, targets)
        else:
            parted = np.where(second, end, source)
            partition.relabel(np.concatenate([splits, ends]), np.concatenate([parted, targets]))
        return partition.reaches(np.sort(touched), rate, least)

    def _source(self) -> int | None:
        """The cluster whose split promises most, or None if none can be split."""
        for _ in range(self.partition.k + 1):
            gain = self.gains()
            source = int(np.argmax(gain))
            if gain[source] == -np.inf:
                return None
            second = self.second[self.partition.members(source)]
            if second.any() and not second.all():
                return source
            # One of the two parts has lost all its samples since the split was found.
            self.renew(np.arange(self.partition.k) == source)
        return None

    def grow(self) -> bool:
        """Split the cluster whose split promises most; whether any can be split."""
        partition, source = self.partition, self._source()
        if source is None:
            return False
        k, m = partition.k, partition.state.moments
        before, rows = partition.labels.copy(), partition.members(source)
        m.size[0] = k + 1
        mom.put(m, np.array([k]), mom.empty_moments(1, *partition._shape()))
        partition.relabel(rows, np.where(self.second[rows], k, source))
        partition.sweep()
        self.note(before)
        return True

    def shrink(self) -> bool:
        """Merge the two clusters that lose least by it; whether any can be merged."""
        partition, merging = self.partition, self.cost.of_merging()
        k = partition.k
        i, j = divmod(int(np.argmin(merging)), k)
        if merging[i, j] == np.inf:
            return False
        into = np.arange(k)
        into[j] = i
        partition.merge(into)
        before = partition.labels.copy()
        for known in (self.parts, self.dissolving, self.shedding, self.changed, self.version):
            known[j : k - 1] = known[j + 1 : k]
        self.cost.renew(np.arange(k - 1))
        self.changed[i] = len(before)
        self.settled = False
        partition.sweep()
        self.note(before)
        return True


def improve(
    outlook: Outlook,
    report: Callable[[str], None] | None = None,
    most: int = MOST_STEPS,
    rated: Callable[[], float] | None = None,
    thorough: bool = True,
) -> list[float]:
    """Take steps while one is better. Returns the scores, one after every step taken.

    Better is what has the greater score or, if there is ``rated``, is rated higher when all samples
    have found their clusters. Without ``thorough`` the end is reached when nothing that is known
    helps, with it when nothing is unknown.
    """
    partition = outlook.partition
    rate = partition.score if rated is None else rated
    scores: list[float] = []
    while len(scores) < most:
        before = rate()
        least = before + GAIN * max(1.0, abs(before))
        saved = partition.save()
        for step in outlook.steps():
            if outlook.take(step, rate, least):
                partition.sweep()
                if rated is not None and rated() <= least:
                    partition.restore(saved)
                    continue
                outlook.note(saved.labels)
                scores.append(partition.score())
                if report is not None:
                    index = partition.index
                    value = number(index.value(scores[-1]), 6)
                    report(f"step {len(scores)}: {index.name} = {value}")
                break
            partition.restore(saved)
        else:
            if not (thorough and outlook.renew_stale()):
                break
    return scores


def refine(
    index: Index,
    data: Data,
    labels: Labels,
    n_clusters: int,
    rng: np.random.RandomState,
    report: Callable[[str], None] | None = None,
) -> list[float]:
    """Improve the partition ``labels`` in place, with ``n_clusters`` clusters if that can be.

    Returns the scores before the first step and after each of them.
    """
    with one_thread():
        partition = Partition(index, data, labels, int(labels.max()) + 1, n_clusters)
        partition.sweep()
        outlook = Outlook(partition, rng)
        outlook.renew_stale()
        while partition.k < n_clusters and outlook.grow():
            pass
        return [partition.score(), *improve(outlook, report)]


def joined(part: Partition, data: Data) -> Labels:
    """The cluster of ``part`` that every sample of ``data`` joins at the least cost."""
    cost = part.index.cost(part.index, part.state)
    cost.renew(np.arange(part.k))
    labels = np.empty(data.shape[0], np.int64)
    for block in blocks(len(labels)):
        labels[block] = cost.of_adding(data.standardised(block)).argmin(axis=1)
    return labels
