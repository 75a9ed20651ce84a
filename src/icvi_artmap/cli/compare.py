"""``icvi-artmap compare``: this method beside others, on one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from icvi_artmap.cli.common import (
    ColumnsOption,
    DataArgument,
    IndexName,
    JobsOption,
    JsonOption,
    LabelColumnOption,
    Missing,
    MissingOption,
    NumberOption,
    QuietOption,
    SeedOption,
    agreement,
    check_jobs,
    check_targets,
    known_groups,
    name_of,
    parse_names,
    read_data,
    wrong,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    Labels = NDArray[np.integer[Any]]

#: Indices in the table.
SHOWN = ("NI", "CH", "XB", "DB")
#: Runs of every method that draws at random, each with its own seed.
SEEDS = 3
#: Methods whose time and memory grow with the square of the rows get no more than this.
SQUARE_ROWS = 5_000
#: HDBSCAN's grow so in the worst case only.
NEARLY_SQUARE_ROWS = 20_000
#: Steps in which the vigilance of fuzzy ART rises until there are k clusters.
RHO_STEPS = 40


class Method(NamedTuple):
    """A way to cluster standardised rows."""

    name: str
    labels: Callable[[Any, int, int], Any]  #: of rows, number of clusters, seed
    draws: bool = True  #: whether the seed makes a difference
    most_rows: int | None = None


class Outcome(NamedTuple):
    """What one run of a method gave."""

    method: str
    seed: int
    labels: Labels | None
    seconds: float
    remarks: list[str]


def compare(
    data: DataArgument,
    clusters: NumberOption,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            metavar="NAMES",
            help="Some of: NI, CH, WB, XB, DB, PBM (iCVI-ARTMAP with that index), fuzzy-art, "
            "k-means, gmm, spectral, ward, average, hdbscan; with commas between. Default: all.",
            show_default=False,
        ),
    ] = None,
    columns: ColumnsOption = None,
    label_column: LabelColumnOption = None,
    missing: MissingOption = Missing.refuse,
    seed: SeedOption = 0,
    jobs: JobsOption = 1,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Cluster a table by several methods, side by side.

    One table has index values, agreement with known groups, stability over seeds and time; another
    how alike the clusters of any two methods are.
    """
    from icvi_artmap.cli.output import Output, arrow
    from icvi_artmap.cli.output import columns as table_of

    out = Output(quiet, as_json)
    check_jobs(jobs)
    wanted = _wanted(methods)
    check_targets([], [data])
    with out.progress("reading") as bar:
        table = read_data(data, parse_names(columns), label_column, None, missing)
        groups = known_groups(table)
        if clusters > len(table):
            raise wrong("-k", f"{clusters} clusters of {len(table)} rows cannot be made.")
        left_out = [m.name for m in wanted if m.most_rows and len(table) > m.most_rows]
        wanted = [method for method in wanted if method.name not in left_out]
        if not wanted:
            raise ValueError(
                f"{len(table):,} rows are too many for {', '.join(left_out)}. Choose other methods."
            )
        bar.say("loading")
        import joblib
        import numpy as np
        from sklearn.preprocessing import StandardScaler

        from icvi_artmap._support.wording import number
        from icvi_artmap.indices.registry import get_index
        from icvi_artmap.prediction.index_value import index_value

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
        indices = [get_index(name) for name in SHOWN]
        found = [
            _summary(method, outcomes, seed, table.X, groups, index_value, indices)
            for method in wanted
        ]
    notes = list(table.notes)
    if left_out:
        notes.append(
            f"Left out, since time or memory grow with the square of the {len(table):,} rows: "
            f"{', '.join(left_out)}."
        )
    notes += list(dict.fromkeys(remark for outcome in outcomes for remark in outcome.remarks))
    good = [row for row in found if row["labels"] is not None]
    if not good:
        raise ValueError(f"No method gave clusters. {' '.join(notes)}")
    alike = np.array(
        [[agreement(a["labels"], b["labels"]) for b in good] for a in good], dtype=float
    )
    out.notes(notes)
    facts: dict[str, Any] = {
        "data": data,
        "rows": len(table),
        "columns": table.columns,
        "clusters": clusters,
        "better": {
            index.name: "greater" if index.direction > 0 else "smaller" for index in indices
        },
        "methods": found,
        "agreement": {"methods": [row["method"] for row in good], "ari": alike},
        "notes": notes,
    }

    def show(console: Console) -> None:
        from rich.text import Text

        used = f"{len(table.columns)} columns used, {clusters} clusters asked for"
        console.print(f"{name_of(data)}: {len(table):,} rows, {used}\n", style="bold")
        heads = [f"{index.name} {arrow(index.direction)}" for index in indices]
        truth = ["ARI ↑"] if groups is not None else []
        shown = table_of(("left", "method"), "k", *heads, *truth, "stable ↑", "seconds")
        best = {index.name: _best(good, index.name, index.direction) for index in indices}
        if truth:
            best["ari"] = _best(good, "ari", +1)
        for row in good:
            cells = [
                Text(number(row[name]), style="bold" if row[name] == best[name] else "")
                for name in SHOWN
            ]
            if truth:
                bold = "bold" if row["ari"] == best["ari"] else ""
                cells.append(Text(f"{row['ari']:.3f}", style=bold))
            stable = "–" if row["stability"] is None else f"{row['stability']:.3f}"
            shown.add_row(
                _title(row["method"]), str(row["k"]), *cells, stable, f"{row['seconds']:.2f}"
            )
        console.print(shown)
        console.print(
            "\n↑: greater is better, ↓: smaller is better. ARTMAP-NI: iCVI-ARTMAP going by NI. "
            + ("ARI: agreement with the known groups (1: the same, 0: chance). " if truth else "")
            + f"stable: agreement of {SEEDS} runs with other seeds (–: there is nothing random). "
            "All get standardised columns; seconds are of one run on one thread."
        )
        if len(good) > 1:
            console.print("\nAgreement of the clusters, in percent (ARI; 100: the same, 0: chance)")
            numbers = [str(i + 1) for i in range(len(good))]
            matrix = table_of("", ("left", "method"), *numbers)
            for i, row in enumerate(good):
                cells_of_row = [str(round(100 * value)) for value in alike[i]]
                cells_of_row[i] = "·"
                matrix.add_row(str(i + 1), _title(row["method"]), *cells_of_row)
            console.print(matrix)

    out.result(facts, show)


