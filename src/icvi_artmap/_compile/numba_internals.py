"""Compilers for our own functions, made of numba's insides.

They spare numba work that our kernels do not need. All of it is confined to the functions that are
compiled with :data:`KERNEL`, :data:`PART` or :data:`SHARED_PART`; other packages' functions are
compiled as if this module were not there.

numba may change its insides with every version. If this module cannot be imported, or if its
compilers fail at a small kernel before they are used for the first time, everything is compiled
the plain way (see :mod:`icvi_artmap._compile.jit`), with the same results.
"""

from __future__ import annotations

import gc
import operator
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.imputils import builtin_registry
from numba.core.registry import cpu_target
from numba.core.typing import Context
from numba.core.typing.templates import _OverloadFunctionTemplate

from icvi_artmap._compile.flags import FLAGS
from icvi_artmap._compile.notes import COMPILING, PLAIN

#: numba's passes for closures, array expressions and overloads to be inlined: kernels have none.
NEEDLESS = {"InlineClosureLikes", "InlineOverloads", "NopythonRewrites"}


class _ArraysFirst(Context):
    """numba's typing context, with what it knows of arrays before strings and lists.

    In its own order numba asks seven templates in vain for the type of every ``a[i]``. No kernel
    here indexes anything else than arrays and tuples, so the answer is the same. This is a view of
    numba's own context: both have the same contents, and only the order of the answer differs. It
    equals numba's own, so that what is compiled with one is found with the other.
    """

    def __init__(self, usual: Context) -> None:
        self.__dict__ = usual.__dict__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and other.__dict__ is self.__dict__

    def __hash__(self) -> int:
        return hash(cpu_target.typing_context)

    def refresh(self) -> None:
        """Nothing new can be typed since the compilation of the kernel has begun."""

    def _lookup_global(self, gv: Any) -> Any:
        known = super()._lookup_global(gv)
        order = _ORDERS.get(id(gv))
        return known if order is None else order.of(known)


class _Order:
    """What numba knows of one function, with overloads, for strings and lists, at the end."""

    def __init__(self) -> None:
        self.usual = self.ordered = None

    def of(self, usual: Any) -> Any:
        if self.usual is not usual:  # since the last call another package has added to it
            order = sorted(usual.templates, key=self._is_overload)
            self.usual, self.ordered = usual, type(usual)(tuple(order))
        return self.ordered

    @staticmethod
    def _is_overload(template: type) -> bool:
        return issubclass(template, _OverloadFunctionTemplate)


_ORDERS = {
    id(function): _Order()
    for function in (operator.getitem, operator.setitem, bool, operator.eq, operator.ne)
}


class _CollectorPaused:
    """Inside, Python does not look for cycles of objects that nobody needs.

    The compiler makes millions of objects that it needs to the end; looking through them again and
    again would take a tenth of its time. The last one that leaves, in whatever thread, turns the
    collector on again if it was on.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._was_enabled:
                gc.enable()


_COLLECTOR_PAUSED = _CollectorPaused()


class _Engineless:
    """numba's code generator, as a library sees it that is never loaded."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """There is no loaded module whose environment could be set."""


class _Library(JITCodeLibrary):
    """The code of a function of ours."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """As numba does it, but not for functions that are only declared, three of four."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class _Part(_Library):
    """The code of a function that only kernels call.

    numba optimises every function together with all it calls, and turns it into machine code,
    though only the kernel that Python calls is ever run: the deeper the calls, the more often the
    same code. A part is linked into the kernels as it is, and optimised once, there.
    """

    #: How LLVM is to treat calls of it: passing a wide state takes longer than many a part.
    calls = "alwaysinline"

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            # Those of the modules sets and simd have said already what they want.
            if not (function.is_declaration or "noinline" in function.attributes):
                function.attributes.add(self.calls)
        super().add_ir_module(ir_module)

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

    calls = "noinline"


class _OwnCompiler(Compiler):
    """numba's compiler with another typing context, once :func:`_insides_work` has said yes."""

    #: Where the code goes.
    library: type[JITCodeLibrary]

    def __init__(self, typing: Any, target: Any, *rest: Any) -> None:
        if _insides_work():
            typing = _ArraysFirst(typing)
            # numba looks into all its modules for what they define whenever it does not find
            # something at once. During a compilation only its own registry grows.
            look = partial(target.install_registry, builtin_registry)
            target = target.subtarget(typing_context=typing, refresh=look)
        super().__init__(typing, target, *rest)

    def define_pipelines(self) -> list[Any]:
        if _insides_work():
            codegen = self.state.targetctx.codegen()
            self.state.library = self.library(codegen, self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        if _insides_work():
            needed = [entry for entry in passes.passes if entry[0].__name__ not in NEEDLESS]
            passes.passes[:] = needed
        return [passes]


class _KernelCompiler(_OwnCompiler):
    library = _Library

    def __init__(self, typing: Any, target: Any, *rest: Any) -> None:
        target.refresh()
        super().__init__(typing, target, *rest)

    def compile_extra(self, func: Any) -> Any:
        COMPILING.say()
        with _COLLECTOR_PAUSED:
            return super().compile_extra(func)


class _PartCompiler(_OwnCompiler):
    library = _Part


class _SharedPartCompiler(_OwnCompiler):
    library = _SharedPart


#: Options for a function that Python calls.
KERNEL: dict[str, Any] = {**FLAGS, "pipeline_class": _KernelCompiler}
#: Options for a function that is compiled as a part of the kernels that call it,
PART: dict[str, Any] = {**FLAGS, "no_cpython_wrapper": True, "pipeline_class": _PartCompiler}
#: and for one that stays a function of its own there.
SHARED_PART: dict[str, Any] = {**PART, "pipeline_class": _SharedPartCompiler}


def part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A function that only kernels can call, compiled with the options of a part."""
    compiled = numba.njit(**options)(function)

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{function.__name__} is an @inline function: only kernels can call it.")

    if compiled is not function:  # it is, with the JIT off
        compiled._insert = lambda *_: None  # nothing that a call from Python could find
        compiled._compile_for_args = refuse
    return compiled


_works: bool | None = None


def _insides_work() -> bool:
    """Whether our compilers can be used: once in a process that compiles, they are tried.

    numba lets one thread compile at a time, so this is not entered twice.
    """
    global _works
    if _works is None:
        _works = True
        try:
            _try_insides()
        except Exception as error:
            _works = False
            PLAIN.say(f"{type(error).__name__}: {error}")
    return _works


def _try_insides() -> None:
    """Compile a small kernel with a part, of the kind that contains the other, and call it."""
    first = part(lambda a: a[0], SHARED_PART)
    if numba.njit(**KERNEL)(lambda a: first(a) + 1.0)(np.ones(1)) != 2.0:
        raise ValueError("a sum is wrong")
