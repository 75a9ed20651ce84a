"""The first fit of all: two processes compile its kernels.

This process compiles what belongs to the index, another one the network's learning, which all
indices share; that is found on the disk then. Whoever is ready first goes on with the rest.
Where that cannot be, each kernel is compiled when it is first called, as always.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np

from icvi_artmap._compile.apart import Given
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.network.driver import Pace, Parameters
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, plain_data
from icvi_artmap.training.presenting import NO_TRACE, first_network, sweep_all
from icvi_artmap.training.sample_loop import (
    Lesson,
    learn_sample,
    make_lesson,
    make_scratch,
    present,
)
from icvi_artmap.training.start import boxes_at, first_partition

#: What the other process runs: the folder of this package and the name of an index are given.
PROGRAM = """
import sys
folder, name = sys.argv[1:]
if folder not in sys.path:
    sys.path.insert(0, folder)
from icvi_artmap.training.first_run import use_shared
use_shared(name)
"""
#: Seconds that it is waited for at most when the work here is done, and between two looks.
PATIENCE, PAUSE = 60.0, 0.02
#: The indices for which it has been seen to in this process.
_SEEN: set[str] = set()


def compile_by_two(index: Index) -> None:
    """Compile the kernels of a fit with one of our indices, if none are on the disk."""
    if index.name in _SEEN or INDICES.get(index.name) is not index:
        return
    _SEEN.add(index.name)
    lesson = _lesson()
    if not (learn_sample.is_wanted(lesson) and _has_two() and _is_python()):
        return
    try:
        other = _other_process(index)
    except OSError:
        return
    try:
        _use_index(index)
        _use_samples(index)
        _wait(other, lesson)
    finally:
        other.kill()
        other.wait()


def _wait(other: subprocess.Popen[bytes], lesson: Lesson) -> None:
    """Until the other process has compiled the learning, or cannot be expected to."""
    end = time.monotonic() + PATIENCE
    while learn_sample.is_wanted(lesson) and other.poll() is None and time.monotonic() < end:
        time.sleep(PAUSE)


def _has_two() -> bool:
    """Whether there is a second processor, and nobody shares the work out already."""
    return joblib.effective_n_jobs(-1) > 1


def _is_python() -> bool:
    """Whether this program is Python itself, and not one with Python inside."""
    program = Path(sys.executable or "").stem.lower()
    return program.startswith("python") and not getattr(sys, "frozen", False)


def _other_process(index: Index) -> subprocess.Popen[bytes]:
    """Compile what is shared there, with what is in the current folder left alone (-P)."""
    folder = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, folder, index.name],
        env={**os.environ, "ICVI_ARTMAP_QUIET": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _two_samples() -> tuple[Data, np.ndarray]:
    """A table, and the cluster of every row."""
    return plain_data(np.eye(2), np.ones(2), np.zeros(2)), np.arange(2)


def _lesson() -> Lesson:
    data, labels = _two_samples()
    network, members = first_network(data, boxes_at(data.table), labels, 2)
    return make_lesson(data, network, members, Parameters(0.0))


def _moments(index: Index) -> mom.Moments:
    """Of two clusters of one sample."""
    moments = mom.empty_moments(2, 2, index.needs_scatter)
    moments.size[0], moments.n[:], moments.mean[:] = 2, 1, np.eye(2)
    return moments


def _use_index(index: Index) -> None:
    """Call what is compiled for every index: the sample loop, for no sample, and the others."""
    data, labels = _two_samples()
    moments = _moments(index)
    state = index.make_state(moments, mom.together(moments))
    index.update_all(state)
    no_learning, scratch = Given(0, np.empty(0, np.int64)), make_scratch(2, 2)
    present(no_learning, data, labels, state, scratch, 0, 0, NO_TRACE, False)
    sweep_all(index, data, labels, state, Pace())


def _use_samples(index: Index) -> None:
    """Call what the moments and the first partition are made with."""
    data, labels = _two_samples()
    mom.from_labels(_moments(index), data, labels)
    first_partition(data, boxes_at(data.table), Parameters(0.0).alpha)


def use_shared(name: str) -> None:
    """Compile what a fit with this index calls, but for what only this index has."""
    learn_sample.given(_lesson())
    _use_samples(INDICES[name])
