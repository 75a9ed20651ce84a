"""What routines of vectors are written with, as LLVM instructions, and the arrays they work on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

#: Numbers, or words of 64 bits, in a vector.
VECTOR = 8
#: Bytes in a vector: as many as a word has bits.
BYTES = 64
#: Bytes that are loaded together.
CACHE_LINE = 64

DOUBLE, WORD, INDEX = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
DOUBLES, WORDS = ir.VectorType(DOUBLE, VECTOR), ir.VectorType(WORD, VECTOR)
BYTE, BYTE_VECTOR = ir.IntType(8), ir.VectorType(ir.IntType(8), BYTES)
POINTER, WORD_POINTER = DOUBLE.as_pointer(), WORD.as_pointer()


def aligned_zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """An array of zeros that begins with a cache line, so that no vector lies in two."""
    count = shape if isinstance(shape, int) else math.prod(shape)
    size = int(count) * np.dtype(dtype).itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    first = -memory.__array_interface__["data"][0] % CACHE_LINE
    return memory[first : first + size].view(dtype).reshape(shape)


def number(value: int) -> ir.Constant:
    """A word of this value."""
    return ir.Constant(WORD, value)


def vector_at(builder: Any, base: Any, at: Any, kind: ir.VectorType) -> Any:
    """Pointer to the vector that begins with element ``at``."""
    return builder.bitcast(builder.gep(base, [at]), kind.as_pointer())


def routine(
    module: Any, name: str, kind: ir.FunctionType, write: Callable[[Any, Any], None]
) -> Any:
    """The function of that name in a module; ``write(builder, arguments)`` writes it if need be."""
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, kind, name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    write(ir.IRBuilder(function.append_basic_block("entry")), function.args)
    return function


def data_of(context: Any, builder: Any, signature: Any, arguments: Any, position: int) -> Any:
    """Pointer to the first element of an array argument."""
    array = context.make_array(signature.args[position])
    return array(context, builder, arguments[position]).data


def passed(
    context: Any, builder: Any, signature: Any, arguments: Any, kinds: list[Any]
) -> list[Any]:
    """What a routine of these types is given: the pointer of an array, and a number as it is."""
    return [
        data_of(context, builder, signature, arguments, position)
        if isinstance(kind, ir.PointerType)
        else value
        for position, (kind, value) in enumerate(zip(kinds, arguments, strict=True))
    ]


def everywhere(builder: Any, scalar: Any, kind: ir.VectorType) -> Any:
    """A vector of equal elements."""
    nothing, mask = ir.Constant(kind, ir.Undefined), ir.VectorType(INDEX, kind.count)
    lane = builder.insert_element(nothing, scalar, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(lane, nothing, ir.Constant(mask, [0] * kind.count))
