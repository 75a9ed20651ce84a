"""Incremental against batch evaluation of an index: the paper's Section speed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.batch import batch_state
from icvi_artmap.indices.registry import get_index
from icvi_artmap.samples.scaling import coded_data, learn_scaling
from icvi_artmap.training.presenting import NO_TRACE, Pace, make_network, present_all
from icvi_artmap.training.run import as_seen_by
from icvi_artmap.training.sample_loop import EVERYONE, LEARN, Parameters, make_scratch, present
from icvi_artmap.training.start import first_boxes, first_partition, kmeans_centres

#: The paper's parameters for this experiment: rho_a = 0.7, rho_ab = 1.
PARAMETERS = Parameters(0.7, 1.0, 1.0, 1e-3, 0.01, 1e-3)
#: The number of timed epochs, of which the fastest counts.
REPEATS = 3

Times = dict[int, tuple[float, float]]  #: by number of clusters: seconds batch, incremental


def prepare(X: NDArray[np.float64], index_name: str, k: int, batch: bool) -> Any:
    """Everything that ``present`` needs for the first epoch."""
    index, scaling = get_index(index_name), learn_scaling(X)
    centres = kmeans_centres(X, scaling, k, 1, 0)
    order = np.random.default_rng(0).permutation(len(X))
    data = as_seen_by(index, coded_data(X, scaling, order))
    rows, labels = first_partition(data, first_boxes(centres, scaling), PARAMETERS.alpha)
    network = make_network(data, rows, labels, k)
    state = index.state(data, labels, len(rows), k)
    if batch:
        state = batch_state(index, state, data, labels, network.members.category)
    return index, data, network, labels, state, PARAMETERS


def seconds_incremental(X: NDArray[np.float64], index_name: str, k: int) -> float:
    """One epoch."""
    best = np.inf
    for _ in range(REPEATS):
        arguments = [*prepare(X, index_name, k, batch=False), Pace()]
        start = time.perf_counter()
        present_all(*arguments)
        best = min(best, time.perf_counter() - start)
    return best


def seconds_batch(X: NDArray[np.float64], index_name: str, k: int, least: float) -> float:
    """One epoch, scaled from as many presentations as take ``least`` seconds."""
    _, data, network, labels, state, parameters = prepare(X, index_name, k, batch=True)
    scratch = make_scratch(data.table.shape[1], k)
    n_samples, at, spent = len(labels), 0, 0.0
    while at < n_samples and spent < least:
        start = time.perf_counter()
        at = present(
            data, network, labels, state, parameters, scratch, at, at + 1, NO_TRACE, EVERYONE, LEARN
        )
        spent += time.perf_counter() - start
    return spent / at * n_samples


def compare(
    X: NDArray[np.float64], index_name: str, clusters: tuple[int, ...], least: float
) -> Times:
    """Time both evaluations in turn for every number of clusters."""
    return {
        k: (seconds_batch(X, index_name, k, least), seconds_incremental(X, index_name, k))
        for k in clusters
    }


def picture(times: dict[str, Times]) -> Any:
    """The paper's Fig. elapsed_time as a matplotlib figure."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(9, 5.5), sharex=True, sharey=True)
    for name, ax in zip(times, axes.flat, strict=False):
        clusters = list(times[name])
        for position, (label, style) in enumerate((("batch", "s--"), ("incremental", "o-"))):
            values = [times[name][k][position] for k in clusters]
            ax.plot(clusters, values, style, label=label, markersize=4)
        ax.set_yscale("log")
        ax.set_title(name)
        ax.grid(alpha=0.3)
    axes[0, 0].legend()
    for ax in axes[1]:
        ax.set_xlabel("clusters")
    for ax in axes[:, 0]:
        ax.set_ylabel("seconds an epoch")
    figure.tight_layout()
    return figure
