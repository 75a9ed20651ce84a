"""Incremental against batch evaluation of the index: the paper's Section speed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot

from benchmarks.common import INDICES, compile_kernels, duration, paper_set, table
from icvi_artmap.reproduction.speed import compare, picture

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


def run(sizes: Sizes, folder: Path) -> str:
    problem = paper_set(100, 40) if sizes is not SMOKE else paper_set(50, 10)
    compile_kernels(sizes.indices, "batch")
    seconds = {
        name: compare(problem.X, name, sizes.clusters, sizes.least_seconds)
        for name in sizes.indices
    }
    figure = picture(seconds)
    figure.savefig(folder / "incremental.png", dpi=110)
    matplotlib.pyplot.close(figure)
    most = sizes.clusters[-1]
    rows = []
    for name, by_k in seconds.items():
        ratios = [f"{batch / ours:,.0f}" for batch, ours in by_k.values()]
        rows.append([name, duration(by_k[most][0]), duration(by_k[most][1]), *ratios])
    header = ["index", f"batch, k = {most}", f"incremental, k = {most}"]
    header += [f"ratio, k = {k}" for k in sizes.clusters]
    text = TEXT.format(name=problem.name, least=sizes.least_seconds)
    return f"{text}\n{table(header, rows)}\n\n![seconds an epoch](images/incremental.png)\n"
