"""artlib and cvi, as far as they can do the same work."""

from __future__ import annotations

import contextlib
import io
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import duration, ellipsoids, in_turns, table
from icvi_artmap import ICVIARTMAP
from icvi_artmap.scaling import learn_scaling

TEXT = """## artlib and cvi

artlib's `iCVIFuzzyART` (Calinski-Harabasz, offline) and `CVIART` (the index from scikit-learn,
computed anew for every trial): one epoch at vigilance 0.7 on {n:,} × 10 complement-coded samples
({few:,} for CVIART). Neither has a map field or a number of clusters, so ours is one epoch of iCH
with k = 10 at the same vigilance: more work, as all k moves of a sample are tried. cvi: {n:,}
samples given to its incremental CH one by one, no trial at all; ours is the same epoch.
"""


class Sizes(NamedTuple):
    samples: int
    few: int


FULL = Sizes(2_000, 500)
QUICK = Sizes(500, 200)
SMOKE = Sizes(60, 40)


def run(sizes: Sizes) -> str:
    try:
        import cvi
        from artlib import CVIART, FuzzyART, iCVIFuzzyART
    except ImportError as error:
        return f"## artlib and cvi\n\nNot measured: {error}.\n"
    problem = ellipsoids(sizes.samples)
    scaled = learn_scaling(problem.X).min_max(problem.X)
    coded = np.hstack([scaled, 1.0 - scaled])
    centres = problem.X[:10]

    def ours(n: int) -> Any:
        model = ICVIARTMAP(10, index="CH", rho_a=0.7, max_epochs=1, init=centres, shuffle=False)
        return model.fit(problem.X[:n])

    def incremental() -> Any:
        validity = iCVIFuzzyART.CALINSKIHARABASZ
        return iCVIFuzzyART(0.7, 1e-3, 1.0, validity, offline=True).fit(coded)

    def batch() -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            model = CVIART(FuzzyART(0.7, 1e-3, 1.0), CVIART.CALINSKIHARABASZ)
            return model.fit(coded[: sizes.few], max_iter=1)

    def stream() -> Any:
        index = cvi.CH()
        for x, label in zip(problem.X, problem.y, strict=True):
            value = index.get_cvi(x, int(label))
        return value

    rows = []
    for name, peer, n in (
        ("artlib iCVIFuzzyART", incremental, sizes.samples),
        ("artlib CVIART", batch, sizes.few),
        ("cvi CH", stream, sizes.samples),
    ):
        times = in_turns({"ours": lambda n=n: ours(n), "peer": peer}, 1)  # type: ignore[misc]
        repeated = in_turns({"ours": lambda n=n: ours(n)}, 5)["ours"].median  # type: ignore[misc]
        theirs = times["peer"].median
        rows.append([name, duration(theirs), duration(repeated), f"{theirs / repeated:,.0f}"])
    text = TEXT.format(n=sizes.samples, few=sizes.few)
    return f"{text}\n{table(['', 'peer', 'ours', 'ratio'], rows)}\n"
