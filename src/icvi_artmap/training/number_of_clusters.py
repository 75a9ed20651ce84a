"""The number of clusters: one path over k, and the rule that chooses on it (beyond the paper).

The path starts with a single cluster. The cluster whose split promises most is split, the partition
is improved (:mod:`icvi_artmap.training.refinement`), and so on: every k begins where k - 1 ended.

Which k wins is told by the criterion that the index brings
(:mod:`icvi_artmap.indices.shared.criterion`): for NI a penalised value, for another index its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.callbacks import UNWATCHED, Watch
from icvi_artmap._support.threads import one_thread
from icvi_artmap._support.wording import number
from icvi_artmap.indices.base import Index
from icvi_artmap.samples.scaling import Data
from icvi_artmap.training import refinement
from icvi_artmap.training.refinement import Labels, Outlook, Partition
from icvi_artmap.training.start import kmeans_labels

#: The path ends when the criterion has not improved for this many k, or this part of the best k.
PATIENCE, PATIENCE_PART = 5, 0.3
#: Without an upper end no more clusters are tried: the work of a path grows with the cube of its
#: length. A range looks further.
MOST_CLUSTERS = 100
#: Where the path has ended, numbers are doubled up to this one and to so many samples a cluster: if
#: one of them is better, the path has given up too early. So many sweeps are enough to tell.
FURTHEST, FEWEST_SAMPLES, FURTHER_SWEEPS = 256, 8, 3
#: Room for clusters at first; it doubles.
ROOM = 16
#: Steps of each kind tried for every k.
TRIES = 4


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
        Whether there may be more clusters: the path was ended by its limit, and not because the
        criterion got worse, or the criterion is better again for far more clusters.
    repeated : bool
        Whether there is a cluster for at least every second different row: values that repeat look
        like clusters.
    joins : bool
        Whether the numbers are of clusters that were joined of components.
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
                f"The search for n_clusters ended at {self.k[-1]}, and the criterion falls beyond: "
                f"there may be more clusters. Try n_clusters=range({self.k[-1] // 2}, "
                f"{3 * self.k[-1]}), which takes long, or ask for a number."
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
    rng: np.random.RandomState,
    report: Callable[[str], None] | None = None,
    watch: Watch = UNWATCHED,
) -> tuple[Selection, Labels]:
    """Choose a number of clusters between ``least`` and ``most``.

    ``most`` None: as far as it gets better, and no further than MOST_CLUSTERS.

    Returns also the cluster of every sample for that number. More samples than needed to tell are
    represented by a part of them. ``watch`` is told of every number tried.
    """
    with one_thread():
        seen = data
        if len(data.table) > (many := refinement.enough(data, most or ROOM)):
            seen = data.take(np.sort(rng.permutation(len(data.table))[:many]))
        path = list(_path(index, seen, most, rng, report, watch))
        rated = [point for point in path if point.k >= least]
        if not rated:
            raise ValueError(
                f"No partition into {least} clusters was found: the data have only "
                f"{path[-1].k} distinct groups. Ask for fewer clusters."
            )
        winner = min(rated, key=lambda point: point.criterion)
        labels, different = winner.labels, len({row.tobytes() for row in seen.table})
        limited = most is None and (_is_cut_off(path) or _falls_beyond(index, seen, path, rng))
        if seen is not data:
            part = Partition(index, seen, labels, winner.k, winner.k)
            labels = refinement.joined(part, data)
    single = least > 1 and path[0].criterion < winner.criterion
    found = make_selection(
        index,
        np.array([point.k for point in rated]),
        np.array([point.criterion for point in rated]),
        np.array([index.value(point.score) for point in rated]),
        single,
        limited=limited,
        repeated=2 * winner.k > different,
    )
    return found, labels


def _is_cut_off(path: list[_Point]) -> bool:
    """Whether a path without an upper end was ended by MOST_CLUSTERS."""
    best = min(path, key=lambda point: point.criterion)
    return path[-1].k >= MOST_CLUSTERS and not _is_over(path[-1].k, best.k)


def _falls_beyond(index: Index, data: Data, path: list[_Point], rng: np.random.RandomState) -> bool:
    """Whether the criterion is better for far more clusters than were tried."""
    best = min(point.criterion for point in path)
    x, k = data.standardised(slice(None)), 2 * path[-1].k
    while k <= min(FURTHEST, len(x) // FEWEST_SAMPLES):
        labels = kmeans_labels(x, k, int(rng.randint(np.iinfo(np.int32).max)))
        found = int(labels.max()) + 1
        partition = Partition(index, data, labels, found, found)
        partition.sweep(most=FURTHER_SWEEPS)
        if index.criterion.of(partition.state, partition.score()) < best:
            return True
        k *= 2
    return False


def _is_over(k: int, best_k: int) -> bool:
    """Whether the criterion has not improved for so long that it is not going to."""
    return k - best_k >= max(PATIENCE, PATIENCE_PART * best_k)


@dataclass
class _Point:
    """The partition found for one k."""

    k: int
    criterion: float
    score: float
    labels: Labels


def _path(
    index: Index,
    data: Data,
    most: int | None,
    rng: np.random.RandomState,
    report: Callable[[str], None] | None,
    watch: Watch,
) -> Iterator[_Point]:
    """Partitions into 1, 2, ... clusters, each grown from the one before."""
    labels = np.zeros(len(data.table), np.int64)
    partition = Partition(index, data, labels, 1, ROOM)
    outlook = Outlook(partition, rng, TRIES)
    outlook.renew_stale()
    limit = min(len(labels) - 1, MOST_CLUSTERS) if most is None else most
    best, best_k = np.inf, 1
    while True:
        k = partition.k
        watch.begin("partition")
        if k > 1:
            refinement.improve(outlook)
        score = partition.score()
        criterion = index.criterion.of(partition.state, score)
        yield _Point(k, criterion, score, labels.copy())
        if report is not None:
            report(f"k = {k}: criterion {number(criterion, 6)}")
        watch.end()
        if criterion < best:
            best, best_k = criterion, k
        if k >= limit or (most is None and _is_over(k, best_k)):
            return
        if k == len(partition.state.moments.n):
            partition = Partition(index, data, labels, k, 2 * k)
            outlook = Outlook(partition, rng, TRIES)
            outlook.renew_stale()
        if not outlook.grow():
            return


def make_selection(
    index: Index,
    k: NDArray[np.int64],
    criterion: NDArray[np.float64],
    index_values: NDArray[np.float64],
    single: bool,
    limited: bool = False,
    repeated: bool = False,
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
        clear=bool(margin >= index.criterion.clear(least)) and not (limited or repeated),
        rule=index.rule_for_k(),
        single=bool(single),
        limited=limited,
        repeated=repeated,
    )
