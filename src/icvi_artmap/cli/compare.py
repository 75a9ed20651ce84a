"""``icvi-artmap compare``: this method beside others, on one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from icvi_artmap._support.wording import (
    ARROWS,
    arrow,
    better,
    counted,
    fixed,
    number,
    short_percent,
)
from icvi_artmap.cli.common import (
    ClustersOption,
    ColumnsOption,
    DataArgument,
    DelimiterOption,
    ExcludeOption,
    IdColumnOption,
    Input,
    JobsOption,
    JsonOption,
    LabelColumnOption,
    Missing,
    MissingOption,
    PcaOption,
    QuietOption,
    SampleOption,
    SeedOption,
    Transform,
    TransformOption,
    agreement,
    check_jobs,
    check_targets,
    known_groups,
    parse_clusters,
    parse_input,
    parse_names,
    read_data,
    wrong,
)
from icvi_artmap.cli.methods import Method, all_methods, is_ours, warm
from icvi_artmap.cli.warmup import ANY_SHAPE
from icvi_artmap.indices.registry import NAMES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from icvi_artmap.cli.output import Bar
    from icvi_artmap.indices.base import Index
    from icvi_artmap.tables import Table

    Labels = NDArray[np.integer[Any]]

#: Runs of every method that draws at random, each with its own seed.
SEEDS = 3

OURS = ", ".join(NAMES)
OTHERS = ", ".join(method.name for method in all_methods() if not is_ours(method.name))
LEFT_OUT = ", ".join(method.name for method in all_methods() if not method.by_default)

MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        metavar="NAMES",
        help=f"Some of: {OURS} (iCVI-ARTMAP with that index), {ANY_SHAPE} (iCVI-ARTMAP, any "
        f"shape), {OTHERS}; with commas between. "
        f"Default: all but {LEFT_OUT}.",
        show_default=False,
    ),
]


class Outcome(NamedTuple):
    """The result of one run of a method."""

    method: str
    seed: int
    labels: Labels | None
    seconds: float
    remarks: list[str]


class Comparison(NamedTuple):
    """What the methods have found."""

    table: Table
    clusters: int  # as asked for
    indices: list[Index]
    rows: list[dict[str, Any]]  # one for every method, also for those that failed
    good: list[dict[str, Any]]  # of the methods that gave clusters
    alike: NDArray[np.float64]  # agreement of any two of these
    notes: list[str]

    @property
    def with_truth(self) -> bool:
        """Whether there are known groups to compare with."""
        return "ari" in self.good[0]


def compare(
    data: DataArgument,
    clusters: ClustersOption = "auto",
    methods: MethodsOption = None,
    columns: ColumnsOption = None,
    exclude: ExcludeOption = None,
    label_column: LabelColumnOption = None,
    id_column: IdColumnOption = None,
    missing: MissingOption = Missing.refuse,
    transform: TransformOption = Transform.clip,
    seed: SeedOption = 0,
    pca: PcaOption = None,
    delimiter: DelimiterOption = None,
    sample: SampleOption = None,
    jobs: JobsOption = 1,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Cluster a table by several methods, side by side.

    One table has index values, agreement with known groups, stability over seeds and time; another
    how alike the clusters of any two methods are. All are asked for the same number of clusters;
    without -k one is chosen for the columns as they are compared.
    """
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json)
    n_clusters = parse_clusters(clusters)
    check_jobs(jobs)
    wanted = _wanted(methods)
    check_targets([], [data])
    given = parse_input(data, columns, exclude, label_column, id_column, missing)._replace(
        transform=transform, delimiter=delimiter, sample=sample, seed=seed, pca=pca
    )
    with out.progress("reading") as bar:
        found = _compare(given, n_clusters, wanted, seed, jobs, bar)
    out.notes(found.notes)
    out.result(_facts(found, given), lambda console: _show(console, found, given))


def _wanted(names: list[str] | None) -> list[Method]:
    methods = {method.name.lower(): method for method in all_methods()}
    chosen = parse_names(names)
    if chosen is None:
        return [method for method in methods.values() if method.by_default]
    wanted = {}
    for name in chosen:
        if name.lower() not in methods:
            known = ", ".join(method.name for method in methods.values())
            raise wrong("--methods", f"{name!r} is unknown. Known: {known}.")
        wanted[name.lower()] = methods[name.lower()]
    return list(wanted.values())


# --- gathering the facts -------------------------------------------------------------------------


