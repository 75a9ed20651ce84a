"""Cholesky factors of ridged covariances, and quadratic forms by them.

A factor U (upper, A = UᵀU) is stored by rows. Row c of U is column c of L = Uᵀ, so the substitution
L z = u runs along contiguous memory, a block of BLOCK components at a time, with the loop over the
components of the block inside: it vectorises although every sum keeps its order. The diagonal
blocks are stored inverted, which turns the chain of dependent steps inside a block into independent
sums. Factors are padded with zeros to a multiple of BLOCK; the zeros add nothing.
"""

from __future__ import annotations

import math

from icvi_artmap._jit import inline, jit

#: Components per block.
BLOCK = 16


def padded(d: int) -> int:
    """Side of the array that holds a factor of order d."""
    return -(-d // BLOCK) * BLOCK


@jit
def load(a, scatter, divisor, delta):
    """``a`` = scatter / divisor + delta I, upper triangle."""
    d = scatter.shape[0]
    for f in range(d):
        for g in range(f, d):
            a[f, g] = scatter[f, g] / divisor
        a[f, f] += delta


@jit
def eliminate(a, d):
    """Factorise the upper triangle of ``a`` in place, A = UᵀU; returns log det A."""
    logdet = 0.0
    for i in range(d):
        row = a[i]
        c = 0
        while c + 4 <= i:
            f0, f1, f2, f3 = a[c, i], a[c + 1, i], a[c + 2, i], a[c + 3, i]
            r0, r1, r2, r3 = a[c], a[c + 1], a[c + 2], a[c + 3]
            for g in range(i, d):
                row[g] -= f0 * r0[g] + f1 * r1[g] + f2 * r2[g] + f3 * r3[g]
            c += 4
        while c < i:
            f0, r0 = a[c, i], a[c]
            for g in range(i, d):
                row[g] -= f0 * r0[g]
            c += 1
        logdet += math.log(row[i])
        root = math.sqrt(row[i])
        row[i] = root
        for g in range(i + 1, d):
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
def quadratic(a, u, z, block, limit):
    """uᵀA⁻¹u from a factor with inverted blocks; abandoned as soon as the sum exceeds ``limit``.

    ``u`` and ``z`` have the padded length, ``block`` has BLOCK entries; z and block are scratch.
    The sum only grows, so an abandoned value is a lower bound that exceeds the limit.
    """
    q = 0.0
    for start in range(0, u.shape[0], BLOCK):
        for r in range(BLOCK):
            block[r] = u[start + r]
        for c in range(0, start, 4):
            z0, z1, z2, z3 = z[c], z[c + 1], z[c + 2], z[c + 3]
            r0, r1, r2, r3 = a[c, start:], a[c + 1, start:], a[c + 2, start:], a[c + 3, start:]
            for r in range(BLOCK):
                block[r] -= z0 * r0[r] + z1 * r1[r] + z2 * r2[r] + z3 * r3[r]
        part = z[start:]
        for r in range(BLOCK):
            part[r] = 0.0
        for c in range(0, BLOCK, 4):
            z0, z1, z2, z3 = block[c], block[c + 1], block[c + 2], block[c + 3]
            r0, r1 = a[start + c, start:], a[start + c + 1, start:]
            r2, r3 = a[start + c + 2, start:], a[start + c + 3, start:]
            for r in range(BLOCK):
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
