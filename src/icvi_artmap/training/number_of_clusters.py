"""The number of clusters: partitions into several, and the rule that chooses (beyond the paper).

First all clusters are split at once, again and again, until there are far too many: that tells
about how many there are. Then, from a partition with too many, the two clusters that lose least are
merged, the partition is improved (:mod:`icvi_artmap.training.refinement`), and so on: every k
begins where k + 1 ended. At last clusters of the best partition are split once more.

Which k wins is told by the criterion that the index brings
(:mod:`icvi_artmap.indices.shared.criterion`): for NI a penalised value, for another index its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.callbacks import UNWATCHED, Watch
from icvi_artmap._support.threads import in_threads, one_thread
from icvi_artmap._support.wording import counted, number
from icvi_artmap.indices.base import Index
from icvi_artmap.network.driver import Pace
from icvi_artmap.samples.resolution import evidence, key_weights, row_keys
from icvi_artmap.samples.scaling import Data, blocks, plain_data
from icvi_artmap.training import refinement
from icvi_artmap.training.part import part_size
from icvi_artmap.training.refinement import Labels, Outlook, Partition

#: Numbers this far above and below the best one are tried with care: a part of the best one, and at
#: least and at most so many.
PATIENCE, PATIENCE_PART, MOST_PATIENCE = 5, 0.15, 10
#: Numbers double until they are so many times the best one, and at least so many; or more, if so
#: many products with N d² are not too much work.
LOOK_AHEAD, LEAST_LOOK, LOOK_WORK = 2, 32, 1 << 25
#: Without an upper end no more clusters are tried than this, than there are such parts of the
#: samples, or than scatter matrices with so many numbers in all. A range looks further.
MOST_CLUSTERS, FEWEST_SAMPLES, MOST_NUMBERS = 256, 4, 1 << 24
#: How many clusters are expected where nothing is known.
ROOM = 16
#: Sweeps after many clusters have been split at once.
GROWN_SWEEPS = 5
#: One of so many clusters is merged with another at once, where there are too many.
MERGED_PART = 8
#: How often clusters are merged from far too many, at most, and how often in vain.
MOST_ROUNDS, IDLE_ROUNDS = 8, 2
#: Steps of each kind tried for every k.
TRIES = 4
#: With more clusters a partition is improved by what is known, and nothing more is found out.
MANY_CLUSTERS = 64
#: How many clusters of the best partition are split in the end.
CLIMB = 3
#: All draws follow from this: the choice is to depend on the data alone.
SEED = 0
#: Digits after the point of what standardises the data.
DIGITS = 10


@dataclass(frozen=True)
class Selection:
    """Which numbers of clusters were tried, and how good each was.

    Attributes
    ----------
    n_clusters : int
        The number chosen.
    k : ndarray
        The numbers tried, rising.
    criterion : ndarray
        What is compared; the least wins.
    index_values : ndarray
        The index of the partition found for every k.
    margin : float
        Criterion of the runner-up less that of the winner.
    clear : bool
        Whether the margin is large enough to rely on.
    rule : str
        What the criterion is.
    single : bool
        Whether a single cluster would be better still; told by the rule for NI only.
    limited : bool
        Whether the path was ended by its limit, and not because the criterion got worse.
    repeated : bool
        Whether there is a cluster for at least every second different row: values that repeat look
        like clusters.
    joins : bool
        Whether the numbers are of clusters that were joined of components.
    copies : int
        How many rows were left out of the choice because they are exact copies of others, more
        than rounding explains: they are no evidence of their own.
    halves : tuple of int
        The numbers chosen on halves of the rows, which a clear choice agrees with: both, or those
        up to the first that is another. Empty if the choice is not clear anyway.
    cautioned : bool
        Whether something else casts a doubt on the clusters (``cautions_`` of the model).
    """

    n_clusters: int
    k: NDArray[np.int64]
    criterion: NDArray[np.float64]
    index_values: NDArray[np.float64]
    margin: float
    clear: bool
    rule: str
    single: bool
    limited: bool = False
    repeated: bool = False
    joins: bool = False
    copies: int = 0
    halves: tuple[int, ...] = ()
    cautioned: bool = False

    def doubt(self) -> str | None:
        """What speaks against relying on the choice, if anything does."""
        if self.single:
            return (
                f"n_clusters={self.n_clusters} is the best of the numbers tried, but the data look "
                "like a single cluster: the criterion is better for that."
            )
        if self.repeated:
            return (
                f"n_clusters={self.n_clusters} gives a cluster to at least every second different "
                "row: the values repeat, and each repeated row looks like a cluster. Ask for a "
                "number of clusters."
            )
        if self.limited:
            return (
                f"The search for n_clusters ended at {self.k[-1]}, where the criterion still fell: "
                f"there may be more clusters. Try n_clusters=range({self.k[-1] // 2}, "
                f"{3 * self.k[-1]}), which takes long, or ask for a number."
            )
        if self.copies:
            return (
                f"n_clusters={self.n_clusters} was chosen without {counted(self.copies, 'row')}: "
                "exact copies of others, more than rounding explains, are no evidence of clusters. "
                "If all rows were measured independently, ask for a number of clusters."
            )
        if self.halves and self.halves[-1] != self.n_clusters:
            return (
                f"n_clusters={self.n_clusters} is not a clear choice: on a half of the rows "
                f"{self.halves[-1]} is chosen. Look at selection_.plot()."
            )
        if self.cautioned:
            return (
                f"n_clusters={self.n_clusters} is better than the others by far, but the clusters "
                "may not be what they seem: see cautions_."
            )
        if not self.clear:
            rest = self.k[self.k != self.n_clusters]
            other = rest[self.criterion[self.k != self.n_clusters].argmin()]
            return (
                f"n_clusters={self.n_clusters} is not a clear choice: {other} is nearly as good "
                f"(margin {number(self.margin, 3)}). Look at selection_.plot()."
            )
        return None

    def to_pandas(self) -> Any:
        """A DataFrame with a row for every k."""
        import pandas as pd

        columns = {"criterion": self.criterion, "index_value": self.index_values}
        return pd.DataFrame(columns, index=pd.Index(self.k, name="k"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the criterion over k, as :class:`SelectionDisplay` does.

        Returns the matplotlib Axes.
        """
        from icvi_artmap.plotting.selection import SelectionDisplay

        return SelectionDisplay.from_selection(self).plot(ax).ax_


