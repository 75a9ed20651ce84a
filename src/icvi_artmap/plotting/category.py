"""A picture of categories: boxes over two features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.wording import counted
from icvi_artmap.plotting import drawing, samples


class CategoryDisplay:
    """Boxes of a fitted network, in the colours of their clusters, over samples if given.

    Made by :meth:`from_estimator`; it keeps the numbers, and :meth:`plot` draws them.

    Parameters
    ----------
    boxes : ndarray of shape (n_categories, 2, 2)
        Lower and upper corners in two features.
    labels : ndarray of shape (n_categories,)
        Cluster or class of every box.
    points : ndarray of shape (n_drawn, 2) or None, default=None
    point_labels : ndarray of shape (n_drawn,) or None, default=None
        Cluster or class of every sample.
    names : pair of str, default=("feature 0", "feature 1")
    clusters : ndarray of shape (k,) or None, default=None
        Labels of all clusters; None: those that occur.
    n_samples : int or None, default=None
        Number of samples, those that are not drawn included; None: those drawn.
    kind : str, default="cluster"
        What the labels are: "cluster" or "class".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    PartitionDisplay : Samples, also in more than two dimensions.

    Examples
    --------
    >>> from icvi_artmap import CategoryDisplay, FuzzyART
    >>> X = [[0.0, 1.0], [1.0, 0.0], [9.0, 10.0], [10.0, 9.0]]
    >>> display = CategoryDisplay.from_estimator(FuzzyART(0.8).fit(X), X)
    >>> display.boxes.shape
    (2, 2, 2)
    >>> display.plot().figure_.savefig("categories.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        boxes: NDArray[np.float64],
        labels: NDArray[Any],
        points: NDArray[np.float64] | None = None,
        point_labels: NDArray[Any] | None = None,
        names: tuple[str, str] = ("feature 0", "feature 1"),
        *,
        clusters: NDArray[Any] | None = None,
        n_samples: int | None = None,
        kind: str = "cluster",
    ) -> None:
        self.boxes = boxes
        self.labels = labels
        self.points = points
        self.point_labels = point_labels
        self.names = names
        self.clusters = drawing.together(labels, point_labels) if clusters is None else clusters
        self.n_samples = len(points) if n_samples is None and points is not None else n_samples
        self.kind = kind

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        features: tuple[int, int] | None = None,
        max_points: int = samples.MOST_POINTS,
    ) -> Self:
        """Take the boxes of an estimator, and samples to draw under them.

        Parameters
        ----------
        estimator : fitted FuzzyART, DualVigilanceFuzzyART, FuzzyARTMAP or ICVIARTMAP
        X : array-like of shape (n_samples, n_features) or None, default=None
            Samples to draw. Training data get the clusters found for them (``labels_``), other
            data those that are predicted.
        features : pair of int, optional
            The two features to draw; of a box in more dimensions it is the shadow. By default the
            two in which the clusters of the boxes lie farthest apart, compared with their spread.
        max_points : int, default=10000
            Draw no more samples than this, chosen at random, but some of every cluster.

        Returns
        -------
        CategoryDisplay
        """
        from icvi_artmap._support.validation import check_integer

        check_integer("max_points", max_points, 1)
        model = samples.fitted(estimator, "categories_", "category_labels_")
        if features is None:
            pair = _telling_pair(model.categories_, np.asarray(model.category_labels_))
        else:
            pair = samples.checked_pair(features, model.n_features_in_, "features")
        names = samples.feature_names(X, model.n_features_in_, model)
        points, point_labels, n_samples = None, None, None
        if X is not None:
            table = samples.checked_table(X, model)
            labels = samples.labels_of(model, X, table)
            rows = samples.chosen_rows(labels, max_points)
            points, point_labels, n_samples = table[rows][:, pair], labels[rows], len(table)
        return cls(
            model.categories_[:, :, pair],
            np.asarray(model.category_labels_),
            points,
            point_labels,
            (names[pair[0]], names[pair[1]]),
            clusters=drawing.together(samples.clusters_of(model), point_labels),
            n_samples=n_samples,
            kind=samples.kind_of(model),
        )

    def plot(self, ax: Any = None, *, fill: float = 0.12) -> Self:
        """Draw the boxes over the samples.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure.
        fill : float, default=0.12
            How opaque the boxes are inside, 0 to 1.

        Returns
        -------
        CategoryDisplay
            This display, with ``ax_`` and ``figure_``.
        """
        ax = drawing.axes(ax, (6.4 + drawing.key_width(self.clusters), 5.0))
        title = counted(len(self.boxes), "category")
        if self.points is not None and self.n_samples is not None:
            if self.point_labels is None:
                ax.scatter(*self.points.T, s=8, color="black", linewidths=0)
            else:
                options = {"alpha": 0.6}
                drawing.draw_points(ax, self.points, self.point_labels, self.clusters, options)
            n, m = self.n_samples, len(self.points)
            shown = counted(n, "sample") if m == n else f"{m:,} of {n:,} samples drawn"
            title += f", {shown}"
        drawing.draw_boxes(ax, self.boxes, self.labels, self.clusters, fill)
        drawing.set_title(ax, title)
        for side, name in zip("xy", self.names, strict=True):
            ax.set(**{f"{side}label": drawing.written(name, drawing.AXIS_LETTERS)})
        occurring = np.isin(self.clusters, drawing.together(self.labels, self.point_labels))
        drawing.draw_key(ax, self.clusters[occurring], None, self._places()[occurring], self.kind)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _places(self) -> NDArray[np.float64]:
        """Medians of the centres of every cluster's boxes, or of its samples if it has no box."""
        middle = self.boxes.mean(axis=1)
        places = np.zeros((len(self.clusters), 2))
        for i, cluster in enumerate(self.clusters):
            own = middle[self.labels == cluster]
            if len(own) == 0 and self.points is not None and self.point_labels is not None:
                own = self.points[self.point_labels == cluster]
            if len(own) > 0:
                places[i] = np.median(own, axis=0)
        return places


def _telling_pair(boxes: NDArray[np.float64], labels: NDArray[Any]) -> list[int]:
    """The two features whose variance clusters account for most; of equals the first.

    ``boxes``: lower and upper corners, of the clusters ``labels``. A box is as wide as it is.
    """
    d = boxes.shape[2]
    if d < 2:
        return samples.checked_pair((0, 1), d, "features")
    size = np.abs(boxes).max(axis=(0, 1))
    boxes = boxes / np.where(size > 0.0, size, 1.0)
    middles, widths = boxes.mean(axis=1), boxes[:, 1] - boxes[:, 0]
    total = within = (np.square(widths) / 12.0).sum(axis=0)
    total = total + np.square(middles - middles.mean(axis=0)).sum(axis=0)
    for cluster in np.unique(labels):
        own = middles[labels == cluster]
        within = within + np.square(own - own.mean(axis=0)).sum(axis=0)
    told = np.where(total > 0.0, 1.0 - within / np.where(total > 0.0, total, 1.0), -1.0)
    pair: list[int] = np.sort(np.argsort(-told.round(12), kind="stable")[:2]).tolist()
    return pair
