"""The number of clusters: the criterion, the path, and what the estimator makes of them."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import oracle
from helpers.moments import plain
from icvi_artmap import ICVIARTMAP
from icvi_artmap.datasets import make_ellipsoid_clusters, make_gaussian_clusters
from icvi_artmap.indices import ni
from icvi_artmap.indices.ni import Penalised, left_out
from icvi_artmap.indices.registry import INDICES, get_index
from icvi_artmap.samples.scaling import learn_scaling, standardised_data
from icvi_artmap.training import number_of_clusters, part
from icvi_artmap.training.number_of_clusters import (
    PATIENCE,
    Selection,
    canonical_order,
    grown,
    largest,
    merge_pairs,
    select,
)
from icvi_artmap.training.refinement import Outlook, Partition, improve

matplotlib.use("Agg")


def groups(k: int = 5, n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Round groups, far apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n)
    return 12.0 * np.column_stack([y // 3, y % 3]) + rng.normal(size=(k * n, 2)), y


def criterion(X: np.ndarray, labels: np.ndarray) -> float:
    """The rule, from its definition."""
    (n, d), k = X.shape, len(np.unique(labels))
    delta = 10.0 ** (-12.0 / d)
    rows = [X[labels == i] for i in range(k)]
    within = sum(np.square(r - r.mean(axis=0)).sum() for r in rows) / ((n - k) * d)
    value, penalty = 0.0, (k - 1.0) * np.log(n)
    for r in rows:
        values = np.linalg.eigvalsh(np.atleast_2d(np.cov(r.T)))
        fitted = ((len(r) - 1) * values + 0.1 * within) / (len(r) - 0.9)
        value += len(r) * (np.log(fitted + delta).sum() - 2.0 * np.log(len(r) / n))
        free = ((len(r) - 1) * values + within) / len(r)
        s = free / (free + delta)
        parameters = 0.5 * (s.sum() ** 2 + (s**2).sum()) + s.sum()
        penalty += 0.75 * parameters * np.log(np.sqrt(n * len(r)))
    return value + penalty


@pytest.mark.nojit
@pytest.mark.parametrize("k", [1, 2, 4])
def test_criterion_is_that_of_the_definition(k: int) -> None:
    X = np.random.default_rng(k).normal(size=(60, 3))
    data = standardised_data(X, learn_scaling(X))
    labels = np.arange(60) % k
    partition = Partition(get_index("NI"), data, labels, k, k)
    expected = criterion(data.table, labels)
    assert Penalised()(partition.state) == pytest.approx(expected, rel=1e-9)


def test_without_a_ridge_every_parameter_of_a_gaussian_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = 1e9 * np.random.default_rng(0).normal(size=(500, 3))  # the ridge is nothing against this
    data = standardised_data(X, learn_scaling(X))._replace(table=X)
    partition = Partition(get_index("NI"), data, np.zeros(500, np.int64), 1, 1)
    values = []
    for weight in (0.0, 1.0):
        monkeypatch.setattr(ni, "WEIGHT", weight)
        values.append(Penalised()(partition.state))
    assert values[1] - values[0] == pytest.approx((3 * 4 / 2 + 3) * np.log(500), rel=1e-6)


def test_for_large_clusters_the_criterion_is_ni_and_a_penalty() -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    labels = (X[:, 0] > 0).astype(np.int64)
    data = standardised_data(X, learn_scaling(X))
    values = []
    for k, of in ((1, np.zeros(len(X), np.int64)), (2, labels)):
        values.append(Penalised()(Partition(get_index("NI"), data, of, k, k).state))
    penalty = 0.75 * 5 * 2 * np.log(len(X) / np.sqrt(2)) + np.log(len(X))
    penalty -= 0.75 * 5 * np.log(len(X))
    gain = 2 * len(X) * oracle.indices.ni(data.table, labels)
    assert values[1] - values[0] == pytest.approx(gain + penalty, abs=2.0)


@pytest.mark.parametrize("k", [2, 5, 9])
def test_finds_the_groups(k: int) -> None:
    X, y = groups(k)
    model = ICVIARTMAP("auto", random_state=0).fit(X)
    chosen = model.selection_
    assert model.n_clusters_ == chosen.n_clusters == k
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert chosen.k.tolist() == list(range(2, chosen.k[-1] + 1))
    assert chosen.k[-1] >= k + PATIENCE
    assert chosen.criterion.argmin() == k - 2
    others = np.delete(chosen.criterion, k - 2)
    assert chosen.margin == pytest.approx(others.min() - chosen.criterion[k - 2])
    assert chosen.index_values[k - 2] == pytest.approx(model.index_value_, rel=1e-6)
    assert (np.diff(chosen.index_values) < 0).all()  # NI itself always prefers more
    assert not chosen.single


@pytest.mark.parametrize("make", [make_gaussian_clusters, make_ellipsoid_clusters])
def test_finds_the_clusters_of_both_families(make: object) -> None:
    d = 10 if make is make_gaussian_clusters else 50
    X, y = make(10, d, random_state=1)  # type: ignore[operator]
    model = ICVIARTMAP("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 10
    assert adjusted_rand_score(y, model.labels_) > 0.99


def test_a_clear_choice_is_made_on_both_halves() -> None:
    X, _ = make_gaussian_clusters(4, 10, random_state=1)
    chosen = ICVIARTMAP("auto", random_state=0).fit(X).selection_
    assert chosen.clear
    assert chosen.halves == (4, 4)


@pytest.mark.parametrize(("first", "expected"), [(0, (2,)), (1, (3, 2))])
def test_a_half_without_a_cluster_chooses_another_number(
    first: int, expected: tuple[int, ...]
) -> None:
    """Every second row is of one of two groups, the others are of one of three."""
    few, many = groups(2, 90)[0], groups(3, 60)[0]
    X = np.empty((360, 2))
    rng = np.random.default_rng(1)
    X[first::2], X[1 - first :: 2] = rng.permutation(few), rng.permutation(many)
    data = standardised_data(X, learn_scaling(X))
    search = number_of_clusters._Search(get_index("NI"), data, 2, None, 8)
    best = min(search.run(), key=lambda point: point.criterion)
    assert best.k == 3
    rows = np.arange(len(X))
    assert number_of_clusters._chosen_on_halves(search, data, rows, 3) == expected


def test_a_range_is_kept_to() -> None:
    X, _ = groups(5)
    model = ICVIARTMAP(range(2, 4), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    assert model.selection_.k.tolist() == [2, 3]
    assert model.n_clusters_ == 3
    model.set_params(n_clusters=range(6, 9)).fit(X)
    assert model.selection_.k.tolist() == [6, 7, 8]
    assert model.n_clusters_ == 6
    model.set_params(n_clusters=range(2, 19)).fit(X)
    assert model.selection_.k.tolist() == list(
        range(2, 19)
    )  # no patience: the range is tried whole
    assert model.n_clusters_ == 5
    alone = ICVIARTMAP(range(5, 6), random_state=0).fit(X)
    assert not hasattr(alone, "selection_")
    assert alone.n_clusters_ == 5
    model.set_params(n_clusters=4).fit(X)
    assert not hasattr(model, "selection_")  # it is not that of the last fit any more


#: What some indices make of four groups.
PREFERRED = {"PBM": 6, "PS": 6, "GD53": 3, "rCIP": 2, "rH": 6}


@pytest.mark.parametrize("name", list(INDICES))
def test_every_index_can_choose(name: str) -> None:
    X, y = groups(4, n=40)
    model = ICVIARTMAP(range(2, 7), index=name, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    chosen = model.selection_
    assert chosen.k.tolist() == [2, 3, 4, 5, 6]
    assert model.n_clusters_ == chosen.n_clusters == chosen.k[chosen.criterion.argmin()]
    if name != "NI":  # the index itself
        direction = get_index(name).direction
        np.testing.assert_allclose(chosen.criterion, -direction * chosen.index_values)
    if name in PREFERRED:
        assert model.n_clusters_ == PREFERRED[name]
    else:
        assert model.n_clusters_ == 4
        assert adjusted_rand_score(y, model.labels_) == 1.0


def test_doubts_are_told() -> None:
    noise = np.random.default_rng(0).normal(size=(300, 3))
    with pytest.warns(RuntimeWarning, match="look like a single cluster"):
        model = ICVIARTMAP("auto", random_state=0).fit(noise)
    assert model.selection_.single
    X, _ = make_gaussian_clusters(4, 10, random_state=0)
    narrow = Selection(
        4, np.array([3, 4]), np.array([2.0, 1.0]), np.zeros(2), 1.0, False, "penalised NI", False
    )
    assert "not a clear choice: 3 is nearly as good (margin 1)" in str(narrow.doubt())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ICVIARTMAP("auto", random_state=0).fit(X).selection_.doubt() is None


def test_results_as_table_and_picture() -> None:
    X, _ = groups(5)
    chosen = ICVIARTMAP("auto", random_state=0).fit(X).selection_
    frame = chosen.to_pandas()
    assert frame.index.name == "k"
    assert frame.index.tolist() == chosen.k.tolist()
    assert frame["criterion"].idxmin() == 5
    # Whether the halves agree here hangs on the last bits, which are the processor's.
    for clear, text in ((True, "chosen: k = 5"), (False, "chosen: k = 5 (not a clear choice)")):
        axes = replace(chosen, clear=clear).plot()
        assert axes.get_xlabel() == "number of clusters k"
        np.testing.assert_array_equal(axes.lines[0].get_xdata(), chosen.k)
        assert axes.get_legend().get_texts()[0].get_text() == text
    matplotlib.pyplot.close("all")


def test_the_same_whatever_the_threads_and_after_pickling() -> None:
    X, _ = make_gaussian_clusters(6, 10, random_state=0)
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            models.append(ICVIARTMAP("auto", random_state=5).fit(X))
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_array_equal(models[0].selection_.criterion, models[1].selection_.criterion)
    again = pickle.loads(pickle.dumps(models[0]))
    np.testing.assert_array_equal(again.predict(X), models[0].predict(X))
    np.testing.assert_array_equal(clone(again).fit(X).labels_, models[0].labels_)


def test_many_samples_are_represented(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = groups(5, n=300)
    monkeypatch.setattr(part, "MANY", 1_000)
    monkeypatch.setattr(part, "LEAST", 400)
    monkeypatch.setattr(part, "PER_CLUSTER", 20)
    data = standardised_data(X, learn_scaling(X))
    chosen, labels = select(get_index("NI"), data, 2, None)
    assert chosen.n_clusters == 5
    assert adjusted_rand_score(y, labels) == 1.0
    model = ICVIARTMAP("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_more_clusters_than_there_are_groups_of_equal_samples() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 5, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICVIARTMAP("auto", random_state=0).fit(X)
        assert model.n_clusters_ <= 3
        with pytest.raises(ValueError, match=r"No partition into 4 clusters.*only 3 distinct"):
            ICVIARTMAP(range(4, 6), random_state=0).fit(X)


def test_centres_leave_nothing_to_choose() -> None:
    X, _ = groups(3)
    with pytest.raises(ValueError, match=r"init has centres.*Use n_clusters=3, or init="):
        ICVIARTMAP("auto", init=X[:3]).fit(X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_path_that_gets_better_to_its_limit_is_not_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_of_clusters, "MOST_CLUSTERS", 6)
    X, _ = groups(12, n=240)
    model = ICVIARTMAP("auto", random_state=0).fit(X)
    assert model.selection_.k[-1] == 6
    assert model.selection_.limited
    assert not model.selection_.clear
    assert not model.converged_
    assert "ended at 6" in str(model.selection_.doubt())
    found = ICVIARTMAP(range(2, 7), random_state=0).fit(X).selection_
    assert not found.limited  # it was asked for no more
    monkeypatch.setattr(number_of_clusters, "MOST_CLUSTERS", 40)
    assert not ICVIARTMAP("auto", random_state=0).fit(X).selection_.limited


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("index", ["NI", "CH"])
def test_repeated_rows_are_no_clear_choice(index: str) -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(400, 3)).astype(float)
    model = ICVIARTMAP("auto", index=index, resolution="none", random_state=0).fit(X)
    assert model.n_clusters_ > 4
    assert model.selection_.repeated
    assert not model.selection_.clear
    with pytest.warns(RuntimeWarning, match="the values repeat"):
        model.fit(X)


@pytest.mark.nojit
def test_the_bound_judges_every_sample_by_the_others() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) @ [[2.0, 0.3], [0.0, 0.5]]
    X[:12, 1] = 0.0
    X[0] = 9.0
    data = standardised_data(X, learn_scaling(X))
    labels = np.repeat([0, 1, 2], [12, 16, 2])
    state = Partition(get_index("NI"), data, labels, 3, 3).state
    Z, ridge = data.table, 10.0 ** (-12.0 / 2) * np.eye(2)
    squares = [np.square(Z[labels == i] - Z[labels == i].mean(axis=0)).sum() for i in range(3)]
    within = sum(squares) / ((30 - 3) * 2)
    part = within / (within + ridge[0, 0])
    parameters = 0.5 * ((2 * part) ** 2 + 2 * part**2) + 2 * part
    alone = 2 * np.log(within + ridge[0, 0]) + 2 * np.log(30)  # the sample, p = 1/N
    alone += 0.75 * parameters * np.log(np.sqrt(30)) + np.log(30)  # the penalty
    expected, outliers = 0.0, 0
    for s, x in enumerate(Z):
        cost = alone
        others = np.delete(Z, s, axis=0)[np.delete(labels, s) == labels[s]]
        if len(others) > 1:
            covariance = np.cov(others.T) + ridge
            apart = x - others.mean(axis=0)
            own = np.linalg.slogdet(covariance)[1] - 2 - 2 * np.log((len(others) + 1) / 30)
            own += apart @ np.linalg.solve(covariance, apart)
            own += np.trace(np.linalg.solve(covariance, ridge))
            outliers += own > cost
            cost = min(cost, own)
        expected += cost
    assert 0 < outliers < 28
    assert left_out(state, data, labels) == pytest.approx(expected, rel=1e-9)


def test_what_the_criterion_remembers_is_what_it_computes() -> None:
    X, _ = make_gaussian_clusters(6, 3, random_state=0)
    data = standardised_data(X, learn_scaling(X))
    partition = Partition(get_index("NI"), data, np.arange(len(X)) % 6, 6, 6)
    remembering = Penalised()
    for _ in range(4):
        assert remembering(partition.state) == Penalised()(partition.state)
        partition.sweep(most=1)


def test_steps_may_be_judged_by_the_criterion() -> None:
    X, _ = make_gaussian_clusters(8, 2, random_state=1)
    data = standardised_data(X, learn_scaling(X))
    partition = Partition(get_index("NI"), data, np.arange(len(X)) % 8, 8, 8)
    partition.sweep()
    before, rater = Penalised()(partition.state), Penalised()
    outlook = Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    steps = improve(outlook, rated=lambda: -rater(partition.state))
    assert steps
    assert Penalised()(partition.state) < before
    assert np.bincount(partition.labels).tolist() == partition.state.moments.n.tolist()


def test_partitions_into_given_numbers_and_back() -> None:
    X, y = groups(9)
    data = standardised_data(X, learn_scaling(X))
    index = get_index("NI")
    single = Partition(index, data, np.zeros(len(X), np.int64), 1, 1)
    found = list(grown(single, [5, 15, 30], np.random.RandomState(0)))
    assert [partition.k for partition in found] == [5, 15, 30]
    for partition in found:
        assert np.unique(partition.labels).tolist() == list(range(partition.k))
    last = found[-1]
    while last.k > 9:
        assert merge_pairs(last, 2 if last.k > 10 else 1)
    assert adjusted_rand_score(y, last.labels) == 1.0
    assert last.score() == pytest.approx(index.score(index.state(data, last.labels, 9, 9)))


def test_shrinking_keeps_an_outlook_right() -> None:
    X, y = groups(6)
    data = standardised_data(X, learn_scaling(X))
    single = Partition(get_index("NI"), data, np.zeros(len(X), np.int64), 1, 1)
    *_, partition = grown(single, [10], np.random.RandomState(0))
    outlook = Outlook(partition, np.random.RandomState(0))
    outlook.renew_stale()
    while partition.k > 6:
        assert outlook.shrink()
        fresh = Partition(get_index("NI"), data, partition.labels.copy(), partition.k, 10)
        assert partition.score() == pytest.approx(fresh.score())
        np.testing.assert_allclose(
            outlook.cost.of_adding(X[:5]), _cost(fresh).of_adding(X[:5]), rtol=1e-6
        )
    assert adjusted_rand_score(y, partition.labels) == 1.0


def _cost(partition: Partition) -> Any:
    cost = partition.index.cost(partition.index, partition.state)
    cost.renew(np.arange(partition.k))
    return cost


def test_the_canonical_order_does_not_depend_on_the_order() -> None:
    X = np.random.default_rng(0).normal(size=(50, 4))
    shuffled = X[np.random.default_rng(1).permutation(50)]
    order, other = canonical_order(plain(X)), canonical_order(plain(shuffled))
    np.testing.assert_array_equal(X[order], shuffled[other])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_choice_depends_neither_on_the_order_nor_on_the_seed() -> None:
    X = load_wine().data
    chosen = set()
    for seed in range(4):
        rows = np.random.default_rng(seed).permutation(len(X))
        chosen.add(ICVIARTMAP("auto", random_state=seed).fit(X[rows]).n_clusters_)
    assert len(chosen) == 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_search_does_not_stop_where_a_few_more_are_no_better() -> None:
    """Three spirals: two clusters are better than three to ten, and thirty better still."""
    turn = np.linspace(1.0, 3.0, 104) * np.pi
    arms = [turn + 2.0 * np.pi * arm / 3.0 for arm in range(3)]
    X = np.vstack([np.column_stack([turn * np.cos(a), turn * np.sin(a)]) for a in arms])
    assert ICVIARTMAP("auto", random_state=0).fit(X).n_clusters_ > 20


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many_tiny_clusters_are_found() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.uniform(-10.0, 10.0, (70, 2)), 12, axis=0)
    X += 0.01 * rng.normal(size=X.shape)
    assert ICVIARTMAP("auto", random_state=0).fit(X).n_clusters_ == 70


def test_what_is_tried_has_an_end() -> None:
    assert largest(10**6, 2, 10**6) == 256
    assert largest(400, 2, 400) == 100
    assert largest(4000, 8, 256) == 129
    assert largest(10**6, 1000, 10**6) == 16
    assert largest(3, 2, 3) == 2
