"""Which index finds what, for docs/indices.md.

python -m benchmarks.quality.indices [--smoke] [--out FOLDER]

Writes the part of the page between its two marks, from the sets of docs/quality.md.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks import common
from benchmarks.common import Problem, data_folder, table
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

{families}. Data are standardised. Noise of the sets of shapes is left out.
"""

DRIVES = """**ARI**: mean of `ICVIARTMAP(k, index=..., refine=False)`, one seed. **New**: the same
on one half of each set, labelled by the two rules of prediction of a model that was fitted on the
other half. rCIP and rH look at the covariances of all pairs of clusters at every trial: they are
driven on sets of at most {pairs} clusters, so that their means are of easier sets.
"""

#: Beside the indices of the registry.
PCAES, CONN, PENALISED = "PCAES", "conn_index", "NI, penalised"


FAMILIES = {
    "Gaussian": "Gaussian clusters",
    "ellipsoid": "long ellipsoids",
    "real": "real data",
    "shapes": "clusters of any shape",
}
#: More clusters take the indices of pairs of covariances hours.
MOST_FOR_PAIRS = 10
OF_PAIRS = ("rCIP", "rH")
FULL = sets.FULL._replace(states=1)


class Found(NamedTuple):
    """What an index makes of a set."""

    k_true: bool
    k_ward: bool
    partition: bool
    drives: float | None
    by_index: float | None
    by_category: float | None


def problems(sizes: sets.Sizes) -> list[tuple[str, Problem]]:
    """The sets of docs/quality.md and their families, those of them that are at hand."""
    paper = sets.paper_problems(sizes)
    found = [("ellipsoid" if "ellipsoid" in one.name else "Gaussian", one) for one in paper]
    for kind in sets.kinds(sizes):
        found += [(kind.family, sets.generated(kind, state)) for state in range(sizes.states)]
    found += [("real", sets.real_problem(name)) for name in sizes.real]
    faces = sets.olivetti() if sizes.shapes > 1 else None
    found += [("real", faces)] if faces is not None else []
    shapes = sets.shape_problems(data_folder() / "shapes", sizes.shapes) + sets.toy_shapes()
    return found + [("shapes", without_noise(one)) for one in shapes[-sizes.shapes :] if one.k > 1]


def without_noise(problem: Problem) -> Problem:
    kept = problem.y > 0
    return problem._replace(X=problem.X[kept], y=problem.y[kept])


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


def measure(problem: Problem) -> dict[str, Found]:
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
        if name in INDICES and (k <= MOST_FOR_PAIRS or name not in OF_PAIRS):
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


def run(sizes: sets.Sizes, command: str) -> str:
    begin = time.perf_counter()
    every = problems(sizes)
    found = []
    for i, (family, problem) in enumerate(every, 1):
        print(f"{i}/{len(every)} {problem.name}", file=sys.stderr, flush=True)
        found.append((family, measure(problem)))
    counts = Counter(family for family, _ in every)
    text = TEXT.format(
        command=command,
        minutes=(time.perf_counter() - begin) / 60,
        n_sets=len(every),
        machine=common.machine(),
        tie=TIE,
        families="; ".join(f"{f[0].upper()}: {counts[f]} sets of {FAMILIES[f]}" for f in counts),
    )
    judged, driven = [], []
    for name in (*INDICES, PENALISED, PCAES, CONN):
        row = [f"{name} {direction(name)}"]
        for flag in ("k_true", "k_ward", "partition"):
            row += [_share(_of(found, family, name, flag)) for family in counts]
        judged.append(row)
    for name in INDICES:
        row = [name]
        for ari in ("drives", "by_index", "by_category"):
            row += [_mean(_of(found, family, name, ari)) for family in counts]
        driven.append(row)
    judging = table(_header(("k, true", "k, Ward", "partition"), counts), judged)
    driving = table(_header(("ARI", "new, by index", "new, by category"), counts), driven)
    return f"{text}\n{judging}\n\n{DRIVES.format(pairs=MOST_FOR_PAIRS)}\n{driving}\n"


def direction(name: str) -> str:
    if name in INDICES:
        return arrow(INDICES[name].direction)
    return "↓" if name == PENALISED else "↑"


def _header(heads: Iterable[str], families: Iterable[str]) -> list[str]:
    families = list(families)
    return ["index", *(f"{head}: {family[0].upper()}" for head in heads for family in families)]


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
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[2] / "docs")
    chosen = parser.parse_args(arguments)
    sizes = sets.SMOKE if chosen.smoke else FULL
    option = " --smoke" if chosen.smoke else ""
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
