"""The one place for compile flags and for the place where compiled code is kept.

Strict arithmetic: no fastmath, so a compiled sum has the value its source says, on every machine.
``error_model="numpy"`` lets a division by zero give an infinity instead of a branch per division;
kernels guard the divisions that can be 0/0.

Numba's own cache notices a change in the file of a function but not in the files of the functions
it calls. The cache folder therefore carries a hash of all sources of this package.
"""

from __future__ import annotations

import gc
import hashlib
import operator
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import config, event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.registry import cpu_target
from numba.core.typing.templates import _OverloadFunctionTemplate

FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parents[1]
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
    for parent in (Path(__file__).parents[1] / "__pycache__", user_cache / "icvi-artmap"):
        directory = parent / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return str(directory)
    return ""  # numba then looks for a place of its own


_CACHE_DIRECTORY = config.CACHE_DIR or _cache_directory()


def cache_directory() -> str:
    """Where compiled code is kept; empty if numba has to look for a place of its own."""
    return _CACHE_DIRECTORY


_COMPILED: list[Any] = []


class _ArraysFirst:
    """Inside, numba tries what it knows of arrays before what it knows of strings and lists.

    In its own order it asks seven templates in vain for the type of every ``a[i]``, two thirds of a
    second in the compilation of an index. No kernel here indexes anything else than arrays and
    tuples, so the answer is the same. Other packages' compilations keep numba's order.
    """

    FUNCTIONS = (operator.getitem, operator.setitem, bool, operator.eq, operator.ne)

    def __init__(self) -> None:
        self.usual: dict[Any, Any] = {}

    def __enter__(self) -> None:
        context = cpu_target.typing_context
        context.refresh()
        for function in self.FUNCTIONS:
            usual = self.usual[function] = context._lookup_global(function)
            order = sorted(usual.templates, key=self._is_overload)
            self._put(function, type(usual)(tuple(order)))

    def __exit__(self, *_: object) -> None:
        for function, usual in self.usual.items():
            self._put(function, usual)

    @staticmethod
    def _is_overload(template: type) -> bool:
        return issubclass(template, _OverloadFunctionTemplate)

    @staticmethod
    def _put(function: Any, known: Any) -> None:
        context = cpu_target.typing_context
        context._remove_global(function)
        context._insert_global(function, known)


class _Watcher(event.Listener):
    """Says once, on stderr, why the first fit takes longer, and spares the compiler some work.

    The compiler makes millions of objects that it needs to the end; looking through them again and
    again would take a tenth of its time.
    """

    def __init__(self) -> None:
        self.announced = False
        self.depth = 0
        self.spared = ExitStack()

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.depth > 1:
            return
        if gc.isenabled():
            gc.disable()
            self.spared.callback(gc.enable)
        function = getattr(event.data["dispatcher"], "py_func", None)
        if str(getattr(function, "__module__", "")).startswith("icvi_artmap."):
            self.spared.enter_context(_ArraysFirst())
            if not self.announced and not os.environ.get("ICVI_ARTMAP_QUIET"):
                self.announced = True
                print("icvi-artmap: compiling (first run only) ...", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.spared.close()


event.register("numba:compile", _Watcher())


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


class _Engineless:
    """numba's code generator, as a library sees it that is never loaded."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """There is no loaded module whose environment could be set."""


class _Part(JITCodeLibrary):
    """The code of a function that only kernels call.

    numba optimises every function together with all it calls, and turns it into machine code,
    though only the kernel that Python calls is ever run: the deeper the calls, the more often the
    same code. A part is linked into the kernels as it is, and optimised once, there.
    """

    @property
    def codegen(self) -> Any:
        return _Engineless(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # as for every function without a wrapper for Python


class _SharedPart(_Part):
    """A part that stays a function of its own in the kernels, however often it is called there."""

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class _PartCompiler(CompilerBase):
    """numba's compiler, with a :class:`_Part` to put the code into."""

    library = _Part

    def define_pipelines(self) -> list[Any]:
        codegen = self.state.targetctx.codegen()
        self.state.library = self.library(codegen, self.state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


class _SharedPartCompiler(_PartCompiler):
    library = _SharedPart


#: Options for a function that is compiled as a part of the kernels that call it.
PART: dict[str, Any] = {**FLAGS, "no_cpython_wrapper": True, "pipeline_class": _PartCompiler}


def shared(function: Callable[..., Any]) -> Any:
    """As :func:`inline`, for a large function that a kernel calls in several places."""
    return inline(function, {**PART, "pipeline_class": _SharedPartCompiler})


def inline(function: Callable[..., Any], options: dict[str, Any] = PART) -> Any:
    """Compile as a part of the kernels that call it; not to be called from Python."""
    compiled = numba.njit(**options)(function)

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{function.__name__} is an @inline function: only kernels can call it.")

    if compiled is not function:  # it is, with the JIT off
        compiled._insert = lambda *_: None  # nothing that a call from Python could find
        compiled._compile_for_args = refuse
    return compiled


_NOTHING_KEPT_LOCK = threading.Lock()
_nothing_kept_inside = 0


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Compile for this process only: inside, kernels that contain a user's code are not kept.

    What is kept is found again by types and by a hash of this package's sources; neither knows that
    a user has changed a function.
    """
    global _nothing_kept_inside
    caches: list[Any] = [f._cache for f in _COMPILED if hasattr(f, "_cache")]
    with _NOTHING_KEPT_LOCK:
        _nothing_kept_inside += 1
        for cache in caches:
            cache.disable()
    try:
        yield
    finally:
        # Fits may run in several threads: the last one that leaves lets kernels be kept again.
        with _NOTHING_KEPT_LOCK:
            _nothing_kept_inside -= 1
            if _nothing_kept_inside == 0:
                for cache in caches:
                    cache.enable()
