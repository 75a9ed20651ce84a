"""Membership, outlier scores and noise: few of clean clusters, most of what lies around them."""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from helpers.moments import plain
from icvi_artmap import ICVIARTMAP, explain, index_value, load, save
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.estimators.fitted import is_training_data
from icvi_artmap.indices.registry import NAMES
from icvi_artmap.prediction.confidence import (
    Levels,
    learn_levels,
    looked_at,
    memberships,
    outlier_scores,
    with_scatter,
)
from icvi_artmap.samples.mixture import log_density, make_mixture
from icvi_artmap.samples.moments import of_clusters
from oracle import mixture as twin
from saved import write

#: As far as a row can be, in units of the data.
FAR = (1e6, 1e150, 1e300)


def levels_of(X: np.ndarray, component: np.ndarray, clusters: np.ndarray) -> Any:
    """The mixture, the cluster of every Gaussian and the levels."""
    moments = of_clusters(plain(X), component, len(clusters), True)
    mixture, rows = make_mixture(moments), looked_at(component, clusters, X.shape[1])
    n = np.bincount(clusters[component])
    levels = learn_levels(mixture, clusters, moments.n.astype(float), n, X[rows], component[rows])
    return mixture, clusters, levels


#: What these do not look at is where in a cluster its samples are.
NOT_COMPACT = ("PS",)


