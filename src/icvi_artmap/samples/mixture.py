"""The density that clusters describe: a mixture with a Gaussian for each of them.

A cluster of few samples knows its covariance badly. So each gets a few samples' worth of the
covariance that the clusters have in common, (S_i + PRIOR W) / (n_i + PRIOR), where W is the pooled
covariance within clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from icvi_artmap._compile.jit import jit
from icvi_artmap._compile.simd import WIDTH, add_rows
from icvi_artmap._support.threads import one_thread
from icvi_artmap.samples.moments import Moments, symmetric
from icvi_artmap.samples.scaling import blocks

#: Samples' worth of the pooled covariance that every cluster gets.
PRIOR = 3.0
#: Rows whose densities are computed together.
ROWS = 2 * WIDTH
#: No direction has less than this part of the mean variance within clusters, or this variance.
FLATTEST, LEAST_VARIANCE = 1e-9, 1e-12


class Mixture(NamedTuple):
    """Gaussians with their weights; density = exp(height - |root (x - mean)|² / 2), summed."""

    mean: NDArray[np.float64]  #: (K, d)
    root: NDArray[np.float64]  #: (K, d, d) inverse of the lower factor of the covariance
    height: NDArray[np.float64]  #: (K,) logarithm of weight and density at the mean

    @property
    def covariance(self) -> NDArray[np.float64]:
        """(K, d, d)"""
        lower = np.linalg.inv(self.root)
        return lower @ lower.transpose(0, 2, 1)


def make_mixture(m: Moments) -> Mixture:
    """The mixture of clusters with these moments, whose scatter must be known."""
    k, d = int(m.size[0]), m.mean.shape[1]
    n = m.n[:k].astype(np.float64)
    scatter = symmetric(m.scatter[:k])
    pooled = scatter.sum(axis=0) / n.sum()
    least = max(FLATTEST * float(np.trace(pooled)) / d, LEAST_VARIANCE)
    pooled[np.diag_indices(d)] += least
    with one_thread():
        lower = np.linalg.cholesky((scatter + PRIOR * pooled) / (n + PRIOR)[:, None, None])
        root = np.stack([np.tril(dtrtri(one, lower=1)[0]) for one in lower])
    spread = np.log(np.einsum("kii->ki", lower)).sum(axis=1)
    height = np.log(n / n.sum()) - spread - 0.5 * d * np.log(2.0 * np.pi)
    return Mixture(m.mean[:k].copy(), np.ascontiguousarray(root), height)


def log_densities(mixture: Mixture, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of weight times density of every Gaussian at every row of x: (n, K)."""
    out = np.empty((len(x), len(mixture.height)))
    u, square, component = np.zeros((x.shape[1], ROWS)), np.empty(ROWS), np.empty(ROWS)
    evaluate(mixture, np.ascontiguousarray(x), u, square, component, out)
    return out


def log_density(mixture: Mixture, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the density of the whole mixture at every row of x."""
    out = np.empty(len(x))
    for rows in blocks(len(x)):
        parts = log_densities(mixture, x[rows])
        out[rows] = log_sum(parts)
    return out


def log_sum(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the sum of a row's exponentials; -inf for a row of -inf."""
    largest = logarithms.max(axis=1, initial=-np.inf)
    around = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(logarithms - around[:, None]).sum(axis=1)) + around


@jit
def evaluate(mixture, x, u, square, component, out):
    """out[s, i] = height of Gaussian i less half the squared distance of row s from it.

    ``u``, (d, ROWS), and ``square`` and ``component``, (ROWS,), are scratch: some rows are looked
    at together, as a sum of their own would be waited for term by term.
    """
    n, d = x.shape
    for start in range(0, n, ROWS):
        some = min(ROWS, n - start)
        for i in range(mixture.height.shape[0]):
            for f in range(d):
                for s in range(some):
                    u[f, s] = x[start + s, f] - mixture.mean[i, f]
            square[:] = 0.0
            for row in range(d):
                component[:] = 0.0
                at = (i * d + row) * d
                add_rows(component, 0, 0, u, 0, ROWS, mixture.root, at, 1, row + 1, ROWS)
                for s in range(ROWS):
                    square[s] += component[s] * component[s]
            for s in range(some):
                out[start + s, i] = mixture.height[i] - 0.5 * square[s]
