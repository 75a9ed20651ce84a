"""``icvi-artmap fit``: find the clusters of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from icvi_artmap.cli.common import (
    MODEL_SUFFIXES,
    REPORT_SUFFIXES,
    STANDARD_STREAM,
    ColumnsOption,
    DataArgument,
    IdColumnOption,
    IndexName,
    IndexOption,
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
    check_targets,
    expected_columns,
    known_groups,
    label_columns,
    name_of,
    parse_clusters,
    parse_names,
    read_data,
    sample_names,
    wrong,
)

if TYPE_CHECKING:
    from rich.console import Console

    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.tables import Table


#: With up to so many clusters, so many features of each are told.
TOLD = ((8, 3), (16, 2), (float("inf"), 1))


def fit(
    context: typer.Context,
    data: DataArgument,
    clusters: Annotated[
        str,
        typer.Option(
            "-k",
            "--clusters",
            metavar="N|auto|2:20",
            help="The number of clusters, auto to choose it, or a range to choose from.",
        ),
    ] = "auto",
    index: IndexOption = IndexName.NI,
    columns: ColumnsOption = None,
    label_column: LabelColumnOption = None,
    id_column: IdColumnOption = None,
    missing: MissingOption = Missing.refuse,
    seed: SeedOption = 0,
    refine: RefineOption = None,
    starts: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Runs from different starts, of which the best is kept."
        ),
    ] = 1,
    output: LabelsOption = None,
    model: SaveOption = None,
    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            "-r",
            metavar="FILE",
            help="Write a report with pictures (.html).",
            show_default=False,
        ),
    ] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the clusters of a table.

    Data need no scaling. The result is printed; -o, --model and --report keep it.
    """
    import shlex

    from icvi_artmap.cli.output import Output, warnings_as_notes, watch_fit

    out = Output(quiet, as_json, output)
    n_clusters = parse_clusters(clusters)
    if starts > 1 and not isinstance(n_clusters, int):
        raise wrong("--starts", f"with -k {clusters} there is one start. Give a number with -k.")
    targets = [
        Target("-o", output, None),
        Target("--model", model, MODEL_SUFFIXES),
        Target("--report", report, REPORT_SUFFIXES),
    ]
    check_targets(targets, [data], expected_columns(id_column))
    if report is not None:
        from icvi_artmap.report.page import environment

        environment()  # says so if jinja2 is not there
    with out.progress("reading") as bar:
        from icvi_artmap.tables import write_table

        table = read_data(data, parse_names(columns), label_column, id_column, missing)
        groups = known_groups(table)
        bar.say("loading")
        import numpy as np

        from icvi_artmap._support.callbacks import watching
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
        from icvi_artmap.persistence.save_load import save

        found = ICVIARTMAP(
            n_clusters,
            index=index.value,
            n_init=starts,
            refine="auto" if refine is None else refine,
            random_state=seed,
        )
        notes = list(table.notes)
        with warnings_as_notes(notes), watching(watch_fit(bar)):
            found.fit(table.X)
        if hasattr(found, "selection_") and (doubt := found.selection_.doubt()) in notes:
            notes.remove(str(doubt))  # the result says it in other words
        found.feature_names_in_ = np.array(table.columns, dtype=object)
        bar.reach(0, None)
        if model is not None:
            save(found, model)
        if report is not None:
            bar.say("writing the report")
            from icvi_artmap.report import write_report

            write_report(
                report,
                found,
                table.X,
                feature_names=table.columns,
                ids=sample_names(table),
                truth=groups,
                title=f"Clusters of {name_of(data)}",
                notes=notes,
                command=shlex.join(["icvi-artmap", *context.obj]),
                random_state=seed,
            )
    out.notes(notes)
    if output is not None:
        write_table(output, label_columns(table, id_column, found.labels_))
    ari = agreement(groups, found.labels_)
    written = [path for path in (output, model, report) if path not in (None, STANDARD_STREAM)]
    facts = {**describe(found, table, ari), "data": data, "written": written, "notes": notes}

    def show(console: Console) -> None:
        print_result(console, found, table, ari, name_of(data))
        if written:
            console.print(f"\nWritten: {', '.join(map(str, written))}")
        console.print()
        for line in next_steps(data, table, id_column, output, model, report):
            console.print(line, style="dim", soft_wrap=True)

    out.result(facts, show)


