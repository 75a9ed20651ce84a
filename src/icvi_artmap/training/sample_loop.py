"""The sample loop of one epoch, compiled; nothing else.

What happens rarely (no room for another category, an emptied cluster, digits lost in the moments)
is left to the caller: ``present`` returns early, the caller tidies up, and calls it again. So no
array is re-bound in the loop, and little has to be compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, jit
from icvi_artmap.indices import base as contract
from icvi_artmap.network import boxes as box
from icvi_artmap.network import map_field as field
from icvi_artmap.network import members as mem
from icvi_artmap.network.resonance import search
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import coded_row, standardised_row

#: What a presentation does: all of Algorithm 1; only move the sample to the cluster that the index
#: prefers, unless that empties one; only teach the network the cluster that the sample is in.
LEARN, SWEEP, TEACH = 0, 1, 2
#: In place of numbers of samples: all of them.
EVERYONE = np.empty(0, np.int64)


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
    reach: NDArray[np.float64]  #: see :func:`icvi_artmap.network.resonance.new_reach`


class Scratch(NamedTuple):
    """Room for one presentation, and a counter."""

    x_a: NDArray[np.float64]  #: (2d,)
    x_b: NDArray[np.float64]  #: (d,)
    trial: NDArray[np.float64]  #: (k,) T
    moved: NDArray[np.int64]  #: (1,) how many samples have changed their cluster


def make_scratch(n_features: int, capacity: int) -> Scratch:
    return Scratch(
        np.empty(2 * n_features), np.empty(n_features), np.empty(capacity), np.zeros(1, np.int64)
    )


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
def commit(network, k, x_a):
    """rule 7: a new box equal to x_a, with a map field row of ones."""
    c = box.append(network.boxes, x_a)
    for i in range(k):
        network.map_field[c, i] = 1.0
    mem.begin(network.members, c)
    return c


@jit
def present(data, network, labels, state, parameters, scratch, start, stop, trace, rows, mode):
    """Algorithm 1, presentations ``start`` to ``stop`` - 1, one after the other.

    Returns the first one not made: ``stop``, or an earlier one if something is to be tidied up
    first. ``trace``: scores wanted, if not empty. ``rows``: the samples, EVERYONE for all in order.
    ``mode``: LEARN, or a part of it, SWEEP or TEACH.
    """
    boxes, members, m = network.boxes, network.members, state.moments
    x_a, x_b = scratch.x_a, scratch.x_b
    for t in range(start, stop):
        if boxes.used[0] == boxes.found.shape[0] and mode != SWEEP:
            return t
        s = rows[t] if rows.shape[0] > 0 else t
        standardised_row(data, s, x_b)
        src, k = labels[s], m.size[0]
        y = src if mode == TEACH else field.ALL
        if k > 1 and (mode == LEARN or (mode == SWEEP and m.n[src] > 1)):
            resolution = contract.trial_moves(state, s, x_b, src, scratch.trial)
            y = teaching_cluster(scratch.trial, k, src, resolution)
        dst = src if y == field.ALL else y
        if mode != SWEEP:
            norm = coded_row(data, s, x_a)
            # int64, as every other number of a box: a function is compiled anew for another type.
            left = np.int64(members.category[s])
            c = search(network, k, x_a, norm, y, left, parameters)
            if c == mem.NONE:
                c = commit(network, k, x_a)
            elif box.learn(boxes, c, x_a, parameters.beta_a) and parameters.beta_a < 1.0:
                members.tight[c] = False
            field.learn(network.map_field[c], k, y, parameters.beta_ab)
            dst = field.predict(network.map_field[c], k)
            if c != left:
                mem.leave(members, s)
                mem.join(members, data, s, c, x_a)
                mem.shrink(boxes, members, data, left, x_a)
        if dst != src and mode != TEACH:
            labels[s] = dst
            scratch.moved[0] += 1
            contract.move(state, x_b, src, dst)
            if m.n[src] == 0 or not (mom.trusted(m, src) and mom.trusted(m, dst)):
                return t + 1
        if trace.shape[0] > 0:
            trace[t] = contract.score(state)
    return stop
