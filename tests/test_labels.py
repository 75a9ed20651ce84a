"""Labels, categories and map field of whole runs equal the oracle's, in all sorts of corners."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.problems import assert_equal_runs, random_problem, run_both
from icvi_artmap import ICVIARTMAP
from icvi_artmap.indices.ni import LANES
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.network.driver import Network
from icvi_artmap.network.resonance import FEW_BOXES

RUNS_PER_INDEX = 40
#: Fewer of those whose oracle looks at all pairs of clusters again and again.
RUNS_OF_PAIRS = {name: 20 for name in ("SIL", "GD53", "rCIP", "rH")}
RANDOM_RUNS = [
    (name, seed) for name in INDICES for seed in range(RUNS_OF_PAIRS.get(name, RUNS_PER_INDEX))
]


@pytest.mark.parametrize(("name", "seed"), RANDOM_RUNS)
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


@pytest.mark.parametrize("seed", range(3))
def test_settled_samples_are_found_where_a_whole_search_finds_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strong overlap, so that boxes are many, fail the map field, and change for many epochs."""
    rng = np.random.default_rng(seed)
    shapes, y = 0.5 * rng.normal(size=(10, 10, 10)), rng.integers(0, 10, 6_000)
    X = np.einsum("nij,nj->ni", shapes[y], rng.normal(size=(6_000, 10)))
    X += rng.normal(size=(10, 10))[y]

    def fit() -> ICVIARTMAP:
        return ICVIARTMAP(10, refine=False, tol=0.0, max_epochs=8, random_state=seed).fit(X)

    def all_have_changed(network: Network) -> None:
        network.boxes.sets[-1] = ~np.uint64(0)

    found = fit()
    monkeypatch.setattr("icvi_artmap.training.run.begin_pass", all_have_changed)
    expected = fit()
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.sample_categories_, expected.sample_categories_)
    np.testing.assert_array_equal(found.fitted_.boxes, expected.fitted_.boxes)
    assert found.vigilances_ == expected.vigilances_
