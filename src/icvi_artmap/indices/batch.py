"""bCVI-ARTMAP: an index whose every trial is computed anew from the samples (Section speed).

The state wraps that of an index. Trials write the changed labels into a copy, compute all moments
from the data and the index from them; committed changes go to the wrapped state as usual.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, shared
from icvi_artmap.indices import base
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.shared.centres import scores_resolution
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import Data


class BatchState(NamedTuple):
    moments: Moments  #: those of ``kept``
    kept: Any  #: state of the index for the present partition
    trial: Any  #: state of the index for a trial
    data: Data
    labels: NDArray[np.int64]  #: the fit's own labels
    category: NDArray[np.int32]  #: and categories
    changed: NDArray[np.int64]  #: (1, N) labels of a trial
    scratch: NDArray[np.float64]  #: that of ``kept``
    room: mom.Room


@inline
def _fill(state):
    for s in range(state.labels.shape[0]):
        state.changed[0, s] = state.labels[s]


@shared
def _evaluate(state, k):
    """Score of the partition ``changed`` with k clusters."""
    m = state.trial.moments
    m.size[0] = k
    mom.sum_samples(m, state.data, state.changed, -1, state.room)
    if m.scatter.shape[1] > 0:
        mom.sum_scatter(m, state.data, state.changed, -1, state.room)
    for i in range(k):
        base.update(state.trial, i, i)
    return base.score(state.trial)


@inline
def update(state, i, j):
    base.update(state.kept, i, j)


@inline
def score(state):
    return base.score(state.kept)


@inline
def move(state, x, src, dst):
    base.move(state.kept, x, src, dst)


@inline
def trial_moves(state, s, x, src, out):
    k = state.moments.size[0]
    empties = state.moments.n[src] == 1
    _fill(state)
    for i in range(k):
        if i == src:
            out[i] = base.score(state.kept)
        elif empties:
            for t in range(state.labels.shape[0]):
                label = i if t == s else state.labels[t]
                state.changed[0, t] = label - (label > src)
            out[i] = _evaluate(state, k - 1)
        else:
            state.changed[0, s] = i
            out[i] = _evaluate(state, k)
    return scores_resolution(out, k)


@inline
def trial_merge(state, i, j, least):
    for s in range(state.labels.shape[0]):
        label = state.labels[s]
        state.changed[0, s] = i if label == j else label - (label > j)
    return _evaluate(state, state.moments.size[0] - 1)


@inline
def trial_split(state, i, parts, p, q, least):
    k = state.moments.size[0]
    for s in range(state.labels.shape[0]):
        leaves = state.labels[s] == i and state.category[s] == q
        state.changed[0, s] = k if leaves else state.labels[s]
    return _evaluate(state, k + 1)


base.implement(
    BatchState,
    update=update,
    score=score,
    trial_moves=trial_moves,
    move=move,
    trial_merge=trial_merge,
    trial_split=trial_split,
)


def batch_state(
    index: Index,
    kept: Any,
    data: Data,
    labels: NDArray[np.int64],
    category: NDArray[np.int32],
) -> BatchState:
    """A batch twin of the state ``kept``; labels and categories are the fit's own arrays."""
    moments = kept.moments
    trial = index.state(data, labels, int(moments.size[0]), len(moments.n))
    changed, room = np.empty((1, len(labels)), np.int64), mom.make_room(moments)
    return BatchState(moments, kept, trial, data, labels, category, changed, kept.scratch, room)
