"""ICVIARTMAPSearch: the same results however it is run, and nothing lost when it is killed."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch, custom_index
from icvi_artmap._support.threads import one_thread
from icvi_artmap.estimators.vigilance_search import search
from icvi_artmap.estimators.vigilance_search import store as search_store
from icvi_artmap.estimators.vigilance_search.results import COLUMNS, Outcome, Run, SearchResults
from icvi_artmap.estimators.vigilance_search.store import Store

matplotlib.use("Agg")

GRID: dict[str, Any] = {"rho_a": [0.0, 0.5, 0.8], "rho_ab": [0.6, 1.0]}


@parametrize_with_checks(
    [ICVIARTMAPSearch(ICVIARTMAP(3, max_epochs=3), rho_a=[0.0, 0.7], rho_ab=[0.9], n_starts=2)]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module", name="X")
def blobs() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(150, 3)) + 2.0 * rng.normal(size=(4, 3))[rng.integers(0, 4, 150)]


def a_search(**options: Any) -> ICVIARTMAPSearch:
    given = {"estimator": ICVIARTMAP(4, index="CH"), "random_state": 0, **GRID, **options}
    return ICVIARTMAPSearch(**given)


def assert_equal_searches(one: ICVIARTMAPSearch, other: ICVIARTMAPSearch) -> None:
    """Equal in everything but the seconds."""
    assert len(one.results_) == len(other.results_)
    for name in COLUMNS:
        if name != "seconds":
            np.testing.assert_array_equal(
                getattr(one.results_, name), getattr(other.results_, name)
            )
    assert one.best_params_ == other.best_params_
    assert one.best_run_ == other.best_run_
    assert one.seed_ == other.seed_
    assert one.starts_.keys() == other.starts_.keys()
    for start in one.starts_:
        np.testing.assert_array_equal(one.starts_[start], other.starts_[start])
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.best_estimator_.map_field_, other.best_estimator_.map_field_)


# --- the runs are those of the estimator ---------------------------------------------------------


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("name", ["NI", "CH"])
def test_every_run_is_a_fit_of_the_estimator(name: str, shuffle: bool, X: np.ndarray) -> None:
    template = ICVIARTMAP(4, index=name, shuffle=shuffle, kmeans_trials=1, max_epochs=4)
    found = a_search(estimator=template, n_starts=2, random_state=3).fit(X).results_
    assert len(found) == 12
    for i in range(len(found)):
        fitted = clone(template).set_params(
            rho_a=found.rho_a[i],
            rho_ab=found.rho_ab[i],
            random_state=3,
            n_init=1 + found.start[i],
        )
        if found.start[i] == 0:
            fitted.fit(X)
            assert fitted.index_value_ == found.index_value[i]
            assert fitted.n_clusters_ == found.n_clusters_found[i]
            assert len(fitted.categories_) == found.n_categories[i]
            assert fitted.n_iter_ == found.n_iter[i]
            assert fitted.converged_ == found.converged[i]
        else:  # the best of both starts
            better = max if name == "CH" else min
            same = (found.rho_a == found.rho_a[i]) & (found.rho_ab == found.rho_ab[i])
            assert fitted.fit(X).index_value_ == better(found.index_value[same])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_runs_that_are_the_same_are_made_once(n_jobs: int, X: np.ndarray) -> None:
    template = ICVIARTMAP(4, index="CH", max_epochs=4, kmeans_trials=1)
    grid = {"rho_a": [0.0, 0.1, 0.2, 0.7], "rho_ab": [0.2, 0.3, 0.4, 0.9, 1.0], "n_starts": 2}
    found = a_search(estimator=template, n_jobs=n_jobs, **grid).fit(X).results_
    assert 0 < (found.seconds == 0.0).sum() < len(found)
    for i in range(len(found) // 2):
        fitted = clone(template).set_params(
            rho_a=found.rho_a[i], rho_ab=found.rho_ab[i], random_state=0
        )
        assert fitted.fit(X).index_value_ == found.index_value[i]
        assert len(fitted.categories_) == found.n_categories[i]
        assert fitted.n_iter_ == found.n_iter[i]


def test_data_that_the_index_turns() -> None:
    """NI with many features has data along their principal axes, shared by all runs."""
    wide = np.random.default_rng(1).normal(size=(120, 20))
    wide[:60] += 2.0
    template = ICVIARTMAP(3, max_epochs=2)
    found = a_search(estimator=template, index=["CH", "NI"]).fit(wide).results_
    for i in range(len(found)):
        run = found.run(i)
        fitted = clone(template).set_params(
            index=run.index, rho_a=run.rho_a, rho_ab=run.rho_ab, random_state=0
        )
        assert fitted.fit(wide).index_value_ == found.index_value[i]


@pytest.mark.parametrize("name", ["NI", "CH"])
def test_the_best_value_wins(name: str, X: np.ndarray) -> None:
    fitted = a_search(index=name, n_starts=2).fit(X)
    values = fitted.results_.index_value
    assert len(np.unique(values)) > 2
    best = values.max() if name == "CH" else values.min()
    # Values that differ by rounding only are equal, and of these the first wins.
    assert fitted.index_value_ == pytest.approx(best, rel=1e-12)
    assert fitted.best_run_ == np.flatnonzero(np.isclose(values, best, rtol=1e-12, atol=0.0))[0]
    assert set(fitted.best_params_) == {"index", "n_clusters", "rho_a", "rho_ab"}
    model = fitted.best_estimator_
    for parameter, value in fitted.best_params_.items():
        assert getattr(model, parameter) == value
    again = clone(model).fit(X)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    np.testing.assert_array_equal(again.map_field_, model.map_field_)
    np.testing.assert_array_equal(fitted.predict(X), model.predict(X))
    assert fitted.score(X) == model.score(X)
    np.testing.assert_array_equal(clone(fitted).fit_predict(X), fitted.labels_)


def test_of_equal_values_the_first_wins() -> None:
    runs = [Run("WB", 3, 0, a, 1.0) for a in (0.0, 0.1, 0.2, 0.3)]
    values = (2.0, 1.0, 1.0, np.inf)
    results = SearchResults(runs, [Outcome(v, 3, 3, 2, True, 0.0) for v in values], {"WB": -1})
    assert results.best() == 1
    nothing = SearchResults(runs, [Outcome(np.inf, 1, 3, 2, True, 0.0)] * 4, {"WB": -1})
    assert nothing.best() == 0


def test_any_run_can_be_repeated(X: np.ndarray) -> None:
    with pytest.warns(UserWarning, match="for different numbers of clusters"):
        fitted = a_search(index=["CH", "ni"], n_clusters=[3, 4], n_starts=2).fit(X)
    found = fitted.results_
    assert len(found) == 2 * 2 * 2 * 6
    for i in range(0, len(found), 5):
        assert fitted.estimator_of_run(i).fit(X).index_value_ == found.index_value[i]


def test_several_indices(X: np.ndarray) -> None:
    """Each has its own best run; the first index decides which estimator is kept."""
    fitted = a_search(index=["NI", "CH"]).fit(X)
    found = fitted.results_
    alone = a_search(index="CH").fit(X)
    assert fitted.best_params_["index"] == "NI"
    best = found.best("ch")
    assert found.index[best] == "CH"
    assert found.index_value[best] == alone.index_value_
    with pytest.raises(ValueError, match=r"no runs with index 'DB'\. It has: NI, CH"):
        found.best("DB")
    with pytest.raises(ValueError, match=r"no runs with n_clusters=7\. It has: 4"):
        found.best(n_clusters=7)


def test_the_grids_of_the_paper(X: np.ndarray) -> None:
    template = ICVIARTMAP(2, index="CH", max_epochs=1)
    found = ICVIARTMAPSearch(template).fit(X[:30]).results_
    assert len(found) == 200
    np.testing.assert_allclose(np.unique(found.rho_a), np.arange(20) * 0.05)
    np.testing.assert_allclose(np.unique(found.rho_ab), np.arange(1, 11) * 0.1)
    wide = np.random.default_rng(0).normal(size=(30, 10))
    found = ICVIARTMAPSearch(template, rho_ab=1).fit(wide).results_
    np.testing.assert_allclose(found.rho_a, np.arange(15) * 0.05)


def test_a_table_of_the_paper(shared_data: Path) -> None:
    """The adjusted Rand indices of Table iCVI_opt, from the best pair of vigilances."""
    with np.load(shared_data / "synthetic" / "2d-4c-no0.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    fitted = ICVIARTMAPSearch(ICVIARTMAP(4), index=["NI", "XB"], random_state=0).fit(X)
    for name, expected in (("NI", 0.9941), ("XB", 0.8813)):
        best = fitted.estimator_of_run(fitted.results_.best(name)).fit(X)
        assert adjusted_rand_score(y, best.labels_) == pytest.approx(expected, abs=1e-3)


def test_given_centres(X: np.ndarray) -> None:
    template = ICVIARTMAP(init=X[:4])
    fitted = a_search(estimator=template, n_clusters=4, index="CH").fit(X)
    np.testing.assert_array_equal(fitted.starts_[4, 0], X[:4])
    expected = ICVIARTMAP(init=X[:4], random_state=0, **fitted.best_params_).fit(X)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    with pytest.raises(ValueError, match=r"init has shape \(4, 3\), but n_clusters=5"):
        a_search(estimator=template, n_clusters=5).fit(X)
    with pytest.raises(ValueError, match="n_starts=2 needs starts by k-means"):
        a_search(estimator=template, n_clusters=4, n_starts=2).fit(X)


def test_forms_of_random_state(X: np.ndarray) -> None:
    np.random.seed(5)
    first = a_search(random_state=None).fit(X)
    second = a_search(random_state=np.random.RandomState(5)).fit(X)
    assert_equal_searches(first, second)
    assert_equal_searches(first, a_search(random_state=first.seed_).fit(X))
    assert a_search(random_state=6).fit(X).seed_ == 6


def test_names_of_features(X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = a_search(rho_a=0).fit(frame)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    fitted.predict(frame)
    assert not hasattr(fitted.fit(X), "feature_names_in_")


def test_pickle(X: np.ndarray) -> None:
    fitted = a_search(rho_a=0.5).fit(X)
    twin = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))
    assert twin.estimator_of_run(1).fit(X).index_value_ == fitted.results_.index_value[1]


def test_the_template_is_not_changed(X: np.ndarray) -> None:
    template = ICVIARTMAP(4, index="CH", n_init=2)
    before = dict(vars(template))
    fitted = a_search(estimator=template).fit(X)
    assert vars(template) == before
    assert len(fitted.results_) == 12  # n_init starts


# --- the same results however it is run ----------------------------------------------------------

MANY: dict[str, Any] = {"index": ["NI", "CH"], "n_starts": 2}


@pytest.fixture(scope="module")
def large() -> np.ndarray:
    """More than the megabyte from which on joblib shares arrays as memory maps."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(6000, 22)) + 2.0 * rng.normal(size=(3, 22))[rng.integers(0, 3, 6000)]


