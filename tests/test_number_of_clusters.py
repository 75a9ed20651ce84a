"""The number of clusters: the criterion, the path, and what the estimator makes of them."""

from __future__ import annotations

import pickle
import warnings

import matplotlib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import oracle
from icvi_artmap import ICVIARTMAP
from icvi_artmap.datasets import make_ellipsoid_clusters, make_gaussian_clusters
from icvi_artmap.indices import ni
from icvi_artmap.indices.ni import penalised
from icvi_artmap.indices.registry import INDICES, get_index
from icvi_artmap.samples.scaling import learn_scaling, standardised_data
from icvi_artmap.training import number_of_clusters, refinement
from icvi_artmap.training.number_of_clusters import PATIENCE, Selection, select
from icvi_artmap.training.refinement import Partition

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
    assert penalised(partition.state) == pytest.approx(expected, rel=1e-9)


def test_without_a_ridge_every_parameter_of_a_gaussian_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = 1e9 * np.random.default_rng(0).normal(size=(500, 3))  # the ridge is nothing against this
    data = standardised_data(X, learn_scaling(X))._replace(table=X)
    partition = Partition(get_index("NI"), data, np.zeros(500, np.int64), 1, 1)
    values = []
    for weight in (0.0, 1.0):
        monkeypatch.setattr(ni, "WEIGHT", weight)
        values.append(penalised(partition.state))
    assert values[1] - values[0] == pytest.approx((3 * 4 / 2 + 3) * np.log(500), rel=1e-6)


def test_for_large_clusters_the_criterion_is_ni_and_a_penalty() -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    labels = (X[:, 0] > 0).astype(np.int64)
    data = standardised_data(X, learn_scaling(X))
    values = []
    for k, of in ((1, np.zeros(len(X), np.int64)), (2, labels)):
        values.append(penalised(Partition(get_index("NI"), data, of, k, k).state))
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
    X, _ = groups(3)
    chosen = ICVIARTMAP("auto", random_state=0).fit(X).selection_
    frame = chosen.to_pandas()
    assert frame.index.name == "k"
    assert frame.index.tolist() == chosen.k.tolist()
    assert frame["criterion"].idxmin() == 3
    axes = chosen.plot()
    assert axes.get_xlabel() == "number of clusters k"
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), chosen.k)
    assert axes.get_legend().get_texts()[0].get_text() == "chosen: k = 3 (not a clear choice)"
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
    monkeypatch.setattr(refinement, "MANY", 200)
    data = standardised_data(X, learn_scaling(X))
    chosen, labels = select(get_index("NI"), data, 2, None, np.random.RandomState(0))
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
    model = ICVIARTMAP("auto", index=index, random_state=0).fit(X)
    assert model.n_clusters_ > 4
    assert model.selection_.repeated
    assert not model.selection_.clear
    with pytest.warns(RuntimeWarning, match="the values repeat"):
        model.fit(X)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_path_that_gives_up_too_early_is_not_called_clear(seed: int) -> None:
    """Two hundred tiny clusters: the criterion rests for a while, and falls far beyond."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.random((200, 2)), 20, axis=0) + rng.normal(0.0, 0.002, (4000, 2))
    with pytest.warns(RuntimeWarning, match="there may be more clusters"):
        model = ICVIARTMAP("auto", random_state=0).fit(X)
    assert model.n_clusters_ < 200
    assert model.selection_.limited
    assert not model.selection_.clear
    assert not model.converged_
