"""Cholesky factors of ridged covariances, and quadratic forms by them.

A factor U (upper, A = UᵀU) is stored by rows. Row c of U is column c of L = Uᵀ, so the substitution
L z = u runs along contiguous memory, a block of BLOCK components at a time. The diagonal blocks are
stored inverted, which turns the chain of dependent steps inside a block into independent sums.
Arrays are padded to a multiple of BLOCK with zeros, which add nothing; below the diagonal a block
holds numbers that mean nothing, and nobody looks.
"""

from __future__ import annotations

import math

from icvi_artmap._compile.jit import inline, shared
from icvi_artmap._compile.simd import (
    WIDTH,
    add_rows,
    eliminate_block,
    invert_block,
    subtract_rows,
    subtract_rows_4,
)

#: Components per block.
BLOCK = WIDTH
#: Rows eliminated together.
TOGETHER = 4
#: Rows at a distance of a multiple of this many numbers share few places of a processor's cache.
CROWDED = 128
#: Rows subtracted from so many others while a processor's cache holds them.
PANEL, STRIP = 64, 2 * BLOCK
#: A part of a sum of squares that its subtractions may have lost.
ROUNDING = 2e-15


def padded(d: int) -> int:
    """Side of the array that holds a factor of order d."""
    side = -(-d // BLOCK) * BLOCK
    return side + BLOCK if side % CROWDED == 0 else side


@inline
def clear_left(a, f):
    """Zero what row f has of its diagonal block left of the diagonal, or it would grow."""
    left = a[f, f // BLOCK * BLOCK :]
    for g in range(f % BLOCK):
        left[g] = 0.0


@shared
def load(a, scatter, divisor, delta):
    """``a`` = scatter / divisor + delta I, upper triangle."""
    d, weight = scatter.shape[0], 1.0 / divisor
    for f in range(d):
        target, source = a[f, f:], scatter[f, f:]
        for g in range(d - f):
            target[g] = weight * source[g]
        target[0] += delta
        clear_left(a, f)


@shared
def load_changed(matrix, scatter, other, sign, weight, u, n, delta, start, stop):
    """matrix = (S + sign × S_other + weight uuᵀ) / (n - 1) + δI, rows ``start`` to ``stop`` - 1."""
    d, scale = scatter.shape[0], 1.0 / (n - 1.0)
    for f in range(start, stop):
        row, row_s, row_o, tail = matrix[f, f:], scatter[f, f:], other[f, f:], u[f:]
        weighted = weight * u[f]
        for g in range(d - f):
            row[g] = (row_s[g] + sign * row_o[g] + weighted * tail[g]) * scale
        # What is left of a variance by rounding alone is none: δ may be no larger than it.
        row[0] = (row[0] if row[0] > ROUNDING * scale * row_s[0] else 0.0) + delta
        clear_left(matrix, f)


@inline
def _subtract_above(a, top, begin, end, left, right):
    """Subtract from the rows from ``top`` on what they have of rows ``begin`` to ``end`` - 1.

    In columns ``left`` to ``right`` - 1, those before the diagonal block left out.
    """
    side, first = a.shape[1], max(top // BLOCK * BLOCK, left)
    corner, row, factor = top * side + first, begin * side + first, begin * side + top
    subtract_rows_4(a, corner, side, a, row, side, a, factor, side, end - begin, right - first)


@inline
def _eliminate_together(a, top, end):
    """Finish rows ``top`` to ``end`` - 1, of which all rows above have been subtracted."""
    side, first, product = a.shape[1], top // BLOCK * BLOCK, 1.0
    width, corner = side - first, top * side + first
    for i in range(top, end):
        at = i * side + first
        subtract_rows(a, at, 0, a, corner, side, a, top * side + i, side, i - top, width)
        product *= a[i, i]
        row, inverse = a[i, first:], 1.0 / math.sqrt(a[i, i])
        for g in range(width):
            row[g] *= inverse
    return math.log(product)


@shared
def eliminate(a, start, stop):
    """Rows ``start`` to ``stop`` - 1 of the factorisation A = UᵀU of the upper triangle, in place.

    The rows above must be done; ``start`` is a multiple of TOGETHER. Returns this part of
    log det A.
    """
    logdet, side = 0.0, a.shape[1]
    if side == BLOCK:
        for top in range(start, stop, TOGETHER):
            logdet += math.log(eliminate_block(a, top, min(top + TOGETHER, stop)))
        return logdet
    for begin in range(start, stop, PANEL):
        end = min(begin + PANEL, stop)
        for above in range(0, begin, PANEL):
            stop_above = min(above + PANEL, begin)
            for left in range(begin // BLOCK * BLOCK, side, STRIP):
                right = min(left + STRIP, side)
                for top in range(begin, min(end, right), TOGETHER):
                    _subtract_above(a, top, above, stop_above, left, right)
        for top in range(begin, end, TOGETHER):
            _subtract_above(a, top, begin, top, begin, side)
            logdet += _eliminate_together(a, top, min(top + TOGETHER, stop))
    return logdet


@shared
def invert_blocks(a, d, row):
    """Replace every diagonal block of U by its inverse W, zero below. ``row``: scratch (BLOCK,).

    From the last row up: W_c = (e_c - sum over s > c of U_cs W_s) / U_cc, with rows W_s of a block.
    Blocks take turns, so that the processor need not wait for a row before it begins another.
    """
    side = a.shape[1]
    if side == BLOCK:
        invert_block(a, d)
        return
    for c_in_block in range(BLOCK - 1, -1, -1):
        for start in range(0, d - c_in_block, BLOCK):
            c, last = start + c_in_block, min(start + BLOCK, d)
            for r in range(row.shape[0]):
                row[r] = 0.0
            row[c_in_block] = 1.0
            below, after = (c + 1) * side + start, c * side + c + 1
            subtract_rows(row, 0, 0, a, below, side, a, after, 1, last - c - 1, BLOCK)
            inverse, target = 1.0 / a[c, c], a[c, start:]
            for r in range(row.shape[0]):
                target[r] = row[r] * inverse


@shared
def quadratic(a, x, mean, u, z, first, q, limit):
    """uᵀA⁻¹u, u = x - mean, from a factor with inverted blocks.

    Abandoned as soon as the sum exceeds ``limit``: it only grows, so what is returned then is a
    lower bound. ``u`` and ``z`` are scratch of the padded length, u zero from d on. z and its sum
    of squares q are known before component ``first`` (a multiple of BLOCK, 0 at the outset).
    """
    side = a.shape[1]
    for f in range(x.shape[0]):
        u[f] = x[f] - mean[f]
    for start in range(first, side, BLOCK):
        subtract_rows(u, start, 0, a, start, side, z, 0, 1, start, BLOCK)
        part = z[start:]
        for r in range(BLOCK):
            part[r] = 0.0
        add_rows(z, start, 0, a, start * side + start, side, u, start, 1, BLOCK, BLOCK)
        q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0
        for r in range(0, BLOCK, 4):
            q0 += part[r] * part[r]
            q1 += part[r + 1] * part[r + 1]
            q2 += part[r + 2] * part[r + 2]
            q3 += part[r + 3] * part[r + 3]
        q += (q0 + q1) + (q2 + q3)
        if q > limit:
            break
    return q


@inline
def bounded_quadratic(a, x, mean, u, z, first, q, least):
    """No less than uᵀA⁻¹u, from the first components alone; arguments as for ``quadratic``.

    What is left of u after ``first`` components is divided by matrices that are at least
    ``least`` I.
    """
    d, side = x.shape[0], a.shape[1]
    for f in range(d):
        u[f] = x[f] - mean[f]
    subtract_rows(u, first, 0, a, first, side, z, 0, 1, first, side - first)
    rest = u[first:]
    r0, r1, r2, r3 = 0.0, 0.0, 0.0, 0.0
    for f in range(0, side - first, 4):
        r0 += rest[f] * rest[f]
        r1 += rest[f + 1] * rest[f + 1]
        r2 += rest[f + 2] * rest[f + 2]
        r3 += rest[f + 3] * rest[f + 3]
    return q + ((r0 + r1) + (r2 + r3)) / least