def test_worker_processes_share_large_data(large: np.ndarray) -> None:
    assert large.nbytes > 1e6
    template = ICVIARTMAP(3, max_epochs=1, kmeans_trials=1)
    options = {"estimator": template, "rho_a": 0.3, "index": ["NI", "CH"]}
    expected = a_search(**options).fit(large)
    assert_equal_searches(expected, a_search(n_jobs=2, **options).fit(large))


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
def test_backends_give_the_same(backend: str, X: np.ndarray) -> None:
    expected = a_search(**MANY).fit(X)
    with joblib.parallel_config(backend=backend):
        assert_equal_searches(expected, a_search(n_jobs=2, **MANY).fit(X))


@pytest.mark.parametrize("processes", [True, False])
def test_dask_gives_the_same(processes: bool, X: np.ndarray, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    expected = a_search(**MANY).fit(X)
    path = tmp_path / "search.jsonl"
    with (
        distributed.LocalCluster(
            n_workers=2 if processes else 1,
            threads_per_worker=1 if processes else 2,
            processes=processes,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        found = a_search(store=path, **MANY).fit(X)
        where = client.run(lambda: os.getpid())
    assert len(set(where.values())) == (2 if processes else 1)
    assert_equal_searches(expected, found)
    assert_equal_searches(expected, a_search(store=path, **MANY).fit(X))


MODULE = """
from icvi_artmap import custom_index

@custom_index(better="smaller")
def compact(n, mean, compactness):
    return compactness.sum()
"""
SCRIPT = """
import numpy as np
from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch, custom_index
from module import compact

@custom_index(better="greater")
def apart(n, mean, compactness):
    return (n * mean[:, 0] ** 2).sum() / compactness.sum()

X = np.random.default_rng(0).normal(size=(20, 2))
values = []
for n_jobs in (1, 2):
    found = ICVIARTMAPSearch(
        ICVIARTMAP(3, max_epochs=1), index=[apart, compact], rho_a=[0, 0.5], rho_ab=1,
        n_jobs=n_jobs, random_state=0,
    ).fit(X)
    assert found.best_params_["index"] is apart
    values.append(found.results_.index_value)
np.testing.assert_array_equal(*values)
print("equal")
"""


def test_indices_of_the_user_in_worker_processes(tmp_path: Path) -> None:
    """They cannot import what a script defines. Not compiled, which takes long in every process."""
    (tmp_path / "module.py").write_text(MODULE, encoding="utf-8")
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout == "equal\n", done.stderr


def test_no_thread_lifts_the_limit_of_others(
    X: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """k-means limits the threads of BLAS in the whole process, and lifts the limit at its end."""
    seen = []

    def watched(X: np.ndarray, *others: Any) -> np.ndarray:
        with one_thread():
            time.sleep(0.01 * len(seen))
        time.sleep(0.02)
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return X[:4]

    monkeypatch.setattr(search, "kmeans_centres", watched)
    with threadpool_limits(2), joblib.parallel_config(backend="threading", n_jobs=4):
        a_search(n_starts=4, rho_a=0).fit(X)
    assert len(seen) > 0
    assert set(seen) == {1}


# --- stored searches -----------------------------------------------------------------------------


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what is computed in this process: starts and runs."""
    calls: list[str] = []
    one_run, kmeans_centres = search._one_run, search.kmeans_centres

    def counted_run(*arguments: Any) -> Any:
        calls.append("run")
        return one_run(*arguments)

    def counted_start(*arguments: Any) -> Any:
        calls.append("start")
        return kmeans_centres(*arguments)

    monkeypatch.setattr(search, "_one_run", counted_run)
    monkeypatch.setattr(search, "kmeans_centres", counted_start)
    return calls


def stored_runs(path: Path) -> list[str]:
    """The runs in a store, as text that can be compared; whole lines only."""
    lines = path.read_bytes().split(b"\n")[:-1]
    parsed = [json.loads(line) for line in lines]
    return [json.dumps(line["run"]) for line in parsed if "run" in line]


def test_what_is_stored_is_not_computed_again(
    X: np.ndarray, tmp_path: Path, computed: list[str]
) -> None:
    path = tmp_path / "search.jsonl"
    expected = a_search(n_starts=2).fit(X)
    computed.clear()
    assert_equal_searches(expected, a_search(n_starts=2, store=path).fit(X))
    assert computed == ["start"] * 2 + ["run"] * 12
    content = path.read_bytes()
    computed.clear()
    again = a_search(n_starts=2, store=path).fit(X)
    assert computed == []
    assert_equal_searches(expected, again)
    assert path.read_bytes() == content


def test_a_stored_search_can_be_extended(
    X: np.ndarray, tmp_path: Path, computed: list[str]
) -> None:
    """Only what is new is computed, whichever list became longer; a smaller grid needs nothing."""
    path = str(tmp_path / "search.jsonl")
    a_search(store=path, rho_ab=1).fit(X)
    computed.clear()
    a_search(store=path, rho_ab=[0.3, 1]).fit(X)
    assert computed == ["run"] * 3
    computed.clear()
    wider = {"rho_ab": [1, 0.3], "n_starts": 2, "index": ["NI", "CH"]}
    extended = a_search(store=path, **wider).fit(X)
    assert computed == ["start"] + ["run"] * 18
    assert_equal_searches(extended, a_search(**wider).fit(X))
    computed.clear()
    a_search(store=path, rho_ab=0.3, index="NI").fit(X.tolist())  # the same numbers
    assert computed == []


def test_a_search_without_a_seed_goes_on_with_the_stored_one(X: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "search.jsonl"
    first = a_search(store=path, random_state=None, rho_a=0.5).fit(X)
    second = a_search(store=path, random_state=None, rho_a=[0.5, 0.8]).fit(X)
    assert second.seed_ == first.seed_
    assert_equal_searches(second, a_search(random_state=first.seed_, rho_a=[0.5, 0.8]).fit(X))


PROGRAM = """
import signal
import sys
import numpy as np
from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch

# A shell that starts the tests in the background has them ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)

def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(1000, 5)) + 3.0 * rng.normal(size=(6, 5))[rng.integers(0, 6, 1000)]

def a_long_search(n_jobs=1, store=None):
    return ICVIARTMAPSearch(
        ICVIARTMAP(8), rho_a=np.arange(0.0, 0.9, 0.1), rho_ab=[0.5, 0.8, 0.9, 1.0], n_starts=2,
        n_jobs=n_jobs, store=store, random_state=1,
    )

if __name__ == "__main__":
    a_long_search(int(sys.argv[1]), sys.argv[2]).fit(data())
"""


@pytest.fixture(scope="module")
def long_search(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A program that makes a long search, what it defines, and its result if nothing happens."""
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    defined: dict[str, Any] = {"__name__": "program"}
    exec(PROGRAM, defined)
    defined["expected"] = defined["a_long_search"]().fit(defined["data"]())
    return path, defined


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(("n_jobs", "kind"), [(1, "SIGKILL"), (2, "SIGKILL"), (1, "SIGINT")])
def test_a_killed_search_goes_on(
    n_jobs: int, kind: str, long_search: Any, tmp_path: Path, computed: list[str]
) -> None:
    program, defined = long_search
    path = tmp_path / "search.jsonl"
    errors = tmp_path / "errors.txt"
    with errors.open("wb") as file:
        child = subprocess.Popen(
            [sys.executable, program, str(n_jobs), path], stderr=file, start_new_session=True
        )
    try:
        deadline = time.monotonic() + 120
        while not path.exists() or len(stored_runs(path)) < 5:
            assert child.poll() is None, errors.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        child.send_signal(getattr(signal, kind))
        assert child.wait(timeout=60) != 0
        resumed_from(path, defined, computed)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # its workers: they outlive it for a while


def resumed_from(path: Path, defined: dict[str, Any], computed: list[str]) -> None:
    kept = path.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    before = stored_runs(path)
    total = len(defined["expected"].results_)
    assert 5 <= len(before) < total

    resumed = defined["a_long_search"](store=path).fit(defined["data"]())
    assert_equal_searches(defined["expected"], resumed)
    assert path.read_bytes().startswith(kept)  # nothing lost
    # Nothing twice, the starts neither; and a run that is the same as another not at all.
    assert set(computed) == {"run"}
    assert len(computed) <= total - len(before)
    after = stored_runs(path)
    assert len(after) == len(set(after)) == total


def a_store(path: Path, seed: int | None = 1) -> Store:
    return Store(path, {"data": "abc", "tol": 0.1}, seed, 7, {"CH": "CH"})


def test_every_line_is_on_the_disk_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, synced = tmp_path / "search.jsonl", []
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.read_bytes()))
    with a_store(path) as store:
        for i in range(3):
            store.add_outcome(Run("CH", 3, i, 0.0, 1.0), Outcome(1.0, 3, 5, 2, True, 0.1))
            assert len(synced) == i + 2
            assert synced[-1].count(b"\n") == i + 2


def test_a_store_cut_anywhere_is_healed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole lines stay, the rest of the last one goes, and what is added later can be read."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # thousands of them take long
    path = tmp_path / "search.jsonl"
    runs = [Run("CH", 3, 0, a, 1 / 3) for a in (0.0, 0.1, np.nextafter(0.1, 1))]
    outcomes = [Outcome(v, 3, 5, 2, True, 0.1) for v in (1 / 3, -np.inf, 1e-300)]
    centres = np.random.default_rng(0).normal(size=(3, 2)) / 3
    with a_store(path) as store:
        store.add_start((3, 0), centres)
        for run, outcome in zip(runs, outcomes, strict=True):
            store.add_outcome(run, outcome)
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        lines = content[:cut].count(b"\n")
        with a_store(path) as store:
            assert store.outcomes == dict(
                list(zip(runs, outcomes, strict=True))[: max(0, lines - 2)]
            )
            assert len(store.starts) == (lines >= 2)
            store.add_outcome(runs[0], outcomes[2])
        with a_store(path) as store:
            assert store.outcomes[runs[0]] == outcomes[2]
            if lines >= 2:
                np.testing.assert_array_equal(store.starts[3, 0], centres)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": ICVIARTMAP(4, index="CH", alpha=0.5)}, r"alpha \(stored 0.001, now 0.5\)"),
        ({"random_state": 1}, r"seed \(stored 0, now 1\)"),
        ({"random_state": np.random.RandomState(0)}, r"seed \(stored 0, now \d+\)"),
        ({"data": 1.0}, "Different: data "),
    ],
    ids=["parameter", "seed", "generator", "data"],
)
def test_a_store_of_another_search(
    change: dict[str, Any], message: str, X: np.ndarray, tmp_path: Path
) -> None:
    path = tmp_path / "search.jsonl"
    options = {"store": path, "rho_a": 0}
    a_search(**options).fit(X)
    content = path.read_bytes()
    other = X.copy()
    other[3, 1] += change.pop("data", 0.0)
    with pytest.raises(ValueError, match=f"belongs to another search.*{message}.*another path"):
        a_search(**{**options, **change}).fit(other)
    assert path.read_bytes() == content


