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
one of the boxes whose norm is no less, as bits. Bins of a feature hold equally many samples, so
they are narrow where boxes are many. The boxes near x are the intersection of 2d + 1 sets; some of
them are enough once few boxes are left. Two more sets are of the boxes that have changed lately.

Of boxes at a distance that says little: D is a sum, and most boxes are near enough in every single
feature. So the weights are also kept rounded down to bytes, and where D may be large, it is summed
from those for all boxes at once: no more than it is. What is too large for its norm is left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, shared
from icvi_artmap._compile.sets import AT_ONCE, close, intersect, members, narrow
from icvi_artmap._compile.simd import WIDTH, add_minima
from icvi_artmap._compile.vectors import VECTOR, aligned_zeros

#: Bins per feature, and cells that a feature's range is divided into: a bin is some of them.
BINS, CELLS = 64, 1024
#: The samples that are looked at to choose the bins.
BIN_SAMPLES = slice(1_024)
#: Sets that are intersected before it is asked how many boxes are left, and how many are few.
SETS, FEW = 2 * AT_ONCE, 4
#: Features whose weights are kept as bytes, and what a weight of 1 is then.
BYTE_FEATURES, LEVELS = 32, 255
#: From this distance on, up to 1, bytes are summed.
FAR = 0.1
#: Boxes whose sets are intersected together, 64 to a word.
GROUP = 64 * VECTOR
#: Members and bins looked at together when sets are made: 1 MB.
SETS_SIZE = 1 << 20
#: Rounding of a distance that the sets must not miss.
MARGIN = 1e-9
#: Bins of a box that is in no set.
NOWHERE_BEGINS, NOWHERE_ENDS = BINS, -1
#: In place of a number of boxes.
TOO_MANY = -1
#: Rows of ``Boxes.value``.
NORM, OVERLAP, CHOICE = 0, 1, 2
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
#: Bins of the last of the sets.
NOW, RECENTLY = 0, 1


class Boxes(NamedTuple):
    """Boxes in slots 0 to ``used[0] - 1``, the older first."""

    used: NDArray[np.int64]  #: (1,) slots in use, removed ones included
    weight: NDArray[np.float64]  #: (capacity, 2d)
    component: NDArray[np.float64]  #: (2d, capacity) the same, transposed
    value: NDArray[np.float64]  #: (3, capacity) L1 norm; scratch: |x ∧ w| and Eq:FA_T, of all boxes
    #: or of those in ``found``, in the same places
    cells: NDArray[np.uint8]  #: (d, CELLS) bin of every cell, rising
    bins: NDArray[np.int64]  #: (capacity, 2d + 1) bins of lower corner, upper corner and norm
    sets: NDArray[np.uint64]  #: (2d + 2, BINS, capacity / 64) boxes that begin, end, are small,
    #: and, in bins NOW and RECENTLY, those that have changed in this pass, or in this or the last
    levels: NDArray[np.uint8]  #: (2 BYTE_FEATURES at most, capacity) first weights of both corners
    point: NDArray[np.uint8]  #: (2 BYTE_FEATURES at most,) scratch: a sample, rounded up
    slots: NDArray[np.int64]  #: (capacity,) 0, 1, ...
    found: NDArray[np.int64]  #: (capacity,) scratch: boxes looked at, if not all
    near: NDArray[np.uint64]  #: (capacity / 64,) scratch: the same as a set
    left: NDArray[np.int64]  #: (1 + capacity / GROUP,) scratch: groups of it that are not empty
    first: NDArray[np.int64]  #: (SETS,) scratch: where sets to intersect begin


