"""A picture of a search: the index over the two vigilances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, number
from icvi_artmap.plotting import drawing

if TYPE_CHECKING:
    from icvi_artmap.estimators.vigilance_search.results import SearchResults


class SearchDisplay:
    """The index value that a search has found for every pair of vigilances, the best one marked.

    Made by :meth:`from_estimator` or :meth:`from_results`; :meth:`plot` draws it.

    Parameters
    ----------
    values : ndarray of shape (n_rho_ab, n_rho_a)
        Index values; NaN or infinite where there is none.
    rho_a, rho_ab : ndarray
        The vigilances, rising.
    best : pair of int
        Row and column of the best value.
    index_name : str
    direction : int
        +1 if greater values of the index are better, -1 if smaller ones are.
    n_clusters : int
        Number of clusters that the runs were asked for.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    im_ : matplotlib AxesImage
        The picture.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch, SearchDisplay
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> search = ICVIARTMAPSearch(ICVIARTMAP(4), rho_a=[0, 0.5], rho_ab=[0.5, 1], random_state=0)
    >>> SearchDisplay.from_estimator(search.fit(X)).values.shape
    (2, 2)
    """

    def __init__(
        self,
        values: NDArray[np.float64],
        rho_a: NDArray[np.float64],
        rho_ab: NDArray[np.float64],
        best: tuple[int, int],
        *,
        index_name: str,
        direction: int,
        n_clusters: int,
    ) -> None:
        self.values = values
        self.rho_a = rho_a
        self.rho_ab = rho_ab
        self.best = best
        self.index_name = index_name
        self.direction = direction
        self.n_clusters = n_clusters

    @classmethod
    def from_estimator(
        cls, search: Any, *, index: str | None = None, n_clusters: int | None = None
    ) -> Self:
        """Take the results of a fitted :class:`ICVIARTMAPSearch`; see :meth:`from_results`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(search, "results_")
        return cls.from_results(search.results_, index=index, n_clusters=n_clusters)

    @classmethod
    def from_results(
        cls, results: SearchResults, *, index: str | None = None, n_clusters: int | None = None
    ) -> Self:
        """Take results; of several starts the best value counts.

        Parameters
        ----------
        results : SearchResults
            ``results_`` of a search.
        index : str, optional
            By default the first index of the search.
        n_clusters : int, optional
            By default the number of clusters of the best run with this index.

        Returns
        -------
        SearchDisplay
        """
        best = results.best(index, n_clusters)
        name, k = str(results.index[best]), int(results.n_clusters[best])
        direction = results.directions[name]
        chosen = (results.index == name) & (results.n_clusters == k)
        rho_ab, row = np.unique(results.rho_ab[chosen], return_inverse=True)
        rho_a, column = np.unique(results.rho_a[chosen], return_inverse=True)
        score = np.full((len(rho_ab), len(rho_a)), -np.inf)
        np.maximum.at(score, (row, column), direction * results.index_value[chosen])
        at = (
            np.searchsorted(rho_ab, results.rho_ab[best]),
            np.searchsorted(rho_a, results.rho_a[best]),
        )
        return cls(
            direction * score,
            rho_a,
            rho_ab,
            (int(at[0]), int(at[1])),
            index_name=name,
            direction=direction,
            n_clusters=k,
        )

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the values; better is brighter, whichever way the index goes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            For matplotlib's ``imshow``.

        Returns
        -------
        SearchDisplay
            This display, with ``ax_``, ``figure_`` and ``im_``.
        """
        rows, columns = self.values.shape
        ax = drawing.axes(ax, (max(2.8 + 0.34 * columns, 4.4), max(1.8 + 0.34 * rows, 3.4)))
        cmap = "viridis" if self.direction > 0 else "viridis_r"
        chosen = {"cmap": cmap, "origin": "lower", "aspect": "auto", **options}
        # Infinite values have no colour.
        self.im_ = ax.imshow(np.ma.masked_invalid(self.values), **chosen)
        ax.set_facecolor("lightgrey")
        ax.plot(*self.best[::-1], "*", color="white", markeredgecolor="black", markersize=15)
        ax.set_xticks(range(columns), [number(v) for v in self.rho_a], rotation=90)
        ax.set_yticks(range(rows), [number(v) for v in self.rho_ab])
        ax.set_xlabel(r"$\rho_a$ (vigilance of the categories)")
        ax.set_ylabel(r"$\rho_{ab}$ (of the map field)")
        name = drawing.written(self.index_name, drawing.LEGEND_LETTERS)
        best = self.values[self.best]
        clusters = counted(self.n_clusters, "cluster")
        drawing.set_title(ax, f"{name}, {clusters}: best {number(best, 6)}")
        label = drawing.index_label(self.index_name, self.direction)
        ax.figure.colorbar(self.im_, ax=ax, label=label)
        self.ax_, self.figure_ = ax, ax.figure
        return self
