"""Columns of the map field, beside their twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from icvi_artmap.network import map_field as field
from oracle import map_field as oracle


@pytest.mark.nojit
@pytest.mark.parametrize("n_rows", [1, field.TOGETHER, 2 * field.TOGETHER + 7])
def test_merged_columns(n_rows: int) -> None:
    rng = np.random.default_rng(0)
    k, room = 5, 2
    weights = rng.integers(0, 4, (n_rows, k + room)) / 3.0  # many equal ones
    for i, j in combinations(range(k), 2):
        merged = weights.copy()
        predicted = field.predictions(merged, k)
        field.merge_columns(merged, k, i, j, predicted)
        np.testing.assert_array_equal(
            merged[:, : k - 1], oracle.merge_columns(weights[:, :k], i, j)
        )
        np.testing.assert_array_equal(merged[:, k:], weights[:, k:])
        np.testing.assert_array_equal(predicted, merged[:, : k - 1].argmax(axis=1))


@pytest.mark.nojit
def test_split_columns() -> None:
    rng = np.random.default_rng(1)
    k, n_rows = 4, 40
    weights = rng.integers(0, 3, (n_rows, k + 2)) / 2.0
    weights[0] = 0.0
    for q in range(n_rows):
        split, predicted = weights.copy(), field.predictions(weights, k)
        field.split_column(split, k, q, predicted)
        np.testing.assert_array_equal(split[:, : k + 1], oracle.split_column(weights[:, :k], q))
        np.testing.assert_array_equal(split[:, k + 1 :], weights[:, k + 1 :])
        np.testing.assert_array_equal(predicted, split[:, : k + 1].argmax(axis=1))
