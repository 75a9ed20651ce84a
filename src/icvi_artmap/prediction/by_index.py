"""What a partition becomes when a new sample joins one of its clusters.

A fitted model keeps the moments of its clusters; that is all an index needs to say what it would be
with one sample more. Two questions are answered from them:

- *which cluster is best for the sample* (:func:`best_clusters`), for millions of rows. Moving a
  sample out of a cluster that it is alone in is scored as if that cluster had never been there
  (rule 4), wherever the sample came from. So the state gets one more cluster, a stand-in of a
  single sample, and the trials of the sample loop do the rest: ``trial_moves`` from the stand-in to
  cluster i scores the partition with the new sample in i.
- *what the index is then* (:func:`index_values`), exactly, for a few rows.

The first question needs no exact value. N and TSS of the enlarged data are the same whichever
cluster the sample joins. Counting the stand-in, N is right; TSS is that of the training data and
the stand-in. In PBM it is a factor, in XB, DB and PBM it is the scale of what counts as zero, and
NI has ln|Σ_data| as a summand in its place: the order of the clusters does not depend on it. CH and
WB depend on it through SSB = TSS - SSW, which must not become negative; they get worse with SSW
whatever TSS is, so they compare the growth of SSW itself (``trial_additions`` in ``sums``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import jit
from icvi_artmap.indices import base
from icvi_artmap.indices.base import Index
from icvi_artmap.samples import moments as mom
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import (
    Scaling,
    blocks,
    standardised_data,
    standardised_row,
    standardised_table,
)

# --- the best cluster of many rows ---------------------------------------------------------------


def best_clusters(
    X: NDArray[np.floating], scaling: Scaling, index: Index, moments: Moments
) -> NDArray[np.int64]:
    """The cluster with which every row makes the best partition; the lowest number of equals."""
    k, n_features = moments.mean.shape
    best = np.zeros(len(X), np.int64)
    if k == 1:
        return best
    state = index.state_for_additions(moments)
    kernel = index.kernel(best_additions)
    x, trial = np.empty(n_features), np.empty(k + 1)
    for rows in blocks(len(X)):
        kernel(state, standardised_data(X[rows], scaling), x, trial, best[rows])
    return best


@jit
def best_additions(state, data, x, trial, out):
    """out[s] = the best cluster for row s. The state's last cluster is the stand-in."""
    k = state.moments.size[0] - 1
    for s in range(out.shape[0]):
        standardised_row(data, s, x)
        resolution = base.trial_additions(state, s, x, trial)
        out[s] = base.first_best(trial, k, resolution)


# --- exact index values of few rows --------------------------------------------------------------


def index_values(
    X: NDArray[np.floating],
    scaling: Scaling,
    index: Index,
    moments: Moments,
    own: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Index of the partition with row s in cluster i, of shape (n_rows, k).

    Rows are new samples, unless ``own`` says in which cluster each of them already is: then they
    are moved, as in rule 4. The value is that of all samples together, the row included.
    """
    values = np.empty((len(X), len(moments.n)))
    whole = mom.together(moments)
    for s, x in enumerate(standardised_table(X, scaling)):
        if own is None:
            total = _copy(whole)
            _add(total, 0, x)
            values[s] = _values_of_adding(index, _copy(moments), total, x)
        else:
            values[s] = _values_of_moving(index, _copy(moments), whole, x, int(own[s]))
    return values


def _values_of_adding(
    index: Index, moments: Moments, total: Moments, x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Index values with x added to each of the clusters; ``total`` includes it already."""
    k = int(moments.size[0])
    state = index.make_state(moments, total)
    index.update_all(state)
    before = _copy(moments)
    values = np.empty(k)
    for i in range(k):
        _add(moments, i, x)
        values[i] = index.value(index.renew(state, np.array([i])))
        for target, source in zip(moments[1:], before[1:], strict=True):
            target[i] = source[i]
        index.renew(state, np.array([i]))
    return values


def _values_of_moving(
    index: Index, moments: Moments, total: Moments, x: NDArray[np.float64], own: int
) -> NDArray[np.float64]:
    """Index values with x, a sample of cluster ``own``, in each of the clusters."""
    if moments.n[own] > 1:
        _remove(moments, own, x)
        return _values_of_adding(index, moments, total, x)
    state = index.make_state(_copy(moments), total)
    index.update_all(state)
    present = index.value(index.score(state))
    mom.drop(moments, own)  # without its only sample the cluster is gone
    return np.insert(_values_of_adding(index, moments, total, x), own, present)


def _copy(m: Moments) -> Moments:
    return Moments._make(array.copy() for array in m)


def _add(m: Moments, i: int, x: NDArray[np.float64]) -> None:
    """Eq:freq_update to Eq:cov_update, add."""
    n, u = int(m.n[i]), x - m.mean[i]
    m.n[i] = n + 1
    m.mean[i] += u / (n + 1)
    m.compactness[i] += n / (n + 1) * (u @ u)
    if m.scatter.shape[1] > 0:
        m.scatter[i] += n / (n + 1) * np.triu(np.outer(u, u))


def _remove(m: Moments, i: int, x: NDArray[np.float64]) -> None:
    """Eq:freq_update to Eq:cov_update, remove, from a cluster of at least two samples."""
    n, u = int(m.n[i]), x - m.mean[i]
    m.n[i] = n - 1
    m.mean[i] -= u / (n - 1)
    if n == 2:  # a single sample is left: nothing scatters
        m.compactness[i] = 0.0
        m.scatter[i] = 0.0
        return
    m.compactness[i] = max(m.compactness[i] - n / (n - 1) * (u @ u), 0.0)
    if m.scatter.shape[1] > 0:
        m.scatter[i] -= n / (n - 1) * np.triu(np.outer(u, u))
        diagonal = np.arange(len(x))
        m.scatter[i, diagonal, diagonal] = np.maximum(m.scatter[i, diagonal, diagonal], 0.0)
