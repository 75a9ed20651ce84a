"""``icvi-artmap fit``: find the clusters of a table."""

from __future__ import annotations

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
    MODEL_SUFFIXES,
    REPORT_SUFFIXES,
    STANDARD_STREAM,
    Categories,
    ColumnsOption,
    DataArgument,
    ExcludeOption,
    IdColumnOption,
    IndexName,
    IndexOption,
    Input,
    JsonOption,
    LabelColumnOption,
    LabelsOption,
    Missing,
    MissingOption,
    QuietOption,
    RefineOption,
    SaveOption,
    SeedOption,
    Target,
    agreement,
    binary_columns,
    check_targets,
    expected_columns,
    known_groups,
    label_columns,
    parse_clusters,
    parse_input,
    read_whole,
    sample_names,
    with_note_on_gaps,
    without_categories,
    written_files,
    wrong,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from icvi_artmap.cli.output import Bar
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
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


ClustersOption = Annotated[
    str,
    typer.Option(
        "-k",
        "--clusters",
        metavar="N|auto|2:20",
        help="The number of clusters, auto to choose it, or a range to choose from.",
    ),
]
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


class Kept(NamedTuple):
    """The files that the result goes to."""

    labels: str | None
    model: str | None
    report: str | None


class Fitted(NamedTuple):
    """A table, the known groups of its rows, and the model fitted on them."""

    table: Table
    groups: NDArray[Any] | None
    model: ICVIARTMAP
    ari: float | None  # agreement of the clusters with the known groups
    notes: list[str]


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
    output: LabelsOption = None,
    model: SaveOption = None,
    report: ReportOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the clusters of a table.

    Data need no scaling. The result is printed; -o, --model and --report keep it.
    """
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json, output)
    n_clusters = parse_clusters(clusters)
    if starts > 1 and not isinstance(n_clusters, int):
        raise wrong("--starts", f"with -k {clusters} there is one start. Give a number with -k.")
    kept = Kept(output, model, report)
    check_kept(kept, data, id_column)
    given = parse_input(data, columns, exclude, label_column, id_column, missing)._replace(
        categories=categories
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
    }
    if noise:
        settings["noise"] = True
    with out.progress("reading") as bar:
        found = fit_model(given, settings, bar)
        keep_model(found, kept, given, context.obj, bar)
    out.notes(found.notes)
    if output is not None:
        from icvi_artmap.tables import write_table

        write_table(output, label_columns(found.table, id_column, found.model.labels_))
    facts = {
        **describe(found.model, found.table, found.ari),
        "data": data,
        "written": written_files(*kept),
        "notes": found.notes,
    }
    out.result(facts, lambda console: show(console, found, given, kept))


def check_kept(kept: Kept, data: str, id_column: str | None) -> None:
    """Refuse files that could not be written."""
    targets = [
        Target("-o", kept.labels, None),
        Target("--model", kept.model, MODEL_SUFFIXES),
        Target("--report", kept.report, REPORT_SUFFIXES),
    ]
    check_targets(targets, [data], expected_columns(id_column))
    if kept.report is not None:
        from icvi_artmap.report.page import environment

        environment()  # says so if jinja2 is not installed


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


def fit_model(given: Input, settings: dict[str, Any], bar: Bar) -> Fitted:
    """Read the table and fit a model on it."""
    from icvi_artmap.cli.output import watch_fit

    table, names = read_for_fit(given)
    if names:
        places = [table.columns.index(name) for name in names]
        settings = {**settings, "categories": sorted(places)}
    groups = known_groups(table)
    bar.say("loading")
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.estimators.table_fit import fit_table

    model = ICVIARTMAP(**settings)
    notes, _ = fit_table(model, table, watch_fit(bar))
    bar.reach(0, None)
    placed = model.labels_ >= 0  # all but noise
    ari = None if groups is None else agreement(groups[placed], model.labels_[placed])
    return Fitted(table, groups, model, ari, notes)


def keep_model(
    found: Fitted, kept: Kept, given: Input, arguments: tuple[str, ...], bar: Bar
) -> None:
    """Write the model and the report, if they are asked for."""
    import shlex

    from icvi_artmap.persistence.save_load import save

    if kept.model is not None:
        save(found.model, kept.model)
    if kept.report is None:
        return
    bar.say("writing the report")
    from icvi_artmap.report import write_report

    write_report(
        kept.report,
        found.model,
        found.table.cells(),
        feature_names=found.table.columns,
        ids=sample_names(found.table),
        truth=found.groups,
        title=f"Clusters of {given.name}",
        notes=found.notes,
        command=shlex.join(["icvi-artmap", *arguments]),
        random_state=found.model.random_state,
    )


def describe(model: ICVIARTMAP, table: Table, ari: float | None) -> dict[str, Any]:
    """A fitted model as JSON has it."""
    import numpy as np

    facts: dict[str, Any] = {
        "rows": len(table),
        "columns": table.columns,
        "n_clusters": model.n_clusters_,
        "index": model.fitted_.index.name,
        "index_value": model.index_value_,
        "better": better(model.fitted_.index.direction),
        "epochs": model.n_iter_,
        "converged": model.converged_,
        "clusters": describe_clusters(model, table),
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


def describe_clusters(model: ICVIARTMAP, table: Table) -> list[dict[str, Any]]:
    """Every cluster as JSON has it: its size, and its features, the most telling first."""
    from icvi_artmap.inspection.profiles import profiles as profiles_of
    from icvi_artmap.inspection.profiles import sizes

    profiles, n = profiles_of(model), sizes(model)
    names = model.fitted_.profiled_names(list(table.columns))
    return [
        {
            "cluster": i,
            "rows": n[i],
            "share": n[i] / len(table),
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
    print_clusters(console, found.model, found.table)
    written = written_files(*kept)
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
    for sentence in readings(model, None, None, found.ari):
        console.print(sentence.text, style={"beware": "yellow", "good": "green"}.get(sentence.tone))
    index = model.fitted_.index
    console.print(
        f"{index.name} {arrow(index.direction)} {number(model.index_value_)} "
        f"({better(index.direction)} is better), {counted(model.n_iter_, 'epoch')}.\n"
    )


def print_clusters(console: Console, model: ICVIARTMAP, table: Table) -> None:
    """Print the size of every cluster and what sets it apart."""
    from icvi_artmap.cli.output import columns
    from icvi_artmap.inspection.profiles import profiles as profiles_of
    from icvi_artmap.inspection.profiles import sizes
    from icvi_artmap.report.reading import telling

    profiles, n = profiles_of(model), sizes(model)
    names = model.fitted_.profiled_names(list(table.columns))
    told = next(most for up_to, most in TOLD if model.n_clusters_ <= up_to)
    shown = columns("cluster", "rows", "share", ("left", "what sets it apart"))
    for i in range(model.n_clusters_):
        words = telling(profiles, i, names).rstrip(".").split("; ")[:told]
        shown.add_row(str(i), f"{n[i]:,}", short_percent(n[i] / len(table)), "\n".join(words))
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
            (kept.labels, "-o clusters.csv (the cluster of every row)"),
            (kept.model, "--model clusters.icvi (for predict and explain)"),
            (kept.report, "--report clusters.html (pictures)"),
        )
        if path is None
    ]
    if more:
        steps.append(f"To keep more, add {', '.join(more)}.")
    return steps
