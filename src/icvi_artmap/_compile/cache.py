"""Where compiled code is kept, and under which key.

A kernel contains the code of the functions that it calls, in whatever file they are. The folder
of the kernels is therefore named by a hash of the sources of all rooms that have kernels in them,
and of the versions of the compilers. That holds wherever the folder lies. If there is no folder
that can be written, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite
import numba
from numba import config

#: The rooms whose sources can be compiled; no other room may use the decorators.
KERNEL_ROOMS = (
    "_compile",
    "indices",
    "network",
    "prediction",
    "samples",
    "streaming",
    "tendency",
    "training",
)

#: A folder that others may use as well is kept for so many seconds after its last use.
RECENT = 7 * 24 * 3600

_PACKAGE = Path(__file__).parents[1]
_FOLDER = re.compile(r"kernels-[0-9a-f]{16}")


def source_key(package: Path) -> str:
    """Hash of all that a kernel can be made of; empty if the sources are not there to be read."""
    digest = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__}".encode())
    for room in KERNEL_ROOMS:
        paths = sorted((package / room).rglob("*.py"))
        if not paths:
            return ""
        for path in paths:
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# Taken when the package is imported: later the files may be newer than what is compiled.
_KEY = source_key(_PACKAGE)


class _Place(NamedTuple):
    """A folder in which there may be kernels of several versions."""

    parent: Path
    #: Whether other checkouts and environments may keep their kernels there.
    shared: bool


def _places() -> list[_Place]:
    """Where kernels may be kept, the best place first."""
    if config.CACHE_DIR:  # NUMBA_CACHE_DIR
        return [_Place(Path(config.CACHE_DIR) / "icvi-artmap", shared=True)]
    user_cache = Path(
        os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    )
    return [
        _Place(_PACKAGE / "__pycache__", shared=False),
        _Place(user_cache / "icvi-artmap", shared=True),
    ]


@cache
def cache_directory() -> str:
    """Where compiled code is kept; empty if there is no folder that can be written."""
    if not _KEY:
        return ""
    for place in _places():
        folder = place.parent / f"kernels-{_KEY}"
        try:
            is_new = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            os.utime(folder)  # in use: see remove_former
        except OSError:
            continue
        if is_new:
            remove_former(folder, place.shared)
        return str(folder)
    return ""


def remove_former(folder: Path, shared: bool) -> None:
    """Remove the folders of other versions beside ``folder``.

    Beside the package nothing but its former versions can have made them, so all of them go. In a
    ``shared`` place those stay that a process has used within the last week: two checkouts that
    are used in turn would otherwise remove each other's kernels. A process that still runs with
    sources of before finds its folder gone, compiles, and makes the folder anew.
    """
    try:
        others = [path for path in folder.parent.iterdir() if path != folder]
    except OSError:
        return
    for other in others:
        if _FOLDER.fullmatch(other.name) and not (shared and _is_recent(other)):
            shutil.rmtree(other, ignore_errors=True)


def _is_recent(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime < RECENT
    except OSError:  # another process has removed it
        return False


class _Thread(threading.local):
    """How many :func:`nothing_kept` the thread is inside of."""

    inside = 0


_THREAD = _Thread()


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Compile for this process only: inside, kernels that contain a user's code are not kept.

    What is kept is found again by types and by a hash of this package's sources; neither knows that
    a user has changed a function. The thread that calls a kernel compiles it, so other threads go
    on keeping theirs.
    """
    _THREAD.inside += 1
    try:
        yield
    finally:
        _THREAD.inside -= 1


def keeping() -> bool:
    """Whether the kernels that this thread compiles are to be kept, and there is a place."""
    return _THREAD.inside == 0 and cache_directory() != ""
