"""The spelled-out loops equal plain NumPy, wherever in the arrays they work."""

from __future__ import annotations

import numpy as np
import pytest

from icvi_artmap._compile.jit import jit
from icvi_artmap._compile.simd import (
    AT_ONCE,
    BYTES,
    CACHE_LINE,
    VECTOR,
    WIDTH,
    add_minima,
    add_rows,
    add_rows_4,
    aligned_zeros,
    close,
    eliminate_block,
    first_largest,
    intersect,
    invert_block,
    members,
    narrow,
    rows_held,
    subtract_rows,
    subtract_rows_4,
    whiten,
)

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
def call_intersect(sets, first, count, words, held, left):
    return intersect(sets, first, count, words, held, left)


@jit
def call_narrow(sets, first, count, words, held, left):
    return narrow(sets, first, count, words, held, left)


@jit
def call_eliminate_block(a, top, stop):
    return eliminate_block(a, top, stop)


@jit
def call_invert_block(a, d):
    invert_block(a, d)


@jit
def call_whiten(inverse, whitened, x, z, q, m, n_vectors):
    whiten(inverse, whitened, x, z, q, m, n_vectors)


@jit
def call_members(bits, left, value, least, out, begin):
    return members(bits, left, value, least, out, begin)


@jit
def call_first_largest(value, other, numbers, count, divisor, quotient, least, limit, last):
    return first_largest(value, other, numbers, count, divisor, quotient, least, limit, last)


@jit
def call_close(levels, stride, point, count, most, held, left):
    close(levels, stride, point, count, most, held, left)


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


def listed(bits: np.ndarray) -> list[int]:
    """How many groups of a set are not empty, and where they begin."""
    starts = VECTOR * np.flatnonzero(bits.reshape(-1, VECTOR).any(axis=1))
    return [len(starts), *starts.tolist()]


@pytest.mark.parametrize("density", [0.3, 0.8, 0.95, 0.99])
def test_intersections(density: float) -> None:
    rng = np.random.default_rng(0)
    words, n_sets = 5 * VECTOR, 10
    inside = rng.random((n_sets, 64 * words)) < density
    sets = np.packbits(inside, axis=1, bitorder="little").view(np.uint64)
    first = np.array([3, 0, 5, 1, 2, 4, 3, 3]) * words  # the last ones fill up
    assert len(first) == 2 * AT_ONCE
    held, left = np.full(words, 7, np.uint64), np.full(1 + words // VECTOR, -1)
    for call, among, some in (
        (call_intersect, 6, first),
        (call_narrow, 8, words * np.arange(4, 8)),
    ):
        count = call(sets, some, len(some), words, held, left)
        expected = np.bitwise_and.reduce(sets[:among])
        np.testing.assert_array_equal(held, expected)
        assert left[: 1 + left[0]].tolist() == listed(expected)
        assert count == np.count_nonzero(inside[:among].all(axis=0))


@pytest.mark.parametrize("most", [0, 30, 200, 254])
@pytest.mark.parametrize("span", [20, 255])
def test_what_is_close(most: int, span: int) -> None:
    rng = np.random.default_rng(most)
    words, n_rows = 4 * VECTOR, 7
    levels = rng.integers(0, span + 1, (n_rows, BYTES * words + 64)).astype(np.uint8)
    levels[:, BYTES * VECTOR : 2 * BYTES * VECTOR] = 255  # the second group is far away
    point = rng.integers(0, span // 2, n_rows).astype(np.uint8)
    held = rng.integers(0, 1 << 63, words).astype(np.uint64)
    left = np.array([3, 0, VECTOR, 3 * VECTOR, -1])  # and the third is empty
    held[2 * VECTOR : 3 * VECTOR] = 0
    above = np.maximum(levels.astype(int) - point.astype(int)[:, None], 0)
    near = above[: n_rows - 2, : BYTES * words].sum(axis=0) <= most
    expected = held & np.packbits(near, bitorder="little").view(np.uint64)
    call_close(levels, levels.shape[1], point, n_rows - 2, most, held, left)
    np.testing.assert_array_equal(held, expected)
    assert left[: 1 + left[0]].tolist() == listed(expected)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5, 1.0])
def test_members_of_a_set(density: float) -> None:
    rng = np.random.default_rng(0)
    words = 4 * VECTOR
    inside = rng.random(64 * words) < density
    inside[64 * VECTOR : 2 * 64 * VECTOR] = False  # a group that is not listed in ``left``
    bits = np.packbits(inside, bitorder="little").view(np.uint64)
    left = np.array([3, 0, 2 * VECTOR, 3 * VECTOR])
    left[0] = 3 if density > 0.0 else 0
    value = rng.random(64 * words)
    for least in (0.0, 0.5, 2.0):
        expected = np.flatnonzero(inside & (value >= least))
        out = np.full(64 * words, -1)
        end = call_members(bits, left, value, least, out, 5)
        np.testing.assert_array_equal(out[5:end], expected)
        assert (out[:5] == -1).all()


def test_the_first_of_the_largest() -> None:
    """Few values, so that most are equal; those of numbers above ``last`` come after it."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        count = int(rng.integers(0, 40))
        size = -(-count // VECTOR) * VECTOR
        value, other = rng.integers(0, 6, size) / 5.0, 2.0 * rng.random(size)
        numbers = rng.permutation(size)
        place = int(rng.integers(-1, count))
        limit, last = (value[place], int(numbers[place])) if place >= 0 else (np.inf, -1)
        least, quotient = rng.choice([-np.inf, 0.4]), rng.choice([0.0, 0.3, 1.0])
        order = sorted(range(count), key=lambda p: (-value[p], numbers[p]))
        later = order[order.index(place) + 1 :] if place >= 0 else order
        wanted = [p for p in later if value[p] >= least and other[p] / 1.3 >= quotient]
        asked = (value, other, numbers, count, 1.3, quotient, least, limit, last)
        assert call_first_largest(*asked) == (wanted[0] if wanted else -1)


@pytest.mark.parametrize("shape", [3, (2, 5), (4, 1, 3)])
def test_aligned_zeros(shape: int | tuple[int, ...]) -> None:
    array = aligned_zeros(shape)
    assert array.ctypes.data % CACHE_LINE == 0
    assert array.flags.c_contiguous
    assert array.flags.writeable
    np.testing.assert_array_equal(array, np.zeros(shape))
