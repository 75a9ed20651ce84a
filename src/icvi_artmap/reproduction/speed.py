"""Incremental against batch evaluation of an index: the paper's Section speed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.indices.registry import get_index
from icvi_artmap.network.driver import Parameters
from icvi_artmap.samples.scaling import learn_scaling
from icvi_artmap.training.presenting import teach
from icvi_artmap.training.run import Run, Settings
from icvi_artmap.training.sample_loop import learn_sample, make_lesson, make_scratch
from icvi_artmap.training.start import kmeans_centres, make_samples, start_at

#: The paper's parameters for this experiment.
PARAMETERS = Parameters(rho_a=0.7, rho_ab=1.0, beta_a=1.0, alpha=1e-3, epsilon=0.01, beta_ab=1e-3)
#: Epochs of which the fastest counts.
REPEATS = 3

Times = dict[int, tuple[float, float]]  #: by number of clusters: seconds batch, incremental


def prepared(X: NDArray[np.float64], index_name: str, k: int, batch: bool) -> Run:
    """A run before its first epoch."""
    index, scaling = get_index(index_name), learn_scaling(X)
    start = start_at(kmeans_centres(X, scaling, k, 1, 0), scaling)
    order = np.random.default_rng(0).permutation(len(X))
    settings = Settings(index, PARAMETERS, tol=0.0, max_epochs=1, batch=batch)
    return Run(make_samples(X, scaling, order, index), start, settings)


def seconds_incremental(X: NDArray[np.float64], index_name: str, k: int) -> float:
    """One epoch."""
    best = np.inf
    for _ in range(REPEATS):
        run = prepared(X, index_name, k, batch=False)
        start = time.perf_counter()
        run.present()
        best = min(best, time.perf_counter() - start)
    return best


def seconds_batch(X: NDArray[np.float64], index_name: str, k: int, least: float) -> float:
    """One epoch, scaled from as many presentations as take ``least`` seconds."""
    run = prepared(X, index_name, k, batch=True)
    lesson = make_lesson(run.data, run.network, run.members, PARAMETERS)
    arrays = (learn_sample.given(lesson), run.data, run.labels, run.state)
    scratch = make_scratch(X.shape[1], k)
    at, spent = 0, 0.0
    while at < len(X) and spent < least:
        start = time.perf_counter()
        at = teach(run.index, *arrays, scratch, at, at + 1)
        spent += time.perf_counter() - start
    return spent / at * len(X)


def compare(
    X: NDArray[np.float64], index_name: str, clusters: tuple[int, ...], least: float
) -> Times:
    """Both ways for every number of clusters, in turns."""
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
