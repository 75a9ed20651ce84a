"""Kernels on disk: what of numba's insides writes and reads compiled code.

A kernel for certain types of arguments is a file of its own. (numba's own cache has one list of
the files of a function. Two processes that write it at the same time can leave a list which gives
the name of one's file to the other's types.) A file begins with a checksum; whatever is wrong with
it, the kernel is compiled again. If a file cannot be written, work goes on without it.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from icvi_artmap._compile.cache import cache_directory, keeping
from icvi_artmap._compile.notes import NOT_KEPT

_DIGEST = hashlib.sha256
_PYTHON = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"


class KernelCache(NullCache):
    """What numba asks for the code of a kernel, and gives it to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        name = f"{function.__module__}.{function.__qualname__}"
        self._name = f"{re.sub('[<>]', '', name)}-{code.co_firstlineno}"
        self._source = _source_hash(code.co_filename)

    @property
    def cache_path(self) -> str:
        return cache_directory()

    def _is_kept(self) -> bool:
        return self._source != "" and keeping()

    def lacks(self, types: Any, context: Any) -> bool:
        """Whether there is a place for the kernel for these types, and no file."""
        return self._is_kept() and not self._path(types, context).exists()

    def load_overload(self, types: Any, context: Any) -> Any:
        """The kernel for these types of arguments; None if it is to be compiled."""
        if not self._is_kept():
            return None
        context.refresh()
        try:
            content = self._path(types, context).read_bytes()
            size = _DIGEST().digest_size
            if _DIGEST(content[size:]).digest() != content[:size]:
                return None
            known_types, reduced = pickle.loads(content[size:])
            if known_types != types:
                return None
            return CompileResult._rebuild(context, *reduced)
        except Exception:  # there is none, or none that this numba understands
            return None

    def save_overload(self, types: Any, result: Any) -> None:
        if not self._is_kept() or result.library.has_dynamic_globals:
            return
        try:
            path = self._path(types, result.target_context)
            content = dumps((types, result._reduce()))
            _write(path, _DIGEST(content).digest() + content)
        except Exception as error:
            NOT_KEPT.say(f"{type(error).__name__}: {error}")

    def _path(self, types: Any, context: Any) -> Path:
        text = f"{types} {context.codegen().magic_tuple()} {_PYTHON} {self._source}"
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        return Path(cache_directory()) / f"{self._name}-{key}.kernel"


@cache
def _source_hash(path: str) -> str:
    """Of the file of a kernel, which need not be in the package; empty if it cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def _write(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, readable as the user's mask says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
