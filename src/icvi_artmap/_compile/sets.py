"""Sets, as bits: what several have in common, what is near, their members, and the first of the
largest values of some members.

Written as LLVM instructions, as those of :mod:`icvi_artmap._compile.simd`: each routine is a
function of its own in the compiled code, and with the JIT off plain Python takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from icvi_artmap._compile import vectors as vec

#: Sets that are intersected before it is asked whether anything is left.
AT_ONCE = 4


def _write_common(anew: bool, builder: Any, arguments: Any) -> None:
    """What a set has in common with others; ``anew``: what these have in common."""
    sets, first, count, words, held, left = arguments
    kind = ir.FunctionType(vec.WORDS, [vec.WORDS])
    population = cgutils.get_or_insert_function(
        builder.module, kind, f"llvm.ctpop.v{vec.VECTOR}i64"
    )
    n_left = cgutils.alloca_once_value(builder, vec.number(0))
    total = cgutils.alloca_once_value(builder, ir.Constant(vec.WORDS, [0] * vec.VECTOR))
    common = cgutils.alloca_once(builder, vec.WORDS)
    groups = builder.sdiv(words, vec.number(vec.VECTOR)) if anew else builder.load(left)
    with cgutils.for_range(builder, groups) as group:
        start = builder.mul(group.index, vec.number(vec.VECTOR))
        if not anew:
            start = builder.load(builder.gep(left, [builder.add(group.index, vec.number(1))]))
        where = vec.vector_at(builder, held, start, vec.WORDS)
        everything = ir.Constant(vec.WORDS, [-1] * vec.VECTOR)
        builder.store(everything if anew else builder.load(where, align=8), common)
        with cgutils.for_range(builder, builder.sdiv(count, vec.number(AT_ONCE))) as turn:
            bits = builder.load(common)
            for some in range(AT_ONCE):
                number = builder.add(builder.mul(turn.index, vec.number(AT_ONCE)), vec.number(some))
                at = builder.add(builder.load(builder.gep(first, [number])), start)
                other = builder.load(vec.vector_at(builder, sets, at, vec.WORDS), align=8)
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
    whole = ir.IntType(64 * vec.VECTOR)
    return builder.icmp_unsigned("==", builder.bitcast(bits, whole), ir.Constant(whole, 0))


def _keep_group(builder: Any, bits: Any, start: Any, left: Any, n_left: Any) -> None:
    """List a group of words, which begins at ``start``, unless nothing is left of it."""
    number = builder.load(n_left)
    builder.store(start, builder.gep(left, [builder.add(number, vec.number(1))]))
    some = builder.zext(builder.not_(_is_empty(builder, bits)), vec.WORD)
    builder.store(builder.add(number, some), n_left)


def _common(anew: bool) -> Any:
    """:func:`intersect` and :func:`narrow`."""
    if config.DISABLE_JIT:
        return _plain_intersect if anew else _plain_narrow
    kinds = [
        vec.WORD_POINTER,
        vec.WORD_POINTER,
        vec.WORD,
        vec.WORD,
        vec.WORD_POINTER,
        vec.WORD_POINTER,
    ]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        routine = vec.routine(
            builder.module,
            f"icvi_artmap_{'intersect' if anew else 'narrow'}",
            ir.FunctionType(vec.WORD, kinds),
            lambda inner, inside: _write_common(anew, inner, inside),
        )
        return builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))

    @intrinsic
    def common(typing, sets, first, count, words, held, left):
        i = types.int64
        return i(sets, first, i, i, held, left), generate

    return common


def _plain_intersect(sets: Any, first: Any, count: int, words: int, held: Any, left: Any) -> int:
    held[:words] = ~np.uint64(0)
    left[0] = words // vec.VECTOR
    left[1 : 1 + left[0]] = np.arange(0, words, vec.VECTOR)
    return _plain_narrow(sets, first, count, words, held, left)


def _plain_narrow(sets: Any, first: Any, count: int, words: int, held: Any, left: Any) -> int:
    flat, kept, members = sets.reshape(-1), [], 0
    for start in left[1 : 1 + left[0]].tolist():
        bits = held[start : start + vec.VECTOR]
        for at in first[:count].tolist():
            bits &= flat[at + start : at + start + vec.VECTOR]
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
    nowhere = ir.Constant(vec.BYTE_VECTOR, [0] * vec.BYTES)
    less, plus = (
        cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(vec.BYTE_VECTOR, [vec.BYTE_VECTOR] * 2),
            f"llvm.{name}.v64i8",
        )
        for name in ("usub.sat", "uadd.sat")
    )
    limit = vec.everywhere(builder, builder.trunc(most, vec.BYTE), vec.BYTE_VECTOR)
    n_left = cgutils.alloca_once_value(builder, vec.number(0))
    distances = [cgutils.alloca_once(builder, vec.BYTE_VECTOR) for _ in range(vec.VECTOR)]
    with cgutils.for_range(builder, builder.load(left)) as group:
        start = builder.load(builder.gep(left, [builder.add(group.index, vec.number(1))]))
        for distance in distances:
            builder.store(nowhere, distance)
        with cgutils.for_range(builder, count) as row:
            first = builder.add(
                builder.mul(row.index, stride), builder.mul(start, vec.number(vec.BYTES))
            )
            level = builder.load(builder.gep(point, [row.index]))
            level = vec.everywhere(builder, level, vec.BYTE_VECTOR)
            for v, distance in enumerate(distances):
                at = builder.add(first, vec.number(vec.BYTES * v))
                other = builder.load(vec.vector_at(builder, levels, at, vec.BYTE_VECTOR), align=1)
                above = builder.call(less, [other, level])
                builder.store(builder.call(plus, [builder.load(distance), above]), distance)
        near = ir.Constant(vec.WORDS, [0] * vec.VECTOR)
        for v, distance in enumerate(distances):
            bits = builder.icmp_unsigned("<=", builder.load(distance), limit)
            near = builder.insert_element(
                near, builder.bitcast(bits, vec.WORD), ir.Constant(vec.INDEX, v)
            )
        where = vec.vector_at(builder, held, start, vec.WORDS)
        near = builder.and_(near, builder.load(where, align=8))
        builder.store(near, where, align=8)
        _keep_group(builder, near, start, left, n_left)
    builder.store(builder.load(n_left), left)
    builder.ret_void()


def _generate_close(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    byte = vec.BYTE.as_pointer()
    kinds = [byte, vec.WORD, byte, vec.WORD, vec.WORD, vec.WORD_POINTER, vec.WORD_POINTER]
    routine = vec.routine(
        builder.module, "icvi_artmap_close", ir.FunctionType(ir.VoidType(), kinds), _write_close
    )
    builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))
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
        some = rows[:, vec.BYTES * start : vec.BYTES * (start + vec.VECTOR)]
        distance = np.maximum(some - point[:count, np.newaxis].astype(np.int64), 0).sum(axis=0)
        near = np.packbits(np.minimum(distance, 255) <= most, bitorder="little")
        bits = held[start : start + vec.VECTOR]
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
            builder.module, ir.FunctionType(vec.WORD, kinds), f"llvm.{name}"
        )
        for name, kinds in (("cttz.i64", [vec.WORD, flag]), ("ctpop.i64", [vec.WORD]))
    )
    count = cgutils.alloca_once_value(builder, begin)

    def each_bit(word: Any, do: Callable[[Any], None]) -> None:
        """Call ``do`` with the position of every bit of a word."""
        rest = cgutils.alloca_once(builder, vec.WORD)
        builder.store(word, rest)
        with cgutils.for_range(builder, builder.call(population, [word])):
            now = builder.load(rest)
            builder.store(builder.and_(now, builder.sub(now, vec.number(1))), rest)
            do(builder.call(first, [now, ir.Constant(flag, 1)]))

    with cgutils.for_range(builder, builder.load(left)) as group:
        start = builder.load(builder.gep(left, [builder.add(group.index, vec.number(1))]))
        words = builder.load(vec.vector_at(builder, bits, start, vec.WORDS), align=8)
        some = builder.icmp_unsigned("!=", words, ir.Constant(vec.WORDS, [0] * vec.VECTOR))

        def list_word(position: Any, start: Any = start) -> None:
            at = builder.add(start, position)

            def list_one(bit: Any) -> None:
                number = builder.add(builder.mul(at, vec.number(64)), bit)
                total = builder.load(count)
                builder.store(number, builder.gep(out, [total]))
                enough = builder.fcmp_ordered(
                    ">=", builder.load(builder.gep(value, [number])), least
                )
                builder.store(builder.add(total, builder.zext(enough, vec.WORD)), count)

            each_bit(builder.load(builder.gep(bits, [at])), list_one)

        each_bit(builder.zext(builder.bitcast(some, ir.IntType(vec.VECTOR)), vec.WORD), list_word)
    builder.ret(builder.load(count))


def _generate_members(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = [
        vec.WORD_POINTER,
        vec.WORD_POINTER,
        vec.POINTER,
        vec.DOUBLE,
        vec.WORD_POINTER,
        vec.WORD,
    ]
    routine = vec.routine(
        builder.module, "icvi_artmap_members", ir.FunctionType(vec.WORD, kinds), _write_members
    )
    return builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))


@intrinsic
def _members(typing, bits, left, value, least, out, begin):
    i = types.int64
    return i(bits, left, value, types.float64, out, i), _generate_members


def _plain_members(bits: Any, left: Any, value: Any, least: float, out: Any, begin: int) -> int:
    words = (left[1 : 1 + left[0], np.newaxis] + np.arange(vec.VECTOR)).ravel()
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
    """One word from all lanes of a vector of words."""
    name = f"llvm.vector.reduce.{operation}.v{vec.VECTOR}i64"
    function = ir.FunctionType(vec.WORD, [vec.WORDS])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [vector])


def _ranks(builder: Any, values: Any) -> Any:
    """Words in the order of these numbers: their bits, all but the sign of negative ones turned.

    LLVM reduces words in pairs, and numbers one after the other.
    """
    signs, sizes = (
        ir.Constant(vec.WORDS, [word] * vec.VECTOR) for word in (vec.WORD.width - 1, 2**63 - 1)
    )
    zeros = ir.Constant(vec.DOUBLES, [0.0] * vec.VECTOR)
    bits = builder.bitcast(builder.fadd(values, zeros), vec.WORDS)  # -0.0 becomes 0.0
    return builder.xor(bits, builder.and_(builder.ashr(bits, signs), sizes))


def _precedes(builder: Any, a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
    """Where the value of ``a`` is larger than that of ``b`` or, if it is the same, its key less.

    Both are a vector of values and one of keys.
    """
    same = builder.fcmp_ordered("==", a[0], b[0])
    earlier = builder.and_(same, builder.icmp_signed("<", a[1], b[1]))
    return builder.or_(builder.fcmp_ordered(">", a[0], b[0]), earlier)


def _write_first_largest(builder: Any, arguments: Any) -> None:
    """A key is a number and, in its lower half, the place of that."""
    value, other, numbers, count, divisor, least_quotient, least, limit, last = arguments
    lanes, mask = ir.Constant(vec.WORDS, list(range(vec.VECTOR))), ir.IntType(vec.VECTOR)
    half, no_place = vec.number(32), vec.number(2**32 - 1)
    last_key = builder.or_(builder.shl(last, half), no_place)
    divisors, quotients, lows, limits = (
        vec.everywhere(builder, number, vec.DOUBLES)
        for number in (divisor, least_quotient, least, limit)
    )
    halves, end, last_keys = (
        vec.everywhere(builder, word, vec.WORDS) for word in (half, count, last_key)
    )
    worst = ir.Constant(vec.DOUBLES, [-math.inf] * vec.VECTOR)
    nobody = ir.Constant(vec.WORDS, [2**63 - 1] * vec.VECTOR)
    held = [cgutils.alloca_once_value(builder, first) for first in (worst, nobody)]
    rounds = builder.sdiv(builder.add(count, vec.number(vec.VECTOR - 1)), vec.number(vec.VECTOR))
    with cgutils.for_range(builder, rounds) as loop:
        start = builder.mul(loop.index, vec.number(vec.VECTOR))
        values, others = (
            builder.load(vec.vector_at(builder, array, start, vec.DOUBLES), align=8)
            for array in (value, other)
        )
        number = builder.load(vec.vector_at(builder, numbers, start, vec.WORDS), align=8)
        place = builder.add(vec.everywhere(builder, start, vec.WORDS), lanes)
        key = builder.or_(builder.shl(number, halves), place)
        wanted = _precedes(builder, (values, key), tuple(map(builder.load, held)))
        for condition in (
            _precedes(builder, (limits, last_keys), (values, key)),
            builder.fcmp_ordered(">=", values, lows),
            builder.icmp_signed("<", place, end),
        ):
            wanted = builder.and_(wanted, condition)
        some = builder.icmp_unsigned("!=", builder.bitcast(wanted, mask), ir.Constant(mask, 0))
        with builder.if_then(some):  # division takes long
            enough = builder.fcmp_ordered(">=", builder.fdiv(others, divisors), quotients)
            taken = builder.and_(wanted, enough)
            for old, new in zip(held, (values, key), strict=True):
                builder.store(builder.select(taken, new, builder.load(old)), old)
    # Not by shuffles and selects down to one lane: LLVM 22 makes wrong code of those for AVX-512.
    values, key = map(builder.load, held)
    rank = _ranks(builder, values)
    highest = vec.everywhere(builder, _reduced(builder, "smax", rank), vec.WORDS)
    best = builder.icmp_signed("==", rank, highest)
    first = _reduced(builder, "smin", builder.select(best, key, nobody))
    builder.ret(builder.sext(builder.trunc(first, vec.INDEX), vec.WORD))  # -1 of nobody


def _generate_first_largest(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    numbers = [vec.WORD, vec.DOUBLE, vec.DOUBLE, vec.DOUBLE, vec.DOUBLE, vec.WORD]
    kinds = [vec.POINTER, vec.POINTER, vec.WORD_POINTER, *numbers]
    routine = vec.routine(
        builder.module,
        "icvi_artmap_first_largest",
        ir.FunctionType(vec.WORD, kinds),
        _write_first_largest,
    )
    return builder.call(routine, vec.passed(context, builder, signature, arguments, kinds))


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
#: ``last``. Numbers and places have 31 bits. Arrays are read up to a multiple of VECTOR.
first_largest = _plain_first_largest if config.DISABLE_JIT else _first_largest
