"""Ours and peers on the paper's sets, generated ones, scikit-learn's and Olivetti."""

from __future__ import annotations

from statistics import fmean

from sklearn.metrics import adjusted_rand_score

from benchmarks.common import Problem, duration, table
from benchmarks.quality import sets
from benchmarks.quality.methods import (
    CH,
    METHODS,
    OURS,
    PEERS,
    TIE,
    UNREFINED,
    Comparison,
    best_bold,
    ch,
    compare,
    digits,
    kmeans,
    mean_aris,
    mixture,
    ward,
)
from benchmarks.quality.sets import Sizes
from icvi_artmap import ICVIARTMAP, index_value
from icvi_artmap.reproduction.paper import TUNED_REAL, TUNED_SYNTHETIC

#: ARI of the paper on Olivetti, and of its iNI tuned by the index on the synthetic sets.
PAPER_OLIVETTI = TUNED_REAL.values["olivetti"]["iNI"]
PAPER_NI = {name: row["iNI"] for name, row in TUNED_SYNTHETIC.values.items()}

PAPER_TEXT = """## The paper's sets

ARI on the paper's synthetic sets, k given, labels unused; mean over {seeds} seeds. Last columns:
the paper's iNI with its vigilances tuned by the index, and seconds of one fit of iNI.
"""

GENERATED_TEXT = """## Generated sets

The same on sets of `make_gaussian_clusters` and `make_ellipsoid_clusters`, one seed each; a row is
the mean over {states} sets (`random_state` 0 to {last}).
"""

REAL_TEXT = """## scikit-learn's real data

k is the number of classes, one seed; iCH is `ICVIARTMAP(k, index="CH")`. Last columns:
`ICVIARTMAP("auto")`, the number of clusters that it chooses and the ARI with that.
"""

OLIVETTI_TEXT = """## Olivetti faces

400 pictures of 40 people, by PCA to 20 dimensions, k = 40. iNI: of {starts} seeds the fit with the
best NI. GMM and k-means: the best of {starts} starts by their own criterion. The ARI in
the paper is {paper}.
"""

ABSENT = "The data are absent here, so this was not measured.\n"


def run_paper_sets(sizes: Sizes, found: list[Comparison]) -> str:
    text = PAPER_TEXT.format(seeds=sizes.seeds)
    problems = sets.paper_problems(sizes)
    if not problems:
        return f"{text}\n{ABSENT}"
    comparisons = [compare(problem, sizes.seeds, sizes.starts) for problem in problems]
    found += comparisons
    rows = [
        [
            one.problem.name,
            *best_bold(one.aris()),
            f"{PAPER_NI[one.problem.name]:.4f}",
            duration(one.ours.seconds),
        ]
        for one in comparisons
    ]
    paper = fmean(PAPER_NI[problem.name] for problem in problems)
    seconds = fmean(one.ours.seconds for one in comparisons)
    rows.append(["mean", *best_bold(mean_aris(comparisons)), f"{paper:.4f}", duration(seconds)])
    ours = [one.ours.ari for one in comparisons]
    below = [
        one.problem.name
        for one in comparisons
        if round(one.ours.ari, 4) < PAPER_NI[one.problem.name]
    ]
    summary = (
        f"iNI: mean {fmean(ours):.4f}, least {min(ours):.4f}; below the paper's value on "
        f"{', '.join(below) if below else 'no set'}. Its {len(problems) * sizes.seeds} fits took "
        f"{duration(seconds * len(problems) * sizes.seeds)} in all. {_worsened(comparisons)}"
    )
    header = ["set", *METHODS, "paper's iNI", "fit of iNI"]
    return f"{text}\n{table(header, rows)}\n\n{summary}\n"


def _worsened(comparisons: list[Comparison]) -> str:
    fits = sum(len(one.ours.values) for one in comparisons)
    worse = sum(one.worsened() for one in comparisons)
    return f"Refining made NI worse in {worse} of {fits} fits."