def describe(model: ICVIARTMAP, table: Table, ari: float | None) -> dict[str, Any]:
    """A fitted model as JSON has it."""
    from icvi_artmap.inspection.profiles import profiles as _profiles

    profiles = _profiles(model)
    clusters = [
        {
            "cluster": i,
            "rows": profiles.n[i],
            "share": profiles.n[i] / profiles.n.sum(),
            "features": [
                {
                    "name": table.columns[f],
                    "mean": profiles.mean[i, f],
                    "mean_elsewhere": profiles.rest_mean[i, f],
                    "effect": profiles.effect[i, f],
                }
                for f in profiles.order[i]
            ],
        }
        for i in range(model.n_clusters_)
    ]
    facts: dict[str, Any] = {
        "rows": len(table),
        "columns": table.columns,
        "n_clusters": model.n_clusters_,
        "index": model.fitted_.index.name,
        "index_value": model.index_value_,
        "better": "greater" if model.fitted_.index.direction > 0 else "smaller",
        "epochs": model.n_iter_,
        "converged": model.converged_,
        "clusters": clusters,
        "labels": model.labels_,
        "row_names": sample_names(table),
    }
    if ari is not None:
        facts["ari"] = ari
    if hasattr(model, "selection_"):
        chosen = model.selection_
        facts["selection"] = {
            "k": chosen.k,
            "criterion": chosen.criterion,
            "index_values": chosen.index_values,
            "margin": chosen.margin,
            "clear": chosen.clear,
            "single_cluster_better": chosen.single,
        }
    return facts


def print_result(
    console: Console, model: ICVIARTMAP, table: Table, ari: float | None, name: str
) -> None:
    """What was found, in sentences and a table of the clusters."""
    from icvi_artmap._support.wording import number
    from icvi_artmap.cli.output import arrow, columns
    from icvi_artmap.inspection.profiles import profiles as _profiles
    from icvi_artmap.report.reading import readings, telling

    used = f"{len(table.columns)} column{'s' if len(table.columns) > 1 else ''}"
    console.print(f"{name}: {len(table):,} rows, {used} used\n", style="bold")
    for sentence in readings(model, None, None, ari):
        console.print(sentence.text, style={"beware": "yellow", "good": "green"}.get(sentence.tone))
    index = model.fitted_.index
    better = "greater" if index.direction > 0 else "smaller"
    epochs = f"{model.n_iter_} epoch{'s' if model.n_iter_ > 1 else ''}"
    console.print(
        f"{index.name} {arrow(index.direction)} {number(model.index_value_)} ({better} is better), "
        f"{epochs}.\n"
    )
    profiles = _profiles(model)
    told = next(most for up_to, most in TOLD if model.n_clusters_ <= up_to)
    shown = columns("cluster", "rows", "share", ("left", "what sets it apart"))
    for i in range(model.n_clusters_):
        words = telling(profiles, i, list(table.columns)).rstrip(".").split("; ")[:told]
        share = profiles.n[i] / profiles.n.sum()
        part = f"{share:.0%}" if share >= 0.01 else "<1%"
        shown.add_row(str(i), f"{profiles.n[i]:,}", part, "\n".join(words))
    console.print(shown)


def next_steps(
    data: str,
    table: Table,
    id_column: str | None,
    output: str | None,
    model: str | None,
    report: str | None,
) -> list[str]:
    """What can be done with the result, as commands to type."""
    import shlex

    steps = []
    if model is not None:
        explain = ["explain", model, "DATA" if data == STANDARD_STREAM else data]
        explain += ["--row", sample_names(table)[0]]
        if id_column is not None:
            explain += ["--id-column", id_column]
        steps += [
            "Clusters of new rows:      "
            + shlex.join(["icvi-artmap", "predict", model, "NEW.csv"]),
            "Why a row is in a cluster: " + shlex.join(["icvi-artmap", *explain]),
        ]
    keep = [
        text
        for path, text in (
            (output, "-o clusters.csv (the cluster of every row)"),
            (model, "--model clusters.icvi (for predict and explain)"),
            (report, "--report clusters.html (pictures)"),
        )
        if path is None
    ]
    if keep:
        steps.append(f"To keep more, add {', '.join(keep)}.")
    return steps
