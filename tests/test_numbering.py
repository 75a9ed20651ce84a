"""Clusters are numbered by size, everywhere and once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from icvi_artmap import ICVIARTMAP, load, save
from icvi_artmap.estimators.fitted import groups_of, is_training_data
from icvi_artmap.estimators.numbering import by_size, number_by_size
from icvi_artmap.samples import moments as mom

SIZES = (30, 90, 60, 45)


def rows(seed: int = 0, gaps: int = 0) -> NDArray[np.float64]:
    """Clusters far apart, the second largest of which has gaps and far outliers."""
    rng = np.random.RandomState(seed)
    centres = np.array([[0.0, 0.0, 0.0], [12.0, 0.0, 4.0], [0.0, 12.0, -4.0], [12.0, 12.0, 9.0]])
    parts = [rng.normal(c, 1.0, (n, 3)) for c, n in zip(centres, SIZES, strict=True)]
    X = rng.permutation(np.vstack(parts))
    X.ravel()[rng.permutation(X.size)[:gaps]] = np.nan
    return X


def sizes(labels: NDArray[np.int64]) -> list[int]:
    return np.bincount(labels[labels >= 0]).tolist()


@pytest.mark.parametrize(
    "settings",
    [
        {"n_clusters": 4},
        {"n_clusters": "auto"},
        {"n_clusters": 4, "index": "DB"},  # is not refined by itself
        {"n_clusters": 4, "index": "CH", "noise": True},
        {"n_clusters": 4, "shape": "any"},
        {"n_clusters": "auto", "shape": "any"},
        {"n_clusters": 4, "transform_columns": "clip", "noise": True},
    ],
    ids=str,
)
def test_the_largest_is_0(settings: dict[str, Any], tmp_path: Path) -> None:
    X = rows()
    model = ICVIARTMAP(**settings, random_state=0).fit(X)
    assert sizes(model.labels_) == sorted(sizes(model.labels_), reverse=True)
    check_consistent(model, X)
    save(model, tmp_path / "model.icvi")
    check_consistent(load(tmp_path / "model.icvi"), X)


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_the_rows_that_are_shown_count(missing: str) -> None:
    X = rows(gaps=60)
    model = ICVIARTMAP(4, missing=missing, random_state=0).fit(X)
    assert sizes(model.labels_) == sorted(sizes(model.labels_), reverse=True)
    kept = ~np.isnan(X).any(axis=1)
    assert is_training_data(model, X)
    np.testing.assert_array_equal(model.predict(X[kept]), model.labels_[kept])


def check_consistent(model: ICVIARTMAP, X: NDArray[np.float64]) -> None:
    """All that is known of clusters is in the same order."""
    clusters, k = model.sample_clusters_, model.n_clusters_
    np.testing.assert_array_equal(model.fitted_.moments.n, np.bincount(clusters, minlength=k))
    means = [X[clusters == i].mean(axis=0) for i in range(k)]
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.category_labels_[model.sample_categories_], clusters)
    np.testing.assert_array_equal(model.membership(X).argmax(axis=1), clusters)
    np.testing.assert_array_equal(model.transform(X).argmax(axis=1), clusters)
    groups = groups_of(model)
    np.testing.assert_array_equal(model.fitted_.group_clusters[groups], clusters)
    seen = model.fitted_.standardised(X)
    for i, n in enumerate(model.fitted_.groups.n):
        assert n == np.count_nonzero(groups == i)
        mean = model.fitted_.groups.mean[i]
        np.testing.assert_allclose(mean, seen[groups == i].mean(axis=0), atol=1e-9)
    if hasattr(model, "joins_"):
        np.testing.assert_array_equal(model.joins_.clusters, model.components_.clusters)
    assert is_training_data(model, X)


def test_the_papers_algorithm_keeps_its_numbers() -> None:
    X = rows()
    labels = ICVIARTMAP(4, random_state=0).fit_predict(X)
    centres = np.array([X[labels == i].mean(axis=0) for i in (1, 0, 3, 2)])
    plain = ICVIARTMAP(4, index="CH", init=centres, refine=False, random_state=0).fit(X)
    sized = ICVIARTMAP(4, index="CH", init=centres, random_state=0, max_epochs=20).fit(X)
    assert sizes(plain.labels_) == [60, 90, 30, 45]
    assert sizes(sized.labels_) == [90, 60, 45, 30]
    assert number_by_size(plain).tolist() == [1, 0, 3, 2]
    np.testing.assert_array_equal(plain.labels_, sized.labels_)
    check_consistent(plain, X)
    assert number_by_size(plain).tolist() == [0, 1, 2, 3]
    check_consistent(plain, X)


def test_of_equals_the_first_in_the_data_comes_first() -> None:
    clusters = np.array([3, 1, 1, 0, 3, 2])
    assert by_size(clusters, clusters, 4).tolist() == [3, 1, 0, 2]
    noise = np.array([-1, 1, 1, 0, 3, 2])
    assert by_size(noise, clusters, 4).tolist() == [1, 3, 0, 2]


def test_numbers_stay_while_a_stream_goes_on() -> None:
    """The start is numbered by size; later rows may turn the order of sizes around."""
    X = rows()
    model = ICVIARTMAP(4, warm_up=len(X), memory=len(X), random_state=0)
    fitted = ICVIARTMAP(4, random_state=0).fit(X)
    model.partial_fit(X)
    np.testing.assert_array_equal(model.labels_, fitted.labels_)
    centres = model.cluster_centers_.copy()
    smallest = np.repeat(centres[[3]], 200, axis=0) + np.random.RandomState(1).normal(
        0.0, 0.5, (200, 3)
    )
    model.partial_fit(smallest)
    assert set(model.labels_) == {3}
    assert model.fitted_.moments.n.argmax() == 3
    np.testing.assert_allclose(model.cluster_centers_[:3], centres[:3], atol=1e-9)


def test_moments_are_taken_whole() -> None:
    """With scatter, which NI predicts by."""
    X = rows()
    model = ICVIARTMAP(4, random_state=0).fit(X)
    gaussians, clusters = model.fitted_.gaussians, model.sample_clusters_
    assert gaussians is not None
    seen = model.fitted_.standardised(X)
    for i in range(4):
        mine = seen[clusters == i]
        scatter = mom.symmetric(gaussians.scatter[i])
        np.testing.assert_allclose(scatter, np.cov(mine.T, ddof=0) * len(mine), atol=1e-7)