def _wanted(names: list[str] | None) -> list[Method]:
    methods = {method.name.lower(): method for method in all_methods()}
    chosen = parse_names(names)
    if chosen is None:
        return list(methods.values())
    wanted = {}
    for name in chosen:
        if name.lower() not in methods:
            known = ", ".join(method.name for method in methods.values())
            raise wrong("--methods", f"{name!r} is unknown. Known: {known}.")
        wanted[name.lower()] = methods[name.lower()]
    return list(wanted.values())


def all_methods() -> list[Method]:
    """Ours with every index, then the others."""
    ours = [Method(name.value, _ours(name.value)) for name in IndexName]
    return [
        *ours,
        Method("fuzzy-art", _fuzzy_art),
        Method("k-means", _kmeans),
        Method("gmm", _mixture),
        Method("spectral", _spectral, most_rows=SQUARE_ROWS),
        Method("ward", _linkage("ward"), draws=False, most_rows=SQUARE_ROWS),
        Method("average", _linkage("average"), draws=False, most_rows=SQUARE_ROWS),
        Method("hdbscan", _hdbscan, draws=False, most_rows=NEARLY_SQUARE_ROWS),
    ]


def _run(name: str, Z: Any, k: int, seed: int) -> Outcome:
    """One run, on one thread; what goes wrong with one method is no reason to stop."""
    import time
    import warnings

    import numpy as np
    from threadpoolctl import threadpool_limits

    method = next(method for method in all_methods() if method.name == name)
    _warm(name)
    labels: Labels | None = None
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        began = time.perf_counter()
        try:
            labels = np.asarray(method.labels(Z, k, seed), np.int64)
        except (ValueError, ArithmeticError, MemoryError) as error:
            remarks = [f"{name} failed: {' '.join(str(error).split())}"]
        else:
            remarks = [f"{name}: {' '.join(str(w.message).split())}" for w in caught]
            noise = int(np.count_nonzero(labels < 0))
            if noise:
                remarks.append(
                    f"{name} takes {noise:,} of {len(labels):,} rows for noise; here they count as "
                    "one cluster more."
                )
        took = time.perf_counter() - began
    return Outcome(name, seed, labels, took, remarks)


