"""What pyarrow's tables hold, for the formats that it reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import message, shown
from icvi_artmap.tables.content import Choice, Content, Kind
from icvi_artmap.tables.source import Source, TooLargeError, text_array


@contextmanager
def refusals(source: Source) -> Iterator[None]:
    """Say in a sentence why pyarrow refuses a file: damage makes it raise nearly anything."""
    try:
        yield
    except TooLargeError:
        raise
    except Exception as error:
        raise ValueError(
            message(f"{source.name} is damaged, or no {source.format.name} file (", error, ").")
        ) from error


def flat_columns(types: list[Any], choice: Choice, names: list[str], source: Source) -> list[int]:
    """The columns that are not nested; others cannot be asked for as they are."""
    import pyarrow.types

    flat = [j for j, type in enumerate(types) if not pyarrow.types.is_nested(type)]
    for j in choice.as_given.difference(flat):
        raise ValueError(
            f"Column {shown(names[j])} of {source.name} is nested ({shown(str(types[j]))}); "
            "numbers or text are wanted."
        )
    return flat


def content_of(
    table: Any, flat: list[int], names: list[str], choice: Choice, source: Source
) -> Content:
    """The content of a table that has the flat columns; nested ones are left out as text is."""
    import pyarrow

    values = np.full((table.num_rows, len(names)), np.nan)
    kinds = [Kind.TEXT] * len(names)
    for j in flat:
        column = table.column(names[j])
        present = column.null_count < len(column)
        kinds[j] = _kind(pyarrow.types, column.type) if present else Kind.MISSING
        if kinds[j] in (Kind.NUMBER, Kind.BOOLEAN):
            values[:, j] = _numbers(pyarrow, column)
    as_given = {j: _as_given(table.column(names[j]), source) for j in choice.as_given}
    return Content(names, choice, values, kinds, as_given=as_given)


def is_text(given: Any) -> bool:
    """Whether the type is that of text or bytes."""
    import pyarrow.types as types

    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(given) for test in tests)


def plain_columns(columns: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Columns of pyarrow as arrays of NumPy: numbers and truth values, else text."""
    import pyarrow

    return {
        name: _plain(pyarrow, column) if isinstance(column, pyarrow.ChunkedArray) else column
        for name, column in columns.items()
    }


def _plain(pyarrow: Any, column: Any) -> NDArray[Any]:
    kind = _kind(pyarrow.types, column.type)
    if kind in (Kind.NUMBER, Kind.BOOLEAN):
        if column.null_count or pyarrow.types.is_decimal(column.type):
            return _numbers(pyarrow, column)
        return np.asarray(column.to_numpy(zero_copy_only=False))
    cells = column.to_pylist()
    return np.array(["" if cell is None else str(cell) for cell in cells], dtype=object)


def _kind(types: Any, given: Any) -> Kind:
    if types.is_boolean(given):
        return Kind.BOOLEAN
    if types.is_integer(given) or types.is_floating(given) or types.is_decimal(given):
        return Kind.NUMBER
    if types.is_temporal(given):
        return Kind.DATE
    return Kind.TEXT


def _numbers(pyarrow: Any, column: Any) -> NDArray[np.float64]:
    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.uint8())
    numbers = column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64)  # a missing value becomes NaN


def _as_given(column: Any, source: Source) -> NDArray[Any]:
    values: list[Any] = []
    for part in column.chunks:
        if hasattr(part, "dictionary"):
            words = part.dictionary.to_pylist()
            values += [None if i is None else words[i] for i in part.indices.to_pylist()]
        else:
            values += part.to_pylist()
    if any(value is None for value in values):
        values = ["" if value is None else str(value) for value in values]
    if all(isinstance(value, (str, bytes)) for value in values):
        return text_array(values, source)
    return np.asarray(values)
