"""What the suites share: data, timing in turns, tables, the machine."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap import ICVIARTMAP
from icvi_artmap.datasets import make_ellipsoid_clusters
from icvi_artmap.samples.scaling import learn_scaling, standardised_table

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "artlib", "cvi")
INDICES = ("NI", "CH", "WB", "XB", "DB", "PBM")


class Problem(NamedTuple):
    """A data set with the number of clusters to find in it."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    k: int

    @property
    def standardised(self) -> NDArray[np.float64]:
        return standardised_table(self.X, learn_scaling(self.X))


def data_folder() -> Path:
    given = os.environ.get("ICVI_ARTMAP_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


def paper_set(n_features: int, n_clusters: int) -> Problem:
    """An ellipsoid set of the paper where its data are at hand, else one of the same family."""
    name = f"ellipsoid.{n_features}d{n_clusters}c.1"
    path = data_folder() / "synthetic" / f"{name}.npz"
    if path.exists():
        with np.load(path) as file:
            return Problem(name, np.ascontiguousarray(file["X"], float), file["y"], n_clusters)
    X, y = make_ellipsoid_clusters(n_clusters, n_features, random_state=1)
    return Problem(f"{name} (generated)", X, y, n_clusters)


def ellipsoids(n_samples: int, n_features: int = 10, n_clusters: int = 10) -> Problem:
    """Overlapping ellipsoidal clusters: in few dimensions the generator cannot keep them apart."""
    X, y = make_ellipsoid_clusters(n_clusters, n_features, n_samples=n_samples, random_state=0)
    return Problem(f"{n_samples:,} × {n_features}, ellipsoids", X, y, n_clusters)


def gaussians(
    n_samples: int, n_features: int = 10, n_clusters: int = 10, distance: float = 1.0
) -> Problem:
    """Gaussian clusters, each with a covariance of its own; at distance 1 they overlap strongly."""
    rng = np.random.default_rng(0)
    centres = distance * rng.normal(size=(n_clusters, n_features))
    shapes = 0.5 * rng.normal(size=(n_clusters, n_features, n_features))
    y = rng.integers(0, n_clusters, n_samples)
    X = np.empty((n_samples, n_features))
    for i in range(n_clusters):
        X[y == i] = centres[i] + rng.normal(size=((y == i).sum(), n_features)) @ shapes[i].T
    return Problem(f"{n_samples:,} × {n_features}, Gaussians", X, y, n_clusters)


def compile_kernels(
    indices: Sequence[str] = INDICES, evaluation: Literal["incremental", "batch"] = "incremental"
) -> None:
    """So that no measurement contains it."""
    problem = ellipsoids(300, 4, 3)
    for index in indices:
        ICVIARTMAP(3, index=index, evaluation=evaluation, max_epochs=1).fit(problem.X)


class Measured(NamedTuple):
    """Seconds of every repeat, and what the last one returned."""

    seconds: list[float]
    result: Any

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def in_turns(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, Measured]:
    """Time the functions one after the other, again and again: noise then hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    results: dict[str, Any] = {}
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            results[name] = function()
            seconds[name].append(time.perf_counter() - start)
    return {name: Measured(seconds[name], results[name]) for name in functions}


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of seconds over sizes, both as logarithms, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown; the first column is text, the others are numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def duration(seconds: float) -> str:
    """With three digits and a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    draft = path.with_suffix(".part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def processor() -> str:
    """What the processor calls itself."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if "model name" in line]
        if names:
            return names[0].split(":")[1].strip()
    return platform.processor() or platform.machine()


def machine() -> str:
    """Processor, cores and versions, without the machine's name."""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    return (
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(versions)}"
    )