_WARMED: set[str] = set()


def _warm(name: str) -> None:
    """Compiled code is loaded once per process, which is not the method's time."""
    if name in _WARMED or name not in IndexName.__members__:
        return
    from icvi_artmap.cli.warmup import use

    use(name)
    _WARMED.add(name)


def _summary(
    method: Method,
    outcomes: list[Outcome],
    seed: int,
    X: Any,
    groups: Any,
    index_value: Callable[..., float],
    indices: list[Any],
) -> dict[str, Any]:
    """A row of the table: the run with the first seed, and how alike the runs are."""
    import itertools

    import numpy as np

    runs = sorted((o for o in outcomes if o.method == method.name), key=lambda o: o.seed)
    first = next((run for run in runs if run.seed == seed), runs[0])
    row: dict[str, Any] = {"method": method.name, "labels": first.labels, "seconds": first.seconds}
    if first.labels is None:
        return row
    row["k"] = len(np.unique(first.labels))
    for index in indices:
        row[index.name] = index_value(X, first.labels, index)
    if groups is not None:
        row["ari"] = agreement(groups, first.labels)
    labels = [run.labels for run in runs if run.labels is not None]
    pairs = [agreement(a, b) for a, b in itertools.combinations(labels, 2)]
    row["stability"] = (
        float(np.mean([pair for pair in pairs if pair is not None])) if pairs else None
    )
    return row


def _title(method: str) -> str:
    return f"ARTMAP-{method}" if method in IndexName.__members__ else method


def _best(rows: list[dict[str, Any]], name: str, direction: int) -> float:
    return max((row[name] for row in rows), key=lambda value: direction * value)


# --- the methods ---------------------------------------------------------------------------------


def _ours(index: str) -> Callable[[Any, int, int], Any]:
    def labels(Z: Any, k: int, seed: int) -> Any:
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

        return ICVIARTMAP(k, index=index, random_state=seed).fit(Z).labels_

    return labels


def _fuzzy_art(Z: Any, k: int, seed: int) -> Any:
    """The vigilance, which it has instead of k, rises until there are as many clusters."""
    from icvi_artmap.estimators.art_family import FuzzyART

    best, labels = float("inf"), None
    for step in range(RHO_STEPS):
        model = FuzzyART(step / RHO_STEPS, shuffle=True, random_state=seed).fit(Z)
        if abs(model.n_clusters_ - k) < best:
            best, labels = abs(model.n_clusters_ - k), model.labels_
        if model.n_clusters_ >= k:
            break
    return labels


def _kmeans(Z: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit(Z).labels_


def _mixture(Z: Any, k: int, seed: int) -> Any:
    from sklearn.mixture import GaussianMixture

    # The ridge that the index NI has, too.
    ridge = 10 ** (-12 / Z.shape[1])
    return GaussianMixture(k, reg_covar=ridge, random_state=seed).fit_predict(Z)


def _spectral(Z: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import SpectralClustering

    neighbours = min(10, len(Z))
    return (
        SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=neighbours, random_state=seed
        )
        .fit(Z)
        .labels_
    )


def _linkage(kind: str) -> Callable[[Any, int, int], Any]:
    def labels(Z: Any, k: int, seed: int) -> Any:
        from sklearn.cluster import AgglomerativeClustering

        return AgglomerativeClustering(k, linkage=kind).fit(Z).labels_

    return labels


def _hdbscan(Z: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(copy=True).fit(Z).labels_