def _compare(
    given: Input,
    n_clusters: int | range | Literal["auto"],
    wanted: list[Method],
    seed: int,
    jobs: int,
    bar: Bar,
) -> Comparison:
    """Read the table, run the methods and summarise what they give."""
    table = read_data(given)
    groups = known_groups(table)
    if isinstance(n_clusters, int) and n_clusters > len(table):
        raise wrong("-k", f"{n_clusters} clusters of {len(table)} rows cannot be made.")
    left_out = [m.name for m in wanted if m.most_rows and len(table) > m.most_rows]
    wanted = [method for method in wanted if method.name not in left_out]
    if not wanted:
        raise ValueError(
            f"{len(table):,} rows are too many for {', '.join(left_out)}. Choose other methods."
        )
    bar.say("loading")
    import numpy as np

    from icvi_artmap.indices.registry import INDICES

    clusters, chosen = _number(table, n_clusters, seed, bar)
    outcomes = _outcomes(table, clusters, wanted, seed, jobs, bar)
    indices = [index for index in INDICES.values() if index.compared]
    rows = [_summary(method, outcomes, seed, table.X, groups, indices) for method in wanted]
    notes = [*table.notes, *chosen]
    if left_out:
        notes.append(
            f"Left out, since time or memory grow with the square of the {len(table):,} rows: "
            f"{', '.join(left_out)}."
        )
    notes += list(dict.fromkeys(remark for outcome in outcomes for remark in outcome.remarks))
    good = [row for row in rows if row["labels"] is not None]
    if not good:
        raise ValueError(f"No method gave clusters. {' '.join(notes)}")
    alike = np.array([[_alike(a["labels"], b["labels"]) for b in good] for a in good])
    return Comparison(table, clusters, indices, rows, good, alike, notes)


def _number(
    table: Table, wanted: int | range | Literal["auto"], seed: int, bar: Bar
) -> tuple[int, list[str]]:
    """The number of clusters, and how it was chosen if it was."""
    if isinstance(wanted, int):
        return wanted, []
    import warnings

    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

    bar.say("choosing k")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of the choice is told here
        chosen = ICVIARTMAP(wanted, random_state=seed).fit(table.X).selection_
    k, sure = chosen.n_clusters, "a clear choice" if chosen.clear else "not a sure choice"
    return k, [f"k = {k} was chosen for these columns; {sure}. To ask for another, use -k."]


def _outcomes(
    table: Table, clusters: int, wanted: list[Method], seed: int, jobs: int, bar: Bar
) -> list[Outcome]:
    """Run every method, those that draw at random with several seeds."""
    import joblib
    from sklearn.preprocessing import StandardScaler

    Z = StandardScaler().fit_transform(table.X)
    tasks = [
        joblib.delayed(_run)(method.name, Z, clusters, (seed + i) % 2**32)
        for method in wanted
        for i in range(SEEDS if method.draws else 1)
    ]
    bar.reach(0, len(tasks))
    outcomes: list[Outcome] = []
    bar.say(f"{wanted[0].name}, 0 of {len(tasks)} runs done")
    parallel = joblib.Parallel(jobs, return_as="generator_unordered")
    for outcome in parallel(tasks):
        outcomes.append(outcome)
        bar.step()
        bar.say(f"{outcome.method} done, {len(outcomes)} of {len(tasks)} runs")
    return outcomes


def _run(name: str, Z: Any, k: int, seed: int) -> Outcome:
    """Run a method once, on one thread; an error becomes a remark, so that the others go on."""
    import time

    import numpy as np
    from threadpoolctl import threadpool_limits

    from icvi_artmap.cli.output import recorded_warnings, seconds

    method = next(method for method in all_methods() if method.name == name)
    warm(name)
    labels: Labels | None = None
    with recorded_warnings() as caught, threadpool_limits(1):
        began = time.perf_counter()
        try:
            labels = np.asarray(method.labels(Z, k, seed), np.int64)
        except (ValueError, ArithmeticError, MemoryError) as error:
            remarks = [f"{name} failed: {' '.join(str(error).split())}"]
        else:
            remarks = [f"{name}: {' '.join(str(w.message).split())}" for w in caught]
            noise = int(np.count_nonzero(labels < 0))
            if noise == len(labels):
                labels, remarks = None, [*remarks, f"{name} takes all rows for noise."]
            elif noise:
                remarks.append(
                    f"{name} takes {noise:,} of {len(labels):,} rows for noise; they are left out "
                    "of all its values."
                )
        took = seconds(began)
    return Outcome(name, seed, labels, took, remarks)


def _summary(
    method: Method,
    outcomes: list[Outcome],
    seed: int,
    X: NDArray[np.float64],
    groups: NDArray[Any] | None,
    indices: list[Index],
) -> dict[str, Any]:
    """A row of the table: the run with the first seed, and how alike the runs are."""
    import itertools

    import numpy as np

    from icvi_artmap.prediction.index_value import index_value

    runs = sorted((o for o in outcomes if o.method == method.name), key=lambda o: o.seed)
    first = next((run for run in runs if run.seed == seed), runs[0])
    row: dict[str, Any] = {"method": method.name, "labels": first.labels, "seconds": first.seconds}
    if first.labels is None:
        return row
    placed = first.labels >= 0
    row["k"] = len(np.unique(first.labels[placed]))
    row["noise"] = 1.0 - float(placed.mean())
    for index in indices:
        row[index.name] = index_value(X[placed], first.labels[placed], index, resolution="learn")
    if groups is not None:
        row["ari"] = agreement(groups[placed], first.labels[placed])
    labels = [run.labels for run in runs if run.labels is not None]
    pairs = [_alike(a, b) for a, b in itertools.combinations(labels, 2)]
    row["stability"] = float(np.mean(pairs)) if pairs else None
    return row