def choose_bins(sample: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Bins that hold equally many of these min-max scaled rows."""
    n_samples, d = sample.shape
    cell = np.clip((sample * CELLS).astype(np.int64), 0, CELLS - 1) + CELLS * np.arange(d)
    held = np.bincount(cell.ravel(), minlength=d * CELLS).reshape(d, CELLS)
    below = np.maximum(held.cumsum(axis=1) - 1, 0)
    return (below * BINS // n_samples).astype(np.uint8)


def make_boxes(
    rows: NDArray[np.float64], capacity: int, cells: NDArray[np.uint8] | None = None
) -> Boxes:
    """Boxes from the rows of an array (C, 2d), with room for at least ``capacity``.

    ``cells``: from :func:`choose_bins`; without it there are no sets to find near boxes by.
    """
    n_boxes, width = rows.shape
    capacity = -(-capacity // GROUP) * GROUP
    weight = aligned_zeros((capacity, width))
    weight[:n_boxes] = rows
    value = aligned_zeros((3, capacity))
    for f in range(width):  # one after the other, as the kernels add
        value[NORM, :n_boxes] += rows[:, f]
    component = aligned_zeros((width, capacity))
    component[:, :n_boxes] = rows.T
    d, few = width // 2, min(width // 2, BYTE_FEATURES)
    levels = aligned_zeros((2 * few, capacity), np.uint8)
    levels[:] = LEVELS
    levels[:, :n_boxes] = LEVELS * np.clip(rows[:, [*range(few), *range(d, d + few)]].T, 0.0, 1.0)
    if cells is None:
        cells, bins = np.zeros((0, CELLS), np.uint8), np.zeros((capacity, 0), np.int64)
        sets = aligned_zeros((0, BINS, capacity // 64), np.uint64)
    else:
        bins = _bins(rows, value[NORM], cells)
        sets = _sets(bins, n_boxes)
    return Boxes(
        used=np.array([n_boxes], np.int64),
        weight=weight,
        component=component,
        value=value,
        cells=cells,
        bins=bins,
        sets=sets,
        levels=levels,
        point=np.zeros(2 * few, np.uint8),
        slots=np.arange(capacity),
        found=np.zeros(capacity, np.int64),
        near=aligned_zeros(capacity // 64, np.uint64),
        left=np.zeros(1 + capacity // GROUP, np.int64),
        first=np.zeros(SETS, np.int64),
    )


def _bins(
    rows: NDArray[np.float64], norm: NDArray[np.float64], cells: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Bins of lower corner, upper corner and norm of every slot."""
    n_boxes, width = rows.shape
    d = width // 2
    bins = np.full((len(norm), width + 1), NOWHERE_ENDS, np.int64)
    bins[:, :d] = NOWHERE_BEGINS
    for first, corner in ((0, rows[:, :d]), (d, 1.0 - rows[:, d:])):
        cell = np.clip((corner * CELLS).astype(np.int64), 0, CELLS - 1)
        bins[:n_boxes, first : first + d] = cells[np.arange(d), cell]
    missing = np.sqrt(np.maximum(1.0 - norm[:n_boxes] / d, 0.0))
    bins[:n_boxes, width] = BINS - 1 - (missing * (BINS - 1)).astype(np.int64)
    return bins


def _sets(bins: NDArray[np.int64], n_boxes: int) -> NDArray[np.uint64]:
    """For every feature and bin the boxes that begin at or below it and that end at or above."""
    capacity, n_sets = bins.shape
    d = n_sets // 2
    sets = aligned_zeros((n_sets + 1, BINS, capacity // 64), np.uint64)
    words = max(1, -(-n_boxes // 64))
    some = np.ascontiguousarray(bins[: 64 * words].T, np.int8)[:, None]
    every = np.arange(BINS, dtype=np.int8)[:, None]
    together = max(1, SETS_SIZE // (BINS * 64 * words))
    for first in range(0, n_sets, together):
        part = np.s_[first : min(first + together, n_sets)]
        member = some[part] >= every
        begins = slice(0, max(0, d - first))
        member[begins] = some[part][begins] <= every
        sets[part, :, :words] = np.packbits(member, axis=-1, bitorder="little").view(np.uint64)
    return sets


@inline
def choices(boxes, x, alpha):
    """Eq:FA_T for all boxes, and |x ∧ w|."""
    # Up to a multiple of WIDTH, unused slots included.
    n, capacity = -(-boxes.used[0] // WIDTH) * WIDTH, boxes.value.shape[1]
    norm, overlap, choice = boxes.value[NORM], boxes.value[OVERLAP], boxes.value[CHOICE]
    for c in range(n):
        overlap[c] = 0.0
    at, width = OVERLAP * capacity, x.shape[0]
    add_minima(boxes.value, at, 0, boxes.component, 0, capacity, x, 0, 1, width, n)
    for c in range(n):
        choice[c] = overlap[c] / (alpha + norm[c])


@inline
def choices_of_found(boxes, x, alpha, start, stop):
    """The same for the boxes in places ``start`` to ``stop`` - 1 of ``found``, in these places."""
    norm, overlap, choice = boxes.value[NORM], boxes.value[OVERLAP], boxes.value[CHOICE]
    for place in range(start, stop):
        weight, total = boxes.weight[boxes.found[place]], 0.0
        for component in range(x.shape[0]):
            w, u = weight[component], x[component]
            total += w if w < u else u
        overlap[place] = total
        choice[place] = total / (alpha + norm[boxes.found[place]])


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
def _bin(boxes, f, position):
    """Bin of a position in feature f."""
    return np.int64(boxes.cells[f, min(max(int(position * CELLS), 0), CELLS - 1)])


@inline
def _norm_bin(share):
    """Bin of a norm, as a share of d: the narrower, the nearer to 1, where most boxes are."""
    missing = math.sqrt(min(max(1.0 - share, 0.0), 1.0))
    return BINS - 1 - int(missing * (BINS - 1))


@inline
def _level(weight):
    """What a weight is of LEVELS, not yet rounded to a byte."""
    return LEVELS * min(max(weight, 0.0), 1.0)


@inline
def has_changed(boxes, c):
    """Whether box c has changed in this pass or the last."""
    changed = boxes.sets[boxes.weight.shape[1] + 1, RECENTLY]
    return changed[c // 64] & (_ONE << np.uint64(c % 64)) != _NOTHING


@inline
def _first_sets(boxes, least_norm, only_changed):
    """Begin ``first`` with the sets of large boxes and, if they are wanted, of changed ones.

    Returns how many they are.
    """
    width, row, first = boxes.weight.shape[1], boxes.sets.shape[2], boxes.first
    first[0] = (BINS * width + _norm_bin(2.0 * least_norm / width)) * row
    first[1] = (BINS * (width + 1) + RECENTLY) * row if only_changed else first[0]
    return 2


@inline
def _leave_out(near, own):
    """Take box ``own`` out of a set, unless it is negative."""
    if own >= 0:
        near[own // 64] &= ~(_ONE << np.uint64(own % 64))


@inline
def _near_by_bins(boxes, x, own, reach, least_norm, only_changed, words):
    """Let ``near`` be the boxes near x but ``own``, by the sets of some features at a time.

    It is enough if few boxes are left: those are cheaper to look at themselves.
    """
    first, near, left = boxes.first, boxes.near, boxes.left
    d, row, done, many = x.shape[0] // 2, boxes.sets.shape[2], 0, True
    while done < d and many:
        begin, count = done, 0
        if done == 0:
            count = _first_sets(boxes, least_norm, only_changed)
        while done < d and count < SETS:
            first[count] = (BINS * done + _bin(boxes, done, x[done] + reach)) * row
            first[count + 1] = (BINS * (d + done) + _bin(boxes, done, x[done] - reach)) * row
            count += 2
            done += 1
        while count % AT_ONCE > 0:
            first[count] = first[0]
            count += 1
        if begin == 0:
            many = intersect(boxes.sets, first, count, words, near, left) > FEW + 1
            _leave_out(near, own)
        else:
            many = narrow(boxes.sets, first, count, words, near, left) > FEW


@inline
def _near_by_bytes(boxes, x, own, reach, least_norm, words):
    """The same by the bytes of all boxes, for a ``reach`` below 1."""
    levels, point, d, few = boxes.levels, boxes.point, x.shape[0] // 2, boxes.levels.shape[0] // 2
    for f in range(few):
        point[f] = np.uint8(math.ceil(_level(x[f])))
        point[few + f] = np.uint8(math.ceil(_level(x[d + f])))
    count = _first_sets(boxes, least_norm, False)
    while count < AT_ONCE:
        boxes.first[count] = boxes.first[0]
        count += 1
    intersect(boxes.sets, boxes.first, count, words, boxes.near, boxes.left)
    _leave_out(boxes.near, own)
    most = int(LEVELS * reach)
    close(levels, levels.shape[1], point, 2 * few, most, boxes.near, boxes.left)


@inline
def find_near(boxes, x, own, distance, smallest, alpha, most, only_changed):
    """List in ``found`` box ``own``, unless it is negative, and the boxes near x.

    Those are within an L1 distance of x and have a norm of at least ``smallest``; some farther
    ones may be among them. All but ``own`` have their choice computed. Returns how many there are,
    or TOO_MANY if more than ``most``. ``only_changed``: looks at no other boxes.
    """
    reach, least_norm = distance + MARGIN, smallest - MARGIN
    words = -(-boxes.used[0] // GROUP) * (GROUP // 64)
    if FAR <= reach < 1.0 and not only_changed:
        _near_by_bytes(boxes, x, own, reach, least_norm, words)
    else:
        _near_by_bins(boxes, x, own, reach, least_norm, only_changed, words)
    boxes.found[0], first = own, 1 if own >= 0 else 0
    count = members(boxes.near, boxes.left, boxes.value, least_norm, boxes.found, first)
    if count > most:
        return TOO_MANY
    choices_of_found(boxes, x, alpha, first, count)
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


@shared
def note(boxes, c):
    """The weights of box c have changed: renew its norm and the sets it is in."""
    width = boxes.weight.shape[1]
    d = width // 2
    norm = 0.0
    for component in range(width):
        norm += boxes.weight[c, component]
        boxes.component[component, c] = boxes.weight[c, component]
    boxes.value[NORM, c] = norm
    few = boxes.levels.shape[0] // 2
    for f in range(few):
        boxes.levels[f, c] = np.uint8(_level(boxes.weight[c, f]))
        boxes.levels[few + f, c] = np.uint8(_level(boxes.weight[c, d + f]))
    for f in range(d):
        _place(boxes, c, f, _bin(boxes, f, boxes.weight[c, f]))
        _place(boxes, c, d + f, _bin(boxes, f, 1.0 - boxes.weight[c, d + f]))
    _place(boxes, c, width, _norm_bin(norm / d))
    for when in (NOW, RECENTLY):
        boxes.sets[width + 1, when, c // 64] |= _ONE << np.uint64(c % 64)


@inline
def learn(boxes, c, x, beta):
    """Eq:FA_learn. Returns whether the box has changed."""
    changed, outside, weight = False, 0, boxes.weight[c]
    for component in range(x.shape[0]):
        outside += x[component] < weight[component]
    if beta == 1.0 and outside == 0:
        return False
    for component in range(x.shape[0]):
        old = weight[component]
        new = (1.0 - beta) * old + beta * min(x[component], old)
        if new != old:
            weight[component] = new
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


@shared
def bury(boxes, c):
    """Remove a box; its slot stays empty."""
    width = boxes.weight.shape[1]
    for component in range(width):
        boxes.weight[c, component] = -1.0
        boxes.component[component, c] = -1.0
        nowhere = NOWHERE_BEGINS if component < width // 2 else NOWHERE_ENDS
        _place(boxes, c, component, np.int64(nowhere))
    for row in range(boxes.levels.shape[0]):
        boxes.levels[row, c] = LEVELS
    boxes.value[NORM, c] = 0.0
    _place(boxes, c, width, np.int64(NOWHERE_ENDS))
