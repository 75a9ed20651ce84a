"""The search for the box that resonates with a sample: the only one, for all networks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline
from icvi_artmap._compile.sets import first_largest
from icvi_artmap.network import boxes as box
from icvi_artmap.network import map_field as field
from icvi_artmap.network import members as mem

#: Up to this many boxes all are looked at.
FEW_BOXES = 8
#: The same for a sample that has no box yet, whose choice the others would have to beat.
SOME_BOXES = 128
#: Distances at which boxes are looked for: the first after the sample's own box, and their growth.
NEAR, FARTHER = 0.03, 4.0
#: Places in the reach of a network.
RHO_A, RHO_AB, BELOW_AB = 0, 1, 2
#: In place of a number of boxes.
ALL_BOXES = box.TOO_MANY


def new_reach() -> NDArray[np.float64]:
    """For what other vigilances all searches so far would have ended as they did.

    For a rho_a up to RHO_A, the least match of a box that came up before match tracking (with
    ε >= 0: then rho_a matters no more), and a rho_ab above BELOW_AB, the largest map field match
    that failed, up to RHO_AB, the least one that did not.
    """
    return np.array([np.inf, np.inf, -np.inf])


@inline
def next_box(boxes, count, norm, rho, last, limit, least):
    """The box that comes next in the search: of largest choice after box ``last``, match >= rho.

    Looks at all boxes if ``count`` is ALL_BOXES, else at the first ``count`` of ``found``, and only
    at choices of at least ``least``; ``limit`` is that of ``last``. Of equal choices the older box
    comes first. Returns its place among them, or NONE.
    """
    overlap, choice = boxes.value[box.OVERLAP], boxes.value[box.CHOICE]
    if count == ALL_BOXES:
        count, slots = boxes.used[0], boxes.slots
    else:
        slots = boxes.found
    return first_largest(choice, overlap, slots, count, norm, rho, least, limit, last)


@inline
def search(network, k, x_a, norm, y, own, inside, settled, parameters):
    """Rule 6: the box that resonates with x_a and y, or NONE; its match; whether it came first.

    ``own``: the sample's present box, or NONE; ``inside``: whether it is known to be around the
    sample, so that |x ∧ w| = |w|. ``network`` has ``boxes``, ``map_field`` and ``reach``;
    ``parameters`` has rho_a, rho_ab, alpha and epsilon.

    Boxes come in the order of their choice values; one that fails the map field sets rho to its
    match + ε, but never below rho_a. With ε >= 0 rho only rises, and bounds what follows; with
    ε < 0 it may fall again, and only rho_a is a bound.

    Where there are many boxes, only those within a distance D of x are looked at: a farther one has
    a choice below (d - D) / (α + d), and a match of at least rho needs D <= d - rho |x|. The
    distance grows until one of the two shows that no other box matters. A sample without a box of
    its own is first looked for in the boxes around it, then in all.
    """
    boxes, reach, alpha, d = network.boxes, network.reach, parameters.alpha, x_a.shape[0] // 2
    rho, last, limit = parameters.rho_a, mem.NONE, np.inf
    count, distance, least, only_changed = ALL_BOXES, np.inf, -np.inf, False
    if own == mem.NONE:
        if boxes.used[0] > SOME_BOXES:
            distance, least = NEAR, (d - NEAR) / (alpha + d)
    elif boxes.used[0] > FEW_BOXES:
        boxes.found[0] = own
        if inside:
            overlap = boxes.value[box.NORM, own]
            boxes.value[box.OVERLAP, 0] = overlap
            boxes.value[box.CHOICE, 0] = overlap / (alpha + overlap)
        else:
            box.choices_of_found(boxes, x_a, alpha, 0, 1)
        least = boxes.value[box.CHOICE, 0]
        distance = d * (1.0 - least) - alpha * least
        only_changed = settled and not box.has_changed(boxes, own)
    while True:
        if distance < np.inf:
            # |x ∧ w| <= |w|: a box too large for the match or the choice wanted is left out.
            smallest = (rho if parameters.epsilon >= 0.0 else parameters.rho_a) * norm
            if least > 0.0:
                smallest = max(smallest, alpha * least / (1.0 - least))
            most = boxes.used[0] // 8
            count = box.find_near(boxes, x_a, own, distance, smallest, alpha, most, only_changed)
        if count == ALL_BOXES:
            box.choices(boxes, x_a, alpha)
            least, only_changed = -np.inf, False
        while True:
            at = next_box(boxes, count, norm, rho, last, limit, least)
            if at == mem.NONE:
                break
            c = at if count == ALL_BOXES else boxes.found[at]
            match = boxes.value[box.OVERLAP, at] / norm
            if rho == parameters.rho_a:
                reach[RHO_A] = min(reach[RHO_A], match)
            match_ab = field.match(network.map_field[c], k, y)
            if match_ab >= parameters.rho_ab:
                reach[RHO_AB] = min(reach[RHO_AB], match_ab)
                return c, match, last == mem.NONE
            reach[BELOW_AB] = max(reach[BELOW_AB], match_ab)
            if only_changed:  # the others are needed, too: once more from the beginning
                break
            rho = max(match + parameters.epsilon, parameters.rho_a)
            last, limit = c, boxes.value[box.CHOICE, at]
        if only_changed:
            only_changed = False
            continue
        if least == -np.inf:
            return mem.NONE, 0.0, False
        if own == mem.NONE:  # it lies in no box: boxes at a distance are too many to look for
            count, distance = ALL_BOXES, np.inf
            continue
        matching = d - (rho if parameters.epsilon >= 0.0 else parameters.rho_a) * norm
        distance = max(FARTHER * distance, NEAR)
        least = (d - distance) / (alpha + d)
        if distance >= matching:
            distance, least = matching, -np.inf
