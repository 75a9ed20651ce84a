"""What a picture shows: samples, labels, clusters and names of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The largest number of samples drawn by default.
MOST_POINTS = 10_000
#: The least number of samples drawn of every cluster that has them.
FEWEST = 10
#: The random choice of samples is the same for every drawing.
SEED = 0


def fitted(estimator: Any, *attributes: str) -> Any:
    """The estimator, or the best one of a search; an error if it is not fitted."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    found = getattr(estimator, "best_estimator_", estimator)
    check_is_fitted(found, attributes or None)
    return found


def checked_table(X: ArrayLike, estimator: Any = None) -> NDArray[np.float64]:
    """The samples in the units of the data; gaps are filled as the estimator does."""
    from sklearn.utils import check_array

    if getattr(estimator, "preparation_", None) is None:
        return check_array(X, dtype=np.float64, input_name="X")
    from icvi_artmap.estimators.fitted import rows_of

    return np.asarray(estimator.fitted_.filled(rows_of(estimator, X)), np.float64)


def checked_labels(labels: ArrayLike, n_samples: int) -> NDArray[Any]:
    """One label for every sample: integers, or anything that can be sorted."""
    array = np.asarray(labels)
    if array.shape != (n_samples,):
        raise ValueError(
            f"labels have shape {array.shape}, but X has {n_samples} samples: ({n_samples},) is "
            "expected, one label for every row of X."
        )
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise ValueError("labels contain NaN or infinity; give samples without a cluster -1.")
        if (array == np.rint(array)).all():
            return array.astype(np.int64)
    return array


def clusters_of(estimator: Any) -> NDArray[Any]:
    """Labels of all clusters (or classes) that a fitted estimator knows."""
    if hasattr(estimator, "classes_"):
        return np.asarray(estimator.classes_)
    if hasattr(estimator, "n_clusters_"):
        return np.arange(int(estimator.n_clusters_))
    return np.unique(estimator.labels_)


def kind_of(estimator: Any) -> str:
    return "class" if hasattr(estimator, "classes_") else "cluster"


def labels_of(estimator: Any, X: ArrayLike, table: NDArray[np.float64]) -> NDArray[Any]:
    """``labels_`` if these are the training data, otherwise what the estimator predicts.

    The two can differ for a few samples.
    """
    from icvi_artmap.estimators.fitted import is_training_data

    known = is_training_data(estimator, table)
    labels = np.asarray(estimator.labels_ if known else estimator.predict(X))
    if getattr(estimator, "preparation_", None) is not None:
        return np.maximum(labels, -1)  # rows that are left out are in no cluster, as noise
    return labels


def means(table: NDArray[np.float64], position: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Mean of every cluster, of shape (k, d); 0 where there is no sample."""
    n = np.maximum(np.bincount(position, minlength=k), 1)
    sums = [np.bincount(position, weights=column, minlength=k) for column in table.T]
    return np.stack(sums, axis=1) / n[:, None]


def feature_names(X: Any, n_features: int, estimator: Any = None) -> list[str]:
    """Names from the estimator, from the columns of a table, or "feature 0", "feature 1", ..."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return [f"feature {f}" for f in range(n_features)]
    return [str(name) for name in names]


def checked_pair(features: Any, n_features: int, name: str) -> list[int]:
    """The numbers of two different features, checked."""
    one = " The data have one feature; a picture needs two." if n_features == 1 else ""
    wrong = ValueError(
        f"{name}={features!r} must be two different numbers of features, 0 to "
        f"{n_features - 1}.{one}"
    )
    try:
        pair = list(features)
    except TypeError:
        raise wrong from None
    integers = all(isinstance(f, (int, np.integer)) and not isinstance(f, bool) for f in pair)
    if not integers or len(pair) != 2 or len(set(pair)) < 2:
        raise wrong
    if not all(0 <= f < n_features for f in pair):
        raise wrong
    return [int(f) for f in pair]


def chosen_rows(labels: NDArray[Any], most: int) -> NDArray[np.int64]:
    """At most ``most`` rows, rising: a random choice that keeps a few samples of every cluster."""
    if len(labels) <= most:
        return np.arange(len(labels))
    order = np.random.RandomState(SEED).permutation(len(labels))
    # Within every cluster, the first ones of the random order go before all others.
    position = np.unique(labels[order], return_inverse=True)[1]
    by_cluster = np.argsort(position, kind="stable")
    begins = np.cumsum(np.bincount(position)) - np.bincount(position)
    rank = np.empty(len(order), np.int64)
    rank[by_cluster] = np.arange(len(order)) - begins[position[by_cluster]]
    first = np.argsort(np.minimum(rank, FEWEST), kind="stable")
    return np.sort(order[first[:most]])
