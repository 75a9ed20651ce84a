"""A picture of how components were joined to clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.colours import GREY, numbers, style
from icvi_artmap._support.wording import counted
from icvi_artmap.inspection.tree_layout import MOST_NUMBERED, Branches, lay_out
from icvi_artmap.plotting import drawing, samples

if TYPE_CHECKING:
    from icvi_artmap.estimators.components import Joins


class JoinsDisplay:
    """The tree in which components were joined to clusters: a dendrogram by prominence.

    A join is as high as the valley between its two groups is deep. Joins that were made have the
    colours of their clusters. Those that were not, between clusters, are dashed and grey. Groups
    are joined in the order of their evidence, not of their prominence, so a later join may be the
    shallower one: no join is drawn below the joins that its groups are made of.

    Made by :meth:`from_estimator` or :meth:`from_joins`; :meth:`plot` draws it.

    Parameters
    ----------
    first, second : ndarray of shape (n_components - 1,)
        The groups of every join, each named by its first component; ``second`` becomes a part of
        ``first``.
    prominence : ndarray of shape (n_components - 1,)
        How deep the valley between the two is; below 0 counts as 0.
    made : ndarray of shape (n_components - 1,)
        Whether the join was made.
    clusters : ndarray of shape (n_components,)
        Cluster of every component.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from icvi_artmap import ICVIARTMAP, JoinsDisplay
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=2, shape="any", random_state=0).fit(X)
    >>> display = JoinsDisplay.from_estimator(model)
    >>> int((~display.made).sum())
    1
    """

    def __init__(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        prominence: NDArray[np.float64],
        made: NDArray[np.bool_],
        clusters: NDArray[np.int64],
    ) -> None:
        self.first = first
        self.second = second
        self.prominence = prominence
        self.made = made
        self.clusters = clusters

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Take the joins of a fitted model.

        Parameters
        ----------
        estimator : ICVIARTMAP
            Fitted with ``shape="any"`` or "auto", and with clusters that were joined.

        Returns
        -------
        JoinsDisplay
        """
        model = samples.fitted(estimator)
        if not hasattr(model, "joins_"):
            raise ValueError(
                "The clusters of this fit were not joined of components, so there is no tree of "
                'joins. Use ICVIARTMAP(shape="any").'
            )
        return cls.from_joins(model.joins_)

    @classmethod
    def from_joins(cls, joins: Joins) -> Self:
        """Take the attribute ``joins_`` of a fitted model."""
        return cls(joins.first, joins.second, joins.prominence, joins.made, joins.clusters)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree. Up to 40 components have their numbers below them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        JoinsDisplay
            This display, with ``ax_`` and ``figure_``.
        """
        from matplotlib.collections import LineCollection

        every = np.unique(self.clusters)
        ax = drawing.axes(ax, (7.2 + drawing.key_width(every), 4.0))
        branches = lay_out(self.first, self.second, self.prominence)
        own = self.clusters[self.first]
        lines = branches.lines()
        for cluster, look in zip(every, numbers(every), strict=True):
            colour = style(look).colour
            mine = lines[self.made & (own == cluster)]
            ax.add_collection(LineCollection(list(mine), colors=colour, linewidths=1.4))
        apart = list(lines[~self.made])
        ax.add_collection(
            LineCollection(apart, colors=GREY, linewidths=1.1, linestyles="--", zorder=1)
        )
        self._set_axes(ax, branches, len(every))
        drawing.draw_key(ax, every, None, self._places(branches, every), "cluster")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _places(self, branches: Branches, every: NDArray[np.int64]) -> NDArray[np.float64]:
        """Where the name of every cluster would stand: over its components."""
        own = self.clusters[self.first]
        places = np.empty((len(every), 2))
        for i, cluster in enumerate(every):
            joins = self.made & (own == cluster)
            stands = np.flatnonzero(self.clusters[branches.leaves] == cluster)
            places[i] = stands.mean(), branches.height[joins].max(initial=0.0)
        return places

    def _set_axes(self, ax: Any, branches: Branches, n_clusters: int) -> None:
        count = len(branches.leaves)
        highest = float(branches.height.max(initial=0.0)) or 1.0
        ax.set(xlim=(-0.7, count - 0.3), ylim=(0.0, 1.05 * highest))
        few = count <= MOST_NUMBERED
        ticks = range(count) if few else ()
        width, _ = drawing.cell_size(ax, count, 1)
        names = [str(leaf) for leaf in branches.leaves] if few else ()
        ax.set_xticks(ticks, names, fontsize=drawing.font_size(width))
        drawing.draw_strip(ax, self.clusters[branches.leaves])
        room = None if few else drawing.STRIP + 4.0  # for the strip, where no names keep it free
        ax.set_xlabel("component (dashed: not joined)", labelpad=room)
        ax.set_ylabel("prominence: depth of the valley")
        for side in ("top", "right", "bottom"):
            ax.spines[side].set_visible(False)
        drawing.set_title(
            ax, f"{counted(count, 'component')} joined to {counted(n_clusters, 'cluster')}"
        )
