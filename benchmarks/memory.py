"""Peak memory above the input, each fit in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common import ellipsoids, table

TEXT = """## Memory

Peak resident memory of a fit above what the process had before, input and kernels loaded, as a
multiple of the input (Linux only). Two epochs without refinement, from given centres but where the
start is named; the default fit is refined. What is read of a memory-mapped file counts too (1 ×),
though the system can take that memory back.
"""

PROGRAM = """
import json, sys
import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from icvi_artmap import ICVIARTMAP
name, path, mapped, k = sys.argv[1], sys.argv[2], sys.argv[3] == "mapped", int(sys.argv[4])
X = np.load(path, mmap_mode="r" if mapped else None)
centres = np.array(X[:k], float)
models = {
    "ours": lambda: ICVIARTMAP(k, kmeans_trials=1, random_state=0, max_epochs=2, refine=False),
    "default": lambda: ICVIARTMAP(k, random_state=0),
    "given": lambda: ICVIARTMAP(k, init=centres, random_state=0, max_epochs=2, refine=False),
    "mixture": lambda: GaussianMixture(k, means_init=centres, max_iter=2, random_state=0),
    "kmeans": lambda: KMeans(k, init=centres, n_init=1, max_iter=10),
}
import warnings
warnings.simplefilter("ignore")
models[name]().fit(np.array(X[:2000]))
def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field)) * 1024
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
models[name]().fit(X)
print(json.dumps((status("VmHWM") - before) / X.nbytes))
"""


#: Label, model, whether its rows are float32, and whether they are memory-mapped.
FITS = (
    ("iNI, float32, memory-mapped", "given", True, True),
    ("iNI, float32", "given", True, False),
    ("iNI, float32, default fit", "default", True, False),
    ("iNI, float64", "given", False, False),
    ("iNI, float64, k-means start", "ours", False, False),
    ("GaussianMixture, float64", "mixture", False, False),
    ("KMeans, float64", "kmeans", False, False),
)


class Sizes(NamedTuple):
    samples: int
    fits: int


FULL = Sizes(1_000_000, len(FITS))
QUICK = Sizes(200_000, len(FITS))
SMOKE = Sizes(2_000, 1)


def peak(name: str, path: Path, mapped: bool, k: int) -> float:
    arguments = [name, str(path), "mapped" if mapped else "loaded", str(k)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True, text=True
    )
    return float(json.loads(done.stdout))


def run(sizes: Sizes) -> str:
    if not sys.platform.startswith("linux"):
        return f"{TEXT}\nNot measured: this is not Linux.\n"
    problem = ellipsoids(sizes.samples)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        double, single = Path(folder, "float64.npy"), Path(folder, "float32.npy")
        np.save(double, problem.X)
        np.save(single, problem.X.astype(np.float32))
        for label, name, is_single, mapped in FITS[: sizes.fits]:
            path = single if is_single else double
            rows.append([label, f"{peak(name, path, mapped, problem.k):.2f} ×"])
    header = [f"{sizes.samples:,} × 10", "peak above the input"]
    return f"{TEXT}\n{table(header, rows)}\n"
