"""``icvi-artmap score``: values of all indices for given labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icvi_artmap.cli.common import (
    STANDARD_STREAM,
    ColumnsOption,
    DataArgument,
    IdColumnOption,
    IndexName,
    JsonOption,
    LabelColumnOption,
    Missing,
    MissingOption,
    QuietOption,
    agreement,
    check_targets,
    known_groups,
    name_of,
    parse_names,
    read_data,
    sample_names,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from icvi_artmap.tables import Table

MEANINGS = {
    "NI": "are clusters Gaussian, of whatever shape",
    "CH": "spread of the centres against spread within clusters",
    "WB": "the reverse of CH, times the number of clusters",
    "XB": "spread within clusters against the two nearest centres",
    "DB": "every cluster against its worst neighbour",
    "PBM": "the two farthest centres against spread within clusters",
}


def score(
    data: DataArgument,
    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS",
            help="A file with a column cluster, as fit -o writes it, or a column of DATA.",
            show_default=False,
        ),
    ],
    columns: ColumnsOption = None,
    label_column: LabelColumnOption = None,
    id_column: IdColumnOption = None,
    missing: MissingOption = Missing.refuse,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the values of all six indices for given labels."""
    from icvi_artmap.cli.output import Output, arrow
    from icvi_artmap.cli.output import columns as table_of

    out = Output(quiet, as_json)
    in_file = labels == STANDARD_STREAM or Path(labels).is_file()
    check_targets([], [data, labels if in_file else None])
    with out.progress("reading") as bar:
        if in_file:
            table, clusters = _labels_of_file(
                data, labels, parse_names(columns), label_column, id_column, missing
            )
        else:
            table, clusters = _labels_of_column(
                data, labels, parse_names(columns), label_column, id_column, missing
            )
        groups = known_groups(table)
        bar.say("scoring")
        import numpy as np

        from icvi_artmap._support.wording import number
        from icvi_artmap.indices.registry import get_index
        from icvi_artmap.prediction.index_value import index_value

        present, codes, counts = np.unique(clusters, return_inverse=True, return_counts=True)
        if len(present) < 2:
            raise ValueError(
                f"All rows have the label {str(present[0])!r}. An index compares at least two "
                "clusters."
            )
        indices = [get_index(name.value) for name in IndexName]
        values = {index.name: index_value(table.X, codes, index) for index in indices}
        ari = agreement(groups, codes)
    out.notes(table.notes)
    facts: dict[str, Any] = {
        "data": data,
        "labels": labels,
        "rows": len(table),
        "columns": table.columns,
        "clusters": [
            {"cluster": cluster, "rows": count}
            for cluster, count in zip(present.tolist(), counts.tolist(), strict=True)
        ],
        "values": values,
        "better": {
            index.name: "greater" if index.direction > 0 else "smaller" for index in indices
        },
        "notes": table.notes,
    }
    if ari is not None:
        facts["ari"] = ari

    def show(console: Console) -> None:
        console.print(
            f"{name_of(data)}: {len(table):,} rows in {len(present)} clusters of "
            f"{counts.min():,} to {counts.max():,}\n",
            style="bold",
        )
        shown = table_of(("left", "index"), "value", ("left", "what it looks at"))
        for index in indices:
            head = f"{index.name} {arrow(index.direction)}"
            shown.add_row(head, number(values[index.name]), MEANINGS[index.name])
        console.print(shown)
        console.print("\n↑: greater is better, ↓: smaller is better.")
        if ari is not None:
            console.print(
                f"Agreement with {label_column or 'the known groups'} (ARI ↑): {ari:.3f} "
                "(1: the same groups, 0: chance)."
            )

    out.result(facts, show)


def _labels_of_file(
    data: str,
    labels: str,
    columns: list[str] | None,
    label_column: str | None,
    id_column: str | None,
    missing: Missing,
) -> tuple[Table, NDArray[Any]]:
    from icvi_artmap.tables import read_labels

    # Rows can be told by the names in this file, if the data have these names, or by number.
    names = ("row",) if id_column is None else (id_column,)
    given = read_labels(labels, name_columns=names)
    table = read_data(data, columns, label_column, id_column, missing)
    if given.names is None:
        if len(given.labels) != len(table):
            raise ValueError(
                f"{name_of(labels)!r} has {len(given.labels)} labels, but {name_of(data)!r} has "
                f"{len(table)} rows. Give every row a label, or a column {names[0]!r} that says of "
                "which rows they are."
            )
        return table, given.labels
    place = {name: i for i, name in enumerate(given.names)}
    if len(place) < len(given.names):
        raise ValueError(f"{name_of(labels)!r} names rows more than once in its {names[0]!r}.")
    rows = sample_names(table)
    absent = [row for row in rows if row not in place]
    if absent:
        raise ValueError(
            f"{name_of(labels)!r} has no label for {len(absent)} of {len(rows)} rows; the first is "
            f"{absent[0]!r} in its column {names[0]!r}."
        )
    return table, given.labels[[place[row] for row in rows]]


def _labels_of_column(
    data: str,
    labels: str,
    columns: list[str] | None,
    label_column: str | None,
    id_column: str | None,
    missing: Missing,
) -> tuple[Table, NDArray[Any]]:
    from dataclasses import replace

    from icvi_artmap.tables.reading import missing_labels

    truth, notes = None, None
    if label_column is not None:
        if data == STANDARD_STREAM:
            raise ValueError(
                "Two columns of labels cannot be read from standard input. Save the data first."
            )
        if label_column == labels:
            raise ValueError(f"LABELS and --label-column are both {labels!r}.")
        whole = read_data(data, columns, label_column, id_column, missing)
        truth, notes = whole.labels, whole.notes
        columns = [name for name in whole.columns if name != labels]
        if not columns:
            raise ValueError(f"{name_of(data)!r} has no columns of numbers beside the labels.")
    try:
        table = read_data(data, columns, labels, id_column, missing)
    except ValueError as error:
        if "(label_column)" in str(error):
            raise ValueError(f"There is no file {labels!r}, and {error}") from None
        raise
    clusters = table.labels
    assert clusters is not None
    if missing_labels(clusters).any():
        raise ValueError(f"Column {labels!r} of {name_of(data)!r} has rows without a label.")
    return replace(table, labels=truth, notes=notes or table.notes), clusters
