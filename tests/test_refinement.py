"""Refinement: what it tells of steps is true, what it returns is no worse, and it leaves traps."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import oracle
from helpers.problems import random_problem
from icvi_artmap import ICVIARTMAP, index_value
from icvi_artmap.datasets import make_ellipsoid_clusters
from icvi_artmap.estimators.numbering import number_by_size
from icvi_artmap.indices.registry import INDICES, get_index
from icvi_artmap.network.driver import Pace
from icvi_artmap.samples.scaling import (
    Data,
    coded_data,
    learn_scaling,
    plain_data,
    standardised_data,
    turn,
)
from icvi_artmap.training import presenting, refinement
from icvi_artmap.training.presenting import sweep_all, sweep_each

NAMES = list(INDICES)


def blobs(seed: int = 0, n: int = 200, d: int = 3, k: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(k, d))[rng.integers(0, k, n)]


def partition_of(name: str, X: np.ndarray, labels: np.ndarray, room: int = 0) -> Any:
    """A partition of standardised data, and these data."""
    data = standardised_data(X, learn_scaling(X))
    k = int(labels.max()) + 1
    return refinement.Partition(get_index(name), data, labels.copy(), k, k + room), data.table


def assert_true_state(partition: Any, name: str, X: np.ndarray) -> None:
    """The state belongs to the labels."""
    expected = oracle.indices.score(name.lower(), X, partition.labels)
    assert partition.score() == pytest.approx(expected, rel=1e-9, abs=1e-9)
    sizes = np.bincount(partition.labels, minlength=partition.k)
    np.testing.assert_array_equal(partition.state.moments.n[: partition.k], sizes)


# --- the partition -------------------------------------------------------------------------------


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
def test_relabelled_and_restored(name: str) -> None:
    rng = np.random.default_rng(1)
    partition, X = partition_of(name, blobs(n=60), rng.permutation(np.arange(60) % 5))
    for _ in range(10):
        saved, score = partition.save(), partition.score()
        rows = rng.choice(60, int(rng.integers(1, 40)), replace=False)
        new = rng.integers(0, 5, len(rows))
        after = partition.labels.copy()
        after[rows] = new
        if len(np.unique(after)) == 5:
            partition.relabel(rows, new)
            np.testing.assert_array_equal(partition.labels, after)
            assert_true_state(partition, name, X)
            if rng.random() < 0.5:
                partition.restore(saved)
                np.testing.assert_array_equal(partition.labels, saved.labels)
                assert partition.score() == pytest.approx(score, rel=1e-12)
                assert_true_state(partition, name, X)


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_cluster_can_change_its_place(name: str) -> None:
    """All of cluster 1 goes to 0, all of 2 to 1, and part of 0 to 2."""
    labels = np.arange(60) % 3
    partition, X = partition_of(name, blobs(n=60), labels)
    rows = np.arange(60)
    new = np.where(labels == 1, 0, np.where(labels == 2, 1, np.where(rows < 30, 2, 0)))
    partition.relabel(rows, new)
    np.testing.assert_array_equal(partition.labels, new)
    assert_true_state(partition, name, X)


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
def test_after_sweeping_no_sample_wants_to_move(name: str) -> None:
    partition, X = partition_of(name, blobs(n=40), np.arange(40) % 4)
    before = partition.score()
    partition.sweep()
    score = oracle.indices.score(name.lower(), X, partition.labels)
    assert score >= before - 1e-12
    assert_true_state(partition, name, X)
    for s in range(40):
        if np.count_nonzero(partition.labels == partition.labels[s]) == 1:
            continue
        for i in range(4):
            moved = partition.labels.copy()
            moved[s] = i
            assert not oracle.indices.strictly_better(
                oracle.indices.score(name.lower(), X, moved), score + 1e-9
            )


def one_by_one(
    index: Any, data: Data, partitions: np.ndarray, k: int, most: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Labels after sweeps and costs of the clusters, each partition with a state of its own."""
    swept, costs = partitions.copy(), []
    for labels in swept:
        state = index.state(data, labels, k, k)
        sweep_all(index, data, labels, state, Pace(), most=most)
        costs.append(index.cost(index, state).of_clusters().copy())
    return swept, costs


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pace", [1, 90, 240, 10**6])
def test_many_partitions_are_swept_as_if_one_by_one(name: str, pace: int) -> None:
    """All in one call, some at a time, or each by itself where that would take too long."""
    rng, index = np.random.default_rng(2), get_index(name)
    X = blobs(n=40)
    data = standardised_data(X, learn_scaling(X))
    partitions = np.argsort(rng.random((5, 40)), axis=1) % 3
    expected, costs = one_by_one(index, data, partitions, 3, 2)
    assert (expected != partitions).any(axis=1).sum() >= 4
    found = sweep_each(index, data, partitions, 3, Pace(pace), 2)
    np.testing.assert_array_equal(partitions, expected)
    np.testing.assert_allclose(found, costs, rtol=1e-12)


