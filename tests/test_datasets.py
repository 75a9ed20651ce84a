"""The generators of synthetic data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from icvi_artmap.datasets import ellipsoid, make_ellipsoid_clusters, make_gaussian_clusters

both = pytest.mark.parametrize("make", [make_gaussian_clusters, make_ellipsoid_clusters])


@both
@pytest.mark.parametrize(
    ("n_clusters", "low", "high"), [(1, 50, 550), (4, 50, 550), (20, 10, 110), (25, 10, 110)]
)
def test_shapes_labels_and_sizes(make, n_clusters, low, high):
    X, y = make(n_clusters, 6, random_state=3)
    sizes = np.bincount(y)

    assert X.dtype == np.float64
    assert X.shape == (len(y), 6)
    assert len(sizes) == n_clusters
    assert sizes.min() >= low
    assert sizes.max() <= high
    assert np.isfinite(X).all()


def test_defaults():
    assert make_gaussian_clusters(random_state=0)[0].shape[1] == 2
    X, y = make_ellipsoid_clusters(random_state=0)
    assert X.shape[1] == 50
    assert_array_equal(np.unique(y), np.arange(10))


@both
def test_a_seed_fixes_the_data(make):
    X, y = make(3, 5, random_state=7)
    again = make(3, 5, random_state=7)
    from_instance = make(3, 5, random_state=np.random.RandomState(7))
    assert_array_equal(X, again[0])
    assert_array_equal(y, again[1])
    assert_array_equal(X, from_instance[0])
    assert not np.array_equal(X[:20], make(3, 5, random_state=8)[0][:20])


@both
def test_the_global_random_state_is_left_alone(make):
    before = np.random.get_state()[1].copy()
    make(2, 4, random_state=0)
    assert_array_equal(before, np.random.get_state()[1])


@both
def test_shuffling_changes_the_order_only(make):
    X, y = make(3, 5, random_state=1)
    X_in_order, y_in_order = make(3, 5, shuffle=False, random_state=1)

    assert np.all(np.diff(y_in_order) >= 0)
    assert np.any(np.diff(y) < 0)
    rows, rows_in_order = np.lexsort(X.T), np.lexsort(X_in_order.T)
    assert_array_equal(X[rows], X_in_order[rows_in_order])
    assert_array_equal(y[rows], y_in_order[rows_in_order])


@both
@pytest.mark.parametrize("n_samples", [8, 9, 101, 3000])
def test_n_samples_is_the_total(make, n_samples):
    X, y = make(4, 5, n_samples=n_samples, random_state=0)
    assert len(X) == n_samples
    assert np.bincount(y, minlength=4).min() >= 2 or make is make_ellipsoid_clusters
    assert len(np.unique(y)) == 4


@both
def test_n_samples_may_be_the_sizes(make):
    _, y = make(3, 5, n_samples=[600, 2, 30], random_state=0)
    assert_array_equal(np.bincount(y), [600, 2, 30])


def nearest_distances(points, others):
    return cdist(points, others).min(axis=1)


@pytest.mark.parametrize(("n_clusters", "n_features"), [(10, 2), (40, 2), (3, 1), (10, 10)])
def test_gaussian_points_are_nearer_to_their_own_than_to_earlier_clusters(n_clusters, n_features):
    X, y = make_gaussian_clusters(n_clusters, n_features, random_state=2)
    for cluster in range(1, n_clusters):
        points, earlier = X[y == cluster], X[y < cluster]
        own = cdist(points, points)
        np.fill_diagonal(own, np.inf)
        assert np.all(own.min(axis=1) <= nearest_distances(points, earlier))


def test_gaussian_covariances_follow_the_family():
    X, y = make_gaussian_clusters(2, 3, n_samples=[20_000, 2], random_state=0)
    covariance = np.cov(X[y == 0].T)
    off_diagonal = np.abs(covariance - np.diag(np.diag(covariance)))
    assert off_diagonal.max() < 1.0 + 0.2
    assert np.all(np.diag(covariance) < (2.0 + 20.0 * np.sqrt(3)) * 1.05)
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_gaussian_without_room_says_what_to_try(monkeypatch):
    monkeypatch.setattr("icvi_artmap.datasets.gaussian.MAX_DRAWS", 5)
    with pytest.raises(ValueError, match=r"no room for cluster .* of 100 .* fewer clusters"):
        make_gaussian_clusters(100, 1, random_state=0)


@pytest.fixture(scope="module")
def ellipsoids():
    rng = np.random.RandomState(0)
    sizes, lengths = [30, 700, 1], [1.0, 2.0, 3.0]
    return [
        ellipsoid._draw_ellipsoid(rng, size, 4, length)
        for size, length in zip(sizes, lengths, strict=True)
    ]


def test_ellipsoid_points_lie_in_their_ellipsoid(ellipsoids):
    for (points, focus, reach), length in zip(ellipsoids, [1.0, 2.0, 3.0], strict=True):
        assert_allclose(np.linalg.norm(focus), length)
        assert 1.05 * length <= reach <= 1.15 * length
        summed = np.linalg.norm(points, axis=1) + np.linalg.norm(points - focus, axis=1)
        assert np.all(summed < reach)


def naive_cost(ellipsoids, shifts):
    """D·(1 + 50·v) from its definition, all points of each cluster seen."""
    clusters = [ell.points + shift for ell, shift in zip(ellipsoids, shifts, strict=True)]
    X = np.vstack(clusters)
    distance = np.linalg.norm(X - X.mean(axis=0), axis=1).sum()
    inside = 0
    for i, points in enumerate(clusters):
        for j, (ell, shift) in enumerate(zip(ellipsoids, shifts, strict=True)):
            if i != j:
                near = np.linalg.norm(points - shift, axis=1)
                far = np.linalg.norm(points - shift - ell.focus, axis=1)
                inside += np.count_nonzero(near + far < ell.reach)
    v = inside / (len(X) * (len(clusters) - 1))
    assert v > 0, "a test without overlap shows nothing"
    return distance * (1 + 50 * v)


def test_arrangement_cost_after_moves_is_the_cost_from_scratch(ellipsoids, monkeypatch):
    monkeypatch.setattr(ellipsoid, "SEARCH_POINTS", 1000)
    scene = ellipsoid._Scene(ellipsoids)
    rng = np.random.RandomState(1)
    shifts = 0.1 * rng.standard_normal((3, 4))
    overlaps = scene.overlaps(shifts)
    assert_allclose(scene.cost(shifts, overlaps), naive_cost(ellipsoids, shifts))
    for _ in range(20):
        cluster = rng.randint(3)
        shifts[cluster, rng.randint(4)] += 0.05 * rng.standard_normal()
        scene.update_overlaps(overlaps, shifts, cluster)
        assert_array_equal(overlaps, scene.overlaps(shifts))
        assert_allclose(scene.cost(shifts, overlaps), naive_cost(ellipsoids, shifts))


def test_arrangement_sees_a_weighted_part_of_a_large_cluster(ellipsoids):
    scene = ellipsoid._Scene(ellipsoids)
    assert len(scene.points) == 30 + 500 + 1
    assert_allclose(scene.weights, [1, 700 / 500, 1])
    shifts = np.zeros((3, 4))
    seen = scene.cost(shifts, scene.overlaps(shifts))
    assert_allclose(seen, naive_cost(ellipsoids, shifts), rtol=0.1)


def test_arrangement_leaves_hardly_any_overlap():
    rng = np.random.RandomState(0)
    ells = [ellipsoid._draw_ellipsoid(rng, 100, 50, 2.0) for _ in range(6)]
    shifts = ellipsoid._arrange(rng, ells, deviation=0.2 / np.sqrt(50))
    scene = ellipsoid._Scene(ells)
    unarranged = scene.overlaps(np.zeros_like(shifts)).sum()
    assert scene.overlaps(shifts).sum() < 0.01 * unarranged


@both
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1, got 0"),
        ({"n_clusters": -3}, ValueError, "n_clusters must be at least 1, got -3"),
        ({"n_clusters": 2.5}, TypeError, "n_clusters must be an integer, got 2.5"),
        ({"n_clusters": True}, TypeError, "n_clusters must be an integer"),
        ({"n_features": 0}, ValueError, "n_features must be at least 1, got 0"),
        ({"n_features": "2"}, TypeError, "n_features must be an integer, got '2'"),
        ({"n_samples": 0}, ValueError, "n_samples must be at least 1, got 0"),
        ({"n_samples": 10.0}, TypeError, "n_samples must be an integer, got 10.0"),
        ({"n_samples": 9}, ValueError, "n_samples=9 is too few for 10 clusters"),
        ({"n_samples": [20, 30]}, ValueError, r"shape \(10,\), got shape \(2,\)"),
        ({"n_samples": [[20] * 10]}, ValueError, r"shape \(10,\), got shape \(1, 10\)"),
        ({"n_samples": [20.0] * 10}, TypeError, "must hold integers, got dtype float64"),
        ({"n_samples": [20] * 9 + [0]}, ValueError, "at least [12] samples, got 0"),
        ({"random_state": "seed"}, ValueError, "cannot be used to seed"),
    ],
)
def test_wrong_arguments(make, arguments, error, message):
    with pytest.raises(error, match=message):
        make(**{"n_clusters": 10, "n_features": 2, **arguments})


def test_gaussian_clusters_need_two_samples():
    with pytest.raises(ValueError, match="at least 2 samples, got 1"):
        make_gaussian_clusters(2, 2, n_samples=[1, 5])


def spread_ratio(X, y):
    """Mean distance to the overall mean over mean distance to the cluster's mean."""
    means = np.array([X[y == cluster].mean(axis=0) for cluster in np.unique(y)])
    to_mean = np.linalg.norm(X - X.mean(axis=0), axis=1).mean()
    return to_mean / np.linalg.norm(X - means[y], axis=1).mean()


@pytest.mark.parametrize("name", ["ellipsoid.50d10c.1", "ellipsoid.100d10c.1"])
def test_ellipsoids_are_packed_like_the_papers(shared_data, name):
    paper = np.load(shared_data / "synthetic" / f"{name}.npz")
    X, y = paper["X"], np.unique(paper["y"], return_inverse=True)[1]
    ours = [spread_ratio(*make_ellipsoid_clusters(10, X.shape[1], random_state=s)) for s in (0, 1)]
    assert_allclose(ours, spread_ratio(X, y), rtol=0.1)
