"""conn_index ↑: how well categories hang together within clusters, and how little between them.

Of every sample the best and the second best matching category are known. CADJ(p, q) counts the
samples of which they are p and q; CONN = CADJ + CADJᵀ. With C_i the categories of cluster i:

    Intra(i)    = Σ CADJ(p, q), p and q in C_i, / samples of i
    Inter(i, j) = Σ CONN(p, q), p in B, q in C_j, / Σ CONN of pairs {p, q}, p in B, q in C_i ∪ C_j
    conn_index  = mean of Intra(i) × (1 - mean of max_{j≠i} Inter(i, j))

where B, the border, has the categories in C_i that are connected with one in C_j. K. Tasdemir, E.
Merenyi, "A validity index for prototype-based clustering of data sets with complex cluster
structures", IEEE Trans. SMC B 41, 2011; in the form of L. E. Brito da Silva, N. M. Melton, D. C.
Wunsch II, "Incremental cluster validity indices for online learning of hard partitions", IEEE
Access 8, 2020. It is no function of the moments of clusters, so it drives no fit. All it counts are
whole numbers: what is kept while samples come and go is exact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from itertools import product
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.shared.merging import check_merge


def conn_index_of(
    first: NDArray[np.int64], second: NDArray[np.int64], cluster_of: NDArray[np.int64]
) -> float:
    """conn_index of all samples at once.

    ``first``, ``second``: the best and second best category of every sample, -1 if there is none.
    ``cluster_of``: the cluster of every category, 0 to k - 1.
    """
    n, known = len(cluster_of), second >= 0
    adjacent = np.zeros((n, n))
    np.add.at(adjacent, (first[known], second[known]), 1.0)
    connected = adjacent + adjacent.T
    present = np.unique(cluster_of[first])
    if len(present) < 2:
        return -np.inf
    intra, inter = [], []
    for i in present:
        own = cluster_of == i
        intra.append(adjacent[np.ix_(own, own)].sum() / np.isin(first, np.flatnonzero(own)).sum())
        inter.append(max(_inter(connected, own, cluster_of == j) for j in present if j != i))
    return float(np.mean(intra) * (1.0 - np.mean(inter)))


def _inter(
    connected: NDArray[np.float64], own: NDArray[np.bool_], other: NDArray[np.bool_]
) -> float:
    border = own & (connected[:, other] > 0).any(axis=1)
    if not border.any():
        return 0.0
    between = connected[np.ix_(border, other)].sum()
    twice = connected[np.ix_(border, border)].sum() / 2.0
    return float(between / (between + connected[np.ix_(border, own)].sum() - twice))


class IncrementalConn:
    """conn_index while samples are added, removed and moved, and clusters change.

    A sample is its best and second best category, any names of these. A category belongs to one
    cluster: that of the first sample whose best category it is, until it is reassigned.

    Attributes
    ----------
    value : float
        The index; -inf for fewer than two clusters.
    n_samples : int
    labels : list
        Clusters that have samples.
    """

    def __init__(self) -> None:
        self.n_samples = 0
        self._adjacent: Counter[tuple[Hashable, Hashable | None]] = Counter()
        self._connected: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        self._cluster: dict[Hashable, Hashable] = {}  # of the categories that are best for some
        self._held: Counter[Hashable] = Counter()  # samples of a category
        self._categories: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        # Kept until something that they depend on changes.
        self._intra: dict[Hashable, float] = {}
        self._inter: defaultdict[Hashable, dict[Hashable, float]] = defaultdict(dict)

    @property
    def labels(self) -> list[Hashable]:
        return list(self._categories)

    def add(self, first: Hashable, second: Hashable | None, label: Hashable) -> None:
        """A sample with these categories enters a cluster; ``second`` is None if there is one."""
        if second == first:
            raise ValueError(f"The second best category must be another than {first!r}.")
        if self._cluster.get(first, label) != label:
            raise ValueError(
                f"Category {first!r} belongs to cluster {self._cluster[first]!r}, not to {label!r}."
            )
        if first not in self._cluster:
            self._put(first, label)
        self._count(first, second, +1)

    def remove(self, first: Hashable, second: Hashable | None) -> None:
        """A sample with these categories leaves."""
        if self._adjacent[first, second] == 0:
            raise ValueError(f"No sample has the categories {first!r} and {second!r}.")
        self._count(first, second, -1)
        if self._held[first] == 0:
            self._take_out(first)

    def move(
        self,
        source: tuple[Hashable, Hashable | None],
        target: tuple[Hashable, Hashable | None],
        label: Hashable,
    ) -> None:
        """A sample of the categories ``source`` has ``target`` now, in cluster ``label``."""
        self.add(*target, label)
        self.remove(*source)

    def reassign(self, category: Hashable, label: Hashable) -> None:
        """A category belongs to another cluster from now on."""
        if category not in self._cluster:
            raise ValueError(f"Category {category!r} has no samples.")
        self._take_out(category)
        self._put(category, label)

    def merge(self, a: Hashable, b: Hashable) -> None:
        """Cluster b becomes a part of cluster a."""
        check_merge(self._categories, a, b)
        for category in list(self._categories[b]):
            self.reassign(category, a)

    @property
    def value(self) -> float:
        clusters = self.labels
        if len(clusters) < 2:
            return -np.inf
        for i in clusters:
            if i not in self._intra:
                self._intra[i] = self._intra_of(i)
        for i, j in product(clusters, clusters):
            if i != j and j not in self._inter[i]:
                self._inter[i][j] = self._inter_of(i, j)
        intra = fmean(self._intra[i] for i in clusters)
        return intra * (1.0 - fmean(max(self._inter[i].values()) for i in clusters))

    def _put(self, category: Hashable, label: Hashable) -> None:
        self._cluster[category] = label
        self._categories[label].add(category)
        self._forget(category)

    def _take_out(self, category: Hashable) -> None:
        self._forget(category)
        label = self._cluster.pop(category)
        self._categories[label].discard(category)
        if not self._categories[label]:
            del self._categories[label]
            self._intra.pop(label, None)
            self._inter.pop(label, None)
            for row in self._inter.values():
                row.pop(label, None)

    def _forget(self, category: Hashable) -> None:
        """The cluster of a category changes: what depends on it is not known any more."""
        label = self._cluster[category]
        for i in {label, *(self._cluster.get(other) for other in self._connected[category])}:
            self._intra.pop(i, None)
            self._inter.pop(i, None)
        for row in self._inter.values():
            row.pop(label, None)

    def _count(self, first: Hashable, second: Hashable | None, sign: int) -> None:
        self.n_samples += sign
        self._held[first] += sign
        i = self._cluster[first]
        self._intra.pop(i, None)
        self._adjacent[first, second] += sign
        if second is None:
            return
        for p, q in ((first, second), (second, first)):
            self._connected[p][q] += sign
            if self._connected[p][q] == 0:
                del self._connected[p][q]
        j = self._cluster.get(second)
        if i == j:
            self._inter.pop(i, None)
        elif j is not None:
            self._inter[i].pop(j, None)
            self._inter[j].pop(i, None)

    def _intra_of(self, i: Hashable) -> float:
        own = self._categories[i]
        inside = sum(self._adjacent[p, q] for p in own for q in self._connected[p] if q in own)
        return inside / sum(self._held[p] for p in own)

    def _inter_of(self, i: Hashable, j: Hashable) -> float:
        own, other = self._categories[i], self._categories[j]
        border = {p for p in own if any(q in other for q in self._connected[p])}
        between, inside, twice = 0, 0, 0
        for p in border:
            for q, count in self._connected[p].items():
                between += count * (q in other)
                inside += count * (q in own)
                twice += count * (q in border)
        return between / (between + inside - twice / 2) if border else 0.0
