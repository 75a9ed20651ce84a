"""Which index finds what, for docs/indices.md.

python -m benchmarks.quality.indices [--full | --smoke] [--out FOLDER]

Writes the part of the page between its two marks. Without an option sets of up to 10 clusters are
used, a quarter of an hour; with --full those of up to 40 too, some hours.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks import common
from benchmarks.common import Problem, table
from benchmarks.quality import sets
from benchmarks.quality.methods import TIE, Labels, kmeans, mixture, ward
from icvi_artmap import ICVIARTMAP, metrics
from icvi_artmap._support.threads import one_thread
from icvi_artmap._support.wording import arrow
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.samples.scaling import plain_data

BEGIN, END = "<!-- made by benchmarks.quality.indices -->", "<!-- end of what is made -->"

TEXT = """Made by `{command}` in {minutes:.0f} minutes on {n_sets} sets; do not edit. {machine}.

- **k, true**: of the partitions in which true clusters are merged two by two (those that raise the
  sum of squares least) or split in two (the widest, by 2-means), from 2 to 2k clusters, the index
  is best for the true one. **k, Ward**: of the partitions of Ward's method with 2 to 2k clusters it
  is best for one with k.
- **partition**: of the partitions of k-means, Ward's method and a Gaussian mixture with the true k
  the index is best for the one with the largest ARI, or one that is behind by {tie} at most.
- **drives**: mean ARI of `ICVIARTMAP(k, index=..., refine=False)`, one seed.
- **new: index, category**: mean ARI on one half of each set, labelled by the two rules of
  prediction of a model that was fitted on the other half.

