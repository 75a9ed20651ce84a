"""How many threads the libraries below NumPy use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    """The threaded libraries of this process; looking for them takes milliseconds."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Inside, BLAS and OpenMP use one thread: their sums then are the same on every run."""
    return _libraries().limit(limits=1)
