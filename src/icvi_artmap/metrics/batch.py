"""Cluster validity indices for any clustering, with scikit-learn's signature ``(X, labels)``.

Unlike :func:`icvi_artmap.index_value`, which standardises the data as a fit does, these functions
take the data as they are, as scikit-learn's do. A single cluster has the worst value, -inf where
greater is better (↑) and inf where smaller is better (↓); NaN in the data is refused. What each
index says, and where the formulas break, is in docs/indices.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap.estimators.art_family import FuzzyARTMAP
from icvi_artmap.indices.conn import conn_index_of
from icvi_artmap.indices.pcaes import pcaes_of
from icvi_artmap.indices.registry import get_index
from icvi_artmap.prediction.by_category import best_choices
from icvi_artmap.prediction.index_value import checked_partition, partition_score
from icvi_artmap.samples.scaling import blocks, plain_data


def _value(name: str, X: ArrayLike, labels: ArrayLike) -> float:
    """A built-in index of the data as they are."""
    table, clusters = checked_partition(X, labels)
    index, d = get_index(name), table.shape[1]
    rows = np.ascontiguousarray(table, np.float64)
    data = plain_data(rows, np.ones(d), np.zeros(d))
    return index.value(partition_score(data, clusters, index))


def ch_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Calinski-Harabasz ↑: spread of the centres against spread within clusters.

    SSB / SSW × (N - k) / (k - 1), as scikit-learn's ``calinski_harabasz_score``; inf where SSW = 0.
    T. Calinski, J. Harabasz, "A dendrite method for cluster analysis", Comm. Statistics 3, 1974.

    Examples
    --------
    >>> from icvi_artmap.metrics import ch_index
    >>> round(ch_index([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 6)
    200.0
    """
    return _value("CH", X, labels)


def wb_index(X: ArrayLike, labels: ArrayLike) -> float:
    """WB ↓: spread within clusters against spread of the centres, times their number.

    k SSW / SSB. Q. Zhao, P. Franti, "WB-index: a sum-of-squares based index for cluster validity",
    Data & Knowledge Engineering 92, 2014.
    """
    return _value("WB", X, labels)


def xb_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Xie-Beni ↓: spread within clusters against the two nearest centres.

    SSW / (N min ‖μ_i - μ_j‖²). X. L. Xie, G. Beni, "A validity measure for fuzzy clustering", IEEE
    TPAMI 13, 1991.
    """
    return _value("XB", X, labels)


def db_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Davies-Bouldin ↓: every cluster against its worst neighbour.

    (1/k) Σ_i max_{j≠i} (CP_i/n_i + CP_j/n_j) / ‖μ_i - μ_j‖², with squared distances, unlike
    scikit-learn's ``davies_bouldin_score``. D. L. Davies, D. W. Bouldin, "A cluster separation
    measure", IEEE TPAMI 1, 1979.
    """
    return _value("DB", X, labels)


def pbm_index(X: ArrayLike, labels: ArrayLike) -> float:
    """PBM ↑: the two farthest centres against spread within clusters.

    (TSS / SSW × max ‖μ_i - μ_j‖² / k)². M. K. Pakhira, S. Bandyopadhyay, U. Maulik, "Validity index
    for crisp and fuzzy clusters", Pattern Recognition 37, 2004.
    """
    return _value("PBM", X, labels)


def ni_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Negentropy increment ↓: are clusters Gaussian, of whatever shape.

    ½ Σ p_i ln|Σ_i| - Σ p_i ln p_i - ½ ln|Σ_data|, every covariance with a ridge of 10^(-12/d),
    which is meant for standardised data. L. F. Lago-Fernandez, F. Corbacho, "Normality-based
    validation for crisp clustering", Pattern Recognition 43, 2010.
    """
    return _value("NI", X, labels)


def sil_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Centroid-based silhouette ↑, in [-1, 1]: own samples of a centre against its neighbours'.

    (1/k) Σ_i (b_i - a_i) / max(a_i, b_i) with a_i = CP_i/n_i and b_i = min_{j≠i} (CP_j/n_j +
    ‖μ_i - μ_j‖²). It is not scikit-learn's ``silhouette_score``, which needs the distances of all
    samples. M. Rawashdeh, A. Ralescu, "Center-wise intra-inter silhouettes", SUM 2012.
    """
    return _value("SIL", X, labels)


def ps_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Partition separation ↑: clusters of equal size whose centres are apart.

    Σ_i n_i / max n - exp(-min_{j≠i} ‖μ_i - μ_j‖² / β), β the mean squared distance of the centres
    to their mean. M.-S. Yang, K.-L. Wu, "A new validity index for fuzzy clustering", FUZZ-IEEE,
    2001; for hard partitions E. Lughofer, Pattern Recognition 41, 2008.
    """
    return _value("PS", X, labels)


def gd43_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Generalised Dunn index 43 ↑: the two nearest centres against the widest cluster.

    min ‖μ_i - μ_j‖² / (2 max CP_i/n_i), with squared distances. J. C. Bezdek, N. R. Pal, "Some new
    indexes of cluster validity", IEEE Trans. SMC B 28, 1998.
    """
    return _value("GD43", X, labels)


