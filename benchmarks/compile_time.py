"""Cold compile time per index, and what a second process pays: python benchmarks/compile_time.py

Every measurement is a process of its own, the first with an empty folder for compiled code. Cold:
the first small fit less a second one in the same process. Second process: from importing
icvi_artmap to the end of a small fit, with the compiled code found; scikit-learn is imported before
the clock starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

NAMES = ("NI", "CH", "WB", "XB", "DB", "PBM")

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


def main() -> None:
    print(f"{'index':6} {'cold compile, s':>16} {'second process, s':>18}")
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            cold = measure(name, folder)
            warm = min(measure(name, folder)["whole"] for _ in range(3))
        print(f"{name:6} {cold['first'] - cold['second']:16.1f} {warm:18.2f}", flush=True)


if __name__ == "__main__":
    main()
