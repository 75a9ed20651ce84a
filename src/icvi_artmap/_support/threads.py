"""How many threads the libraries below NumPy use, and work of ours that several threads share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: Who does the work of :func:`in_threads` here; threads of a pool have none of their own.
_POOL: ContextVar[ThreadPoolExecutor | None] = ContextVar("pool", default=None)


@cache
def _libraries() -> ThreadpoolController:
    """The threaded libraries of this process; looking for them takes milliseconds."""
    import sklearn.cluster  # noqa: F401  found is what is loaded: the OpenMP of k-means too

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Inside, BLAS and OpenMP use one thread: their sums then are the same on every run."""
    return _libraries().limit(limits=1)


@contextmanager
def sharing(n_jobs: int | None) -> Iterator[None]:
    """Inside, so many threads share the work of :func:`in_threads`; -1: one for every processor.

    BLAS has one thread meanwhile: its setting is one for all threads, OpenMP's one for each. Also
    one for all are filters of warnings, so scikit-learn's about k-means is switched off here.
    """
    import joblib
    from sklearn.exceptions import ConvergenceWarning

    n_threads = 1 if n_jobs is None else joblib.effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield
        return
    with (
        one_thread(),
        warnings.catch_warnings(),
        ThreadPoolExecutor(n_threads, initializer=one_thread) as pool,
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        token = _POOL.set(pool)
        try:
            yield
        finally:
            _POOL.reset(token)


def are_shared() -> bool:
    """Whether :func:`in_threads` has more than one thread here."""
    return _POOL.get() is not None


def in_threads(function: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
    """As ``map``, by the threads that :func:`sharing` has made, if it has made any.

    Results come in the order of the arguments. Without threads one is computed when it is asked
    for. The function must not draw random numbers that others draw too: the result would depend on
    who is first.
    """
    pool = _POOL.get()
    return map(function, *arguments) if pool is None else pool.map(function, *arguments)
