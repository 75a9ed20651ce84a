"""Which columns of a table clusters are looked for in: none of one value, or of two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icvi_artmap._support.wording import counted, plural, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from icvi_artmap.tables import Table

#: What missing values are filled with, in words.
FILLED_WITH = {
    "mean": "the mean of the column",
    "median": "the median of the column",
    "neighbours": "the mean of the nearest rows",
}
#: A column of numbers with three to so many different values is named, if each comes so often.
FEW_VALUES, OFTEN = 10, 10


def with_note_on_gaps(table: Table, what: str) -> Table:
    """The table with a note on its missing values; none if it has none."""
    import numpy as np

    count = int(np.isnan(table.X).sum())
    if not count:
        return table
    note = (
        f"{counted(count, 'missing value')} {'was' if count == 1 else 'were'} replaced by {what} "
        f"({_named(table, np.isnan(table.X.T).sum(axis=1) > 0)})."
    )
    return _with_notes(table, *table.notes, note)


def without_constant(table: Table, name: str) -> Table:
    """The table without columns of a single value; a note says which they were."""
    import numpy as np

    from icvi_artmap.tables.reading import CONSTANT

    first = np.nanmin(table.X, axis=0)
    varied = ((first != table.X) & ~np.isnan(table.X)).any(axis=0)
    if varied.all() or len(table) == 1:
        return table
    if not varied.any():
        raise ValueError(f"All rows of {name!r} are the same: there are no clusters to find.")
    kept = _of_columns(table, varied)
    notes = [note for note in table.notes if not note.startswith(CONSTANT)]
    return _with_notes(kept, *notes, f"Constant, left out: {_named(table, ~varied)}.")


def binary_columns(table: Table) -> list[str]:
    """Columns of numbers that have two different values."""
    import numpy as np

    from icvi_artmap.preparation.columns import is_binary

    return [
        name
        for name, column in zip(table.columns, table.X.T, strict=True)
        if name not in table.words and is_binary(column[~np.isnan(column)])
    ]


def without_binary_columns(table: Table, asked_for: bool) -> Table:
    """The table without columns of two values, unless they were asked for or there are no others.

    Two values make two flat clusters. Columns with few values are named.
    """
    import numpy as np

    from icvi_artmap.tables.reading import TRUTH_VALUES

    binary = binary_columns(table)
    two = np.array([name in binary for name in table.columns])
    if not asked_for and two.any() and not two.all():
        left_out = f"Two values only, left out: {_named(table, two)}."
        notes = [note for note in table.notes if not note.startswith(TRUTH_VALUES)]
        table = _with_notes(_of_columns(table, ~two), *notes, left_out)
    few = np.array([name not in binary and few_values(x) for name, x in _columns(table)])
    if few.any():
        note = f"Few different values, used as numbers: {_named(table, few)}."
        table = _with_notes(table, *table.notes, note)
    return table


def _columns(table: Table) -> list[tuple[str, NDArray[Any]]]:
    return list(zip(table.columns, table.X.T, strict=True))


def few_values(column: NDArray[Any]) -> bool:
    """Whether a column of numbers has few different values, which come often."""
    import numpy as np

    values, times = np.unique(column[~np.isnan(column)], return_counts=True)
    return len(values) <= FEW_VALUES and bool(times.mean() >= OFTEN)


def _of_columns(table: Table, chosen: NDArray[Any]) -> Table:
    import numpy as np

    names = tuple(name for name, use in zip(table.columns, chosen, strict=True) if use)
    words = {name: words for name, words in table.words.items() if name in names}
    return replace(table, X=np.ascontiguousarray(table.X[:, chosen]), columns=names, words=words)


def _with_notes(table: Table, *notes: str) -> Table:
    return replace(table, notes=notes)


def _named(table: Table, chosen: NDArray[Any]) -> str:
    names = [name for name, use in zip(table.columns, chosen, strict=True) if use]
    return f"{plural(len(names), 'column')} {quoted(names)}"
