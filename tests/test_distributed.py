"""Rows on a Dask cluster: a real one, with two worker processes."""

from __future__ import annotations

import inspect
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, explain, index_value, load, save, write_report
from icvi_artmap._support.progress import Bar
from icvi_artmap.cli import dask_fit
from icvi_artmap.cli.app import run
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.distributed import (
    DistributedICVIARTMAP,
    index_values,
    learn_scaling,
    predict,
    take_rows,
    with_labels,
)
from icvi_artmap.distributed.computing import FAN_IN, reduced, task
from icvi_artmap.indices.registry import NAMES
from icvi_artmap.samples import scaling as in_memory

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")


def overlapping(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Four clusters that overlap, so that passes have something to do."""
    rng = np.random.RandomState(3)
    truth = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    turns = rng.randn(4, 3, 3) * 0.7
    means = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 1.0], [0.0, 3.0, -1.0], [3.0, 3.0, 3.0]])
    return means[truth] + np.einsum("sfg,sg->sf", turns[truth], rng.randn(n, 3)), truth


X, TRUTH = overlapping(3000)
#: How long a client waits for a scheduler that is not there.
SHORT = "5s"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes. On a busy machine a worker that was killed takes long to come back."""
    patience = ("comm.timeouts.connect", "comm.timeouts.tcp", "deploy.lost-worker-timeout")
    with (
        dask.config.set({f"distributed.{what}": "600s" for what in patience}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def cut(rows: NDArray[Any], size: int) -> Any:
    return da.from_array(rows, chunks=(size, rows.shape[1]))


def framed(rows: NDArray[Any], partitions: int, names: str = "abc") -> Any:
    return dd.from_pandas(pd.DataFrame(rows, columns=list(names)), npartitions=partitions)


def small(**options: Any) -> DistributedICVIARTMAP:
    """An estimator that fits a tenth of the rows in memory."""
    return DistributedICVIARTMAP(4, sample_size=300, random_state=0, **options)


# --- statistics ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3000, 700, 64])
def test_values_of_all_indices_are_those_in_memory(client: Any, size: int) -> None:
    found = index_values(cut(X, size), TRUTH, NAMES)
    assert list(found) == list(NAMES)
    for name, value in found.items():
        assert value == pytest.approx(index_value(X, TRUTH, name), rel=1e-11)


def test_offsets_units_and_constants_cost_no_digits() -> None:
    hard = np.column_stack([X * [1e-5, 1e6, 1.0] + [1e3, -1e9, 0.0], np.full(len(X), 2.5)])
    for index in ("NI", "CH"):
        value = index_values(cut(hard, 700), TRUTH, index)[index]
        assert value == pytest.approx(index_value(hard, TRUTH, index), rel=1e-9)
    for factor in (1e-250, 1e250):  # squares of such numbers vanish or overflow
        value = index_values(cut(hard[:, :3] * factor, 700), TRUTH, "CH")["CH"]
        assert value == pytest.approx(index_value(X, TRUTH, "CH"), rel=1e-6)


def test_values_by_hand_with_chunks_of_one_row_and_empty_ones() -> None:
    rows = np.array([[0.0], [1.0], [10.0], [11.0]])
    uneven = da.from_array(rows, chunks=((1, 0, 1, 1, 1, 0), (1,)))
    assert index_values(uneven, [0, 0, 1, 1], "CH")["CH"] == pytest.approx(200.0, rel=1e-12)
    assert index_values(uneven, list("aabb"), "CH")["CH"] == pytest.approx(200.0, rel=1e-12)


def test_labels_may_be_dask_too_and_cut_otherwise(client: Any) -> None:
    expected = index_values(cut(X, 700), TRUTH, "CH")
    assert index_values(cut(X, 700), da.from_array(TRUTH, chunks=450), "CH") == expected
    frame = framed(X, 5)
    series = dd.from_pandas(pd.Series(TRUTH), npartitions=5)
    assert index_values(frame, series, "CH")["CH"] == pytest.approx(expected["CH"], rel=1e-12)
    unknown = cut(X, 700)[da.from_array(np.ones(len(X), bool), chunks=700)]
    assert np.isnan(unknown.shape[0])
    assert index_values(unknown, TRUTH, "CH")["CH"] == pytest.approx(expected["CH"], rel=1e-12)


def test_scaling_by_reduction_is_that_in_memory(client: Any) -> None:
    rows = np.column_stack([X * 1e-3 + 5.0, np.full(len(X), -1.0)])
    expected = in_memory.learn_scaling(rows)
    found = learn_scaling(cut(rows, 700))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_array_equal(found.minimum, expected.minimum)
    np.testing.assert_array_equal(found.span, expected.span)


def test_a_reduction_keeps_the_order_of_blocks() -> None:
    numbers = [task(lambda i: [i], i) for i in range(3 * FAN_IN**2 + 5)]
    joined = reduced(numbers, lambda parts: list(itertools.chain(*parts)))
    assert joined.compute(scheduler="threads") == list(range(len(numbers)))


# --- what is refused -----------------------------------------------------------------------------


def with_nan() -> NDArray[np.float64]:
    rows = X.copy()
    rows[1500, 1] = np.nan
    return rows


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda: index_values(cut(with_nan(), 700), TRUTH), ValueError, "chunk 2, row 100"),
        (lambda: learn_scaling(framed(with_nan(), 5)), ValueError, "column 'b'"),
        (
            lambda: index_values(cut(X, 700), TRUTH[:-1]),
            ValueError,
            "2,999 entries and X has 3,000",
        ),
        (
            lambda: index_values(cut(X, 700), da.from_array(TRUTH[1:], chunks=700)),
            ValueError,
            "2,999 entries and X has 3,000 rows",
        ),
        (
            lambda: index_values(framed(X, 5), dd.from_pandas(pd.Series(TRUTH), npartitions=4)),
            ValueError,
            "4 partitions and X has 5",
        ),
        (
            lambda: index_values(
                framed(X, 2), dd.from_pandas(pd.Series(TRUTH[:-5]), npartitions=2)
            ),
            ValueError,
            r"Chunk [01] of X has 1,500 rows and 149[78] labels",
        ),
        (lambda: index_values(X, TRUTH), TypeError, "dask.array.from_array"),
        (lambda: index_values(cut(X, 700), TRUTH, []), ValueError, "indices is empty"),
        (lambda: index_values(cut(X, 700), TRUTH, "QQ"), ValueError, "Unknown index"),
        (lambda: index_values(cut(X, 700)[:, 0], TRUTH), ValueError, "two dimensions"),
        (lambda: index_values(cut(X[:0], 1), []), ValueError, "no rows"),
        (
            lambda: learn_scaling(cut(np.where(X > 0, 1.7e308, -1.7e308), 700)),
            ValueError,
            "larger than float64",
        ),
        (
            lambda: learn_scaling(framed(X, 2).assign(c="text")),
            ValueError,
            "no numbers: 'c'",
        ),
        (lambda: take_rows(cut(X, 700), [3000]), ValueError, "from 0 to 2,999"),
        (lambda: small().fit(X), TypeError, "Dask array or a Dask dataframe"),
        (lambda: small().fit(cut(X[:1], 1)), ValueError, "at least 2"),
        (lambda: small().fit(cut(with_nan(), 700)), ValueError, "Chunk 2 of X: Input X contains"),
        (lambda: small(keep="so").fit(cut(X, 700)), ValueError, "keep must be"),
        (lambda: small(max_passes=-1).fit(cut(X, 700)), ValueError, "max_passes"),
        (lambda: small(rho_a=2).fit(cut(X, 700)), ValueError, "rho_a must be"),
        (
            lambda: DistributedICVIARTMAP(sample_size="all").fit(cut(X, 700)),
            ValueError,
            "sample_size must be",
        ),
    ],
)
def test_errors_say_what_came(call: Any, kind: type[Exception], told: str) -> None:
    with dask.config.set(scheduler="threads"), pytest.raises(kind, match=told):
        call()


