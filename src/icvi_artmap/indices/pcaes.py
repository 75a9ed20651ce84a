"""Partition coefficient and exponential separation ↑, kept while samples come and go.

With memberships u of the samples in the clusters, centres a_i = Σ u_i² x / Σ u_i², the mean x̄ of
all samples, and β = (1/k) Σ_i ‖a_i - x̄‖²:

    PCAES = Σ_i [Σ u_i² / max_j Σ u_j² - exp(-min_{j≠i} ‖a_i - a_j‖² / β)]

K.-L. Wu, M.-S. Yang, "A cluster validity index for fuzzy clustering", Pattern Recognition Letters
26, 2005. A label is a membership of 1; then Σ u_i² is the size of a cluster and a_i its mean.

With memberships it is no function of the moments of clusters, so it drives no fit. All that it
needs are sums over samples of u_i u_j and u_i u_j x, which also give what a merged cluster has:
there a sample has the membership u_i + u_j.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap.indices.shared.merging import check_merge

#: A squared distance is zero if it is no more than this part of the variance of the data, and a sum
#: of squared memberships if it is no more than this part of what it was.
NEGLIGIBLE = 1e-12


def pcaes_of(X: NDArray[np.float64], memberships: NDArray[np.float64]) -> float:
    """PCAES of all samples at once: ``memberships`` of shape (n_samples, n_clusters)."""
    squares = np.square(memberships)
    weight, mean = squares.sum(axis=0), X.mean(axis=0)
    centres = squares.T @ (X - mean) / weight[:, None]
    return _value(weight, centres, float(np.square(X - mean).sum()) / len(X))


def _value(weight: NDArray[np.float64], centres: NDArray[np.float64], variance: float) -> float:
    """PCAES from Σ u², the centres about the mean of all samples, and the variance of these."""
    k = len(weight)
    if k < 2:
        return -np.inf
    nearest = np.full(k, np.inf)
    for i in range(k):
        apart = np.square(np.delete(centres, i, axis=0) - centres[i]).sum(axis=1)
        nearest[i] = apart.min()
    nearest[nearest <= NEGLIGIBLE * variance] = 0.0
    beta = float(np.square(centres).sum()) / k
    if beta <= NEGLIGIBLE * variance:  # all centres are in one place: nothing is separated
        return float(weight.sum() / weight.max()) - k
    return float((weight / weight.max() - np.exp(-nearest / beta)).sum())


class IncrementalPCAES:
    """PCAES while samples are added, removed and moved, and clusters merged.

    Attributes
    ----------
    value : float
        The index; -inf for fewer than two clusters.
    n_samples : int
    labels : list
        Clusters that have samples.
    """

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._place: dict[Hashable, int] = {}
        self._most = np.zeros(0)  # the largest Σ u_i² that a cluster has had
        self._overlap = np.zeros((0, 0))  # Σ u_i u_j
        self._sum = np.zeros((0, 0, 0))  # Σ u_i u_j (x - origin)
        self._origin = np.zeros(0)
        self._total = np.zeros(0)  # Σ (x - origin)
        self._squares = 0.0  # Σ ‖x - origin‖²
        self.n_samples = 0

    @property
    def labels(self) -> list[Hashable]:
        return list(self._place)

    def add(self, x: ArrayLike, label: Hashable | Mapping[Any, float]) -> None:
        """A sample enters a cluster, or several: then ``label`` maps clusters to memberships."""
        row = self._row(x)
        if self.n_samples == 0:
            self._origin, self._total = row.copy(), np.zeros_like(row)
            self._sum = np.zeros((0, 0, len(row)))
        memberships = _memberships(label)
        for one in memberships:
            if one not in self._place:
                self._make_room(one)
        self._count(row, memberships, +1)

    def remove(self, x: ArrayLike, label: Hashable | Mapping[Any, float]) -> None:
        """A sample leaves: the same row and label, or memberships, that were added."""
        row, memberships = self._row(x), _memberships(label)
        absent = [one for one in memberships if one not in self._place]
        if absent:
            raise ValueError(f"No cluster {absent[0]!r} has samples.")
        self._count(row, memberships, -1)
        for one in memberships:
            i = self._place[one]
            if self._overlap[i, i] <= NEGLIGIBLE * self._most[i]:  # rounding is all that is left
                self._drop(one)
        if self.n_samples == 0:
            self._clear()

    def move(
        self,
        x: ArrayLike,
        source: Hashable | Mapping[Any, float],
        target: Hashable | Mapping[Any, float],
    ) -> None:
        """A sample changes its cluster, or its memberships."""
        row = self._row(x)
        self.add(row, target)
        self.remove(row, source)

    def merge(self, a: Hashable, b: Hashable) -> None:
        """Cluster b becomes a part of cluster a: memberships in the two add up."""
        check_merge(self._place, a, b)
        i, j = self._place[a], self._place[b]
        for table in (self._overlap, self._sum):
            table[i] += table[j]
            table[:, i] += table[:, j]
        self._most[i] = max(self._most[i], self._overlap[i, i])
        self._drop(b)

    @property
    def value(self) -> float:
        if len(self._place) < 2:
            return -np.inf
        mean = self._total / self.n_samples
        variance = self._squares / self.n_samples - float(mean @ mean)
        weight = self._overlap.diagonal()
        each = np.arange(len(weight))
        return _value(weight, self._sum[each, each] / weight[:, None] - mean, variance)

    def _row(self, x: ArrayLike) -> NDArray[np.float64]:
        row = np.asarray(x, float)
        if row.ndim != 1 or len(row) == 0 or (self.n_samples and len(row) != len(self._origin)):
            expected = len(self._origin) if self.n_samples else "some"
            raise ValueError(f"A sample has {expected} numbers, got an array of {row.shape}.")
        if not np.isfinite(row).all():
            raise ValueError("The sample has NaN or infinity.")
        return row

    def _count(self, row: NDArray[np.float64], memberships: Mapping[Any, float], sign: int) -> None:
        x = row - self._origin
        for a, u in memberships.items():
            i = self._place[a]
            for b, v in memberships.items():
                j = self._place[b]
                self._overlap[i, j] += sign * u * v
                self._sum[i, j] += sign * u * v * x
            self._most[i] = max(self._most[i], self._overlap[i, i])
        self._total += sign * x
        self._squares += sign * float(x @ x)
        self.n_samples += sign

    def _make_room(self, label: Hashable) -> None:
        k = len(self._place)
        self._place[label] = k
        self._most = np.append(self._most, 0.0)
        self._overlap = np.pad(self._overlap, (0, 1))
        self._sum = np.pad(self._sum, ((0, 1), (0, 1), (0, 0)))

    def _drop(self, label: Hashable) -> None:
        gone = self._place.pop(label)
        self._place = {one: i - (i > gone) for one, i in self._place.items()}
        self._most = np.delete(self._most, gone)
        self._overlap = np.delete(np.delete(self._overlap, gone, 0), gone, 1)
        self._sum = np.delete(np.delete(self._sum, gone, 0), gone, 1)


def _memberships(label: Hashable | Mapping[Any, float]) -> Mapping[Any, float]:
    if not isinstance(label, Mapping):
        return {label: 1.0}
    positive = {one: float(u) for one, u in label.items() if u != 0}
    if not positive or not all(0.0 < u < np.inf for u in positive.values()):
        raise ValueError(f"Memberships must be positive for some cluster, got {dict(label)}.")
    return positive
