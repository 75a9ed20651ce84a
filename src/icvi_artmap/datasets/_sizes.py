"""What both generators share: the checks of their arguments, and the sizes of the clusters."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# From this number of clusters on, both families draw small clusters.
MANY_CLUSTERS = 20


def check_count(value: Any, name: str) -> int:
    """Return `value` as a Python int if it is a whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}.")
    return int(value)


def cluster_sizes(
    n_samples: int | ArrayLike | None,
    n_clusters: int,
    smallest: int,
    draw: Callable[[], int],
) -> NDArray[np.int64]:
    """Turn `n_samples` into one size per cluster.

    None: each size is drawn. An integer: the total, shared out in proportion to drawn sizes.
    An array: the sizes themselves. No cluster gets fewer than `smallest` samples.
    """
    if n_samples is None:
        return np.array([draw() for _ in range(n_clusters)], dtype=np.int64)

    if np.ndim(n_samples) == 0:
        total = check_count(n_samples, "n_samples")
        spare = total - smallest * n_clusters
        if spare < 0:
            raise ValueError(
                f"n_samples={total} is too few for {n_clusters} clusters of at least {smallest} "
                f"samples each: ask for at least {smallest * n_clusters}."
            )
        drawn = np.array([draw() for _ in range(n_clusters)], dtype=np.float64)
        # Rounding the running total shares out exactly `spare` samples.
        bounds = np.rint(spare * np.cumsum(drawn) / drawn.sum()).astype(np.int64)
        return smallest + np.diff(bounds, prepend=0)

    sizes = np.asarray(n_samples)
    if sizes.shape != (n_clusters,):
        raise ValueError(
            f"n_samples as an array must hold one size per cluster, shape ({n_clusters},), "
            f"got shape {sizes.shape}."
        )
    if not np.issubdtype(sizes.dtype, np.integer):
        raise TypeError(f"n_samples as an array must hold integers, got dtype {sizes.dtype}.")
    if sizes.min() < smallest:
        raise ValueError(f"Each cluster needs at least {smallest} samples, got {sizes.min()}.")
    return sizes.astype(np.int64)
