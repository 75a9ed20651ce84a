"""``icvi-artmap fit``: find the clusters of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from icvi_artmap._support.wording import (
    arrow,
    better,
    counted,
    number,
    plural,
    quoted,
    short_percent,
)
from icvi_artmap.cli.common import (
    FILLED_WITH,
    STANDARD_STREAM,
    Categories,
    ClustersOption,
    ColumnsOption,
    DataArgument,
    DelimiterOption,
    ExcludeOption,
    IdColumnOption,
    IndexName,
    IndexOption,
    Input,
    JsonOption,
    LabelColumnOption,
    Missing,
    MissingOption,
    PcaOption,
    QuietOption,
    RefineOption,
    SampleOption,
    SaveOption,
    SeedOption,
    agreement,
    binary_columns,
    known_groups,
    parse_clusters,
    parse_input,
    read_whole,
    sample_names,
    with_note_on_gaps,
    with_source,
    without_categories,
    written_files,
    wrong,
)
from icvi_artmap.tables.formats import STREAM, suffixes_of, written_formats

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from icvi_artmap.cli.kept import Kept
    from icvi_artmap.cli.output import Bar
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.report.quality import Stability
    from icvi_artmap.tables import Table


#: How many features of each cluster are told, by the number of clusters up to which that holds.
TOLD = ((8, 3), (16, 2), (float("inf"), 1))


class FitTransform(StrEnum):
    none = "none"
    clip = "clip"
    power = "power"
    auto = "auto"


class Shape(StrEnum):
    gaussian = "gaussian"
    any = "any"
    auto = "auto"


StartsOption = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Runs from different starts, of which the best is kept."),
]
ShapeOption = Annotated[
    Shape,
    typer.Option(
        help="What a cluster may look like. gaussian: round or long; any: also rings, moons, "
        "spirals and the like, joined of small pieces; auto: any where that describes the data "
        "better.",
    ),
]
NoiseOption = Annotated[
    bool,
    typer.Option(
        "--noise", help="Leave rows that lie far from all clusters out of them: cluster -1."
    ),
]
FitTransformOption = Annotated[
    FitTransform,
    typer.Option(
        "--transform",
        help="Long tails. clip: values beyond 3 robust deviations are drawn in; power: columns are "
        "raised to a power that makes them less skewed; auto: what describes the data best.",
    ),
]
CategoriesOption = Annotated[
    Categories,
    typer.Option(
        help="Columns of text with few values, and of two values: left out, or used together with "
        "the numbers (then --index CH is best)."
    ),
]
TableOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table with the columns cluster (-1: noise, -3: left out), membership (how "
        "probable that cluster is) and runner_up (the next): "
        f"{suffixes_of(written_formats())}; - is {STREAM.name} on standard output.",
        show_default=False,
    ),
]
LabelsOnlyOption = Annotated[
    bool,
    typer.Option("--labels-only", help="With -o: only the row (or its name) and its cluster."),
]
SummaryOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write a table of the clusters: rows, share, mean and spread of every column, what "
        "sets them apart.",
        show_default=False,
    ),
]
PlotOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Draw the clusters (.png, .svg, .pdf).", show_default=False),
]
ThreadsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        min=-1,
        metavar="N",
        help="Threads, above all for --starts; -1: one for every processor. Any number gives the "
        "same clusters.",
    ),
]
MaxEpochsOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Passes over the rows, at most.")
]
StabilityOption = Annotated[
    bool,
    typer.Option(
        "--stability/--no-stability",
        help="Say how well the clusters are found again on halves of the rows (of at most 5,000).",
    ),
]
ReportOption = Annotated[
    str | None,
    typer.Option(
        "--report",
        "-r",
        metavar="FILE",
        help="Write a report with pictures (.html).",
        show_default=False,
    ),
]


DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="[ADDRESS]",
        help="Parquet files of any size, by the Dask cluster whose scheduler has this address, or "
        "without an address by all processors of this machine. -o is then a new folder of Parquet "
        "files.",
        show_default=False,
    ),
]


class Fitted(NamedTuple):
    """A table, the known groups of its rows, and the model fitted on them."""

    table: Table
    groups: NDArray[Any] | None
    model: ICVIARTMAP
    ari: float | None  # agreement of the clusters with the known groups
    notes: list[str]
    rows: NDArray[Any]  # as the model sees them
    stability: Stability | None = None


def fit(
    context: typer.Context,
    data: DataArgument,
    clusters: ClustersOption = "auto",
    index: IndexOption = IndexName.NI,
    columns: ColumnsOption = None,
    exclude: ExcludeOption = None,
    label_column: LabelColumnOption = None,
    id_column: IdColumnOption = None,
    missing: MissingOption = Missing.refuse,
    transform: FitTransformOption = FitTransform.clip,
    categories: CategoriesOption = Categories.leave,
    seed: SeedOption = 0,
    refine: RefineOption = None,
    starts: StartsOption = 1,
    shape: ShapeOption = Shape.gaussian,
    noise: NoiseOption = False,
    pca: PcaOption = None,
    max_epochs: MaxEpochsOption = 20,
    jobs: ThreadsOption = 1,
    delimiter: DelimiterOption = None,
    sample: SampleOption = None,
    output: TableOption = None,
    labels_only: LabelsOnlyOption = False,
    summary: SummaryOption = None,
    plot: PlotOption = None,
    model: SaveOption = None,
    report: ReportOption = None,
    stability: StabilityOption = True,
    dask: DaskOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the clusters of a table.

    Data need no scaling. The result is printed; -o, --summary, --plot, --model and --report keep
    it. Clusters are numbered by size: 0 is the largest.
    """
    from icvi_artmap.cli.kept import Kept, check_kept, keep, keep_table
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json, output)
    n_clusters = parse_clusters(clusters)
    if starts > 1 and not isinstance(n_clusters, int):
        raise wrong("--starts", f"with -k {clusters} there is one start. Give a number with -k.")
    kept = Kept(output, model, report, summary, plot, labels_only)
    if dask is None:
        check_kept(kept, data, id_column)
    given = parse_input(data, columns, exclude, label_column, id_column, missing)._replace(
        categories=categories, delimiter=delimiter, sample=sample, seed=seed
    )
    settings = {
        "n_clusters": n_clusters,
        "index": index.value,
        "n_init": starts,
        "refine": "auto" if refine is None else refine,
        "random_state": seed,
        "shape": shape.value,
        "missing": "error" if missing == Missing.refuse else missing.value,
        "transform_columns": transform.value,
        "max_epochs": max_epochs,
        "n_jobs": jobs,
        "noise": noise,
        "n_axes": pca,
    }
    if dask is not None:
        from icvi_artmap.cli.dask_fit import check_options, fit_on_dask

        unused = {
            "--label-column": label_column is not None,
            "--categories": categories != Categories.leave,
            "--delimiter": delimiter is not None,
            "--sample": sample is not None,
            "--summary": summary is not None,
            "--plot": plot is not None,
        }
        check_options(kept, unused)
        fit_on_dask(dask, given, settings, kept, out, context.obj)
        return
    with out.progress("reading") as bar:
        given = with_source(given)
        found = fit_model(given, settings, kept, bar)
        if stability:
            found = found._replace(stability=measured_stability(found, bar))
        keep(found, kept, given, context.obj, bar)
    if output is not None:
        found.notes.extend(keep_table(found, kept, given))
    out.notes(found.notes)
    facts = {
        **describe(found),
        "data": data,
        "written": written_files(*kept.paths),
        "notes": found.notes,
    }
    out.result(facts, lambda console: show(console, found, given, kept))


