"""Runs what is missing of a table, in several processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import joblib

from icvi_artmap.experiments import protocol
from icvi_artmap.experiments.ledger import Key, Ledger

#: Jobs of this kind take longest, and are begun first.
_LONGEST = ("ART", "SC", "NI")


def missing(
    ledger: Ledger, names: Iterable[str], columns: tuple[str, ...], quick: bool
) -> list[Key]:
    """What is still to be run, the longest first."""
    found = [
        (name, job)
        for name in names
        for job in protocol.jobs(name, columns, quick)
        if (name, job) not in ledger.outcomes
    ]
    return sorted(found, key=_length)


def _length(key: Key) -> int:
    kind = key[1].split()[0]
    return _LONGEST.index(kind) if kind in _LONGEST else len(_LONGEST)


def run_missing(
    ledger: Ledger,
    keys: list[Key],
    columns: tuple[str, ...],
    *,
    folder: str | None,
    seed: int,
    quick: bool,
    n_jobs: int,
) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Run the jobs, store each as it ends, and yield it."""
    tasks = (joblib.delayed(_one)(key, columns, folder, seed, quick) for key in keys)
    parallel = joblib.Parallel(n_jobs, return_as="generator_unordered")
    with closing(parallel(tasks)) as finished:
        for key, outcome in finished:
            ledger.add(key, outcome)
            yield key, outcome


def _one(
    key: Key, columns: tuple[str, ...], folder: str | None, seed: int, quick: bool
) -> tuple[Key, dict[str, Any]]:
    """What every worker does."""
    name, job = key
    problem = protocol.load(name, folder, seed, quick)
    return key, protocol.run(protocol.jobs(name, columns, quick)[job], problem)
