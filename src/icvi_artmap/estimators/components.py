"""What clusters of any shape were joined of: Gaussian components, and the tree of joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Components:
    """The Gaussian components of a fit, its attribute ``components_``.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Component of every training sample.
    clusters : ndarray of shape (n_components,)
        Cluster of every component.
    means : ndarray of shape (n_components, n_features)
        In the units of the data.
    covariances : ndarray of shape (n_components, n_features, n_features)
        As the density has them: with a few samples' worth of what all components have in common.
    weights : ndarray of shape (n_components,)
        Share of the samples.
    """

    labels: NDArray[np.int64]
    clusters: NDArray[np.int64]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Joins:
    """In what order components were joined to clusters, the attribute ``joins_`` of a fit.

    A group of components has the number of its first component. The last ``n_clusters - 1`` joins
    were not made: they would leave fewer clusters.

    Attributes
    ----------
    first, second : ndarray of shape (n_components - 1,)
        The groups of every join; ``second`` becomes a part of ``first``.
    prominence : ndarray of shape (n_components - 1,)
        How deep the valley between the two is: logarithm of the density at the lower peak less
        that at the highest saddle.
    evidence : ndarray of shape (n_components - 1,)
        Prominence × √n, with the n of the smaller group: chance makes values up to about 5.
    made : ndarray of shape (n_components - 1,)
        Whether the join was made.
    clusters : ndarray of shape (n_components,)
        Cluster of every component.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    prominence: NDArray[np.float64]
    evidence: NDArray[np.float64]
    made: NDArray[np.bool_]
    clusters: NDArray[np.int64]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for every join, in their order."""
        import pandas as pd

        return pd.DataFrame(
            {
                "first": self.first,
                "second": self.second,
                "prominence": self.prominence,
                "evidence": self.evidence,
                "made": self.made,
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree of joins by prominence, as :class:`JoinsDisplay` does.

        Returns the matplotlib Axes.
        """
        from icvi_artmap.plotting.joins import JoinsDisplay

        return JoinsDisplay.from_joins(self).plot(ax).ax_
