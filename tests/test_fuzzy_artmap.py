"""Fuzzy ARTMAP: the oracle's categories and map field, what it must learn, and its manners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.fuzzy_art import coded, random_options
from helpers.problems import random_problem
from icvi_artmap import FuzzyARTMAP
from icvi_artmap.network import resonance as search
from oracle import fuzzy_art as plain


@parametrize_with_checks(
    [
        FuzzyARTMAP(),
        FuzzyARTMAP(0.8, 0.9, beta_ab=0.2, epsilon=-0.01, shuffle=True, max_epochs=3),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def assert_equals_plain(X: np.ndarray, y: np.ndarray, epochs: int, **options: float) -> int:
    fitted = FuzzyARTMAP(**options, max_epochs=epochs).fit(X, y)
    net, categories = plain.Net(), []
    ones = np.eye(y.max() + 1)
    for _ in range(fitted.n_iter_):
        categories = [
            plain.artmap_step(net, x, ones[i], **options) for x, i in zip(coded(X), y, strict=True)
        ]
    net, categories = plain.drop_idle(net, categories)
    np.testing.assert_array_equal(fitted.sample_categories_, categories)
    np.testing.assert_array_equal(fitted.fitted_.boxes, np.array(net.W))
    np.testing.assert_array_equal(fitted.map_field_, np.array(net.M))
    np.testing.assert_array_equal(fitted.category_labels_, np.array(net.M).argmax(axis=1))
    return len(net.W)


@pytest.mark.parametrize("seed", range(120))
def test_random_runs_equal_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = random_problem(rng)[0]
    k = int(rng.integers(1, 5))
    y = rng.permutation(np.r_[np.arange(k), rng.integers(0, k, len(X))][: len(X)])
    y = np.unique(y, return_inverse=True)[1]
    options = random_options(rng)
    options["rho_a"] = options.pop("rho")
    options["rho_ab"] = float(rng.choice([1.0, 0.95, 0.5, 0.0]))
    options["epsilon"] = float(rng.choice([1e-3, 0.0, 0.1, -1e-3, -0.1]))
    options["beta_ab"] = float(rng.choice([1.0, 0.5, 0.01]))
    assert_equals_plain(X, y, int(rng.integers(1, 4)), **options)


SMALL = {"rho_a": 0.5, "rho_ab": 0.9, "alpha": 1e-3, "beta": 1.0}


@pytest.mark.nojit
@pytest.mark.parametrize("epsilon", [0.01, -0.01])
def test_a_small_run_equals_the_oracle(epsilon: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    assert_equals_plain(X, y, 2, **SMALL, epsilon=epsilon, beta_ab=0.5)


@pytest.mark.parametrize(
    ("epsilon", "rho_a"), [(1e-3, 0.9), (0.0, 0.9), (-1e-3, 0.9), (-0.01, 0.98)]
)
@pytest.mark.parametrize("rho_ab", [1.0, 0.9])
def test_runs_with_many_categories_equal_the_oracle(
    epsilon: float, rho_a: float, rho_ab: float
) -> None:
    """Random classes: nearly every sample refuses categories, and the search has to go far."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(1500, 2)), rng.integers(0, 3, 1500)
    options = {"rho_a": rho_a, "rho_ab": rho_ab, "alpha": 1e-3, "beta": 1.0}
    n = assert_equals_plain(X, y, 2, **options, epsilon=epsilon, beta_ab=0.05)
    if rho_ab == 1.0:
        assert n > search.SOME_BOXES