def read_for_fit(given: Input) -> tuple[Table, list[str]]:
    """The table, and the names of columns that are used as categories."""
    table = read_whole(given)
    if given.categories == Categories.use:
        names = [*table.words, *binary_columns(table)]
        if names:
            note = f"Used as categories: {plural(len(names), 'column')} {quoted(names)}."
            table = replace(table, notes=(*table.notes, note))
    else:
        table, names = without_categories(table, given), []
    if given.missing in FILLED_WITH:
        table = with_note_on_gaps(table, FILLED_WITH[given.missing])
    return table, names


def fit_model(given: Input, settings: dict[str, Any], kept: Kept, bar: Bar) -> Fitted:
    """Read the table and fit a model on it."""
    from icvi_artmap.cli.kept import check_table
    from icvi_artmap.cli.output import watch_fit

    table, names = read_for_fit(given)
    check_table(kept, given)
    if names:
        places = [table.columns.index(name) for name in names]
        settings = {**settings, "categories": sorted(places)}
    groups = known_groups(table)
    bar.say("loading")
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.estimators.table_fit import fit_table

    model = ICVIARTMAP(**settings)
    notes, rows = fit_table(model, table, watch_fit(bar))
    bar.reach(0, None)
    placed = model.labels_ >= 0  # all but noise
    ari = None if groups is None else agreement(groups[placed], model.labels_[placed])
    return Fitted(table, groups, model, ari, notes, rows)