# --- membership ----------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**20), n=st.integers(6, 30), d=st.integers(1, 4))
def test_memberships_are_parts_of_the_density(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    component = np.append(np.arange(4), rng.integers(0, 4, n - 4))
    clusters = np.array([1, 0, 1, 2])
    mixture = make_mixture(of_clusters(plain(X), component, 4, True))
    densities = np.exp(twin.log_densities(X, component, 4, X))
    expected = np.stack([densities[:, clusters == i].sum(axis=1) for i in range(3)], axis=1)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(memberships(mixture, clusters, X), expected, atol=1e-8)


@pytest.mark.parametrize("index", NAMES)
def test_memberships_of_any_rows_sum_to_1(index: str) -> None:
    X, _ = make_gaussian_clusters(4, 3, random_state=1)
    model = ICVIARTMAP(4, index=index, random_state=0).fit(X)
    rows = np.vstack([X, *[far * sign * np.eye(3) for far in FAR for sign in (-1.0, 1.0)]])
    found = model.membership(rows)
    assert found.shape == (len(rows), model.n_clusters_)
    assert found.min() >= 0.0
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    most_probable = found[: len(X)].argmax(axis=1)
    if index not in NOT_COMPACT:
        assert (most_probable == model.labels_).mean() > 0.9


def test_a_single_cluster_has_all() -> None:
    model = ICVIARTMAP(2)
    model.n_clusters = 1
    with pytest.warns(RuntimeWarning, match="not a clustering"):
        model.fit(np.arange(8.0)[:, None])
    np.testing.assert_array_equal(model.membership([[3.0], [1e300]]), [[1.0], [1.0]])
    assert model.outlier_score([[3.5]])[0] == 0.0


# --- levels and scores ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(30, 1), (40, 3), (25, 20)])
def test_levels_are_those_of_samples_that_are_left_out(n: int, d: int) -> None:
    """The density is computed anew without each sample in turn."""
    X = np.random.default_rng(n).normal(size=(2 * n, d))
    component = np.repeat([0, 1], n)
    mixture, _, levels = levels_of(X, component, np.array([0, 1]))
    left_out = []
    for s in range(n):
        rest = np.arange(2 * n) != s
        left_out.append(twin.log_densities(X[rest], component[rest], 2, X[s : s + 1])[0, 0])
    spread = np.ptp(left_out)
    assert levels.usual[0] == pytest.approx(np.median(left_out), abs=0.02 * spread)
    among_them = np.median(log_density(mixture, X[:n]))
    assert levels.usual[0] < among_them
    assert not levels.thin.any()


def test_score_rises_from_0_to_1() -> None:
    X = np.random.default_rng(0).normal(size=(500, 2))
    told = levels_of(X, np.zeros(500, np.int64), np.array([0]))
    away = np.append(np.linspace(0.0, 10.0, 200), FAR)
    scores = outlier_scores(*told, np.stack([away, 0.0 * away], axis=1))
    assert scores[0] == 0.0
    assert (np.diff(scores) >= 0.0).all()
    assert scores[-1] == 1.0
    begins = away[np.argmax(scores > 0.5)]  # half a sample of 500: 3.7 deviations, and an error
    assert 3.3 < begins < 4.5


def test_noise_begins_at_one_half() -> None:
    X = np.random.default_rng(1).normal(size=(300, 1))
    mixture, clusters, levels = levels_of(X, np.zeros(300, np.int64), np.array([0]))
    grid = np.linspace(0.0, 8.0, 10001)[:, None]
    fallen = levels.usual[0] - log_density(mixture, grid)
    scores = outlier_scores(mixture, clusters, levels, grid)
    np.testing.assert_array_equal(scores > 0.5, fallen > levels.fall[0])
    np.testing.assert_array_equal(scores == 0.0, fallen <= 0.0)


@pytest.mark.parametrize(("d", "n"), [(1, 300), (2, 300), (10, 300), (50, 300), (20, 40)])
def test_few_samples_of_gaussian_clusters_are_noise(d: int, n: int) -> None:
    """Neither of those it has learned from nor of others."""
    rng = np.random.default_rng(d)
    centres = 10.0 * rng.normal(size=(3, d))
    component = np.repeat(np.arange(3), n)
    told = levels_of(centres[component] + rng.normal(size=(3 * n, d)), component, np.arange(3))
    for _ in range(2):
        scores = outlier_scores(*told, centres[component] + rng.normal(size=(3 * n, d)))
        assert (scores > 0.5).mean() < 0.02


def test_few_samples_of_flat_clusters_are_noise() -> None:
    X = np.random.default_rng(5).uniform(size=(1000, 2))
    told = levels_of(X, np.zeros(1000, np.int64), np.array([0]))
    assert (outlier_scores(*told, X) > 0.5).mean() < 0.002


@pytest.mark.parametrize("part", [0.05, 0.1, 0.2])
def test_most_of_a_background_is_noise(part: float) -> None:
    """The background has a Gaussian in each of two clusters, which is left out as thin."""
    rng = np.random.default_rng(6)
    m = int(1000 * part)
    X = np.vstack(
        [
            rng.normal(size=(500, 2)),
            rng.normal(size=(500, 2)) + 10.0,
            rng.uniform((-10.0, -10.0), (5.0, 20.0), size=(m, 2)),
            rng.uniform((5.0, -10.0), (20.0, 20.0), size=(m, 2)),
        ]
    )
    component = np.repeat(np.arange(4), (500, 500, m, m))
    told = levels_of(X, component, np.array([0, 1, 0, 1]))
    np.testing.assert_array_equal(told[2].thin, [False, False, True, True])
    noise = outlier_scores(*told, X) > 0.5
    assert noise[component < 2].mean() < 0.01
    assert noise[component >= 2].mean() > 0.8


def test_outliers_do_not_hide_themselves() -> None:
    """A tenth of the samples blow the Gaussian up; the scale comes from the denser half."""
    rng = np.random.default_rng(7)
    X = np.vstack([rng.normal(size=(450, 3)), rng.uniform(-20.0, 20.0, size=(50, 3))])
    noise = outlier_scores(*levels_of(X, np.zeros(500, np.int64), np.array([0])), X) > 0.5
    assert noise[450:].mean() > 0.9
    assert noise[:450].mean() < 0.02


def test_samples_that_are_equal_or_alone() -> None:
    X = np.vstack([np.zeros((30, 2)), [[3.0, 3.0]], [[5.0, 5.0], [6.0, 5.0]]])
    component = np.repeat(np.arange(3), (30, 1, 2))
    told = levels_of(X, component, np.arange(3))
    assert (told[2].fall > 0.0).all()
    scores = outlier_scores(*told, np.vstack([X, [[1e6, 0.0]]]))
    assert (scores[:-1] < 0.5).all()
    assert scores[-1] > 0.99


def test_half_of_the_samples_are_equal() -> None:
    X = np.vstack([np.zeros((60, 1)), np.random.default_rng(8).normal(size=(40, 1))])
    told = levels_of(X, np.zeros(100, np.int64), np.array([0]))
    assert (outlier_scores(*told, X) > 0.5).mean() < 0.05


def test_samples_that_are_looked_at() -> None:
    component = np.repeat(np.arange(4), (5000, 3000, 700, 2))
    clusters = np.array([0, 0, 1, 2])
    rows = looked_at(component, clusters, 2)
    np.testing.assert_array_equal(np.bincount(component[rows]), (625, 375, 700, 2))
    assert (np.diff(rows) > 0).all()
    assert np.bincount(clusters[component[looked_at(component, clusters, 50)]])[0] == 400
    assert np.bincount(clusters[component[looked_at(component, clusters, 5000)]])[0] == 100


def test_samples_that_are_looked_at_in_any_order() -> None:
    rng = np.random.default_rng(10)
    clusters = np.array([1, 0, 2, 0, 1, 1, 3])
    component = rng.choice(7, 20_000, p=[0.3, 0.1, 0.05, 0.2, 0.15, 0.1999, 0.0001])
    cluster = clusters[component]
    n = np.bincount(cluster)
    order = np.lexsort((component, cluster))
    rank = np.arange(len(order)) - np.repeat(n.cumsum() - n, n)
    expected = np.sort(order[rank * 400 % n[cluster[order]] < 400])
    np.testing.assert_array_equal(looked_at(component, clusters, 50), expected)


def test_scatter_of_some_samples_stands_for_all() -> None:
    rng = np.random.default_rng(9)
    X, labels = rng.normal(size=(4000, 2)) * (1.0, 3.0), np.arange(4000) % 2
    without = of_clusters(plain(X), labels, 2, False)
    whole = of_clusters(plain(X), labels, 2, True)
    rows = looked_at(labels, np.arange(2), 2)
    found, known_from = with_scatter(without, X[rows], labels[rows])
    np.testing.assert_array_equal(known_from, (1000.0, 1000.0))
    upper = np.triu(np.ones((2, 2), np.bool_))
    apart = (found.scatter - whole.scatter)[:, upper] / np.trace(whole.scatter[0])
    assert np.abs(apart).max() < 0.1
    assert with_scatter(whole, X[rows], labels[rows])[0] is whole


# --- the estimator -------------------------------------------------------------------------------


def noisy() -> tuple[np.ndarray, np.ndarray]:
    X, _ = make_gaussian_clusters(4, 2, random_state=0)
    rng = np.random.default_rng(0)
    outside = rng.uniform(-60.0, 60.0, size=(12, 2))
    X = np.vstack([X, outside[np.abs(outside).max(axis=1) > 30.0]])
    return X, np.arange(len(X)) >= 1254


@functools.cache
def fitted(index: str, noise: bool = True) -> ICVIARTMAP:
    return ICVIARTMAP(4, index=index, noise=noise, random_state=0).fit(noisy()[0])


@pytest.mark.parametrize("index", ["NI", "CH", "DB"])
def test_noise_is_marked_and_nothing_else_changes(index: str) -> None:
    X, outside = noisy()
    model, plainly = fitted(index), fitted(index, noise=False)
    np.testing.assert_array_equal(model.sample_clusters_, plainly.labels_)
    np.testing.assert_array_equal(model.sample_clusters_, plainly.sample_clusters_)
    np.testing.assert_array_equal(
        model.labels_, np.where(model.outlier_score(X) > 0.5, -1, plainly.labels_)
    )
    np.testing.assert_array_equal(model.outlier_score(X), plainly.outlier_score(X))
    assert (model.labels_ < 0).mean() < 0.03
    assert set(model.labels_) >= {0, 1, 2, 3}
    np.testing.assert_array_equal(model.cluster_centers_, plainly.cluster_centers_)
    assert model.index_value_ == plainly.index_value_ == model.index_history_[-1]
    value = index_value(X, model.sample_clusters_, index)
    assert model.index_value_ == pytest.approx(value, rel=1e-7)
    if index != "NI":  # to NI what lies outside is a cluster
        assert (model.labels_[outside] == -1).all()


@pytest.mark.parametrize("rule", ["index", "category"])
def test_predictions_of_noise(rule: str) -> None:
    X, _ = noisy()
    model = copy.copy(fitted("CH")).set_params(prediction=rule)
    rows = np.vstack([X, [[1e6, 0.0], [-1e200, 1e200]]])
    predicted, noise = model.predict(rows), model.outlier_score(rows) > 0.5
    np.testing.assert_array_equal(predicted == -1, noise)
    np.testing.assert_array_equal(predicted[-2:], -1)
    model.set_params(noise=False)
    np.testing.assert_array_equal(predicted[~noise], model.predict(rows)[~noise])
    assert model.predict(rows).min() >= 0


def test_score_leaves_noise_out() -> None:
    X, _ = noisy()
    model = fitted("CH")
    kept = model.predict(X) >= 0
    assert (
        model.score(X) == model.score(X[kept]) > copy.copy(model).set_params(noise=False).score(X)
    )
    assert model.score([[1e6, 1e6], [-1e6, 0.0]]) == -np.inf


def test_wine_with_much_alcohol() -> None:
    X = load_wine().data
    model = ICVIARTMAP(3, noise=True, random_state=0).fit(X)
    strong = X[:1].copy()
    strong[0, 0] = 1e6
    assert model.outlier_score(strong)[0] > 0.99999
    assert model.predict(strong)[0] == -1
    assert np.median(model.outlier_score(X)) < 0.2
    assert (model.labels_ < 0).mean() < 0.02


def test_other_tools_with_noise() -> None:
    X, outside = noisy()
    model = fitted("CH")
    assert is_training_data(model, X)
    assert not is_training_data(model, X[::-1])
    assert "Noise" in model._repr_html_()
    noise = np.flatnonzero(outside)[:1]
    why = explain(model, X[noise], samples=noise)
    value = why.index_values[0, model.sample_clusters_[noise[0]]]
    assert value == pytest.approx(model.index_value_, rel=1e-9)
    assert why.predicted[0] == -1


def test_noise_must_be_a_truth() -> None:
    with pytest.raises(TypeError, match="noise must be True or False"):
        ICVIARTMAP(2, noise="yes").fit([[0.0], [1.0], [2.0]])


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["NI", "CH"])
def test_a_loaded_model_has_the_same_noise(index: str, tmp_path: Path) -> None:
    X, _ = noisy()
    model = fitted(index)
    save(model, tmp_path / "noise.icvi")
    other = load(tmp_path / "noise.icvi")
    assert other.noise is True
    for name in ("labels_", "sample_clusters_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(model, name))
    for name in ("membership", "outlier_score", "predict"):
        np.testing.assert_array_equal(getattr(other, name)(X), getattr(model, name)(X))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"thin": np.ones(4, np.bool_)}, "'levels.thin' leaves out all"),
        ({"fall": np.zeros(4)}, "'levels.fall' has values"),
        ({"fall": np.full(4, 1e-30)}, "'levels.fall' has values"),
        ({"fall": np.full(4, np.nan)}, "'levels.fall' has NaN"),
        ({"usual": np.full(4, 1e200)}, "'levels.usual' has values"),
        ({"usual": np.zeros(3)}, "'levels.usual' has shape"),
    ],
)
def test_wrong_levels_are_refused(change: Any, reason: str, tmp_path: Path) -> None:
    model = copy.copy(fitted("CH"))
    levels = Levels._replace(model.fitted_.levels, **change)
    model.fitted_ = copy.copy(model.fitted_)
    object.__setattr__(model.fitted_, "levels", levels)
    with pytest.raises(ValueError, match=reason):
        save(model, tmp_path / "wrong.icvi")


