"""A picture of categories: boxes over two features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

#: Okabe and Ito's colours, told apart with any colour vision; the eighth, black, is for samples
#: whose cluster is not known.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
#: Beyond seven clusters colours come again, with another mark for samples and line for boxes.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":", "-.")
#: A box without extent, but for rounding, is drawn as a point of this size.
ROUNDING, POINT = 1e-9, 5.0


class CategoryDisplay:
    """Boxes of a fitted network, in the colours of their clusters, over samples if given.

    Made by :meth:`from_estimator`; it keeps the numbers, and :meth:`plot` draws them.

    Parameters
    ----------
    boxes : ndarray of shape (n_categories, 2, 2)
        Lower and upper corners in two features.
    labels : ndarray of shape (n_categories,)
        Cluster or class of every box.
    points : ndarray of shape (n_samples, 2) or None, default=None
    point_labels : ndarray of shape (n_samples,) or None, default=None
        Cluster or class of every sample.
    names : pair of str, default=("feature 0", "feature 1")

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> from icvi_artmap import CategoryDisplay, FuzzyART
    >>> X = [[0.0, 1.0], [1.0, 0.0], [9.0, 10.0], [10.0, 9.0]]
    >>> display = CategoryDisplay.from_estimator(FuzzyART(0.8).fit(X), X)
    >>> display.boxes.shape
    (2, 2, 2)
    """

    def __init__(
        self,
        boxes: NDArray[np.float64],
        labels: NDArray[Any],
        points: NDArray[np.float64] | None = None,
        point_labels: NDArray[Any] | None = None,
        names: tuple[str, str] = ("feature 0", "feature 1"),
    ) -> None:
        self.boxes = boxes
        self.labels = labels
        self.points = points
        self.point_labels = point_labels
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike | None = None, *, features: tuple[int, int] = (0, 1)
    ) -> Self:
        """Take the boxes of an estimator, and samples to draw under them.

        Parameters
        ----------
        estimator : fitted FuzzyART, DualVigilanceFuzzyART, FuzzyARTMAP or ICVIARTMAP
        X : array-like of shape (n_samples, n_features) or None, default=None
            Samples to draw, in the colours of what the estimator predicts for them.
        features : pair of int, default=(0, 1)
            The two features to draw; of a box in more dimensions it is the shadow.

        Returns
        -------
        display : CategoryDisplay
        """
        check_is_fitted(estimator, ["categories_", "category_labels_"])
        d = estimator.n_features_in_
        pair = [int(f) for f in features]
        if len(pair) != 2 or not all(0 <= f < d for f in pair):
            raise ValueError(
                f"features={features!r} must be two numbers of features, 0 to {d - 1}."
                + (" The data have one feature; a box needs two." if d == 1 else "")
            )
        known = getattr(estimator, "feature_names_in_", [f"feature {f}" for f in range(d)])
        points, point_labels = None, None
        if X is not None:
            point_labels = np.asarray(estimator.predict(X))
            points = check_array(X, dtype=np.float64)[:, pair]
        return cls(
            estimator.categories_[:, :, pair],
            np.asarray(estimator.category_labels_),
            points,
            point_labels,
            (str(known[pair[0]]), str(known[pair[1]])),
        )

    def plot(self, ax: Any = None, *, fill: float = 0.12) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where; None: a new figure.
        fill : float, default=0.12
            How opaque the boxes are inside, 0 to 1.

        Returns
        -------
        self : CategoryDisplay
        """
        import matplotlib.pyplot as plt
        from matplotlib.patches import Rectangle

        if ax is None:
            ax = plt.subplots()[1]
        every = [self.labels] if self.point_labels is None else [self.labels, self.point_labels]
        nothing = ROUNDING * np.ptp(self.boxes, axis=(0, 1))
        clusters = np.unique(np.concatenate(every))
        if self.points is not None and self.point_labels is None:
            ax.scatter(*self.points.T, s=8, color="black", linewidths=0)
        for i, cluster in enumerate(clusters):
            colour, turn = COLOURS[i % len(COLOURS)], i // len(COLOURS)
            if self.points is not None and self.point_labels is not None:
                mine = self.points[self.point_labels == cluster]
                marker = MARKERS[turn % len(MARKERS)]
                ax.scatter(*mine.T, s=8, color=colour, marker=marker, linewidths=0, alpha=0.6)
            line = LINES[turn % len(LINES)]
            for lower, upper in self.boxes[self.labels == cluster]:
                side = upper - lower
                if (side <= nothing).all():
                    ax.plot(*lower, "s", color=colour, markersize=POINT, fillstyle="none")
                    continue
                # Inside and outline apart: only the inside is to be seen through.
                ax.add_patch(Rectangle(lower, *side, facecolor=colour, alpha=fill, linewidth=0))
                outline = Rectangle(lower, *side, fill=False, edgecolor=colour, linewidth=1.2)
                outline.set_linestyle(line)
                ax.add_patch(outline)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.autoscale_view()
        self.ax_, self.figure_ = ax, ax.figure
        return self
