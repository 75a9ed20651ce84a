"""Many samples: a part is trained and refined, and all join."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch, index_value
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.indices.registry import get_index
from icvi_artmap.samples.scaling import coded_data, learn_scaling
from icvi_artmap.training import part
from icvi_artmap.training.refinement import Partition


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MANY": 600, "LEAST": 300, "PER_CLUSTER": 20}.items():
        monkeypatch.setattr(part, name, value)


def clusters(n_samples: int = 1_500) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return make_gaussian_clusters(4, 3, n_samples=n_samples, random_state=2)


@pytest.mark.parametrize(
    ("samples", "features", "k", "expected"),
    [
        (20_000, 10, 10, 20_000),
        (20_001, 10, 10, 5_000),
        (70_000, 10, 10, 5_000),
        (200_000, 10, 10, 10_000),
        (1_000_000, 10, 10, 20_000),
        (1_000_000, 10, 200, 50_000),  # 250 for each cluster
        (1_000_000, 500, 20, 50_000),  # 5 for each cluster and feature
        (40_000, 500, 20, 40_000),
    ],
)
def test_size_of_the_part(samples: int, features: int, k: int, expected: int) -> None:
    assert part.part_size(samples, features, k) == expected
    rows = part.part_rows(samples, features, k, seed=1)
    assert len(np.unique(rows)) == expected
    assert 0 <= rows[0] < rows[-1] < samples


@pytest.mark.parametrize(
    ("index", "k", "expected"), [("NI", 10, 2_000), ("NI", 40, 4_000), ("CH", 10, 5_000)]
)
def test_rows_of_the_start(index: str, k: int, expected: int) -> None:
    rows = np.arange(0, 70_000, 14)
    found = part.start_rows(rows, get_index(index), k, seed=1)
    assert len(np.unique(found)) == expected
    assert np.isin(found, rows).all()
    assert len(part.start_rows(rows[:1_500], get_index(index), k, seed=1)) == 1_500


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("index", ["NI", "CH", "XB"])
def test_all_samples_find_their_clusters(index: str) -> None:
    X, y = clusters()
    model = ICVIARTMAP(4, index=index, refine=True, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.index_value_ == pytest.approx(index_value(X, model.labels_, index), rel=1e-9)
    np.testing.assert_array_equal(model.category_labels_[model.sample_categories_], model.labels_)
    assert model.n_iter_ == len(model.history_["merges"])
    again = ICVIARTMAP(4, index=index, refine=True, random_state=0).fit(X)
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.usefixtures("small_parts")
def test_no_sample_would_rather_be_elsewhere() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 2)) + rng.choice([-1.2, 1.2], size=(2_000, 2))  # they overlap
    model = ICVIARTMAP(4, random_state=0).fit(X)
    index, data = get_index("NI"), coded_data(X, learn_scaling(X), np.arange(len(X)))
    partition = Partition(index, data, model.labels_.copy(), 4, 4)
    partition.sweep()
    np.testing.assert_array_equal(partition.labels, model.labels_)


@pytest.mark.usefixtures("small_parts")
def test_the_trace_is_of_the_part() -> None:
    X, _ = clusters()
    model = ICVIARTMAP(4, random_state=0).fit(X, trace=True)
    assert len(model.index_trace_) == model.n_iter_ * 300
    np.testing.assert_array_equal(ICVIARTMAP(4, random_state=0).fit(X).labels_, model.labels_)


def test_the_papers_algorithm_sees_all_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = clusters()
    expected = ICVIARTMAP(4, refine=False, random_state=0).fit(X)
    monkeypatch.setattr(part, "MANY", 600)
    monkeypatch.setattr(part, "LEAST", 300)
    found = ICVIARTMAP(4, refine=False, random_state=0).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.categories_, expected.categories_)


@pytest.mark.usefixtures("small_parts")
def test_starts_shapes_and_given_centres() -> None:
    X, y = clusters()
    for settings in ({"n_init": 3}, {"init": X[[0, 5, 9, 20]]}, {"shape": "any"}):
        model = ICVIARTMAP(4, random_state=0, **settings).fit(X)
        assert len(model.labels_) == len(X)
        assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.usefixtures("small_parts")
def test_a_search_makes_the_same_runs() -> None:
    X, _ = clusters()
    template = ICVIARTMAP(4, random_state=0)
    search = ICVIARTMAPSearch(template, rho_a=(0.0, 0.6), rho_ab=(0.5,), random_state=0).fit(X)
    assert search.best_estimator_.index_value_ == pytest.approx(
        search.results_.index_value.min(), rel=1e-12
    )
