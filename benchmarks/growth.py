"""How the time of an epoch grows with samples, clusters and features."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Problem, duration, ellipsoids, exponent, gaussians, in_turns, table
from icvi_artmap import ICVIARTMAP
from icvi_artmap.samples.scaling import learn_scaling

TEXT = """## Growth with N, k and d

Three epochs (`max_epochs=3, tol=0, refine=False`, rho_a = 0) on ellipsoidal clusters, given k
centres near the true ones; seconds per epoch, set-up included. The exponents are fitted from
N = 10,000, k = 10 and d = 10 on. Where clusters overlap the number of categories is not fixed: it
grows with the samples there, and the search with it. The first table is about clusters that do not
overlap.
"""


class Sizes(NamedTuple):
    samples: tuple[int, ...]
    clusters: tuple[int, ...]
    features: tuple[int, ...]


FULL = Sizes(
    (1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    (2, 5, 10, 20, 50, 100, 200),
    (2, 5, 10, 20, 50, 100, 200, 500),
)
QUICK = Sizes((1_000, 10_000, 100_000), (2, 10, 50), (2, 10, 50, 100))
SMOKE = Sizes((200, 400), (2, 3), (2, 3))
FIXED = 20_000  #: samples where k varies
FIXED_HIGH = 5_000  #: samples where d varies
APART = 20.0  #: distance of clusters that do not overlap
EPOCHS = 3
#: Exponents are fitted to sizes of at least this many samples, clusters and features.
FITTED_FROM = (10_000, 10_000, 10, 10)
NAMES = ("NI", "CH", "XB")


def seconds(
    problem: Problem,
    index: str,
    repeats: int,
    moved: NDArray[np.float64] | None = None,
    epochs: int = EPOCHS,
) -> tuple[float, int]:
    """Per epoch, and the number of categories.

    ``moved``: by how much the centres to start with are off, in every feature.
    """
    if moved is None:
        moved = 0.3 * learn_scaling(problem.X).deviation
    centres = np.array([problem.X[problem.y == i].mean(axis=0) for i in range(problem.k)])
    centres += moved * np.random.default_rng(0).normal(size=centres.shape)
    model = ICVIARTMAP(
        problem.k,
        index=index,
        init=centres,
        max_epochs=epochs,
        tol=0.0,
        refine=False,
        random_state=0,
    )
    measured = in_turns({"fit": lambda: model.fit(problem.X)}, repeats)["fit"]
    return measured.median / model.n_iter_, len(model.categories_)


def measure(problems: list[Problem], name: str) -> list[tuple[float, int]]:
    return [seconds(problem, name, 1 if len(problem.X) > 200_000 else 3) for problem in problems]


def values_of(sizes: Sizes) -> tuple[tuple[int, ...], ...]:
    """What varies in each of the tables."""
    return (sizes.samples, *sizes)


def picture(
    results: dict[str, dict[str, list[tuple[float, int]]]], sizes: Sizes, path: Path
) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(14, 3.6))
    for ax, (axis, by_index), values in zip(axes, results.items(), values_of(sizes), strict=True):
        for name, measured in by_index.items():
            ax.plot(values, [second for second, _ in measured], "o-", label=name, markersize=4)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel(axis)
        ax.grid(alpha=0.3, which="both")
    axes[0].set_ylabel("seconds an epoch")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def run(sizes: Sizes, folder: Path) -> str:
    scale = 1 if sizes is not SMOKE else 50
    problems = {
        "samples N, clusters apart (d = 10, k = 10)": [
            gaussians(n, distance=APART) for n in sizes.samples
        ],
        "samples N (d = 10, k = 10)": [ellipsoids(n) for n in sizes.samples],
        f"clusters k (N = {FIXED:,}, d = 10)": [
            ellipsoids(FIXED // scale, 10, k) for k in sizes.clusters
        ],
        f"features d (N = {FIXED_HIGH:,}, k = 10)": [
            ellipsoids(FIXED_HIGH // scale, d, 10) for d in sizes.features
        ],
    }
    results = {
        axis: {name: measure(sets, name) for name in NAMES} for axis, sets in problems.items()
    }
    picture(results, sizes, folder / "growth.png")
    parts = [TEXT]
    for (axis, by_index), values, least in zip(
        results.items(), values_of(sizes), FITTED_FROM, strict=True
    ):
        rows = []
        for name, measured in by_index.items():
            large = [i for i, value in enumerate(values) if value >= least] or [0, 1]
            slope = exponent([values[i] for i in large], [measured[i][0] for i in large])
            cells = [f"{duration(second)} ({c:,})" for second, c in measured]
            rows.append([name, *cells, f"**{slope:.2f}**"])
        header = [axis, *[f"{value:,}" for value in values], "exponent"]
        parts.append(table(header, rows) + "\n")
    parts.append("In brackets: categories.\n\n![growth](images/growth.png)\n")
    return "\n".join(parts)