def test_digits_that_are_lost_are_computed_anew_in_each_of_many_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A far sample leaves a tight cluster: what is left of the compactness is rounding."""
    rng, index = np.random.default_rng(0), get_index("NI")
    x = np.vstack([rng.normal(size=(30, 2)) * 1e-7, rng.normal(size=(30, 2)) * 1e-7 + 1e3])
    data = plain_data(x, np.ones(2), np.zeros(2))
    start = np.repeat([0, 1], 30)
    partitions = np.array([start, start, start])
    partitions[1, [3, 40]] = [1, 0]
    begun = partitions.copy()
    expected, costs = one_by_one(index, data, partitions, 2, 3)
    tidied = Mock(wraps=presenting.tidy_clusters)
    monkeypatch.setattr(presenting, "tidy_clusters", tidied)
    found = sweep_each(index, data, partitions, 2, Pace(10**6), 3)
    assert tidied.called
    assert (partitions != begun).any()
    np.testing.assert_array_equal(partitions, expected)
    np.testing.assert_array_equal(found, costs)


def test_a_sweep_empties_no_cluster() -> None:
    """A far sample on its own would join the others, were it allowed to (NI, d = 1)."""
    X = np.concatenate([np.linspace(0.0, 1.0, 20), [1.05], [1.1]])[:, None]
    labels = np.array([0] * 20 + [1] + [2])
    partition, _ = partition_of("NI", X, labels)
    partition.sweep()
    assert partition.k == 3
    assert (partition.state.moments.n > 0).all()


# --- what steps cost -----------------------------------------------------------------------------


def cost(name: str, X: np.ndarray, labels: np.ndarray) -> float:
    """What the costs of all clusters sum to, up to a constant."""
    if name == "NI":
        return -oracle.indices.score("ni", X, labels)
    return sum(np.square(X[labels == i] - X[labels == i].mean(0)).sum() for i in set(labels))


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["NI", "CH"])
def test_costs_are_those_of_the_definition(name: str) -> None:
    rng = np.random.default_rng(2)
    labels = rng.permutation(np.arange(50) % 4)
    partition, X = partition_of(name, blobs(n=50), labels)
    now = cost(name, X, labels)
    found = partition.index.cost(partition.index, partition.state)
    found.renew(np.arange(4))
    # merging
    merging = found.of_merging()
    assert np.isinf(merging[np.tril_indices(4)]).all()
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        merged = cost(name, X, np.where(labels == j, i, labels))
        assert merging[i, j] == pytest.approx(merged - now, rel=1e-9)
    # splitting
    rows = np.flatnonzero(labels == 1)
    second = np.arange(len(rows)) % 2
    state = partition.index.state(partition.data.take(rows), second, 2, 2)
    parted = labels.copy()
    parted[rows] = np.where(second, 4, 1)
    alone = partition.index.cost(partition.index, state).of_clusters()
    fall = found.of_clusters()[1] - found.of_parts(state.moments.n, alone).sum()
    assert fall == pytest.approx(now - cost(name, X, parted), rel=1e-9)
    # adding: to data of N samples, of which this one is not one
    rises = found.of_adding(X[rows])
    for s, row in enumerate(rows):
        for i in range(4):
            more = np.vstack([X, X[row]])
            with_it = np.append(labels, i)
            if name == "NI":
                expected = ni_terms(more, with_it, 50) - ni_terms(X, labels, 50)
            else:
                expected = cost(name, more, with_it) - now
            assert rises[s, i] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def ni_terms(X: np.ndarray, labels: np.ndarray, n: int) -> float:
    """Σ p (½ ln|Σ| - ln p), p = n_i / n."""
    d, total = X.shape[1], 0.0
    for i in set(labels):
        rows = X[labels == i]
        covariance = np.cov(rows.T).reshape(d, d) + 10.0 ** (-12.0 / d) * np.eye(d)
        p = len(rows) / n
        total += p * (0.5 * np.linalg.slogdet(covariance)[1] - np.log(p))
    return total


# --- the search ----------------------------------------------------------------------------------


def trap(k: int = 4, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups on a grid, their labels, and a partition with one group halved and two together."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n)
    X = 10.0 * np.column_stack([y // 2, y % 2]) + rng.normal(size=(len(y), 2))
    wrong = np.where(y == k - 1, k - 2, y)
    wrong[(y == 0) & (X[:, 1] > 0)] = k - 1
    return X, y, wrong


@pytest.mark.parametrize("name", ["NI", "CH"])
@pytest.mark.parametrize("gone", [True, False])
def test_grows_though_a_part_of_the_best_split_has_left(name: str, gone: bool) -> None:
    X = blobs(n=80)
    partition, table = partition_of(name, X, np.arange(80) % 2, room=3)
    outlook = refinement.Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    best = int(outlook.gains().argmax())
    outlook.second[partition.members(best)] = not gone  # all samples are in one of its two parts
    for k in (3, 4, 5):
        assert outlook.grow()
        assert partition.k == k
        assert_true_state(partition, name, table)


def test_does_not_grow_where_nothing_can_be_split() -> None:
    partition, _ = partition_of("CH", np.repeat([[0.0], [1.0]], 5, axis=0), np.arange(10) // 5, 2)
    outlook = refinement.Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    assert not outlook.grow()
    assert partition.k == 2


#: By these another partition of the groups of a trap is better.
PREFER_OTHERS = ("PS", "GD43", "GD53", "rH")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in PREFER_OTHERS])
def test_leaves_a_trap(name: str) -> None:
    X, y, wrong = trap(k=6)
    partition, table = partition_of(name, X, wrong)
    partition.sweep()
    assert adjusted_rand_score(y, partition.labels) < 0.9  # single moves stay in it
    outlook = refinement.Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    scores = refinement.improve(outlook)
    assert len(scores) > 0
    assert scores == sorted(scores)
    assert adjusted_rand_score(y, partition.labels) == 1.0
    assert_true_state(partition, name, table)


@pytest.mark.parametrize("name", PREFER_OTHERS)
def test_steps_never_make_it_worse(name: str) -> None:
    X, _, wrong = trap(k=6)
    partition, table = partition_of(name, X, wrong)
    partition.sweep()
    before = partition.score()
    outlook = refinement.Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    scores = refinement.improve(outlook)
    assert [before, *scores] == sorted([before, *scores])
    assert_true_state(partition, name, table)


@pytest.mark.parametrize("name", ["NI", "CH"])
@pytest.mark.parametrize("kind", [refinement.MERGE, refinement.DISSOLVE, refinement.SHED])
def test_every_kind_of_step_keeps_the_state_true(name: str, kind: int) -> None:
    X, _, wrong = trap()
    partition, table = partition_of(name, X, wrong)
    outlook = refinement.Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    saved = partition.save()
    steps = [step for step in outlook.steps() if step.kind == kind]
    assert len(steps) > 0
    for step in steps:
        assert outlook.take(step, partition.score, -np.inf)
        assert partition.k == 4
        assert_true_state(partition, name, table)
        partition.restore(saved)
        assert_true_state(partition, name, table)


def test_a_step_is_given_up_when_its_sweeps_cannot_make_good_what_it_lost() -> None:
    """Gains of 4, 2 and 1 are made; whoever wants 4 + 2 + 2 more is refused after the second."""
    partition, _ = partition_of("NI", *trap()[::2])
    rates = [0.0, 4.0, 6.0, 7.0]

    def reaches(least: float) -> tuple[bool, int]:
        """Whether it is reached, and how often the rate was asked for before that was known."""
        left = iter(rates)
        partition._sweep = lambda *_: 1  # type: ignore[method-assign]
        found = partition.reaches(refinement.EVERYONE, lambda: next(left), least)
        return found, len(rates) - len([*left])

    assert reaches(6.5) == (True, 4)
    assert reaches(7.5) == (False, 4)
    assert reaches(8.5) == (False, 3)
    assert reaches(12.5) == (False, 2)


@pytest.mark.parametrize("name", ["NI", "CH"])
def test_what_is_given_up_goes_elsewhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any sweep: the freed number belongs to the second part of the source alone."""
    X, _, wrong = trap()
    partition, _ = partition_of(name, X, wrong)
    outlook = refinement.Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    monkeypatch.setattr(refinement.Partition, "_sweep", lambda self, *_: 0)
    saved, second = partition.save(), outlook.second.copy()
    for step in list(outlook.steps()):
        assert outlook.take(step, partition.score, -np.inf)
        before, now = saved.labels, partition.labels
        in_source = before == step.source
        if step.kind == refinement.SHED:
            gone = in_source & (second == step.first)
            assert (now[gone] != step.source).all()
            np.testing.assert_array_equal(now[~gone], before[~gone])
        else:
            np.testing.assert_array_equal(
                np.flatnonzero(now == step.second), [*np.flatnonzero(in_source & second)]
            )
            np.testing.assert_array_equal(now[in_source & ~second], step.source)
            ended = before == step.second
            if step.kind == refinement.MERGE:
                assert (now[ended] == step.first).all()
            rest = ~in_source & ~ended
            np.testing.assert_array_equal(now[rest], before[rest])
        partition.restore(saved)


