"""Work that several threads share: the result is the same for any number of them."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from icvi_artmap import ICVIARTMAP
from icvi_artmap._support.threads import are_shared, in_threads, sharing
from icvi_artmap.datasets import make_gaussian_clusters


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": "auto"},
        {"n_clusters": 5, "n_init": 4},
        {"n_clusters": 5, "n_init": 3, "refine": False},
        {"n_clusters": 5, "shape": "any", "n_init": 2},
        {"n_clusters": "auto", "index": "CH"},
    ],
    ids=str,
)
def test_any_number_of_threads_finds_the_same(parameters: dict[str, Any]) -> None:
    X, _ = make_gaussian_clusters(6, 3, n_samples=600, random_state=4)
    alone = ICVIARTMAP(**parameters, random_state=3).fit(X)
    for n_jobs in (1, 2, 5, -1):
        shared = ICVIARTMAP(**parameters, random_state=3, n_jobs=n_jobs).fit(X)
        np.testing.assert_array_equal(shared.labels_, alone.labels_)
        assert shared.index_value_ == alone.index_value_
        np.testing.assert_array_equal(shared.fitted_.boxes, alone.fitted_.boxes)
        if "selection_" in vars(alone):
            np.testing.assert_array_equal(shared.selection_.criterion, alone.selection_.criterion)
            assert shared.selection_.halves == alone.selection_.halves


@pytest.mark.parametrize(("n_jobs", "error"), [(0, ValueError), (1.5, TypeError), ("2", TypeError)])
def test_a_wrong_number_of_threads(n_jobs: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="n_jobs must"):
        ICVIARTMAP(2, n_jobs=n_jobs).fit(np.eye(4))


@pytest.mark.nojit
def test_results_come_in_order_from_several_threads() -> None:
    together = threading.Barrier(3, timeout=30.0)

    def number(i: int) -> tuple[int, bool]:
        together.wait()  # ends only if three are here at once
        return i, are_shared()

    with sharing(3):
        assert are_shared()
        found = list(in_threads(number, range(6)))
    assert found == [(i, False) for i in range(6)]  # nothing is shared inside a thread of these
    assert not are_shared()


@pytest.mark.nojit
def test_without_threads_nothing_is_done_before_it_is_asked_for() -> None:
    asked: list[int] = []
    with sharing(None):
        results = in_threads(asked.append, range(3))
        next(results)
        assert asked == [0]


@pytest.mark.nojit
def test_what_was_set_before_is_set_after() -> None:
    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info()]

    before, filters = threads(), list(warnings.filters)
    with sharing(2):
        assert set(threads()) <= {1}
        list(in_threads(lambda _: np.eye(2) @ np.eye(2), range(4)))
    assert threads() == before
    assert warnings.filters == filters


def test_a_mistake_in_a_thread_is_told() -> None:
    def fail(i: int) -> None:
        raise KeyError(f"number {i}")

    with pytest.raises(KeyError, match="number 0"), sharing(2):
        list(in_threads(fail, range(2)))


def test_no_warning_of_kmeans_leaves_a_thread() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 5.0], [7.0, 2.0]], 6, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        ICVIARTMAP(5, n_init=6, n_jobs=3, random_state=0).fit(X)
