"""Which samples every category holds, and the box they span.

Samples of a category are listed on pages, the last of which may have room: one that joins is put at
the end, one that leaves gives its place to the last. So both take constant time, and most samples
are read without waiting for where the next one is. A box is *tight* if it is exactly the box of its
samples; then one that leaves matters only for the bounds it touches.

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
from icvi_artmap._compile.vectors import aligned_zeros
from icvi_artmap.network.boxes import bury, note
from icvi_artmap.samples.scaling import coded_value, row_of

NONE = -1
#: Samples kept next to every bound.
RESERVE = 8
#: With more features there are too many bounds for that.
RESERVE_FEATURES = 64
#: Samples of a category that are looked at together.
TOGETHER = 256
#: Numbers on a page, a cache line: the page before it, then samples.
PAGE = 16
#: Samples on a page.
LINES = PAGE - 1
#: Samples and their places are numbered by 32 bits.
MOST_SAMPLES = 10**9


class Members(NamedTuple):
    """Samples of every category slot."""

    category: NDArray[np.int32]  #: (N,) J, the slot of every sample
    settled: NDArray[np.bool_]  #: (N,) whether that box came first when it was last presented
    place: NDArray[np.int32]  #: (N,) where it is listed, in ``pages`` as one array
    pages: NDArray[np.int32]  #: (n_pages, PAGE) the page before, or NONE, and samples
    page: NDArray[np.int32]  #: (capacity,) the last page of a category, or NONE
    unused: NDArray[np.int64]  #: (1,) a page that is not in use; the others are those before it
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
    held = np.bincount(labels, minlength=capacity)
    end = (-(-held // LINES)).cumsum()  # where the pages of a category end
    pages, place = _empty_pages(_pages_needed(n_samples, capacity)), np.empty(n_samples, np.int32)
    pages[end[-1], 0] = NONE
    for c in np.flatnonzero(held):  # a few categories: the first ones
        samples, first = np.flatnonzero(labels == c), end[c - 1] if c > 0 else 0
        number = np.arange(held[c], dtype=np.int32)
        place[samples] = PAGE * (first + number // LINES) + 1 + number % LINES
        pages.reshape(-1)[place[samples]] = samples
        pages[first, 0] = NONE
    size = RESERVE if n_features <= RESERVE_FEATURES else 1
    return Members(
        category=labels.astype(np.int32),
        settled=np.zeros(n_samples, np.bool_),
        place=place,
        pages=pages,
        page=np.where(held > 0, end - 1, NONE).astype(np.int32),
        unused=np.array([len(pages) - 1]),
        held=held,
        tight=np.zeros(capacity, np.bool_),
        reserve=np.full((capacity, width, size), NONE, np.int32),
        beyond=np.full((capacity, width), -np.inf),
        values=np.empty((width, size)),
        wanted=np.empty(width, np.int64),
        some=np.empty(TOGETHER, np.int32),
        read=np.empty(TOGETHER),
    )


def _pages_needed(n_samples: int, capacity: int) -> int:
    """Every category may have a page that is not full; one more is never used."""
    return n_samples // LINES + capacity + 1


def _empty_pages(n_pages: int) -> NDArray[np.int32]:
    """Pages without samples, each behind the one before."""
    pages = aligned_zeros((n_pages, PAGE), np.int32)
    pages[:, 0] = np.arange(NONE, n_pages - 1)
    return pages


@inline
def begin(members, c):
    """Slot c becomes a category without samples."""
    members.page[c] = NONE
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
    page, line = np.int64(members.page[c]), members.held[c] % LINES + 1
    if line == 1:
        page, before = members.unused[0], page
        members.unused[0] = members.pages[page, 0]
        members.pages[page, 0] = before
        members.page[c] = page
    members.pages[page, line] = s
    members.place[s] = PAGE * page + line
    members.category[s] = c
    members.held[c] += 1


@inline
def leave(members, s):
    """Sample s leaves its category."""
    c, place = np.int64(members.category[s]), members.place[s]
    members.held[c] -= 1
    page, line = np.int64(members.page[c]), members.held[c] % LINES + 1
    last = members.pages[page, line]
    members.pages[place // PAGE, place % PAGE] = last
    members.place[last] = place
    if line == 1:
        members.page[c] = members.pages[page, 0]
        members.pages[page, 0] = members.unused[0]
        members.unused[0] = page


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
    page, lines, left = members.page[c], (members.held[c] - 1) % LINES + 1, members.held[c]
    while left > 0:
        some = 0
        while left > 0 and some + LINES <= members.some.shape[0]:
            for line in range(lines):
                members.some[some + line] = members.pages[page, 1 + line]
            some += lines
            left -= lines
            page, lines = members.pages[page, 0], LINES
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
    pages, n_pages = members.pages, _pages_needed(len(members.category), capacity)
    if n_pages > len(pages):
        pages = _empty_pages(n_pages)
        pages[: len(members.pages)] = members.pages
        pages[len(members.pages), 0] = members.unused[0]
        members.unused[0] = n_pages - 1
    return members._replace(
        pages=pages,
        page=moved(members.page),
        held=moved(members.held),
        tight=moved(members.tight),
        reserve=moved(members.reserve),
        beyond=moved(members.beyond),
    )
