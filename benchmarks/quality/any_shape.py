"""Clusters of any shape: how well they are found, told their number or not."""

from __future__ import annotations

import time
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.common import Problem, data_folder, duration, table
from benchmarks.quality import sets
from benchmarks.quality.methods import Labels, best_bold, hdbscan, mixture
from benchmarks.quality.number import share
from benchmarks.quality.sets import Sizes
from icvi_artmap import ICVIARTMAP

TEXT = """## Any shape

`ICVIARTMAP(k, shape=..., random_state=0)` for the three shapes, beside HDBSCAN (which is not told
k) and GMM. Samples that a set itself calls noise do not count. What HDBSCAN calls noise counts as
one more cluster in one column, and is left out in the next, which is then about fewer samples:
the share is beside it. Found k: with `ICVIARTMAP("auto", shape="any", random_state=0)`.
"""

#: Columns with an ARI, in their order; the largest of a line is bold.
SHAPES = ("any", "auto", "gaussian")
ARIS = (*(f'"{shape}"' for shape in SHAPES), "HDBSCAN", "HDBSCAN, no noise", "GMM")


class Outcome(NamedTuple):
    """All methods on one set."""

    name: str
    k: int
    aris: list[float]  #: as in ARIS
    noise: float  #: what HDBSCAN leaves out
    found: int
    found_by_hdbscan: int
    seconds: float  #: a fit of "any"


def run_any_shape(sizes: Sizes) -> str:
    parts, toys = [TEXT], sets.toy_shapes()[: sizes.shapes]
    _ours(toys[0], toys[0].k, "any")  # what is compiled first counts nowhere
    problems = sets.shape_problems(data_folder() / "shapes", sizes.shapes)
    if problems:
        parts += ["Public sets of shapes:\n", *_tables(problems, sizes.starts)]
    else:
        parts.append("Public sets of shapes: left out, `shapes` in the data folder is not there.\n")
    parts.append("scikit-learn's sets for comparing methods, and spirals:\n")
    parts += _tables(toys, sizes.starts)
    return "\n".join(parts)


def _tables(problems: list[Problem], starts: int) -> list[str]:
    outcomes = [_outcome(problem, starts) for problem in problems]
    means = [fmean(column) for column in zip(*(one.aris for one in outcomes), strict=True)]
    noise, seconds = fmean(one.noise for one in outcomes), fmean(one.seconds for one in outcomes)
    mean = ["mean", "", *best_bold(means), f"{noise:.0%}", "", "", duration(seconds)]
    header = ["set", "k", *ARIS, "noise", "found k", "HDBSCAN's k", "a fit"]
    ours = share([one.found == one.k for one in outcomes])
    theirs = share([one.found_by_hdbscan == one.k for one in outcomes])
    return [
        table(header, [*map(_row, outcomes), mean]),
        f"\nExact number of clusters: ours {ours}, HDBSCAN {theirs}.\n",
    ]


def _row(one: Outcome) -> list[str]:
    numbers = [str(one.found), str(one.found_by_hdbscan)]
    return [
        one.name,
        str(one.k),
        *best_bold(one.aris),
        f"{one.noise:.0%}",
        *numbers,
        duration(one.seconds),
    ]


def _outcome(problem: Problem, starts: int) -> Outcome:
    begin = time.perf_counter()
    joined = _ours(problem, problem.k, "any")
    seconds = time.perf_counter() - begin
    peer = hdbscan(problem, 0, starts)
    placed = peer >= 0
    labels = [joined, *(_ours(problem, problem.k, shape) for shape in SHAPES[1:]), peer]
    aris = [_ari(problem, one) for one in labels]
    aris += [_ari(problem, peer, placed), _ari(problem, mixture(problem, 0, starts))]
    return Outcome(
        name=problem.name,
        k=problem.k,
        aris=aris,
        noise=1.0 - float(placed.mean()),
        found=len(np.unique(_ours(problem, "auto", "any"))),
        found_by_hdbscan=len(np.unique(peer[placed])),
        seconds=seconds,
    )


def _ours(problem: Problem, k: Any, shape: Any) -> Labels:
    return ICVIARTMAP(k, shape=shape, random_state=0).fit(problem.X).labels_


def _ari(problem: Problem, labels: Labels, counted: NDArray[np.bool_] | None = None) -> float:
    """Over the samples that are no noise in the set itself, and of these over those counted."""
    kept = problem.y > 0 if counted is None else (problem.y > 0) & counted
    return float(adjusted_rand_score(problem.y[kept], labels[kept]))
