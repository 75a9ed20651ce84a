"""Reading models from files, and tables that have their columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from icvi_artmap._support.wording import quoted
from icvi_artmap.cli.common import NewMissing, name_of, with_note_on_gaps
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.tables import Table, read_table
from icvi_artmap.tables.reading import CONSTANT, GIVEN_VALUES, MissingValuesError, WidthError


def load_model(path: str) -> tuple[Any, list[str] | None]:
    """A model of any class, and the names of its columns, if it knows them.

    The names are taken out of the model. Rows come as arrays whose columns are already in the order
    of the names, and scikit-learn would warn that arrays have no names.
    """
    from icvi_artmap.persistence.save_load import load

    model = load(path)
    if not hasattr(model, "feature_names_in_"):
        return model, None
    names = [str(name) for name in model.feature_names_in_]
    del model.feature_names_in_
    return model, names


def read_for(
    model: Any,
    names: list[str] | None,
    data: str,
    id_column: str | None,
    missing: NewMissing,
    delimiter: str | None = None,
) -> Table:
    """A table with the columns that the model knows, in its order.

    Missing values are filled with what the model has learned to fill them with, or else with the
    means of the training data: a row is the same beside any other rows.
    """
    treatment = _treatment(model, missing)
    words = _columns_of_words(model, names)
    try:
        table = read_table(
            data,
            columns=names,
            id_column=id_column,
            missing=treatment,
            categories=words,
            delimiter=delimiter,
        )
    except MissingValuesError as error:
        if missing != NewMissing.mean:
            raise
        raise ValueError(
            f"{name_of(data)!r} has missing values, and a {type(model).__name__} keeps no means of "
            "its training data to put in. Fill them in the table, or try --missing drop."
        ) from error
    except WidthError as error:
        raise _other_width(model, data) from error
    if table.X.shape[1] != model.n_features_in_:
        raise _other_width(model, data, table.X.shape[1])
    # That a column is constant in new rows says nothing.
    notes = [
        note.replace(GIVEN_VALUES, "the mean of the training data")
        for note in table.notes
        if not note.startswith(CONSTANT)
    ]
    notes += _unknown_words(model, table)
    return with_note_on_gaps(replace(table, notes=tuple(notes)), "what the model has learned")


def _treatment(model: Any, missing: NewMissing) -> Any:
    """What is to be done about missing values when the table is read."""
    if missing in (NewMissing.drop, NewMissing.refuse):
        return missing.value
    made = getattr(model, "preparation_", None)
    if made is not None and made.fills is not None:
        return "drop" if made.drop and missing == NewMissing.model else "keep"
    if missing == NewMissing.mean and isinstance(model, ICVIARTMAP):
        return model.fitted_.profiled()[1].mean
    return "refuse"


def _columns_of_words(model: Any, names: list[str] | None) -> list[str]:
    """The columns that hold text as categories."""
    made = getattr(model, "preparation_", None)
    if made is None or names is None:
        return []
    return [
        name
        for name, values in zip(names, made.values, strict=True)
        if values is not None and isinstance(values[0], str)
    ]


def _unknown_words(model: Any, table: Table) -> Iterator[str]:
    """Say which values were not in the training data, and so tell nothing."""
    for name, words in table.words.items():
        known = model.preparation_.values[table.columns.index(name)]
        unknown = [word for word in words if word not in known]
        if unknown:
            yield f"Not in the training data, so without effect: {quoted(unknown)} of {name!r}."


def _other_width(model: Any, data: str, n_columns: int | None = None) -> ValueError:
    other = "more or fewer" if n_columns is None else n_columns
    return ValueError(
        f"The model knows no names of columns and was fitted on {model.n_features_in_} of them, "
        f"but {name_of(data)!r} has {other} columns of numbers."
    )
