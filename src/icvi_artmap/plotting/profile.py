"""A picture of what sets clusters apart: their means, feature by feature."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.colours import ink
from icvi_artmap._support.wording import counted, fixed, short_percent
from icvi_artmap.plotting import drawing, samples

#: The largest number of features drawn by default.
MOST_FEATURES = 30
#: Means of more deviations than this get the same colour; their values are written.
STRONGEST = 3.0
#: The size of a cell, in inches, and the least size of a cell with a value in it, in points.
CELL, LEAST_CELL = (0.36, 0.26), (19.0, 11.0)
#: Largest picture, in inches.
LARGEST = (18.0, 12.0)


class ProfileDisplay:
    """Means of the clusters, feature by feature, in deviations from the mean of all samples.

    Made by :meth:`from_estimator` or :meth:`from_labels`; :meth:`plot` draws it.

    Parameters
    ----------
    means : ndarray of shape (k, n_features)
        Means of the clusters in standardised features.
    sizes : ndarray of shape (k,)
        Number of samples of every cluster.
    clusters : ndarray of shape (k,), optional
        Labels of the clusters; by default 0 to k - 1.
    feature_names : list of str, optional
        By default "feature 0", "feature 1", ...
    kind : str, default="cluster"
        What the columns are: "cluster" or "class".

    Attributes
    ----------
    variance_share : ndarray of shape (n_features,)
        Part of each feature's variance that lies between the clusters, 0 to 1.
    order : ndarray of shape (n_features,)
        Features, those of the largest share first.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    im_ : matplotlib AxesImage
        The matrix.

    See Also
    --------
    explain : The same in numbers and words, and each cluster against all others.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, ProfileDisplay
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 10, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=4, random_state=0).fit(X)
    >>> display = ProfileDisplay.from_estimator(model)
    >>> display.means.shape
    (4, 10)
    >>> display.plot().figure_.savefig("profiles.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        means: NDArray[np.float64],
        sizes: NDArray[np.int64],
        *,
        clusters: NDArray[Any] | None = None,
        feature_names: list[str] | None = None,
        kind: str = "cluster",
    ) -> None:
        k, d = means.shape
        self.means = means
        self.sizes = sizes
        self.clusters = np.arange(k) if clusters is None else clusters
        self.feature_names = feature_names or samples.feature_names(None, d)
        self.kind = kind
        # The features are standardised: their variance is 1, or 0 if they are constant.
        self.variance_share = sizes @ np.square(means) / max(sizes.sum(), 1)
        self.order = np.argsort(-self.variance_share, kind="stable")

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Take the clusters of an :class:`ICVIARTMAP`; the training data are not needed.

        Parameters
        ----------
        estimator : fitted ICVIARTMAP
            For other estimators use :meth:`from_labels`.

        Returns
        -------
        ProfileDisplay
        """
        model = samples.fitted(estimator)
        fitted: Any = getattr(model, "fitted_", None)
        if getattr(fitted, "moments", None) is None:
            raise TypeError(
                f"{type(model).__name__} keeps no means of its clusters. Use "
                "ProfileDisplay.from_labels(X, model.predict(X))."
            )
        names = samples.feature_names(None, model.n_features_in_, model)
        return cls(
            fitted.profiled()[0].copy(),
            fitted.moments.n.astype(np.int64),
            clusters=samples.clusters_of(model),
            feature_names=model.fitted_.profiled_names(names),
        )

    @classmethod
    def from_labels(cls, X: ArrayLike, labels: ArrayLike) -> Self:
        """Compute the means of a given partition.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        labels : array-like of shape (n_samples,)
            Their clusters. -1 is no cluster, but such samples count for the mean of all.

        Returns
        -------
        ProfileDisplay
        """
        table = samples.checked_table(X)
        every = samples.checked_labels(labels, len(table))
        clusters, position, sizes = np.unique(every, return_inverse=True, return_counts=True)
        deviation = table.std(axis=0)
        centred = samples.means(table, position, len(clusters)) - table.mean(axis=0)
        return cls(
            np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0.0),
            sizes,
            clusters=clusters,
            feature_names=samples.feature_names(X, table.shape[1]),
        )

    def plot(self, ax: Any = None, *, max_features: int = MOST_FEATURES) -> Self:
        """Draw the means: a row for every feature, a column for every cluster.

        Features that differ most between clusters come first. The title says how many are left
        out, and how much of their variance lies between clusters at most.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        max_features : int, default=30
            Draw no more features than this.

        Returns
        -------
        ProfileDisplay
            This display, with ``ax_``, ``figure_`` and ``im_``.
        """
        from icvi_artmap._support.validation import check_integer

        check_integer("max_features", max_features, 1)
        k, d = self.means.shape
        shown = self.order[:max_features]
        width = min(4.6 + CELL[0] * k, LARGEST[0])
        height = float(np.clip(1.8 + CELL[1] * len(shown), 2.8, LARGEST[1]))
        ax = drawing.axes(ax, (width, height + drawing.names_height(self.clusters)))
        values = self.means[:, shown].T
        reach = float(np.abs(values).max(initial=0.0))
        limit = min(reach, STRONGEST) or 1.0
        self.im_ = ax.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
        drawing.set_cluster_names(ax, self.clusters, self.kind)
        features = [drawing.written(self.feature_names[f], drawing.LEGEND_LETTERS) for f in shown]
        _, row = drawing.cell_size(ax, k, len(features))
        ax.set_yticks(range(len(features)), features, fontsize=drawing.font_size(row))
        ax.tick_params(axis="y", length=0)
        ax.spines[:].set_visible(False)
        text = counted(d, "feature")
        if len(shown) < d:
            rest = self.variance_share[self.order[max_features]]
            text = (
                f"{len(shown)} of {text} shown\n"
                f"others: at most {short_percent(rest)} of the variance between clusters"
            )
        drawing.set_title(ax, text)
        ax.figure.colorbar(
            self.im_,
            ax=ax,
            label="standardised mean",
            extend="both" if reach > limit else "neither",
        )
        self._write_values(ax, values)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write_values(self, ax: Any, values: NDArray[np.float64]) -> None:
        """Write the values into the cells if these are large enough."""
        rows, columns = values.shape
        width, height = drawing.cell_size(ax, columns, rows)
        if width < LEAST_CELL[0] or height < LEAST_CELL[1]:
            return
        colours = ink(self.im_.cmap(self.im_.norm(values)))
        for (row, column), value in np.ndenumerate(values):
            text = fixed(value, 1)
            ax.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                fontsize=7,
                color=str(colours[row, column]),
            )
