"""A fit on rows that are to be prepared first: gaps, skew, categories.

What the clusters look like is then told in the units of the data, over the rows they were found on.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from icvi_artmap._support.validation import (
    check_choice,
    check_integer,
    checked_data,
    refuse_equal_names,
    refuse_sparse,
    short_messages,
)
from icvi_artmap._support.wording import counted, listed, message, parameter, percent, quoted, shown
from icvi_artmap.preparation.choosing import chosen_transform
from icvi_artmap.preparation.columns import (
    Values,
    coded,
    columns_of,
    learn_values,
    with_cells_as_given,
)
from icvi_artmap.preparation.fills import learn_fills
from icvi_artmap.preparation.mixed import from_indicators, learn_mixed
from icvi_artmap.preparation.preparation import MISSING, Preparation, in_units
from icvi_artmap.preparation.transforms import TRANSFORMS, learn_transform

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: The label of a row that is left out for its gaps, as in scikit-learn's HDBSCAN.
DROPPED = -3
#: Clusters are found on the rows without gaps if these are half of all, or so many for every
#: feature and one more: in all, and for every cluster that is asked for.
ENOUGH, ENOUGH_FOR_CLUSTER = 20, 2
#: A cluster is made of filled cells if more of its rows than this part have no value in a column.
MOSTLY = 0.5
#: Clusters are the values of a column if that many values tell the cluster of all but few rows.
FEW_VALUES, ALL_BUT_FEW = 10, 0.99
#: In fewer rows that may be by chance.
FEWEST_ROWS = 50
#: Rows that are looked at to see that a column has many values.
FIRST_ROWS = 200


def check_preparation(model: ICVIARTMAP) -> None:
    """Check the parameters that are about preparation."""
    check_choice("missing", model.missing, MISSING)
    check_choice("transform_columns", model.transform_columns, (*TRANSFORMS, "auto"))
    categories = model.categories
    if isinstance(categories, str):
        check_choice("categories", categories, (None, "auto"))
    elif categories is not None and not isinstance(categories, (Sequence, np.ndarray)):
        raise TypeError(
            'categories must be None, "auto" or a sequence of names or positions of columns, got '
            f"{shown(categories)}."
        )
    if model.n_axes is not None:
        check_integer("n_axes", model.n_axes, 1)


def prepares(model: ICVIARTMAP) -> bool:
    """Whether rows are prepared before they are clustered."""
    untouched = ("error", "none", None, None)
    return (
        model.missing,
        model.transform_columns,
        None if model.categories is None else True,
        model.n_axes,
    ) != untouched


def checked_rows(model: ICVIARTMAP, X: ArrayLike, reset: bool) -> NDArray[np.floating]:
    """The rows as floats, with NaN for missing cells and positions of values for categories."""
    least = 2 if reset else 1
    fills, categories = _wanted(model, reset)
    if not categories:
        finite = "allow-nan" if fills else True
        return checked_data(
            model, X, reset=reset, ensure_min_samples=least, ensure_all_finite=finite
        )
    refuse_sparse(X)
    refuse_equal_names(X)
    with short_messages():
        if not hasattr(X, "columns"):
            X = check_array(
                with_cells_as_given(X),
                dtype=None,
                ensure_all_finite=False,
                ensure_min_samples=least,
                estimator=model,
            )
        validate_data(model, X, reset=reset, skip_check_array=True)
        columns = columns_of(X)
    names = feature_names(model)
    asked = () if model.categories is None else model.categories
    values = learn_values(columns, names, asked) if reset else _values(model)
    rows = coded(columns, names, values)
    if len(rows) < least:
        raise ValueError(
            f"Found array with {len(rows)} sample(s) (shape={rows.shape}) while a minimum of "
            f"{least} is required by {type(model).__name__}."
        )
    if not fills and np.isnan(rows).any():
        raise ValueError(
            f"Input X contains NaN, but {type(model).__name__} needs a value in every cell. Use "
            f"{parameter('missing', 'neighbours')}, or leave out the rows with missing values."
        )
    if reset:
        model.preparation_ = Preparation(values)
    return rows


def _wanted(model: ICVIARTMAP, reset: bool) -> tuple[bool, bool]:
    """Whether gaps are filled or left out, and whether there are categories.

    A fit goes by the parameters, all else by what was learned.
    """
    if reset:
        return model.missing != "error", model.categories is not None
    made = model.preparation_
    assert made is not None
    return made.fills is not None, bool(made.n_values.any())


def _values(model: ICVIARTMAP) -> Values:
    assert model.preparation_ is not None
    return model.preparation_.values


def feature_names(model: ICVIARTMAP) -> list[str]:
    """Names of the columns of the data."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"feature {f}" for f in range(model.n_features_in_)]
    return [str(name) for name in names]


# --- before the fit ------------------------------------------------------------------------------