def test_grows_to_the_clusters_wanted() -> None:
    X, y, _ = trap(k=5)
    labels = np.zeros(len(X), np.int64)
    data = coded_data(X, learn_scaling(X), np.arange(len(X)))
    refinement.refine(get_index("NI"), data, labels, 5, np.random.RandomState(0))
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", NAMES)
def test_never_worse_in_random_corners(name: str, seed: int) -> None:
    X, centres, parameters = random_problem(np.random.default_rng(2000 + seed))
    options = {"index": name, "init": centres, "random_state": 0, **parameters}
    options["resolution"] = "learn" if seed % 2 else "none"
    plain = ICVIARTMAP(len(centres), refine=False, **options).fit(X)
    refined = ICVIARTMAP(len(centres), refine=True, **options).fit(X)
    k = refined.n_clusters_
    assert plain.n_clusters_ <= k <= len(centres)
    assert np.unique(refined.labels_).tolist() == list(range(k))
    expected = index_value(X, refined.labels_, name, resolution=refined.resolution_)
    assert refined.index_value_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert refined.index_history_[-1] == refined.index_value_
    if k == plain.n_clusters_:
        direction = get_index(name).direction
        gain = direction * (refined.index_value_ - plain.index_value_)
        assert gain >= -1e-9 * max(1.0, abs(plain.index_value_)) or np.isinf(plain.index_value_)


