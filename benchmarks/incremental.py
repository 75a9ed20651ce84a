"""Incremental against batch evaluation of the index: the paper's Section speed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import INDICES, Problem, compile_kernels, duration, paper_set, table
from icvi_artmap.engine import EVERYONE, LEARN, Parameters, make_scratch, present
from icvi_artmap.epochs import NO_TRACE, Pace, make_network, present_all
from icvi_artmap.indices.batch import batch_state
from icvi_artmap.indices.registry import get_index
from icvi_artmap.initialise import first_boxes, first_partition, kmeans_centres
from icvi_artmap.scaling import coded_data, learn_scaling, turn

TEXT = """## Incremental against batch

The experiment of the paper's Fig. elapsed_time on {name}: the presentations of the first epoch,
rho_a = 0.7, rho_ab = 1.0. Incremental: the whole epoch. Batch (`evaluation="batch"`, every trial
computed from all samples, in the same compiled code): the first presentations for at least {least}
s, scaled to the epoch. Both give the same labels.
"""


class Sizes(NamedTuple):
    indices: tuple[str, ...]
    clusters: tuple[int, ...]
    least_seconds: float


FULL = Sizes(INDICES, (2, 5, 10, 20, 30, 40), 2.0)
QUICK = Sizes(INDICES, (2, 40), 0.3)
SMOKE = Sizes(("CH",), (2, 3), 0.001)


def prepare(problem: Problem, index_name: str, k: int, batch: bool) -> Any:
    """Everything that ``present`` needs for the first epoch, and the number of samples."""
    index, scaling = get_index(index_name), learn_scaling(problem.X)
    centres = kmeans_centres(problem.X, scaling, k, 1, 0)
    data = coded_data(problem.X, scaling, np.random.default_rng(0).permutation(len(problem.X)))
    if index.turns_above is not None and data.table.shape[1] > index.turns_above:
        data = turn(data)
    parameters = Parameters(0.7, 1.0, 1.0, 1e-3, 0.01, 1e-3)
    rows, labels = first_partition(data, first_boxes(centres, scaling), parameters.alpha)
    network = make_network(data, rows, labels, k)
    state = index.state(data, labels, len(rows), k)
    if batch:
        state = batch_state(index, state, data, labels, network.members.category)
    return index, data, network, labels, state, parameters


def seconds_incremental(problem: Problem, index_name: str, k: int) -> float:
    """One epoch, the best of three."""
    best = np.inf
    for _ in range(3):
        arguments = [*prepare(problem, index_name, k, batch=False), Pace()]
        start = time.perf_counter()
        present_all(*arguments)
        best = min(best, time.perf_counter() - start)
    return best


def seconds_batch(problem: Problem, index_name: str, k: int, least: float) -> float:
    """One epoch, scaled from as many presentations as take ``least`` seconds."""
    _, data, network, labels, state, parameters = prepare(problem, index_name, k, batch=True)
    scratch = make_scratch(data.table.shape[1], k)
    n_samples, at, spent = len(labels), 0, 0.0
    while at < n_samples and spent < least:
        start = time.perf_counter()
        at = present(
            data, network, labels, state, parameters, scratch, at, at + 1, NO_TRACE, EVERYONE, LEARN
        )
        spent += time.perf_counter() - start
    return spent / at * n_samples


def picture(seconds: dict[str, dict[int, tuple[float, float]]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(9, 5.5), sharex=True, sharey=True)
    for name, ax in zip(seconds, axes.flat, strict=False):
        clusters = list(seconds[name])
        for position, (label, style) in enumerate((("batch", "s--"), ("incremental", "o-"))):
            values = [seconds[name][k][position] for k in clusters]
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
    figure.savefig(path, dpi=110)
    plt.close(figure)


def run(sizes: Sizes, folder: Path) -> str:
    problem = paper_set(100, 40) if sizes is not SMOKE else paper_set(50, 10)
    compile_kernels(sizes.indices, "batch")
    seconds: dict[str, dict[int, tuple[float, float]]] = {}
    for name in sizes.indices:
        seconds[name] = {
            k: (
                seconds_batch(problem, name, k, sizes.least_seconds),
                seconds_incremental(problem, name, k),
            )
            for k in sizes.clusters
        }
    picture(seconds, folder / "incremental.png")
    most = sizes.clusters[-1]
    rows = []
    for name, by_k in seconds.items():
        ratios = [f"{batch / ours:,.0f}" for batch, ours in by_k.values()]
        rows.append([name, duration(by_k[most][0]), duration(by_k[most][1]), *ratios])
    header = ["index", f"batch, k = {most}", f"incremental, k = {most}"]
    header += [f"ratio, k = {k}" for k in sizes.clusters]
    text = TEXT.format(name=problem.name, least=sizes.least_seconds)
    return f"{text}\n{table(header, rows)}\n\n![seconds an epoch](images/incremental.png)\n"