def run_generated(sizes: Sizes, found: list[Comparison]) -> str:
    comparisons: dict[str, list[Comparison]] = {}
    rows = []
    for kind in sets.kinds(sizes):
        problems = [sets.generated(kind, state) for state in range(sizes.states)]
        of_kind = [compare(problem, 1, sizes.starts) for problem in problems]
        comparisons.setdefault(kind.family, []).extend(of_kind)
        rows.append([str(kind), *best_bold(mean_aris(of_kind))])
    for family, of_family in comparisons.items():
        means = best_bold(mean_aris(of_family))
        rows.append([f"mean of {len(of_family)}, {family}", *means])
    everything = [one for of_family in comparisons.values() for one in of_family]
    rows.append([f"mean of all {len(everything)}", *best_bold(mean_aris(everything))])
    found += everything
    text = GENERATED_TEXT.format(states=sizes.states, last=sizes.states - 1)
    return "\n".join(
        [
            text,
            table(["sets", *METHODS], rows),
            "",
            f"On how many sets iNI has the larger ARI, and on how many the other (by more than "
            f"{TIE}):",
            "",
            table(["against", "iNI", "equal", "the other"], _wins(everything)),
            "",
            _worsened(everything),
            "",
        ]
    )


def _wins(comparisons: list[Comparison]) -> list[list[str]]:
    rows = []
    for name in (UNREFINED, *PEERS):
        leads = [one.ours.ari - one.fits[name].ari for one in comparisons]
        wins, losses = sum(lead > TIE for lead in leads), sum(lead < -TIE for lead in leads)
        rows.append([name, str(wins), str(len(leads) - wins - losses), str(losses)])
    return rows


def run_real(sizes: Sizes, found: list[Comparison]) -> str:
    methods = {OURS: METHODS[OURS], UNREFINED: METHODS[UNREFINED], CH: ch, **PEERS}
    rows = []
    for name in sizes.real:
        problem = sets.real_problem(name)
        one = compare(problem, 1, sizes.starts, methods)
        found.append(one)
        auto = ICVIARTMAP("auto", random_state=0).fit(problem.X)
        ari = adjusted_rand_score(problem.y, auto.labels_)
        shape = f"{len(problem.X):,} × {problem.X.shape[1]}, k = {problem.k}"
        row = [f"{name}: {shape}", *best_bold(one.aris()), str(auto.n_clusters_), f"{ari:.4f}"]
        rows.append(row)
    header = ["set", *methods, "auto: k", "auto: ARI"]
    return f"{REAL_TEXT}\n{table(header, rows)}\n"


def run_olivetti(sizes: Sizes) -> str:
    text = OLIVETTI_TEXT.format(starts=sizes.starts, paper=PAPER_OLIVETTI)
    problem = sets.olivetti()
    if problem is None:
        return f"{text}\n{ABSENT}"
    rows = [
        _best_of(problem, OURS, "auto", sizes.starts),
        _best_of(problem, UNREFINED, False, sizes.starts),
    ]
    for name, method in {"GMM": mixture, "k-means": kmeans, "Ward": ward}.items():
        labels = method(problem, 0, sizes.starts)
        rows.append([name, *_judged(problem, labels), ""])
    rows.append(["true classes", *_judged(problem, problem.y), ""])
    header = ["", "ARI", "NI", "mean ARI of all seeds"]
    return f"{text}\n{table(header, rows)}\n"


def _best_of(problem: Problem, name: str, refine: bool | str, seeds: int) -> list[str]:
    fits = [
        ICVIARTMAP(problem.k, refine=refine, random_state=seed).fit(problem.X)  # type: ignore[arg-type]
        for seed in range(seeds)
    ]
    best = min(fits, key=lambda model: model.index_value_)
    aris = [float(adjusted_rand_score(problem.y, model.labels_)) for model in fits]
    return [name, *_judged(problem, best.labels_), *digits([fmean(aris)])]


def _judged(problem: Problem, labels: object) -> list[str]:
    ari = float(adjusted_rand_score(problem.y, labels))
    return digits([ari, index_value(problem.X, labels, "NI")])  # type: ignore[arg-type]
