"""The columns of a file as the page shows them: what they hold, and whether they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, listed, message, number, shown
from icvi_artmap.preparation.used_columns import few_values
from icvi_artmap.samples.resolution import steps
from icvi_artmap.tables.reading import USABLE, Look, read_columns

if TYPE_CHECKING:
    from icvi_artmap.tables.reading import Column

#: The largest number of columns that the page lists.
LISTED = 2_000
#: The largest number of columns in a message.
NAMED = 5
#: Columns that cannot be used.
NO_NUMBERS = frozenset([Look.TEXT, Look.DATES, Look.NOTHING])


def described_columns(path: str) -> dict[str, Any]:
    """Every column with a note, and whether it is used unless the user says otherwise.

    As on the command line, columns of one value are not used, and those of two only if there are
    no others.
    """
    found = read_columns(path)
    if len(found) > LISTED:
        raise ValueError(
            f"The table has {len(found):,} columns; the workbench shows at most {LISTED:,}. Use "
            "icvi-artmap fit --columns."
        )
    if not any(_usable(column) for column in found):
        told = [f"{shown(column.name)} ({_why(column)})" for column in found]
        raise ValueError(
            message("There is no column of numbers to use: ", listed(told, NAMED), ".")
        )
    many = any(column.look in USABLE and _n_values(column.values) > 2 for column in found)
    return {
        "rows": len(found[0].values),
        "columns": [_described(column, least=3 if many else 2) for column in found],
    }


def _described(column: Column, least: int) -> dict[str, Any]:
    """``least``: the number of different values that a column must have to be used."""
    values = column.values[~np.isnan(column.values)]
    numeric = column.look not in NO_NUMBERS
    infinite = not np.isfinite(values).all()
    distinct = _n_values(column.values)
    return {
        "name": column.name,
        "look": column.look.value,
        "usable": _usable(column),
        "used": column.look in USABLE and not infinite and distinct >= least,
        "range": f"{number(values.min())} to {number(values.max())}" if numeric else "",
        "note": "; ".join(_notes(column, values, distinct, infinite)) if numeric else column.stray,
        "missing": int(np.isnan(column.values).sum()) if numeric else 0,
    }


def _usable(column: Column) -> bool:
    """Whether a column can be switched on: numbers that differ."""
    if column.look in NO_NUMBERS or np.isinf(column.values).any():
        return False
    return _n_values(column.values) > 1


def _why(column: Column) -> str:
    """Why a column cannot be used."""
    if column.look in NO_NUMBERS:
        return column.look.value
    return "infinite values" if np.isinf(column.values).any() else "the same in all rows"


def _notes(column: Column, values: NDArray[np.float64], distinct: int, infinite: bool) -> list[str]:
    """What is to be known of a column of numbers, in words."""
    if infinite:
        return ["has infinite values"]
    notes = []
    if column.look not in USABLE:
        notes.append(f"{column.look.value} by the look of them")
    if distinct == 1:
        notes.append("the same in all rows")
    elif distinct == 2:
        notes.append("two values only")
    elif few_values(column.values):
        notes.append("few different values")
    elif step := float(steps(values[:, None])[0]):
        notes.append(f"in steps of {number(step)}")
    if missing := int(np.isnan(column.values).sum()):
        notes.append(counted(missing, "missing value"))
    return notes


def _n_values(values: NDArray[np.float64]) -> int:
    """Different values, up to 3: more need not be counted."""
    left = values[~np.isnan(values)]
    for found in range(3):
        if not len(left):
            return found
        left = left[left != left[0]]
    return 3
