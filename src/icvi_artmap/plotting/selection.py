"""A picture of the choice of the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.colours import COLOURS
from icvi_artmap._support.wording import number
from icvi_artmap.plotting import drawing, samples

if TYPE_CHECKING:
    from icvi_artmap.training.number_of_clusters import Selection


class SelectionDisplay:
    """The criterion over the number of clusters, with the number chosen and the runner-up.

    Made by :meth:`from_estimator` or :meth:`from_selection`; :meth:`plot` draws it.

    Parameters
    ----------
    k : ndarray
        The numbers tried, rising.
    criterion : ndarray
        What is compared; the least wins.
    n_clusters : int
        The number chosen.
    rule : str
        What the criterion is.
    clear : bool, default=True
        Whether the choice is to be relied on.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, SelectionDisplay
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> model = ICVIARTMAP(n_clusters="auto", random_state=0).fit(X)
    >>> SelectionDisplay.from_estimator(model).n_clusters
    4
    """

    def __init__(
        self,
        k: NDArray[np.int64],
        criterion: NDArray[np.float64],
        n_clusters: int,
        rule: str,
        *,
        clear: bool = True,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.n_clusters = n_clusters
        self.rule = rule
        self.clear = clear

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Take the choice that a fit has made.

        Parameters
        ----------
        estimator : ICVIARTMAP
            Fitted with ``n_clusters="auto"`` or a range.

        Returns
        -------
        SelectionDisplay
        """
        model = samples.fitted(estimator)
        if not hasattr(model, "selection_"):
            raise ValueError(
                "The fit had no number of clusters to choose. Use "
                'ICVIARTMAP(n_clusters="auto") or a range.'
            )
        return cls.from_selection(model.selection_)

    @classmethod
    def from_selection(cls, selection: Selection) -> Self:
        """Take the attribute ``selection_`` of a fitted model."""
        return cls(
            selection.k,
            selection.criterion,
            selection.n_clusters,
            selection.rule,
            clear=selection.clear and not selection.single,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the criterion over k; the legend says by how much the runner-up is worse.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SelectionDisplay
            This display, with ``ax_`` and ``figure_``.
        """
        from matplotlib.ticker import MaxNLocator

        ax = drawing.axes(ax, (7.2, 4.0))
        shown = np.where(np.isfinite(self.criterion), self.criterion, np.nan)
        ax.plot(self.k, shown, "o-", color=COLOURS[0], markersize=4, linewidth=1.2)
        ring = {"marker": "o", "markersize": 10, "fillstyle": "none", "linestyle": ""}
        won = self.k == self.n_clusters
        doubt = "" if self.clear else " (not a clear choice)"
        handles = ax.plot(self.k[won], shown[won], color=COLOURS[2], markeredgewidth=2.0, **ring)
        names = [f"chosen: k = {self.n_clusters}{doubt}"]
        if not won.all():
            rest = np.where(won, np.inf, self.criterion)
            second = int(rest.argmin())
            margin = self.criterion[second] - self.criterion[won][0]
            handles += ax.plot(self.k[[second]], shown[[second]], color="black", **ring)
            names.append(f"runner-up: k = {self.k[second]}, worse by {number(margin, 3)}")
        drawing.beside(ax, handles, names)
        ax.set_xlabel("number of clusters k")
        ax.set_ylabel(f"{drawing.written(self.rule, drawing.LEGEND_LETTERS)} (least wins)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.grid(axis="y", color="0.92")
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return self