# --- fits ----------------------------------------------------------------------------------------


def test_parameters_are_those_of_the_estimator() -> None:
    own = {"sample_size", "max_passes", "keep"}
    mine = inspect.signature(DistributedICVIARTMAP.__init__).parameters
    theirs = inspect.signature(ICVIARTMAP.__init__).parameters
    assert set(mine) - set(theirs) == own
    for name, parameter in theirs.items():
        assert mine[name].default == parameter.default, name
    assert clone(small(index="CH")).get_params()["index"] == "CH"


@pytest.mark.parametrize("index", ["NI", "CH", "WB", "XB"])
def test_a_fit_is_that_in_memory(client: Any, index: str) -> None:
    model = small(index=index).fit(cut(X, 700))
    labels = model.labels_.compute()
    inside = ICVIARTMAP(4, index=index, random_state=0).fit(X)
    # The exact index is that of the labels.
    assert model.index_value_ == pytest.approx(index_value(X, labels, index), rel=1e-11)
    assert model.n_clusters_ == 4
    if index != "XB":  # whose optimum a tenth of the rows need not show
        assert model.index_value_ == pytest.approx(inside.index_value_, rel=2e-3)
        assert adjusted_rand_score(labels, inside.labels_) > 0.95
    values = model.pass_values_ * inside.fitted_.index.direction
    assert len(values) == model.n_passes_ + 1
    assert (np.diff(values) > 0.0).all()
    # Sizes and centres are those of all rows, and clusters are numbered by size.
    np.testing.assert_array_equal(np.bincount(labels), model.model_.fitted_.moments.n)
    assert (np.diff(np.bincount(labels)) <= 0).all()
    for i in range(4):
        np.testing.assert_allclose(model.cluster_centers_[i], X[labels == i].mean(axis=0))
    np.testing.assert_array_equal(labels[model.sample_rows_], model.model_.labels_)


