"""How surely a row belongs to the clusters, and whether it belongs to any of them.

The density of a cluster is the sum of its Gaussians (:mod:`icvi_artmap.samples.mixture`). From it
come two answers:

- *membership*: the part of every cluster in the density at a row;
- *outlier score*: how far the density at a row lies below what is usual in a cluster, measured by
  where noise begins in it. Of all clusters the one counts in which the row is least strange.

Where noise begins is learned from the samples of the cluster. If it is a Gaussian, minus the
logarithm of its density is distributed as χ²/2 with d degrees of freedom, but for a constant. Data
that are flatter, or described by a Gaussian that outliers have blown up, have the same distribution
on another scale. So the scale is taken from the denser half of the samples, where no noise is: from
the quarter and the middle of their densities, plus the standard error of that. Noise begins where
a Gaussian of that scale would have less than half a sample (W. Chauvenet, 1863).

Background noise around clusters of several Gaussians gets Gaussians of its own, as thin as the
noise is. These are left out of the density of the cluster, or the noise would be usual there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainccinv, gammaincinv

from icvi_artmap.samples.mixture import PRIOR, Mixture, log_densities, log_sum
from icvi_artmap.samples.moments import Moments, of_clusters
from icvi_artmap.samples.scaling import blocks, plain_data

#: A Gaussian is thin if its middle sample lies where only this part of a Gaussian cluster lies.
THIN = 0.05
#: Where noise begins, a cluster and the row itself would have so many samples further out.
FURTHER_OUT = 0.5
#: The scale's standard error is this part of it, divided by the root of the number of samples.
ERROR_OF_SCALE = 2.0
#: A scale below this part of that of a Gaussian is rounding: half of the samples are equal.
LEAST_SCALE = 1e-9
#: Values of samples of a cluster that are looked at, but at least and at most so many samples.
VALUES, FEWEST_SAMPLES, MOST_SAMPLES = 20_000, 100, 1000
#: Standardised values beyond this are as far away as can be: their squares must stay finite.
FARTHEST = 1e100
#: The score from which on a row is noise.
NOISE = 0.5

Clusters = NDArray[np.int64]


class Levels(NamedTuple):
    """What is usual in every cluster, learned from its samples."""

    thin: NDArray[np.bool_]  #: (K,) Gaussians that are not counted, as their samples are noise
    usual: NDArray[np.float64]  #: (k,) logarithm of the cluster's density at its middle sample
    fall: NDArray[np.float64]  #: (k,) by how much it falls from there to where noise begins


# --- answers -------------------------------------------------------------------------------------


def memberships(
    mixture: Mixture, clusters: Clusters, x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The part of every cluster in the density at every row, (n, k); ``clusters``: of Gaussians."""
    out = np.empty((len(x), int(clusters.max()) + 1))
    every = np.ones(len(clusters), np.bool_)
    for rows in blocks(len(x)):
        logarithms = _cluster_densities(mixture, clusters, every, x[rows])
        part = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
        out[rows] = part / part.sum(axis=1, keepdims=True)
    return out


