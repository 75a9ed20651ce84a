"""How good a partition is: index values beside other methods, and refits on halves of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.threads import one_thread
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.prediction.index_value import index_value
from icvi_artmap.samples.scaling import learn_scaling, standardised_table

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: The other methods and the refits get at most EVALUATED rows, or FEWER if the work, measured as
#: rows · k · d², is more than MUCH.
EVALUATED, FEWER, MUCH = 5_000, 2_000, 2e8
#: The work of all steps of a Gaussian mixture together, measured in the same way.
ALL_STEPS = 2e9
FEWEST_STEPS, MOST_STEPS = 10, 100
#: A full covariance needs this number of rows for every feature.
ROWS_PER_FEATURE = 3
KMEANS_STARTS = 10
#: Renumbering the clusters changes an index value by no more than this part of it.
ROUNDING = 1e-9
#: The number of refits on halves, and the number if the work is more than MUCH.
REFITS, FEW_REFITS = 5, 2

OURS, KMEANS, MIXTURE = "this partition", "k-means", "Gaussian mixture"


@dataclass(frozen=True)
class Comparison:
    """Index values of this partition and of others of the same rows into as many clusters.

    Attributes
    ----------
    indices : list of Index
        The built-in ones, and that of the model if it is another.
    whole : ndarray of shape (n_indices,)
        Values of this partition of all rows.
    rows : ndarray of int
        The rows that the rest is about.
    names : list of str
        This partition first.
    partitions : list of ndarray
        Labels of the rows, one array for every name.
    values : ndarray of shape (n_indices, n_names)
    best : ndarray of bool, of shape (n_indices, n_names)
        Which values are the best of their index, up to rounding.
    agreement : ndarray of shape (n_names, n_names)
        Adjusted Rand index of every two partitions.
    remarks : list of str
        What was unusual about the other methods.
    """

    indices: list[Index]
    whole: NDArray[np.float64]
    rows: NDArray[np.int64]
    names: list[str]
    partitions: list[NDArray[np.int64]]
    values: NDArray[np.float64]
    best: NDArray[np.bool_]
    agreement: NDArray[np.float64]
    remarks: list[str]


@dataclass(frozen=True)
class Stability:
    """How well the clusters are found again in random halves of the rows.

    Attributes
    ----------
    n_rows : int
        Number of rows that were halved.
    agreement : ndarray of shape (n_refits,)
        Adjusted Rand index of every refit and this partition, on the rows of the half.
    overlap : ndarray of shape (k,)
        Rows that a cluster and the most similar cluster of a refit have in common, as a part of
        those in either (Jaccard); the mean over the refits. NaN if no half has rows of the cluster.
    mixing : ndarray of shape (k, k)
        How often a row of one cluster and a row of another were put into the same cluster, as a
        part of all such pairs of rows; the mean over the refits. 0 on the diagonal.
    """

    n_rows: int
    agreement: NDArray[np.float64]
    overlap: NDArray[np.float64]
    mixing: NDArray[np.float64]


def evaluated_rows(
    rows: NDArray[np.int64], d: int, k: int, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """These rows, or a random part of them if all would take too long; in their order."""
    most = EVALUATED if min(len(rows), EVALUATED) * k * d * d <= MUCH else FEWER
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def compare(
    model: ICVIARTMAP,
    X: NDArray[np.floating],
    rows: NDArray[np.int64],
    rng: np.random.RandomState,
) -> Comparison:
    """Values of all indices for this partition, k-means and a Gaussian mixture.

    ``rows``: those to compare on, none of them noise.
    """
    indices = [*INDICES.values()]
    if model.fitted_.index not in indices:
        indices.insert(0, model.fitted_.index)
    part, labels, k = X[rows], model.sample_clusters_[rows], model.n_clusters_
    others, remarks = _others(standardised_table(part, learn_scaling(part)), k, rng)
    partitions = {OURS: labels, **others}
    steps = model.resolution_
    values = np.array(
        [[index_value(part, y, i, resolution=steps) for y in partitions.values()] for i in indices]
    )
    scores = np.array([[index.direction] for index in indices]) * values
    top = scores.max(axis=1, keepdims=True)
    placed = model.labels_ >= 0
    whole = (
        values[:, 0]
        if len(rows) == np.count_nonzero(placed)
        else np.array(
            [
                index_value(X[placed], model.labels_[placed], index, resolution=steps)
                for index in indices
            ]
        )
    )
    return Comparison(
        indices=indices,
        whole=whole,
        rows=rows,
        names=list(partitions),
        partitions=list(partitions.values()),
        values=values,
        best=(scores >= top) | np.isclose(scores, top, rtol=ROUNDING, atol=0.0),
        agreement=np.array(
            [[agreement(a, b) for a in partitions.values()] for b in partitions.values()]
        ),
        remarks=remarks,
    )


def agreement(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Adjusted Rand index: 1 for the same partition, about 0 for chance."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(a, b))


def _others(
    table: NDArray[np.float64], k: int, rng: np.random.RandomState
) -> tuple[dict[str, NDArray[np.int64]], list[str]]:
    """Partitions by other methods of the standardised rows."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    n, d = table.shape
    if n < k:
        return {}, [f"{KMEANS} and {MIXTURE}: not run, {n} rows are fewer than {k} clusters."]
    work = n * k * d * d
    full = work <= MUCH and n >= ROWS_PER_FEATURE * k * d
    steps = int(np.clip(ALL_STEPS / work, FEWEST_STEPS, MOST_STEPS)) if full else MOST_STEPS
    seed = int(rng.randint(np.iinfo(np.int32).max))
    mixture = GaussianMixture(
        k, covariance_type="full" if full else "diag", max_iter=steps, random_state=seed
    )
    remarks = []
    if not full:
        remarks.append(
            f"{MIXTURE}: with diagonal covariances, as there are too many columns for whole ones."
        )
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        kmeans = KMeans(k, n_init=KMEANS_STARTS, random_state=seed).fit_predict(table)
        found = {KMEANS: kmeans.astype(np.int64)}
        try:
            found[MIXTURE] = mixture.fit_predict(table).astype(np.int64)
        except ValueError:  # a covariance that cannot be inverted, in spite of the ridge
            return found, [f"{MIXTURE}: no fit, a covariance became singular."]
    if not mixture.converged_:
        remarks.append(f"{MIXTURE}: stopped after {steps} steps, before it had settled.")
    return found, remarks


