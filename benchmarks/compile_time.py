"""Cold compile time per index, and what a second process pays.

Every measurement is a process of its own, the first with an empty folder for compiled code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import NamedTuple

from benchmarks.common import INDICES, table

TEXT = """## Compiling

Not part of any other figure. Cold: the first small fit of a process with no compiled code at hand,
less a second one. Second process: from importing icvi_artmap to the end of a small fit, with the
compiled code found; scikit-learn is imported before the clock starts.
"""

PROGRAM = """
import json, sys, time
import numpy, scipy, sklearn.cluster, sklearn.utils.validation
start = time.perf_counter()
from icvi_artmap import ICVIARTMAP
X = numpy.random.RandomState(0).normal(size=(300, 4))
X[:150] += 5
times = []
for _ in range(2):
    begin = time.perf_counter()
    ICVIARTMAP(n_clusters=3, index=sys.argv[1], kmeans_trials=1, random_state=0).fit(X)
    times.append(time.perf_counter() - begin)
print(json.dumps({"whole": begin - start, "first": times[0], "second": times[1]}))
"""


class Sizes(NamedTuple):
    indices: tuple[str, ...]
    repeats: int


FULL = Sizes(INDICES, 3)
QUICK = Sizes(("NI", "CH"), 1)
SMOKE = Sizes((), 1)


def measure(name: str, folder: str) -> dict[str, float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(json.loads(done.stdout))


def run(sizes: Sizes) -> str:
    rows = []
    for name in sizes.indices:
        cold, warm = [], []
        for _ in range(sizes.repeats):
            with tempfile.TemporaryDirectory() as folder:
                first = measure(name, folder)
                cold.append(first["first"] - first["second"])
                warm.append(measure(name, folder)["whole"])
        cells = (" ".join(f"{seconds:.1f}" for seconds in cold), f"{min(warm):.2f}")
        rows.append([name, *cells])
    return f"{TEXT}\n{table(['index', 'cold, s', 'second process, s'], rows)}\n"