def outlier_scores(
    mixture: Mixture, clusters: Clusters, levels: Levels, x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How strange every row is, in [0, 1]: above ``NOISE`` it is noise."""
    out = np.empty(len(x))
    for rows in blocks(len(x)):
        logarithms = _cluster_densities(mixture, clusters, ~levels.thin, x[rows])
        strange = ((levels.usual - logarithms) / levels.fall).min(axis=1).clip(0.0)
        out[rows] = strange / (1.0 + strange)
    return out


def _cluster_densities(
    mixture: Mixture, clusters: Clusters, counted: NDArray[np.bool_], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Logarithm of the density of every cluster's counted Gaussians at every row, (n, k)."""
    parts = log_densities(mixture, x.clip(-FARTHEST, FARTHEST))
    if np.array_equal(clusters, np.arange(len(clusters))):
        return parts
    k = int(clusters.max()) + 1
    return np.stack([log_sum(parts[:, counted & (clusters == i)]) for i in range(k)], axis=1)


# --- what is learned from samples ----------------------------------------------------------------


def looked_at(component: Clusters, clusters: Clusters, d: int) -> NDArray[np.int64]:
    """Some samples of every cluster, spread evenly over its Gaussians; all, if they are few.

    ``component``: the Gaussian of every sample, ``clusters``: the cluster of every Gaussian.
    """
    most = min(max(VALUES // d, FEWEST_SAMPLES), MOST_SAMPLES)
    held = np.bincount(component, minlength=len(clusters))
    n = np.bincount(clusters, held).astype(np.int64)
    if n.max() <= most:
        return np.arange(len(component))
    # Samples are ranked in their cluster, those of its first Gaussian before those of the next.
    by_cluster = np.argsort(clusters, kind="stable")
    begin = held[by_cluster].cumsum() - held[by_cluster]
    rank = np.empty(len(clusters), np.int64)  # of the next sample of every Gaussian
    rank[by_cluster] = begin - (n.cumsum() - n)[clusters[by_cluster]]
    chosen = []
    for rows in blocks(len(component)):
        gaussian = component[rows]
        here = np.bincount(gaussian, minlength=len(rank))
        # Numbers of few bits are sorted without comparisons.
        order = np.argsort(gaussian.astype(np.min_scalar_type(len(rank))), kind="stable")
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order)) + np.repeat(rank - (here.cumsum() - here), here)
        rank += here
        chosen.append(rows.start + np.flatnonzero(ranks * most % n[clusters[gaussian]] < most))
    return np.concatenate(chosen)


def with_scatter(
    m: Moments, x: NDArray[np.float64], cluster: Clusters
) -> tuple[Moments, NDArray[np.float64]]:
    """The moments with scatter, and how many samples it was made of.

    If they have none, that of some samples stands for all.
    """
    k, d = m.mean.shape
    n = m.n[:k].astype(np.float64)
    if m.scatter.shape[1] > 0:
        return m, n
    seen = of_clusters(plain_data(x, np.ones(d), np.zeros(d)), cluster, k, True)
    return m._replace(scatter=seen.scatter * (n / seen.n)[:, None, None]), seen.n.astype(float)


def learn_levels(
    mixture: Mixture,
    clusters: Clusters,
    known_from: NDArray[np.float64],
    n: NDArray[np.int64],
    x: NDArray[np.float64],
    component: Clusters,
) -> Levels:
    """What is usual in every cluster, for a sample that has not helped to make the Gaussians.

    ``known_from``: the number of samples that every Gaussian was made of, ``n``: the number that
    every cluster has, ``x``: some samples, ``component``: the Gaussian of each.
    """
    d, cluster = x.shape[1], clusters[component]
    thin, in_all = np.zeros(len(clusters), np.bool_), float(known_from.sum())
    usual, fall = np.empty(len(n)), np.empty(len(n))
    for i in range(len(n)):
        rows, own = np.flatnonzero(cluster == i), np.flatnonzero(clusters == i)
        parts = log_densities(Mixture._make(array[own] for array in mixture), x[rows])
        gaussian = np.searchsorted(own, component[rows])
        _leave_one_out(parts, mixture.height[own], known_from[own], gaussian, in_all, d)
        thin[own] = _thin_gaussians(parts, gaussian, d)
        density = np.sort(log_sum(parts[:, ~thin[own]]))
        usual[i] = _quantile(density, 0.5)
        scale = (_quantile(density, 0.75) - usual[i]) / (_fall(d, 0.5) - _fall(d, 0.25))
        if scale < LEAST_SCALE:
            scale = 1.0
        scale *= 1.0 + ERROR_OF_SCALE / np.sqrt(len(density))
        fall[i] = scale * (_fall_beyond(d, FURTHER_OUT / (n[i] + 1.0)) - _fall(d, 0.5))
    return Levels(thin, usual, fall)


def _leave_one_out(
    parts: NDArray[np.float64],
    height: NDArray[np.float64],
    known_from: NDArray[np.float64],
    gaussian: NDArray[np.int64],
    in_all: float,
    d: int,
) -> None:
    """Put in the density of every sample's Gaussian as it is without the sample.

    Without it S is less by n / (n - 1) u uᵀ, W by the same / ``in_all``, and the mean is further
    away, u n / (n - 1), for u = sample - mean. A Gaussian of one sample stays as it is.
    """
    every, n = np.arange(len(parts)), known_from[gaussian]
    several, more = n > 1.0, n / np.maximum(n - 1.0, 1.0)
    part = 2.0 * (height[gaussian] - parts[every, gaussian]) / (n + PRIOR)  # uᵀ (S + PRIOR W)⁻¹ u
    rest = np.maximum(1.0 - more * (1.0 + PRIOR / in_all) * part, np.finfo(np.float64).eps)
    square = (n - 1.0 + PRIOR) * more**2 * part / rest
    spread = np.log(rest) + d * np.log((n + PRIOR) / (n - 1.0 + PRIOR))
    without = height[gaussian] - 0.5 * (square + spread)
    parts[every[several], gaussian[several]] = without[several]


def _thin_gaussians(
    parts: NDArray[np.float64], gaussian: NDArray[np.int64], d: int
) -> NDArray[np.bool_]:
    """Those of a cluster whose middle sample has far less density than that of the cluster.

    ``gaussian``: which of them every sample belongs to.
    """
    thin = np.zeros(parts.shape[1], np.bool_)
    if len(thin) > 1:
        density, least = log_sum(parts), _fall_beyond(d, THIN) - _fall(d, 0.5)
        middle = np.median(density)
        for g in np.unique(gaussian):
            thin[g] = middle - np.median(density[gaussian == g]) > least
    return thin


def _quantile(ordered: NDArray[np.float64], part: float) -> float:
    return float(np.interp(part * (len(ordered) - 1), np.arange(len(ordered)), ordered))


def _fall(d: int, part: float) -> float:
    """By how much the density of a Gaussian has fallen where this part of it lies further in."""
    return float(gammaincinv(0.5 * d, part))


def _fall_beyond(d: int, part: float) -> float:
    """By how much the density of a Gaussian has fallen where this part of it lies further out."""
    return float(gammainccinv(0.5 * d, part))
