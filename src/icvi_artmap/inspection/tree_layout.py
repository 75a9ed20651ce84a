"""Where the joins of a tree lie in a picture of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: More components than this have no numbers below them.
MOST_NUMBERED = 40


class Branches(NamedTuple):
    """Where the joins lie in the picture."""

    leaves: NDArray[np.int64]  #: the components from left to right
    across: NDArray[np.float64]  #: (joins, 2) where the two groups of every join stand
    below: NDArray[np.float64]  #: (joins, 2) how high they are
    height: NDArray[np.float64]  #: (joins,) how high the join is

    def lines(self) -> NDArray[np.float64]:
        """Every join as a line of four corners, of shape (joins, 4, 2)."""
        (left, right), (low, lower), high = self.across.T, self.below.T, self.height
        x = np.stack([left, left, right, right], axis=1)
        return np.stack([x, np.stack([low, high, high, lower], axis=1)], axis=2)


def lay_out(
    first: NDArray[np.int64], second: NDArray[np.int64], prominence: NDArray[np.float64]
) -> Branches:
    """Lay a tree out: leaves in the order in which they come together, no join below its parts."""
    parts = [[i] for i in range(len(first) + 1)]
    for a, b in zip(first, second, strict=True):
        parts[a] += parts[b]
    leaves = np.array(parts[0], np.int64)
    place = np.empty(len(leaves))
    place[leaves] = np.arange(len(leaves))
    top = np.zeros(len(leaves))
    across, below, height = np.empty((len(first), 2)), np.empty((len(first), 2)), prominence.copy()
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        across[i], below[i] = (place[a], place[b]), (top[a], top[b])
        place[a] = across[i].mean()
        top[a] = height[i] = max(height[i], *below[i])
    return Branches(leaves, across, below, height)
