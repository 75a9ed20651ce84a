"""The sample loop, compiled: Algorithm 1, and sweeps that move samples by the index alone.

What happens rarely (no room for another category, an emptied cluster, digits lost in the moments)
is left to the caller: the loop returns early, the caller tidies up, and calls it again. So no array
is re-bound in the loop, and little has to be compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.apart import Apart, Given, call
from icvi_artmap._compile.jit import inline, jit
from icvi_artmap.indices import base
from icvi_artmap.network import map_field as field
from icvi_artmap.network import members as mem
from icvi_artmap.network.driver import Network, Parameters, learn
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import Data, coded_row, standardised_row

#: In place of numbers of samples: all of them.
EVERYONE = np.empty(0, np.int64)


class Scratch(NamedTuple):
    """Room for one presentation, and what the caller is told."""

    x_b: NDArray[np.float64]  #: (d,)
    trial: NDArray[np.float64]  #: (k,) T
    moved: NDArray[np.int64]  #: (1,) how many samples have changed their cluster
    partition: NDArray[np.int64]  #: (2,) of several partitions the one to sweep next, and the end
    untidy: NDArray[np.bool_]  #: (1,) whether something is to be tidied up after the last of them


def make_scratch(n_features: int, capacity: int) -> Scratch:
    return Scratch(
        x_b=np.empty(n_features),
        trial=np.empty(capacity),
        moved=np.zeros(1, np.int64),
        partition=np.array([0, 1]),
        untidy=np.zeros(1, np.bool_),
    )


@inline
def teaching_cluster(trial, k, src, resolution):
    """Eq:ARTb_yF2 and rule 5: the cluster to teach, or ALL where all trials are equal.

    The present cluster wins ties, then the lowest index.
    """
    best, worse = trial[0], 0
    for i in range(1, k):
        best = max(best, trial[i])
    # Infinities are equal to themselves, though their difference is not a number.
    while worse < k and (trial[worse] == best or trial[worse] >= best - resolution):
        worse += 1
    if worse == k:
        return field.ALL
    if trial[src] == best or trial[src] >= best - resolution:
        return src
    winner = 0
    while winner < k - 1 and trial[winner] != best and not trial[winner] >= best - resolution:
        winner += 1
    return winner


@inline
def preferred_cluster(data, state, s, src, scratch):
    """The cluster that the index prefers for sample s of ``src``; ALL where it has no preference.

    Leaves the sample, as the index sees it, in ``scratch``.
    """
    standardised_row(data, s, scratch.x_b)
    resolution = base.trial_moves(state, s, scratch.x_b, src, scratch.trial)
    return np.int64(teaching_cluster(scratch.trial, state.moments.size[0], src, resolution))


@inline
def move(labels, state, s, x_b, dst, scratch):
    """Sample s goes to cluster dst; whether nothing has to be tidied up after that."""
    m, src = state.moments, labels[s]
    labels[s] = dst
    scratch.moved[0] += 1
    base.move(state, x_b, src, dst)
    scratch.untidy[0] = not (m.n[src] > 0 and mom.trusted(m, src) and mom.trusted(m, dst))
    return not scratch.untidy[0]


#: What :func:`learn_sample` says where there is no room for another category.
FULL = -1


class Lesson(NamedTuple):
    """All that learning a sample needs."""

    data: Data
    network: Network
    members: mem.Members
    parameters: Parameters
    x_a: NDArray[np.float64]  #: (2d,) scratch: a sample in complement code


def make_lesson(
    data: Data, network: Network, members: mem.Members, parameters: Parameters
) -> Lesson:
    return Lesson(data, network, members, parameters, np.empty(2 * data.shape[1]))


@Apart
def learn_sample(lesson, s, k, y):
    """The network learns that sample s belongs to cluster y of k, or to any: ALL.

    Returns the cluster that it predicts then, or FULL.
    """
    data, network, members = lesson.data, lesson.network, lesson.members
    boxes, x_a, parameters = network.boxes, lesson.x_a, lesson.parameters
    if boxes.used[0] == boxes.found.shape[0]:
        return FULL
    norm = coded_row(data, s, x_a)
    # int64, as every other number of a box: a function is compiled anew for another type.
    left = np.int64(members.category[s])
    inside, settled = members.tight[left], members.settled[s]
    c, known, changed, members.settled[s] = learn(
        network, k, x_a, norm, y, left, inside, settled, parameters
    )
    if c != known:
        mem.begin(members, c)
    elif changed and parameters.beta_a < 1.0:
        members.tight[c] = False
    if c != left:
        mem.leave(members, s)
        mem.join(members, data, s, c, x_a)
        mem.shrink(boxes, members, data, left, x_a)
    if y != field.ALL and parameters.beta_ab == 1.0 and network.map_field[c, y] > 0.0:
        return y  # the others have become 0
    return field.predict(network.map_field[c], k)


#: In place of :func:`learn_sample` and a lesson: no network learns.
NO_LEARNING = Given(0, np.empty(0, np.int64))


@inline
def _present(learning, data, labels, state, scratch, start, stop, rows, trace, only_teach):
    """Presentations ``start`` to ``stop`` - 1 of :func:`present`, in one partition."""
    m, x_b, learns = state.moments, scratch.x_b, learning.address != 0
    n = rows.shape[0] if rows.shape[0] > 0 else labels.shape[0]
    for begin in range(start // n * n, stop, n):
        if begin >= start:
            if begin > 0 and scratch.moved[0] == 0:
                return begin
            scratch.moved[0] = 0
        for t in range(max(start - begin, 0), min(stop - begin, n)):
            s = rows[t] if rows.shape[0] > 0 else t
            src, k = labels[s], m.size[0]
            y = src if only_teach else np.int64(field.ALL)
            if k > 1 and not only_teach and (learns or m.n[src] > 1):
                y = preferred_cluster(data, state, s, src, scratch)
            dst = src if y == field.ALL else y
            if learns:
                dst = call(learning, s, k, y)
                if dst == FULL:
                    return begin + t
            if dst != src and not only_teach and not move(labels, state, s, x_b, dst, scratch):
                return begin + t + 1
            if trace.shape[0] > 0:
                trace[s] = base.score(state)
    return stop


@jit
def present(
    learning, data, labels, state, scratch, start, stop, rows, first, costs, trace, only_teach
):
    """Algorithm 1, or sweeps: the samples in ``rows`` are presented, again and again.

    ``learning``: :func:`learn_sample` and its lesson; a sample goes to the cluster that the network
    predicts. NO_LEARNING: to the one that the index prefers, and no cluster is emptied.
    ``rows``: numbers of samples, or EVERYONE. Presentations are counted from the first sweep on;
    those from ``start`` to ``stop`` - 1 are made. Returns the first presentation not made:
    ``stop``, or an earlier one if something is to be tidied up first, or if a sweep has ended in
    which nobody moved: ``scratch.moved`` counts those of the last one. (Both in one kernel: what
    belongs to the index is compiled once.)

    ``labels`` has a row for every partition. Those of ``scratch.partition`` are swept, one after
    the other, up to one in which something is to be tidied up. The state is about the first of
    them, or ``first`` has the moments that they begin with, as many clusters for each as the state
    has. ``costs`` gets what the clusters of each cost in the end, if it is not empty.

    ``trace``: scores wanted, if not empty. ``only_teach``: the network learns the clusters that the
    samples are in, and no sample moves.
    """
    m, partition, reached = state.moments, scratch.partition, start
    k = m.size[0]
    while partition[0] < partition[1]:
        p = partition[0]
        if first.size[0] > 0:
            for i in range(k):
                mom.copy_row(first, p * k + i, m, i)
            for i in range(k):
                base.renew_cluster(state, i)
        reached = _present(
            learning, data, labels[p], state, scratch, start, stop, rows, trace, only_teach
        )
        if scratch.untidy[0]:
            return reached
        for i in range(costs.shape[1]):
            costs[p, i] = base.cluster_cost(state, i)
        partition[0] += 1
    return reached