@pytest.mark.parametrize("seed", [68, 173, 177, 246])
def test_vigilance_that_falls_again_hides_no_box(seed: int) -> None:
    """With epsilon < 0 these find boxes that a bound by the present vigilance would leave out."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(80, 250)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    X, y = rng.normal(size=(n, d)), rng.integers(0, k, n)
    options = {
        "rho_a": float(rng.choice([0.0, 0.5, 0.9])),
        "rho_ab": float(rng.choice([1.0, 0.9])),
        "alpha": float(rng.choice([1e-3, 0.5])),
        "beta": float(rng.choice([1.0, 0.5])),
        "epsilon": float(rng.choice([-1e-3, -0.05, -0.3])),
    }
    assert_equals_plain(X, y, 2, **options, beta_ab=0.05)


# --- what it must learn --------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
def test_any_consistent_labelling_of_distinct_samples_is_learned(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 6, size=(40, int(rng.integers(1, 4)))), axis=0).astype(float)
    X = rng.permutation(X)
    y = rng.integers(0, 3, len(X))
    fitted = FuzzyARTMAP(float(rng.choice([0.0, 0.7])), max_epochs=1000).fit(X, y)
    assert fitted.converged_
    np.testing.assert_array_equal(fitted.predict(X), y)
    lower, upper = fitted.categories_[:, 0], fitted.categories_[:, 1]
    assert (lower[fitted.sample_categories_] <= X + 1e-9).all()
    assert (upper[fitted.sample_categories_] >= X - 1e-9).all()
    np.testing.assert_array_equal(fitted.category_labels_[fitted.sample_categories_], y)


def test_moons() -> None:
    X, y = make_moons(600, noise=0.1, random_state=0)
    fitted = FuzzyARTMAP(random_state=0, shuffle=True).fit(X[:400], y[:400])
    assert fitted.score(X[400:], y[400:]) > 0.9


def test_match_tracking_downwards_makes_fewer_categories() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + 0.8 * rng.normal(size=300) > 0).astype(int)
    up, down = (FuzzyARTMAP(epsilon=e, max_epochs=1).fit(X, y) for e in (0.01, -0.01))
    assert len(down.categories_) < len(up.categories_)


def test_vigilance_bounds_the_boxes_whatever_the_match_tracking() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    fitted = FuzzyARTMAP(0.8, epsilon=-0.3).fit(X, y)
    assert (fitted.fitted_.boxes.sum(axis=1) >= 0.8 * 3 - 1e-9).all()


# --- probabilities -------------------------------------------------------------------------------


def test_slow_map_field_learning_remembers_shares() -> None:
    X = np.tile([[0.0], [1.0]], (40, 1))
    y = np.r_[["a", "b"], ["a", "b"] * 29, ["a", "a"] * 10]
    fitted = FuzzyARTMAP(0.9, 0.0, beta_ab=0.05, max_epochs=1).fit(X, y)
    assert fitted.classes_.tolist() == ["a", "b"]
    shares = fitted.predict_proba([[0.0], [1.0]])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    by_hand = np.array([0.95**10, 0.95**30]) / (0.95**10 + 0.95**30)
    np.testing.assert_allclose(shares[1], by_hand[::-1])
    assert shares[0, 0] > 0.8
    assert fitted.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


def test_contradictory_rows_give_equal_shares() -> None:
    fitted = FuzzyARTMAP(0.0, 0.0, max_epochs=1).fit([[0.0], [0.0]], [0, 1])
    np.testing.assert_array_equal(fitted.map_field_, [[0.0, 0.0]])
    np.testing.assert_array_equal(fitted.predict_proba([[0.0]]), [[0.5, 0.5]])
    assert fitted.predict([[0.0]]).tolist() == [0]


def test_equal_samples_of_two_classes_never_converge() -> None:
    fitted = FuzzyARTMAP(max_epochs=5).fit([[0.0], [0.0], [1.0]], [0, 1, 1])
    assert fitted.n_iter_ == 5
    assert not fitted.converged_


# --- partial_fit ---------------------------------------------------------------------------------


@pytest.mark.parametrize("beta_ab", [1.0, 0.1])
@pytest.mark.parametrize("declared", [True, False])
def test_batches_with_late_classes_equal_one_fit(beta_ab: float, declared: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    y = np.array(["m", "z", "a", "k"])[np.minimum(np.arange(300) // 75, rng.integers(0, 4, 300))]
    options = {"rho_a": 0.8, "rho_ab": 0.7, "beta_ab": beta_ab}
    whole = FuzzyARTMAP(**options, max_epochs=1).fit(X, y)
    parts = FuzzyARTMAP(**options, feature_range=(X.min(axis=0), X.max(axis=0)))
    for a in range(0, 300, 50):
        classes = np.unique(y) if declared else None
        parts.partial_fit(X[a : a + 50], y[a : a + 50], classes=classes)
        if a == 0:
            assert len(parts.classes_) == (4 if declared else 1)
    np.testing.assert_array_equal(parts.classes_, whole.classes_)
    np.testing.assert_array_equal(parts.categories_, whole.categories_)
    np.testing.assert_array_equal(parts.map_field_, whole.map_field_)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


def test_bad_labels_and_parameters() -> None:
    X = [[0.0], [1.0]]
    with pytest.raises(ValueError, match=r"y has .*2.*not among the classes passed"):
        FuzzyARTMAP().partial_fit(X, [0, 2], classes=[0, 1])
    fitted = FuzzyARTMAP().partial_fit(X, [0, 1])
    with pytest.raises(ValueError, match="outside the range of feature 0"):
        fitted.partial_fit([[2.0]], [5])
    assert fitted.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="Mix of label input types"):
        fitted.partial_fit([[0.5]], ["five"])
    with pytest.raises(ValueError, match=r"epsilon must be in \[-1, 1\]"):
        FuzzyARTMAP(epsilon=2.0).fit(X, [0, 1])
    with pytest.raises(TypeError, match="max_epochs must be an integer, got None"):
        FuzzyARTMAP(max_epochs=None).fit(X, [0, 1])
    with pytest.raises(ValueError, match="Unknown label type"):
        FuzzyARTMAP().fit(X, [0.5, 1.5])
