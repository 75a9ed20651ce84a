"""The map field (section 3.1), its teaching vector (4.2) and its merge and split (4.3).

M is the map field matrix W^ab (C x k'): one row per ARTa category, one column per cluster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .art import sequential_sum
from .indices import same

Array = NDArray[np.float64]

# What Eq:split_3 takes off a row of equal entries, so that the new column wins its argmax.
SPLIT_DELTA = 1e-6


def eq_artb_yf2(T: Array, present: int) -> Array:
    """y_l = 1 if l = argmax_i T_i, else 0; all ones if all T are equal. Ties: present, lowest."""
    largest = float(max(T))
    ties = [i for i in range(len(T)) if same(float(T[i]), largest)]
    if len(ties) == len(T):
        return np.ones(len(T))
    winner = present if present in ties else ties[0]
    y = np.zeros(len(T))
    y[winner] = 1.0
    return y


def map_field_match(y: Array, row: Array) -> float:
    """M_J^ab = |y ^ w_J^ab|_1 / |y|_1 (printed without a label)."""
    return float(sequential_sum(np.minimum(y, row)) / sequential_sum(y))


def eq_mf_vig(match: float, rho_ab: float) -> bool:
    """M_J^ab >= rho_ab."""
    return match >= rho_ab


def map_field_learn(y: Array, row: Array, beta_ab: float) -> Array:
    """w_J^ab <- (1 - beta_ab) w_J^ab + beta_ab (y ^ w_J^ab) (printed without a label)."""
    return (1 - beta_ab) * row + beta_ab * np.minimum(y, row)


def eq_mf_pred(row: Array) -> int:
    """l = argmax_i w_{J,i}^ab, the first one."""
    return int(np.argmax(row))


def eq_merge_1(M: Array, i: int, j: int) -> Array:
    """v_l = max(w_li, w_lj) if argmax_m w_lm is i or j, else min(w_li, w_lj)."""
    v = np.empty(len(M))
    for q, row in enumerate(M):
        pick = max if eq_mf_pred(row) in (i, j) else min
        v[q] = pick(row[i], row[j])
    return v


def eq_merge_2(M: Array, v: Array) -> Array:
    """W^ab <- [W^ab | v]."""
    return np.column_stack([M, v])


def merge_columns(M: Array, i: int, j: int) -> Array:
    """Eq:merge_1 and Eq:merge_2, then columns i and j deleted."""
    return np.delete(eq_merge_2(M, eq_merge_1(M, i, j)), [i, j], axis=1)


def eq_split_1(M: Array, q: int) -> Array:
    """v_l = max_j w_qj if l = q, else 0."""
    v = np.zeros(len(M))
    v[q] = M[q].max()
    return v


def eq_split_2(row: Array) -> Array:
    """w_qh <- min_j w_qj with h = argmax_j w_qj."""
    row = row.copy()
    row[eq_mf_pred(row)] = row.min()
    return row


def eq_split_3(row: Array) -> Array:
    """w_q <- (c - delta) 1, for a row w_q = c 1."""
    return np.full_like(row, row[0] - SPLIT_DELTA)


def eq_concat_s(M: Array, v: Array) -> Array:
    """W^ab <- [W^ab | v]."""
    return np.column_stack([M, v])


def split_column(M: Array, q: int) -> Array:
    """Eq:split_1, then Eq:split_2 or, for a row of equal entries, Eq:split_3, then Eq:concat_s."""
    v = eq_split_1(M, q)
    M = M.copy()
    M[q] = eq_split_3(M[q]) if np.all(M[q] == M[q, 0]) else eq_split_2(M[q])
    return eq_concat_s(M, v)


def certainty(row: Array) -> float:
    """(largest - second largest) / largest of a map field row; 0 where that is undefined."""
    if len(row) == 1 or row.max() == 0:
        return 0.0
    second, largest = np.sort(row)[-2:]
    return float((largest - second) / largest)