def test_passes_make_the_index_better(client: Any) -> None:
    joined = small(max_passes=0).fit(cut(X, 700))
    improved = small().fit(cut(X, 700))
    assert improved.n_passes_ > 0
    assert improved.index_value_ < joined.index_value_  # NI
    assert improved.pass_values_[0] == joined.index_value_
    one = small(max_passes=1).fit(cut(X, 700))
    assert one.n_passes_ == 1
    assert not one.converged_
    assert one.index_value_ == improved.pass_values_[1]


def test_the_same_run_twice_is_identical(client: Any) -> None:
    first, second = (small().fit(cut(X, 700)) for _ in range(2))
    assert first.index_value_ == second.index_value_
    np.testing.assert_array_equal(first.cluster_centers_, second.cluster_centers_)
    np.testing.assert_array_equal(first.model_.categories_, second.model_.categories_)
    np.testing.assert_array_equal(first.labels_.compute(), second.labels_.compute())


@pytest.mark.parametrize("size", [3000, 1100, 97])
def test_chunks_of_any_size_give_the_same(client: Any, size: int) -> None:
    expected, found = small().fit(cut(X, 700)), small().fit(cut(X, size))
    np.testing.assert_array_equal(expected.sample_rows_, found.sample_rows_)
    assert found.index_value_ == pytest.approx(expected.index_value_, rel=1e-11)
    np.testing.assert_array_equal(expected.labels_.compute(), found.labels_.compute())
    np.testing.assert_allclose(found.model_.categories_, expected.model_.categories_, rtol=1e-9)


def test_blocks_that_are_kept_give_the_same(client: Any) -> None:
    kept, read = small(keep=True).fit(cut(X, 700)), small(keep=False).fit(cut(X, 700))
    assert kept.index_value_ == read.index_value_
    np.testing.assert_array_equal(kept.labels_.compute(), read.labels_.compute())


def test_without_a_cluster_threads_do_it(client: Any) -> None:
    expected = small().fit(cut(X, 700))
    with dask.config.set(scheduler="threads"):
        found = small().fit(cut(X, 700))
        assert found.index_value_ == expected.index_value_
        np.testing.assert_array_equal(found.labels_.compute(), expected.labels_.compute())


