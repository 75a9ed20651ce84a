"""Dask does the work: tasks, reductions in a fixed order, and what is said when a cluster is lost.

Transport, scheduling and retries are Dask's. Whichever scheduler Dask would use is used: that of
the current ``Client``, or threads of this process.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

#: Partial results that one task merges: a reduction of n blocks has log n / log 8 levels.
FAN_IN = 8


def imported_dask() -> Any:
    """The module ``dask``; an ImportError that says what to install, if there is none."""
    try:
        import dask
        import dask.array
        import dask.dataframe
    except ImportError as error:
        raise ImportError(
            "icvi_artmap.distributed works on Dask arrays and dataframes, and Dask is not "
            f"installed ({error}). Install it with: pip install 'icvi-artmap[dask]'."
        ) from error
    return dask


def shared(value: Any) -> Any:
    """A value that many tasks need: one task holds it, and every worker gets it once."""
    name = f"{type(value).__name__.lower()}-{uuid.uuid4().hex}"
    return imported_dask().delayed(value, name=name, traverse=False)


def task(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call that is made later, by whoever has time. Arguments may be such calls themselves."""
    lazy = imported_dask().delayed(function, pure=False, traverse=False)
    return lazy(*arguments)


def reduced(parts: Sequence[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """One result of many by a tree of merges, in the order of the blocks.

    The tree depends on the number of blocks alone, so a run that is repeated adds in the same
    order, whoever computes what and when.
    """
    level = list(parts)
    while len(level) > 1:
        groups = [level[at : at + FAN_IN] for at in range(0, len(level), FAN_IN)]
        level = [task(merge, group) for group in groups]
    return level[0]


def computed(things: Any) -> Any:
    """The results of lazy things; an error that says what to do, if the cluster is lost."""
    with _cluster_errors():
        return imported_dask().compute(things)[0]


def held(blocks: Iterable[Any]) -> list[Any]:
    """The same blocks, computed once and kept where they were computed."""
    with _cluster_errors():
        return list(imported_dask().persist(*blocks))


def current_client() -> Any:
    """The client that Dask would use, or None."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def memory_of_workers() -> int:
    """Bytes that all workers may use together; 0 if that is not known."""
    client = current_client()
    if client is None:
        return 0
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(int(worker.get("memory_limit") or 0) for worker in workers)


class _cluster_errors:  # noqa: N801  # used as a statement
    """Turns what Dask raises when a cluster is gone into an error that says so."""

    def __enter__(self) -> None:
        self.client = current_client()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or self.client is None:
            return
        import asyncio
        import concurrent.futures

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        where = getattr(getattr(self.client, "scheduler", None), "address", "its address")
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                f"Workers of the Dask cluster at {where} died one after the other while they had "
                f"the same task ({error}). Most often a chunk does not fit into their memory: use "
                "smaller chunks, or workers with more memory."
            ) from error
        cancelled = (asyncio.CancelledError, concurrent.futures.CancelledError)
        lost = isinstance(error, (CommClosedError, *cancelled)) or self.client.status != "running"
        if lost and not isinstance(error, KeyboardInterrupt):
            raise ConnectionError(
                f"The Dask scheduler at {where} was lost, and with it what its workers had "
                "computed. Files that were written before are whole. Start the scheduler again, "
                "connect a new Client, and repeat the call."
            ) from error
