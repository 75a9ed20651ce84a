"""``icvi-artmap explain``: why rows belong to their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from icvi_artmap.cli.common import (
    DataArgument,
    IdColumnOption,
    JsonOption,
    Missing,
    MissingOption,
    ModelArgument,
    QuietOption,
    check_model_file,
    check_targets,
    name_of,
    sample_names,
)

if TYPE_CHECKING:
    from rich.console import Console

    from icvi_artmap.tables import Table

#: Means of clusters are those of the training data up to this part of a standard deviation.
ROUNDING = 1e-6


def explain(
    model: ModelArgument,
    data: DataArgument,
    row: Annotated[
        list[str],
        typer.Option(
            "--row",
            metavar="ID",
            help="The row: its number from 1, or its name in --id-column. May be repeated.",
            show_default=False,
        ),
    ],
    id_column: IdColumnOption = None,
    missing: MissingOption = Missing.refuse,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say why rows belong to their clusters."""
    from dataclasses import replace

    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json)
    check_model_file(model)
    check_targets([], [model, data])
    with out.progress("reading") as bar:
        from icvi_artmap.cli.models import load_model, read_for
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
        from icvi_artmap.inspection.explain import explain as explain_samples

        loaded, names = load_model(model)
        if not isinstance(loaded, ICVIARTMAP):
            raise ValueError(
                f"{name_of(model)!r} holds a {type(loaded).__name__}; only an ICVIARTMAP can be "
                "explained."
            )
        table = read_for(loaded, names, data, id_column, missing)
        positions = _positions(row, table, id_column)
        bar.say("explaining")
        trained = _is_training_data(loaded, table)
        found = explain_samples(loaded, table.X[positions], samples=positions if trained else None)
        every = sample_names(table)
        found = replace(
            found,
            sample_names=[every[position] for position in positions],
            feature_names=list(table.columns),
        )
    out.notes(table.notes)
    facts: dict[str, Any] = {
        "model": model,
        "data": data,
        "training_data": trained,
        "index": found.index_name,
        "better": "greater" if found.direction > 0 else "smaller",
        "rows": [
            {
                "row": found.sample_names[s],
                "best": found.best[s],
                "margin": found.margin[s],
                "predicted": found.predicted[s],
                "index_values": found.index_values[s],
                "category": found.category[s],
                "category_cluster": found.category_label[s],
                "features": [
                    {
                        "name": name,
                        "value": found.rows[s, f],
                        "lower": found.lower[s, f],
                        "upper": found.upper[s, f],
                        "slack": found.slack[s, f],
                    }
                    for f, name in enumerate(found.feature_names)
                ],
            }
            for s in range(len(positions))
        ],
        "notes": table.notes,
    }
    if trained:
        for facts_of_row, position in zip(facts["rows"], positions, strict=True):
            facts_of_row["cluster"] = loaded.labels_[position]

    def show(console: Console) -> None:
        if trained:
            for name, position in zip(found.sample_names, positions, strict=True):
                console.print(
                    f"{name_of(data)} is what the model was fitted on; there, row {name} is in "
                    f"cluster {loaded.labels_[position]}.",
                    style="bold",
                )
        else:
            console.print(
                f"{name_of(data)} is not what the model was fitted on: its rows are taken as new.",
                style="bold",
            )
        console.print()
        console.print(found.to_text(max_samples=len(positions)), soft_wrap=True)

    out.result(facts, show)


def _positions(wanted: list[str], table: Table, id_column: str | None) -> list[int]:
    """Places of the rows in the table; an ID that several rows have stands for all of them."""
    names = sample_names(table)
    places: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        places.setdefault(name.strip(), []).append(position)
    found: dict[int, None] = {}
    for text in wanted:
        if text.strip() not in places:
            raise _unknown_row(text, names, table, id_column)
        found.update(dict.fromkeys(places[text.strip()]))
    return list(found)


def _unknown_row(text: str, names: list[str], table: Table, id_column: str | None) -> ValueError:
    if id_column is not None:
        import difflib

        near = difflib.get_close_matches(text, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else f" The first is {names[0]!r}."
        return ValueError(f"No row has {text!r} in column {id_column!r}.{hint}")
    if not text.strip().isdecimal():
        return ValueError(
            f"--row {text!r} is no number of a row. Give a number from 1, or the column of names "
            "with --id-column."
        )
    number, last = int(text), int(table.rows[-1]) + 1
    if 1 <= number <= last:
        return ValueError(f"Row {number} has missing values and was left out.")
    return ValueError(f"There is no row {number}: rows are numbered from 1 to {last}.")


def _is_training_data(model: Any, table: Table) -> bool:
    """Whether its rows, labelled as the model labels them, have the means of the clusters."""
    import numpy as np

    X, labels = table.X, model.labels_
    if len(X) != len(labels):
        return False
    counts = np.bincount(labels, minlength=model.n_clusters_)
    sums = np.stack(
        [np.bincount(labels, column, minlength=model.n_clusters_) for column in X.T], axis=1
    )
    means = sums / np.maximum(counts, 1)[:, None]
    near = ROUNDING * np.maximum(X.std(axis=0), np.finfo(float).eps * np.abs(X).max(axis=0))
    return bool((np.abs(means - model.cluster_centers_) <= near + ROUNDING * np.abs(means)).all())