def test_a_changed_index_is_another_one(tmp_path: Path) -> None:
    """Runs with an index of the same name that computes something else are not used."""

    def largest(n: Any, mean: Any, compactness: Any) -> Any:
        return compactness.max()

    def total(n: Any, mean: Any, compactness: Any) -> Any:
        return compactness.sum()

    made = [
        custom_index(function, better=better, name="own")
        for function, better in ((largest, "smaller"), (total, "smaller"), (total, "greater"))
    ]
    identities = [search._identity(index) for index in made]
    assert len(set(identities)) == 3
    assert search._identity(custom_index(total, better="smaller", name="own")) == identities[1]
    typed = custom_index(eval("lambda n, mean, compactness: n.sum()"), better="smaller")
    other = custom_index(eval("lambda n, mean, compactness: mean.sum()"), better="smaller")
    assert search._identity(typed) != search._identity(other)

    path, run, outcome = (
        tmp_path / "s",
        Run("own", 3, 0, 0.0, 1.0),
        Outcome(1.0, 3, 3, 2, True, 0.0),
    )
    for identity, known in (("own a", 0), ("own b", 0), ("own a", 1)):
        with Store(path, {}, 1, 1, {"own": identity}) as store:
            assert len(store.outcomes) == known
            store.add_outcome(run, outcome)


