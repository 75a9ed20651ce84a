"""Sums over rows: of multiples, which linear algebra on small matrices is made of, and of minima;
the same of many small triangular matrices at once.

Numba vectorises ``y[j] += f * row[j]`` only behind checks that y and row do not overlap, reads and
writes y once for every row, and slices cost as much as a short loop. Here the instructions are
spelled out: a tile of y stays in registers while all rows are added to it, one after the other.
Products and sums are fused (one rounding, the same on every machine).

Each routine is a function of its own in the compiled code, so that it is compiled once however
often it is called. With the JIT off plain Python takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from icvi_artmap._compile import vectors as vec

#: Rows must have a multiple of this width.
WIDTH = 2 * vec.VECTOR
#: Rows of small matrices are held in multiples of this.
ROWS_AT_ONCE = 2
#: What is summed.
PLUS, MINUS, MINIMA = "plus", "minus", "minima"

#: Whether the processor has 32 registers for such vectors; others have 16 for halves of them.
_MANY_REGISTERS = bool(get_host_cpu_features().get("avx512f", False))


def rows_held(m: int) -> int:
    """Rows that a small matrix of order m has for :func:`whiten`."""
    return -(-m // ROWS_AT_ONCE) * ROWS_AT_ONCE


def _fused(builder: Any, width: int = vec.VECTOR) -> Any:
    """The product of two vectors plus a third, rounded once."""
    vector = ir.VectorType(vec.DOUBLE, width)
    kind = ir.FunctionType(vector, [vector] * 3)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{width}f64")


def _in_parts(
    builder: Any, count: Any, sizes: tuple[int, ...], part: Callable[[Any, int], None]
) -> None:
    """Call ``part(start, size)`` so that all of ``count`` things are in a part.

    ``sizes``: each as often as it fits into what is left.
    """
    done: Any = vec.number(0)
    for size in sizes:
        fitting = builder.sdiv(builder.sub(count, done), vec.number(size))
        with cgutils.for_range(builder, fitting) as loop:
            part(builder.add(done, builder.mul(loop.index, vec.number(size))), size)
        done = builder.add(done, builder.mul(fitting, vec.number(size)))


def _write_sum(
    kind: str, n_targets: int, tiles: tuple[int, ...], builder: Any, arguments: Any
) -> None:
    """The routine behind :func:`_sum`; ``tiles``: numbers of vectors to hold in registers."""
    y, y_stride, rows, stride, coef, coef_stride, count, width = arguments
    fused = _fused(builder)
    targets = [builder.gep(y, [builder.mul(y_stride, vec.number(t))]) for t in range(n_targets)]

    def added(factor: Any, row: Any, total: Any) -> Any:
        if kind == MINIMA:
            smaller = builder.fcmp_ordered("<", row, factor)
            return builder.fadd(total, builder.select(smaller, row, factor))
        return builder.call(fused, [factor, row, total])

    def tile(start: Any, n_vectors: int) -> None:
        """Add the rows to ``n_vectors`` vectors of every target, from vector ``start`` on."""
        first = builder.mul(start, vec.number(vec.VECTOR))
        places = [builder.add(first, vec.number(vec.VECTOR * v)) for v in range(n_vectors)]
        sums = [[cgutils.alloca_once(builder, vec.DOUBLES) for _ in places] for _ in targets]
        for target, held in zip(targets, sums, strict=True):
            for at, total in zip(places, held, strict=True):
                vector = builder.load(vec.vector_at(builder, target, at, vec.DOUBLES), align=8)
                builder.store(vector, total)
        with cgutils.for_range(builder, count) as loop:
            factors = []
            for t in range(n_targets):
                at = builder.add(builder.mul(loop.index, coef_stride), vec.number(t))
                factor = builder.load(builder.gep(coef, [at]))
                factor = builder.fneg(factor) if kind == MINUS else factor
                factors.append(vec.everywhere(builder, factor, vec.DOUBLES))
            above = builder.mul(loop.index, stride)
            for v, place in enumerate(places):
                at = builder.add(above, place)
                row = builder.load(vec.vector_at(builder, rows, at, vec.DOUBLES), align=8)
                for factor, held in zip(factors, sums, strict=True):
                    builder.store(added(factor, row, builder.load(held[v])), held[v])
        for target, held in zip(targets, sums, strict=True):
            for at, total in zip(places, held, strict=True):
                vector = builder.load(total)
                builder.store(vector, vec.vector_at(builder, target, at, vec.DOUBLES), align=8)

    _in_parts(builder, builder.sdiv(width, vec.number(vec.VECTOR)), tiles, tile)
    builder.ret_void()


def _plain_sum(kind: str, n_targets: int) -> Callable[..., None]:
    def sum_rows(*arguments: Any) -> None:
        y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width = (
            arguments
        )
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

    return sum_rows


def _sum(kind: str, n_targets: int, tiles: tuple[int, ...]) -> Any:
    """For t < n_targets: y[t] += the sum over c < count of what coef[c, t] and row[c] give.

    That is plus or minus their product, or the smaller of the two. The function returned takes
    C-ordered arrays and where in them things are, in elements from the first one: target t begins
    at y_at + t y_stride, row c at rows_at + c stride, and coef[c, t] is at
    coef_at + c coef_stride + t. ``width`` elements of each are used, a multiple of WIDTH.
    """
    if config.DISABLE_JIT:
        return _plain_sum(kind, n_targets)
    pointers = [vec.POINTER, vec.WORD] * 3
    routine_type = ir.FunctionType(ir.VoidType(), [*pointers, vec.WORD, vec.WORD])

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        routine = vec.routine(
            builder.module,
            f"icvi_artmap_sum_{kind}_{n_targets}",
            routine_type,
            lambda inner, inside: _write_sum(kind, n_targets, tiles, inner, inside),
        )
        passed = []
        for position in (0, 3, 6):
            data = vec.data_of(context, builder, signature, arguments, position)
            passed.append(builder.gep(data, [arguments[position + 1]]))
            passed.append(arguments[position + 2])
        builder.call(routine, [*passed, *arguments[9:]])
        return context.get_dummy_value()

    @intrinsic
    def sum_rows(
        typing, y, y_at, y_stride, rows, rows_at, stride, coef, coef_at, coef_stride, count, width
    ):
        i = types.int64
        return types.void(y, i, i, rows, i, i, coef, i, i, i, i), generate

    return sum_rows


# Tiles of one target are wide enough to hide how long a sum takes; four targets leave less room.
_ONE, _FOUR = (4, 2), (2,) if _MANY_REGISTERS else (1,)
add_rows = _sum(PLUS, 1, _ONE)
add_rows_4 = _sum(PLUS, 4, _FOUR)
subtract_rows = _sum(MINUS, 1, _ONE)
subtract_rows_4 = _sum(MINUS, 4, _FOUR)
add_minima = _sum(MINIMA, 1, _ONE)


def _write_whiten(builder: Any, arguments: Any) -> None:
    """Straight on for every number of rows there may be: all rows of a vector are in registers."""
    inverse, whitened, x, z, q, m, n_vectors = arguments
    width = vec.VECTOR if _MANY_REGISTERS else vec.VECTOR // 2
    fused = _fused(builder, width)
    kind = ir.VectorType(vec.DOUBLE, width)
    nothing = ir.Constant(kind, [0.0] * width)

    def part(base: Any, at: Any, place: int) -> Any:
        """Pointer to some lanes, ``place`` elements behind ``at``."""
        return vec.vector_at(builder, base, builder.add(at, vec.number(place)), kind)

    def all_rows(n_rows: int) -> None:
        with cgutils.for_range(builder, n_vectors) as loop:
            rows_at = builder.mul(loop.index, vec.number(n_rows * vec.VECTOR))
            columns_at = builder.mul(rows_at, vec.number(n_rows))
            for lane in range(0, vec.VECTOR, width):
                sums = []
                for r in range(n_rows):
                    vector = builder.load(part(whitened, rows_at, r * vec.VECTOR + lane), align=8)
                    sums.append(builder.fneg(vector))
                for c in range(n_rows):
                    last = builder.sub(m, vec.number(1))  # behind it columns are zeros, but not x
                    inside = builder.icmp_signed("<", vec.number(c), last)
                    place = builder.select(inside, vec.number(c), last)
                    factor = vec.everywhere(builder, builder.load(builder.gep(x, [place])), kind)
                    for r in range(c, n_rows):
                        place = (c * n_rows + r) * vec.VECTOR + lane
                        vector = builder.load(part(inverse, columns_at, place), align=8)
                        sums[r] = builder.call(fused, [factor, vector, sums[r]])
                total = nothing
                for r, vector in enumerate(sums):
                    builder.store(vector, part(z, rows_at, r * vec.VECTOR + lane), align=8)
                    total = builder.fadd(total, builder.fmul(vector, vector))
                at = builder.mul(loop.index, vec.number(vec.VECTOR))
                builder.store(total, part(q, at, lane), align=8)

    for n_rows in range(ROWS_AT_ONCE, WIDTH + 1, ROWS_AT_ONCE):
        fits = builder.icmp_signed("<=", m, vec.number(n_rows))
        with builder.if_then(fits):
            all_rows(n_rows)
            builder.ret_void()
    builder.ret_void()


def _generate_whiten(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [vec.POINTER] * 5 + [vec.WORD] * 2
    kind = ir.FunctionType(ir.VoidType(), kinds)
    routine = vec.routine(builder.module, "icvi_artmap_whiten", kind, _write_whiten)
    builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))
    return context.get_dummy_value()


@intrinsic
def _whiten(typing, inverse, whitened, x, z, q, m, n_vectors):
    return types.void(inverse, whitened, x, z, q, types.int64, types.int64), _generate_whiten


def _plain_whiten(
    inverse: Any, whitened: Any, x: Any, z: Any, q: Any, m: int, n_vectors: int
) -> None:
    z[:] = -whitened
    for c in range(m):
        z += x[c] * inverse[:, c]
    q[:] = 0.0
    for r in range(z.shape[1]):
        q += (z[:, r] * z[:, r]).ravel()


#: whiten(inverse, whitened, x, z, q, m, n_vectors): z = L⁻¹x - whitened and q = ‖z‖² for lower
#: triangular L⁻¹ of order ``m``, up to WIDTH, VECTOR of them at a time. With R = rows_held(m):
#: ``inverse`` is (n_vectors, R, R, VECTOR), columns before rows, ``whitened`` and ``z`` are
#: (n_vectors, R, VECTOR); behind m rows and columns are zeros. Products are added in the order of
#: columns, squares in that of rows.
whiten = _plain_whiten if config.DISABLE_JIT else _whiten


class _Rows:
    """Code about whole rows of a matrix of WIDTH columns that is in registers row by row."""

    def __init__(self, builder: Any, matrix: Any) -> None:
        self.builder, self.matrix, self.fused = builder, matrix, _fused(builder)
        parts = range(WIDTH // vec.VECTOR)
        self.held = [cgutils.alloca_once(builder, vec.DOUBLES) for _ in parts]

    def at(self, row: Any, column: Any) -> Any:
        """Pointer to an element."""
        first = self.builder.mul(row, vec.number(WIDTH))
        return self.builder.gep(self.matrix, [self.builder.add(first, column)])

    def vectors(self, row: Any) -> list[Any]:
        """Pointers to the vectors of a row."""
        starts = (vec.number(vec.VECTOR * part) for part in range(len(self.held)))
        return [
            self.builder.bitcast(self.at(row, start), vec.DOUBLES.as_pointer()) for start in starts
        ]

    def subtract(self, row: Any, factor: Any) -> None:
        """What is held -= factor × row."""
        factors = vec.everywhere(self.builder, self.builder.fneg(factor), vec.DOUBLES)
        for place, held in zip(self.vectors(row), self.held, strict=True):
            vector, total = self.builder.load(place, align=8), self.builder.load(held)
            self.builder.store(self.builder.call(self.fused, [factors, vector, total]), held)

    def write(self, row: Any, factor: Any) -> None:
        """The row becomes factor × what is held."""
        factors = vec.everywhere(self.builder, factor, vec.DOUBLES)
        for place, held in zip(self.vectors(row), self.held, strict=True):
            vector = self.builder.fmul(self.builder.load(held), factors)
            self.builder.store(vector, place, align=8)


def _write_eliminate_block(builder: Any, arguments: Any) -> None:
    a, top, stop = arguments
    one, rows = ir.Constant(vec.DOUBLE, 1.0), _Rows(builder, a)
    root = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(vec.DOUBLE, [vec.DOUBLE]), "llvm.sqrt.f64"
    )
    product = cgutils.alloca_once_value(builder, one)
    with cgutils.for_range(builder, stop, start=top) as target:
        i = target.index
        for place, held in zip(rows.vectors(i), rows.held, strict=True):
            builder.store(builder.load(place, align=8), held)
        with cgutils.for_range(builder, i) as above:
            rows.subtract(above.index, builder.load(rows.at(above.index, i)))
        rows.write(i, one)  # the pivot can be read there
        pivot = builder.load(rows.at(i, i))
        builder.store(builder.fmul(builder.load(product), pivot), product)
        rows.write(i, builder.fdiv(one, builder.call(root, [pivot])))
    builder.ret(builder.load(product))


def _write_invert_block(builder: Any, arguments: Any) -> None:
    a, d = arguments
    one, rows = ir.Constant(vec.DOUBLE, 1.0), _Rows(builder, a)
    zeros, ones = (ir.Constant(vec.DOUBLES, [value] * vec.VECTOR) for value in (0.0, 1.0))
    with cgutils.for_range(builder, d) as turn:
        c = builder.sub(builder.sub(d, turn.index), vec.number(1))
        for part, held in enumerate(rows.held):  # a row of the unit matrix
            columns = ir.Constant(
                vec.WORDS, [vec.VECTOR * part + lane for lane in range(vec.VECTOR)]
            )
            own = builder.icmp_signed("==", vec.everywhere(builder, c, vec.WORDS), columns)
            builder.store(builder.select(own, ones, zeros), held)
        with cgutils.for_range(builder, d, start=builder.add(c, vec.number(1))) as below:
            rows.subtract(below.index, builder.load(rows.at(c, below.index)))
        rows.write(c, builder.fdiv(one, builder.load(rows.at(c, c))))
    builder.ret_void()


def _generate_eliminate_block(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [vec.POINTER, vec.WORD, vec.WORD]
    kind = ir.FunctionType(vec.DOUBLE, kinds)
    name = "icvi_artmap_eliminate_block"
    routine = vec.routine(builder.module, name, kind, _write_eliminate_block)
    return builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))


def _generate_invert_block(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [vec.POINTER, vec.WORD]
    kind = ir.FunctionType(ir.VoidType(), kinds)
    routine = vec.routine(builder.module, "icvi_artmap_invert_block", kind, _write_invert_block)
    builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))
    return context.get_dummy_value()


@intrinsic
def _eliminate_block(typing, a, top, stop):
    return types.float64(a, types.int64, types.int64), _generate_eliminate_block


@intrinsic
def _invert_block(typing, a, d):
    return types.void(a, types.int64), _generate_invert_block


def _plain_eliminate_block(a: Any, top: int, stop: int) -> float:
    product = 1.0
    for i in range(top, stop):
        for c in range(i):
            a[i] -= a[c, i] * a[c]
        product *= a[i, i]
        a[i] *= 1.0 / math.sqrt(a[i, i])
    return product


def _plain_invert_block(a: Any, d: int) -> None:
    for c in range(d - 1, -1, -1):
        row = np.zeros(WIDTH)
        row[c] = 1.0
        for s in range(c + 1, d):
            row -= a[c, s] * a[s]
        a[c] = row * (1.0 / a[c, c])


#: eliminate_block(a, top, stop): rows ``top`` to ``stop`` - 1 of the factor U, A = UᵀU, in place,
#: of a matrix of WIDTH columns whose rows above are done; returns the product of their pivots.
eliminate_block = _plain_eliminate_block if config.DISABLE_JIT else _eliminate_block
#: invert_block(a, d): the first ``d`` rows of U, of WIDTH columns, become those of its inverse.
invert_block = _plain_invert_block if config.DISABLE_JIT else _invert_block


def _write_solve_each(builder: Any, arguments: Any) -> None:
    """In ``work`` the sums are on the left of what is solved for, a column."""
    scatters, centres, weights, covariance, mean, work, products, squares = arguments[:8]
    delta, at, across, side, d, back = arguments[8:]
    fused, one = _fused(builder), ir.Constant(vec.DOUBLES, [1.0] * vec.VECTOR)
    nothing = ir.Constant(vec.DOUBLES, [0.0] * vec.VECTOR)
    n_columns = builder.add(d, vec.number(1))

    def place(f: Any, g: Any) -> Any:
        element = builder.add(builder.mul(f, n_columns), g)
        return vec.vector_at(builder, work, builder.mul(element, vec.number(vec.VECTOR)), kind)

    def given(table: Any, row: Any) -> Any:
        start = builder.add(builder.mul(row, across), at)
        return builder.load(vec.vector_at(builder, table, start, kind), align=8)

    def number(table: Any, index: Any) -> Any:
        return vec.everywhere(builder, builder.load(builder.gep(table, [index])), kind)

    def after(f: Any) -> Any:
        return builder.add(f, vec.number(1))

    kind = vec.DOUBLES
    ridge = vec.everywhere(builder, delta, kind)
    weight = given(weights, vec.number(0))
    with cgutils.for_range(builder, d) as rows:
        f = rows.index
        with cgutils.for_range(builder, d, start=f) as columns:
            g = columns.index
            own = number(covariance, builder.add(builder.mul(f, side), g))
            other = given(scatters, builder.add(builder.mul(f, d), g))
            builder.store(builder.call(fused, [weight, other, own]), place(f, g), align=8)
        diagonal = place(f, f)
        builder.store(builder.fadd(builder.load(diagonal, align=8), ridge), diagonal, align=8)
        builder.store(builder.fsub(number(mean, f), given(centres, f)), place(f, d), align=8)
    product = cgutils.alloca_once_value(builder, one)
    square = cgutils.alloca_once_value(builder, nothing)
    with cgutils.for_range(builder, d) as pivots:
        p = pivots.index
        pivot = builder.load(place(p, p), align=8)
        inverse = builder.fdiv(one, pivot)
        builder.store(builder.fmul(builder.load(product), pivot), product)
        builder.store(inverse, place(p, p), align=8)
        with cgutils.for_range(builder, d, start=after(p)) as rows:
            f = rows.index
            factor = builder.fneg(builder.fmul(builder.load(place(p, f), align=8), inverse))
            with cgutils.for_range(builder, n_columns, start=f) as columns:
                g = columns.index
                held, above = (builder.load(place(row, g), align=8) for row in (f, p))
                builder.store(builder.call(fused, [factor, above, held]), place(f, g), align=8)
        z = builder.load(place(p, d), align=8)
        part = builder.fmul(z, inverse)
        builder.store(builder.call(fused, [part, z, builder.load(square)]), square)
    for value, target in ((product, products), (square, squares)):
        where = vec.vector_at(builder, target, at, kind)
        builder.store(builder.load(value), where, align=8)
    turns = builder.select(builder.icmp_signed("!=", back, vec.number(0)), d, vec.number(0))
    with cgutils.for_range(builder, turns) as turn:
        f = builder.sub(builder.sub(d, turn.index), vec.number(1))
        left = cgutils.alloca_once(builder, kind)
        builder.store(builder.load(place(f, d), align=8), left)
        with cgutils.for_range(builder, d, start=after(f)) as columns:
            g = columns.index
            factor = builder.fneg(builder.load(place(f, g), align=8))
            v = builder.load(place(g, d), align=8)
            builder.store(builder.call(fused, [factor, v, builder.load(left)]), left)
        inverse = builder.load(place(f, f), align=8)
        builder.store(builder.fmul(builder.load(left), inverse), place(f, d), align=8)
    builder.ret_void()


def _generate_solve_each(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [*[vec.POINTER] * 8, vec.DOUBLE, *[vec.WORD] * 5]
    kind = ir.FunctionType(ir.VoidType(), kinds)
    routine = vec.routine(builder.module, "icvi_artmap_solve_each", kind, _write_solve_each)
    builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))
    return context.get_dummy_value()


@intrinsic
def _solve_each(
    typing, scatters, centres, weights, covariance, mean, work, products, squares, delta, at,
    across, side, d, back,
):  # fmt: skip
    tables = (scatters, centres, weights, covariance, mean, work, products, squares)
    numbers = (types.float64, *[types.int64] * 5)
    return types.void(*tables, *numbers), _generate_solve_each


def _plain_solve_each(
    scatters: Any,
    centres: Any,
    weights: Any,
    matrix: Any,
    mean: Any,
    work: Any,
    products: Any,
    squares: Any,
    delta: float,
    at: int,
    across: int,
    side: int,
    d: int,
    back: int,
) -> None:
    for lane in range(at, at + vec.VECTOR):
        upper = matrix[:d, :d] + weights[lane] * scatters[:, :, lane]
        full = np.triu(upper) + np.triu(upper, 1).T + delta * np.eye(d)
        apart = mean - centres[:, lane]
        solved = np.linalg.solve(full, apart)
        products[lane], squares[lane] = np.linalg.det(full), apart @ solved
        if back:
            work[:d, d, lane - at] = solved


#: solve_each(scatters, centres, weights, matrix, mean, work, products, squares, delta, at, across,
#: side, d, back): with A = matrix + δI + weights[l] scatters[:, :, l] and y = mean - centres[:, l],
#: for the VECTOR of clusters l from ``at`` on: products[l] = |A|, squares[l] = yᵀA⁻¹y and, if
#: ``back`` is not 0, work[:, d, l - at] = A⁻¹y. ``across`` clusters are in a row of ``scatters``
#: (d, d, across), ``side`` numbers in one of ``matrix``; of both, upper triangles are looked at.
#: ``work`` is (d, d + 1, VECTOR).
solve_each = _plain_solve_each if config.DISABLE_JIT else _solve_each
