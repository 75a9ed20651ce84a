"""The mixture of clusters' Gaussians equals its plain twin, also where clusters are degenerate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.moments import plain
from icvi_artmap.samples.mixture import (
    Mixture,
    log_densities,
    log_density,
    log_sum,
    make_mixture,
)
from icvi_artmap.samples.moments import of_clusters
from oracle import mixture as twin

pytestmark = pytest.mark.nojit


def mixture_of(X: np.ndarray, labels: np.ndarray, k: int) -> Mixture:
    return make_mixture(of_clusters(plain(X), labels, k, True))


@given(
    seed=st.integers(0, 2**20),
    n=st.integers(3, 25),
    d=st.integers(1, 4),
    k=st.integers(1, 3),
    digits=st.sampled_from((0, 1, 12)),
)
def test_equals_its_twin(seed: int, n: int, d: int, k: int, digits: int) -> None:
    """Few digits: many samples are equal, and clusters may have no extent."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(digits)
    labels = np.append(np.arange(k), rng.integers(0, k, n - k))
    points = np.vstack([X, rng.normal(scale=3.0, size=(3, d))])
    mixture = mixture_of(X, labels, k)
    expected = twin.log_densities(X, labels, k, points)
    np.testing.assert_allclose(log_densities(mixture, points), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        log_density(mixture, points), twin.log_density(X, labels, k, points), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(
        mixture.covariance, twin.covariances(X, labels, k), rtol=1e-6, atol=1e-12
    )


def test_density_is_one_in_all() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    mixture = mixture_of(X, (X[:, 0] > 0.3).astype(np.int64), 2)
    points = np.linspace(-20.0, 20.0, 20001)[:, None]
    assert np.exp(log_density(mixture, points)).sum() * 0.002 == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_samples_without_extent(value: float) -> None:
    X = np.full((5, 2), value)
    mixture = mixture_of(X, np.zeros(5, np.int64), 1)
    assert np.isfinite(log_density(mixture, X)).all()


def test_rows_far_away_have_no_density_and_are_no_numbers_nowhere() -> None:
    X = np.random.default_rng(1).normal(size=(30, 2))
    mixture = mixture_of(X, np.zeros(30, np.int64), 1)
    with np.errstate(over="ignore"):
        far = log_density(mixture, np.array([[1e6, 0.0], [1e200, -1e200]]))
    assert -1e13 < far[0] < -1e11
    assert far[1] == -np.inf


def test_sums_of_logarithms() -> None:
    logarithms = np.log([[0.25, 0.5], [1e-300, 1e-300]])
    np.testing.assert_allclose(np.exp(log_sum(logarithms)), [0.75, 2e-300])
    assert log_sum(np.full((1, 3), -np.inf))[0] == -np.inf
    assert log_sum(np.array([[-1e5, -1e5]]))[0] == pytest.approx(-1e5 + np.log(2.0))


def test_many_rows_are_looked_at_in_blocks() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(9000, 2))
    mixture = mixture_of(X, (X[:, 0] > 0.0).astype(np.int64), 2)
    np.testing.assert_array_equal(log_density(mixture, X), log_sum(log_densities(mixture, X)))