def test_a_store_in_use(X: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "search.jsonl"
    a_search(store=path, rho_a=0).fit(X)
    with open(path, "rb") as file:
        search_store._lock_file(file.fileno())
        with pytest.raises(RuntimeError, match="in use by another search"):
            a_search(store=path, rho_a=0).fit(X)
    a_search(store=path, rho_a=0).fit(X)


def test_paths_that_are_no_store(X: np.ndarray, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file"):
        a_search(store=tmp_path).fit(X)
    with pytest.raises(FileNotFoundError, match=r"does not exist\. Create it first"):
        a_search(store=tmp_path / "missing" / "search.jsonl").fit(X)
    for content in (b"a,b\n1,2\n", b"notes", b'{"format": "another"}\n', b"\n"):
        foreign = tmp_path / "foreign"
        foreign.write_bytes(content)
        with pytest.raises(ValueError, match="is a file of something else"):
            a_search(store=foreign).fit(X)
        assert foreign.read_bytes() == content


def test_a_damaged_store(tmp_path: Path) -> None:
    path = tmp_path / "search.jsonl"
    run, outcome = Run("CH", 3, 0, 0.0, 1.0), Outcome(1.0, 3, 5, 2, True, 0.1)
    with a_store(path) as store:
        store.add_outcome(run, outcome)
    header, line = path.read_bytes().splitlines(keepends=True)
    lines = (b"{]\n", b"3\n", b"{}\n", b'{"start": 1}\n', b"\n", b"[" * 100_000 + b"\n", header)
    for bad in lines:
        path.write_bytes(header + bad + line)
        with pytest.warns(RuntimeWarning, match=r"has 1 damaged line of 3"):
            found = a_store(path)
        with found:
            assert found.outcomes == {run: outcome}
    path.write_bytes(header.replace(b'"version": 2', b'"version": 3') + line)
    with pytest.raises(ValueError, match="has version 3 of the format"):
        a_store(path)
    for bad in (b"{]\n", header.replace(b'"seed": ', b'"seed": 1'), header.replace(b"sha", b"shb")):
        beginning = header[: len(search_store._BEGINNING)]
        path.write_bytes(bad if bad.startswith(beginning) else beginning + bad)
        with pytest.raises(ValueError, match=r"The first line of store=.* is damaged"):
            a_store(path)


def test_a_flipped_bit_in_a_store_is_told_and_changes_nothing(tmp_path: Path) -> None:
    path, rng = tmp_path / "search.jsonl", np.random.default_rng(0)
    run, outcome = Run("CH", 3, 0, 0.25, 1.0), Outcome(123.456, 3, 5, 2, True, 0.1)
    with a_store(path) as store:
        store.add_start((3, 0), np.array([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]]))
        store.add_outcome(run, outcome)
        centres = store.starts[3, 0]
    content = path.read_bytes()
    begin = content.index(b"\n") + 1
    for _ in range(300):
        at, bit = int(rng.integers(begin, len(content) - 1)), 1 << int(rng.integers(8))
        path.write_bytes(content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with a_store(path) as found:
                assert set(found.outcomes.items()) <= {(run, outcome)}
                assert all((found.starts[key] == centres).all() for key in found.starts)
                whole = len(found.outcomes) == len(found.starts) == 1
        assert whole or "checksum" in str(caught[0].message)


# --- results -------------------------------------------------------------------------------------


def test_to_pandas(X: np.ndarray) -> None:
    fitted = a_search(index=["NI", "CH"]).fit(X)
    frame = fitted.results_.to_pandas()
    assert frame.columns.tolist() == list(COLUMNS)
    assert len(frame) == 12
    assert frame["index"].tolist() == ["NI"] * 6 + ["CH"] * 6
    assert frame["rho_a"].tolist() == [0.0, 0.0, 0.5, 0.5, 0.8, 0.8] * 2
    assert frame["rho_ab"].tolist() == [0.6, 1.0] * 6
    assert frame["converged"].dtype == bool
    assert frame["index_value"][fitted.best_run_] == fitted.index_value_
    assert repr(fitted.results_) == "<SearchResults: 12 runs with NI, CH>"


def test_plot() -> None:
    """Values by hand: of two starts the better one is shown, an infinity is left out."""
    runs = [Run("WB", 3, s, a, b) for s in (0, 1) for a in (0.5, 0.0) for b in (0.1, 1.0)]
    values = (4.0, 3.0, np.inf, 2.0, 5.0, 1.5, np.inf, 2.5)
    results = SearchResults(runs, [Outcome(v, 3, 3, 2, True, 0.0) for v in values], {"WB": -1})
    ax = results.plot()
    shown = ax.images[0].get_array()
    np.testing.assert_array_equal(shown.mask, [[True, False], [False, False]])
    np.testing.assert_array_equal(shown.filled(0.0), [[0.0, 4.0], [2.0, 1.5]])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "0.5"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0.1", "1"]
    (star,) = ax.lines
    assert star.get_xydata().tolist() == [[1, 1]]
    assert ax.get_title() == "WB, 3 clusters: best 1.5"
    assert ax.images[0].get_cmap().name == "viridis_r"
    own = matplotlib.pyplot.figure().subplots()
    assert results.plot(own, n_clusters=3, index="wb") is own
    with pytest.raises(ValueError, match="no runs with n_clusters=2"):
        results.plot(n_clusters=2)
    matplotlib.pyplot.close("all")


def test_plots_are_imported_late() -> None:
    module = "icvi_artmap.estimators.vigilance_search.search"
    program = f"import sys, {module}; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


# --- progress ------------------------------------------------------------------------------------


def test_progress(X: np.ndarray, capsys: pytest.CaptureFixture, monkeypatch: Any) -> None:
    a_search(verbose=1).fit(X)
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    fitted = a_search(verbose=1).fit(X)
    error = capsys.readouterr().err
    assert error.startswith("\r[........................] 0/6")
    last = error.split("\r")[-1]
    assert last.startswith(f"[########################] 6/6, best CH = {fitted.index_value_:.6g}, ")
    assert last.endswith("\n")
    a_search(verbose=0).fit(X)
    assert capsys.readouterr().err == ""


def test_text_of_the_progress() -> None:
    progress = search._Progress(12, 2, search.get_index("WB"), True)
    assert progress.text(0.0) == "[####....................] 2/12"
    progress.step(Run("WB", 3, 0, 0.0, 1.0), 3.0)
    progress.step(Run("WB", 3, 0, 0.1, 1.0), 4.0)
    progress.step(Run("CH", 3, 0, 0.1, 1.0), 99.0)
    assert progress.text(3000.0) == "[##########..............] 5/12, best WB = 3, 1:56:40 left"


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rho_a": []}, ValueError, "rho_a is empty.*Give at least one value"),
        ({"rho_a": [0.1, 1.5]}, ValueError, r"rho_a must be in \[0, 1\], got 1.5"),
        ({"rho_ab": -0.1}, ValueError, r"rho_ab must be in \[0, 1\], got -0.1"),
        ({"rho_ab": [0.1, 0.5, 0.1]}, ValueError, "rho_ab has 0.1 more than once"),
        ({"rho_a": "all"}, TypeError, "rho_a must be a number, got 'all'"),
        ({"rho_a": {0.1, 0.2}}, TypeError, "got a set.*use a list"),
        ({"rho_a": np.ones((2, 2))}, ValueError, r"one dimension, got shape \(2, 2\)"),
        ({"index": "XY"}, ValueError, "Unknown index 'XY'. Known names"),
        ({"index": []}, ValueError, "index is empty"),
        ({"index": [3]}, TypeError, "index must be a name or an index object"),
        ({"index": ["ch", "CH"]}, ValueError, "index names CH more than once"),
        ({"n_clusters": [3, 300]}, ValueError, "n_clusters=300 is more than.*n_samples=150"),
        ({"n_clusters": [1, 3]}, ValueError, "n_clusters must be at least 2, got 1"),
        ({"n_clusters": [3, 4, 3]}, ValueError, "n_clusters has 3 more than once"),
        ({"n_clusters": 3.0}, TypeError, "n_clusters must be an integer"),
        ({"n_clusters": [10**400]}, ValueError, "n_clusters=1000.{,100} is more than"),
        ({"n_clusters": range(2, 10**400)}, ValueError, "n_clusters has more than 10,000 values"),
        ({"n_starts": 0}, ValueError, "n_starts must be at least 1"),
        ({"n_starts": 10**400}, ValueError, "n_starts must be at most 10,000"),
        ({"n_jobs": 10**400}, ValueError, "n_jobs must be at most 100,000"),
        ({"verbose": "much"}, TypeError, "verbose must be an integer"),
        ({"random_state": "seed"}, ValueError, "cannot be used to seed"),
        ({"estimator": KMeans()}, TypeError, "estimator must be an ICVIARTMAP, got KMeans"),
        ({"estimator": ICVIARTMAP(alpha=0.0)}, ValueError, r"alpha must be in \(0, inf\)"),
        ({"estimator": ICVIARTMAP(n_init=0)}, ValueError, "n_init must be at least 1"),
    ],
)
def test_bad_parameters(
    options: dict[str, Any], error: type[Exception], message: str, X: np.ndarray
) -> None:
    with pytest.raises(error, match=message):
        a_search(**options).fit(X)


def test_forms_of_lists(X: np.ndarray) -> None:
    expected = a_search(rho_a=[0.0, 0.5], n_clusters=[4]).fit(X)
    for form in (np.array([0.0, 0.5]), (0, 0.5), pd.Series([0.0, 0.5])):
        assert_equal_searches(expected, a_search(rho_a=form, n_clusters=range(4, 5)).fit(X))
