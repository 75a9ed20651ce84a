"""What a search has found: one row for every run, as columns, as a table, as a picture."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.base import same


@dataclass(frozen=True)
class Run:
    """One run of a search: what sets it apart from the others."""

    index: str
    n_clusters: int
    start: int
    rho_a: float
    rho_ab: float


@dataclass(frozen=True)
class Outcome:
    """What is kept of a run."""

    index_value: float
    n_clusters_found: int
    n_categories: int
    n_iter: int
    converged: bool
    seconds: float


RUN_COLUMNS = tuple(field.name for field in fields(Run))
COLUMNS = RUN_COLUMNS + tuple(field.name for field in fields(Outcome))


class SearchResults:
    """All runs of a search in the order of its grid, whichever finished first.

    Attributes
    ----------
    index : ndarray of str
        Name of the index that drove the run.
    n_clusters, start : ndarray of int
        Number of clusters asked for, and number of the k-means start, from 0.
    rho_a, rho_ab : ndarray of float
        The vigilances.
    index_value : ndarray of float
        The index of the final partition, in its own sign.
    n_clusters_found, n_categories, n_iter : ndarray of int
        Clusters and categories at the end, and number of epochs.
    converged : ndarray of bool
        Whether training ended before ``max_epochs`` forced it to.
    seconds : ndarray of float
        Time of the run; the first run of a process may have to compile or load its kernels. 0 for
        a run that was not made, because another one is known to be the same.
    directions : dict of str to int
        For every index +1 if greater values are better, -1 if smaller ones are.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> search = ICVIARTMAPSearch(ICVIARTMAP(4), rho_a=[0, 0.5], rho_ab=[0.5, 1], random_state=0)
    >>> results = search.fit(X).results_
    >>> len(results)
    4
    >>> bool(results.index_value[results.best()] == results.index_value.min())
    True
    """

    def __init__(
        self, runs: list[Run], outcomes: list[Outcome], directions: dict[str, int]
    ) -> None:
        self.directions = dict(directions)
        self.index: NDArray[np.str_] = np.array([run.index for run in runs])
        self.n_clusters = np.array([run.n_clusters for run in runs], np.int64)
        self.start = np.array([run.start for run in runs], np.int64)
        self.rho_a = np.array([run.rho_a for run in runs], np.float64)
        self.rho_ab = np.array([run.rho_ab for run in runs], np.float64)
        self.index_value = np.array([outcome.index_value for outcome in outcomes], np.float64)
        self.n_clusters_found = np.array([o.n_clusters_found for o in outcomes], np.int64)
        self.n_categories = np.array([outcome.n_categories for outcome in outcomes], np.int64)
        self.n_iter = np.array([outcome.n_iter for outcome in outcomes], np.int64)
        self.converged = np.array([outcome.converged for outcome in outcomes], np.bool_)
        self.seconds = np.array([outcome.seconds for outcome in outcomes], np.float64)

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        names = ", ".join(self.directions)
        return f"<SearchResults: {len(self)} runs with {names}>"

    def run(self, number: int) -> Run:
        """What sets the run of that number apart."""
        return Run(*(getattr(self, name)[number].item() for name in RUN_COLUMNS))

    def best(self, index: str | None = None, n_clusters: int | None = None) -> int:
        """Number of the run with the best value of an index; of equal ones the first.

        Values are equal that differ by rounding only.

        Parameters
        ----------
        index : str, optional
            By default the first index of the search. Values of different indices do not compare.
        n_clusters : int, optional
            Only runs that asked for this number of clusters; by default all.

        Returns
        -------
        int
            A position in the columns.
        """
        name = self._known_index(index)
        among = np.flatnonzero(self._chosen(name, n_clusters))
        scores = self.directions[name] * self.index_value[among]
        best = scores.max()
        return next(int(n) for n, score in zip(among, scores, strict=True) if same(score, best))

    def to_pandas(self) -> Any:
        """The results as a pandas DataFrame, a row for every run."""
        import pandas

        return pandas.DataFrame({name: getattr(self, name) for name in COLUMNS})

    def plot(
        self, ax: Any = None, *, index: str | None = None, n_clusters: int | None = None
    ) -> Any:
        """Draw the index over the two vigilances, as :class:`SearchDisplay` does.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        index : str, optional
            By default the first index of the search.
        n_clusters : int, optional
            By default the number of clusters of the best run with this index.

        Returns
        -------
        matplotlib Axes
        """
        from icvi_artmap.plotting.search import SearchDisplay

        display = SearchDisplay.from_results(self, index=index, n_clusters=n_clusters)
        return display.plot(ax).ax_

    def _known_index(self, index: str | None) -> str:
        if index is None:
            return next(iter(self.directions))
        for name in self.directions:
            if isinstance(index, str) and name.upper() == index.upper():
                return name
        raise ValueError(
            f"The search has no runs with index {index!r}. It has: {', '.join(self.directions)}."
        )

    def _chosen(self, name: str, n_clusters: int | None) -> NDArray[np.bool_]:
        chosen = self.index == name
        if n_clusters is not None:
            chosen &= self.n_clusters == n_clusters
            if not chosen.any():
                there = ", ".join(map(str, np.unique(self.n_clusters)))
                raise ValueError(
                    f"The search has no runs with n_clusters={n_clusters}. It has: {there}."
                )
        return chosen
