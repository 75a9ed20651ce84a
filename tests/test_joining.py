"""Neighbours, hills and their joins equal those of a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from helpers.moments import plain
from icvi_artmap.samples.mixture import log_density, make_mixture
from icvi_artmap.samples.moments import of_clusters
from icvi_artmap.training.joining import Hills, Neighbours, Tree, hills, join, neighbours
from oracle import joining as twin

pytestmark = pytest.mark.nojit


def make_data(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(0, 3, size=(n, d)).astype(float)
    if kind == "line":
        return np.repeat(rng.permutation(n).astype(float)[:, None], d, axis=1)
    if kind == "constant":
        return np.full((n, d), 0.1)
    if kind == "two":
        return rng.normal(size=(n, d)) + 1e6 * rng.integers(0, 2, n)[:, None]
    return rng.normal(size=(n, d))


KINDS = ("random", "grid", "line", "constant", "two")
problems = st.builds(
    make_data, st.sampled_from(KINDS), st.integers(2, 40), st.integers(1, 3), st.integers(0, 2**20)
)


def as_pairs(found: Neighbours) -> list[tuple[int, int]]:
    return list(zip(found.first.tolist(), found.second.tolist(), strict=True))


# --- neighbours ----------------------------------------------------------------------------------


@given(problems)
def test_neighbours_are_the_nearest(X: np.ndarray) -> None:
    found = neighbours(X)
    pairs, around = as_pairs(found), twin.nearest(X, 12)
    assert len(set(map(frozenset, pairs))) == len(pairs)
    first = [np.flatnonzero((row == X).all(axis=1))[0] for row in X]
    for s in range(len(X)):
        others = [i + j - s for i, j in pairs if s in (i, j)]
        if first[s] != s:  # an equal sample came before: it is the only neighbour
            assert others == [first[s]]
            continue
        apart = sorted(np.linalg.norm(X[others] - X[s], axis=1))
        near = [a for a in apart if a > 0.0][: len(around[s])]
        np.testing.assert_allclose(near, around[s], rtol=1e-12)
    for i, j in pairs:  # one is among the nearest of the other
        step = np.linalg.norm(X[i] - X[j])
        assert step == 0.0 or step <= max(around[i][-1], around[j][-1]) * (1 + 1e-12)
    expected = [twin.gap(X, i, j, around) for i, j in pairs]
    np.testing.assert_allclose(found.gap, expected, rtol=1e-9, atol=1e-12)


def test_two_samples_and_one() -> None:
    found = neighbours(np.array([[0.0], [5.0]]))
    assert as_pairs(found) == [(0, 1)]
    assert found.gap[0] == 0.0
    assert as_pairs(neighbours(np.zeros((1, 2)))) == []


def test_values_that_come_often_are_not_alone() -> None:
    """Fifty samples at each of ten places: all is one hill, if the density has one peak."""
    X = np.repeat(np.arange(10.0), 50)[:, None]
    found = neighbours(X)
    density = -np.abs(X[:, 0] - 4.0)
    between = -np.abs((X[found.first, 0] + X[found.second, 0]) / 2 - 4.0)
    assert found.gap.max() < np.log(4.1)
    assert len(hills(found, density, between).n) == 1


# --- hills ---------------------------------------------------------------------------------------


def random_hills(X: np.ndarray, rng: np.random.Generator, digits: int) -> tuple[Neighbours, ...]:
    found = neighbours(X)
    density = rng.normal(size=len(X)).round(digits)
    lower = np.minimum(density[found.first], density[found.second])
    between = (lower + rng.exponential(0.3, len(lower)) - 0.2).round(digits)
    return found, density, between


@given(problems, st.integers(0, 2**20), st.sampled_from((1, 12)))
def test_hills_equal_those_of_the_twin(X: np.ndarray, seed: int, digits: int) -> None:
    """One digit: densities and saddles tie."""
    pairs, density, between = random_hills(X, np.random.default_rng(seed), digits)
    found = hills(pairs, density, between)
    saddle = twin.saddles(as_pairs(pairs), pairs.gap, density, between)
    expected = twin.hills(as_pairs(pairs), saddle, density)
    assert {frozenset(np.flatnonzero(found.of_sample == h)) for h in range(len(found.n))} == set(
        map(frozenset, expected)
    )
    np.testing.assert_array_equal(found.n, np.bincount(found.of_sample))
    for h in range(len(found.n)):
        assert found.peak[h] == density[found.of_sample == h].max()
    for g in range(len(found.n)):
        for h in range(len(found.n)):
            ends = [{found.of_sample[i], found.of_sample[j]} for i, j in as_pairs(pairs)]
            between_them = [
                s for s, at in zip(saddle, ends, strict=True) if g != h and at == {g, h}
            ]
            lowest = min([*saddle, density.min()])
            assert found.saddle[g, h] == max(between_them, default=lowest)


def test_hills_have_the_order_of_their_peaks() -> None:
    """Numbers follow the samples that are peaks, not the first samples of hills."""
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    pairs = neighbours(X)
    density = np.array([1.0, 0.5, 0.2, 0.3, 2.0, 1.9])
    between = np.minimum(density[pairs.first], density[pairs.second])
    between[(pairs.first < 3) & (pairs.second >= 3)] = -5.0
    found = hills(pairs, density, between)
    np.testing.assert_array_equal(found.of_sample, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(found.peak, [1.0, 2.0])


def test_pieces_that_no_pair_connects_are_parted_by_the_lowest_saddle() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(40, 2)) + 1e9])
    pairs = neighbours(X)
    assert not ((pairs.first < 30) & (pairs.second >= 30)).any()
    density = -0.5 * (np.where(X > 1e8, X - 1e9, X) ** 2).sum(axis=1)
    between = np.minimum(density[pairs.first], density[pairs.second])
    found = hills(pairs, density, between)
    assert found.of_sample[0] != found.of_sample[-1]
    tree = join(found)
    of_sample = tree.cut(2)[found.of_sample]
    assert len(set(of_sample[:30])) == len(set(of_sample[30:])) == 1
    assert of_sample[0] != of_sample[-1]
    assert tree.evidences()[0] == tree.evidence.max() > 10.0


# --- joins ---------------------------------------------------------------------------------------


def hills_from(n: np.ndarray, peak: np.ndarray, saddle: np.ndarray) -> Hills:
    of_sample = np.repeat(np.arange(len(n)), n.astype(int))
    return Hills(of_sample, n.astype(float), peak, np.maximum(saddle, saddle.T))


@given(
    count=st.integers(1, 12),
    seed=st.integers(0, 2**20),
    digits=st.sampled_from((0, 1, 12)),
    clusters=st.sampled_from((None, 2, 5)),
)
def test_joins_equal_those_of_the_twin(
    count: int, seed: int, digits: int, clusters: int | None
) -> None:
    """Few digits: evidences tie. Saddles above peaks: prominences below 0."""
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 5, count).astype(float) ** 2
    found = hills_from(
        n, rng.normal(2.0, 1.0, count).round(digits), rng.normal(size=(count, count)).round(digits)
    )
    cluster = None if clusters is None else rng.integers(0, clusters, count)
    given_cluster = None if cluster is None else cluster.copy()
    tree = join(found, cluster)
    expected = twin.join(
        found.n, found.peak, found.saddle, None if cluster is None else cluster.tolist()
    )
    assert tree.first.tolist() == [e.first for e in expected]
    assert tree.second.tolist() == [e.second for e in expected]
    np.testing.assert_allclose(tree.prominence, [e.prominence for e in expected], rtol=1e-12)
    np.testing.assert_allclose(tree.evidence, [e.evidence for e in expected], rtol=1e-12)
    if cluster is not None:
        np.testing.assert_array_equal(cluster, given_cluster)


def test_hills_of_one_cluster_are_joined_first() -> None:
    """0 and 1 touch, but 2 is in the cluster of 0 and 3 in that of 1."""
    saddle = np.full((4, 4), -9.0)
    saddle[0, 1] = 0.9
    found = hills_from(np.full(4, 9.0), np.ones(4), saddle)
    alone, told = join(found), join(found, np.array([7, 5, 7, 5]))
    assert (alone.first[0], alone.second[0]) == (0, 1)
    assert set(zip(told.first[:2].tolist(), told.second[:2].tolist(), strict=True)) == {
        (0, 2),
        (1, 3),
    }
    np.testing.assert_array_equal(told.cut(2), [0, 1, 0, 1])


def test_cuts_and_evidences() -> None:
    tree = Tree(np.array([1, 0]), np.array([2, 1]), np.array([-1.0, 0.5]), np.array([-1.0, 2.0]))
    assert tree.n_hills == 3
    np.testing.assert_array_equal(tree.cut(3), [0, 1, 2])
    np.testing.assert_array_equal(tree.cut(5), [0, 1, 2])
    np.testing.assert_array_equal(tree.cut(2), [0, 1, 1])
    np.testing.assert_array_equal(tree.cut(1), [0, 0, 0])
    np.testing.assert_array_equal(tree.evidences(), [2.0, 0.0])


def test_same_tree_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    labels = rng.integers(0, 4, 300)
    trees = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            mixture = make_mixture(of_clusters(plain(X), labels, 4, True))
            pairs = neighbours(X)
            middle = (X[pairs.first] + X[pairs.second]) / 2
            found = hills(pairs, log_density(mixture, X), log_density(mixture, middle))
            trees.append(join(found))
    for one, other in zip(*trees, strict=True):
        np.testing.assert_array_equal(one, other)
