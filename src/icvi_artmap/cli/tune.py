"""``icvi-artmap tune``: search for the vigilances."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icvi_artmap.cli.common import (
    MODEL_SUFFIXES,
    STANDARD_STREAM,
    ColumnsOption,
    DataArgument,
    IdColumnOption,
    IndexName,
    IndexOption,
    JobsOption,
    JsonOption,
    LabelColumnOption,
    LabelsOption,
    Missing,
    MissingOption,
    NumberOption,
    QuietOption,
    RefineOption,
    SaveOption,
    SeedOption,
    Target,
    agreement,
    check_jobs,
    check_targets,
    expected_columns,
    known_groups,
    label_columns,
    name_of,
    parse_names,
    read_data,
    wrong,
)

if TYPE_CHECKING:
    from rich.console import Console

#: So many of the best values are shown.
SHOWN = 10
STORE_SUFFIXES = (".jsonl", ".store")


def tune(
    data: DataArgument,
    clusters: NumberOption,
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
            min=1, metavar="N", help="Runs from different starts for every pair of vigilances."
        ),
    ] = 1,
    rho_a: Annotated[
        str | None,
        typer.Option(
            metavar="VALUES",
            help="Vigilances of the categories to try, as 0,0.4,0.8. Default: the paper's grid.",
            show_default=False,
        ),
    ] = None,
    rho_ab: Annotated[
        str | None,
        typer.Option(metavar="VALUES", help="The same for the map field.", show_default=False),
    ] = None,
    jobs: JobsOption = 1,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep every run in this file (.jsonl), and go on from it if it is there.",
            show_default=False,
        ),
    ] = None,
    output: LabelsOption = None,
    model: SaveOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Search for the vigilances that give the best value of the index.

    The best run is printed; -o and --model keep it. No labels are used for the choice.
    """
    from icvi_artmap.cli.output import Output, arrow, warnings_as_notes
    from icvi_artmap.cli.output import columns as table_of

    out = Output(quiet, as_json, output)
    check_jobs(jobs)
    values_a, values_ab = _values("--rho-a", rho_a), _values("--rho-ab", rho_ab)
    targets = [
        Target("-o", output, None),
        Target("--model", model, MODEL_SUFFIXES),
        Target("--store", store, STORE_SUFFIXES),
    ]
    check_targets(targets, [data], expected_columns(id_column))
    from icvi_artmap.tables import write_table

    with out.progress("reading"):
        table = read_data(data, parse_names(columns), label_column, id_column, missing)
        groups = known_groups(table)

        import numpy as np

        from icvi_artmap._support.wording import number
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
        from icvi_artmap.estimators.vigilance_search.search import ICVIARTMAPSearch
        from icvi_artmap.persistence.save_load import save

    search = ICVIARTMAPSearch(
        ICVIARTMAP(clusters, index=index.value, refine="auto" if refine is None else refine),
        rho_a=values_a,
        rho_ab=values_ab,
        n_starts=starts,
        n_jobs=jobs,
        store=store,
        random_state=seed,
        verbose=0 if quiet else 1,
    )
    notes = list(table.notes)
    with warnings_as_notes(notes):
        search.fit(table.X)
    best, results = search.best_estimator_, search.results_
    best.feature_names_in_ = np.array(table.columns, dtype=object)
    out.notes(notes)
    if model is not None:
        save(best, model)
    if output is not None:
        write_table(output, label_columns(table, id_column, best.labels_))
    ari = agreement(groups, best.labels_)
    direction = best.fitted_.index.direction
    order = np.argsort(-direction * results.index_value, kind="stable")
    runs = [
        {
            "rho_a": results.rho_a[i],
            "rho_ab": results.rho_ab[i],
            "start": results.start[i],
            "index_value": results.index_value[i],
            "n_clusters": results.n_clusters_found[i],
            "categories": results.n_categories[i],
            "seconds": results.seconds[i],
        }
        for i in order
    ]
    written = [path for path in (output, model, store) if path not in (None, STANDARD_STREAM)]
    facts: dict[str, Any] = {
        "data": data,
        "rows": len(table),
        "columns": table.columns,
        "index": index.value,
        "better": "greater" if direction > 0 else "smaller",
        "best": runs[0],
        "runs": runs,
        "labels": best.labels_,
        "written": written,
        "notes": notes,
    }
    if ari is not None:
        facts["ari"] = ari

    def show(console: Console) -> None:
        found = runs[0]
        console.print(f"{name_of(data)}: {len(table):,} rows, {len(results)} runs\n", style="bold")
        console.print(
            f"Best: rho_a = {found['rho_a']:g}, rho_ab = {found['rho_ab']:g}, with "
            f"{index.value} {arrow(direction)} {number(found['index_value'])} and "
            f"{found['n_clusters']} clusters."
        )
        if ari is not None:
            console.print(f"Agreement with the known groups (ARI ↑): {ari:.3f}.")
        console.print()
        head = f"{index.value} {arrow(direction)}"
        shown = table_of(head, "runs", "rho_a", "rho_ab", "clusters", "categories")
        # Many vigilances give the same partition: one line for each value.
        values = itertools.groupby(runs, key=lambda run: f"{run['index_value']:.9g}")
        for _, same in itertools.islice(values, SHOWN):
            group = list(same)
            shown.add_row(
                number(group[0]["index_value"]),
                str(len(group)),
                *(
                    _range([run[name] for run in group])
                    for name in ("rho_a", "rho_ab", "n_clusters", "categories")
                ),
            )
        console.print(shown)
        left = sum(1 for _ in values)
        if left:
            console.print(f"... and {left} more values, none better.")
        if written:
            console.print(f"\nWritten: {', '.join(map(str, written))}")

    out.result(facts, show)


def _range(values: list[float]) -> str:
    least, most = min(values), max(values)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def _values(option: str, text: str | None) -> list[float] | None:
    """Numbers between 0 and 1, separated by commas."""
    if text is None:
        return None
    try:
        values = [float(part) for part in re.split(r"\s*,\s*", text.strip())]
    except ValueError:
        raise wrong(option, f"{text!r} is no list of numbers like 0,0.4,0.8.") from None
    if not all(0.0 <= value <= 1.0 for value in values):
        raise wrong(option, f"{text!r}: vigilances are between 0 and 1.")
    if len(set(values)) < len(values):
        raise wrong(option, f"{text!r}: give every value once.")
    return values
