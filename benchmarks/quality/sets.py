"""The data sets, and how much of everything is measured."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.decomposition import PCA

from benchmarks.common import Problem, data_folder
from icvi_artmap.datasets import SYNTHETIC, make_ellipsoid_clusters, make_gaussian_clusters
from icvi_artmap.reproduction.reproduction import QUICK_SETS

GENERATORS = {"Gaussian": make_gaussian_clusters, "ellipsoid": make_ellipsoid_clusters}


class Sizes(NamedTuple):
    """How much is measured."""

    paper: tuple[str, ...]  #: names of the paper's sets
    seeds: int  #: fits of each method with a seed on each of them
    starts: int  #: of GaussianMixture, and seeds for Olivetti
    features: dict[str, tuple[int, ...]]  #: generated sets, by family
    clusters: tuple[int, ...]
    states: int  #: sets of each kind
    choices: int  #: the same where the number of clusters is chosen
    refining_seeds: int
    real: tuple[str, ...]
    scale: tuple[tuple[int, int, int, int], ...]  #: samples, k, k-means trials, repeats
    shapes: int  #: sets of clusters of any shape, of each kind at most
    tables: int  #: real tables beside those of scikit-learn, at most
    fills: int  #: ways to fill gaps, at most


REAL = ("iris", "wine", "breast_cancer", "digits", "digits, PCA to 20")
FULL = Sizes(
    paper=SYNTHETIC,
    seeds=5,
    starts=10,
    features={"Gaussian": (2, 10), "ellipsoid": (50, 100)},
    clusters=(4, 10, 20, 40),
    states=3,
    choices=5,
    refining_seeds=2,
    real=REAL,
    scale=((70_000, 10, 10, 3), (70_000, 40, 10, 1), (1_000_000, 10, 1, 1)),
    shapes=100,
    tables=1_000,
    fills=100,
)
QUICK = FULL._replace(
    paper=QUICK_SETS,
    seeds=1,
    clusters=(4, 10),
    states=1,
    choices=1,
    refining_seeds=1,
    real=REAL[:3],
    scale=((70_000, 10, 10, 1),),
    shapes=6,
    tables=0,
)
SMOKE = Sizes(
    paper=("2d-4c-no0",),
    seeds=1,
    starts=1,
    features={"Gaussian": (2,), "ellipsoid": (20,)},
    clusters=(4,),
    states=1,
    choices=1,
    refining_seeds=1,
    real=("iris",),
    scale=((1_000, 4, 1, 1),),
    shapes=1,
    tables=0,
    fills=1,
)


class Kind(NamedTuple):
    """Generated sets that differ in their random_state alone."""

    family: str
    n_features: int
    n_clusters: int

    def __str__(self) -> str:
        return f"{self.family}, d = {self.n_features}, k = {self.n_clusters}"


@cache
def paper_problem(name: str) -> Problem | None:
    path = data_folder() / "synthetic" / f"{name}.npz"
    if not path.exists():
        return None
    with np.load(path) as file:
        X, y = np.ascontiguousarray(file["X"], float), file["y"]
    return Problem(name, X, y, len(np.unique(y)))


def paper_problems(sizes: Sizes) -> list[Problem]:
    """Those of the paper's sets that are at hand."""
    return [problem for name in sizes.paper if (problem := paper_problem(name)) is not None]


def kinds(sizes: Sizes) -> list[Kind]:
    return [
        Kind(family, d, k)
        for family, features in sizes.features.items()
        for d in features
        for k in sizes.clusters
    ]


@cache
def generated(kind: Kind, random_state: int) -> Problem:
    family, d, k = kind
    X, y = GENERATORS[family](k, d, random_state=random_state)
    return Problem(f"{kind}, random_state {random_state}", X, y, k)


def reduced(X: NDArray[np.floating], n_features: int) -> NDArray[np.float64]:
    """Principal components, exactly."""
    return np.ascontiguousarray(PCA(n_features, svd_solver="full").fit_transform(X), float)


def real_problem(name: str) -> Problem:
    X, y = getattr(datasets, f"load_{name.split(',')[0]}")(return_X_y=True)
    if "PCA" in name:
        X = reduced(X, 20)
    return Problem(name, X, y, len(np.unique(y)))


def olivetti() -> Problem | None:
    path = data_folder() / "real" / "olivetti.npz"
    if not path.exists():
        return None
    with np.load(path) as file:
        X, y = file["X"].astype(float), file["y"]
    return Problem("Olivetti", reduced(X, 20), y, len(np.unique(y)))


def odd_shapes(n_samples: int = 1_000) -> list[Problem]:
    """Clusters that no Gaussian describes."""
    rng = np.random.RandomState(0)
    # From a quarter turn on, so that the two do not meet in the middle; evenly along the way.
    angle = np.pi * np.sqrt(rng.uniform(0.5**2, 3.0**2, n_samples))
    y = np.arange(n_samples) % 2
    turned = angle + np.pi * y
    spirals = np.column_stack([angle * np.cos(turned), angle * np.sin(turned)])
    spirals += 0.2 * rng.standard_normal(spirals.shape)
    moons, half = datasets.make_moons(n_samples, noise=0.05, random_state=0)
    circles, ring = datasets.make_circles(n_samples, noise=0.05, factor=0.5, random_state=0)
    return [
        Problem("make_moons(noise=0.05)", moons, half, 2),
        Problem("make_circles(noise=0.05, factor=0.5)", circles, ring, 2),
        Problem("two spirals", spirals, y, 2),
    ]


def shape_problems(folder: Path, most: int) -> list[Problem]:
    """The first so many sets of a folder: class 0 is noise, the others are clusters."""
    problems = []
    for path in sorted(folder.glob("*.npz"))[:most]:
        with np.load(path) as file:
            X, y = np.ascontiguousarray(file["X"], float), file["y"].astype(np.int64)
        problems.append(Problem(path.stem, X, y, len(np.unique(y[y > 0]))))
    return problems


def toy_shapes() -> list[Problem]:
    """Those of scikit-learn's comparison of methods that have clusters; and two spirals.

    Classes begin at 1, as in the sets of shapes.
    """
    n = 500
    long, stripe = datasets.make_blobs(n, random_state=170)
    made = {
        "noisy circles": datasets.make_circles(n, factor=0.5, noise=0.05, random_state=30),
        "noisy moons": datasets.make_moons(n, noise=0.05, random_state=30),
        "varied": datasets.make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170),
        "aniso": (long @ [[0.6, -0.6], [-0.4, 0.8]], stripe),
        "blobs": datasets.make_blobs(n, random_state=30),
    }
    *_, spirals = odd_shapes()
    problems = [Problem(name, X, y + 1, len(np.unique(y))) for name, (X, y) in made.items()]
    return [*problems, spirals._replace(y=spirals.y + 1)]
