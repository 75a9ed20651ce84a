"""Sums of multiples of rows, the one loop that linear algebra on small matrices is made of.

Numba vectorises ``y[j] += f * row[j]`` only behind checks that y and row do not overlap, reads and
writes y once for every row, and slices cost as much as a short loop. Here the instructions are
spelled out: a tile of y stays in registers while all rows are added to it. Products and sums are
fused (one rounding, the same on every machine).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

#: Numbers in a vector.
VECTOR = 8
#: Rows must have a multiple of this width.
WIDTH = 2 * VECTOR


def _generate(sign: int, n_targets: int, tiles: tuple[int, ...]) -> Callable[..., Any]:
    """Code for y[t] + sign × sum over c < count of coef[c, t] × row c, t < n_targets.

    The targets are ``y_stride`` apart, their coefficients next to each other. ``tiles``: numbers of
    vectors to hold, each as often as it fits.
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
                    factors.append(everywhere(builder.fneg(factor) if sign < 0 else factor))
                at = builder.add(builder.mul(loop.index, stride), start)
                for v in range(n_vectors):
                    row = builder.load(vector_at(first_row, plus(at, VECTOR * v)), align=8)
                    for factor, held in zip(factors, sums, strict=True):
                        total = builder.call(fused, [factor, row, builder.load(held[v])])
                        builder.store(total, held[v])
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


def _plain(sign: int, n_targets: int) -> Callable[..., Any]:
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
                factor = sign * coef[coef_at + c * coef_stride + t]
                target += factor * rows[rows_at + c * stride :][:width]

    return combine


def _combination(sign: int, n_targets: int, tiles: tuple[int, ...]) -> Any:
    """For t < n_targets: y[t] += sign × the sum over c < count of coef[c, t] × row[c].

    The function returned takes C-ordered arrays and where in them things are, in elements from the
    first one: target t begins at y_at + t y_stride, row c at rows_at + c stride, and coef[c, t] is
    at coef_at + c coef_stride + t. ``width`` elements of each are used, a multiple of WIDTH.
    """
    if config.DISABLE_JIT:
        return _plain(sign, n_targets)
    generate = _generate(sign, n_targets, tiles)

    @intrinsic
    def combine(
        typing, y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width
    ):
        i = types.int64
        return types.void(y, i, i, rows, i, i, coef, i, i, i, i), generate

    return combine


#: Tiles of one target are wide enough to hide how long a sum takes, those of four have little room.
add_rows = _combination(1, 1, (4, 2))
subtract_rows = _combination(-1, 1, (4, 2))
subtract_rows_4 = _combination(-1, 4, (2,))
