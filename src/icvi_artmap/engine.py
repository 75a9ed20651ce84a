"""The sample loop of one epoch, compiled; nothing else.

What happens rarely (no room for another category, an emptied cluster, digits lost in the moments)
is left to the caller: ``present`` returns early, the caller tidies up, and calls it again. So no
array is re-bound in the loop, and little has to be compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap import moments as mom
from icvi_artmap._jit import inline, jit
from icvi_artmap.art import boxes as box
from icvi_artmap.art import map_field as field
from icvi_artmap.art import members as mem
from icvi_artmap.indices import contract
from icvi_artmap.scaling import coded_row, standardised_row


class Parameters(NamedTuple):
    """The paper's parameters that the sample loop needs."""

    rho_a: float
    rho_ab: float
    beta_a: float
    alpha: float
    epsilon: float
    beta_ab: float


class Network(NamedTuple):
    """ARTa and the map field."""

    boxes: box.Boxes
    map_field: NDArray[np.float64]  #: (capacity, k)
    members: mem.Members


class Scratch(NamedTuple):
    """Room for one presentation."""

    x_a: NDArray[np.float64]  #: (2d,)
    x_b: NDArray[np.float64]  #: (d,)
    trial: NDArray[np.float64]  #: (k,) T


def make_scratch(n_features: int, capacity: int) -> Scratch:
    return Scratch(np.empty(2 * n_features), np.empty(n_features), np.empty(capacity))


@inline
def teaching_cluster(trial, k, src, resolution):
    """Eq:ARTb_yF2 and rule 5: the cluster to teach, or ALL where all trials are equal.

    The present cluster wins ties, then the lowest index.
    """
    best, least = trial[0], trial[0]
    for i in range(1, k):
        best = max(best, trial[i])
        least = min(least, trial[i])
    # Infinities are equal to themselves, though their difference is not a number.
    if least == best or least >= best - resolution:
        return field.ALL
    if trial[src] == best or trial[src] >= best - resolution:
        return src
    winner = 0
    while trial[winner] != best and not trial[winner] >= best - resolution:
        winner += 1
    return winner


@inline
def search(network, k, x_a, norm, y, parameters):
    """rule 6: the box that resonates with x_a and y, or NONE.

    Boxes come in the order of their choice values. Match tracking only ever raises rho, so a box
    that was passed over stays so, and one that failed the map field has a match below the new rho.
    """
    boxes = network.boxes
    box.choices(boxes, x_a, parameters.alpha)
    rho = parameters.rho_a
    last_choice, last = np.inf, mem.NONE
    while True:
        best = mem.NONE
        best_choice = -np.inf
        for c in range(boxes.used[0]):
            choice = boxes.choice[c]
            if choice > best_choice and boxes.overlap[c] / norm >= rho:
                after = choice < last_choice or (choice == last_choice and c > last)
                if after:
                    best, best_choice = c, choice
        if best == mem.NONE:
            return mem.NONE
        if field.match(network.map_field[best], k, y) >= parameters.rho_ab:
            return best
        rho = boxes.overlap[best] / norm + parameters.epsilon
        last_choice, last = best_choice, best


@inline
def commit(network, k, x_a):
    """rule 7: a new box equal to x_a, with a map field row of ones."""
    c = box.append(network.boxes, x_a)
    for i in range(k):
        network.map_field[c, i] = 1.0
    network.members.first[c] = mem.NONE
    network.members.held[c] = 0
    network.members.tight[c] = True
    return c


@jit
def present(data, network, labels, state, parameters, scratch, start, stop, trace):
    """Algorithm 1, samples ``start`` to ``stop`` - 1, one after the other.

    Returns the first sample not presented: ``stop``, or an earlier one if something is to be tidied
    up first. ``trace``: scores wanted, if not empty.
    """
    boxes, members, m = network.boxes, network.members, state.moments
    x_a, x_b = scratch.x_a, scratch.x_b
    for s in range(start, stop):
        if boxes.used[0] == boxes.norm.shape[0]:
            return s
        norm = coded_row(data, s, x_a)
        standardised_row(data, s, x_b)
        src, left, k = labels[s], members.category[s], m.size[0]
        y = field.ALL
        if k > 1:
            resolution = contract.trial_moves(state, s, x_b, src, scratch.trial)
            y = teaching_cluster(scratch.trial, k, src, resolution)
        c = search(network, k, x_a, norm, y, parameters)
        if c == mem.NONE:
            c = commit(network, k, x_a)
        elif box.learn(boxes, c, x_a, parameters.beta_a) and parameters.beta_a < 1.0:
            members.tight[c] = False
        field.learn(network.map_field[c], k, y, parameters.beta_ab)
        dst = field.predict(network.map_field[c], k)
        if c != left:
            mem.leave(members, s)
            mem.join(members, s, c)
            mem.shrink(boxes, members, data, left, x_a)
        if dst != src:
            labels[s] = dst
            contract.move(state, x_b, src, dst)
            if m.n[src] == 0 or not (mom.trusted(m, src) and mom.trusted(m, dst)):
                return s + 1
        if trace.shape[0] > 0:
            trace[s] = contract.score(state)
    return stop