# --- the estimator -------------------------------------------------------------------------------


@pytest.mark.parametrize("rho_ab", [1.0, 0.5])
@pytest.mark.parametrize("name", ["NI", "CH"])
def test_the_network_describes_the_refined_partition(name: str, rho_ab: float) -> None:
    X = blobs(3, n=400)
    model = ICVIARTMAP(5, index=name, rho_ab=rho_ab, refine=True, random_state=0).fit(X)
    np.testing.assert_array_equal(model.category_labels_[model.sample_categories_], model.labels_)
    lower, upper = model.categories_[model.sample_categories_].transpose(1, 0, 2)
    slack = 1e-9 * np.ptp(X, axis=0)
    assert (lower - slack <= X).all()
    assert (upper + slack >= X).all()
    for i in range(5):
        centre = X[model.labels_ == i].mean(axis=0)
        np.testing.assert_allclose(model.cluster_centers_[i], centre, rtol=1e-9, atol=1e-9)


def test_only_some_indices_are_refined_by_themselves() -> None:
    X = blobs(4)
    for name in NAMES:
        default = ICVIARTMAP(5, index=name, random_state=0).fit(X)
        forced = ICVIARTMAP(5, index=name, refine=get_index(name).refined, random_state=0).fit(X)
        number_by_size(forced)  # a fit that is told not to refine leaves the numbers alone
        np.testing.assert_array_equal(default.labels_, forced.labels_)
        assert default.index_history_.shape == forced.index_history_.shape


