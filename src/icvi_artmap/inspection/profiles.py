"""What sets every cluster apart from all other samples, feature by feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.base import NEGLIGIBLE

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: A value that was scaled there and back is known up to this part of the range of the feature.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Profiles:
    """What sets every cluster apart from all other samples, feature by feature.

    Attributes
    ----------
    n : ndarray of shape (k,)
        Number of training samples, noise among them; those with gaps only if clusters were found
        on them too.
    mean, rest_mean : ndarray of shape (k, d)
        Mean of the cluster and of all other samples, in the units of the data. Where there are no
        others (one cluster), both are the mean of the cluster.
    effect : ndarray of shape (k, d)
        Their difference, divided by the deviation of the samples about these two means (Cohen's d).
        0 for a constant feature; infinite where the two groups differ and neither varies.
    variance_share : ndarray of shape (k, d)
        Part of the feature's variance that the difference accounts for, 0 to 1.
    order : ndarray of shape (k, d)
        Features of every cluster, those of largest ``abs(effect)`` first.
    """

    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    rest_mean: NDArray[np.float64]
    effect: NDArray[np.float64]
    variance_share: NDArray[np.float64]
    order: NDArray[np.int64]


def profiles(model: ICVIARTMAP) -> Profiles:
    """Compare every cluster with all other samples together.

    The features are standardised: their mean is 0 and their squares sum to N. That leaves
    mu_rest = -n / (N - n) mu_i; the squares about the two means are what n (N - n) / N
    (mu_i - mu_rest)² leaves of N. A constant feature is 0 throughout.
    """
    n = model.fitted_.moments.n
    mean, scaling = model.fitted_.profiled()
    total = float(n.sum())
    inside = n[:, None].astype(float)
    outside = total - inside
    rest = np.where(outside > 0.0, -inside / np.maximum(outside, 1.0) * mean, mean)
    difference = mean - rest
    share = inside * outside / total**2 * np.square(difference)
    share = np.where(share > NEGLIGIBLE, np.minimum(share, 1.0), 0.0)
    left = np.where(1.0 - share > NEGLIGIBLE, 1.0 - share, 0.0)
    deviation = np.sqrt(left * total / max(total - 2.0, 1.0))
    effect = np.zeros_like(mean)
    with np.errstate(divide="ignore"):  # infinite where nothing varies but the two means
        np.divide(difference, deviation, out=effect, where=share > 0.0)
    return Profiles(
        n=n.copy(),
        mean=_without_rounding(scaling.standardise_inverse(mean), scaling.span),
        rest_mean=_without_rounding(scaling.standardise_inverse(rest), scaling.span),
        effect=effect,
        variance_share=share,
        order=np.argsort(-np.abs(effect), axis=1, kind="stable"),
    )


def sizes(model: ICVIARTMAP) -> NDArray[np.int64]:
    """Samples of every cluster, those that are noise left out."""
    placed = model.labels_[model.labels_ >= 0]
    return np.bincount(placed, minlength=model.n_clusters_)


def n_shared(model: ICVIARTMAP) -> int:
    """The samples that shares are parts of: all in clusters, and noise."""
    return int(np.count_nonzero(model.labels_ >= -1))


def _without_rounding(
    values: NDArray[np.float64], span: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Replace what only rounding has kept from being 0: 1e-19 would read like a finding."""
    return np.where(np.abs(values) <= ROUNDING * span, 0.0, values)
