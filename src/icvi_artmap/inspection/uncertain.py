"""Samples between two clusters: the index hardly prefers one cluster to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.threads import one_thread
from icvi_artmap.estimators.fitted import groups_of
from icvi_artmap.indices.shared.ridge import ridge
from icvi_artmap.samples.moments import symmetric
from icvi_artmap.samples.scaling import blocks

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: The exact margin is computed for the samples nearest to a border, for at most NEAREST and at
#: least FEWEST_NEAREST of them; for half as many samples drawn at random, it shows what is usual.
NEAREST, FEWEST_NEAREST = 200, 50
#: Work of the exact margins, samples · k · d³, if covariances are to be factorised.
EXACT_WORK = 2e9
#: Work of the search for a border, samples · k · d². If there is more to do, only a part of the
#: samples is searched.
BORDER_WORK = 1e9
FEWEST_ROWS = 2_000


@dataclass(frozen=True)
class Uncertain:
    """Samples with the smallest margins, the smallest first.

    Attributes
    ----------
    rows : ndarray of int
    runner_up : ndarray of int
        The best cluster for the sample beside its own.
    margin : ndarray of float
        By how much the index gets worse if the sample goes there; negative if it gets better.
    usual : float
        Median of the margins of samples drawn at random.
    n_searched : int
        Number of samples among which those nearest to a border were searched for.
    n_exact : int
        Number of these for which the margin was computed.
    """

    rows: NDArray[np.int64]
    runner_up: NDArray[np.int64]
    margin: NDArray[np.float64]
    usual: float
    n_searched: int
    n_exact: int


def least_certain(
    model: ICVIARTMAP, X: NDArray[np.floating], most: int, rng: np.random.RandomState
) -> Uncertain | None:
    """Find the samples with the smallest margins; None if there is only one cluster."""
    d, k = X.shape[1], model.n_clusters_
    if k == 1:
        return None
    placed = np.flatnonzero(model.labels_ >= 0)  # all but noise
    if model.fitted_.trained is not None:  # others belong to no cluster's moments
        placed = placed[model.fitted_.trained[placed]]
    affordable = max(FEWEST_ROWS, int(BORDER_WORK / (k * d * d)))
    searched = placed
    if len(placed) > affordable:
        searched = np.sort(rng.permutation(placed)[:affordable])
    exact = NEAREST
    if model.fitted_.index.needs_scatter:
        exact = int(np.clip(EXACT_WORK / (k * d**3), FEWEST_NEAREST, NEAREST))
    with one_thread():
        lead = _lead(model, X, searched)
    near = searched[np.argsort(lead, kind="stable")[:exact]]
    random = rng.permutation(placed)[: exact // 2]
    runner_up, margin = _margins(model, X, near)
    usual = float(np.median(_margins(model, X, random)[1]))
    order = np.argsort(margin, kind="stable")[:most]
    return Uncertain(near[order], runner_up[order], margin[order], usual, len(searched), len(near))


def _margins(
    model: ICVIARTMAP, X: NDArray[np.floating], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best other cluster of every row, and how much worse the index is with the row there."""
    index, own = model.fitted_.index, model.sample_clusters_[rows]
    values = model.fitted_.index_values(X[rows], groups_of(model)[rows])
    scores, each = index.direction * values, np.arange(len(rows))
    present = scores[each, own]
    scores[each, own] = -np.inf
    other = scores.argmax(axis=1)
    with np.errstate(invalid="ignore"):  # equal infinities do not differ
        margin = np.where(present == scores[each, other], 0.0, present - scores[each, other])
    return other, margin


def _lead(
    model: ICVIARTMAP, X: NDArray[np.floating], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """A number that is small for a row between two clusters, and cheap to compute for all rows.

    It is the change by the move of the row if everything else stays: n / (n + 1) |x - mean|² there
    less n / (n - 1) |x - mean|² here, which decides for CH and WB; for NI, the logarithm of the
    Gaussian density of either cluster times its share of the samples.
    """
    groups, clusters, mine = model.fitted_.groups, model.fitted_.group_clusters, groups_of(model)
    n, mean = groups.n.astype(float), groups.mean
    gaussian = model.fitted_.index.needs_scatter
    if gaussian:
        whitening, offset = _gaussians(model)
    lead = np.empty(len(rows))
    for part in blocks(len(rows)):
        table, own = model.fitted_.standardised(X[rows[part]]), mine[rows[part]]
        cost = np.empty((len(table), len(n)))
        for i in range(len(n)):
            away = table - mean[i]
            if gaussian:
                away = away @ whitening[i].T
            cost[:, i] = np.einsum("ij,ij->i", away, away)
        here = np.arange(len(table)), own
        if gaussian:
            cost = 0.5 * cost + offset
            present = cost[here]
        else:
            present = cost[here] * (n / np.maximum(n - 1.0, 1.0))[own]
            cost *= n / (n + 1.0)
        cost[clusters[own][:, None] == clusters] = np.inf
        lead[part] = cost.min(axis=1) - present
    return lead


def _gaussians(model: ICVIARTMAP) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A matrix that makes each group round, and the constants of their log-densities."""
    moments = model.fitted_.groups
    n, d = moments.n.astype(float), moments.mean.shape[1]
    whitening, offset = np.empty((len(n), d, d)), np.empty(len(n))
    delta = ridge(d)
    for i in range(len(n)):
        covariance = symmetric(moments.scatter[i]) / max(n[i] - 1.0, 1.0) + delta * np.eye(d)
        values, vectors = np.linalg.eigh(covariance)
        values = np.maximum(values, delta)
        whitening[i] = vectors.T / np.sqrt(values)[:, None]
        offset[i] = 0.5 * np.log(values).sum() - np.log(n[i] / n.sum())
    return whitening, offset
