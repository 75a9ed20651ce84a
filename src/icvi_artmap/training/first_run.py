"""The first fit with an index: two processes compile its kernels.

The sample loop takes about as long to compile as all other kernels of a fit. So this process
compiles the one, and another process the others; they are found on the disk then.
Where that cannot be, each kernel is compiled when it is first called, as always.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from icvi_artmap._compile.jit import compile_for, is_wanted
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.network.driver import Parameters
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, plain_data
from icvi_artmap.training.presenting import NO_TRACE, first_network
from icvi_artmap.training.refinement import Partition
from icvi_artmap.training.sample_loop import make_scratch, present
from icvi_artmap.training.start import boxes_at, first_partition

#: What the other process runs: the folder of this package and the name of an index are given.
PROGRAM = """
import sys
folder, name = sys.argv[1:]
if folder not in sys.path:
    sys.path.insert(0, folder)
from icvi_artmap.training.first_run import use_others
use_others(name)
"""
#: Seconds that it is waited for at most when the work here is done.
PATIENCE = 60.0
#: The indices for which it has been seen to in this process.
_SEEN: set[str] = set()


def compile_by_two(index: Index) -> None:
    """Compile the kernels of a fit with one of our indices, if they are not on the disk."""
    if index.name in _SEEN or INDICES.get(index.name) is not index:
        return
    _SEEN.add(index.name)
    arguments = _of_the_sample_loop(index)
    if not (is_wanted(present, arguments) and _has_two() and _is_python()):
        return
    try:
        other = _other_process(index)
    except OSError:
        return
    try:
        compile_for(present, arguments)
        other.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        other.kill()
        other.wait()


def _has_two() -> bool:
    """Whether there is a second processor, and nobody shares the work out already."""
    return joblib.effective_n_jobs(-1) > 1


def _is_python() -> bool:
    """Whether this program is Python itself, and not one with Python inside."""
    program = Path(sys.executable or "").stem.lower()
    return program.startswith("python") and not getattr(sys, "frozen", False)


def _other_process(index: Index) -> subprocess.Popen[bytes]:
    """Compile the others, with what is in the current folder left alone (-P)."""
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


def _of_the_sample_loop(index: Index) -> tuple[Any, ...]:
    """Arguments of the types that the sample loop gets; made without any kernel."""
    data, labels = _two_samples()
    network, members = first_network(data, boxes_at(data.table), labels, 2)
    moments = mom.empty_moments(2, 2, index.needs_scatter)
    moments.size[0], moments.n[:] = 2, 1
    state = index.make_state(moments, mom.together(moments))
    arrays = (data, network, members, labels, state)
    return (*arrays, Parameters(0.0), make_scratch(2, 2), 0, 0, NO_TRACE, False)


def use_others(name: str) -> None:
    """Call the kernels that a fit with this index calls beside the sample loop."""
    data, labels = _two_samples()
    first_partition(data, boxes_at(data.table), Parameters(0.0).alpha)
    Partition(INDICES[name], data, labels, 2, 2).sweep()