def _alike(a: Labels, b: Labels) -> float:
    """The adjusted Rand index over the rows that neither takes for noise; NaN if there are none."""
    from sklearn.metrics import adjusted_rand_score

    placed = (a >= 0) & (b >= 0)
    return float(adjusted_rand_score(a[placed], b[placed])) if placed.any() else float("nan")


def _facts(found: Comparison, given: Input) -> dict[str, Any]:
    """A comparison as JSON has it."""
    return {
        "data": given.data,
        "rows": len(found.table),
        "columns": found.table.columns,
        "clusters": found.clusters,
        "better": {index.name: better(index.direction) for index in found.indices},
        "methods": found.rows,
        "agreement": {"methods": [row["method"] for row in found.good], "ari": found.alike},
        "notes": found.notes,
    }


# --- showing them --------------------------------------------------------------------------------


def _show(console: Console, found: Comparison, given: Input) -> None:
    """Print the two tables."""
    rows, used = counted(len(found.table), "row"), counted(len(found.table.columns), "column")
    asked_for = counted(found.clusters, "cluster")
    console.print(f"{given.name}: {rows}, {used} used, {asked_for} asked for\n", style="bold")
    _show_values(console, found)
    console.print(
        f"\n{ARROWS} {_meaning(found.good)}"
        + (
            "ARI: agreement with the known groups (1: the same, 0: chance). "
            if found.with_truth
            else ""
        )
        + f"stable: agreement of {SEEDS} runs with other seeds (–: there is nothing random). "
        "All get standardised columns; seconds are of one run on one thread."
    )
    if len(found.good) > 1:
        _show_agreement(console, found)


def _show_values(console: Console, found: Comparison) -> None:
    """Print a line for every method, the best values in bold."""
    from rich.text import Text

    from icvi_artmap.cli.output import columns

    heads = [f"{index.name} {arrow(index.direction)}" for index in found.indices]
    truth = ["ARI ↑"] if found.with_truth else []
    noise = ["noise"] if any(row["noise"] > 0.0 for row in found.good) else []
    shown = columns(("left", "method"), "k", *heads, *truth, *noise, "stable ↑", "seconds")
    best = {index.name: _best(found.good, index.name, index.direction) for index in found.indices}
    if truth:
        best["ari"] = _best(found.good, "ari", +1)
    for row in found.good:
        cells = [
            Text(
                fixed(row[name], 3) if name == "ari" else number(row[name]),
                style="bold" if row[name] == value else "",
            )
            for name, value in best.items()
        ]
        shown.add_row(
            _title(row["method"]),
            str(row["k"]),
            *cells,
            *(short_percent(row["noise"]) if row["noise"] > 0.0 else "–" for _ in noise),
            fixed(row["stability"], 3),
            fixed(row["seconds"], 2),
        )
    console.print(shown)


def _show_agreement(console: Console, found: Comparison) -> None:
    """Print how alike the clusters of any two methods are."""
    from icvi_artmap.cli.output import columns

    console.print("\nAgreement of the clusters, in percent (ARI; 100: the same, 0: chance)")
    numbers = [str(i + 1) for i in range(len(found.good))]
    matrix = columns("", ("left", "method"), *numbers)
    for i, row in enumerate(found.good):
        cells = [number(round(100 * value)) if value == value else "–" for value in found.alike[i]]
        cells[i] = "·"
        matrix.add_row(numbers[i], _title(row["method"]), *cells)
    console.print(matrix)


def _meaning(rows: list[dict[str, Any]]) -> str:
    """What the titles of this method's lines mean."""
    told = "ARTMAP-NI: iCVI-ARTMAP going by NI. "
    if any(row["method"] == ANY_SHAPE for row in rows):
        told += f"{_title(ANY_SHAPE)}: iCVI-ARTMAP, any shape. "
    return told


def _title(method: str) -> str:
    return f"ARTMAP-{method}" if is_ours(method) else method


def _best(rows: list[dict[str, Any]], name: str, direction: int) -> float:
    """The best value of the methods that place all rows; of all methods if none does."""
    placing = [row for row in rows if row["noise"] == 0.0] or rows
    return max((row[name] for row in placing), key=lambda value: direction * value)