G: {gaussian} sets of Gaussian clusters; E: {ellipsoid} of long ellipsoids. Data are standardised.
"""

#: Beside the indices of the registry.
PCAES, CONN, PENALISED = "PCAES", "conn_index", "NI, penalised"


class Sizes(NamedTuple):
    """How much is measured."""

    clusters: tuple[int, ...]
    features: Mapping[str, tuple[int, ...]]
    states: int
    paper: bool
    drives: int  #: sets of more clusters are not driven by the indices of covariances of pairs


FAMILIES = {"Gaussian": (2, 10), "ellipsoid": (50, 100)}
PORTION = Sizes((4, 10), FAMILIES, 1, True, 10)
FULL = Sizes((4, 10, 20, 40), FAMILIES, 3, True, 20)
SMOKE = Sizes((3,), {"Gaussian": (2,), "ellipsoid": (5,)}, 1, False, 3)


class Found(NamedTuple):
    """What an index makes of a set."""

    k_true: bool
    k_ward: bool
    partition: bool
    drives: float | None
    by_index: float | None
    by_category: float | None


def problems(sizes: Sizes) -> list[tuple[str, Problem]]:
    """Sets and their families: those of the paper that are at hand, and generated ones."""
    found = []
    for family, features in sizes.features.items():
        for d in features:
            for k in sizes.clusters:
                name = f"{d}d-{k}c-no0" if family == "Gaussian" else f"ellipsoid.{d}d{k}c.1"
                paper = sets.paper_problem(name) if sizes.paper else None
                kind = sets.Kind(family, d, k)
                generated = [sets.generated(kind, state) for state in range(sizes.states)]
                found += [(family, one) for one in (paper, *generated) if one is not None]
    return found


# --- partitions ----------------------------------------------------------------------------------


def around_the_truth(Z: NDArray[np.float64], y: Labels, most: int) -> dict[int, Labels]:
    """The true partition, merged step by step to 2 clusters and split to ``most``."""
    labels = np.unique(y, return_inverse=True)[1]
    k = int(labels.max()) + 1
    found, now = {k: labels}, labels.copy()
    while len(np.unique(now)) > 2:
        i, j = _cheapest_pair(Z, now)
        now = np.unique(np.where(now == j, i, now), return_inverse=True)[1]
        found[int(now.max()) + 1] = now.copy()
    now = labels.copy()
    for after in range(k + 1, most + 1):
        widest = int(np.argmax([_squares(Z[now == i]) for i in range(after - 1)]))
        rows = np.flatnonzero(now == widest)
        halves = KMeans(2, n_init=3, random_state=0).fit_predict(Z[rows])
        now[rows[halves == 1]] = after - 1
        found[after] = now.copy()
    return found


def _squares(rows: NDArray[np.float64]) -> float:
    return float(np.square(rows - rows.mean(axis=0)).sum())


def _cheapest_pair(Z: NDArray[np.float64], labels: Labels) -> tuple[int, int]:
    """The two clusters that raise the sum of squares least when they are merged."""
    n = np.bincount(labels).astype(float)
    mean = np.array([Z[labels == i].mean(axis=0) for i in range(len(n))])
    apart = np.square(mean[:, None] - mean).sum(axis=2)
    cost = n[:, None] * n / (n[:, None] + n) * apart
    cost[np.tril_indices(len(n))] = np.inf
    i, j = np.unravel_index(cost.argmin(), cost.shape)
    return int(i), int(j)


def of_ward(Z: NDArray[np.float64], most: int) -> dict[int, Labels]:
    tree = AgglomerativeClustering(2, compute_full_tree=True).fit(Z)
    found = {}
    for k in range(2, most + 1):
        labels = np.arange(2 * len(Z) - 1)
        for step, (a, b) in enumerate(tree.children_[: len(Z) - k]):
            labels[[a, b]] = len(Z) + step
        for node in range(len(labels) - 1, -1, -1):
            labels[node] = labels[labels[node]]
        found[k] = np.unique(labels[: len(Z)], return_inverse=True)[1]
    return found


# --- values --------------------------------------------------------------------------------------


def scores(Z: NDArray[np.float64], labels: Labels) -> dict[str, float]:
    """All indices of a partition, greater is better; and the criterion that NI chooses k by."""
    data = plain_data(Z, np.ones(Z.shape[1]), np.zeros(Z.shape[1]))
    k, found = int(labels.max()) + 1, {}
    for name, index in INDICES.items():
        state = index.state(data, labels.astype(np.int64), k, k)
        found[name] = index.score(state)
        if index.gaussian:
            found[PENALISED] = -index.criterion.rater()(state, found[name])
    found[PCAES] = metrics.pcaes_index(Z, labels)
    found[CONN] = metrics.conn_index(Z, labels)
    return found


def best(values: dict[int, dict[str, float]], name: str) -> int:
    """The number of clusters with the best score, the least of equals."""
    return max(sorted(values), key=lambda k: values[k][name])


def measure(problem: Problem, sizes: Sizes) -> dict[str, Found]:
    Z, k = problem.standardised, problem.k
    truth = np.unique(problem.y, return_inverse=True)[1]
    path = {n: scores(Z, y) for n, y in around_the_truth(Z, truth, 2 * k).items()}
    cuts = {n: scores(Z, y) for n, y in of_ward(Z, 2 * k).items()}
    rivals = [labels(problem, 0, 3) for labels in (kmeans, ward, mixture)]
    aris = [float(adjusted_rand_score(truth, y)) for y in rivals]
    values = [scores(Z, np.unique(y, return_inverse=True)[1]) for y in rivals]
    found = {}
    for name in (*INDICES, PENALISED, PCAES, CONN):
        preferred = int(np.argmax([value[name] for value in values]))
        right = aris[preferred] >= max(aris) - TIE
        driven: tuple[float | None, ...] = (None, None, None)
        if name in INDICES and (k <= sizes.drives or name not in ("rCIP", "rH")):
            driven = drive(problem, name)
        found[name] = Found(best(path, name) == k, best(cuts, name) == k, right, *driven)
    return found


def drive(problem: Problem, index: str) -> tuple[float, float, float]:
    """ARI of a fit, and of the two rules for new samples."""
    model = ICVIARTMAP(problem.k, index=index, refine=False, random_state=0)
    found = float(adjusted_rand_score(problem.y, model.fit(problem.X).labels_))
    order = np.random.default_rng(0).permutation(len(problem.X))
    seen, new = order[::2], order[1::2]
    model.fit(problem.X[seen])
    rows = problem.X[new]
    by_index, by_category = (
        float(adjusted_rand_score(problem.y[new], model.set_params(prediction=rule).predict(rows)))
        for rule in ("index", "category")
    )
    return found, by_index, by_category


# --- the page ------------------------------------------------------------------------------------


def run(sizes: Sizes, command: str) -> str:
    begin = time.perf_counter()
    every = problems(sizes)
    found = [(family, measure(problem, sizes)) for family, problem in every]
    rows = []
    for name in (*INDICES, PENALISED, PCAES, CONN):
        row = [f"{name} {arrow(INDICES[name].direction)}" if name in INDICES else f"{name} ↑"]
        if name == PENALISED:
            row = [f"{name} ↓"]
        for flag in ("k_true", "k_ward", "partition"):
            row += [_share(_of(found, family, name, flag)) for family in sizes.features]
        for ari in ("drives", "by_index", "by_category"):
            row += [_mean(_of(found, family, name, ari)) for family in sizes.features]
        rows.append(row)
    heads = ["k, true", "k, Ward", "partition", "drives", "new: index", "new: category"]
    header = ["index", *(f"{head}: {family[0].upper()}" for head in heads for family in FAMILIES)]
    text = TEXT.format(
        command=command,
        minutes=(time.perf_counter() - begin) / 60,
        n_sets=len(every),
        machine=common.machine(),
        tie=TIE,
        gaussian=sum(family == "Gaussian" for family, _ in every),
        ellipsoid=sum(family == "ellipsoid" for family, _ in every),
    )
    return f"{text}\n{table(header, rows)}\n"


def _of(found: list[tuple[str, dict[str, Found]]], family: str, name: str, field: str) -> list:
    return [getattr(of_set[name], field) for one, of_set in found if one == family]


def _share(flags: Iterable[bool]) -> str:
    flags = list(flags)
    return f"{sum(flags)}/{len(flags)}"


def _mean(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{fmean(known):.3f}" if known else ""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.indices")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true", help="up to 40 clusters, some hours")
    size.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[2] / "docs")
    chosen = parser.parse_args(arguments)
    option = " --full" if chosen.full else " --smoke" if chosen.smoke else ""
    sizes = FULL if chosen.full else SMOKE if chosen.smoke else PORTION
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that do not converge
        common.compile_kernels(tuple(INDICES))
        part = run(sizes, f"python -m benchmarks.quality.indices{option}")
    print(part)
    path = chosen.out / "indices.md"
    page = path.read_text(encoding="utf-8") if path.exists() else f"{BEGIN}\n{END}\n"
    marked = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    common.write(path, marked.sub(lambda _: f"{BEGIN}\n\n{part}\n{END}", page))


if __name__ == "__main__":
    main()
