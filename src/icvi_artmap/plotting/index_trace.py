"""A picture of a fit: the index after every presentation."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.colours import COLOURS
from icvi_artmap._support.wording import counted, number
from icvi_artmap.plotting import drawing, samples

#: Digits of index values in the title and in the legend.
DIGITS = 5
#: A line with more points than this is thinned: of each group of points the extremes are kept.
MOST_POINTS = 4000
#: The ends of about this number of epochs get a line.
MOST_LINES = 40


class IndexTraceDisplay:
    """The index over the presentations of a fit, with the ends of epochs, merges and splits.

    Made by :meth:`from_estimator`; :meth:`plot` draws it.

    Parameters
    ----------
    trace : ndarray of shape (n_epochs * n_samples,)
        Index after every presentation.
    history : ndarray of shape (n_epochs + 1,)
        Index at the start and at the end of every epoch, after its merges and splits.
    merges, splits : ndarray of shape (n_epochs,)
        How many clusters were merged and split at the end of every epoch.
    index_name : str
    direction : int
        +1 if greater values of the index are better, -1 if smaller ones are.
    refined : float, optional
        Index after the refinement that followed the last epoch.
    reference : float, optional
        Index of another partition, to compare with.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, IndexTraceDisplay
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> model = ICVIARTMAP(n_clusters=4, random_state=0).fit(X, trace=True)
    >>> display = IndexTraceDisplay.from_estimator(model, X, reference=y)
    >>> len(display.trace) == model.n_iter_ * len(X)
    True
    >>> display.plot().figure_.savefig("trace.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        trace: NDArray[np.float64],
        history: NDArray[np.float64],
        merges: NDArray[np.int64],
        splits: NDArray[np.int64],
        *,
        index_name: str,
        direction: int,
        refined: float | None = None,
        reference: float | None = None,
    ) -> None:
        self.trace = trace
        self.history = history
        self.merges = merges
        self.splits = splits
        self.index_name = index_name
        self.direction = direction
        self.refined = refined
        self.reference = reference

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        reference: float | ArrayLike | None = None,
    ) -> Self:
        """Take the trace of a fit.

        Parameters
        ----------
        estimator : ICVIARTMAP
            Fitted with ``fit(X, trace=True)``.
        X : array-like of shape (n_samples, n_features), optional
            The training data; needed only if ``reference`` are labels.
        reference : float or array-like of shape (n_samples,), optional
            A value of the index to compare with, or labels whose value is computed.

        Returns
        -------
        IndexTraceDisplay
        """
        model = samples.fitted(estimator, "index_history_")
        if not hasattr(model, "index_trace_"):
            raise ValueError(
                "The fit has kept no index values of its presentations. Fit the model with "
                "model.fit(X, trace=True)."
            )
        last = model.n_iter_ + 1
        return cls(
            model.index_trace_,
            model.index_history_[:last],
            model.history_["merges"],
            model.history_["splits"],
            index_name=model.fitted_.index.name,
            direction=model.fitted_.index.direction,
            refined=model.index_value_ if len(model.index_history_) > last else None,
            reference=_reference_value(model, X, reference),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the trace.

        The ends of epochs are grey lines; there the curve jumps to the value after merges and
        splits. Values that are infinite are left out.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        IndexTraceDisplay
            This display, with ``ax_`` and ``figure_``.
        """
        from matplotlib.markers import CARETDOWN, CARETUP
        from matplotlib.ticker import MaxNLocator

        ax = drawing.axes(ax, (8.4, 4.4))
        n_epochs = len(self.merges)
        ends = np.arange(1, n_epochs + 1) * (len(self.trace) // max(n_epochs, 1))
        for end in ends[:: -(-max(n_epochs, 1) // MOST_LINES)]:
            ax.axvline(end, color="0.88", linewidth=0.8, zorder=0)
        x, y = thinned(*self._curve(), MOST_POINTS)
        ax.plot(x, y, color=COLOURS[0], linewidth=1.2)
        handles, names = [], []
        after = np.where(np.isfinite(self.history[1:]), self.history[1:], np.nan)
        for what, counts, mark, colour in (
            ("merge", self.merges, CARETDOWN, COLOURS[2]),
            ("split", self.splits, CARETUP, COLOURS[4]),
        ):
            if (found := counts > 0).any():
                marks = {"marker": mark, "markersize": 8, "color": colour, "linestyle": ""}
                handles += ax.plot(ends[found], after[found], zorder=4, **marks)
                names.append(counted(int(counts.sum()), what))
        if self.refined is not None and np.isfinite(self.refined):
            handles += ax.plot(
                ends[-1:], [self.refined], "D", color=COLOURS[1], markeredgecolor="black", zorder=5
            )
            names.append(f"refined: {number(self.refined, DIGITS)}")
        if self.reference is not None:
            if np.isfinite(self.reference):
                line = ax.axhline(self.reference, color="black", linestyle="--", linewidth=1.0)
            else:
                (line,) = ax.plot([], [], color="black", linestyle="--", linewidth=1.0)
            handles.append(line)
            names.append(f"reference: {number(self.reference, DIGITS)}")
        if handles:
            drawing.beside(ax, handles, names)
        ax.set_xlabel("presentations of samples")
        ax.set_ylabel(drawing.index_label(self.index_name, self.direction))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        first, last = number(self.history[0], DIGITS), number(self.history[-1], DIGITS)
        drawing.set_title(ax, f"{counted(n_epochs, 'epoch')}: from {first} to {last}")
        ax.margins(x=0.02)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The index at the start, after every presentation, and after each epoch."""
        n_epochs = len(self.merges)
        if n_epochs == 0:
            return np.zeros(1), self.history[:1]
        trace = self.trace.reshape(n_epochs, -1)
        n = trace.shape[1]
        x = np.arange(1, n_epochs * n + 1, dtype=np.float64).reshape(n_epochs, n)
        y = np.hstack([trace, self.history[1:, None]])
        x = np.hstack([x, x[:, -1:]])
        return np.append(0.0, x), np.append(self.history[0], y)


def thinned(
    x: NDArray[np.float64], y: NDArray[np.float64], most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A line of at most ``most`` points that looks the same; infinite values are left out.

    Of each group of neighbours the first, the last, the least and the greatest are kept.
    """
    y = np.where(np.isfinite(y), y, np.nan)
    if len(y) <= most:
        return x, y
    groups = np.array_split(np.arange(len(y)), max(most // 4, 1))
    kept = []
    for rows in groups:
        known = rows[~np.isnan(y[rows])]
        ends = [rows[0], rows[-1]]
        if len(known) > 0:
            ends += [known[y[known].argmin()], known[y[known].argmax()]]
        kept.append(np.unique(ends))
    rows = np.concatenate(kept)
    return x[rows], y[rows]


def _reference_value(model: Any, X: ArrayLike | None, reference: Any) -> float | None:
    if reference is None:
        return None
    if isinstance(reference, numbers.Real):
        return float(reference)
    if np.ndim(reference) == 0:
        raise TypeError(
            f"reference must be a number or labels, got {reference!r} of type "
            f"{type(reference).__name__}."
        )
    if X is None:
        raise ValueError(
            "The index of a reference partition is computed from the data. Pass them: "
            "from_estimator(model, X, reference=labels); or pass the value of the index."
        )
    from icvi_artmap.prediction.index_value import index_value

    table = samples.checked_table(X, model)
    n, d = len(model.labels_), model.n_features_in_
    if table.shape != (n, d):
        raise ValueError(
            f"X has shape {table.shape}, but the model was fitted to data of shape {(n, d)}. Pass "
            "the training data."
        )
    labels, fitted = samples.checked_labels(reference, n), model.fitted_
    if fitted.trained is not None:
        table, labels = table[fitted.trained], labels[fitted.trained]
    seen = fitted.prepared(table)
    return index_value(seen, labels, fitted.index, resolution=model.resolution_)
