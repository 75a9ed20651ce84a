"""What cannot be clustered is refused with a message that says why; the rest gives a result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from helpers.kernels import OF_BATCHES
from icvi_artmap import ICVIARTMAP, FuzzyART, index_value
from icvi_artmap.indices.registry import INDICES

NAMES = list(INDICES)
GOOD = np.random.default_rng(0).normal(size=(20, 3))


def changed(value: Any) -> np.ndarray:
    X = GOOD.copy()
    X[4, 1] = value
    return X


def model(**options: Any) -> ICVIARTMAP:
    return ICVIARTMAP(**{"n_clusters": 3, "index": "CH", "random_state": 0, **options})


# --- data ----------------------------------------------------------------------------------------

BAD_DATA: dict[str, tuple[Any, type[Exception], str]] = {
    "NaN": (changed(np.nan), ValueError, "contains NaN"),
    "None": (np.where(GOOD > 1, None, GOOD), ValueError, "contains NaN"),
    "infinity": (changed(np.inf), ValueError, "contains infinity"),
    "minus infinity": (changed(-np.inf), ValueError, "contains infinity"),
    "no samples": (np.empty((0, 3)), ValueError, r"0 sample\(s\)"),
    "no features": (np.empty((20, 0)), ValueError, r"0 feature\(s\)"),
    "one sample": (GOOD[:1], ValueError, "minimum of 2 is required"),
    "fewer samples than clusters": (
        GOOD[:2],
        ValueError,
        "n_clusters=3 is more than the number of samples, n_samples=2",
    ),
    "one dimension": (GOOD[:, 0], ValueError, "Expected 2D array, got 1D array"),
    "three dimensions": (GOOD[None], ValueError, "dim 3"),
    "a number": (3.0, ValueError, "Expected 2D array"),
    "nothing": (None, ValueError, "."),
    "complex": (GOOD + 1j, ValueError, "Complex data not supported"),
    "text": (np.full((20, 3), "a"), ValueError, "could not convert string to float"),
    "objects": (np.full((20, 3), object()), TypeError, "must be a string or a real number"),
    "ragged": ([[1.0, 2.0], [1.0]], ValueError, "inhomogeneous"),
    "beyond float64": ([[1], [10**400], [2]], ValueError, "larger than float64 can hold"),
    "equal names": (
        pd.DataFrame(GOOD, columns=["a", "b", "a"]),
        ValueError,
        "X has more than one column 'a'. Give each column a name of its own",
    ),
    "equal numbers as names": (
        pd.DataFrame(GOOD, columns=[0, 1, 1]),
        ValueError,
        "X has more than one column 1",
    ),
    "text column": (
        pd.DataFrame({"a": np.arange(20.0), "city": ["Rolla"] * 20}),
        ValueError,
        "could not convert string to float: 'Rolla'",
    ),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(case: str) -> None:
    X, error, message = BAD_DATA[case]
    with pytest.raises(error, match=message):
        model().fit(X)
    with pytest.raises(error, match=message):
        model().fit_predict(X)


def test_a_range_that_float64_cannot_hold() -> None:
    X = GOOD.copy()
    X[0, 1], X[1, 1] = -1.7e308, 1.7e308
    with pytest.raises(ValueError, match=r"feature 1 is larger than float64.*Divide the data"):
        model().fit(X)


@pytest.mark.parametrize("index", ["CH", "NI"])
@pytest.mark.parametrize("options", [{}, {"init": [[0.0], [5e-324]]}, {"n_clusters": "auto"}])
def test_a_range_too_small_to_divide_by(index: str, options: dict[str, Any]) -> None:
    model = ICVIARTMAP(**{"n_clusters": 2, "index": index, **options})
    with pytest.raises(ValueError, match=r"feature 0 is 4.94066e-324, too small .* Multiply"):
        model.fit([[0.0], [0.0], [0.0], [5e-324]])


@pytest.mark.parametrize("index", ["NI", "DB"])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_centres_that_coincide_or_are_far_off(index: str, far: float) -> None:
    X = np.random.default_rng(0).normal(size=(12, 1))
    model = ICVIARTMAP(6, index=index, refine=True, init=np.full((6, 1), far), random_state=0)
    assert sorted(set(model.fit(X).labels_.tolist())) == list(range(model.n_clusters_))


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "lil_matrix"])
def test_sparse_data_are_refused_with_the_reason(form: str) -> None:
    X = getattr(scipy.sparse, form)(GOOD)
    with pytest.raises(TypeError, match=r"dense data is required: complement coding"):
        model().fit(X)
    fitted = model().fit(GOOD)
    for method in (fitted.predict, fitted.transform, fitted.score):
        with pytest.raises(TypeError, match="complement coding"):
            method(X)


# --- parameters ----------------------------------------------------------------------------------

BAD_PARAMETERS: list[tuple[str, Any, type[Exception], str]] = [
    ("shuffle", "no", TypeError, "shuffle must be True or False, got 'no'"),
    ("verbose", -1, ValueError, "verbose must be at least 0"),
    ("verbose", "x", TypeError, "verbose must be an integer"),
    ("n_clusters", 0, ValueError, "n_clusters must be at least 2, got 0"),
    ("n_clusters", -1, ValueError, "n_clusters must be at least"),
    ("n_clusters", 21, ValueError, "n_clusters=21 is more than the number of samples"),
    *(("n_clusters", v, TypeError, "n_clusters must be an integer") for v in (2.5, 3.0, True)),
    ("n_clusters", "3", ValueError, 'n_clusters=.3. is unknown. Use a number, a range or "auto"'),
    ("n_clusters", range(0), ValueError, r"n_clusters=range\(0, 0\) must have at least one number"),
    ("n_clusters", range(1, 5), ValueError, r"begin at 2 or above"),
    ("n_clusters", range(2, 9, 2), ValueError, r"leave none out, as range\(2, 21\) does"),
    ("n_clusters", range(21, 25), ValueError, "is more than the number of samples"),
    ("n_clusters", None, TypeError, "n_clusters must be an integer, got None"),
    ("n_clusters", [3], TypeError, "n_clusters must be an integer"),
    ("index", "XX", ValueError, "Unknown index 'XX'.*NI, CH, WB, XB, DB, PBM.*custom_index"),
    ("index", "", ValueError, "Unknown index ''"),
    ("index", 3, TypeError, "index must be a name or an index object, got int.*NI, CH"),
    ("index", None, TypeError, "index must be a name or an index object, got NoneType"),
    ("index", len, TypeError, "index must be a name or an index object"),
    ("evaluation", "Batch", ValueError, 'evaluation must be "incremental" or "batch", got'),
    ("evaluation", None, ValueError, 'evaluation must be "incremental" or "batch", got'),
    ("prediction", "Index", ValueError, 'prediction must be "auto", "index" or "category", got'),
    ("prediction", None, ValueError, 'prediction must be "auto", "index" or "category", got None'),
    ("order", "random", ValueError, 'order must be None or "vat", got'),
    ("init", "random", ValueError, r"init='random' is unknown.*k-means\+\+.*n_clusters"),
    ("init", "K-means++", ValueError, "init='K-means.*' is unknown"),
    ("init", GOOD[:2], ValueError, r"init has shape \(2, 3\).*need \(3, 3\)"),
    ("init", GOOD[:4], ValueError, r"init has shape \(4, 3\).*need \(3, 3\)"),
    ("init", GOOD[:3, :2], ValueError, r"init has shape \(3, 2\).*need \(3, 3\)"),
    ("init", GOOD[0], ValueError, "Expected 2D array, got 1D array"),
    ("init", GOOD[None, :3], ValueError, "dim 3"),
    ("init", np.full((3, 3), np.nan), ValueError, "init contains NaN"),
    ("init", np.full((3, 3), np.inf), ValueError, "init contains infinity"),
    ("init", np.full((3, 3), "a"), ValueError, "could not convert string to float"),
    ("init", None, ValueError, "."),
    ("random_state", "seed", ValueError, "cannot be used to seed"),
    ("random_state", -1, ValueError, "."),
]
for name in ("max_epochs", "n_init", "kmeans_trials"):
    BAD_PARAMETERS += [
        (name, 0, ValueError, f"{name} must be at least 1, got 0"),
        (name, -3, ValueError, f"{name} must be at least 1, got -3"),
        (name, 1.5, TypeError, f"{name} must be an integer, got 1.5 of type float"),
        (name, True, TypeError, f"{name} must be an integer"),
        (name, "2", TypeError, f"{name} must be an integer"),
        (name, None, TypeError, f"{name} must be an integer"),
    ]
for name, most in (("max_epochs", "1,000,000"), ("n_init", "10,000"), ("kmeans_trials", "10,000")):
    BAD_PARAMETERS += [
        (name, number, ValueError, f"{name} must be at most {most}, got 100000")
        for number in (10**9, 10**400)
    ]
RANGES: dict[str, tuple[str, list[float]]] = {
    "rho_a": (r"\[0, 1\]", [-0.1, 1.1]),
    "rho_ab": (r"\[0, 1\]", [-0.1, 1.1]),
    "beta_a": (r"\(0, 1\]", [0.0, -0.5, 1.1]),
    "beta_ab": (r"\(0, 1\]", [0.0, -0.5, 1.1]),
    "alpha": (r"\(0, inf\)", [0.0, -1.0]),
    "epsilon": (r"\[0, 1\]", [-0.1, 1.1]),
    "tol": (r"\[0, inf\)", [-1e-9]),
}
for name, (interval, values) in RANGES.items():
    BAD_PARAMETERS += [
        (name, value, ValueError, f"{name} must be in {interval}, got {value}")
        for value in [*values, np.nan, np.inf, -np.inf]
    ]
    BAD_PARAMETERS += [
        (name, value, TypeError, f"{name} must be a number")
        for value in ("0.5", None, True, [0.5], 1j)
    ]


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    BAD_PARAMETERS,
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_bad_parameters(name: str, value: Any, error: type[Exception], message: str) -> None:
    estimator = model(**{name: value})  # as scikit-learn wants it: no check before fit
    with pytest.raises(error, match=message):
        estimator.fit(GOOD)
    assert not hasattr(estimator, "labels_")


#: What makes no sense for any parameter, and would fill a screen.
ENDLESS: dict[str, Any] = {
    "text": "x" * 1000,
    "number": 10**400,
    "array": np.zeros(1000),
    "list": [[0.5] * 1000],
}


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("name", ICVIARTMAP().get_params())
def test_messages_are_short_whatever_comes(name: str, kind: str) -> None:
    if kind == "number" and name in ("verbose", "n_axes"):
        return  # as large as one likes
    with pytest.raises((ValueError, TypeError)) as caught:
        model(**{name: ENDLESS[kind]}).fit(GOOD)
    assert len(str(caught.value)) <= 300
    assert "ambiguous" not in str(caught.value)


@pytest.mark.parametrize(
    "X",
    [changed(np.nan), np.full((20, 3), "x" * 1000), np.zeros(1000), np.zeros((20, 1, 1000))],
    ids=["NaN", "text", "one dimension", "three dimensions"],
)
@pytest.mark.parametrize("estimator", [model(), FuzzyART()], ids=["ICVIARTMAP", "FuzzyART"])
def test_messages_about_data_are_short(estimator: Any, X: np.ndarray) -> None:
    with pytest.raises(ValueError) as caught:
        estimator.fit(X)
    assert len(str(caught.value)) <= 300


def test_one_cluster_is_refused() -> None:
    message = "n_clusters=1 is not a clustering.*n_clusters >= 2"
    with pytest.raises(ValueError, match=message):
        model(n_clusters=1)
    with pytest.raises(ValueError, match=message):
        model().set_params(n_clusters=1)
    estimator = model()
    estimator.n_clusters = 1  # as scikit-learn's checks do, who want a fit
    with pytest.warns(RuntimeWarning, match=message):
        estimator.fit(GOOD)
    assert estimator.n_clusters_ == 1
    assert not estimator.labels_.any()


@pytest.mark.parametrize(
    "options",
    [
        {"rho_a": 1.0, "rho_ab": 0.0},
        {"rho_a": 0, "rho_ab": 1},
        {"beta_a": 1e-6, "beta_ab": 1.0},
        {"alpha": 1e-12, "epsilon": 0.0},
        {"alpha": 1e6, "epsilon": 1.0},
        {"tol": 0.0, "max_epochs": 1},
        {"n_clusters": 20},
        {"n_clusters": 2, "kmeans_trials": 1},
    ],
)
@pytest.mark.parametrize("index", ["CH", "NI"])
def test_ends_of_the_ranges(index: str, options: dict[str, Any]) -> None:
    assert_sound(model(index=index, **options), GOOD)


# --- data with little in them --------------------------------------------------------------------


def assert_sound(estimator: ICVIARTMAP, X: np.ndarray) -> ICVIARTMAP:
    """A result without a NaN anywhere, labels 0 to k - 1, and predictions among them."""
    estimator.fit(X)
    k = estimator.n_clusters_
    assert 1 <= k <= estimator.n_clusters
    assert np.unique(estimator.labels_).tolist() == list(range(k))
    assert not np.isnan(estimator.index_value_)
    assert not np.isnan(estimator.index_history_).any()
    assert np.isfinite(estimator.cluster_centers_).all()
    assert np.isfinite(estimator.categories_).all()
    assert np.isfinite(estimator.map_field_).all()
    for prediction in ("index", "category", "auto"):
        estimator.prediction = prediction
        assert set(estimator.predict(X)) <= set(range(k))
    assert np.isfinite(estimator.transform(X)).all()
    assert not np.isnan(estimator.score(X))
    return estimator


POOR_DATA: dict[str, np.ndarray] = {
    "all equal": np.full((10, 2), 3.3),
    "all zero": np.zeros((10, 2)),
    "two distinct": np.repeat([[0.0, 1.0], [5.0, 2.0]], 6, axis=0),
    "one differs": np.vstack([np.full((9, 2), 0.1), [[7.0, 7.0]]]),
    "as many distinct as clusters": np.repeat(np.eye(3), 4, axis=0),
    "one constant column": np.column_stack([GOOD[:, 0], np.full(20, 7.3)]),
    "one column": GOOD[:, :1],
    "one column of two values": (GOOD[:, :1] > 0).astype(float),
    "as many samples as clusters": GOOD[:3],
    "huge": GOOD * 1e300,
    "tiny": GOOD * 1e-300,
    "mixed units": GOOD * [1e300, 1.0, 1e-300],
    "offset": GOOD * 1e-3 + 1e12,
    "an outlier": changed(1e15),
    "more features than samples": np.random.default_rng(1).normal(size=(6, 40)),
    "equal columns": np.repeat(GOOD[:, :1], 3, axis=1),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", POOR_DATA)
@pytest.mark.parametrize("index", NAMES)
def test_poor_data_give_a_result(index: str, case: str) -> None:
    for rho_a in (0.0, 0.9):
        assert_sound(model(index=index, rho_a=rho_a), POOR_DATA[case])


@pytest.mark.parametrize("case", ["all equal", "two distinct", "one column", "tiny"])
@pytest.mark.parametrize("index", OF_BATCHES)
def test_poor_data_in_batch_evaluation(index: str, case: str) -> None:
    fitted = assert_sound(model(index=index, evaluation="batch"), POOR_DATA[case])
    expected = model(index=index).fit(POOR_DATA[case])
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)


@pytest.mark.parametrize("index", NAMES)
def test_equal_samples_are_one_cluster_of_the_worst_value(index: str) -> None:
    fitted = model(index=index).fit(POOR_DATA["all equal"])
    assert fitted.n_clusters_ == 1
    assert INDICES[index].direction * fitted.index_value_ == -np.inf


@pytest.mark.parametrize("index", NAMES)
def test_distinct_samples_are_found(index: str) -> None:
    """Three places, three clusters: nothing is better under any index."""
    fitted = model(index=index).fit(POOR_DATA["as many distinct as clusters"])
    assert fitted.n_clusters_ == 3
    for i in range(3):
        assert len(np.unique(fitted.labels_[4 * i : 4 * i + 4])) == 1


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_units_near_the_ends_of_float64_change_no_label(unit: float) -> None:
    power = 2.0 ** np.round(np.log2(unit))
    expected = model(index="NI").fit(GOOD)
    fitted = model(index="NI").fit(GOOD * power)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    np.testing.assert_allclose(fitted.cluster_centers_, expected.cluster_centers_ * power)


# --- after the fit -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_not_fitted(method: str) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(model(), method)(GOOD)


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (GOOD[:, :2], "X has 2 features, but ICVIARTMAP is expecting 3 features"),
        (np.hstack([GOOD, GOOD]), "X has 6 features"),
        (GOOD[0], "Expected 2D array, got 1D array"),
        (GOOD[:0], r"0 sample\(s\)"),
        (changed(np.nan), "contains NaN"),
        (changed(np.inf), "contains infinity"),
    ],
)
def test_new_data_that_do_not_fit(method: str, X: np.ndarray, message: str) -> None:
    fitted = model().fit(GOOD)
    with pytest.raises(ValueError, match=message):
        getattr(fitted, method)(X)


def test_a_failed_fit_leaves_the_fitted_model_alone() -> None:
    fitted = model().fit(GOOD)
    labels = fitted.labels_
    with pytest.raises(ValueError, match="contains NaN"):
        fitted.fit(changed(np.nan))
    assert fitted.labels_ is labels
    np.testing.assert_array_equal(fitted.predict(GOOD), model().fit(GOOD).predict(GOOD))


@pytest.mark.parametrize(
    ("X", "index", "error", "message"),
    [
        (changed(np.nan), "CH", ValueError, "contains NaN"),
        (GOOD[:, 0], "CH", ValueError, "Expected 2D array"),
        (GOOD, "nope", ValueError, "Unknown index 'nope'"),
        (scipy.sparse.csr_array(GOOD), "CH", TypeError, "[Ss]parse"),
    ],
)
def test_index_value_refuses(X: Any, index: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        index_value(X, np.arange(20) % 2, index)
