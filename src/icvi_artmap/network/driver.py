"""The driver of all ART networks: what a network is, how it learns a sample, and in which chunks.

iCVI-ARTMAP and the ART family share it. What they do beside it, each in its own sample loop, is to
keep the members of categories (:mod:`icvi_artmap.training.sample_loop`), or to count clusters
(:mod:`icvi_artmap.network.fuzzy_art`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap.network import boxes as box
from icvi_artmap.network import map_field as field
from icvi_artmap.network.members import NONE
from icvi_artmap.network.resonance import new_reach, search

#: Compiled code runs for about this long before Python gets to see an interrupt.
CHUNK_SECONDS = 0.1
#: A network that is full gets room for this many times the categories it has.
GROWTH = 2


class Parameters(NamedTuple):
    """What learning depends on; the defaults switch a part of it off."""

    rho_a: float  #: vigilance of the categories; the lower one of two
    rho_ab: float = 0.0  #: vigilance of the map field
    beta_a: float = 1.0  #: learning rate of the categories
    alpha: float = 1e-3  #: choice parameter
    epsilon: float = 0.0  #: match tracking
    beta_ab: float = 1.0  #: learning rate of the map field
    rho_ub: float = 0.0  #: the upper one of two vigilances of the categories


class Network(NamedTuple):
    """Categories and map field, with room for ``capacity`` categories."""

    boxes: box.Boxes
    map_field: NDArray[np.float64]  #: (capacity, k)
    reach: NDArray[np.float64]  #: see :func:`icvi_artmap.network.resonance.new_reach`


def make_network(
    rows: NDArray[np.float64], cells: NDArray[np.uint8], n_columns: int, capacity: int
) -> Network:
    """A network of these boxes, (C, 2d), with a map field of ones.

    ``cells`` are the bins of the features, from :func:`icvi_artmap.network.boxes.choose_bins`.
    """
    boxes = box.make_boxes(rows, capacity, cells)
    return Network(boxes, np.ones((len(boxes.found), n_columns)), new_reach())


def with_categories(network: Network, kept: NDArray[np.int64], capacity: int) -> Network:
    """Only these categories, in this order, with room for at least ``capacity``."""
    boxes = network.boxes
    n_columns = network.map_field.shape[1]
    new = make_network(boxes.weight[kept], boxes.cells, n_columns, capacity)
    new.map_field[: len(kept)] = network.map_field[kept]
    for when in (box.NOW, box.RECENTLY):
        source, target = boxes.sets[-1, when], new.boxes.sets[-1, when]
        bits = np.zeros(len(new.boxes.found), np.bool_)
        bits[: len(kept)] = np.unpackbits(source.view(np.uint8), bitorder="little")[kept]
        target[:] = np.packbits(bits, bitorder="little").view(np.uint64)
    return new._replace(reach=network.reach)


def begin_pass(network: Network) -> None:
    """All samples are going to be presented."""
    changed = network.boxes.sets[-1]
    changed[box.RECENTLY] = changed[box.NOW]
    changed[box.NOW] = 0


def predictions(network: Network, k: int) -> NDArray[np.int64]:
    """The one of k clusters that every category predicts."""
    return field.predictions(network.map_field[: int(network.boxes.used[0])], k)


def is_full(network: Network) -> bool:
    """Whether there is no room for another category."""
    return int(network.boxes.used[0]) == len(network.boxes.found)


@inline
def learn(network, k, x_a, norm, y, own, inside, settled, parameters):
    """One presentation: search, then learn the sample or commit a category to it.

    ``x_a``: the sample in complement code, of L1 norm ``norm``. ``y``: the column of the map field
    to teach, or ALL. ``own``: the category that the sample is in so far, or NONE; ``inside``:
    whether its box is known to be around the sample; ``settled``: what this function said when the
    sample was last presented. Returns the category that has learned it; the one that the search has
    found, which is another one (or NONE) if a category was committed; whether a box that was found
    has changed; and whether the sample is settled: in the box that came first.
    """
    boxes, changed = network.boxes, False
    found, match, settled = search(network, k, x_a, norm, y, own, inside, settled, parameters)
    c = found
    if found != NONE and match >= parameters.rho_ub:
        if not (inside and found == own and parameters.beta_a == 1.0):
            changed = box.learn(boxes, found, x_a, parameters.beta_a)
    else:  # rule 7: a box equal to x_a, with a map field row of ones
        c, settled = box.append(boxes, x_a), False
        for i in range(k):
            network.map_field[c, i] = 1.0
    field.learn(network.map_field[c], k, y, parameters.beta_ab)
    return c, found, changed, settled


@dataclass
class Pace:
    """How many samples to present between two looks for an interrupt."""

    size: int = 1

    def adapt(self, made: int, seconds: float) -> None:
        """So many presentations took so long: half a chunk's time to twice of it is near enough."""
        if seconds < CHUNK_SECONDS / 2:
            self.size = max(self.size, made * (2 if seconds > CHUNK_SECONDS / 16 else 8))
        elif seconds > 2 * CHUNK_SECONDS:
            self.size = max(1, made // 2)


def in_chunks(n_presentations: int, pace: Pace, present: Callable[[int, int], int]) -> None:
    """Make all presentations, some at a time: an interrupt is seen between them.

    ``present(start, stop)`` makes presentations ``start`` to ``stop`` - 1 and tidies up. It returns
    the first one not made, which is earlier than ``stop`` if there was something to tidy up, and
    later if the others are not needed.
    """
    at = 0
    while at < n_presentations:
        stop = min(at + pace.size, n_presentations)
        start, started = at, time.perf_counter()
        at = present(start, stop)
        pace.adapt(min(at, stop) - start, time.perf_counter() - started)
