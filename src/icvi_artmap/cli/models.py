"""Reading models from files, and tables that have their columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from icvi_artmap.cli.common import Missing, name_of
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
    model: Any, names: list[str] | None, data: str, id_column: str | None, missing: Missing
) -> Table:
    """A table with the columns that the model knows, in its order.

    Missing values get the means of the training data: a row is the same beside any other rows.
    """
    treatment: Any = missing.value
    if missing == Missing.mean:
        treatment = _means(model)
    try:
        table = read_table(data, columns=names, id_column=id_column, missing=treatment)
    except MissingValuesError as error:
        if missing != Missing.mean:
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
    notes = tuple(
        note.replace(GIVEN_VALUES, "the mean of the training data")
        for note in table.notes
        if not note.startswith(CONSTANT)
    )
    return replace(table, notes=notes)


def _other_width(model: Any, data: str, n_columns: int | None = None) -> ValueError:
    other = "more or fewer" if n_columns is None else n_columns
    return ValueError(
        f"The model knows no names of columns and was fitted on {model.n_features_in_} of them, "
        f"but {name_of(data)!r} has {other} columns of numbers."
    )


def _means(model: Any) -> Any:
    """The means of the training data, if the model keeps them; otherwise, to refuse."""
    if isinstance(model, ICVIARTMAP):
        return model.fitted_.scaling.mean
    return Missing.refuse.value
