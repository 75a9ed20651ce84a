"""A cost that is a sum over clusters: it tells refinement which steps are worth trying.

What is kept is decided by the index itself. An index that is a sum over clusters brings a cost that
equals it; all others use the sum of squares within clusters, on which CH and WB depend alone while
the number of clusters stays.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class AdditiveCost(Protocol):
    """The cost of the partition that the state of an index describes; the less, the better."""

    def of_clusters(self) -> NDArray[np.float64]:
        """Every cluster's part of the cost."""

    def of_parts(self, n: NDArray[np.int64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The parts of clusters that some of the samples make up, along the last axis.

        ``n``: how many samples each has; ``costs``: what each costs where there are no others.
        """

    def of_merging(self) -> NDArray[np.float64]:
        """Rise when clusters i < j become one, (k, k); infinite elsewhere."""

    def of_adding(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rise when a row of x joins a cluster, (rows, k)."""

    def renew(self, clusters: NDArray[np.int64]) -> None:
        """The moments of these clusters have changed."""


class SumOfSquares:
    """The sum of squares within clusters."""

    def __init__(self, index: Any, state: Any) -> None:
        self.moments = state.moments

    def _now(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Sizes and means."""
        k = int(self.moments.size[0])
        return self.moments.n[:k], self.moments.mean[:k]

    def of_clusters(self) -> NDArray[np.float64]:
        return np.asarray(self.moments.compactness[: self.moments.size[0]])

    def of_parts(self, n: NDArray[np.int64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
        return costs

    def of_merging(self) -> NDArray[np.float64]:
        n, mean = self._now()
        loss = n[:, None] * (n / (n[:, None] + n)) * _squared_distances(mean, mean)
        loss[np.tril_indices(len(n))] = np.inf
        return loss

    def of_adding(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        n, mean = self._now()
        return n / (n + 1.0) * _squared_distances(x, mean)

    def renew(self, clusters: NDArray[np.int64]) -> None:
        """The moments are all that is looked at."""


def _squared_distances(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared distances of the rows of a to those of b."""
    apart = np.square(a).sum(1)[:, None] - 2.0 * (a @ b.T) + np.square(b).sum(1)
    return np.maximum(apart, 0.0)
