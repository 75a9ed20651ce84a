"""A picture of the map field: how strongly categories are tied to clusters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.colours import numbers, style
from icvi_artmap._support.wording import counted
from icvi_artmap.plotting import drawing, samples

#: Each category is named if there are no more of them than this.
MOST_NAMED = 40
#: The darkest grey of the matrix, in parts of black.
DARKEST = 0.45


class MapFieldDisplay:
    """Weights between categories and clusters, the categories sorted by the cluster they predict.

    Made by :meth:`from_estimator`; :meth:`plot` draws it.

    Parameters
    ----------
    map_field : ndarray of shape (n_categories, k)
        The weights.
    category_labels : ndarray of shape (n_categories,)
        Cluster that every category predicts.
    clusters : ndarray of shape (k,), optional
        Labels of the clusters; by default 0 to k - 1.
    sizes : ndarray of shape (n_categories,), optional
        Number of training samples in every category; larger ones come first in their cluster.
    kind : str, default="cluster"
        What the columns are: "cluster" or "class".

    Attributes
    ----------
    order : ndarray of shape (n_categories,)
        Categories from top to bottom.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    im_ : matplotlib AxesImage
        The matrix.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, MapFieldDisplay
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=4, rho_a=0.8, random_state=0).fit(X)
    >>> display = MapFieldDisplay.from_estimator(model)
    >>> display.map_field.shape == (len(model.categories_), 4)
    True
    >>> display.plot().figure_.savefig("map_field.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        map_field: NDArray[np.float64],
        category_labels: NDArray[Any],
        *,
        clusters: NDArray[Any] | None = None,
        sizes: NDArray[np.int64] | None = None,
        kind: str = "cluster",
    ) -> None:
        self.map_field = map_field
        self.category_labels = category_labels
        self.clusters = np.arange(map_field.shape[1]) if clusters is None else clusters
        self.sizes = sizes
        self.kind = kind
        self._predicted = drawing.positions(category_labels, self.clusters)
        largest_first = np.zeros(len(map_field)) if sizes is None else -sizes
        self.order = np.lexsort((largest_first, self._predicted))

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Take the map field of an estimator.

        Parameters
        ----------
        estimator : fitted ICVIARTMAP or FuzzyARTMAP

        Returns
        -------
        MapFieldDisplay
        """
        model = samples.fitted(estimator)
        if not hasattr(model, "map_field_"):
            raise TypeError(
                f"{type(model).__name__} has no map field: each of its categories belongs to one "
                "cluster. Use ICVIARTMAP or FuzzyARTMAP, or draw boxes with CategoryDisplay."
            )
        return cls(
            model.map_field_,
            np.asarray(model.category_labels_),
            clusters=samples.clusters_of(model),
            sizes=np.bincount(model.sample_categories_, minlength=len(model.map_field_)),
            kind=samples.kind_of(model),
        )

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the matrix: a row for every category, a column for every cluster.

        The cell of the cluster that a category predicts has the colour of the cluster. The others
        are the darker, the stronger the category is still tied to them: a row that is dark
        throughout has learned little. Up to 40 categories are named by their number.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            For matplotlib's ``imshow``.

        Returns
        -------
        MapFieldDisplay
            This display, with ``ax_``, ``figure_`` and ``im_``.
        """
        from matplotlib.collections import PolyCollection

        n_categories, k = self.map_field.shape
        height = float(np.clip(1.6 + 0.18 * n_categories, 3.4, 7.6))
        width = 3.2 + float(np.clip(0.3 * k, 1.5, 9.0))
        ax = drawing.axes(ax, (width, height + drawing.names_height(self.clusters)))
        # The greys are light, so that the colours of the clusters stand out.
        chosen = {"cmap": _greys(), "aspect": "auto", "interpolation": "nearest", **options}
        self.im_ = ax.imshow(self.map_field[self.order], **chosen)
        corners, colours = [], []
        for column, cells in enumerate(np.bincount(self._predicted, minlength=k).cumsum()):
            top = np.count_nonzero(self._predicted < column)
            sides = ((column - 0.5, top - 0.5), (column + 0.5, cells - 0.5))
            (left, upper), (right, lower) = sides
            corners.append([(left, upper), (right, upper), (right, lower), (left, lower)])
            colours.append(style(numbers(self.clusters)[column]).colour)
        ax.add_collection(PolyCollection(corners, facecolors=colours, edgecolors="none"))
        drawing.set_cluster_names(ax, self.clusters, self.kind)
        _, row = drawing.cell_size(ax, k, n_categories)
        if n_categories > MOST_NAMED or row < drawing.LEAST_FONT:
            ax.set_yticks([])
        else:
            size = drawing.font_size(row)
            ax.set_yticks(range(n_categories), [str(c) for c in self.order], fontsize=size)
        ax.tick_params(axis="y", length=0)
        how = self.kind if self.sizes is None else f"{self.kind}, largest first"
        ax.set_ylabel(f"category (by {how})")
        drawing.set_title(ax, f"{counted(n_categories, 'category')}, {counted(k, self.kind)}")
        ax.figure.colorbar(self.im_, ax=ax, label="weight of the other ties")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _greys() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("light greys", ["white", str(1.0 - DARKEST)])
