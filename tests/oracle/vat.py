"""VAT (Bezdek and Hathaway, 2002) and the path distances of iVAT (Havens and Bezdek, 2012)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def squared_euclidean(X: Array) -> Array:
    """Squared distances of all rows, added feature by feature."""
    squared = np.zeros((len(X), len(X)))
    for feature in X.T:
        squared += np.subtract.outer(feature, feature) ** 2
    return squared


def vat(D: Array) -> list[int]:
    """The order: the row of the largest distance, then always the object nearest to the ordered."""
    first = int(D.argmax()) // len(D)
    order, left = [first], [i for i in range(len(D)) if i != first]
    while left:
        nearest = [min(D[i, j] for i in order) for j in left]
        order.append(left.pop(nearest.index(min(nearest))))
    return order


def path_distances(D: Array) -> Array:
    """The least longest step of all paths, by Floyd and Warshall."""
    path = D.copy()
    np.fill_diagonal(path, 0.0)
    for k in range(len(D)):
        path = np.minimum(path, np.maximum.outer(path[:, k], path[k]))
    return path


def block_means(D: Array, size: int) -> Array:
    """Means over size × size blocks of nearly equal sides."""
    bounds = [b * len(D) // size for b in range(size + 1)]
    parts = [slice(a, b) for a, b in pairwise(bounds)]
    return np.array([[D[rows, columns].mean() for columns in parts] for rows in parts])