def select(
    index: Index,
    data: Data,
    least: int,
    most: int | None,
    report: Callable[[str], None] | None = None,
    watch: Watch = UNWATCHED,
    given: Callable[[NDArray[np.int64]], NDArray[np.floating]] | None = None,
    keep: Callable[[Labels], None] | None = None,
) -> tuple[Selection, Labels]:
    """Choose a number of clusters between ``least`` and ``most``.

    ``most`` None: as far as it gets better, and no further than :func:`largest`.

    Returns also the cluster of every sample for that number. The choice depends on the samples
    alone, not on their order or on a seed. More samples than needed to tell are represented by a
    part of them. ``watch`` is told of every number tried. ``given``: samples as they were recorded,
    which tells copies from rounding; by default they are as they are in the table. ``keep`` gets
    the cluster of every sample for every number tried.
    """
    with one_thread():
        order = canonical_order(data)
        n, d = data.shape
        rows = order[: part_size(n, d, most or ROOM)]
        recorded = data.coded(rows) if given is None else given(rows)
        kept = rows[evidence(recorded, np.random.RandomState(SEED))]
        seen = index.view(_without_noise(data, kept))
        look = max(LEAST_LOOK, LOOK_WORK // (n * d * d))
        search = _Search(index, seen, least, most, look, report, watch)
        points = search.run()
        rated = [point for point in points if point.k >= least]
        if not rated:
            raise ValueError(
                f"No partition into {least} clusters was found: the data have only "
                f"{points[-1].k} distinct groups. Ask for fewer clusters."
            )
        winner = min(rated, key=lambda point: point.criterion)

        def of_all(point: _Point) -> Labels:
            if len(seen.table) < len(order):
                part = Partition(index, data.take(kept), point.labels, point.k, point.k)
                return refinement.joined(part, data)
            labels = np.empty(len(order), np.int64)
            labels[order] = point.labels
            return labels

        labels = of_all(winner)
        if keep is not None:
            for point in rated:
                keep(labels if point is winner else of_all(point))
    found = make_selection(
        index,
        np.array([point.k for point in rated]),
        np.array([point.criterion for point in rated]),
        np.array([index.value(point.score) for point in rated]),
        single=least > 1 and points[0].criterion < winner.criterion,
        limited=most is None and winner.k == search.top < search.different,
        repeated=2 * winner.k > search.different,
        copies=len(rows) - len(kept),
    )
    if found.clear:
        halves = _chosen_on_halves(search, data, kept, found.n_clusters)
        found = replace(found, halves=halves, clear=halves[-1] == found.n_clusters)
    return found, labels


def _chosen_on_halves(
    search: _Search, data: Data, rows: NDArray[np.int64], chosen: int
) -> tuple[int, ...]:
    """The numbers chosen on halves of the rows, up to one that is another; 0 if there is none.

    A half begins with the partitions of the whole, whose samples find their clusters anew, and
    then looks for one cluster more on its own.
    """

    def of_half(part: slice) -> int:
        with one_thread():
            seen = search.index.view(_without_noise(data, rows[part]))
            half = _Search(search.index, seen, search.least, search.most, search.look)
            for point in search.points.values():
                half.take_over(point.labels[part])
            half.climb(1)
        rated = [point for point in half.points.values() if point.k >= search.least]
        return min(rated, key=lambda point: point.criterion).k if rated else 0

    numbers: list[int] = []
    for k in in_threads(of_half, (slice(0, None, 2), slice(1, None, 2))):
        numbers.append(k)
        if k != chosen:
            break
    return tuple(numbers)


def canonical_order(data: Data) -> NDArray[np.int64]:
    """An order of the rows that does not depend on the order in which they come, as if shuffled.

    Rows are sorted by a weighted sum of their values, with weights of which no small multiples
    cancel, and dealt out by a fixed shuffle.
    """
    rng = np.random.RandomState(SEED)
    n, d = data.shape
    weights = key_weights(d, rng)
    keys = np.concatenate([row_keys(data.coded(rows), weights) for rows in blocks(n)])
    return np.argsort(keys, kind="stable")[rng.permutation(n)]


def _without_noise(data: Data, rows: NDArray[np.int64]) -> Data:
    """These rows, standardised without the last digits: they depend on the order of all rows."""
    scale, shift = np.round(data.scale, DIGITS), np.round(data.shift, DIGITS)
    return plain_data(data.coded(rows), scale, shift)


def largest(n_samples: int, n_features: int, different: int) -> int:
    """The largest number of clusters that is tried where none is given.

    Of ``different`` rows no more than about every second one gets a cluster, if they are many.
    """
    room = max(ROOM, MOST_NUMBERS // n_features**2)
    distinct = max(ROOM, different // 2 + 1)
    return max(2, min(MOST_CLUSTERS, n_samples // FEWEST_SAMPLES, room, distinct))


def reach(k: int) -> int:
    """How far above and below the best number every number is tried."""
    return max(PATIENCE, min(round(PATIENCE_PART * k), MOST_PATIENCE))


@dataclass
class _Point:
    """The partition found for one k."""

    k: int
    criterion: float
    score: float
    labels: Labels


class _Search:
    """Partitions into different numbers of clusters, and how good they are."""

    def __init__(
        self,
        index: Index,
        data: Data,
        least: int,
        most: int | None,
        look: int,
        report: Callable[[str], None] | None = None,
        watch: Watch = UNWATCHED,
    ) -> None:
        self.index, self.data, self.least, self.most = index, data, least, most
        self.look, self.report, self.watch = look, report, watch
        n, d = data.table.shape
        self.different = len({row.tobytes() for row in data.table})
        self.top = largest(n, d, self.different) if most is None else min(most, n)
        self.rng = np.random.RandomState(SEED)
        self.rater = index.criterion.rater()
        self.points: dict[int, _Point] = {}
        self.pace = Pace()

    def run(self) -> list[_Point]:
        """Partitions for rising k, a single cluster first."""
        levels = self._levels()
        self._keep(levels[0])
        if len(levels) > 1:
            self._walk(self._rough(levels))
            self.climb(CLIMB)
        return [self.points[k] for k in sorted(self.points)]

    def take_over(self, labels: Labels) -> None:
        """Begin with a partition that was found elsewhere, once every sample has its cluster."""
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        k = int(labels.max()) + 1
        partition = Partition(self.index, self.data, labels, k, k, self.pace)
        partition.sweep()
        self._keep(self._rated(partition))

    def _levels(self) -> list[_Point]:
        """One cluster, two, four and so on, until that is no use any more."""
        n = len(self.data.table)
        single = Partition(self.index, self.data, np.zeros(n, np.int64), 1, 1, self.pace)
        levels = [self._rated(single)]
        top = self._room()
        numbers = [1 << i for i in range(1, top.bit_length()) if 1 << i < top]
        for partition in grown(single, [*numbers, top], self.rng):
            levels.append(self._rated(partition))
            best = min(levels, key=lambda point: point.criterion)
            if self.most is None and partition.k >= max(LOOK_AHEAD * best.k, self.look):
                break
        return levels

    def _rough(self, levels: list[_Point]) -> list[_Point]:
        """Merge down from far too many clusters; split half as many again, and merge once more.

        What was split in a wrong place is merged and split anew. Ends when that has led to nothing
        better for some rounds.
        """
        best = min(levels[1:], key=lambda point: point.criterion)
        over = next(
            (point for point in levels if point.k >= max(self.look, 2 * best.k)), levels[-1]
        )
        points: list[_Point] = []
        idle = 0
        for _ in range(MOST_ROUNDS):
            merged = self._merged(over)
            points += merged
            found = min(merged, key=lambda point: point.criterion)
            idle = 0 if found.criterion < best.criterion else idle + 1
            if idle == IDLE_ROUNDS:
                break
            best = min(best, found, key=lambda point: point.criterion)
            half = min(merged, key=lambda point: abs(2 * point.k - over.k))
            for partition in grown(self._partition(half), [over.k], self.rng):
                over = self._rated(partition)
        return points

    def _room(self) -> int:
        """How many clusters a partition may have on the way."""
        return self.top if self.most is None else min(2 * self.top, len(self.data.table))

    def _merged(self, start: _Point) -> list[_Point]:
        """Merge clusters, some at once while they are many, and do no more."""
        partition = self._partition(start)
        points = [self._rated(partition)]
        while partition.k > 2 and merge_pairs(partition, max(1, partition.k // MERGED_PART)):
            points.append(self._rated(partition))
        return points

    def _walk(self, points: list[_Point]) -> None:
        """Try every number in the range, or near the best of ``points``, with care, from above."""
        best = min(points, key=lambda point: point.criterion)
        high = self.top
        if self.most is None:
            high = min(best.k + reach(best.k), self.top)
            for point in points:
                if point.k < high:
                    self._keep(point)
        above = [point for point in points if point.k >= high]
        start = min(above, key=lambda point: (point.k, point.criterion), default=best)
        outlook = self._outlook(start, high)
        while outlook.partition.k > high and outlook.shrink():
            pass
        while outlook.partition.k < high and outlook.grow():
            pass
        while True:
            self._improve(outlook)
            self._keep(self._rated(outlook.partition))
            lowest = self.least if self.most is not None else self._best().k - reach(self._best().k)
            if outlook.partition.k <= max(2, lowest) or not outlook.shrink():
                return

    def _outlook(self, point: _Point, room: int) -> Outlook:
        """What could be done with a partition that may grow to ``room`` clusters."""
        outlook = Outlook(self._partition(point, room), self.rng, TRIES)
        outlook.renew(np.ones(point.k, np.bool_))
        return outlook

    def climb(self, steps: int) -> None:
        """Split so many clusters of the best partition; again, if that leads to a better one."""
        best = None
        while best is not self._best():
            best = self._best()
            outlook = self._outlook(best, best.k + steps)
            while outlook.partition.k < min(best.k + steps, self.top) and outlook.grow():
                self._improve(outlook)
                self._keep(self._rated(outlook.partition))

    def _partition(self, point: _Point, room: int = 0) -> Partition:
        """A partition of one's own to change."""
        labels = point.labels.copy()
        return Partition(self.index, self.data, labels, point.k, max(point.k, room), self.pace)

    def _improve(self, outlook: Outlook) -> None:
        partition, rater = outlook.partition, self.rater
        refinement.improve(
            outlook,
            rated=lambda: -rater(partition.state, partition.score()),
            thorough=partition.k <= MANY_CLUSTERS,
        )

    def _rated(self, partition: Partition) -> _Point:
        score = partition.score()
        criterion = self.rater(partition.state, score)
        if (at_least := self.index.criterion.at_least) is not None:
            bound = at_least(partition.state, self.data, partition.labels)
            criterion = max(criterion, bound)
        return _Point(partition.k, criterion, score, partition.labels.copy())

    def _best(self) -> _Point:
        """The best one into more than a single cluster, if there is any."""
        several = [point for point in self.points.values() if point.k > 1]
        return min(several or self.points.values(), key=lambda point: point.criterion)

    def _keep(self, point: _Point) -> None:
        """Of two partitions into the same number of clusters the better one is kept."""
        k, known = point.k, self.points.get(point.k)
        if known is None:
            self.watch.begin("partition")
            self.watch.end()
        if known is None or point.criterion < known.criterion:
            self.points[k] = point
            if self.report is not None:
                self.report(f"k = {k}: criterion {number(point.criterion, 6)}")


def grown(
    partition: Partition, numbers: Iterable[int], rng: np.random.RandomState
) -> Iterator[Partition]:
    """Partitions into these rising numbers of clusters, quickly: each splits the one before.

    As many clusters as needed are split at once. Ends early if no cluster can be split any more.
    """
    for wanted in numbers:
        while partition.k < wanted:
            before = partition.k
            partition = _split_best(partition, wanted - before, rng)
            if partition.k <= before:
                return
        yield partition


def _split_best(partition: Partition, count: int, rng: np.random.RandomState) -> Partition:
    """With the clusters split whose splits promise most."""
    k, labels = partition.k, partition.labels.copy()
    outlook = Outlook(partition, rng)
    for i in range(k):
        outlook.split(i)
    gain = outlook.gains()
    best = [i for i in np.argsort(-gain, kind="stable")[:count] if gain[i] > -np.inf]
    for new, i in enumerate(best, start=k):
        labels[(labels == i) & outlook.second] = new
    k += len(best)
    split = Partition(partition.index, partition.data, labels, k, k, partition.pace)
    split.sweep(most=GROWN_SWEEPS)
    return split


def merge_pairs(partition: Partition, count: int) -> bool:
    """Merge up to so many pairs of clusters, those that lose least by it; whether any could be."""
    k = partition.k
    merging = partition.index.cost(partition.index, partition.state).of_merging()
    into, free = np.arange(k), np.ones(k, np.bool_)
    for pair in np.argsort(merging, axis=None, kind="stable"):
        i, j = divmod(int(pair), k)
        if count == 0 or merging[i, j] == np.inf:
            break
        if free[i] and free[j]:
            into[j], free[i], free[j], count = i, False, False, count - 1
    if (into == np.arange(k)).all():
        return False
    changed = np.isin(into, into[into != np.arange(k)])
    rows = np.flatnonzero(changed[partition.labels])
    partition.merge(into)
    partition.sweep(rows, refinement.LOCAL_SWEEPS)
    return True


def make_selection(
    index: Index,
    k: NDArray[np.int64],
    criterion: NDArray[np.float64],
    index_values: NDArray[np.float64],
    single: bool,
    limited: bool = False,
    repeated: bool = False,
    copies: int = 0,
) -> Selection:
    """The choice that follows from the criterion; the first of equals."""
    winner = int(criterion.argmin())
    least, others = float(criterion[winner]), np.delete(criterion, winner)
    margin = float(others.min(initial=np.inf)) - least
    return Selection(
        n_clusters=int(k[winner]),
        k=k,
        criterion=criterion,
        index_values=index_values,
        margin=margin,
        clear=bool(margin >= index.criterion.clear(least))
        and not (limited or repeated or single or copies),
        rule=index.rule_for_k(),
        single=bool(single),
        limited=limited,
        repeated=repeated,
        copies=copies,
    )
