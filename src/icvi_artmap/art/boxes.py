"""Fuzzy ART categories: choice, match, learning and shrinking of boxes.

Boxes are stored transposed, (2d, capacity): the loop over boxes is the inner one, so the sums over
components vectorise and yet are added in the order of the components. A removed box stays as a
column of -1 (its match is negative, so no search finds it) until :func:`compact` is called; slots
are in order of age.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._jit import inline


class Boxes(NamedTuple):
    """Boxes in slots 0 to ``used[0] - 1``, the older first."""

    used: NDArray[np.int64]  #: (1,) slots in use, removed ones included
    weight: NDArray[np.float64]  #: (2d, capacity)
    norm: NDArray[np.float64]  #: (capacity,) L1 norm of every box
    overlap: NDArray[np.float64]  #: (capacity,) scratch: |x ∧ w|
    choice: NDArray[np.float64]  #: (capacity,) scratch: Eq:FA_T


def make_boxes(rows: NDArray[np.float64], capacity: int) -> Boxes:
    """Boxes from the rows of an array (C, 2d), with room for ``capacity``."""
    n_boxes, width = rows.shape
    weight = np.zeros((width, capacity))
    weight[:, :n_boxes] = rows.T
    norm = np.zeros(capacity)
    for component in weight:  # one after the other, as the kernels add
        norm += component
    return Boxes(
        np.array([n_boxes], np.int64), weight, norm, np.zeros(capacity), np.zeros(capacity)
    )


@inline
def overlaps(boxes, x):
    """|x ∧ w| of every box, the common numerator of Eq:FA_T and Eq:FA_M."""
    n, overlap = boxes.used[0], boxes.overlap
    for c in range(n):
        overlap[c] = 0.0
    for component in range(x.shape[0]):
        row, value = boxes.weight[component], x[component]
        for c in range(n):
            overlap[c] += min(value, row[c])


@inline
def choices(boxes, x, alpha):
    """Eq:FA_T, choice values of all boxes; leaves |x ∧ w| in ``overlap``."""
    overlaps(boxes, x)
    for c in range(boxes.used[0]):
        boxes.choice[c] = boxes.overlap[c] / (alpha + boxes.norm[c])


@inline
def first_best(boxes):
    """The box of largest choice; the older one of equals."""
    best = 0
    for c in range(1, boxes.used[0]):
        if boxes.choice[c] > boxes.choice[best]:
            best = c
    return best


@inline
def learn(boxes, c, x, beta):
    """Eq:FA_learn. Returns whether the box has changed."""
    norm, changed = 0.0, False
    for component in range(x.shape[0]):
        old = boxes.weight[component, c]
        new = (1.0 - beta) * old + beta * min(x[component], old)
        if new != old:
            boxes.weight[component, c] = new
            changed = True
        norm += new
    boxes.norm[c] = norm
    return changed


@inline
def append(boxes, x):
    """Fast commit: a new box equal to x; returns its slot. There must be room."""
    c = boxes.used[0]
    boxes.used[0] += 1
    set_box(boxes, c, x)
    return c


@inline
def set_box(boxes, c, x):
    norm = 0.0
    for component in range(x.shape[0]):
        boxes.weight[component, c] = x[component]
        norm += x[component]
    boxes.norm[c] = norm


@inline
def bury(boxes, c):
    """Remove a box; its slot stays empty."""
    for component in range(boxes.weight.shape[0]):
        boxes.weight[component, c] = -1.0
    boxes.norm[c] = 0.0
