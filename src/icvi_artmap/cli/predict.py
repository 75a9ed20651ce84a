"""``icvi-artmap predict``: clusters of new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icvi_artmap.cli.common import (
    DataArgument,
    IdColumnOption,
    JsonOption,
    LabelsOption,
    Missing,
    MissingOption,
    ModelArgument,
    QuietOption,
    Target,
    check_model_file,
    check_targets,
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
    missing: MissingOption = Missing.refuse,
    output: LabelsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say to which clusters of a model the rows of a table belong.

    The columns are found by the names that the model knows. Without -o the clusters are printed as
    CSV.
    """
    from icvi_artmap.cli.output import Output, columns

    if output is None and not as_json:
        output = "-"
    out = Output(quiet, as_json, output)
    check_model_file(model)
    check_targets([Target("-o", output, None)], [model, data], expected_columns(id_column))
    with out.progress("reading") as bar:
        import numpy as np

        from icvi_artmap.cli.models import load_model, read_for
        from icvi_artmap.tables import write_table

        loaded, names = load_model(model)
        table = read_for(loaded, names, data, id_column, missing)
        bar.say("predicting")
        labels = loaded.predict(table.X)
    out.notes(table.notes)
    if output is not None:
        write_table(output, label_columns(table, id_column, labels))
    present, counts = np.unique(labels, return_counts=True)
    facts = {
        "model": model,
        "data": data,
        "rows": len(table),
        "clusters": [
            {"cluster": cluster, "rows": count}
            for cluster, count in zip(present.tolist(), counts.tolist(), strict=True)
        ],
        "labels": labels,
        "row_names": sample_names(table),
        "notes": table.notes,
    }

    def show(console: Console) -> None:
        console.print(f"{name_of(data)}: {len(table):,} rows\n", style="bold")
        shown = columns("cluster", "rows", "share")
        for cluster, count in zip(present, counts, strict=True):
            shown.add_row(str(cluster), f"{count:,}", f"{count / len(table):.0%}")
        console.print(shown)
        console.print(f"\nWritten: {output}")

    if output != "-":
        out.result(facts, show)
