"""The first fit of all: two processes compile its kernels.

This process compiles what belongs to the index, another one the network's learning, which all
indices share; that is found on the disk then. Whoever is ready goes on with the rest, from either
end. Where that cannot be, each kernel is compiled when it is first called, as always.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.network.driver import Parameters
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.mixture import Mixture, log_densities
from icvi_artmap.samples.scaling import Data, plain_data
from icvi_artmap.training.presenting import first_network, teach
from icvi_artmap.training.sample_loop import (
    NO_LEARNING,
    Lesson,
    learn_sample,
    make_lesson,
    make_scratch,
)
from icvi_artmap.training.start import boxes_at, first_partition

#: What the other process runs: the folders of this package and of what is begun are given. It does
#: not tidy up behind it, which takes a while, and it imports neither scikit-learn nor
#: joblib, which takes seconds (a test sees to it).
PROGRAM = """
import gc, os, sys
gc.disable()
package, begun = sys.argv[1:]
if package not in sys.path:
    sys.path.insert(0, package)
from icvi_artmap.training.first_run import TASKS, share
share(TASKS, begun)
os._exit(0)
"""
#: Seconds that it is waited for at most when the work here is done.
PATIENCE = 60.0
#: The indices for which it has been seen to in this process.
_SEEN: set[str] = set()


def compile_by_two(index: Index) -> None:
    """Compile the kernels of a fit with one of our indices, if none are on the disk."""
    if index.name in _SEEN or INDICES.get(index.name) is not index:
        return
    _SEEN.add(index.name)
    if not (learn_sample.is_wanted(_lesson()) and _has_two() and _is_python()):
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as begun:
        try:
            other = _other_process(begun)
        except OSError:
            return
        try:
            _use_index(index)
            share(TASKS[:0:-1], begun)
            other.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pass  # what is missing is compiled when it is called
        finally:
            other.kill()
            other.wait()


def share(tasks: Sequence[Callable[[], None]], begun: str) -> None:
    """Do those tasks that the other process has not begun, one after the other."""
    for task in tasks:
        try:
            Path(begun, task.__name__).mkdir()
        except OSError:
            continue
        task()


def _has_two() -> bool:
    """Whether there is a second processor, and nobody shares the work out already."""
    import joblib

    return bool(joblib.effective_n_jobs(-1) > 1)


def _is_python() -> bool:
    """Whether this program is Python itself, and not one with Python inside."""
    program = Path(sys.executable or "").stem.lower()
    return program.startswith("python") and not getattr(sys, "frozen", False)


def _other_process(begun: str) -> subprocess.Popen[bytes]:
    """Compile what is shared there, with what is in the current folder left alone (-P)."""
    folder = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, folder, begun],
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


def _moments(with_scatter: bool) -> mom.Moments:
    """Of two clusters of one sample."""
    moments = mom.empty_moments(2, 2, with_scatter)
    moments.size[0], moments.n[:], moments.mean[:] = 2, 1, np.eye(2)
    return moments


def _use_index(index: Index) -> None:
    """Call what is compiled for every index: the sample loop, for no sample, and the others."""
    data, labels = _two_samples()
    moments = _moments(index.needs_scatter)
    state = index.make_state(moments, mom.together(moments))
    index.update_all(state)
    teach(index, NO_LEARNING, data, labels, state, make_scratch(2, 2), 0, 0)


def _use_learning() -> None:
    learn_sample.given(_lesson())


def _use_samples() -> None:
    mom.from_labels(_moments(False), *_two_samples())


def _use_scatter() -> None:
    data, labels = _two_samples()
    moments = _moments(True)
    mom.sum_scatter(moments, data, labels[np.newaxis], -1, mom.make_room(moments))


def _use_boxes() -> None:
    data, _ = _two_samples()
    first_partition(data, boxes_at(data.table), Parameters(0.0).alpha)


def _use_densities() -> None:
    log_densities(Mixture(np.eye(2), np.zeros((2, 2, 2)), np.zeros(2)), np.eye(2))


#: What a fit with any index calls: the other process begins with the first, this one with the last.
TASKS = (_use_learning, _use_samples, _use_scatter, _use_boxes, _use_densities)
