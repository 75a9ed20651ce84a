"""Clusters of any shape: components joined to clusters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, explain, index_value, load, save
from icvi_artmap.training.shapes import nested, numbers_of_components, purity

Table = NDArray[np.float64]


def spirals(n: int, seed: int) -> tuple[Table, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    turn = np.sqrt(rng.uniform(0.1, 1.0, (2, n))) * 2.5 * np.pi
    arms = [
        np.column_stack([t * np.cos(t + phase), t * np.sin(t + phase)])
        for t, phase in zip(turn, (0.0, np.pi), strict=True)
    ]
    return np.concatenate(arms) + rng.normal(0.0, 0.2, (2 * n, 2)), np.repeat([0, 1], n)


SETS = {
    "moons": make_moons(600, noise=0.05, random_state=0),
    "circles": make_circles(600, noise=0.05, factor=0.5, random_state=0),
    "spirals": spirals(400, 0),
}


@pytest.fixture(scope="module", params=sorted(SETS))
def fitted(request: pytest.FixtureRequest) -> tuple[ICVIARTMAP, Table, NDArray[np.int64]]:
    X, y = SETS[request.param]
    return ICVIARTMAP(2, shape="any", random_state=0).fit(X), X, y


def test_shapes_that_are_not_gaussian_are_found(fitted):
    model, _, y = fitted
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_components_lie_in_clusters_and_joins_are_their_tree(fitted):
    model, X, _ = fitted
    components, joins = model.components_, model.joins_
    np.testing.assert_array_equal(components.clusters[components.labels], model.labels_)
    assert np.bincount(components.labels).min() > 0
    assert components.weights.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(np.bincount(components.labels) / len(X), components.weights)
    for i in range(len(components.clusters)):
        own = X[components.labels == i]
        np.testing.assert_allclose(components.means[i], own.mean(axis=0), atol=1e-9)
    group = np.arange(len(components.clusters))
    for first, second in zip(joins.first[joins.made], joins.second[joins.made], strict=True):
        group[group == second] = first
    joined = np.unique(group, return_inverse=True)[1]
    assert adjusted_rand_score(joined, components.clusters) == 1.0
    assert np.count_nonzero(~joins.made) == model.n_clusters_ - 1
    assert joins.prominence[~joins.made].min() > joins.prominence[joins.made].max()
    assert list(joins.to_pandas().columns)[:2] == ["first", "second"]


def test_everything_else_works_with_joined_clusters(fitted, tmp_path):
    model, X, _ = fitted
    assert model.index_value_ == pytest.approx(index_value(X, model.labels_, "NI"), rel=1e-9)
    assert np.mean(model.predict(X) == model.labels_) > 0.98
    by_category = ICVIARTMAP(**model.get_params()).set_params(prediction="category")
    by_category.__dict__ |= {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert np.mean(by_category.predict(X) == model.labels_) > 0.98
    assert model.map_field_.shape == (len(model.categories_), 2)
    np.testing.assert_array_equal(model.category_labels_[model.sample_categories_], model.labels_)
    assert model.transform(X[:5]).shape == (5, 2)
    found = explain(model, X[:3], samples=[0, 1, 2])
    np.testing.assert_array_equal(found.best, model.labels_[:3])
    save(model, tmp_path / "model.icvi")
    twin = load(tmp_path / "model.icvi")
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    np.testing.assert_array_equal(twin.components_.labels, model.components_.labels)
    np.testing.assert_array_equal(twin.components_.covariances, model.components_.covariances)
    np.testing.assert_array_equal(twin.joins_.evidence, model.joins_.evidence)
    np.testing.assert_array_equal(twin.joins_.made, model.joins_.made)


@pytest.mark.parametrize("name", sorted(SETS))
def test_the_number_of_shapes_is_found(name, tmp_path):
    X, y = SETS[name]
    model = ICVIARTMAP("auto", shape="any", random_state=0).fit(X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.selection_.clear
    assert model.selection_.joins
    save(model, tmp_path / "model.icvi")
    twin = load(tmp_path / "model.icvi").selection_
    assert (twin.n_clusters, twin.clear, twin.rule) == (2, True, model.selection_.rule)


def test_flat_noise_is_no_clear_choice():
    X = np.random.default_rng(0).random((500, 2))
    with pytest.warns(RuntimeWarning, match="not a clear choice"):
        ICVIARTMAP("auto", shape="any", random_state=0).fit(X)


def test_gaussian_clusters_are_left_as_they_are():
    X, _ = make_blobs(400, centers=4, cluster_std=1.2, random_state=3)
    plain = ICVIARTMAP(4, random_state=0).fit(X)
    auto = ICVIARTMAP(4, shape="auto", random_state=0).fit(X)
    np.testing.assert_array_equal(auto.labels_, plain.labels_)
    assert not hasattr(auto, "components_")


def test_auto_joins_what_is_not_gaussian():
    X, y = SETS["circles"]
    model = ICVIARTMAP(2, shape="auto", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    model.set_params(shape="gaussian").fit(X)
    assert not hasattr(model, "components_")
    assert not hasattr(model, "joins_")


def test_the_same_seed_gives_the_same_clusters_in_a_part_of_the_rows(monkeypatch):
    monkeypatch.setattr("icvi_artmap.training.shapes.MANY", 500)
    X, y = make_moons(2000, noise=0.06, random_state=1)
    one, two = (ICVIARTMAP(2, shape="any", random_state=4).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.components_.labels, two.components_.labels)
    assert adjusted_rand_score(y, one.labels_) > 0.98


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"index": "CH"}, "Gaussian clusters, got 'CH'"),
        ({"refine": False}, "refine"),
        ({"init": np.zeros((2, 2))}, "init"),
        ({"shape": "round"}, "shape"),
    ],
)
def test_what_joining_cannot_use_is_refused(parameters, wanted):
    X, _ = SETS["moons"]
    with pytest.raises(ValueError, match=wanted) as error:
        ICVIARTMAP(2, **{"shape": "any", **parameters}).fit(X)
    assert len(str(error.value)) <= 300


@pytest.mark.parametrize("shape", ["any", "auto"])
@pytest.mark.parametrize("n_clusters", [2, "auto"])
@pytest.mark.parametrize(
    "X",
    [
        np.repeat(np.arange(3.0), 40)[:, None],
        np.random.default_rng(0).integers(0, 2, (200, 3)).astype(float),
        np.column_stack([np.arange(100.0), np.zeros(100)]),
        np.random.default_rng(0).standard_cauchy((200, 2)),
        np.random.default_rng(0).normal(size=(12, 1)),
        np.random.default_rng(0).normal(size=(40, 30)),
    ],
    ids=["three values", "bits", "line", "heavy tails", "few", "wide"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_hostile_tables_give_a_partition(X, shape, n_clusters):
    model = ICVIARTMAP(n_clusters, shape=shape, random_state=0).fit(X)
    np.testing.assert_array_equal(np.unique(model.labels_), np.arange(model.n_clusters_))
    assert not np.isnan(model.index_value_)
    assert set(model.predict(X)) <= set(range(model.n_clusters_))


@pytest.mark.parametrize("shape", ["any", "auto"])
def test_equal_rows_are_one_cluster_or_refused(shape):
    X = np.zeros((30, 2))
    assert ICVIARTMAP(2, shape=shape).fit(X).n_clusters_ == 1
    with pytest.raises(ValueError, match="only 1 distinct"):
        ICVIARTMAP("auto", shape=shape).fit(X)


def test_numbers_of_components_leave_each_enough_samples():
    assert numbers_of_components(10_000, 2, 2) == [8, 15, 30, 60, 120]
    assert numbers_of_components(100, 2, 2) == [8, 15, 16]
    assert numbers_of_components(100, 2, 15) == [16]
    assert numbers_of_components(178, 13, 3) == []


def test_components_that_reach_into_two_clusters_are_parted():
    components = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2])
    clusters = np.array([0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0])
    x = np.array([0, 0, 5, 5, 6, 6, 6, 6, 8, 9, 9.0])[:, None]
    part, cluster_of = nested(components, clusters, x)
    np.testing.assert_array_equal(cluster_of[part], clusters)
    # The one sample of component 1 in cluster 0 goes to the nearest component of that cluster.
    np.testing.assert_array_equal(part, [0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3])
    assert purity(components, clusters) == pytest.approx(8 / 11)


def test_new_rows_of_wound_shapes_are_predicted():
    X, y = spirals(500, 1)
    model = ICVIARTMAP(2, shape="any", random_state=0).fit(X)
    new, truth = spirals(500, 2)
    own = adjusted_rand_score(y, model.labels_)
    assert own == 1.0
    assert adjusted_rand_score(truth, model.predict(new)) > 0.95
    by_category = model.set_params(prediction="category").predict(new)
    assert adjusted_rand_score(truth, by_category) > 0.9


@pytest.mark.parametrize("name", ["sipu-jain", "sipu-spiral", "graves-zigzag", "fcps-target"])
def test_public_sets(name, shared_data):
    with np.load(shared_data / "shapes" / f"{name}.npz") as file:
        X, y = file["X"], file["y"]
    model = ICVIARTMAP(len(set(y) - {0}), shape="any", random_state=0).fit(X)
    assert adjusted_rand_score(y[y > 0], model.labels_[y > 0]) > 0.99