def stability_of(
    model: ICVIARTMAP,
    X: NDArray[np.floating],
    random_state: int | np.random.RandomState | None,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Stability | None:
    """Fit again to random halves of the rows ``X``, which come prepared, or of a part of them.

    The same for the same number as ``random_state``, wherever it is asked. ``tell`` gets the number
    of refits that are done, and of all.
    """
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    placed = np.flatnonzero(model.labels_ >= 0)  # all but noise
    rows = evaluated_rows(placed, X.shape[1], model.n_clusters_, rng)
    return refit_on_halves(model, X, rows, rng, tell)


def refit_on_halves(
    model: ICVIARTMAP,
    X: NDArray[np.floating],
    rows: NDArray[np.int64],
    rng: np.random.RandomState,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Stability | None:
    """Fit again to random halves of the rows; None if a half has too few rows."""
    from sklearn.base import clone

    k, half = model.n_clusters_, len(rows) // 2
    if half <= k or k == 1:
        return None
    refits = REFITS if len(rows) * k * X.shape[1] ** 2 <= MUCH else FEW_REFITS
    agreements, overlaps = np.empty(refits), np.full((refits, k), np.nan)
    mixing = np.zeros((k, k))
    for r in range(refits):
        tell(r, refits)
        part = rows[np.sort(rng.permutation(len(rows))[:half])]
        other = clone(model).set_params(
            n_clusters=k,
            init="k-means++",
            n_init=1,
            evaluation="incremental",  # the same labels as "batch", sooner
            random_state=int(rng.randint(np.iinfo(np.int32).max)),
            verbose=0,
            missing="error",  # rows come prepared
            transform_columns="none",
            categories=None,
            n_axes=None,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit of the model has warned already
            other.fit(X[part])
        found = (other.labels_ >= 0) & (model.labels_[part] >= 0)  # all but noise
        ours, theirs = model.labels_[part][found], other.labels_[found]
        agreements[r] = agreement(ours, theirs)
        common = np.zeros((k, other.n_clusters_))
        np.add.at(common, (ours, theirs), 1.0)
        sizes = common.sum(axis=1)
        either = sizes[:, None] + common.sum(axis=0) - common
        present = sizes > 0
        overlaps[r, present] = (common[present] / either[present]).max(axis=1)
        part_of = common / np.maximum(sizes, 1.0)[:, None]
        mixing += part_of @ part_of.T / refits
    np.fill_diagonal(mixing, 0.0)
    counted = (~np.isnan(overlaps)).sum(axis=0)
    overlap = np.where(counted > 0, np.nansum(overlaps, axis=0) / np.maximum(counted, 1), np.nan)
    return Stability(len(rows), agreements, overlap, mixing)
