"""The sample loop of a stream, compiled: a new sample is labelled, learned and perhaps remembered.

As in :mod:`icvi_artmap.training.sample_loop`, what happens rarely is left to the caller.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, jit
from icvi_artmap.indices import base
from icvi_artmap.network import map_field as field
from icvi_artmap.network import members as mem
from icvi_artmap.network.boxes import bury
from icvi_artmap.network.driver import learn
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.scaling import coded_row, standardised_row

#: In place of a place among the remembered samples.
FORGOTTEN = -1
#: Sides of a change: samples lie farther from their centres, or nearer.
FARTHER, NEARER = 0, 1
#: What a sample's distance may differ from the usual one, as a part of it, for ever.
SLACK = 0.25
#: A break is told when the differences beyond that have added up to this.
ALARM = 100.0
#: A distance counts as so many times the usual one at the most: an outlier is no break.
FARTHEST = 10.0
#: The usual distance is that of about so many samples; at first one of 1 counts as PRIOR samples.
HORIZON, PRIOR = 5000.0, 200.0
#: So many samples after a break the usual distance is learned anew, and nothing is told.
LEARNING = 500
#: The spread of a cluster is known from so many samples on.
KNOWN = 10.0


class Detector(NamedTuple):
    """Two sums of how much samples lie farther from their centres than usual, and nearer.

    The ratio of a sample's squared distance to the mean of its cluster's is 1 on average, whatever
    the clusters are. A sum of what exceeds the usual ratio by more than SLACK begins again at 0
    whenever it falls below (Page's test); the sample after its last 0 is where a break began.
    """

    usual: NDArray[np.float64]  #: (1,) ratio of usual samples
    known: NDArray[np.float64]  #: (1,) how many samples that was learned from
    level: NDArray[np.float64]  #: (2,) the sums
    since: NDArray[np.int64]  #: (2,) the samples that they begin with
    quiet: NDArray[np.int64]  #: (1,) nothing is told before this sample


def make_detector(now: int) -> Detector:
    """A detector that begins with sample ``now``."""
    return Detector(
        np.ones(1),
        np.full(1, PRIOR),
        np.zeros(2),
        np.full(2, now, np.int64),
        np.full(1, now, np.int64),
    )


def reset(detector: Detector, now: int) -> None:
    """A break was told: learn what is usual now."""
    detector.known[0] = 0.0
    detector.level[:] = 0.0
    detector.since[:] = detector.quiet[0] = now + LEARNING


@inline
def _notices(detector, ratio, now):
    """Take note of a sample; whether it shows that there was a break."""
    usual, known, level, since = detector.usual, detector.known, detector.level, detector.since
    ratio = min(ratio, FARTHEST)
    known[0] = min(known[0] + 1.0, HORIZON)
    usual[0] += (ratio - usual[0]) / known[0]
    if now < detector.quiet[0] or usual[0] <= 0.0:
        return False
    apart = ratio / usual[0] - 1.0
    level[FARTHER] += apart - SLACK
    level[NEARER] -= apart + SLACK
    for side in range(2):
        if level[side] <= 0.0:
            level[side] = 0.0
            since[side] = now + 1
    return max(level[FARTHER], level[NEARER]) > ALARM


class StreamScratch(NamedTuple):
    """Room for one presentation."""

    x_a: NDArray[np.float64]  #: (2d,)
    x_b: NDArray[np.float64]  #: (d,)
    left: NDArray[np.float64]  #: (2d,) the sample that is forgotten
    trial: NDArray[np.float64]  #: (k + 1,)


def make_stream_scratch(n_features: int, n_clusters: int) -> StreamScratch:
    return StreamScratch(
        np.empty(2 * n_features),
        np.empty(n_features),
        np.empty(2 * n_features),
        np.empty(n_clusters + 1),
    )


@inline
def _remember(batch, s, place, remembered, network, members, c, scratch):
    """Sample s of the batch, of category c, takes the place of a remembered one."""
    data, left = remembered, np.int64(members.category[place])
    coded_row(data, place, scratch.left)
    mem.leave(members, place)
    for f in range(data.scale.shape[0]):
        data.table[place, f] = batch.table[s, f]
        data.turned[place, f] = batch.turned[s, f]
    mem.join(members, data, place, c, scratch.x_a)
    mem.shrink(network.boxes, members, data, left, scratch.left)


@jit
def present_new(
    batch,
    remembered,
    network,
    members,
    labels,
    state,
    parameters,
    scratch,
    detector,
    start,
    stop,
    first,
    places,
    weights,
    out,
    categories,
):
    """New samples ``start`` to ``stop`` - 1 of a batch, one after the other.

    The state's last cluster stands in for a new sample. ``first``: number of the batch's first
    sample in the stream. ``places``: where each is to be remembered, or FORGOTTEN. ``weights``: of
    the samples. ``out`` and ``categories`` get clusters and categories. Returns the first sample
    not presented, and whether the last one has shown a break; it is earlier than ``stop`` for that,
    or if there is no room for another category.
    """
    boxes, m, x_a, x_b = network.boxes, state.moments, scratch.x_a, scratch.x_b
    k = m.size[0] - 1
    for s in range(start, stop):
        if boxes.used[0] == boxes.found.shape[0]:
            return s, False
        standardised_row(batch, s, x_b)
        y = np.int64(0)
        if k > 1:
            resolution = base.trial_additions(state, s, x_b, scratch.trial)
            y = base.first_best(scratch.trial, k, resolution)
        norm = coded_row(batch, s, x_a)
        none = np.int64(mem.NONE)
        c, found, changed, _ = learn(network, k, x_a, norm, y, none, False, False, parameters)
        if c != found:
            mem.begin(members, c)
        if (changed and parameters.beta_a < 1.0) or (
            places[s] == FORGOTTEN and (changed or c != found)
        ):
            members.tight[c] = False
        i = field.predict(network.map_field[c], k)
        n, spread = m.n[i], m.compactness[i]
        squared = mom.add_weighted(m, i, x_b, weights[s], state.scratch)
        base.update(state, i, i)
        if places[s] != FORGOTTEN:
            _remember(batch, s, places[s], remembered, network, members, c, scratch)
            labels[places[s]] = i
        out[s] = i
        categories[s] = c
        if n >= KNOWN and spread > 0.0 and _notices(detector, squared * n / spread, first + s):
            return s + 1, True
    return stop, False


@jit
def bury_empty(network, members):
    """Remove the categories that no remembered sample belongs to."""
    for c in range(network.boxes.used[0]):
        if members.held[c] == 0 and network.boxes.weight[c, 0] >= 0.0:
            bury(network.boxes, c)
