"""The spelled-out routines about sets equal plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from icvi_artmap._compile.jit import jit
from icvi_artmap._compile.sets import AT_ONCE, close, first_largest, intersect, members, narrow
from icvi_artmap._compile.vectors import BYTES, VECTOR

pytestmark = pytest.mark.nojit


@jit
def call_intersect(sets, first, count, words, held, left):
    return intersect(sets, first, count, words, held, left)


@jit
def call_narrow(sets, first, count, words, held, left):
    return narrow(sets, first, count, words, held, left)


@jit
def call_members(bits, left, value, least, out, begin):
    return members(bits, left, value, least, out, begin)


@jit
def call_first_largest(value, other, numbers, count, divisor, quotient, least, limit, last):
    return first_largest(value, other, numbers, count, divisor, quotient, least, limit, last)


@jit
def call_close(levels, stride, point, count, most, held, left):
    close(levels, stride, point, count, most, held, left)


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
        value, other = rng.integers(-3, 6, size) / 5.0, 2.0 * rng.random(size)
        value[rng.random(size) < 0.2] *= -1.0  # of zeros some are negative
        numbers = rng.permutation(size)
        place = int(rng.integers(-1, count))
        limit, last = (value[place], int(numbers[place])) if place >= 0 else (np.inf, -1)
        least, quotient = rng.choice([-np.inf, 0.4]), rng.choice([0.0, 0.3, 1.0])
        order = sorted(range(count), key=lambda p: (-value[p], numbers[p]))
        later = order[order.index(place) + 1 :] if place >= 0 else order
        wanted = [p for p in later if value[p] >= least and other[p] / 1.3 >= quotient]
        asked = (value, other, numbers, count, 1.3, quotient, least, limit, last)
        assert call_first_largest(*asked) == (wanted[0] if wanted else -1)
