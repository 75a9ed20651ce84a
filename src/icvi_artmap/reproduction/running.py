"""Runs the missing jobs of a table, in several processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Protocol

import joblib

from icvi_artmap.reproduction import paper, protocol
from icvi_artmap.reproduction.ledger import Key, Ledger

#: Jobs of these kinds take longest and begin first.
_LONGEST = ("SC", "ART", "NI")


class Settings(Protocol):
    """What the jobs depend on."""

    @property
    def folder(self) -> str | None: ...
    @property
    def seed(self) -> int: ...
    @property
    def quick(self) -> bool: ...
    @property
    def n_jobs(self) -> int: ...
    @property
    def space(self) -> protocol.Space: ...


def missing(
    ledger: Ledger,
    name: str,
    columns: tuple[str, ...],
    quick: bool,
    space: protocol.Space | None = None,
) -> list[Key]:
    """The jobs that are still to be run on a set."""
    every = protocol.jobs(name, columns, quick, (space or protocol.Space()).kind)
    return [(name, job) for job in every if (name, job) not in ledger.outcomes]


def _length(key: Key) -> int:
    kind = key[1].split()[0]
    return _LONGEST.index(kind) if kind in _LONGEST else len(_LONGEST)


def run_missing(
    ledger: Ledger, keys: list[Key], settings: Settings
) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Run the jobs, store each as it ends, and yield it."""
    arguments = (settings.folder, settings.seed, settings.quick, settings.space)
    tasks = (joblib.delayed(_one)(key, *arguments) for key in sorted(keys, key=_length))
    parallel = joblib.Parallel(settings.n_jobs, return_as="generator_unordered")
    with closing(parallel(tasks)) as finished:
        for key, outcome in finished:
            ledger.add(key, outcome)
            yield key, outcome


def _one(
    key: Key, folder: str | None, seed: int, quick: bool, space: protocol.Space
) -> tuple[Key, dict[str, Any]]:
    """Run one job in a worker."""
    name, job = key
    problem = protocol.load(name, folder, seed, quick, space)
    return key, protocol.run(protocol.jobs(name, paper.COLUMNS, quick, space.kind)[job], problem)
