"""The only ways to compile: ``@jit``, ``@inline``, ``@shared``, ``apart``, and what goes with them.

They use numba's insides where they can (:mod:`~icvi_artmap._compile.numba_internals` to compile,
:mod:`~icvi_artmap._compile.numba_cache` to keep what is compiled). If numba has changed so that one
of the two cannot be imported, or if ICVI_ARTMAP_PLAIN_NUMBA is set, that part is left to numba's
documented interface: compiling takes longer, or nothing is kept. Results are the same.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numba

from icvi_artmap._compile.cache import nothing_kept
from icvi_artmap._compile.flags import DOCUMENTED, FLAGS
from icvi_artmap._compile.notes import PLAIN

__all__ = [
    "PART",
    "apart",
    "compile_for",
    "inline",
    "is_wanted",
    "jit",
    "nothing_kept",
    "shared",
    "users_own",
]


def _insides(name: str) -> Any:
    """A module of this room that needs numba's insides; None if it cannot be had."""
    if os.environ.get("ICVI_ARTMAP_PLAIN_NUMBA"):
        return None
    try:
        return importlib.import_module(f"icvi_artmap._compile.{name}")
    except (ImportError, AttributeError) as error:
        PLAIN.say(str(error))
        return None


_COMPILERS, _CACHE = _insides("numba_internals"), _insides("numba_cache")

#: Options for a function that is compiled as a part of the kernels that call it.
PART: dict[str, Any] = _COMPILERS.PART if _COMPILERS else DOCUMENTED


def jit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile on first call; keep the machine code across processes."""
    usual = _COMPILERS.KERNEL if _COMPILERS else DOCUMENTED
    compiled = numba.njit(**usual, **options)(function)
    if _CACHE and compiled is not function:  # it is, with the JIT off
        compiled._cache = _CACHE.KernelCache(function)
    return compiled


def apart(function: Callable[..., Any]) -> Any:
    """As :func:`jit`, for a function that only kernels call, by its address."""
    return jit(function, no_cpython_wrapper=True)


def is_wanted(kernel: Any, types: tuple[Any, ...]) -> bool:
    """Whether a kernel has yet to be compiled for these types, and would be kept."""
    cache = getattr(kernel, "_cache", None)
    if _CACHE is None or not isinstance(cache, _CACHE.KernelCache):
        return False
    return types not in kernel.overloads and cache.lacks(types, kernel.targetctx)


def compile_for(kernel: Any, types: tuple[Any, ...]) -> None:
    """Compile a kernel for these types without calling it, or find it on the disk."""
    kernel.compile(types)


def inline(function: Callable[..., Any]) -> Any:
    """Compile as a part of the kernels that call it; not to be called from Python."""
    return _COMPILERS.part(function, PART) if _COMPILERS else numba.njit(**PART)(function)


def shared(function: Callable[..., Any]) -> Any:
    """As :func:`inline`, for a large function that a kernel calls in several places."""
    return _COMPILERS.part(function, _COMPILERS.SHARED_PART) if _COMPILERS else inline(function)


def users_own(function: Callable[..., Any], signature: Any = None) -> Any:
    """Compile a user's function: unlike one of ours it may allocate arrays.

    With a signature at once, otherwise for the types with which it is called.
    """
    options = {**FLAGS, "_nrt": True, "no_cpython_wrapper": True} if _COMPILERS else DOCUMENTED
    return numba.njit(signature, **options)(function)