def test_the_same_whatever_the_threads() -> None:
    X, _ = make_ellipsoid_clusters(6, 20, n_samples=900, random_state=1)
    labels = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            labels.append(ICVIARTMAP(6, refine=True, random_state=3).fit_predict(X))
    np.testing.assert_array_equal(*labels)


def test_turned_data_give_the_same_costs() -> None:
    """NI does not depend on the axes."""
    X, y = make_ellipsoid_clusters(3, 30, n_samples=300, random_state=0)
    data = coded_data(X, learn_scaling(X), np.arange(len(X)))
    index = get_index("NI")
    costs = []
    for seen in (data, turn(data)):
        partition = refinement.Partition(index, seen, y.copy(), 3, 3)
        found = partition.index.cost(partition.index, partition.state)
        found.renew(np.arange(3))
        costs.append((found.of_merging()[0, 1], found.of_adding(seen.standardised(slice(5)))))
    assert costs[0][0] == pytest.approx(costs[1][0], rel=1e-8)
    np.testing.assert_allclose(costs[0][1], costs[1][1], rtol=1e-7)


def test_wide_data_are_split_along_few_axes_and_judged_in_all_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng, d = np.random.default_rng(0), refinement.WIDE + 8
    y = np.arange(120) % 2
    X = rng.normal(size=(120, d)) + np.outer(y, rng.normal(size=d))
    data = turn(coded_data(X, learn_scaling(X), np.arange(len(X))))
    partition = refinement.Partition(get_index("NI"), data, np.zeros(120, np.int64), 1, 2)
    cost = partition.index.cost(partition.index, partition.state)
    swept = []

    def seen(index: Any, data: Data, ways: np.ndarray, *others: Any) -> np.ndarray:
        swept.append((data.shape[1], len(ways) > 1))
        return sweep_each(index, data, ways, *others)

    monkeypatch.setattr(refinement, "sweep_each", seen)
    parts, second = partition.split(np.arange(120), np.random.RandomState(0), cost)
    assert swept == [(refinement.FIRST_AXES, True), (d, False)]
    assert adjusted_rand_score(y, second) == 1.0
    parted = refinement.Partition(get_index("NI"), data, second.astype(np.int64), 2, 2)
    np.testing.assert_allclose(parts, parted.state.term[:2], rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_equal_samples(name: str) -> None:
    """Three places, four clusters: nothing to split."""
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 5, axis=0)
    model = ICVIARTMAP(4, index=name, refine=True, random_state=0).fit(X)
    assert model.n_clusters_ <= 4
    assert not np.isnan(model.index_value_)
    for place in range(3):
        assert len(set(model.labels_[5 * place : 5 * place + 5])) >= 1


def test_refine_is_checked() -> None:
    with pytest.raises(ValueError, match=r'refine must be "auto", True or False, got .*often'):
        ICVIARTMAP(3, refine="often").fit(blobs())  # type: ignore[arg-type]
