"""Explanations: values against batch, bounds against the categories, words against both."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import oracle
from helpers.own_indices import batch, every_index
from helpers.partitions import labelled, new_rows
from icvi_artmap import ICVIARTMAP, Explanation, explain
from icvi_artmap.samples.scaling import learn_scaling, standardised_table

NAMES = ["length", "width", "a rather long name of a feature, in mm"]


def fit(X: Any, index: Any = "CH", k: int = 3, **options: Any) -> ICVIARTMAP:
    return ICVIARTMAP(k, index=index, random_state=0, **options).fit(X)


@pytest.fixture(scope="module", name="X")
def three_clusters() -> np.ndarray:
    """Cluster sizes 10, 15 and 20; the first differs in feature 0, the second in 2."""
    rng = np.random.default_rng(0)
    means = np.repeat(
        [[90.0, 5.0, -1.0], [20.0, 5.0, 30.0], [20.0, 5.5, -1.0]], [10, 15, 20], axis=0
    )
    return means + rng.normal(size=(45, 3)) * [3.0, 1.0, 2.0]


# --- index values --------------------------------------------------------------------------------


def assert_values(actual: np.ndarray, expected: np.ndarray, rtol: float = 1e-9) -> None:
    # A sum that has lost its largest part keeps the rounding of that.
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    atol = max(1e-9, 1e-15 * largest)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


@pytest.mark.nojit
@pytest.mark.parametrize("kind", ["blobs", "duplicates", "constant column"])
@every_index
def test_values_of_new_rows_equal_batch(index: Any, kind: str) -> None:
    X, _ = labelled(kind, 30, 3, 3, 1)
    fitted = fit(X, index)
    rows, scaling = new_rows(X, 1), learn_scaling(X)
    why = explain(fitted, rows)
    Z, definition = standardised_table(X, scaling), batch(fitted.fitted_.index)
    assert why.index_values.shape == (len(rows), fitted.n_clusters_)
    for s, row in enumerate(standardised_table(rows, scaling)):
        expected = oracle.values_with_sample(definition, Z, fitted.labels_, row)
        assert_values(why.index_values[s], expected)


@pytest.mark.nojit
@every_index
def test_values_of_training_samples_equal_batch(index: Any) -> None:
    """They are moved, not added; one that is alone leaves a cluster fewer."""
    X, _ = labelled("blobs", 30, 2, 3, 2)
    X[7] = [400.0, -400.0]
    fitted = fit(X, index, init=X[[0, 3, 7]])
    Z, definition = standardised_table(X, learn_scaling(X)), batch(fitted.fitted_.index)
    samples = np.arange(12)[::-1]
    why = explain(fitted, X[samples], samples=samples)
    # Next to the outlier the covariances of the others are almost the ridge: a sum of quadratic
    # forms is known to eight digits there, by the formula too.
    rtol = 1e-7 if index.name == "rH" else 1e-9
    for s, sample in enumerate(samples):
        expected = oracle.moving_values(definition, Z, fitted.labels_, sample)
        assert_values(why.index_values[s], expected, rtol)
    own = why.index_values[np.arange(12), fitted.labels_[samples]]
    np.testing.assert_allclose(own, fitted.index_value_, rtol=1e-9)
    assert why.sample_names == samples.tolist()
    if index.name in ("CH", "NI", "XB"):
        assert np.count_nonzero(fitted.labels_ == fitted.labels_[7]) == 1  # the case was there


@every_index
def test_best_and_margin(index: Any, X: np.ndarray) -> None:
    fitted = fit(X, index, prediction="index")
    rows = new_rows(X, 3)
    why = explain(fitted, rows)
    np.testing.assert_array_equal(why.best, fitted.predict(rows))
    np.testing.assert_array_equal(why.predicted, why.best)
    scores = np.sort(why.direction * why.index_values, axis=1)
    np.testing.assert_allclose(why.margin, scores[:, -1] - scores[:, -2])
    assert (why.margin >= 0.0).all()


def test_values_by_hand() -> None:
    """x = 4 joins {0, 2}: SSW = 8 + 2. It joins {20, 22}: SSW = 2 + 2 + 2/3 (4 - 21)²."""
    X = np.array([[0.0], [2.0], [20.0], [22.0]])
    fitted = fit(X, "CH", 2, init=[[1.0], [21.0]], shuffle=False)
    why = explain(fitted, [[4.0]])
    total = np.square(np.append(X, 4.0) - 9.6).sum()
    near, far = 8.0 + 2.0, 2.0 + 2.0 + 2.0 / 3.0 * 17.0**2
    expected = [(total - within) / within * 3.0 for within in (near, far)]
    assert why.index_values[0] == pytest.approx(expected, rel=1e-12)
    assert why.best.tolist() == [0]
    assert why.margin[0] == pytest.approx(expected[0] - expected[1])
    np.testing.assert_allclose(why.lower, [[0.0]], atol=1e-12)
    np.testing.assert_allclose(why.upper, [[2.0]])
    np.testing.assert_allclose(why.slack, [[-2.0]])


def test_equal_values_have_no_margin() -> None:
    """All equal and infinite: the first cluster, and no lead."""
    X = np.repeat(np.eye(3), 4, axis=0)
    why = explain(fit(X, "CH", 3), [[1.0, 0.0, 0.0]])
    assert np.isinf(why.index_values).sum() == 1
    assert why.margin[0] == np.inf
    lone = ICVIARTMAP(2, index="CH", random_state=0).fit(np.full((5, 2), 3.0))
    alone = explain(lone, [[3.0, 3.0]])
    assert alone.index_values.tolist() == [[-np.inf]]
    assert alone.best.tolist() == [0]
    assert alone.margin[0] == np.inf
    assert not np.isnan(alone.profiles.effect).any()
    assert "No feature sets it apart" in str(alone)


# --- categories ----------------------------------------------------------------------------------


def test_bounds_are_those_of_the_winning_category(X: np.ndarray) -> None:
    fitted = fit(X, "NI", rho_a=0.9)
    assert len(fitted.categories_) > 3
    rows = new_rows(X, 4)
    why = explain(fitted, rows)
    by_category = fitted.set_params(prediction="category").predict(rows)
    np.testing.assert_array_equal(why.category_label, by_category)
    np.testing.assert_array_equal(fitted.category_labels_[why.category], by_category)
    np.testing.assert_array_equal(why.lower, fitted.categories_[why.category, 0])
    np.testing.assert_array_equal(why.upper, fitted.categories_[why.category, 1])
    inside = (rows >= why.lower - 1e-12) & (rows <= why.upper + 1e-12)
    np.testing.assert_array_equal(why.slack >= 0.0, inside)
    nearer = np.minimum(abs(rows - why.lower), abs(rows - why.upper))
    np.testing.assert_allclose(abs(why.slack), nearer, atol=1e-12)
    assert inside.any()
    assert not inside.all()


def test_samples_that_made_a_bound_are_not_outside(X: np.ndarray) -> None:
    """Scaled back, many bounds miss the value that made them by a rounding."""
    for offset in (0.0, 1e6):
        fitted = fit(X + offset, "NI", rho_a=0.95)
        why = explain(fitted, X + offset)
        held = why.category == fitted.sample_categories_
        assert held.any()
        assert (why.slack[held] >= 0.0).all()
        assert (np.count_nonzero(why.slack[held] == 0.0, axis=0) > 0).all()


# --- profiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["NI", "CH"])
def test_profiles_equal_the_definition(index: str, X: np.ndarray) -> None:
    fitted = fit(X, index)
    p = explain(fitted, X[:1]).profiles
    np.testing.assert_array_equal(p.n, np.bincount(fitted.labels_))
    for i in range(fitted.n_clusters_):
        own, rest = X[fitted.labels_ == i], X[fitted.labels_ != i]
        squares = len(own) * own.var(axis=0) + len(rest) * rest.var(axis=0)
        deviation = np.sqrt(squares / (len(X) - 2))
        np.testing.assert_allclose(p.mean[i], own.mean(axis=0))
        np.testing.assert_allclose(p.rest_mean[i], rest.mean(axis=0))
        np.testing.assert_allclose(p.effect[i], (own.mean(axis=0) - rest.mean(axis=0)) / deviation)
        np.testing.assert_allclose(p.variance_share[i], 1.0 - squares / (len(X) * X.var(axis=0)))
        assert (np.diff(abs(p.effect[i][p.order[i]])) <= 0.0).all()


@pytest.mark.filterwarnings("error")
def test_profiles_without_variation() -> None:
    """A constant feature says nothing; one that only differs between clusters says all."""
    X = np.column_stack([np.repeat([1.0, 8.0], 5), np.full(10, 3.3), np.arange(10.0) % 5])
    why = explain(fit(X, "CH", 2, init=[[1.0, 3.3, 2.0], [8.0, 3.3, 2.0]]), X[:2])
    p = why.profiles
    assert p.effect[0].tolist() == [-np.inf, 0.0, 0.0]
    assert p.effect[1].tolist() == [np.inf, 0.0, 0.0]
    np.testing.assert_allclose(p.variance_share, [[1.0, 0.0, 0.0]] * 2, atol=1e-15)
    np.testing.assert_allclose(p.mean, [[1.0, 3.3, 2.0], [8.0, 3.3, 2.0]])
    assert "feature 0 is lower: mean 1, elsewhere 8" in str(why)


# --- tables and words ----------------------------------------------------------------------------


def test_tables(X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=NAMES, index=[f"row {s}" for s in range(len(X))])
    fitted = fit(frame)
    why = explain(fitted, frame[3:7])
    table = why.to_pandas()
    assert table.index.tolist() == ["row 3", "row 4", "row 5", "row 6"]
    np.testing.assert_array_equal(table["best"], why.best)
    np.testing.assert_array_equal(table["margin"], why.margin)
    np.testing.assert_array_equal(table["features_outside"], (why.slack < 0).sum(axis=1))
    columns = [f"CH in {i}" for i in range(3)]
    np.testing.assert_array_equal(table[columns], why.index_values)
    bounds = why.bounds_to_pandas()
    assert bounds["feature"].tolist() == NAMES * 4
    assert bounds["sample"].tolist() == np.repeat(table.index, 3).tolist()
    for name in ("lower", "upper", "slack"):
        np.testing.assert_array_equal(bounds[name].to_numpy().reshape(4, 3), getattr(why, name))
    np.testing.assert_array_equal(bounds["value"], X[3:7].ravel())
    profiles = why.profiles_to_pandas()
    assert len(profiles) == 9
    for i in range(3):
        part = profiles[profiles["cluster"] == i].set_index("feature")
        assert set(part["n"]) == {why.profiles.n[i]}
        np.testing.assert_array_equal(part.loc[NAMES, "effect"], why.profiles.effect[i])
        np.testing.assert_array_equal(part.loc[NAMES, "mean"], why.profiles.mean[i])
        assert (np.diff(part["effect"].abs()) <= 0.0).all()


def test_words(X: np.ndarray) -> None:
    fitted = fit(pd.DataFrame(X, columns=NAMES))
    first = fitted.labels_[0]
    why = explain(fitted, pd.DataFrame([[90.0, 5.0, -1.0], [300.0, 5.0, -1.0]], columns=NAMES))
    assert isinstance(why, Explanation)
    text = str(why)
    assert text == why.to_text()
    lines = text.splitlines()
    assert lines[0] == f"Sample 0 fits cluster {first} best."
    assert f"Sample 1 fits cluster {first} best." in lines
    assert "greater is better" in text
    box = fitted.categories_[why.category[1], 1, 0]
    assert f"length = 300, {300.0 - box:.4g} outside" in text
    assert "The sample is outside its box in 1 of 3 features" in text
    own, rest = X[:10, 0].mean(), X[10:, 0].mean()
    assert f"length is higher: mean {own:.4g}, elsewhere {rest:.4g}" in text
    assert f"Cluster {first} has 10 training samples (22%)." in text
    other = next(i for i in range(3) if i != first)
    assert f"Cluster {other} has" not in text  # no sample of it was asked about
    every = explain(fitted, pd.DataFrame(X, columns=NAMES))
    assert "... and 43 more samples." in every.to_text(max_samples=2)
    assert "... and 35 more samples." in str(every)
    brief = every.to_text(max_samples=1, max_features=0)
    assert brief.endswith("training samples (22%).")
    assert "length is" not in brief
    with pytest.raises(ValueError, match="max_features must be at least 0"):
        every.to_text(max_features=-1)


def test_words_when_index_and_category_disagree() -> None:
    X = np.random.default_rng(0).normal(size=(400, 2))
    fitted, X = fit(X[:200], "CH", 4), X[200:]
    why = explain(fitted, X)
    apart = np.flatnonzero(why.best != why.category_label)
    assert 0 < len(apart) < len(X)
    one = explain(fitted, X[apart[:1]]).to_text()
    assert f"Index and category disagree: {why.best[apart[0]]} and" in one
    agree = np.flatnonzero(why.best == why.category_label)
    assert "disagree" not in explain(fitted, X[agree[:1]]).to_text()


# --- what does not fit ---------------------------------------------------------------------------


def test_refusals(X: np.ndarray) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        explain(ICVIARTMAP(3), X)
    fitted = fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but ICVIARTMAP is expecting 3"):
        explain(fitted, X[:, :2])
    with pytest.raises(ValueError, match="Expected 2D array"):
        explain(fitted, X[0])
    for samples in ([0], [0.0, 1.0], [[0, 1]]):
        with pytest.raises(ValueError, match="samples must be 2 integers"):
            explain(fitted, X[:2], samples=samples)
    for samples in ([0, 45], [-1, 3]):
        with pytest.raises(ValueError, match="positions of training samples, 0 to 44"):
            explain(fitted, X[:2], samples=samples)


def test_without_pandas(X: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    why = explain(fit(X), X[:2])
    monkeypatch.setitem(sys.modules, "pandas", None)
    for table in (why.to_pandas, why.bounds_to_pandas, why.profiles_to_pandas):
        with pytest.raises(ImportError, match="pip install pandas"):
            table()
    assert "Sample 1" in why.to_text()


def test_means_of_nothing_are_nothing():
    """A feature that is 0 outside a cluster has the mean 0 there, not what rounding leaves."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [7, 40])
    X = rng.normal(size=(47, 3)) + 20.0 * labels[:, None]
    X[:, 1] = np.where(labels == 0, rng.integers(0, 3, 47), 0.0)
    model = ICVIARTMAP(2, index="CH", random_state=0).fit(X)
    p = explain(model, X[:1]).profiles
    other = model.labels_[-1]
    assert p.mean[other, 1] == 0.0
    assert p.rest_mean[1 - other, 1] == 0.0
    assert p.mean[1 - other, 1] == pytest.approx(X[:7, 1].mean())
