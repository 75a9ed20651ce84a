"""The one place for compile flags and for the place where compiled code is kept.

Strict arithmetic: no fastmath, so a compiled sum has the value its source says, on every machine.
``error_model="numpy"`` lets a division by zero give an infinity instead of a branch per division;
kernels guard the divisions that can be 0/0.

Numba's own cache notices a change in the file of a function but not in the files of the functions
it calls. The cache folder therefore carries a hash of all sources of this package.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import config

FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_directory() -> str:
    """First folder that can be written: beside the package, else the user's cache folder."""
    name = f"kernels-{_source_hash()}"
    user_cache = Path(
        os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    )
    for parent in (Path(__file__).parent / "__pycache__", user_cache / "icvi-artmap"):
        directory = parent / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return str(directory)
    return ""  # numba then looks for a place of its own


_CACHE_DIRECTORY = config.CACHE_DIR or _cache_directory()


_COMPILED: list[Any] = []


def jit(function: Callable[..., Any]) -> Any:
    """Compile on first call; keep the machine code across processes."""
    chosen = config.CACHE_DIR
    config.CACHE_DIR = _CACHE_DIRECTORY
    try:
        compiled = numba.njit(cache=True, **FLAGS)(function)
    finally:
        config.CACHE_DIR = chosen
    _COMPILED.append(compiled)
    return compiled


def inline(function: Callable[..., Any]) -> Any:
    """Compile as a part of the kernels that call it; not to be called from Python.

    Without the wrappers for calls from Python, and without machine code of its own to be kept, a
    function costs a fraction of the compile time.
    """
    return numba.njit(no_cpython_wrapper=True, **FLAGS)(function)


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Compile for this process only: inside, kernels that contain a user's code are not kept.

    What is kept is found again by types and by a hash of this package's sources; neither knows that
    a user has changed a function.
    """
    caches: list[Any] = [f._cache for f in _COMPILED if hasattr(f, "_cache")]
    for cache in caches:
        cache.disable()
    try:
        yield
    finally:
        for cache in caches:
            cache.enable()
