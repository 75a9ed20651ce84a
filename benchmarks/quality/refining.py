"""Which indices gain by refining, and what refining costs at scale."""

from __future__ import annotations

from statistics import fmean

from sklearn.metrics import adjusted_rand_score

from benchmarks.common import INDICES, Problem, duration, ellipsoids, in_turns, table
from benchmarks.quality import sets
from benchmarks.quality.methods import EPS, Labels, measure
from benchmarks.quality.sets import Sizes
from icvi_artmap import ICVIARTMAP
from icvi_artmap.indices.registry import get_index

TEXT = """## Which indices are refined

Mean ARI with `refine=False` and `refine=True` over {paper} of the paper's sets and {generated}
generated ones (`random_state` 0), seeds 0 to {last}. Measured: "on" if refining raises the mean ARI
over all of these sets. `refine="auto"` now refines {refined}.
"""

SCALE_TEXT = """## Scale

Overlapping ellipsoidal clusters in 10 dimensions, `refine=False` and `refine=True` in turns from
the same seed; whole fits with the k-means start, the best of so many trials. Median.
"""


def run_refining(sizes: Sizes) -> str:
    paper = sets.paper_problems(sizes)
    generated = [sets.generated(kind, 0) for kind in sets.kinds(sizes)]
    rows = [_index_row(index, paper, generated, sizes.refining_seeds) for index in INDICES]
    text = TEXT.format(
        paper=len(paper),
        generated=len(generated),
        last=sizes.refining_seeds - 1,
        refined=", ".join(name for name in INDICES if get_index(name).refined),
    )
    header = [
        "index",
        "paper's: off",
        "paper's: on",
        "generated: off",
        "generated: on",
        "all: on - off",
        "sets better, worse",
        "fit: off",
        "fit: on",
        "measured",
    ]
    return f"{text}\n{table(header, rows)}\n"


def _index_row(index: str, paper: list[Problem], generated: list[Problem], seeds: int) -> list[str]:
    problems = [*paper, *generated]
    aris: dict[bool, list[float]] = {}
    seconds: dict[bool, float] = {}
    for refine in (False, True):

        def method(problem: Problem, seed: int, starts: int, refine: bool = refine) -> Labels:
            model = ICVIARTMAP(problem.k, index=index, refine=refine, random_state=seed)
            return model.fit(problem.X).labels_

        fits = [measure(problem, method, seeds, 1) for problem in problems]
        aris[refine] = [one.ari for one in fits]
        seconds[refine] = fmean(one.seconds for one in fits)
    n = len(paper)
    gains = [on - off for on, off in zip(aris[True], aris[False], strict=True)]
    gain = fmean(gains)
    return [
        index,
        *(_mean(aris[refine][:n]) for refine in (False, True)),
        *(_mean(aris[refine][n:]) for refine in (False, True)),
        f"{gain:+.4f}",
        f"{sum(one > EPS for one in gains)}, {sum(one < -EPS for one in gains)}",
        *(duration(seconds[refine]) for refine in (False, True)),
        "on" if round(gain, 4) > 0 else "off",
    ]


def _mean(values: list[float]) -> str:
    return f"{fmean(values):.4f}" if values else "absent"


def run_scale(sizes: Sizes) -> str:
    rows = []
    for n_samples, k, trials, repeats in sizes.scale:
        problem = ellipsoids(n_samples, n_clusters=k)

        def fit(refine: bool, problem: Problem = problem, trials: int = trials) -> ICVIARTMAP:
            model = ICVIARTMAP(problem.k, kmeans_trials=trials, refine=refine, random_state=0)
            return model.fit(problem.X)

        def plain(fit=fit) -> ICVIARTMAP:  # type: ignore[no-untyped-def]
            return fit(False)

        def refined(fit=fit) -> ICVIARTMAP:  # type: ignore[no-untyped-def]
            return fit(True)

        times = in_turns({"off": plain, "on": refined}, repeats)
        off, on = times["off"], times["on"]
        rows.append(
            [
                f"{n_samples:,} × 10, k = {k}, k-means trials: {trials}",
                duration(off.median),
                duration(on.median),
                f"{on.median / off.median:.2f}",
                *(f"{one.result.index_value_:.6f}" for one in (off, on)),
                *(f"{adjusted_rand_score(problem.y, one.result.labels_):.4f}" for one in (off, on)),
            ]
        )
    header = ["", "off", "on", "ratio", "NI: off", "NI: on", "ARI: off", "ARI: on"]
    return f"{SCALE_TEXT}\n{table(header, rows)}\n"
