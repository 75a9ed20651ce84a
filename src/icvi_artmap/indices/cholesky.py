"""Cholesky factors of ridged covariances, and quadratic forms by them.

A factor U (upper, A = UᵀU) is stored by rows. Row c of U is column c of L = Uᵀ, so the substitution
L z = u runs along contiguous memory, a block of BLOCK components at a time, with the loop over the
components of the block inside: it vectorises although every sum keeps its order. The diagonal
blocks are stored inverted, which turns the chain of dependent steps inside a block into independent
sums. Factors are padded with zeros to a multiple of BLOCK; the zeros add nothing.
"""

from __future__ import annotations

import math

from icvi_artmap._jit import inline

#: Components per block.
BLOCK = 16


def padded(d: int) -> int:
    """Side of the array that holds a factor of order d."""
    return -(-d // BLOCK) * BLOCK


@inline
def load(a, scatter, divisor, delta):
    """``a`` = scatter / divisor + delta I, upper triangle."""
    d, weight = scatter.shape[0], 1.0 / divisor
    for f in range(d):
        target, source = a[f, f:], scatter[f, f:]
        for g in range(d - f):
            target[g] = weight * source[g]
        target[0] += delta


@inline
def eliminate(a, start, stop):
    """Rows ``start`` to ``stop`` - 1 of the factorisation A = UᵀU of the upper triangle, in place.

    The rows above must be done. Returns this part of log det A.
    """
    logdet, d = 0.0, a.shape[1]
    for i in range(start, stop):
        row, width = a[i, i:], d - i
        for c in range(0, i - 3, 4):
            f0, f1, f2, f3 = a[c, i], a[c + 1, i], a[c + 2, i], a[c + 3, i]
            r0, r1, r2, r3 = a[c, i:], a[c + 1, i:], a[c + 2, i:], a[c + 3, i:]
            for g in range(width):
                row[g] -= f0 * r0[g] + f1 * r1[g] + f2 * r2[g] + f3 * r3[g]
        for c in range(i - i % 4, i):
            f0, r0 = a[c, i], a[c, i:]
            for g in range(width):
                row[g] -= f0 * r0[g]
        logdet += math.log(row[0])
        root = math.sqrt(row[0])
        row[0] = root
        for g in range(1, width):
            row[g] /= root
    return logdet


@inline
def invert_blocks(a, d):
    """Replace every diagonal block of U by G, G[c, r] = (L⁻¹)[r, c] of that block, zero below.

    V = L⁻¹ by rows: V_rr = 1 / L_rr, V_rc = -V_rr × sum over c <= s < r of L_rs V_sc. Both L_rc and
    V_rc live in a[c, r]; with c rising, L_rs is overwritten only after its last use.
    """
    for start in range(0, d, BLOCK):
        for r in range(start, min(start + BLOCK, d)):
            a[r, r] = 1.0 / a[r, r]
            for c in range(start, r):
                total = 0.0
                for s in range(c, r):
                    total += a[s, r] * a[c, s]
                a[c, r] = -a[r, r] * total
                a[r, c] = 0.0


@inline
def quadratic(a, x, mean, u, z, block, first, q, limit):
    """uᵀA⁻¹u, u = x - mean, from a factor with inverted blocks.

    Abandoned as soon as the sum exceeds ``limit``: it only grows, so what is returned then is a
    lower bound. ``u`` and ``z`` have the padded length, ``block`` has BLOCK entries; all are
    scratch, u zero from d on. z and its sum of squares q are known before component ``first`` (a
    multiple of BLOCK, 0 at the outset).
    """
    for f in range(x.shape[0]):
        u[f] = x[f] - mean[f]
    for start in range(first, u.shape[0], BLOCK):
        part, part_of_u = z[start:], u[start:]
        for r in range(block.shape[0]):
            block[r] = part_of_u[r]
            part[r] = 0.0
        # Loops over block.shape[0], not BLOCK: a constant would be unrolled, not vectorised.
        for c in range(0, start, 4):
            z0, z1, z2, z3 = z[c], z[c + 1], z[c + 2], z[c + 3]
            r0, r1, r2, r3 = a[c, start:], a[c + 1, start:], a[c + 2, start:], a[c + 3, start:]
            for r in range(block.shape[0]):
                block[r] -= z0 * r0[r] + z1 * r1[r] + z2 * r2[r] + z3 * r3[r]
        for c in range(start, start + BLOCK, 4):
            own = block[c - start :]
            z0, z1, z2, z3 = own[0], own[1], own[2], own[3]
            r0, r1, r2, r3 = a[c, start:], a[c + 1, start:], a[c + 2, start:], a[c + 3, start:]
            for r in range(block.shape[0]):
                part[r] += z0 * r0[r] + z1 * r1[r] + z2 * r2[r] + z3 * r3[r]
        q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0
        for r in range(0, BLOCK, 4):
            q0 += part[r] * part[r]
            q1 += part[r + 1] * part[r + 1]
            q2 += part[r + 2] * part[r + 2]
            q3 += part[r + 3] * part[r + 3]
        q += (q0 + q1) + (q2 + q3)
        if q > limit:
            return q
    return q
