"""``icvi-artmap explain``: why rows belong to their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from icvi_artmap._support.wording import better, counted
from icvi_artmap.cli.common import (
    DelimiterOption,
    IdColumnOption,
    JsonOption,
    ModelArgument,
    NewMissing,
    NewMissingOption,
    QuietOption,
    check_model_file,
    check_targets,
    name_of,
    sample_names,
    wrong,
)
from icvi_artmap.tables.formats import names_of_formats

if TYPE_CHECKING:
    from rich.console import Console

    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.inspection.explain import Explanation
    from icvi_artmap.tables import Table

OptionalData = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATA]",
        help=f"The table that has the rows: {names_of_formats()}; not needed without --row.",
        show_default=False,
    ),
]
RowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--row",
        metavar="ID",
        help="A row to explain: its number from 1, or its name in --id-column. May be repeated. "
        "Without it the clusters themselves are explained.",
        show_default=False,
    ),
]


class Explained(NamedTuple):
    """The explanation of rows, and whether they are training data."""

    explanation: Explanation
    #: The clusters that the rows are in, if the model was fitted on this table.
    labels: list[int] | None


def explain(
    model: ModelArgument,
    data: OptionalData = None,
    row: RowOption = None,
    id_column: IdColumnOption = None,
    missing: NewMissingOption = NewMissing.model,
    delimiter: DelimiterOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what the clusters of a model are, or why rows belong to theirs."""
    from icvi_artmap.cli.output import Output

    out = Output(quiet, as_json)
    check_model_file(model)
    if not row:
        loaded, names = _load(model)
        facts = _facts_of_clusters(model, loaded, names)
        out.result(facts, lambda console: _show_clusters(console, loaded, names))
        return
    if data is None:
        raise wrong("--row", "the table that has the rows is wanted, behind the model.")
    check_targets([], [model, data])
    with out.progress("reading") as bar:
        from icvi_artmap.cli.models import read_for

        loaded, names = _load(model)
        table = read_for(loaded, names, data, id_column, missing, delimiter)
        positions = _positions(row, table, id_column)
        bar.say("explaining")
        found = _explained(loaded, table, positions)
    out.notes(table.notes)
    facts = {
        "model": model,
        "data": data,
        "training_data": found.labels is not None,
        "index": found.explanation.index_name,
        "better": better(found.explanation.direction),
        "rows": [_facts_of_row(found, s) for s in range(len(positions))],
        "notes": table.notes,
    }
    out.result(facts, lambda console: _show(console, found, name_of(data)))


def _columns_of(model: ICVIARTMAP, names: list[str] | None) -> list[str]:
    return names or [f"x{j + 1}" for j in range(model.n_features_in_)]


def _facts_of_clusters(path: str, model: ICVIARTMAP, names: list[str] | None) -> dict[str, Any]:
    """The clusters of a model as JSON has them."""
    from icvi_artmap.cli.fit import describe_clusters

    return {"model": path, "clusters": describe_clusters(model, _columns_of(model, names))}


def _show_clusters(console: Console, model: ICVIARTMAP, names: list[str] | None) -> None:
    """Print how large the clusters are and what sets them apart."""
    from icvi_artmap.cli.fit import print_clusters

    columns = _columns_of(model, names)
    rows, used = counted(len(model.labels_), "row"), counted(len(columns), "column")
    clusters = counted(model.n_clusters_, "cluster")
    console.print(f"{clusters}, found in {rows} and {used}\n", style="bold")
    print_clusters(console, model, columns)
    console.print("\nWhy a row is in its cluster: add the table and --row.", style="dim")


def _load(path: str) -> tuple[ICVIARTMAP, list[str] | None]:
    """A model that can be explained, and the names of its columns, if it knows them."""
    from icvi_artmap.cli.models import load_model
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

    loaded, names = load_model(path)
    if not isinstance(loaded, ICVIARTMAP):
        raise ValueError(
            f"{name_of(path)!r} holds a {type(loaded).__name__}; only an ICVIARTMAP can be "
            "explained."
        )
    return loaded, names


def _explained(model: ICVIARTMAP, table: Table, positions: list[int]) -> Explained:
    """Explain the rows at these positions of the table."""
    from dataclasses import replace

    from icvi_artmap.estimators.fitted import is_training_data, rows_of
    from icvi_artmap.inspection.explain import explain as explain_samples

    cells = table.cells()
    trained = is_training_data(model, rows_of(model, cells))
    found = explain_samples(model, cells[positions], samples=positions if trained else None)
    names, columns = sample_names(table), list(table.columns)
    found = replace(
        found,
        sample_names=[names[position] for position in positions],
        feature_names=columns,
        profile_names=model.fitted_.profiled_names(columns),
    )
    labels = [int(model.labels_[position]) for position in positions] if trained else None
    return Explained(found, labels)


def _facts_of_row(explained: Explained, s: int) -> dict[str, Any]:
    """The explanation of one row as JSON has it."""
    found = explained.explanation
    facts = {
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
    if explained.labels is not None:
        facts["cluster"] = explained.labels[s]
    return facts


def _show(console: Console, explained: Explained, data: str) -> None:
    """Print the explanation, and whether the rows are training data."""
    found = explained.explanation
    if explained.labels is None:
        console.print(
            f"{data} is not what the model was fitted on: its rows are taken as new.", style="bold"
        )
    else:
        for name, label in zip(found.sample_names, explained.labels, strict=True):
            console.print(
                f"{data} is what the model was fitted on; there, row {name} is in cluster {label}.",
                style="bold",
            )
    console.print()
    console.print(found.to_text(max_samples=len(found.sample_names)), soft_wrap=True)


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
