"""Gaps, skew and categories: what is learned, and that every row is prepared by itself."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import PowerTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.models import assert_same_model
from icvi_artmap import (
    ICVIARTMAP,
    CategoryDisplay,
    ICVIARTMAPSearch,
    IndexTraceDisplay,
    PartitionDisplay,
    ProfileDisplay,
    explain,
    index_value,
    load,
    save,
    write_report,
)
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.estimators.fitted import is_training_data
from icvi_artmap.preparation import choosing, columns, fills, mixed, transforms

MISSING = ("error", "drop", "mean", "median", "neighbours")
TRANSFORMS = ("none", "clip", "power", "auto")
CATEGORIES: tuple[Any, ...] = (None, "auto", [2])
SETTINGS = [
    (missing, transform, categories)
    for missing, transform, categories in itertools.product(MISSING, TRANSFORMS, CATEGORIES)
    if (missing, transform, categories) != ("error", "none", None)
]


def with_gaps(X: NDArray[np.float64], part: float, seed: int = 0) -> NDArray[np.float64]:
    """The same with a random part of the cells missing, and a value left in every row."""
    gaps = np.random.RandomState(seed).random_sample(X.shape) < part
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, X)


def real_looking(missing: str, categories: Any, n: int = 80) -> NDArray[np.float64]:
    """Two clusters: a skewed column, a plain one, and one of three values."""
    rng = np.random.RandomState(1)
    y = np.arange(n) % 2
    X = np.column_stack(
        [
            np.exp(rng.normal(size=n) + 2 * y),
            rng.normal(size=n) + 4 * y,
            (y + (rng.random_sample(n) < 0.2)) % 3 if categories else rng.normal(size=n),
        ]
    )
    return X if missing == "error" else with_gaps(X, 0.04)


@pytest.fixture(scope="module")
def models() -> dict[tuple[Any, ...], tuple[ICVIARTMAP, NDArray[np.float64]]]:
    """A model for every setting, and what it was fitted on."""
    found = {}
    for missing, transform, categories in SETTINGS:
        X = real_looking(missing, categories)
        model = ICVIARTMAP(
            2, missing=missing, transform_columns=transform, categories=categories, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[missing, transform, str(categories)] = model.fit(X), X
    return found


KEYS = [(missing, transform, str(categories)) for missing, transform, categories in SETTINGS]


def answers(model: ICVIARTMAP, X: Any) -> list[NDArray[Any]]:
    return [
        model.predict(X),
        model.transform(X),
        model.membership(X),
        model.outlier_score(X),
        explain(model, X).index_values,
        model.preparation_.prepared(np.asarray(X)),
    ]


@settings(max_examples=4, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("key", KEYS, ids=lambda key: "-".join(key))
def test_a_row_is_the_same_beside_any_others(models, key, data):
    model, X = models[key]
    extra = [[1e3, -1e3, 7.0]] if key[0] == "error" else [[np.nan, -1e3, 7.0]]
    pool = np.concatenate([X, extra])
    rows = data.draw(st.lists(st.integers(0, len(pool) - 1), min_size=1, max_size=12))
    together = answers(model, pool[rows])
    for at, row in enumerate(rows):
        alone = answers(model, pool[[row]])
        for whole, single in zip(together[:1] + together[5:], alone[:1] + alone[5:], strict=True):
            assert_array_equal(whole[at], single[0])
        for whole, single in zip(together[1:5], alone[1:5], strict=True):
            assert_allclose(whole[at], single[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: "-".join(key))
def test_every_setting_goes_to_a_file_and_back(models, key, tmp_path: Path):
    model, X = models[key]
    save(model, tmp_path / "m.icvi")
    twin = load(tmp_path / "m.icvi")
    assert_same_model(model, twin)
    for ours, theirs in zip(answers(model, X), answers(twin, X), strict=True):
        assert_array_equal(ours, theirs)
    assert twin.score(X) == model.score(X)
    assert is_training_data(twin, X)
    assert str(explain(twin, X[:3], samples=[0, 1, 2])) == str(
        explain(model, X[:3], samples=[0, 1, 2])
    )
    save(twin, tmp_path / "again.icvi")
    assert (tmp_path / "again.icvi").read_bytes() == (tmp_path / "m.icvi").read_bytes()


@pytest.mark.parametrize("key", KEYS, ids=lambda key: "-".join(key))
def test_what_a_model_says_is_in_the_units_of_the_data(models, key):
    model, X = models[key]
    whole = model.fitted_.filled(X)
    trained = slice(None) if model.fitted_.trained is None else model.fitted_.trained
    clusters = model.sample_clusters_[trained]
    numbers = [f for f, one in enumerate(model.preparation_.values) if one is None]
    for i in range(model.n_clusters_):
        mean = whole[trained][clusters == i].mean(axis=0)
        assert_allclose(model.cluster_centers_[i, numbers], mean[numbers], rtol=1e-9, atol=1e-9)
    lower, upper = model.categories_[model.sample_categories_[trained]].transpose(1, 0, 2)
    assert ((whole[trained] >= lower) & (whole[trained] <= upper)).all()
    why = explain(model, X[:4])
    assert_array_equal(why.rows, whole[:4])
    assert len(why.profile_names) == why.profiles.mean.shape[1]


# --- gaps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0.03, 0.1])
@pytest.mark.parametrize("missing", ["drop", "mean", "median", "neighbours"])
@pytest.mark.parametrize("d", [2, 5])
def test_gaps_make_no_clusters(missing, part, d):
    X, y = make_gaussian_clusters(5, d, n_samples=1_000, random_state=0)
    model = ICVIARTMAP("auto", missing=missing, random_state=0).fit(with_gaps(X, part))
    assert model.n_clusters_ == 5
    complete = ~np.isnan(with_gaps(X, part)).any(axis=1)
    assert adjusted_rand_score(y[complete], model.labels_[complete]) > 0.97
    assert (model.labels_ == -3).any() == (missing == "drop")


def test_rows_with_gaps_get_what_is_predicted():
    X = with_gaps(make_gaussian_clusters(3, 3, n_samples=300, random_state=0)[0], 0.1)
    for missing in ("drop", "neighbours"):
        model = ICVIARTMAP(3, missing=missing, random_state=0).fit(X)
        gaps = np.isnan(X).any(axis=1)
        assert_array_equal(model.fitted_.trained, ~gaps)
        assert_array_equal(model.labels_[gaps], model.predict(X[gaps]))
        assert (model.predict(X[gaps]) == -3).all() == (missing == "drop")
        assert (model.sample_clusters_ >= 0).all()


def test_few_rows_without_gaps_are_not_all_there_is():
    X = with_gaps(make_gaussian_clusters(3, 3, n_samples=300, random_state=0)[0], 0.4)
    assert ICVIARTMAP(3, missing="mean", random_state=0).fit(X).fitted_.trained is None
    with pytest.raises(ValueError, match="too few for 90 clusters"):
        ICVIARTMAP(90, missing="drop").fit(X)


@pytest.mark.parametrize("how", ["mean", "median"])
def test_fills_are_those_of_scikit_learn(how):
    X = with_gaps(np.random.RandomState(0).normal(size=(50, 4)), 0.2)
    learned = fills.learn_fills(X, how, np.zeros(4, bool))
    expected = SimpleImputer(strategy=how).fit(X)
    new = with_gaps(np.random.RandomState(1).normal(size=(20, 4)), 0.3, seed=2)
    assert_allclose(fills.filled(new, learned, np.zeros(4, bool)), expected.transform(new))


def test_neighbours_are_those_of_scikit_learn():
    X = with_gaps(np.random.RandomState(0).normal(size=(60, 4)), 0.2)
    X /= np.nanstd(X, axis=0)
    learned = fills.learn_fills(X, "neighbours", np.zeros(4, bool))
    new = with_gaps(np.random.RandomState(1).normal(size=(20, 4)), 0.4, seed=2)
    new = np.concatenate([new, np.full((1, 4), np.nan)])
    expected = KNNImputer(n_neighbors=5).fit(X).transform(new)
    assert_allclose(fills.filled(new, learned, np.zeros(4, bool)), expected, rtol=1e-12)


def test_no_more_rows_than_that_are_kept():
    X = np.random.RandomState(0).normal(size=(3_000, 2))
    learned = fills.learn_fills(X, "neighbours", np.zeros(2, bool))
    assert learned.reference.shape == (fills.REFERENCES, 2)


def test_a_category_is_filled_by_the_commonest_value():
    X = np.array([[0.0, 1.0], [0.0, 1.1], [1.0, 5.0], [1.0, 5.1], [1.0, 5.2], [np.nan, 1.0]])
    coded = np.array([True, False])
    gap = np.array([[np.nan, 1.05]])
    assert fills.filled(gap, fills.learn_fills(X, "mean", coded), coded)[0, 0] == 1.0
    near = fills.learn_fills(X[:5], "neighbours", coded)._replace()
    assert fills.filled(gap, near, coded)[0, 0] == 1.0  # three of the five nearest


def test_a_cluster_of_filled_cells_is_told():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 12))
    X[:20, 3] = np.nan
    X[np.arange(20, 60), rng.randint(4, 12, 40)] = np.nan
    X[:20, :3] += 8.0
    with pytest.warns(RuntimeWarning, match="is made of filled cells: 100% of its rows"):
        model = ICVIARTMAP(2, missing="mean", random_state=0).fit(X)
    assert "no value of 'feature 3' (of all rows 33%)" in model.cautions_[0]


# --- skew ----------------------------------------------------------------------------------------


def test_skew_is_undone():
    X, y = load_breast_cancer(return_X_y=True)
    found = {how: ICVIARTMAP(2, transform_columns=how, random_state=0).fit(X) for how in TRANSFORMS}
    aris = {how: adjusted_rand_score(y, model.labels_) for how, model in found.items()}
    assert aris["none"] < 0.1
    assert aris["clip"] > 0.65
    assert aris["power"] > 0.85
    assert aris["auto"] == aris["power"]
    assert found["auto"].preparation_.chosen == "power"


@pytest.mark.parametrize("how", ["none", "clip", "power"])
def test_transforms_turn_back(how):
    rng = np.random.RandomState(0)
    X = np.column_stack(
        [np.exp(2 * rng.normal(size=200)), rng.standard_cauchy(200), -np.exp(rng.normal(size=200))]
    )
    learned = transforms.learn_transform(X, how, np.zeros(3, bool))
    there = transforms.transformed(X, learned)
    assert_allclose(transforms.turned_back(there, learned), X, rtol=1e-9)
    order = np.argsort(X, axis=0)
    assert (np.diff(np.take_along_axis(there, order, axis=0), axis=0) >= 0.0).all()


@pytest.mark.parametrize("how", ["clip", "power"])
def test_slopes_are_derivatives(how):
    rng = np.random.RandomState(0)
    X = np.column_stack([np.exp(2 * rng.normal(size=200)), rng.standard_cauchy(200)])
    learned = transforms.learn_transform(X, how, np.zeros(2, bool))
    step = 1e-6 * np.abs(X)
    rise = transforms.transformed(X + step, learned) - transforms.transformed(X - step, learned)
    expected = np.log(rise / (2 * step)).sum(axis=1)
    assert_allclose(transforms.log_slopes(X, learned), expected, rtol=1e-4, atol=1e-4)


def test_powers_are_those_of_scikit_learn():
    x = np.exp(np.random.RandomState(0).normal(size=(100, 1)))
    learned = transforms.learn_transform(x, "power", np.zeros(1, bool))
    z = (x - learned.centre) / learned.width
    expected = PowerTransformer(standardize=False).fit(z)
    assert_allclose(learned.power, expected.lambdas_)
    assert_allclose(transforms.transformed(x, learned), expected.transform(z), rtol=1e-9)


def test_powers_do_not_depend_on_units():
    x = np.exp(np.random.RandomState(0).normal(size=(100, 1)))
    one, other = (
        transforms.transformed(u * x, transforms.learn_transform(u * x, "power", np.zeros(1, bool)))
        for u in (1.0, 1e-6)
    )
    assert_allclose(one, other, rtol=1e-6)


def test_values_within_three_deviations_stay():
    x = np.append(np.random.RandomState(0).normal(size=99), 50.0)[:, None]
    learned = transforms.learn_transform(x, "clip", np.zeros(1, bool))
    there = transforms.transformed(x, learned)
    near = np.abs(x - learned.centre) <= 3 * learned.width
    assert_array_equal(there[near], x[near])
    assert 3.0 < (there[-1, 0] - learned.centre[0]) / learned.width[0] < 12.0


@pytest.mark.parametrize("how", TRANSFORMS)
def test_columns_that_are_hard_to_transform(how):
    rng = np.random.RandomState(0)
    n = 120
    X = np.column_stack(
        [
            np.full(n, 3.0),
            np.arange(n) % 2,
            np.r_[np.zeros(n - 10), rng.random_sample(10)],
            np.r_[np.zeros(n - 1), 1e300],
            np.exp(30 * rng.random_sample(n)),
            rng.normal(size=n) * 1e-300,
            rng.normal(size=n) + 1e9,
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        model = ICVIARTMAP(2, transform_columns=how, random_state=0).fit(X)
        far = np.array([[1e308] * 7, [-1e308] * 7])
        assert set(model.predict(far)) <= {0, 1}
    assert np.isfinite(model.cluster_centers_).all()


def test_the_choice_leaves_normal_columns_alone():
    X, _ = make_gaussian_clusters(3, 3, n_samples=600, random_state=0)
    model = ICVIARTMAP(3, transform_columns="auto", random_state=0).fit(X)
    assert model.preparation_.chosen == "none"
    assert_array_equal(model.labels_, ICVIARTMAP(3, random_state=0).fit(X).labels_)


def test_columns_with_piles_have_no_density_to_compare():
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.normal(size=100), np.r_[np.zeros(30), rng.exponential(size=70)]])
    assert_array_equal(transforms.piles(X), [False, True])
    _, learned = choosing.chosen_transform(X, np.zeros(2, bool), lambda T: (T[:, 0] > 0) * 1)
    assert learned.kind[1] == transforms.NONE


# --- categories ----------------------------------------------------------------------------------


def frame(n: int = 90, seed: int = 0) -> pd.DataFrame:
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 3
    return pd.DataFrame(
        {
            "width": rng.normal(size=n) + 3 * y,
            "colour": np.array(["red", "green", "blue"])[(y + (rng.random_sample(n) < 0.1)) % 3],
            "length": rng.normal(size=n) - 3 * y,
            "big": y == 2,
        }
    )


def test_text_and_two_values_are_categories():
    table = frame()
    model = ICVIARTMAP(3, index="CH", categories="auto", random_state=0).fit(table)
    assert model.preparation_.values == (None, ("blue", "green", "red"), None, (0.0, 1.0))
    assert adjusted_rand_score(np.arange(len(table)) % 3, model.labels_) > 0.8
    assert set(model.cluster_centers_[:, 1]) == {0.0, 1.0, 2.0}
    why = explain(model, table[:2])
    assert why.feature_names == list(table.columns)
    assert why.profile_names[2:4] == ["colour = blue", "colour = green"]
    assert "colour = " in str(why)


@pytest.mark.parametrize(
    "make",
    [
        lambda t: polars.from_pandas(t),
        lambda t: t.assign(
            colour=t.colour.astype("category"), width=t.width.astype("Float64"), big=t.big * 1
        ),
        lambda t: t.astype({"colour": "string", "big": "boolean"}),
    ],
)
def test_frames_of_all_kinds_are_the_same(make):
    table = frame()
    model = ICVIARTMAP(3, index="CH", categories="auto", random_state=0)
    expected = clone(model).fit(table)
    other = clone(model).fit(make(table))
    assert_array_equal(other.labels_, expected.labels_)
    assert_array_equal(expected.predict(make(table)), expected.predict(table))
    plain = clone(model).fit(table.to_numpy(dtype=object))
    assert_array_equal(plain.labels_, expected.labels_)
    assert_array_equal(clone(model).fit(table.to_numpy(object).tolist()).labels_, plain.labels_)


def test_a_value_that_was_not_there_is_neutral():
    table = frame()
    model = ICVIARTMAP(3, index="CH", categories="auto", random_state=0).fit(table)
    new = table[:1].assign(colour="violet")
    space = model.preparation_.mixed
    row = model.preparation_.prepared(
        columns.coded(columns.columns_of(new), list(new.columns), model.preparation_.values)
    )
    neutral = mixed.indicators(
        np.array([[1.0, 9.0]]), np.array([0, 3]), np.array([0, 0.2, 0.3, 0.5])
    )
    assert_array_equal(neutral, [[1.0, 0.2, 0.3, 0.5]])
    assert np.isfinite(row).all()
    assert row.shape == (1, len(space.axes))
    assert model.predict(new)[0] == model.predict(table[:1])[0]


def test_gaps_among_categories_are_filled():
    table = frame().astype({"colour": object, "big": object})
    table.loc[3, "colour"] = None
    table.loc[4, "big"] = pd.NA
    table.loc[5, "width"] = np.nan
    model = ICVIARTMAP(3, index="CH", categories="auto", missing="neighbours", random_state=0)
    labels = model.fit(table).labels_
    assert adjusted_rand_score(np.arange(len(table)) % 3, labels) > 0.8
    assert_array_equal(model.predict(table[3:6]), labels[3:6])
    with pytest.raises(ValueError, match="needs a value in every cell"):
        model.set_params(missing="error").fit(table)


def test_axes_are_those_of_factor_analysis():
    """Of numbers alone the space is that of principal components; of two halves it is 1 and -1."""
    rng = np.random.RandomState(0)
    x = rng.normal(size=(200, 1))
    X = np.hstack([x + 0.1 * rng.normal(size=(200, 1)), x, (x > np.median(x)) * 1.0])
    n_values = np.array([0, 0, 2])
    space = mixed.learn_mixed(X, n_values)
    table = (mixed.indicators(X, n_values) - space.mean) / space.scale
    assert_allclose(table[:, :2].std(axis=0), 1.0)
    assert_allclose(np.abs(table[:, 2:]), np.sqrt(0.5))
    assert_allclose(space.axes @ space.axes.T, np.eye(len(space.axes)), atol=1e-12)
    values = np.linalg.eigvalsh(table.T @ table / len(table))[::-1]
    along = mixed.along_axes(X, space, n_values)
    assert_allclose(along.var(axis=0), values[: len(space.axes)], rtol=1e-9)
    assert_allclose(along, table @ space.axes.T, atol=1e-12)
    assert_allclose(mixed.from_axes(along, space, n_values)[:, 2], X[:, 2])


def test_clusters_that_are_one_column_are_told():
    X = load_diabetes().data
    with pytest.warns(RuntimeWarning, match="just the values of 'feature 1'"):
        model = ICVIARTMAP(2, resolution="none", random_state=0).fit(X)
    assert len(model.cautions_) == 1
    assert ICVIARTMAP(2, random_state=0).fit(X).cautions_ == ()  # two values are a coarse column
    assert ICVIARTMAP(2, random_state=0).fit(np.delete(X, 1, axis=1)).cautions_ == ()


@pytest.mark.parametrize(
    "parameters", [{"missing": "mean"}, {"transform_columns": "clip"}, {"categories": "auto"}]
)
def test_rows_in_pieces_are_not_prepared(parameters):
    model = ICVIARTMAP(2, **parameters)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as told:
        model.partial_fit(np.eye(4))
    assert "Prepare the rows before" in str(told.value.__cause__)


# --- wrong input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "wrong"),
    [
        ({"missing": "mode"}, 'missing must be "error", "drop"'),
        ({"missing": None}, "missing must be"),
        ({"transform_columns": "log"}, 'transform_columns must be "none", "clip"'),
        ({"categories": "all"}, "categories must be"),
        ({"categories": 3}, "categories must be"),
        ({"categories": ["nothing"]}, "neither the name of a column nor a position from 0 to 1"),
        ({"categories": [2]}, "neither the name of a column"),
        ({"categories": [0.5]}, "neither the name of a column"),
    ],
)
def test_wrong_parameters(parameters, wrong):
    with pytest.raises((ValueError, TypeError), match=wrong):
        ICVIARTMAP(2, **parameters).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])


X3 = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]


@pytest.mark.parametrize(
    ("parameters", "X", "wrong"),
    [
        ({"missing": "mean"}, np.column_stack([X3, [np.nan] * 4]), "Without any value: column"),
        ({"missing": "mean"}, np.column_stack([X3, [np.inf] * 4]), "infinity"),
        ({"categories": [1]}, np.column_stack([X3, [np.inf] * 4]), "infinity"),
        ({"missing": "drop"}, np.full((4, 2), np.nan), "Only 0 rows of 4"),
        ({"categories": "auto"}, pd.DataFrame({"a": [1, 2], "b": [None, None]}), "needs a value"),
        (
            {"categories": [1]},
            pd.DataFrame({"a": list("xyzw"), "b": [1, 2, 1, 2]}),
            "could not convert string to float: 'x' in column 'a'",
        ),
        (
            {"categories": "auto"},
            pd.DataFrame({"a": pd.date_range("2020", periods=4), "b": [1, 2, 1, 2]}),
            "Turn dates into numbers",
        ),
        ({"categories": "auto"}, [[{}, 1], [2, 3]], "argument must be a string or a number"),
        ({"categories": "auto"}, [1, 2, 3], "Expected 2D array"),
        (
            {"categories": [0]},
            np.arange(400.0).reshape(200, 2),
            "has 200 different values, and a category at most 100",
        ),
    ],
)
def test_wrong_data(parameters, X, wrong):
    with pytest.raises((ValueError, TypeError), match=wrong):
        ICVIARTMAP(2, **parameters).fit(X)


def test_a_column_without_a_value_is_no_category():
    table = pd.DataFrame({"a": [0.0, 1.0, 5.0, 6.0], "b": [None] * 4})
    with pytest.raises(ValueError, match="Without any value: column 'b'"):
        ICVIARTMAP(2, categories="auto", missing="mean").fit(table)
    with pytest.raises(ValueError, match="'b' has no value at all"):
        ICVIARTMAP(2, categories=["b"], missing="mean").fit(table)


def test_new_rows_are_checked():
    model = ICVIARTMAP(2, missing="mean", random_state=0).fit(X3)
    assert model.predict([[np.nan, np.nan]]).shape == (1,)
    with pytest.raises(ValueError, match="infinity"):
        model.predict([[np.inf, 1.0]])
    with pytest.raises(ValueError, match="features"):
        model.predict([[1.0]])
    table = frame()
    model = ICVIARTMAP(3, index="CH", categories="auto", random_state=0).fit(table)
    with pytest.raises(ValueError, match="could not convert string"):
        model.predict(table[:2].assign(width="wide"))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["colour", "width", "length", "big"]])


@parametrize_with_checks([ICVIARTMAP(3, missing="mean", categories="auto", random_state=0)])
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        check(estimator)


def test_a_search_prepares_no_rows():
    search = ICVIARTMAPSearch(ICVIARTMAP(2, missing="mean"), rho_a=[0.0], rho_ab=[1.0])
    with pytest.raises(ValueError, match="must not prepare its rows"):
        search.fit(X3)


def test_gaps_are_refused_by_default():
    with pytest.raises(ValueError, match="needs a value in every cell"):
        ICVIARTMAP(2).fit([[0.0, np.nan], [1.0, 2.0]])


def test_clusters_of_any_shape_with_gaps(tmp_path: Path):
    rng = np.random.RandomState(0)
    angle = rng.uniform(0, 2 * np.pi, 600)
    radius = np.repeat([1.0, 4.0], 300) + 0.1 * rng.normal(size=600)
    X = with_gaps(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), 0.03)
    options: dict[str, Any] = {"missing": "neighbours", "transform_columns": "clip"}
    model = ICVIARTMAP(2, shape="any", random_state=0, **options).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1], 300), model.labels_) > 0.9
    assert len(model.components_.labels) == len(X)
    save(model, tmp_path / "m.icvi")
    assert_same_model(model, load(tmp_path / "m.icvi"))


def test_a_start_is_prepared_too():
    X, _ = make_gaussian_clusters(3, 2, n_samples=300, random_state=0)
    X = np.exp(X / 3)
    centres = ICVIARTMAP(3, transform_columns="power", random_state=0).fit(X).cluster_centers_
    model = ICVIARTMAP(3, transform_columns="power", init=centres, random_state=0).fit(X)
    assert model.n_clusters_ == 3


def test_a_report_of_prepared_rows(tmp_path: Path):
    table = frame()
    table.loc[3, "width"] = np.nan
    options: dict[str, Any] = {"categories": "auto", "missing": "mean"}
    model = ICVIARTMAP(3, index="CH", random_state=0, transform_columns="clip", **options)
    text = write_report(tmp_path / "r.html", model.fit(table), table).read_text()
    assert "colour = red" in text
    model = ICVIARTMAP(3, missing="drop", random_state=0)
    numbers = table[["width", "length"]]
    text = write_report(tmp_path / "r.html", model.fit(numbers), numbers).read_text()
    assert "1 row with missing values was left out" in text


def test_pictures_of_prepared_rows():
    table = frame()
    table.loc[3, "width"] = np.nan
    options: dict[str, Any] = {"categories": "auto", "missing": "mean"}
    model = ICVIARTMAP(3, index="CH", random_state=0, transform_columns="clip", **options)
    model.fit(table, trace=True)
    shown = PartitionDisplay.from_estimator(model, table, projection=(0, 2), boxes=True)
    assert shown.points.shape == (90, 2)
    assert_array_equal(shown.labels, model.labels_)
    assert CategoryDisplay.from_estimator(model, table).points.shape == (90, 2)
    assert "colour = red" in ProfileDisplay.from_estimator(model).feature_names
    trace = IndexTraceDisplay.from_estimator(model, table, reference=model.labels_)
    trained = model.fitted_.trained
    seen = model.fitted_.prepared(model.preparation_.filled(coded(model, table)))[trained]
    assert trace.reference == index_value(seen, model.labels_[trained], "CH")
    model = ICVIARTMAP(3, missing="drop", random_state=0).fit(table[["width", "length"]])
    shown = PartitionDisplay.from_estimator(model, table[["width", "length"]])
    assert set(shown.labels) == {-1, 0, 1, 2}


def coded(model: ICVIARTMAP, table: pd.DataFrame) -> NDArray[np.float64]:
    names = list(table.columns)
    return columns.coded(columns.columns_of(table), names, model.preparation_.values)


@pytest.mark.skipif(not hasattr(ICVIARTMAP, "set_callbacks"), reason="no callbacks")
def test_callbacks_see_the_units_of_the_data():
    from sklearn.callback import ScoringMonitor

    X, y = make_gaussian_clusters(3, 2, n_samples=300, random_state=0)
    monitor = ScoringMonitor(scoring="adjusted_rand_score")
    model = ICVIARTMAP(3, missing="mean", transform_columns="power", random_state=0)
    model.set_callbacks(monitor).fit(with_gaps(np.exp(X / 3), 0.02), y)
    log = monitor.get_logs().data_as_pandas
    complete = model.fitted_.trained
    expected = adjusted_rand_score(y[complete], model.predict(np.exp(X / 3)[complete]))
    assert log["adjusted_rand_score"].iloc[-1] == pytest.approx(expected)


def test_parameters_set_after_a_fit_change_nothing_of_it():
    X = with_gaps(make_gaussian_clusters(3, 3, n_samples=300, random_state=0)[0], 0.05)
    model = ICVIARTMAP(3, missing="mean", transform_columns="clip", random_state=0).fit(X)
    expected = model.predict(X)
    model.set_params(missing="error", transform_columns="none", categories="auto")
    assert_array_equal(model.predict(X), expected)


def test_a_notebook_tells_rows_that_are_left_out():
    X = with_gaps(make_gaussian_clusters(3, 3, n_samples=300, random_state=0)[0], 0.05)
    model = ICVIARTMAP(3, missing="drop", random_state=0).fit(X)
    count = int(np.isnan(X).any(axis=1).sum())
    assert f"{count} samples with missing values" in model._repr_html_()
    assert "Noise" not in model._repr_html_()
