"""Labels, categories and map field of whole runs equal the oracle's, in all sorts of corners."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.problems import assert_equal_runs, random_problem, run_both
from icvi_artmap.indices.ni import LANES
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.network.resonance import FEW_BOXES

RUNS_PER_INDEX = 60


@pytest.mark.parametrize("name", list(INDICES))
@pytest.mark.parametrize("seed", range(RUNS_PER_INDEX))
def test_random_runs_equal_the_oracle(name: str, seed: int) -> None:
    X, centres, parameters = random_problem(np.random.default_rng(seed))
    assert_equal_runs(name, *run_both(name, X, centres, parameters))


@pytest.mark.parametrize("seed", range(2000, 2040))
def test_runs_in_many_dimensions_equal_the_oracle(seed: int) -> None:
    """Above ni.LANES features NI turns the data, and sums of q are abandoned."""
    X, centres, parameters = random_problem(
        np.random.default_rng(seed), (LANES + 1, 5 * LANES // 2)
    )
    assert_equal_runs("NI", *run_both("NI", X, centres, parameters))


@pytest.mark.parametrize("name", ["CH", "NI"])
@pytest.mark.parametrize("seed", range(6))
def test_runs_with_many_categories_equal_the_oracle(name: str, seed: int) -> None:
    """Above search.FEW_BOXES categories the search goes by the sets of near boxes."""
    rng = np.random.default_rng(1000 + seed)
    X = rng.normal(size=(300, 2 + seed % 3))
    X[:30] = X[30:60]  # duplicates
    centres = X[rng.choice(len(X), 6, replace=False)]
    parameters = {
        "rho_a": [0.96, 0.9, 0.0][seed % 3],
        "rho_ab": [1.0, 0.95][seed % 2],
        "beta_a": 1.0 if seed < 4 else 0.7,
        "alpha": [1e-3, 0.5][seed // 3],
        "epsilon": 0.01,
        "beta_ab": 1e-3,
    }
    ours, reference = run_both(name, X, centres, parameters, epochs=3)
    assert_equal_runs(name, ours, reference)
    if seed % 3 < 2:
        assert len(ours.boxes) > FEW_BOXES
