"""Makes the page of a reproduction: runs the missing jobs, draws, writes."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from icvi_artmap._support.files import replaced
from icvi_artmap._support.version import __version__
from icvi_artmap._support.wording import counted, fixed
from icvi_artmap.datasets import PAPER_SETS, load_paper_set
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.reproduction import latents, page, paper, protocol, running, speed
from icvi_artmap.reproduction.ledger import Key, Ledger
from icvi_artmap.reproduction.tables import result_table

TABLES = ("datasets", "synthetic", "tuned-synthetic", "real", "tuned-real", "speed")
FIGURES = ("partition", "trace", "elapsed")
#: The figure of latents that are trained.
CURVES = "curves"
#: Sets of the quick run: those with few clusters.
QUICK_SETS = tuple(
    name for name in paper.SYNTHETIC.values if "20c" not in name and "40c" not in name
)
#: Numbers of clusters in the speed experiment, and seconds of batch evaluation for each.
CLUSTERS, QUICK_CLUSTERS = (2, 5, 10, 20, 30, 40), (2, 40)
BATCH_SECONDS, QUICK_BATCH_SECONDS = 2.0, 0.2
SPEED_SET = "ellipsoid.100d40c.1"


@dataclass(frozen=True)
class Request:
    """The tables and figures to reproduce, and how."""

    tables: tuple[str, ...]
    figures: tuple[str, ...]
    sets: tuple[str, ...]  #: empty: all of the tables
    folder: str | None
    output: Path
    quick: bool
    n_jobs: int
    seed: int
    kind: str = latents.PCA  #: of the space in which the sets of images are clustered
    seeds: int = 1  #: trainings of every latent space

    @property
    def space(self) -> protocol.Space:
        return protocol.Space(self.kind, self.output / "latents", self.seeds)

    def learned(self) -> tuple[str, ...]:
        """The sets whose latents are trained."""
        if self.kind == latents.PCA:
            return ()
        return tuple(name for name in self.real() if name in latents.SCHEDULES)

    def synthetic(self) -> tuple[str, ...]:
        if not {"synthetic", "tuned-synthetic"} & set(self.tables):
            return ()
        every = QUICK_SETS if self.quick else tuple(paper.SYNTHETIC.values)
        return tuple(name for name in self.sets or every if name in paper.SYNTHETIC.values)

    def real(self) -> tuple[str, ...]:
        if not {"real", "tuned-real"} & set(self.tables):
            return ()
        every = ("olivetti",) if self.quick else tuple(paper.REAL.values)
        if self.kind != latents.PCA:
            every = tuple(latents.SCHEDULES)
        return tuple(name for name in self.sets or every if name in paper.REAL.values)


Made = dict[str, list[latents.Latents]]  #: latents of all seeds by data set
Progress = Callable[[list[Key]], Any]  #: a context manager that gives a function of a key


def reproduce(request: Request, progress: Progress, say: Callable[[str], None]) -> list[Path]:
    """Reproduce what was requested and return the files written; ``say`` gets progress lines."""
    for name in dict.fromkeys((*request.synthetic(), *request.real())):
        _found(name, request.folder)  # a missing file is reported before anything is run
    ledger = Ledger(
        request.output / "results.jsonl",
        _depends_on(request),
    )
    made = {
        name: latents.make_missing(
            request.space.folder,
            request.kind,
            name,
            request.seeds,
            request.folder,
            request.quick,
            say,
        )
        for name in request.learned()
    }
    figures = {"partition", "trace"} & set(request.figures)
    wanted = {name: paper.COLUMNS for name in request.synthetic()}
    wanted |= {name: paper.REAL_COLUMNS for name in request.real()}
    keys = [
        key
        for name, columns in wanted.items()
        for key in running.missing(ledger, name, columns, request.quick, request.space)
    ]
    if figures:
        from icvi_artmap.reproduction.figures import FIGURE_SET

        variants = {f"{index} 0" for index in paper.INDICES}
        more = running.missing(ledger, FIGURE_SET, paper.COLUMNS, request.quick)
        keys += [key for key in more if key[1] in variants and key not in keys]
    if keys:
        say(f"{counted(len(keys), 'job')} to run, {len(ledger.outcomes):,} are done")
        _compile(say)
        with progress(keys) as done:
            for key, _ in running.run_missing(ledger, keys, request):
                done(key)
    sections = [_table(name, request, ledger, say) for name in request.tables]
    if made:
        sections.insert(0, page.latents_section(made, request.kind))
    written = []
    for name in request.figures:
        picture = f"images/reproduction-{name}.png"
        (request.output / "images").mkdir(exist_ok=True)
        with (
            _figure(name, request, ledger, made) as figure,
            replaced(request.output / picture) as path,
        ):
            figure.savefig(path, dpi=80, format="png")
        written.append(request.output / picture)
        sections.append(page.Section(name, [_CAPTIONS[name]], None, picture))
    title = "The paper, reproduced"
    if made:
        title = f"The paper's real data in latents of {latents.NAMES[request.kind]}"
    introduction = _introduction(request)
    for name, text in (
        ("reproduction.md", page.markdown(title, introduction, sections)),
        ("reproduction.html", page.web(title, introduction, sections)),
    ):
        with replaced(request.output / name) as path:
            path.write_text(text, encoding="utf-8")
        written.append(request.output / name)
    return written


def _depends_on(request: Request) -> dict[str, Any]:
    """What outcomes depend on besides data set and job."""
    found: dict[str, Any] = {
        "version": __version__,
        "seed": request.seed,
        "quick": request.quick,
    }
    if request.kind != latents.PCA:
        found |= {"latents": request.kind, "seeds": request.seeds}
    return found


_CAPTIONS = {
    "curves": "ARI of k-means on the latents against the iterations of the training; the second "
    "stage begins at the dashed line. The training does not know the labels.",
    "partition": "The six variants on 2d-10c-no0 with the vigilances of their largest ARI.",
    "trace": "Their index after every presentation; dashed: its value for the true partition. "
    "Where training ends beyond the dashed line, the index prefers another partition to the truth.",
    "elapsed": "One epoch with every trial computed from all samples, and with the incremental "
    "index. Both give the same labels.",
}


def _found(name: str, folder: str | None) -> tuple[int, int, int]:
    """The numbers of samples, features and clusters in the file of a set."""
    bunch = load_paper_set(name, folder)
    return (*bunch.data.shape, len(set(bunch.target.tolist())))


def _compile(say: Callable[[str], None]) -> None:
    """Compile once in this process, not in every worker."""
    say("compiling, if that has not been done before")
    X, _ = _small()
    for index in paper.INDICES:
        ICVIARTMAP(2, index=index, kmeans_trials=1, max_epochs=1, random_state=0).fit(X)


@cache
def _small() -> tuple[Any, Any]:
    from icvi_artmap.datasets import make_gaussian_clusters

    return make_gaussian_clusters(2, 2, n_samples=100, random_state=0)


def _table(name: str, request: Request, ledger: Ledger, say: Callable[[str], None]) -> page.Section:
    if name == "datasets":
        return page.data_section(
            [
                (one, (known.n_samples, known.n_features, known.n_clusters), _perhaps(one, request))
                for one, known in PAPER_SETS.items()
                if not request.sets or one in request.sets
            ]
        )
    if name == "speed":
        return _speed_section(request, say)
    sets = request.real() if name.endswith("real") else request.synthetic()
    return page.result_section(result_table(name, ledger, sets, request.kind))


def _perhaps(name: str, request: Request) -> tuple[int, int, int] | None:
    try:
        return _found(name, request.folder)
    except (OSError, ValueError):
        return None


_TIMES: dict[bool, dict[str, speed.Times]] = {}


def _times(request: Request, say: Callable[[str], None]) -> dict[str, speed.Times]:
    """Measured once, for the table and the figure."""
    if request.quick not in _TIMES:
        problem = protocol.load(SPEED_SET, request.folder, request.seed, request.quick)
        clusters = QUICK_CLUSTERS if request.quick else CLUSTERS
        least = QUICK_BATCH_SECONDS if request.quick else BATCH_SECONDS
        say(f"timing one epoch of {SPEED_SET}, batch and incremental")
        times = {}
        for index in paper.INDICES:
            ICVIARTMAP(
                2, index=index, evaluation="batch", kmeans_trials=1, max_epochs=1, random_state=0
            ).fit(_small()[0])
            times[index] = speed.compare(problem.X, index, clusters, least)
        _TIMES[request.quick] = times
    return _TIMES[request.quick]


def _speed_section(request: Request, say: Callable[[str], None]) -> page.Section:
    times = _times(request, say)
    clusters = list(next(iter(times.values())))
    rows = []
    for index, by_k in times.items():
        ratios = [batch / incremental for batch, incremental in by_k.values()]
        average, most = paper.SPEED[index]
        rows.append(
            [
                index,
                *(fixed(ratio, 0) for ratio in ratios),
                f"{fixed(sum(ratios) / len(ratios), 0)} ({average})",
                f"{fixed(max(ratios), 0)} ({most})",
            ]
        )
    header = ["index", *(f"k = {k}" for k in clusters), "average (paper)", "most (paper)"]
    text = (
        f"Seconds of batch evaluation over seconds of incremental evaluation, first epoch of "
        f"{SPEED_SET}, rho_a = 0.7, rho_ab = 1. The paper's figures are averages and maxima over "
        "k = 2 to 40 in its own implementation; both evaluations here are compiled. Batch "
        "evaluation is timed on its first presentations and scaled to the epoch."
    )
    return page.Section("speed", [text], page.Grid(header, rows))


@contextmanager
def _figure(name: str, request: Request, ledger: Ledger, made: Made) -> Iterator[Any]:
    import matplotlib.pyplot as plt

    from icvi_artmap.reproduction import figures

    if name == CURVES:
        figure = figures.curves(made)
    elif name == "elapsed":
        figure = speed.picture(_times(request, lambda _: None))
    else:
        problem = protocol.load(figures.FIGURE_SET, request.folder, request.seed, request.quick)
        draw = figures.partitions if name == "partition" else figures.traces
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figure = draw(problem, figures.best_fits(problem, ledger))
    try:
        yield figure
    finally:
        plt.close(figure)


def _introduction(request: Request) -> list[str]:
    command = ["icvi-artmap reproduce", "--data DIR"]
    learned = request.kind != latents.PCA
    if learned:
        command += ["--real", f"--latent {request.kind}", f"--seeds {request.seeds}"]
    elif set(request.tables) != set(TABLES):
        command += [f"--table {name}" for name in request.tables]
    if not learned and set(request.figures) != set(FIGURES):
        command += [f"--figure {name}" for name in request.figures]
    command += [f"--sets {name}" for name in request.sets]
    command += ["--quick"] if request.quick else []
    command += [f"--seed {request.seed}"] if request.seed else []
    lines = [
        f"Made by `{' '.join(command)}` (icvi-artmap {__version__}, Python "
        f"{platform.python_version()}, {os.cpu_count()} cores).",
        "Tables and figures of L. E. Brito da Silva, N. Rayapati, D. C. Wunsch, iCVI-ARTMAP, made "
        "again by the paper's protocol: every set is shuffled once, all methods get the samples in "
        "that order, with the true number of clusters; k-means is the best of ten runs, and its "
        "centres are the start of GMM and of all variants; non-ART methods get standardised data; "
        "what has parameters is run on the paper's grid, and the largest ARI is reported, or for "
        "the tables of chosen vigilances the ARI of the fit with the best index value.",
        "What the protocol leaves open was found by trying until printed values came out: the "
        "shuffle is that of NumPy's `RandomState(0)`, VAT begins at the later of the two samples "
        "that are farthest apart, and k-means, also within GMM and SC, draws its starts as "
        "scikit-learn did in the paper's year, with seed 0.",
        "So data, order, starts and ARI are the paper's, and where a variant of iCVI-ARTMAP is "
        "different, it is by what the paper leaves open in its algorithm. With `rho_ab` = 1 a "
        "sample gets the cluster that the index prefers, whatever its category; categories then "
        "only matter when clusters are split. Below 1 they overrule the index, and every detail of "
        "how they grow, shrink and are searched changes the partition; the best ARI of a grid, "
        "which is chosen by the truth, is mostly found there.",
    ]
    if learned:
        lines[2:] = [
            "The sets are clustered in latent spaces of 10 features. The paper's latents are those "
            "of DynAE and are not published; so all methods get other latents than in the paper, "
            "and printed values are reached only as far as the latents are as good."
        ]
    if request.quick:
        lines.append("A quick run: few sets and thinned grids, so most values are lower.")
    return lines
