"""artlib and cvi, as far as they can do the same work."""

from __future__ import annotations

import contextlib
import io
from typing import Any, NamedTuple

import numpy as np

import icvi_artmap
from benchmarks.common import duration, ellipsoids, in_turns, table
from icvi_artmap import ICVIARTMAP
from icvi_artmap.samples.scaling import learn_scaling

TEXT = """## artlib and cvi

artlib's `iCVIFuzzyART` (Calinski-Harabasz, offline) and `CVIART` (the index from scikit-learn,
computed anew for every trial): one epoch at vigilance 0.7 on {n:,} × 10 complement-coded samples
({few:,} for CVIART). Neither has a map field or a number of clusters, so ours is one epoch of iCH
with k = 10 at the same vigilance: more work, as all k moves of a sample are tried. cvi: {n:,}
samples given to its incremental CH one by one, no trial at all; ours is the same epoch. FuzzyART:
one pass over {pass_:,} × 10 at vigilance {rho}, the same in artlib's C++ class (on complement-coded
samples) and ours (on raw samples); categories: {categories}, labels {equal}.
"""


class Sizes(NamedTuple):
    samples: int
    few: int
    fuzzy: int


FULL = Sizes(2_000, 500, 10_000)
QUICK = Sizes(500, 200, 10_000)
SMOKE = Sizes(60, 40, 100)
#: Makes about the 83 categories that artlib's own figures are about.
RHO = 0.605


def run(sizes: Sizes) -> str:
    try:
        import cvi
        from artlib import CVIART, FuzzyART, iCVIFuzzyART
        from artlib.optimized.backends.cpp.FuzzyART import FuzzyART as CppFuzzyART
    except ImportError as error:
        return f"## artlib and cvi\n\nNot measured: {error}.\n"
    problem = ellipsoids(sizes.samples)
    scaled = learn_scaling(problem.X).min_max(problem.X)
    coded = np.hstack([scaled, 1.0 - scaled])
    centres = problem.X[:10]

    def ours(n: int) -> Any:
        model = ICVIARTMAP(
            10, index="CH", rho_a=0.7, max_epochs=1, init=centres, shuffle=False, refine=False
        )
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
    X = ellipsoids(sizes.fuzzy).X
    whole = learn_scaling(X).min_max(X)
    whole = np.hstack([whole, 1.0 - whole])
    models: dict[str, Any] = {}

    def fuzzy_art(name: str, model: Any, data: Any) -> None:
        models[name] = model.fit(data)

    calls = {
        "ours": lambda: fuzzy_art("ours", icvi_artmap.FuzzyART(RHO), X),
        "peer": lambda: fuzzy_art("peer", CppFuzzyART(RHO, 1e-3, 1.0), whole),
    }
    calls["ours"]()  # compiled before the clock starts
    times = in_turns(calls, 5)
    mine, theirs = times["ours"].median, times["peer"].median
    rows.append(["artlib FuzzyART, C++", duration(theirs), duration(mine), f"{theirs / mine:,.1f}"])
    text = TEXT.format(
        n=sizes.samples,
        few=sizes.few,
        pass_=sizes.fuzzy,
        rho=RHO,
        categories=len(models["ours"].categories_),
        equal="equal" if (models["ours"].labels_ == models["peer"].labels_).all() else "not equal",
    )
    return f"{text}\n{table(['', 'peer', 'ours', 'ratio'], rows)}\n"
