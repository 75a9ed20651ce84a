"""Sums over rows: of multiples, which linear algebra on small matrices is made of, and of minima.

Numba vectorises ``y[j] += f * row[j]`` only behind checks that y and row do not overlap, reads and
writes y once for every row, and slices cost as much as a short loop. Here the instructions are
spelled out: a tile of y stays in registers while all rows are added to it, one after the other.
Products and sums are fused (one rounding, the same on every machine).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numpy.typing import NDArray

#: Numbers in a vector.
VECTOR = 8
#: Rows must have a multiple of this width.
WIDTH = 2 * VECTOR
#: Bytes that are loaded together.
CACHE_LINE = 64
#: What is summed.
PLUS, MINUS, MINIMA = "coef × row", "-coef × row", "min(coef, row)"


def aligned_zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """An array of zeros that begins with a cache line, so that no vector lies in two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + size].view(dtype).reshape(shape)


def _generate(kind: str, n_targets: int, tiles: tuple[int, ...]) -> Callable[..., Any]:
    """Code for what :func:`_sum` describes.

    ``tiles``: numbers of vectors to hold in registers, each as often as it fits into the width.
    """
    double, word = ir.DoubleType(), ir.IntType(64)
    vector = ir.VectorType(double, VECTOR)
    nothing = ir.Constant(vector, ir.Undefined)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width = (
            arguments
        )
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{VECTOR}f64"
        )

        def pointer(array: Any, position: int, at: Any) -> Any:
            """To an element of a C-ordered array, counted from its first one."""
            data = context.make_array(signature.args[position])(context, builder, array).data
            return builder.gep(data, [at])

        def plus(at: Any, number: int) -> Any:
            return builder.add(at, ir.Constant(word, number))

        def vector_at(base: Any, at: Any) -> Any:
            return builder.bitcast(builder.gep(base, [at]), vector.as_pointer())

        def everywhere(scalar: Any) -> Any:
            lane = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
            mask = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), [0] * VECTOR)
            return builder.shuffle_vector(lane, nothing, mask)

        def added(factor: Any, row: Any, total: Any) -> Any:
            if kind == MINIMA:
                smaller = builder.fcmp_ordered("<", row, factor)
                return builder.fadd(total, builder.select(smaller, row, factor))
            return builder.call(fused, [factor, row, total])

        first_row, first_coef = pointer(rows, 3, rows_at), pointer(coef, 6, coef_at)
        targets = [
            pointer(y, 0, builder.add(y_at, builder.mul(y_stride, ir.Constant(word, t))))
            for t in range(n_targets)
        ]

        def tile(start: Any, n_vectors: int) -> None:
            """Add the rows to ``n_vectors`` vectors of every target, from element ``start`` on."""
            places = [plus(start, VECTOR * v) for v in range(n_vectors)]
            sums = [[cgutils.alloca_once(builder, vector) for _ in places] for _ in targets]
            for target, held in zip(targets, sums, strict=True):
                for at, total in zip(places, held, strict=True):
                    builder.store(builder.load(vector_at(target, at), align=8), total)
            with cgutils.for_range(builder, count) as loop:
                factors = []
                for t in range(n_targets):
                    at = plus(builder.mul(loop.index, coef_stride), t)
                    factor = builder.load(builder.gep(first_coef, [at]))
                    factors.append(everywhere(builder.fneg(factor) if kind == MINUS else factor))
                at = builder.add(builder.mul(loop.index, stride), start)
                for v in range(n_vectors):
                    row = builder.load(vector_at(first_row, plus(at, VECTOR * v)), align=8)
                    for factor, held in zip(factors, sums, strict=True):
                        builder.store(added(factor, row, builder.load(held[v])), held[v])
            for target, held in zip(targets, sums, strict=True):
                for at, total in zip(places, held, strict=True):
                    builder.store(builder.load(total), vector_at(target, at), align=8)

        done = ir.Constant(word, 0)
        for n_vectors in tiles:
            span = ir.Constant(word, VECTOR * n_vectors)
            fitting = builder.sdiv(builder.sub(width, done), span)
            with cgutils.for_range(builder, fitting) as loop:
                tile(builder.add(done, builder.mul(loop.index, span)), n_vectors)
            done = builder.add(done, builder.mul(fitting, span))
        return context.get_dummy_value()

    return generate


