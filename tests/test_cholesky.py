"""Factors of ridged covariances, of few features and of so many that they are made in panels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from icvi_artmap._compile.jit import jit
from icvi_artmap.indices.shared import cholesky
from icvi_artmap.indices.shared.cholesky import BLOCK, CROWDED, PANEL

DELTA = 0.01


@jit
def call_eliminate(a, scatter, divisor, start, stop):
    if start == 0:
        cholesky.load(a, scatter, divisor, DELTA)
    return cholesky.eliminate(a, start, stop)


@jit
def call_quadratic(a, x, mean, u, z, row):
    cholesky.invert_blocks(a, x.shape[0], row)
    return cholesky.quadratic(a, x, mean, u, z, np.int64(0), 0.0, np.inf)


def problem(d: int) -> tuple[np.ndarray, np.ndarray]:
    """A scatter matrix, of which kernels know the upper triangle, and the covariance with ridge."""
    X = np.random.default_rng(d).normal(size=(d + 5, d))
    scatter, unknown = X.T @ X, np.tril(np.full((d, d), np.nan), -1)
    return np.triu(scatter) + unknown, scatter / 3.0 + DELTA * np.eye(d)


@pytest.mark.nojit
@pytest.mark.parametrize("d", [1, 7, BLOCK, BLOCK + 1, 50, PANEL + 3, CROWDED - 1, 2 * PANEL + 21])
@pytest.mark.parametrize("steps", [1, 3])
def test_factors_and_forms(d: int, steps: int) -> None:
    """All rows at once, or some blocks of them at a time."""
    scatter, covariance = problem(d)
    side = cholesky.padded(d)
    a = np.zeros((side, side))
    ends = [*range(0, d, -(-side // BLOCK // steps) * BLOCK), d]
    logdet = sum(call_eliminate(a, scatter, 3.0, start, stop) for start, stop in pairwise(ends))
    factor = np.linalg.cholesky(covariance)
    np.testing.assert_allclose(np.triu(a[:d, :d]), factor.T, rtol=1e-9, atol=1e-12)
    assert logdet == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-12, abs=1e-12)
    x, mean = np.random.default_rng(0).normal(size=(2, d))
    scratch = np.zeros((2, side))
    q = call_quadratic(a, x, mean, *scratch, np.zeros(BLOCK))
    expected = (x - mean) @ np.linalg.solve(covariance, x - mean)
    assert q == pytest.approx(expected, rel=1e-9)


def test_rows_of_a_factor_lie_in_different_places_of_a_cache() -> None:
    for d in range(1, 2_000):
        side = cholesky.padded(d)
        assert d <= side <= d + 2 * BLOCK
        assert side % BLOCK == 0
        assert side % CROWDED > 0
