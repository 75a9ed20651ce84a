"""Many samples (beyond the paper): a part of them is trained and refined, then all of them join.

With refinement nothing binds a run to the paper's epochs. Its clusters are those of the whole when
a part is large enough to show them; what is left is to find the cluster of every other sample, to
sweep over all of them with the index of all until none moves, and to teach the network once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.threads import one_thread
from icvi_artmap.indices.base import Index
from icvi_artmap.training.refinement import Partition, joined
from icvi_artmap.training.run import Run
from icvi_artmap.training.start import Samples, start_from

#: Where there are more samples than this, a part is enough.
MANY = 20_000
#: So many of all samples, but within these limits; and at least so many for each cluster, and for
#: each cluster and feature.
SHARE, LEAST, MOST = 0.05, 5_000, 20_000
PER_CLUSTER, PER_FEATURE = 250, 5
#: Samples of a part that k-means is started on if the index looks for Gaussians, and at least so
#: many for each cluster. k-means looks for something else: more of them lead no nearer.
START, START_PER_CLUSTER = 2_000, 100


def part_size(n_samples: int, n_features: int, n_clusters: int) -> int:
    """So many samples represent all of them."""
    size = max(LEAST, min(int(SHARE * n_samples), MOST))
    size = max(size, n_clusters * max(PER_CLUSTER, PER_FEATURE * n_features))
    return n_samples if n_samples <= max(MANY, size) else size


def part_rows(n_samples: int, n_features: int, n_clusters: int, seed: int) -> NDArray[np.int64]:
    """Numbers of samples drawn at random, rising; all of them if they are not too many."""
    size = part_size(n_samples, n_features, n_clusters)
    if size == n_samples:
        return np.arange(n_samples)
    return np.sort(np.random.RandomState(seed).permutation(n_samples)[:size])


def start_rows(
    rows: NDArray[np.int64], index: Index, n_clusters: int, seed: int
) -> NDArray[np.int64]:
    """Those of a part that k-means is started on."""
    size = max(START, n_clusters * START_PER_CLUSTER) if index.gaussian else len(rows)
    if size >= len(rows):
        return rows
    return rows[np.sort(np.random.RandomState(seed).permutation(len(rows))[:size])]


def extended(run: Run, rows: NDArray[np.int64], samples: Samples) -> Run:
    """A run with a part of the samples, these rows, goes on with all of them."""
    if len(rows) == len(samples.order):
        return run
    with one_thread():
        data, k = samples.data, run.k
        part = Partition(run.index, run.data, run.labels, k, k)
        labels = joined(part, data)
        labels[rows] = run.labels
        whole = Partition(run.index, data, labels, k, k)
        whole.sweep()
        means = whole.state.moments.mean[: whole.k]
        return Run(samples, start_from(labels, means, data), run.settings).teach_after(run)