def measured_stability(found: Fitted, bar: Bar) -> Stability | None:
    """How well the clusters are found again on halves of the rows."""
    from icvi_artmap.report.quality import stability_of

    model = found.model
    bar.say("repeating on halves of the rows")
    seen = model.fitted_.prepared(found.rows)
    return stability_of(model, seen, model.random_state, bar.reach)


def describe(found: Fitted) -> dict[str, Any]:
    """A fitted model as JSON has it."""
    import numpy as np

    from icvi_artmap.report.reading import lost_clusters

    table, model, ari = found.table, found.model, found.ari
    facts: dict[str, Any] = {
        "rows": len(table),
        "columns": table.columns,
        "n_clusters": model.n_clusters_,
        "index": model.fitted_.index.name,
        "index_value": model.index_value_,
        "better": better(model.fitted_.index.direction),
        "epochs": model.n_iter_,
        "converged": model.converged_,
        "clusters": describe_clusters(model, table.columns),
        "labels": model.labels_,
        "noise": int(np.count_nonzero(model.labels_ < 0)),
        "row_names": sample_names(table),
    }
    facts["cautions"] = model.cautions_
    made = model.preparation_
    facts["transform"] = "none" if made is None else made.chosen
    if made is not None and model.fitted_.trained is not None:
        facts["rows_without_gaps"] = int(model.fitted_.trained.sum())
    if ari is not None:
        facts["ari"] = ari
    if (stability := found.stability) is not None:
        facts["stability"] = {
            "agreement": stability.agreement.mean(),
            "refits": len(stability.agreement),
            "rows": stability.n_rows,
            "overlap": stability.overlap,
            "not_found_again": lost_clusters(stability),
        }
    if hasattr(model, "joins_"):
        facts["components"] = describe_components(model)
    if hasattr(model, "selection_"):
        chosen = model.selection_
        facts["selection"] = {
            "k": chosen.k,
            "criterion": chosen.criterion,
            "index_values": chosen.index_values,
            "margin": chosen.margin,
            "clear": chosen.clear,
            "single_cluster_better": chosen.single,
            "ended_by_limit": chosen.limited,
            "rows_repeat": chosen.repeated,
            "copies_left_out": chosen.copies,
            "chosen_on_halves": list(chosen.halves),
        }
    return facts


def describe_components(model: ICVIARTMAP) -> dict[str, Any]:
    """What clusters were joined of as JSON has it: the clusters of components, and the joins."""
    joins = model.joins_
    return {
        "n_components": len(joins.clusters),
        "clusters": joins.clusters,
        "joins": {
            "first": joins.first,
            "second": joins.second,
            "prominence": joins.prominence,
            "evidence": joins.evidence,
            "made": joins.made,
        },
    }


