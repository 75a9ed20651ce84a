"""``icvi-artmap predict``: clusters of new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icvi_artmap._support.wording import counted, short_percent
from icvi_artmap.cli.common import (
    STANDARD_STREAM,
    DataArgument,
    DelimiterOption,
    IdColumnOption,
    JsonOption,
    LabelsOption,
    ModelArgument,
    NewMissing,
    NewMissingOption,
    QuietOption,
    Target,
    check_model_file,
    check_targets,
    cluster_sizes,
    expected_columns,
    label_columns,
    name_of,
    sample_names,
)

if TYPE_CHECKING:
    from rich.console import Console


def predict(
    model: ModelArgument,
    data: DataArgument,
    id_column: IdColumnOption = None,
    missing: NewMissingOption = NewMissing.model,
    delimiter: DelimiterOption = None,
    output: LabelsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say to which clusters of a model the rows of a table belong.

    The columns are found by the names that the model knows. Without -o the clusters are printed as
    CSV.
    """
    from icvi_artmap.cli.output import Output

    if output is None and not as_json:
        output = STANDARD_STREAM
    out = Output(quiet, as_json, output)
    check_model_file(model)
    check_targets([Target("-o", output, None)], [model, data], expected_columns(id_column))
    with out.progress("reading") as bar:
        from icvi_artmap.cli.models import load_model, read_for
        from icvi_artmap.tables import write_table

        loaded, names = load_model(model)
        table = read_for(loaded, names, data, id_column, missing, delimiter)
        bar.say("predicting")
        labels = loaded.predict(table.cells())
    out.notes(table.notes)
    if output is not None:
        write_table(output, label_columns(table, id_column, labels))
    sizes = cluster_sizes(labels)
    facts = {
        "model": model,
        "data": data,
        "rows": len(table),
        "clusters": sizes,
        "labels": labels,
        "row_names": sample_names(table),
        "notes": table.notes,
    }
    if output != STANDARD_STREAM:
        out.result(facts, lambda console: _show(console, sizes, name_of(data), output))


def _show(console: Console, sizes: list[dict[str, Any]], name: str, output: str | None) -> None:
    """Print the sizes of the clusters, and where the labels are."""
    from icvi_artmap.cli.output import columns

    n_rows = sum(size["rows"] for size in sizes)
    console.print(f"{name}: {counted(n_rows, 'row')}\n", style="bold")
    shown = columns("cluster", "rows", "share")
    for size in sizes:
        share = short_percent(size["rows"] / n_rows)
        shown.add_row(str(size["cluster"]), f"{size['rows']:,}", share)
    console.print(shown)
    console.print(f"\nWritten: {output}")
