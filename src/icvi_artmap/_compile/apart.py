"""A large function with a wide state that kernels call, compiled apart from them, once for all.

Kernels call it by its address, and it gets the address of the state, a named tuple of arrays: words
of the state are read where they are needed. (numba passes a named tuple word by word.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from icvi_artmap._compile.by_address import address_of, write_call
from icvi_artmap._compile.jit import apart, compile_for, is_wanted, jit

#: What such a function takes beside its state, and what it gives.
NUMBERS, NUMBER = (types.int64,) * 3, types.int64
#: Words that a state may have.
ROOM = 1024


class Given(NamedTuple):
    """A function and its state, for :func:`call`; with the JIT off just that."""

    address: Any
    state: Any  #: ROOM words with the state in them


class Apart:
    """A function of a state and three numbers that is compiled apart from its callers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = apart(function)
        self._addresses: dict[Any, int] = {}  #: by kind of state

    def given(self, state: Any) -> Given:
        """The function and this state, whose arrays are to be kept while kernels run."""
        if config.DISABLE_JIT:
            return Given(self._compiled, state)
        kind = _kind(state)
        if kind not in self._addresses:
            types_ = self._types(state)
            compile_for(self._compiled, types_)
            self._addresses[kind] = address_of(self._compiled, types_)
        room = np.empty(ROOM, np.int64)
        _put(state, room)
        return Given(self._addresses[kind], room)

    def is_wanted(self, state: Any) -> bool:
        """Whether it has yet to be compiled for such a state, and would be kept."""
        return is_wanted(self._compiled, self._types(state))

    def _types(self, state: Any) -> tuple[Any, ...]:
        return (Lying(numba.typeof(state)), *NUMBERS)


def _kind(value: Any) -> Any:
    """Different for values of different types; numba's own answer takes twenty times as long."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    return (type(value), *map(_kind, value)) if isinstance(value, tuple) else type(value)


# --- in compiled code -----------------------------------------------------------------------------


class Lying(types.Type):
    """A named tuple that lies somewhere and stays as it is: fields are read there."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(f"Lying({kind})")

    def field(self, name: str) -> tuple[int, Any]:
        """Position and type of a field."""
        position = self.kind.fields.index(name)
        return position, self.kind.types[position]


@register_model(Lying)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: Any, lying: Lying) -> None:
        super().__init__(manager, lying, ir.IntType(8).as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = Lying

    def generic_resolve(self, lying: Lying, name: str) -> Any:
        _, kind = lying.field(name)
        return Lying(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@lower_getattr_generic(Lying)
def _read_field(context: Any, builder: Any, lying: Lying, address: Any, name: str) -> Any:
    position, kind = lying.field(name)
    whole = builder.bitcast(address, context.get_value_type(lying.kind).as_pointer())
    place = cgutils.gep_inbounds(builder, whole, 0, position)
    if isinstance(kind, types.BaseNamedTuple):
        return builder.bitcast(place, address.type)
    value = _read(builder, place)
    if isinstance(kind, types.Array):  # Python owns it: here nobody counts references
        model = context.data_model_manager[kind]
        for owner in ("meminfo", "parent"):
            position = model.get_field_position(owner)
            nobody = cgutils.get_null_value(value.type.elements[position])
            value = builder.insert_value(value, nobody, position)
    return value


def _read(builder: Any, place: Any) -> Any:
    """What lies at a place, word by word: LLVM sees which words are needed, and where."""
    kind = place.type.pointee
    if not isinstance(kind, ir.Aggregate):
        word = builder.load(place)
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        return word
    value = ir.Constant(kind, ir.Undefined)
    for position in range(len(kind.elements)):
        inside = cgutils.gep_inbounds(builder, place, 0, position)
        value = builder.insert_value(value, _read(builder, inside), position)
    return value


@intrinsic
def _write_state(typing, state, room):
    """Write a state to where there is room for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, place = arguments[0], _place(context, builder, room, arguments[1])
        if context.get_abi_sizeof(value.type) > ROOM * np.dtype(np.int64).itemsize:
            raise ValueError(f"{state} has more than {ROOM} words")
        builder.store(value, builder.bitcast(place, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(state, room), generate


@jit
def _put(state, room):
    _write_state(state, room)


def _place(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Where an array begins."""
    return context.make_array(kind)(context, builder, array).data


def _call(given, a, b, c):
    return given.address(given.state, a, b, c)


@intrinsic
def _call_compiled(typing, given, a, b, c):
    """The value of a function for its state and three numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, room = cgutils.unpack_tuple(builder, arguments[0])
        place = _place(context, builder, given[1], room)
        state = builder.bitcast(place, context.get_value_type(types.voidptr))
        passed = NUMBER(types.voidptr, *NUMBERS)
        return write_call(context, builder, address, passed, [state, *arguments[1:]])

    return NUMBER(given, *NUMBERS), generate


#: ``call(given, a, b, c)``, in kernels.
call = _call if config.DISABLE_JIT else _call_compiled
