"""Which samples every category holds, and the box they span.

Doubly linked lists through arrays: a sample leaves or joins in constant time. A box is *tight* if
it is exactly the box of its samples; then one that leaves matters only for the bounds it touches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._jit import inline
from icvi_artmap.art.boxes import Boxes, bury, make_boxes, note

NONE = -1


class Members(NamedTuple):
    """Samples of every category slot."""

    category: NDArray[np.int64]  #: (N,) J, the slot of every sample
    following: NDArray[np.int64]  #: (N,) next sample of the same category, or NONE
    preceding: NDArray[np.int64]  #: (N,) the one before, or NONE
    first: NDArray[np.int64]  #: (capacity,) first sample of a category, or NONE
    held: NDArray[np.int64]  #: (capacity,) number of samples
    tight: NDArray[np.bool_]  #: (capacity,)


def make_members(category: NDArray[np.int64], capacity: int) -> Members:
    """Lists of the samples of every category, from the category of every sample."""
    following = np.full(len(category), NONE, np.int64)
    preceding = np.full(len(category), NONE, np.int64)
    first = np.full(capacity, NONE, np.int64)
    by_category = np.argsort(category, kind="stable")
    starts = np.flatnonzero(np.diff(category[by_category], prepend=NONE))
    first[category[by_category[starts]]] = by_category[starts]
    following[by_category[:-1]] = by_category[1:]
    following[by_category[starts[1:] - 1]] = NONE
    preceding[by_category[1:]] = by_category[:-1]
    preceding[by_category[starts]] = NONE
    return Members(
        category=category,
        following=following,
        preceding=preceding,
        first=first,
        held=np.bincount(category, minlength=capacity),
        tight=np.zeros(capacity, np.bool_),
    )


@inline
def join(members, s, c):
    """Sample s joins category c."""
    head = members.first[c]
    members.category[s] = c
    members.following[s] = head
    members.preceding[s] = NONE
    if head != NONE:
        members.preceding[head] = s
    members.first[c] = s
    members.held[c] += 1


@inline
def leave(members, s):
    """Sample s leaves its category."""
    c = members.category[s]
    before, after = members.preceding[s], members.following[s]
    if before == NONE:
        members.first[c] = after
    else:
        members.following[before] = after
    if after != NONE:
        members.preceding[after] = before
    members.held[c] -= 1


@inline
def shrink(boxes, members, data, c, x):
    """Eq:shrinkage: sample ``x`` has left category c; its box becomes that of the samples left.

    The complement code is monotone in every feature, so the AND of the members is their smallest
    and largest scaled value.
    """
    if members.held[c] == 0:
        bury(boxes, c)
        return
    d, changed, weight = data.table.shape[1], False, boxes.weight[c]
    for f in range(d):
        if not members.tight[c] or weight[f] == x[f] or weight[d + f] == x[d + f]:
            changed = True
            smallest, largest = np.inf, -np.inf
            s = members.first[c]
            while s != NONE:
                smallest = min(smallest, data.table[s, f])
                largest = max(largest, data.table[s, f])
                s = members.following[s]
            weight[f] = smallest
            weight[d + f] = 1.0 - largest
    if changed:
        note(boxes, c)
    members.tight[c] = True


def compact(
    boxes: Boxes, map_field: NDArray[np.float64], members: Members, capacity: int
) -> tuple[Boxes, NDArray[np.float64], Members]:
    """The same categories in the same order, without empty slots, in arrays of a new capacity."""
    alive = np.flatnonzero(members.held[: boxes.used[0]] > 0)
    slot = np.full(boxes.used[0], NONE, np.int64)
    slot[alive] = np.arange(len(alive))
    rows = np.zeros((capacity, map_field.shape[1]))
    rows[: len(alive)] = map_field[alive]
    first = np.full(capacity, NONE, np.int64)
    first[: len(alive)] = members.first[alive]
    held = np.zeros(capacity, np.int64)
    held[: len(alive)] = members.held[alive]
    tight = np.zeros(capacity, np.bool_)
    tight[: len(alive)] = members.tight[alive]
    np.take(slot, members.category, out=members.category)
    renewed = make_boxes(boxes.weight[alive], capacity)
    return renewed, rows, members._replace(first=first, held=held, tight=tight)
