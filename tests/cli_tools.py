"""What the tests of the command line share: data whose clusters are known."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from icvi_artmap import write_table

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
#: The command in a process of its own.
PROGRAM = [sys.executable, "-m", "icvi_artmap"]


def blobs(n: int = 25, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Three clusters that nobody can miss, n rows each, in a random order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(3), n))
    return CENTRES[labels] + rng.normal(scale=0.5, size=(3 * n, 2)), labels


def write_blobs(path: Path, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The same as a file, among columns that are of no use."""
    X, labels = blobs(seed=seed)
    n = len(X)
    write_table(
        path,
        {
            "name": [f"s{i:02d}" for i in range(n)],
            "width": X[:, 0],
            "year": np.full(n, 2024),
            "length": X[:, 1],
            "kind": np.array(["red", "green", "blue"])[labels],
        },
    )
    return X, labels


def environment(**more: str) -> dict[str, str]:
    """For a process that runs the sources of this checkout."""
    source = Path(__file__).resolve().parents[1] / "src"
    path = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, **more}
