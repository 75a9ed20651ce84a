"""The number of clusters: one path over k, and the rule that chooses on it (beyond the paper).

The path starts with a single cluster. The cluster whose split promises most is split, the partition
is improved (:mod:`icvi_artmap.training.refinement`), and so on: every k begins where k - 1 ended.

NI itself always prefers more clusters. 2N NI is, up to a constant, minus twice the logarithm of the
likelihood of a Gaussian per cluster; so the rule is like Schwarz's, with a penalty for every
parameter, where a parameter counts less the more the ridge δ decides it:

    Σ n_i (Σ ln(λ + δ) - 2 ln p_i) + w Σ e_i ln √(N n_i) + (k - 1) ln N,
    e_i = ½ [(Σ s)² + Σ s²] + Σ s,    s = μ / (μ + δ)

λ are the eigenvalues of cluster i's covariance with a part of a sample of the mean variance within
clusters added, so that a few samples that lie on a line by chance are no discovery; μ the same with
a whole one. Without a ridge, e_i is the number of parameters of a Gaussian, d (d + 1) / 2 + d. For
another index its own value chooses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.callbacks import UNWATCHED, Watch
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.ni import NIState
from icvi_artmap.samples.scaling import Data, one_thread
from icvi_artmap.training import refinement as optimise
from icvi_artmap.training.refinement import Labels, Outlook, Partition

#: Weight of the parameters of a Gaussian, and the part of a sample of mean variance that is added
#: to every cluster. Chosen on generated sets (docs/beyond.md).
WEIGHT, SEEN = 0.75, 0.1
#: The path ends when the criterion has not improved for so many k, or for this part of the best k.
PATIENCE, PATIENCE_PART = 5, 0.3
#: A margin is relied on if the criterion differs by so much (NI), or by so large a part of itself.
CLEAR, CLEAR_PART = 20.0, 0.01
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
    """

    n_clusters: int
    k: NDArray[np.int64]
    criterion: NDArray[np.float64]
    index_values: NDArray[np.float64]
    margin: float
    clear: bool
    rule: str
    single: bool

    def doubt(self) -> str | None:
        """What speaks against relying on the choice, if anything does."""
        if self.single:
            return (
                f"n_clusters={self.n_clusters} is the best of the numbers tried, but the data look "
                "like a single cluster: the criterion is better for that."
            )
        if not self.clear:
            rest = self.k[self.k != self.n_clusters]
            other = rest[self.criterion[self.k != self.n_clusters].argmin()]
            return (
                f"n_clusters={self.n_clusters} is not a clear choice: {other} is nearly as good "
                f"(margin {self.margin:.3g}). Look at selection_.plot()."
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


def penalised(partition: Partition) -> float:
    """The criterion for NI, up to a constant."""
    state, k = partition.state, partition.k
    m, d = state.moments, partition.data.table.shape[1]
    within = m.compactness[:k].sum() / (max(state.n - k, 1.0) * d)
    value, penalty = 0.0, (k - 1.0) * math.log(state.n)
    for i in range(k):
        scatter = m.scatter[i] + np.triu(m.scatter[i], 1).T
        squares = np.maximum(np.linalg.eigvalsh(scatter), 0.0)
        fitted = (squares + SEEN * within) / (m.n[i] - 1.0 + SEEN)
        value += m.n[i] * (np.log(fitted + state.delta).sum() - 2.0 * math.log(m.n[i] / state.n))
        free = (squares + within) / m.n[i]
        s = free / (free + state.delta)
        parameters = 0.5 * (s.sum() ** 2 + (s * s).sum()) + s.sum()
        penalty += WEIGHT * parameters * 0.5 * math.log(state.n * m.n[i])
    return float(value + penalty)


def select(
    index: Index,
    data: Data,
    least: int,
    most: int | None,
    rng: np.random.RandomState,
    report: Callable[[str], None] | None = None,
    watch: Watch = UNWATCHED,
) -> tuple[Selection, Labels]:
    """Choose a number of clusters between ``least`` and ``most`` (None: where it gets worse).

    Returns also the cluster of every sample for that number. More samples than needed to tell are
    represented by a part of them. ``watch`` is told of every number tried.
    """
    with one_thread():
        seen = data
        if len(data.table) > (many := optimise.enough(data, most or ROOM)):
            seen = data.take(np.sort(rng.permutation(len(data.table))[:many]))
        path = list(_path(index, seen, most, rng, report, watch))
        rated = [point for point in path if point.k >= least]
        if not rated:
            raise ValueError(
                f"No partition into {least} clusters was found: the data have only "
                f"{path[-1].k} distinct groups. Ask for fewer clusters."
            )
        winner = min(rated, key=lambda point: point.criterion)
        labels = winner.labels
        if seen is not data:
            part = Partition(index, seen, labels, winner.k, winner.k)
            labels = optimise.joined(part, data)
    single = least > 1 and path[0].criterion < winner.criterion
    found = make_selection(
        index,
        np.array([point.k for point in rated]),
        np.array([point.criterion for point in rated]),
        np.array([index.value(point.score) for point in rated]),
        single,
    )
    return found, labels


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
    limit = len(labels) - 1 if most is None else most
    best, best_k = np.inf, 1
    while True:
        k = partition.k
        watch.begin("partition")
        if k > 1:
            optimise.improve(outlook)
        criterion = _criterion(partition)
        yield _Point(k, criterion, partition.score(), labels.copy())
        if report is not None:
            report(f"k = {k}: criterion {criterion:.6g}")
        watch.end()
        if criterion < best:
            best, best_k = criterion, k
        waited = most is None and k - best_k >= max(PATIENCE, PATIENCE_PART * best_k)
        if k >= limit or waited:
            return
        if k == len(partition.state.moments.n):
            partition = Partition(index, data, labels, k, 2 * k)
            outlook = Outlook(partition, rng, TRIES)
            outlook.renew_stale()
        if not outlook.grow():
            return


def _criterion(partition: Partition) -> float:
    return penalised(partition) if isinstance(partition.state, NIState) else -partition.score()


def make_selection(
    index: Index,
    k: NDArray[np.int64],
    criterion: NDArray[np.float64],
    index_values: NDArray[np.float64],
    single: bool,
) -> Selection:
    """The choice that follows from the criterion; the first of equals."""
    winner = int(criterion.argmin())
    least, others = float(criterion[winner]), np.delete(criterion, winner)
    margin = float(others.min(initial=np.inf)) - least
    penalty = index.name == "NI"
    enough = CLEAR if penalty else CLEAR_PART * abs(least)
    return Selection(
        n_clusters=int(k[winner]),
        k=k,
        criterion=criterion,
        index_values=index_values,
        margin=margin,
        clear=bool(margin >= enough),
        rule="penalised NI" if penalty else f"{'-' if index.direction > 0 else ''}{index.name}",
        single=bool(single),
    )