def _plain(kind: str, n_targets: int) -> Callable[..., Any]:
    """The same in plain Python, for when the JIT is off."""

    def combine(
        y: Any,
        y_at: int,
        y_stride: int,
        rows: Any,
        rows_at: int,
        stride: int,
        coef: Any,
        coef_at: int,
        coef_stride: int,
        count: int,
        width: int,
    ) -> None:
        y, rows, coef = y.reshape(-1), rows.reshape(-1), coef.reshape(-1)
        for t in range(n_targets):
            target = y[y_at + t * y_stride :][:width]
            for c in range(count):
                factor = coef[coef_at + c * coef_stride + t]
                row = rows[rows_at + c * stride :][:width]
                if kind == MINIMA:
                    target += np.minimum(factor, row)
                else:
                    target += (-factor if kind == MINUS else factor) * row

    return combine


def _sum(kind: str, n_targets: int, tiles: tuple[int, ...]) -> Any:
    """For t < n_targets: y[t] += the sum over c < count of what coef[c, t] and row[c] give.

    That is plus or minus their product, or the smaller of the two. The function returned takes
    C-ordered arrays and where in them things are, in elements from the first one: target t begins
    at y_at + t y_stride, row c at rows_at + c stride, and coef[c, t] is at
    coef_at + c coef_stride + t. ``width`` elements of each are used, a multiple of WIDTH.
    """
    if config.DISABLE_JIT:
        return _plain(kind, n_targets)
    generate = _generate(kind, n_targets, tiles)

    @intrinsic
    def sum_rows(
        typing, y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width
    ):
        i = types.int64
        return types.void(y, i, i, rows, i, i, coef, i, i, i, i), generate

    return sum_rows


def _plain_intersect(sets: Any, first: Any, count: int, words: int, out: Any, left: Any) -> int:
    flat = sets.reshape(-1)
    out[:words] = np.bitwise_and.reduce([flat[at : at + words] for at in first[:count]])
    starts = VECTOR * np.flatnonzero(out[:words].reshape(-1, VECTOR).any(axis=1))
    left[: len(starts)] = starts
    return len(starts)


def _generate_intersect(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    sets, first, count, words, out, left = (
        context.make_array(kind)(context, builder, value).data if hasattr(kind, "dtype") else value
        for kind, value in zip(signature.args, arguments, strict=True)
    )
    word = ir.IntType(64)
    vector = ir.VectorType(word, VECTOR)
    nothing = ir.Constant(ir.IntType(VECTOR), 0)
    held = cgutils.alloca_once(builder, vector)
    n_left = cgutils.alloca_once_value(builder, ir.Constant(word, 0))

    def vector_at(base: Any, at: Any) -> Any:
        return builder.bitcast(builder.gep(base, [at]), vector.as_pointer())

    def is_empty(bits: Any) -> Any:
        some = builder.icmp_unsigned("!=", bits, ir.Constant(vector, [0] * VECTOR))
        return builder.icmp_unsigned("==", builder.bitcast(some, nothing.type), nothing)

    with cgutils.for_range(builder, builder.sdiv(words, ir.Constant(word, VECTOR))) as group:
        start = builder.mul(group.index, ir.Constant(word, VECTOR))
        builder.store(ir.Constant(vector, [-1] * VECTOR), held)
        with cgutils.for_range(builder, count) as row:
            at = builder.add(builder.load(builder.gep(first, [row.index])), start)
            both = builder.and_(builder.load(held), builder.load(vector_at(sets, at), align=8))
            builder.store(both, held)
            with builder.if_then(is_empty(both)):
                row.do_break()
        builder.store(builder.load(held), vector_at(out, start), align=8)
        number = builder.load(n_left)
        builder.store(start, builder.gep(left, [number]))
        one_more = builder.zext(builder.not_(is_empty(builder.load(held))), word)
        builder.store(builder.add(number, one_more), n_left)
    return builder.load(n_left)


@intrinsic
def _intersect(typing, sets, first, count, words, out, left):
    i = types.int64
    return i(sets, first, i, i, out, left), _generate_intersect


#: intersect(sets, first, count, words, out, left): what the ``count`` sets have in common that
#: begin at elements first[0], first[1], ... of ``sets``, in groups of VECTOR words. Writes the
#: first words of those groups in which something is left to ``left`` and returns how many there
#: are; of the others ``out`` has nothing. ``left`` needs room for every group.
intersect = _plain_intersect if config.DISABLE_JIT else _intersect

# Tiles of one target are wide enough to hide how long a sum takes; four targets leave room for two.
add_rows = _sum(PLUS, 1, (4, 2))
subtract_rows = _sum(MINUS, 1, (4, 2))
subtract_rows_4 = _sum(MINUS, 4, (2,))
add_minima = _sum(MINIMA, 1, (4, 2))
