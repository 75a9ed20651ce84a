"""Which samples every category holds, and the box they span.

Doubly linked lists through arrays: a sample leaves or joins in constant time. A box is *tight* if
it is exactly the box of its samples; then one that leaves matters only for the bounds it touches.

A bound is the least value of one component of the complement code among the samples. To find the
next one without looking at all samples, each bound has a reserve: the RESERVE samples of least
value when the bound was last looked for, and a value ``beyond`` such that every sample of a lesser
value is among them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, shared
from icvi_artmap.network.boxes import bury, note
from icvi_artmap.samples.scaling import coded_value, row_of

NONE = -1
#: Samples kept next to every bound.
RESERVE = 8
#: With more features there are too many bounds for that.
RESERVE_FEATURES = 64
#: Samples of a category that are looked at together.
TOGETHER = 256
#: Samples are numbered by 32 bits.
MOST_SAMPLES = 2**31 - 1


class Members(NamedTuple):
    """Samples of every category slot."""

    category: NDArray[np.int32]  #: (N,) J, the slot of every sample
    following: NDArray[np.int32]  #: (N,) next sample of the same category, or NONE
    preceding: NDArray[np.int32]  #: (N,) the one before, or NONE
    first: NDArray[np.int32]  #: (capacity,) first sample of a category, or NONE
    held: NDArray[np.int64]  #: (capacity,) number of samples
    tight: NDArray[np.bool_]  #: (capacity,)
    reserve: NDArray[np.int32]  #: (capacity, 2d, RESERVE) samples next to every bound, or NONE
    beyond: NDArray[np.float64]  #: (capacity, 2d) all samples of a lesser value are in reserve
    values: NDArray[np.float64]  #: (2d, RESERVE) scratch: values of the reserve
    wanted: NDArray[np.int64]  #: (2d,) scratch: components to look for
    some: NDArray[np.int32]  #: (TOGETHER,) scratch: samples
    read: NDArray[np.float64]  #: (TOGETHER,) scratch: a component of each


def make_members(labels: NDArray[np.int64], capacity: int, n_features: int) -> Members:
    """Lists of the samples of every category, from the category of every sample."""
    n_samples, width = len(labels), 2 * n_features
    if n_samples > MOST_SAMPLES:
        raise ValueError(
            f"X has {n_samples:,} rows; at most {MOST_SAMPLES:,} can be clustered at a time. "
            "Fit a sample of the rows and use predict for the others."
        )
    following = np.full(n_samples, NONE, np.int32)
    preceding = np.full(n_samples, NONE, np.int32)
    first = np.full(capacity, NONE, np.int32)
    held = np.bincount(labels, minlength=capacity)
    for c in np.flatnonzero(held):  # a few categories: the first ones
        samples = np.flatnonzero(labels == c).astype(np.int32)
        first[c] = samples[0]
        following[samples[:-1]] = samples[1:]
        preceding[samples[1:]] = samples[:-1]
    size = RESERVE if n_features <= RESERVE_FEATURES else 1
    return Members(
        category=labels.astype(np.int32),
        following=following,
        preceding=preceding,
        first=first,
        held=held,
        tight=np.zeros(capacity, np.bool_),
        reserve=np.full((capacity, width, size), NONE, np.int32),
        beyond=np.full((capacity, width), -np.inf),
        values=np.empty((width, size)),
        wanted=np.empty(width, np.int64),
        some=np.empty(TOGETHER, np.int32),
        read=np.empty(TOGETHER),
    )


@inline
def begin(members, c):
    """Slot c becomes a category without samples."""
    members.first[c] = NONE
    members.held[c] = 0
    members.tight[c] = True
    for component in range(members.beyond.shape[1]):
        members.beyond[c, component] = -np.inf


@inline
def _value(data, row, component):
    """One component of the complement code of the sample in this row."""
    d = data.scale.shape[0]
    if component < d:
        return coded_value(data, row, component)
    return 1.0 - coded_value(data, row, component - d)


@inline
def _keep(members, data, s, c, component, value):
    """Take sample s, of a value less than ``beyond``, into the reserve of a bound.

    It takes an empty place or that of a sample that has left, else that of the largest value, which
    then is the new ``beyond``.
    """
    reserve = members.reserve[c, component]
    place, largest = -1, value
    for p in range(reserve.shape[0]):
        if reserve[p] == NONE or members.category[reserve[p]] != c:
            reserve[p] = s
            return
        other = _value(data, row_of(data, reserve[p]), component)
        if other > largest:
            place, largest = p, other
    members.beyond[c, component] = largest
    if place >= 0:
        reserve[place] = s


@inline
def join(members, data, s, c, x):
    """Sample s joins category c; ``x`` is its complement code."""
    for component in range(x.shape[0]):
        if x[component] < members.beyond[c, component]:
            _keep(members, data, s, c, component, x[component])
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
    c = np.int64(members.category[s])
    before, after = members.preceding[s], members.following[s]
    if before == NONE:
        members.first[c] = after
    else:
        members.following[before] = after
    if after != NONE:
        members.preceding[after] = before
    members.held[c] -= 1


@inline
def _from_reserve(members, data, c, component):
    """The least value, if the reserve knows it, else infinity."""
    least = np.inf
    for s in members.reserve[c, component]:
        if s != NONE and members.category[s] == c:
            least = min(least, _value(data, row_of(data, s), component))
    return least if least <= members.beyond[c, component] else np.inf


@shared
def _look(members, data, c, count):
    """Find the least values of ``count`` components, listed in ``wanted``; fill their reserves.

    One pass over the samples of the category, whatever the count. Samples lie anywhere in memory:
    some are listed, then their values read, then compared, so that none is waited for alone.
    """
    size = members.reserve.shape[2]
    for w in range(count):
        for p in range(size):
            members.values[members.wanted[w], p] = np.inf
            members.reserve[c, members.wanted[w], p] = NONE
    s = members.first[c]
    while s != NONE:
        some = 0
        while s != NONE and some < members.some.shape[0]:
            members.some[some] = s
            some += 1
            s = members.following[s]
        for w in range(count):
            component = members.wanted[w]
            for t in range(some):
                row = row_of(data, members.some[t])
                members.read[t] = _value(data, row, component)
            values, reserve = members.values[component], members.reserve[c, component]
            for t in range(some):
                value, p = members.read[t], size - 1
                if value < values[p]:
                    while p > 0 and values[p - 1] > value:
                        values[p] = values[p - 1]
                        reserve[p] = reserve[p - 1]
                        p -= 1
                    values[p] = value
                    reserve[p] = members.some[t]
    for w in range(count):
        component = members.wanted[w]
        members.beyond[c, component] = members.values[component, size - 1]


@inline
def shrink(boxes, members, data, c, x):
    """Eq:shrinkage: sample ``x`` has left category c; its box becomes that of the samples left.

    The AND of the members has the least value of every component.
    """
    if members.held[c] == 0:
        bury(boxes, c)
        return
    weight, count, changed = boxes.weight[c], np.int64(0), False
    for component in range(x.shape[0]):
        if not members.tight[c] or weight[component] == x[component]:
            changed = True
            weight[component] = _from_reserve(members, data, c, component)
            if weight[component] == np.inf:
                members.wanted[count] = component
                count += 1
    if count > 0:
        _look(members, data, c, count)
        for w in range(count):
            weight[members.wanted[w]] = members.values[members.wanted[w], 0]
    if changed:
        note(boxes, c)
        members.tight[c] = True


def renumbered(members: Members, alive: NDArray[np.int64], n_slots: int, capacity: int) -> Members:
    """The members of the categories ``alive`` of ``n_slots``, now numbered 0, 1, ..., with room."""
    slot = np.full(n_slots, NONE, np.int32)
    slot[alive] = np.arange(len(alive))

    def moved(old: NDArray[Any]) -> NDArray[Any]:
        new = np.zeros((capacity, *old.shape[1:]), old.dtype)
        new[: len(alive)] = old[alive]
        return new

    np.take(slot, members.category, out=members.category)
    return members._replace(
        first=moved(members.first),
        held=moved(members.held),
        tight=moved(members.tight),
        reserve=moved(members.reserve),
        beyond=moved(members.beyond),
    )
