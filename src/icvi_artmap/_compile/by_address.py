"""A user's function, called by its address: kernels are compiled once for all such functions.

A kernel that contained the function would be compiled anew for each, and numba never gives back the
memory of compiled code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from icvi_artmap._compile.jit import users_own

#: What a function of the moments takes (sizes, means, compactness, scatter matrices) and gives.
ARGUMENTS = (types.int64[::1], types.float64[:, ::1], types.float64[::1], types.float64[:, :, ::1])
RESULT = types.float64

_LOCK = threading.Lock()


class Addressed:
    """A function of the moments that kernels can call.

    Parameters
    ----------
    function : of the first three, or of all four of :data:`ARGUMENTS`
    n_parameters : which of both
    """

    def __init__(self, function: Callable[..., Any], n_parameters: int) -> None:
        self._compiled = users_own(function)
        self._n_parameters = n_parameters
        self._entry: Any = None

    def address(self) -> Any:
        """What :func:`call` takes: where the code lies, or with the JIT off what to call.

        The code is there as long as this object.
        """
        with _LOCK:
            if self._entry is None:
                self._entry = self._entry_of_all_moments()
        if config.DISABLE_JIT:
            return self._entry
        return address_of(self._entry, ARGUMENTS)

    def _entry_of_all_moments(self) -> Any:
        own = self._compiled
        if self._n_parameters == 3:

            def entry(n, mean, compactness, scatter):
                return own(n, mean, compactness)

        else:

            def entry(n, mean, compactness, scatter):
                return own(n, mean, compactness, scatter)

        return users_own(entry, RESULT(*ARGUMENTS))


def address_of(compiled: Any, types_: tuple[Any, ...]) -> int:
    """Where the code of a compiled function for arguments of these types lies."""
    code = compiled.overloads[types_]
    address: int = code.library.get_pointer_to_function(code.fndesc.llvm_func_name)
    return address


def write_call(context: Any, builder: Any, address: Any, signature: Any, arguments: Any) -> Any:
    """Write the call of what lies at an address: its value, or the error that it raises."""
    convention, result, types_ = context.call_conv, signature.return_type, signature.args
    kind = convention.get_function_type(result, types_)
    function = builder.inttoptr(address, kind.as_pointer())
    status, value = convention.call_function(builder, function, result, types_, arguments)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value


def _call(address, n, mean, compactness, scatter):
    return address(n, mean, compactness, scatter)


@intrinsic
def _call_compiled(typing, address, n, mean, compactness, scatter):
    """The value of the function at an address; an error that it raises is raised here."""
    if (n, mean, compactness, scatter) != ARGUMENTS:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, *passed = arguments
        return write_call(context, builder, address, RESULT(*ARGUMENTS), passed)

    return RESULT(types.intp, *ARGUMENTS), generate


#: ``call(address, n, mean, compactness, scatter)``, in kernels.
call = _call if config.DISABLE_JIT else _call_compiled
