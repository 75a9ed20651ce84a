"""Fuzzy ART categories: choice, match, learning and shrinking of boxes.

Boxes are stored transposed, (2d, capacity): the loop over boxes is the inner one, so the sums over
components vectorise and yet are added in the order of the components. A removed box stays as a
column of -1 (its match is negative, so no search finds it) until the slots are compacted; slots are
in order of age.

Of many boxes only a few can have the choice value of the one that a sample lies in. With
|x ∧ w| = |w| - D, D the L1 distance of x to the box, a choice of at least T means
D <= |w| (1 - T) - α T: nearly nothing, if T is the choice of a box around x. So for every feature
and bin there is a set of the boxes that begin at or below that bin, and one of those that end at or
above it, as bits; the boxes within a distance of x lie in the intersection of 2d such sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._jit import inline

#: Bins per feature.
BINS = 64
#: Loops over boxes have a multiple of this length.
WIDTH = 16
#: Rounding of a distance that the sets must not miss.
MARGIN = 1e-9
#: In place of a number of boxes.
TOO_MANY = -1
#: Rows of ``Boxes.value``.
NORM, OVERLAP, CHOICE = 0, 1, 2
#: Position of the single bit b: _POSITION[(b × _DE_BRUIJN mod 2^64) >> 58].
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, np.int64)
for _bit in range(64):
    _POSITION[((1 << _bit) * int(_DE_BRUIJN) % (1 << 64)) >> 58] = _bit
_ONE, _TOP = np.uint64(1), np.uint64(58)


class Boxes(NamedTuple):
    """Boxes in slots 0 to ``used[0] - 1``, the older first."""

    used: NDArray[np.int64]  #: (1,) slots in use, removed ones included
    weight: NDArray[np.float64]  #: (2d, capacity)
    value: NDArray[np.float64]  #: (3, capacity) L1 norm; scratch: |x ∧ w|; scratch: Eq:FA_T
    bins: NDArray[np.int64]  #: (capacity, 2d) bins of the lower and of the upper corner
    begins: NDArray[np.uint64]  #: (d, BINS, capacity / 64) boxes that begin at or below a bin
    ends: NDArray[np.uint64]  #: (d, BINS, capacity / 64) boxes that end at or above a bin
    found: NDArray[np.int64]  #: (capacity,) scratch: boxes near a sample
    near_bins: NDArray[np.int64]  #: (2, d) scratch: bins that a sample reaches


def make_boxes(rows: NDArray[np.float64], capacity: int) -> Boxes:
    """Boxes from the rows of an array (C, 2d), with room for at least ``capacity``."""
    n_boxes, width = rows.shape
    d = width // 2
    capacity = -(-capacity // 64) * 64
    weight = np.zeros((width, capacity))
    weight[:, :n_boxes] = rows.T
    value = np.zeros((3, capacity))
    for component in weight:  # one after the other, as the kernels add
        value[NORM] += component
    bins = np.zeros((capacity, width), np.int64)
    bins[:n_boxes, :d] = np.clip((rows[:, :d] * BINS).astype(np.int64), 0, BINS - 1)
    bins[:n_boxes, d:] = np.clip(((1.0 - rows[:, d:]) * BINS).astype(np.int64), 0, BINS - 1)
    sets = np.zeros((2, d, BINS, capacity // 64), np.uint64)
    member = np.zeros((2, BINS, capacity), np.bool_)
    every = np.arange(BINS)[:, None]
    for f in range(d):
        member[0, :, :n_boxes] = bins[:n_boxes, f] <= every
        member[1, :, :n_boxes] = bins[:n_boxes, d + f] >= every
        sets[:, f] = np.packbits(member, axis=-1, bitorder="little").view(np.uint64)
    return Boxes(
        used=np.array([n_boxes], np.int64),
        weight=weight,
        value=value,
        bins=bins,
        begins=sets[0],
        ends=sets[1],
        found=np.zeros(capacity, np.int64),
        near_bins=np.zeros((2, d), np.int64),
    )


@inline
def choices(boxes, x, alpha):
    """Eq:FA_T for all boxes, and |x ∧ w|."""
    # Up to a multiple of WIDTH, unused slots included: shorter loops would not be vectorised.
    n = -(-boxes.used[0] // WIDTH) * WIDTH
    norm, overlap, choice = boxes.value[NORM], boxes.value[OVERLAP], boxes.value[CHOICE]
    for c in range(n):
        overlap[c] = 0.0
    for component in range(x.shape[0]):
        row, x_component = boxes.weight[component], x[component]
        for c in range(n):
            overlap[c] += min(x_component, row[c])
    for c in range(n):
        choice[c] = overlap[c] / (alpha + norm[c])


@inline
def choice_of(boxes, c, x, alpha):
    """Eq:FA_T for one box, and |x ∧ w|, to the same bits."""
    overlap = 0.0
    for component in range(x.shape[0]):
        overlap += min(x[component], boxes.weight[component, c])
    boxes.value[OVERLAP, c] = overlap
    boxes.value[CHOICE, c] = overlap / (alpha + boxes.value[NORM, c])


@inline
def first_best(boxes):
    """The box of largest choice; the older one of equals."""
    choice = boxes.value[CHOICE]
    best = 0
    for c in range(1, boxes.used[0]):
        if choice[c] > choice[best]:
            best = c
    return best


@inline
def _bin(position):
    return min(max(int(position * BINS), 0), BINS - 1)


@inline
def find_near(boxes, x, own, distance, smallest, alpha, most):
    """List in ``found`` box ``own`` and the boxes near x.

    Those are within an L1 distance of x and have a norm of at least ``smallest``; some farther
    ones may be among them. All have their choice computed. Returns how many there are, or TOO_MANY
    if more than ``most``.
    """
    d, reach, least_norm = x.shape[0] // 2, distance + MARGIN, smallest - MARGIN
    boxes.found[0] = own
    count, known = 1, 0
    for word in range((boxes.used[0] + 63) // 64):
        near = ~np.uint64(0)
        if word == own // 64:
            near ^= _ONE << np.uint64(own % 64)
        f = 0
        while near != 0 and f < d:
            if f == known:
                boxes.near_bins[0, f] = _bin(x[f] + reach)
                boxes.near_bins[1, f] = _bin(x[f] - reach)
                known += 1
            near &= boxes.begins[f, boxes.near_bins[0, f], word]
            near &= boxes.ends[f, boxes.near_bins[1, f], word]
            f += 1
        while near != 0:
            rest = near & (near - _ONE)
            position = ((near ^ rest) * _DE_BRUIJN) >> _TOP
            c = 64 * word + _POSITION[np.int64(position)]
            near = rest
            if boxes.value[NORM, c] >= least_norm:
                if count == most:
                    return TOO_MANY
                choice_of(boxes, c, x, alpha)
                boxes.found[count] = c
                count += 1
    return count


@inline
def _place(boxes, c, f, low, high):
    """Let box c begin in bin ``low`` of feature f and end in ``high``.

    It is in ``begins[f, b]`` for all b >= low and in ``ends[f, b]`` for all b <= high; between the
    old and the new bin its bit is flipped. (BINS, -1) is in no set.
    """
    d = boxes.weight.shape[0] // 2
    word, bit = c // 64, _ONE << np.uint64(c % 64)
    was = boxes.bins[c, f]
    for b in range(min(low, was), max(low, was)):
        boxes.begins[f, b, word] ^= bit
    boxes.bins[c, f] = low
    was = boxes.bins[c, d + f]
    for b in range(min(high, was) + 1, max(high, was) + 1):
        boxes.ends[f, b, word] ^= bit
    boxes.bins[c, d + f] = high


@inline
def note(boxes, c):
    """The weights of box c have changed: renew its norm and the sets it is in."""
    d = boxes.weight.shape[0] // 2
    norm = 0.0
    for component in range(2 * d):
        norm += boxes.weight[component, c]
    boxes.value[NORM, c] = norm
    for f in range(d):
        _place(boxes, c, f, _bin(boxes.weight[f, c]), _bin(1.0 - boxes.weight[d + f, c]))


@inline
def learn(boxes, c, x, beta):
    """Eq:FA_learn. Returns whether the box has changed."""
    changed = False
    for component in range(x.shape[0]):
        old = boxes.weight[component, c]
        new = (1.0 - beta) * old + beta * min(x[component], old)
        if new != old:
            boxes.weight[component, c] = new
            changed = True
    if changed:
        note(boxes, c)
    return changed


@inline
def append(boxes, x):
    """Fast commit: a new box equal to x; returns its slot. There must be room."""
    c, width = boxes.used[0], x.shape[0]
    boxes.used[0] += 1
    for component in range(width):
        boxes.weight[component, c] = x[component]
        boxes.bins[c, component] = BINS if component < width // 2 else -1
    note(boxes, c)
    return c


@inline
def bury(boxes, c):
    """Remove a box; its slot stays empty."""
    for component in range(boxes.weight.shape[0]):
        boxes.weight[component, c] = -1.0
    boxes.value[NORM, c] = 0.0
    for f in range(boxes.weight.shape[0] // 2):
        _place(boxes, c, f, np.int64(BINS), np.int64(-1))
