"""A large function with a wide state that kernels call, compiled apart from them, once for all.

Kernels call it by its address, and it gets the address of the state, a named tuple of arrays, as
Python has written it down (:func:`_words`): words of the state are read where they are needed.
(numba passes a named tuple word by word.)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from icvi_artmap._compile.by_address import address_of, write_call
from icvi_artmap._compile.jit import apart, compile_for, is_wanted

#: What such a function takes beside its state, and what it gives.
NUMBERS, NUMBER = (types.int64,) * 3, types.int64


class Given(NamedTuple):
    """A function and its state, for :func:`call`; with the JIT off just that."""

    address: Any
    state: Any  #: the state, written down


class Apart:
    """A function of a state and three numbers that is compiled apart from its callers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = apart(function)
        self._addresses: dict[Any, int] = {}  #: by kind of state

    def given(self, state: Any) -> Given:
        """The function and this state, whose arrays are to be kept while kernels run.

        It takes some microseconds for every array.
        """
        if config.DISABLE_JIT:
            return Given(self._compiled, state)
        kind = _kind(state)
        if kind not in self._addresses:
            types_ = self._types(state)
            compile_for(self._compiled, types_)
            self._addresses[kind] = address_of(self._compiled, types_)
        return Given(self._addresses[kind], np.array(_words(state), np.int64))

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


def _words(value: Any) -> list[int]:
    """A state, written down: of an array where it lies, size, shape, strides; a number's bits."""
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, value.size, *value.shape, *value.strides]
    if isinstance(value, tuple):
        return list(chain.from_iterable(map(_words, value)))
    return [int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)]


# --- in compiled code -----------------------------------------------------------------------------


_WORD = ir.IntType(64)


class Lying(types.Type):
    """A named tuple that lies somewhere and stays as it is: fields are read there."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(f"Lying({kind})")

    def field(self, name: str) -> tuple[int, Any]:
        """The word with which a field begins, and its type."""
        position = self.kind.fields.index(name)
        return sum(map(_n_words, self.kind.types[:position])), self.kind.types[position]


def _n_words(kind: Any) -> int:
    """How many :func:`_words` values of a type have."""
    if isinstance(kind, types.BaseTuple):
        return sum(map(_n_words, kind))
    return 2 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


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
    word, kind = lying.field(name)
    if isinstance(kind, types.BaseNamedTuple):
        return _at(builder, address, word, address.type.pointee)
    return _read(context, builder, kind, address, word)


def _read(context: Any, builder: Any, kind: Any, address: Any, word: int) -> Any:
    """What lies from a word on, each word by itself: LLVM sees which are needed, and where."""
    if isinstance(kind, types.BaseTuple):
        parts = []
        for part in kind:
            parts.append(_read(context, builder, part, address, word))
            word += _n_words(part)
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, address, word)
    return _load(builder, address, word, context.get_value_type(kind))


def _read_array(context: Any, builder: Any, kind: Any, address: Any, word: int) -> Any:
    """An array that Python owns: here nobody counts references."""
    model, d = context.data_model_manager[kind], kind.ndim
    item = context.get_data_type(kind.dtype)
    value = ir.Constant(model.get_value_type(), None)  # all of it null

    def insert(part: Any, name: str, *axis: int) -> None:
        nonlocal value
        value = builder.insert_value(value, part, (model.get_field_position(name), *axis))

    insert(_WORD(context.get_abi_sizeof(item)), "itemsize")
    insert(_load(builder, address, word, item.as_pointer()), "data")
    insert(_load(builder, address, word + 1, _WORD), "nitems")
    for axis in range(d):
        insert(_load(builder, address, word + 2 + axis, _WORD), "shape", axis)
        insert(_load(builder, address, word + 2 + d + axis, _WORD), "strides", axis)
    return value


def _load(builder: Any, address: Any, word: int, kind: Any) -> Any:
    """A word, which stays as it is."""
    value = builder.load(_at(builder, address, word, kind))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _at(builder: Any, address: Any, word: int, kind: Any) -> Any:
    """The address of a word, of what is of some kind."""
    place = builder.gep(address, [_WORD(word * _WORD.width // 8)], inbounds=True)
    return builder.bitcast(place, kind.as_pointer())


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
