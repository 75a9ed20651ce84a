"""Fuzzy ART categories: choice, match, learning and shrinking of boxes.

Boxes are stored twice: by rows for what concerns one box, and transposed, (2d, capacity), for what
concerns all. There the loop over boxes is the inner one, so the sums over components vectorise and
yet are added in the order of the components. A removed box stays as a row of -1 (its match is
negative, so no search finds it) until the slots are compacted; slots are in order of age.

Of many boxes only a few can have the choice value of the one that a sample lies in. With
|x ∧ w| = |w| - D, D the L1 distance of x to the box, a choice of at least T means
D <= |w| (1 - T) - α T: nearly nothing, if T is the choice of a box around x; and |w| must be at
least α T / (1 - T), the norm of that box. So for every feature and bin there is a set of the boxes
that begin at or below that bin and one of those that end at or above it, and for every bin of norms
one of the boxes whose norm is no less, as bits. The boxes near x are the intersection of 2d + 1
sets, taken 64 boxes at a time and without a branch.
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
#: Boxes in a group of sets that are intersected together: 8 words of 64 bits.
GROUP = 512
#: Rounding of a distance that the sets must not miss.
MARGIN = 1e-9
#: Bins of a box that is in no set.
NOWHERE_BEGINS, NOWHERE_ENDS = BINS, -1
#: In place of a number of boxes.
TOO_MANY = -1
#: Rows of ``Boxes.value``.
NORM, OVERLAP, CHOICE = 0, 1, 2
#: Position of the single bit b: _POSITION[(b × _DE_BRUIJN mod 2^64) >> 58].
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, np.int64)
for _bit in range(64):
    _POSITION[((1 << _bit) * int(_DE_BRUIJN) % (1 << 64)) >> 58] = _bit
_NOTHING, _ONE, _TOP = np.uint64(0), np.uint64(1), np.uint64(58)


class Boxes(NamedTuple):
    """Boxes in slots 0 to ``used[0] - 1``, the older first."""

    used: NDArray[np.int64]  #: (1,) slots in use, removed ones included
    weight: NDArray[np.float64]  #: (capacity, 2d)
    component: NDArray[np.float64]  #: (2d, capacity) the same, transposed
    value: NDArray[np.float64]  #: (3, capacity) L1 norm; scratch: |x ∧ w|; scratch: Eq:FA_T
    bins: NDArray[np.int64]  #: (capacity, 2d + 1) bins of lower corner, upper corner and norm
    sets: NDArray[np.uint64]  #: (2d + 1, BINS, capacity / 64) boxes that begin, end, are small
    found: NDArray[np.int64]  #: (capacity,) scratch: boxes near a sample
    near: NDArray[np.uint64]  #: (capacity / 64,) scratch: the same as a set
    near_bins: NDArray[np.int64]  #: (2d + 1,) scratch: the bins of the sets to intersect


def make_boxes(rows: NDArray[np.float64], capacity: int) -> Boxes:
    """Boxes from the rows of an array (C, 2d), with room for at least ``capacity``."""
    n_boxes, width = rows.shape
    d = width // 2
    capacity = -(-capacity // GROUP) * GROUP
    weight = np.zeros((capacity, width))
    weight[:n_boxes] = rows
    value = np.zeros((3, capacity))
    for f in range(width):  # one after the other, as the kernels add
        value[NORM] += weight[:, f]
    corners = np.hstack([rows[:, :d], 1.0 - rows[:, d:], value[NORM, :n_boxes, None] / d])
    bins = np.full((capacity, width + 1), NOWHERE_ENDS, np.int64)
    bins[:, :d] = NOWHERE_BEGINS
    bins[:n_boxes] = np.clip((corners * BINS).astype(np.int64), 0, BINS - 1)
    sets = np.zeros((width + 1, BINS, capacity // 64), np.uint64)
    words = -(-n_boxes // 64)
    every, some = np.arange(BINS)[:, None], bins[: 64 * words].T.copy()
    for f in range(width + 1):
        member = some[f] <= every if f < d else some[f] >= every
        sets[f, :, :words] = np.packbits(member, axis=-1, bitorder="little").view(np.uint64)
    return Boxes(
        used=np.array([n_boxes], np.int64),
        weight=weight,
        component=np.ascontiguousarray(weight.T),
        value=value,
        bins=bins,
        sets=sets,
        found=np.zeros(capacity, np.int64),
        near=np.zeros(capacity // 64, np.uint64),
        near_bins=np.zeros(width + 1, np.int64),
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
        row, x_component = boxes.component[component], x[component]
        for c in range(n):
            overlap[c] += min(x_component, row[c])
    for c in range(n):
        choice[c] = overlap[c] / (alpha + norm[c])


@inline
def choice_of(boxes, c, x, alpha):
    """Eq:FA_T for one box, and |x ∧ w|, to the same bits."""
    overlap = 0.0
    for component in range(x.shape[0]):
        overlap += min(x[component], boxes.weight[c, component])
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
def _intersect(sets, bins, first, words, near):
    """Intersect four sets with ``near``; returns the union of its words, 0 if nothing is left."""
    s0, s1 = sets[first, bins[first]], sets[first + 1, bins[first + 1]]
    s2, s3 = sets[first + 2, bins[first + 2]], sets[first + 3, bins[first + 3]]
    union = _NOTHING
    for word in range(words):
        near[word] &= s0[word] & s1[word] & s2[word] & s3[word]
        union |= near[word]
    return union


@inline
def find_near(boxes, x, own, distance, smallest, alpha, most):
    """List in ``found`` box ``own`` and the boxes near x.

    Those are within an L1 distance of x and have a norm of at least ``smallest``; some farther
    ones may be among them. All have their choice computed. Returns how many there are, or TOO_MANY
    if more than ``most``.
    """
    width, near, bins = x.shape[0], boxes.near, boxes.near_bins
    d, reach, least_norm = width // 2, distance + MARGIN, smallest - MARGIN
    words = -(-boxes.used[0] // GROUP) * (GROUP // 64)
    for f in range(d):
        bins[f] = _bin(x[f] + reach)
        bins[d + f] = _bin(x[f] - reach)
    small = boxes.sets[width, _bin(least_norm / d)]
    for word in range(words):
        near[word] = small[word]
    near[own // 64] &= ~(_ONE << np.uint64(own % 64))
    f = 0
    while f + 4 <= width:
        if _intersect(boxes.sets, bins, f, words, near) == _NOTHING:
            break
        f += 4
    while f + 4 > width and f < width:
        last = boxes.sets[f, bins[f]]
        for word in range(words):
            near[word] &= last[word]
        f += 1
    boxes.found[0] = own
    count = 1
    for word in range(words):
        rest = near[word]
        while rest != _NOTHING:
            others = rest & (rest - _ONE)
            position = ((rest ^ others) * _DE_BRUIJN) >> _TOP
            c = 64 * word + _POSITION[np.int64(position)]
            rest = others
            if boxes.value[NORM, c] >= least_norm:
                if count == most:
                    return TOO_MANY
                choice_of(boxes, c, x, alpha)
                boxes.found[count] = c
                count += 1
    return count


@inline
def _place(boxes, c, f, bin):
    """Let box c begin, end or have its norm (f < d, f < 2d, f = 2d) in this bin.

    A box that begins in bin b is in the sets of b and above, one that ends in b (or has its norm
    there) in those of b and below; between the old and the new bin its bit is flipped.
    """
    word, bit, was = c // 64, _ONE << np.uint64(c % 64), boxes.bins[c, f]
    if bin != was:
        above = 0 if f < boxes.weight.shape[1] // 2 else 1
        for b in range(min(bin, was) + above, max(bin, was) + above):
            boxes.sets[f, b, word] ^= bit
        boxes.bins[c, f] = bin


@inline
def note(boxes, c):
    """The weights of box c have changed: renew its norm and the sets it is in."""
    width = boxes.weight.shape[1]
    d = width // 2
    norm = 0.0
    for component in range(width):
        norm += boxes.weight[c, component]
        boxes.component[component, c] = boxes.weight[c, component]
    boxes.value[NORM, c] = norm
    for f in range(d):
        _place(boxes, c, f, _bin(boxes.weight[c, f]))
        _place(boxes, c, d + f, _bin(1.0 - boxes.weight[c, d + f]))
    _place(boxes, c, width, _bin(norm / d))


@inline
def learn(boxes, c, x, beta):
    """Eq:FA_learn. Returns whether the box has changed."""
    changed = False
    for component in range(x.shape[0]):
        old = boxes.weight[c, component]
        new = (1.0 - beta) * old + beta * min(x[component], old)
        if new != old:
            boxes.weight[c, component] = new
            changed = True
    if changed:
        note(boxes, c)
    return changed


@inline
def append(boxes, x):
    """Fast commit: a new box equal to x; returns its slot. There must be room."""
    c = boxes.used[0]
    boxes.used[0] += 1
    for component in range(x.shape[0]):
        boxes.weight[c, component] = x[component]
    note(boxes, c)
    return c


@inline
def bury(boxes, c):
    """Remove a box; its slot stays empty."""
    width = boxes.weight.shape[1]
    for component in range(width):
        boxes.weight[c, component] = -1.0
        boxes.component[component, c] = -1.0
        nowhere = NOWHERE_BEGINS if component < width // 2 else NOWHERE_ENDS
        _place(boxes, c, component, np.int64(nowhere))
    boxes.value[NORM, c] = 0.0
    _place(boxes, c, width, np.int64(NOWHERE_ENDS))
