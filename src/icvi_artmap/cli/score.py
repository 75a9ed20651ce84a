"""``icvi-artmap score``: values of all indices for given labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from icvi_artmap._support.wording import ARROWS, arrow, better, counted, fixed, number, parameter
from icvi_artmap.cli.common import (
    STANDARD_STREAM,
    ColumnsOption,
    DataArgument,
    DelimiterOption,
    ExcludeOption,
    IdColumnOption,
    Input,
    JsonOption,
    LabelColumnOption,
    Missing,
    MissingOption,
    QuietOption,
    Transform,
    TransformOption,
    agreement,
    check_targets,
    cluster_sizes,
    known_groups,
    name_of,
    parse_input,
    read_data,
    sample_names,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from icvi_artmap.cli.output import Bar
    from icvi_artmap.indices.base import Index
    from icvi_artmap.tables import Table

LabelsArgument = Annotated[
    str,
    typer.Argument(
        metavar="LABELS",
        help="A file with a column cluster, as fit -o writes it, or a column of DATA.",
        show_default=False,
    ),
]


class Scores(NamedTuple):
    """The values of the indices for the labels of a table."""

    table: Table
    sizes: list[dict[str, Any]]
    indices: list[Index]
    values: dict[str, float]
    ari: float | None  # agreement with the known groups


def score(
    data: DataArgument,
    labels: LabelsArgument,
    columns: ColumnsOption = None,
    exclude: ExcludeOption = None,
    label_column: LabelColumnOption = None,
    id_column: IdColumnOption = None,
    missing: MissingOption = Missing.refuse,
    transform: TransformOption = Transform.clip,
    delimiter: DelimiterOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the values of all indices that can drive a fit for given labels."""
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json)
    in_file = labels == STANDARD_STREAM or Path(labels).is_file()
    check_targets([], [data, labels if in_file else None])
    given = parse_input(data, columns, exclude, label_column, id_column, missing)._replace(
        transform=transform, delimiter=delimiter
    )
    with out.progress("reading") as bar:
        found = _scores(given, labels, in_file, bar)
    out.notes(found.table.notes)
    facts: dict[str, Any] = {
        "data": data,
        "labels": labels,
        "rows": len(found.table),
        "columns": found.table.columns,
        "clusters": found.sizes,
        "values": found.values,
        "better": {index.name: better(index.direction) for index in found.indices},
        "notes": found.table.notes,
    }
    if found.ari is not None:
        facts["ari"] = found.ari
    out.result(facts, lambda console: _show(console, found, given))


def _scores(given: Input, labels: str, in_file: bool, bar: Bar) -> Scores:
    """Read data and labels, and compute the indices."""
    labelled = _labels_of_file if in_file else _labels_of_column
    table, clusters = labelled(given, labels)
    groups = known_groups(table)
    bar.say("scoring")
    import numpy as np

    from icvi_artmap.indices.registry import INDICES
    from icvi_artmap.prediction.index_value import index_value

    present, codes = np.unique(clusters, return_inverse=True)
    if len(present) < 2:
        raise ValueError(
            f"All rows have the label {str(present[0])!r}. An index compares at least two clusters."
        )
    indices = list(INDICES.values())
    values = {
        index.name: index_value(table.X, codes, index, resolution="learn") for index in indices
    }
    return Scores(table, cluster_sizes(clusters), indices, values, agreement(groups, codes))


def _show(console: Console, found: Scores, given: Input) -> None:
    """Print the sizes of the clusters and the values."""
    from icvi_artmap.cli.output import columns

    rows = [size["rows"] for size in found.sizes]
    console.print(
        f"{given.name}: {counted(len(found.table), 'row')} in {counted(len(rows), 'cluster')} of "
        f"{min(rows):,} to {max(rows):,}\n",
        style="bold",
    )
    shown = columns(("left", "index"), "value", ("left", "what it looks at"))
    for index in found.indices:
        head = f"{index.name} {arrow(index.direction)}"
        shown.add_row(head, number(found.values[index.name]), index.purpose)
    console.print(shown)
    console.print(f"\n{ARROWS}")
    if found.ari is not None:
        console.print(
            f"Agreement with {given.label_column or 'the known groups'} (ARI ↑): "
            f"{fixed(found.ari, 3)} (1: the same groups, 0: chance)."
        )


def _labels_of_file(given: Input, labels: str) -> tuple[Table, NDArray[Any]]:
    """The data, and the labels of their rows from another file."""
    from icvi_artmap.tables import read_labels

    # The names in this file say which rows the labels belong to, or else the numbers of the rows.
    names = ("row",) if given.id_column is None else (given.id_column,)
    read = read_labels(labels, name_columns=names)
    table = read_data(given)
    if read.names is None:
        if len(read.labels) != len(table):
            raise ValueError(
                f"{name_of(labels)!r} has {len(read.labels)} labels, but {given.name!r} has "
                f"{len(table)} rows. Give every row a label, or a column {names[0]!r} that says of "
                "which rows they are."
            )
        return table, read.labels
    place = {name: i for i, name in enumerate(read.names)}
    if len(place) < len(read.names):
        raise ValueError(f"{name_of(labels)!r} names rows more than once in its {names[0]!r}.")
    rows = sample_names(table)
    absent = [row for row in rows if row not in place]
    if absent:
        raise ValueError(
            f"{name_of(labels)!r} has no label for {len(absent)} of {len(rows)} rows; the first is "
            f"{absent[0]!r} in its column {names[0]!r}."
        )
    return table, read.labels[[place[row] for row in rows]]


def _labels_of_column(given: Input, labels: str) -> tuple[Table, NDArray[Any]]:
    """The data without one of their columns, and that column as labels."""
    from dataclasses import replace

    from icvi_artmap.tables.reading import missing_labels

    truth, notes, columns = None, None, given.columns
    if given.label_column is not None:
        if given.data == STANDARD_STREAM:
            raise ValueError(
                "Two columns of labels cannot be read from standard input. Save the data first."
            )
        if given.label_column == labels:
            raise ValueError(f"LABELS and --label-column are both {labels!r}.")
        whole = read_data(given)
        truth, notes = whole.labels, whole.notes
        columns = [name for name in whole.columns if name != labels]
        if not columns:
            raise ValueError(f"{given.name!r} has no columns of numbers beside the labels.")
    try:
        table = read_data(given._replace(columns=columns, label_column=labels))
    except ValueError as error:
        if f"({parameter('label_column')})" in str(error):
            raise ValueError(f"There is no file {labels!r}, and {error}") from None
        raise
    clusters = table.labels
    assert clusters is not None
    if missing_labels(clusters).any():
        raise ValueError(f"Column {labels!r} of {given.name!r} has rows without a label.")
    return replace(table, labels=truth, notes=notes or table.notes), clusters
