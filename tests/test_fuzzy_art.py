"""Fuzzy ART and dual vigilance fuzzy ART: the oracle's categories, what boxes must be, manners."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.fuzzy_art import coded, random_options
from helpers.problems import random_problem
from icvi_artmap import DualVigilanceFuzzyART, FuzzyART, vat
from icvi_artmap.network import resonance as search
from oracle import fuzzy_art as plain
from oracle.scaling import fit_scaling, min_max


@parametrize_with_checks(
    [
        FuzzyART(),
        FuzzyART(0.7, beta=0.5, max_epochs=None, shuffle=True),
        FuzzyART(0.7, feature_range=(-3.0, 3.0), outside="clip"),
        DualVigilanceFuzzyART(),
        DualVigilanceFuzzyART(0.7, 0.65, beta=0.8, max_epochs=None, shuffle=True),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def plain_fuzzy_art(
    Xc: np.ndarray, rho: float, alpha: float, beta: float, epochs: int
) -> tuple[plain.Net, list[int]]:
    net, categories = plain.Net(), []
    for _ in range(epochs):
        categories = [plain.fuzzy_art_step(net, x, rho, alpha, beta) for x in Xc]
    return plain.drop_idle(net, categories)


# --- the oracle ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(80))
def test_random_runs_equal_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = random_problem(rng)[0]
    options, epochs = random_options(rng), int(rng.integers(1, 4))
    fitted = FuzzyART(**options, max_epochs=epochs).fit(X)
    net, categories = plain_fuzzy_art(coded(X), **options, epochs=fitted.n_iter_)
    np.testing.assert_array_equal(fitted.labels_, categories)
    np.testing.assert_array_equal(fitted.fitted_.boxes, np.array(net.W))


@pytest.mark.nojit
def test_a_small_run_equals_the_oracle() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    fitted = FuzzyART(0.8, max_epochs=2).fit(X)
    net, categories = plain_fuzzy_art(coded(X), 0.8, 1e-3, 1.0, 2)
    np.testing.assert_array_equal(fitted.labels_, categories)
    np.testing.assert_array_equal(fitted.fitted_.boxes, np.array(net.W))


@pytest.mark.parametrize(
    ("rho", "beta", "alpha"),
    [(0.97, 1.0, 1e-3), (0.999, 0.5, 1e-3), (0.97, 1.0, 0.5), (0.97, 1.0, 10.0), (0.9, 0.5, 2.0)],
)
def test_runs_with_many_categories_equal_the_oracle(rho: float, beta: float, alpha: float) -> None:
    """More categories than there is room for at first, and than are looked at one by one."""
    X = np.random.default_rng(5).normal(size=(1500, 3))
    fitted = FuzzyART(rho, beta=beta, alpha=alpha, max_epochs=2).fit(X)
    if rho > 0.9:
        assert fitted.n_clusters_ > search.SOME_BOXES
    net, categories = plain_fuzzy_art(coded(X), rho, alpha, beta, 2)
    np.testing.assert_array_equal(fitted.labels_, categories)
    np.testing.assert_array_equal(fitted.fitted_.boxes, np.array(net.W))


def plain_dual(
    Xc: np.ndarray, rho_ub: float, rho_lb: float, alpha: float, beta: float, epochs: int
) -> tuple[plain.Net, list[int]]:
    net, categories = plain.Net(), []
    for _ in range(epochs):
        categories = [plain.dual_vigilance_step(net, x, rho_ub, rho_lb, alpha, beta) for x in Xc]
    return plain.drop_idle(net, categories)


def assert_equals_plain_dual(X: np.ndarray, epochs: int, **options: float) -> int:
    fitted = DualVigilanceFuzzyART(**options, max_epochs=epochs).fit(X)
    net, categories = plain_dual(coded(X), **options, epochs=fitted.n_iter_)
    np.testing.assert_array_equal(fitted.sample_categories_, categories)
    np.testing.assert_array_equal(fitted.fitted_.boxes, np.array(net.W))
    np.testing.assert_array_equal(fitted.category_labels_, net.cluster)
    np.testing.assert_array_equal(fitted.labels_, np.array(net.cluster)[categories])
    assert fitted.n_clusters_ == max(net.cluster) + 1
    return len(net.W) - fitted.n_clusters_


@pytest.mark.parametrize("seed", range(80))
def test_random_dual_runs_equal_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = random_problem(rng)[0]
    options = random_options(rng)
    rho_ub = options.pop("rho")
    rho_lb = rho_ub * float(rng.choice([1.0, 0.95, 0.8, 0.0]))
    epochs = int(rng.integers(1, 4))
    assert_equals_plain_dual(X, epochs, rho_ub=rho_ub, rho_lb=rho_lb, **options)


@pytest.mark.nojit
def test_a_small_dual_run_equals_the_oracle() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    shared = assert_equals_plain_dual(X, 2, rho_ub=0.9, rho_lb=0.8, alpha=1e-3, beta=1.0)
    assert shared > 0


def test_dual_runs_with_many_categories_equal_the_oracle() -> None:
    X = np.random.default_rng(5).normal(size=(1500, 3))
    shared = assert_equals_plain_dual(X, 2, rho_ub=0.98, rho_lb=0.95, alpha=1e-3, beta=1.0)
    assert shared > search.SOME_BOXES


@pytest.mark.parametrize("seed", range(10))
def test_equal_vigilances_are_fuzzy_art(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = random_problem(rng)[0]
    options = random_options(rng)
    one = FuzzyART(**options).fit(X)
    rho = options.pop("rho")
    two = DualVigilanceFuzzyART(rho, rho, **options).fit(X)
    np.testing.assert_array_equal(two.labels_, one.labels_)
    np.testing.assert_array_equal(two.categories_, one.categories_)


def test_a_ring_is_one_cluster() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([ring, 0.05 * ring])
    fitted = DualVigilanceFuzzyART(0.9, 0.85).fit(X)
    assert fitted.labels_.tolist() == [0] * 200 + [1] * 200
    assert len(fitted.categories_) > 10
    assert fitted.transform(X).shape == (400, 2)


def test_lower_vigilance_above_the_upper_one() -> None:
    with pytest.raises(ValueError, match=r"rho_lb=0.9 is above rho_ub=0.5"):
        DualVigilanceFuzzyART(0.5, 0.9).fit([[0.0], [1.0]])


# --- by hand -------------------------------------------------------------------------------------


def test_values_by_hand() -> None:
    """On [0, 10] a box at vigilance 0.8 is at most 2 wide."""
    X = np.array([[0.0], [1.5], [10.0], [3.0], [8.0]])
    fitted = FuzzyART(0.8, alpha=1e-6).fit(X)
    assert fitted.labels_.tolist() == [0, 0, 1, 2, 1]
    np.testing.assert_allclose(fitted.categories_[:, :, 0], [[0.0, 1.5], [8.0, 10.0], [3.0, 3.0]])
    slow = FuzzyART(0.8, alpha=1e-6, beta=0.5).fit(X)
    np.testing.assert_allclose(
        slow.categories_[:, :, 0], [[0.0, 0.75], [9.0, 10.0], [3.0, 3.0]], atol=1e-12
    )


# --- properties ----------------------------------------------------------------------------------


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.4, 0.7, 0.95]), st.sampled_from([1, None])
)
def test_boxes(seed: int, rho: float, max_epochs: int | None) -> None:
    X = random_problem(np.random.default_rng(seed))[0]
    fitted = FuzzyART(rho, max_epochs=max_epochs).fit(X)
    lower, upper = fitted.categories_[:, 0], fitted.categories_[:, 1]
    span = np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)
    slack = 1e-9 * span
    assert (lower[fitted.labels_] - slack <= X).all()
    assert (upper[fitted.labels_] + slack >= X).all()
    sides = ((upper - lower) / span).sum(axis=1)
    assert (sides <= (1.0 - rho) * X.shape[1] + 1e-9).all()
    assert np.unique(fitted.labels_).tolist() == list(range(fitted.n_clusters_))
    if max_epochs == 1:  # the oldest category first
        first = [np.flatnonzero(fitted.labels_ == i)[0] for i in range(fitted.n_clusters_)]
        assert first == sorted(first)


@pytest.mark.parametrize("seed", range(20))
def test_after_convergence_training_samples_are_predicted_as_they_are(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(200, 1 + seed % 4))
    fitted = FuzzyART(0.3 + 0.03 * seed, max_epochs=None).fit(X)
    assert fitted.converged_
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    again = FuzzyART(0.3 + 0.03 * seed, max_epochs=fitted.n_iter_ - 1).fit(X)
    assert not again.converged_


def test_slow_learning_ends_too() -> None:
    X = np.random.default_rng(1).normal(size=(60, 2))
    fitted = FuzzyART(0.8, beta=0.3, max_epochs=None).fit(X)
    assert fitted.converged_
    assert fitted.n_iter_ < 200
    one = FuzzyART(0.0, beta=0.3, max_epochs=None).fit(X)
    np.testing.assert_allclose(one.categories_[0], [X.min(axis=0), X.max(axis=0)], atol=1e-4)


def test_transform_is_the_choice_of_every_category() -> None:
    X = np.random.default_rng(2).normal(size=(50, 2))
    fitted = FuzzyART(0.8).fit(X)
    choices = fitted.transform(X)
    assert choices.shape == (50, fitted.n_clusters_)
    np.testing.assert_array_equal(choices.argmax(axis=1), fitted.predict(X))
    assert fitted.get_feature_names_out()[0] == "fuzzyart0"


# --- order ---------------------------------------------------------------------------------------


def test_shuffled_is_fit_in_that_order() -> None:
    X = np.random.default_rng(3).normal(size=(80, 2))
    fitted = FuzzyART(0.8, shuffle=True, random_state=7).fit(X)
    order = np.arange(80)
    np.random.RandomState(7).shuffle(order)
    np.testing.assert_array_equal(fitted.labels_[order], FuzzyART(0.8).fit(X[order]).labels_)
    assert (fitted.labels_ != FuzzyART(0.8).fit(X).labels_).any()


def test_vat_order() -> None:
    X = np.random.default_rng(4).normal(size=(60, 2))
    fitted = FuzzyART(0.8, order="vat").fit(X)
    order = vat(min_max(fit_scaling(X), X))
    np.testing.assert_array_equal(fitted.labels_[order], FuzzyART(0.8).fit(X[order]).labels_)


# --- partial_fit ---------------------------------------------------------------------------------


def test_batches_with_given_ranges_equal_one_fit() -> None:
    X = np.random.default_rng(6).normal(size=(1200, 2))
    ranges = (X.min(axis=0), X.max(axis=0))
    whole = FuzzyART(0.97).fit(X)
    parts = FuzzyART(0.97, feature_range=ranges)
    labels = [parts.partial_fit(X[a : a + 100]).labels_ for a in range(0, 1200, 100)]
    np.testing.assert_array_equal(np.concatenate(labels), whole.labels_)
    np.testing.assert_array_equal(parts.categories_, whole.categories_)
    copied = pickle.loads(pickle.dumps(parts)).partial_fit(X[:50])
    np.testing.assert_array_equal(copied.labels_, parts.partial_fit(X[:50]).labels_)


def test_a_fit_can_be_continued_and_begun_anew() -> None:
    X = np.random.default_rng(8).normal(size=(100, 2))
    fitted = FuzzyART(0.8, outside="clip").fit(X)
    before = fitted.categories_.copy()
    fitted.partial_fit(5.0 * X[:20])
    assert fitted.n_iter_ == 2
    assert len(fitted.labels_) == 20
    assert len(fitted.categories_) >= len(before)
    assert (fitted.categories_[:, 1] <= X.max(axis=0) + 1e-9).all()
    np.testing.assert_array_equal(fitted.fit(X).categories_, before)


def test_values_outside_the_ranges() -> None:
    X = np.array([[0.0, 1.0], [1.0, 2.0]])
    fitted = FuzzyART(0.5).partial_fit(X)
    message = r"X\[1, 1\] = 3 is outside the range of feature 1, \[1, 2\].*feature_range.*clip"
    with pytest.raises(ValueError, match=message):
        fitted.partial_fit([[0.5, 1.5], [0.5, 3.0]])
    with pytest.raises(ValueError, match="outside the range of feature 0"):
        FuzzyART(feature_range=(1.0, 2.0)).fit(X)
    clipped = FuzzyART(0.5, outside="clip").partial_fit(X).partial_fit([[0.5, 3.0]])
    assert clipped.categories_[:, 1, 1].max() == 2.0
    assert len(fitted.predict([[100.0, -100.0]])) == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rho": 1.5}, ValueError, r"rho must be in \[0, 1\], got 1.5"),
        ({"alpha": 0.0}, ValueError, r"alpha must be in \(0, inf\)"),
        ({"beta": 0.0}, ValueError, r"beta must be in \(0, 1\]"),
        ({"max_epochs": 0}, ValueError, "max_epochs must be at least 1"),
        ({"max_epochs": 1.5}, TypeError, "max_epochs must be an integer"),
        ({"shuffle": "yes"}, TypeError, "shuffle must be True or False"),
        ({"order": "random"}, ValueError, 'order must be None or "vat"'),
        ({"outside": "ignore"}, ValueError, 'outside must be "error" or "clip"'),
        ({"feature_range": 3}, ValueError, r"must be a pair \(lower, upper\)"),
        ({"feature_range": ([0, 1, 2], 5)}, ValueError, r"arrays of shape \(2,\)"),
        ({"feature_range": (5, [0, 9])}, ValueError, r"feature 0 is \[5, 0\]"),
        ({"feature_range": (0, np.nan)}, ValueError, "must be finite"),
    ],
)
def test_bad_parameters(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        FuzzyART(**options).fit([[0.0, 1.0], [2.0, 3.0]])


def test_transform_is_finite_far_from_a_point_with_the_least_alpha() -> None:
    """A box without extent has the norm 0 here, and the choice is divided by alpha alone."""
    model = FuzzyART(0.0, alpha=5e-324).fit([[0.0], [1.0]])
    choices = model.transform([[2.0], [0.5], [-1e6]])
    assert np.isfinite(choices).all()
    assert choices[0, 0] == choices[2, 0] == np.finfo(np.float64).min
