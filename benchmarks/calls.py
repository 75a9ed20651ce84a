"""What people call, everything included: starts, epochs, refinement, the choice of k."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from benchmarks.common import Problem, duration, gaussians, in_turns, table
from icvi_artmap import ICVIARTMAP
from icvi_artmap._support.threads import one_thread

TEXT = """## Whole calls

`ICVIARTMAP(k).fit(X)` with its defaults, everything included: k-means start, epochs, refinement,
teaching. Beside it scikit-learn's `GaussianMixture(k)` and `KMeans(k, n_init=10)` on the same data.
Gaussian clusters with covariances of their own (`benchmarks.common.gaussians`), k = 10; their
centres are at distances that make them overlap strongly (1), mildly (2) or hardly (4). One thread
each, one seed, median of the repeats. Ratio: the peer's time over that of our default fit. GMM
`n_init=10` is left out where it takes minutes.
"""

CHOOSING = """The number of clusters unknown: `ICVIARTMAP("auto")`, a sweep of GaussianMixture over
k = 2 to 20 that ends with the least BIC, and, where there are no more than {most:,} samples,
`HDBSCAN(min_cluster_size=N / 100)`; and `ICVIARTMAP("auto", shape="any")`. In brackets: the number
of clusters found. Ratio: the sweep's time over that of "auto".
"""

#: Distances of the centres.
OVERLAPS = {"strong": 1.0, "mild": 2.0, "none": 4.0}
#: Numbers of samples times features up to which ten starts of a mixture are waited for.
TEN_STARTS = 1_000_000
#: Samples up to which HDBSCAN is waited for.
MOST_FOR_HDBSCAN = 20_000


class Sizes(NamedTuple):
    samples: tuple[int, ...]
    features: tuple[int, ...]  #: with the middle number of samples, clusters that overlap mildly
    choosing: tuple[int, ...]  #: numbers of samples with which k is chosen
    sweep: range
    repeats: int


FULL = Sizes((2_000, 70_000, 1_000_000), (2, 50, 100), (2_000, 70_000), range(2, 21), 3)
QUICK = Sizes((2_000, 70_000), (2,), (2_000,), range(2, 21), 1)
SMOKE = Sizes((300,), (), (300,), range(2, 4), 1)


def problems(sizes: Sizes) -> list[tuple[str, Problem]]:
    found = []
    for n in sizes.samples:
        for overlap, distance in OVERLAPS.items():
            found.append((f"{n:,} × 10, {overlap}", gaussians(n, 10, 10, distance)))
    middle = sizes.samples[len(sizes.samples) // 2]
    for d in sizes.features:
        found.append((f"{middle:,} × {d}, mild", gaussians(middle, d, 10, OVERLAPS["mild"])))
    return found


def known_k(name: str, problem: Problem, repeats: int) -> list[str]:
    """A row of the first table."""
    X, k = problem.X, problem.k
    repeats = repeats if len(X) < TEN_STARTS else 1
    calls: dict[str, Callable[[], Any]] = {
        "ours": lambda: ICVIARTMAP(k, random_state=0).fit(X),
        "mixture": lambda: GaussianMixture(k, random_state=0).fit(X),
        "k-means": lambda: KMeans(k, n_init=10, random_state=0).fit(X),
    }
    once: dict[str, Callable[[], Any]] = {
        "ours, 10": lambda: ICVIARTMAP(k, n_init=10, random_state=0).fit(X)
    }
    if X.size <= TEN_STARTS:
        once["ten"] = lambda: GaussianMixture(k, n_init=10, random_state=0).fit(X)
    times = in_turns(calls, repeats) | in_turns(once, 1)
    ours = times["ours"].median

    def cell(call: str, ratio: bool = True) -> str:
        if call not in times:
            return ""
        found = times[call].result
        labels = found.labels_ if hasattr(found, "labels_") else found.predict(X)
        ari = adjusted_rand_score(problem.y, labels)
        compared = f", **{times[call].median / ours:.2g}**" if ratio else ""
        return f"{duration(times[call].median)} ({ari:.3f}){compared}"

    return [
        name,
        cell("ours", False),
        cell("ours, 10", False),
        *map(cell, ("mixture", "ten", "k-means")),
    ]


def sweep(X: np.ndarray, numbers: range) -> GaussianMixture:
    """The mixture with the least BIC."""
    models = [GaussianMixture(k, random_state=0).fit(X) for k in numbers]
    return min(models, key=lambda model: model.bic(X))


def unknown_k(n: int, numbers: range) -> list[str]:
    """A row of the second table."""
    problem = gaussians(n, 10, 10, OVERLAPS["mild"])
    X = problem.X
    calls: dict[str, Callable[[], Any]] = {
        "auto": lambda: ICVIARTMAP("auto", random_state=0).fit(X),
        "any": lambda: ICVIARTMAP("auto", shape="any", random_state=0).fit(X),
        "sweep": lambda: sweep(X, numbers),
    }
    if n <= MOST_FOR_HDBSCAN:
        calls["HDBSCAN"] = lambda: HDBSCAN(min_cluster_size=max(5, n // 100), copy=True).fit(X)
    times = in_turns(calls, 1)

    def cell(call: str) -> str:
        if call not in times:
            return ""
        found = times[call].result
        labels = found.labels_ if hasattr(found, "labels_") else found.predict(X)
        ari, k = adjusted_rand_score(problem.y, labels), len(np.unique(labels[labels >= 0]))
        return f"{duration(times[call].median)} ({k}; {ari:.3f})"

    ratio = times["sweep"].median / times["auto"].median
    cells = map(cell, ("auto", "any", "sweep", "HDBSCAN"))
    return [f"{n:,} × 10, mild", *cells, f"**{ratio:.2g}**"]


def run(sizes: Sizes) -> str:
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # choices that are not clear
        known = [known_k(name, problem, sizes.repeats) for name, problem in problems(sizes)]
        unknown = [unknown_k(n, sizes.sweep) for n in sizes.choosing]
    head = ["", "default (ARI)", "n_init=10", "GMM", "GMM, n_init=10", "KMeans, n_init=10"]
    header = ["", '"auto" (k; ARI)', 'shape="any"', "GMM and BIC", "HDBSCAN", "ratio"]
    choosing = CHOOSING.format(most=MOST_FOR_HDBSCAN)
    return f"{TEXT}\n{table(head, known)}\n\n{choosing}\n{table(header, unknown)}\n"