def trained_rows(model: ICVIARTMAP, X: NDArray[np.floating], least: int) -> NDArray[np.bool_]:
    """The rows to find clusters on: those without gaps, where they are enough.

    Filled cells make clusters that are too flat, and too many of them.
    """
    complete = ~np.isnan(X).any(axis=1)
    if model.missing == "drop":
        if complete.sum() < max(least, 2):
            raise ValueError(
                f"Only {counted(int(complete.sum()), 'row')} of {len(X)} have a value in every "
                f"cell, too few for {max(least, 2)} clusters. Use "
                f"{parameter('missing', 'neighbours')}."
            )
        return complete
    enough = max(ENOUGH, ENOUGH_FOR_CLUSTER * least) * (X.shape[1] + 1)
    if complete.sum() >= max(min(enough, len(X) / 2), least, 2):
        return complete
    return np.ones(len(X), np.bool_)


def learn_preparation(
    model: ICVIARTMAP, X: NDArray[np.floating], trained: NDArray[np.bool_]
) -> Preparation:
    """What is to be done to rows, from the training data."""
    rows = np.asarray(X, np.float64)
    values: Values = (None,) * X.shape[1] if model.categories is None else _values(model)
    made = Preparation(values, drop=model.missing == "drop")
    if model.missing != "error":
        empty = np.isnan(rows).all(axis=0)
        if empty.any():
            names = [feature_names(model)[f] for f in np.flatnonzero(empty)]
            raise ValueError(
                message("Without any value: column ", quoted(names), ". Leave it out.")
            )
        how = "median" if model.missing == "drop" else model.missing
        made = replace(made, fills=learn_fills(rows, how, made.n_values > 0))
    rows = made.filled(rows[trained])
    chosen: str = model.transform_columns
    alone = made.n_values > 0
    if chosen == "auto":
        chosen, transform = chosen_transform(rows, alone, lambda T: _plain_labels(model, T))
    else:
        transform = learn_transform(rows, chosen, alone)
    if chosen != "none":
        made = replace(made, transform=transform, chosen=chosen)
    if made.n_values.any() or model.n_axes is not None:
        space = learn_mixed(made.prepared(rows), made.n_values, model.n_axes)
        made = replace(made, mixed=space)
    return made