def test_a_sample_of_all_rows_is_a_fit_in_memory(client: Any) -> None:
    inside = ICVIARTMAP(4, random_state=0).fit(X)
    found = DistributedICVIARTMAP(4, random_state=0).fit(cut(X, 700))
    np.testing.assert_array_equal(found.labels_.compute(), inside.labels_)
    assert found.index_value_ == pytest.approx(inside.index_value_, rel=1e-12)
    assert found.n_passes_ == 0
    np.testing.assert_allclose(found.model_.categories_, inside.categories_, rtol=1e-9, atol=1e-12)


def test_empty_chunks_and_chunks_of_one_row(client: Any) -> None:
    uneven = da.from_array(X, chunks=((1, 0, 1450, 1449, *[1] * 20, 80, 0), (3,)))
    expected, found = small().fit(cut(X, 700)), small().fit(uneven)
    np.testing.assert_array_equal(expected.labels_.compute(), found.labels_.compute())
    frame = framed(X, 6)
    emptied = dd.concat([frame.loc[frame.a > 1e9], frame])
    np.testing.assert_array_equal(small().fit(emptied).labels_.compute(), found.labels_.compute())


def test_dataframes_give_series(client: Any) -> None:
    frame = framed(X, 5)
    model = small().fit(frame)
    labels = model.labels_
    assert isinstance(labels, dd.Series)
    assert labels.name == "cluster"
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    found = labels.compute()
    np.testing.assert_array_equal(found.index, np.arange(len(X)))
    np.testing.assert_array_equal(found, small().fit(cut(X, 700)).labels_.compute())
    both = with_labels(frame, labels).compute()
    np.testing.assert_array_equal(both[["a", "b", "c"]], X)
    np.testing.assert_array_equal(both["cluster"], found)
    with pytest.raises(ValueError, match="5 partitions and X has 4"):
        with_labels(framed(X, 4), labels)
    with pytest.raises(ValueError, match=r"Chunk \d of X has"):
        with_labels(framed(X[:2000], 5), labels).compute()
    with pytest.raises(TypeError, match="Dask series of labels"):
        with_labels(frame, found)


def test_predicting_is_lazy_and_the_order_of_columns_does_not_matter(client: Any) -> None:
    model = small().fit(framed(X, 5))
    expected = model.model_.predict(pd.DataFrame(X, columns=list("abc")))
    np.testing.assert_array_equal(predict(model, framed(X, 3)).compute(), expected)
    turned = framed(X, 3)[["c", "a", "b"]]
    np.testing.assert_array_equal(model.predict(turned).compute(), expected)
    assert model.predict(framed(X, 3)).npartitions == 3
    with pytest.raises(ValueError, match=r"without 'c' and with 'd' besides"):
        predict(model, framed(X, 3, "abd"))
    plain = ICVIARTMAP(4, random_state=0).fit(X)
    np.testing.assert_array_equal(predict(plain, cut(X, 999)).compute(), plain.predict(X))
    np.testing.assert_array_equal(small().fit(cut(X, 700)).predict(X[:5]).shape, (5,))
    with pytest.raises(ValueError, match="2 columns, but the model was fitted on 3"):
        predict(plain, cut(X[:, :2], 999))
    holes = cut(with_nan(), 700)
    with pytest.raises(ValueError, match="Chunk 2 of X: Input X contains NaN"):
        predict(plain, holes).compute()
    empty = da.from_array(X[:10], chunks=((0, 4, 0, 6), (3,)))
    np.testing.assert_array_equal(predict(plain, empty).compute(), plain.predict(X[:10]))


