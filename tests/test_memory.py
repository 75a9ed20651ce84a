"""float32 rows that stay where they are: the same results, and no copy of them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from icvi_artmap import ICVIARTMAP, FuzzyART
from icvi_artmap._compile.jit import jit
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.samples import scaling
from icvi_artmap.samples.scaling import coded_data, coded_row, learn_scaling, standardised_row, turn

RESULTS = ("labels_", "sample_categories_", "categories_", "map_field_", "index_history_")


@pytest.fixture
def in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "IN_PLACE", 0)


def rows(n_samples: int = 600, n_features: int = 3) -> NDArray[np.float32]:
    X, _ = make_gaussian_clusters(4, n_features, n_samples=n_samples, random_state=3)
    return X.astype(np.float32)


def assert_equal_fits(model: ICVIARTMAP, one: ICVIARTMAP) -> None:
    for name in RESULTS:
        np.testing.assert_array_equal(getattr(model, name), getattr(one, name), err_msg=name)


@pytest.mark.usefixtures("in_place")
@pytest.mark.parametrize("index", ["NI", "CH"])
@pytest.mark.parametrize("refine", [False, True])
def test_results_are_those_of_the_same_values_in_float64(index: str, refine: bool) -> None:
    X = rows()
    fits = [
        ICVIARTMAP(5, index=index, refine=refine, rho_a=0.4, random_state=0).fit(Y)
        for Y in (X, X.astype(np.float64))
    ]
    assert_equal_fits(*fits)


@pytest.mark.usefixtures("in_place")
def test_turned_rows_are_those_of_the_same_values_in_float64() -> None:
    X = rows(400, 20)
    assert_equal_fits(*(ICVIARTMAP(4, random_state=0).fit(Y) for Y in (X, X.astype(np.float64))))


@pytest.mark.usefixtures("in_place")
def test_the_number_of_clusters_and_other_shapes() -> None:
    X = rows(300)
    for parameters in ({"n_clusters": "auto"}, {"n_clusters": 4, "shape": "any"}):
        models = [ICVIARTMAP(**parameters, random_state=0) for _ in range(2)]
        assert_equal_fits(models[0].fit(X), models[1].fit(X.astype(np.float64)))
    nets = [FuzzyART(0.8, random_state=0).fit(Y) for Y in (X, X.astype(np.float64))]
    np.testing.assert_array_equal(nets[0].labels_, nets[1].labels_)


@pytest.mark.usefixtures("in_place")
@pytest.mark.parametrize("form", ["C", "frozen", "mapped"])
def test_rows_stay_where_they_are(form: str, tmp_path: Path) -> None:
    X = rows()
    if form == "frozen":
        X.setflags(write=False)
    elif form == "mapped":
        np.save(tmp_path / "X.npy", X)
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
    data = coded_data(X, learn_scaling(X), np.arange(len(X)))
    assert np.shares_memory(data.given, X)
    assert data.given.flags.writeable  # one type of arrays for all kernels
    expected = ICVIARTMAP(4, random_state=0).fit(np.array(X, np.float64))
    assert_equal_fits(ICVIARTMAP(4, random_state=0).fit(X), expected)


@pytest.mark.usefixtures("in_place")
def test_rows_in_another_order_of_memory() -> None:
    X = rows()
    wide = np.repeat(X, 2, axis=1)
    for other in (np.asfortranarray(X), wide[:, ::2]):
        expected = ICVIARTMAP(4, random_state=0).fit(other.astype(np.float64))
        assert_equal_fits(ICVIARTMAP(4, random_state=0).fit(other), expected)


@jit
def look(data, x_a, x_b):
    for s in range(x_a.shape[0]):
        coded_row(data, s, x_a[s])
        standardised_row(data, s, x_b[s])


@pytest.mark.usefixtures("in_place")
def test_kernels_see_what_a_table_would_hold() -> None:
    X = rows(50)
    order = np.random.RandomState(0).permutation(50)
    learned = learn_scaling(X)
    data, table = (coded_data(Y, learned, order) for Y in (X, X.astype(np.float64)))
    assert data.table.size == 0
    assert data.shape == table.shape == (50, 3)
    seen = [(np.empty((50, 6)), np.empty((50, 3))) for _ in range(2)]
    for each, (x_a, x_b) in zip((data, table), seen, strict=True):
        look(each, x_a, x_b)
    for one, other in zip(*seen, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(data.coded(slice(None)), table.table)
    few = np.array([3, 7, 20])
    np.testing.assert_array_equal(data.standardised(few), table.standardised(few))
    for name, array in data.take(few)._asdict().items():
        np.testing.assert_array_equal(array, getattr(table.take(few), name), err_msg=name)
    np.testing.assert_array_equal(turn(data).turned, turn(table).turned)


@pytest.mark.usefixtures("in_place")
def test_rows_that_change_under_a_fit_stay_in_range() -> None:
    X = rows(8)
    data = coded_data(X, learn_scaling(X), np.arange(8))
    X[0], X[1], X[2] = np.nan, np.inf, -np.inf
    x_a, x_b = np.empty((8, 6)), np.empty((8, 3))
    look(data, x_a, x_b)
    assert ((x_a >= 0.0) & (x_a <= 1.0)).all()


@pytest.mark.parametrize(("refine", "most"), [(False, 2.0), (True, 3.0)])
def test_a_fit_of_float32_rows_has_no_room_for_a_float64_copy(
    refine: bool, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy alone would be twice as large as the rows."""
    rng = np.random.default_rng(3)
    centres = rng.normal(scale=5.0, size=(4, 12))
    X = (np.repeat(centres, 15_000, axis=0) + rng.normal(size=(60_000, 12))).astype(np.float32)
    monkeypatch.setattr(scaling, "IN_PLACE", X.nbytes)
    model = ICVIARTMAP(4, init=centres, refine=refine, max_epochs=1, random_state=0)
    model.fit(X[::300])
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most * X.nbytes