def gd53_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Generalised Dunn index 53 ↑: samples and other centres against the widest cluster.

    min [(CP_i + CP_j) / (n_i + n_j) + ‖μ_i - μ_j‖²] / (2 max CP_i/n_i), with squared distances.
    J. C. Bezdek, N. R. Pal, "Some new indexes of cluster validity", IEEE Trans. SMC B 28, 1998.
    """
    return _value("GD53", X, labels)


def rcip_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Representative cross information potential ↓, its natural logarithm: overlap of Gaussians.

    ln Σ_{i<j} ∫ p_i p_j, p Gaussians with the means and covariances of the clusters, these with a
    ridge of 10^(-12/d), which is meant for standardised data. D. Araujo, A. D. Neto, A. Martins,
    "Representative cross information potential clustering", Pattern Recognition Letters 34, 2013.
    """
    return _value("rCIP", X, labels)


def rh_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Representative cross-entropy ↑: how little Gaussian clusters overlap, summed over pairs.

    -Σ_{i<j} ln ∫ p_i p_j, with the Gaussians of :func:`rcip_index`. D. Araujo, A. D. Neto, A.
    Martins, "Information-theoretic clustering: a representative and evolutionary approach", Expert
    Systems with Applications 40, 2013.
    """
    return _value("rH", X, labels)


def pcaes_index(X: ArrayLike, labels: ArrayLike) -> float:
    """Partition coefficient and exponential separation ↑, of hard or fuzzy clusters.

    Σ_i Σ u_i² / max_j Σ u_j² - exp(-min_{j≠i} ‖a_i - a_j‖² / β), a_i the centres and β their mean
    squared distance to the mean of the data. K.-L. Wu, M.-S. Yang, "A cluster validity index for
    fuzzy clustering", Pattern Recognition Letters 26, 2005.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,) or (n_samples, n_clusters)
        The cluster of every sample, or its memberships in the clusters.
    """
    given = np.asarray(labels)
    if given.ndim != 2:
        table, clusters = checked_partition(X, labels)
        present, codes = np.unique(clusters, return_inverse=True)
        memberships = np.eye(len(present))[codes]
    else:
        table, _ = checked_partition(X, np.zeros(len(given)))
        memberships = given.astype(float)
        if not (memberships >= 0.0).all() or not np.isfinite(memberships).all():
            raise ValueError("memberships must be finite and not negative.")
        memberships = memberships[:, memberships.any(axis=0)]
    return pcaes_of(table.astype(np.float64), memberships)


def conn_index(X: ArrayLike, labels: ArrayLike, *, network: Any = None, rho: float = 0.9) -> float:
    """conn_index ↑, in [0, 1]: do categories hang together within clusters, and not between them.

    Of every sample the best matching category of its own cluster and the best of all others are
    counted. K. Tasdemir, E. Merenyi, "A validity index for prototype-based clustering of data sets
    with complex cluster structures", IEEE Trans. SMC B 41, 2011.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
    network : ICVIARTMAP, FuzzyART, FuzzyARTMAP or None, default=None
        A fitted network whose categories are looked at; ``category_labels_`` are their clusters.
        By default a fuzzy ARTMAP learns the labels.
    rho : float, default=0.9
        The vigilance of that: the greater, the more categories.
    """
    table, clusters = checked_partition(X, labels)
    if len(np.unique(clusters)) < 2:
        return -np.inf
    if network is None:
        network = FuzzyARTMAP(rho).fit(table, clusters)
    present, codes = np.unique(network.category_labels_, return_inverse=True)
    own = np.searchsorted(present, clusters)
    if not np.isin(clusters, present).all():
        raise ValueError("the network has no category for some of the labels.")
    first, second = _two_best(table, network, codes, own)
    return conn_index_of(first, second, codes)


def _two_best(
    X: NDArray[np.floating], network: Any, codes: NDArray[np.int64], own: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The best category of every row's own cluster, and the best of all others."""
    fitted, each = network.fitted_, np.arange(len(codes))
    first, second = np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    for part in blocks(len(X)):
        choice = best_choices(X[part], fitted.scaling, fitted.boxes, network.alpha, each, len(each))
        rows = np.arange(len(choice))
        first[part] = np.where(codes == own[part, None], choice, -np.inf).argmax(axis=1)
        choice[rows, first[part]] = -np.inf
        second[part] = choice.argmax(axis=1)
    return first, second