def test_the_result_is_a_model_like_any_other(client: Any, tmp_path: Path) -> None:
    frame = framed(X, 5)
    model = small().fit(frame)
    save(model.model_, tmp_path / "model.icvi")
    twin = load(tmp_path / "model.icvi")
    rows = take_rows(frame, model.sample_rows_)
    assert list(rows.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(rows, X[model.sample_rows_])
    np.testing.assert_array_equal(twin.predict(rows), model.model_.predict(rows))
    assert twin.index_value_ == model.index_value_
    assert "training samples" in str(explain(model.model_, rows[:2]))
    write_report(tmp_path / "report.html", model.model_, rows)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    with pytest.raises(TypeError, match=r"Save its model_"):
        save(model, tmp_path / "other.icvi")


def test_boxes_hold_all_rows_of_their_categories(client: Any) -> None:
    model = small().fit(cut(X, 700))
    labels, inside = model.labels_.compute(), model.model_
    low, high = inside.categories_[:, 0], inside.categories_[:, 1]
    within = ((X[:, None] >= low - 1e-9) & (X[:, None] <= high + 1e-9)).all(axis=2)
    mine = inside.category_labels_[None, :] == labels[:, None]
    assert (within & mine).any(axis=1).all()
    # With a vigilance boxes may not grow beyond it.
    strict = small(rho_a=0.8).fit(cut(X, 700)).model_
    sides = 3.0 - strict.fitted_.boxes.sum(axis=1)
    assert (sides <= 3.0 * 0.2 + 1e-9).all()


# --- the rest of the estimator's parameters ------------------------------------------------------


def test_the_number_of_clusters_is_chosen_on_the_sample(client: Any) -> None:
    rows, truth = make_gaussian_clusters(3, 2, n_samples=2000, random_state=0)
    model = DistributedICVIARTMAP("auto", sample_size=400, random_state=0).fit(cut(rows, 600))
    assert model.n_clusters_ == 3
    assert model.model_.selection_.n_clusters == 3
    assert adjusted_rand_score(truth, model.labels_.compute()) > 0.99


def test_clusters_of_any_shape(client: Any) -> None:
    from sklearn.datasets import make_moons

    rows, truth = make_moons(4000, noise=0.05, random_state=0)
    model = DistributedICVIARTMAP(2, shape="any", sample_size=1500, random_state=0)
    labels = model.fit(cut(rows, 900)).labels_.compute()
    assert adjusted_rand_score(truth, labels) > 0.98
    parts = model.model_.components_
    assert len(parts.clusters) > 2
    assert model.index_value_ == pytest.approx(index_value(rows, labels), rel=1e-3)
    exact = index_value(rows, labels, resolution=model.model_.resolution_)
    assert model.index_value_ == pytest.approx(exact, rel=1e-11)
    np.testing.assert_array_equal(np.bincount(labels), model.model_.fitted_.moments.n)
    assert model.model_.fitted_.groups.n.sum() == len(rows)


def test_noise_gaps_and_tails(client: Any, tmp_path: Path) -> None:
    rows = X.copy()
    rows[::40, 0] = np.nan
    rows[5] = 100.0
    frame = framed(rows, 5)
    options: dict[str, Any] = {"transform_columns": "clip", "noise": True}
    dropped = small(missing="drop", **options).fit(frame)
    labels = dropped.labels_.compute().to_numpy()
    assert (labels[::40] == -3).all()
    assert labels[5] == -1
    assert dropped.model_.fitted_.moments.n.sum() == np.isfinite(rows).all(axis=1).sum()
    save(dropped.model_, tmp_path / "model.icvi")
    assert load(tmp_path / "model.icvi").index_value_ == dropped.index_value_
    filled = small(missing="median").fit(frame)
    assert (filled.labels_.compute() >= 0).all()
    clean = small().fit(cut(X, 700)).labels_.compute()
    assert adjusted_rand_score(clean, labels) > 0.9
    assert adjusted_rand_score(clean, filled.labels_.compute()) > 0.9


def test_categories_of_text(client: Any) -> None:
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["kind"] = np.array(["red", "green"])[TRUTH % 2]
    rows = dd.from_pandas(frame, npartitions=4)
    model = small(index="CH", categories=["kind"]).fit(rows)
    labels = model.labels_.compute()
    assert len(np.unique(labels)) == 4
    again = predict(model, rows).compute()
    assert adjusted_rand_score(labels, again) > 0.99


def test_steps_that_not_all_rows_keep_to_are_none(client: Any) -> None:
    coarse = np.round(X, 0)
    model = small().fit(cut(coarse, 700))
    assert (model.model_.resolution_ == 1.0).all()
    off = coarse.copy()
    row = np.setdiff1d(np.arange(len(X)), model.sample_rows_)[0]
    off[row, 1] += 0.3
    np.testing.assert_array_equal(small().fit(cut(off, 700)).model_.resolution_, [1.0, 0.0, 1.0])


def test_an_index_of_ones_own(client: Any) -> None:
    from helpers.own_indices import widest

    model = small(index=widest).fit(cut(X, 700))
    labels = model.labels_.compute()
    assert model.index_value_ == pytest.approx(index_value(X, labels, widest), rel=1e-11)


# --- what may go wrong ---------------------------------------------------------------------------


def dies_once(block: NDArray[Any], folder: str, at: int) -> NDArray[Any]:
    """Rows of a block; the worker that reads them for the ``at``-th time is killed."""
    times = len(os.listdir(folder)) + 1
    Path(folder, str(times)).touch()
    if times == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def deadly(folder: Path, at: int) -> Any:
    """Rows of which block 2 kills its reader."""
    rows = cut(X, 700)
    marked = rows.blocks[2].map_blocks(dies_once, str(folder), at, dtype=float)
    return da.concatenate([rows.blocks[:2], marked, rows.blocks[3:]])


@pytest.mark.parametrize(("at", "keep"), [(2, True), (3, False), (6, False)])
def test_a_worker_that_is_killed_changes_nothing(
    client: Any, tmp_path: Path, at: int, keep: bool
) -> None:
    expected = small(keep=keep).fit(cut(X, 700))
    folder = tmp_path / "read"
    folder.mkdir()
    before = set(client.run(os.getpid).values())
    found = small(keep=keep).fit(deadly(folder, at))
    client.wait_for_workers(2)
    assert len(list(folder.iterdir())) > at  # it was read again
    assert set(client.run(os.getpid).values()) != before
    assert found.index_value_ == expected.index_value_
    np.testing.assert_array_equal(found.model_.categories_, expected.model_.categories_)
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_.compute())