def _plain_labels(model: ICVIARTMAP, T: NDArray[np.float64]) -> NDArray[np.int64]:
    """The clusters of rows that need no preparation."""
    trial = clone(model).set_params(
        missing="error",
        transform_columns="none",
        categories=None,
        n_axes=None,
        shape="gaussian",
        init="k-means++",
        n_init=1,
        noise=False,
        verbose=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit itself will warn
        return trial.fit(T).labels_


class Prepared(NamedTuple):
    """Training data, what is done to them, and the rows of them that clusters are found on."""

    X: NDArray[np.floating]
    made: Preparation
    trained: NDArray[np.bool_]

    @property
    def given(self) -> NDArray[np.floating]:
        """These rows in the units of the data."""
        return self.X[self.trained]

    @property
    def filled(self) -> NDArray[np.floating]:
        """These rows with a value in every cell."""
        return self.made.filled(self.given)


def fit(
    model: ICVIARTMAP,
    X: NDArray[np.floating],
    y: Any,
    given: NDArray[np.float64] | None,
    rest: tuple[Any, ...],
) -> None:
    """A fit on rows that are to be prepared. ``rest``: what else the fit itself is told."""
    trained = trained_rows(model, X, model._wanted()[0])
    made = learn_preparation(model, X, trained)
    if y is not None and not trained.all():
        y = np.asarray(y)[trained]
    centres = None if given is None else made.prepared(given)
    model.preparation_ = made
    of = Prepared(X, made, trained)
    model._fit(made.prepared(of.given), y, centres, *rest, of)


def without_dropped(
    model: ICVIARTMAP, X: NDArray[np.floating], labels: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The labels with `DROPPED` for rows that the model leaves out."""
    made = model.preparation_
    if made is None or not made.drop:
        return labels
    return np.where(made.gaps(X), DROPPED, labels)


# --- after it ------------------------------------------------------------------------------------


def turn_back(model: ICVIARTMAP) -> None:
    """Tell a result among prepared rows in the units of the data, as far as it can be turned back.

    For whoever looks at a fit that goes on.
    """
    made = model.preparation_
    if made is None:
        return
    model.fitted_ = replace(model.fitted_, preparation=made)
    model.cluster_centers_ = made.turned_back(model.cluster_centers_)
    ends = [made.turned_back(model.categories_[:, end]) for end in (0, 1)]
    model.categories_ = np.stack([np.minimum(*ends), np.maximum(*ends)], axis=1)


def finish(model: ICVIARTMAP, of: Prepared) -> None:
    """Tell the result of a fit on prepared rows in the units of the data, and of all rows."""
    X, made, trained = of
    clusters, k = model.sample_clusters_, model.n_clusters_
    categories, corners = model.sample_categories_, model.categories_
    told = in_units(made, X[trained], clusters, k, categories, corners)
    _join_others(model, made, X, trained)
    model.fitted_ = replace(
        model.fitted_,
        preparation=made,
        in_units=told,
        trained=None if trained.all() else trained,
    )
    if hasattr(model, "components_"):
        model.components_ = components_in_units(model, made.filled(X[trained]), trained)
    model.cluster_centers_ = from_indicators(told.mean, made.n_values)
    model.categories_ = np.stack([told.lower, told.upper], axis=1)


def _join_others(
    model: ICVIARTMAP, made: Preparation, X: NDArray[np.floating], trained: NDArray[np.bool_]
) -> None:
    """Rows that clusters were not found on get the cluster that they are predicted to be in."""
    if trained.all():
        return
    rows, fitted = made.prepared(X[~trained]), model.fitted_
    groups = fitted.best_groups(rows)
    clusters = model._predict(rows)
    labels = np.where(fitted.noise(rows), -1, clusters) if model.noise else clusters
    if made.drop:
        labels = np.full(len(rows), DROPPED)

    def both(old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.int64]:
        whole = np.empty(len(X), np.int64)
        whole[trained], whole[~trained] = old, new
        return whole

    if hasattr(model, "components_"):
        found = model.components_
        model.components_ = replace(found, labels=both(found.labels, groups))
        clusters = found.clusters[groups]
        if not made.drop and not model.noise:
            labels = clusters
    model.labels_ = both(model.labels_, labels)
    model.sample_clusters_ = both(model.sample_clusters_, clusters)
    nearest = fitted.nearest_categories(rows, model.alpha)
    model.sample_categories_ = both(model.sample_categories_, nearest)


def components_in_units(
    model: ICVIARTMAP, rows: NDArray[np.float64], trained: NDArray[np.bool_]
) -> Any:
    """The components with the means and covariances of their rows in the columns of the data."""
    found = model.components_
    labels, d = found.labels[trained], rows.shape[1]
    means, covariances = np.empty((len(found.clusters), d)), np.empty((len(found.clusters), d, d))
    for i in range(len(found.clusters)):
        mine = rows[labels == i]
        means[i] = mine.mean(axis=0)
        covariances[i] = np.cov(mine.T, ddof=0).reshape(d, d)
    return replace(found, means=means, covariances=covariances)


# --- what the user should know -------------------------------------------------------------------


class _Rows(NamedTuple):
    """The training data with their clusters."""

    X: NDArray[np.floating]
    clusters: NDArray[np.int64]
    k: int


def cautions(model: ICVIARTMAP, X: NDArray[np.floating]) -> list[str]:
    """What casts a doubt on the clusters: they are made of filled cells, or of one column."""
    rows = _Rows(X, model.sample_clusters_, model.n_clusters_)
    names = feature_names(model)
    return [*_filled_clusters(model, rows, names), *_one_column(rows, names)]


def _filled_clusters(model: ICVIARTMAP, rows: _Rows, names: list[str]) -> list[str]:
    """Clusters most of whose rows have no value in a column, where others have."""
    if model.missing in ("error", "drop"):
        return []
    absent = np.isnan(rows.X)
    found = []
    for f in np.flatnonzero(absent.any(axis=0)):
        gaps = np.bincount(rows.clusters, absent[:, f], minlength=rows.k)
        part = gaps / np.maximum(np.bincount(rows.clusters, minlength=rows.k), 1)
        usual = float(absent[:, f].mean())
        for i in np.flatnonzero((part > MOSTLY) & (part > 2.0 * usual)):
            found.append(
                f"Cluster {i} is made of filled cells: {percent(part[i])} of its rows have no "
                f"value of {shown(names[f])} (of all rows {percent(usual)})."
            )
    return found


def _one_column(rows: _Rows, names: list[str]) -> list[str]:
    """Columns whose few values alone tell the cluster."""
    if rows.k < 2 or len(rows.X) < FEWEST_ROWS:
        return []
    first = np.sort(rows.X[:FIRST_ROWS], axis=0)  # no value comes last, and counts once
    changes = ((first[1:] != first[:-1]) & ~np.isnan(first[:-1])).sum(axis=0)
    found = []
    for f in np.flatnonzero(changes < FEW_VALUES):
        values, place = np.unique(rows.X[:, f], return_inverse=True)
        if not 1 < len(values) <= FEW_VALUES:
            continue
        table = np.zeros((len(values), rows.k))
        np.add.at(table, (place, rows.clusters), 1.0)
        told = table.max(axis=1).sum() / len(rows.X)
        if told >= ALL_BUT_FEW and len(np.unique(table.argmax(axis=1))) == rows.k:
            found.append(names[f])
    if not found or len(found) == len(names):
        return []
    return [
        f"The clusters are just the values of {listed([shown(name) for name in found], 3)}. Leave "
        "that out to see what else there is in the data."
    ]