def test_wrong_scatter_is_refused(tmp_path: Path) -> None:
    model = copy.copy(fitted("CH"))
    model.fitted_ = copy.copy(model.fitted_)
    scatter = model.fitted_.gaussians.scatter.copy()
    scatter[2, 0, 0] = -1.0
    gaussians = model.fitted_.gaussians._replace(scatter=scatter)
    object.__setattr__(model.fitted_, "gaussians", gaussians)
    with pytest.raises(ValueError, match=r"'gaussians.scatter' of cluster 2 has a negative"):
        save(model, tmp_path / "wrong.icvi")


def test_noise_without_levels_is_refused(tmp_path: Path) -> None:
    model = copy.copy(fitted("CH"))
    model.fitted_ = copy.copy(model.fitted_)
    object.__setattr__(model.fitted_, "levels", None)
    with pytest.raises(ValueError, match="nothing tells where noise begins"):
        save(model, tmp_path / "wrong.icvi")


def test_gaussians_without_density_are_refused(tmp_path: Path) -> None:
    """Rounding may leave a variance below 0 in one cluster, but not in all together."""
    model = copy.copy(fitted("CH"))
    model.fitted_ = copy.copy(model.fitted_)
    scatter = np.zeros((4, 2, 2))
    scatter[:, 0, 0] = -5e-10
    gaussians = model.fitted_.gaussians._replace(scatter=scatter)
    object.__setattr__(model.fitted_, "gaussians", gaussians)
    with pytest.raises(ValueError, match="its Gaussians have no density"):
        save(model, tmp_path / "wrong.icvi")


def test_models_of_the_first_version(tmp_path: Path) -> None:
    folder = Path(write.__file__).parent / "0.1.0"
    ni, ch = load(folder / "ni.icvi"), load(folder / "ch-traced.icvi")
    rows = write.new_rows()
    np.testing.assert_allclose(ni.membership(rows).sum(axis=1), 1.0)
    for ask in (ni.outlier_score, ch.outlier_score, ch.membership):
        with pytest.raises(ValueError, match=r"an earlier version has saved\. Fit it again"):
            ask(rows)
    save(ch, tmp_path / "again.icvi")
    np.testing.assert_array_equal(load(tmp_path / "again.icvi").predict(rows), ch.predict(rows))