def test_a_worker_with_kept_blocks_that_is_killed_changes_nothing(client: Any) -> None:
    expected = small(keep=True).fit(cut(X, 700))
    killed = []

    def kill(line: str) -> None:
        if line.startswith("joined"):
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    found = small(keep=True).fit(cut(X, 700), report=kill)
    assert len(killed) == 1
    assert found.index_value_ == expected.index_value_
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_.compute())
    client.wait_for_workers(2)


def test_runs_of_n_init_go_through_joblib(client: Any) -> None:
    import joblib

    expected = ICVIARTMAP(4, index="CH", n_init=3, random_state=0).fit(X)
    with joblib.parallel_config(backend="dask"):
        found = ICVIARTMAP(4, index="CH", n_init=3, random_state=0).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.map_field_, expected.map_field_)
    assert found.index_value_ == expected.index_value_


@pytest.fixture
def own_scheduler(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler and a worker in processes of their own, and the scheduler's address."""
    told = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    command += ["--port", "0", "--no-dashboard", "--scheduler-file", str(told)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(command, **quiet)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard"]
    command += ["--nthreads", "1", "--no-nanny", "--death-timeout", "60"]
    worker = subprocess.Popen([*command, "--scheduler-file", str(told)], cwd=tmp_path, **quiet)
    try:
        for _ in range(600):
            if told.exists():
                break
            time.sleep(0.1)
        yield str(told), scheduler
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def test_a_scheduler_that_is_lost_is_told(own_scheduler: Any) -> None:
    told, scheduler = own_scheduler

    def lose(line: str) -> None:
        if line.startswith("joined"):
            scheduler.kill()
            scheduler.wait()

    with (
        distributed.Client(scheduler_file=told, set_as_default=False, timeout=SHORT) as client,
        client.as_current(),
        pytest.raises(ConnectionError, match=r"scheduler at tcp://.* was lost"),
    ):
        small().fit(cut(X, 700), report=lose)


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    """Files of one table, with a column that names the rows; their columns differ in order."""
    folder = tmp_path / "data"
    folder.mkdir()
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["id"] = [f"row {i}" for i in range(len(X))]
    for i, part in enumerate(np.array_split(np.arange(len(X)), 6)):
        order = ["id", "c", "a", "b"] if i == 1 else ["a", "b", "c", "id"]
        frame.iloc[part][order].to_parquet(folder / f"part-{i}.parquet", index=False)
    return folder


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["fit", "a.parquet", "--dask"], ["fit", "a.parquet", "--dask=local"]),
        (["fit", "--dask", "a.parquet", "-q"], ["fit", "--dask=local", "a.parquet", "-q"]),
        (["fit", "a", "--dask", "tcp://b:1"], ["fit", "a", "--dask", "tcp://b:1"]),
        (["fit", "a", "--dask", "here:8786"], ["fit", "a", "--dask", "here:8786"]),
        (["fit", "a", "--dask", "s.json"], ["fit", "a", "--dask", "s.json"]),
        (["fit", "a", "--dask=x:1"], ["fit", "a", "--dask=x:1"]),
    ],
)
def test_the_address_may_be_left_out(arguments: list[str], expected: list[str]) -> None:
    assert dask_fit.with_address(arguments) == expected