def describe_clusters(model: ICVIARTMAP, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Every cluster as JSON has it: its size, and its features, the most telling first."""
    from icvi_artmap.inspection.profiles import n_shared, sizes
    from icvi_artmap.inspection.profiles import profiles as profiles_of

    profiles, n = profiles_of(model), sizes(model)
    names = model.fitted_.profiled_names(list(columns))
    return [
        {
            "cluster": i,
            "rows": n[i],
            "share": n[i] / n_shared(model),
            "features": [
                {
                    "name": names[f],
                    "mean": profiles.mean[i, f],
                    "mean_elsewhere": profiles.rest_mean[i, f],
                    "effect": profiles.effect[i, f],
                }
                for f in profiles.order[i]
            ],
        }
        for i in range(model.n_clusters_)
    ]


def show(console: Console, found: Fitted, given: Input, kept: Kept) -> None:
    """Print what was found, where it is kept, and what can be done with it."""
    print_result(console, found, given.name)
    print_clusters(console, found.model, found.table.columns)
    written = written_files(*kept.paths)
    if written:
        console.print(f"\nWritten: {', '.join(written)}")
    console.print()
    for line in next_steps(given, found.table, kept):
        console.print(line, style="dim", soft_wrap=True)


def print_result(console: Console, found: Fitted, name: str) -> None:
    """Print what was found, in sentences."""
    from icvi_artmap.report.reading import readings

    table, model = found.table, found.model
    rows, used = counted(len(table), "row"), counted(len(table.columns), "column")
    console.print(f"{name}: {rows}, {used} used\n", style="bold")
    for sentence in readings(model, None, found.stability, found.ari, pairs=False):
        console.print(sentence.text, style={"beware": "yellow", "good": "green"}.get(sentence.tone))
    index = model.fitted_.index
    console.print(
        f"{index.name} {arrow(index.direction)} {number(model.index_value_)} "
        f"({better(index.direction)} is better), {counted(model.n_iter_, 'epoch')}.\n"
    )


def print_clusters(console: Console, model: ICVIARTMAP, names: Sequence[str]) -> None:
    """Print the size of every cluster and what sets it apart. ``names``: of the columns."""
    from icvi_artmap.cli.output import columns
    from icvi_artmap.inspection.profiles import n_shared, sizes
    from icvi_artmap.inspection.profiles import profiles as profiles_of
    from icvi_artmap.report.reading import telling

    profiles, n = profiles_of(model), sizes(model)
    described = model.fitted_.profiled_names(list(names))
    told = next(most for up_to, most in TOLD if model.n_clusters_ <= up_to)
    shown = columns("cluster", "rows", "share", ("left", "what sets it apart"))
    for i in range(model.n_clusters_):
        words = telling(profiles, i, described).rstrip(".").split("; ")[:told]
        shown.add_row(str(i), f"{n[i]:,}", short_percent(n[i] / n_shared(model)), "\n".join(words))
    console.print(shown)


def next_steps(given: Input, table: Table, kept: Kept) -> list[str]:
    """What can be done with the result, as commands to type."""
    import shlex

    steps = []
    if kept.model is not None:
        explain = ["explain", kept.model, "DATA" if given.data == STANDARD_STREAM else given.data]
        explain += ["--row", sample_names(table)[0]]
        if given.id_column is not None:
            explain += ["--id-column", given.id_column]
        steps += [
            "Clusters of new rows:      "
            + shlex.join(["icvi-artmap", "predict", kept.model, "NEW.csv"]),
            "Why a row is in a cluster: " + shlex.join(["icvi-artmap", *explain]),
        ]
    more = [
        text
        for path, text in (
            (kept.labels, "-o clusters.csv (the table with its clusters)"),
            (kept.model, "--model clusters.icvi (for predict and explain)"),
            (kept.report, "--report clusters.html (pictures and how sure it is)"),
        )
        if path is None
    ]
    if more:
        steps.append(f"To keep more, add {', '.join(more)}.")
    return steps
