"""The spelled-out loops equal plain NumPy, wherever in the arrays they work."""

from __future__ import annotations

import numpy as np
import pytest

from icvi_artmap._compile.jit import jit
from icvi_artmap._compile.simd import (
    WIDTH,
    add_minima,
    add_rows,
    add_rows_4,
    eliminate_block,
    invert_block,
    rows_held,
    solve_each,
    subtract_rows,
    subtract_rows_4,
    whiten,
)
from icvi_artmap._compile.vectors import CACHE_LINE, VECTOR, aligned_zeros

pytestmark = pytest.mark.nojit


@jit
def call(kind, y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width):
    if kind == 0:
        add_rows(y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width)
    elif kind == 1:
        subtract_rows(
            y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width
        )
    elif kind == 2:
        subtract_rows_4(
            y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width
        )
    elif kind == 3:
        add_rows_4(
            y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width
        )
    else:
        add_minima(
            y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width
        )


@jit
def call_eliminate_block(a, top, stop):
    return eliminate_block(a, top, stop)


@jit
def call_invert_block(a, d):
    invert_block(a, d)


@jit
def call_whiten(inverse, whitened, x, z, q, m, n_vectors):
    whiten(inverse, whitened, x, z, q, m, n_vectors)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("seed", range(5))
def test_sums_over_rows(kind: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, width = int(rng.integers(0, 9)), WIDTH * int(rng.integers(1, 6))
    n_targets = 4 if kind in (2, 3) else 1
    rows = rng.normal(size=(count + 2, width + 3))
    coef = rng.normal(size=(count + 2, 7))
    y = rng.normal(size=(n_targets + 1, width + 5))
    expected = y.copy()
    for t in range(n_targets):
        target = expected[t, 2 : 2 + width]
        for c in range(count):
            row, factor = rows[c + 1, 3 : 3 + width], coef[c, 2 + t]
            if kind == 4:
                target += np.minimum(factor, row)
            else:
                target += factor * row if kind in (0, 3) else -factor * row
    call(kind, y, 2, width + 5, rows, width + 6, width + 3, coef, 2, 7, count, width)
    np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-13)
    if kind == 4:
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("m", range(1, WIDTH + 1))
@pytest.mark.parametrize("n_vectors", [1, 2, 5])
def test_whitening_many_at_once(m: int, n_vectors: int) -> None:
    rng = np.random.default_rng(m)
    held = rows_held(m)
    lower = np.tril(rng.normal(size=(n_vectors, VECTOR, m, m)))
    mean, x = rng.normal(size=(n_vectors, VECTOR, m)), rng.normal(size=m)
    inverse, whitened = (
        np.zeros((n_vectors, held, held, VECTOR)),
        np.zeros((n_vectors, held, VECTOR)),
    )
    inverse[:, :m, :m] = lower.transpose(0, 3, 2, 1)
    whitened[:, :m] = np.einsum("vlrc,vlc->vrl", lower, mean)
    z, q = np.full(whitened.shape, np.nan), np.full(n_vectors * VECTOR, np.nan)
    call_whiten(inverse, whitened, x, z, q, m, n_vectors)
    expected = np.einsum("vlrc,vlc->vrl", lower, x - mean)
    np.testing.assert_allclose(z[:, :m], expected, rtol=1e-12, atol=1e-12)
    assert not z[:, m:].any()
    squares = np.square(expected).sum(axis=1).ravel()
    np.testing.assert_allclose(q, squares, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5, 10, 15, 16])
def test_a_block_factorised_and_inverted(d: int) -> None:
    rows = np.random.default_rng(d).normal(size=(40, d))
    matrix = rows.T @ rows / 40 + 0.1 * np.eye(d)
    a = aligned_zeros((WIDTH, WIDTH))
    a[:d, :d] = np.triu(matrix)
    pivots = [call_eliminate_block(a, top, min(top + 3, d)) for top in range(0, d, 3)]
    assert np.prod(pivots) == pytest.approx(np.linalg.det(matrix), rel=1e-11)
    upper = np.linalg.cholesky(matrix).T
    np.testing.assert_allclose(np.triu(a)[:d, :d], upper, rtol=1e-10, atol=1e-12)
    call_invert_block(a, d)
    np.testing.assert_allclose(a[:d, :d], np.linalg.inv(upper), rtol=1e-9, atol=1e-11)
    assert not a[d:].any()
    assert not a[:, d:].any()


@pytest.mark.parametrize("shape", [3, (2, 5), (4, 1, 3)])
def test_aligned_zeros(shape: int | tuple[int, ...]) -> None:
    array = aligned_zeros(shape)
    assert array.ctypes.data % CACHE_LINE == 0
    assert array.flags.c_contiguous
    assert array.flags.writeable
    np.testing.assert_array_equal(array, np.zeros(shape))


@jit
def call_solve_each(scatters, centres, weights, matrix, mean, work, found, at, back):
    d, across, side = mean.shape[0], weights.shape[0], matrix.shape[1]
    solve_each(
        scatters, centres, weights, matrix, mean, work, found[0], found[1], 0.1, at, across, side,
        d, back,
    )  # fmt: skip


@pytest.mark.parametrize("d", [1, 2, 7, 8, 10, 16])
def test_solving_for_many_at_once(d: int) -> None:
    """A matrix plus multiples of each of others; what is below the diagonal is not looked at."""
    rng, across = np.random.default_rng(d), 3 * VECTOR
    X = rng.normal(size=(across + 1, d + 2, d))
    S = np.einsum("knf,kng->kfg", X, X)
    weights, mean = rng.uniform(0.0, 2.0, across), rng.normal(size=d)
    centres = rng.normal(size=(d, across))
    scatters = np.ascontiguousarray(np.moveaxis(np.triu(S[1:]), 0, 2))
    matrix = np.full((d, d + 3), np.nan)
    matrix[:, :d] = np.where(np.tri(d, k=-1, dtype=bool), np.nan, S[0])
    A = S[0] + weights[:, None, None] * S[1:] + 0.1 * np.eye(d)
    v = np.linalg.solve(A, (mean - centres.T)[:, :, None])[:, :, 0]
    squared = ((mean - centres.T) * v).sum(axis=1)
    work, found = np.zeros((d, d + 1, VECTOR)), np.zeros((2, across))
    for back in (0, 1):
        for at in range(0, across, VECTOR):
            lanes = slice(at, at + VECTOR)
            call_solve_each(scatters, centres, weights, matrix, mean, work, found, at, back)
            np.testing.assert_allclose(found[0, lanes], np.linalg.det(A[lanes]), rtol=1e-10)
            np.testing.assert_allclose(found[1, lanes], squared[lanes], rtol=1e-9)
            if back:
                np.testing.assert_allclose(work[:, d].T, v[lanes], rtol=1e-8)