def test_parquet_files_on_the_command_line(
    client: Any, parquet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, kept = tmp_path / "clustered", tmp_path / "model.icvi"
    address = client.scheduler.address
    command = ["fit", f"{parquet}/*.parquet", "-k", "4", "--transform", "none", "--dask", address]
    assert run([*command, "-o", str(target), "--model", str(kept), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["rows"] == len(X)
    assert facts["columns"] == ["a", "b", "c"]
    assert sum(one["rows"] for one in facts["clusters"]) == len(X)
    written = dd.read_parquet(target).compute()
    np.testing.assert_array_equal(written["id"], [f"row {i}" for i in range(len(X))])
    assert facts["index_value"] == pytest.approx(
        index_value(X, written["cluster"].to_numpy(), resolution=None), rel=1e-9
    )
    assert load(kept).n_clusters_ == 4
    # Nothing is overwritten.
    assert run([*command, "-o", str(target)]) == 2
    assert "exists" in capsys.readouterr().err
    report = tmp_path / "report.html"
    assert run([*command, "--report", str(report), "-o", str(tmp_path / "l"), "--labels-only"]) == 0
    assert "4 clusters" in capsys.readouterr().out
    assert list(dd.read_parquet(tmp_path / "l").columns) == ["cluster"]
    assert report.exists()
    assert not list(tmp_path.glob(".*.part"))


def test_what_does_not_go_with_dask(
    parquet: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run(["fit", str(parquet), "--dask", "--plot", "a.png"]) == 2
    assert "--plot" in capsys.readouterr().err
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert run(["fit", str(tmp_path / "a.csv"), "--dask"]) == 2
    assert "Parquet" in capsys.readouterr().err
    monkeypatch.setattr(dask_fit, "PATIENCE", SHORT)
    assert run(["fit", str(parquet), "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "No Dask scheduler answers" in capsys.readouterr().err
    (parquet / "part-1.parquet").write_bytes(b"no table")
    assert run(["fit", str(parquet), "--dask"]) == 2
    assert "part-1.parquet' is not a Parquet file" in capsys.readouterr().err


def test_a_dataset_is_whole_or_not_there(
    own_scheduler: Any,
    parquet: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The scheduler is killed while the clusters are written."""
    told, scheduler = own_scheduler
    before = tmp_path / "before"
    command = ["fit", str(parquet), "-k", "4", "--dask", told, "--model", str(tmp_path / "m.icvi")]
    assert run([*command, "-o", str(before), "-q"]) == 0
    written = Bar.say

    def lose(self: Bar, text: str) -> None:
        if text.startswith("writing the clusters"):
            scheduler.kill()
            scheduler.wait()
        written(self, text)

    monkeypatch.setattr(Bar, "say", lose)
    monkeypatch.setattr(dask_fit, "PATIENCE", SHORT)
    assert run([*command, "-o", str(tmp_path / "after"), "-q"]) == 2
    assert "was lost" in capsys.readouterr().err
    assert not (tmp_path / "after").exists()
    assert len(dd.read_parquet(before).compute(scheduler="threads")) == len(X)
    assert load(tmp_path / "m.icvi").n_clusters_ == 4
