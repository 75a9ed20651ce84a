"""The density that clusters describe: a weighted sum of Gaussians, from the samples themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def covariances(X: Array, labels: NDArray[np.int64], k: int) -> list[Array]:
    """(S_i + 3 W) / (n_i + 3), where W is the pooled covariance within clusters."""
    d = X.shape[1]
    scatters, counts = [], []
    for i in range(k):
        own = X[labels == i]
        u = own - own.mean(axis=0)
        scatters.append(u.T @ u)
        counts.append(len(own))
    within = sum(scatters) / sum(counts)
    within = within + max(1e-9 * np.trace(within) / d, 1e-12) * np.eye(d)
    return [(s + 3.0 * within) / (n + 3.0) for s, n in zip(scatters, counts, strict=True)]


def log_densities(X: Array, labels: NDArray[np.int64], k: int, points: Array) -> Array:
    """ln(n_i / N) + ln Normal(point; mean_i, covariance_i), one column for every cluster."""
    out = np.empty((len(points), k))
    for i, covariance in enumerate(covariances(X, labels, k)):
        mean, weight = X[labels == i].mean(axis=0), np.mean(labels == i)
        _, determinant = np.linalg.slogdet(2.0 * np.pi * covariance)
        for s, point in enumerate(points):
            u = point - mean
            out[s, i] = np.log(weight) - 0.5 * (determinant + u @ np.linalg.solve(covariance, u))
    return out


def log_density(X: Array, labels: NDArray[np.int64], k: int, points: Array) -> Array:
    """Logarithm of the sum of all of them."""
    return np.logaddexp.reduce(log_densities(X, labels, k, points), axis=1)
