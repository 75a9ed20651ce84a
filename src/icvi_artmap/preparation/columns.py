"""Tables of numbers and categories as arrays of floats: a category has the position of its value.

A missing cell is NaN, a value that was not there when the values were learned has the position
after the last.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import shown

#: The values of every column in their order, None for a column of numbers.
Values = tuple[tuple[str, ...] | tuple[float, ...] | None, ...]

#: A category has no more values.
MOST_VALUES = 100
#: What stands for no value in a column of a DataFrame, by the names of their types.
_ABSENT = ("NAType", "NaTType", "NoneType")


def with_cells_as_given(X: Any) -> NDArray[Any]:
    """An array, of objects if there is text among numbers: NumPy would make text of all."""
    table = np.asarray(X)
    return table if table.dtype.kind in "biufc" else np.asarray(X, dtype=object)


def columns_of(X: Any) -> list[NDArray[Any]]:
    """The columns of a DataFrame or a 2-D array: floats, or objects."""
    if hasattr(X, "columns"):
        return [_column(np.asarray(X[name]), str(name)) for name in X.columns]
    return [_column(column, f"feature {f}") for f, column in enumerate(X.T)]


def _column(cells: NDArray[Any], name: str) -> NDArray[Any]:
    if cells.dtype.kind in "biuf":
        column = cells.astype(np.float64)
    elif cells.dtype.kind in "OUST":
        column = np.array([_cell(cell, name) for cell in cells.tolist()], dtype=object)
        if not any(isinstance(cell, str) for cell in column):
            column = column.astype(np.float64)
    else:
        raise ValueError(
            f"Column {shown(name)} has type {cells.dtype}; numbers, text and truth values are "
            "wanted. Turn dates into numbers first, or leave the column out."
        )
    if column.dtype.kind == "f" and np.isinf(column).any():
        raise ValueError(
            f"Input X contains infinity or a value too large for dtype('float64'), in column "
            f"{shown(name)}. Correct it, or delete the row."
        )
    return column


def _cell(cell: Any, name: str) -> float | str:
    """A number or a text; NaN if there is none."""
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, (numbers.Real, np.bool_)):
        try:
            return float(cell)
        except OverflowError:
            return np.inf
    if type(cell).__name__ in _ABSENT:
        return np.nan
    raise TypeError(
        f"Column {shown(name)} has a value of type {type(cell).__name__}, {shown(cell)}; argument "
        "must be a string or a number."
    )


def learn_values(
    columns: list[NDArray[Any]], names: Sequence[str], categories: str | Sequence[Any]
) -> Values:
    """Which columns are categories, and what values they have.

    ``categories``: "auto" for text and columns of two values, or names or positions of columns.
    """
    chosen = _chosen(columns, names, categories)
    return tuple(
        _values_of(column, names[f]) if f in chosen else None for f, column in enumerate(columns)
    )


def _chosen(
    columns: list[NDArray[Any]], names: Sequence[str], categories: str | Sequence[Any]
) -> set[int]:
    if isinstance(categories, str):
        return {
            f
            for f, column in enumerate(columns)
            if column.dtype == object or is_binary(column[~np.isnan(column)])
        }
    chosen = set()
    for wanted in categories:
        if isinstance(wanted, str) and wanted in names:
            chosen.add(list(names).index(wanted))
        elif isinstance(wanted, numbers.Integral) and 0 <= int(wanted) < len(columns):
            chosen.add(int(wanted))
        else:
            raise ValueError(
                f"categories has {shown(wanted)}, which is neither the name of a column nor a "
                f"position from 0 to {len(columns) - 1}."
            )
    return chosen


def is_binary(values: NDArray[np.float64]) -> bool:
    """Whether there are exactly two different values."""
    if len(values) == 0:
        return False
    other = values[values != values[0]]
    return len(other) > 0 and bool((other == other[0]).all())


def _values_of(column: NDArray[Any], name: str) -> tuple[str, ...] | tuple[float, ...]:
    cells = [cell for cell in column.tolist() if cell == cell]  # NaN is not itself
    if not cells:
        raise ValueError(f"Column {shown(name)} has no value at all. Leave it out.")
    if column.dtype == object:
        found: Any = sorted({_text(cell) for cell in cells})
    else:
        found = sorted(set(cells))
    if len(found) > MOST_VALUES:
        raise ValueError(
            f"Column {shown(name)} has {len(found)} different values, and a category at most "
            f"{MOST_VALUES}. Leave it out."
        )
    return tuple(found)


def _refuse_text(column: NDArray[Any], name: str) -> None:
    if column.dtype == object:
        first = next(cell for cell in column if isinstance(cell, str))
        raise ValueError(
            f"could not convert string to float: {shown(first)} in column {shown(name)}. Name the "
            "column in categories, or leave it out."
        )


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{cell:g}"


def coded(columns: list[NDArray[Any]], names: Sequence[str], values: Values) -> NDArray[np.float64]:
    """The columns as floats."""
    result = np.empty((len(columns[0]), len(columns)))
    for f, (column, known) in enumerate(zip(columns, values, strict=True)):
        if known is None:
            _refuse_text(column, names[f])
            result[:, f] = column
            continue
        words = isinstance(known[0], str)
        place = {value: float(i) for i, value in enumerate(known)}
        result[:, f] = [
            np.nan if cell != cell else place.get(_text(cell) if words else cell, len(known))
            for cell in column.tolist()
        ]
    return result
