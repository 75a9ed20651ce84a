"""Sums over rows: of multiples, which linear algebra on small matrices is made of, and of minima;
the same of many small triangular matrices at once; intersections of sets, sets of what is near, the
members of sets, and the first of largest values.

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
from numpy.typing import NDArray

#: Numbers, or words of 64 bits, in a vector.
VECTOR = 8
#: Rows must have a multiple of this width.
WIDTH = 2 * VECTOR
#: Bytes that are loaded together.
CACHE_LINE = 64
#: Bytes in a vector: as many as a word has bits.
BYTES = 64
#: Sets that are intersected before it is asked whether anything is left.
AT_ONCE = 4
#: Rows of small matrices are held in multiples of this.
ROWS_AT_ONCE = 2
#: What is summed.
PLUS, MINUS, MINIMA = "plus", "minus", "minima"

#: Whether the processor has 32 registers for such vectors; others have 16 for halves of them.
_MANY_REGISTERS = bool(get_host_cpu_features().get("avx512f", False))

_DOUBLE, _WORD, _INDEX = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_DOUBLES, _WORDS = ir.VectorType(_DOUBLE, VECTOR), ir.VectorType(_WORD, VECTOR)
_BYTE, _BYTE_VECTOR = ir.IntType(8), ir.VectorType(ir.IntType(8), BYTES)
_POINTER, _WORD_POINTER = _DOUBLE.as_pointer(), _WORD.as_pointer()


def aligned_zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """An array of zeros that begins with a cache line, so that no vector lies in two."""
    count = shape if isinstance(shape, int) else math.prod(shape)
    size = int(count) * np.dtype(dtype).itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    first = -memory.__array_interface__["data"][0] % CACHE_LINE
    return memory[first : first + size].view(dtype).reshape(shape)


def rows_held(m: int) -> int:
    """Rows that a small matrix of order m has for :func:`whiten`."""
    return -(-m // ROWS_AT_ONCE) * ROWS_AT_ONCE


def _number(value: int) -> ir.Constant:
    return ir.Constant(_WORD, value)


def _vector_at(builder: Any, base: Any, at: Any, kind: ir.VectorType) -> Any:
    """Pointer to the vector that begins with element ``at``."""
    return builder.bitcast(builder.gep(base, [at]), kind.as_pointer())


def _routine(
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


def _data(context: Any, builder: Any, signature: Any, arguments: Any, position: int) -> Any:
    """Pointer to the first element of an array argument."""
    array = context.make_array(signature.args[position])
    return array(context, builder, arguments[position]).data


def _passed(
    context: Any, builder: Any, signature: Any, arguments: Any, kinds: list[Any]
) -> list[Any]:
    """What a routine of these types is given: the pointer of an array, and a number as it is."""
    return [
        _data(context, builder, signature, arguments, position)
        if isinstance(kind, ir.PointerType)
        else value
        for position, (kind, value) in enumerate(zip(kinds, arguments, strict=True))
    ]


def _everywhere(builder: Any, scalar: Any, kind: ir.VectorType) -> Any:
    """A vector of equal elements."""
    nothing, mask = ir.Constant(kind, ir.Undefined), ir.VectorType(_INDEX, kind.count)
    lane = builder.insert_element(nothing, scalar, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(lane, nothing, ir.Constant(mask, [0] * kind.count))


def _fused(builder: Any, width: int = VECTOR) -> Any:
    """The product of two vectors plus a third, rounded once."""
    vector = ir.VectorType(_DOUBLE, width)
    kind = ir.FunctionType(vector, [vector] * 3)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{width}f64")


def _in_parts(
    builder: Any, count: Any, sizes: tuple[int, ...], part: Callable[[Any, int], None]
) -> None:
    """Call ``part(start, size)`` so that all of ``count`` things are in a part.

    ``sizes``: each as often as it fits into what is left.
    """
    done: Any = _number(0)
    for size in sizes:
        fitting = builder.sdiv(builder.sub(count, done), _number(size))
        with cgutils.for_range(builder, fitting) as loop:
            part(builder.add(done, builder.mul(loop.index, _number(size))), size)
        done = builder.add(done, builder.mul(fitting, _number(size)))


def _write_sum(
    kind: str, n_targets: int, tiles: tuple[int, ...], builder: Any, arguments: Any
) -> None:
    """The routine behind :func:`_sum`; ``tiles``: numbers of vectors to hold in registers."""
    y, y_stride, rows, stride, coef, coef_stride, count, width = arguments
    fused = _fused(builder)
    targets = [builder.gep(y, [builder.mul(y_stride, _number(t))]) for t in range(n_targets)]

    def added(factor: Any, row: Any, total: Any) -> Any:
        if kind == MINIMA:
            smaller = builder.fcmp_ordered("<", row, factor)
            return builder.fadd(total, builder.select(smaller, row, factor))
        return builder.call(fused, [factor, row, total])

    def tile(start: Any, n_vectors: int) -> None:
        """Add the rows to ``n_vectors`` vectors of every target, from vector ``start`` on."""
        first = builder.mul(start, _number(VECTOR))
        places = [builder.add(first, _number(VECTOR * v)) for v in range(n_vectors)]
        sums = [[cgutils.alloca_once(builder, _DOUBLES) for _ in places] for _ in targets]
        for target, held in zip(targets, sums, strict=True):
            for at, total in zip(places, held, strict=True):
                vector = builder.load(_vector_at(builder, target, at, _DOUBLES), align=8)
                builder.store(vector, total)
        with cgutils.for_range(builder, count) as loop:
            factors = []
            for t in range(n_targets):
                at = builder.add(builder.mul(loop.index, coef_stride), _number(t))
                factor = builder.load(builder.gep(coef, [at]))
                factor = builder.fneg(factor) if kind == MINUS else factor
                factors.append(_everywhere(builder, factor, _DOUBLES))
            above = builder.mul(loop.index, stride)
            for v, place in enumerate(places):
                at = builder.add(above, place)
                row = builder.load(_vector_at(builder, rows, at, _DOUBLES), align=8)
                for factor, held in zip(factors, sums, strict=True):
                    builder.store(added(factor, row, builder.load(held[v])), held[v])
        for target, held in zip(targets, sums, strict=True):
            for at, total in zip(places, held, strict=True):
                vector = builder.load(total)
                builder.store(vector, _vector_at(builder, target, at, _DOUBLES), align=8)

    _in_parts(builder, builder.sdiv(width, _number(VECTOR)), tiles, tile)
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
    pointers = [_POINTER, _WORD] * 3
    routine_type = ir.FunctionType(ir.VoidType(), [*pointers, _WORD, _WORD])

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        routine = _routine(
            builder.module,
            f"icvi_artmap_sum_{kind}_{n_targets}",
            routine_type,
            lambda inner, inside: _write_sum(kind, n_targets, tiles, inner, inside),
        )
        passed = []
        for position in (0, 3, 6):
            data = _data(context, builder, signature, arguments, position)
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
    width = VECTOR if _MANY_REGISTERS else VECTOR // 2
    fused = _fused(builder, width)
    kind = ir.VectorType(_DOUBLE, width)
    nothing = ir.Constant(kind, [0.0] * width)

    def part(base: Any, at: Any, place: int) -> Any:
        """Pointer to some lanes, ``place`` elements behind ``at``."""
        return _vector_at(builder, base, builder.add(at, _number(place)), kind)

    def all_rows(n_rows: int) -> None:
        with cgutils.for_range(builder, n_vectors) as loop:
            rows_at = builder.mul(loop.index, _number(n_rows * VECTOR))
            columns_at = builder.mul(rows_at, _number(n_rows))
            for lane in range(0, VECTOR, width):
                sums = []
                for r in range(n_rows):
                    vector = builder.load(part(whitened, rows_at, r * VECTOR + lane), align=8)
                    sums.append(builder.fneg(vector))
                for c in range(n_rows):
                    last = builder.sub(m, _number(1))  # behind it columns are zeros, but not x
                    inside = builder.icmp_signed("<", _number(c), last)
                    place = builder.select(inside, _number(c), last)
                    factor = _everywhere(builder, builder.load(builder.gep(x, [place])), kind)
                    for r in range(c, n_rows):
                        place = (c * n_rows + r) * VECTOR + lane
                        vector = builder.load(part(inverse, columns_at, place), align=8)
                        sums[r] = builder.call(fused, [factor, vector, sums[r]])
                total = nothing
                for r, vector in enumerate(sums):
                    builder.store(vector, part(z, rows_at, r * VECTOR + lane), align=8)
                    total = builder.fadd(total, builder.fmul(vector, vector))
                at = builder.mul(loop.index, _number(VECTOR))
                builder.store(total, part(q, at, lane), align=8)

    for n_rows in range(ROWS_AT_ONCE, WIDTH + 1, ROWS_AT_ONCE):
        fits = builder.icmp_signed("<=", m, _number(n_rows))
        with builder.if_then(fits):
            all_rows(n_rows)
            builder.ret_void()
    builder.ret_void()


def _generate_whiten(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [_POINTER] * 5 + [_WORD] * 2
    kind = ir.FunctionType(ir.VoidType(), kinds)
    routine = _routine(builder.module, "icvi_artmap_whiten", kind, _write_whiten)
    builder.call(routine, _passed(context, builder, signature, arguments, kinds))
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
        parts = range(WIDTH // VECTOR)
        self.held = [cgutils.alloca_once(builder, _DOUBLES) for _ in parts]

    def at(self, row: Any, column: Any) -> Any:
        """Pointer to an element."""
        first = self.builder.mul(row, _number(WIDTH))
        return self.builder.gep(self.matrix, [self.builder.add(first, column)])

    def vectors(self, row: Any) -> list[Any]:
        """Pointers to the vectors of a row."""
        starts = (_number(VECTOR * part) for part in range(len(self.held)))
        return [
            self.builder.bitcast(self.at(row, start), _DOUBLES.as_pointer()) for start in starts
        ]

    def subtract(self, row: Any, factor: Any) -> None:
        """What is held -= factor × row."""
        factors = _everywhere(self.builder, self.builder.fneg(factor), _DOUBLES)
        for place, held in zip(self.vectors(row), self.held, strict=True):
            vector, total = self.builder.load(place, align=8), self.builder.load(held)
            self.builder.store(self.builder.call(self.fused, [factors, vector, total]), held)

    def write(self, row: Any, factor: Any) -> None:
        """The row becomes factor × what is held."""
        factors = _everywhere(self.builder, factor, _DOUBLES)
        for place, held in zip(self.vectors(row), self.held, strict=True):
            vector = self.builder.fmul(self.builder.load(held), factors)
            self.builder.store(vector, place, align=8)


def _write_eliminate_block(builder: Any, arguments: Any) -> None:
    a, top, stop = arguments
    one, rows = ir.Constant(_DOUBLE, 1.0), _Rows(builder, a)
    root = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_DOUBLE, [_DOUBLE]), "llvm.sqrt.f64"
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
    one, rows = ir.Constant(_DOUBLE, 1.0), _Rows(builder, a)
    zeros, ones = (ir.Constant(_DOUBLES, [value] * VECTOR) for value in (0.0, 1.0))
    with cgutils.for_range(builder, d) as turn:
        c = builder.sub(builder.sub(d, turn.index), _number(1))
        for part, held in enumerate(rows.held):  # a row of the unit matrix
            columns = ir.Constant(_WORDS, [VECTOR * part + lane for lane in range(VECTOR)])
            own = builder.icmp_signed("==", _everywhere(builder, c, _WORDS), columns)
            builder.store(builder.select(own, ones, zeros), held)
        with cgutils.for_range(builder, d, start=builder.add(c, _number(1))) as below:
            rows.subtract(below.index, builder.load(rows.at(c, below.index)))
        rows.write(c, builder.fdiv(one, builder.load(rows.at(c, c))))
    builder.ret_void()


def _generate_eliminate_block(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [_POINTER, _WORD, _WORD]
    kind = ir.FunctionType(_DOUBLE, kinds)
    name = "icvi_artmap_eliminate_block"
    routine = _routine(builder.module, name, kind, _write_eliminate_block)
    return builder.call(routine, _passed(context, builder, signature, arguments, kinds))


def _generate_invert_block(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [_POINTER, _WORD]
    kind = ir.FunctionType(ir.VoidType(), kinds)
    routine = _routine(builder.module, "icvi_artmap_invert_block", kind, _write_invert_block)
    builder.call(routine, _passed(context, builder, signature, arguments, kinds))
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


def _write_common(anew: bool, builder: Any, arguments: Any) -> None:
    """What a set has in common with others; ``anew``: what these have in common."""
    sets, first, count, words, held, left = arguments
    kind = ir.FunctionType(_WORDS, [_WORDS])
    population = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{VECTOR}i64")
    n_left = cgutils.alloca_once_value(builder, _number(0))
    total = cgutils.alloca_once_value(builder, ir.Constant(_WORDS, [0] * VECTOR))
    common = cgutils.alloca_once(builder, _WORDS)
    groups = builder.sdiv(words, _number(VECTOR)) if anew else builder.load(left)
    with cgutils.for_range(builder, groups) as group:
        start = builder.mul(group.index, _number(VECTOR))
        if not anew:
            start = builder.load(builder.gep(left, [builder.add(group.index, _number(1))]))
        where = _vector_at(builder, held, start, _WORDS)
        everything = ir.Constant(_WORDS, [-1] * VECTOR)
        builder.store(everything if anew else builder.load(where, align=8), common)
        with cgutils.for_range(builder, builder.sdiv(count, _number(AT_ONCE))) as turn:
            bits = builder.load(common)
            for some in range(AT_ONCE):
                number = builder.add(builder.mul(turn.index, _number(AT_ONCE)), _number(some))
                at = builder.add(builder.load(builder.gep(first, [number])), start)
                other = builder.load(_vector_at(builder, sets, at, _WORDS), align=8)
                bits = builder.and_(bits, other)
            builder.store(bits, common)
            with builder.if_then(_is_empty(builder, bits)):
                turn.do_break()
        bits = builder.load(common)
        builder.store(bits, where, align=8)
        _keep_group(builder, bits, start, left, n_left)
        added = builder.add(builder.load(total), builder.call(population, [bits]))
        builder.store(added, total)
    builder.store(builder.load(n_left), left)
    builder.ret(_reduced(builder, "add", builder.load(total)))


def _is_empty(builder: Any, bits: Any) -> Any:
    whole = ir.IntType(64 * VECTOR)
    return builder.icmp_unsigned("==", builder.bitcast(bits, whole), ir.Constant(whole, 0))


def _keep_group(builder: Any, bits: Any, start: Any, left: Any, n_left: Any) -> None:
    """List a group of words, which begins at ``start``, unless nothing is left of it."""
    number = builder.load(n_left)
    builder.store(start, builder.gep(left, [builder.add(number, _number(1))]))
    some = builder.zext(builder.not_(_is_empty(builder, bits)), _WORD)
    builder.store(builder.add(number, some), n_left)


def _common(anew: bool) -> Any:
    """:func:`intersect` and :func:`narrow`."""
    if config.DISABLE_JIT:
        return _plain_intersect if anew else _plain_narrow
    kinds = [_WORD_POINTER, _WORD_POINTER, _WORD, _WORD, _WORD_POINTER, _WORD_POINTER]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        routine = _routine(
            builder.module,
            f"icvi_artmap_{'intersect' if anew else 'narrow'}",
            ir.FunctionType(_WORD, kinds),
            lambda inner, inside: _write_common(anew, inner, inside),
        )
        return builder.call(routine, _passed(context, builder, signature, arguments, kinds))

    @intrinsic
    def common(typing, sets, first, count, words, held, left):
        i = types.int64
        return i(sets, first, i, i, held, left), generate

    return common


def _plain_intersect(sets: Any, first: Any, count: int, words: int, held: Any, left: Any) -> int:
    held[:words] = ~np.uint64(0)
    left[0] = words // VECTOR
    left[1 : 1 + left[0]] = np.arange(0, words, VECTOR)
    return _plain_narrow(sets, first, count, words, held, left)


def _plain_narrow(sets: Any, first: Any, count: int, words: int, held: Any, left: Any) -> int:
    flat, kept, members = sets.reshape(-1), [], 0
    for start in left[1 : 1 + left[0]].tolist():
        bits = held[start : start + VECTOR]
        for at in first[:count].tolist():
            bits &= flat[at + start : at + start + VECTOR]
        kept += [start] if bits.any() else []
        members += int(np.bitwise_count(bits).sum())
    left[0], left[1 : 1 + len(kept)] = len(kept), kept
    return members


#: intersect(sets, first, count, words, held, left): what the ``count`` sets, a multiple of AT_ONCE,
#: have in common that begin at elements first[0], first[1], ... of ``sets``. Of each the first
#: ``words`` words are looked at, in groups of VECTOR. ``held`` gets it, left[0] the number of
#: groups in which something is left, left[1], left[2], ... where they begin. Returns how many
#: members are left.
intersect = _common(anew=True)
#: narrow(sets, first, count, words, held, left): leaves in the set ``held``, of which ``left`` says
#: where something is, what it has in common with those sets. Returns the same.
narrow = _common(anew=False)


def _write_close(builder: Any, arguments: Any) -> None:
    levels, stride, point, count, most, held, left = arguments
    nowhere = ir.Constant(_BYTE_VECTOR, [0] * BYTES)
    less, plus = (
        cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_BYTE_VECTOR, [_BYTE_VECTOR] * 2), f"llvm.{name}.v64i8"
        )
        for name in ("usub.sat", "uadd.sat")
    )
    limit = _everywhere(builder, builder.trunc(most, _BYTE), _BYTE_VECTOR)
    n_left = cgutils.alloca_once_value(builder, _number(0))
    distances = [cgutils.alloca_once(builder, _BYTE_VECTOR) for _ in range(VECTOR)]
    with cgutils.for_range(builder, builder.load(left)) as group:
        start = builder.load(builder.gep(left, [builder.add(group.index, _number(1))]))
        for distance in distances:
            builder.store(nowhere, distance)
        with cgutils.for_range(builder, count) as row:
            first = builder.add(builder.mul(row.index, stride), builder.mul(start, _number(BYTES)))
            level = builder.load(builder.gep(point, [row.index]))
            level = _everywhere(builder, level, _BYTE_VECTOR)
            for v, distance in enumerate(distances):
                at = builder.add(first, _number(BYTES * v))
                other = builder.load(_vector_at(builder, levels, at, _BYTE_VECTOR), align=1)
                above = builder.call(less, [other, level])
                builder.store(builder.call(plus, [builder.load(distance), above]), distance)
        near = ir.Constant(_WORDS, [0] * VECTOR)
        for v, distance in enumerate(distances):
            bits = builder.icmp_unsigned("<=", builder.load(distance), limit)
            near = builder.insert_element(
                near, builder.bitcast(bits, _WORD), ir.Constant(_INDEX, v)
            )
        where = _vector_at(builder, held, start, _WORDS)
        near = builder.and_(near, builder.load(where, align=8))
        builder.store(near, where, align=8)
        _keep_group(builder, near, start, left, n_left)
    builder.store(builder.load(n_left), left)
    builder.ret_void()


def _generate_close(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    byte = _BYTE.as_pointer()
    kinds = [byte, _WORD, byte, _WORD, _WORD, _WORD_POINTER, _WORD_POINTER]
    routine = _routine(
        builder.module, "icvi_artmap_close", ir.FunctionType(ir.VoidType(), kinds), _write_close
    )
    builder.call(routine, _passed(context, builder, signature, arguments, kinds))
    return context.get_dummy_value()


@intrinsic
def _close(typing, levels, stride, point, count, most, held, left):
    i = types.int64
    return types.void(levels, i, point, i, i, held, left), _generate_close


def _plain_close(
    levels: Any, stride: int, point: Any, count: int, most: int, held: Any, left: Any
) -> None:
    rows, kept = levels.reshape(-1, stride)[:count].astype(np.int64), []
    for start in left[1 : 1 + left[0]].tolist():
        some = rows[:, BYTES * start : BYTES * (start + VECTOR)]
        distance = np.maximum(some - point[:count, np.newaxis].astype(np.int64), 0).sum(axis=0)
        near = np.packbits(np.minimum(distance, 255) <= most, bitorder="little")
        bits = held[start : start + VECTOR]
        bits &= near.view(np.uint64)
        kept += [start] if bits.any() else []
    left[0], left[1 : 1 + len(kept)] = len(kept), kept


#: close(levels, stride, point, count, most, held, left): leaves in the set ``held`` the columns
#: whose sum of max(level - point, 0) over the first ``count`` rows is at most ``most``, which is
#: below 255. ``levels`` has rows of ``stride`` bytes. ``left`` is that of ``narrow``.
close = _plain_close if config.DISABLE_JIT else _close


def _write_members(builder: Any, arguments: Any) -> None:
    bits, left, value, least, out, begin = arguments
    flag = ir.IntType(1)
    first, population = (
        cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_WORD, kinds), f"llvm.{name}"
        )
        for name, kinds in (("cttz.i64", [_WORD, flag]), ("ctpop.i64", [_WORD]))
    )
    count = cgutils.alloca_once_value(builder, begin)

    def each_bit(word: Any, do: Callable[[Any], None]) -> None:
        """Call ``do`` with the position of every bit of a word."""
        rest = cgutils.alloca_once(builder, _WORD)
        builder.store(word, rest)
        with cgutils.for_range(builder, builder.call(population, [word])):
            now = builder.load(rest)
            builder.store(builder.and_(now, builder.sub(now, _number(1))), rest)
            do(builder.call(first, [now, ir.Constant(flag, 1)]))

    with cgutils.for_range(builder, builder.load(left)) as group:
        start = builder.load(builder.gep(left, [builder.add(group.index, _number(1))]))
        words = builder.load(_vector_at(builder, bits, start, _WORDS), align=8)
        some = builder.icmp_unsigned("!=", words, ir.Constant(_WORDS, [0] * VECTOR))

        def list_word(position: Any, start: Any = start) -> None:
            at = builder.add(start, position)

            def list_one(bit: Any) -> None:
                number = builder.add(builder.mul(at, _number(64)), bit)
                total = builder.load(count)
                builder.store(number, builder.gep(out, [total]))
                enough = builder.fcmp_ordered(
                    ">=", builder.load(builder.gep(value, [number])), least
                )
                builder.store(builder.add(total, builder.zext(enough, _WORD)), count)

            each_bit(builder.load(builder.gep(bits, [at])), list_one)

        each_bit(builder.zext(builder.bitcast(some, ir.IntType(VECTOR)), _WORD), list_word)
    builder.ret(builder.load(count))


def _generate_members(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [_WORD_POINTER, _WORD_POINTER, _POINTER, _DOUBLE, _WORD_POINTER, _WORD]
    routine = _routine(
        builder.module, "icvi_artmap_members", ir.FunctionType(_WORD, kinds), _write_members
    )
    return builder.call(routine, _passed(context, builder, signature, arguments, kinds))


@intrinsic
def _members(typing, bits, left, value, least, out, begin):
    i = types.int64
    return i(bits, left, value, types.float64, out, i), _generate_members


def _plain_members(bits: Any, left: Any, value: Any, least: float, out: Any, begin: int) -> int:
    words = (left[1 : 1 + left[0], np.newaxis] + np.arange(VECTOR)).ravel()
    inside = np.unpackbits(bits[words].view(np.uint8), bitorder="little").reshape(-1, 64)
    numbers = (64 * words[:, np.newaxis] + np.arange(64))[inside > 0]
    numbers = numbers[value.reshape(-1)[numbers] >= least]
    out[begin : begin + len(numbers)] = numbers
    return begin + len(numbers)


#: members(bits, left, value, least, out, begin): lists in ``out``, from place ``begin`` on, the
#: members of a set, of which ``left`` says where something is, as ``narrow`` does: those that have
#: at least ``least`` in ``value``. Returns where they end.
members = _plain_members if config.DISABLE_JIT else _members


def _reduced(builder: Any, operation: str, vector: Any) -> Any:
    """One number from all lanes of a vector."""
    kind = vector.type
    name = f"llvm.vector.reduce.{operation}.v{VECTOR}{'f' if kind == _DOUBLES else 'i'}64"
    function = ir.FunctionType(kind.element, [kind])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [vector])


def _precedes(builder: Any, a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
    """Where the value of ``a`` is larger than that of ``b`` or, if it is the same, its number less.

    Both are a vector of values and one of numbers.
    """
    same = builder.fcmp_ordered("==", a[0], b[0])
    earlier = builder.and_(same, builder.icmp_signed("<", a[1], b[1]))
    return builder.or_(builder.fcmp_ordered(">", a[0], b[0]), earlier)


def _write_first_largest(builder: Any, arguments: Any) -> None:
    value, other, numbers, count, divisor, least_quotient, least, limit, last = arguments
    lanes, mask = ir.Constant(_WORDS, list(range(VECTOR))), ir.IntType(VECTOR)
    divisors, quotients, lows, limits = (
        _everywhere(builder, number, _DOUBLES) for number in (divisor, least_quotient, least, limit)
    )
    end, lasts = _everywhere(builder, count, _WORDS), _everywhere(builder, last, _WORDS)
    worst = ir.Constant(_DOUBLES, [-math.inf] * VECTOR)
    nobody, nowhere = (ir.Constant(_WORDS, [number] * VECTOR) for number in (2**63 - 1, -1))
    held = [cgutils.alloca_once_value(builder, first) for first in (worst, nobody, nowhere)]
    rounds = builder.sdiv(builder.add(count, _number(VECTOR - 1)), _number(VECTOR))
    with cgutils.for_range(builder, rounds) as loop:
        start = builder.mul(loop.index, _number(VECTOR))
        values, others = (
            builder.load(_vector_at(builder, array, start, _DOUBLES), align=8)
            for array in (value, other)
        )
        number = builder.load(_vector_at(builder, numbers, start, _WORDS), align=8)
        place = builder.add(_everywhere(builder, start, _WORDS), lanes)
        wanted = _precedes(builder, (values, number), tuple(map(builder.load, held[:2])))
        for condition in (
            _precedes(builder, (limits, lasts), (values, number)),
            builder.fcmp_ordered(">=", values, lows),
            builder.icmp_signed("<", place, end),
        ):
            wanted = builder.and_(wanted, condition)
        some = builder.icmp_unsigned("!=", builder.bitcast(wanted, mask), ir.Constant(mask, 0))
        with builder.if_then(some):  # division takes long
            enough = builder.fcmp_ordered(">=", builder.fdiv(others, divisors), quotients)
            taken = builder.and_(wanted, enough)
            for old, new in zip(held, (values, number, place), strict=True):
                builder.store(builder.select(taken, new, builder.load(old)), old)
    # Not by shuffles and selects down to one lane: LLVM 22 makes wrong code of those for AVX-512.
    values, number, place = map(builder.load, held)
    largest = _everywhere(builder, _reduced(builder, "fmax", values), _DOUBLES)
    best = builder.fcmp_ordered("==", values, largest)
    lowest = _reduced(builder, "smin", builder.select(best, number, nobody))
    first = builder.icmp_signed("==", number, _everywhere(builder, lowest, _WORDS))
    winner = builder.select(builder.and_(best, first), place, nowhere)
    builder.ret(_reduced(builder, "smax", winner))


def _generate_first_largest(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    numbers = [_WORD, _DOUBLE, _DOUBLE, _DOUBLE, _DOUBLE, _WORD]
    kinds = [_POINTER, _POINTER, _WORD_POINTER, *numbers]
    routine = _routine(
        builder.module,
        "icvi_artmap_first_largest",
        ir.FunctionType(_WORD, kinds),
        _write_first_largest,
    )
    return builder.call(routine, _passed(context, builder, signature, arguments, kinds))


@intrinsic
def _first_largest(
    typing, value, other, numbers, count, divisor, least_quotient, least, limit, last
):
    i, f = types.int64, types.float64
    return i(value, other, numbers, i, f, f, f, f, i), _generate_first_largest


def _plain_first_largest(
    value: Any,
    other: Any,
    numbers: Any,
    count: int,
    divisor: float,
    least_quotient: float,
    least: float,
    limit: float,
    last: int,
) -> int:
    value, number = value[:count], numbers[:count]
    wanted = (value < limit) | ((value == limit) & (number > last))
    wanted &= (value >= least) & (other[:count] / divisor >= least_quotient)
    places = np.flatnonzero(wanted)
    if len(places) == 0:
        return -1
    return int(places[np.lexsort((number[places], -value[places]))[0]])


#: first_largest(value, other, numbers, count, divisor, least_quotient, least, limit, last): the
#: place, of the first ``count``, of the largest value, and of equal ones of that with the smallest
#: number; -1 if there is none. Only those count that have other / divisor >= least_quotient, a
#: value of at least ``least``, and a value below ``limit``, or the same and a number above
#: ``last``. Arrays are read up to a multiple of VECTOR.
first_largest = _plain_first_largest if config.DISABLE_JIT else _first_largest
