"""Why a sample belongs to a cluster: index values, category bounds and cluster profiles.

A fitted model keeps all that is needed for an answer; the training data are not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.validation import check_integer
from icvi_artmap._support.wording import better, counted, number, percent
from icvi_artmap.estimators.fitted import groups_of, rows_of
from icvi_artmap.indices.base import RESOLUTION
from icvi_artmap.inspection.profiles import ROUNDING, Profiles, profiles

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: The largest numbers of clusters beside the best one, of features and of samples in a text.
TEXT_CLUSTERS, TEXT_FEATURES, TEXT_SAMPLES = 3, 3, 10


@dataclass(frozen=True)
class Explanation:
    """What :func:`explain` returns: m samples, k clusters, d features.

    Attributes
    ----------
    index_values : ndarray of shape (m, k)
        The index, in its own sign, of the whole partition with the sample in each of the clusters.
    best : ndarray of shape (m,)
        The cluster with the best of these values; the lowest number of equals.
    margin : ndarray of shape (m,)
        By how much the second best value is worse, never negative; infinite if there is no second.
    predicted : ndarray of shape (m,)
        What the model's ``predict`` says.
    category : ndarray of shape (m,)
        The category with the largest choice value.
    category_label : ndarray of shape (m,)
        The cluster that this category predicts; it need not be ``best``.
    lower, upper : ndarray of shape (m, d)
        Bounds of the category's box, in the units of the data.
    slack : ndarray of shape (m, d)
        Distance of the sample from the nearer of the two bounds, in the units of the data; negative
        outside the box.
    profiles : Profiles
        What sets every cluster apart.
    index_name : str
    direction : int
        +1 if greater values of the index are better, -1 if smaller ones are.
    feature_names : list of str
        Those of the training data, or "feature 0", "feature 1", ...
    sample_names : list
        The row names of a DataFrame, ``samples`` if given, or 0 to m - 1.
    rows : ndarray of shape (m, d)
        The samples, missing values filled in.
    profile_names : list of str
        Those of the features of ``profiles``: where columns hold categories, every value is one.
    """

    index_values: NDArray[np.float64]
    best: NDArray[np.int64]
    margin: NDArray[np.float64]
    predicted: NDArray[np.int64]
    category: NDArray[np.int64]
    category_label: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    slack: NDArray[np.float64]
    profiles: Profiles
    index_name: str
    direction: int
    feature_names: list[str]
    sample_names: list[Any]
    rows: NDArray[np.float64]
    profile_names: list[str]

    def to_pandas(self) -> Any:
        """One row per sample: clusters, margin, category, and the index value in every cluster.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = _pandas()
        table: dict[str, Any] = {
            "best": self.best,
            "margin": self.margin,
            "predicted": self.predicted,
            "category": self.category,
            "category_label": self.category_label,
            "features_outside": (self.slack < 0.0).sum(axis=1),
        }
        for i in range(self.index_values.shape[1]):
            table[f"{self.index_name} in {i}"] = self.index_values[:, i]
        return pandas.DataFrame(table, index=pandas.Index(self.sample_names, name="sample"))

    def bounds_to_pandas(self) -> Any:
        """One row per sample and feature: its value, the bounds of the category, and the slack.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = _pandas()
        m, d = self.rows.shape
        return pandas.DataFrame(
            {
                "sample": [name for name in self.sample_names for _ in range(d)],
                "category": np.repeat(self.category, d),
                "feature": self.feature_names * m,
                "value": self.rows.ravel(),
                "lower": self.lower.ravel(),
                "upper": self.upper.ravel(),
                "slack": self.slack.ravel(),
            }
        )

    def profiles_to_pandas(self) -> Any:
        """One row per cluster and feature, in every cluster the features of largest effect first.

        Returns
        -------
        pandas.DataFrame
        """
        pandas, p = _pandas(), self.profiles
        k, d = p.mean.shape
        names = np.array(self.profile_names, dtype=object)
        columns = {
            name: np.take_along_axis(getattr(p, name), p.order, axis=1).ravel()
            for name in ("mean", "rest_mean", "effect", "variance_share")
        }
        cluster = np.repeat(np.arange(k), d)
        return pandas.DataFrame(
            {"cluster": cluster, "n": p.n[cluster], "feature": names[p.order].ravel(), **columns}
        )

    def to_text(self, max_samples: int = TEXT_SAMPLES, max_features: int = TEXT_FEATURES) -> str:
        """The same in words.

        Parameters
        ----------
        max_samples : int, default=10
            Explain no more samples than this, the first ones.
        max_features : int, default=3
            Name no more features than this that set a cluster apart.

        Returns
        -------
        str
        """
        check_integer("max_samples", max_samples, 0)
        check_integer("max_features", max_features, 0)
        m = len(self.best)
        parts = [self._sample_text(s) for s in range(min(m, max_samples))]
        if m > max_samples:
            parts.append(f"... and {counted(m - max_samples, 'more sample')}.")
        shown = sorted(set(self.best[:max_samples].tolist()))
        parts += [self._cluster_text(i, max_features) for i in shown]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.to_text()

    def _sample_text(self, s: int) -> str:
        values, best = self.index_values[s], int(self.best[s])
        k = len(values)
        lines = [f"Sample {self.sample_names[s]} fits cluster {best} best."]
        if k > 1:
            # The best first; Python's sort keeps the lower number first among equals.
            others = sorted(
                (i for i in range(k) if i != best), key=lambda i: -self.direction * values[i]
            )
            named = ", ".join(
                f"{number(_lead(values[best], values[i], self.direction))} in cluster {i}"
                for i in others[:TEXT_CLUSTERS]
            )
            more = k - 1 - TEXT_CLUSTERS
            others_left = "one" if more == 1 else str(more)
            left = f", and by no less in the other {others_left}" if more > 0 else ""
            lines += [
                f"  With the sample there, {self.index_name} of the whole partition is "
                f"{number(values[best])} ({better(self.direction)} is better).",
                f"  It would be worse by {named}{left}.",
            ]
        lines += [f"  {line}" for line in self._category_lines(s)]
        label = int(self.category_label[s])
        if label != best:
            lines.append(
                f"  Index and category disagree: {best} and {label}. "
                f"The model predicts {self.predicted[s]}."
            )
        return "\n".join(lines)

    def _category_lines(self, s: int) -> list[str]:
        slack, d = self.slack[s], len(self.feature_names)
        head = f"Nearest category: {self.category[s]}, of cluster {self.category_label[s]}."
        outside = np.flatnonzero(slack < 0.0)
        if len(outside) == 0:
            nearest = int(slack.argmin())
            features = "its only feature" if d == 1 else f"all {d} features"
            return [
                f"{head} The sample is inside its box in {features}.",
                f"Nearest bound: {self._bound_text(s, nearest)}.",
            ]
        farthest = outside[np.argsort(slack[outside], kind="stable")][:TEXT_FEATURES]
        lines = [f"{head} The sample is outside its box in {len(outside)} of {d} features:"]
        lines += [f"  {self._bound_text(s, int(f))}" for f in farthest]
        if len(outside) > len(farthest):
            lines.append(f"  ... and {len(outside) - len(farthest)} more")
        return lines

    def _bound_text(self, s: int, f: int) -> str:
        value, lower, upper = self.rows[s, f], self.lower[s, f], self.upper[s, f]
        slack = self.slack[s, f]
        place = f"{number(abs(slack))} {'inside' if slack > 0.0 else 'outside'}"
        if slack == 0.0:
            place = "at the edge of"
        return (
            f"{self.feature_names[f]} = {number(value)}, {place} [{number(lower)}, {number(upper)}]"
        )

    def _cluster_text(self, i: int, max_features: int) -> str:
        p = self.profiles
        size, share = counted(int(p.n[i]), "training sample"), percent(p.n[i] / p.n.sum())
        lines = [f"Cluster {i} has {size} ({share})."]
        telling = [f for f in p.order[i] if p.effect[i, f] != 0.0]
        if not telling:
            return f"{lines[0]} No feature sets it apart."
        if max_features > 0:
            lines[0] += " What sets it apart:"
        for f in telling[:max_features]:
            effect = p.effect[i, f]
            way = "higher" if effect > 0.0 else "lower"
            apart = (
                f"by {number(abs(effect), 2)} deviations"
                if np.isfinite(effect)
                else "and neither side varies"
            )
            lines.append(
                f"  {self.profile_names[f]} is {way}: mean {number(p.mean[i, f])}, elsewhere "
                f"{number(p.rest_mean[i, f])} ({apart}, {percent(p.variance_share[i, f])} of its "
                "variance)"
            )
        return "\n".join(lines)


def explain(
    model: ICVIARTMAP, X: ArrayLike, *, samples: Sequence[int] | ArrayLike | None = None
) -> Explanation:
    """Explain to which cluster samples belong, and why.

    Parameters
    ----------
    model : ICVIARTMAP
        Fitted.
    X : array-like of shape (m, n_features)
        Samples, in the units of the data.
    samples : array-like of shape (m,), optional
        Which training samples the rows of ``X`` are, as positions in ``labels_``. Such a row is
        moved from its cluster to the others. Without it every row is a new sample that is added to
        the training data; a training sample then counts twice.

    Returns
    -------
    Explanation
        Arrays, with ``to_text()`` (or ``print``), ``to_pandas()``, ``bounds_to_pandas()`` and
        ``profiles_to_pandas()``.

    Notes
    -----
    Index values are those of all samples, standardised as the training data were. One sample among
    N changes an index by the order of 1/N: compare margins with each other, not with the value.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, explain
    >>> X = [[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [10.0, 5.0], [11.0, 6.0], [12.0, 6.0]]
    >>> model = ICVIARTMAP(n_clusters=2, index="CH", init=[[1, 5], [11, 6]], shuffle=False).fit(X)
    >>> why = explain(model, [[3.0, 5.5]])
    >>> why.best
    array([0])
    >>> print(why)
    Sample 0 fits cluster 0 best.
    ...
    """
    check_is_fitted(model)
    named = getattr(X, "index", None)  # of a DataFrame
    feature_names = getattr(model, "feature_names_in_", None)
    given = np.array(rows_of(model, X), np.float64)
    positions = None
    if samples is not None:
        positions = _check_samples(samples, len(given), len(model.sample_clusters_))
    index = model.fitted_.index
    values = _index_values(model, given, positions)
    rows = np.asarray(model.fitted_.filled(given), np.float64)
    best, margin = _best_and_margin(index.direction * values)
    category = model.fitted_.nearest_categories(given, model.alpha)
    lower, upper = model.categories_[category, 0], model.categories_[category, 1]
    if named is not None and not callable(named):
        sample_names = list(named)
    else:
        sample_names = list(range(len(rows))) if positions is None else positions.tolist()
    names = [f"feature {f}" for f in range(rows.shape[1])]
    if feature_names is not None:
        names = list(feature_names)
    return Explanation(
        index_values=values,
        best=best,
        margin=margin,
        predicted=model.predict(X),
        category=category,
        category_label=model.category_labels_[category],
        lower=lower,
        upper=upper,
        slack=_slack(rows, lower, upper, _span(model)),
        profiles=profiles(model),
        index_name=index.name,
        direction=index.direction,
        feature_names=names,
        sample_names=sample_names,
        rows=rows,
        profile_names=model.fitted_.profiled_names(names),
    )


def _index_values(
    model: ICVIARTMAP, rows: NDArray[np.float64], positions: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Index of the partition with every row in every cluster.

    A training sample leaves its own for that, if clusters were found on it.
    """
    fitted = model.fitted_
    if positions is None:
        return fitted.index_values(rows)
    own = groups_of(model)[positions]
    if fitted.trained is None:
        return fitted.index_values(rows, own)
    trained, values = fitted.trained[positions], np.empty((len(rows), model.n_clusters_))
    if trained.any():
        values[trained] = fitted.index_values(rows[trained], own[trained])
    if not trained.all():
        values[~trained] = fitted.index_values(rows[~trained])
    return values


def _span(model: ICVIARTMAP) -> NDArray[np.float64]:
    """The range of every feature."""
    told = model.fitted_.in_units
    if told is None:
        return model.fitted_.scaling.span
    return told.upper.max(axis=0) - told.lower.min(axis=0)


def _check_samples(samples: Any, n_rows: int, n_samples: int) -> NDArray[np.int64]:
    positions = np.asarray(samples)
    if positions.shape != (n_rows,) or positions.dtype.kind not in "iu":
        raise ValueError(
            f"samples must be {n_rows} integers, one for every row of X, got an array of shape "
            f"{positions.shape} and type {positions.dtype}."
        )
    if n_rows > 0 and not (positions.min() >= 0 and positions.max() < n_samples):
        raise ValueError(
            f"samples must be positions of training samples, 0 to {n_samples - 1}, got "
            f"{positions.min()} to {positions.max()}."
        )
    return positions.astype(np.int64)


def _slack(
    rows: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    span: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Distance to the nearer bound, negative outside; exactly 0 on a bound, whatever the rounding.

    Bounds are scaled back from [0, 1]. A sample that made one must not seem to be outside.
    """
    slack = np.minimum(rows - lower, upper - rows)
    rounding = ROUNDING * (span + np.abs(rows))
    return np.where(np.abs(slack) <= rounding, 0.0, slack)


def _best_and_margin(
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The largest score of every row, the first of equals, and its lead over the second."""
    m, k = scores.shape
    top = scores.max(axis=1)
    size = np.maximum(1.0, np.where(np.isfinite(top), np.abs(top), 1.0))
    best = (scores >= (top - RESOLUTION * size)[:, None]).argmax(axis=1)
    if k == 1:
        return best, np.full(m, np.inf)
    others = scores.copy()
    others[np.arange(m), best] = -np.inf
    return best, np.array([_lead(a, b) for a, b in zip(top, others.max(axis=1), strict=True)])


def _lead(a: float, b: float, direction: int = 1) -> float:
    """How much better a is than b; equal infinities do not differ."""
    return 0.0 if a == b else float(max(direction * (a - b), 0.0))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "A table of an explanation needs pandas: pip install pandas. "
            "The arrays and to_text() do without."
        ) from error
    return pandas
